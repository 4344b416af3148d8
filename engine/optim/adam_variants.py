"""Relatives of Adam: Adamax, NAdam, RAdam."""

from __future__ import annotations

from typing import Any

from ..api.creation.fills import zeros_like
from ..api.shape.joining import stack
from ..tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, check, check_betas, count_step, counter, decayed, number, replaced

__all__ = ["Adamax", "NAdam", "RAdam"]


class Adamax(Optimizer):
    """Adam with the largest gradient so far instead of the root of the squares.

    Raises ValueError for a rate, eps or beta outside of its range.  Source: torch.optim.Adamax; Kingma and Ba, 2014.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.Adamax([w], lr=0.1).step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        check(lr, eps=eps)
        check_betas(betas)
        check(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["exp_avg"] = zeros_like(param)
        state["exp_inf"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        beta1, beta2 = group["betas"]
        step = count_step(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        norm = grad.abs().add(group["eps"])
        if group["differentiable"]:  # what is written once more may not be saved
            largest.copy_(stack([largest.mul_(beta2), norm]).amax(0))
        else:
            largest.copy_(largest.mul_(beta2).maximum(norm))
        param.addcdiv_(mean, largest, value=-number(group["lr"]) / (1 - beta1**step))


class NAdam(Optimizer):
    """Adam with Nesterov momentum.

    Raises ValueError for a rate, eps or beta outside of its range.  Source: torch.optim.NAdam; Dozat, 2016.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.NAdam([w], lr=0.1).step()
    >>> w
    tensor([0.8944], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(lr, eps=eps)
        check_betas(betas)
        check(lr, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["mu_product"] = counter(1.0)
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        step = count_step(state)
        grad = decayed(group, param, grad, lr)
        decay = group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        product = replaced(state["mu_product"], state["mu_product"]._array * mu)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = square.div(1 - beta2**step).sqrt().add(group["eps"])
        steps = -lr * (1.0 - mu) / (1.0 - product), -lr * mu_next / (1.0 - product * mu_next)
        if group["differentiable"]:  # the mean is written once more: it may not be saved
            param.addcdiv_(grad * steps[0], root).addcdiv_(mean * steps[1], root)
        else:
            param.addcdiv_(grad, root, value=steps[0]).addcdiv_(mean, root, value=steps[1])


class RAdam(Optimizer):
    """Adam whose first steps use only the mean, while there are too few squares.

    Raises ValueError for a rate, eps or beta outside of its range.  Source: torch.optim.RAdam; Liu et al., 2019.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.RAdam([w], lr=0.1).step()
    >>> w
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(lr, eps=eps)
        check_betas(betas)
        check(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        step = count_step(state)
        grad = decayed(group, param, grad, lr)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction = 1 - beta2**step
        corrected = mean / (1 - beta1**step)
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * (beta2**step) / correction
        if length > 5.0:
            adaptive = (correction**0.5) / square.sqrt().add(group["eps"])
            rectified = ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
            param.add_(corrected * lr * adaptive * rectified, alpha=-1.0)
        else:
            param.add_(corrected * lr, alpha=-1.0)
