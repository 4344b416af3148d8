"""What backward does, beyond single ops: accumulation, hooks, order, freeing, errors, long chains."""

from __future__ import annotations

import gc
import random
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import autograd

SECOND = "Trying to backward through the graph a second time"


def both() -> list[Any]:
    return [engine, pytest.importorskip("torch")]


def values(tensor: Any) -> Any:
    return None if tensor is None else tensor.tolist()


# -- accumulation and freeing -------------------------------------------------------------------------------------


def test_gradients_accumulate_in_the_leaf() -> None:
    x = engine.tensor([[1.0, 2, 3, 4]], requires_grad=True)
    z = 2 * x
    for weights, expected in [([1, 0, 0, 0], [2, 0, 0, 0]), ([0, 1, 0, 0], [2, 2, 0, 0]), ([1, 1, 1, 1], [4, 4, 2, 2])]:
        z.backward(engine.tensor([weights], dtype=engine.float32), retain_graph=True)
        assert values(x.grad) == [expected]
    held = x.grad
    z.sum().backward()
    assert x.grad is held  # written in place, as torch does
    assert held._version == 3


def test_gradient_passed_is_not_shared_with_the_leaf() -> None:
    x = engine.ones(2, requires_grad=True)
    weights = engine.ones(2)
    (x + 0).backward(weights)
    x.grad.mul_(5)
    assert values(weights) == [1, 1]


def test_second_backward_raises_after_the_values_were_freed() -> None:
    x = engine.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND) as raised:
        y.backward()
    assert "MulBackward0" in "".join(raised.value.__notes__)
    assert values(x.grad) == [4, 4]


def test_second_backward_runs_where_nothing_was_saved() -> None:
    x = engine.ones(3, requires_grad=True)
    y = (x + x).view(3).sum() + (-x).mean() + engine.cat([x, x])[1:].sum()
    y.backward()
    first = x.grad.clone()
    y.backward()
    assert engine.equal(x.grad, 2 * first)


def test_inputs_receive_and_nobody_else() -> None:
    for library in both():
        x, w = library.ones(2, requires_grad=True), library.ones(2, requires_grad=True)
        y = x * w
        (y * y).sum().backward(inputs=[w])
        assert (x.grad, values(w.grad)) == (None, [2, 2])
        z = library.ones(2, requires_grad=True) * 2
        (z * 3).sum().backward(inputs=[z])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert values(z.grad) == [3, 3]


def test_several_roots_add_up() -> None:
    for library in both():
        x = library.tensor([1.0, 2.0], requires_grad=True)
        library.autograd.backward([x.sum(), x * x], [None, library.tensor([1.0, 10.0])])
        assert values(x.grad) == [3, 41]


# -- grad ---------------------------------------------------------------------------------------------------------


def test_grad_touches_no_leaf() -> None:
    x = engine.tensor(2.0, requires_grad=True)
    (first,) = autograd.grad(x * x * x, x, create_graph=True)
    (second,) = autograd.grad(first, x, create_graph=True)
    (third,) = autograd.grad(second, x)
    assert [t.item() for t in (first, second, third)] == [12, 12, 6]
    assert x.grad is None
    assert third.requires_grad is False


def test_grad_of_an_inner_tensor() -> None:
    for library in both():
        x = library.tensor([1.0, 2.0], requires_grad=True)
        y = x * x
        z = (y * y).sum()
        found = library.autograd.grad(z, [y, x])
        assert [values(f) for f in found] == [[2, 8], [4, 32]]


def test_unused_input_is_none_zero_or_an_error() -> None:
    for library in both():
        x, w = library.ones(1, requires_grad=True), library.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="index 1 appears to not have been used in the graph"):
            library.autograd.grad((x * 2).sum(), [x, w])
        assert library.autograd.grad((x * 2).sum(), [x, w], allow_unused=True)[1] is None
        zeros = library.autograd.grad((x * 2).sum(), [x, w], materialize_grads=True)[1]
        assert values(zeros) == [0, 0]
        with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
            library.autograd.grad((x * 2).sum(), [library.ones(1)])


def test_create_graph_backward_warns_and_grows_the_gradient() -> None:
    for library in both():
        x = library.tensor(2.0, requires_grad=True)
        with pytest.warns(UserWarning, match="will create a reference cycle between the parameter and its gradient"):
            (x**3).backward(create_graph=True)
        assert x.grad.requires_grad
        x.grad.backward()
        assert x.grad.item() == 24
        x.grad = None


def test_batched_grad_gives_a_row_per_weighting() -> None:
    for library in both():
        x = library.tensor([1.0, 2.0], requires_grad=True)
        (rows,) = library.autograd.grad(x * x, x, library.eye(2), is_grads_batched=True)
        assert values(rows) == [[2, 0], [0, 4]]


# -- hooks and retained gradients ---------------------------------------------------------------------------------


def test_hooks_see_and_replace_the_gradient() -> None:
    for library in both():
        seen: list[Any] = []
        x = library.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        handle = x.register_hook(lambda g, seen=seen: seen.append(("x", values(g))))
        y.register_hook(lambda g, seen=seen: seen.append(("y", values(g))) or g * 10)
        y.retain_grad()
        x.register_post_accumulate_grad_hook(lambda t, seen=seen: seen.append(("after", values(t.grad))))
        y.sum().backward()
        assert seen == [("y", [1, 1]), ("x", [20, 20]), ("after", [20, 20])]
        assert values(y.grad) == [10, 10]
        handle.remove()
        (x * 1).sum().backward()
        assert [s[0] for s in seen[3:]] == ["after"]


def test_gradient_of_a_non_leaf_warns_and_is_none() -> None:
    for library in both():
        y = library.ones(1, requires_grad=True) * 2
        y.backward()
        with pytest.warns(
            UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"
        ):
            assert y.grad is None
        z = library.ones(1, requires_grad=True) * 2
        z.retain_grad()
        z.backward(retain_graph=True)
        z.backward()
        assert values(z.grad) == [2]


# -- grad mode ----------------------------------------------------------------------------------------------------


def test_nothing_is_recorded_without_grad() -> None:
    x = engine.ones(1, requires_grad=True)

    @engine.no_grad()  # type: ignore[untyped-decorator]
    def inner() -> Any:
        return x * 2

    assert not inner().requires_grad
    with engine.no_grad():
        assert not (x * 2).requires_grad
        with engine.enable_grad():
            assert (x * 2).requires_grad
        x.add_(1)  # type: ignore[unreachable]  # the flag is not the constant that mypy takes it for
    with engine.set_grad_enabled(False):
        assert not engine.is_grad_enabled()
    assert engine.is_grad_enabled()
    assert not x.detach().requires_grad
    assert x._version == 1


def test_integer_and_boolean_results_need_no_gradient() -> None:
    x = engine.tensor([3.0, 1.0], requires_grad=True)
    for made in (x > 1, x.argmax(), x.isnan(), x.long(), x == x, x.max(0).indices, x.detach(), x.data):
        assert (made.requires_grad, made.grad_fn) == (False, None)


# -- in place -----------------------------------------------------------------------------------------------------


def test_saved_tensor_written_in_place_is_an_error_in_torchs_words() -> None:
    messages = []
    for library in both():
        told = []
        x = library.tensor([0.0, 1.0, 2.0], requires_grad=True)
        y = library.exp(x)
        y.mul_(2)
        told.append(y)
        y = x * 2
        w = y * y
        y[0] = 5.0
        told.append(w)
        y = x * 2
        w = library.relu(y)
        w.detach().zero_()
        told.append(w)
        for tensor in told:
            with pytest.raises(RuntimeError) as raised:
                tensor.sum().backward()
            messages.append(str(raised.value))
    assert messages[:3] == messages[3:]


def test_data_write_goes_unseen() -> None:
    for library in both():
        x = library.ones(1, requires_grad=True)
        y = x * 1.0
        z = (y * y).sum()
        y.data.mul_(10)
        z.backward()
        assert values(x.grad) == [20]


# -- order --------------------------------------------------------------------------------------------------------


STEPS: dict[str, Any] = {
    "add": lambda library, x, y, scale: x + y,
    "mul": lambda library, x, y, scale: x * y,
    "sin": lambda library, x, y, scale: library.sin(x),
    "tanh": lambda library, x, y, scale: x.tanh(),
    "neg": lambda library, x, y, scale: -x,
    "scale": lambda library, x, y, scale: x * scale,
    "max": lambda library, x, y, scale: library.maximum(x, y),
    "view": lambda library, x, y, scale: x.reshape(-1),
    "sum": lambda library, x, y, scale: x.sum(),
}


def fired(library: Any, seed: int) -> tuple[list[str], Any]:
    """Build a random graph and run it: the nodes in the order in which they ran, and the gradient of the leaf."""
    draw = random.Random(seed)  # noqa: S311 - a program, not a secret
    leaf = library.tensor([0.5, 0.25], requires_grad=True)
    made = [leaf, library.tensor(-0.7, requires_grad=True) * 1, library.tensor(1.1, requires_grad=True) * 1]
    order: list[str] = []
    for number in range(3, draw.randint(8, 25)):
        step = STEPS[draw.choice(sorted(STEPS))]
        result = step(library, made[draw.randrange(number)], made[draw.randrange(number)], draw.random())
        result.register_hook(_noting(order, f"{number} {result.grad_fn.name()}"))
        made.append(result)
    sum(m.sum() for m in made[-4:]).backward()
    return order, values(leaf.grad)


def _noting(order: list[str], text: str) -> Any:
    return lambda gradient: order.append(text)


@pytest.mark.parametrize("seed", range(60))
def test_nodes_run_in_torchs_order(seed: int) -> None:
    ours, theirs = (fired(library, seed) for library in both())
    assert ours[0] == theirs[0]
    np.testing.assert_allclose(ours[1] or 0, theirs[1] or 0, rtol=1e-5)


# -- long chains and freeing --------------------------------------------------------------------------------------


def test_chain_of_100_000_ops_runs_and_is_freed_without_recursion_or_collector() -> None:
    x = engine.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    middle = weakref.ref(y.grad_fn.next_functions[0][0])
    y.backward()
    assert values(x.grad) == [1]
    gc.disable()
    try:
        del y
        assert middle() is None
    finally:
        gc.enable()


def test_graph_is_freed_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        x = engine.ones(3, requires_grad=True)
        y = (engine.exp(x) * x.sigmoid()).max(0).values
        node = weakref.ref(y.grad_fn)
        y.backward(retain_graph=True)
        del y
        assert node() is None
    finally:
        gc.enable()


# -- legacy, functional, anomaly ----------------------------------------------------------------------------------


def test_legacy_broadcasting_expands_or_sums_the_gradient() -> None:
    with autograd.legacy_broadcasting():
        x = engine.tensor([[1.0, 2], [3, 4]], requires_grad=True)
        ((2 * x) ** 3).backward(engine.tensor([1.0, 0.0]))
        assert values(x.grad) == [[24, 0], [216, 0]]
        a = engine.zeros(1, requires_grad=True)
        (3 * a).backward(engine.tensor([0.1, 1.0, 0.0001]))
        assert a.grad.item() == pytest.approx(3.3003)
    with pytest.raises(RuntimeError, match="Mismatch in shape") as raised:
        (3 * a).backward(engine.tensor([0.1, 1.0, 0.0001]))
    assert "legacy_broadcasting" in "".join(raised.value.__notes__)


def test_whole_derivatives_are_torchs() -> None:
    def cubes(library: Any) -> Any:
        return lambda a, b: (a**3 * b, (a * b).sum())

    shapes = []
    for library in both():
        a, b = library.tensor([1.0, 2.0]), library.tensor([3.0, -1.0])
        api, function = library.autograd.functional, cubes(library)
        scalar = lambda a, b: (a**3 * b).sum()  # noqa: E731 - a one-line function of two names
        ones = (library.ones(2), library.tensor([1.0, 2.0]))
        found = [
            api.jacobian(function, (a, b)), api.hessian(scalar, (a, b)), api.vjp(scalar, (a, b), library.tensor(2.0)),
            api.jvp(scalar, (a, b), ones), api.vhp(scalar, (a, b), ones), api.hvp(scalar, (a, b), ones),
            api.jacobian(lambda x: x * x, library.eye(2)), api.hessian(lambda x: (x**4).sum(), a),
            api.jacobian(_constant, a),
        ]  # fmt: skip
        shapes.append(nested(found))
    assert shapes[0] == shapes[1]


def _constant(x: Any) -> Any:
    return x.new_ones(2)


def nested(value: Any) -> Any:
    return [nested(v) for v in value] if isinstance(value, (tuple, list)) else values(value)


def test_anomaly_detection_names_the_op_and_the_line() -> None:
    texts = []
    for library in both():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with library.autograd.detect_anomaly():
                x = library.zeros(1, requires_grad=True)
                y = library.sqrt(x) * 0
                with pytest.raises(RuntimeError) as raised:
                    y.backward()
        texts.append((str(raised.value), [str(w.message).splitlines()[0] for w in told]))
        assert "y = library.sqrt(x) * 0" in str(told[-1].message)
    assert texts[0] == texts[1]
    (engine.sqrt(engine.zeros(1, requires_grad=True)) * 0).backward()  # off again: nan passes


def test_gradcheck_finds_a_wrong_rule() -> None:
    x = engine.tensor([1.0, 2.0], dtype=engine.float64, requires_grad=True)
    assert autograd.gradcheck(lambda t: t * t.detach() + t, x, raise_exception=False) is False
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        autograd.gradcheck(lambda t: t * t.detach(), x)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        autograd.gradcheck(lambda t: t, engine.ones(1, requires_grad=True), raise_exception=False)


def test_refused_calls_say_it_as_torch_does() -> None:
    def cases(library: Any) -> list[Any]:
        x = library.ones(2, requires_grad=True)
        y = x * x
        return [
            y.backward,
            lambda: y.backward(library.ones(3)),
            lambda: y.detach().sum().backward(),
            lambda: library.autograd.backward([y, y], [library.ones(2)]),
            lambda: y.backward(library.ones(2), inputs=[]),
            lambda: setattr(x, "grad", library.ones(3)),
            lambda: setattr(y, "requires_grad", False),
            lambda: library.ones(1).retain_grad(),
            lambda: library.autograd.grad(y.sum(), x, materialize_grads=True, allow_unused=False),
            lambda: setattr(x, "grad", library.ones(2, dtype=library.float64)),
            lambda: setattr(x, "grad", 3),
            x.numpy,
        ]

    told = []
    for library in both():
        for case in cases(library):
            with pytest.raises((RuntimeError, TypeError, ValueError)) as raised:
                case()
            told.append((raised.type.__name__, str(raised.value)))
    half = len(told) // 2
    assert told[:half] == told[half:]


# -- broadcasting and accumulation, at random ---------------------------------------------------------------------


@st.composite
def broadcast_shapes(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    full = draw(st.lists(st.integers(1, 3), max_size=3))
    cut = [draw(st.sampled_from([n, 1])) for n in full]
    skip = draw(st.integers(0, len(full)))
    pair = (tuple(full), tuple(cut[skip:]))
    return pair if draw(st.booleans()) else pair[::-1]


@given(broadcast_shapes(), st.sampled_from(["add", "sub", "mul", "div", "maximum", "atan2"]), st.integers(0, 9))
@settings(max_examples=150, deadline=None)
def test_broadcast_gradient_is_summed_to_the_operands_shape(shapes: Any, name: str, seed: int) -> None:
    torch = pytest.importorskip("torch")
    draws = np.random.default_rng(seed)
    arrays = [draws.uniform(0.5, 2, shape) for shape in shapes]
    found = []
    for library in (engine, torch):
        x, y = (library.tensor(np.asarray(a), requires_grad=True) for a in arrays)
        made = getattr(library, name)(x, y)
        made.backward(library.tensor(np.cos(np.arange(float(np.prod(made.shape)))).reshape(tuple(made.shape))))
        found.append((x.grad, y.grad))
    for mine, yours in zip(*found, strict=True):
        assert tuple(mine.shape) == tuple(yours.shape)
        np.testing.assert_allclose(mine.numpy(), yours.numpy(), rtol=1e-12, atol=1e-12)


@given(st.lists(st.sampled_from(["twice", "square", "shared", "part"]), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_accumulated_gradient_is_the_gradient_of_the_sum(kinds: list[str]) -> None:
    losses = {
        "twice": lambda t: (2 * t).sum(), "square": lambda t: (t * t).sum(), "shared": lambda t: (t * t.sum()).sum(),
        "part": lambda t: t[1:].sum() * t[0],
    }  # fmt: skip
    x = engine.tensor([1.0, -2.0, 0.5], requires_grad=True)
    for kind in kinds:
        losses[kind](x).backward()
    (whole,) = autograd.grad(sum(losses[kind](x) for kind in kinds), x)
    np.testing.assert_allclose(x.grad.numpy(), whole.numpy(), rtol=1e-6)


# -- on a GPU -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_same_program_runs_on_both_devices(place: str) -> None:
    if place == "cuda" and not engine.cuda.is_available():
        pytest.skip("cupy finds no GPU here")
    x = engine.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True, device=place)
    y = (engine.exp(x) @ x.t()).softmax(1).log().sum() + x[0].max() + engine.cat([x, x]).mean() + (x / 3).tanh().std()
    y.backward()
    expected = engine.tensor(x.detach().cpu().numpy(), requires_grad=True)
    z = (engine.exp(expected) @ expected.t()).softmax(1).log().sum() + expected[0].max()
    z = z + engine.cat([expected, expected]).mean() + (expected / 3).tanh().std()
    z.backward()
    assert x.grad.device.type == place
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected.grad.numpy(), rtol=1e-5)
