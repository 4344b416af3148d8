"""torch's old constructors and what they take: the dtype, the memory and the errors are torch's."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from tests.parity.helpers.saying import first_sentence

CONSTRUCTORS = [
    "Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "LongTensor", "IntTensor", "ByteTensor", "CharTensor",
    "BoolTensor",
]  # fmt: skip
SIZES = """
2, 3 | 3 | 0 | np.int64(3) | np.array(3) | 2, np.int64(3) | 2, True | torch.Size([2, 3]) | size=(2, 3) | size=[2]
torch.tensor(2), 3 | torch.zeros(2, 3).shape | 2, device="cpu"
"""
"""What makes a tensor of a shape, whose elements nobody has set."""
DATA = """
() | [] | (2, 3) | [2, 3] | [[1, 2], [3, 4]] | [True, False] | [1.75, 0.0] | range(3) | bytearray(3) | [[], []]
[np.float64(1), 2] | [np.zeros(2), np.ones(2)] | [torch.tensor(1), torch.tensor(2)] | (torch.tensor([1]),) | [1e2]
np.zeros(2) | np.ones((2, 3), "float32") | np.ones(2, bool) | np.arange(3) | np.array(3.5) | np.zeros((0, 3))
np.array([0.5, 300]) | np.array([-1]) | np.array([np.inf]) | data=[1.0] | [1.0], device="cpu" | [-1] | [[[2.5]]]
torch.tensor([1.0]) | torch.tensor([1.0]).double() | torch.tensor([1]) | torch.tensor(3) | other=torch.tensor([1.0])
"""
REFUSED = """
None | 3.5 | True | "abc" | b"abc" | {1: 2} | {3} | 1j | torch.float64 | iter([1]) | object() | len | np.float64(3)
-1 | 2, -1 | 2, 3.0 | True, 2 | 2, (3,) | (3,), 2 | [1.0], [2.0] | np.zeros(2), 3 | torch.ones(2), 3 | size=2 | data=2
other=2 | foo=3 | [1.0], dtype=torch.float64 | [1.0], requires_grad=True | [1.0], device="cuda"
torch.ones(2), device="cpu" | [1, "a"] | ["a"] | [None] | [1, None] | [{}] | [[1], [1, 2]] | [[1, 2], 3] | [1, [2]]
[torch.ones(2)] | [torch.tensor(1.5)] | [1, np.ones(2)] | [2**63] | [float("nan")] | [300] | np.array(["a"]) | [[1], []]
np.array([None]) | [[1], [2, "a"]]
"""


def arguments(table: str) -> list[str]:
    """The calls of a table, in which they are separated by bars and lines."""
    return [call.strip() for line in table.strip().splitlines() for call in line.split(" | ")]


def outcome(expression: str, library: Any, values: bool = True) -> Any:
    """dtype, shape and elements of what a call gives; class and first sentence of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = eval(expression, {"torch": library, "np": np})  # noqa: S307 (an expression of these tables)
        except Exception as error:  # noqa: BLE001 (which one is compared)
            return type(error).__name__, first_sentence(str(error).split("\n")[0])
    return str(made.dtype), tuple(made.shape), str(made.tolist()) if values else None  # nan is not itself


@pytest.fixture(scope="module")
def torch() -> Any:
    """The library that is compared with."""
    return pytest.importorskip("torch")


@pytest.mark.parametrize("constructor", [*CONSTRUCTORS, "ones(2).new", "ones(2, dtype=torch.int64).new"])
def test_old_constructor_makes_and_refuses_what_torchs_does(constructor: str, torch: Any) -> None:
    unlike = []
    for table in (SIZES, DATA, REFUSED):
        for given in arguments(table):
            call = f"torch.{constructor}({given})"
            ours, theirs = (outcome(call, library, table is not SIZES) for library in (engine, torch))
            unlike += [(call, ours, theirs)] if ours != theirs else []
    assert not unlike


@pytest.mark.parametrize("named", ["", "dtype=torch.float32", "dtype=torch.int64", "dtype=torch.uint8"])
def test_nested_numbers_are_read_and_refused_as_torch_does(named: str, torch: Any) -> None:
    left_out = {"1j", "torch.float64"}
    unlike = []
    for given in arguments(DATA + REFUSED):
        if "=" in given or given in left_out or given.startswith(("2, ", "-1", "True, ", "(3,)", "[1.0], ")):
            continue
        if given.endswith(", 3") or (given.startswith("torch.") and not named):
            continue
        call = f"torch.tensor({given}{', ' * bool(named)}{named})"
        ours, theirs = outcome(call, engine), outcome(call, torch)
        unlike += [(call, ours, theirs)] if ours != theirs else []
    assert not unlike


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_default_dtype_is_that_of_numbers_and_shapes_and_not_of_a_tensor(dtype: str, torch: Any) -> None:
    calls = ("torch.Tensor([1])", "torch.Tensor(2)", "torch.Tensor(np.ones(2, 'float32'))", "torch.Tensor()",
             "torch.Tensor(torch.tensor([1]))", "torch.FloatTensor([1])", "torch.Tensor(torch.ones(1))")  # fmt: skip
    found = []
    for library in (engine, torch):
        library.set_default_dtype(getattr(library, dtype))
        try:
            found.append([outcome(call, library, False) for call in calls])
        finally:
            library.set_default_dtype(library.float32)
    assert found[0] == found[1]


def test_tensor_of_a_float64_array_goes_through_a_layer() -> None:
    assert engine.nn.Linear(2, 1)(engine.Tensor(np.random.rand(3, 2))).dtype is engine.float32


def test_tensor_of_an_array_shares_its_memory_where_the_dtype_is_the_same(torch: Any) -> None:
    for library in (engine, torch):
        for dtype, shared in (("float32", True), ("float64", False)):
            array = np.zeros(2, dtype)
            made = library.Tensor(array)
            array[0] = 5
            assert made.tolist() == [5.0 if shared else 0.0, 0.0], library


def test_tensor_of_a_tensor_is_a_view_that_the_gradient_passes(torch: Any) -> None:
    for library in (engine, torch):
        for constructor in (library.Tensor, library.FloatTensor):
            x = library.ones(2, requires_grad=True)
            made = constructor(x)
            assert (made._base is x, made.grad_fn.name()) == (True, "AliasBackward0")
            made.sum().backward()
            assert x.grad.tolist() == [1.0, 1.0]


def test_class_made_of_tensor_takes_what_tensor_takes(torch: Any) -> None:
    for library in (engine, torch):
        own = type("Own", (library.Tensor,), {})
        assert [type(own(given)) for given in ([1.0], library.ones(2), 2)] == [own] * 3


def test_engine_itself_never_calls_the_constructor_for_users() -> None:
    """`Tensor(array)` is in the default dtype; `tensor_of(array)` holds the array itself."""
    assert not list(_calls_of_tensor())


def _calls_of_tensor() -> Iterator[str]:
    for file in Path(engine.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Tensor":
                yield f"{file.name}:{node.lineno}"
