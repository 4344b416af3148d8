"""Where an explosion begins, and when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings import nonfinite
from viz.findings.overflow import growth
from viz.reading import text
from viz.reading.facts import collect

from ..helpers.traces import recorded
from ..scene.test_problem_story import HEAD, told

ROUNDS = "w = torch.full((2, 2), 4.0, requires_grad=True)\nh = torch.ones(1, 2)\nfor _ in range(50):\n    h = h @ w\n"
TRAINED = (
    "w = torch.tensor([3.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=10.0)\nfor _ in range(9):\n"
    "    opt.zero_grad()\n    loss = ((w * 5) ** 4).sum()\n    loss.backward()\n    opt.step()\n"
)


def test_rounds_that_multiply_are_told_where_they_pass_a_large_number(tmp_path: Path) -> None:
    first = told(ROUNDS + "h.sum().backward()\n", tmp_path)[0]
    assert first["title"] == "The numbers explode in line 5"
    assert "`h @ w` in line 5 turns numbers up to 4096 into numbers up to 32768" in first["text"]
    assert "about 8 times as large" in first["text"]


def test_an_explosion_over_updates_is_followed_through_them(tmp_path: Path) -> None:
    trace = recorded(HEAD + TRAINED, tmp_path)
    known = collect(trace)
    (found,) = growth(known, nonfinite.findings(known))
    assert found.line == 6 and found.event < 20


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.tensor([100.0], requires_grad=True)\nx.exp().sum().backward()\n",
        "x = torch.tensor([1e30], requires_grad=True)\n(x * 1e30).sum().backward()\n",
        "x = torch.tensor([0.0], requires_grad=True)\nx.log().sum().backward()\n",
    ],
    ids=["exp", "large from the beginning", "log"],
)
def test_what_did_not_grow_is_no_explosion(source: str, tmp_path: Path) -> None:
    assert all("explode" not in chapter["title"] for chapter in told(source, tmp_path))


def test_a_root_at_zero_whose_gradient_is_zero_has_its_own_remedy(tmp_path: Path) -> None:
    plain = told("x = torch.zeros(2, requires_grad=True)\n(x.sqrt() ** 2).sum().backward()\n", tmp_path)
    assert "vector_norm" in plain[-1]["text"] and "where()" not in plain[-1]["text"]
    masked = "x = torch.zeros(2, requires_grad=True)\ntorch.where(x > 0, x.sqrt(), torch.zeros(2)).sum().backward()\n"
    assert "discarded the value" in told(masked, tmp_path)[-1]["text"]


STEPS = (
    "from engine import nn\ntorch.manual_seed(0)\nx, y = torch.randn(64, 4) * 3, torch.randn(64, 2)\n"
    "model = nn.Linear(4, 2)\nopt = torch.optim.SGD(model.parameters(), lr={lr})\nfor _ in range(5):\n"
    "    opt.zero_grad()\n    loss = nn.functional.mse_loss(model(x), y, reduction='{reduction}')\n"
    "    loss.backward()\n    opt.step()\n"
)


def test_a_loss_that_grows_with_each_update_is_told_before_it_is_inf(tmp_path: Path) -> None:
    known = collect(recorded(HEAD + STEPS.format(lr=0.1, reduction="sum"), tmp_path))
    assert nonfinite.findings(known) == []
    (found,) = growth(known, [])
    first = known.value(next(iter(known.roots)), 0)
    assert first is not None
    assert found.label == "The loss explodes" and f"gives {text.brief(known.trace.value(first))}, " in found.why
    assert found.line is not None and 'reduction="sum"' in found.fix
    chapter = next(c for c in told(STEPS.format(lr=0.1, reduction="sum"), tmp_path) if "explodes" in c["title"])
    assert chapter["title"].startswith("The loss explodes in line")


def test_a_loss_that_falls_or_was_large_from_the_beginning_is_no_explosion(tmp_path: Path) -> None:
    for lr, reduction in ((0.01, "mean"), (1e-4, "sum")):
        known = collect(recorded(HEAD + STEPS.format(lr=lr, reduction=reduction), tmp_path))
        assert growth(known, nonfinite.findings(known)) == []
