"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, check_fused, number

__all__ = ["SGD"]


class SGD(Optimizer):
    """Steps against the gradient, optionally with momentum.

    Raises ValueError for a negative rate, and for Nesterov's without momentum.  Source: torch.optim.SGD; Sutskever et
    al., 2013.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = SGD([w], lr=0.25)
    >>> (w * w).sum().backward(); _ = optimizer.step(); w
    tensor([0.5000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
        momentum = group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            state["momentum_buffer"] = buffer
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        param.add_(grad, alpha=-number(group["lr"]))
