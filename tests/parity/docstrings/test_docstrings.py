"""What the docstrings of functions say is so: the shapes are those of calls, the errors are raised, torch has the name.

The calls are those of the docstrings' own examples and of the sample rows, written down as they happen.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import functools
import importlib
import inspect
import io
import re
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import nn
from tests.batches import batches
from tests.engine.helpers import leaves
from tests.parity.docstrings.shapes import Known, Sizes, call_holds, flat, named_errors, shapes, told
from tests.parity.docstrings.test_examples import PLACES, text_of
from tests.parity.docstrings.test_examples import PUBLIC as EXAMPLES
from tests.samples import SAMPLES

torch = pytest.importorskip("torch")
for place in PLACES:  # torch imports some of its modules only where they are asked for
    importlib.import_module(place.replace("engine", "torch", 1))

OURS = {
    "torch.Trace": "torch records nothing", "torch.record": "torch records nothing",
    "torch.replay": "torch records nothing", "torch.autograd.legacy_broadcasting": "PyTorch 0.3 did so",
}  # fmt: skip
NOT_COMPARED = {
    "torch.load": "torch reads another format", "torch.save": "torch pickles what we refuse",
}  # fmt: skip
"""Whose errors torch has not."""


def public() -> dict[str, Any]:
    """What a user calls, by torch's name; the layers have a test of their own."""
    return {
        name: thing for name, thing in EXAMPLES.items() if not (inspect.isclass(thing) and issubclass(thing, nn.Module))
    }


PUBLIC = public()

# -- calls, written down as they happen ---------------------------------------------------------------------------

Call = tuple[Known, Sizes, Sizes]


def tensors(value: Any) -> Iterator[Any]:
    """The tensors in a value, in order."""
    if isinstance(value, engine.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part)


def sizes(value: Any) -> Sizes:
    return [tuple(tensor.shape) for tensor in tensors(value)]


def arguments(function: Any, args: Any, named: Mapping[str, Any]) -> Known:
    """What is known of a call: arguments that are a size, or several."""
    bound = inspect.signature(function).bind(*args, **named)
    bound.apply_defaults()
    found: Known = {}
    for name, value in bound.arguments.items():
        value = value[0] if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], tuple) else value
        if isinstance(value, str) or (type(value) is int and value >= 0):
            found[name] = value
        elif isinstance(value, (list, tuple)) and all(type(one) is int and one >= 0 for one in value):
            found[f"*{name}"] = tuple(value)
    return found


class Listener:
    """A module whose functions write their calls down."""

    def __init__(self, module: Any, heard: dict[int, list[Call]]) -> None:
        self.module, self.heard = module, heard

    def __getattr__(self, name: str) -> Any:
        thing = getattr(self.module, name)
        if isinstance(thing, types.ModuleType):
            return Listener(thing, self.heard)
        return self.listening(thing) if inspect.isfunction(thing) else thing

    def listening(self, function: Callable[..., Any], of: int = 0) -> Callable[..., Any]:
        """The function (or one that the function with the id `of` gave), which writes its calls down."""
        of = of or id(function)

        def called(*args: Any, **named: Any) -> Any:
            given = sizes([*args, *named.values()])
            made = function(*args, **named)
            if "out" not in named:
                self.heard.setdefault(of, []).append((arguments(function, args, named), given, sizes(made)))
            return self.listening(made, of) if inspect.isfunction(made) else made

        return functools.wraps(function)(called)


OF_MODULE = re.compile(r"torch(\.\w+)+")


class AsFunctions(ast.NodeTransformer):
    """`x.sum(0)` as `torch.sum(x, 0)`, where torch has the function too."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if not isinstance(called, ast.Attribute) or OF_MODULE.fullmatch(ast.unparse(called)):
            return node
        if not inspect.isfunction(getattr(engine, called.attr, None)):
            return node
        function = ast.Attribute(ast.Name("torch", ast.Load()), called.attr, ast.Load())
        return ast.fix_missing_locations(ast.Call(function, [called.value, *node.args], node.keywords))


def run(source: str, kind: str, scope: dict[str, Any]) -> None:
    """Run a line with its methods as functions; as it is where those take numbers one by one, the functions a tuple."""
    tree = ast.parse(source, mode=kind)
    try:
        exec(compile(AsFunctions().visit(tree), source, kind), scope)
    except TypeError:
        exec(compile(source, source, kind), scope)


@functools.cache
def heard() -> dict[int, list[Call]]:
    """The calls of each function, by its id, in all examples and in all rows that are spelled."""
    found: dict[int, list[Call]] = {}
    listener = Listener(engine, found)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for thing in PUBLIC.values():
            scope = dict(vars(inspect.getmodule(thing) or engine)) | {"torch": listener}
            if inspect.isfunction(thing):
                scope[thing.__name__] = listener.listening(thing)
            for example in doctest.DocTestParser().get_examples(text_of(thing)):
                if not example.source.startswith("import engine"):
                    with contextlib.suppress(Exception):  # an example may show an error
                        run(example.source, "single", scope)
        for sample in SAMPLES:
            if sample.spelled:
                names = dict(zip("xyz", leaves(sample, engine, "float64"), strict=False))
                run(sample.spelled, "eval", {"torch": listener, **names})
    return found


# -- what is told -------------------------------------------------------------------------------------------------


def named_sources(thing: Any) -> list[str]:
    """The names of torch that a docstring gives as its source."""
    return re.findall(r"Source: (torch[\w.]*\w)", flat(text_of(thing)))


def reaches(name: str) -> bool:
    """Whether torch has a name, in the version that it is compared with."""
    place = torch
    for part in name.split(".")[1:]:
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True


def test_every_public_name_says_its_source_in_torch() -> None:
    assert len(PUBLIC) > 700
    assert [name for name, thing in PUBLIC.items() if not named_sources(thing)] == sorted(OURS, key=list(PUBLIC).index)
    sources = {source for thing in PUBLIC.values() for source in named_sources(thing)}
    assert sorted(source for source in sources if not reaches(source)) == []


def test_what_takes_tensors_and_gives_tensors_says_its_shapes() -> None:
    with_tensors = [
        name for name, thing in PUBLIC.items() if any(given and made for _, given, made in heard().get(id(thing), ()))
    ]
    assert len(with_tensors) > 500
    assert [name for name in with_tensors if told(text_of(PUBLIC[name])) is None] == []


TOLD = [name for name, thing in PUBLIC.items() if shapes(told(text_of(thing)) or "") and inspect.isfunction(thing)]


@batches("name", TOLD)
def test_shapes_in_the_docstring_are_those_of_its_calls(name: str) -> None:
    text = told(text_of(PUBLIC[name])) or ""
    for known, given, made in heard().get(id(PUBLIC[name]), ()):
        assert not made or call_holds(text, given, made, known), (text, given, made, known)


def test_shapes_are_tried_on_calls() -> None:
    tried = {text_of(PUBLIC[name]) for name in TOLD if any(made for _, _, made in heard().get(id(PUBLIC[name]), ()))}
    assert [name for name in TOLD if text_of(PUBLIC[name]) not in tried] == list(UNTRIED)


UNTRIED = {
    "torch.imag": "raises an error",
    "torch.nn.functional.multi_head_attention_forward": "its example is that of the layer",
    "torch.nn.utils.vector_to_parameters": "gives nothing",
}
"""Why an example is no call that gives tensors."""


@pytest.mark.parametrize(
    ("text", "given", "made", "known", "holds"),
    [
        ("(*) -> (); over `dim` (*, D, *) -> (*, *)", [(2, 3)], [(2,)], {}, True),
        ("(*) -> (); over `dim` (*, D, *) -> (*, *)", [(2, 3)], [(4,)], {}, False),
        ("(*), (*) -> (*), broadcast", [(2, 1), (3,)], [(2, 3)], {}, True),
        ("(*), (*) -> (*), broadcast", [(2, 1), (3,)], [(3, 2)], {}, False),
        ("(*), (*) -> (*)", [(2, 1), (3,)], [(2, 3)], {}, False),
        ("(*, N, K), (*, K, M) -> (*, N, M), broadcast", [(5, 1, 2, 3), (4, 3, 7)], [(5, 4, 2, 7)], {}, True),
        ("(*, N, K), (*, K, M) -> (*, N, M), broadcast", [(5, 1, 2, 3), (4, 3, 7)], [(5, 4, 7, 2)], {}, False),
        ("numbers -> (n, m)", [], [(2, 3)], {"n": 2}, True),
        ("numbers -> (n, m)", [], [(2, 3)], {"n": 3}, False),
        ("numbers -> (*size)", [], [(2, 3)], {"*size": (2,)}, False),
        ('(*), (*) -> (), with reduction "none" (*)', [(2,), (2,)], [(2,)], {"reduction": "mean"}, False),
        ("(*, D, *) -> (*, 1, *)", [(2, 3)], [(2, 2)], {}, False),
    ],
)
def test_shapes_that_do_not_hold_are_seen(text: str, given: Sizes, made: Sizes, known: Known, holds: bool) -> None:
    assert call_holds(text, given, made, known) is holds


# -- errors -------------------------------------------------------------------------------------------------------

NAMED = re.compile(r"[\w.]+")


MORE = {"torch.addcdiv": ", zeros(3)", "torch.addcmul": ", zeros(3)", "torch.lerp": ", 0.5"}
"""Arguments behind the first two."""


def raised() -> dict[str, list[tuple[str, str]]]:
    """By name, the calls that raise and the errors: those written down, and shapes that do not broadcast."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (Path(__file__).parent / "raised.txt").read_text(encoding="utf-8").splitlines():
        call, _, error = line.rpartition(" -> ")
        name = (NAMED.match(call) or [""])[0].replace("F.", "torch.nn.functional.", 1)
        found.setdefault(name, []).append((call, error))
    for name, thing in PUBLIC.items():
        text = flat(text_of(thing))
        if "Raises RuntimeError where they do not" in text and name not in found:
            whole = ".long()" if "for floats" in text else ""
            more = MORE.get(name, "")
            found[name] = [(f"{name}(zeros(2){whole}, zeros(3){whole}{more})", "RuntimeError")]
            if "NotImplementedError for" in text:
                other = "" if whole else ".long()"
                found[name] += [(f"{name}(zeros(2){other}, zeros(2){other})", "NotImplementedError")]
    return found


RAISED = raised()


def test_every_error_that_a_docstring_names_has_a_call() -> None:
    named = {text_of(thing): set(errors) for thing in PUBLIC.values() if (errors := named_errors(text_of(thing)))}
    assert len(named) > 350
    tried = {text_of(PUBLIC[name]): {error for _, error in rows} for name, rows in RAISED.items()}
    tried |= {text_of(PUBLIC[name]): named[text_of(PUBLIC[name])] for name in NOT_COMPARED}
    assert {text: errors for text, errors in named.items() if tried.get(text) != errors} == {}
    assert tried.keys() - named.keys() == set()


@batches("call, error", [row for rows in RAISED.values() for row in rows], lambda row: str(row[0]))
@pytest.mark.filterwarnings("ignore")  # torch warns of what it means to take away
def test_error_that_a_docstring_names_is_raised_here_and_in_torch(call: str, error: str) -> None:
    for library in (engine, torch):
        names = {"torch": library, "F": library.nn.functional}
        names |= {name: getattr(library, name) for name in ("ones", "tensor", "zeros")}
        with pytest.raises(Exception) as found:  # noqa: PT011 - its class is compared below
            eval(call, names)  # noqa: S307 - our own table
        assert type(found.value).__name__.lstrip("_") == error
