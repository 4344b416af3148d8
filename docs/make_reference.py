"""Writes docs/reference.md from the code: `python -m docs.make_reference`.  A test holds it fresh."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import engine
import viz
from docs import left_out
from docs.tables import escaped
from engine import Tensor, Trace, autograd, nn, optim
from engine.tensor.node import Node
from engine.trace.events import Event
from viz.cli import EXAMPLES, parser

FILE = Path(__file__).parent / "reference.md"
HEAD = """# Reference

Made by `python -m docs.make_reference` from the signatures and the first sentences of the docstrings; a test fails
where this page is older. Names, arguments and meaning are PyTorch's (`import engine as torch`), so that its
documentation serves as the long version. Which formula an op has and what it saves is in [ops.md](ops.md), which also
names what is left out.

"""
TWICE = frozenset(
    {
        "torch.autograd.function",
        "torch.autograd.grad_mode",
        "torch.autograd.variable",
        "torch.cuda.amp",
        "torch.nn.modules",
        "torch.nn.parameter",
        "torch.torch_version",
        "torch.version",
    }
)
"""Where torch keeps what it also has under a shorter name, or that `torch.__version__` says."""
CLASSES: tuple[tuple[str, type], ...] = (
    ("torch.autograd.Function", autograd.Function),
    ("torch.nn.Module", nn.Module),
    ("torch.optim.Optimizer", optim.Optimizer),
)
"""Whose members have a table of their own, beside Tensor and Trace."""
NODES = "torch.autograd.graph.Node"
NODE = ("metadata", "name", "next_functions", "register_hook", "register_prehook")
"""What torch's nodes have too; the rest is the engine's."""
EVENTS = "Events of a trace"
SAID: Mapping[str, str] = {
    "__version__": "The PyTorch that the engine stands for, and Backstep's own version; compares as a version.",
    "channels_last": "A memory format: of images, channels innermost.",
    "contiguous_format": "A memory format: the last dimension innermost.",
    "cpu": "The tensor in the memory of the host.",
    "cuda": "The tensor on the GPU; as a name of torch: what of torch.cuda concerns where tensors live.",
    "detach": "The same elements, cut off from the graph.",
    "device": "Where the elements lie: `cpu` or `cuda`.",
    "e": "2.718…",
    "element_size": "Bytes per element.",
    "grad": "What backward has added up here; None before.",
    "inf": "Infinity.",
    "is_cuda": "Whether the elements lie on the GPU.",
    "is_leaf": "Whether no op that records gradients made it.",
    "itemsize": "Bytes per element.",
    "nan": "Not a number.",
    "nbytes": "Bytes of all elements.",
    "newaxis": "None, as an index: a new dimension.",
    "output_nr": "Which output of its node this is.",
    "pi": "3.14159…",
    "preserve_format": "A memory format: as it was.",
    "shape": "The sizes of the dimensions.",
    "requires_grad": "Whether gradients are to reach it.",
    "retains_grad": "Whether `.grad` is filled in though it is no leaf.",
    "type_as": "The tensor in the dtype of another.",
}
"""What is said of names whose docstring is that of a number's class, or that have none."""


def page() -> str:
    """The whole page."""
    parts = [HEAD, contents(), command_line(), own(), rooms(), tensor()]
    parts += [section(place, table(members(place))) for place in places() if members(place)]
    parts += [section(title, table(attributes(cls))) for title, cls in CLASSES]
    parts.append(
        section(
            EVENTS,
            "What a trace is made of ([trace-format.md](trace-format.md)), with the fields of each.\n\n"
            + table(events()),
        )
    )
    parts.append(section(NODES, table([(name, inspect.getattr_static(Node, name)) for name in NODE])))
    return "".join(parts).rstrip() + "\n"


def contents() -> str:
    """Links to the sections."""
    titles = ["The command line", "Recording", "torch", "torch.Tensor"]
    titles += [*(place for place in places() if members(place)), *(title for title, _ in CLASSES), EVENTS, NODES]
    return " · ".join(f"[{title}](#{anchor(title)})" for title in titles) + "\n\n"


def anchor(title: str) -> str:
    """What GitHub makes of a heading.

    >>> anchor("torch.nn.functional")
    'torchnnfunctional'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def section(title: str, body: str, level: int = 2) -> str:
    return f"{'#' * level} {title}\n{body}\n"


def table(named: Iterable[tuple[str, Any]], method: bool = False) -> str:
    """A row for each: how it is called, and the first sentence about it."""
    rows = [f"| `{escaped(called(name, thing, method))}` | {escaped(about(name, thing))} |" for name, thing in named]
    return "\n".join(["| name | |", "|---|---|", *rows, ""])


def called(name: str, thing: Any, method: bool = False) -> str:
    """The name with its arguments, without types; of a method without the tensor.

    >>> called("softmax", engine.softmax)
    'softmax(input, dim=None, dtype=None)'
    """
    if isinstance(thing, property) or not callable(thing):
        return name
    try:
        signature = inspect.signature(thing)
    except ValueError:  # a type written in C that tells nothing
        return f"{name}(…)"
    plain = [
        one.replace(annotation=inspect.Parameter.empty, default=shown(one.default))
        for one in signature.parameters.values()
        if one.name not in (("self", "cls", "_", "input") if method else ("self", "cls", "_"))
    ]
    return name + str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


class Text:
    """A default, as it is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(default: Any) -> Any:
    """A default as a reader would write it; objects without such a form are three dots."""
    text = repr(default)
    if isinstance(default, type | Text) or default is inspect.Parameter.empty:
        return default if default is inspect.Parameter.empty else Text(getattr(default, "__name__", text))
    return Text("…") if text.startswith("<") else default


def about(name: str, thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    if name in SAID:
        return SAID[name]
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def places(within: str = "torch") -> list[str]:
    """The modules that a user reaches from `torch`, under torch's names, each with those in it behind it.

    >>> places("torch.optim")
    ['torch.optim.lr_scheduler']
    """
    holder = left_out.at(within)
    inside = [f"{within}.{name}" for name in sorted(getattr(holder, "__all__", ()))]
    modules = [place for place in inside if isinstance(left_out.at(place), ModuleType) and place not in TWICE]
    return [found for place in modules for found in (place, *places(place))]


def members(place: str) -> list[tuple[str, Any]]:
    """What a module offers, by name; of a module without `__all__`, what torch has under that name."""
    module = left_out.at(place)
    listed = getattr(module, "__all__", None) or left_out.names().get(place, ())
    found = [(name, getattr(module, name)) for name in sorted(listed) if hasattr(module, name)]
    return [(name, thing) for name, thing in found if not isinstance(thing, ModuleType)]


def attributes(cls: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class that have something said about them."""
    found = {name: inspect.getattr_static(cls, name) for name in dir(cls) if not name.startswith("_")}
    things = {name: getattr(cls, name) if isinstance(thing, staticmethod | classmethod) else thing
              for name, thing in found.items()}  # fmt: skip
    return [(name, thing) for name, thing in sorted(things.items()) if isinstance(thing, property) or callable(thing)]


def command_line() -> str:
    """The options, from the parser itself."""
    top = parser()
    chosen = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    lines = ["```", *(line.removeprefix("  ") for line in EXAMPLES.splitlines()[1:]), "```", "", "| | |", "|---|---|"]
    for name, sub in (("", top), *((f"{name} ", sub) for name, sub in chosen.choices.items())):
        for action in sub._actions:
            if action.help in (None, argparse.SUPPRESS) or isinstance(action, argparse._HelpAction):
                continue
            option = action.option_strings[-1] if action.option_strings else f"<{action.dest}>"
            value = f" {action.metavar or action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
            said = (action.help or "") % {"default": action.default}
            lines.append(f"| `backstep {name}{option}{value}` | {escaped(said)} |")
    return section("The command line", "\n".join([*lines, ""]))


def own() -> str:
    """What is Backstep's own: recording, replaying, showing."""
    named = [("record", engine.record), ("replay", engine.replay), ("viz.show", viz.show)]
    named += [(f"Trace.{name}", thing) for name, thing in attributes(Trace) if about(name, thing)]
    return section("Recording", "What PyTorch has not.\n\n" + table(named))


def events() -> list[tuple[str, type]]:
    """The kinds of event, as the file of the trace declares them."""
    declared = vars(sys.modules[Event.__module__]).values()
    kinds = [kind for kind in declared if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event]
    return [(kind.__name__, kind) for kind in kinds]


def rooms() -> str:
    """The functions, under the first sentence of the file that they are written in."""
    groups: dict[str, list[tuple[str, Any]]] = {}
    for name, thing in members("torch"):
        if name in ("record", "replay", "Trace", "Tensor"):
            continue
        groups.setdefault(title_of(thing), []).append((name, thing))
    body = "".join(section(title, table(groups[title]), 3) for title in sorted(groups))
    return section("torch", body)


def title_of(thing: Any) -> str:
    """What is said of the file that something is from; numbers and the like are constants."""
    name = getattr(thing, "__module__", None)
    if name is None or isinstance(thing, float | str):
        return "Constants"
    if name.startswith("engine.nn"):
        return "Also in torch.nn.functional"
    if name in (
        "torch",
        "engine",
        "engine.ops.op",
        "engine.arrays.size",
        "engine.tensor.tensor",
        "engine.tensor.grad_mode",
        "engine.backward.anomaly",
        "engine.api.calls.check",
    ):
        return "Tensors and modes"
    said = about(name, sys.modules[name]).split(": ")[0]
    return said.split(". ")[0].rstrip(".")


def tensor() -> str:
    """The methods: those that are functions too by name, the others in a table."""
    every = attributes(Tensor)
    functions = set(engine.__all__)
    written = [
        name for name, _ in every if name.endswith("_") and (name[:-1] in functions or hasattr(Tensor, name[:-1]))
    ]
    twins = [name for name, _ in every if name in functions and name not in written]
    rest = [(name, thing) for name, thing in every if name not in {*twins, *written}]
    body = [
        "Methods that are functions of the same name, with the tensor in the first place: ",
        ", ".join(f"`{name}`" for name in twins),
        ".\n\nMethods that write the result into the tensor: ",
        ", ".join(f"`{name}`" for name in written),
        ".\n\nOthers:\n\n",
        table(rest, method=True),
    ]
    return section("torch.Tensor", "".join(body))


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    print(FILE)
