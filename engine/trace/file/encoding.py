"""Events and static arguments as JSON, and back: explicit, typed, and no code in either direction.

Numbers, texts, None, booleans and lists are JSON's own.  What JSON lacks is an object with the key `$`:
`{"$": "tuple", "items": [...]}`, and so `slice`, `ellipsis`, `dtype`, `type`, `device`, `float` (not finite), `scalar`
and `array` (of numpy), `op` (by name), `dict`, `object` (only described).  docs/trace-format.md has the list.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

import numpy as np

from ...arrays import array
from ...arrays.element_types import ELEMENT_TYPES, NAMED, name_of
from ...ops.op import REGISTRY, Op
from .. import events
from ..events import AnyEvent, Event, GroupEntered, LoopVariable, OpCalled, VjpRun

KINDS: dict[str, type] = {kind.__name__: kind for kind in typing.get_args(AnyEvent)}
"""The events by the name that the file uses."""
_TYPES = {"bool": bool, "int": int, "float": float}


class MalformedJson(ValueError):
    """JSON of another form than expected."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpaqueArgument:
    """A static argument of a kind that a file cannot hold: only its description is kept."""

    text: str


_JSON = json.JSONEncoder(separators=(",", ":"), check_circular=False, allow_nan=False)


def dumps(data: Any) -> str:
    """Compact JSON, in ASCII."""
    return _JSON.encode(data)


# -- static arguments -------------------------------------------------------------------------------------------------


def encode(value: Any, depth: int = 0) -> Any:
    """A static argument or number as JSON data.

    >>> encode((slice(1, None), ..., None))["items"][1]
    {'$': 'ellipsis'}
    >>> decode(encode((0, slice(None, 2)))) == (0, slice(None, 2))
    True
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and type(value) is int:
        return value if -LARGEST < value < LARGEST else {"$": "object", "text": f"{value.bit_length()} bits"}
    if type(value) is float:
        return value if value - value == 0 else {"$": "float", "bits": np.float64(value).tobytes().hex()}
    if depth > DEEPEST - 4 and isinstance(value, (list, tuple, Mapping)):
        return {"$": "object", "text": repr(value)[:400]}
    if isinstance(value, list):
        return [encode(item, depth + 1) for item in value]
    if isinstance(value, tuple):
        return {"$": "tuple", "items": [encode(item, depth + 1) for item in value]}
    if isinstance(value, Mapping):
        return {"$": "dict", "items": [[encode(k, depth + 2), encode(v, depth + 2)] for k, v in value.items()]}
    return _encode_other(value)


def _encode_other(value: Any) -> Any:
    if isinstance(value, slice):
        return {"$": "slice", "items": [encode(value.start), encode(value.stop), encode(value.step)]}
    if value is Ellipsis:
        return {"$": "ellipsis"}
    if isinstance(value, array.dtype):
        return {"$": "dtype", "name": value.name}
    if isinstance(value, np.dtype) and value.name in ELEMENT_TYPES:
        return {"$": "dtype", "numpy": name_of(value)}
    if isinstance(value, type) and value.__name__ in _TYPES:
        return {"$": "type", "name": value.__name__}
    if isinstance(value, array.device):
        return {"$": "device", "name": str(value)}
    if isinstance(value, Op):
        return {"$": "op", "name": value.name}
    if isinstance(value, OpaqueArgument):
        return {"$": "object", "text": value.text}
    value = getattr(value, "_array", value)  # a Tensor used as an index: what it held
    if array.is_array(value):
        value = array.to_numpy(value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.name in ELEMENT_TYPES:
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        raw = base64.b64encode(little(value).tobytes()).decode("ascii")
        return {"$": kind, "dtype": value.dtype.name, "shape": list(value.shape), "base64": raw}
    return {"$": "object", "text": repr(value)[:400]}


def decode(data: Any, depth: int = 0) -> Any:
    """The value that `encode` turned into the data. Raises MalformedJson if the data does not come from it."""
    if depth > DEEPEST:
        raise MalformedJson(f"nested deeper than {DEEPEST} levels")
    if isinstance(data, list):
        return [decode(item, depth + 1) for item in data]
    if type(data) is int and not -LARGEST < data < LARGEST:
        raise MalformedJson("a whole number of more than 512 bits")
    if not isinstance(data, dict):
        return data
    try:
        if data["$"] in ("tuple", "slice", "dict"):
            items = [decode(item, depth + 1) for item in data["items"]]
            return tuple(items) if data["$"] == "tuple" else slice(*items) if data["$"] == "slice" else _dict(items)
        return _DECODERS[data["$"]](data)
    except MalformedJson:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, StopIteration, IndexError) as error:
        raise MalformedJson(f"{str(data)[:80]!r} is not a static argument") from error


def _dict(pairs: Sequence[Any]) -> dict[Any, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice")
    return result


DEEPEST = 48
"""The depth to which static arguments may be nested; deeper ones are written as a description."""
LARGEST = 2**512
"""The magnitude below which whole numbers of static arguments are written; larger ones are written as a description."""


def _dtype(data: Mapping[str, Any]) -> Any:
    if "numpy" in data:
        return ELEMENT_TYPES[data["numpy"]]
    return next(d for d in array.DTYPES if d.name == data["name"])


def _array(data: Mapping[str, Any]) -> np.ndarray:
    return from_bytes(base64.b64decode(data["base64"], validate=True), data["dtype"], tuple(data["shape"])).copy()


_DECODERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "ellipsis": lambda data: ...,
    "float": lambda data: float(np.frombuffer(bytes.fromhex(data["bits"]), "<f8")[0]),
    "dtype": _dtype,
    "type": lambda data: _TYPES[data["name"]],
    "device": lambda data: array.device(data["name"]),
    "op": lambda data: REGISTRY[data["name"]],
    "array": _array,
    "scalar": lambda data: _array(data)[()],
    "object": lambda data: OpaqueArgument(str(data["text"])[:MOST_NAME]),
}


IS_LITTLE = sys.byteorder == "little"


def little(value: Any) -> Any:
    """An array with the byte order of files."""
    if IS_LITTLE and value.dtype.isnative:
        return value
    return value.astype(value.dtype.newbyteorder("<"), copy=False)


def shape_of(data: Any) -> tuple[int, ...]:
    """A shape from a file. Raises MalformedJson if it is not a shape."""
    if (
        not isinstance(data, (list, tuple))
        or len(data) > 64
        or not all(type(n) is int and 0 <= n < 2**40 for n in data)
    ):
        raise MalformedJson(f"{str(data)[:80]} is not a shape")
    return tuple(data)


MOST_TEXT = 8 * 2**20
"""Characters of one of the user's files, of a row of meta, of a stack."""


def parsed(text: Any, column: str) -> Any:
    """JSON data from outside.  Raises MalformedJson where it is none, is too long, or has a number that JSON lacks."""
    if not isinstance(text, str):
        raise MalformedJson(f"{column}: JSON text is expected, found {type(text).__name__}")
    if len(text) > MOST_TEXT * 4 or text.count(",") + text.count("[") + text.count("{") > MOST_ITEMS:
        raise MalformedJson(f"{column}: more than {MOST_ITEMS:,} items")
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise MalformedJson(f"{column}: not JSON ({str(error)[:80]})") from error


def read_shape(text: Any) -> tuple[int, ...]:
    """The shape in a row of `contents`. Raises MalformedJson if it is none."""
    return _short_shape(text) if type(text) is str and len(text) <= SHORT_SHAPE else shape_of(parsed(text, "shape"))


@functools.lru_cache(maxsize=4096)
def _short_shape(text: str) -> tuple[int, ...]:
    return shape_of(parsed(text, "shape"))


SHORT_SHAPE = 80
"""Characters of a shape up to which it is parsed once for all values that have it."""


def _no_constant(name: str) -> Any:
    raise MalformedJson(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)

MOST_ITEMS = 200_000
"""Items of one JSON text: entries of its lists and objects, however deep."""


def from_bytes(raw: bytes, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """A read-only array over little-endian bytes in C order. Raises MalformedJson if the sizes disagree."""
    if dtype not in ELEMENT_TYPES:
        raise MalformedJson(f"dtype {dtype!r} is none of {', '.join(ELEMENT_TYPES)}")
    shape = shape_of(shape)
    count = 1
    for n in shape:
        count *= n
    if len(raw) != count * ELEMENT_TYPES[dtype].itemsize:
        raise MalformedJson(f"{len(raw)} bytes do not hold {dtype} of shape {list(shape)}")
    array = np.frombuffer(raw, ELEMENT_TYPES[dtype].newbyteorder("<")).reshape(tuple(shape))
    return array if array.dtype.isnative else array.astype(ELEMENT_TYPES[dtype])


# -- events -----------------------------------------------------------------------------------------------------------


def event_text(event: Event) -> str:
    """An event as a JSON object; its index, stack and kind are columns of their own."""
    kind: Any = type(event)
    text = _writer(kind)(event)
    if event.loops:  # hardly any has them,
        text = _with(text, "loops", _several(event.loops, _writer(LoopVariable)))
    if isinstance(event, GroupEntered) and event.rate is not None:  # and only an optimiser has one
        text = _with(text, "rate", dumps(event.rate))
    return text


def events_from(lengths: Mapping[str, int]) -> Callable[[str, int, int, Any], AnyEvent]:
    """A function that reads the events of a file with this many `values` and `stacks`.

    It checks types, bounds and lists, makes the event whose `event_text` was read, and raises MalformedJson with the
    name of a field that does not fit.
    """
    stacks = lengths.get("stacks", MOST)
    records = _Records(lengths.get("values", MOST))

    def read(kind: str, index: int, stack: int, fields: Any) -> AnyEvent:
        if kind not in KINDS:
            raise MalformedJson(f"unknown kind of event {str(kind)[:80]!r}; known are {', '.join(KINDS)}")
        if type(stack) is not int or not -1 <= stack < stacks:
            raise MalformedJson(
                f"stack: {str(stack)[:80]} is not a number from -1 to below the number of stacks, {stacks}"
            )
        if not isinstance(fields, dict):
            raise MalformedJson(f"fields: an object is expected, found {str(fields)[:80]!r}")
        event: AnyEvent = records.of(KINDS[kind])({**fields, "index": index, "stack": stack})
        _check_peers(event)
        return event

    return read


def _check_peers(event: AnyEvent) -> None:
    """Check that lists which belong together have the same length."""
    if isinstance(event, OpCalled):
        if not event.outputs:
            raise MalformedJson("outputs: at least one is expected")
        if event.node is not None and len(event.node.inputs) != len(event.node.edges):
            raise MalformedJson(f"node.edges: {len(event.node.edges)} for {len(event.node.inputs)} inputs")
    elif isinstance(event, VjpRun) and len(event.unsummed) != len(event.cotangents):
        raise MalformedJson(f"unsummed: {len(event.unsummed)} for {len(event.cotangents)} cotangents")


@functools.cache
def _writer(kind: type) -> Callable[[Any], str]:
    """A function that writes one of the trace's dataclasses as JSON: one expression, put together from its annotations.

    It is compiled because an event is written for each op of a program that waits: collecting the fields in a dict, and
    letting `json` look at each, takes twice as long.
    """
    hints = typing.get_type_hints(kind, vars(events))
    names = [field.name for field in dataclasses.fields(kind) if field.name not in _ELSEWHERE]
    needed: dict[str, Any] = {
        "quoted": quoted, "static": _static, "row": _row, "sizes": shape_text, "several": _several,
    }  # fmt: skip
    texts = ",".join(f'"{name}":%{"d" if hints[name] is int else "s"}' for name in names)  # None is not a number
    values = "".join(f"{_expression(name, hints[name], needed)}, " for name in names)
    writer: Callable[[Any], str] = eval(f"lambda one: {'{' + texts + '}'!r} % ({values})", needed)  # noqa: S307 ours
    return writer


def _expression(name: str, hint: Any, needed: dict[str, Any]) -> str:
    """The expression for the text of a field; the functions that it calls are added to `needed`."""
    value, origin, args = f"one.{name}", typing.get_origin(hint), typing.get_args(hint)
    if name in _ENCODED:
        return f"static({value})"
    if origin in (types.UnionType, typing.Union):
        inner = _expression(name, next(a for a in args if a is not type(None)), needed)
        return f"'null' if {value} is None else {inner}"
    if origin is tuple:
        one = next((a for a in (args[0], *typing.get_args(args[0])) if dataclasses.is_dataclass(a)), None)
        if args[0] is str:
            return f"several({value}, quoted)"
        if one is None:
            return f"sizes({value})" if name == "shape" else f"row({value})"
        return f"several({value}, {_named(one, needed)})"
    if dataclasses.is_dataclass(hint):
        return f"{_named(hint, needed)}({value})"
    if hint is bool:
        return f"'true' if {value} else 'false'"
    if hint is str:
        return f"quoted({value}[:{MOST_MESSAGE}])" if name in _LONG else f"quoted({value})"
    return value


def _named(kind: Any, needed: dict[str, Any]) -> str:
    """The name by which an expression calls the writer of another dataclass."""
    needed[kind.__name__] = _writer(kind)
    return str(kind.__name__)


def _static(value: Any) -> str:
    """A static argument or number, or the dict of them, which is mostly empty."""
    if value is None:
        return "null"
    return dumps(encode(value)) if value or type(value) is not dict else _NO_ARGUMENTS


def _row(numbers: Sequence[int | None]) -> str:
    return f"[{','.join(['null' if number is None else str(number) for number in numbers])}]"


def _several(items: Sequence[Any], write: Callable[[Any], str]) -> str:
    return f"[{','.join(['null' if item is None else write(item) for item in items])}]"


def _with(text: str, name: str, value: str) -> str:
    """A JSON object with one more entry."""
    return f'{text[:-1]}{"," if len(text) > 2 else ""}"{name}":{value}}}'


@functools.lru_cache(maxsize=4096)
def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as JSON."""
    return dumps(list(shape))


MOST = 2**53
"""The magnitude below which whole numbers of events are accepted."""
MOST_LISTED = 10_000
"""The most entries of a list of an event: inputs, outputs, edges …"""
MOST_NAME = 4096
"""The most characters of a name."""
MOST_MESSAGE = 2**20
"""The most characters of a message or a traceback; a longer one is cut when it is written."""
_ELSEWHERE = frozenset({"index", "stack", "loops", "rate"})
"""Fields that are columns of their own, or that are omitted if they have their default."""
_ENCODED = frozenset({"attrs", "scalar"})
_VALUES = frozenset({
    "value", "gradient", "before", "added", "after", "upstream", "cotangents", "unsummed",
})  # fmt: skip
"""Fields whose numbers are positions in `trace.values`."""
_LONG = frozenset({"message", "note", "traceback"})
_NO_ARGUMENTS = dumps(encode({}))


class _Records:
    """Readers of the trace's dataclasses, for a file with this many values."""

    def __init__(self, values: int) -> None:
        self.values = values
        self._readers: dict[type, Callable[[Any], Any]] = {}

    def of(self, kind: type) -> Callable[[Any], Any]:
        """A function that makes one of them from a JSON object."""
        if kind not in self._readers:
            self._readers[kind] = self._reader_of(kind)
        return self._readers[kind]

    def _reader_of(self, kind: type) -> Callable[[Any], Any]:
        hints = typing.get_type_hints(kind, vars(events))
        readers = [(f.name, self._field(f.name, hints[f.name]), f.default) for f in dataclasses.fields(kind)]

        def read(data: Any) -> Any:
            if not isinstance(data, dict):
                raise MalformedJson(f"{kind.__name__} is an object, found {str(data)[:80]!r}")
            values = {}
            for name, reader, default in readers:
                if name not in data:
                    if default is dataclasses.MISSING:
                        raise MalformedJson(f"{kind.__name__} has no {name!r}")
                    continue
                try:
                    values[name] = reader(data[name])
                except MalformedJson as error:
                    raise MalformedJson(f"{name}: {error}") from None
            return kind(**values)

        return read

    def _field(self, name: str, hint: Any) -> Callable[[Any], Any]:
        if name == "attrs":
            return _attrs
        if name == "scalar":
            return _scalar
        if name == "shape":
            return shape_of
        if name == "dtype":
            return _dtype_name
        return self._reader(name, hint)

    def _reader(self, name: str, hint: Any) -> Callable[[Any], Any]:
        """The reader of a field with this name and annotation."""
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (types.UnionType, typing.Union):
            inner = self._reader(name, next(a for a in args if a is not type(None)))
            return lambda data: None if data is None else inner(data)
        if origin is tuple:
            items = self._reader(name, args[0])

            def read_tuple(data: Any) -> tuple[Any, ...]:
                if not isinstance(data, (list, tuple)):
                    raise MalformedJson(f"a list is expected, found {str(data)[:80]!r}")
                if len(data) > MOST_LISTED:
                    raise MalformedJson(f"{len(data):,} entries; at most {MOST_LISTED:,} are read")
                return tuple(items(item) for item in data)

            return read_tuple
        if dataclasses.is_dataclass(hint):
            return self.of(hint)  # type: ignore[arg-type]  # asked in the line before
        if hint is int:
            return _whole(-1 if name == "stack" else 0, self.values if name in _VALUES else MOST, name in _VALUES)
        if hint is str:
            return _text(MOST_MESSAGE if name in _LONG else MOST_NAME)

        def read_flag(data: Any) -> Any:
            if type(data) is not hint:
                raise MalformedJson(f"{hint.__name__} is expected, found {str(data)[:80]!r}")
            return data

        return read_flag


def _whole(least: int, end: int, is_value: bool) -> Callable[[Any], int]:
    bound = f"below the number of values, {end}" if is_value else f"below {end}"

    def read(data: Any) -> int:
        if type(data) is not int or not least <= data < end:
            raise MalformedJson(f"{str(data)[:80]} is not a whole number of at least {least} and {bound}")
        return data

    return read


def _text(most: int) -> Callable[[Any], str]:
    def read(data: Any) -> str:
        if type(data) is not str or len(data) > most:
            raise MalformedJson(f"a text of at most {most:,} characters is expected, found {str(data)[:80]!r}")
        return data

    return read


def _dtype_name(data: Any) -> str:
    if type(data) is not str or (data not in ELEMENT_TYPES and data not in NAMED):
        raise MalformedJson(f"dtype {str(data)[:80]!r} is none of {', '.join(ELEMENT_TYPES)}")
    return data


def _attrs(data: Any) -> Any:
    attrs = decode(data)
    if not isinstance(attrs, dict) or not all(type(key) is str for key in attrs):
        raise MalformedJson(f"names of static arguments and their values are expected, found {str(data)[:80]!r}")
    return attrs


def _scalar(data: Any) -> Any:
    value = decode(data)
    if value is not None and not isinstance(value, (bool, int, float, np.generic)):
        raise MalformedJson(f"a number is expected, found {str(data)[:80]!r}")
    return value


# -- equality ---------------------------------------------------------------------------------------------------------
