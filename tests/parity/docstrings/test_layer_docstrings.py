"""What the docstrings of the layers say is so: the errors are raised, the shapes are those of a call."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import engine
from engine import nn
from tests.batches import batches
from tests.parity.docstrings import shapes as reading
from tests.parity.docstrings.shapes import Known, shapes, way_holds
from tests.parity.nn.pairs import drawn, leaves, tensors, torch
from tests.parity.nn.test_layers import LAYERS, LOSSES, X3, X4, X5
from tests.parity.nn.test_sequences import ATTENTION, RECURRENT, TRANSFORMERS

MORE: dict[str, tuple[Any, ...]] = {
    "AdaptiveLogSoftmaxWithLoss": (
        lambda n: n.AdaptiveLogSoftmaxWithLoss(6, 9, [4]),
        drawn(3, 6),
        drawn(3).astype("int64").clip(0, 8),
    ),
    "AlphaDropout": (lambda n: n.AlphaDropout(), X3),
    "Dropout": (lambda n: n.Dropout(), X3),
    "Dropout1d": (lambda n: n.Dropout1d(), X3),
    "Dropout2d": (lambda n: n.Dropout2d(), X4),
    "Dropout3d": (lambda n: n.Dropout3d(), X5),
    "FeatureAlphaDropout": (lambda n: n.FeatureAlphaDropout(), X4),
    "MaxUnpool1d": (lambda n: n.MaxUnpool1d(2), drawn(2, 3, 1), drawn(2, 3, 1).astype("int64")),
    "MaxUnpool2d": (lambda n: n.MaxUnpool2d(2), drawn(2, 3, 1, 1), drawn(2, 3, 1, 1).astype("int64")),
    "MaxUnpool3d": (lambda n: n.MaxUnpool3d(2), drawn(2, 3, 1, 1, 1), drawn(2, 3, 1, 1, 1).astype("int64")),
    "PairwiseDistance": (lambda n: n.PairwiseDistance(), drawn(4, 6), drawn(4, 6)),
    "LazyLinear": (lambda n: n.LazyLinear(3), X3),
}


@functools.cache
def samples() -> dict[str, tuple[Any, ...]]:
    """By class, the first sample that there is of it."""
    found = dict(MORE)
    rows = [*LAYERS.values(), *RECURRENT.values(), *ATTENTION.values(), *TRANSFORMERS.values()]
    rows += [(lambda n, make=make: make(n, engine), *args) for make, *args in LOSSES.values()]
    for make, *args in rows:
        found.setdefault(type(make(nn)).__name__, (make, *args))
    return found


def attributes(layer: Any, patterns: Sequence[Sequence[str]]) -> Known:
    """What the layer itself says of the names in its shapes."""
    found: Known = {}
    for name in {name for pattern in patterns for name in pattern}:
        value = getattr(layer, name.lstrip("*"), None) if name.lstrip("*") else None
        if value is not None and not name[0].isupper():
            found[name] = tuple(value) if name.startswith("*") else value
    return found


def told(cls: type) -> str | None:
    """What the docstring of a layer says of shapes."""
    return reading.told(vars(cls)["__doc__"])


def written_shapes_hold(text: str, layer: Any, given: Any, made: Any) -> bool:
    """Whether the inputs and outputs of a call have the shapes that stand in `text`."""
    before, after = text.split("; ")[0].split(" -> ")
    results = after.split(", with reduction ")
    if getattr(layer, "reduction", "mean") == "none":
        results = results[1:]
    sizes = [tuple(leaf.shape) for leaf in given], [tuple(leaf.shape) for leaf in made]
    known = attributes(layer, [*shapes(before), *shapes(results[0])])
    return way_holds(before, results[0], *sizes, known)


LAYERS_WITH_SHAPES = sorted(
    name for name in nn.__all__ if isinstance(getattr(nn, name), type) and told(getattr(nn, name))
)
MADE = re.compile(r"Lazy(Conv|Batch|Instance)")
"""Layers whose docstring is made from that of the layer which they become."""


def test_every_layer_says_its_shapes_and_its_source() -> None:
    layers = [getattr(nn, name) for name in nn.__all__ if is_layer(getattr(nn, name))]
    assert len(layers) > 130
    silent = [
        cls.__name__
        for cls in layers
        if told(cls) is None and cls.__name__ not in WITHOUT and not MADE.match(cls.__name__)
    ]
    assert silent == []
    assert [
        cls.__name__ for cls in layers if f"Source: torch.nn.{cls.__name__}." not in " ".join(cls.__doc__.split())
    ] == []


WITHOUT = {
    "DataParallel",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "RNNBase",
    "RNNCellBase",
    "Sequential",
}
"""What has no shapes of its own."""


def is_layer(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, nn.Module)


@batches("name", [name for name in LAYERS_WITH_SHAPES if not MADE.match(name)])
def test_shapes_in_the_docstring_are_those_of_a_call(name: str) -> None:
    make, *args = samples()[name]
    layer = make(nn).double()
    given = tensors(engine, args)
    made = layer(*given)
    assert written_shapes_hold(told(getattr(nn, name)) or "", layer, leaves(given), leaves(made))


@pytest.mark.parametrize(
    ("text", "given", "made", "holds"),
    [
        ("(N, C, L) -> (N, C, L')", (2, 3, 8), (2, 3, 4), True),
        ("(N, C, L) -> (N, C, L)", (2, 3, 8), (2, 3, 4), False),
        ("([N,] C) -> ([N,] C)", (3,), (3,), True),
        ("([N,] C) -> ([N,] C)", (3,), (2, 3), False),
        ("(*, D, *) -> (*, D / 2, *)", (2, 4, 8), (2, 2, 8), True),
        ("(*) -> (*, p)", (2, 4), (2, 4, 5), False),
    ],
)
def test_shapes_that_do_not_hold_are_seen(text: str, given: Any, made: Any, holds: bool) -> None:
    layer = nn.Dropout(0.5)  # its p is no size: it fits nothing
    assert written_shapes_hold(text, layer, [engine.zeros(*given)], [engine.zeros(*made)]) is holds


RAISED: dict[str, list[tuple[type[Exception], Callable[[Any], Any]]]] = {
    # layer -> an error that its docstring names, and a call that raises it
    "GLU": [(RuntimeError, lambda t: t.nn.GLU()(t.zeros(2, 3)))],
    "Linear": [(RuntimeError, lambda t: t.nn.Linear(2, 3)(t.zeros(3)))],
    "Bilinear": [
        (ValueError, lambda t: t.nn.Bilinear(0, 2, 2)),
        (RuntimeError, lambda t: t.nn.Bilinear(2, 3, 4)(t.zeros(2, 4), t.zeros(2, 3))),
    ],
    "Hardtanh": [(AssertionError, lambda t: t.nn.Hardtanh(1.0, 0.0))],
    "Softmax2d": [(ValueError, lambda t: t.nn.Softmax2d()(t.zeros(2)))],
    "LayerNorm": [(RuntimeError, lambda t: t.nn.LayerNorm(3)(t.zeros(2)))],
    "RMSNorm": [(RuntimeError, lambda t: t.nn.RMSNorm(3)(t.zeros(2)))],
    "GroupNorm": [(ValueError, lambda t: t.nn.GroupNorm(2, 3))],
    "LocalResponseNorm": [(ValueError, lambda t: t.nn.LocalResponseNorm(2)(t.zeros(2, 2)))],
    "Unflatten": [(TypeError, lambda t: t.nn.Unflatten(1, 3))],
    "Embedding": [
        (IndexError, lambda t: t.nn.Embedding(3, 2)(t.tensor([3]))),
        (AssertionError, lambda t: t.nn.Embedding(3, 2, padding_idx=3)),
    ],
    "AdaptiveLogSoftmaxWithLoss": [(ValueError, lambda t: t.nn.AdaptiveLogSoftmaxWithLoss(4, 9, [3, 2]))],
    "EmbeddingBag": [(AssertionError, lambda t: t.nn.EmbeddingBag(3, 2, padding_idx=3))],
    "HuberLoss": [
        (TypeError, lambda t: t.nn.HuberLoss(delta="a")),
        (RuntimeError, lambda t: t.nn.HuberLoss(delta=0)(t.zeros(2), t.zeros(2))),
    ],
    "GaussianNLLLoss": [(ValueError, lambda t: t.nn.GaussianNLLLoss()(t.zeros(2, 1), t.zeros(2, 1), -t.ones(2, 1)))],
    "NLLLoss": [(IndexError, lambda t: t.nn.NLLLoss()(t.zeros(2, 2), t.tensor([0, 2])))],
    "CrossEntropyLoss": [(IndexError, lambda t: t.nn.CrossEntropyLoss()(t.zeros(2, 2), t.tensor([0, 2])))],
    "MultiMarginLoss": [(ValueError, lambda t: t.nn.MultiMarginLoss(p=3))],
    "TripletMarginLoss": [(ValueError, lambda t: t.nn.TripletMarginLoss(margin=0))],
    "TripletMarginWithDistanceLoss": [(ValueError, lambda t: t.nn.TripletMarginWithDistanceLoss(margin=0))],
    "MultiheadAttention": [(AssertionError, lambda t: t.nn.MultiheadAttention(3, 2))],
    "RNNBase": [(ValueError, lambda t: t.nn.RNNBase("X", 2, 3))],
    "Transformer": [(RuntimeError, lambda t: t.nn.Transformer(4, 2, 1, 1)(t.zeros(2, 1, 4), t.zeros(2, 2, 4)))],
    "Sequential": [(IndexError, lambda t: t.nn.Sequential()[1])],
    "ModuleList": [(IndexError, lambda t: t.nn.ModuleList()[1]), (TypeError, lambda t: t.nn.ModuleList([1]))],
    "ModuleDict": [(KeyError, lambda t: t.nn.ModuleDict()["a"]), (TypeError, lambda t: t.nn.ModuleDict({"a": 1}))],
    "ParameterList": [(IndexError, lambda t: t.nn.ParameterList()[1])],
    "ParameterDict": [
        (AttributeError, lambda t: t.nn.ParameterDict()["a"]),
        (TypeError, lambda t: t.nn.ParameterDict().__setitem__(1, t.zeros(1))),
    ],
}


def made(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """The layer of a name, made so."""
    return lambda t: getattr(t.nn, name)(*args, **kwargs)


def ran(name: str, args: Sequence[Any], *sizes: Sequence[int], **kwargs: Any) -> Callable[[Any], Any]:
    """The layer of a name, made so and called on zeros of some sizes."""
    return lambda t: getattr(t.nn, name)(*args)(*(t.zeros(*size) for size in sizes), **kwargs)


def unpooled_too_large(dims: int) -> Callable[[Any], Any]:
    size = (1, 1, *(2,) * dims)
    layer = f"MaxUnpool{dims}d"
    return lambda t: getattr(t.nn, layer)(2)(t.zeros(*size), t.zeros(*size).long(), output_size=(9,) * dims)


for kind in ("RNN", "GRU", "LSTM"):
    RAISED[kind] = [(RuntimeError, ran(kind, (3, 2), (2, 4))), (ValueError, ran(kind, (3, 2), (2,)))]
    RAISED[f"{kind}Cell"] = [(ValueError, ran(f"{kind}Cell", (3, 2), (1, 2, 3)))]
for kind in ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout1d", "Dropout2d", "Dropout3d"):
    RAISED[kind] = [(ValueError, made(kind, 1.5))]
for dims in (1, 2, 3):
    RAISED[f"Conv{dims}d"] = [(ValueError, made(f"Conv{dims}d", 4, 4, 1, groups=3))]
    RAISED[f"ConvTranspose{dims}d"] = [(ValueError, made(f"ConvTranspose{dims}d", 4, 4, 3, padding_mode="reflect"))]
    RAISED[f"MaxUnpool{dims}d"] = [(ValueError, unpooled_too_large(dims))]
    RAISED[f"CircularPad{dims}d"] = [(ValueError, ran(f"CircularPad{dims}d", (1,), (3,)))]
    RAISED[f"BatchNorm{dims}d"] = [(ValueError, ran(f"BatchNorm{dims}d", (3,), (3,)))]
    RAISED[f"InstanceNorm{dims}d"] = [(ValueError, ran(f"InstanceNorm{dims}d", (3,), (1, 3, *(1,) * dims)))]


def named_errors(cls: type) -> set[str]:
    """The exceptions that the docstring of a layer names."""
    return set(reading.named_errors(vars(cls)["__doc__"]))


def test_every_error_that_a_docstring_names_has_a_call_that_raises_it() -> None:
    named = {name: named_errors(getattr(nn, name)) for name in nn.__all__ if is_layer(getattr(nn, name))}
    named = {name: errors for name, errors in named.items() if errors and not name.startswith("Lazy")}
    assert len(named) > 40
    assert named == {name: {error.__name__ for error, _ in rows} for name, rows in RAISED.items()}


@batches("name, number", [(name, n) for name, rows in RAISED.items() for n in range(len(rows))])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # torch says so, and so do we
def test_error_that_a_docstring_names_is_raised_here_and_in_torch(name: str, number: int) -> None:
    error, call = RAISED[name][number]
    for library in (engine, torch):
        with pytest.raises(error) as found:
            call(library)
        assert type(found.value) is error
