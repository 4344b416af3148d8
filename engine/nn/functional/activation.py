"""Activations, softmax and its kin.  Source: torch.nn.functional."""

from __future__ import annotations

import warnings
from typing import Any

from ...api.calls import functions as fn
from ...api.calls.check import kind, need_numbers, need_tensor, one_dim
from ...api.calls.examples import with_example
from ...api.creation.creation import new_leaf
from ...api.index.scatter import scatter
from ...api.random.random import generator
from ...api.reduce import extremes as ex
from ...api.reduce import reduction as rd
from ...api.shape.shape import reshape
from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import callers_level
from ...ops import activation as ac
from ...ops import choice as ch
from ...ops import elementwise as eo
from ...ops import shape as sh
from ...tensor.inplace import apply_inplace
from ...tensor.tensor import Tensor

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

WRITING = {
    ac.leaky_relu: ac.leaky_relu_, ac.rrelu: ac.rrelu_, ac.threshold: ac.threshold_, ac.elu: ac.elu_, ac.celu: ac.celu_,
}  # fmt: skip
"""Ops whose in-place form is a node of its own: its rule reads the result."""


def _run(op: Any, inplace: bool, input: Tensor, *others: Any, **statics: Any) -> Tensor:
    """An op of `input`, written into it where `inplace`."""
    if inplace:
        return apply_inplace(WRITING.get(op, op).op, (input, *others), statics)
    return op(input, *others, **statics)


def _floating(input: Any, function: str, kernel: str) -> None:
    """Raise torch's error where an argument is no tensor of floats."""
    need_tensor(input, function)
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind(input)}'")


def _number(value: Any, function: str, name: str, position: int = 2) -> None:
    if not isinstance(value, (int, float)):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be Number, not {type(value).__name__}"
        )


sigmoid = fn.sigmoid
tanh = fn.tanh


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); its derivative at 0 is 0.

    Shapes: (*) -> (*).  Source: torch.nn.functional.relu.

    >>> import engine as torch
    >>> torch.nn.functional.relu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return _run(eo.relu, True, input) if inplace else fn.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x between 0 and 6.

    Shapes: (*) -> (*).  Source: torch.nn.functional.relu6.

    >>> import engine as torch
    >>> torch.nn.functional.relu6(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x between two bounds; on a bound the derivative is 0.

    Shapes: (*) -> (*).  Source: torch.nn.functional.hardtanh.

    >>> import engine as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """
    need_tensor(input, "hardtanh")
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    which = input._array.dtype.kind
    if which == "b":
        raise errors.runtime("Bool inputs not supported for hardtanh")
    if which != "f":
        min_val, max_val = int(min_val), int(max_val)
    return _run(ac.hardtanh, inplace, input, min_val=min_val, max_val=max_val)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, `negative_slope` * x below.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.leaky_relu; Maas et al.,
    2013.

    >>> import engine as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    need_tensor(input, "leaky_relu")
    _number(negative_slope, "leaky_relu", "negative_slope")
    _floating(input, "leaky_relu", "leaky_relu_cpu")
    return _run(ac.leaky_relu, inplace, input, negative_slope=negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above 0, weight * x below; `weight` has one element, or one per channel (dimension 1).

    Shapes: (*), (1) -> (*); with a slope for each of C channels (N, C, *), (C) -> (N, C, *).  Raises RuntimeError where
    `weight` has another number of elements, or another dtype.  Source: torch.nn.functional.prelu; He et al., 2015.

    >>> import engine as torch
    >>> torch.nn.functional.prelu(torch.tensor([-1.0, 2.0]), torch.tensor([0.5]))
    tensor([-0.5000,  2.0000])
    """
    need_tensor(input, "prelu")
    need_tensor(weight, "prelu", "weight", 2)
    x, w = input._array, weight._array
    if x.dtype != w.dtype:
        raise errors.runtime(f"prelu: Type promoting not supported. Got {kind(input)} and {kind(weight)}")
    channels = x.shape[1] if x.ndim > 1 else 1
    if w.size != 1:
        if not x.ndim:
            raise errors.runtime("Not allow zero-dim input tensor.")
        if w.size != channels:
            raise errors.runtime(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {w.size} and channel "
                f"size = {channels}."
            )
    if w.ndim > 1:
        raise errors.runtime(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {w.ndim}")
    wide = tuple(w.size if d == 1 else 1 for d in range(x.ndim))
    if w.shape != wide:
        weight = reshape(weight, *wide)
    return ac.prelu(input, weight)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """A leaky relu whose slope is drawn per element from [lower, upper); outside training it is their mean.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.rrelu; Xu et al., 2015.

    >>> import engine as torch
    >>> torch.nn.functional.rrelu(torch.tensor([-1.0, 2.0]))
    tensor([-0.2292,  2.0000])
    """
    need_tensor(input, "rrelu")
    if lower > upper:
        raise errors.runtime("Lower bound should be less than or equal to the upper bound")
    _floating(input, "rrelu", "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu")
    noise = _slopes(input, lower, upper) if training else None
    return _run(ac.rrelu, inplace, input, noise, lower=lower, upper=upper, training=training)


def _slopes(input: Tensor, lower: float, upper: float) -> Tensor:
    """The slope of each element: drawn on the left of 0, else 1."""
    data = input._array
    draws = xp.asarray(generator().uniform(lower, upper, data.shape), dtype=data.dtype, like=data)
    draws[data > 0] = 1
    return new_leaf(draws, "random")


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha * (exp(x) - 1) below.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.elu; Clevert et al.,
    2015.

    >>> import engine as torch
    >>> torch.nn.functional.elu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """
    _floating(input, "elu", "elu_cpu")
    return _run(ac.elu, inplace, input, alpha=alpha)


SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled elu that keeps mean 0 and variance 1.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.selu; Klambauer et al.,
    2017.

    >>> import engine as torch
    >>> torch.nn.functional.selu(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    _floating(input, "selu", "elu_cpu")
    return _run(ac.elu, inplace, input, alpha=SELU_ALPHA, scale=SELU_SCALE)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha * (exp(x / alpha) - 1) below: its derivative is continuous.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.celu; Barron, 2017.

    >>> import engine as torch
    >>> torch.nn.functional.celu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """
    need_tensor(input, "celu")
    if alpha == 0:
        raise errors.runtime("ZeroDivisionError: alpha cannot be 0 for CELU")
    _floating(input, "celu", "elu_cpu")
    return _run(ac.celu, inplace, input, alpha=alpha)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x Φ(x), Φ the normal distribution's; `approximate` "tanh" takes a formula with tanh for it.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.gelu; Hendrycks and
    Gimpel, 2016.

    >>> import engine as torch
    >>> torch.nn.functional.gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    need_tensor(input, "gelu")
    if approximate not in ("none", "tanh"):
        raise errors.runtime("approximate argument must be either none or tanh.")
    _floating(input, "gelu", "GeluKernelImpl")
    return ac.gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its sigmoid.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.silu; Elfwing et al.,
    2017.

    >>> import engine as torch
    >>> torch.nn.functional.silu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2689,  0.0000,  1.7616])
    """
    _floating(input, "silu", "silu_cpu")
    return _run(ac.silu, inplace, input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(softplus(x)).

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.mish; Misra, 2019.

    >>> import engine as torch
    >>> torch.nn.functional.mish(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3034,  0.0000,  1.9440])
    """
    _floating(input, "mish", "mish_cpu")
    return _run(ac.mish, inplace, input)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above `threshold`.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.softplus.

    >>> import engine as torch
    >>> torch.nn.functional.softplus(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0.3133, 0.6931, 2.1269])
    """
    _floating(input, "softplus", "softplus_cpu")
    return eo.softplus(input, beta=beta, threshold=threshold)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|).

    Shapes: (*) -> (*).  Source: torch.nn.functional.softsign.

    >>> import engine as torch
    >>> torch.nn.functional.softsign(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.5000,  0.0000,  0.6667])
    """
    need_tensor(input, "softsign")
    need_numbers("abs_cpu", input)
    return eo.div(input, eo.add(eo.absolute(input), 1))


def logsigmoid(input: Tensor) -> Tensor:
    """log of the sigmoid, without underflow.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.logsigmoid.

    >>> import engine as torch
    >>> torch.nn.functional.logsigmoid(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.3133, -0.6931, -0.1269])
    """
    _floating(input, "logsigmoid", "log_sigmoid_cpu")
    return ac.log_sigmoid(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1/2 between 0 and 1.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.hardsigmoid.

    >>> import engine as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0.3333, 0.5000, 0.8333])
    """
    _floating(input, "hardsigmoid", "hardsigmoid_cpu")
    return _run(ac.hardsigmoid, inplace, input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its hardsigmoid.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.hardswish; Howard et al.,
    2019.

    >>> import engine as torch
    >>> torch.nn.functional.hardswish(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3333,  0.0000,  1.6667])
    """
    _floating(input, "hardswish", "hardswish_cpu")
    return _run(ac.hardswish, inplace, input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 within `lambd` of 0, else x.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.hardshrink.

    >>> import engine as torch
    >>> torch.nn.functional.hardshrink(torch.tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """
    _floating(input, "hardshrink", "hardshrink_cpu")
    return ac.hardshrink(input, lambd=lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved by `lambd` towards 0, and 0 if it is within `lambd` of 0.

    Shapes: (*) -> (*).  Raises NotImplementedError for integers.  Source: torch.nn.functional.softshrink.

    >>> import engine as torch
    >>> torch.nn.functional.softshrink(torch.tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """
    _floating(input, "softshrink", "softshrink_check")
    if lambd < 0:
        largest = f"{float(xp.finfo(input._array.dtype).max):g}"
        raise errors.runtime(
            f"lambda must be in range [0, {largest}] for input dtype {kind(input)}, but found {lambd:g}"
        )
    return ac.softshrink(input, lambd=lambd)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x).

    Shapes: (*) -> (*).  Source: torch.nn.functional.tanhshrink.

    >>> import engine as torch
    >>> torch.nn.functional.tanhshrink(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2384,  0.0000,  1.0360])
    """
    need_tensor(input, "tanhshrink")
    return eo.sub(input, eo.tanh(input))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above `threshold`, else `value`.

    Shapes: (*) -> (*).  Source: torch.nn.functional.threshold.

    >>> import engine as torch
    >>> torch.nn.functional.threshold(torch.tensor([-1.0, 0.0, 2.0]), 0.5, -9.0)
    tensor([-9., -9.,  2.])
    """
    need_tensor(input, "threshold")
    if input._array.dtype.kind != "f":
        threshold, value = int(threshold), int(value)
    return _run(ac.threshold, inplace, input, threshold=threshold, value=value)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second.

    Shapes: (*, D, *) -> (*, D / 2, *).  Raises RuntimeError where D is odd.  Source: torch.nn.functional.glu; Dauphin
    et al., 2016.

    >>> import engine as torch
    >>> torch.nn.functional.glu(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """
    need_tensor(input, "glu")
    shape = input._array.shape
    if not shape:
        raise errors.runtime("glu does not support scalars because halving size must be even")
    place = one_dim(dim, len(shape))
    if shape[place] % 2:
        raise errors.runtime(f"Halving dimension must be even, but dimension {place} is size {shape[place]}")
    _floating(input, "glu", "glu_cpu")
    return ac.glu(input, dim=place)


# -- written into their input -------------------------------------------------------------------------------------


def _inplace(function: Any) -> Any:
    def method(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return function(input, *args, inplace=True, **kwargs)

    method.__name__ = method.__qualname__ = f"{function.__name__}_"
    name = f"{function.__name__}_"
    method.__doc__ = with_example(f"{function.__name__}, written into `input`.", f"nn.functional.{name}")
    return method


celu_, elu_, hardtanh_, leaky_relu_ = map(_inplace, (celu, elu, hardtanh, leaky_relu))
relu_, rrelu_, selu_, threshold_ = map(_inplace, (relu, rrelu, selu, threshold))


def _dimension(name: str, input: Tensor, dim: int | None) -> int:
    """The dimension, chosen by the rank where none is given, as older programs have it."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        UserWarning,
        stacklevel=callers_level(),
    )
    return 0 if input._array.ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.nn.functional.softmax.

    >>> import engine as torch
    >>> torch.nn.functional.softmax(torch.tensor([-1.0, 0.0, 2.0]), 0)
    tensor([0.0420, 0.1142, 0.8438])
    """
    need_tensor(input, "softmax")
    return rd.softmax(input, _dimension("softmax", input, dim), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(-x) / sum(exp(-x)) along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.nn.functional.softmin.

    >>> import engine as torch
    >>> torch.nn.functional.softmin(torch.tensor([0.0, 1.0]), 0)
    tensor([0.7311, 0.2689])
    """
    need_tensor(input, "softmin")
    return rd.softmax(eo.neg(input), _dimension("softmin", input, dim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.nn.functional.log_softmax.

    >>> import engine as torch
    >>> torch.nn.functional.log_softmax(torch.tensor([-1.0, 0.0, 2.0]), 0)
    tensor([-3.1698, -2.1698, -0.1698])
    """
    need_tensor(input, "log_softmax")
    return rd.log_softmax(input, _dimension("log_softmax", input, dim), dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution; `hard` makes it one-hot, with the soft sample's gradient.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.
    Source: torch.nn.functional.gumbel_softmax; Jang et al., 2016.

    >>> import engine as torch
    >>> torch.nn.functional.gumbel_softmax(torch.zeros(1, 3), hard=True).sum()
    tensor(1.)
    """
    need_tensor(logits, "gumbel_softmax")
    data = logits._array
    if data.dtype.kind != "f":
        raise errors.runtime(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {kind(logits)}"
        )
    draws = xp.asarray(-xp.log(generator().exponential(size=data.shape)), dtype=data.dtype, like=data)
    soft = rd.softmax(eo.div(eo.add(logits, new_leaf(draws, "random")), tau), dim)
    if not hard:
        return soft
    place = one_dim(dim, data.ndim)
    first = ex.max(sh.detach(soft), place, keepdim=True)[1]
    one = scatter(ch.zero(sh.detach(soft)), place, first, 1.0)
    return eo.add(eo.sub(one, sh.detach(soft)), soft)
