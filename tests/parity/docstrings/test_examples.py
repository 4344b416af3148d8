"""Every public name has an example in its text, which prints what it says, here and in torch."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from tests.batches import batches

PLACES = (
    "engine", "engine.accelerator", "engine.amp", "engine.autograd", "engine.autograd.forward_ad",
    "engine.autograd.functional", "engine.autograd.graph", "engine.cuda", "engine.cuda.amp", "engine.distributions",
    "engine.func", "engine.linalg", "engine.nn", "engine.nn.functional", "engine.nn.init", "engine.nn.parameter",
    "engine.nn.utils", "engine.nn.utils.rnn", "engine.optim", "engine.optim.lr_scheduler", "engine.random",
    "engine.special", "engine.utils.checkpoint", "engine.utils.data", "engine.nn.utils.parametrizations",
    "engine.nn.utils.parametrize", "engine.optim.swa_utils", "engine.distributions.constraints",
    "engine.distributions.constraint_registry",
    "engine.nn.grad", "engine.nn.utils.prune",
)  # fmt: skip
"""The modules that a user of torch imports from."""

WITHOUT_ALL = {
    "engine.autograd.forward_ad": (
        "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual",
    ),
    "engine.autograd.functional": ("hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"),
    "engine.autograd.graph": (
        "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
        "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
    ),
}  # fmt: skip
"""Modules that do not say what is public, and what torch has there."""

WITHOUT = {
    "complex": "raises OutOfScope", "polar": "raises OutOfScope", "view_as_complex": "raises OutOfScope",
    "view_as_real": "raises OutOfScope", "current_device": "needs a GPU", "get_device_name": "needs a GPU",
    "synchronize": "needs a GPU", "torch.cuda.amp.autocast": "needs a GPU",
    "CheckpointFunction": "made by checkpoint alone",
}  # fmt: skip
OURS = {
    "Trace": "torch records nothing", "record": "torch records nothing", "replay": "torch records nothing",
    "legacy_broadcasting": "PyTorch 0.3 did so",
    "compile": "torch's compiler switches the checks of distributions off as it is imported, for the whole process",
}  # fmt: skip
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public() -> Iterator[tuple[str, Any]]:
    """(name as in torch, what it is), each function and class once."""
    seen = set()
    for place in PLACES:
        module = importlib.import_module(place)
        for name in WITHOUT_ALL.get(place) or getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if (inspect.isfunction(thing) or inspect.isclass(thing)) and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{place}.{name}".replace("engine", "torch", 1), thing


PUBLIC = dict(public())


def text_of(thing: Any) -> str:
    """Its own text: a class does not inherit that of its base."""
    return (vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""


def failures(name: str, text: str, names: dict[str, Any]) -> str:
    """The examples of a text whose output differs from the text."""
    said: list[str] = []
    example = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.append)
    return "".join(said)


def test_every_public_name_has_an_example() -> None:
    without = {name for name in PUBLIC if ">>>" not in text_of(PUBLIC[name])}
    assert without == {name for name in PUBLIC if name in WITHOUT or name.rpartition(".")[2] in WITHOUT}


def test_attributes_of_tensors_say_what_they_are() -> None:
    named = [name for name in dir(engine.Tensor) if not name.startswith("_")]
    assert [name for name in named if not inspect.getattr_static(engine.Tensor, name).__doc__] == []


@pytest.mark.filterwarnings("ignore")
@batches("name", [name for name in PUBLIC if ">>>" in text_of(PUBLIC[name])])
def test_example_prints_what_it_says(name: str) -> None:
    scope = dict(vars(inspect.getmodule(PUBLIC[name]) or engine))
    assert not failures(name, text_of(PUBLIC[name]), scope)


@pytest.mark.filterwarnings("ignore")  # torch warns of what it means to take away
@batches("name", [name for name in PUBLIC if ">>>" in text_of(PUBLIC[name]) and name.rpartition(".")[2] not in OURS])
def test_example_prints_the_same_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    place, _, last = name.rpartition(".")
    module = importlib.import_module(place)
    scope = {last: getattr(module, last)} if place == "torch" else dict(vars(module))  # torch hides `float` and `range`
    text = re.sub(r"\bengine as torch\b", "torch", text_of(PUBLIC[name]))
    assert not failures(name, text, scope | {"torch": torch})
