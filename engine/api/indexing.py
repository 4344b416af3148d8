"""`x[key]` and `x[key] = value`, taken apart as torch does: views one after the other, then one index."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..array import as_numpy_dtype, bool_, int64, xp
from ..inplace import apply_inplace
from ..ops import indexing as ix
from ..ops import inplace as ip
from ..ops import shape as sh
from ..slot import slot
from ..tensor import Tensor, escape
from .check import one_dim
from .shape import expanded

__all__ = [
    "index_select",
    "masked_select",
    "nonzero",
]

Found = tuple[Tensor, list[Any] | None]


def getitem(self: Tensor, key: Any) -> Tensor:
    """self[key]: a view for ints, slices, None and Ellipsis, a copy for masks and index tensors."""
    if type(key) is int:
        return _at(self, 0, key, 0)
    if isinstance(key, slice):
        return _sliced(self, 0, key, whole=True)
    if key is Ellipsis:
        return sh.alias(self)  # type: ignore[no-any-return]
    viewed, indices = _parse(self, key)
    if indices is None:
        return sh.alias(viewed) if viewed is self else viewed
    return ix.index(viewed, indices)  # type: ignore[no-any-return]


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """self[key] = value, in place."""
    if type(key) is int:
        viewed, indices = _at(self, 0, key, 0), None
    elif key is Ellipsis:
        viewed, indices = self, None
    else:
        viewed, indices = _parse(self, key)
    if indices is not None:
        _put(viewed, indices, value)
    elif isinstance(value, Tensor):
        _copy(viewed, value)
    elif isinstance(value, (bool, int, float)):
        apply_inplace(ip.fill_tensor.op, (viewed, value), {})  # type: ignore[attr-defined]
    else:
        raise TypeError(f"can't assign a {type(value).__name__} to a torch.{viewed.dtype.legacy}")


def _copy(target: Tensor, value: Tensor) -> None:
    shape = value._array.shape
    while len(shape) > target._array.ndim and shape[0] == 1:
        shape = shape[1:]
    if shape != value._array.shape:
        value = sh.view(value, shape) if value._array.flags.c_contiguous else sh.reshape(value, shape)
    expanded(value, target._array.shape, shape)
    apply_inplace(ip.copy.op, (target, value), {})  # type: ignore[attr-defined]


def _put(target: Tensor, indices: list[Any], value: Any) -> None:
    if not isinstance(value, Tensor):
        value = Tensor(xp.asarray(value, dtype=target._array.dtype, like=target._array))
    elif value._array.dtype != target._array.dtype:
        if value._array.ndim:
            raise errors.runtime(
                "Index put requires the source and destination dtypes match, got "
                f"{_word(target)} for the destination and {_word(value)} for the source."
            )
        value = sh.cast(value, target._array.dtype)
    apply_inplace(ix.index_put.op, (target, value, indices), {"accumulate": False})  # type: ignore[attr-defined]


def _word(tensor: Tensor) -> str:
    return tensor.dtype.legacy.removesuffix("Tensor")


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` where the tensors `indices` say; with `accumulate` add them."""
    return apply_inplace(ix.index_put.op, (self, values, list(indices)), {"accumulate": accumulate})  # type: ignore[attr-defined]


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The parts of `dim` that the vector `index` names."""
    return ix.index_select(input, index, one_dim(dim, input._array.ndim))  # type: ignore[no-any-return]


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask`, in one dimension."""
    both = xp.broadcast_shapes(input._array.shape, mask._array.shape)
    wide = [x if x._array.shape == both else sh.expand(x, both) for x in (input, mask)]
    return ix.index(wide[0], [wide[1]])  # type: ignore[no-any-return]


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of the elements that are not zero, one row each."""
    escape(input, "nonzero")
    places = input._array.nonzero()
    return tuple(Tensor(p) for p in places) if as_tuple else Tensor(xp.stack(places, axis=-1))


# -- reading a key ------------------------------------------------------------------------------------------------


def _parse(self: Tensor, key: Any) -> Found:
    """What the views of a key leave, and the index tensors (None where a dimension is taken whole)."""
    items = list(key) if isinstance(key, tuple) else [key]
    items = [_read(item) for item in items]
    _check_count(self, items)
    indices: list[Any] = []
    viewed, dim, place = self, 0, 0
    for number, item in enumerate(items):
        if item is Ellipsis:
            rest = items[number + 1 :]
            skipped = viewed._array.ndim - dim - sum(_takes(i) for i in rest)
            dim += skipped
            place += 1
        elif item is None:
            viewed = sh.unsqueeze(viewed, dim)
            dim += 1
            place += 1
        elif isinstance(item, bool):
            viewed = sh.unsqueeze(viewed, dim)
            _note(indices, dim, _tensor([item], bool_))
            dim += 1
            place += 1
        elif isinstance(item, slice):
            viewed = _sliced(viewed, dim, item, whole=False)
            dim += 1
            place += 1
        elif isinstance(item, int):
            viewed = _at(viewed, dim, item, place)
            place += 1
        else:
            taken = _takes(item)
            _check_mask(viewed, dim, item)
            _note(indices, dim, item)
            dim += taken
            place += taken
    return viewed, _aligned(viewed, indices)


def _note(indices: list[Any], dim: int, item: Tensor) -> None:
    taken = sum(_takes(i) if i is not None else 1 for i in indices)
    indices.extend([None] * (dim - taken))
    indices.append(item)


def _aligned(viewed: Tensor, indices: list[Any]) -> list[Any] | None:
    """Index tensors that broadcast with each other and lie in range, or torch's error."""
    if not indices:
        return None
    shapes = [i._array.shape for i in indices if i is not None and i._array.dtype.kind != "b"]
    try:
        xp.broadcast_shapes(*shapes)
    except ValueError:
        words = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {words}"
        ) from None
    return _in_range(viewed._array.shape, indices)


def _in_range(shape: tuple[int, ...], indices: list[Any]) -> list[Any]:
    """The index tensors, checked; where nothing is picked, as in torch, any place will do."""
    places = []
    dim = 0
    for item in indices:
        places.append(dim)
        dim += 1 if item is None else _takes(item)
    free = [shape[d] for d, item in zip(places, indices, strict=True) if item is None] + list(shape[dim:])
    made: list[Any] = []
    for d, item in zip(places, indices, strict=True):
        if item is None or item._array.dtype.kind == "b" or not item._array.size:
            made.append(item)
            continue
        n, low, high = shape[d], int(item._array.min()), int(item._array.max())
        if not n:
            raise IndexError("index is out of bounds for dimension with size 0")
        if low >= -n and high < n:
            made.append(item)
        elif 0 in free:
            made.append(Tensor(xp.zeros_like(item._array)))
        else:
            earlier = sum(m is not None for m in made)
            raise IndexError(
                f"index {high if high >= n else low} is out of bounds for dimension {earlier} with size {n}"
            )
    return made


def _read(item: Any) -> Any:
    """One item of a key: an int, a slice, None, Ellipsis, a bool, or an index tensor."""
    if item is None or item is Ellipsis or isinstance(item, (bool, slice)):
        return item
    if isinstance(item, Tensor):
        kind = item._array.dtype.kind
        if kind == "f":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if not item._array.ndim:
            escape(item, "index")
            return item._array.item()
        return item
    if isinstance(item, (list, tuple, range)):
        return _tensor(list(item), None)
    if isinstance(item, xp.ndarray):
        return Tensor(item) if item.ndim else item.item()
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{type(item).__name__})"
    )


def _tensor(data: Any, dtype: Any) -> Tensor:
    plain = [d.item() if isinstance(d, Tensor) else d for d in data]
    array = xp.asarray(plain, dtype=as_numpy_dtype(dtype or (int64 if not plain else None)))
    if array.dtype.kind == "f":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    made = Tensor(array)
    if slot.active is not None:
        slot.active.see(made, "index")
    return made


def _takes(item: Any) -> int:
    """How many dimensions an item of a key takes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item._array.dtype.kind == "b":
        return int(item._array.ndim)
    return 1


def _check_count(self: Tensor, items: list[Any]) -> None:
    rank = self._array.ndim
    if sum(_takes(i) for i in items) > rank:
        if not rank and len(items) == 1 and isinstance(items[0], slice):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        if not rank and len(items) == 1 and isinstance(items[0], int):
            if items[0]:
                raise IndexError(f"index {items[0]} is out of bounds for dimension 0 with size 0")
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a "
                "0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {rank}")


def _check_mask(viewed: Tensor, dim: int, item: Tensor) -> None:
    """A mask has the shape of what it masks."""
    shape = viewed._array.shape
    if item._array.dtype.kind != "b":
        return
    for offset, n in enumerate(item._array.shape):
        if n != shape[dim + offset]:
            raise IndexError(
                f"The shape of the mask {list(item._array.shape)} at index {offset} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {dim + offset}"
            )


def _at(viewed: Tensor, dim: int, index: int, place: int) -> Tensor:
    if not viewed._array.ndim:
        _check_count(viewed, [index])
    n = viewed._array.shape[dim]
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {place} with size {n}")
    return sh.select(viewed, dim, index + n if index < 0 else index)  # type: ignore[no-any-return]


def _sliced(viewed: Tensor, dim: int, item: slice, whole: bool) -> Tensor:
    if not viewed._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    bounds = [b.__index__() if b is not None else None for b in (item.start, item.stop, item.step)]
    if bounds[2] is not None and bounds[2] <= 0:
        raise ValueError("step must be greater than zero")
    n = viewed._array.shape[dim]
    start, stop, step = slice(*bounds).indices(n)
    if not whole and not bounds[0] and (bounds[1] is None or bounds[1] >= n) and step == 1:
        return viewed
    return sh.slice_(viewed, dim, start, max(start, stop), step)  # type: ignore[no-any-return]


METHODS = (
    "index_select", "masked_select", "nonzero",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
