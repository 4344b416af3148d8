"""The check of a call against torch's signatures, with torch's error if it does not fit.

torch's C++ reads the arguments of its functions by tables of signatures: so are they read here, with its sentences.  A
signature is written as `input:T dim:i keepdim:b= * out:T?=`: names with kinds (`KINDS`), `?` where None is taken, `=`
where the argument may be left out, `*` before those that are taken by keyword alone.  A function with several has them
separated by ` | `; `~` before one marks a deprecated form, which is taken and not shown.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...arrays.array import device, dtype, xp
from ...tensor.tensor import Tensor, tensor_of

NEW = "dtype:dt?= layout:any?= device:dev?= pin_memory:b= requires_grad:b="
"""The arguments of functions that create tensors: `+new` in a signature."""
KINDS = {
    "T": "Tensor", "Ts": "tuple of Tensors", "n": "Number", "i": "int", "I": "int", "f": "float", "b": "bool",
    "s": "str", "is": "tuple of ints", "fs": "tuple of floats", "ns": "tuple of Scalars", "dt": "torch.dtype",
    "dev": "torch.device", "g": "torch.Generator", "any": "object",
}  # fmt: skip
"""Torch's name of a kind of argument, for messages about one of another kind."""
SPELLINGS = {"axis": "dim", "keepdims": "keepdim", "a": "input", "x": "input", "x1": "input", "x2": "other"}
"""numpy's names of arguments, taken for torch's."""
NUMBERS_FOR_TENSORS = frozenset(
    name + end
    for name in ("add", "copy", "div", "divide", "floor_divide", "mul", "multiply", "sub", "subtract", "true_divide")
    for end in ("", "_")
)
"""Functions that take a number where a Tensor stands in the signature."""
TRIED = frozenset({"T", "Ts", "any", "n", "is", "fs"})
"""Kinds of arguments that no function computes with where they are others."""
_FLOATS = (int, float, xp.floating, xp.integer)
_SCALARS = (int, float, complex, xp.number)
SOME = tensor_of(xp.zeros(2, dtype="float32"))
"""A tensor that fits only where every tensor does: it is no number, no int and no index."""
Refusal = Callable[[], TypeError]


class Parameter:
    """One argument of a signature."""

    __slots__ = ("kind", "may_be_none", "name", "named_only", "needed", "single")

    def __init__(self, text: str, named_only: bool) -> None:
        self.name, _, kind = text.partition(":")
        self.named_only = named_only
        self.needed = not kind.endswith("=")
        kind = kind.removesuffix("=")
        self.may_be_none = kind.endswith("?")
        kind = kind.removesuffix("?")
        self.single = kind[:2] in ("is", "fs") and kind[2:] != ""
        """Whether one number is taken for a list of them."""
        self.kind = kind.rstrip("0123456789")

    def text(self) -> str:
        """As torch shows it in a signature."""
        default = "" if self.needed else " = 1" if self.kind == "n" else " = None"
        return f"{KINDS[self.kind]} {self.name}{default}"

    def fits(self, value: Any, numbers: bool) -> bool:
        """Return whether a value is of this kind; of a list, like torch, check only the first element."""
        fits = FITS.get(self.kind)
        if self.kind == "T":
            return isinstance(value, Tensor) or (numbers and isinstance(value, _SCALARS))
        if fits is not None:
            return bool(fits(value))
        if isinstance(value, (tuple, list)):
            return self.kind != "is" or not value or _is_index(value[0])
        return self.single and (FITS["i"](value) if self.kind == "is" else FITS["f"](value))


def _lone(value: Any) -> bool:
    """A tensor that torch takes for a number."""
    return isinstance(value, Tensor) and not value._array.ndim and not value._requires_grad


def _is_int(value: Any) -> bool:
    if isinstance(value, Tensor):
        return _lone(value) and value._array.dtype.kind in "iu"
    return isinstance(value, (int, xp.integer)) and value is not True and value is not False


def _is_index(value: Any) -> bool:
    if isinstance(value, (bool, float)):
        return False
    if isinstance(value, Tensor):
        return value._array.size == 1 and value._array.dtype.kind in "iu"
    if hasattr(value, "dtype"):  # an array has `__index__` and is mostly none
        return value.dtype.kind in "iu" and not value.shape
    return hasattr(value, "__index__")


def _are_tensors(value: Any) -> bool:
    return isinstance(value, (tuple, list))


FITS: dict[str, Callable[[Any], bool]] = {
    "Ts": _are_tensors,
    "any": lambda value: True,
    "b": lambda value: isinstance(value, bool),
    "dev": lambda value: isinstance(value, (device, str)) or _is_int(value),
    "dt": lambda value: isinstance(value, dtype) or value in (float, int, bool),
    "f": lambda value: isinstance(value, _FLOATS) or _lone(value),
    "g": lambda value: type(value).__name__ == "Generator",
    "i": _is_int,
    "I": _is_index,  # what torch calls a SymInt: a tensor of one element is one, whatever its dimensions
    "n": lambda value: isinstance(value, _SCALARS) or _lone(value),
    "s": lambda value: isinstance(value, str),
}


class Signature:
    """One form of a function."""

    def __init__(self, text: str) -> None:
        self.hidden = text.startswith("~")
        words = text.lstrip("~").removeprefix("()").replace("+new", NEW).split()
        star = words.index("*") if "*" in words else len(words)
        self.parameters = [Parameter(word, place > star) for place, word in enumerate(words) if word != "*"]
        self.most = star
        self.least = sum(p.needed for p in self.parameters)
        self.spread = star == 1 and self.parameters[0].kind == "is"
        """Whether the sizes may be given as several arguments."""

    def refusal(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Refusal | None:
        """None where the arguments fit, else what makes torch's error."""
        count, left, place = len(args), len(kwargs), 0
        if count > self.most and not (self.spread and _is_index(args[0])):
            return lambda: self._too_many(name, count)
        for number, parameter in enumerate(self.parameters):
            by_name = place >= count
            if by_name:
                is_named = parameter.name in kwargs
                value = kwargs.get(parameter.name)
            elif parameter.named_only:
                return lambda: self._too_many(name, count)
            else:
                is_named, value = True, args[place]
            if not is_named:
                if parameter.needed:
                    return functools.partial(self._missing, name, number)
                continue
            if not (value is None and parameter.may_be_none) and not parameter.fits(value, name in NUMBERS_FOR_TENSORS):
                if not (self.spread and place == 0 and not by_name and _is_index(value)):
                    return functools.partial(_misfit, name, parameter, value, None if by_name else place, args)
                place = count
                continue
            if parameter.kind == "Ts" and value is not None:
                for at, item in enumerate(value):
                    if not isinstance(item, Tensor) and item is not None:
                        raise strange_element(at, number, item)
            if by_name:
                left -= 1
            else:
                place += 1
        return functools.partial(self._strangers, name, kwargs, count) if left else None

    def _too_many(self, name: str, count: int) -> TypeError:
        if self.least != self.most:
            text = f"from {self.least} to {self.most} positional arguments but {count} were"
        else:
            ending, were = "s"[self.most == 1 :], "was" if count == 1 else "were"
            text = f"{self.most} positional argument{ending} but {count} {were}"
        return TypeError(f"{name}() takes {text} given")

    def _missing(self, name: str, first: int) -> TypeError:
        missing = [f'"{p.name}"' for p in self.parameters[first:] if p.needed]
        ending = "s" if len(missing) == 1 else ""  # torch's own plural
        return TypeError(f"{name}() missing {len(missing)} required positional argument{ending}: {', '.join(missing)}")

    def _strangers(self, name: str, kwargs: Mapping[str, Any], count: int) -> TypeError:
        places = {p.name: place for place, p in enumerate(self.parameters)}
        for key in kwargs:
            if key not in places:
                return TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            if places[key] < count:
                return TypeError(f"{name}() got multiple values for argument '{key}'")
        return TypeError("invalid keyword arguments")

    def beside(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """The arguments of the call, and this form: for the message of a function that has no other."""
        by_name = {p.name: p for p in self.parameters}
        strangers = [key for key in kwargs if key not in by_name or key in ("input", "out")]
        if strangers:
            return f"unrecognized keyword arguments: {', '.join(strangers)}"
        marks = ""
        if len(args) + len(kwargs) == len(self.parameters) + (self.most < len(self.parameters)):
            places: list[Any] = list(self.parameters)
            places[self.most : self.most] = [None] if self.most < len(places) else []
            marks = "".join(".!"[p is None or not p.fits(v, False)] for p, v in zip(places, args, strict=False))
            marks += "".join(".!"[not by_name[key].fits(v, False)] for key, v in kwargs.items())
        return f"({_types_of(args, kwargs, marks)}), but expected ({self.text()})"

    def text(self) -> str:
        """As torch shows it."""
        texts = [p.text() for p in self.parameters]
        if self.most < len(texts):
            texts.insert(self.most, "*")
        return ", ".join(texts)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name."""
        return dict(zip((p.name for p in self.parameters), args, strict=False)) | dict(kwargs)

    def unpacked(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError | None:
        """torch's error where a later element of a list of ints is none: it is found when the list is read."""
        for place, parameter in enumerate(self.parameters):
            if parameter.kind != "is":
                continue
            value = args[place] if place < len(args) else kwargs.get(parameter.name)
            if self.spread and place == 0 and args and not isinstance(args[0], (tuple, list)):
                value = args
            for at, item in enumerate(value if isinstance(value, (tuple, list)) else ()):
                if not (isinstance(item, bool) or _is_index(item)):
                    return TypeError(
                        f"{name}(): argument '{parameter.name}' failed to unpack the object at pos {at + 1} with error "
                        f'"type must be tuple of ints,but got {type_name(item)}"'
                    )
        return None


def _as_int(value: Any, parameter: Parameter) -> Any:
    is_int = parameter.kind in ("i", "I") or parameter.single
    return int(value) if is_int and isinstance(value, Tensor) and _is_index(value) else value


def type_name(value: Any) -> str:
    """Torch's name of the type of a value: those written in C have their module's name in front."""
    kind = type(value)
    if isinstance(value, (xp.generic, xp.ndarray)):
        return f"numpy.{kind.__name__.removesuffix('_')}"
    return OWN.get(kind.__name__, kind.__name__) if kind.__module__.startswith("engine") else kind.__name__


OWN = {
    "Generator": "torch._C.Generator", "device": "torch.device", "dtype": "torch.dtype", "layout": "torch.layout",
    "memory_format": "torch.memory_format",
}  # fmt: skip
"""Torch's names of those of its types that Python knows by a longer name."""


def _misfit(name: str, parameter: Parameter, value: Any, place: int | None, args: tuple[Any, ...]) -> TypeError:
    where = "" if place is None else f" (position {place + 1})"
    text = f"{name}(): argument '{parameter.name}'{where} must be {KINDS[parameter.kind]}"
    if parameter.kind == "is" and place is not None and isinstance(value, (tuple, list)):
        return TypeError(f"{text}, but found element of type {type_name(value[0])} at pos 0")
    return TypeError(f"{text}, not {type_name(value)}")


def strange_element(at: int, number: int, item: Any) -> TypeError:
    """torch's error for what is no Tensor in a list of them."""
    return TypeError(f"expected Tensor as element {at} in argument {number}, but got {type_name(item)}")


class Reader:
    """The signatures of one function: what does not fit them is refused in torch's words."""

    def __init__(self, name: str, text: str, method: bool = False) -> None:
        self.name = name
        self.signatures = [Signature(one) for one in text.split(" | ")]
        self.bare = method and len(self.signatures) == 1 and not self.signatures[0].parameters
        """A method without any argument: torch leaves it to Python."""
        self.has_older = any(s.hidden for s in self.signatures)
        self.early = any(
            not s.most or p.kind not in TRIED for s in self.signatures for p in s.parameters if p.name != "out"
        )
        """Whether there are arguments that a function may take for others: a truth value, a number that is an int."""
        self.least = min(s.least for s in self.signatures)
        self.warned = False
        own = {p.name for s in self.signatures for p in s.parameters}
        self.respelled = {theirs: ours for theirs, ours in SPELLINGS.items() if theirs not in own}
        """numpy's names of its arguments, but for names that the function has itself, and torch's for them."""

    def spelled(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keywords by torch's names where numpy's are given."""
        if self.respelled.keys().isdisjoint(kwargs):
            return kwargs
        return {self.respelled.get(key, key): value for key, value in kwargs.items()}

    def refusal(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError | None:
        """torch's error for a call, None where one of the signatures fits."""
        if self.bare:
            return self._unwanted(args, kwargs)
        try:
            form = self.form(args, kwargs)
        except TypeError as error:
            return error
        return self._best(args, kwargs) if form is None else form.unpacked(self.name, args, kwargs)

    def form(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Signature | None:
        """The signature that a call fits."""
        return next((s for s in self.signatures if s.refusal(self.name, args, kwargs) is None), None)

    def as_ints(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call that fits, with the ints for tensors that stand where only an int may."""
        form = self.form(args, kwargs)
        if form is None:
            return args, kwargs
        named = {p.name: _as_int(kwargs[p.name], p) for p in form.parameters if p.name in kwargs}
        return tuple(self._int_at(place, value, form) for place, value in enumerate(args)), {**kwargs, **named}

    def _int_at(self, place: int, value: Any, form: Signature) -> Any:
        others = [s.parameters[place].kind for s in self.signatures if place < len(s.parameters)]
        fits = place < len(form.parameters) and "T" not in others
        return _as_int(value, form.parameters[place]) if fits else value

    def older(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name where they fit a deprecated form alone, which is warned of once."""
        form = self.form(args, kwargs) if self.has_older else None
        if form is None or not form.hidden:
            return None
        if not self.warned:
            self.warned = True
            now = "\n\t".join(f"{self.name}({s.text()})" for s in self.signatures if not s.hidden)
            text = f"This overload of {self.name} is deprecated:\n\t{self.name}({form.text()})\n"
            warnings.warn(
                f"{text}Consider using one of the following signatures instead:\n\t{now}", UserWarning, stacklevel=4
            )
        return form.bound(args, kwargs)

    def _unwanted(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError | None:
        if kwargs:
            return TypeError(f"Tensor.{self.name}() takes no keyword arguments")
        return TypeError(f"Tensor.{self.name}() takes no arguments ({len(args)} given)") if args else None

    def _best(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError:
        """The error of the only form that so many arguments could be meant for, else of all."""
        count = len(args) + len(kwargs)
        meant = [s for s in self.signatures if not s.hidden and s.least <= count <= len(s.parameters)]
        if len(self.signatures) == 1 or len(meant) == 1:
            refusal = (meant or self.signatures)[0].refusal(self.name, args, kwargs)
            assert refusal is not None
            return refusal()
        visible = [s for s in self.signatures if not s.hidden]
        text = f"{self.name}() received an invalid combination of arguments - got "
        if len(visible) == 1:
            return TypeError(text + visible[0].beside(args, kwargs))
        return TypeError(f"{text}({_types_of(args, kwargs)}), but expected one of:")


def _types_of(args: tuple[Any, ...], kwargs: Mapping[str, Any], marks: str = "") -> str:
    """The kinds of what was given; with `marks`, a `!` for each that does not fit its place."""
    kinds = [*map(type_name, args), *(f"{key}={type_name(value)}" for key, value in kwargs.items())]
    if marks:
        kinds = [f"!{kind}!" if mark == "!" else kind for kind, mark in zip(kinds, marks, strict=True)]
    return ", ".join(kinds) + (", " if kwargs and not args else "")  # torch's own comma


class PythonReader:
    """The reader of a function that torch has in Python and that passes arguments on to one in C++, which checks their
    types. Python itself checks that the arguments are there and have its names.

    Whether its own arguments are there and have its names, Python says.
    """

    early, least = True, 1

    def __init__(self, function: Callable[..., Any], text: str) -> None:
        words = text.split()
        self.name = function.__name__ if ":" in words[0] else words.pop(0)
        star = words.index("*") if "*" in words else len(words)
        self.names = [word.partition(":")[0].partition(">")[0] for word in words if word != "*"]
        self.handed = [
            Parameter(word.rpartition(">")[2], place > star) for place, word in enumerate(words) if word != "*"
        ]
        parameters = inspect.signature(function).parameters.values()
        self.own = [p.name for p in parameters]
        self.needed = {p.name for p in parameters if p.default is p.empty}

    def refusal(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError | None:
        """torch's error for what does not fit where it arrives."""
        if len(args) > len(self.own) or not kwargs.keys() <= set(self.own[len(args) :]):
            return None
        values = dict(zip(self.own, args, strict=False)) | dict(kwargs)
        if not self.needed <= values.keys():
            return None
        for place, (name, parameter) in enumerate(zip(self.names, self.handed, strict=True)):
            if name not in values or (values[name] is None and parameter.may_be_none):
                continue
            if not parameter.fits(values[name], False):
                return _misfit(self.name, parameter, values[name], None if parameter.named_only else place, ())
        return None

    def older(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """No form of these is deprecated."""

    def spelled(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Python takes no other names."""
        return kwargs


def _names(lines: Iterable[str]) -> dict[str, str]:
    """A table of `names: signature` lines, by name."""
    result = {}
    for line in lines:
        names, _, signature = line.strip().partition(" :: ")
        result.update(dict.fromkeys(names.split(), signature))
    return result


def table(text: str) -> dict[str, str]:
    """The signatures of a table by name; a line is `names :: signature`, and may go on indented."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            lines[-1] += line.rstrip()[3:]
        else:
            lines.append(line)
    return _names(lines)
