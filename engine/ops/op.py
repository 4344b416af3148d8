"""An op is declared once: a kernel, and one rule (vector-Jacobian product) per differentiable input.

    mul = op("mul", xp.multiply, Traits(promote=promote),
             self=lambda grad, other: grad * other,
             other=lambda grad, self: grad * self)

The names of a rule's parameters say what backward needs:

=============== =======================================================
`grad`          the upstream gradient (`grads`: one per output, of an op with several differentiable outputs)
an input's name its value (a number where a number was given)
`result`        the output (`results`: all of them; `result1`: the one of that number)
a static name   the argument, with its default filled in
`self_sizes`    the shape of the input `self` (and so on)
=============== =======================================================

They are checked here, at import, and compiled into a save plan.  A rule calls only operators and other ops, so that it
runs on raw arrays, on Tensors (`create_graph=True`), on symbols (the formula) and on arrays read from a file alike.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from numpy import ndarray

from ..arrays.array import Array, Arrays
from ..arrays.promotion import promote, promote_difference, promote_float
from .presentation import NOTHING_KNOWN, Presentation

Rule = Callable[..., Any]
Handler = Callable[["Op", tuple[Any, ...], dict[str, Any]], Any]

HANDLERS: dict[type, Handler] = {}
"""How an op treats a kind of value: Tensors record themselves, symbols become expressions; arrays are the default."""
IDENTITY = (lambda grad: grad).__code__.co_code
"""The rule of an addition: it need not be called."""
NUMBERED = {f"result{nr}": nr for nr in range(4)}
"""The saved names of single outputs."""
REGISTRY: dict[str, Op] = {}
"""Every op by its name."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Further properties of an op.

    `promote` brings the arguments to one dtype before the kernel; `node` is torch's name of the node where it is not
    the op's own (`PowBackward0`); `view` ops share the storage of their first input; ops that are `unsafe` share its
    memory and are no views, as nobody should write the one while the other is used; `differentiable` are the outputs
    that carry gradient (None: all of floating dtype); `write(self, ...)` is the in-place kernel where computing the
    whole result and copying it would waste work.  `fused`: torch computes the derivative by one function of the
    upstream gradient and of what is saved, so that with `create_graph` it hangs on all of these; where it does not
    change with one, the derivative of that function for it is "zeros", or "none" at all.

    In place: `replaces` ops leave nothing of what was there, so that the rule of `copy_slices` says all of a write to a
    view; `reads_first` ops are computed before anything is written, so they may read what they write; `by_place` ops
    write elements by their places, so they may read nothing of it.  An op that `repeats` may write one element of an
    expanded tensor more than once; it has what torch's warning calls it, or () where there is no warning.
    """

    promote: Callable[[list[Any]], list[Any]] | None = None
    node: str | None = None
    view: bool = False
    unsafe: bool = False
    differentiable: tuple[int, ...] | None = None
    write: Callable[..., None] | None = None
    fused: str = ""
    replaces: bool = False
    reads_first: bool = False
    by_place: bool = False
    repeats: tuple[str, ...] | None = None


PLAIN = Traits()
SAME = Traits(promote=promote)
FLOAT = Traits(promote=promote_float)
DIFFERENCE = Traits(promote=promote_difference)
VIEW = Traits(view=True)
READS_FIRST = Traits(reads_first=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a node for one set of inputs that need gradients: what it keeps and what it calls.

    `names` are the saved names, `pick` where they stand in (*inputs, result, *statics, *outputs); a negative one `~i`
    means the shape of input `i`.  `tensors` are the places in `names` that hold tensors (freed after backward).
    `calls` has one (edge, rule, places in `names`) per input that needs a gradient.  `run(grad, node)` is all of it on
    arrays: the cotangent per edge, None where none is needed.  `inputs` has the bits of
    the inputs that are saved, where that is all, in their order; `of_result`: the result is all that is saved; `frees`:
    there is something to free.
    """

    op: Op
    names: tuple[str, ...]
    pick: tuple[int, ...]
    tensors: tuple[int, ...]
    calls: tuple[tuple[int, Rule, tuple[int, ...]], ...]
    needs: int
    run: Callable[..., Sequence[Any]]
    inputs: int
    of_result: bool
    frees: bool


@dataclass(eq=False)
class Op:
    """A declared op; see the module's text.  `inputs` are the tensor parameters, `statics` the others with defaults."""

    name: str
    kernel: Callable[..., Any]
    traits: Traits
    presentation: Presentation
    rules: Mapping[str, Rule]
    inputs: tuple[str, ...]
    lists: frozenset[str]
    statics: dict[str, Any]
    node_name: str
    arity: int
    differentiable: tuple[str, ...]
    signature: inspect.Signature
    plans: dict[int, Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = tuple(self.inputs.index(name) for name in self.differentiable)
        self.mask = sum(1 << place for place in self.places)
        self.edge_places = {place: edge for edge, place in enumerate(self.places)}
        self.promote = self.traits.promote
        self.view, self.unsafe = self.traits.view, self.traits.unsafe
        carriers = self.traits.differentiable
        self.carrier = carriers[0] if carriers is not None and len(carriers) == 1 else None
        self.function = self.presentation.name or self.name.partition(".")[0].strip("_").removeprefix("special_")

    def list_lengths(self, edges: int) -> list[tuple[int, int]]:
        """(input position, number of edges) of the differentiable inputs, of a node with `edges` edges."""
        others = sum(name not in self.lists for name in self.differentiable)
        return [(self.inputs.index(name), edges - others if name in self.lists else 1) for name in self.differentiable]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Split the arguments of a call into inputs and static arguments, defaults filled in."""
        arity = self.arity
        if not kwargs and len(args) == arity:
            return args, self.statics
        if len(args) >= arity:
            statics = dict(self.statics)
            names = list(statics)
            rest = args[arity:]
            if len(rest) <= len(names) and all(k in statics and names.index(k) >= len(rest) for k in kwargs):
                statics.update(zip(names, rest, strict=False))
                statics.update(kwargs)
                return args[:arity], statics
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        return tuple(values[n] for n in self.inputs), {n: values[n] for n in self.statics}

    def plan(self, needs: int, numbers: int = 0) -> Plan:
        """The save plan when the inputs whose bits are set in `needs` need gradients; in `numbers`, are no tensors."""
        key = needs | numbers << self.arity
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = _plan(self, needs, numbers)
        return plan


class OpFunction(Protocol):
    """A function that calls an op, on arrays, Tensors or symbols, and has its declaration."""

    op: Op
    __name__: str
    __qualname__: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the op for its inputs and static arguments."""


def op(
    name: str, kernel: Callable[..., Any], traits: Traits = PLAIN, presentation: Presentation = NOTHING_KNOWN, /,
    **rules: Rule,
) -> OpFunction:  # fmt: skip
    """Declare an op and return the function that calls it, on arrays, Tensors or symbols.

    Raises TypeError where a rule asks for a name that the kernel does not have, and where the name is taken.

    >>> cube = op("_doc_cube", lambda self: self * self * self, self=lambda grad, self: grad * 3 * self * self)
    >>> float(cube(2.0))
    8.0
    >>> del REGISTRY["_doc_cube"]
    """
    if name in REGISTRY:
        raise TypeError(f"op {name!r} is declared twice")
    signature = _signature(kernel, rules)
    inputs, lists, statics = _parameters(signature, rules)
    node_name = traits.node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
    declared = Op(
        name, kernel, traits, presentation, rules, inputs, lists, statics, node_name, len(inputs),
        tuple(n for n in inputs if n in rules), signature,
    )  # fmt: skip
    _check(declared)
    REGISTRY[name] = declared
    return _function(declared)


def _function(op: Op) -> OpFunction:
    """The function users call: it looks at the kinds of the arguments, once, in the order in which they stand."""
    kernel, handlers = op.kernel, HANDLERS.get

    def one(self: Any, /) -> Any:
        handler = handlers(type(self))
        return kernel(self) if handler is None else handler(op, (self,), {})

    def two(self: Any, other: Any, /) -> Any:
        handler = handlers(type(self)) or handlers(type(other))
        return kernel(self, other) if handler is None else handler(op, (self, other), {})

    def call(*args: Any, **kwargs: Any) -> Any:
        for value in args:
            handler = handlers(type(value))
            if handler is not None:
                return handler(op, args, kwargs)
        for value in kwargs.values():
            handler = handlers(type(value))
            if handler is not None:
                return handler(op, args, kwargs)
        return kernel(*args, **kwargs)

    def call_with_lists(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            for item in value if isinstance(value, (list, tuple)) else (value,):
                handler = handlers(type(item))
                if handler is not None:
                    return handler(op, args, kwargs)
        return kernel(*args, **kwargs)

    of_tensors: dict[int, Callable[..., Any]] = {1: one, 2: two}
    plain = None if op.statics else of_tensors.get(op.arity)
    function = cast(OpFunction, call_with_lists if op.lists else plain or call)
    function.__name__ = function.__qualname__ = op.name
    function.op = op
    function.__doc__ = op.kernel.__doc__ if not hasattr(op.kernel, "nin") else f"torch.{op.name}, elementwise."
    return function


BY_HAND: dict[Rule, Callable[..., Any]] = {}
"""The rules with a kernel by hand, and that."""


def by_hand(kernel: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a rule of one saved value: on arrays `kernel` computes the same, bit for bit, and sooner.

    Tensors and symbols take the formula itself: the graph of a double backward and the text on the screen are its.
    """

    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(formula)
        def call(grad: Any, value: Any, /) -> Any:
            # What numpy makes of arrays without a dimension is no array that could be written into.
            return kernel(grad, value) if type(grad) is ndarray and grad.ndim else formula(grad, value)

        BY_HAND[call] = kernel
        return call

    return decorate


def _signature(kernel: Callable[..., Any], rules: Mapping[str, Rule]) -> inspect.Signature:
    if hasattr(kernel, "nin"):  # a ufunc: its inputs are named by the rules
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kinds) for name in rules])
    return inspect.signature(kernel)


def _parameters(
    signature: inspect.Signature, rules: Mapping[str, Rule]
) -> tuple[tuple[str, ...], frozenset[str], dict[str, Any]]:
    inputs, lists, statics = [], set(), {}
    for name, parameter in signature.parameters.items():
        marked = str(parameter.annotation)
        if name in rules or marked.startswith("Array"):
            inputs.append(name)
            if marked.startswith("Arrays"):
                lists.add(name)
        else:
            statics[name] = parameter.default
    return tuple(inputs), frozenset(lists), statics


def _check(op: Op) -> None:
    """Fail at import where a rule could not run."""
    sizes = (f"{n}_sizes" for n in op.inputs)
    names = {"grad", "grads", "result", "results", *NUMBERED, *op.inputs, *op.statics, *sizes}
    for target, rule in op.rules.items():
        if target not in op.inputs:
            raise TypeError(f"op {op.name!r} has a rule for {target!r}, which is not a parameter of its kernel")
        for need in inspect.signature(rule).parameters:
            if need not in names:
                raise TypeError(f"the rule of {op.name!r} for {target!r} asks for {need!r}; known are {sorted(names)}")


def _plan(op: Op, needs: int, numbers: int) -> Plan:
    """Compile which values a node keeps, and how each rule finds them, for one set of inputs."""
    where: dict[str, int] = {n: i for i, n in enumerate(op.inputs)}
    where.update({f"{n}_sizes": ~i for i, n in enumerate(op.inputs)})
    where["result"] = where["results"] = op.arity
    where.update({n: op.arity + 1 + i for i, n in enumerate(op.statics)})
    first = op.arity + 1 + len(op.statics)
    where.update({n: first + nr for n, nr in NUMBERED.items()})
    rule_parameters = {need for rule in op.rules.values() for need in inspect.signature(rule).parameters}
    # One function for all derivatives takes what any of them takes, whichever of them is wanted.
    names = [name for name in op.inputs if op.traits.fused and name in rule_parameters]
    calls = []
    for name in sorted(op.differentiable):  # torch's order, which the order of a double backward follows
        position = op.inputs.index(name)
        if not needs >> position & 1:
            continue
        parameters = list(inspect.signature(op.rules[name]).parameters)
        places = []
        for want in parameters:
            if want in ("grad", "grads"):
                places.append(-1)
                continue
            if want not in names:
                names.append(want)
            places.append(names.index(want))
        calls.append(
            (op.edge_places[position], _grad_first(op.rules[name], parameters), tuple(p for p in places if p >= 0))
        )
    tensors = tuple(i for i, n in enumerate(names) if n in op.inputs or n in ("result", "results") or n in NUMBERED)
    pick = tuple(where[n] for n in names)
    plain = frozenset(i for i in tensors if pick[i] >= op.arity or not numbers >> pick[i] & 1)
    inputs = sum(1 << place for place in pick) if all(0 <= p < op.arity for p in pick) and pick != (1, 0) else 0
    run = _compiled(op, names, plain, calls)
    frees = bool(tensors)
    return Plan(op, tuple(names), pick, tensors, tuple(calls), needs, run, inputs, names == ["result"], frees)


def _compiled(
    op: Op, names: list[str], tensors: frozenset[int], calls: list[tuple[int, Rule, tuple[int, ...]]]
) -> Callable[..., Sequence[Any]]:
    """The rules of a plan as one function of the upstream gradient and the node, as one would write it by hand.

    Of `mul`, whose two inputs both need a gradient:

        def run(grad, node):
            saved = node.saved
            if saved is None: raise node.freed_error()
            v0, v1, = saved
            if v0._shared is not None and v0._shared.version or ...: node.check_versions()
            return rule0(grad, v0._array), rule1(grad, v1._array),

    A node runs it once per backward: a loop over the plan would take as long as the rules themselves.
    """

    def spelled(place: int) -> str:
        is_list = names[place] in op.lists or names[place] == "results"
        return f"arrays(v{place})" if is_list else f"v{place}._array" if place in tensors else f"v{place}"

    lines = ["def run(grad, node):"]
    if names:
        lines += [" saved = node.saved", " if saved is None: raise node.freed_error()"]
        lines += [f" {' '.join(f'v{place},' for place in range(len(names)))} = saved"]
    has_list = any(names[place] in op.lists or names[place] == "results" for place in tensors)
    conditions = (
        ["True"]
        if has_list
        else [f"v{place}._shared is not None and v{place}._shared.version" for place in sorted(tensors)]
    )
    if conditions:
        lines.append(f" if {' or '.join(conditions)}: node.check_versions()")
    cotangents = ["None"] * len(op.places)
    for number, (edge, rule, picked) in enumerate(calls):
        arguments = ", ".join(["grad", *map(spelled, picked)])
        cotangents[edge] = "grad" if rule.__code__.co_code == IDENTITY else f"{_called(rule, number)}({arguments})"
    arguments = " ".join(f"{one}," for one in cotangents)
    lines.append(f" return spread(node, ({arguments}))" if op.lists else f" return {arguments}")
    scope: dict[str, Any] = {f"rule{number}": rule for number, (_, rule, _) in enumerate(calls)}
    scope.update({f"hand{number}": BY_HAND.get(rule) for number, (_, rule, _) in enumerate(calls)})
    scope |= {"spread": spread, "ndarray": ndarray}
    scope["arrays"] = lambda values: [getattr(v, "_array", v) for v in values]
    exec("\n".join(lines), scope)  # noqa: S102 - names are checked above, values are looked up: nothing of a user's
    return scope["run"]


def _called(rule: Rule, number: int) -> str:
    """The function that is called for a rule, as `by_hand` chooses, without the frame in between."""
    return (
        f"(hand{number} if type(grad) is ndarray and grad.ndim else rule{number})"
        if rule in BY_HAND
        else f"rule{number}"
    )


def _grad_first(rule: Rule, parameters: list[str]) -> Rule:
    """The rule as a function of (grad, *saved): that is how most are written, and then it is the rule itself."""
    if parameters and parameters[0] in ("grad", "grads"):
        return rule
    if "grad" not in parameters and "grads" not in parameters:
        return lambda grad, *saved: rule(*saved)
    raise TypeError(f"the upstream gradient comes first in a rule's parameters, found {parameters}")


def spread(node: Any, cotangents: Sequence[Any]) -> list[Any]:
    """The cotangent per edge of an op that takes lists: its rule for a list gives one per element."""
    op = node.op
    arguments: list[Any] = []
    for cotangent, (position, length) in zip(cotangents, op.list_lengths(len(node.targets)), strict=True):
        if cotangent is None:
            arguments.extend([None] * length)
        else:
            arguments.extend(cotangent if op.inputs[position] in op.lists else [cotangent])
    return [c if target is not None else None for c, target in zip(arguments, node.targets, strict=True)]


def _unknown(input: Arrays) -> Array:
    """Raise NotImplementedError: a custom Function computes by the user's code, which is in no registry."""
    raise NotImplementedError("the forward of a custom Function is the user's own code: it is not run again")


CUSTOM = Op(
    "custom_function", _unknown, PLAIN, NOTHING_KNOWN, {}, ("input",), frozenset({"input"}), {}, "", 1, ("input",),
    inspect.signature(_unknown),
)  # fmt: skip
"""Stands for any custom Function; not in the registry."""


def call_kernel(op: Op, inputs: tuple[Array, ...], attrs: Mapping[str, Any]) -> Any:
    """Run the kernel on arrays with promotion, as dispatch does: for replay, details and checks."""
    values = list(inputs)
    if op.traits.promote:
        values = op.traits.promote(values)
    return op.kernel(*values, **attrs)
