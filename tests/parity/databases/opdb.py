"""torch's own database of ops as an oracle: its samples run here and in torch, and what is unlike is told.

`torch.testing._internal` has for each op sample inputs per dtype, samples that must be refused, and which of its forms
(function, method, in place) there are.  Tensors cross over through numpy; torch's names inside of a sample or of an
op's definition become the engine's.
"""

from __future__ import annotations

import importlib
import itertools
import random
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

import engine
from tests.parity.helpers.saying import first_sentence

torch: Any = pytest.importorskip("torch")
# Which unittest asks for samples: none, and looking through the stack for it takes longer than most comparisons.
for holder in ("common_utils", "opinfo.core"):
    cast(Any, importlib.import_module(f"torch.testing._internal.{holder}")).extract_test_fn = lambda: None
# Every sample sets seeds, and each device that is not there would keep the whole stack of who set its own.
for device in (torch.cuda, torch.xpu, torch.mtia):
    device.manual_seed_all = lambda seed: None

DTYPES = ("float64", "float32", "int64", "bool")
SAMPLES, REACH = 12, 72
"""So many samples per op and dtype, spread over so many of the first."""
TWICE = 200
"""Up to so many elements a sample is differentiated twice."""
NEAR = {"float64": (1e-7, 1e-8), "float32": (1e-3, 2e-4), "float16": (1e-2, 1e-3)}
"""Tolerances; the gradients of float32 are sums whose order torch's threads and ours do not share."""
ROUNDINGS = 16
"""So many units in the last place of a result's largest element may be lost to the order of sums in the others."""
MOST_DIMENSIONS = 64  # numpy's; one error of torch's is about 65
KNOWN_DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
PLACES = (
    ("", torch), ("nn.functional", torch.nn.functional), ("nn.functional", torch._C._nn), ("linalg", torch.linalg),
    ("special", torch.special), ("", torch.functional), ("Tensor", torch.Tensor),
)  # fmt: skip
"""Where a function of torch is looked for, and the same place in the engine."""
Call = Callable[..., Any]


class OutOfReach(Exception):
    """A sample that holds what the engine leaves out on purpose: complex and sparse tensors, other dtypes."""


class Absent(Exception):
    """The engine has no such op."""


# -- from torch to the engine -------------------------------------------------------------------------------------


@dataclass
class Crossing:
    """Values of torch as values of the engine; tensors that share memory there share it here."""

    memory: dict[int, Any] = field(default_factory=dict)
    crossed: dict[int, Any] = field(default_factory=dict)

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.crossed:
                self.crossed[id(value)] = self.tensor(value)
            return self.crossed[id(value)]
        if isinstance(value, torch.dtype):
            return _dtype(value)
        if isinstance(value, complex):
            raise OutOfReach("a complex number")
        if isinstance(value, (list, tuple)):
            crossed = [self(item) for item in value]
            return type(value)(*crossed) if hasattr(value, "_fields") else _same_kind(value)(crossed)
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, torch.nn.Module):
            made = answer(getattr(engine.nn, type(value).__name__))
            if isinstance(made, Exception):
                raise OutOfReach("a module that is made of arguments")
            return made
        if isinstance(value, torch.Generator):
            return engine.Generator()
        if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
            return _named(value)
        return rebound(value) if callable(value) else value

    def tensor(self, value: Any) -> Any:
        """The same numbers, laid out in the same way; a leaf."""
        if value.layout is not torch.strided or value.is_meta:
            raise OutOfReach(str(value.layout))
        _dtype(value.dtype)
        bare, storage = value.detach(), value.untyped_storage()
        place, held = storage.data_ptr(), storage.nbytes() // bare.element_size()
        if (bare.numel() and not held) or bare.dim() > MOST_DIMENSIONS:
            raise OutOfReach("an array that numpy cannot hold")
        whole = bare.numel() == held and bare.is_contiguous()
        if place not in self.memory or not place:
            flat = bare if whole else bare.as_strided((held,), (1,), 0)
            self.memory[place] = engine.from_numpy(flat.numpy(force=True).copy())
            if whole:
                return self.memory[place].requires_grad_(value.requires_grad)
        made = self.memory[place].detach().as_strided(bare.shape, bare.stride(), bare.storage_offset())
        return made.requires_grad_(value.requires_grad)


def _same_kind(value: Any) -> Any:
    return engine.Size if isinstance(value, torch.Size) else type(value)


def _dtype(value: Any) -> Any:
    name = str(value).removeprefix("torch.")
    if name not in KNOWN_DTYPES:
        raise OutOfReach(name)
    return getattr(engine, name)


def _named(value: Any) -> Any:
    if isinstance(value, torch.device):
        return engine.device(str(value))
    try:
        return getattr(engine, str(value).removeprefix("torch."))
    except AttributeError:
        raise OutOfReach(str(value)) from None


def rebound(function: Any) -> Call:
    """A function of torch as the engine's; one that the database defines itself, with the engine in torch's place."""
    if isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing"):
        cells = [types.CellType(_crossed(cell.cell_contents)) for cell in function.__closure__ or ()]
        names = {**function.__globals__, "torch": engine, "F": engine.nn.functional}
        made = types.FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, tuple(cells) or None
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made
    name = getattr(function, "__name__", "")
    for place, holder in PLACES:
        if name and getattr(holder, name, None) is function:
            return cast(Call, found(f"{place}.{name}".removeprefix(".")))
    if isinstance(function, type) or not name:
        return cast(Call, function)
    raise Absent(name)


def _crossed(value: Any) -> Any:
    return rebound(value) if callable(value) else value


def found(name: str) -> Any:
    """What the engine has under a dotted name.  Raises Absent."""
    value: Any = engine
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise Absent(name) from None
    return value


def counterpart(info: Any) -> Call:
    """The engine's function for an entry of the database."""
    if isinstance(info.op, types.FunctionType) and info.op.__module__.startswith("torch.testing"):
        return rebound(info.op)
    try:
        return cast(Call, found(info.name))
    except Absent:
        if type(info.op).__name__ not in ("method_descriptor", "wrapper_descriptor"):
            raise
        return cast(Call, found(f"Tensor.{info.op.__name__}"))


# -- what both say ------------------------------------------------------------------------------------------------


def answer(function: Call, *args: Any, **kwargs: Any) -> Any:
    """What a call gives, or the error that it raises; Absent where the engine lacks a name on the way."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch says some only once in a process
            return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        if isinstance(error, Absent) or getattr(getattr(error, "obj", None), "__name__", "").startswith("engine"):
            raise Absent(str(error)) from None
        return error


def tensors(value: Any, kind: type) -> list[Any]:
    """The tensors in a value, in order."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in tensors(item, kind)] if isinstance(value, (list, tuple)) else []


def parts(value: Any) -> list[Any]:
    """What a result consists of: tensors and other values."""
    nested = isinstance(value, (list, tuple)) and type(value).__name__ != "Size"
    return [part for item in value for part in parts(item)] if nested else [value]


def unlike(mine: Any, yours: Any, values: bool = True, laid: bool = True) -> str | None:
    """What tells a result of the engine from torch's: an error, kind, dtype, shape, a value, or how it is `laid`."""
    if isinstance(yours, Exception) or isinstance(mine, Exception):
        said = [_said(value) for value in (mine, yours)]
        return None if said[0] == said[1] else f"{said[0]}, torch: {said[1]}"
    ours, theirs = parts(mine), parts(yours)
    if len(ours) != len(theirs):
        return f"{len(ours)} results, torch: {len(theirs)}"
    return next((text for pair in zip(ours, theirs, strict=True) if (text := _unlike_one(*pair, values, laid))), None)


def _said(value: Any) -> str:
    return f"{type(value).__name__}: {_brief(value)}" if isinstance(value, Exception) else "a result"


def _brief(error: Exception) -> str:
    """The first sentence of a message."""
    lines = str(error).splitlines()
    return first_sentence(lines[0]).removesuffix(".") if lines else ""


def _unlike_one(mine: Any, yours: Any, values: bool, laid: bool) -> str | None:
    if not isinstance(yours, torch.Tensor):
        if isinstance(yours, float) and isinstance(mine, float):
            close = np.isclose(mine, yours, rtol=1e-5, equal_nan=True) or not values
            return None if close else f"{mine}, torch: {yours}"
        shown = [str(value).replace("torch.", "") for value in (mine, yours)]
        return None if shown[0] == shown[1] else f"{shown[0]}, torch: {shown[1]}"
    if not isinstance(mine, engine.Tensor):
        return f"a {type(mine).__name__}, torch: a tensor"
    facts = [(str(t.dtype), tuple(t.shape), t.requires_grad) for t in (mine, yours)]
    if facts[0] != facts[1]:
        return f"{facts[0]}, torch: {facts[1]}"
    if laid and yours.is_contiguous() and not mine.is_contiguous():  # `.view` works in torch and would not here
        return f"strides {mine.stride()}, torch: {yours.stride()}"
    a, b = mine.detach().numpy(), yours.detach().numpy(force=True)
    wrong = ~np.isclose(a, b, *_near(b), equal_nan=True)
    return f"{a[wrong][0]}, torch: {b[wrong][0]} ({wrong.sum()} of {a.size})" if values and wrong.any() else None


def _near(values: np.ndarray) -> tuple[float, float]:
    """Relative and absolute tolerance.  What a sum rounds goes by its largest terms, not by what is left."""
    rtol, atol = NEAR.get(values.dtype.name, (0.0, 0.0))
    finite = np.abs(values[np.isfinite(values)])
    if not atol or not finite.size:
        return rtol, atol
    return rtol, max(atol, ROUNDINGS * float(np.finfo(values.dtype).eps) * float(finite.max()))


# -- one op -------------------------------------------------------------------------------------------------------


@dataclass
class Findings:
    """What is unlike, by check (the first of each), and how much was compared."""

    unlike: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def see(self, check: str, text: str | None, where: str) -> bool:
        """Note a difference, if there is one; returns whether there is none."""
        self.counts[check] += 1
        if text is not None:
            self.unlike.setdefault(check, f"{text}  [{where}]")
        return text is None


def compared(info: Any, drawn: bool) -> Findings:
    """All samples of an op in all its forms.  `drawn`: its values are random, so that only shapes and dtypes count."""
    ours, findings = counterpart(info), Findings()
    for dtype in DTYPES:
        if getattr(torch, dtype) not in info.dtypes:
            continue
        for sample in samples(info, dtype):
            for form, theirs, mine in forms(info, ours, sample):
                _compare(findings, form, sample, theirs, mine, not drawn)
    for refused in info.error_inputs("cpu") if info.error_inputs_func is not None else ():
        _compare(findings, "error", refused.sample_input, info.op, ours, not drawn)
    return findings


def samples(info: Any, dtype: str) -> Iterator[Any]:
    """Some of an op's samples in a dtype, the same at every run; every third laid out with gaps."""
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)
    which = getattr(torch, dtype)
    differentiable = info.supports_autograd and which.is_floating_point and which in info.backward_dtypes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are made by functions that torch has deprecated
        some = list(itertools.islice(info.sample_inputs("cpu", which, requires_grad=differentiable), REACH))
    for nr, i in enumerate(sorted({i * len(some) // SAMPLES for i in range(SAMPLES)} if some else ())):
        yield some[i].noncontiguous() if nr % 3 == 2 else some[i]


def forms(info: Any, ours: Call, sample: Any) -> Iterator[tuple[str, Call, Call]]:
    """The function, the method and the in-place method: what it is, torch's and ours."""
    yield "call", info.op, ours
    if not isinstance(sample.input, torch.Tensor):
        return
    for form, theirs in (("method", info.method_variant), ("in place", info.inplace_variant)):
        mine = getattr(engine.Tensor, getattr(theirs, "__name__", ""), None)  # which it has not, docs/ops.md lists
        if type(theirs).__name__ == "method_descriptor" and mine is not None:
            if form == "method":
                yield form, theirs, mine
            elif not sample.broadcasts_input:
                yield form, _on_a_copy(theirs), _on_a_copy(mine)


def _on_a_copy(method: Call) -> Call:
    return lambda input, *args, **kwargs: method(input.clone(), *args, **kwargs)


def _compare(findings: Findings, form: str, sample: Any, theirs: Call, mine: Call, values: bool) -> None:
    crossing, given = Crossing(), (sample.input, sample.args, sample.kwargs)
    try:
        own = tuple(crossing(value) for value in given)
        yours = answer(theirs, given[0], *given[1], **given[2])
        if any(str(t.dtype).removeprefix("torch.") not in KNOWN_DTYPES for t in tensors(yours, torch.Tensor)):
            raise OutOfReach("a complex result")
        if any(t.layout is not torch.strided for t in tensors(yours, torch.Tensor)):
            raise OutOfReach("a sparse result")
    except OutOfReach:
        findings.counts["left out"] += 1
        return
    ours = answer(mine, own[0], *own[1], **own[2])
    where = shown(given)
    free = sample.output_process_fn_grad  # what an op leaves open, as the sign of an eigenvector, taken out
    if isinstance(free, types.FunctionType) and not isinstance(yours, Exception) and not isinstance(ours, Exception):
        yours, ours = free(yours), rebound(free)(ours)
    if not findings.see(form, unlike(ours, yours, values), where) or isinstance(yours, Exception):
        return
    if values and form in ("call", "in place"):
        differentiate(findings, form, given, own, yours, ours, where)


def differentiate(findings: Findings, form: str, given: Any, own: Any, yours: Any, ours: Any, where: str) -> None:
    """Gradients of a random weighting, and of those again where a sample is small."""
    inputs = [t for t in tensors(given, torch.Tensor) if t.requires_grad]
    outputs = [t for t in tensors(yours, torch.Tensor) if t.requires_grad]
    if not inputs or not outputs:
        return
    mine = [t for t in tensors(own, engine.Tensor) if t.requires_grad]
    results = [t for t in tensors(ours, engine.Tensor) if t.requires_grad]
    small = form == "call" and sum(t.numel() for t in inputs) <= TWICE and outputs[0].dtype is torch.float64
    rng = np.random.default_rng(0)
    weights = _weights(rng, outputs)
    found = []
    for library, of, into in ((torch, outputs, inputs), (engine, results, mine)):
        upstream = [library.tensor(w, requires_grad=small) for w in weights]
        first = answer(library.autograd.grad, of, into, upstream, allow_unused=True, create_graph=small)
        found.append((library, [*into, *upstream], first))
    first = [gradients for _, _, gradients in found]
    agree = findings.see(f"{form}, gradients", _unlike_gradients(first[1], first[0], found[0][1]), where)
    if small and agree and not isinstance(first[0], Exception):
        _compare_graphs(findings, form, outputs, results, inputs, mine, where)
    if not small or not agree or isinstance(first[0], Exception):
        return
    again = []
    chosen = [i for i, g in enumerate(first[0]) if g is not None and g.requires_grad]
    if not chosen:
        return
    if not all(getattr(first[1][i], "requires_grad", False) for i in chosen):
        findings.see(f"{form}, second gradients", "no graph of the gradient", where)
        return
    weights = _weights(rng, [first[0][i] for i in chosen])
    for library, into, gradients in found:
        upstream = [library.tensor(w) for w in weights]
        again.append(answer(library.autograd.grad, [gradients[i] for i in chosen], into, upstream, allow_unused=True))
    findings.see(f"{form}, second gradients", _unlike_gradients(again[1], again[0], found[0][1]), where)


def _compare_graphs(
    findings: Findings, form: str, outputs: Any, results: Any, inputs: Any, mine: Any, where: str
) -> None:  # fmt: skip
    """Which gradients require grad where the upstream ones do not, and for which inputs they have a gradient."""
    reach = []
    for library, of, into in ((torch, outputs, inputs), (engine, results, mine)):
        upstream = [library.ones_like(o) for o in of]
        gradients = answer(
            library.autograd.grad, of, into, upstream, create_graph=True, retain_graph=True, allow_unused=True
        )
        reach.append([_reach(library, gradient, into) for gradient in gradients])
    pairs = [(a, b) for a, b in zip(*reach, strict=True) if "none" not in (a, b) and a != "no formula"]
    text = next((f"{b}, torch: {a}" for a, b in pairs if a != b), None)
    findings.see(f"{form}, graph of the gradients", text, where)


def _reach(library: Any, gradient: Any, into: Any) -> str:
    """What a gradient leads to."""
    if gradient is None or not gradient.numel():
        return "none"
    if not gradient.requires_grad:
        return "requires no grad"
    second = answer(library.autograd.grad, gradient.sum(), into, retain_graph=True, allow_unused=True)
    if isinstance(second, Exception):
        return "no formula" if "not implemented" in str(second) else f"{type(second).__name__}: {second}"
    return f"leads to {[nr for nr, g in enumerate(second) if g is not None]}"


def _weights(rng: np.random.Generator, outputs: list[Any]) -> list[np.ndarray]:
    return [rng.standard_normal(tuple(t.shape)).astype(str(t.dtype).removeprefix("torch.")) for t in outputs]


def _unlike_gradients(mine: Any, yours: Any, inputs: list[Any]) -> str | None:
    """As `unlike`; where one library gives zeros and the other none, both say that nothing flows.

    A gradient lies in rows where its input does; of others torch leaves it open.
    """
    if isinstance(mine, Exception) or isinstance(yours, Exception):
        return unlike(mine, yours)
    for nr, (a, b) in enumerate(zip(mine, yours, strict=True)):
        if a is None or b is None:
            some = b if a is None else a
            if some is not None and bool((abs(some) > NEAR["float64"][1]).any()):
                return f"input {nr}: {'none' if a is None else 'a gradient'}, torch: {'none' if b is None else 'one'}"
        elif text := unlike(a.detach(), b.detach(), laid=inputs[nr].is_contiguous()):
            return f"input {nr}: {text}"
    return None


def shown(value: Any) -> str:
    """A sample in short: tensors by dtype and shape."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return ", ".join(f"{key}={shown(item)}" for key, item in value.items())
    return repr(value)[:60]
