"""Resilient backpropagation: steps by the signs of the gradients."""

from __future__ import annotations

from typing import Any

from ..api.creation.fills import full_like, zeros_like
from ..tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, check, count_step, counter, number

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Steps with a separate size per element, which grows while the sign of the gradient stays the same.

    Raises ValueError for a negative rate, or etas that do not lie on both sides of 1.  Source: torch.optim.Rprop;
    Riedmiller and Braun, 1993.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> w.grad = torch.tensor([2.0])
    >>> torch.optim.Rprop([w], lr=0.1).step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        state["step"] = counter()
        state["prev"] = zeros_like(param)
        state["step_size"] = full_like(param, number(group["lr"]))

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        down, up = group["etas"]
        count_step(state)
        before = state["prev"].clone() if group["differentiable"] else state["prev"]
        sign = grad.mul(before).sign()
        turned = sign.lt(0)
        factor = sign.masked_fill(sign.gt(0), up).masked_fill(turned, down).masked_fill(sign.eq(0), 1)
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turned, 0)
        param.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
