"""Terms of a loss that were added as a number or a detached copy, and programs that use numbers as they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.constant_terms import constant_terms
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch\nx = torch.tensor([0.3, 0.7, 1.9], requires_grad=True)\n"
    "loss, aux = (x * x).mean(), x.exp().mean()\n"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("(loss + aux.item()).backward()", "adds aux, which `x.exp().mean()` in line 3 computes, as the number 3.35"),
        ("(loss + 0.01 * aux.item()).backward()", "as the number 0.0335"),
        ("weight = 0.25\ntotal = loss\ntotal = total + weight * aux.item()\ntotal.backward()", "as the number 0.83"),
        ("number = aux.item()\nloss += number\nloss.backward()", "`loss += number` in line 5 adds aux"),
        ("((loss + aux.item()) / 4).backward()", "as the number 3.35"),
        ("(loss + 0.1 * aux.detach()).backward()", "adds aux, which `x.exp().mean()` in line 3 computes, without its"),
        ("(loss + aux.data).backward()", "because of .data"),
    ],
)
def test_a_term_without_its_graph_is_found(tmp_path: Path, line: str, said: str) -> None:
    """Whether the number is used at once, weighted, through a variable, or replaced by a copy without a graph."""
    (finding,) = constant_terms(collect(recorded(f"{HEAD}{line}\n", tmp_path)))
    assert finding.kind == "constant-term" and finding.label == "aux is added without a gradient"
    assert said in finding.why and finding.at is not None
    assert finding.fix.startswith("Add aux itself")


def test_a_term_has_the_name_that_is_written_where_it_is_added(tmp_path: Path) -> None:
    """Not the one that it has within the function that computes it."""
    function = "def model(x):\n    inner = x.sin().sum()\n    return inner\n"
    (finding,) = constant_terms(
        collect(recorded(f"{HEAD}{function}extra = model(x)\n(loss + extra.item()).backward()\n", tmp_path))
    )
    assert "adds extra, which" in finding.why


@pytest.mark.parametrize(
    "line",
    [
        "(loss + aux).backward()",
        "print((loss + aux.item()).item())\n(loss + aux).backward()",  # only printed
        "(loss * aux.item()).backward()",  # a weight
        "(loss / aux.detach() + aux / loss.detach()).backward()",
        "(loss - aux.item()).backward()",  # an advantage
        "(loss + (aux - loss).detach()).backward()",  # another value, the same gradient
        "(loss + loss.item()).backward()",
        "aux.backward(retain_graph=True)\nloss = (x * x).mean()\n(loss + aux.item()).backward()",
        "bias = 0.5\n(loss + bias).backward()",
        "value = aux.item()\n(loss + 0.1234567).backward()",
        "target = torch.tensor(2.34567)\n(loss + target.item()).backward()",  # of data
        "with torch.no_grad():\n    aux = x.exp().mean()\n(loss + aux.item()).backward()",
        "((loss + aux.item()) ** 2).backward()",  # not a sum of losses
        "(x + aux.item()).sum().backward()",
    ],
)
def test_a_number_that_is_used_by_intention_is_not_reported(tmp_path: Path, line: str) -> None:
    """Only a sum of losses loses a gradient by it, and only if no other path gives the term one."""
    assert constant_terms(collect(recorded(f"{HEAD}{line}\n", tmp_path))) == []
