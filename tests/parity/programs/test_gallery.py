"""Every program of the gallery means the same here and in PyTorch: values, gradients, order, texts, messages."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import engine
from engine.trace.events import Accumulated, BackwardStarted, ErrorRaised, OpCalled, Trace, VjpRun
from tests.batches import batches
from viz.gallery import Program, fixed_programs, gallery

torch: Any
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None

IMPORT = "import engine as torch"
RELATIVE = 1e-5  # float32: the libraries' exp, log and tanh may differ in the last bit, and sums add that up
ABSOLUTE = 1e-7

FAILED = ("failed",)  # in place of what arrived at the node at which the error arose: a trace has no VJP for it

Fired = tuple[str, tuple[Any, ...]]

pytestmark = [pytest.mark.parity, pytest.mark.usefixtures("oracle")]

BOTH = [program for program in (*gallery(), *fixed_programs()) if not program.legacy]


def named(program: Program) -> str:
    return program.id


@dataclass(frozen=True)
class HeldTensor:
    """What a tensor that a name is bound to holds when the program has ended."""

    shape: tuple[int, ...]
    dtype: str
    value: np.ndarray
    requires_grad: bool
    is_leaf: bool
    grad: HeldTensor | None


@dataclass(frozen=True)
class Run:
    """All that can be seen of a run: `order` has the backward nodes as they ran, each with what arrived there."""

    held: dict[str, HeldTensor]
    output: str
    warned: list[tuple[str, str]]
    error: tuple[str, str] | None
    full: str
    order: list[Fired]


@pytest.fixture(scope="module")
def runs() -> Callable[[Program], tuple[Run, Run]]:
    """(here, in PyTorch) for a program; each program runs once for all tests."""
    known: dict[str, tuple[Run, Run]] = {}

    def both(program: Program) -> tuple[Run, Run]:
        if program.id not in known:
            known[program.id] = (run_here(program), run_there(program))
        return known[program.id]

    return both


def run_here(program: Program) -> Run:
    with engine.record() as trace:
        seen = observe(program.source, program, engine.Tensor)
    return Run(*seen, order=order_here(trace))


def run_there(program: Program) -> Run:
    torch.set_warn_always(True)  # else a warning that another test has met is not given again
    order: list[Fired] = []
    with noting(order):
        seen = observe(program.source.replace(IMPORT, "import torch"), program, torch.Tensor)
    return Run(*seen, order=order)


def observe(
    source: str, program: Program, kind: type
) -> tuple[dict[str, HeldTensor], str, list[tuple[str, str]], tuple[str, str] | None, str]:
    """Run a text as a script; what it bound, printed and warned of, and the error that ended it, short and in full."""
    space: dict[str, Any] = {"__name__": "__main__"}
    output, error, full = io.StringIO(), None, ""
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(output):
        warnings.simplefilter("always")
        try:
            exec(compile(source, str(program.path), "exec"), space)
        except Exception as raised:  # noqa: BLE001 (whatever ends a program is compared)
            error, full = (type(raised).__name__, first_sentence(str(raised))), str(raised)
    found = {name: hold(tensor) for name, tensor in tensors(space, kind)}
    # numpy's RuntimeWarnings are not ours: tests/viz/gallery/test_gallery.py holds that a user does not see them
    told = [(w.category.__name__, first_sentence(str(w.message))) for w in warned if w.category is not RuntimeWarning]
    return found, output.getvalue(), told, error, full


def tensors(space: dict[str, Any], kind: type) -> Iterator[tuple[str, Any]]:
    """Every tensor that a name leads to, also through lists and tuples."""
    for name, bound in space.items():
        yield from within(name, bound, kind)


def within(name: str, bound: Any, kind: type) -> Iterator[tuple[str, Any]]:
    if isinstance(bound, kind):
        yield name, bound
    elif isinstance(bound, (list, tuple)):
        for index, member in enumerate(bound):
            yield from within(f"{name}[{index}]", member, kind)


def hold(tensor: Any) -> HeldTensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading .grad of inner tensors is the point here
        grad = tensor.grad
    return HeldTensor(
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype),
        value=np.array(tensor.detach().tolist()),
        requires_grad=tensor.requires_grad,
        is_leaf=tensor.is_leaf,
        grad=None if grad is None else hold(grad),
    )


def first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def order_here(trace: Trace) -> list[Fired]:
    ops = [event for event in trace.events if isinstance(event, OpCalled)]
    # PyTorch keeps the node of a write to a view, and that of the view, inside of CopySlices: they do not run by name.
    written = {event.inputs[1].tensor for event in ops if event.name == "copy_slices" and event.inplace is not None}
    hidden = {event.node.node for event in ops if event.node and event.outputs[0].tensor in written}
    names = {event.node.node: event.node.name.rpartition("::")[2] for event in ops if event.node}
    inside = {event.call for event in trace.events if isinstance(event, BackwardStarted) and is_inside(trace, event)}
    order: list[Fired] = []
    for event in trace.events:
        if isinstance(event, VjpRun) and (event.call in inside or event.node in hidden):
            continue
        if isinstance(event, VjpRun):
            order.append(
                (names[event.node], tuple(read(trace, index) for index in event.upstream if index is not None))
            )
        elif isinstance(event, Accumulated) and not event.retained:
            order.append(("AccumulateGrad", (read(trace, event.added),)))
        elif isinstance(event, ErrorRaised) and event.node is not None:
            order.append((names[event.node], FAILED))
    return order


def is_inside(trace: Trace, event: BackwardStarted) -> bool:
    """Whether gradcheck made this call: how it goes through outputs is PyTorch's own affair, results are compared."""
    frame = trace.stacks[event.stack][-1]
    return "gradcheck(" in trace.files[frame.file].splitlines()[frame.line - 1]


def read(trace: Trace, index: int) -> Any:
    return trace.value(index).array


@contextlib.contextmanager
def noting(order: list[Fired]) -> Iterator[None]:
    """While PyTorch runs backward, note every node that runs and the gradients that it is given."""
    before = torch.autograd.backward, torch.autograd.grad
    torch.autograd.backward, torch.autograd.grad = (noted(function, order) for function in before)
    try:
        yield
    finally:
        torch.autograd.backward, torch.autograd.grad = before


def noted(function: Callable[..., Any], order: list[Fired]) -> Callable[..., Any]:
    def call(roots: Any, *args: Any, **kwargs: Any) -> Any:
        inside = sys._getframe(1).f_globals["__name__"] == "torch.autograd.gradcheck"
        handles = [] if inside else [node.register_prehook(note(node, order)) for node in reachable(roots)]
        try:
            return function(roots, *args, **kwargs)
        finally:
            for handle in handles:
                handle.remove()

    return call


def note(node: Any, order: list[Fired]) -> Callable[[Any], None]:
    name = node.name().rpartition("::")[2]

    def hook(grads: Any) -> None:
        order.append((name, tuple(np.array(grad.detach().tolist()) for grad in grads if grad is not None)))

    return hook


def reachable(roots: Any) -> list[Any]:
    """Every node behind the roots, once."""
    waiting = [root.grad_fn for root in ([roots] if isinstance(roots, torch.Tensor) else roots)]
    found: dict[Any, None] = {}
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found[node] = None
            waiting.extend(after for after, _ in node.next_functions)
    return list(found)


def same(here: Any, there: Any) -> bool:
    return bool(here.shape == there.shape and np.allclose(here, there, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))


def differences(name: str, here: HeldTensor, there: HeldTensor) -> Iterator[str]:
    """In words, what is different about a tensor."""
    for field in ("shape", "dtype", "requires_grad", "is_leaf"):
        ours, theirs = getattr(here, field), getattr(there, field)
        if str(ours).rpartition(".")[2] != str(theirs).rpartition(".")[2]:
            yield f"{name}.{field}: {ours} here, {theirs} there"
    if not same(here.value, there.value):
        yield f"{name}: {here.value} here, {there.value} there"
    if (here.grad is None) != (there.grad is None):
        yield f"{name}.grad: {here.grad} here, {there.grad} there"
    elif here.grad is not None and there.grad is not None:
        yield from differences(f"{name}.grad", here.grad, there.grad)


@batches("program", BOTH, named)
def test_program_imports_torch_in_one_line(program: Program) -> None:
    assert program.source.count(IMPORT) == 1
    assert program.source.count("engine") == 1


@batches("program", BOTH, named)
def test_program_binds_equal_tensors(program: Program, runs: Any) -> None:
    here, there = runs(program)
    fixed = [name for name in there.held if name not in program.random]
    assert list(here.held) == list(there.held)
    found = [line for name in fixed for line in differences(name, here.held[name], there.held[name])]
    assert found == []
    assert all(here.held[name].shape == there.held[name].shape for name in program.random)


@batches("program", BOTH, named)
def test_program_prints_the_same_text(program: Program, runs: Any) -> None:
    here, there = runs(program)
    assert here.output == there.output


@batches("program", BOTH, named)
def test_program_warns_in_the_same_words(program: Program, runs: Any) -> None:
    here, there = runs(program)
    assert here.warned == there.warned


@batches("program", BOTH, named)
def test_program_ends_in_the_same_way(program: Program, runs: Any) -> None:
    here, there = runs(program)
    assert here.error == there.error


@batches("program", [program for program in BOTH if program.confusion], named)
def test_mistake_gets_the_message_in_full(program: Program, runs: Any) -> None:
    """Word for word to the last, and as the gallery quotes it."""
    here, there = runs(program)
    assert here.full == there.full
    if there.error is not None:
        assert f"{there.error[0]}: {there.full}".startswith(program.says)


@pytest.mark.parametrize("program", [program for program in BOTH if program.says.startswith("UserWarning: ")])
def test_mistake_gets_the_warning_that_the_gallery_quotes(program: Program, runs: Any) -> None:
    _, there = runs(program)
    assert there.warned == [("UserWarning", first_sentence(program.says.removeprefix("UserWarning: ")))]


@pytest.mark.parametrize("program", [program for program in BOTH if program.silence])
def test_silent_mistake_is_silent_in_torch(program: Program, runs: Any) -> None:
    _, there = runs(program)
    assert (there.warned, there.error) == ([], None)


@batches("program", BOTH, named)
def test_program_runs_the_same_nodes_in_the_same_order(program: Program, runs: Any) -> None:
    here, there = runs(program)
    assert [name for name, _ in here.order] == [name for name, _ in there.order]


@batches("program", BOTH, named)
def test_program_sends_the_same_gradients_to_every_node(program: Program, runs: Any) -> None:
    here, there = runs(program)
    silent = there.error is not None or "gradcheck(" in program.source
    assert there.order or silent, "nothing ran backward: the comparison would be empty"
    for (name, ours), (_, theirs) in zip(here.order, there.order, strict=True):
        assert ours is FAILED or len(ours) == len(theirs), name
        assert ours is FAILED or all(same(a, b) for a, b in zip(ours, theirs, strict=True)), (name, ours, theirs)
