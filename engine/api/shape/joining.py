"""Tensors put together: one after the other, in a grid, on a diagonal."""

from __future__ import annotations

import itertools
from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import warn
from ...arrays.size import Size
from ...ops import arrange as ar
from ...ops import parts as pa
from ...ops import shape as sh
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import one_dim
from ..calls.out import takes_out
from ..creation.counting import arange
from .shape import expand, flatten, reshape, unsqueeze, view

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cat",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "meshgrid",
    "row_stack",
    "stack",
    "vstack",
]


def _tensor_list(function: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{function}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    items = list(tensors)
    for place, tensor in enumerate(items):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(tensor).__name__}")
    return items


def _some(function: str, tensors: Any) -> list[Tensor]:
    """The tensors of a list that must not be empty."""
    parts = _tensor_list(function, tensors)
    if not parts:
        raise errors.runtime(f"{function} expects a non-empty TensorList")
    return parts


def _as_list(tensors: tuple[Any, ...]) -> list[Any]:
    """Tensors given one by one, or as one list."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return list(tensors[0])
    return list(tensors)


# -- along a dimension --------------------------------------------------------------------------------------------


@takes_out
def cat(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors joined along `dim`.

    Shapes: (*, D, *), (*, D', *), ... -> (*, D'', *).  Raises RuntimeError where other sizes differ.
    Source: torch.cat.

    >>> import engine as torch
    >>> torch.cat([torch.ones(1), torch.zeros(2)])
    tensor([1., 0., 0.])
    """
    parts = _tensor_list("cat", tensors)
    dim = dim if axis is None else axis
    if not parts:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [(place, x._array.shape) for place, x in enumerate(parts) if x._array.shape != (0,)]
    if shapes:
        first = shapes[0][1]
        if not first:
            raise errors.runtime("zero-dimensional tensor (at position 0) cannot be concatenated")
        dim = one_dim(dim, len(first))
        for place, shape in shapes[1:]:
            _check_joined(first, shape, dim, place)
    return sh.cat(parts, dim=dim if shapes else 0)  # vectors without elements are joined along any dim


def _check_joined(first: tuple[int, ...], shape: tuple[int, ...], dim: int, place: int) -> None:
    if len(shape) != len(first):
        raise errors.runtime(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
    for d, (want, have) in enumerate(zip(first, shape, strict=True)):
        if d != dim and want != have:
            raise errors.runtime(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} for "
                f"tensor number {place} in the list."
            )


concat = concatenate = cat


@takes_out
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension.

    Shapes: (*, *), ... -> (*, N, *) of N tensors.  Raises RuntimeError where the shapes differ.  Source: torch.stack.

    >>> import engine as torch
    >>> torch.stack([torch.tensor(1.0), torch.tensor(2.0)])
    tensor([1., 2.])
    """
    parts = _some("stack", tensors)
    first = parts[0]._array.shape
    place = one_dim(dim, len(first), 1)
    for number, tensor in enumerate(parts):
        if tensor._array.shape != first:
            raise errors.runtime(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(tensor._array.shape)} at entry {number}"
            )
    return sh.stack(parts, dim=place)


@takes_out
def hstack(tensors: Any) -> Tensor:
    """Tensors joined along the second dimension, vectors along their only one.

    Shapes: (*), ... -> (*').  Raises RuntimeError where other sizes differ.  Source: torch.hstack.

    >>> import engine as torch
    >>> torch.hstack([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
    """
    parts = [atleast_1d(x) for x in _some("hstack", tensors)]
    return cat(parts, 0 if parts[0]._array.ndim == 1 else 1)


@takes_out
def vstack(tensors: Any) -> Tensor:
    """Tensors joined along the first dimension, vectors as rows.

    Shapes: (*), ... -> (*'), two dimensions at least.  Raises RuntimeError where other sizes differ.
    Source: torch.row_stack.

    >>> import engine as torch
    >>> torch.vstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return cat([atleast_2d(x) for x in _some("vstack", tensors)], 0)


row_stack = vstack


@takes_out
def dstack(tensors: Any) -> Tensor:
    """Tensors joined along the third dimension.

    Shapes: (*), ... -> (*'), three dimensions at least.  Raises RuntimeError where other sizes differ.
    Source: torch.dstack.

    >>> import engine as torch
    >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[[1, 3],
             [2, 4]]])
    """
    return cat([atleast_3d(x) for x in _some("dstack", tensors)], 2)


@takes_out
def column_stack(tensors: Any) -> Tensor:
    """Tensors side by side, vectors as columns.

    Shapes: (*), ... -> (*').  Raises RuntimeError where other sizes differ.  Source: torch.column_stack.

    >>> import engine as torch
    >>> torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    parts = _some("column_stack", tensors)
    return hstack([reshape(x, x._array.size, 1) if x._array.ndim < 2 else x for x in parts])


def block_diag(*tensors: Any) -> Tensor:
    """Matrices along the diagonal of a larger one, zeros elsewhere; vectors count as rows.

    Shapes: (N, M), ... -> (N', M'), the sums of both.  Raises RuntimeError for more than two dimensions.
    Source: torch.block_diag.

    >>> import engine as torch
    >>> torch.block_diag(torch.ones(1, 1), torch.tensor([2.0, 3.0]))
    tensor([[1., 0., 0.],
            [0., 2., 3.]])
    """
    blocks = list(tensors)
    for place, x in enumerate(blocks):
        if x._array.ndim > 2:
            raise errors.runtime(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{place} has {x._array.ndim} dimensions"
            )
    return ar.block_diag(blocks or [tensor_of(xp.zeros((1, 0), dtype="float32"))])


# -- at least so many dimensions ----------------------------------------------------------------------------------


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    """A function of one tensor for one, or for each of several."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    return tuple(function(x) for x in _as_list(tensors))


def _raised_to_1(x: Tensor) -> Tensor:
    return x if x._array.ndim else reshape(x, 1)


def _raised_to_2(x: Tensor) -> Tensor:
    if not x._array.ndim:
        return reshape(x, 1, 1)
    return unsqueeze(x, 0) if x._array.ndim == 1 else x


def _raised_to_3(x: Tensor) -> Tensor:
    if not x._array.ndim:
        return reshape(x, 1, 1, 1)
    if x._array.ndim == 1:
        return unsqueeze(unsqueeze(x, 0), -1)
    return unsqueeze(x, -1) if x._array.ndim == 2 else x


def atleast_1d(*tensors: Any) -> Any:
    """The tensor with at least one dimension; a tuple for several tensors.

    Shapes: (*) -> (*'), a tuple of them for several.  Source: torch.atleast_1d.

    >>> import engine as torch
    >>> torch.atleast_1d(torch.tensor(3))
    tensor([3])
    """
    return _each(_raised_to_1, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """The tensor with at least two dimensions, the new one in front; a tuple for several tensors.

    Shapes: (*) -> (*'), a tuple of them for several.  Source: torch.atleast_2d.

    >>> import engine as torch
    >>> torch.atleast_2d(torch.tensor([1, 2]))
    tensor([[1, 2]])
    """
    return _each(_raised_to_2, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """The tensor with at least three dimensions, the last new one at the end; a tuple for several tensors.

    Shapes: (*) -> (*'), a tuple of them for several.  Source: torch.atleast_3d.

    >>> import engine as torch
    >>> torch.atleast_3d(torch.tensor([1, 2])).shape
    torch.Size([1, 2, 1])
    """
    return _each(_raised_to_3, tensors)


# -- grids --------------------------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that shapes broadcast to.

    Raises RuntimeError where they do not.  Source: torch.broadcast_shapes.

    >>> import engine as torch
    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max((len(s) for s in sizes), default=0)
    for number, shape in enumerate(sizes):
        if any(n < 0 for n in shape):
            raise ValueError("Attempting to broadcast a dimension with negative length!")
        for back in range(-1, -1 - len(shape), -1):
            n = shape[back]
            if n == 1 or n == result[back]:
                continue
            if result[back] != 1:
                had = shape if isinstance(shapes[number], int) else shapes[number]
                raise errors.runtime(
                    f"Attempting to broadcast a dimension of length {n} at {back}! Mismatching argument at index "
                    f"{number} had {had}; but expected shape should be broadcastable to {result}"
                )
            result[back] = n
    return Size(result)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Tensors expanded to the shape that they broadcast to.

    Shapes: (*), (*) -> (*), (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.broadcast_tensors.

    >>> import engine as torch
    >>> [t.shape for t in torch.broadcast_tensors(torch.ones(3, 1), torch.ones(2))]
    [torch.Size([3, 2]), torch.Size([3, 2])]
    """
    operands = _as_list(tensors)
    both: tuple[int, ...] = ()
    for x in operands:
        both = joint(both, x._array.shape)
    return tuple(x if x._array.shape == both else expand(x, *both) for x in operands)


def joint(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to, or torch's error."""
    rank = max(len(a), len(b))
    wide_a, wide_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    parts = []
    for place, (m, n) in enumerate(zip(wide_a, wide_b, strict=True)):
        if m != n and 1 not in (m, n):
            raise errors.runtime(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {place}"
            )
        parts.append(n if m == 1 else m)
    return tuple(parts)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid: each vector along its own dimension, repeated along the others.

    With `indexing="xy"` the first two dimensions are exchanged.

    Shapes: (N), (M), ... -> (N, M, ...), (N, M, ...), ...  Raises RuntimeError for more than one dimension, or two
    dtypes.  Source: torch.meshgrid.

    >>> import engine as torch
    >>> torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[0]
    tensor([[0, 0, 0],
            [1, 1, 1]])
    """
    vectors = _as_list(tensors)
    if indexing is None:
        warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    if not vectors:
        raise errors.runtime("meshgrid expects a non-empty TensorList")
    for x in vectors:
        if x._array.ndim > 1:
            raise errors.runtime("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: " + _row_text(x))
        if x._array.dtype != vectors[0]._array.dtype:
            raise errors.runtime("meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise errors.runtime(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    places = list(range(len(vectors)))
    if indexing == "xy" and len(places) > 1:
        places[:2] = [1, 0]
    sizes = [0] * len(vectors)
    for place, x in zip(places, vectors, strict=True):
        sizes[place] = x._array.size
    grids = []
    for place, x in zip(places, vectors, strict=True):
        own = [1] * len(vectors)
        own[place] = -1
        grids.append(expand(view(x, *own), *sizes))
    return tuple(grids)


def _row_text(x: Tensor) -> str:
    """As much as torch's message shows of a tensor on its first line."""
    return "".join(f" {v:7.4f}" for v in x._array.reshape(x._array.shape[0], -1)[0].tolist()).removeprefix(" ")


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of an element of each vector, one per row.

    Shapes: (N), (M), ... -> (N M ..., K) of K vectors; one (N) -> (N).  Raises RuntimeError for other dimensions than
    one.  Source: torch.cartesian_prod.

    >>> import engine as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([5]))
    tensor([[1, 5],
            [2, 5]])
    """
    vectors = _as_list(tensors)
    for x in vectors:
        if x._array.ndim != 1:
            raise errors.runtime(f"Expect a 1D vector, but got shape {list(x._array.shape)}")
    if len(vectors) == 1:
        return vectors[0]
    return stack([flatten(x) for x in meshgrid(*vectors, indexing="ij")], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector, one per row.

    Shapes: (N) -> (K, r) of K choices.  Raises RuntimeError for other dimensions than one, or a negative `r`.
    Source: torch.combinations.

    >>> import engine as torch
    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    if input._array.ndim != 1:
        raise errors.runtime(f"Expect a 1D vector, but got shape {list(input._array.shape)}")
    if r < 0:
        raise errors.runtime(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return tensor_of(xp.zeros(0, dtype=input._array.dtype, like=input._array))
    n = input._array.size
    grids = meshgrid(*[arange(n)] * r, indexing="ij")
    places = [g._array for g in grids]
    in_order = xp.ones((n,) * r, dtype=bool)
    for a, b in itertools.pairwise(places):
        in_order &= (a <= b) if with_replacement else (a < b)
    mask = tensor_of(in_order)
    return stack([pa.masked_select(g, mask) for g in meshgrid(*[input] * r, indexing="ij")], 1)


METHODS: tuple[str, ...] = ()
"""None of these is a method of Tensor."""
