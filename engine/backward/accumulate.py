"""Accumulation: a gradient that has arrived at a tensor is added into `.grad`."""

from __future__ import annotations

import threading
from typing import Any

from ..arrays.session import slot
from ..ops.shape import clone_gradient
from ..tensor.tensor import Tensor, tensor_of

_accumulating = threading.RLock()
"""Held while a gradient is added: backward calls of several threads may meet in one leaf."""


def add_into(tensor: Tensor, gradient: Any, create_graph: bool, retained: bool) -> None:
    """Accumulate into `.grad`: in place, as torch does, unless a graph is made of it."""
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
    elif retained:  # torch's rule: a tensor of its own, so that what holds the earlier one keeps it
        tensor._grad = tensor_of(present._array + gradient)
    else:
        if active is not None:
            active.before_write(present)
        present._array += gradient
        present._storage.written()
    if active is not None:
        active.accumulate(tensor, tensor._grad, earlier, gradient._array if create_graph else gradient, retained)
