"""Exponentials over a dimension: softmax and its kin.  Source: torch.nn.functional."""

from __future__ import annotations

import warnings
from typing import Any

from ...api.calls.check import kind, need_tensor, one_dim
from ...api.creation.creation import new_leaf
from ...api.index.scatter import scatter
from ...api.random.random import generator
from ...api.reduce import extremes as ex
from ...api.reduce import reduction as rd
from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import callers_level
from ...ops import choice as ch
from ...ops import elementwise as eo
from ...ops import shape as sh
from ...tensor.tensor import Tensor

__all__ = [
    "gumbel_softmax",
    "log_softmax",
    "softmax",
    "softmin",
]


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
