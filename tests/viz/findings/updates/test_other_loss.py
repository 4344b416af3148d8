"""A generator's step that uses the gradients of the discriminator's loss; and programs whose losses may add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.findings import findings
from viz.findings.updates.other_loss import other_losses
from viz.reading.facts import collect
from viz.scene.reading import reading_of

from ...helpers.traces import recorded

HEAD = """\
import engine as torch
from engine import nn
from engine.nn import functional as F

torch.manual_seed(0)
G, D = nn.Linear(3, 2), nn.Linear(2, 1)
opt_G, opt_D = torch.optim.SGD(G.parameters(), lr=0.01), torch.optim.SGD(D.parameters(), lr=0.01)
z, real, ones, zeros = torch.randn(4, 3), torch.randn(4, 2), torch.ones(4, 1), torch.zeros(4, 1)
bce = F.binary_cross_entropy_with_logits
"""
BOTH = "opt_G.zero_grad(); opt_D.zero_grad(); "
OF_D = "d_loss = bce(D(real), ones) + bce(D(G(z)), zeros); d_loss.backward(); opt_D.step(); "
OF_G = "g_loss = bce(D(G(z)), ones); g_loss.backward(); opt_G.step()"
MIXED = BOTH + OF_D + OF_G


def loop(body: str) -> str:
    return f"{HEAD}for step in range(2):\n" + "".join(f"    {line.strip()}\n" for line in body.split(";"))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (MIXED, (14, 15, 17, 18)),
        (f"{OF_D}opt_D.zero_grad(); {OF_G}; opt_G.zero_grad()", (12, 13, 16, 17)),
        (MIXED.replace("g_loss = ", "opt_D.zero_grad(); g_loss = "), (14, 15, 18, 19)),
    ],
)
def test_generator_that_also_learns_from_the_discriminators_loss_is_a_finding(
    body: str, lines: tuple[int, ...], tmp_path: Path
) -> None:
    trace = recorded(loop(body), tmp_path)
    (finding,) = other_losses(collect(trace))
    assert finding.event in reading_of(trace).line.step_of
    first, between, second, step = lines
    assert (finding.kind, finding.label) == ("other-loss", "gradients of d_loss are mixed in")
    assert finding.line == second and "D(fake.detach())" in finding.fix
    assert f"call of d_loss in line {first}, whose gradients SGD.step() in line {between} uses" in finding.why
    assert "also reaches G.weight and G.bias. They still had these gradients when the" in finding.why
    assert f"call of g_loss in line {second} added" in finding.why and "their cosine is -0.9" in finding.why
    assert finding.why.endswith(f"and SGD.step() in line {step} uses their sum.")


def test_it_replaces_what_is_said_of_a_sum(tmp_path: Path) -> None:
    found = findings(collect(recorded(loop(MIXED), tmp_path)))
    (event,) = (one.event for one in found if one.kind == "other-loss")
    assert "sum" not in {one.kind for one in found if one.event == event}


@pytest.mark.parametrize(
    "body",
    [
        MIXED.replace("D(G(z)), zeros", "D(G(z).detach()), zeros"),
        MIXED.replace("bce(D(real), ones) + bce(D(G(z)), zeros)", "bce(D(G(z)), ones)"),  # two losses that agree
        BOTH + OF_D + "opt_G.zero_grad(); " + OF_G,  # work for nothing, but no mistake
        BOTH + OF_D + "G.weight.grad.zero_(); G.bias.grad = None; " + OF_G,
        BOTH + "bce(D(real), ones).backward(); bce(D(G(z)), zeros).backward(); opt_D.step(); opt_G.step()",
        BOTH + "loss = bce(D(G(z)), ones); loss.backward(); opt_D.step(); opt_G.step()",  # one loss, two optimisers
        BOTH + "bce(D(G(z)), ones).backward(); opt_D.step(); "
        "F.mse_loss(G(z), D.weight.detach() + G(z).detach()).backward(); opt_G.step()",  # another task
        "F.mse_loss(G(z), real).backward(); opt_G.step(); opt_G.zero_grad()",
        "bce(D(real), ones).backward(); opt_D.step(); opt_D.zero_grad(); F.mse_loss(G(z), real).backward(); "
        "opt_G.step(); opt_G.zero_grad()",
    ],
)  # fmt: skip
def test_sound_program_has_none(body: str, tmp_path: Path) -> None:
    assert other_losses(collect(recorded(loop(body), tmp_path))) == []
