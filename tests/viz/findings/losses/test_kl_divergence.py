"""kl_div of probabilities instead of their logarithms, and against logarithms; and as it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.findings import findings
from viz.findings.losses.kl_divergence import divergences
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch\nfrom engine.nn import functional as F\n"
    "x = torch.arange(12.).reshape(3, 4).requires_grad_()\ny = torch.arange(12.).reshape(3, 4).flip(1)\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "F.kl_div(F.softmax(x, -1), F.softmax(y, -1), reduction='batchmean')",
        "F.kl_div(F.softmax(x, -1).view(-1), F.softmax(y, -1).view(-1), reduction='sum')",
        "F.kl_div(F.softmax(x, -1), F.softmax(y, -1), reduction='none').mean()",
        "F.kl_div(F.softmax(x, -1), F.log_softmax(y, -1), reduction='sum', log_target=True)",
        "F.kl_div(x.softmax(-1), F.softmax(x, -1).detach(), reduction='sum')",
    ],
)
def test_divergence_of_probabilities_is_a_finding(line: str, tmp_path: Path) -> None:
    (finding,) = divergences(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path)))
    assert finding.kind == "no-logarithm" and finding.line == 5 and finding.at is not None
    assert "softmax(x" in finding.why or "x.softmax" in finding.why
    assert finding.fix == "Use log_softmax for the first argument; the target stays as it is."


def test_divergence_below_zero_is_said_only_if_it_is(tmp_path: Path) -> None:
    below, above = (
        divergences(
            collect(recorded(f"{HEAD}F.kl_div(F.softmax(x, -1), {target}, reduction='sum').backward()\n", path))
        )
        for target, path in (("F.softmax(y, -1)", tmp_path), ("5 + y", tmp_path))
    )
    assert "never negative, but this one is" in below[0].why and "negative" not in above[0].why


@pytest.mark.parametrize("target", ["F.log_softmax(y, -1)", "F.log_softmax(x, -1).detach()"])
def test_target_that_is_a_logarithm_is_a_finding(target: str, tmp_path: Path) -> None:
    line = f"F.kl_div(F.log_softmax(x, -1), {target}, reduction='sum').backward()"
    facts = collect(recorded(f"{HEAD}{line}\n", tmp_path))
    (finding,) = divergences(facts)
    assert finding.kind == "log-target" and finding.line == 5 and finding.fix.startswith("Pass log_target=True")
    assert {"log-target", "nan"} <= {one.kind for one in findings(facts)}


@pytest.mark.parametrize(
    "line",
    [
        "F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction='batchmean')",
        "F.kl_div(F.log_softmax(x, -1), F.log_softmax(y, -1), reduction='sum', log_target=True)",
        "F.kl_div(F.softmax(x, -1).log(), F.softmax(y, -1), reduction='sum')",
        "F.kl_div(((F.softmax(x, -1) + F.softmax(y, -1)) / 2).log(), F.softmax(x, -1), reduction='sum')",
        "(F.softmax(x, -1) * (F.log_softmax(x, -1) - F.log_softmax(y, -1))).sum()",
        "(torch.xlogy(y, y) - y * F.log_softmax(x, -1)).sum()",
        "(F.softmax(x, -1) * F.softmax(y, -1)).sum()",
        "(x.exp() * (F.log_softmax(x, -1) - F.softmax(y, -1))).sum()",
    ],
)
def test_divergence_as_it_should_be_is_not_a_finding(line: str, tmp_path: Path) -> None:
    assert divergences(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path))) == []
