"""Losses whose softmax runs over the wrong dimension, over one number, twice, or is missing, and losses whose arguments
are swapped or whose targets are not probabilities.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.trace.events import OpCalled, Value

from ...reading import labels, text
from ...reading.error_tensors import asks
from ...reading.facts import Facts
from ...reading.rearranged import Origin, origin
from ..finding import Finding, Kind
from .about_loss import about, elements, producer_of, written_at

OF_LOGARITHMS = frozenset({"nll_loss", "ctc_loss"})
"""Losses that are computed of logarithms of probabilities."""
OF_PROBABILITIES = OF_LOGARITHMS | frozenset({"binary_cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss"})
"""Losses that are computed of probabilities or their logarithms."""
OUTSIDE = 1e-3
"""How far a target may be below 0 or above 1 by rounding."""
OF_SCORES = frozenset({"log_softmax", "binary_cross_entropy_with_logits"})
"""Ops that a loss of scores consists of; cross_entropy begins with log_softmax."""


def wrong_losses(facts: Facts) -> list[Finding]:
    """The first loss of each of these kinds: nll_loss, ctc_loss or a distribution after a softmax over a dimension that
    is not the classes'; one of these losses of probabilities without a logarithm; a cross entropy that receives
    probabilities instead of scores; nll_loss of scores; a loss of the softmax of one number, or of one number per
    sample; and a binary cross entropy with its target first, or with targets below 0 or above 1.

    Cost: linear in the ops.
    """
    result: dict[Kind, Finding] = {}
    for op in facts.ops:
        for finding in _looked_at(facts, op.event) if op.event.call is None else ():
            result.setdefault(finding.kind, finding)
    return list(result.values())


def _softmax(facts: Facts, before: Origin) -> Origin | None:
    """The softmax or log_softmax that an op is, or the softmax of which it takes the logarithm."""
    name = labels.written_name(before.op)
    if name in ("softmax", "log_softmax"):
        return before
    earlier = origin(facts, before.op.inputs[0], picks=True) if name == "log" else None
    if earlier is None or labels.written_name(earlier.op) != "softmax":
        return None
    return Origin(earlier.op, (*before.since, *earlier.since))


def _looked_at(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    name = labels.written_name(event)
    name = "nll_loss" if name == "nll_loss2d" else name  # PyTorch's, of more than two dimensions
    if name == "sub":
        yield from _scores_of_distribution(facts, event)
    if name == "mul":
        yield from _class_probabilities(facts, event)
    if name == "nll_loss":
        yield from _plain_scores(facts, event)
    if name == "div":
        yield from _probabilities_of_distribution(facts, event)
    if name in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
        yield from _swapped(facts, event)
        yield from _outside(facts, event)
    before = origin(facts, event.inputs[0], picks=True) if name in OF_PROBABILITIES | OF_SCORES else None
    if before is None:
        return
    was, by = labels.written_name(before.op), written_at(facts, before.op)
    softmax = _softmax(facts, before) if name in OF_LOGARITHMS or was in ("softmax", "log_softmax") else None
    across = (
        _across(facts, softmax, name, name == "ctc_loss") if softmax is not None and name in OF_LOGARITHMS else None
    )
    if across is not None:
        yield across
    if across is None and softmax is not None and name in OF_PROBABILITIES and _size_along(softmax.op) == 1:
        yield _of_one_number(facts, softmax.op)
    elif name in OF_LOGARITHMS and was in ("softmax", "sigmoid"):
        why = f"{name} expects logarithms of probabilities, but {by} gives the probabilities themselves."
        fix = "Use log_softmax, or cross_entropy of the scores." if name == "nll_loss" else "Use log_softmax."
        yield about("no-logarithm", facts, before.op, "no logarithm", why, fix)
    elif name == "log_softmax" and was == "softmax" and _is_along(before, event):
        why = (
            f"{by} has already made probabilities, and the cross entropy applies softmax to them again. As they all "
            "lie between 0 and 1, no class can become certain, and the gradients stay small."
        )
        fix = "Pass the scores to the cross entropy: remove the first softmax."
        yield about("softmax-twice", facts, event, "softmax taken twice", why, fix)
    elif name == "binary_cross_entropy_with_logits" and was == "sigmoid":
        why = (
            f"{by} has already made probabilities, and this loss applies sigmoid to them again: all results exceed 0.5."
        )
        fix = "Pass the scores to it: remove the sigmoid."
        yield about("sigmoid-twice", facts, event, "sigmoid taken twice", why, fix)


FOR_ONE_OUTPUT = (
    "For a single output that means yes or no, use binary_cross_entropy_with_logits and a target of floats, without "
    "softmax; for classes, give the last layer one output per class."
)


def _of_one_number(facts: Facts, softmax: OpCalled) -> Finding:
    why = (
        f"{written_at(facts, softmax)} takes the softmax over one number, which is always 1, whatever the number is. "
        "So the loss does not depend on the scores, and all gradients are 0."
    )
    return about("one-class", facts, softmax, "softmax of one number", why, FOR_ONE_OUTPUT)


def _class_probabilities(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """A cross entropy with a target of probabilities that receives one score per sample: a column, or a column that was
    turned into a row, which it takes for the classes of a single sample.

    A softmax over a row of candidates, as ListNet has it, has a target whose sum is 1.
    """
    before = producer_of(facts, event.inputs[0])
    if before is None or labels.written_name(before) != "log_softmax" or before.stack != event.stack:
        return
    shape = before.outputs[0].shape
    if _size_along(before) == 1 and shape:
        yield _of_one_number(facts, before)
    scores = origin(facts, before.inputs[0])
    target = elements(facts, event.inputs[1]) if len(shape) == 1 and len(event.inputs) > 1 else None
    if target is None or scores is None or tuple(scores.op.outputs[0].shape) != (*shape, 1):
        return
    if abs(float(target.sum()) - 1) > OUTSIDE:
        why = (
            f"{written_at(facts, before)} takes the {shape[0]} scores, one per sample, for the scores of {shape[0]} "
            f"classes of a single sample: it makes their probabilities sum to 1 over the samples. The targets sum to "
            f"{text.rough(float(target.sum()), 3)}, so they are not such probabilities."
        )
        yield about("loss-dimension", facts, before, "softmax over the samples", why, FOR_ONE_OUTPUT)


def _plain_scores(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """Scores of a layer that nll_loss takes for logarithms of probabilities: one above 0 is that of none."""
    before, value = origin(facts, event.inputs[0], picks=True), facts.read(event.inputs[0])
    most = _range(value)[1] if value is not None else 0.0
    if before is None or not most > OUTSIDE or not _is_layer(facts, before.op):
        return
    why = (
        f"nll_loss expects logarithms of probabilities, which are at most 0, but {written_at(facts, before.op)} gives "
        f"scores of up to {text.rough(float(most), 3)}. It takes the mean of minus the scores of the targets, so the "
        "loss falls without a limit as they grow."
    )
    yield about("no-logarithm", facts, before.op, "no logarithm", why, "Use cross_entropy, which expects scores.")


def _is_layer(facts: Facts, event: OpCalled) -> bool:
    """Whether an op is not elementwise and multiplies by a parameter, as it is or transposed."""
    if labels.presentation(event).elementwise or len(event.inputs) < 2:
        return False
    for one in event.inputs[1:]:
        while (rearranged := producer_of(facts, one)) is not None and labels.presentation(rearranged).rearranges:
            one = rearranged.inputs[0]
        fact = facts.tensors.get(one.tensor) if one.tensor is not None else None
        if rearranged is None and fact is not None and fact.requires_grad:
            return True
    return False


def _scores_of_distribution(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """Probabilities that a distribution takes for scores: it subtracts their logsumexp, which is log_softmax."""
    scores, *others = event.inputs
    norm = origin(facts, others[0]) if len(others) == 1 else None
    if norm is None or labels.written_name(norm.op) != "logsumexp" or norm.op.inputs[0].tensor != scores.tensor:
        return
    before, dim = origin(facts, scores, picks=True), norm.op.attrs["dim"]
    dims = list(dim) if isinstance(dim, (list, tuple)) else [dim]
    if before is None or labels.written_name(before.op) != "softmax" or len(dims) != 1:
        return
    shape = before.op.outputs[0].shape
    if before.dimension(int(dims[0]) % max(len(event.outputs[0].shape), 1)) == _dim(before.op, shape):
        why = (
            f"{written_at(facts, before.op)} has already made probabilities, and {written_at(facts, event)} takes them "
            "for scores and applies softmax again. As they all lie between 0 and 1, no choice can become certain, and "
            "the gradients stay small."
        )
        fix = "Pass the scores as logits: remove the first softmax. Or pass the probabilities as probs."
        yield about("softmax-twice", facts, event, "softmax taken twice", why, fix)


def _probabilities_of_distribution(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """Probabilities that a distribution divides by their sum along the classes, after a softmax along another
    dimension.

    The sum and the division belong to one call. A program that writes `p / p.sum(1, keepdim=True)` itself, as slot
    attention does, means it so.
    """
    probabilities, *others = event.inputs
    total = origin(facts, others[0]) if len(others) == 1 else None
    if total is None or labels.written_name(total.op) != "sum" or total.op.stack != event.stack:
        return
    dim = total.op.attrs.get("dim")
    dims = list(dim) if isinstance(dim, (list, tuple)) else [dim]
    size = len(event.outputs[0].shape)
    if total.op.inputs[0].tensor != probabilities.tensor or not size or dims not in ([-1], [size - 1]):
        return
    before = origin(facts, probabilities, picks=True)
    if before is not None and labels.written_name(before.op) == "softmax":
        across = _across(facts, before, written_at(facts, event), is_last=True)
        if across is not None:
            yield across


def _across(facts: Facts, softmax: Origin, receiver: str, is_last: bool) -> Finding | None:
    """A softmax over another dimension than that of the classes: dimension 1 of what nll_loss receives, the last one
    (`is_last`) of what ctc_loss or a distribution does."""
    op = softmax.op
    received, shape = (softmax.since[0] if softmax.since else op).outputs[0].shape, op.outputs[0].shape
    classes = len(received) - 1 if is_last else 1 if len(received) > 1 else 0
    dim, right = _dim(op, shape), softmax.dimension(classes)
    if right is None or dim == right:
        return None
    along = f"dimension {classes} of {text.shape(received)}"
    by, name = written_at(facts, op), labels.written_name(op)
    if softmax.since:
        along = f"dimension {classes}, which is dimension {right} of the {text.shape(shape)} that {by} gives"
        by = f"this {name}"
    each = "sample" if dim == 0 else "position"
    why = (
        f"{receiver} expects the classes along {along}, but {by} makes the probabilities sum to 1 along dimension "
        f"{dim}: over {text.count(shape[dim], each)} of a class, not over the classes of a {each}."
    )
    fix = f"Write dim={-1 if right == len(shape) - 1 else right}."
    return about("loss-dimension", facts, op, f"{name} over dimension {dim}", why, fix)


def _is_along(before: Origin, event: OpCalled) -> bool:
    """Return whether a second softmax certainly runs over the dimension of the first."""
    return before.dimension(_dim(event, event.outputs[0].shape)) == _dim(before.op, before.op.outputs[0].shape)


def _dim(softmax: OpCalled, shape: Sequence[int]) -> int:
    """The dimension of a shape over which a softmax runs, counted from 0."""
    return int(softmax.attrs["dim"]) % max(len(shape), 1)


def _size_along(softmax: OpCalled) -> int:
    """The number of elements over which a softmax runs."""
    shape = softmax.outputs[0].shape
    return shape[_dim(softmax, shape)] if shape else 1


def _range(value: Value) -> tuple[float, float]:
    """The smallest and the largest element of a value; 0 if they are not known."""
    if value.array is not None and value.array.size:
        return float(value.array.min()), float(value.array.max())
    return float(value.stats.get("min", 0.0)), float(value.stats.get("max", 0.0))


def _swapped(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """A prediction requires a gradient, and a target does not."""
    operands = [one.tensor for one in event.inputs[:2] if one.tensor in facts.tensors]
    flags = [asks(facts, tensor, event.index) for tensor in operands if tensor is not None]
    if flags == [False, True]:
        why = (
            f"{written_at(facts, event)} takes the prediction first and the target second. Here the second requires a "
            "gradient and the first does not, so the loss and its gradients are not the intended ones."
        )
        yield about("swapped", facts, event, "prediction and target swapped", why, "Swap the first two arguments.")


def _outside(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """Targets that are not probabilities, as classes -1 and 1 or a mask of 0 and 255.

    A loss with weights, or of each element, may leave out the elements whose target only marks them.
    """
    target = facts.read(event.inputs[1])
    if target is None or event.attrs.get("reduction") == "none" or any(one.name == "weight" for one in event.inputs):
        return
    least, most = _range(target)
    if not (least < -OUTSIDE or most > 1 + OUTSIDE):
        return
    why = (
        f"{written_at(facts, event)} expects targets between 0 and 1, but these lie between {text.number(least)} and "
        f"{text.number(most)}. For a target outside, the loss keeps falling, also below 0, as the "
        "prediction moves to one extreme."
    )
    fix = "Pass targets between 0 and 1."
    if least >= 0:
        fix = f"Divide the targets by {text.number(most)}, or compare them: `(target > 0).float()`."
    elif least >= -1 and most <= 1:
        fix = "Pass `(target + 1) / 2`, which turns -1 and 1 into 0 and 1."
    yield about("target-range", facts, event, "targets outside of 0 to 1", why, fix)
