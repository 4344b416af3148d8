"""torch.func.vmap: a function of one example, called for each example of a batch.

PyTorch gives one call values that stand for the whole batch.  Here every example has a call of its own, so that each
value of the recording is one that the function computed; what comes out is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..api.random.random import get_rng_state, set_rng_state
from ..api.shape.joining import stack
from ..api.shape.parts import select
from ..tensor.tensor import Tensor
from .tree import Shape, flatten, unflatten

RANDOMNESS = ("error", "different", "same")
Dims = Any
"""A dimension, None for what is no batch, or a nesting of them as that of the arguments."""


def vmap(
    func: Callable[..., Any], in_dims: Dims = 0, out_dims: Dims = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """A function that calls `func` for each example along `in_dims` of its arguments and stacks the results.

    Shapes: (*A), ... -> (*R), ..., with a size B at `in_dims` of the arguments and at `out_dims` of what comes out.
    Keyword arguments are the same in each call.  Cost: B calls.  Raises ValueError where the dimensions do not fit the
    arguments, RuntimeError where a call draws at random and `randomness` is "error".  Source: torch.func.vmap.

    >>> import engine as torch
    >>> torch.func.vmap(torch.dot)(torch.ones(3, 2), torch.arange(6.0).reshape(3, 2))
    tensor([1., 5., 9.])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, shape = flatten(args)
        dims = _in_dims(name, in_dims, args, leaves, shape)
        size = _batch_size(leaves, dims)
        begin = get_rng_state()
        results = []
        for place in range(size):
            if randomness == "same":
                set_rng_state(begin)
            one = [leaf if dim is None else select(leaf, dim, place) for leaf, dim in zip(leaves, dims, strict=True)]
            results.append(flatten(func(*unflatten(one, shape), **kwargs)))
        if randomness == "error" and get_rng_state().tolist() != begin.tolist():
            set_rng_state(begin)
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
        return _stacked(name, out_dims, results)

    return wrapped


def _in_dims(name: str, in_dims: Dims, args: tuple[Any, ...], leaves: list[Any], shape: Shape) -> list[int | None]:
    """The dimension of each leaf of the arguments, counted from the front."""
    start = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{start}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    dims = _spread(in_dims, shape)
    if dims is None:
        raise ValueError(
            f"{start}in_dims is not compatible with the structure of `inputs`. It is an int, or nested as they are."
        )
    return [_in_dim(start, dim, leaf) for dim, leaf in zip(dims, leaves, strict=True)]


def _in_dim(start: str, dim: Any, leaf: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{start}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{start}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = leaf.dim()
    if not -rank <= dim < rank:
        raise ValueError(
            f"{start}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} so expected "
            f"in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _spread(dims: Dims, shape: Shape) -> list[Any] | None:
    """The dimension of each leaf of a nesting, where one stands for all below it; None where they do not match."""
    if shape is None:
        return None if isinstance(dims, (tuple, list, dict)) else [dims]
    kind, keys, inner = shape
    if not isinstance(dims, (tuple, list, dict)):
        return [dim for part in inner for dim in _spread(dims, part) or ()]
    if not isinstance(dims, kind) or len(dims) != len(inner):
        return None
    part_dims = [dims[key] for key in keys] if isinstance(dims, dict) and keys is not None else list(dims)
    parts = [_spread(dim, part) for dim, part in zip(part_dims, inner, strict=True)]
    return None if None in parts else [dim for part in parts for dim in part or ()]


def _batch_size(leaves: list[Any], dims: list[int | None]) -> int:
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    if not sizes[0]:
        raise ValueError("vmap: the batch is empty, so the shape of the result is not known.")
    return int(sizes[0])


def _stacked(name: str, out_dims: Dims, results: list[tuple[list[Any], Shape]]) -> Any:
    """The results of all calls, each leaf stacked along its dimension."""
    shape = results[0][1]
    dims = _spread(out_dims, shape)
    if dims is None and isinstance(out_dims, tuple) and shape is None and len(out_dims) == 1:
        dims = list(out_dims)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            "`outputs`. It is an int, or nested as they are."
        )
    columns = zip(*(leaves for leaves, _ in results), strict=True)
    return unflatten([_joined(name, dim, column) for dim, column in zip(dims, columns, strict=True)], shape)


def _joined(name: str, dim: Any, column: tuple[Any, ...]) -> Any:
    if dim is None:
        if any(value is not column[0] for value in column if isinstance(value, Tensor)):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return column[0]
    for value in column:
        if not isinstance(value, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. Did you mean to set "
                "out_dims= to None for output?"
            )
    return stack(column, dim)
