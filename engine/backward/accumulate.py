"""Accumulation: a gradient that has arrived at a tensor is added into `.grad`."""

from __future__ import annotations

import threading
from typing import Any

from ..arrays.session import slot
from ..ops.shape import clone_gradient
from ..tensor.tensor import Tensor, tensor_of

_accumulating = threading.RLock()
"""Held while a gradient is added: backward calls in several threads may reach the same leaf."""


def add_into(tensor: Tensor, gradient: Any, create_graph: bool, retained: bool) -> None:
    """Accumulate into `.grad`: in place, as torch does, unless the backward pass is recorded as a graph."""
    with _accumulating:
        _add(tensor, gradient, create_graph, retained)


def _add(tensor: Tensor, gradient: Any, create_graph: bool, retained: bool) -> None:
    active = slot.active
    present = tensor._grad
    earlier = None
    if present is not None and active is not None:
        active.see(present)
        earlier = present._value
    if create_graph:  # ops like any others, CopyBackwards and AddBackward0
        tensor._grad = clone_gradient(gradient) if present is None else present + gradient
    elif present is None:
        tensor._grad = tensor_of(gradient.copy())
    elif retained:  # torch's rule: a new tensor, so that references to the earlier one keep its value
        tensor._grad = tensor_of(present._array + gradient)
    else:
        if active is not None:
            active.before_write(present)
        present._array += gradient
        present._storage.count_write()
    if active is not None:
        active.accumulate(tensor, tensor._grad, earlier, gradient._array if create_graph else gradient, retained)
