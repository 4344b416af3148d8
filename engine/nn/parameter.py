"""Parameter and Buffer: tensors that a module takes in as its own when they are assigned to it."""

from __future__ import annotations

from typing import Any

from .. import creation, errors
from ..mode import no_grad
from ..ops.shape import clone, detach
from ..slot import slot, unrecorded
from ..tensor import Tensor

__all__ = ["Buffer", "Parameter"]


class Parameter(Tensor):
    """A leaf that a module lists among its parameters: it shares the elements of `data`, and requires grad.

    Source: torch.nn.Parameter.

    >>> import engine as torch
    >>> Parameter(torch.tensor([1.0, 2.0]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        _share(self, data)
        if requires_grad and not self.is_floating_point():
            raise errors.runtime("Only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        text: str = super().__repr__()
        return "Parameter containing:\n" + text

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(_cloned(self), self.requires_grad)
        made: Parameter = memo[id(self)]
        return made


class Buffer(Tensor):
    """A tensor that a module keeps beside its parameters: state that no gradient changes.

    Source: torch.nn.Buffer.  `persistent=False` leaves it out of the state_dict.

    >>> import engine as torch
    >>> module = torch.nn.Module()
    >>> module.seen = torch.nn.Buffer(torch.zeros(1))
    >>> list(module.state_dict())
    ['seen']
    """

    def __init__(self, data: Tensor | None = None, persistent: bool = True) -> None:
        _share(self, data)
        self.persistent = persistent

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        if id(self) not in memo:
            memo[id(self)] = type(self)(_cloned(self), self.persistent)
        made: Buffer = memo[id(self)]
        return made


def _share(made: Tensor, data: Tensor | None) -> None:
    """Make `made` the same elements as `data`, with one version for both, and no history."""
    source = creation.empty(0) if data is None else data
    recorder = slot.active
    if recorder is None or source.grad_fn is not None or not recorder.is_within_call(source):
        made.__dict__.update(detach(source).__dict__)
        return
    with unrecorded():  # `Parameter(torch.randn(3))`: nobody else has what was made for it, so that it is the leaf
        made.__dict__.update(detach(source).__dict__)
    made._id, made._seen, made._value = source._id, source._seen, source._value
    source._id = -1


def _cloned(source: Tensor) -> Tensor:
    with no_grad():
        return clone(source)


def fresh(*shape: int, dtype: Any = None, device: Any = None) -> Parameter:
    """A parameter whose elements nobody has set yet."""
    return Parameter(creation.empty(*shape, dtype=dtype, device=device))
