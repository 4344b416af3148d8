"""Reductions, scans, sorting and statistics beside torch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import listed
from tests.parity.helpers.tables import assert_agreement, scope

AGREE = """
x.sort(dim=0) | x.sort(0).values | x.max(dim=0).indices | x.max(0, True) | x.topk(2, dim=0, sorted=False)
torch.quantile(x, 1) | torch.quantile(x, 0) | torch.cumsum(x, dim=-1)
torch.std(x, dim=(0,), keepdim=True, correction=0) | torch.var_mean(x, dim=[0, 1]) | torch.aminmax(x, dim=-1)
torch.logsumexp(x, dim=(0, 1), keepdim=True) | torch.count_nonzero(x, dim=(0,))
torch.norm(x, p=2, dim=(0, 1), keepdim=True) | torch.norm(x, p=float('inf')) | torch.norm(x, p=0.5)
x.norm(p=1, dim=-1) | torch.dist(x, w, 0.5) | torch.renorm(x, p=1, dim=1, maxnorm=2)
torch.unique(k, dim=1, return_counts=True) | torch.unique(k, return_counts=True)
torch.unique_consecutive(k, dim=1) | torch.histc(x, bins=4, min=-1, max=1)
torch.bincount(k.flatten(), weights=x.detach()[:2].flatten()) | torch.mode(k, 0) | torch.mode(k, 1, True)
torch.median(k, 0) | torch.kthvalue(k, 2, 0) | torch.msort(w) | torch.diff(w, dim=0, prepend=w[:1])
torch.cov(w, correction=0) | torch.trapezoid(w, dim=0) | torch.nansum(f) | torch.nanmean(f) | torch.nanmedian(f)
torch.nanquantile(n, .5, 0, True) | torch.sum(b, 0) | torch.prod(k, 1) | torch.mean(d, 1, dtype=torch.float32)
torch.mean(i, dtype=torch.float64) | torch.sum(x, dtype=torch.float64) | torch.prod(x, 1, dtype=torch.float64)
torch.cumsum(c, 0) | torch.cumprod(c, 0) | torch.all(x > 0, 0) | torch.any(c) | torch.max(c, 0) | torch.argmin(c)
torch.argmax(k, 1) | torch.argmin(x, keepdim=True) | torch.amax(k, 1) | torch.std(d) | torch.var(d, 0, False)
torch.logsumexp(d, -1) | torch.logcumsumexp(d, -1) | torch.cummax(d, -1) | torch.cummin(k, 0)
torch.softmax(i.float(), 0) | torch.softmax(i, 0, dtype=torch.float64) | torch.log_softmax(h, 1)
torch.corrcoef(x)
torch.std_mean(x) | torch.std_mean(x, 1, keepdim=True) | torch.var_mean(x) | torch.var_mean(x, 0)
torch.var_mean(i) | torch.aminmax(x) | torch.aminmax(x, dim=1) | torch.aminmax(e) | torch.median(x)
torch.median(x, 1) | torch.median(e) | torch.median(n) | torch.median(i) | torch.nanmedian(n)
torch.nanmedian(x, 1) | torch.median(n, 0) | torch.mode(x) | torch.mode(torch.tensor([1, 2, 2, 3, 3]))
torch.mode(e) | torch.kthvalue(x, 2) | torch.kthvalue(x, 9) | torch.kthvalue(x, 2, 0, True) | torch.quantile(x, .3)
torch.quantile(x, .3, dim=1, keepdim=True, interpolation='nearest') | torch.quantile(i, .3) | torch.quantile(x, 2.)
torch.nanquantile(n, .5) | torch.quantile(n, .5) | torch.nansum(n) | torch.nansum(x, 1) | torch.nansum(i)
torch.nanmean(n) | torch.nanmean(x, 1) | torch.nanmean(i) | torch.dist(x, w) | torch.dist(x, w, 1)
torch.cumprod(x, 1) | torch.cumprod(i, 0) | torch.cumprod(s, 0) | torch.cumsum(s, 0) | torch.cumsum(b, 0)
torch.cummax(x, 1) | torch.cummax(n, 0) | torch.cummin(x, 0) | torch.cummax(s, 0) | torch.cummax(e, 0)
torch.logcumsumexp(x, 1) | torch.logcumsumexp(i, 0) | torch.diff(v) | torch.diff(x, n=2, dim=0)
torch.diff(v, prepend=v[:1]) | torch.diff(b) | torch.diff(s) | torch.diff(x, n=9) | torch.diff(x, n=0)
torch.diff(x, n=-1) | torch.trapezoid(v) | torch.trapezoid(v, v*2) | torch.trapezoid(x, dx=2)
torch.trapezoid(x, v, dim=1) | torch.trapz(x) | torch.cumulative_trapezoid(v) | torch.cumulative_trapezoid(x, w)
torch.count_nonzero(x) | torch.count_nonzero(x, 1) | torch.count_nonzero(x, (0, 1)) | torch.unique(x)
torch.unique(i, return_inverse=True, return_counts=True) | torch.unique(x, dim=0) | torch.unique(i, sorted=False)
torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True) | torch.sort(x) | torch.sort(x, 0, True)
torch.sort(x, dim=0, stable=True) | torch.sort(s) | torch.sort(e) | torch.sort(n) | torch.sort(n, descending=True)
torch.msort(x) | torch.argsort(x) | torch.argsort(x, dim=0, descending=True) | torch.topk(x, 2)
torch.topk(x, 2, 0, False) | torch.topk(x, 9) | torch.topk(s, 1) | torch.topk(x, 2, sorted=False) | torch.trace(x)
torch.trace(i) | torch.cov(x) | torch.cov(v) | torch.cov(x, correction=0, fweights=torch.tensor([1, 2, 3, 1]))
torch.corrcoef(v) | torch.renorm(x, 2, 0, 1.) | torch.renorm(v, 2, 0, 1.) | torch.bincount(i)
torch.bincount(i, weights=x[:, 0]) | torch.bincount(i, minlength=5) | torch.bincount(x) | torch.histc(x, 4)
torch.histc(i, 3) | torch.norm(x, -1) | torch.norm(x, 0, 1) | torch.norm(x, float('-inf'), (0, 1))
torch.norm(x, 'fro', 0) | torch.norm(x, 3, (0, ), True) | torch.norm(x, dtype=torch.float64) | x.norm(2)
torch.norm(i.float()) | torch.norm(i) | torch.all(i) | torch.all(i.byte()) | torch.all(x, (0, 1))
torch.any(x, 1, True) | torch.any(i, dim=(0, )) | torch.max(i) | torch.max(b) | torch.argmax(b)
torch.argmax(x, 1, True) | torch.argmax(x, keepdim=True) | torch.sum(b) | torch.sum(i.byte()) | torch.prod(b)
torch.prod(i, 0) | torch.prod(s, 0) | torch.prod(x, 0, dtype=torch.float64) | torch.sum(x, dtype=torch.int64)
torch.mean(i, dtype=torch.float32) | torch.mean(x, (0, 1), True) | torch.amax(b) | torch.amax(i)
torch.logsumexp(i, 0) | torch.logsumexp(s, 0) | torch.logsumexp(x, (0, 1)) | torch.max(x, 1)
torch.max(i, x[:, 0].detach()) | torch.std(x, (0, 1)) | torch.var(x, 1, correction=2) | torch.var(s)
torch.cumsum(x, 1, dtype=torch.float64) | torch.std(x, None) | torch.std(x, dim=[]) | torch.std_mean(x, False)
torch.var_mean(x, [0], False, True) | torch.var_mean(s) | torch.median(x, 1, True) | torch.median(x, 5)
torch.median(x[:0], 0) | torch.median(i.float()) | torch.median(b) | torch.kthvalue(x, 0) | torch.kthvalue(s, 1)
torch.kthvalue(e, 1) | torch.mode(s) | torch.mode(n) | torch.mode(k) | torch.topk(x, -1) | torch.topk(x, 2, 5)
torch.topk(b, 1) | torch.topk(n, 2) | torch.topk(n, 2, largest=False) | torch.sort(x, 5) | torch.sort(b)
torch.argsort(s) | torch.argsort(x, stable=True) | torch.msort(s) | torch.sort(k, descending=True)
torch.sort(x, stable=False) | torch.sort(x, descending=True, stable=True) | torch.cumprod(x, 3) | torch.cummax(x, 3)
torch.cummax(b, 0) | torch.cummax(k, 1) | torch.cummin(f, 0) | torch.cumprod(i, 0, dtype=torch.float32)
torch.cumprod(b, 0) | torch.logcumsumexp(s, 0) | torch.logcumsumexp(h, 0) | torch.nansum(x, (0, 1))
torch.nansum(b) | torch.nansum(x, 1, True) | torch.nansum(i, dtype=torch.float32) | torch.nansum(s, 0)
torch.nansum(x, []) | torch.count_nonzero(b) | torch.count_nonzero(x, 3) | torch.count_nonzero(s)
torch.count_nonzero(x, ()) | torch.aminmax(x, keepdim=True) | torch.aminmax(b) | torch.aminmax(i)
torch.aminmax(s, dim=0) | torch.aminmax(x[:0], dim=0) | torch.aminmax(n) | torch.std_mean(i)
torch.std_mean(x, 0, False) | torch.std_mean(x, correction=0) | torch.dist(x, v) | torch.dist(x, w, float('inf'))
torch.dist(x, w, 0) | torch.dist(i, i) | torch.dist(x, w, p=-1) | torch.renorm(x, 2, 1, .5)
torch.renorm(x, -1, 0, 1) | torch.renorm(x, 2, 5, 1) | torch.renorm(x, 2, 0, -1)
torch.renorm(x, float('inf'), 0, 1) | torch.renorm(i[:, None], 2, 0, 1) | torch.trace(b[None])
torch.trace(torch.empty(0, 3)) | torch.bincount(-i) | torch.bincount(i[None]) | torch.bincount(i, torch.ones(2))
torch.bincount(i, i) | torch.bincount(i, minlength=-1) | torch.bincount(i[:0]) | torch.bincount(i[:0], minlength=2)
torch.histc(x, bins=3, min=0, max=2) | torch.histc(x, 0) | torch.histc(x, 3, 2, 1) | torch.histc(e)
torch.unique(b) | torch.unique(n) | torch.unique(x, return_inverse=True) | torch.unique(s) | torch.unique(e)
torch.unique(h) | torch.unique(i, dim=0, return_counts=True) | torch.unique(x, dim=5) | torch.unique_consecutive(x)
torch.unique_consecutive(x, dim=0, return_inverse=True) | torch.unique_consecutive(s) | torch.quantile(x, [.1])
torch.quantile(x, torch.tensor([[.1]])) | torch.quantile(x, .5, interpolation='foo') | torch.quantile(x, .5, 5)
torch.quantile(e, .5) | torch.quantile(x, torch.tensor(.5, dtype=torch.float64))
torch.quantile(x, .5, keepdim=True) | torch.quantile(x, .5, 0, interpolation='lower')
torch.quantile(x, .5, 0, interpolation='higher') | torch.quantile(x, .4, 1, interpolation='midpoint')
torch.quantile(h, .5) | torch.quantile(x, torch.tensor([.2, 3.])) | torch.quantile(s, .5) | torch.nanmedian(e)
torch.nanmedian(n*float('nan'), 0) | torch.cov(i) | torch.cov(torch.ones(2, 2, 2))
torch.cov(x, fweights=torch.tensor([1., 2, 3, 1])) | torch.cov(x, aweights=torch.tensor([1., 2, 3, 1]))
torch.cov(x, aweights=torch.tensor([1, 2, 3, 1])) | torch.cov(x, fweights=torch.tensor([1, 2]))
torch.cov(x, correction=9) | torch.cov(x, fweights=torch.tensor([-1, 2, 3, 1]))
torch.cov(x, fweights=torch.tensor([1, 2, 3, 1]), aweights=v.detach()) | torch.cov(s)
torch.cov(x, fweights=i[:, None]) | torch.corrcoef(torch.ones(2, 2, 2))
torch.cov(x, aweights=torch.tensor([-1., 2, 3, 1])) | torch.cov(e) | torch.cov(torch.tensor([1.]))
torch.diff(x, append=v[None], dim=0) | torch.diff(x, append=v) | torch.diff(x, append=x[:, :2].t())
torch.diff(x, dim=5) | torch.diff(b, n=2) | torch.diff(i, n=0) | torch.trapezoid(s)
torch.trapezoid(x, dx=2, dim=0) | torch.trapezoid(x, x) | torch.trapezoid(x, i) | torch.trapezoid(e)
torch.trapezoid(x[:, :1]) | torch.trapezoid(i) | torch.trapezoid(b) | torch.trapezoid(s, s)
torch.trapezoid(x, v, dim=-1) | torch.trapezoid(x, i.float(), dim=0) | torch.cumulative_trapezoid(x, dx=2, dim=0)
torch.cumulative_trapezoid(s) | torch.cumulative_trapezoid(x, v) | torch.nanmean(x, (0, 1), True)
torch.nanmean(n, 0) | torch.all(x, 3) | torch.all(x, ()) | torch.any(e) | torch.all(e)
torch.all(x, dim=None, keepdim=True) | x.argsort() | x.sort(descending=True) | x.topk(k=2) | torch.sort(2)
torch.max(x, dim=1, keepdim=True) | torch.max(x, axis=1) | torch.sum(x, axis=1) | x.median(-1)
torch.std(x, axis=0) | x.amax(axis=1, keepdims=True) | torch.all(c) | torch.any(c, 0)
torch.sum(c, dtype=torch.float32) | torch.mean(c) | torch.prod(c) | torch.cumsum(c, 0) | torch.max(c, 0)
torch.sum(h) | torch.mean(h) | torch.var(h) | torch.std(h, 1) | torch.prod(h, 0) | torch.cumsum(h, 0)
torch.cumprod(h, 0) | torch.logsumexp(h, 0) | torch.softmax(h, 0) | torch.norm(h) | torch.norm(h, 1, 0)
torch.median(h) | torch.sort(h, descending=True) | torch.topk(h, 2) | torch.sort(f) | torch.sort(f, descending=True)
torch.cummax(f, 0) | torch.logcumsumexp(f[:2], 0) | torch.cumprod(f, 0) | torch.nansum(f) | torch.unique(f)
torch.max(f) | torch.max(f, 0) | torch.argmax(f) | torch.median(f) | torch.nanmedian(f) | torch.mode(f)
torch.min(x, 1) | torch.norm(x, p=2, dim=5) | torch.norm(x, 'foo') | torch.norm(x, 2, (0, 0)) | torch.std(i)
torch.prod(x, 5) | torch.amin(x, (0, 5)) | torch.cumsum(x, 0, dtype=torch.int64) | torch.logsumexp(x, 5)
torch.amax(x, ()) | torch.sum(x, ()) | torch.mean(x, ()) | torch.var(x, ()) | torch.prod(e) | torch.sum(e, 0)
torch.mean(e) | torch.var(e) | torch.max(e, 0) | torch.median(e, 0) | torch.logsumexp(e, 0) | torch.softmax(e, 0)
torch.norm(e) | torch.norm(e, float('inf')) | torch.unique_consecutive(e) | torch.cumsum(e, 0) | torch.cumprod(e, 0)
torch.logcumsumexp(e, 0) | torch.diff(e) | torch.argsort(e) | torch.topk(e, 0) | torch.nansum(e) | torch.nanmean(e)
torch.std_mean(e) | torch.dist(e, e) | torch.count_nonzero(e)
"""


@batches("expression", listed(AGREE))
def test_reduction_is_torchs_in_value_dtype_error_and_node(expression: str) -> None:
    assert_agreement(expression)


IN_PLACE_IN_TORCH = """
torch.quantile(x, torch.tensor([.1, .9]), dim=0) | torch.nanquantile(n, torch.tensor([.2, .7]))
"""


@batches("expression", listed(IN_PLACE_IN_TORCH))
def test_reduction_that_torch_ends_in_place_has_its_values(expression: str) -> None:
    assert_agreement(expression, nodes=False)


PRINTED = """
torch.sort(x[0]) | torch.topk(x, 2) | torch.median(x, 1) | torch.mode(k) | torch.kthvalue(x, 2, 0) | torch.cummax(v, 0)
torch.aminmax(x) | torch.max(x, 1) | torch.min(x, 0) | torch.frexp(v) | torch.nanmedian(n, 0) | torch.cummin(i, 0)
"""


@batches("expression", listed(PRINTED))
def test_named_result_prints_and_unpacks_as_torchs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (eval(expression, scope(library)) for library in (engine, torch))  # noqa: S307 - of this file
    assert repr(ours) == repr(theirs)
    first, second = ours
    assert first is ours[0] and second is ours[1]
    fields = [name for name in dir(theirs) if isinstance(getattr(theirs, name), torch.Tensor)]
    assert [name for name in fields if not isinstance(getattr(ours, name), engine.Tensor)] == []


TIED = """
torch.topk(t, 3) | torch.topk(t, 2, largest=False) | torch.sort(t) | torch.kthvalue(t, 3) | torch.median(t, 0)
torch.sort(t, descending=True, stable=True) | torch.argsort(t, descending=True) | torch.nanmedian(t, 0)
"""


@batches("expression", listed(TIED))
def test_index_of_a_tied_value_names_an_equal_one(expression: str) -> None:
    """Which of equal elements is named, torch leaves open; the values are its own."""
    torch = pytest.importorskip("torch")
    data = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 3.0], "float32")
    scopes = [{"torch": lib, "t": lib.tensor(data)} for lib in (engine, torch)]
    ours, theirs = (eval(expression, known) for known in scopes)  # noqa: S307 - expressions of this file
    if isinstance(ours, tuple):
        np.testing.assert_array_equal(ours[0].numpy(), theirs[0].numpy())
        np.testing.assert_array_equal(data[ours[1].numpy()], ours[0].numpy())
    else:
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


# -- out= ---------------------------------------------------------------------------------------------------------

WRITTEN = """
torch.exp(x, out=o) | torch.add(x, w, alpha=2, out=o) | torch.mul(x, w, out=o) | torch.maximum(x, w, out=o)
torch.cumsum(x, 1, out=o) | torch.clamp(x, 1, 2, out=o) | torch.exp(x, out=z) | torch.sum(x, 1, out=z)
torch.std(x, 1, out=z) | torch.pow(x, 2, out=o) | torch.div(x, 2, out=o) | torch.sort(x, out=(z, p))
torch.max(x, 1, out=(z, p)) | torch.exp(x, out=q) | torch.exp(x, out=p) | torch.sqrt(x, out=2) | torch.exp(g, out=z)
torch.topk(x, 2, out=(z, z)) | torch.lt(x, w, out=o) | torch.add(p, p, out=z) | torch.prod(x, 0, out=z)
"""


@batches("expression", listed(WRITTEN))
def test_out_takes_the_result_as_torchs_does(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found: list[Any] = []
    for library in (engine, torch):
        names = scope(library) | {"o": library.zeros(3, 4), "z": library.zeros(0), "q": library.zeros(3, 4).double()}
        names |= {"p": library.zeros(0, dtype=library.int64), "g": library.ones(2, requires_grad=True)}
        try:
            eval(expression, names)  # noqa: S307 - of this file
            found.append([names[n].numpy() for n in "ozqp"])
        except (RuntimeError, TypeError) as error:
            found.append((type(error).__name__, str(error)))
    ours, theirs = found
    if isinstance(theirs, tuple):
        assert ours == theirs
    else:
        for mine, yours in zip(ours, theirs, strict=True):
            assert mine.dtype == yours.dtype
            np.testing.assert_allclose(mine, yours, rtol=1e-6)


def test_out_gives_back_what_it_was_given_and_warns_where_it_resizes() -> None:
    x, out = engine.ones(3), engine.zeros(3)
    assert engine.exp(x, out=out) is out
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        engine.exp(x, out=engine.zeros(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engine.exp(x, out=engine.zeros(0)).shape == (3,)


COMPOSED = """
torch.quantile(x, torch.tensor([.1, .9]), dim=0) | torch.nanquantile(n, .5) | torch.cov(x, aweights=v.detach())
torch.quantile(x, torch.tensor([.1, .9], requires_grad=True), dim=1) | torch.nanquantile(n, (v * 0).sigmoid())
torch.corrcoef(x) | torch.trapezoid(x, v) | torch.cumulative_trapezoid(x) | torch.nanmean(n) | torch.diff(x, n=2)
torch.renorm(x, 2, 0, 1.0) | torch.unique(x, return_counts=True) | torch.bincount(i, minlength=4) | x.cumprod(1)
torch.logcumsumexp(x, 0) | torch.std_mean(x, 1) | torch.special.ndtr(x) | x.float_power(2) | torch.cummax(x, 1)
"""


@batches("expression", listed(COMPOSED))
def test_recorded_reduction_replays_to_the_same_events(expression: str) -> None:
    with engine.record() as trace:
        made = eval(expression, scope(engine, True))  # noqa: S307 - of this file
        first = made[0] if isinstance(made, tuple) else made
        if first.requires_grad and "unique" not in expression:
            first.sum().backward()
    assert list(engine.replay(trace).events) == list(trace.events)
