"""Hooks of modules: the same code with torch and with the engine gives the same answers, errors included."""

# Classes are made of whichever library is given.
# mypy: disable-error-code="name-defined, misc, func-returns-value, index"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import engine
from tests.parity.helpers.saying import said
from tests.parity.nn.test_module import net, torch


def hooks(t: Any) -> list[Any]:
    """The order and the arguments of forward hooks."""
    log: list[Any] = []
    module = t.nn.Sequential(t.nn.Identity(), t.nn.Identity())

    def note(name: str, answer: Any = None) -> Callable[..., Any]:
        def hook(*args: Any) -> Any:
            log.append((name, [a.tolist() if hasattr(a, "tolist") else type(a).__name__ for a in args[1:]]))
            return answer

        return hook

    module.register_forward_pre_hook(note("pre"))
    module.register_forward_pre_hook(note("pre first", (t.tensor([2.0]),)), prepend=True)
    module.register_forward_pre_hook(note("pre named"), with_kwargs=True)
    handle = module[0].register_forward_hook(note("inner"))
    module.register_forward_hook(note("after", t.tensor([5.0])))
    module.register_forward_hook(note("after named"), with_kwargs=True)
    module.register_forward_hook(note("always"), always_call=True)
    log.append(module(t.tensor([1.0])).tolist())
    handle.remove()
    with module[1].register_forward_hook(note("within")):
        module(input=t.tensor([3.0]))
    module(t.tensor([4.0]))
    return log


def failing_hooks(t: Any) -> Any:
    """Hooks that run though the forward raised."""
    log: list[str] = []
    module = t.nn.Sequential(t.nn.Identity())
    module.register_forward_hook(lambda *_: log.append("not always"))
    module.register_forward_hook(lambda *_: log.append("always"), always_call=True)
    module.register_forward_hook(lambda *_: 1 // 0, always_call=True)
    module[0].forward = lambda x: {}["missing"]
    try:
        module(t.zeros(1))
    except KeyError:
        log.append("raised")
    return log


def wrong_pre_hook(t: Any) -> Any:
    module = t.nn.Identity()
    module.register_forward_pre_hook(lambda *_: 1, with_kwargs=True)
    return module(t.zeros(1))


def state_hooks(t: Any) -> Any:
    log: list[Any] = []
    module = net(t)
    module.register_state_dict_pre_hook(lambda m, prefix, keep: log.append((prefix, keep)))
    module.inner.register_state_dict_post_hook(
        lambda m, state, prefix, local: state.update({f"{prefix}more": t.ones(1)})
    )
    state = module.state_dict()
    module.inner.register_load_state_dict_pre_hook(lambda m, state, prefix, *_: state.pop(f"{prefix}more"))
    module.register_load_state_dict_post_hook(lambda m, keys: keys.unexpected_keys.clear())
    return log, list(state), repr(module.load_state_dict(state))


def global_hooks(t: Any) -> Any:
    log: list[str] = []
    register = t.nn.modules.module
    with (
        register.register_module_forward_pre_hook(lambda m, args: log.append(f"pre {type(m).__name__}")),
        register.register_module_forward_hook(lambda m, args, out: log.append(f"after {type(m).__name__}")),
    ):
        t.nn.Sequential(t.nn.Identity())(t.zeros(1))
    t.nn.Identity()(t.zeros(1))
    return log


@pytest.mark.parametrize("action", [hooks, failing_hooks, wrong_pre_hook, state_hooks, global_hooks])
def test_hooks_run_as_torchs_do(action: Callable[[Any], Any]) -> None:
    assert said(engine, action) == said(torch, action)


def listed(grads: Any) -> Any:
    return [None if g is None else g.tolist() for g in grads]


class Two:
    """A module of two inputs and two outputs, made of either library."""

    def __new__(cls, t: Any) -> Any:
        class Pair(t.nn.Module):
            def forward(self, x: Any, y: Any, factor: float = 2.0) -> Any:
                return x * y, y * factor

        return Pair()


def backward_hooks(t: Any) -> Any:
    """Full backward hooks and their early ones: order, arguments, names of nodes."""
    log: list[Any] = []
    module = Two(t)
    module.register_full_backward_hook(lambda m, gi, go: log.append(("after", listed(gi), listed(go))))
    module.register_full_backward_hook(lambda m, gi, go: log.append(("first", listed(gi), listed(go))), prepend=True)
    module.register_full_backward_pre_hook(lambda m, go: log.append(("before", listed(go))))
    x, y = (t.tensor(numbers, requires_grad=True) for numbers in ([1.0, 2.0], [3.0, 4.0]))
    a, b = module(x, y)
    log.append([out.grad_fn.name() if out.grad_fn is not None else None for out in (a, b)])
    (a.sum() + b.sum() * 3).backward()
    log.append(x.grad.tolist())
    return log


def changing_backward_hooks(t: Any) -> Any:
    """Hooks that return other gradients."""
    module = t.nn.Linear(2, 2)
    with t.no_grad():
        module.weight.copy_(t.tensor([[1.0, 2.0], [3.0, 4.0]]))
    module.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    module.register_full_backward_hook(lambda m, gi, go: (gi[0] + 1,))
    x = t.tensor([[1.0, 1.0]], requires_grad=True)
    module(x).sum().backward()
    return x.grad.tolist(), module.weight.grad.tolist()


def backward_hooks_without_inputs(t: Any) -> Any:
    log: list[Any] = []
    module = t.nn.Linear(2, 2)
    module.register_full_backward_hook(lambda m, gi, go: log.append((listed(gi), listed(go))))
    module(t.ones(1, 2)).sum().backward()
    return log


def too_many_gradients(t: Any) -> Any:
    module = t.nn.Identity()
    module.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    return module(t.ones(1, requires_grad=True)).sum().backward()


def too_few_gradients(t: Any) -> Any:
    module = t.nn.Identity()
    module.register_full_backward_pre_hook(lambda m, go: ())
    return module(t.ones(1, requires_grad=True)).sum().backward()


def no_tensor_out(t: Any) -> Any:
    class Other(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"x": x}

    module = Other()
    module.register_full_backward_hook(lambda m, gi, go: None)
    return module(t.ones(1, requires_grad=True))["x"].shape == (1,)


def backward_hooks_of_all(t: Any) -> Any:
    log: list[str] = []
    register = t.nn.modules.module
    with (
        register.register_module_full_backward_hook(lambda m, gi, go: log.append(type(m).__name__)),
        register.register_module_full_backward_pre_hook(lambda m, go: log.append(f"before {type(m).__name__}")),
    ):
        t.nn.Sequential(t.nn.Identity(), t.nn.Sigmoid())(t.ones(1, requires_grad=True)).sum().backward()
    return log


@pytest.mark.parametrize(
    "action",
    [
        backward_hooks, changing_backward_hooks, backward_hooks_without_inputs, too_many_gradients, too_few_gradients,
        no_tensor_out, backward_hooks_of_all,
    ],
)  # fmt: skip
def test_backward_hooks_run_as_torchs(action: Callable[[Any], Any]) -> None:
    def first_sentence(found: Any) -> Any:
        answer, given = found
        return answer, [text.split("<class")[0] for _, text in given]

    assert first_sentence(said(engine, action)) == first_sentence(said(torch, action))


def test_backward_hooks_without_gradient_leave_the_call_as_it_is() -> None:
    module = engine.nn.Identity()
    module.register_full_backward_hook(lambda m, gi, go: None)
    x = engine.ones(2, requires_grad=True)
    with engine.no_grad():
        assert module(x) is x
