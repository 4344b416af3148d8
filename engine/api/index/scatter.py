"""Reading and writing at the positions of index tensors: gather, scatter, index_add and the like."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import warn
from ...ops import indexing as ix
from ...ops import reduction as rd
from ...ops import scatter as sc
from ...ops import shape as sh
from ...ops.op import OpFunction
from ...tensor.inplace import apply_inplace
from ...tensor.tensor import Tensor
from ..calls.check import kind, need_tensor, one_dim
from ..calls.examples import with_example
from ..calls.out import takes_out
from ..math.arithmetic import remainder
from ..shape.joining import joint
from ..shape.shape import expand, flatten

__all__ = [
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_reduce",
    "index_select",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "take_along_dim",
]

Call = tuple[OpFunction, tuple[Any, ...], dict[str, Any]]
"""An op, its inputs and its static arguments: run as it is, or in place."""


def _run(call: Call) -> Tensor:
    op, inputs, statics = call
    return op(*inputs, **statics)


def in_place(call: Call) -> Tensor:
    """The op run in place."""
    op, inputs, statics = call
    return apply_inplace(op.op, inputs, statics)


def both(
    name: str, build: Callable[..., Call], doc: str, shapes: str
) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """The function and the in-place method of what `build` makes of the user's arguments, of these `shapes`."""

    def function(input: Tensor, *args: Any, **named: Any) -> Tensor:
        need_tensor(input, name)
        return _run(build(input, *args, **named))

    def method(self: Tensor, *args: Any, **named: Any) -> Tensor:
        return in_place(build(self, *args, **named))

    build.__qualname__ = name  # what Python says where arguments are missing
    pair: tuple[tuple[Any, str], ...] = ((function, name), (method, f"{name}_"))
    for scatter, called in pair:
        scatter.__name__ = scatter.__qualname__ = called
        summary = doc if scatter is function else f"{name}, written into the tensor."
        scatter.__doc__ = with_example(
            summary, called, shapes=shapes, source="" if scatter is function else f"Tensor.{called}"
        )
        scatter.__signature__ = signature(build)
    return function, method


# -- checks -------------------------------------------------------------------------------------------------------


def _rank(x: Tensor) -> int:
    return max(int(x._array.ndim), 1)


def _sizes(x: Tensor) -> tuple[int, ...]:
    """Its shape, where a number counts as a vector of one element."""
    return tuple(x._array.shape) or (1,)


def _int_index(index: Tensor, words: str) -> None:
    if index._array.dtype.name not in ("int64", "int32"):
        raise errors.runtime(words)


def _in_bounds(index: Tensor, dim: int, n: int, error: type[Exception] = RuntimeError, words: str = "") -> None:
    """Every place named lies in the dimension, counted from the front."""
    data = index._array
    if not data.size:
        return
    low, high = int(data.min()), int(data.max())
    if low >= 0 and high < n:
        return
    flat = data.reshape(-1)
    wrong = int(flat[int(xp.argmax((flat < 0) | (flat >= n)))])
    raise error(f"{words}index {wrong} is out of bounds for dimension {dim} with size {n}")


def _check_scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | None) -> int:
    """The dimension, where index and source fit the tensor."""
    place = one_dim(dim, input._array.ndim)
    if not index._array.size:
        return place
    _int_index(index, "scatter(): Expected dtype int32/int64 for index")
    if src is not None and src._array.dtype != input._array.dtype:
        raise errors.runtime("scatter(): Expected self.dtype to be equal to src.dtype")
    if _rank(index) != _rank(input):
        raise errors.runtime("Index tensor must have the same number of dimensions as self tensor")
    own, index_sizes = _sizes(input), _sizes(index)
    larger = any(m > n for d, (m, n) in enumerate(zip(index_sizes, own, strict=True)) if d != place)
    if src is not None:
        sizes = _sizes(src)
        for d, m in enumerate(index_sizes if not larger and src._array.ndim else ()):
            if m > sizes[one_dim(d, len(sizes))]:
                larger = True
                break
        if len(sizes) != len(index_sizes):
            raise errors.runtime("Index tensor must have the same number of dimensions as src tensor")
        if larger:
            raise errors.runtime(
                f"Expected index {list(index_sizes)} to be no larger than self {list(own)} apart from dimension "
                f"{place} and to be no larger size than src {list(sizes)}"
            )
    elif larger:
        raise errors.runtime(
            f"Expected index {list(index_sizes)} to be no larger than self {list(own)} apart from dimension {place}"
        )
    _in_bounds(index, place, own[place])
    return place


# -- scatter and gather -------------------------------------------------------------------------------------------


@takes_out
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements that `index` names along `dim`: out[i][j] = input[index[i][j]][j] for dim 0.

    Shapes: (*), (*index) -> (*index).  Raises RuntimeError for a place that is not there, other dimensions, or an index
    that is not int64.  Source: torch.gather.

    >>> import engine as torch
    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    place = one_dim(dim, input._array.ndim)
    if not index._array.size:
        return rd.gather(input, index, place)
    _int_index(index, "gather(): Expected dtype int32/int64 for index")
    if _rank(index) != _rank(input):
        raise errors.runtime("Index tensor must have the same number of dimensions as input tensor")
    own, index_sizes = _sizes(input), _sizes(index)
    for d, (m, n) in enumerate(zip(index_sizes, own, strict=True)):
        if d != place and m > n:
            raise errors.runtime(
                f"Size does not match at dimension {d} expected index {list(index_sizes)} to be no larger than self "
                f"{list(own)} apart from dimension {place}"
            )
    _in_bounds(index, place, own[place])
    return rd.gather(input, index, place)


def _scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Call:
    values = value if src is None else src
    if values is None or not isinstance(values, (Tensor, bool, int, float)):
        words = "int, Tensor" if values is None else f"int, Tensor, {type(values).__name__}"
        raise TypeError(
            f"scatter() received an invalid combination of arguments - got ({words}), but expected one of:\n"
            " * (int dim, Tensor index, Tensor src)\n * (int dim, Tensor index, Tensor src, *, str reduce)\n"
            " * (int dim, Tensor index, Number value)\n * (int dim, Tensor index, Number value, *, str reduce)\n"
        )
    source = values if isinstance(values, Tensor) else None
    place = _check_scatter(input, dim, index, source)
    if reduce is not None and reduce not in ("add", "multiply"):
        raise errors.runtime("reduce argument must be either add or multiply.")
    if source is not None:
        if reduce is None:
            return sc.scatter, (input, index, source), {"dim": place}
        return sc.scatter_reduced, (input, index, source), {"dim": place, "reduce": reduce}
    if reduce is None:
        return sc.scatter_value, (input, index), {"dim": place, "value": values}
    return sc.scatter_value_reduced, (input, index), {"dim": place, "value": values, "reduce": reduce}


def _scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Call:
    return sc.scatter_add, (input, index, src), {"dim": _check_scatter(input, dim, index, src)}


def _scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Call:
    place = _check_scatter(input, dim, index, src)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise errors.runtime(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return sc.scatter_reduce, (input, index, src), {"dim": place, "reduce": reduce, "include_self": include_self}


scatter, scatter_ = both(
    "scatter", _scatter,
    "A copy with the elements of `src` (or a number) at the positions `index` along `dim`.",
    "Shapes: (*), (*index), (*') -> (*).  Raises RuntimeError for a place that is not there, other dimensions, or "
    "another dtype.",
)  # fmt: skip
scatter_add, scatter_add_ = both(
    "scatter_add", _scatter_add,
    "A copy with the elements of `src` added at the positions `index` along `dim`.",
    "Shapes: (*), (*index), (*') -> (*).  Raises RuntimeError for a place that is not there, other dimensions, or "
    "another dtype.",
)  # fmt: skip
scatter_reduce, scatter_reduce_ = both(
    "scatter_reduce", _scatter_reduce,
    "A copy with the elements of `src` folded in (sum, prod, mean, amax, amin) at the positions `index` along `dim`.",
    "Shapes: (*), (*index), (*') -> (*).  Raises RuntimeError for a place that is not there, other dimensions, or "
    "another dtype.",
)  # fmt: skip


@takes_out
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at `indices` along `dim`, both broadcast; without `dim`, of the flattened tensor.

    Shapes: (*, D, *), (*, K, *) -> (*, K, *), broadcast; without `dim` (*), (K) -> (K).  Raises RuntimeError for
    indices that are not int64, or of other dimensions.  Source: torch.take_along_dim.

    >>> import engine as torch
    >>> torch.take_along_dim(torch.tensor([[1, 2]]), torch.tensor([[1, 0]]), 1)
    tensor([[2, 1]])
    """
    if indices._array.dtype != "int64":
        raise errors.runtime(f"torch.take_along_dim(): dtype of indices should be Long but got {kind(indices)}")
    if dim is None:
        return gather(_flat(input), 0, _flat(indices))
    rank = input._array.ndim
    if rank != indices._array.ndim:
        raise errors.runtime(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{rank} dimensions for input, and {indices._array.ndim} dimensions for indices"
        )
    place = one_dim(dim, rank)
    own, index_sizes = list(input._array.shape), list(indices._array.shape)
    n, m = own[place], index_sizes[place]
    own[place], index_sizes[place] = 1, 1
    wide = list(joint(tuple(own), tuple(index_sizes)))
    data = indices._array
    if data.size and n and (data.min() < 0 or data.max() >= n):
        indices = remainder(indices, n)  # places count from the back, and round the dimension
    source = expand(input, *wide[:place], n, *wide[place + 1 :])
    return gather(source, place, expand(indices, *wide[:place], m, *wide[place + 1 :]))


def _flat(x: Tensor) -> Tensor:
    return sh.view(x, (x._array.size,)) if x._array.flags.c_contiguous else flatten(x)


# -- along one dimension ------------------------------------------------------------------------------------------


@takes_out
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The parts of `dim` that the vector `index` names.

    Shapes: (*, D, *), (K) -> (*, K, *).  Raises IndexError for an index that is no vector, or a place that is not
    there (RuntimeError along dimension 1), RuntimeError for one of floats.  Source: torch.index_select.

    >>> import engine as torch
    >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 0, torch.tensor([1, 1]))
    tensor([[3, 4],
            [3, 4]])
    """
    place = one_dim(dim, input._array.ndim)
    if index._array.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    _int_index(index, "index_select(): Expected dtype int32 or int64 for index")
    if not input._array.ndim and index._array.size != 1:
        raise errors.runtime(f"index_select(): Index to scalar can have only 1 value, got {index._array.size} value(s)")
    data, n = index._array.reshape(-1), _sizes(input)[place]
    wrong = data[(data < 0) | (data >= n)]
    if wrong.size and place == 1:  # for which PyTorch has a kernel of its own, with another message
        raise errors.runtime(f"INDICES element is out of DATA bounds, id={int(wrong[0])} axis_dim={n}")
    if wrong.size:
        raise IndexError("index out of range in self")
    return ix.index_select(input, index, place)


def _check_index(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    """The dimension, where a vector of places and what goes there fit the tensor (index_add, index_reduce)."""
    place = one_dim(dim, input._array.ndim)
    if index._array.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {index._array.ndim} with type: {kind(index)} "
            f"and size: {list(index._array.shape)}"
        )
    _int_index(index, f"{name}_(): Expected dtype int32/int64 for index but got: {kind(index)}")
    if source._array.dtype != input._array.dtype:
        raise errors.runtime(
            f"{name}_(): self ({kind(input)}) and source ({kind(source)}) must have the same scalar type"
        )
    shape, own = source._array.shape, input._array.shape
    count = shape[place] if place < len(shape) else 1
    if index._array.size != count:
        raise errors.runtime(
            f"{name}_(): Number of indices ({index._array.size}) should be equal to source.size(dim): ({count}), for "
            f"dim: {place}"
        )
    if shape[:place] + shape[place + 1 :] != own[:place] + own[place + 1 :] or len(shape) != len(own):
        raise errors.runtime(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(own)} source.shape = {list(shape)}"
        )
    return place


def _index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Call:
    place = _check_index("index_add", input, dim, index, source)
    _in_bounds(index, place, _sizes(input)[place])
    return sc.index_add, (input, index, source), {"dim": place, "alpha": alpha}


def _index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Call:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise errors.runtime(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    warn("index_reduce() is in beta and the API may change at any time.")
    place = _check_index("index_reduce", input, dim, index, source)
    data, n = index._array, _sizes(input)[place]
    if data.size and not (int(data.min()) >= 0 and int(data.max()) < n):
        raise IndexError("index out of range in self")
    return sc.index_reduce, (input, index, source), {"dim": place, "reduce": reduce, "include_self": include_self}


def _index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Call:
    place = one_dim(dim, input._array.ndim)
    own, shape, count = input._array.shape, source._array.shape, index._array.size
    if index._array.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index._array.ndim})")
    if not shape and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if own and shape and len(own) != len(shape):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(shape)}), destination dimensionality ({len(own)})"
        )
    if index._array.dtype != "int64":
        raise errors.runtime(f"index_copy_(): Expected a long tensor for index, but got {kind(index)}")
    if source._array.dtype != input._array.dtype:
        raise errors.runtime(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{kind(input)} and (source) {kind(source)}"
        )
    theirs, ours = shape[:place] + shape[place + 1 :], own[:place] + own[place + 1 :]
    if shape and theirs != ours:
        raise errors.runtime(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, ours))} at dimension {place} and source slice shape: "
            f"{' '.join(map(str, theirs))} at dimension 0."
        )
    if shape and count != shape[place]:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({shape[place]})"
        )
    _in_bounds(index, place, _sizes(input)[place], IndexError, "index_copy_(): ")
    return sc.index_copy, (input, index, source), {"dim": place}


def _index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Call:
    if isinstance(value, Tensor) and value._array.ndim:
        raise errors.runtime(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    place = one_dim(dim, input._array.ndim)
    if index._array.dtype != "int64":
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index._array.ndim > 1:
        raise errors.runtime("Index has to be a vector/scalar")
    data, n = index._array, _sizes(input)[place]
    if data.size and not (int(data.min()) >= -n and int(data.max()) < n):
        wrong = data[(data < -n) | (data >= n)].reshape(-1)[0]
        raise IndexError(f"index {int(wrong)} is out of bounds for dimension {place} with size {n}")
    if isinstance(value, Tensor):
        return sc.index_fill_tensor, (input, index, value), {"dim": place}
    return sc.index_fill, (input, index), {"dim": place, "value": value}


index_add, index_add_ = both(
    "index_add", _index_add,
    "A copy with `alpha * source` added to the parts of `dim` that `index` names.",
    "Shapes: (*, D, *), (K), (*, K, *) -> (*, D, *).  Raises RuntimeError for another dtype, or a `source` that "
    "does not fit.",
)  # fmt: skip
index_reduce, index_reduce_ = both(
    "index_reduce", _index_reduce,
    "A copy with the parts of `source` folded (prod, mean, amax, amin) into those of `dim` that `index` names.",
    "Shapes: (*, D, *), (K), (*, K, *) -> (*, D, *).  Raises RuntimeError for another `reduce`.",
)  # fmt: skip
index_copy, index_copy_ = both(
    "index_copy", _index_copy,
    "A copy with the parts of `source` written to those of `dim` that `index` names.",
    "Shapes: (*, D, *), (K), (*, K, *) -> (*, D, *); one place (D), (1), () -> (D).  Raises IndexError for a place "
    "that is not there, or a `source` that does not fit, RuntimeError for another dtype.",
)  # fmt: skip
index_fill, index_fill_ = both(
    "index_fill", _index_fill,
    "A copy with `value` in the parts of `dim` that `index` names.",
    "Shapes: (*, D, *), (K) -> (*, D, *).  Raises IndexError for a place that is not there.",
)  # fmt: skip

METHODS = (
    "gather", "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_", "index_reduce",
    "index_reduce_", "index_select", "scatter",
    "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_", "take_along_dim",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
