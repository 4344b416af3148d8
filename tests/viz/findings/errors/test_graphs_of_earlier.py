"""Lists of losses that are never emptied, and tensors that are computed once, before the loop that uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_explain import explained

LIST = """\
import engine as torch
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
{before}
for step in range(4):
{add}
    total = {total}
    opt.zero_grad()
    total.backward({keep})
    opt.step()
"""
LOSSES = {"before": "losses = []", "add": "    losses.append((w * w).sum())", "total": "sum(losses)", "keep": ""}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"add": "    loss = (w * w).sum()\n    losses.append(loss)", "total": "torch.stack(losses).mean()"},
        {"total": "sum(2 * one for one in losses)"},
        {"keep": "retain_graph=True"},
    ],
)
def test_a_list_of_losses_that_grows_is_to_be_emptied(tmp_path: Path, change: dict[str, str]) -> None:
    _, found = explained(LIST.format(**LOSSES | change), tmp_path)
    assert "because it is still in the list losses" in found.why
    assert "`losses.clear()`" in found.fix and "detach" not in found.fix and found.edits is None


def test_a_list_in_an_object_that_another_function_goes_through_is_named(tmp_path: Path) -> None:
    source = """\
import engine as torch
class Memory: pass
memory = Memory()
memory.log_probs = []
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
def act():
    memory.log_probs.append(torch.log_softmax(w, 0)[0])
def learn():
    losses = []
    for log_prob, weight in zip(memory.log_probs, [1.0, 2.0]):
        losses.append(-log_prob * weight)
    opt.zero_grad()
    sum(losses).backward()
    opt.step()
for episode in range(3):
    act()
    learn()
"""
    _, found = explained(source, tmp_path)
    assert "still in the list memory.log_probs" in found.why and "`memory.log_probs.clear()`" in found.fix


def test_a_state_that_is_picked_from_a_list_is_to_be_detached(tmp_path: Path) -> None:
    change = {"before": "states = [torch.ones(3)]", "add": "    states.append(states[-1] * w)", "keep": ""}
    _, found = explained(LIST.format(**change, total="states[-1].sum()"), tmp_path)
    assert "list" not in found.why and "detach" in found.fix


ONCE = """\
import engine as torch
w, head = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([{held}], lr=0.1)
{above}
for step in range(3):
    {inside}
    loss = (features * head).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("held", ["w, head", "head"])
@pytest.mark.parametrize(
    "above", ["features = (w * w).tanh()", "compute = lambda: (w * w).exp()\nfeatures = compute()"]
)
def test_a_tensor_that_is_computed_before_the_loop_is_to_be_computed_inside(
    tmp_path: Path, above: str, held: str
) -> None:
    _, found = explained(ONCE.format(above=above, inside="pass", held=held), tmp_path)
    line = 5 + above.count("\n")
    assert f"features was computed once, before the loop in line {line} and before `loss.backward()`" in found.why
    assert found.fix.startswith(f"Compute features inside the loop in line {line}, ")
    assert "torch.no_grad()" in found.fix and "detach" not in found.fix + found.why and found.edits is None


def test_a_state_that_begins_before_the_loop_is_to_be_detached(tmp_path: Path) -> None:
    source = ONCE.format(above="features = w * w", inside="features = (features * w).tanh()", held="w, head")
    _, found = explained(source, tmp_path)
    assert "before the loop" not in found.why and "`features = features.detach()`" in found.fix


def test_a_sum_of_losses_that_is_added_to_in_place_was_not_computed_once(tmp_path: Path) -> None:
    source = LIST.format(before="sums = 0", add="    loss = (w * w).sum()\n    sums += loss", total="sums", keep="")
    _, found = explained(source.replace("    total = sums\n", "").replace("total.", "sums."), tmp_path)
    assert "computed once" not in found.why and "`total += loss.item()`" in found.fix


def test_the_first_write_after_a_value_was_saved_is_named(tmp_path: Path) -> None:
    source = """\
import engine as torch
w = torch.ones(2, 2, requires_grad=True)
h = torch.sigmoid(w)
{first}
h[:, 1] = 0
h.sum().backward()
"""
    _, found = explained(source.format(first="h *= 2"), tmp_path)
    assert "`h *= 2` in line 4 has overwritten it" in found.why and "`h = h * …`" in found.fix
    _, found = explained(source.format(first="print()"), tmp_path)
    assert "`h[:, 1] = 0` in line 5 has overwritten it" in found.why
    assert found.fix.startswith("Write to a copy: `h = h.clone()` before it.")
