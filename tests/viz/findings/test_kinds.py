"""Every finding has a kind, every kind is found, and what is joined is all that is searched for."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from viz.findings.finding import Kind
from viz.findings.findings import findings
from viz.reading.facts import collect

from ..helpers.programs import ALL
from ..helpers.programs import recorded as run
from ..helpers.traces import recorded
from . import test_dead_units, test_overflow, test_vanishing
from .losses import (
    test_attention,
    test_batch_as_time,
    test_constant_terms,
    test_kl_divergence,
    test_negated,
    test_padding,
    test_same_target,
    test_temperature,
    test_view_order,
    test_wrong_loss,
)
from .untrained import test_unlisted, test_unreached, test_zero_gradients
from .updates import test_clipping, test_not_called, test_other_loss, test_zeroing

NET = {"forward": test_unreached.WHOLE, "before": "", "params": "net.parameters()", "after": ""}
HEAD = "import engine as torch\n"
PROGRAMS: dict[Kind, str] = {
    "nan": HEAD + "x = torch.zeros(1, requires_grad=True)\n(x / x).sum().backward()\n",
    "growth": HEAD + test_overflow.ROUNDS + "h.sum().backward()\n",
    "divergence": HEAD + test_overflow.STEPS.format(lr=0.1, reduction="sum"),
    "cleared": f"{test_zeroing.HEAD}{test_zeroing.ROUND}    opt.zero_grad()\n    opt.step()\n",
    "not-called": test_not_called.LOOP.format(clear="opt.zero_grad", step="opt.step()"),
    "other-loss": test_other_loss.loop(test_other_loss.MIXED),
    "unused-clip": test_clipping.HEAD + test_clipping.EARLY,
    "unreached": test_unreached.NET.format(**NET | {"forward": test_unreached.CUT}),
    "unheld": test_unreached.NET.format(**NET | {"after": "net.head = nn.Linear(2, 1)"}),
    "unlisted": test_unlisted.NET.format(layers="list", params="net.parameters()"),
    "stalled": test_zero_gradients.NET.format(before=test_zero_gradients.DEAD, rounds=3),
    "dead-units": test_dead_units.NET.format(layers=test_dead_units.DENSE, dead=18, inputs="32, 4"),
    "alike-units": test_dead_units.ALIKE.format(**test_dead_units.AS_IT_IS),
    "exploding": test_vanishing.GROWING,
    "loss-dimension": test_wrong_loss.HEAD + "F.nll_loss(F.log_softmax(x, dim=0), y).backward()\n",
    "target-range": test_wrong_loss.HEAD + "F.binary_cross_entropy_with_logits(x, x.detach() * 2).backward()\n",
    "view-order": test_view_order.HEAD + "h.view(7, 6, 5).square().sum().backward()\n",
    "no-logarithm": test_wrong_loss.HEAD + "F.nll_loss(F.softmax(x, dim=1), y).backward()\n",
    "log-target": (
        f"{test_kl_divergence.HEAD}F.kl_div(F.log_softmax(x, -1), F.log_softmax(y, -1), reduction='sum').backward()\n"
    ),
    "constant-term": f"{test_constant_terms.HEAD}(loss + aux.item()).backward()\n",
    "attention-dimension": f"{test_attention.HEAD}(scores.softmax(0) @ v).sum().backward()\n",
    "batch-as-time": test_batch_as_time.PROGRAM.format(**test_batch_as_time.AS_IT_IS),
    "same-target": f"{test_same_target.HEAD}{test_same_target.TWICE}\n",
    "flat-scores": f"{test_temperature.HEAD}{test_temperature.FLAT}.backward()\n",
    "negated": test_negated.NEGATED,
    "padding": f"{test_padding.HEAD}{test_padding.COUNTED}.backward()\n",
    "softmax-twice": test_wrong_loss.HEAD + "F.cross_entropy(F.softmax(x, dim=1), y).backward()\n",
    "one-class": test_wrong_loss.HEAD + "F.cross_entropy(x[:, :1], y * 0).backward()\n",
    "swapped": test_wrong_loss.HEAD + "F.binary_cross_entropy(x.detach(), x).backward()\n",
    "sigmoid-twice": (
        test_wrong_loss.HEAD + "F.binary_cross_entropy_with_logits(torch.sigmoid(x), x.detach() * 0).backward()\n"
    ),
}
"""A program for each kind that no program of the gallery has."""


@pytest.mark.parametrize("kind", PROGRAMS)
def test_kind_is_found_among_all_findings(kind: Kind, tmp_path: Path) -> None:
    found = findings(collect(recorded(PROGRAMS[kind], tmp_path)))
    assert kind in {finding.kind for finding in found}


def test_gallery_has_the_other_kinds() -> None:
    found = {finding.kind for program in ALL for finding in findings(collect(run(program.id)[0]))}
    assert found | set(PROGRAMS) == set(get_args(Kind))
    assert found & set(PROGRAMS) == set(), "the gallery shows it: leave its program out here"
