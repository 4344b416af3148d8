"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from ..api.creation.fills import zeros_like
from ..tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, check, check_betas, check_fused, count_step, counter, decayed, number

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Steps by the mean of the gradients over the root of the mean of their squares.

    Raises ValueError for a rate, eps or beta outside of its range.  Source: torch.optim.Adam; Kingma and Ba, 2014.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.Adam([w], lr=0.1).step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check(lr, eps=eps)
        check_betas(betas)
        check(lr, weight_decay=weight_decay)
        kinds = [isinstance(beta, Tensor) for beta in betas]
        if kinds[0] != kinds[1] or not all(isinstance(beta, (float, Tensor)) for beta in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        for place, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable:
                raise ValueError(f"betas[{place}] as a Tensor is not supported for capturable=False and foreach=True")
            if isinstance(beta, Tensor) and beta.numel() != 1:
                raise ValueError(f"Tensor betas[{place}] must be 1-element")
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        lr, beta1, beta2 = number(group["lr"]), number(group["betas"][0]), number(group["betas"][1])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        step = count_step(state)
        grad = decayed(group, param, grad, lr)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step_size = lr / (1 - beta1**step)
        correction = (1 - beta2**step) ** 0.5
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            before = largest.clone() if group["differentiable"] else largest
            largest.copy_(before.maximum(square))
            square = largest
        if group["differentiable"]:  # what is written once more may not be saved
            mean, root = mean.clone(), (square.sqrt() / correction).add(group["eps"])
        else:
            root = square.sqrt().div_(correction).add_(group["eps"])
        param.addcdiv_(mean, root, value=-step_size)


class AdamW(Adam):
    """Adam with a weight decay that is applied directly to the weights.

    Raises ValueError for a rate, eps or beta outside of its range.  Source: torch.optim.AdamW; Loshchilov and Hutter,
    2017.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.AdamW([w], lr=0.1).step()
    >>> w
    tensor([0.8990], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
