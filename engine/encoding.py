"""Events and static arguments as JSON, and back: explicit, typed, and no code in either direction.

Numbers, texts, None, booleans and lists are JSON's own.  What JSON lacks is an object with the key `$`:
`{"$": "tuple", "items": [...]}`, and so `slice`, `ellipsis`, `dtype`, `type`, `device`, `float` (not finite), `scalar`
and `array` (of numpy), `op` (by name), `dict`, `object` (only described).  docs/trace-format.md has the list.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import array, trace
from .op import REGISTRY, Op

KINDS: dict[str, type] = {kind.__name__: kind for kind in typing.get_args(trace.AnyEvent)}
"""The events by the name that the file uses."""
NUMPY = {name: np.dtype(name) for name in (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
)}  # fmt: skip
"""The element types that a file may have: none of them can hold an object."""
_TYPES = {"bool": bool, "int": int, "float": float}


class Malformed(ValueError):
    """JSON that is not what it should be."""


@dataclasses.dataclass(frozen=True, slots=True)
class Opaque:
    """A static argument of a kind that a file cannot hold: only its description is kept."""

    text: str


# -- static arguments -------------------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """A static argument or number as JSON data.

    >>> encode((slice(1, None), ..., None))["items"][1]
    {'$': 'ellipsis'}
    >>> decode(encode((0, slice(None, 2)))) == (0, slice(None, 2))
    True
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and type(value) is int:
        return value
    if type(value) is float:
        return value if value - value == 0 else {"$": "float", "bits": np.float64(value).tobytes().hex()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"$": "tuple", "items": [encode(item) for item in value]}
    if isinstance(value, Mapping):
        return {"$": "dict", "items": [[encode(k), encode(v)] for k, v in value.items()]}
    return _encode_other(value)


def _encode_other(value: Any) -> Any:
    if isinstance(value, slice):
        return {"$": "slice", "items": [encode(value.start), encode(value.stop), encode(value.step)]}
    if value is Ellipsis:
        return {"$": "ellipsis"}
    if isinstance(value, array.dtype):
        return {"$": "dtype", "name": value.name}
    if isinstance(value, np.dtype) and value.name in NUMPY:
        return {"$": "dtype", "numpy": value.name}
    if isinstance(value, type) and value.__name__ in _TYPES:
        return {"$": "type", "name": value.__name__}
    if isinstance(value, array.device):
        return {"$": "device", "name": str(value)}
    if isinstance(value, Op):
        return {"$": "op", "name": value.name}
    if isinstance(value, Opaque):
        return {"$": "object", "text": value.text}
    value = getattr(value, "_array", value)  # a Tensor used as an index: what it held
    if array.is_array(value):
        value = array.to_numpy(value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.name in NUMPY:
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        raw = base64.b64encode(little(value).tobytes()).decode("ascii")
        return {"$": kind, "dtype": value.dtype.name, "shape": list(value.shape), "base64": raw}
    return {"$": "object", "text": repr(value)[:400]}


def decode(data: Any) -> Any:
    """What `encode` made the data from.  Raises Malformed where it made no such data."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    try:
        return _DECODERS[data["$"]](data)
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise Malformed(f"no static argument reads {str(data)[:80]!r}") from error


def _dtype(data: Mapping[str, Any]) -> Any:
    if "numpy" in data:
        return NUMPY[data["numpy"]]
    return next(d for d in array.DTYPES if d.name == data["name"])


def _array(data: Mapping[str, Any]) -> np.ndarray:
    return from_bytes(base64.b64decode(data["base64"], validate=True), data["dtype"], tuple(data["shape"])).copy()


_DECODERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "tuple": lambda data: tuple(decode(item) for item in data["items"]),
    "dict": lambda data: {decode(k): decode(v) for k, v in data["items"]},
    "slice": lambda data: slice(*(decode(item) for item in data["items"])),
    "ellipsis": lambda data: ...,
    "float": lambda data: float(np.frombuffer(bytes.fromhex(data["bits"]), "<f8")[0]),
    "dtype": _dtype,
    "type": lambda data: _TYPES[data["name"]],
    "device": lambda data: array.device(data["name"]),
    "op": lambda data: REGISTRY[data["name"]],
    "array": _array,
    "scalar": lambda data: _array(data)[()],
    "object": lambda data: Opaque(str(data["text"])),
}


def little(value: Any) -> Any:
    """An array with the byte order that files have."""
    return value.astype(value.dtype.newbyteorder("<"), copy=False)


def from_bytes(raw: bytes, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """A read-only array over little-endian bytes in C order.  Raises Malformed where the sizes disagree."""
    if dtype not in NUMPY:
        raise Malformed(f"dtype {dtype!r} is none of {', '.join(NUMPY)}")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise Malformed(f"{shape!r} is no shape")
    count = 1
    for n in shape:
        count *= n
    if len(raw) != count * NUMPY[dtype].itemsize:
        raise Malformed(f"{len(raw)} bytes do not hold {dtype} of shape {list(shape)}")
    found = np.frombuffer(raw, NUMPY[dtype].newbyteorder("<")).reshape(tuple(shape))
    return found if found.dtype.isnative else found.astype(NUMPY[dtype])


# -- events -----------------------------------------------------------------------------------------------------------


def event_fields(event: trace.Event) -> dict[str, Any]:
    """An event as a JSON object, without its index, stack and kind, which are columns of their own."""
    fields: dict[str, Any] = _to_json(event)
    del fields["index"], fields["stack"]
    return fields


def event_from(kind: str, index: int, stack: int, fields: Mapping[str, Any]) -> trace.AnyEvent:
    """The event that `event_fields` was made from.  Raises Malformed where the fields are not that kind's."""
    if kind not in KINDS:
        raise Malformed(f"unknown kind of event {kind!r}; known are {', '.join(KINDS)}")
    return _record(KINDS[kind])({"index": index, "stack": stack, **fields})


_AS_IS = frozenset({int, str, float, bool, type(None)})


def _to_json(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_IS:  # asked first: nearly all that an event consists of
        return value
    if kind is tuple or kind is list:
        return [_to_json(item) for item in value]
    if dataclasses.is_dataclass(kind) and kind is not Opaque:
        return {name: _to_json(getattr(value, name)) if plain else encode(getattr(value, name))
                for name, (_, plain, _) in _fields(kind).items()}  # fmt: skip
    return value


@functools.cache
def _fields(kind: type) -> dict[str, tuple[Callable[[Any], Any], bool, Any]]:
    """Per field: how to read it, whether it is plain JSON (else `encode`d), its default."""
    hints = typing.get_type_hints(kind)
    found = {}
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        plain = field.name not in ("attrs", "scalar")
        found[field.name] = (_reader(hint) if plain else decode, plain, field.default)
    return found


@functools.cache
def _record(kind: type) -> Callable[[Any], Any]:
    """How to read one of the trace's dataclasses from a JSON object."""

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise Malformed(f"{kind.__name__} is an object, found {str(data)[:80]!r}")
        values = {}
        for name, (reader, _, default) in _fields(kind).items():
            if name in data:
                values[name] = reader(data[name])
            elif default is dataclasses.MISSING:
                raise Malformed(f"{kind.__name__} has no {name!r}")
        return kind(**values)

    return read


def _reader(hint: Any) -> Callable[[Any], Any]:
    """How to read a field of this annotation."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        inner = _reader(next(a for a in args if a is not type(None)))
        return lambda data: None if data is None else inner(data)
    if origin is tuple:
        items = _reader(args[0])

        def read_tuple(data: Any) -> tuple[Any, ...]:
            if not isinstance(data, list):
                raise Malformed(f"a list is expected, found {str(data)[:80]!r}")
            return tuple(items(item) for item in data)

        return read_tuple
    if dataclasses.is_dataclass(hint):
        return _record(hint)  # type: ignore[arg-type]  # asked in the line before

    def read_plain(data: Any) -> Any:
        if type(data) is not hint:
            raise Malformed(f"{hint.__name__} is expected, found {str(data)[:80]!r}")
        return data

    return read_plain


# -- equality ---------------------------------------------------------------------------------------------------------


def values_equal(a: trace.Value, b: trace.Value) -> bool:
    """Whether two values are the same, bit for bit (nan equals nan of the same bits)."""
    if (a.shape, a.dtype, a.array is None) != (b.shape, b.dtype, b.array is None):
        return False
    first, second = (a.sample, b.sample) if a.array is None or b.array is None else (a.array, b.array)
    return np.asarray(first).tobytes() == np.asarray(second).tobytes()


def traces_equal(a: trace.Trace, b: trace.Trace) -> bool:
    """Whether two traces are the same: events, stacks, files, names, and values bit for bit.

    Static arguments are compared as they are written, so that arrays and nan among them compare too.
    """
    if len(a.events) != len(b.events) or len(a.values) != len(b.values):
        return False
    plain: Mapping[str, tuple[Any, Any]] = {
        "stacks": (tuple(a.stacks), tuple(b.stacks)), "files": (dict(a.files), dict(b.files)),
        "names": (dict(a.names), dict(b.names)), "argv": (tuple(a.argv), tuple(b.argv)),
        "meta": (encode(dict(a.meta)), encode(dict(b.meta))),
    }  # fmt: skip
    return (
        all(first == second for first, second in plain.values())
        and all(type(x) is type(y) and (x.index, x.stack) == (y.index, y.stack) and event_fields(x) == event_fields(y)
                for x, y in zip(a.events, b.events, strict=True))
        and all(values_equal(x, y) for x, y in zip(a.values, b.values, strict=True))
    )  # fmt: skip
