"""Optimisers: trajectories, states and errors are torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.parity.helpers.saying import said

torch = pytest.importorskip("torch")

STEPS = 20
WHERE = np.random.default_rng(3)
STARTS = [WHERE.standard_normal((4, 3)), WHERE.standard_normal(3), WHERE.standard_normal(())]
BATCHES = WHERE.standard_normal((STEPS, 5, 4))

OPTIMISERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda o, p: o.SGD(p, lr=0.1),
    "SGD default": lambda o, p: o.SGD(p),
    "SGD momentum": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9),
    "SGD dampening": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.3),
    "SGD nesterov": lambda o, p: o.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.01),
    "SGD decay": lambda o, p: o.SGD(p, lr=0.1, weight_decay=0.1),
    "SGD maximize": lambda o, p: o.SGD(p, lr=0.001, momentum=0.5, maximize=True),
    "Adam": lambda o, p: o.Adam(p, lr=0.1),
    "Adam default": lambda o, p: o.Adam(p),
    "Adam options": lambda o, p: o.Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    "Adam amsgrad": lambda o, p: o.Adam(p, lr=0.1, amsgrad=True),
    "Adam half forgotten": lambda o, p: o.Adam(p, lr=0.1, betas=(0.3, 0.4)),
    "Adam maximize": lambda o, p: o.Adam(p, lr=0.01, maximize=True),
    "Adam decoupled": lambda o, p: o.Adam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    "AdamW": lambda o, p: o.AdamW(p, lr=0.1),
    "AdamW options": lambda o, p: o.AdamW(p, lr=0.1, weight_decay=0.3, amsgrad=True),
    "Adamax": lambda o, p: o.Adamax(p, lr=0.1),
    "Adamax decay": lambda o, p: o.Adamax(p, weight_decay=0.1),
    "NAdam": lambda o, p: o.NAdam(p, lr=0.1),
    "NAdam decay": lambda o, p: o.NAdam(p, weight_decay=0.1, momentum_decay=0.01),
    "NAdam decoupled": lambda o, p: o.NAdam(p, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda o, p: o.RAdam(p, lr=0.1),
    "RAdam decay": lambda o, p: o.RAdam(p, lr=0.1, betas=(0.8, 0.9), weight_decay=0.1),
    "RAdam decoupled": lambda o, p: o.RAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    "RMSprop": lambda o, p: o.RMSprop(p, lr=0.1),
    "RMSprop centered": lambda o, p: o.RMSprop(p, lr=0.1, centered=True, weight_decay=0.1),
    "RMSprop momentum": lambda o, p: o.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
    "Adagrad": lambda o, p: o.Adagrad(p, lr=0.1),
    "Adagrad options": lambda o, p: o.Adagrad(p, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5),
    "ASGD": lambda o, p: o.ASGD(p, lr=0.1),
    "ASGD mean": lambda o, p: o.ASGD(p, lr=0.1, lambd=0.01, t0=5, weight_decay=0.1),
    "Rprop": lambda o, p: o.Rprop(p),
    "Rprop options": lambda o, p: o.Rprop(p, lr=0.1, etas=(0.4, 1.5), step_sizes=(0.01, 0.3), maximize=True),
    "Adadelta": lambda o, p: o.Adadelta(p),
    "Adadelta options": lambda o, p: o.Adadelta(p, lr=0.5, rho=0.7, weight_decay=0.1),
}


def parameters(t: Any) -> list[Any]:
    return [t.tensor(start.tolist(), dtype=t.float64, requires_grad=True) for start in STARTS]


def loss(t: Any, p: list[Any], step: int) -> Any:
    x = t.tensor(BATCHES[step].tolist(), dtype=t.float64)
    return ((x @ p[0] + p[1]).tanh() * p[2]).pow(2).sum() + p[2] * 0.1


def trajectory(t: Any, make: Callable[[Any, Any], Any]) -> tuple[list[Any], Any, list[float]]:
    p = parameters(t)
    optimizer = make(t.optim, p)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        now = loss(t, p, step)
        now.backward()
        if step == 3:
            p[1].grad = None  # a parameter without a gradient is left alone
        assert optimizer.step() is None
        losses.append(now.item())
    return p, optimizer, losses


def numbers(value: Any) -> Any:
    """A state with tensors as (dtype, numbers)."""
    if isinstance(value, dict):
        return {key: numbers(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [numbers(inner) for inner in value]
    return (str(value.dtype), value.tolist()) if hasattr(value, "tolist") else value


def assert_close(mine: Any, theirs: Any) -> None:
    if isinstance(mine, dict):
        assert list(mine) == list(theirs)
        for key in mine:
            assert_close(mine[key], theirs[key])
    elif isinstance(mine, (list, tuple)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert_close(a, b)
    elif isinstance(mine, float):
        assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-13)
    else:
        assert mine == theirs


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimiser_goes_torchs_way(name: str) -> None:
    mine, ours, losses = trajectory(engine, OPTIMISERS[name])
    theirs, other, expected = trajectory(torch, OPTIMISERS[name])
    np.testing.assert_allclose(losses, expected, rtol=1e-12)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-14)
    assert_close(numbers(ours.state_dict()), numbers(other.state_dict()))
    assert repr(ours) == repr(other)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimiser_goes_on_from_a_saved_state(name: str) -> None:
    straight, _, _ = trajectory(engine, OPTIMISERS[name])
    p = parameters(engine)
    optimizer = OPTIMISERS[name](engine.optim, p)
    for step in range(STEPS):
        if step == 10:
            kept = optimizer.state_dict()
            optimizer = OPTIMISERS[name](engine.optim, p)
            optimizer.load_state_dict(kept)
        optimizer.zero_grad()
        loss(engine, p, step).backward()
        if step == 3:
            p[1].grad = None
        optimizer.step()
    for a, b in zip(p, straight, strict=True):
        # a loaded float32 factor (`mu_product`, `eta`) gets the parameter's dtype, as in torch, and is more precise
        tolerance = 1e-6 if name.startswith(("NAdam", "ASGD")) else 0
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance)


def test_state_of_torchs_optimiser_is_taken_over() -> None:
    theirs, other, _ = trajectory(torch, OPTIMISERS["Adam amsgrad"])
    state = other.state_dict()
    given = {
        "state": {k: {n: engine.from_numpy(v.numpy().copy()) for n, v in s.items()} for k, s in state["state"].items()},
        "param_groups": state["param_groups"],
    }
    p = [engine.from_numpy(t.detach().numpy().copy()).requires_grad_() for t in theirs]
    optimizer = engine.optim.Adam(p, lr=0.1, amsgrad=True)
    optimizer.load_state_dict(given)
    for t, params, o in ((engine, p, optimizer), (torch, theirs, other)):
        o.zero_grad()
        loss(t, params, 0).backward()
        o.step()
    for a, b in zip(p, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12)


def groups(t: Any) -> Any:
    """Groups with options of their own, one added later."""
    p = parameters(t)
    optimizer = t.optim.SGD([{"params": p[0], "lr": 0.5}, {"params": [p[1]], "momentum": 0.9}], lr=0.1)
    for step in range(6):
        if step == 3:
            optimizer.add_param_group({"params": [p[2]], "weight_decay": 0.2})
        optimizer.zero_grad()
        loss(t, p, step).backward()
        optimizer.step()
    return numbers(p), numbers(optimizer.state_dict())


def closures(t: Any) -> Any:
    """A closure runs with gradients, and its loss is what the step returns."""
    p = parameters(t)
    optimizer = t.optim.SGD(p, lr=0.01)

    def closure() -> Any:
        optimizer.zero_grad()
        now = loss(t, p, 0)
        now.backward()
        return now

    with t.no_grad():
        return [optimizer.step(closure).item() for _ in range(3)]


def step_hooks(t: Any) -> Any:
    log: list[str] = []
    p = parameters(t)
    optimizer = t.optim.SGD(p, lr=0.01)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(f"before {type(o).__name__} {kwargs}"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(f"after {type(o).__name__}"))
    optimizer.step()
    handle.remove()
    optimizer.step(closure=None)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: log.append(sorted(state)))
    optimizer.load_state_dict(optimizer.state_dict())
    return log, sorted(optimizer.state_dict())


def of_the_users_own(t: Any) -> Any:
    """A subclass of the user's with a step of its own."""

    class Plain(t.optim.Optimizer):  # type: ignore[misc]  # the base is of either library
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        def step(self) -> None:
            with t.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                        p -= group["lr"] * p.grad

    p = parameters(t)
    optimizer = Plain(p, lr=0.1)
    optimizer.register_step_post_hook(lambda *_: None)
    for step in range(3):
        optimizer.zero_grad()
        loss(t, p, step).backward()
        optimizer.step()
    return numbers(p), numbers(optimizer.state_dict())


def named(t: Any) -> Any:
    p = parameters(t)
    optimizer = t.optim.SGD([("a", p[0]), ("b", p[1])], lr=0.1)
    return optimizer.state_dict()["param_groups"]


def learning_rate_as_tensor(t: Any) -> Any:
    p = parameters(t)
    optimizer = t.optim.SGD(p, lr=t.tensor(0.125))
    loss(t, p, 0).backward()
    optimizer.step()
    return numbers(p)


def lbfgs(t: Any, **options: Any) -> Any:
    """A curve of several steps per call, and what is kept."""
    p = parameters(t)
    optimizer = t.optim.LBFGS(p, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        now = loss(t, p, 0) + sum((q - 1).pow(4).sum() for q in p)
        now.backward()
        return now

    losses = [optimizer.step(closure).item() for _ in range(6)]
    state = optimizer.state_dict()["state"][0]
    return losses, [q.tolist() for q in p], [state["func_evals"], state["n_iter"]]


@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.1}, {"lr": 0.5, "max_iter": 5, "history_size": 3}, {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "max_iter": 3, "lr": 5.0}, {"lr": 0.1, "tolerance_grad": 1.0},
    ],
)  # fmt: skip
def test_lbfgs_goes_torchs_way(options: dict[str, Any]) -> None:
    mine, theirs = lbfgs(engine, **options), lbfgs(torch, **options)
    np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-7)
    for a, b in zip(mine[1], theirs[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    assert mine[2] == theirs[2]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_differentiable_step_lets_gradients_through(name: str) -> None:
    """The gradient of what a step made, with respect to where it began and to the gradient that it took."""

    def step(t: Any) -> list[Any]:
        start = t.tensor([1.0, -2.0], dtype=t.float64, requires_grad=True)
        slope = t.tensor([0.3, 0.4], dtype=t.float64, requires_grad=True)
        param = start.clone()
        optimizer = getattr(t.optim, name)([param], lr=0.1, weight_decay=0.1, differentiable=True)
        param.grad = slope * 2
        optimizer.step()
        param.pow(3).sum().backward()
        return [start.grad.tolist(), slope.grad.tolist(), param.tolist()]

    # torch counts the steps of Adam in float32 here
    np.testing.assert_allclose(step(engine), step(torch), rtol=1e-4 if name.startswith("Adam") else 1e-12)


SEVERAL = [
    ("Adam", {"eps": 0.1}),
    ("Adam", {"eps": 0.1, "amsgrad": True}),
    ("AdamW", {"eps": 0.1}),
    ("AdamW", {"eps": 0.1, "amsgrad": True, "maximize": True}),
    ("Adamax", {"eps": 0.1}),
    ("Adamax", {"eps": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"eps": 0.1}),
    ("NAdam", {"eps": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"eps": 0.1}),
    ("Rprop", {}),
    ("Adadelta", {"eps": 0.1}),
    ("ASGD", {}),
]


@pytest.mark.parametrize("factors", [(1.0,), (1.0, -2.0, 0.5)], ids=["one", "three"])
@pytest.mark.parametrize(("name", "options"), SEVERAL, ids=str)
def test_differentiable_steps_let_gradients_through_where_torchs_do(
    name: str, options: dict[str, Any], factors: tuple[float, ...]
) -> None:
    """What a step saved and the next one writes again is refused as torch refuses it (the largest, step sizes)."""

    def steps(t: Any) -> list[Any]:
        start = t.tensor([1.0, -2.0, 0.5], dtype=t.float64, requires_grad=True)
        slope = t.tensor([0.3, 0.4, -0.7], dtype=t.float64, requires_grad=True)
        param = start.clone()
        param.retain_grad()
        optimizer = getattr(t.optim, name)([param], lr=0.1, differentiable=True, **options)
        for factor in factors:
            param.grad = slope * slope * factor
            optimizer.step()
        try:
            param.pow(3).sum().backward()
        except RuntimeError as error:
            return [str(error).partition(":")[0]]
        return [start.grad.tolist(), slope.grad.tolist(), param.tolist()]

    ours, theirs = steps(engine), steps(torch)
    if len(theirs) == 1 or len(ours) == 1:
        assert ours == theirs
    else:  # torch counts the steps of some in float32 here
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("action", [groups, closures, step_hooks, of_the_users_own, named, learning_rate_as_tensor])
def test_optimiser_is_used_as_torchs(action: Callable[[Any], Any]) -> None:
    assert_close(action(engine), action(torch))


REFUSED: dict[str, Callable[[Any], Any]] = {
    "no parameters": lambda t: t.optim.SGD([], lr=0.1),
    "a tensor": lambda t: t.optim.SGD(t.zeros(1), lr=0.1),
    "numbers": lambda t: t.optim.Adam([1.0]),
    "a set": lambda t: t.optim.Adam([{"params": {t.zeros(1)}}]),
    "a result": lambda t: t.optim.Adam([t.ones(1, requires_grad=True) * 2]),
    "twice in groups": lambda t: (lambda p: t.optim.Adam([{"params": [p]}, {"params": [p]}]))(t.zeros(1)),
    "twice in a group": lambda t: (lambda p: t.optim.Adam([p, p]))(t.zeros(1)) and None,
    "some named": lambda t: t.optim.Adam([("a", t.zeros(1)), t.zeros(1)]),
    "a group without names": lambda t: t.optim.Adam([("a", t.zeros(1))]).add_param_group({"params": t.zeros(1)}),
    "a group of no kind": lambda t: t.optim.Adam([t.zeros(1)]).add_param_group([t.zeros(1)]),
    "negative lr": lambda t: t.optim.SGD([t.zeros(1)], lr=-1),
    "negative momentum": lambda t: t.optim.SGD([t.zeros(1)], momentum=-1),
    "negative decay": lambda t: t.optim.SGD([t.zeros(1)], weight_decay=-1),
    "nesterov alone": lambda t: t.optim.SGD([t.zeros(1)], nesterov=True),
    "lr of two": lambda t: t.optim.SGD([t.zeros(1)], lr=t.zeros(2)),
    "Adam lr": lambda t: t.optim.Adam([t.zeros(1)], lr=-0.1),
    "Adam eps": lambda t: t.optim.Adam([t.zeros(1)], eps=-1),
    "Adam beta": lambda t: t.optim.Adam([t.zeros(1)], betas=(1.0, 0.9)),
    "Adam second beta": lambda t: t.optim.AdamW([t.zeros(1)], betas=(0.9, 1.5)),
    "Adam decay": lambda t: t.optim.Adam([t.zeros(1)], weight_decay=-1),
    "Adam betas of two kinds": lambda t: t.optim.Adam([t.zeros(1)], betas=(0.9, t.tensor(0.9))),
    "RMSprop alpha": lambda t: t.optim.RMSprop([t.zeros(1)], alpha=-1),
    "RMSprop momentum": lambda t: t.optim.RMSprop([t.zeros(1)], momentum=-1),
    "Adagrad lr decay": lambda t: t.optim.Adagrad([t.zeros(1)], lr_decay=-1),
    "Adagrad start": lambda t: t.optim.Adagrad([t.zeros(1)], initial_accumulator_value=-1),
    "Adadelta rho": lambda t: t.optim.Adadelta([t.zeros(1)], rho=1.5),
    "Adamax beta": lambda t: t.optim.Adamax([t.zeros(1)], betas=(0.9, 1.0)),
    "NAdam momentum decay": lambda t: t.optim.NAdam([t.zeros(1)], momentum_decay=-1),
    "Rprop etas": lambda t: t.optim.Rprop([t.zeros(1)], etas=(1.5, 1.2)),
    "fused and foreach": lambda t: t.optim.Adam([t.zeros(1)], foreach=True, fused=True),
    "LBFGS groups": lambda t: t.optim.LBFGS([{"params": [t.zeros(1)]}, {"params": [t.zeros(2)]}]),
    "LBFGS of a second group": lambda t: (lambda o: (o.add_param_group({"params": t.zeros(2)}), o.step(lambda: 1)))(
        t.optim.LBFGS([t.zeros(1)])
    ),
    "LBFGS search": lambda t: lbfgs(t, line_search_fn="golden"),
    "no rate": lambda t: t.optim.Optimizer([t.zeros(1)], {"lr": 1}).step(),
    "another number of groups": lambda t: t.optim.SGD([t.zeros(1)]).load_state_dict({"state": {}, "param_groups": []}),
    "another size of a group": lambda t: t.optim.SGD([t.zeros(1)]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_optimiser_refuses_as_torch_does(name: str) -> None:
    assert said(engine, REFUSED[name]) == said(torch, REFUSED[name])
