"""Losses of class scores.  Source: torch.nn.functional."""

from __future__ import annotations

import math
from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.inplace import inplace as ip
from ...api.math import choice as cc
from ...api.reduce import reduction as rd
from ...api.shape.shape import reshape
from ...arrays import errors
from ...arrays.array import int64, uint8
from ...ops import choice as ch
from ...ops import elementwise as eo
from ...ops import loss as lo
from ...ops import reduction as ro
from ...ops import scalar as sc
from ...ops import shape as so
from ...tensor.tensor import Tensor
from .arguments import need_no_gradient
from .loss import need_reduction, reduction_of

__all__ = [
    "cross_entropy",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nll_loss",
]


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the score of each sample's target class, times that class's weight; the mean is by weight.

    Targets equal to `ignore_index` do not count.

    Shapes: (C), () -> (); (N, C, *), (N, *) -> (), with reduction "none" (N, *).  Raises IndexError for a class outside
    0 … C - 1, ValueError where the batches differ.  Source: torch.nn.functional.nll_loss.

    >>> import engine as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
    tensor(2.)
    """
    return _nll(input, target, weight, need_reduction(reduction_of(size_average, reduce, reduction)), ignore_index)


def _nll(input: Any, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> Tensor:
    need_tensor(input, "nll_loss_nd")
    need_tensor(target, "nll_loss_nd", "target", 2)
    shape, target_shape = input._array.shape, target._array.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) > 1 and (not target_shape or shape[0] != target_shape[0]):
        if not target_shape:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({target_shape[0]}).")
    if len(shape) <= 2:
        _check_flat(shape, target_shape)
        _check_classes("nll_loss_forward", input, target, weight)
        return lo.nll_loss(input, target, weight, reduction, ignore_index)[0]
    if len(shape) == 4:
        if len(target_shape) != 3:
            raise errors.runtime(
                "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
                f"{len(target_shape)}"
            )
        if shape[2:] != target_shape[1:]:
            raise errors.runtime(f"size mismatch (got input: {list(shape)} , target: {list(target_shape)}")
        _check_classes("nll_loss2d_forward", input, target, weight)
        return lo.nll_loss2d(input, target, weight, reduction, ignore_index)[0]
    if shape[2:] != target_shape[1:]:
        raise errors.runtime(f"Expected target size {[shape[0], *shape[2:]]}, got {list(target_shape)}")
    _check_classes("nll_loss2d_forward", input, target, weight)
    places = input._array.size // max(1, shape[0] * shape[1])
    flat = reshape(input, shape[0], shape[1], 1, places), reshape(target, shape[0], 1, places)
    loss = lo.nll_loss2d(*flat, weight, reduction, ignore_index)[0]
    return so.view(loss, target_shape) if reduction == "none" else loss


def _check_flat(shape: tuple[int, ...], target_shape: tuple[int, ...]) -> None:
    """Raise torch's error where the target of (C) or (N, C) has another shape."""
    if len(shape) == 1 and len(target_shape) == 1 and target_shape[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target_shape[0]}")
    if len(target_shape) > 1:
        raise errors.runtime("0D or 1D target tensor expected, multi-target not supported")


def _check_classes(function: str, input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Raise torch's error for dtypes that do not fit, and for weights of another number of classes."""
    if target._array.dtype not in (int64.numpy, uint8.numpy):
        raise errors.runtime(f"expected target dtype to be Long or Byte, but got {kind(target)}")
    need_no_gradient(function, weight=weight)
    classes = input._array.shape[1 if input._array.ndim > 1 else 0]
    if weight is not None and weight._array.shape != (classes,):
        raise errors.runtime(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight._array.shape)}"
        )
    if weight is not None and weight._array.dtype != input._array.dtype:
        raise errors.runtime(f"expected scalar type {kind(input)} but found {kind(weight)}")
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"nll_loss_out_frame\" not implemented for '{kind(input)}'")


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """The nll_loss of log_softmax(input); a target of the input's shape holds probabilities of the classes.

    `label_smoothing` is the part of each target that is shared evenly among all classes.

    Shapes: (C), () -> (); (N, C, *), (N, *) -> (), with reduction "none" (N, *); probabilities (N, C, *).  Raises
    IndexError for a class outside 0 … C - 1, ValueError where the batches differ.
    Source: torch.nn.functional.cross_entropy.

    >>> import engine as torch
    >>> torch.nn.functional.cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
    tensor(0.6931)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    need_tensor(input, "cross_entropy_loss", "self")
    need_tensor(target, "cross_entropy_loss", "target", 2)
    if input._array.shape == target._array.shape:
        if target._array.dtype.kind != "f":
            raise errors.runtime(
                f"Expected floating point type for target with class probabilities, got {kind(target)}"
            )
        if ignore_index >= 0:
            raise errors.runtime("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, reduction, label_smoothing)
    if label_smoothing > 0:
        _check_smoothing(label_smoothing)
        return _smoothed(input, target, weight, reduction, ignore_index, label_smoothing)
    scores = rd.log_softmax(input, _class_dim(input))
    return _nll(scores, target, weight, reduction, ignore_index)


def _class_dim(input: Tensor) -> int:
    return 0 if input._array.ndim <= 1 else 1


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1:
        raise errors.runtime(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _by_class(weight: Tensor, rank: int) -> Tensor:
    """The classes' weights in a shape that broadcasts to scores of that rank."""
    if rank <= 1:
        return weight
    return so.view(weight, (1, weight._array.size, *(1 for _ in range(rank - 2))))


def _of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float
) -> Tensor:
    dim = _class_dim(input)
    classes = input._array.shape[dim] if input._array.ndim else 1
    if weight is not None and weight._array.shape != (classes,):
        raise errors.runtime(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight._array.shape)}"
        )
    scores = rd.log_softmax(input, dim)
    if label_smoothing > 0:
        _check_smoothing(label_smoothing)
        target = sc.add_number(sc.mul_number(target, 1 - label_smoothing), label_smoothing / classes)
    losses = eo.mul(scores, target)
    if weight is not None:
        losses = eo.mul(losses, _by_class(weight, input._array.ndim))
    if reduction == "none":
        return eo.neg(ro.sum_dim(losses, dim, False))
    total = eo.neg(rd.sum(losses))
    if reduction == "sum":
        return total
    if not input._array.size:
        return eo.neg(ip.fill_(rd.sum(losses), math.nan))
    return sc.div_number(total, input._array.size // classes)


def _smoothed(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int, label_smoothing: float
) -> Tensor:
    dim = _class_dim(input)
    scores = rd.log_softmax(input, dim)
    sharp = _nll(scores, target, weight, reduction, ignore_index)
    weighed = scores if weight is None else eo.mul(scores, _by_class(weight, input._array.ndim))
    ignored = ch.eq(target, ignore_index)
    even: Any = ch.masked_fill(eo.neg(ro.sum_dim(weighed, dim, False)), ignored, value=0.0)
    if reduction != "none":
        even = rd.sum(even)
    if reduction == "mean":
        counts = ch.logical_not(ignored)
        size = rd.sum(counts)
        if weight is not None:
            places = cc.where(ignored, 0, target)
            size = rd.sum(eo.mul(ro.gather(weight, reshape(places, -1), 0), reshape(counts, -1)))
        even = eo.div(even, size)
    classes = input._array.shape[dim]
    return eo.add(sc.mul_number(sharp, 1 - label_smoothing), sc.mul_number(even, label_smoothing / classes))


# -- margins ------------------------------------------------------------------------------------------------------


def _check_scores(input: Tensor) -> None:
    shape = input._array.shape
    if len(shape) > 2 or not all(shape[1:]) or (len(shape) == 1 and not shape[0]):
        raise errors.runtime(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"multi_margin_loss\" not implemented for '{kind(input)}'")


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The sum over other classes of max(0, margin - x[target] + x[class])^p, divided by the number of classes.

    Shapes: ([N,] C), ([N]) -> (), with reduction "none" ([N]).  Raises ValueError where p is not 1 or 2, RuntimeError
    for a target of another shape.  Source: torch.nn.functional.multi_margin_loss.

    >>> import engine as torch
    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[1.0, 0.5]]), torch.tensor([0]))
    tensor(0.2500)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight._array.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    need_no_gradient("multi_margin_loss", weight=weight)
    _check_scores(input)
    shape, labels = input._array.shape, target._array.shape
    samples = shape[0] if len(shape) == 2 else 1
    if len(labels) > 1 or target._array.size != samples:
        raise errors.runtime(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{samples}], but got {list(labels)}. Input has shape {list(shape)}."
        )
    classes = shape[-1] if shape else 1
    if weight is not None and weight._array.size != classes:
        raise errors.runtime(f"inconsistent weight size, expected {classes} but got {list(weight._array.shape)}")
    _need_long(target)
    if ((target._array < 0) | (target._array >= classes)).any():
        raise errors.runtime("target out of range")
    return lo.multi_margin_loss(input, target, weight, reduction, p, margin)


def _need_long(target: Tensor) -> None:
    if target._array.dtype != int64.numpy:
        raise errors.runtime(f"expected scalar type Long but found {kind(target)}")


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The sum over pairs of a listed and another class of max(0, 1 - x[listed] + x[other]), divided by all classes.

    Each row of `target` lists classes, up to the first -1.

    Shapes: ([N,] C), ([N,] C) -> (), with reduction "none" ([N]).  Raises RuntimeError for a target of another shape.
    Source: torch.nn.functional.multilabel_margin_loss.

    >>> import engine as torch
    >>> torch.nn.functional.multilabel_margin_loss(torch.tensor([[1.0, 0.5]]), torch.tensor([[0, -1]]))
    tensor(0.2500)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    _check_scores(input)
    shape = input._array.shape
    if target._array.shape != shape:
        raise errors.runtime(f"inconsistent target size: {list(target._array.shape)} for input of size: {list(shape)}")
    _need_long(target)
    labels = target._array
    if labels.size and (labels.min() < -1 or labels.max() >= (shape[-1] if shape else 1)):
        raise errors.runtime("argument #2 'target' is out of range")
    return lo.multilabel_margin_loss(input, target, reduction)
