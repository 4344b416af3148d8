"""`x[key]` and `x[key] = value`, taken apart as torch does: views one after the other, then one index."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.array import Array, as_numpy_dtype, bool_, int64, to_numpy, uint8, xp
from ...arrays.session import slot, warn
from ...ops import indexing as ix
from ...ops import inplace as ip
from ...ops import shape as sh
from ...tensor.escapes import escape
from ...tensor.inplace import apply_inplace, fills_mask
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import fitted
from ..shape.shape import expanded

__all__ = [
    "index_put",
    "index_put_",
]

NOT_A_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
    "which will result either in an error or a different result"
)
BYTES = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
Found = tuple[Tensor, list[Any] | None]


def getitem(self: Tensor, key: Any) -> Tensor:
    """self[key]: a view for ints, slices, None and Ellipsis, a copy for masks and index tensors."""
    if type(key) is int:
        return _at(self, 0, key, 0)
    if isinstance(key, slice):
        return _sliced(self, 0, key, whole=True)
    if key is Ellipsis:
        return sh.alias(self)
    viewed, indices = _parse(self, _as_tuple(key))
    if indices is None:
        return sh.alias(viewed) if viewed is self else viewed
    return ix.index(viewed, indices)


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """self[key] = value, in place."""
    if type(key) is int:
        viewed, indices = _at(self, 0, key, 0), None
    elif key is Ellipsis:
        viewed, indices = self, None
    elif key is False:
        return  # nothing is picked, and nothing written
    else:
        viewed, indices = _parse(self, _as_tuple(key))
    if indices is not None:
        _put(viewed, indices, value)
    elif isinstance(value, Tensor):
        _copy(viewed, value)
    elif isinstance(value, (bool, int, float)):
        apply_inplace(ip.fill_tensor.op, (viewed, fitted(value, viewed._array.dtype)), {})
    else:
        raise _strange(viewed, value)


def _as_tuple(key: Any) -> Any:
    """A list that holds more than numbers counts as the tuple of its items, as torch still has it."""
    if not isinstance(key, list) or len(key) >= 32:
        return key
    if not any(i is None or i is Ellipsis or isinstance(i, (Tensor, slice, list, tuple, range, str)) for i in key):
        return key
    warn(NOT_A_TUPLE)
    return tuple(key)


def _strange(target: Tensor, value: Any) -> TypeError:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return TypeError(f"can't assign a {name} to a torch.{target.dtype.legacy}")


def delitem(self: Tensor, key: Any) -> None:
    """Raises torch's error: a tensor keeps its elements."""
    raise TypeError("Tensor does not support deleting items")


def _without_ones(value: Tensor, rank: int) -> Tensor:
    """The value without the leading dimensions of size 1 that what it is written to lacks."""
    shape = value._array.shape
    while len(shape) > rank and shape[0] == 1:
        shape = shape[1:]
    if shape == value._array.shape:
        return value
    return sh.view(value, shape) if value._array.flags.c_contiguous else sh.reshape(value, shape)


def _copy(target: Tensor, value: Tensor) -> None:
    value = _without_ones(value, target._array.ndim)
    if not value._array.ndim and target._array.ndim:
        apply_inplace(ip.fill_tensor.op, (target, value), {})
        return
    shape = expanded(value, target._array.shape, value._array.shape)
    if value._shared is target._shared is not None and value._array.shape != shape:
        value = sh.expand(value, shape)  # torch looks for overlaps in what is expanded, and finds none there
    apply_inplace(ip.copy.op, (target, value), {})


def _put(target: Tensor, indices: list[Any], value: Any) -> None:
    if not isinstance(value, (Tensor, bool, int, float)):
        raise _strange(target, value)
    if not isinstance(value, Tensor):
        number = fitted(value, target._array.dtype)
        value = tensor_of(xp.asarray(number, dtype=target._array.dtype, like=target._array))
    if value._array.ndim:
        value = _check_values(target, indices, value, is_assignment=True)
    if value._array.dtype != target._array.dtype:
        if not fills_mask(indices, value):
            raise _other_dtype(target, value)
        value = sh.cast(value, target._array.dtype)
    apply_inplace(ix.index_put.op, (target, value, indices), {"accumulate": False})


def _word(tensor: Tensor) -> str:
    return tensor.dtype.legacy.removesuffix("Tensor")


def _index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool) -> tuple[Any, Any, Any]:
    """The op, its inputs and its arguments, checked."""
    if not isinstance(indices, (list, tuple)):
        raise TypeError(
            f"index_put(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    for place, item in enumerate(indices):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(item).__name__}")
        if item._array.dtype.kind == "f":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    indices = [_mask_of_bytes(i) for i in indices]
    if sum(_takes(i) for i in indices) > self._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._array.ndim} (got {len(indices)})")
    if values._array.dtype != self._array.dtype:
        raise _other_dtype(self, values)
    checked = _in_range(self._array.shape, list(indices))
    _check_values(self, checked, values)
    return ix.index_put, (self, values, checked), {"accumulate": accumulate}


def _check_values(self: Tensor, indices: list[Any], values: Tensor, is_assignment: bool = False) -> Tensor:
    """The values, or torch's error where they do not broadcast to what is indexed; an assignment cuts leading ones."""
    sizes = xp.broadcast_to(xp.empty((), dtype=bool), self._array.shape)[
        tuple(slice(None) if i is None else to_numpy(i._array) for i in indices)
    ].shape
    values = _without_ones(values, len(sizes)) if is_assignment else values
    shape = values._array.shape
    if len(shape) > len(sizes) or any(m not in (1, n) for m, n in zip(shape[::-1], sizes[::-1], strict=False)):
        raise errors.runtime(
            f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of shape "
            f"{list(sizes)}"
        )
    return values


def _other_dtype(target: Tensor, value: Tensor) -> BaseException:
    return errors.runtime(
        f"Index put requires the source and destination dtypes match, got {_word(target)} for the destination and "
        f"{_word(value)} for the source."
    )


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` at the positions given by the tensors `indices`; with `accumulate` they are added.

    Shapes: (*) -> (*).  Raises IndexError for a place that is not there, RuntimeError for values of another dtype.
    Source: torch.index_put.

    >>> import engine as torch
    >>> torch.index_put(torch.zeros(3), (torch.tensor([0, 0]),), torch.tensor([1.0, 2.0]), accumulate=True)
    tensor([3., 0., 0.])
    """
    op, inputs, statics = _index_put(input, indices, values, accumulate)
    return op(*inputs, **statics)


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` at the positions given by the tensors `indices`; with `accumulate` add them.

    Shapes: (*) -> (*).  Raises IndexError for a place that is not there, RuntimeError for values of another dtype.
    Source: torch.index_put_.

    >>> import engine as torch
    >>> torch.zeros(3).index_put_((torch.tensor([0, 2]),), torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    op, inputs, statics = _index_put(input, indices, values, accumulate)
    return apply_inplace(op.op, inputs, statics)


# -- reading a key ------------------------------------------------------------------------------------------------


def _parse(self: Tensor, key: Any) -> Found:
    """Split a key into the result of its views and its index tensors (None for a dimension that is taken whole)."""
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
            count = _takes(item)
            _check_mask(viewed, dim, item)
            _note(indices, dim, item)
            dim += count
            place += count
    return viewed, _in_range(viewed._array.shape, indices) if indices else None


def _note(indices: list[Any], dim: int, item: Tensor) -> None:
    count = sum(_takes(i) if i is not None else 1 for i in indices)
    indices.extend([None] * (dim - count))
    indices.append(item)


def _picked(indices: list[Any]) -> tuple[int, ...]:
    """The shape of what index tensors pick together (masks apart), or torch's error."""
    shapes = [i._array.shape for i in indices if i is not None and i._array.dtype.kind != "b"]
    try:
        return tuple(xp.broadcast_shapes(*shapes))
    except ValueError:
        words = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {words}"
        ) from None


def _in_range(shape: tuple[int, ...], indices: list[Any]) -> list[Any]:
    """Index tensors that broadcast with each other and lie in range, or torch's error.

    Where nothing is picked, any place will do, as in torch.
    """
    picked = _picked(indices)
    places = []
    dim = 0
    for item in indices:
        places.append(dim)
        dim += 1 if item is None else _takes(item)
    free = [shape[d] for d, item in zip(places, indices, strict=True) if item is None] + list(shape[dim:])
    keys: list[Any] = []
    strays: list[tuple[int, int, Array]] = []
    for d, item in zip(places, indices, strict=True):
        keys.append(item)
        if item is None or item._array.dtype.kind == "b" or 0 in picked:
            continue
        n, low, high = shape[d], int(item._array.min()), int(item._array.max())
        if not n:
            raise IndexError("index is out of bounds for dimension with size 0")
        if low >= -n and high < n:
            continue
        if 0 in free:
            keys[-1] = tensor_of(xp.zeros_like(item._array))
        else:
            strays.append((sum(_takes(m) for m in keys[:-1] if m is not None), n, item._array))
    if strays:
        raise _out_of_bounds(picked, strays)
    return keys


def _out_of_bounds(picked: tuple[int, ...], strays: list[tuple[int, int, Array]]) -> IndexError:
    """torch's error for indices (which of them, size, values) out of range: of the first element that they pick."""
    outside = []
    for place, n, indices in strays:
        flat = xp.broadcast_to(indices, picked).reshape(-1)
        at = int(xp.argmax((flat < -n) | (flat >= n)))
        outside.append((at, place, int(flat[at]), n))
    _, place, wrong, n = min(outside)
    return IndexError(f"index {wrong} is out of bounds for dimension {place} with size {n}")


def _mask_of_bytes(item: Tensor) -> Tensor:
    """Bytes are a mask, as torch still has it."""
    if item._array.dtype != uint8.numpy:
        return item
    warn(BYTES)
    return sh.cast(item, bool_.numpy)


def _read(item: Any) -> Any:
    """One item of a key: an int, a slice, None, Ellipsis, a bool, or an index tensor."""
    if item is None or item is Ellipsis or isinstance(item, (bool, slice)):
        return item
    if isinstance(item, Tensor):
        kind = item._array.dtype.kind
        if kind == "f":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        item = _mask_of_bytes(item)
        if not item._array.ndim:
            escape(item, "index")
            return item._array.item()
        return item
    if isinstance(item, (list, tuple, range)):
        return _tensor(list(item), None)
    if isinstance(item, xp.ndarray):
        return tensor_of(item) if item.ndim else item.item()
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
    result = tensor_of(array)
    if slot.active is not None:
        slot.active.see(result, "index")
    return result


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
                "convert a 0-dim tensor to a number"
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
    return sh.select(viewed, dim, index + n if index < 0 else index)


def _sliced(viewed: Tensor, dim: int, item: slice, whole: bool) -> Tensor:
    if not viewed._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if any(not hasattr(b, "__index__") for b in (item.start, item.stop, item.step) if b is not None):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    bounds = [b.__index__() if b is not None else None for b in (item.start, item.stop, item.step)]
    if bounds[2] is not None and bounds[2] <= 0:
        raise ValueError("step must be greater than zero")
    n = viewed._array.shape[dim]
    start, stop, step = slice(*bounds).indices(n)
    if not whole and not bounds[0] and (bounds[1] is None or bounds[1] >= n) and step == 1:
        return viewed
    return sh.slice_(viewed, dim, start, max(start, stop), step)


METHODS = ("index_put", "index_put_")
"""Functions that are methods of Tensor too."""
