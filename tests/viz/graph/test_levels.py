"""A program that is too long to draw whole: what stands in its model, and what stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.graph.folds import begins_folded
from viz.graph.groups import Grouping
from viz.scene.reading import Reading, reading_of

from ..helpers.traces import TRANSFORMER, recorded


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    return reading_of(recorded(TRANSFORMER, tmp_path_factory.mktemp("levels")))


def by_label(grouping: Grouping) -> dict[str, str]:
    return {label: group for group, label in grouping.labels.items()}


def cards_in(read: Reading, group: str | None) -> set[str | None]:
    """The names of the tensors that stand in a group itself."""
    items = read.drawing.items.values()
    return {read.facts.names.get(i.tensor) for i in items if i.tensor is not None and not i.twin and i.group == group}


def test_each_module_is_a_box_with_its_own_name_in_the_order_of_the_forward_pass(read: Reading) -> None:
    grouping = read.drawing.grouping
    first = [label for group, label in grouping.labels.items() if grouping.within[group] is None]
    assert first == [
        "data", "tok", "blocks.0: Block", "blocks.1: Block", "head", "cross_entropy", "AdamW.step", "no gradient",
    ]  # fmt: skip
    assert grouping.model == "model: Net", "its call is opened, and no box around all"


def test_a_parameter_stands_in_the_module_that_owns_it_and_the_loss_outside(read: Reading) -> None:
    groups = by_label(read.drawing.grouping)
    assert cards_in(read, groups["tok"]) == {"model.tok.weight", "x"}
    assert cards_in(read, groups["head"]) == {"model.head.bias"}
    assert cards_in(read, None) == {"loss"}


def test_a_shared_parameter_stands_in_the_first_module_and_is_drawn_again_in_the_other(read: Reading) -> None:
    drawing, groups = read.drawing, by_label(read.drawing.grouping)
    tied = next(i for i in drawing.items.values() if i.tensor and read.facts.names.get(i.tensor) == "model.tok.weight")
    further = [drawing.items[stub].group for stub in drawing.stubs[tied.tensor or 0]]
    assert tied.group == groups["tok"]
    assert groups["head"] in further


def test_data_metrics_and_the_step_of_the_optimiser_stand_beside_the_model(read: Reading) -> None:
    grouping = read.drawing.grouping
    beside = {grouping.labels[group]: part for group, part in grouping.quiet.items() if grouping.within[group] is None}
    assert beside == {"data": "data", "AdamW.step": "update", "no gradient": "aside"}


def test_a_short_training_step_is_shown_by_its_model_too(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nfrom engine import nn\n"
        "net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
        "net(torch.ones(1, 2)).sum().backward()\nopt.step()\n"
    )
    short = reading_of(recorded(source, tmp_path))
    grouping = short.drawing.grouping
    assert len(short.facts.ops) < 40 and grouping.model == "net: Sequential"
    assert {grouping.labels[group] for group in grouping.quiet} >= {"SGD.step"}


INITIALIZED = """
import engine as torch
from engine import nn
net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
for layer in net:
    nn.init.normal_(layer.weight, 0.0, 0.02)
    nn.init.zeros_(layer.bias)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
net(torch.ones(1, 2)).sum().backward()
optimizer.step()
"""


def test_an_initialization_is_one_box_and_the_parameters_stay_in_their_modules(tmp_path: Path) -> None:
    read = reading_of(recorded(INITIALIZED, tmp_path))
    grouping = read.drawing.grouping
    groups = by_label(grouping)
    start = groups["initialization"]
    assert grouping.quiet[start] == "start" and grouping.within[start] is None
    layer = next(group for label, group in groups.items() if label.startswith("2"))
    names = {"net.2.weight", "net.2.bias"}
    assert names <= cards_in(read, layer)
    before = [group for group in grouping.labels if start in grouping.paths[group]]
    assert names <= {name for group in before for name in cards_in(read, group)}, "with the values that it replaces"
    assert not cards_in(read, None) & names


def test_a_layer_that_is_only_initialized_stands_in_the_initialization(tmp_path: Path) -> None:
    source = INITIALIZED.replace("for layer in net", "nn.init.ones_(nn.Linear(2, 2).weight)\nfor layer in net", 1)
    read = reading_of(recorded(source, tmp_path))
    start = by_label(read.drawing.grouping)["initialization"]
    assert "nn.Linear(2, 2).weight" not in cards_in(read, None)
    inside = [group for group in read.drawing.grouping.labels if start in read.drawing.grouping.paths[group]]
    assert any("nn.Linear(2, 2).weight" in cards_in(read, group) for group in inside)


def test_a_function_that_a_library_calls_again_is_not_another_run_of_the_functions_around(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nfrom engine import nn\n"
        "def set_weights(layer):\n    if isinstance(layer, nn.Linear):\n"
        "        nn.init.normal_(layer.weight, 0.0, 0.02)\n        nn.init.zeros_(layer.bias)\n"
        "def main():\n    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])\n    net.apply(set_weights)\n"
        "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
        "    net(torch.ones(1, 2)).sum().backward()\n    optimizer.step()\n"
        "main()\n"
    )
    labels = by_label(reading_of(recorded(source, tmp_path)).drawing.grouping)
    assert {"initialization", "set_weights · 1", "set_weights · 4"} <= labels.keys()
    assert not [label for label in labels if label.startswith(("<module>", "main"))], "each runs once, around all"


@pytest.mark.parametrize("function", [False, True])
def test_a_loop_that_runs_once_around_everything_is_not_a_frame(function: bool, tmp_path: Path) -> None:
    before, start, rest = INITIALIZED.partition("net(torch")
    lines = "".join(f"        {line}\n" for line in (start + rest).splitlines())
    source = f"{before}for epoch in range(1):\n    for step in range(1):\n{lines}"
    if function:
        main = "".join(f"    {line}\n" for line in source.splitlines())
        source = f"def main():\n{main}    return torch\nmain().ones(2) * 2\n"
    grouping = reading_of(recorded(source, tmp_path)).drawing.grouping
    labels = set(grouping.labels.values())
    assert "initialization" in labels and ("main" in labels) is function
    assert not [label for label in labels if "epoch = 0" in label or "step = 0" in label]
    assert ("epoch = 0", "step = 0") in grouping.iterations.values(), "names of steps still have both loops"


def test_a_loop_that_runs_twice_keeps_its_frames(tmp_path: Path) -> None:
    before, start, rest = INITIALIZED.partition("net(torch")
    lines = "".join(f"    {line}\n" for line in (start + rest).splitlines())
    grouping = reading_of(recorded(f"{before}for step in range(2):\n{lines}", tmp_path)).drawing.grouping
    assert {"step = 0", "step = 1"} <= set(grouping.labels.values())


def test_a_mask_is_one_box_named_by_its_lines(read: Reading) -> None:
    masks = {label for label in by_label(read.drawing.grouping) if label.startswith("line")}
    assert masks == {"line 11: torch.tril(torch.ones(4, 4))"}


EMBEDDING = """
import engine as torch
from engine import nn
class Sine(nn.Module):
    def forward(self, x):
        scale = torch.exp(torch.arange(4.0) * -2.0)
        angles = x.unsqueeze(-1) * scale
        return torch.cat([torch.sin(angles), torch.cos(angles)], -1)
class Position(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Sine()
    def forward(self, x):
        return self.layer(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = Position()
        self.joint = nn.Sequential(*(nn.Linear(8, 8) for _ in range(4)))
    def forward(self, t):
        return self.joint(self.time(t))
net = Net()
optimizer = torch.optim.AdamW(net.parameters())
net(torch.ones(2)).sum().backward()
optimizer.step()
"""


def test_a_module_that_passes_no_gradient_has_no_second_box_around_all_of_its_ops(tmp_path: Path) -> None:
    grouping = reading_of(recorded(EMBEDDING, tmp_path)).drawing.grouping
    time = by_label(grouping)["time"]
    assert sum(group == time for group in grouping.of.values()) == 7
    assert time not in grouping.within.values()


def test_the_boxes_beside_a_model_begin_folded_and_the_model_open(read: Reading) -> None:
    ways = begins_folded(read.drawing)
    assert ways and all(set(read.drawing.grouping.quiet) <= way for way in ways)


def test_parts_of_a_long_function_are_called_by_their_lines(tmp_path: Path) -> None:
    body = "".join(f"    x = x * {n}\n" for n in range(1, 91))
    source = f"import engine as torch\ndef f(x):\n{body}    return x\n"
    source += "y = f(torch.ones(2, requires_grad=True))\nz = y.sum()\n"
    labels = reading_of(recorded(source, tmp_path)).drawing.grouping.labels.values()
    assert "lines 3–12" in labels
    assert not any(label.startswith("part") for label in labels)


CLIPPED = """
from engine import nn
model = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.5))])
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x, wanted = torch.randn(8, 4), torch.randn(8, 4)
for step in range(1):
    guess = model(x)
    loss = criterion(guess, wanted)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""


def test_what_clips_gradients_stands_beside_the_model_and_dropout_is_called_so(tmp_path: Path) -> None:
    found = reading_of(recorded("import engine as torch\n" + CLIPPED, tmp_path))
    grouping = found.drawing.grouping
    assert grouping.model == "model: Sequential", "a loss without parameters is no further model"
    assert {"0: Linear", "2: Dropout", "3: Linear", "11: Dropout"} <= set(grouping.labels.values())
    parts = {grouping.labels[group]: part for group, part in grouping.quiet.items()}
    assert parts["clip_grad_norm_"] == parts["SGD.step"] == "update"


def test_the_steps_that_one_line_makes_in_a_row_are_one_box(tmp_path: Path) -> None:
    make = "optimizer = torch.optim.AdamW(model.parameters())\n"
    text = TRANSFORMER.replace(make, f"{make}each = [torch.optim.AdamW([one]) for one in model.parameters()]\n")
    text = text.replace("optimizer.step()\n", "steps = [one.step() for one in each]\noptimizer.step()\n")
    grouping = reading_of(recorded(text, tmp_path)).drawing.grouping
    beside = {grouping.labels[group]: group for group, part in grouping.quiet.items() if part == "update"}
    assert list(beside) == ["AdamW.step × 14", "AdamW.step"]
    inside = [
        grouping.labels[group] for group, around in grouping.within.items() if around == beside["AdamW.step × 14"]
    ]
    assert len(inside) == 14 and inside[:2] == ["model.tok.weight", "model.blocks.0.ln.weight"]


def test_between_the_parts_of_a_model_edges_stand_for_large_tensors(tmp_path: Path) -> None:
    found = reading_of(recorded("import engine as torch\n" + CLIPPED, tmp_path))
    assert cards_in(found, None) <= {"x", "wanted", "loss"}, "guess has 32 elements and goes to the loss alone"


def test_a_long_series_of_equal_modules_is_a_stack_and_nothing_else_is_in_it(tmp_path: Path) -> None:
    source = TRANSFORMER.replace("range(2)", "range(30)")
    grouping = reading_of(recorded(source, tmp_path)).drawing.grouping
    first = [label for group, label in grouping.labels.items() if grouping.within[group] is None]
    assert first == [
        "data", "tok", "blocks × 30", "head", "cross_entropy", "AdamW.step", "no gradient",
    ]  # fmt: skip


def test_groups_have_ids_by_their_place_so_that_what_is_open_stays_so_in_the_next_iteration(tmp_path: Path) -> None:
    extra = "data = torch.randint(0, 5, (2, 5))"
    source = TRANSFORMER.replace(extra, f"def load():\n    {extra}\n    return data * 1 + 0\ndata = load()")
    one, other = (reading_of(recorded(text, tmp_path)).drawing.grouping for text in (TRANSFORMER, source))
    assert {g: label for g, label in one.labels.items() if label in ("head", "blocks.1: Block", "mlp")} == {
        g: label for g, label in other.labels.items() if label in ("head", "blocks.1: Block", "mlp")
    }
    assert len(one.labels) < len(other.labels)
    assert one.owners and one.owners <= one.labels.keys()


def test_a_module_that_only_calls_another_one_is_called_as_its_caller_does(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nfrom engine import nn\n"
        "class Generator(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))\n"
        "    def forward(self, x):\n        return self.model(x)\n"
        "there, back, x = Generator(), Generator(), torch.ones(1, 2)\n"
        "(back(there(x)) - x).square().mean().backward()\n"
    )
    labels = reading_of(recorded(source, tmp_path)).drawing.grouping.labels.values()
    assert {"there: Generator", "back: Generator"} <= set(labels) and not any("model" in label for label in labels)


CLOSURE = """\
import engine as torch
model = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
def fit(x):
    def closure():
        y = model(x)
{body}
        y.sum().backward()
    closure()
    opt.step()
fit(torch.ones(2, 2))
"""


def test_a_closure_that_does_everything_begins_open(tmp_path: Path) -> None:
    body = "\n".join(f"        y = y * {n}" for n in range(1, 71))
    drawing = reading_of(recorded(CLOSURE.format(body=body), tmp_path)).drawing
    groups = by_label(drawing.grouping)
    ways = begins_folded(drawing)
    assert ways and all(groups["SGD.step"] in way and groups["closure"] not in way for way in ways)


REPLAYED = """\
import engine as torch
from engine import nn
net = nn.Sequential(*[m for _ in range(12) for m in (nn.Linear(2, 2), nn.Tanh())])
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
memory = []
for k in range({kept}):
    state = torch.tensor([[float(k), 1.]])
    memory.append(state)
state = torch.tensor([3., 4.]).unsqueeze(0)
memory.append(state * 2)
def optimize():
    net(torch.cat(memory)).square().mean().backward()
    opt.step()
optimize()
"""


@pytest.mark.parametrize(("kept", "shown"), [(3, {"state"}), (20, set[str]())])
def test_many_inputs_of_a_function_are_a_part_of_the_data(kept: int, shown: set[str], tmp_path: Path) -> None:
    found = reading_of(recorded(REPLAYED.format(kept=kept), tmp_path))
    groups = by_label(found.drawing.grouping)
    assert {"data", "optimize"} <= groups.keys()
    assert cards_in(found, None) == shown
    assert all(groups["optimize"] not in way for way in begins_folded(found.drawing)), "the loss is in it"


UNUSED = """
import engine as torch
from engine import nn
net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
other = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
unused = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
out = net(torch.ones(1, 2))
loss = other(out).sum()
{backward}
print(out.mean().item())
optimizer.step()
total = loss + net(torch.zeros(1, 2)).sum() + 1
aux = unused(out)
"""


@pytest.mark.parametrize("is_called", [True, False])
def test_results_that_no_backward_call_reaches_stand_beside_the_model(is_called: bool, tmp_path: Path) -> None:
    source = UNUSED.format(backward="loss.backward()" if is_called else "")
    read = reading_of(recorded(source, tmp_path))
    grouping, facts = read.drawing.grouping, read.facts
    beside = {group for group, part in grouping.quiet.items() if part == "aside" and grouping.within[group] is None}
    ops = [item for item in read.drawing.items.values() if item.op is not None]
    aside = {facts.ops[item.op or 0].event.name for item in ops if beside & {*grouping.paths[item.group]}}
    assert aside == ({"t", "addmm", "mean", "add", "sum"} if is_called else set()), "also the second call of the model"
    lone = [group for group, label in grouping.labels.items() if label.startswith("unused")]
    assert lone and not beside & {*grouping.paths[lone[0]]}, "its parameters are drawn nowhere else"
