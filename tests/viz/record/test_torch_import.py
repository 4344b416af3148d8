"""Scripts of torch, which the engine answers: what it has, what it lacks, and rooms that are not there."""

from __future__ import annotations

import re

import pytest

from ..helpers.scripts import Capture, Script, kinds, raised


def test_import_of_torch_is_answered_by_the_engine(script: Script, capfd: Capture) -> None:
    text = (
        "import torch\nimport torch.nn as nn\nimport torch.autograd\nfrom torch import tensor\nimport engine\n"
        "print(torch is engine, nn is engine.nn, engine.__name__, engine.nn.__spec__.name)\n"
        "x = tensor([1., 2.], requires_grad=True)\n(x * x).sum().backward()\n"
    )
    recording, trace = script(text, as_torch=True)
    assert capfd.readouterr().out == "True True engine engine.nn\n" and recording.explanation == ""
    assert "Accumulated" in kinds(trace)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("torch.exq(x)", r"no torch.exq, asked for in line 3 of script.py. The nearest name is '\w+'; docs/ops.md"),
        ("x.bakward()", r"no Tensor.bakward, asked for in line 3 of script.py. The nearest name is 'backward'"),
        ("from torch import no_grd", "no torch.no_grd, asked for in line 3 of script.py. The nearest name is .no_grad"),
        ("import torch.cuda.amp.nothing", "no torch.cuda.*, asked for in line 3 of script.py"),
        ("import torch.tracefile_", "no torch.tracefile_, asked for in line 3"),
        ("from torch.nn import Lineer", "no torch.nn.Lineer, asked for in line 3"),
    ],
)
def test_missing_name_is_explained_with_its_line(script: Script, capfd: Capture, line: str, says: str) -> None:
    recording, trace = script(f"import torch\nx = torch.ones(2)\n{line}\n", as_torch=True)
    assert recording.returncode == 1
    assert re.search(says, recording.explanation), recording.explanation
    assert re.search(says, capfd.readouterr().err) and re.search(says, raised(trace).note)


TRAINING = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset
from torch.nn.utils import clip_grad_norm_

model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = StepLR(optimizer, 1)
loader = DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4, 1)), batch_size=2, shuffle=True)
for x, y in loader:
    optimizer.zero_grad()
    F.relu(model(x) - y).sum().backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
scheduler.step()
"""


def test_training_script_runs_as_torch(script: Script) -> None:
    recording, trace = script(TRAINING, as_torch=True)
    assert recording.returncode == 0, recording.explanation
    assert {"GroupEntered", "GroupLeft", "Accumulated"} <= set(kinds(trace))
    assert {"model.0.weight", "model.0.bias", "model.1.weight", "model.1.bias", "x", "y"} <= set(trace.names.values())


def test_script_that_asks_whether_torch_has_a_name_goes_on(script: Script) -> None:
    recording, _ = script("import torch\nassert not hasattr(torch, 'compile_everything')\n", as_torch=True)
    assert recording.returncode == 0


def test_nearest_name_is_one_that_is_meant_for_use(script: Script) -> None:
    recording, _ = script("import torch\ntorch.trace_file\n", as_torch=True)
    assert "no torch.trace_file" in recording.explanation and "tracefile" not in recording.explanation


def test_missing_module_is_to_be_written_by_hand(script: Script) -> None:
    recording, _ = script("import torch\nnet = torch.nn.quantized(3, 2)\n", as_torch=True)
    assert recording.explanation.startswith("The engine has no torch.nn.quantized, asked for in line 2 of script.py.")
    assert "`x @ W + b`" in recording.explanation


ROOMS = """
import torch
import torch.distributed as dist
import torch.onnx
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributions.categorical import Categorical
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.stateless import functional_call
import torch.nn.utils.prune as prune
assert TransformedDistribution is torch.distributions.TransformedDistribution
assert functional_call is torch.func.functional_call and SDPBackend.MATH and sdpa_kernel
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.profiler import ProfilerActivity, profile
from torch.utils.data.dataloader import default_collate
from torch.utils.tensorboard import SummaryWriter

@torch.jit.script
def double(x):
    return x * 2

@torch.compiler.disable
def triple(x):
    return x * 3

assert Categorical is torch.distributions.Categorical and default_collate is torch.utils.data.default_collate
assert torch.utils.data.sampler.RandomSampler is torch.utils.data.RandomSampler
assert torch.__version__ >= "2.0" and prune.is_pruned(torch.nn.Linear(1, 1)) is False
assert not (dist.is_available() or dist.is_initialized() or torch.jit.is_scripting() or torch.xpu.is_available())
model = torch.nn.Linear(2, 1)
assert not isinstance(model, DDP) and not isinstance(model, torch.fx.GraphModule)
with SummaryWriter("runs") as writer:
    writer.add_scalar("loss", 1.0, 0)
assert {"f": torch.float32, "b": torch.bfloat16}["f"] is torch.float32
with profile(activities=[ProfilerActivity.CPU]):
    pass
triple(double(model(torch.ones(1, 2)))).sum().backward()
print("ran")
"""


def test_rooms_that_are_not_there_may_be_imported_and_left_unused(script: Script, capfd: Capture) -> None:
    recording, trace = script(ROOMS, as_torch=True)
    printed = capfd.readouterr()
    assert (printed.out, recording.returncode) == ("ran\n", 0), printed.err
    assert "Accumulated" in kinds(trace)


NOT_THERE = {
    "torch.onnx.export(x)": "torch.onnx.export is not in Backstep: the program is recorded as Python runs it",
    "with torch.utils.benchmark.Timer() as p: pass": "torch.utils.benchmark.Timer is not in Backstep: times mean",
    "with torch.utils.benchmark.never: pass": "torch.utils.benchmark.never is not in Backstep",
    "class Tracer(torch.fx.Tracer): pass": "torch.fx.Tracer is not in Backstep: the program is recorded",
    "torch.nn.parallel.DistributedDataParallel(x)": "use the module itself",
    "import torch.distributed as d; d.init_process_group('gloo')": "a recording covers one process",
    "torch.testing.assert_close(x, x)": "compare with torch.allclose()",
}


def test_what_is_used_of_a_room_that_is_not_there_says_so(script: Script, capfd: Capture) -> None:
    first, *others = NOT_THERE
    tried = "".join(
        f"try:\n    {line}\nexcept Exception as error:\n    print(type(error).__name__, error)\n" for line in others
    )
    recording, trace = script(f"import torch\nx = torch.ones(2)\n{tried}{first}\n", as_torch=True)
    assert (recording.returncode, recording.error) == (1, "OutOfScope") and NOT_THERE[first] in raised(trace).message
    told = re.split(r"^OutOfScope ", capfd.readouterr().out, flags=re.MULTILINE)[1:]
    assert len(told) == len(others)
    for line, said in zip(others, told, strict=True):
        assert NOT_THERE[line] in said, line


def test_a_room_that_is_not_there_is_explained_to_a_script_of_the_engine_too(script: Script) -> None:
    recording, _ = script("import engine as torch\ntorch.onnx.export()\n")
    assert "no engine.onnx, asked for in line 2 of script.py: the program is recorded" in recording.explanation
    recording, _ = script("import torch\ntorch.nn.SyncBatchNorm(2)\n", as_torch=True)
    assert "no torch.nn.SyncBatchNorm" in recording.explanation
