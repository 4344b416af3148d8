"""The assumptions of the engine's fast paths that the type checker does not see."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.arrays.session import slot
from engine.tensor.grad_mode import mode
from tests.batches import batches
from tests.engine.helpers import call, leaves
from tests.samples import SAMPLES, Sample

ENGINE = Path(engine.__file__).parent


# -- mode.enabled is set by mode.turn alone, which counts the threads in which it is off: ops ask the count first ------


def writes_of_enabled(path: Path) -> Iterator[str]:
    """Assignments to `….enabled` where `…` is the mode (or `self` in its own file)."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for target in ast.walk(node):
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.ctx, ast.Store)
                    and target.attr == "enabled"
                    and isinstance(target.value, ast.Name)
                    and target.value.id in (("mode", "self") if path.name == "grad_mode.py" else ("mode",))
                ):
                    yield f"{path.name}:{node.lineno}"


def test_mode_is_turned_in_one_place() -> None:
    found = [place for path in ENGINE.rglob("*.py") for place in writes_of_enabled(path)]
    assert len(found) == 1
    assert found[0].startswith("grad_mode.py:")


def in_no_grad() -> None:
    with engine.no_grad():
        assert (slot.off, mode.enabled) == (1, False)
        with engine.no_grad(), engine.enable_grad():
            assert (slot.off, mode.enabled) == (0, True)
        assert slot.off == 1


def in_inference_mode() -> None:
    with engine.inference_mode():
        assert slot.off == 1


def after_an_error() -> None:
    y = engine.ones(2, requires_grad=True) * 2
    y.register_hook(lambda grad: 1 / 0)
    root = y.sum()
    with pytest.raises(ZeroDivisionError), engine.no_grad():
        root.backward()


def with_the_switch() -> None:
    engine.set_grad_enabled(False)
    assert slot.off == 1
    engine.set_grad_enabled(False)
    assert slot.off == 1, "who is off already is not counted twice"
    engine.set_grad_enabled(True)


def in_another_thread() -> None:
    def off() -> None:
        with engine.no_grad():
            counted.append(slot.off)

    counted: list[int] = []
    other = threading.Thread(target=off)
    with engine.no_grad():
        other.start()
        other.join()
    assert counted == [2]


def in_a_double_backward() -> None:
    x = engine.ones(2, requires_grad=True)
    (first,) = engine.autograd.grad((x * x * x).sum(), x, create_graph=True)
    first.sum().backward()


@pytest.mark.parametrize(
    "run", [in_no_grad, in_inference_mode, after_an_error, with_the_switch, in_another_thread, in_a_double_backward]
)
def test_count_of_threads_that_record_nothing_comes_back_to_none(
    run: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot, "off", 0)  # a thread of another test that ended with its mode off is still counted
    assert (slot.off, mode.enabled) == (0, True)
    run()
    assert (slot.off, mode.enabled) == (0, True)


# -- a tensor without a storage object is a whole tensor, and the first output of its node: ops look no further --------


def tensors_in(made: Any) -> list[engine.Tensor]:
    if isinstance(made, engine.Tensor):
        return [made]
    return [one for part in made for one in tensors_in(part)] if isinstance(made, list | tuple) else []


def plain_but_special(made: Any) -> list[tuple[int, Any]]:
    """The tensors that look whole and first, and are a view or a later output."""
    return [(t._nr, t._view) for t in tensors_in(made) if t._shared is None and (t._nr or t._view is not None)]


@batches("sample", SAMPLES, lambda sample: sample.name)
def test_views_and_later_outputs_have_a_storage_object(sample: Sample) -> None:
    given = leaves(sample)
    assert plain_but_special(call(sample, given)) == []
    with engine.no_grad():
        assert plain_but_special(call(sample, given)) == []


class Halves(engine.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x / 2, x - x / 2, x.view(-1)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]


MADE: dict[str, Callable[[engine.Tensor], Any]] = {
    "chunk": lambda x: x.chunk(2),
    "unbind": list,
    "a view of a view": lambda x: x.view(6)[1:].view(5, 1),
    "view of what was written": lambda x: x.t_().mul_(2)[0],
    "max along a dimension": lambda x: tuple(x.max(dim=1)),
    "sort": lambda x: tuple(x.sort()),
    "custom": Halves.apply,
    "a part of a custom function's": lambda x: [part[0] for part in Halves.apply(x)],
}


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("name", MADE)
def test_later_outputs_and_views_that_are_made_have_a_storage_object(name: str, grad: bool) -> None:
    x = engine.arange(6.0).reshape(2, 3).clone()
    given = x.requires_grad_().clone() if grad else x
    made = tensors_in(MADE[name](given))
    assert made
    assert plain_but_special(made) == []
    assert [t for t in made if t._view is not None and t._storage is not t._view.base._storage] == []
