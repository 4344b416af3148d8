"""The torch surface beyond the rows: errors word for word, nodes of composites, printing, creation, indexing."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import engine
from engine.trace.events import LeafCreated
from tests.batches import batches
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import evaluated, listed

X_TENSOR = engine.zeros(2)
X = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4) / 4


def scope(library: Any, grads: bool = False) -> dict[str, Any]:
    """Names that the expressions below use."""
    make = {
        "x": X, "y": X[:2], "v": X[0], "b": np.stack([X, X + 1]), "w": X[::-1].copy(), "m": X.T.copy(),
    }  # fmt: skip
    found = {name: library.tensor(value, requires_grad=grads) for name, value in make.items()}
    found.update(i=library.arange(3), e=library.empty(0), torch=library)
    found["s"] = library.tensor(2.0, requires_grad=grads)
    return found


def outcome(expression: str, library: Any, grads: bool = False) -> Any:
    return evaluated(expression, scope(library, grads))


ERRORS = """
x + y | x * v[:3] | x @ y | torch.mm(x, y) | torch.mm(x, v) | torch.bmm(b, b) | torch.bmm(x, x) | torch.mv(x, v[:3])
torch.mv(v, v) | torch.dot(v, v[:3]) | torch.dot(x, x) | s @ v | b @ x[:, :3] | torch.matmul(x, 2) | torch.cat([])
torch.cat([x, x[:, :2]]) | torch.cat([x, v]) | torch.cat([x, y], 2) | torch.stack([x, y]) | torch.stack([])
torch.cat(x)
torch.stack([x, x], 5) | torch.cat([x, 2]) | x.reshape(5) | x.view(5) | x.t().view(12) | x.view(-1, 5) | x.view(-1, -1)
e.view(-1, 0) | x.view(-2, 6) | x[5] | x[0, 9] | x[0, 0, 0] | x[-4] | x[torch.tensor([5])]
x[torch.tensor([True, False])]
x[:, torch.tensor([9])] | s[0] | x[1.5] | x["a"] | x[torch.tensor(1.5)] | x[::-1] | x[[0, 1], [0, 1, 2]] | x.sum(5)
x.sum(-3) | x.mean(2) | x.max(3) | x.transpose(0, 5) | x.permute(0) | x.permute(0, 0) | x.permute(0, 5) | x.squeeze(4)
x.unsqueeze(4) | x.expand(3, 5) | x.expand(4) | b.t() | x.softmax(4) | x.flatten(1, 0) | x.flatten(5) | s.sum(1)
x.sum((0, 0)) | i.mean() | i.softmax(0) | i.log_softmax(0) | i.var() | e.max() | e.argmax() | x[:0].max(0) | e.min()
i ** -1 | i.norm() | e.amax() | x[:0].argmax(0) | x.clamp() | x.item() | bool(x) | float(x) | int(v)
i.requires_grad_()
torch.tensor([1], requires_grad=True) | torch.tensor([[1, 2], [3]]) | torch.tensor("a") | torch.tensor(None) | x + None
torch.tensor([1, "a"]) | torch.zeros() | torch.zeros(2, -1) | torch.arange(0, 1, 0) | torch.arange(1, 0)
torch.Tensor(3.5)
x + "a" | x * [1] | x ** None | -torch.tensor([True]) | torch.tensor([True]) - torch.tensor([True]) | x < None | ~x
x & x
torch.exp(2.0) | torch.relu([1]) | torch.sum([1]) | torch.where(x, x, x) | torch.maximum(x, 2) | i.add_(1.5) | v.add_(x)
torch.zeros(3, requires_grad=True).add_(1) | v.mul_(x[:, 0]) | i.exp_() | v.__setitem__(0, x) | v.__setitem__(9, 1.0)
v.__setitem__(slice(0, 2), v[:3]) | s.expand(3).add_(1) | x.allclose(i) | x.size(5) | len(s) | list(s) | x.cuda()
torch.from_numpy([1]) | x.backward() | torch.zeros(2, requires_grad=True).numpy() | i // 0 | torch.abs(i > 1)
torch.zeros(2, requires_grad=True)[0].add_(1) | x.retain_grad() | x.register_hook(print)
"""

COMPOSITES = """
b @ m | b @ v | v @ m | b @ b.transpose(1, 2) | v @ b.transpose(1, 2) | x @ b.transpose(1, 2)
b.transpose(1, 2) @ x.t().mT
x.t().reshape(12) | x.t().flatten() | x.flatten() | v.flatten() | s.flatten() | x.t().contiguous() | x.contiguous()
x.ravel()
x.T | x.mT | x[0, 1] | x[0:2, 1:3] | x[..., 0] | x[None, 0] | x[:] | x[:, None] | x[True] | x[1:, [0, 1]] | x[x > 1]
x[0, torch.tensor([0, 1])] | x[torch.tensor(1)] | 1 / x | 2 - x | 2 ** x | x.square() | torch.outer(v, v)
torch.hstack([x, w])
torch.vstack([v, v]) | x.unflatten(1, (2, 2)) | x.sum(dim=None) | x.norm() | x.double() | x.float() | x.view_as(w)
x.narrow(0, 1, 2)
x.reshape(3, 2, 2).transpose(0, 1).reshape(2, 6) | x.expand_as(b) | x.where(x > 1, w) | torch.movedim(b, 0, 2)
abs(x) | +x
x.unsqueeze(0).expand(2, 3, 4).reshape(6, 4) | torch.softmax(x, 1).log() | x.var(unbiased=False) | x.std(1)
x.clamp(w, x)
"""


@batches("expression", listed(ERRORS))
def test_error_is_torchs_word_for_word(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(expression, engine), outcome(expression, torch)
    assert isinstance(theirs, Exception), expression
    assert (type(ours).__name__, str(ours)) == (type(theirs).__name__, str(theirs))


@batches("expression", listed(COMPOSITES))
def test_composite_takes_torchs_steps(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(expression, engine, True), outcome(expression, torch, True)
    assert names(ours.grad_fn) == names(theirs.grad_fn)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-6)
    scopes = [scope(engine, True), scope(torch, True)]
    for found in scopes:
        made = eval(expression, found)  # noqa: S307 - expressions of this file
        made.backward(found["torch"].ones_like(made))
    for name in "xyvbwms":
        mine, yours = scopes[0][name].grad, scopes[1][name].grad
        assert (mine is None) == (yours is None)
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), yours.numpy(), rtol=1e-5, atol=1e-7)


DTYPES = """
i + 1 | i + 1.5 | i / 2 | i // 2 | i ** 2 | i ** 2.0 | 2 ** i | 2.0 ** i | i.exp() | i.sum() | (i > 1).sum()
i.prod() | i.cumsum(0)
i.sum(dtype=torch.float32) | x.sum(dtype=torch.float64) | i > 1 | i == 1.0 | torch.maximum(i, x[:, 0]) | i.clamp(0.5)
torch.tensor(True) + 1 | torch.tensor(1) + 1.5 | s + i | x.double() + x | x.half() + x | x.double()[0, 0] + x | i + s
torch.where(x > 1, x, 0) | torch.where(i > 1, 1, 0) | torch.where(i > 1, 1.0, 0) | torch.tensor([1, 2.0])
torch.tensor([[]])
torch.tensor(3) | torch.tensor([True]) | torch.full((2,), 1) | torch.full((2,), 1.5) | torch.full((2,), True)
torch.arange(5)
torch.arange(1.0, 2.0, 0.25) | torch.linspace(0, 1, 5) | torch.eye(2, 3) | torch.FloatTensor([1, 2])
torch.LongTensor([1, 2])
torch.Tensor([1, 2]) | torch.DoubleTensor([1]) | torch.zeros_like(i) | torch.ones_like(x, dtype=torch.int64)
x.long() | x.bool()
torch.as_tensor([1.0]) | i.argmax() | x.isnan() | i.all() | torch.cat([i, x[0]]) | torch.stack([i, i])
x.new_zeros(2) | i.new_ones(2)
torch.full_like(i, 2) | torch.arange(0, 1, 0.3) | torch.tensor([1.0, float("nan")]).max() | torch.sign(i)
e.mean() | e.sum()
x[:0].max(1).values | e.logsumexp(0) | x[x > 100].prod() | torch.softmax(e, 0) | x.t() == m | i & 1 | i ^ i | ~i
x != x
"""


@batches("expression", listed(DTYPES))
def test_value_dtype_and_text_are_torchs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(expression, engine), outcome(expression, torch)
    assert repr(ours) == repr(theirs)
    assert str(ours.dtype) == str(theirs.dtype)


PRINTED = [
    [1.0, 2.0, 3.0], [1.5, 2, 3], [1e-5, 1.0], [1e9, 1.0], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), -1.5],
    [-0.0],
    [[1, 2], [3, -40]], [True, False], [[1e-3, 1.0], [2.0, 3.0]], [100000.0, 1.5], 3.14159, 7, [], [[]], [[[1.0]]],
    [123456789.0], [1e38, 1e-38], [0.1] * 30, list(range(40)), [[0.5] * 20] * 3, [float("nan")] * 2,
    [1.0, float("inf")],
    [2.0**24, 1.0], [999.0, 1.0], [1001.0, 1.0], [0.00012, 0.5],
]  # fmt: skip


@pytest.mark.parametrize("data", PRINTED, ids=lambda d: str(d)[:30])
@pytest.mark.parametrize("which", ["float32", "float64", "float16", "int64", "bool"])
def test_tensor_prints_as_torch_prints_it(data: Any, which: str) -> None:
    torch = pytest.importorskip("torch")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.array(data)
        if which == "int64" and not (np.isfinite(array).all() and (abs(array) < 2**62).all()):
            array = np.zeros(2)
        array = array.astype(which)
    assert repr(engine.tensor(array)) == repr(torch.tensor(array))
    if which.startswith("float"):
        ours, theirs = engine.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)
        assert repr(ours) == repr(theirs)
        assert repr(ours * 2) == repr(theirs * 2)


@pytest.mark.parametrize(
    "shape", [(1001,), (40, 40), (7, 7, 30), (3, 500), (2, 2, 2, 200), (0, 3), (1000,), (6, 6, 100)]
)
def test_large_tensor_prints_its_edges(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    data = np.linspace(-3, 900, int(np.prod(shape)), dtype="float32").reshape(shape)
    assert repr(engine.tensor(data)) == repr(torch.tensor(data))


def test_print_options_change_what_is_printed() -> None:
    torch = pytest.importorskip("torch")
    data = np.linspace(0, 1, 50)
    for options in ({"precision": 2}, {"threshold": 10, "edgeitems": 2}, {"linewidth": 40}, {"sci_mode": True}):
        for library in (engine, torch):
            library.set_printoptions(profile="default")
            library.set_printoptions(**options)
        assert repr(engine.tensor(data)) == repr(torch.tensor(data)), options
    for library in (engine, torch):
        library.set_printoptions(profile="default")


WRITES = """
z.add_(1) | z.add_(w) | z.sub_(w, alpha=2) | z.mul_(2) | z.mul_(w) | z.div_(w) | z.neg_() | z.exp_() | z.zero_()
z.fill_(2.0)
z.fill_(s) | z.copy_(w) | z.copy_(v) | z.clamp_(1, 2) | z.clamp_(min=1) | z.relu_() | z.pow_(2) | z.pow_(w) | z.sqrt_()
z.sigmoid_() | z.tanh_() | z.abs_() | z.log_() | z.reciprocal_() | z.rsqrt_() | z.sin_() | z.masked_fill_(z > 1, 0.0)
z.__setitem__(z > 1, 0.0) | z.__setitem__(torch.tensor([0, 1]), v) | z.__setitem__(Ellipsis, 5.0) | z.__ipow__(2)
z.floor_()
z.__setitem__(z > 1, w[z > 1]) | z.__imod__(2) | z.square_() | z.log1p_() | z.detach_()
"""
PARTIAL = """
z.__setitem__(0, 1.0) | z.__setitem__(0, v) | z.__setitem__((slice(None), 1), s) | z.__setitem__((0, 0), 5.0)
z.t().mul_(2)
z.__setitem__(slice(0, 2), w[:2]) | z[0].mul_(2) | z[0].copy_(v) | z.view(12)[3:5].exp_() | z[1].mul_(w[1])
z[0][1].mul_(w[0, 0])
z.__setitem__((0, torch.tensor([0, 1])), 7.0) | z[1:].mul_(z[:2].clone()) | z[0].add_(z[1])
"""


def written(expression: str, library: Any) -> tuple[Any, dict[str, Any]]:
    found = scope(library, True)
    found["z"] = found["x"] * 1.5
    eval(expression, found)  # noqa: S307 - expressions of this file
    if found["z"].grad_fn is not None:
        (found["z"] * found["z"]).sum().backward()
    return found["z"], found


@batches("expression", [*listed(WRITES), *listed(PARTIAL)])
def test_written_tensor_has_torchs_value_version_and_gradients(expression: str) -> None:
    torch = pytest.importorskip("torch")
    (ours, mine), (theirs, yours) = written(expression, engine), written(expression, torch)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-6)
    assert ours._version == theirs._version
    if expression in listed(WRITES):  # of a part: torch runs the op inside its CopySlices, we beside it
        assert names(ours.grad_fn) == names(theirs.grad_fn)
    for name in "xwvs":
        assert (mine[name].grad is None) == (yours[name].grad is None), name
        if mine[name].grad is not None:
            np.testing.assert_allclose(mine[name].grad.numpy(), yours[name].grad.numpy(), rtol=1e-5, atol=1e-6)


def test_view_follows_what_is_written_to_its_base() -> None:
    torch = pytest.importorskip("torch")
    for library in (engine, torch):
        x = library.tensor([1.0, 2.0, 3.0], requires_grad=True)
        z = x * 2
        part = z[:2]
        z.mul_(3)
        part.sum().backward()
        assert x.grad.tolist() == [6.0, 6.0, 0.0]


def test_views_share_storage_and_version() -> None:
    x = engine.zeros(2, 3)
    for view in (x[0], x.view(6), x.t(), x[:, 1:], x.unsqueeze(0), x.detach(), x.expand(2, 2, 3)):
        assert np.shares_memory(view._array, x._array)
        before = view._version
        x.add_(1)
        assert view._version == before + 1 == x._version
    copy = x.data
    x.add_(1)
    assert copy._version == 0
    assert engine.equal(copy, x)


def test_public_names_are_there_once() -> None:
    assert [name for name in engine.__all__ if not hasattr(engine, name)] == []
    assert len(set(engine.__all__)) == len(engine.__all__)


def test_every_function_and_method_of_ours_is_torchs() -> None:
    torch = pytest.importorskip("torch")
    own = {"Trace", "record", "replay", "default_generator", "array", "__version__"}
    assert [n for n in engine.__all__ if n not in own and not hasattr(torch, n)] == []
    ours = [n for n in vars(engine.Tensor) if not n.startswith("_")]
    assert [n for n in ours if not hasattr(torch.Tensor, n)] == []


def test_draws_repeat_with_their_seed() -> None:
    draws = []
    for _ in range(2):
        engine.manual_seed(3)
        draws.append(
            [engine.rand(3), engine.randn(2, 2), engine.randint(5, (4,)), engine.zeros(3).normal_(), engine.randperm(5)]
        )
    for first, second in zip(*draws, strict=True):
        assert engine.equal(first, second)
    assert not engine.equal(engine.rand(3), draws[0][0])
    assert draws[0][0].dtype is engine.float32
    assert draws[0][2].dtype is engine.int64


def test_every_way_to_make_a_tensor_tells_the_recording() -> None:
    made = {
        "tensor": lambda: engine.tensor([1.0]),
        "as_tensor": lambda: engine.as_tensor([1.0]),
        "Tensor": lambda: engine.Tensor([1]),
        "from_numpy": lambda: engine.from_numpy(np.ones(1)),
        "zeros": lambda: engine.zeros(1),
        "ones": lambda: engine.ones(1),
        "full": lambda: engine.full((1,), 2),
        "empty": lambda: engine.empty(1),
        "arange": lambda: engine.arange(2),
        "linspace": lambda: engine.linspace(0, 1, 2),
        "eye": lambda: engine.eye(2),
        "rand": lambda: engine.rand(1),
        "randn": lambda: engine.randn(1),
        "randint": lambda: engine.randint(3, (2,)),
        "FloatTensor": lambda: engine.FloatTensor([1]),
        "LongTensor": lambda: engine.LongTensor([1]),
        "zeros_like": lambda: engine.zeros_like(X_TENSOR),
    }
    for source, make in made.items():
        with engine.record() as trace:
            make()  # type: ignore[no-untyped-call]  # either library
        leaves = [e for e in trace.events if isinstance(e, LeafCreated)]
        assert [leaf.source for leaf in leaves] == [source]


def test_error_has_a_second_part_of_our_own() -> None:
    with pytest.raises(RuntimeError) as raised:
        engine.zeros(2, 3) @ engine.zeros(4, 5)
    assert re.search("Backstep: the product needs as many columns", "".join(raised.value.__notes__))
    with pytest.raises(RuntimeError) as raised:
        engine.zeros(2, 3) + engine.zeros(4)
    assert "add was called with self [2, 3], other [4]" in "".join(raised.value.__notes__)


# -- views and indices at random ----------------------------------------------------------------------------------

PIECES = [
    *(f"{n}" for n in (0, 1, -1)),
    *(
        "::2",
        "1:",
        ":-1",
        "1:2",
        ":",
        "None",
        "...",
        "True",
        "[0, 1]",
        "torch.tensor([0, 1])",
        "torch.tensor([[0], [1]])",
    ),
]
MOVES = [
    *(f"permute({order})" for order in ("2, 0, 1", "1, 0, 2", "2, 1, 0")),
    *(
        "unsqueeze(1)",
        "t_none",
        "transpose(0, 2)",
        "expand(2, -1, -1, -1)",
        "squeeze()",
        "flatten(1)",
        "[:, 1:]",
        "[..., ::2]",
    ),
]
SHAPED = [
    "view(-1)",
    "reshape(-1)",
    "reshape(2, -1)",
    "view(6, -1)",
    "flatten()",
    "reshape(3, -1, 2)",
    "view(2, 2, -1)",
    "ravel()",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.lists(st.sampled_from(MOVES), max_size=2))
@settings(max_examples=300, deadline=None)
def test_random_index_takes_torchs_steps(pieces: list[str], moves: list[str]) -> None:
    assume(pieces.count("...") < 2)
    key = ", ".join(pieces)
    agree(f"x{chain(moves)}[{key}]")
    agree(f"(lambda z: z.__setitem__(torch_key({key!r}), 5.0) or z)(w{chain(moves)}.clone())")


@given(st.lists(st.sampled_from(MOVES), max_size=3), st.sampled_from(SHAPED))
@settings(max_examples=300, deadline=None)
def test_random_reshape_is_a_view_where_it_is_one_in_torch(moves: list[str], shaped: str) -> None:
    agree(f"x{chain(moves)}.{shaped}")


def chain(moves: list[str]) -> str:
    return "".join("" if m == "t_none" else m if m.startswith("[") else f".{m}" for m in moves)


def agree(expression: str) -> None:
    """Both libraries raise alike, or give equal values by equal steps."""
    torch = pytest.importorskip("torch")
    data = np.arange(24.0).reshape(2, 3, 4)
    found = []
    for library in (engine, torch):
        scope = {"torch": library, "x": library.tensor(data, requires_grad=True), "w": library.tensor(data)}
        scope["torch_key"] = lambda text, scope=scope: eval(f"_KEY[{text}]", {**scope, "_KEY": Key()})  # noqa: S307  expressions of this file
        try:
            found.append(eval(expression, scope))  # noqa: S307 - made above
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            found.append(error)
    ours, theirs = found
    if isinstance(theirs, Exception):
        assert (type(ours), str(ours)) == (type(theirs), str(theirs))
    else:
        np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
        assert names(ours.grad_fn) == names(theirs.grad_fn)


class Key:
    """Gives back what stands between the brackets."""

    def __getitem__(self, key: Any) -> Any:
        return key


@pytest.mark.parametrize("spec", ["", ".2f", "8.1e"])
def test_a_tensor_without_dimensions_is_formatted_as_its_number(spec: str) -> None:
    assert format(engine.tensor(1.5), spec) == format(1.5, spec)
    with pytest.raises(TypeError, match="unsupported format string passed to Tensor"):
        format(engine.ones(2), ".2f")
    assert f"{engine.ones(2)}" == "tensor([1., 1.])"


@pytest.mark.parametrize("convert", [float, int, complex])
def test_converting_what_requires_grad_warns_and_item_does_not(convert: type) -> None:
    x = engine.tensor(2.0, requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert convert(x) == 2
    assert x.item() == 2 and f"{x:.1f}" == "2.0" and float(x.detach()) == 2
