"""The allowed requests of the browser, as types: any other request is refused before anything runs.

The shape of a callback's request follows from the app's own callbacks: the ids of its components, and the types that
the function declares for its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from typing import Annotated, Any, Literal, Required, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from engine.replay.program import NONE_PASSED

STRICT = ConfigDict(strict=True, extra="forbid")
MOST_COMMANDS = 10_000
LARGEST = 2**64
"""The bound of the integers in a tensor."""
LONGEST = 300
"""The most characters of the line that says what is wrong with a request."""

Name = Annotated[str, StringConstraints(max_length=1000)]
Index = Annotated[int, Field(ge=0, lt=2**53)]
Place = Annotated[int, Field(ge=-1, lt=2**53)]


class MalformedRequest(Exception):
    """A request that this app never sends; the text is one line that says where and why."""


def _numbers(value: Any) -> Any:
    """Checks the elements of a tensor, a number or nested lists, level by level, because there may be a million."""
    level = [value]
    while level:
        kinds = set(map(type, level))
        if list in kinds:
            if kinds != {list}:
                raise ValueError("should be numbers, or lists that all have the same depth")
            level = list(chain.from_iterable(level))
            continue
        if not kinds <= {int, float, bool, str}:
            raise ValueError("should be numbers")
        if float in kinds and not all(map(math.isfinite, (n for n in level if type(n) is float))):
            raise ValueError("JSON does not have this number; write nan and inf as strings")
        if int in kinds and not all(-LARGEST < n < LARGEST for n in level if type(n) is int):
            raise ValueError("has an integer of more than 64 bits")
        if str in kinds and not {n for n in level if type(n) is str} <= {"nan", "inf", "-inf"}:
            raise ValueError("should be numbers, or the strings nan, inf and -inf")
        return value
    return value


def _gradient(value: Any) -> Any:
    return value if value == NONE_PASSED else _numbers(value)


def _switches(folds: dict[str, Any]) -> dict[str, Any]:
    if not set(map(type, folds.values())) <= {bool}:
        raise ValueError("should map the id of a group to true or false")
    return folds


def _tensors(leaves: dict[str, Any]) -> dict[str, Any]:
    for tensor, elements in leaves.items():
        if not (tensor.isascii() and tensor.isdigit() and len(tensor) < 16):
            raise ValueError("should map the number of a tensor to its elements")
        _numbers(elements)
    return leaves


Gradient = Annotated[Any, AfterValidator(_gradient)]
Folds = Annotated[dict[str, Any], AfterValidator(_switches)]
Leaves = Annotated[dict[str, Any], AfterValidator(_tensors)]


@with_config(STRICT)
class CommandSpec(TypedDict, total=False):
    """One command of edits (docs/scene-format.md)."""

    id: Required[Name]
    kind: Required[Literal["backward", "zero", "set"]]
    after: Place | None
    root: Index | None
    roots: Annotated[list[Index], Field(fail_fast=True)]
    base: Index | None
    gradient: Gradient | None
    retain_graph: bool
    create_graph: bool
    inputs: Annotated[list[Index | None], Field(fail_fast=True)] | None
    leaf: Index | None


@with_config(STRICT)
class EditsAsk(TypedDict, total=False):
    """The edits of a revision (docs/scene-format.md)."""

    leaves: Leaves | None
    commands: Annotated[list[CommandSpec], Field(max_length=MOST_COMMANDS, fail_fast=True)] | None


@with_config(STRICT)
class PreviousAsk(TypedDict):
    """The revision whose values are shown beside the new ones."""

    edits: EditsAsk | None


@with_config(STRICT)
class SceneAsk(TypedDict, total=False):
    """A program with edits, or a revision of it by its id."""

    request: Index
    program: Required[Name]
    edits: EditsAsk | None
    revision: Name | None
    previous: PreviousAsk | None
    layout: Name
    folds: Folds
    section: Index | None
    ahead: Index | None


@with_config(STRICT)
class DetailsAsk(TypedDict, total=False):
    """One element of a revision."""

    request: Index
    program: Required[Name]
    element: Required[Name]
    edits: EditsAsk | None
    revision: Name | None
    section: Index | None


@with_config(STRICT)
class ExportAsk(TypedDict, total=False):
    """A revision that is saved as a file."""

    program: Required[Name]
    edits: EditsAsk | None
    revision: Name | None
    section: Index | None
    folds: Folds


@with_config(STRICT)
class RerunAsk(TypedDict, total=False):
    """A revision for which the program is run again."""

    program: Required[Name]
    edits: EditsAsk | None
    revision: Name | None
    section: Index | None


@with_config(STRICT)
class FileAsk(TypedDict, total=False):
    """A file that takes long to write, and is written in the background."""

    program: Required[Name]
    ending: Required[Name]
    edits: EditsAsk | None
    revision: Name | None
    section: Index | None
    folds: Folds


@with_config(STRICT)
class ProgramAsk(TypedDict):
    """A program by its name."""

    program: Name


NAMED: TypeAdapter[ProgramAsk] = TypeAdapter(ProgramAsk)
RERUN: TypeAdapter[RerunAsk] = TypeAdapter(RerunAsk)
EXPORT: TypeAdapter[ExportAsk] = TypeAdapter(ExportAsk)
SCENE: TypeAdapter[SceneAsk] = TypeAdapter(SceneAsk)


def read(shape: TypeAdapter[Any], body: bytes) -> Any:
    """The JSON of a request of this shape.

    Raises MalformedRequest with one line.

    >>> read(EXPORT, b'{"program": 3}')
    Traceback (most recent call last):
    viz.server.callbacks.requests.MalformedRequest: program: Input should be a valid string
    """
    try:
        return shape.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        line = " ".join(f"{place}: {first['msg']}".removeprefix(": ").split())
        raise MalformedRequest(line if len(line) <= LONGEST else f"{line[:LONGEST]} …") from None


def one_of(shapes: Sequence[Any]) -> TypeAdapter[Any]:
    """A request that has one of several shapes, told apart by their `output`."""
    union: Any = reduce(or_, shapes)
    told_apart: Any = Annotated[union, Field(discriminator="output")]
    return TypeAdapter(told_apart if shapes[1:] else union)


def shape_of(output: str, entry: Mapping[str, Any], answer: Callable[..., Any]) -> Any:
    """The shape of the request of one callback, as Dash's renderer sends it.

    `entry` is the app's entry of the callback, `answer` its function, whose annotations are the types of its inputs.
    Raises TypeError if an input has none.
    """
    hints = get_type_hints(answer, include_extras=True)
    names = answer.__code__.co_varnames[: answer.__code__.co_argcount]
    sent = [*entry["inputs"], *entry["state"]]
    if not set(names) <= hints.keys() or len(names) != len(sent):
        raise TypeError(f"the callback of {output} must say which types its {len(sent)} inputs have")
    components = [_one(spec, hints[name]) for spec, name in zip(sent, names, strict=True)]
    inputs, state = components[: len(entry["inputs"])], components[len(entry["inputs"]) :]
    component, _, prop = output.rpartition(".")
    changed = list.__class_getitem__(_only(*(f"{spec['id']}.{spec['property']}" for spec in entry["inputs"])))
    return _sent({
        "output": Required[_only(output)],
        "outputs": Required[_sent({"id": Required[_only(component)], "property": Required[_only(prop)]})],
        "inputs": Required[tuple.__class_getitem__(tuple(inputs))],
        "changedPropIds": changed,
        "parsedChangedPropsIds": changed,
        "state": tuple.__class_getitem__(tuple(state)) if state else Annotated[list[Any], Field(max_length=0)],
    })  # fmt: skip


def _one(spec: Mapping[str, Any], kind: Any) -> Any:
    component, prop = Required[_only(spec["id"])], Required[_only(spec["property"])]
    return _sent({"id": component, "property": prop, "value": Required[kind]})


def _only(*texts: str) -> Any:
    return Literal.__getitem__(texts)


def _sent(fields: dict[str, Any]) -> Any:
    """The type of an object with these fields; it is made at run time, so mypy cannot check it."""
    shape: Any = TypedDict("Sent", fields, total=False)  # type: ignore[misc]
    return with_config(STRICT)(shape)
