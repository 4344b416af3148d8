"""Names at which programs end that need little else: vmap, pytrees, profilers, DataParallel, a module that is saved."""

from __future__ import annotations

import importlib
import io
from operator import attrgetter
from typing import Any

import pytest

import engine
from tests.parity.helpers.saying import first_sentence

CALLS = """
F.vmap(T.dot)(T.ones(3, 2), T.arange(6.0).reshape(3, 2))
F.vmap(lambda x: x * 2, in_dims=1)(T.arange(6.0).reshape(3, 2))
F.vmap(lambda x: x * 2, in_dims=1, out_dims=1)(T.arange(6.0).reshape(3, 2))
F.vmap(lambda x: x * 2, out_dims=-1)(T.arange(6.0).reshape(3, 2))
F.vmap(F.vmap(lambda x, y: x * y, in_dims=(0, None)), in_dims=(None, 0))(T.arange(3.0), T.arange(2.0))
F.vmap(F.grad(lambda x: (x ** 3).sum()))(T.arange(3.0))
F.jacrev(F.vmap(lambda x: x ** 2))(T.arange(3.0))
F.vmap(F.hessian(lambda x: (x ** 3).sum()))(T.arange(4.0).reshape(2, 2))
F.vmap(lambda d: d["a"] * d["b"])({"a": T.arange(3.0), "b": T.ones(3)})
F.vmap(lambda d, y: d["a"] * y, in_dims=({"a": 0}, None))({"a": T.arange(3.0)}, 2.0)
F.vmap(lambda x: (x, x.sum()))(T.ones(3, 2))[1]
F.vmap(lambda x, k=1: x * k)(T.ones(3), k=5)
F.vmap(lambda x: x * 2, chunk_size=2)(T.arange(3.0))
F.vmap(lambda x: 3)(T.ones(3))
F.vmap(lambda x: x)(3)
F.vmap(lambda x: x)()
F.vmap(lambda x: x, in_dims=[0])(T.ones(3))
F.vmap(lambda x: x, in_dims=2)(T.ones(3))
F.vmap(lambda x: x, in_dims=(0, 0))(T.ones(3))
F.vmap(lambda x, y: x * y)(T.ones(3), T.ones(2))
F.vmap(lambda x, y: x, in_dims=(None, None))(T.ones(3), T.ones(3))
F.vmap(lambda x: x, in_dims="a")(T.ones(3))
F.vmap(lambda x: x, in_dims=(1.5,))(T.ones(3))
F.vmap(lambda x: x + T.rand(1))(T.ones(3))
F.vmap(lambda x: x, randomness="foo")(T.ones(3))
F.vmap(lambda x: x, chunk_size=0)(T.ones(3))
F.vmap(lambda x: x, out_dims=(0, 0))(T.ones(3))
F.vmap(lambda x: (x, x), out_dims=(0, None))(T.ones(3))[1]
F.vmap(lambda x: x, out_dims=3)(T.ones(3))
(lambda r: (r == r[0]).all())(F.vmap(lambda x: T.rand(()), randomness="same")(T.ones(3)))
T.vmap(lambda x: x + 1)(T.ones(2))
""".strip().splitlines()


def outcome(call: str, library: Any) -> Any:
    try:
        made = eval(call, {"T": library, "F": library.func})  # noqa: S307 (one of the lines above)
    except Exception as error:  # noqa: BLE001 (which one is compared)
        return type(error).__name__, first_sentence(str(error))
    return made.tolist()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, of what its vmap calls
@pytest.mark.parametrize("call", CALLS)
def test_vmap_gives_and_refuses_what_torchs_does(call: str) -> None:
    torch = pytest.importorskip("torch")
    assert outcome(call, engine) == outcome(call, torch)


def test_gradient_goes_through_vmap_to_what_it_was_given() -> None:
    w: Any = engine.ones(2, requires_grad=True)
    engine.func.vmap(lambda x: (w * x).sum())(engine.arange(6.0).reshape(3, 2)).sum().backward()
    assert w.grad.tolist() == [6.0, 9.0]


def test_pytrees_are_mapped_as_torchs_are() -> None:
    pytest.importorskip("torch")
    from torch.utils import _pytree as theirs

    ours = engine.utils._pytree
    tree = {"a": [1, (2, 3)], "b": 4}
    for library in (ours, theirs):
        leaves, spec = library.tree_flatten(tree)
        assert (leaves, spec.num_leaves, library.tree_unflatten([5, 6, 7, 8], spec)) == (
            [1, 2, 3, 4], 4, {"a": [5, (6, 7)], "b": 8},
        )  # fmt: skip
        assert library.tree_map(lambda n: n * 2, tree) == {"a": [2, (4, 6)], "b": 8}


def test_profilers_run_what_is_inside() -> None:
    with engine.profiler.profile(activities=[engine.profiler.ProfilerActivity.CPU]) as found:
        with engine.profiler.record_function("forward"):
            x = engine.ones(2) * 2
        found.step()
    assert x.tolist() == [2, 2] and "nothing" in found.key_averages().table(sort_by="cpu_time_total", row_limit=10)

    @engine.autograd.profiler.record_function("named")
    def double(n: int) -> int:
        return 2 * n

    with engine.autograd.profiler.profile(use_cuda=False):
        assert double(2) == 4


def test_data_parallel_is_the_module_with_torchs_names() -> None:
    torch = pytest.importorskip("torch")
    for library in (engine, torch):
        layer = library.nn.Linear(2, 1)
        model = library.nn.DataParallel(layer)
        assert list(model.state_dict()) == ["module.weight", "module.bias"] and model.module is layer
        x = library.ones(3, 2)
        assert model(x).tolist() == layer(x).tolist()


def test_module_is_saved_as_its_numbers() -> None:
    model = engine.nn.Sequential(engine.nn.Linear(2, 1))
    file = io.BytesIO()
    engine.save(model, file)
    with pytest.warns(UserWarning, match="holds the state_dict of a Sequential"):
        found = engine.load(file)
    again = engine.nn.Sequential(engine.nn.Linear(2, 1))
    again.load_state_dict(found)
    assert again[0].weight.tolist() == model[0].weight.tolist()


@pytest.mark.parametrize(
    "name",
    ["accelerator", "amp", "backends", "backends.cudnn", "cuda", "cuda.amp", "linalg", "profiler", "random", "special",
     "torch_version", "version"],
)  # fmt: skip
def test_a_small_module_has_pytorchs_name(name: str) -> None:
    """It is written in another folder, and is the same module all the same."""
    module = importlib.import_module(f"engine.{name}")
    assert module.__name__ == f"engine.{name}" and attrgetter(name)(engine) is module
