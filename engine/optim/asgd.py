"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..api.creation.fills import zeros_like
from ..tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, check, count_step, counter, number, replaced

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Gradient descent that keeps the mean of the parameters after `t0` steps.

    Raises ValueError for a negative rate.  Source: torch.optim.ASGD; Polyak and Juditsky, 1992.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.ASGD([w], lr=0.1).step()
    >>> w
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        check(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["eta"] = counter(float(number(group["lr"])))
        state["mu"] = counter(1.0)
        state["ax"] = zeros_like(param)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        lr, lambd = number(group["lr"]), group["lambd"]
        step = count_step(state)
        eta, mu = float(state["eta"]._array), float(state["mu"]._array)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param.mul_(1 - lambd * eta)
        param.add_(grad, alpha=-eta)
        if mu != 1:
            state["ax"].add_(param.sub(state["ax"]).mul(mu))
        else:
            state["ax"].copy_(param)
        replaced(state["eta"], state["eta"]._array * 0 + lr / ((1 + lambd * lr * step) ** group["alpha"]))
        replaced(state["mu"], state["mu"]._array * 0 + 1 / max(1, step - group["t0"]))
