"""Indices of elements: the nonzero ones, and the position of a value in a sorted sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import slot
from ...tensor.escapes import escape
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import kind, sizes_of
from ..calls.out import result_in, takes_out

__all__ = [
    "argwhere",
    "bucketize",
    "nonzero",
    "searchsorted",
    "unravel_index",
]


def _places(places: Any, source: str) -> Tensor:
    """A tensor of places: a leaf, for which a recording has no op."""
    result = tensor_of(places)
    if slot.active is not None:
        slot.active.see(result, source)
    return result


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The indices of the nonzero elements, one row each; or one vector per dimension.

    Shapes: (*) -> (N, D) of N places in D dimensions; with `as_tuple` (*) -> (N), ...  Source: torch.nonzero.

    >>> import engine as torch
    >>> torch.nonzero(torch.tensor([0, 3, 5]))
    tensor([[1],
            [2]])
    """
    if out is not None:
        if as_tuple:
            raise errors.runtime("nonzero does not support the out kwarg when as_tuple is True")
        if out.dtype.name != "int64":
            raise errors.runtime(
                f"nonzero: Expected out tensor to have scalar type Long but got scalar type{kind(out)}"
            )
        return result_in(out, nonzero, input)
    escape(input, "nonzero")
    if as_tuple:
        flat = input._array if input._array.ndim else input._array.reshape(1)
        return tuple(_places(p.copy(), "nonzero") for p in flat.nonzero())
    return _places(xp.argwhere(input._array), "nonzero")


def argwhere(input: Tensor) -> Tensor:
    """The indices of the nonzero elements, one row each.

    Shapes: (*) -> (N, D) of N places in D dimensions.  Source: torch.argwhere.

    >>> import engine as torch
    >>> torch.argwhere(torch.tensor([0, 7, 7]))
    tensor([[1],
            [2]])
    """
    return nonzero(input)


# -- sorted boundaries --------------------------------------------------------------------------------------------


def _rows(boundaries: Any, values: Any, right: bool) -> Any:
    """For each row where its values would stand among its boundaries.

    In a stable sort of both together, the place of a value less the number of values before it; equal values stand
    before the boundaries, or after them with `right`.
    """
    n, m = boundaries.shape[-1], values.shape[-1]
    parts = [boundaries, values] if right else [values, boundaries]
    order = xp.argsort(xp.concatenate(parts, axis=-1), axis=-1, kind="stable")
    place = xp.argsort(order, axis=-1, kind="stable")
    place = place[..., n:] if right else place[..., :m]
    rank = xp.argsort(xp.argsort(values, axis=-1, kind="stable"), axis=-1, kind="stable")
    return place - rank


def _check_search(edges: Any, values: Any, number: bool) -> None:
    name = "torch.searchsorted(): "
    if not edges.ndim:
        raise errors.runtime(f"{name}boundaries tensor should have positive dimension, but got 0 dimension")
    if number and edges.ndim != 1:
        raise errors.runtime(
            f"{name}input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
            f"tensor dim({edges.ndim}) and input value's dim({values.ndim}) numel({values.size})"
        )
    if edges.ndim != 1 and (edges.ndim != values.ndim or edges.shape[:-1] != values.shape[:-1]):
        raise errors.runtime(
            f"{name}boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
            f"value tensor must match, but we got boundaries tensor {list(edges.shape)} and input value tensor "
            f"{list(values.shape)}"
        )


@takes_out
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The index of each value in a sorted sequence: before equal ones, or with `right` after them.

    Shapes: (*, D), (*, N) -> (*, N); (D), (*) -> (*).  Raises RuntimeError where the first dimensions differ.
    Source: torch.searchsorted.

    >>> import engine as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    number = not isinstance(input, Tensor)
    edges = sorted_sequence._array
    values = xp.asarray(input, like=edges) if number else input._array
    if side not in (None, "left", "right"):
        raise errors.runtime(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise errors.runtime(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    _check_search(edges, values, number)
    if sorter is not None:
        edges = _ordered(edges, sorter)
    after = right or side == "right"
    if edges.ndim == 1:
        places = xp.searchsorted(edges, values, side="right" if after else "left")
    else:
        places = _rows(edges, values, after)
    return _places(xp.asarray(places, dtype="int32" if out_int32 else "int64", like=edges), "searchsorted")


def _ordered(edges: Any, sorter: Tensor) -> Any:
    if sorter._array.shape != edges.shape:
        raise errors.runtime(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(edges.shape)}and got sorter tensor {list(sorter._array.shape)}"
        )
    if sorter._array.dtype != "int64":
        raise errors.runtime(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {kind(sorter)}"
        )
    return xp.take_along_axis(edges, sorter._array, axis=-1)


@takes_out
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The index of the interval of the sorted `boundaries` in which each element lies.

    Shapes: (*), (D) -> (*).  Raises RuntimeError for boundaries of other dimensions than one.  Source: torch.bucketize.

    >>> import engine as torch
    >>> torch.bucketize(torch.tensor([1, 4, 9]), torch.tensor([3, 5]))
    tensor([0, 1, 2])
    """
    if boundaries._array.ndim != 1:
        raise errors.runtime(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


METHODS = ("nonzero", "argwhere")
"""Functions that are methods of Tensor too."""


def _as_torch_writes(thing: Any) -> str:
    return "<class 'torch.Tensor'>" if isinstance(thing, Tensor) else str(type(thing))


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The index in each dimension of a `shape`, from indices into the flattened tensor.

    Shapes: (*) -> (*), ... one per dimension.  Source: torch.unravel_index.

    >>> import engine as torch
    >>> torch.unravel_index(torch.tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    if not isinstance(indices, Tensor):
        raise TypeError(f"unravel_index(): argument 'indices' must be Tensor, not {type(indices).__name__}")
    if indices._array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        word = _as_torch_writes(shape)
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {word}")
    sizes = (shape,) if isinstance(shape, int) else sizes_of((shape,))
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {_as_torch_writes(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    places = []
    step = 1
    for n in reversed(sizes):
        places.append(indices.div(step, rounding_mode="floor") % n)
        step *= n
    return tuple(reversed(places))
