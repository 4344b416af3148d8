"""The names under which a program holds its modules, and those of their parameters; the steps of its optimisers."""

from __future__ import annotations

import functools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from inspect import CO_OPTIMIZED
from math import isfinite
from types import FrameType
from typing import Any, Generic, TypeVar

from ..arrays.session import is_users

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
BUFFERS: set[int] = set()
"""Ids of the tensors that modules registered as buffers (an id may by now belong to another tensor): besides
parameters, only these are looked up in modules."""
MOST = 1_000
"""The most entries of a list or a dict that are searched."""


T = TypeVar("T")


class WeakIdentityMap(Generic[T]):
    """Notes about objects, by their identity: each entry is dropped with its object.

    >>> class Module: ...
    >>> module, names = Module(), WeakIdentityMap[str]()
    >>> names.note(module, "net")
    >>> names.get(module), names.get(Module()), len(names)
    ('net', None, 1)
    >>> del module
    >>> len(names)
    0
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], T]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, thing: object) -> bool:
        return id(thing) in self._entries

    def get(self, thing: object) -> T | None:
        """The note about an object; None without one."""
        entry = self._entries.get(id(thing))
        return None if entry is None else entry[1]

    def note(self, thing: Any, value: T) -> None:
        """Note this, in place of what was noted before."""
        key, entries = id(thing), self._entries
        before = entries.get(key)
        reference = weakref.ref(thing, lambda _: entries.pop(key, None)) if before is None else before[0]
        entries[key] = reference, value


def rate_of(optimizer: Any) -> float | None:
    """The learning rate of an optimiser's first parameter group; None where that is not a finite Python number."""
    rate = next((group.get("lr") for group in optimizer.param_groups), None)
    return float(rate) if isinstance(rate, (int, float)) and isfinite(rate) else None


def begun_after_closure(args: tuple[Any, ...], kwargs: dict[str, Any], begin: Callable[[], object]) -> Arguments:
    """The arguments of `step`, the optimiser first, so that `begin` is called once the closure has run for the first
    time; without a closure, it is called now.

    What the closure computes is the forward and the backward pass, no part of the update, also where a trainer hides it
    from the program, as Lightning does.

    >>> order = []
    >>> loss, update = (lambda: order.append("loss")), (lambda: order.append("update"))
    >>> args, kwargs = begun_after_closure(("optimizer", loss), {}, update)
    >>> args[1](), args[1](), order
    (None, None, ['loss', 'update', 'loss'])
    """
    closure = kwargs.get("closure") or next(iter(args[1:2]), None)
    if not callable(closure):
        begin()
        return args, kwargs
    waiting = [begin]

    @functools.wraps(closure)
    def first(*passed: Any, **named: Any) -> Any:
        out = closure(*passed, **named)
        if waiting:
            waiting.pop()()
        return out

    return ((args[0], first, *args[2:]), kwargs) if args[1:] else (args, {**kwargs, "closure": first})


def best_name(noted: str | None, called: str) -> str:
    """The name of a tensor, given its recorded name and the one by its module: that of the module, but in the program's
    own spelling if both are the same.

    >>> best_name("module.weight", "net.0.weight"), best_name("net[0].weight", "net.0.weight")
    ('net.0.weight', 'net[0].weight')
    """
    is_same = noted is not None and noted.replace("[", ".").replace("]", "") == called
    return noted if is_same and noted is not None else called


class Names:
    """The program's names of the modules, parameters and buffers in a recording, none of which it keeps alive.

    The name of a tensor may be found only when its module is called, after the tensor was recorded: these names are in
    `called`.  A tensor has a number below `first` until the recording meets it.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._names = WeakIdentityMap[str]()  # of modules and parameters
        self._holders = WeakIdentityMap[str]()  # by module: the prefix of the names in it
        self._parts = WeakIdentityMap[tuple[str, str]]()  # source and name of the tensors in modules before a call
        self._searched = WeakIdentityMap[bool]()  # the modules that were searched for them
        self.called: dict[int, str] = {}  # names of tensors recorded before their module was called,
        self.renamed: deque[int] = deque()  # and the tensors in the order in which they got one
        self.pauses = 0
        """How often the recording has paused: what modules have may be other numbers since."""
        self._brought = WeakIdentityMap[int]()  # by module: after how many pauses its tensors were looked at
        self._holding = WeakIdentityMap[tuple[int | None, ...]]()  # the last report of an optimiser

    def of(self, thing: Any) -> str:
        """The qualified name of a parameter of a module; "parameter" for any other."""
        name = self._names.get(thing)
        return "parameter" if name is None else name

    def held_by(self, optimizer: Any) -> tuple[int | None, ...]:
        """The tensors that an optimiser updates and that require a gradient, None for one that was not used so far; ()
        if they are the same as in the last report."""
        params = [param for group in optimizer.param_groups for param in group["params"] if param._requires_grad]
        tensors = tuple([param._id if param._id >= self._first else None for param in params])
        before = self._holding.get(optimizer)
        self._holding.note(optimizer, tensors)
        return () if tensors == before else tensors

    rate_of = staticmethod(rate_of)

    def entered(self, module: Any, see: Callable[..., object], outermost: bool) -> str:
        """The name of a module that is called.  The outermost one determines the names of everything in it, and has the
        name by which the program reaches it; `see` adds its tensors to the recording."""
        inner_name, outer_name = self._names.get(module), ""
        if inner_name is None or outermost:
            for name, inner in module.named_modules():
                self._names.note(inner, name)
            if outermost:
                outer_name = self._bring(module, see).removesuffix(".")
            inner_name = self._names.get(module)
        return outer_name or inner_name or type(module).__name__

    def _bring(self, module: Any, see: Callable[..., object]) -> str:
        """Register the parameters and buffers of a module under the names by which the program reaches them; returns
        the prefix of these names."""
        before = self._holders.get(module)
        if before is None:
            path = held_as(module, sys._getframe(2))
            before = f"{path}." if path else ""
            self._holders.note(module, before)
        may_differ = self.pauses > 0 and self._brought.get(module) != self.pauses
        self._brought.note(module, self.pauses)
        for source, qualified, tensor in parts_of(module):
            name = before + qualified
            self._names.note(tensor, name)
            if may_differ or tensor._id < self._first:
                see(tensor, source, name)
            self.call(tensor._id, name)
        return before

    def call(self, tensor: int, name: str) -> None:
        """A tensor in a called module has this name, whatever a helper function that wrote it before has called it:
        `module` in `self.apply(self._init_weights)`.  If two modules contain it, the outer one counts."""
        earlier_name = self.called.get(tensor)
        if earlier_name is None or name.endswith(f".{earlier_name}"):
            self.called[tensor] = name
            self.renamed.append(tensor)

    def reached(self, tensor: Any) -> tuple[str, str | None]:
        """(source, name) of a tensor from before the recording, found in a module that the program freezes or writes
        before its first call."""
        may_be = type(tensor).__name__ == "Parameter" or id(tensor) in BUFFERS
        for path, module in held_modules(sys._getframe(2)) if may_be and tensor not in self._parts else ():
            self._look_into(path, module)
        return self._parts.get(tensor) or ("seen", None)

    def _look_into(self, path: str, module: Any) -> None:
        """Take note of the names of all tensors in a module and in the lists that it has, once."""
        if module in self._searched:
            return
        self._searched.note(module, True)
        for source, qualified, part in parts_of(module):
            if part not in self._parts:
                self._parts.note(part, (source, f"{path}.{qualified}"))
        for place, inner in modules_in_lists(path, module):
            self._look_into(place, inner)


def parts_of(module: Any) -> Iterator[tuple[str, str, Any]]:
    """(source, qualified name, tensor) of the parameters and buffers of a module."""
    for source in ("parameter", "buffer"):
        yield from ((source, name, tensor) for name, tensor in getattr(module, f"named_{source}s")())


def held_as(module: Any, frame: FrameType | None) -> str:
    """`model`, `model.encoder`, `layers[0]`, `net` where that is `self.net`; "" if no name is found.  The outermost
    user frame counts, in which `model` is still `model` and not the `m` of a helper function; of several names, the
    first.
    """
    variables = [*_names(frame), *_globals(frame)]
    for look in (_directly, _in_objects):
        for name, value in variables:
            place = next(look(name, value, module), None)
            if place is not None:
                return place
    return ""


def held_modules(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The modules that the user's frames have under a name, or in a list, a tuple or a dict: (`model`, the module).
    The outermost frame comes first.  `self` is left out, because it does not say who has the module.
    """
    for name, value in _names(frame):
        if type(value) in (list, tuple):
            yield from ((f"{name}[{place}]", item) for place, item in enumerate(value[:MOST]) if _is_module(item))
        elif type(value) is dict and len(value) <= MOST:
            yield from ((f"{name}[{key!r}]", item) for key, item in value.items() if _is_module(item))
        elif name != "self" and _is_module(value):
            yield name, value


def modules_in_lists(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    """The modules in plain lists, tuples and dicts that are attributes of a module or of a part of it, which do not
    belong to it: (`net.blocks[0]`, the block).  Without this, each has the name of a loop's variable."""
    for path, inner in module.named_modules():
        before = f"{name}.{path}" if path else name
        for key, items in list(getattr(inner, "__dict__", {}).items()):
            if key.startswith("_") or type(items) not in (list, tuple, dict) or len(items) > MOST:
                continue
            places = items.items() if type(items) is dict else enumerate(items)
            yield from ((f"{before}.{key}[{place!r}]", item) for place, item in places if _is_module(item))


def _names(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The variables of the user's frames, the outermost frame first."""
    frames = []
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    spaces = {id(outer.f_globals) for outer in frames}  # exec() keeps a program's names in a dict
    for outer in reversed(frames):
        variables = outer.f_locals
        names = [(name, value) for name, value in variables.items() if id(value) not in spaces]
        if outer.f_code.co_flags & CO_OPTIMIZED and type(variables) is dict:
            variables.clear()  # up to Python 3.12 a copy, which would keep these objects alive until the function ends
        yield from names


def _globals(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The global names of the outermost user frame, if that is a function, as it is in a thread."""
    outer = None
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            outer = frame
        frame = frame.f_back
    if outer is not None and outer.f_code.co_flags & CO_OPTIMIZED:
        yield from list(outer.f_globals.items())


def _is_module(value: Any) -> bool:
    return isinstance(getattr(type(value), "named_modules", None), type(_directly))


def _directly(name: str, value: Any, module: Any) -> Iterator[str]:
    """The name itself, or that of a list, a dict or another module that contains it."""
    if value is module:
        yield name
    elif type(value) in (list, tuple):
        yield from (f"{name}[{place}]" for place, item in enumerate(value[:MOST]) if item is module)
    elif type(value) is dict and len(value) <= MOST:
        yield from (f"{name}[{key!r}]" for key, item in value.items() if item is module)
    elif _is_module(value) and name != "self":
        yield from (f"{name}.{path}" for path, inner in value.named_modules() if inner is module)


def _in_objects(name: str, value: Any, module: Any) -> Iterator[str]:
    """An attribute of a user's object, or a module in one: `agent.actor`, `agent.policy.critic`; inside its methods,
    `actor`, also of a module whose steps a trainer calls."""
    if name == "self" and _is_module(value):
        yield from (path for path, inner in value.named_modules() if inner is module and path)
    elif type(value).__module__ != "builtins" and not isinstance(value, type):
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict and len(attributes) <= MOST:
            before = "" if name == "self" else f"{name}."
            yield from (f"{before}{key}" for key, item in attributes.items() if item is module)
            for key, item in list(attributes.items()):
                if _is_module(item):
                    yield from _directly(f"{before}{key}", item, module)
