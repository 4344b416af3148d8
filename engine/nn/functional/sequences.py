"""The loss of sequences without alignment.  Source: torch.nn.functional."""

from __future__ import annotations

from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.math.choice import where
from ...arrays import errors
from ...arrays.array import xp
from ...ops import choice as ch
from ...ops import ctc
from ...ops import elementwise as eo
from ...ops import shape as so
from ...tensor.tensor import Tensor, tensor_of
from .broadcast import of_dtype
from .loss import known, reduced

__all__ = [
    "ctc_loss",
]

CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log of the probability of the targets, summed over all alignments; the mean is by target length.

    The targets may stand in one row, all of them one after the other.  With `zero_infinity` a target longer than its
    input counts 0.  The gradient is that of the scores of log_softmax.

    Shapes: (T, N, C), (N, S), (N), (N) -> (), with reduction "none" (N); without N (T, C), (S), (), () -> ().  Raises
    RuntimeError where a length is too large, or `blank` no class.  Source: torch.nn.functional.ctc_loss; Graves et al.,
    2006.

    >>> import engine as torch
    >>> scores = torch.zeros(2, 1, 2).log_softmax(2)
    >>> torch.nn.functional.ctc_loss(scores, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    known(reduction)
    need_tensor(log_probs, "ctc_loss", "log_probs")
    need_tensor(targets, "ctc_loss", "targets", 2)
    batched = log_probs._array.ndim == 3
    scores = log_probs if batched else so.unsqueeze(log_probs, 1)
    inputs, sizes = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    _check(scores, inputs, sizes, blank)
    labels = tensor_of(_padded(targets, sizes))
    # torch's own kernel takes double precision where the arguments are checked by Python
    losses: Any = ctc.ctc_loss(scores, labels, tensor_of(inputs), tensor_of(sizes), blank, zero_infinity)[0]
    if zero_infinity:
        losses = where(ch.isinf(losses), tensor_of(xp.zeros((), dtype=losses._array.dtype, like=losses._array)), losses)
    if not batched:
        losses = so.squeeze_dim(losses, 0) if reduction == "none" else losses
    if reduction == "mean":
        share = of_dtype(tensor_of(xp.maximum(sizes, 1)), losses._array.dtype)
        losses = eo.div(losses, share)
    return reduced(losses, reduction)


def _lengths(given: Any, name: str) -> Any:
    """Lengths as an array of integers, given as a tensor or a sequence."""
    data = given._array if isinstance(given, Tensor) else xp.asarray(given)
    if data.dtype.kind not in "iu":
        raise errors.runtime(f"{name} must be integral")
    return data.astype("int64", copy=False).reshape(-1)


def _check(scores: Tensor, inputs: Any, sizes: Any, blank: int) -> None:
    """Raise torch's errors for lengths and labels out of range."""
    times, samples, classes = scores._array.shape
    if scores._array.dtype.kind != "f":
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{kind(scores)}'")
    if not 0 <= blank < classes:
        raise errors.runtime("blank must be in label range")
    for name, found in (("input_lengths", inputs), ("target_lengths", sizes)):
        if found.size != samples:
            raise errors.runtime(f"{name} must be of size batch_size")
    if samples and inputs.max() > times:
        raise errors.runtime(
            f"Expected input_lengths to have value at most {times}, but got value {int(inputs.max())} {CHECKING}"
        )


def _padded(targets: Tensor, sizes: Any) -> Any:
    """The labels as (N, the longest target)."""
    data = targets._array.astype("int64", copy=False)
    longest = int(sizes.max()) if sizes.size else 0
    if data.ndim == 2 or sizes.size == 1:
        data = data.reshape(sizes.size, -1)
        if data.shape[1] < longest:
            raise errors.runtime(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {data.shape[1]} for "
                f"argument #2 'targets' {CHECKING}"
            )
        return data[:, :longest] if longest else data[:, :0]
    total = int(sizes.sum())
    if data.shape[0] != total:
        raise errors.runtime(
            f"Expected tensor to have size {total} at dimension 0, but got size {data.shape[0]} for argument #2 "
            f"'targets' {CHECKING}"
        )
    out = xp.zeros((sizes.size, longest), dtype="int64", like=data)
    out[xp.arange(longest, like=data) < sizes[:, None]] = data
    return out
