"""Tensors of random numbers: new ones, and tensors filled with draws in place."""

from __future__ import annotations

from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import as_numpy_dtype, int64, xp
from ...arrays.session import slot
from ...ops import random_draws as dr
from ...tensor.escapes import escape
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import LETTERS, kind, need_tensor, overflow
from ..calls.out import takes_out
from ..creation.creation import new_leaf
from ..creation.fills import floating, like, shape_given
from ..shape.joining import joint
from .random import generator as stream

__all__ = [
    "bernoulli",
    "binomial",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]

IN_UNIT = (
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please "
    "report an enhancement request to PyTorch.)"
)


def _not_implemented(kernel: str, dtype: Any) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{LETTERS[arrays.BY_NUMPY[dtype].name]}'")


def need_float(kernel: str, dtype: Any) -> None:
    if dtype.kind != "f":
        raise _not_implemented(kernel, dtype)


def even(shape: tuple[int, ...], dtype: Any, generator: Any) -> Any:
    """Draws from [0, 1) in a floating dtype."""
    need_float("check_uniform_bounds", dtype)
    if dtype.itemsize >= 4:
        return stream(generator).random(shape, dtype=dtype.name)
    return stream(generator).random(shape, dtype="float32").astype(dtype)


def standard(shape: tuple[int, ...], dtype: Any, generator: Any) -> Any:
    """Standard normal draws in a floating dtype."""
    need_float("normal_kernel_cpu", dtype)
    if dtype.itemsize >= 4:
        return stream(generator).standard_normal(shape, dtype=dtype.name)
    return stream(generator).standard_normal(shape, dtype="float32").astype(dtype)


# -- new tensors --------------------------------------------------------------------------------------------------


@takes_out
def rand(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None, **named: Any
) -> Tensor:
    """Even draws from [0, 1).

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.rand.

    >>> import engine as torch
    >>> torch.rand(2, 3).shape
    torch.Size([2, 3])
    """
    shape = shape_given("rand", size, named.get("size"))
    return new_leaf(even(shape, floating(dtype), generator), "rand", requires_grad, device)


@takes_out
def randn(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None, **named: Any
) -> Tensor:
    """Standard normal draws.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.randn.

    >>> import engine as torch
    >>> torch.randn(2, 3).shape
    torch.Size([2, 3])
    """
    shape = shape_given("randn", size, named.get("size"))
    return new_leaf(standard(shape, floating(dtype), generator), "randn", requires_grad, device)


def rand_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None,
    **_: Any,
) -> Tensor:  # fmt: skip
    """Uniform draws from [0, 1) in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.rand_like.

    >>> import engine as torch
    >>> torch.rand_like(torch.zeros(2, dtype=torch.float64)).dtype
    torch.float64
    """
    need_tensor(input, "rand_like")
    numpy_dtype, where = like(input, dtype, device)
    return new_leaf(even(input._array.shape, numpy_dtype, generator), "rand_like", requires_grad, where)


def randn_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None,
    **_: Any,
) -> Tensor:  # fmt: skip
    """Standard normal draws in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.randn_like.

    >>> import engine as torch
    >>> torch.randn_like(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    need_tensor(input, "randn_like")
    numpy_dtype, where = like(input, dtype, device)
    return new_leaf(standard(input._array.shape, numpy_dtype, generator), "randn_like", requires_grad, where)


def whole(low: int, high: int, shape: tuple[int, ...], dtype: Any, generator: Any) -> Any:
    """Even draws from the integers low, ..., high - 1."""
    if high <= low:
        raise errors.runtime(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.kind in "iu":
        limits = xp.iinfo(dtype)
        for name, number in (("from", low), ("to - 1", high - 1)):
            if not limits.min <= number <= limits.max:
                raise errors.runtime(f"{name} is out of bounds for {errors.C_NAMES[arrays.BY_NUMPY[dtype].name]}")
    return stream(generator).integers(low, high, size=shape).astype(dtype, copy=False)


@takes_out
def randint(
    low: Any = None, high: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, generator: Any = None, **_: Any,
) -> Tensor:  # fmt: skip
    """Uniform draws from the integers low, ..., high - 1 (from 0 if only one bound is given).

    Shapes: numbers -> (*size).  Raises RuntimeError where no integer lies between the bounds.  Source: torch.randint.

    >>> import engine as torch
    >>> torch.randint(3, 4, (2,))
    tensor([3, 3])
    """
    if isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    elif low is None:
        low = 0
    if size is None:
        raise TypeError(
            f"randint() received an invalid combination of arguments - got ({type(high).__name__}), but expected one "
            "of:\n * (int high, tuple of ints size, *)\n * (int low, int high, tuple of ints size, *)\n"
        )
    shape = shape_given("randint", (size,))
    numpy_dtype = as_numpy_dtype(dtype) or int64.numpy
    return new_leaf(whole(int(low), int(high), shape, numpy_dtype, generator), "randint", requires_grad, device)


def randint_like(
    input: Tensor, low: int, high: int | None = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, **_: Any,
) -> Tensor:  # fmt: skip
    """Uniform draws from the integers low, ..., high - 1, in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Raises RuntimeError where no integer lies between the bounds.  Source: torch.randint_like.

    >>> import engine as torch
    >>> torch.randint_like(torch.zeros(2), 3, 4)
    tensor([3., 3.])
    """
    low, high = (0, low) if high is None else (low, high)
    numpy_dtype, where = like(input, dtype, device)
    return new_leaf(whole(low, high, input._array.shape, numpy_dtype, None), "randint_like", requires_grad, where)


@takes_out
def randperm(
    n: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None, **_: Any
) -> Tensor:
    """The integers 0, ..., n - 1 in a random order.

    Shapes: a number -> (n).  Raises RuntimeError for a negative n.  Source: torch.randperm.

    >>> import engine as torch
    >>> torch.randperm(3).sort().values
    tensor([0, 1, 2])
    """
    shape_given("randperm", (n,))
    numpy_dtype = as_numpy_dtype(dtype) or int64.numpy
    if numpy_dtype.kind in "iu" and n - 1 > xp.iinfo(numpy_dtype).max:
        raise overflow(numpy_dtype)
    return new_leaf(stream(generator).permutation(n).astype(numpy_dtype), "randperm", requires_grad, device)


def random_tensor(values: Any, source: Tensor) -> Tensor:
    """Wrap random values in a tensor on the device of `source`, and show it to a recording."""
    result = tensor_of(xp.asarray(values, like=source._array))
    if slot.active is not None:
        slot.active.see(result, "random")
    return result


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, **named: Any) -> Tensor:
    """Normal draws with a mean and a standard deviation: numbers with a `size`, or tensors that broadcast.

    Shapes: (*), (*) -> (*), broadcast; numbers -> (*size).  Raises RuntimeError for a negative standard deviation.
    Source: torch.normal.

    >>> import engine as torch
    >>> torch.normal(0.0, 1.0, (2, 3)).shape
    torch.Size([2, 3])
    """
    tensors = [v for v in (mean, std) if isinstance(v, Tensor)]
    if isinstance(std, Tensor):
        if (std._array < 0).any():
            raise errors.runtime("normal expects all elements of std >= 0.0")
    elif std < 0:
        raise errors.runtime(f"normal expects std >= 0.0, but found std {std:g}")
    if not tensors:
        if size is None:
            raise TypeError(
                "normal() received an invalid combination of arguments - got (float, float), but expected one of:\n"
                " * (Tensor mean, Tensor std, *)\n * (float mean, float std, tuple of ints size, *)\n"
            )
        numpy_dtype = floating(named.get("dtype"))
        values = standard(shape_given("normal", (size,)), numpy_dtype, generator)
        values = values * numpy_dtype.type(std) + numpy_dtype.type(mean)
        return new_leaf(values, "normal", named.get("requires_grad", False), named.get("device"))
    shape = joint(tensors[0]._array.shape, tensors[-1]._array.shape)
    plain = [v._array if isinstance(v, Tensor) else v for v in (mean, std)]
    around = tensors[0]._array.dtype
    values = random_tensor(
        (standard(shape, around, generator) * plain[1] + plain[0]).astype(around, copy=False), tensors[0]
    )
    if len(tensors) == 2:
        return dr.normal_both(mean, std, values)
    which = dr.normal_mean if isinstance(mean, Tensor) else dr.normal_std
    return which(tensors[0], values)


# -- distributions given by tensors -------------------------------------------------------------------------------


def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with the probability given by the element (or by `p`), else 0.

    Shapes: (*), (*) -> (*).  Raises RuntimeError for a probability outside 0 … 1.  Source: torch.bernoulli.

    >>> import engine as torch
    >>> torch.bernoulli(torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    need_tensor(input, "bernoulli")
    data = input._array
    if p is not None:
        if not 0 <= p <= 1:
            raise errors.runtime(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        chances: Any = p
    else:
        need_float("bernoulli_tensor_cpu_p_", data.dtype)
        if not ((data >= 0) & (data <= 1)).all():
            raise errors.runtime(IN_UNIT)
        chances = arrays.to_numpy(data)
    values = random_tensor((stream(generator).random(data.shape) < chances).astype(data.dtype), input)
    return dr.bernoulli(input, values)


@takes_out
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson draws of the elements' rates.

    Shapes: (*) -> (*).  Raises RuntimeError for a negative rate.  Source: torch.poisson.

    >>> import engine as torch
    >>> torch.poisson(torch.zeros(2))
    tensor([0., 0.])
    """
    need_tensor(input, "poisson")
    need_float("poisson_cpu", input._array.dtype)
    if (input._array < 0).any():
        raise errors.runtime("invalid Poisson rate, expected rate to be non-negative")
    values = stream(generator).poisson(arrays.to_numpy(input._array)).astype(input._array.dtype)
    return dr.poisson(input, random_tensor(values, input))


def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of `count` trials with chance `prob` succeed.

    Shapes: (*), (*) -> (*), broadcast.  Source: torch.binomial.

    >>> import engine as torch
    >>> torch.binomial(torch.tensor([3.0, 3.0]), torch.tensor([0.0, 1.0]))
    tensor([0., 3.])
    """
    trials, chance = arrays.to_numpy(count._array), arrays.to_numpy(prob._array)
    counts = stream(generator).binomial(trials.astype("int64"), chance.astype("float64"))
    return random_tensor(xp.asarray(counts).astype(count._array.dtype), count)


@takes_out
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the elements (of each row) as weights.

    Shapes: ([N,] C) -> ([N,] num_samples).  Raises RuntimeError for weights that are negative, or fewer of them than
    samples without replacement.  Source: torch.multinomial.

    >>> import engine as torch
    >>> torch.multinomial(torch.tensor([0.0, 2.0, 0.0]), 1)
    tensor([1])
    """
    need_tensor(input, "multinomial")
    weights = arrays.to_numpy(input._array)
    if weights.ndim not in (1, 2):
        raise errors.runtime("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        raise errors.runtime(f"multinomial only supports floating-point dtypes for input, got: {kind(input)}")
    if num_samples <= 0:
        raise errors.runtime("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise errors.runtime("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if weights.shape[-1] > 2**24:
        raise errors.runtime("number of categories cannot exceed 2^24")
    _check_weights(weights, replacement and num_samples > 1)
    wide = weights.astype("float64")
    if (wide.sum(axis=-1) <= 0).any():
        raise errors.runtime("invalid multinomial distribution (sum of probabilities <= 0)")
    escape(input, "multinomial")
    places = _with_replacement if replacement else _without_replacement
    result = tensor_of(xp.asarray(places(wide, num_samples, stream(generator)).astype("int64"), like=input._array))
    if slot.active is not None:
        slot.active.see(result, "multinomial")
    return result


def _check_weights(weights: Any, in_turn: bool) -> None:
    """Raise torch's error where weights are no probabilities; it looks at one after the other if drawn `in_turn`."""
    if (xp.isfinite(weights) & (weights >= 0)).all():
        return
    if not in_turn:
        raise errors.runtime("probability tensor contains either `inf`, `nan` or element < 0")
    what = "entry < 0" if not (weights >= 0).all() else "entry = infinity or NaN"
    raise errors.runtime(f"invalid multinomial distribution (encountering probability {what})")


def _with_replacement(weights: Any, count: int, generator: Any) -> Any:
    """The inverse of the distribution function at even draws, row by row: rows are set apart by adding 2 to each."""
    rows = weights.reshape(-1, weights.shape[-1])
    steps = rows.cumsum(axis=1)
    steps /= steps[:, -1:]
    apart = 2.0 * xp.arange(len(rows))[:, None]
    draws = generator.random((len(rows), count))
    places = xp.searchsorted((steps + apart).ravel(), (draws + apart).ravel(), side="right").reshape(draws.shape)
    places -= rows.shape[1] * xp.arange(len(rows))[:, None]
    return places.reshape(*weights.shape[:-1], count)


def _without_replacement(weights: Any, count: int, generator: Any) -> Any:
    """The first to arrive where each place waits for an exponential time of its rate."""
    waits = generator.exponential(size=weights.shape)
    with xp.errstate(divide="ignore"):
        times = waits / weights
    return xp.argsort(times, axis=-1, kind="stable")[..., :count]


METHODS = ("bernoulli", "multinomial")
"""Functions that are methods of Tensor too."""
