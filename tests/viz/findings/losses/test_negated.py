"""A loss whose sign is wrong, as its updates show; and losses that grow with log-probabilities on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.negated import negated_losses
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = """import engine as torch
from engine import nn
from engine.nn import functional as F
net, other = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4)), nn.Linear(4, 4)
x, y = torch.linspace(-1, 1, 18).view(6, 3), torch.tensor([0, 1, 2, 3, 0, 1])
"""
STEP = "loss.backward()\nopt.step()\n"
SGD = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
NEGATED = HEAD + SGD + "loss = -F.cross_entropy(net(x), y)\n" + STEP


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ("-F.cross_entropy(net(x), y)", "the cross entropy of `F.cross_entropy(net(x), y)` in line 7 times"),
        ("F.cross_entropy(net(x), y) * -1", "times a negative number"),
        ("-F.cross_entropy(net(x), y) / 4", "times a negative number"),
        ("-F.nll_loss(F.log_softmax(net(x), 1), y, reduction='sum')", "times a negative number"),
        ("-F.nll_loss(F.log_softmax(net(x), 1)[y > 0], y[y > 0])", "times a negative number"),
        (
            "F.log_softmax(net(x), 1).gather(1, y.view(6, 1)).mean()",
            "`F.log_softmax(net(x), 1).gather(1, y.view(6, 1))`",
        ),
        (
            "F.log_softmax(-(net(x) - 1).pow(2), 1).gather(1, y.view(6, 1)).squeeze().sum()",
            "the optimiser minimises it",
        ),
        ("F.logsigmoid(0.1 * (net(x) - other(x[:, :1].expand(6, 4)))).mean()", "the log-sigmoid of `F.logsigmoid("),
        ("F.logsigmoid(-net(x)).sum()", "the loss has no lower bound"),
    ],
)
def test_loss_with_the_wrong_sign_is_a_finding(loss: str, said: str, tmp_path: Path) -> None:
    (finding,) = negated_losses(collect(recorded(f"{HEAD}{SGD}loss = {loss}\n{STEP}", tmp_path)))
    assert finding.kind == "negated" and said in finding.why and finding.line == 7 and finding.fix


@pytest.mark.parametrize(
    "loss",
    [
        "F.cross_entropy(net(x), y)",
        "-(-F.cross_entropy(net(x), y))",
        "-F.log_softmax(net(x), 1).gather(1, y.view(6, 1)).mean()",
        "(F.log_softmax(net(x), 1).gather(1, y.view(6, 1)) * x[:, :1]).mean()",  # with an advantage
        "F.log_softmax(net(x), 1).gather(1, y.view(6, 1)).sum() * (0.5 - 0.2)",  # with a baseline less a reward
        "F.cross_entropy(net(x), y) * -0.5",  # with a negative reward
        "F.log_softmax(net(x), 1).mean()",  # of no targets
        "F.mse_loss(net(x), net(x).detach() + 1) - F.cross_entropy(other(net(x)), y)",
        "-F.cross_entropy(other(net(x)), y)",  # against another network, which is not updated
        "-F.binary_cross_entropy_with_logits(net(x), torch.zeros(6, 4))",  # of a generator
        "-F.logsigmoid(net(x)[:, 0] - net(x)[:, 1]).mean()",  # of preferences
        "-(F.logsigmoid(net(x)).mean() + F.logsigmoid(-net(x)).mean())",  # of a discriminator
        "F.logsigmoid(-other(net(x))).mean()",  # of a generator against a network that is not updated
        "(F.logsigmoid(net(x)) * -x[:, :1]).mean()",  # with an advantage
        "F.logsigmoid(net(x)).mean() * -(-2.0)",  # with a negative reward
        "F.logsigmoid(net(x)).mean() + net(x).square().mean()",
        "F.logsigmoid(net(x))[0, 0]",
    ],
)
def test_loss_that_may_be_meant_is_no_finding(loss: str, tmp_path: Path) -> None:
    assert negated_losses(collect(recorded(f"{HEAD}{SGD}loss = {loss}\n{STEP}", tmp_path))) == []


@pytest.mark.parametrize(
    ("optimizer", "step"),
    [
        ("opt = torch.optim.SGD(net.parameters(), lr=0.1, maximize=True)\n", STEP),
        ("", "loss.backward()\n"),  # a gradient that nothing uses
        ("x.requires_grad_(True)\nopt = torch.optim.SGD([x], lr=0.1)\n", STEP),  # an attack
    ],
)
def test_loss_that_no_update_makes_smaller_is_no_finding(optimizer: str, step: str, tmp_path: Path) -> None:
    source = f"{HEAD}{optimizer}loss = -F.cross_entropy(net(x), y)\n{step}"
    assert negated_losses(collect(recorded(source, tmp_path))) == []


@pytest.mark.parametrize("first", [True, False])
def test_a_part_of_a_discriminators_loss_is_no_finding(first: bool, tmp_path: Path) -> None:
    parts = ["F.logsigmoid(net(x)).mean().backward()\n", "(-F.logsigmoid(net(x + 1)).mean()).backward()\n"]
    calls = "".join(parts if first else parts[::-1])
    assert negated_losses(collect(recorded(f"{HEAD}{SGD}{calls}opt.step()\n", tmp_path))) == []


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "RMSprop"])
def test_updates_of_other_optimisers_are_followed(kind: str, tmp_path: Path) -> None:
    source = NEGATED.replace("optim.SGD", f"optim.{kind}")
    assert [one.kind for one in negated_losses(collect(recorded(source, tmp_path)))] == ["negated"]
