"""Calls that do not fit: every public function and method of the engine is called with what it does not take.

None, text, numbers, lists and tensors stand where others are wanted, arguments are missing, too many or of unknown
names: what torch refuses is refused with its class and first sentence, what it takes is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.api.calls import signatures
from engine.api.calls.public_functions import IN_PYTHON, TORCH
from engine.api.calls.signature import Reader, table
from tests.batches import batches
from tests.parity.helpers.saying import as_torchs, first_sentence

X = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4) / 4
VALUES: dict[str, Callable[[Any], Any]] = {
    "None": lambda library: None, "text": lambda library: "a", "float": lambda library: 1.5,
    "texts": lambda library: ["a"], "dict": lambda library: {}, "int": lambda library: 1,
    "x": lambda library: library.tensor(X), "ints": lambda library: (0, 1),
}  # fmt: skip
WRONG = ("None", "text", "float", "texts", "dict")
POSITIONAL = (
    (), *((kind,) for kind in (*WRONG, "int", "x")), *(("x", kind) for kind in (*WRONG, "int", "x", "ints")),
    *(("x", "int", kind) for kind in WRONG), *(("x", "x", kind) for kind in WRONG), ("x",) * 8,
)  # fmt: skip
NAMED = [
    *(("nonsense", "int"),), *(("dim", kind) for kind in WRONG), *(("keepdim", kind) for kind in WRONG[:2]),
    ("dtype", "text"), ("dtype", "float"), ("out", "text"), ("other", "text"), ("input", "None"),
]  # fmt: skip
PLACES = {
    "torch": ("", TORCH), "linalg": ("linalg", table(signatures.LINALG)),
    "special": ("special", table(signatures.SPECIAL)), "functional": ("nn.functional", table(signatures.FUNCTIONAL)),
}  # fmt: skip
DRAWS = frozenset({
    "bernoulli", "bernoulli_", "binomial", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial",
    "normal", "normal_", "poisson", "random_", "rrelu", "rrelu_", "uniform_",
})  # fmt: skip
"""What is drawn is not compared; what torch finds in the middle of drawing is none of the arguments' fault."""
UNLIKE = {
    "bmm": "out_dtype", "copy_": "numbers", "elu_": "scales", "is_pinned": "no device", "mm": "out_dtype",
    "rsub": "alpha", "type": "left out", "set_": "storages", "subtract": "alpha", "subtract_": "alpha",
    "adaptive_avg_pool1d": "sizes", "arange": "dtype", "as_tensor": "texts", "asarray": "texts", "avg_pool1d": "sizes",
    "avg_pool2d": "sizes", "avg_pool3d": "sizes", "complex": "left out", "cuda": "no device", "polar": "left out",
    "range": "dtype", "to": "no device", "tensor": "texts", "new_tensor": "texts", "chalf": "left out",
}  # fmt: skip
"""Functions whose errors differ for other reasons: what torch finds behind its look at the arguments."""


def answered(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[str, str]:
    """("", "") for a call that is taken, else the class and the first sentence of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 (whatever torch raises is to be raised)
            return type(error).__name__, as_torchs(first_sentence(str(error).split("\n")[0])).strip()
    return "", ""


def calls(method: bool) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Kinds of arguments, by position and by name."""
    for args in POSITIONAL:
        if not method or args[:1] == ("x",):
            yield args, {}
    for name, kind in NAMED:
        yield ("x",), {name: kind}
    yield ("x", "x"), {"nonsense": "int"}


def differences(find: Callable[[Any], Callable[..., Any]], method: bool, torch: Any) -> list[str]:
    """The calls that torch's parser of arguments refuses, and the engine does not, or in other words."""
    found = []
    for args, kwargs in calls(method):
        theirs, ours = (
            answered(
                find(library), [VALUES[k](library) for k in args], {n: VALUES[k](library) for n, k in kwargs.items()}
            )
            for library in (torch, engine)
        )
        if ours != theirs and "TypeError" in (theirs[0], ours[0]):
            found.append(f"{args} {kwargs}: {ours} instead of {theirs}")
    return found


def functions() -> Iterator[tuple[str, str]]:
    """(place, name) of what has a signature."""
    for key, (place, written) in PLACES.items():
        for name in written:
            holder = engine if not place else place_of(engine, place)
            if hasattr(holder, name) and name not in DRAWS | UNLIKE.keys():
                yield key, name


def place_of(library: Any, place: str) -> Any:
    """A module in a library by its dotted name."""
    for part in place.split("."):
        library = getattr(library, part)
    return library


def methods() -> list[str]:
    """The methods that have a signature."""
    own = table(signatures.METHODS)
    return sorted(
        name
        for name in vars(engine.Tensor)
        if (name in own or name in TORCH or name.rstrip("_") in TORCH)
        and not name.startswith("_")
        and name not in DRAWS | IN_PYTHON | UNLIKE.keys()
    )


@pytest.mark.parity
@batches("place, name", functions(), ".".join)
def test_function_refuses_what_torchs_does(place: str, name: str) -> None:
    torch = pytest.importorskip("torch")
    path = PLACES[place][0]
    if not hasattr(place_of(torch, path) if path else torch, name):
        pytest.skip("an alias of this engine")
    found = differences(lambda library: getattr(place_of(library, path) if path else library, name), False, torch)
    assert not found


@pytest.mark.parity
@batches("name", methods())
def test_method_refuses_what_torchs_does(name: str) -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, name):
        pytest.skip("an alias of this engine")
    found = differences(lambda library: lambda x, *a, **k: getattr(x, name)(*a, **k), True, torch)
    assert not found


def test_tensor_of_one_element_is_read_as_a_length_whatever_was_read_before() -> None:
    """Types that were seen to fit are not looked at again: another call, of a tensor without dimensions, hid this."""
    for name in ("narrow", "narrow_copy"):
        read = Reader(name, TORCH[name]).refusal
        assert read((engine.ones(3), 0, 0, engine.tensor([2])), {}) is None
        assert isinstance(read((engine.ones(3), 0, 0, engine.tensor([2, 1])), {}), TypeError)
    one = engine.tensor([1])
    x = engine.tensor([[1.0, 2.0], [4.0, 3.0]])
    assert x.select(1, one).tolist() == [2, 3] and x.kthvalue(one).values.tolist() == [1, 3]
    assert x.topk(one).values.tolist() == [[2], [4]]
    for name in ("select", "select_scatter", "slice_scatter", "topk", "kthvalue"):
        assert "I" in {parameter.kind for form in Reader(name, TORCH[name]).signatures for parameter in form.parameters}


TAKEN_FOR_NUMBERS: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "softmax": (lambda library, number: library.ones(2).softmax(number), 0, [0]),
    "select": (lambda library, number: library.ones(2).select(0, number), 0, 0.0),
    "tril": (lambda library, number: library.ones(2, 2).tril(number), 1, 1.0),
    "one_hot": (lambda library, number: library.nn.functional.one_hot(library.tensor([0]), number), 2, 2.0),
    "add": (lambda library, number: library.add(library.ones(2), 1, alpha=number), 2.0, [2.0]),
    "sum": (lambda library, number: library.ones(2, 2).sum(number), 0, 0.5),
    "all": (lambda library, number: library.ones(2, 2).all(number), 1, 0.5),
    "any": (lambda library, number: library.zeros(2, 2).any(number), 1, [0.5]),
    "chunk": (lambda library, number: library.arange(4).chunk(number)[1], 2, 2.0),
    "hsplit": (lambda library, number: library.arange(4).hsplit(number)[1], 2, 2.0),
}
"""Calls with a tensor where a number is wanted: values of one that fits and of one that does not."""


@pytest.mark.parity
@pytest.mark.parametrize("name", TAKEN_FOR_NUMBERS)
def test_tensor_that_is_no_number_is_refused_whatever_was_taken_before(name: str) -> None:
    torch = pytest.importorskip("torch")
    call, fits, misfit = TAKEN_FOR_NUMBERS[name]
    for _ in range(2):  # the second time its types are known
        assert call(engine, engine.tensor(fits)).tolist() == call(torch, torch.tensor(fits)).tolist()
    theirs, ours = (answered(call, [library, library.tensor(misfit)], {}) for library in (torch, engine))
    assert ours == theirs and theirs[0] == "TypeError"


def test_number_that_wants_a_gradient_is_refused_whatever_was_taken_before() -> None:
    one = engine.ones(1)
    assert one.add(one, alpha=engine.tensor(2.0)).tolist() == [3]
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        one.add(one, alpha=engine.tensor(2.0, requires_grad=True))


NUMPYS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "squeeze": (lambda library, **kwargs: library.ones(2, 1).squeeze(**kwargs), ("axis",)),
    "unsqueeze": (lambda library, **kwargs: library.unsqueeze(library.ones(2), **kwargs), ("axis",)),
    "add": (lambda library, **kwargs: library.add(**dict.fromkeys(kwargs, library.ones(2))), ("x", "x2")),
    "sum": (lambda library, **kwargs: library.sum(**dict.fromkeys(kwargs, library.ones(2))), ("a",)),
    "abs": (lambda library, **kwargs: library.abs(**dict.fromkeys(kwargs, library.ones(2))), ("x",)),
    "mean": (lambda library, **kwargs: library.ones(2, 2).mean(**kwargs), ("axis", "keepdims")),
}
"""Calls with numpy's names of arguments."""


@pytest.mark.parity
@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_names_are_taken_every_time(name: str) -> None:
    torch = pytest.importorskip("torch")
    call, names = NUMPYS[name]
    kwargs = {key: key == "keepdims" or 1 for key in names}
    for _ in range(2):  # the second time their types are known
        assert call(engine, **kwargs).tolist() == call(torch, **kwargs).tolist()
