"""`x.data = y`: torch's aliases, versions and gradients; what a replay makes of it, and of conversions."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import engine
from engine.replay.program import Edits
from engine.replay.replay import replay
from engine.trace.events import DataSet, Trace, VjpRun
from tests.parity.helpers.recordings import arrived

HEAD = "x = torch.tensor({values}, requires_grad=True)\n"
ROWS = {
    "aliases of the old memory stay": (
        "a = x.detach(); v = a[:1]; a.data = torch.tensor([5.0, 6.0])", "a, v, x, a._version, v._version, x._version",
    ),
    "the new memory is shared": (
        "a = x.detach() * 2; b = x.detach() * 3; a.data = b; b[0] = 9; before = a.clone(); a[1] = 7",
        "before, a, b, a._version, b._version, a.data_ptr() == b.data_ptr()",
    ),
    "versions are their own": (
        "a = x.detach(); a.add_(1).add_(1); b = a * 2; b.mul_(2); a.data = b", "a._version, b._version",
    ),
    "what .data gave before is left alone": ("d = x.data; x.data = torch.tensor([3.0, 4.0]); d[0] = 9", "x, d"),
    "an update through .data": ("x.data -= 0.5; e = x.data; e.mul_(2)", "x, x._version, e._version"),
    "an update written out": ("x.data = x.data - 0.5 * x.data", "x, x._version"),
    "of a view": (
        "a = x.detach().clone(); v = a[1:]; v.data = torch.tensor([8.0]); v[0] = 5", "a, v, v._version, a._version",
    ),
    "a view with history": ("y = x * 1; v = y[1:]; v.data = torch.tensor([8.0])", "y, v, v.grad_fn.name()"),
    "a saved tensor": ("z = x * x; x.data = torch.tensor([5.0, 6.0]); z.sum().backward()", "x.grad"),
    "a view taken before": ("a = x.view(2); x.data = torch.tensor([5.0, 6.0]); (a * a).sum().backward()", "a, x.grad"),
    "another shape": ("x.data = torch.cat([x.data, x.data]); (x * x).sum().backward()", "x.grad, x.shape"),
    "another dtype": ("x.data = x.data.double(); (x * x).sum().backward()", "x.grad, x.dtype"),
    "twice": ("a = x.detach() * 1; b = a * 2; x.data = a; x.data = b; a[0] = 77", "x, a, b"),
    "in a chain": ("a = x.detach() * 1; b = a * 2; a.data = b; c = a * 5; c.data = a; b[0] = 3", "a, b, c"),
}  # fmt: skip


def ran(library: Any, program: str, values: str = "[1.0, 2.0]") -> dict[str, Any]:
    space: dict[str, Any] = {"torch": library}
    exec(compile(HEAD.format(values=values) + program, "<program>", "exec"), space)
    return space


def value(asked: str, space: dict[str, Any]) -> Any:
    return eval(asked, space)  # noqa: S307 (of the table above)


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return (str(value.dtype), value.tolist()) if hasattr(value, "data_ptr") else str(value)


def recorded(program: str, values: str = "[1.0, 2.0]") -> Trace:
    with engine.record() as trace:
        ran(engine, program + "\n(x * 1).sum()", values)
    return trace


@pytest.mark.parametrize("name", ROWS)
def test_data_set_does_as_in_torch_and_a_replay_as_a_fresh_run(name: str) -> None:
    torch = pytest.importorskip("torch")
    program, asked = ROWS[name]
    found = [plain(value(asked, ran(library, program))) for library in (engine, torch)]
    assert found[0] == found[1]
    trace = recorded(program)
    assert list(replay(trace).events) == list(trace.events)
    again, fresh = replay(trace, Edits(leaves={0: [-3.0, 0.5]})), recorded(program, "[-3.0, 0.5]")
    assert again.meta["doubt"] is None and list(again.events) == list(fresh.events)
    assert [v.sample.tolist() for v in again.values] == [v.sample.tolist() for v in fresh.values]


CONVERSIONS = ["double()", "to(torch.float64)", "half().float()", "type(torch.float64)", "to('cpu', torch.float64)"]


@pytest.mark.parametrize("how", CONVERSIONS)
@pytest.mark.parametrize(
    "kind", ["Linear(2, 2)", "BatchNorm1d(2)", "Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())"]
)
def test_conversion_of_a_module_is_done_again_in_a_replay(kind: str, how: str) -> None:
    program = f"""
torch.manual_seed(0)
model = torch.nn.{kind}
w = torch.stack([x.detach(), x.detach() * 2])
model(w).sum().backward()
model.{how}
p = next(model.parameters())
out = model(w.to(p.dtype) * 3).pow(2).sum()
out.backward()
"""
    torch = pytest.importorskip("torch")
    asked = "p.dtype, p.grad.dtype, p.is_leaf, p._version, [b.dtype for b in model.buffers()]"
    found = [str(value(asked, ran(library, program))) for library in (engine, torch)]
    assert found[0] == found[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = recorded(program)
        again = replay(trace)
    assert any(isinstance(e, DataSet) for e in trace.events)
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
    fresh = recorded(program, "[-3.0, 0.5]")
    edited = replay(trace, Edits(leaves={0: [-3.0, 0.5]}))
    assert arrived(edited) == arrived(fresh) and len([e for e in fresh.events if isinstance(e, VjpRun)])
