"""Module and containers: the same code with torch and with the engine gives the same answers, errors included."""

# Classes and calls that torch refuses are made of whichever library is given.
# mypy: disable-error-code="name-defined, misc, func-returns-value, index"

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import engine
from tests.parity.helpers.saying import said

torch = pytest.importorskip("torch")


def net(t: Any) -> Any:
    """A small network with everything that a module can own."""
    nn = t.nn

    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(t.ones(2))
            self.register_buffer("seen", t.zeros(1))
            self.register_buffer("hidden", t.zeros(1), persistent=False)

        def forward(self, x: Any) -> Any:
            return x * self.scale

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 2)
            self.inner = Inner()
            self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Identity()])
            self.named = nn.ModuleDict({"a": nn.Linear(2, 1, bias=False)})
            self.tied = self.blocks[0]
            self.nothing = None
            self.register_parameter("none", None)

        def forward(self, x: Any) -> Any:
            x = self.inner(self.first(x))
            for block in self.blocks:
                x = block(x)
            return self.named["a"](x)

    return Net()


def keys(found: Any) -> list[str]:
    return [name for name, _ in found]


def assign(name: str, value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def action(t: Any) -> Any:
        module = net(t)
        setattr(module, name, value(t))
        return (
            sorted(module.__dict__),
            keys(module.named_parameters()),
            list(module._modules),
            list(module.state_dict()),
        )

    return action


def before_init(value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def action(t: Any) -> Any:
        class Late(t.nn.Module):
            def __init__(self) -> None:
                self.thing = value(t)

        return Late()

    return action


def load(change: Callable[[Any, Any], Any], **options: Any) -> Callable[[Any], Any]:
    def action(t: Any) -> Any:
        module = net(t)
        state = module.state_dict()
        found = module.load_state_dict(change(t, state) or state, **options)
        return repr(found), found.missing_keys, found.unexpected_keys

    return action


def drop(*names: str) -> Callable[[Any, Any], None]:
    def change(t: Any, state: Any) -> None:
        for name in names:
            del state[name]

    return change


def put(**values: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    def change(t: Any, state: Any) -> None:
        state.update({name.replace("__", "."): value(t) for name, value in values.items()})

    return change


SAME: dict[str, Callable[[Any], Any]] = {
    "parameters": lambda t: keys(net(t).named_parameters()),
    "parameters with duplicates": lambda t: keys(net(t).named_parameters(remove_duplicate=False)),
    "parameters of itself": lambda t: keys(net(t).named_parameters("x", recurse=False)),
    "buffers": lambda t: keys(net(t).named_buffers("top")),
    "modules": lambda t: keys(net(t).named_modules()),
    "modules with duplicates": lambda t: keys(net(t).named_modules(remove_duplicate=False)),
    "children": lambda t: keys(net(t).named_children()),
    "state": lambda t: list(net(t).state_dict()),
    "state with prefix": lambda t: list(net(t).state_dict(prefix="net.")),
    "state's versions": lambda t: list(net(t).state_dict()._metadata.items()),
    "printed": lambda t: repr(net(t)),
    "submodule": lambda t: repr(net(t).get_submodule("named.a")),
    "no submodule": lambda t: net(t).get_submodule("named.b"),
    "no module": lambda t: net(t).get_submodule("first.weight"),
    "parameter by name": lambda t: net(t).get_parameter("inner.scale").shape == (2,),
    "no parameter": lambda t: net(t).get_parameter("inner.wrong"),
    "no parameter but a buffer": lambda t: net(t).get_parameter("inner.seen"),
    "a buffer without a tensor": lambda t: str(t.nn.InstanceNorm1d(2).get_buffer("running_mean")),
    "no buffer but a parameter": lambda t: net(t).get_buffer("inner.scale"),
    "missing attribute": lambda t: net(t).wrong,
    "no forward": lambda t: t.nn.Module()(1),
    "positional argument": lambda t: t.nn.Module(1),
    "named argument": lambda t: t.nn.Module(a=1),
    "train with a number": lambda t: net(t).train(1),
    "train": lambda t: [m.training for m in net(t).eval().modules()],
    "parameter in the place of a module": assign("first", lambda t: t.nn.Parameter(t.zeros(1))),
    "module in the place of a buffer": assign("tied", lambda t: t.nn.Identity()),
    "number in the place of a module": assign("first", lambda t: 3),
    "None in the place of a module": assign("first", lambda t: None),
    "tensor beside": assign("extra", lambda t: t.zeros(1)),
    "buffer by class": assign("extra", lambda t: t.nn.Buffer(t.zeros(1))),
    "hidden buffer by class": assign("extra", lambda t: t.nn.Buffer(t.zeros(1), persistent=False)),
    "parameter before": before_init(lambda t: t.nn.Parameter(t.zeros(1))),
    "module before": before_init(lambda t: t.nn.Identity()),
    "tensor in the place of a parameter": lambda t: setattr(net(t).first, "weight", t.zeros(1)),
    "number in the place of a parameter": lambda t: setattr(net(t).first, "weight", 1),
    "number in the place of a buffer": lambda t: setattr(net(t).inner, "seen", 1),
    "buffer with a dot": lambda t: net(t).register_buffer("a.b", None),
    "buffer without a name": lambda t: net(t).register_buffer("", None),
    "buffer with a taken name": lambda t: net(t).register_buffer("first", None),
    "buffer of a number": lambda t: net(t).register_buffer("new", 1),
    "buffer named by a number": lambda t: net(t).register_buffer(1, None),
    "parameter with a dot": lambda t: net(t).register_parameter("a.b", None),
    "parameter of a tensor": lambda t: net(t).register_parameter("new", t.zeros(1)),
    "parameter of a number": lambda t: net(t).register_parameter("new", 2.0),
    "parameter with a taken name": lambda t: net(t).register_parameter("forward", None),
    "module with a dot": lambda t: net(t).add_module("a.b", t.nn.Identity()),
    "module without a name": lambda t: net(t).add_module("", t.nn.Identity()),
    "module of a number": lambda t: net(t).add_module("a", 1),
    "module with a taken name": lambda t: net(t).add_module("train", t.nn.Identity()),
    "delete": lambda t: [delattr(m := net(t), "first"), keys(m.named_children())][1],
    "delete what is not there": lambda t: delattr(net(t), "wrong"),
    "load": load(lambda t, s: None),
    "load without some": load(drop("first.weight", "inner.seen")),
    "load with others": load(put(other=lambda t: t.zeros(1), first__wrong=lambda t: t.zeros(1))),
    "load other sizes": load(put(first__weight=lambda t: t.zeros(3, 3), first__bias=lambda t: t.zeros(()))),
    "load all wrong": load(lambda t, s: {"a": t.zeros(1)}),
    "load loosely": load(lambda t, s: {"a": t.zeros(1)}, strict=False),
    "load loosely other sizes": load(put(first__weight=lambda t: t.zeros(3, 3)), strict=False),
    "load no tensor": load(put(first__weight=lambda t: 1.0)),
    "load a list": lambda t: net(t).load_state_dict([1]),
    "load by assigning": load(lambda t, s: None, assign=True),
    "to an integer dtype": lambda t: net(t).to(t.int64),
    "double": lambda t: [str(p.dtype) for p in net(t).double().state_dict().values()],
    "half": lambda t: [str(p.dtype) for p in net(t).half().parameters()],
    "to a dtype": lambda t: [str(p.dtype) for p in net(t).to("cpu", t.float64).buffers()],
    "to a tensor's": lambda t: [str(p.dtype) for p in net(t).to(t.zeros(1, dtype=t.float64)).buffers()],
    "frozen": lambda t: [p.requires_grad for p in net(t).requires_grad_(False).parameters()],
    "apply order": lambda t: applied(net(t)),
    "parameter printed": lambda t: repr(t.nn.Parameter(t.tensor([[1.0, 2.0], [3.0, 4.0]]))),
    "parameter without gradient printed": lambda t: repr(t.nn.Parameter(t.tensor([1.0]), requires_grad=False)),
    "parameter of integers": lambda t: t.nn.Parameter(t.tensor([1, 2])),
    "buffer printed": lambda t: repr(t.nn.Buffer(t.tensor([1.0]))),
    "parameter's results": lambda t: type(t.nn.Parameter(t.ones(1)) * 2).__name__,
    "parameter's version": lambda t: parameter_of(t)._version,
    "non-leaf parameter": lambda t: net(t).register_parameter("new", made_parameter(t)),
    "extra repr": lambda t: repr(t.nn.Linear(2, 3, bias=False)),
}


def applied(module: Any) -> list[str]:
    order: list[str] = []
    module.apply(lambda m: order.append(type(m).__name__))
    return order


def parameter_of(t: Any) -> Any:
    data = t.zeros(2)
    parameter = t.nn.Parameter(data)
    data.add_(1)
    return parameter


def made_parameter(t: Any) -> Any:
    return t.nn.Parameter(t.ones(1)) * 1


@pytest.mark.parametrize("name", SAME)
def test_module_answers_as_torch_does(name: str) -> None:
    mine, theirs = said(engine, SAME[name]), said(torch, SAME[name])
    assert mine == theirs


CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "sequential": lambda n: n.Sequential(n.Linear(1, 2), n.Identity()),
    "sequential of names": lambda n: n.Sequential(OrderedDict(a=n.Linear(1, 2), b=n.Identity())),
    "sequential slice": lambda n: n.Sequential(n.Linear(1, 2), n.Identity(), n.Linear(2, 1))[1:],
    "sequential item": lambda n: n.Sequential(n.Linear(1, 2), n.Identity())[-1],
    "sequential wrong item": lambda n: n.Sequential(n.Linear(1, 2))[1],
    "sequential sum": lambda n: n.Sequential(n.Identity()) + n.Sequential(n.Linear(1, 2)),
    "sequential sum of another kind": lambda n: n.Sequential(n.Identity()).__add__([1]),
    "sequential times": lambda n: 2 * n.Sequential(n.Identity(), n.Linear(1, 2)),
    "sequential times nothing": lambda n: n.Sequential(n.Identity()) * 0,
    "sequential append": lambda n: n.Sequential(n.Identity()).append(n.Linear(1, 2)),
    "sequential insert": lambda n: n.Sequential(n.Identity(), n.Identity()).insert(1, n.Linear(1, 2)),
    "sequential insert too far": lambda n: n.Sequential(n.Identity()).insert(3, n.Linear(1, 2)),
    "sequential extend": lambda n: n.Sequential(n.Identity()).extend([n.Linear(1, 2)]),
    "sequential pop": lambda n: (lambda s: [s.pop(0), s])(n.Sequential(n.Identity(), n.Linear(1, 2))),
    "sequential of no module": lambda n: n.Sequential(1),
    "sequential nested": lambda n: n.Sequential(n.Sequential(n.Linear(1, 2)), n.Sequential()),
    "list": lambda n: n.ModuleList([n.Linear(1, 2), n.Linear(1, 2), n.Identity()]),
    "list empty": lambda n: n.ModuleList(),
    "list slice": lambda n: n.ModuleList([n.Linear(1, 2), n.Identity()])[:1],
    "list sum": lambda n: n.ModuleList([n.Linear(1, 2)]).__add__([n.Identity()]),
    "list insert": lambda n: (lambda s: [s.insert(0, n.Identity()), s])(n.ModuleList([n.Linear(1, 2)])),
    "list wrong item": lambda n: n.ModuleList([n.Linear(1, 2)])[2],
    "list extend with a number": lambda n: n.ModuleList().extend(1),
    "list extend with a module": lambda n: n.ModuleList([n.Identity()]).append(n.Linear(1, 1)),
    "list delete": lambda n: (lambda s: [s.pop(0), s])(n.ModuleList([n.Linear(1, 2), n.Identity()])),
    "list called": lambda n: n.ModuleList([n.Linear(1, 2)])(1),
    "dict": lambda n: n.ModuleDict({"b": n.Linear(1, 2), "a": n.Identity()}),
    "dict of pairs": lambda n: n.ModuleDict([["b", n.Linear(1, 2)], ("a", n.Identity())]),
    "dict of numbers": lambda n: n.ModuleDict([1]),
    "dict of a number": lambda n: n.ModuleDict(1),
    "dict of triples": lambda n: n.ModuleDict([("a", "b", "c")]),
    "dict lookups": lambda n: (lambda d: [list(d), len(d), "a" in d, list(d.keys()), d.pop("a")])(
        n.ModuleDict({"a": n.Identity()})
    ),
    "dict missing": lambda n: n.ModuleDict()["a"],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_container_answers_as_torch_does(name: str) -> None:
    def action(t: Any) -> str:
        return repr(CONTAINERS[name](t.nn)).replace("torch.nn.modules", "nn").replace("engine.nn", "nn")

    mine, theirs = said(engine, action), said(torch, action)
    assert str(mine).replace("engine.nn.", "torch.nn.modules.") == str(theirs)


PARAMETERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda t: t.nn.ParameterList([t.ones(2), t.nn.Parameter(t.ones(2, 3)), "text"]),
    "list slice": lambda t: t.nn.ParameterList([t.ones(2), t.ones(1)])[1:],
    "list wrong item": lambda t: t.nn.ParameterList([t.ones(2)])[1],
    "list of a tensor": lambda t: t.nn.ParameterList(t.ones(2)),
    "list called": lambda t: t.nn.ParameterList()(1),
    "list's state": lambda t: list(t.nn.ParameterList([t.ones(2), t.ones(1)]).state_dict()),
    "list grown": lambda t: keys(
        t.nn.ParameterList([t.ones(2)]).append(t.ones(1)).extend([t.ones(3)]).named_parameters()
    ),
    "dict": lambda t: t.nn.ParameterDict({"b": t.ones(2), "a": t.ones(1, 2)}),
    "dict in order": lambda t: list(t.nn.ParameterDict(OrderedDict(b=t.ones(2), a=t.ones(1))).state_dict()),
    "dict of pairs": lambda t: list(t.nn.ParameterDict([("b", t.ones(2)), ("a", t.ones(1))])),
    "dict of a number": lambda t: t.nn.ParameterDict(1),
    "dict of numbers": lambda t: t.nn.ParameterDict([1]),
    "dict number key": lambda t: t.nn.ParameterDict()[1],
    "dict called": lambda t: t.nn.ParameterDict()(1),
    "dict union": lambda t: list(t.nn.ParameterDict({"b": t.ones(2)}) | t.nn.ParameterDict({"a": t.ones(1)})),
    "dict lookups": lambda t: [
        list(d := t.nn.ParameterDict({"a": t.ones(1)})),
        "a" in d,
        d.get("x", 3),
        d.popitem()[0],
        len(d),
    ],
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_in_containers_answer_as_torchs_do(name: str) -> None:
    mine, theirs = (said(t, lambda t: repr(PARAMETERS[name](t))) for t in (engine, torch))
    assert mine == theirs


def test_zero_grad_forgets_or_writes_zeros() -> None:
    module = net(engine)
    module(engine.ones(1, 3)).sum().backward()
    kept = module.first.weight.grad
    module.zero_grad(set_to_none=False)
    assert module.first.weight.grad is kept and kept.tolist() == [[0.0] * 3] * 2
    module.zero_grad()
    assert all(p.grad is None for p in module.parameters())


def test_deepcopy_of_a_module_shares_nothing_and_keeps_ties() -> None:
    module = net(engine)
    other = copy.deepcopy(module)
    assert other.tied is other.blocks[0]
    assert other.first.weight is not module.first.weight
    assert type(other.first.weight) is engine.nn.Parameter
    with engine.no_grad():
        other.first.weight.zero_()
    assert bool((module.first.weight != 0).all())


def test_converting_keeps_the_parameters_and_their_gradients() -> None:
    module = net(engine)
    module(engine.ones(1, 3)).sum().backward()
    weight = module.first.weight
    module.double()
    assert module.first.weight is weight
    assert weight.dtype is engine.float64 and weight.grad.dtype is engine.float64


def test_state_dict_shares_memory_with_the_module() -> None:
    module = engine.nn.Linear(2, 2)
    state = module.state_dict()
    with engine.no_grad():
        module.weight.fill_(3.0)
    assert state["weight"].tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert not state["weight"].requires_grad and module.state_dict(keep_vars=True)["weight"] is module.weight
