"""Rare uses beside torch: whole programs, of which the values, or the first sentence of the error, are the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import listed
from tests.parity.helpers.tables import first_line

Program = Callable[[Any], Any]


def outcome(program: Program, library: Any) -> Any:
    """The tensors that a program makes, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return program(library)
        except Exception as error:  # noqa: BLE001 - which one is what the tests are about
            return error


def assert_same(program: Program) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(program, engine), outcome(program, torch)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert first_line(ours) == first_line(theirs)
        return
    for mine, other in zip(ours, theirs, strict=True):
        assert (tuple(mine.shape), str(mine.dtype)) == (tuple(other.shape), str(other.dtype))
        np.testing.assert_allclose(mine.tolist(), other.tolist(), rtol=1e-5, atol=1e-6)


def activated(name: str, *arguments: Any) -> Program:
    """An activation written into its input, and the gradient through it."""

    def program(t: Any) -> list[Any]:
        x = t.tensor([-2.0, 2.0], requires_grad=True)
        y = getattr(t.nn.functional, name)(x * 1, *arguments)
        y.sum().backward()
        return [y, x.grad]

    return program


SLOPES = {
    "elu_ -0.5": activated("elu_", -0.5),
    "elu_ 0": activated("elu_", 0.0),
    "celu_ -0.5": activated("celu_", -0.5),
    "leaky_relu_ -0.5": activated("leaky_relu_", -0.5),
    "leaky_relu_ 0": activated("leaky_relu_", 0.0),
    "leaky_relu_ 0.5": activated("leaky_relu_", 0.5),
    "leaky_relu -0.5": activated("leaky_relu", -0.5),
    "rrelu_ -0.5": activated("rrelu_", -0.5, -0.5, False),
    "rrelu_ -0.5 in training": activated("rrelu_", -0.5, -0.5, True),
    "rrelu_ 0.5 in training": activated("rrelu_", 0.5, 0.5, True),
}


@pytest.mark.parametrize("program", SLOPES.values(), ids=SLOPES)
def test_slope_below_0_written_in_place_has_torchs_gradient_or_error(program: Program) -> None:
    assert_same(program)


def pooled(name: str, sizes: tuple[int, ...], *arguments: Any) -> Program:
    def program(t: Any) -> list[Any]:
        x = t.zeros(sizes, requires_grad=True)
        y = getattr(t.nn.functional, name)(x, *arguments)
        y.sum().backward()
        return [y, x.grad]

    return program


def put_back(rank: int, sizes: tuple[int, ...]) -> Program:
    def program(t: Any) -> list[Any]:
        places = t.zeros(sizes, dtype=t.int64)
        return [getattr(t.nn.functional, f"max_unpool{rank}d")(t.zeros(sizes), places, 2)]

    return program


def through(kind: str, sizes: tuple[int, ...], batch_first: bool, given: bool) -> Program:
    """A recurrent layer on zeros, its state given with a wrong size or not at all."""

    def program(t: Any) -> list[Any]:
        t.manual_seed(0)
        layer = getattr(t.nn, kind)(3, 4, batch_first=batch_first)
        state = t.zeros(1, 7, 4)
        found = layer(t.zeros(sizes), *([(state, state) if kind == "LSTM" else state] if given else []))
        return [found[0] * 0]

    return program


POOLINGS = ("max_pool", "avg_pool", "lp_pool", "adaptive_avg_pool", "adaptive_max_pool")


def _emptied(rank: int) -> list[tuple[int, ...]]:
    """Sizes with a 0 in each place, of a batch and of one example."""
    whole = [(2,) * (rank + 2), (2,) * (rank + 1)]
    return [(*sizes[:d], 0, *sizes[d + 1 :]) for sizes in whole for d in range(len(sizes))]


NOTHING = {
    f"{name}{rank}d {sizes}": pooled(f"{name}{rank}d", sizes, *([2, 2] if name == "lp_pool" else [2]))
    for name in POOLINGS
    for rank in (1, 2, 3)
    for sizes in _emptied(rank)
}
NOTHING |= {
    f"{name}{rank}d {sizes} to {out}": pooled(f"{name}{rank}d", sizes, out)
    for name in ("adaptive_avg_pool", "adaptive_max_pool")
    for rank in (1, 2, 3)
    for sizes in ((), (3,) * rank, (2, 0, *(3,) * rank), (2, 2, 0, *(3,) * (rank - 1)), (2,) * (rank + 3))
    for out in (0, 1, None)
    if (name, rank, sizes, out) != ("adaptive_avg_pool", 3, (), 1)  # torch's complaint names another dimension
}
NOTHING |= {f"max_unpool{rank}d {sizes}": put_back(rank, sizes) for rank in (1, 2, 3) for sizes in _emptied(rank)}
NOTHING |= {
    f"{kind} {sizes} {batch_first} {given}": through(kind, sizes, batch_first, given)
    for kind in ("RNN", "LSTM", "GRU")
    for sizes in ((0, 2, 3), (2, 0, 3), (0, 3))
    for batch_first in (False, True)
    for given in (False, True)
}


@pytest.mark.parametrize("program", NOTHING.values(), ids=NOTHING)
def test_nothing_to_go_through_gives_what_torch_gives(program: Program) -> None:
    assert_same(program)


def test_filters_of_no_channels_give_their_bias() -> None:
    made = engine.nn.functional.conv2d(engine.zeros(2, 0, 3, 3), engine.zeros(4, 0, 2, 2), engine.arange(4.0))
    assert made.tolist() == [[[[float(k)] * 2] * 2 for k in range(4)]] * 2  # torch has no filters here


WRITTEN_PARTS = """
x[0] = 1 | x[0, 1] = 1 | x[0:1] = 1 | x[:, 0] = 1 | x[0:2] = 1 | x[...] = 1 | x[0].mul_(5) | x[1].t().add_(w[0])
x.add_(1) | x.copy_(w) | x.fill_(3) | x.zero_() | x[:, 1].fill_(2) | x[:, 1].add_(2) | x.unsqueeze(0)[0, 0].mul_(w[0])
x.mul_(w) | x.data[0] = 1 | x[0].copy_(w[0]) | x[0:1, 0:1].exp_() | x.sub_(x) | x[0].add_(x[1]) | x[2].clamp_(0, 1)
x.as_strided((2, 2), (0, 1)).add_(1) | x.as_strided((1, 2), (0, 1)).add_(1) | x.scatter_(0, w.long() * 0, 1.0)
"""


def expanded_and(statement: str) -> Program:
    """A row seen three times, written, and the gradients through all that is left of it."""

    def program(t: Any) -> list[Any]:
        row = t.tensor([[1.0, 2.0]], requires_grad=True)
        w = t.tensor([[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]], requires_grad=True)
        base = row * 1
        x = base.expand(3, 2)
        exec(statement, {"x": x, "w": w})
        (x * t.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
        return [x, base, row.grad, t.zeros(3, 2) if w.grad is None else w.grad]

    return program


@batches("statement", listed(WRITTEN_PARTS))
def test_part_of_an_expanded_tensor_is_written_where_torch_writes_it(statement: str) -> None:
    assert_same(expanded_and(statement))


def test_windows_of_a_written_base_add_up_where_they_share_elements() -> None:
    def program(t: Any) -> list[Any]:
        row = t.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        base = row * 1
        windows = base.unfold(0, 3, 1)
        base.mul_(2)
        (windows * t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
        return [windows, row.grad]

    assert_same(program)


GRADIENTS = """
t.gradient(x) | t.gradient(x, spacing=2) | t.gradient(x, spacing=3.) | t.gradient(x, spacing=(c,)) | t.gradient(y)
t.gradient(x, spacing=[c], edge_order=2) | t.gradient(x, edge_order=2) | t.gradient(x, edge_order=3)
t.gradient(y, dim=1) | t.gradient(y, dim=-2) | t.gradient(y, dim=[1, 0]) | t.gradient(y, spacing=(2., 3), dim=(1, 0))
t.gradient(y, spacing=(c[:3], c[:4])) | t.gradient(y, spacing=(c[:4],), dim=1) | t.gradient(y, edge_order=2)
t.gradient(y, dim=1, edge_order=2, spacing=.5) | t.gradient(y, spacing=(c[:3] ** 2,), dim=0, edge_order=2)
t.gradient(x[:1]) | t.gradient(x[:2], edge_order=2) | t.gradient(x[0]) | t.gradient(x[:2]) | t.gradient(x.long())
t.gradient(x > 2) | t.gradient(y, dim=(0, 0)) | t.gradient(y, dim=5) | t.gradient(y, spacing=[1., 2., 3.])
t.gradient(y, spacing=(c, c)) | t.gradient(y, spacing=(c,), dim=(0, 1)) | t.gradient(y, spacing=1., dim=())
t.gradient(x.double(), spacing=3) | t.gradient(x, spacing=t.tensor(2.)) | t.gradient(x, spacing=t.tensor([2.]))
t.gradient(x, spacing='a') | t.gradient(x, spacing=None) | t.gradient(x.half()) | t.gradient(x, spacing=(c.double(),))
t.gradient(x.long(), spacing=(c.long(),)) | t.gradient(x, spacing=(y,)) | t.gradient(3) | t.gradient(t.zeros(0, 3))
"""


def sloped(expression: str) -> Program:
    """What torch.gradient makes, and the gradients of it with respect to values and places."""

    def program(t: Any) -> list[Any]:
        x = t.tensor([1.0, 2.0, 4.0, 7.0, 11.0], requires_grad=True)
        c = t.tensor([0.5, 1.0, 3.0, 4.0, 9.0], requires_grad=True)
        y = t.arange(12.0).reshape(3, 4).pow(2).requires_grad_()
        found = eval(expression, {"t": t, "x": x, "c": c, "y": y})  # noqa: S307 - expressions of this file
        assert isinstance(found, tuple)
        for made in found:
            if made.requires_grad:
                made.pow(2).sum().backward(retain_graph=True)
        return [*found, *(leaf.grad for leaf in (x, c, y) if leaf.grad is not None)]

    return program


@batches("expression", listed(GRADIENTS))
def test_slope_of_points_is_torchs(expression: str) -> None:
    assert_same(sloped(expression))


def test_slope_of_points_has_torchs_nodes() -> None:
    torch = pytest.importorskip("torch")

    def names(node: Any) -> Any:
        return (node.name(), [names(after) for after, _ in node.next_functions]) if node is not None else None

    for options in ({}, {"edge_order": 2}, {"spacing": 0.5}):
        ours, theirs = (t.gradient(t.ones(5, requires_grad=True), **options)[0] for t in (engine, torch))
        assert names(ours.grad_fn) == names(theirs.grad_fn)


def pushed(jvp: Callable[[Any], Any], forward: Callable[[Any, Any], Any]) -> Program:
    """A Function in forward mode: its output and the tangent of that."""

    def program(t: Any) -> list[Any]:
        class Custom(t.autograd.Function):  # type: ignore[misc]  # of whichever library
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return forward(ctx, x)

            @staticmethod
            def jvp(ctx: Any, tangent: Any) -> Any:
                return jvp(tangent)

        dual = t.autograd.forward_ad
        with dual.dual_level():
            x = dual.make_dual(t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0]))
            return list(dual.unpack_dual(Custom.apply(x)))

    return program


def writing(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


FORWARDS: dict[str, Callable[[Any, Any], Any]] = {
    "a product": lambda ctx, x: x * 2,
    "written": writing,
    "a view": lambda ctx, x: x.view(2, 1),
    "a view of the same shape": lambda ctx, x: x.view_as(x),
    "as it is": lambda ctx, x: x,
}
TANGENTS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda g: g,
    "a product": lambda g: g * 2,
    "written": lambda g: g.mul_(2),
    "a view": lambda g: g.view(2, 1),
    "a view of the same shape": lambda g: g.view_as(g),
    "a view of a product": lambda g: (g * 2).view(2, 1),
    "written, and a view": lambda g: g.mul_(2).view(2),
    "a part": lambda g: g[:1] * 2,
    "two": lambda g: (g, g),
    "a number": lambda g: 3,
}


@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("forward", FORWARDS)
def test_tangent_of_a_function_is_checked_as_torch_checks_it(forward: str, tangent: str) -> None:
    assert_same(pushed(TANGENTS[tangent], FORWARDS[forward]))


def test_nothing_is_written_without_an_error() -> None:
    made = engine.zeros(0, 3) * 2
    assert made.normal_().add_(1).shape == (0, 3)
    assert engine.zeros(3, 0).expand(2, 3, 0).mul_(2).shape == (2, 3, 0)


BAGS = """
bag(i, w, o, mode='sum', per_sample_weights=t.ones(5).double()) | bag(i, w, o, mode='sum', per_sample_weights=p)
bag(i, w.double(), o, mode='sum', per_sample_weights=p) | bag(i, w[0], o)
bag(i, w, t.tensor([], dtype=t.int64), include_last_offset=True) | bag(i, w, o, sparse=True, mode='max')
bag(i, w.long(), o) | bag(i + 3, w, o, mode='max') | bag(i + 3, w.double(), o) | bag(i, w, o, mode='x') | bag(i, w)
bag(i, w, o, mode='max', per_sample_weights=p) | bag(i, w, o, mode='sum', per_sample_weights=t.ones(4))
bag(i, w, t.tensor([1, 2])) | bag(i, w, o.reshape(1, 2)) | bag(i.float(), w, o) | bag(i, w, o.float())
bag(i.reshape(1, 5), w, o) | bag(i.reshape(5, 1, 1), w) | bag(i, w, o, padding_idx=7) | bag(i, w, o, padding_idx=-5)
bag(i, w, o, mode='max', scale_grad_by_freq=True) | bag(i, w, o) | bag(i, w, t.tensor([1, 2]), padding_idx=7)
bag(i, w, t.tensor([0, 3]), include_last_offset=True, mode='sum') | bag(t.zeros(3, 0).long(), w)
bag(i, w, t.tensor([0, 0, 2, 2, 4]), include_last_offset=True, mode='sum', per_sample_weights=p) | bag(i[:0], w, o[:1])
"""


@batches("expression", listed(BAGS))
def test_bags_that_do_not_fit_raise_torchs_errors(expression: str) -> None:
    def program(t: Any) -> list[Any]:
        names = {
            "t": t, "bag": t.nn.functional.embedding_bag, "w": t.arange(12.0).reshape(4, 3), "p": t.ones(5),
            "i": t.tensor([0, 1, 2, 3, 1]), "o": t.tensor([0, 2]),
        }  # fmt: skip
        return [eval(expression, names)]  # noqa: S307 - expressions of this file

    assert_same(program)


def test_backward_in_backward_without_end_says_how_deep_it_was() -> None:
    class Again(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with engine.enable_grad():
                Again.apply(engine.ones(1, requires_grad=True)).sum().backward()

    x = engine.ones(1, requires_grad=True)
    with pytest.raises(RecursionError) as raised:
        Again.apply(x).sum().backward()
    assert "calls of backward were nested" in raised.value.__notes__[0]
    x.sum().backward()  # an ordinary call afterwards goes well
    assert x.grad.item() == 1.0
