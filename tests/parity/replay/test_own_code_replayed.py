"""Hooks and backwards that call backward themselves, do not run any more, or run anew: what a replay makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine
from engine.replay import doubts
from engine.replay.program import Command, Edits, commands
from engine.replay.replay import replay
from engine.trace.events import BackwardStarted, CodeEntered, OpCalled, Trace
from tests.parity.helpers.recordings import arrived

HEAD = "x = torch.tensor({values}, requires_grad=True)\ny = x * 3\n"
PROGRAMS = {
    "backward in a Function's backward": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()
    @staticmethod
    def backward(ctx, grad):
        inner = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            z = inner.sin()
        z.backward(grad)
        return inner.grad
F.apply(y).sum().backward()
""",
    "grad in a hook": """
other = torch.tensor([5.0, 7.0], requires_grad=True)
w = other * other * other
y.register_hook(lambda g: torch.autograd.grad(w, other, g)[0])
(y * y).sum().backward()
""",
    "a hook of a root, and what a double backward through a written view makes": """
y[:1] = x[:1] * 2
root = (y * y).sum()
root.register_hook(lambda g: g * 2)
(slope,) = torch.autograd.grad(root, x, create_graph=True)
slope.sum().backward()
""",
    "ops in hooks of a module": """
layer = torch.nn.Linear(2, 2)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
layer.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))
layer.register_full_backward_hook(lambda m, before, after: (before[0] + after[0],))
layer(y).sum().backward()
""",
    "a prehook and a hook of a leaf's node, and a backward in one after its accumulation": """
node = y.grad_fn.next_functions[0][0]
node.register_prehook(lambda g: (g[0].exp(),))
other = torch.tensor(2.0, requires_grad=True)
def more(leaf):
    with torch.enable_grad():
        (other * leaf.grad.sum()).backward()
    leaf.grad = leaf.grad * 2
x.register_post_accumulate_grad_hook(more)
y.sum().backward()
""",
    "what a hook kept is used later": """
kept = []
y.register_hook(lambda g: kept.append(g * 2))
(y * y).sum().backward()
(kept[0] * x).sum().backward()
""",
    "a hook that writes its gradient": """
z = y * y
z.register_hook(lambda g: None if g.mul_(3) is None else None)
(z * z).sum().backward()
""",
    "hooks with a graph": """
y.register_hook(lambda g: g * g)
(first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
first.sum().backward()
""",
    "an error in a hook that the program catches": """
def bad(g):
    t = g * 2
    raise ValueError("no")
handle = y.register_hook(bad)
try:
    (y * y).sum().backward()
except ValueError:
    pass
handle.remove()
(y * 2).sum().backward()
""",
}


def run(program: str, values: str = "[1.0, 2.0]", library: Any = engine) -> Any:
    space: dict[str, Any] = {"torch": library}
    code = compile(HEAD.format(values=values) + program, "<program>", "exec")
    if library is not engine:
        exec(code, space)
        return space
    with engine.record() as trace:
        exec(code, space)
    return trace, space


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_of_the_programs_own_is_recorded_and_replayed_as_a_fresh_run(name: str) -> None:
    trace, space = run(PROGRAMS[name])
    torch = pytest.importorskip("torch")
    theirs = run(PROGRAMS[name], library=torch)["x"].grad
    assert space["x"].grad.tolist() == pytest.approx(theirs.tolist())
    assert any(isinstance(e, CodeEntered) for e in trace.events)
    again = replay(trace)
    assert again.meta["doubt"] is None and arrived(again) == arrived(trace)
    assert list(again.events) == [replaced(e, f) for e, f in zip(trace.events, again.events, strict=True)]
    fresh, _ = run(PROGRAMS[name], "[-1.0, 0.5]")
    edited = replay(trace, Edits(leaves={0: [-1.0, 0.5]}))
    assert edited.meta["doubt"] is None and arrived(edited) == arrived(fresh)


def replaced(event: Any, other: Any) -> Any:
    """An event without the Python frames that a replay does not have."""
    return replace(event, traceback=other.traceback) if hasattr(event, "traceback") else event


def hooked() -> Trace:
    """A hook on y = 3x, and a backward from y and one from z, which does not come by y."""
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3
        a, b = y.sum(), (x * 5).sum()
        y.register_hook(lambda g: g * 10)
        a.backward(retain_graph=True)
        b.backward(retain_graph=True)
    return trace


def test_hook_that_does_not_run_any_more_raises_a_doubt() -> None:
    trace = hooked()
    first, second = commands(trace)
    assert replay(trace, Edits(commands=(first, second))).meta["doubt"] is None
    assert replay(trace, Edits(commands=(first,))).meta["doubt"] is None  # no hook ran in the second
    gone = replay(trace, Edits(commands=(second,)))
    assert gone.meta["why"] == doubts.HOOK_GONE and arrived(gone) == [[5, 5]]
    elsewhere = replay(trace, Edits(commands=(replace(first, roots=second.roots), second)))
    assert elsewhere.meta["why"] == doubts.HOOK_GONE
    started = next(e.index for e in elsewhere.events if isinstance(e, BackwardStarted))
    assert elsewhere.meta["doubt"] > started


def test_hook_runs_in_a_call_that_was_added_with_a_doubt() -> None:
    trace = hooked()
    first, second = commands(trace)
    more = Command("new", "backward", second.after, None, first.roots, retain_graph=True)
    again = replay(trace, Edits(commands=(first, second, more)))
    assert again.meta["why"] == doubts.ELSEWHERE and arrived(again)[-1] == [30, 30]


def test_backward_with_a_graph_where_the_recording_made_none_is_doubted() -> None:
    trace = hooked()
    first, second = commands(trace)
    with pytest.warns(UserWarning, match="create_graph=True"):
        again = replay(trace, Edits(commands=(replace(first, create_graph=True), second)))
    assert again.meta["why"] == doubts.OTHER_MODE and arrived(again)[0] == [30, 30]


def test_value_that_a_hook_looks_at_raises_a_doubt_where_it_is_another() -> None:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda g: g / g.norm() if g.norm() > 1 else None)
        (x * x).sum().backward()
    assert replay(trace).meta["doubt"] is None
    again = replay(trace, Edits(leaves={0: [0.1, 0.1]}))
    assert again.meta["why"] == doubts.ESCAPED


def test_forward_that_is_refused_afterwards_has_written_all_the_same() -> None:
    class Write(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            x.mul_(2)
            return x

    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            Write.apply(x)
        (x * 1).sum().backward()
    again = replay(trace)
    assert list(again.events) == list(trace.events)
    (made,) = [e for e in again.events if isinstance(e, OpCalled) and e.name == "mul" and e.node is not None]
    kept = again.value(made.outputs[0].value).array
    assert kept is not None and kept.tolist() == [2, 4]


QUANTISED = """
def pack(t):
    scale = t.abs().max() / 127
    return (t / scale).round().to(torch.int8), scale
def unpack(packed):
    q, scale = packed
    return q.to(torch.float32) * scale
"""
PACKED = {
    "rounded": QUANTISED + "with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\n    z = y * y * y.exp()\n",
    "on the host": "with torch.autograd.graph.save_on_cpu():\n    z = y * y * y.exp()\n",
    "written since": """
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    w = y * 1
    z = w * w
    w.mul_(0)
    z.sum().backward(retain_graph=True)
    x.grad = None
    z.sum().backward()
y = (y * 0).detach().requires_grad_()
z = y * y
""",
    "of one node": QUANTISED + "z = y * y.sin()\nz.grad_fn._raw_saved_self.register_hooks(pack, unpack)\n",
    "of a Function": QUANTISED + """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        made = x.exp()
        ctx.save_for_backward(x, made)
        return made
    @staticmethod
    def backward(ctx, grad):
        x, made = ctx.saved_tensors
        return grad * made + x
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    z = F.apply(y)
""",
    "of several": QUANTISED + "with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\n"
    "    z = torch.stack([y * y, y.exp()]).softmax(0) * y.tanh()\n",
    "recomputed": "z = torch.utils.checkpoint.checkpoint(lambda v: v * v.exp(), y, use_reentrant=False)\n",
    "recomputed in one node": "z = torch.utils.checkpoint.checkpoint(lambda v: v * v.exp(), y, use_reentrant=True)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", PACKED)
def test_saved_tensors_that_were_packed_are_unpacked_in_a_replay_as_in_a_fresh_run(name: str) -> None:
    torch = pytest.importorskip("torch")
    program = PACKED[name] + "z.sum().backward()\n"
    trace, space = run(program)
    theirs = run(program, library=torch)["x"].grad
    assert space["x"].grad.tolist() == pytest.approx(theirs.tolist(), rel=1e-5)  # float32, through 8 bits
    again = replay(trace)
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
    fresh, _ = run(program, "[-1.0, 0.5]")
    edited = replay(trace, Edits(leaves={0: [-1.0, 0.5]}))
    assert edited.meta["doubt"] is None and arrived(edited) == arrived(fresh)


def test_packed_tensor_that_was_never_unpacked_raises_a_doubt() -> None:
    trace, _ = run(PACKED["rounded"] + "s, t = z.sum(), y.sum()\nt.backward()\n")
    (command,) = commands(trace)
    root = next(e.inputs[0].tensor for e in trace.events if isinstance(e, OpCalled) and e.name == "sum")
    assert root is not None
    more = Command("new", "backward", command.after, None, (root,), [1.0, 1.0])
    again = replay(trace, Edits(commands=(more,)))
    assert again.meta["why"] == doubts.NOT_UNPACKED


def test_what_went_to_numpy_on_its_way_is_that_of_then_and_doubted() -> None:
    program = """
def pack(t):
    return t.detach().numpy().round()
with torch.autograd.graph.saved_tensors_hooks(pack, torch.from_numpy):
    z = y * y
z.sum().backward()
"""
    trace, _ = run(program)
    assert replay(trace).meta["doubt"] is None
    assert replay(trace, Edits(leaves={0: [-1.0, 0.5]})).meta["why"] == doubts.ESCAPED


def test_gradcheck_leaves_the_gradient_of_an_inner_tensor_alone() -> None:
    torch = pytest.importorskip("torch")
    for library in (engine, torch):
        x = library.tensor(1.0, dtype=library.float64, requires_grad=True).clone()
        assert library.autograd.gradcheck(library.exp, x) and library.autograd.gradgradcheck(library.exp, x)
        with pytest.warns(UserWarning, match="is not a leaf Tensor"):
            assert x.grad is None
