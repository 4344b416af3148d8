"""Problems of a whole run, found in its overview: across depth, across iterations, in losses and updates.  Pure.

Every threshold is far outside the values of healthy runs; a finding says how often, since when, and by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..reading import text
from ..run.overview import Overview, Parameter
from ..schema.run import RunFindingKind

FEWEST = 10
"""The fewest iterations for a finding about the course of a run."""
LAYERS = 4
"""The fewest weight matrices for a finding about depth."""
DEPTH = 1e4
"""The factor between the gradients of the first and the last layers: sound networks of six to fifty layers stay below a
hundred."""
MOST_RATIO, LEAST_RATIO = 1e-1, 1e-6
"""Update / weight: about 1e-3 is usual (Karpathy, CS231n notes, "Ratio of weights:updates"; Cockpit shows the same)."""
PRECISION = {"bfloat16": 8, "float16": 11}
"""The significant bits of the elements of short dtypes."""
STILL, SAME = 1e-3, 1e-6
"""The relative change below which a loss stalls, and below which it is the same but for rounding."""
FADED, LONG = 1e-5, 1 / 3
"""The part of its largest value below which a learning rate is almost zero, and the share of a run that is long: a
cosine to zero is below for the last two thousandths of a run, and 0.95 per epoch for none of two hundred epochs."""
GROWTH = 1e3
"""The factor by which gradients grow in a run that explodes."""
BY_CHANCE = 0.01
"""The expected number of parameters whose gradients flip by chance from which on one that does is no sign."""
ONE_SIGN = 0.5
"""The share of a gradient's norm that comes from its mean if almost all elements have the same sign."""


@dataclass(frozen=True, slots=True)
class RunFinding:
    """A problem of a run: the column of its overview, the row (None: the loss), the reason and the fix.  `label`, `why`
    and `fix` are for people."""

    kind: RunFindingKind
    column: int
    row: int | None
    label: str
    why: str
    fix: str


def run_findings(run: Overview) -> list[RunFinding]:
    """The problems of a run, the worst first.  Cost: linear in the cells of the overview.

    Consequences of another finding are left out: after a nan everything is nan, if gradients vanish, updates are small,
    and if the learning rate is 0, the loss stays as it is.  So are the iterations in which a GradScaler looks for its
    scale.
    """
    run = _without_search(run)
    result = next(filter(None, (list(search(run)) for search in _WORST)), [])
    if result and result[0].kind == "loss-nonfinite":
        result = [*_just_before(run, result[0]), *result]
    if len(result) > 1:
        fix = f"It follows from the gradients of {run.labels[result[0].column]}: the update wrote them into parameters."
        result[1] = replace(result[1], fix=fix)
    dead = list(_dead(run))
    if result:
        return [*result, *(one for one in dead if one.column < result[0].column)]
    rate, depth = list(_rate(run)), list(_depth(run))
    effects = (_updates, _rounded, _stalled) if rate else (_updates, _rounded) if depth else ()
    searches = (search for search in _OVER_TIME if search not in effects)
    return [*rate, *depth, *(one for search in searches for one in search(run)), *dead]


def _just_before(run: Overview, loss: RunFinding) -> Iterator[RunFinding]:
    """The nan or inf in gradients of the iteration before that in which the loss has one."""
    return (one for one in _nonfinite_gradient(run) if one.column == loss.column - 1)


def _without_search(run: Overview) -> Overview:
    """The run without the gradients of updates that a GradScaler left out, if later ones are finite again."""
    gradients = np.isfinite(run.rows["norm"]).any(axis=0) & ~run.is_nonfinite
    last = int(np.flatnonzero(gradients)[-1]) if gradients.any() else 0
    columns = [column for column in run.left_out if column < last]
    if not columns:
        return run
    rows = {name: row.copy() for name, row in run.rows.items()}
    for row in rows.values():
        row[:, columns] = np.nan
    return replace(run, rows=rows)


def _nonfinite_loss(run: Overview) -> Iterator[RunFinding]:
    has_value = ~np.isnan(run.loss) | _has_loss(run)
    wrong = np.flatnonzero(has_value & ~np.isfinite(run.loss))
    if not len(wrong):
        return
    first = int(wrong[0])
    begin, last = run.loss[0], run.loss[first - 1]
    is_known = first > 1 and np.isfinite(begin) and np.isfinite(last)
    before = f" Before that, it goes from {_number(begin)} to {_number(last)}." if is_known else ""
    often = _often(run, len(wrong), "It is nan or inf")
    why = f"The loss is {_number(run.loss[first])} in {run.labels[first]}.{before}{often}"
    fix = (
        "Go there and look for the first op that gives nan or inf. If the numbers grew before, lower the learning "
        "rate, or call clip_grad_norm_() before the step."
    )
    fix += _unrecorded(run, first)
    yield RunFinding("loss-nonfinite", first, None, f"The loss is {_number(run.loss[first])}", why, fix)


def _unrecorded(run: Overview, column: int) -> str:
    """How to record the iterations in which something wrong may have appeared before a column; "" if recorded."""
    count = int(run.skipped[column])
    if not count:
        return ""
    number = run.resumed[column]
    return (
        f" It may have appeared earlier: the {_count(count, 'iteration')} before it {'are' if count > 1 else 'is'} not "
        f"recorded. `--steps {number - count}:{number + 1} --pause` records {'them' if count > 1 else 'it'} too."
    )


def _has_loss(run: Overview) -> np.ndarray:
    """The columns whose root is known: a nan there is a value; elsewhere it means that there is none."""
    return np.array(run.rooted, dtype=bool)


def _nonfinite_gradient(run: Overview) -> Iterator[RunFinding]:
    counts = run.rows["nonfinite"]
    wrong = counts > 0
    columns = np.flatnonzero(wrong.any(axis=0))
    if not len(columns):
        return
    first = int(columns[0])
    rows = np.flatnonzero(wrong[:, first])
    row = int(rows[-1])  # nearest to the loss: from there it goes on to the others
    one = run.parameters[row]
    learning = sum(not run.parameters[k].is_input for k in rows.tolist())
    who = f"{_count(learning, 'parameter')} of {len(_parameters(run))}" if learning else "inputs"
    have = "has" if learning == 1 else "have"
    why = (
        f"In {run.labels[first]} {who} {have} gradients with nan or inf: "
        f"{int(counts[row, first]):,} of {one.size:,} elements of {one.name}.{_often(run, len(columns))}"
    )
    fix = (
        "Go there: the graph marks the op that produced the first nan or inf. Its derivative is infinite there, or its "
        "input overflows."
    )
    fix += _unrecorded(run, first)
    yield RunFinding("gradient-nonfinite", first, row, "Gradients are not finite", why, fix)


def _depth(run: Overview) -> Iterator[RunFinding]:
    """Gradients that vanish or explode from the last layers to the first, by the slope of a line through their logs.

    The size of a gradient is that of its typical element, so that large and small layers can be compared.
    """
    for rows in _chains(run):
        finding = _along(run, rows)
        if finding is not None:
            yield finding
            return


def _chains(run: Overview) -> Iterator[list[int]]:
    """The weight matrices behind each other, from the first to the last: the longest such row, then that of the others.

    Networks that meet only in the loss, such as an actor and a critic, are in different ones.
    """
    left = [k for k, one in enumerate(run.parameters) if len(one.shape) > 1 and one.size > 1]
    while len(left) >= LAYERS:
        chain = _longest(run, left)
        if len(chain) < LAYERS:
            return
        yield chain
        seen = set(chain)
        left = [row for row in left if row not in seen]


def _longest(run: Overview, rows: Sequence[int]) -> list[int]:
    """The most of some rows, which are in forward order, that lie behind each other."""
    length: dict[int, int] = {}
    previous: dict[int, int] = {}
    most = 0
    for place, row in enumerate(rows):
        before, length[row] = run.parameters[row].before, 1
        for other in reversed(rows[:place]):
            if before >> other & 1 and length[other] >= length[row]:
                previous[row], length[row] = other, length[other] + 1
                if length[other] == most:  # there is none that is longer
                    break
        most = max(most, length[row])
    chain = [max(rows, key=length.__getitem__)]
    while chain[-1] in previous:
        chain.append(previous[chain[-1]])
    return chain[::-1]


def _along(run: Overview, rows: Sequence[int]) -> RunFinding | None:
    """The finding that the gradients of weight matrices in a row show."""
    sizes = np.sqrt([run.parameters[row].size for row in rows])[:, None]
    with np.errstate(all="ignore"):
        logs = np.log10(run.rows["norm"][rows] / sizes)
    whole = np.isfinite(logs).all(axis=0)
    if not whole.any():
        return None
    logs = np.where(whole, logs, 0.0)
    depth = np.arange(len(rows)) - (len(rows) - 1) / 2
    slopes = depth @ logs / (depth @ depth)
    change = slopes * (len(rows) - 1)  # how many powers of ten lie between the last layer and the first on that line
    ends = logs[-1] - logs[0]
    for sign, verb in ((1, "shrink"), (-1, "grow")):
        far = np.flatnonzero((sign * change > np.log10(DEPTH)) & (sign * ends > np.log10(DEPTH)))
        if not len(far) or len(far) < len(run.labels) / 10:
            continue
        column = int(far[0])
        steps = sign * np.diff(logs[:, column])
        worst = int(np.argmax(steps))
        a, b = run.parameters[rows[-1]].name, run.parameters[rows[0]].name
        times = 10 ** abs(float(ends[column]))
        per_layer = 10 ** float(-slopes[column])
        why = (
            f"From {a} to {b} the typical element of the gradient gets {_times(times)} "
            f"{'smaller' if sign > 0 else 'larger'} in {run.labels[column]}: about × {_number(per_layer)} per weight "
            f"matrix, most of all between {run.parameters[rows[worst + 1]].name} and "
            f"{run.parameters[rows[worst]].name}."
            f"{_often(run, len(far))}"
        )
        fix = (
            "Skip connections, normalisation, activations that do not saturate, and initial weights scaled to the "
            "fan-in keep its size."
            if sign > 0
            else "Start with smaller weights, add normalisation, or call clip_grad_norm_() before the step."
        )
        return RunFinding(
            "vanishing-depth" if sign > 0 else "exploding-depth", column, rows[0],
            f"Gradients {verb} {_times(times)} on the way to the first layers", why, fix,
        )  # fmt: skip
    return None


def _over_iterations(run: Overview) -> Iterator[RunFinding]:
    total = run.total
    columns = np.flatnonzero(np.isfinite(total) & (total > 0))
    if len(columns) < FEWEST:
        return
    start = float(np.median(total[columns[:3]]))
    peak = int(columns[np.argmax(total[columns])])
    loss = run.loss[np.isfinite(run.loss)]
    is_worse = len(loss) > 1 and abs(loss[-1]) > 10 * abs(loss[0])
    if total[peak] > GROWTH * start and is_worse:
        first = int(columns[np.argmax(total[columns] > 10 * start)])
        between = peak - int(columns[0]) + int(run.skipped[columns[0] + 1 : peak + 1].sum())
        rate = (float(total[peak]) / start) ** (1 / max(1, between))
        why = (
            f"The norm of all gradients grows from {_number(start)} to {_number(total[peak])} in {run.labels[peak]}, × "
            f"{_number(rate)} per iteration, and the loss from {_number(loss[0])} to {_number(loss[-1])}. From "
            f"{run.labels[first]} on it is more than ten times the first value."
        )
        fix = "Each update overshoots: lower the learning rate, or call clip_grad_norm_() before the step."
        yield RunFinding("exploding-run", first, _largest(run, first), "The run diverges", why, fix)
    end = float(np.median(total[columns[-3:]]))
    if end * 1e6 < start and len(loss) > 1 and abs(loss[-1]) > 0.9 * abs(loss[0]):
        first = int(columns[np.argmax(total[columns] * 1e3 < start)])
        why = (
            f"The norm of all gradients shrinks from {_number(start)} to {_number(end)}, while the loss goes only from "
            f"{_number(loss[0])} to {_number(loss[-1])}. From {run.labels[first]} on it is below a thousandth of "
            "the first value."
        )
        fix = "Look for units that saturate: large weights before tanh or sigmoid, or inputs that are not scaled."
        yield RunFinding("vanishing-run", first, _largest(run, first), "Gradients fade during the run", why, fix)


def _stalled(run: Overview) -> Iterator[RunFinding]:
    loss = run.loss
    if len(loss) < FEWEST or not np.isfinite(loss).all() or run.updates < FEWEST:
        return
    if not run.total.any():
        return  # the parameters receive only zeros, which is a finding of its own
    spread, middle = float(np.ptp(loss)), abs(float(np.median(loss)))
    if middle < 1e-6 or spread > STILL * middle:
        return
    why = (
        f"In {len(loss)} iterations the loss stays between {_number(loss.min(), 6)} and {_number(loss.max(), 6)}: it "
        "moves by less than a thousandth of itself, although the weights are updated."
    )
    fix = "Look at the update / weight ratio (the learning rate may be too small) and at the share of zeros."
    yield RunFinding("stalled-loss", 0, None, "The loss does not move", why, fix)


def _never_updated(run: Overview) -> Iterator[RunFinding]:
    loss = run.loss
    if run.updates or len(loss) < FEWEST or not np.isfinite(loss).all() or not (run.total > 0).all():
        return
    if not _parameters(run):
        return  # gradients reach only inputs
    is_same = float(np.ptp(loss)) <= SAME * abs(float(np.median(loss)))
    if run.about_gradients and not is_same:
        return
    what = f"the loss is {_number(loss[0], 6)} in each of them" if is_same else "only the data and chance move the loss"
    why = f"In {len(loss)} iterations backward() computes gradients, but no parameter changes: {what}."
    fix = (
        "Call optimizer.step() after backward(). To update by hand, write in place under no_grad(), as in "
        "`p -= lr * p.grad`; `p = p - …` makes a new tensor, and the model keeps the one that it has."
    )
    yield RunFinding("never-updated", 0, None, "No parameter is updated", why, fix)


def _updates(run: Overview) -> Iterator[RunFinding]:
    ratio = run.rows["ratio"]
    rows = [k for k, one in enumerate(run.parameters) if len(one.shape) > 1 and one.size >= 16]
    enough = [k for k in rows if np.isfinite(ratio[k]).sum() >= FEWEST]
    with np.errstate(invalid="ignore"):
        large = [k for k in enough if (ratio[k] > MOST_RATIO).sum() > np.isfinite(ratio[k]).sum() / 2]
    small = [k for k in _unchanged(run) if k in enough and run.parameters[k].dtype not in PRECISION]
    if len(large) > len(enough) / 2:  # for one small matrix, Adam's first steps are that large without harm
        row = max(large, key=lambda k: float(np.nanmedian(ratio[k])))
        column = int(np.flatnonzero(ratio[row] > MOST_RATIO)[0])
        why = (
            f"In {len(large)} of {_count(len(enough), 'weight matrix', 'weight matrices')} most updates change more "
            f"than a tenth of the weight; for {run.parameters[row].name} the update / weight ratio is typically "
            f"{_number(np.nanmedian(ratio[row]))}. About 0.001 is usual."
        )
        yield RunFinding("large-updates", column, row, "Updates are too large", why, "Lower the learning rate.")
    else:
        yield from _overwritten(run, enough)
    if small:
        row = min(small, key=lambda k: float(np.nanmedian(ratio[k])))
        column = int(np.flatnonzero(ratio[row] < LEAST_RATIO)[0])
        why = (
            f"In {len(small)} of {_count(len(enough), 'weight matrix', 'weight matrices')} nearly all updates change "
            f"less than a millionth of the weight; for {run.parameters[row].name} the update / weight ratio is "
            f"typically {_number(np.nanmedian(ratio[row]))}. About 0.001 is usual."
        )
        fix = "Raise the learning rate; if the gradients are small too, see where they fade."
        yield RunFinding("small-updates", column, row, "Updates change almost nothing", why, fix)


def _unchanged(run: Overview) -> list[int]:
    """The parameters that have gradients, and of which nearly all updates change almost nothing."""
    ratio = run.rows["ratio"]
    is_whole = np.array([not one.is_sampled for one in run.parameters], dtype=bool)[:, None]
    with np.errstate(invalid="ignore"):
        is_small = (ratio < LEAST_RATIO) & (run.rows["norm"] != 0)  # without a gradient, no learning rate helps
        is_small &= is_whole | (ratio > 0)  # the sampled elements may all be in the column of a dead unit
    counts = np.isfinite(ratio).sum(axis=1)
    return np.flatnonzero((counts >= FEWEST) & (is_small.sum(axis=1) > counts * 0.9)).tolist()


def _rounded(run: Overview) -> Iterator[RunFinding]:
    """Updates of weights of a short dtype that are lost when they are rounded to it."""
    rows = [k for k in _unchanged(run) if run.parameters[k].dtype in PRECISION and not run.parameters[k].is_unheld]
    if not rows:
        return
    dtype = run.parameters[rows[0]].dtype
    bits = PRECISION[dtype]
    column = int(np.flatnonzero(run.rows["ratio"][rows[0]] < LEAST_RATIO)[0])
    have, them = ("have gradients", "them") if rows[1:] else ("has a gradient", "it")
    why = (
        f"{_names(run, rows)} {have}, but nearly all updates leave {them} unchanged, or almost so. {dtype} has {bits} "
        f"significant bits: an update of less than 1/{2 ** (bits + 1):,} of an element is rounded away."
    )
    fix = (
        f"Keep the parameters in float32, and let torch.autocast compute in {dtype}; or raise the learning rate until "
        "updates are larger."
    )
    yield RunFinding("rounded-updates", column, rows[0], "Updates are rounded away", why, fix)


def _overwritten(run: Overview, rows: Sequence[int]) -> Iterator[RunFinding]:
    """An update that is larger than most of the weight matrices, after which the loss never returns to its beginning.

    A run that recovers from such an update is not a finding, and a matrix that began with zeros does not count.
    """
    loss = run.loss[np.isfinite(run.loss)]
    ratio = run.rows["ratio"][list(rows)]
    is_larger = np.isfinite(ratio) & (ratio > 1)
    columns = np.flatnonzero(2 * is_larger.sum(axis=0) > max(len(rows), 1))
    if not len(columns) or len(loss) < FEWEST or float(np.median(loss[-(len(loss) // 3) :])) <= loss[0]:
        return
    column = int(columns[0])
    row = rows[int(np.nanargmax(np.where(is_larger[:, column], ratio[:, column], np.nan)))]
    why = (
        f"The update in {run.labels[column]} is larger than the weight itself in {int(is_larger[:, column].sum())} of "
        f"{_count(len(rows), 'weight matrix', 'weight matrices')}; for {run.parameters[row].name} it is "
        f"{_number(run.rows['ratio'][row, column])} times as large, so that the previous values hardly count. About "
        f"0.001 is usual. The loss goes from {_number(loss[0])} to {_number(loss[-1])}."
    )
    fix = "Lower the learning rate, or raise it slowly over the first iterations."
    yield RunFinding("large-updates", column, row, "An update replaces the weights", why, fix)


def _rate(run: Overview) -> Iterator[RunFinding]:
    columns = np.flatnonzero(np.isfinite(run.rate))
    if len(columns) < FEWEST:
        return
    rates = run.rate[columns]
    most = float(rates.max())
    still = columns[: int(np.argmax(rates > 0)) if most else len(columns)]
    ratios = run.rows["ratio"][:, still]
    changes = ratios[np.isfinite(ratios)]
    if len(still) >= max(FEWEST, LONG * len(columns)) and len(changes) and not changes.any():
        yield _no_rate(run, still, len(columns))
        return
    last = int(np.flatnonzero(rates >= FADED * most)[-1])
    faded = columns[last + 1 :]
    if not most or len(faded) < LONG * len(columns):
        return
    why = (
        f"From {run.labels[faded[0]]} on, the learning rate is less than a hundred-thousandth of {_number(most)}, its "
        f"largest value; at the end it is {_number(rates[-1])}. In {len(faded):,} of {len(rates):,} iterations almost "
        "nothing is learnt."
    )
    fix = (
        "If the schedule counts epochs, call scheduler.step() once per epoch, after the batches, not with each of them."
    )
    yield RunFinding("faded-rate", int(faded[0]), None, "The learning rate is almost zero", why, fix)


def _no_rate(run: Overview, still: np.ndarray, count: int) -> RunFinding:
    """The finding for first iterations in which the learning rate is 0, and in which indeed nothing changes."""
    which = f"all {count:,}" if len(still) == count else f"the first {len(still):,}"
    why = f"In {which} iterations the learning rate is 0: the optimiser takes its steps, but no parameter changes."
    fix = (
        "Use a learning rate above 0. If a schedule sets it, its factor has to rise from the first iterations of a "
        "warm-up on, as `(step + 1) / warmup` does; `step // warmup` is 0 until the warm-up ends."
    )
    label = "The learning rate is 0" + ("" if len(still) == count else f" in the first {len(still):,} iterations")
    return RunFinding("faded-rate", int(still[0]), None, label, why, fix)


def _flips(run: Overview) -> Iterator[RunFinding]:
    """A gradient that has mostly one sign, and in the next iteration mostly the other, without getting smaller.

    Each of many parameters has its chance to do so in a healthy run, as the batches differ: then it takes more
    iterations, or half of the parameters.
    """
    mean, norm, ratio = run.rows["mean"], run.rows["norm"], run.rows["ratio"]
    rows = []
    turned: list[int] = []  # of each parameter, in how many iterations it might have
    for row, one in enumerate(run.parameters):
        columns = np.flatnonzero(np.isfinite(mean[row]) & (norm[row] > 0))
        if len(columns) < FEWEST or not np.isfinite(ratio[row]).any():
            continue
        last = columns[-max(FEWEST, len(columns) // 2) :]
        if run.skipped[last[1:]].any():  # one that is not recorded may have flipped it back
            continue
        shared = np.abs(mean[row, last]) * np.sqrt(one.size) / norm[row, last]
        turns = np.sign(mean[row, last[1:]]) == -np.sign(mean[row, last[:-1]])
        turned.append(len(turns))
        if turns.all() and np.median(shared) > ONE_SIGN and norm[row, last[-1]] > 0.5 * norm[row, last[0]]:
            rows.append((row, int(last[0])))
    chance = sum(0.5**count for count in turned)
    if rows and (chance < BY_CHANCE or len(rows) > len(turned) / 2):
        row, column = rows[0]
        others = f", as {_count(len(rows) - 1, 'other does', 'others do')}" if rows[1:] else ""
        why = (
            f"From {run.labels[column]} on the gradient of {run.parameters[row].name} changes its sign in every "
            f"iteration and does not get smaller{others}: each update jumps over the minimum."
        )
        yield RunFinding(
            "flips", column, row, "A gradient flips its sign in each update", why, "Lower the learning rate."
        )


def dead_parameters(run: Overview) -> dict[int, int]:
    """The parameters whose gradients are zero from some iteration to the end, although the loss is not zero: by row the
    column of that iteration.

    One of which the gradients cancel has nothing to learn, unless it is so with all.
    """
    norm, wrong = run.rows["norm"], run.rows["nonfinite"]
    begins: dict[int, int] = {}
    for row, one in enumerate(run.parameters):
        if one.is_input or (one.has_no_effect and not all(other.has_no_effect for other in run.parameters)):
            continue
        columns = np.flatnonzero(np.isfinite(norm[row]))
        alive = np.flatnonzero((norm[row, columns] > 0) | (wrong[row, columns] > 0))
        dead = columns[int(alive[-1]) + 1 if len(alive) else 0 :]
        if len(dead) >= max(5, len(columns) / 10) and not _is_solved(run, dead):
            begins[row] = int(dead[0])
    return begins


def _dead(run: Overview) -> Iterator[RunFinding]:
    """Parameters that learn nothing from some iteration on; one of them may have got another gradient before."""
    ends = sorted((column, row) for row, column in dead_parameters(run).items())
    if not ends:
        return
    has_stopped = any(np.isfinite(run.rows["norm"][row, :column]).any() for column, row in ends)
    column, row = ends[0]
    names = _names(run, [k for _, k in ends])
    receive = "receive" if ends[1:] else "receives"
    why = (
        f"{names} {receive} only zeros from {run.labels[column]} to the end: {_count(len(ends), 'parameter')} of "
        f"{len(_parameters(run))} {'no longer' if has_stopped else 'never'} {'learn' if ends[1:] else 'learns'}."
    )
    fix = "Go there and look for the op that sends zeros: units that are off for all inputs, a mask, a weight of 0."
    what = f"no longer {receive} a gradient" if has_stopped else f"{receive} only zeros"
    label = f"{_count(len(ends), 'parameter')} {what}"
    yield RunFinding("dead", column, row, label, why, fix)


def _unheld(run: Overview) -> Iterator[RunFinding]:
    """Parameters of a module whose gradients nobody uses, in a run that updates others."""
    has_norm = np.isfinite(run.rows["norm"])
    rows = [
        row for row, one in enumerate(run.parameters)
        if one.is_unheld and has_norm[row].sum() >= FEWEST and run.rows["norm"][row, has_norm[row]].all()
    ]  # fmt: skip
    if not rows or not run.updates:
        return
    column = int(np.flatnonzero(has_norm[rows[0]])[0])
    receive, them = ("receive gradients", "them") if rows[1:] else ("receives a gradient", "it")
    why = (
        f"{_names(run, rows)} {receive} from {run.labels[column]} on, but no optimiser holds {them}, and nothing "
        f"updates {them}."
    )
    fix = (
        f"Give {them} to the optimiser: create it after the last change to the model, or call add_param_group(). If "
        f"{'they' if rows[1:] else 'it'} should stay fixed, requires_grad_(False) saves the computation."
    )
    label = f"{_count(len(rows), 'parameter')} {'are' if rows[1:] else 'is'} in no optimiser"
    yield RunFinding("unheld", column, rows[0], label, why, fix)


def _names(run: Overview, rows: Sequence[int]) -> str:
    """The names of parameters, of more than three the first of them."""
    names = [run.parameters[row].name for row in rows[:3]]
    return f"{', '.join(names)} and {len(rows) - 3} more" if rows[3:] else text.join(names)


def _parameters(run: Overview) -> list[Parameter]:
    """The parameters that learn: not the inputs whose gradients the program asks for."""
    return [one for one in run.parameters if not one.is_input]


def _is_solved(run: Overview, columns: np.ndarray) -> bool:
    """Return whether there is nothing left to learn because the loss is zero."""
    return bool(np.all(run.loss[columns] == 0))


def _largest(run: Overview, column: int) -> int | None:
    norm = run.rows["norm"][:, column]
    return int(np.nanargmax(norm)) if np.isfinite(norm).any() else None


Search = Callable[[Overview], Iterator[RunFinding]]
_WORST: tuple[Search, ...] = (_nonfinite_loss, _nonfinite_gradient, _over_iterations)
_OVER_TIME: tuple[Search, ...] = (_never_updated, _unheld, _rounded, _updates, _flips, _stalled)


def _often(run: Overview, count: int, what: str = "This happens") -> str:
    return "" if len(run.labels) == 1 else f" {what} in {count:,} of {len(run.labels):,} iterations."


def _times(number: float) -> str:
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}-fold" if rounded < 1e6 else f"{rounded:.0e}-fold".replace("e+0", "e").replace("e+", "e")


def _number(value: float, digits: int = 3) -> str:
    return text.number(float(f"{float(value):.{digits}g}"))


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
