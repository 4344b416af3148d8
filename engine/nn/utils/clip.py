"""Gradients cut to size before a step."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ...api.creation.creation import tensor
from ...api.linalg.norms import norm
from ...api.shape.joining import stack
from ...arrays import errors
from ...arrays.array import xp
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

Quiet = TypeVar("Quiet", bound=Callable[..., Any])
EMPTY = "`parameters` is an empty generator, no gradient clipping will occur."


def _quiet(function: Quiet) -> Quiet:
    return no_grad()(function)


def _as_list(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Iterable[Tensor]) -> list[Tensor]:
    return [p._grad for p in parameters if p._grad is not None]


@_quiet
def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The norm of all tensors as if they were one vector; 0 where there are none.

    Shapes: (*), ... -> ().  Raises RuntimeError for a norm that is not finite, with `error_if_nonfinite`.
    Source: torch.nn.utils.get_total_norm.

    >>> import engine as torch
    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    parts = _as_list(tensors)
    if not parts:
        return tensor(0.0)
    total: Tensor = norm(stack([norm(t, float(norm_type)) for t in parts]), float(norm_type))
    if error_if_nonfinite and not bool(xp.isfinite(total._array)):
        raise errors.runtime(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@_quiet
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients in place so that a norm of `total_norm` becomes `max_norm`; smaller ones stay.

    Source: torch.nn.utils.clip_grads_with_norm_.

    >>> import engine as torch
    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grads_with_norm_([w], 1.0, torch.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for grad in _gradients(_as_list(parameters)):
        grad.mul_(factor)


@_quiet
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale the gradients in place so that their norm as one vector is at most `max_norm`; the norm before.

    Shapes: gradients (*) -> ().  Raises RuntimeError for a norm that is not finite, with `error_if_nonfinite`.
    Source: torch.nn.utils.clip_grad_norm_; Pascanu et al., 2012.

    >>> import engine as torch
    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_([w], 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    weights = _as_list(parameters)
    if isinstance(parameters, types.GeneratorType) and not weights:
        warnings.warn(EMPTY, stacklevel=3)
    total = get_total_norm(_gradients(weights), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(weights, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """A name that torch no longer uses.

    Shapes: gradients (*) -> ().  Raises RuntimeError for a norm that is not finite, with `error_if_nonfinite`.
    Source: torch.nn.utils.clip_grad_norm; Pascanu et al., 2012.

    >>> import engine as torch
    >>> import warnings
    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.nn.utils.clip_grad_norm([w], 1.0)
    tensor(5.)
    """
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@_quiet
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Keep every element of the gradients between -clip_value and clip_value, in place.

    Source: torch.nn.utils.clip_grad_value_.

    >>> import engine as torch
    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 0.5])
    >>> torch.nn.utils.clip_grad_value_([w], 1.0)
    >>> w.grad
    tensor([1.0000, 0.5000])
    """
    for grad in _gradients(_as_list(parameters)):
        grad.clamp_(min=-float(clip_value), max=float(clip_value))
