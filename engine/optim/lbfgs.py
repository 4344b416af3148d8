"""L-BFGS: steps by an estimate of the curvature from the last gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.creation.fills import zeros
from ..api.shape.joining import cat
from ..arrays import errors
from ..arrays.array import xp
from ..tensor.grad_mode import enable_grad, no_grad
from ..tensor.tensor import Tensor
from .line_search import strong_wolfe
from .optimizer import Optimizer, check, number

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Several steps per call, with a closure that computes the loss again.

    `line_search_fn` is None or "strong_wolfe".  What is decided on the way is read from the values: a recording has
    them as escapes.

    Raises ValueError for several groups, or a negative rate.  Source: torch.optim.LBFGS; Nocedal and Wright, Numerical
    Optimization.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], lr=1, line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w - 3).square().sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(4., grad_fn=<SumBackward0>)
    >>> w
    tensor([3.], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self) -> Tensor:
        """All gradients as one vector."""
        parts = [zeros(p.numel(), dtype=p.dtype) if p._grad is None else p._grad.reshape(-1) for p in self._params]
        joined: Tensor = cat(parts, 0)
        return joined

    def _move(self, length: Any, direction: Tensor) -> None:
        """Go `length` times a direction."""
        start = 0
        for param in self._params:
            end = start + param.numel()
            param.add_(direction[start:end].reshape(tuple(param.shape)), alpha=number(length))
            start = end

    def _tried(self, closure: Callable[[], Any], start: list[Tensor], length: Any, direction: Tensor) -> Any:
        """(loss, gradient) some way along a direction; the parameters are back at the start afterwards."""
        self._move(length, direction)
        loss = float(number(closure()))
        gradient = self._gradient()
        for param, before in zip(self._params, start, strict=True):
            param.copy_(before)
        return loss, gradient

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Go down until the gradient or the steps are small, at most `max_iter` steps; the loss before."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        if (count := len(self.param_groups)) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {count}")
        again: Callable[[], Any] = enable_grad()(closure)
        with no_grad():
            return _Run(self, again).run()


class _Run:
    """One call of `step`."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self.optimizer = optimizer
        self.closure = closure
        self.group = optimizer.param_groups[0]
        self.state = optimizer.state[optimizer._params[0]]
        self.state.setdefault("func_evals", 0)
        self.state.setdefault("n_iter", 0)

    def run(self) -> Any:
        group, state, optimizer = self.group, self.state, self.optimizer
        first = self.closure()
        loss = float(number(first))
        evaluations = 1
        state["func_evals"] += 1
        gradient = optimizer._gradient()
        small = _largest(gradient) <= group["tolerance_grad"]
        if small:
            return first
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            direction = self.direction(gradient)
            before = state["prev_loss"] = loss
            lr = number(group["lr"])
            length = lr
            if state["n_iter"] == 1:
                size = gradient.abs().sum().item()
                length = (min(1.0, 1.0 / size) if size else 1.0) * lr
            slope = gradient.dot(direction).item()
            state["t"] = length
            if slope > -group["tolerance_change"]:
                break
            loss, gradient, small, calls = self.go(
                loss, gradient, direction, length, slope, evaluations, iterations, small
            )
            evaluations += calls
            state["func_evals"] += calls
            moved = _largest(direction.mul(state["t"]))
            if iterations == group["max_iter"] or evaluations >= group["max_eval"] or small:
                break
            if moved <= group["tolerance_change"] or abs(loss - before) < group["tolerance_change"]:
                break
        return first

    def direction(self, gradient: Tensor) -> Tensor:
        """Down by the estimate of the curvature, which takes in the last step."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(d=gradient.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            state["prev_flat_grad"] = gradient.clone()
            return state["d"]
        change = gradient.sub(state["prev_flat_grad"])
        step = state["d"].mul(state["t"])
        product = change.dot(step).item()
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        if product > 1e-10:
            if len(changes) == self.group["history_size"]:
                for history in (changes, steps, inverses):
                    history.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / product)
            state["H_diag"] = product / change.dot(change).item()
        factors = [0.0] * len(changes)
        down = gradient.neg()
        for place in range(len(changes) - 1, -1, -1):
            factors[place] = steps[place].dot(down).item() * inverses[place]
            down.add_(changes[place], alpha=-factors[place])
        down = down.mul(state["H_diag"])
        for place, factor in enumerate(factors):
            back = changes[place].dot(down).item() * inverses[place]
            down.add_(steps[place], alpha=factor - back)
        state["d"] = down
        state["prev_flat_grad"].copy_(gradient)
        return down

    def go(
        self, loss: float, gradient: Tensor, direction: Tensor, length: float, slope: float, evaluations: int,
        iterations: int, small: bool,
    ) -> tuple[float, Tensor, bool, int]:  # fmt: skip
        """Take the step: (loss, gradient, whether the gradient is small, evaluations) behind it."""
        optimizer, group = self.optimizer, self.group
        search = group["line_search_fn"]
        if search is None:
            optimizer._move(length, direction)
            if iterations == group["max_iter"]:
                return loss, gradient, small, 0
            loss = float(number(self.closure()))
            gradient = optimizer._gradient()
            return loss, gradient, _largest(gradient) <= group["tolerance_grad"], 1
        if search != "strong_wolfe":
            raise errors.runtime("only 'strong_wolfe' is supported")
        start = [param.clone() for param in optimizer._params]
        loss, gradient, length, calls = strong_wolfe(
            lambda t: optimizer._tried(self.closure, start, t, direction),
            length, direction, loss, gradient, slope, most=group["max_eval"] - evaluations,
        )  # fmt: skip
        self.state["t"] = length
        optimizer._move(length, direction)
        return loss, gradient, _largest(gradient) <= group["tolerance_grad"], calls


def _largest(vector: Tensor) -> float:
    return float(xp.abs(vector._array).max())
