"""The recorder of the real torch leaves no trace in what a program computes, shows and says."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from engine.arrays.session import slot
from engine.trace.file.consistency import open_checked
from viz.record.block import Block

from .test_recorder import ops, recorded_as_alone

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")

PACKED = """
import torch
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
x, hooks, runs = torch.ones(3, requires_grad=True), [], []
def pack(t):
    hooks.append("packed")
    return t.half()
def unpack(t):
    hooks.append("unpacked")
    return t.float()
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = (x * 2 * x).sum()
print(hooks)
y.backward()
def function(a):
    runs.append("ran")
    return torch.nn.functional.dropout((a.sin() * a).exp().cos())
for reentrant in (False, True):
    z = checkpoint(function, x, use_reentrant=reentrant)
    print(runs)
    z.sum().backward()
with torch.autograd.graph.save_on_cpu():
    y = (x.sin() * x).sum()
y.backward()
print(hooks, runs, x.grad)
"""


def test_saved_tensors_that_hooks_packed_are_not_unpacked() -> None:
    trace = recorded_as_alone(PACKED)
    saved = [{one.name: one.bytes for one in op.node.saved} for op in ops(trace) if op.node is not None]
    if hasattr(torch._C._autograd.SavedTensor, "data"):  # older versions do not show it
        assert saved[1] == {"self": 6, "other": 6}  # in half precision; a checkpoint keeps nothing
        assert {"self": 0, "other": 0} in saved and {"result": 0} in saved


SHOWN = """
import logging
import traceback
import warnings
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        warnings.warn("the module was called in line {}", stacklevel=4)
        return x @ torch.ones(5, 5)

def gives_warnings(gradient):
    for level in range(1, 9):
        warnings.warn(f"the hook gives a warning of level {level}", stacklevel=level)

x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(gives_warnings)
for call in (
    lambda: y.sum().backward(retain_graph=True),
    lambda: Net()(torch.ones(3, 3)), lambda: y.backward(), lambda: torch.ones(2).item(), lambda: y.numpy(),
    lambda: setattr(x, "grad", torch.ones(2)), lambda: y.requires_grad_(False), lambda: bool(torch.ones(2)),
):
    try:
        call()
    except Exception as error:
        print(traceback.format_exc(), traceback.extract_tb(error.__traceback__)[-1].name)
for _ in range(2):
    torch.ones(1).std()
y.grad
torch.ones(1).std()
print("".join(traceback.format_stack(limit=1)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    y.grad
    torch.ones(1).std()
print([(one.filename, one.lineno) for one in caught])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        torch.ones(1).std()
    except UserWarning as error:
        print(error)
print(torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2)).graph)
"""


def test_tracebacks_and_warnings_that_a_program_shows_are_those_without_recording(tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text(SHOWN)
    alone = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    command = [sys.executable, "-m", "viz", "record", "-o", tmp_path / "shown.backstep", script]
    recorded = subprocess.run(command, capture_output=True, text=True, check=True)
    assert recorded.stdout == alone.stdout and "shown.py" in recorded.stdout
    said = [line for line in recorded.stderr.splitlines() if not line.startswith("backstep: ")]
    assert said == alone.stderr.splitlines() and sum("std()" in line for line in said) == 4
    open_checked(tmp_path / "shown.backstep", 10_000)


MODES = """
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

class Ops(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        seen.append(str(func))
        return func(*args, **(kwargs or {}))

class Calls(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return func(*args, **(kwargs or {}))

seen = []
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(30, 40), torch.nn.ReLU(), torch.nn.Linear(40, 2))
optimizer = torch.optim.Adam(net.parameters())
for mode in (Ops(), Calls(), Ops()):
    with mode:
        optimizer.zero_grad()
        net(torch.ones(5, 30)).pow(2).sum().backward()
        optimizer.step()
    print(len(seen), seen)
"""


def test_modes_of_a_program_hear_of_its_own_ops_only() -> None:
    recorded_as_alone(MODES)


def test_stack_that_a_mode_of_the_program_reads_is_that_without_recording() -> None:
    stacks: list[list[str]] = []

    class Ops(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]  # torch is Any
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            stacks.append([frame.filename for frame in traceback.extract_stack()])
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, requires_grad=True)
    with Ops():
        x.exp()
        alone = stacks.pop()
        with Block() as trace:  # its mode is inside of the program's
            x.exp()
    assert alone in stacks and {file for stack in stacks for file in stack} == {*alone}
    assert [op.name for op in ops(trace)] == ["exp"]


SUBCLASSES = """
import torch
from torch import nn
from torch.utils._pytree import tree_map

seen = []
class Listens(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})

class ListeningParameter(nn.Parameter):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
    def __init__(self, inner):
        self.inner = inner
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        seen.append(str(func))
        inner = lambda one: one.inner if isinstance(one, Wrapper) else one
        out = func(*tree_map(inner, args), **tree_map(inner, kwargs or {}))
        return tree_map(lambda one: Wrapper(one) if isinstance(one, torch.Tensor) else one, out)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.linear = ListeningParameter(torch.ones(3)), nn.Linear(3, 3)
    def forward(self, x):
        return self.linear(x * self.scale)

torch.manual_seed(0)
net, x = Net(), torch.ones(3).as_subclass(Listens).requires_grad_()
optimizer = torch.optim.Adam([*net.parameters(), x])
for _ in range(2):
    optimizer.zero_grad()
    y = net(x)
    y.retain_grad()
    y.sum().backward()
    optimizer.step()
    x.data.add_(1)
    with torch.no_grad():
        net.scale.mul_(2)
    print(x.tolist(), x.grad, net.scale, f"{y.sum()}")
w = Wrapper(torch.ones(3)).requires_grad_()
(w * 3).exp().sum().backward()
print(w.grad.inner)
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged, requires_grad=True)
(nested * 2).values().sum().backward()
print(nested.grad.values())
lazy = nn.Sequential(nn.LazyConv1d(2, 1), nn.Flatten(), nn.LazyLinear(3))
lazy(torch.ones(2, 2, 4)).sum().backward()
print(lazy[0].weight.grad, seen)
"""


@pytest.mark.newest  # on 2.4 the class that wraps a tensor hears of one more detach
def test_subclasses_of_tensor_hear_of_the_programs_own_work_only() -> None:
    """Nor do parameters that have no elements yet end the recording."""
    trace = recorded_as_alone(SUBCLASSES)
    assert [op.name for op in ops(trace)[-2:]] == ["addmm", "sum"]


COMPILED = """
import torch
compiled = torch.compile(lambda x: x.sin() + 1, backend="eager")
x = torch.ones(3, requires_grad=True)
again = torch.compile(compiled, backend="eager")
print(again(x), torch._dynamo.disable(compiled)(x), torch.compile(lambda x: compiled(x) * 2, backend="eager")(x))
"""


def test_function_that_is_compiled_may_be_compiled_again() -> None:
    recorded_as_alone(COMPILED)


def test_report_of_a_fault_names_our_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Block():
        x = torch.ones(3, requires_grad=True) * 2
        slot.active.library.forward.settle = None
        x.sum().backward()
    said = capsys.readouterr().err
    assert "Please report it" in said and "viz/record/torch/" in said.replace(os.sep, "/")


HOOKS_ON_A_NODE = """
import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
z = y.sum()
handle = y.grad_fn.register_hook(lambda sent, arrived: print("ran", sent, arrived))
other = y.grad_fn.register_hook(lambda sent, arrived: (sent[0] * 10, None))
z.backward(retain_graph=True)
print(x.grad)
handle.remove()
z.backward(retain_graph=True)
print(x.grad)
other.remove()
z.backward()
print(x.grad)
"""


def test_hooks_of_the_program_on_a_node_run_and_can_be_removed() -> None:
    recorded_as_alone(HOOKS_ON_A_NODE)


def test_a_node_takes_hooks_after_its_recording(tmp_path: Path) -> None:
    x, seen = torch.ones(3, requires_grad=True), []
    with Block(str(tmp_path / "t.backstep")):
        y = (x * 2).sum()
    handle = y.grad_fn.register_hook(lambda sent, arrived: seen.append(sent))
    y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert len(seen) == 1 and x.grad.tolist() == [4.0, 4.0, 4.0]
