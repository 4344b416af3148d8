"""Optimisers that keep the squares of the gradients: Adagrad, Adadelta, RMSprop."""

from __future__ import annotations

from typing import Any

from ..api.creation.fills import full_like, zeros_like
from ..tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, check, check_fused, count_step, counter, number

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class Adagrad(Optimizer):
    """Steps over the root of the sum of all squares so far.

    Raises ValueError for a number below 0.  Source: torch.optim.Adagrad; Duchi et al., 2011.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.Adagrad([w], lr=0.1).step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check(
            lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )  # fmt: skip
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self._begin(group, param, self.state[param])

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["sum"] = full_like(param, self.defaults["initial_accumulator_value"])

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        step = count_step(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        rate = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        state["sum"].addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, state["sum"].sqrt().add(group["eps"]), value=-rate)


class Adadelta(Optimizer):
    """Steps by the root mean square of the last steps divided by that of the gradients.

    Raises ValueError for a number below 0, or rho outside 0 … 1.  Source: torch.optim.Adadelta; Zeiler, 2012.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.Adadelta([w]).step()
    >>> w
    tensor([0.9968], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check(lr, eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["square_avg"] = zeros_like(param)
        state["acc_delta"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        rho, eps = group["rho"], group["eps"]
        count_step(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square, steps = state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        move = steps.add(eps).sqrt().div(square.add(eps).sqrt()).mul(grad)
        steps.mul_(rho).addcmul_(move, move, value=1 - rho)
        param.add_(move, alpha=-number(group["lr"]))


class RMSprop(Optimizer):
    """Steps over the root of the mean square of the gradients.

    Raises ValueError for a number below 0.  Source: torch.optim.RMSprop; Tieleman and Hinton, 2012.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.RMSprop([w], lr=0.01).step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["square_avg"] = zeros_like(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        lr, alpha, square = number(group["lr"]), group["alpha"], state["square_avg"]
        count_step(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt()
        else:
            root = square.sqrt()
        root = root.add(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            param.add_(buffer, alpha=-lr)
        else:
            param.addcdiv_(grad, root, value=-lr)
