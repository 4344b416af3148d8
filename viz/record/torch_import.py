"""`import torch` answered with the engine, and the message if the engine lacks a name.

Used in the process that runs the user's script; knows the engine's modules, nothing of the app.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from engine.arrays.session import is_users
from engine.trace.messages import message_of
from viz.record.absent_modules import REASONS, AbsentModule, absent_module, reason

LIST = "docs/ops.md lists the available ones"
MOVED = {
    "autograd.anomaly_mode": "autograd", "nn.utils.clip_grad": "nn.utils", "nn.utils.convert_parameters": "nn.utils",
    "nn.utils.stateless": "func",
    **{f"distributions.{name}": "distributions" for name in (
        "bernoulli", "beta", "categorical", "cauchy", "dirichlet", "exponential", "gamma", "geometric", "gumbel",
        "half_cauchy", "half_normal", "laplace", "log_normal", "logistic_normal", "mixture_same_family",
        "multivariate_normal", "normal", "one_hot_categorical", "pareto", "poisson", "relaxed_bernoulli",
        "relaxed_categorical", "transformed_distribution", "uniform", "weibull",
    )},
}  # fmt: skip
"""Modules of torch whose names are in another module here."""

BY_HAND = "You can write it with tensor ops: a layer as `x @ W + b`, an update as `W -= lr * W.grad` under no_grad()."


class Finder(MetaPathFinder, Loader):
    """Answers `torch` and `torch.*` with `engine` and `engine.*`, also where torch is installed.  In the context
    `around`, `engine` is ours."""

    def __init__(self, around: Callable[[], AbstractContextManager[None]]) -> None:
        self.around = around

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Finds the engine's modules; the real torch is never looked for."""
        top, _, rest = fullname.partition(".")
        if top != "torch":
            return None
        ours = _ours(rest)
        try:
            with self.around():
                importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name is None or not ours.startswith(error.name):
                raise
            if absent_module(rest) is None:
                raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname) from None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """None: an ordinary module, which `exec_module` replaces at once."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the engine's module in its place; the import system returns what stands in sys.modules."""
        assert module.__spec__ is not None
        name = module.__spec__.name
        rest = name.partition(".")[2]
        absent = absent_module(rest)
        with self.around():
            ours = sys.modules.get(_ours(rest))
        answer: Any = AbsentModule(name, absent) if ours is None and absent is not None else ours
        sys.modules[name] = answer


def _ours(rest: str) -> str:
    """The engine's module for one of torch's, named from below torch."""
    rest = MOVED.get(rest, rest)
    return f"engine.{rest}" if rest else "engine"


def install(around: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
    """Answer from now on."""
    for name in [n for n in sys.modules if n == "torch" or n.startswith("torch.")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder(around))
    for module in (*REASONS, *MOVED):  # `torch.onnx.export(...)` needs no import of its own
        importlib.import_module(f"torch.{module}")


def explain_missing(error: BaseException, as_torch: bool) -> str | None:
    """The missing name, if a script asked torch for a name that the engine does not have; None for other errors.

    Names it, its line in the user's file, the nearest existing one, and the list.
    """
    missing = _missing(error)
    if missing is None:
        return None
    name, where, names = missing
    full = f"{where}.{name}" if where else name
    if name == "torch" and not as_torch:
        return (
            f"Backstep: this script imports torch{_line(error)}, which is not installed. Run it with --as-torch to "
            "use Backstep's own engine instead."
        )
    known_reason = reason(full.partition(".")[2])
    if known_reason is not None:
        return f"Backstep: the engine has no {shown_name(full, as_torch)}, asked for{_line(error)}: {known_reason}."
    near = difflib.get_close_matches(name.rpartition(".")[2], names, 1, 0.6)
    label = shown_name(full, as_torch)
    remedy = f"The nearest name is {near[0]!r}; {LIST}." if near else f"There is no similar name; {LIST}."
    if {"nn", "optim"} & set(full.split(".")[:2]) and not near:
        remedy = BY_HAND
    return f"Backstep: the engine has no {label}, asked for{_line(error)}. {remedy}"


def shown_name(full: str, as_torch: bool) -> str:
    """A name as the script wrote it.

    >>> shown_name("engine.nn.Linear", as_torch=True)
    'torch.nn.Linear'
    """
    return full.replace("engine", "torch", 1) if as_torch and full.startswith("engine") else full


def _missing(error: BaseException) -> tuple[str, str, list[str]] | None:
    """(the name, what lacks it, the names that it has)."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        top, _, rest = error.name.partition(".")
        if top not in ("torch", "engine"):
            return None
        above = sys.modules.get(error.name.rpartition(".")[0])
        return (rest or top, top if rest else "", _public(above) if above else [])
    if isinstance(error, ImportError) and error.name:
        match = re.match(r"cannot import name '(\w+)'", message_of(error))
        module = sys.modules.get(error.name)
        if match is None or error.name.partition(".")[0] not in ("torch", "engine"):
            return None
        return match[1], error.name, _public(module)
    if isinstance(error, AttributeError) and error.name:
        thing = error.obj
        if isinstance(thing, ModuleType):
            ours = thing.__name__.partition(".")[0] == "engine"
            return (error.name, thing.__name__, _public(thing)) if ours else None
        kind = thing if isinstance(thing, type) else type(thing)
        if kind.__module__.partition(".")[0] == "engine":
            return error.name, kind.__name__, _public(kind)
    return None


def _public(thing: Any) -> list[str]:
    """The names meant for use: those in `__all__` if a module has one."""
    return [name for name in getattr(thing, "__all__", None) or dir(thing) if not name.startswith("_")]


def _line(error: BaseException) -> str:
    """` in line 3 of script.py`: the innermost of the user's own frames."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_users(f.filename)]
    if not frames:
        return ""
    name = re.split(r"[/\\]", frames[-1].filename)[-1]
    return f" in line {frames[-1].lineno} of {name}"
