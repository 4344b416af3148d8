"""torch.linalg and its older names in torch: values, gradients, nodes and errors beside torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import evaluated, listed
from tests.parity.helpers.surface import derived_twice, same, same_or_nothing

RNG = np.random.default_rng(5)
ARRAYS = {
    "a": RNG.uniform(-1, 1, (2, 3, 3)) + 2 * np.eye(3), "b": RNG.uniform(-1, 1, (2, 3, 2)), "v": RNG.uniform(-1, 1, 3),
    "m": RNG.uniform(-1, 1, (3, 3)) + np.eye(3), "r": RNG.uniform(-1, 1, (4, 3)), "w": RNG.uniform(-1, 1, (3, 5)),
    "t": RNG.uniform(-1, 1, (6, 2, 3)), "c": np.tril(RNG.uniform(0.5, 1, (3, 3))),
}  # fmt: skip
ARRAYS["p"] = ARRAYS["m"] @ ARRAYS["m"].T + np.diag([1.0, 2.0, 3.0])


def scope(library: Any, grads: bool, dtype: str) -> dict[str, Any]:
    """Names that the expressions below use."""
    found = {k: library.tensor(v.astype(dtype), requires_grad=grads) for k, v in ARRAYS.items()}
    found |= {
        "torch": library,
        "L": library.linalg,
        "inf": math.inf,
        "z": library.zeros(3, 3),
        "e": library.zeros(0, 0),
    }
    found |= {"i": library.ones(3, 3, dtype=library.int64), "n": -library.eye(3), "zb": library.zeros(2, 3, 3)}
    found["s"] = library.tensor(2.0)
    found["nan"] = library.full((3, 3), math.nan)
    return found


# Vectors of eigen- and singular spaces are free in sign: what is compared does not see it.
VALUES = """
L.norm(v) | L.norm(m) | L.norm(m, "nuc") | L.norm(m, 2) | L.norm(m, 1) | L.norm(a, dim=1) | L.norm(a, 1, dim=(0, 2))
L.norm(v, 3) | L.norm(m, -inf) | L.norm(m, keepdim=True) | L.norm(a, inf, dim=-1) | L.vector_norm(m, 3, 1)
L.norm(v, 0) | L.vector_norm(a, 2, (0, 2), True) | L.vector_norm(m, 0.5) | L.vector_norm(m, dim=()) | L.matrix_norm(a)
L.matrix_norm(a, "nuc") | L.matrix_norm(a, 2) | L.matrix_norm(a, -2) | L.matrix_norm(a, 1) | L.matrix_norm(a, inf)
L.matrix_norm(a, -1, dim=(0, 1)) | L.matrix_norm(a, 2, (0, 2), True) | L.matrix_norm(a, 1, (2, 0), True)
L.matrix_norm(a, -inf, (2, 0)) | L.matrix_norm(a, "nuc", (2, 0), True) | L.det(a) | L.det(m) | torch.det(r[:3])
a.det() | L.slogdet(a) | torch.slogdet(m) | torch.logdet(p) | L.slogdet(-m)[1] | L.slogdet(a.mT)[1] | L.inv(a)
torch.inverse(m) | L.inv_ex(m)[0] | L.pinv(r) | L.pinv(p, hermitian=True) | torch.pinverse(r.mT) | L.pinv(r, rtol=0.1)
L.pinv(r, atol=0.1) | L.solve(a, b) | L.solve(m, v) | L.solve(a, v) | L.solve(a, b.mT, left=False) | L.solve(m, b)
L.solve(a, a[:, 0]) | L.solve_ex(a, b)[0] | L.solve_triangular(a, b, upper=True)
L.solve_triangular(m, b.mT, upper=False, left=False) | L.solve_triangular(a, w, upper=False, unitriangular=True)
torch.triangular_solve(b, a)[0] | L.cholesky(p) | torch.triangular_solve(b, a, upper=False, transpose=True)[0]
L.cholesky(p, upper=True) | L.cholesky(a @ a.mT) | torch.cholesky_solve(w, c) | torch.cholesky_inverse(c)
torch.cholesky_solve(b, c.mT, upper=True) | abs(L.qr(r)[1]) | L.qr(r)[0] @ L.qr(r)[1] | abs(L.qr(r.mT)[1])
abs(L.qr(r, mode="r")[1]).detach() + 0 * r[:3] | L.qr(r.mT, mode="complete")[0] ** 2 | abs(torch.qr(a)[0])
L.svd(r, full_matrices=False)[0] ** 2 | torch.svd(a)[2] ** 2 | L.svd(r, full_matrices=False)[1] | torch.svd(w)[1]
L.svdvals(a) | abs(L.svd(w, False)[2]) | L.svd(r)[1] | L.eigh(p)[1] ** 2 | L.eigh(p)[0] | L.eigvalsh(p)
L.eigvalsh(a + a.mT, UPLO="U") | L.eigh(a @ a.mT)[1] ** 2 | L.lu(a)[1] | L.lu(r)[2] | L.lu(r)[1] | L.lu(r.mT)[2]
L.lu(w)[1] | L.lu_factor(a)[0] | L.lu_factor_ex(r)[0] | L.lu_solve(*L.lu_factor(a), b)
torch.lu_solve(b, *L.lu_factor(a)) | L.lu_solve(*L.lu_factor(a), b, adjoint=True) | L.lstsq(r, r[:, :2])[0]
L.lstsq(r, w[:, :4].mT)[0] | L.lstsq(r.mT, w)[0] | L.lstsq(a, b)[0] | L.lstsq(r, w[:, :4].mT, driver="gelsd")[1]
L.matrix_power(m, 3) | L.matrix_power(m, 5) | L.matrix_power(m, -2) | L.matrix_power(a, 1) | L.matrix_power(a, 2)
torch.matrix_power(m, 6) | m.matrix_power(-1) | L.cond(m) | L.cond(m, 1) | L.cond(m, -2) | L.cond(m, "fro")
L.cond(a, "nuc") | L.cond(a, inf) | L.cond(r) | L.tensorinv(t, ind=1) | L.tensorsolve(t, w[0, :1].expand(6))
L.vander(v) | L.vander(v, N=2) | torch.vander(v, 4) | L.vander(m, N=4) | torch.vander(v, 3, True) | L.vecdot(m, m)
L.cross(m, m) | L.diagonal(a) | L.householder_product(r, v) | torch.orgqr(r, v[:2]) | L.multi_dot([m, r.T, r])
L.multi_dot([v, m, v]) | L.matrix_exp(m) | torch.matrix_exp(a) | torch.norm(m, "nuc")
torch.norm(a, "nuc", dim=(0, 2)) | m.norm("nuc", keepdim=True) | torch.lu_unpack(*L.lu_factor(r))[1]
torch.lu_unpack(*torch.lu(a))[2] | torch.lu(m)[0] | L.matmul(m, m) | L.householder_product(a, b[:, :, 0]) | L.inv(e)
L.det(e) | L.cholesky(e) | L.solve(e, e) | L.matrix_exp(e) | L.cond(z, 1) | L.matrix_power(i, 2)
L.vander(torch.arange(3)) | L.matrix_rank(m) | L.matrix_rank(r[:2]) | L.matrix_rank(e) | L.matrix_rank(m, tol=10.0)
L.matrix_rank(m, atol=0.1, rtol=0.5) | L.matrix_rank(p, hermitian=True) | L.matrix_rank(zb) | L.slogdet(z) | L.det(z)
torch.logdet(z) | torch.logdet(n) | L.matrix_power(m, 0) | L.lu_factor(a)[1] | L.lu(r)[0] | L.inv_ex(z)[1]
L.cholesky_ex(n)[1] | L.lu_factor_ex(z)[1] | L.lstsq(r, r)[2]
"""
WITHOUT = (
    "(e",
    "(z",
    "(i",
    "(n",
    "arange",
    "rank",
    "(m, 0)",
    "[1]\n",
    "lu(r)[0]",
    "lstsq(r, r)[2]",
    "factor(a)[1]",
    "slogdet(a)",
    "slogdet(m)",
    "(v, 0)",
    "cond(m, 1)",
    'cond(m, "fro")',
    "cond(a, inf)",
    "vander(v, 3, True)",
    "torch.vander(v, 4)",
)
"""What has no gradient, or in torch no second one: it writes into what the first one saved."""
DIFFERENTIABLE = [e for e in listed(VALUES) if not any(part in e for part in WITHOUT)]
OTHER_NODES = {
    'L.cond(a, "nuc")': "torch masks singular inverses by another sum",
    "torch.triangular_solve(b, a)[0]": "the older function is the newer one here",
    "torch.triangular_solve(b, a, upper=False, transpose=True)[0]": "the older function is the newer one here",
    "torch.lu_unpack(*L.lu_factor(r))[1]": "the factors are taken out by triangles",
    "torch.lu_unpack(*torch.lu(a))[2]": "the factors are taken out by triangles",
    "L.tensorinv(t, ind=1)": "a view where torch makes an alias",
    "L.tensorsolve(t, w[0, :1].expand(6))": "the expanded side is copied, not seen as an alias",
}

ERRORS = """
L.inv(z) | L.inv(zb) | L.inv(r) | L.inv(v) | L.inv(i) | L.inv(s) | L.det(r) | L.det(i) | L.det(v) | L.slogdet(r)
torch.logdet(r) | L.solve(z, v) | L.solve(zb, b) | L.solve(m, r) | L.solve(r, v) | L.solve(m, v.double())
L.solve(m, s) | L.solve(i, i) | L.cholesky(n) | L.cholesky(torch.stack([torch.eye(3), n])) | L.cholesky(r)
L.cholesky(i) | L.cholesky(v) | L.qr(v) | L.qr(i) | L.qr(r, mode="foo") | L.svd(v) | L.svd(i) | L.svdvals(v)
L.svd(nan) | L.eigh(r) | L.eigh(v) | L.eigh(i) | L.eigh(m, UPLO="x") | L.eigvalsh(r) | L.eigh(nan) | L.lu(v) | L.lu(i)
L.lu_factor(z) | L.lu_factor(v) | L.lu(m, pivot=False) | L.lu_solve(m, v.int(), m) | L.lu_solve(m, v, m)
L.lu_solve(m, torch.ones(3, dtype=torch.int32), r) | L.lstsq(r, v) | L.lstsq(v, v) | L.lstsq(r, r, driver="foo")
L.lstsq(r.double(), r) | L.matrix_power(r, 2) | L.matrix_power(v, 2) | L.matrix_power(m, 1.5) | L.matrix_power(z, -1)
L.matrix_rank(v) | L.matrix_rank(i) | L.cond(v) | L.cond(r, 1) | L.cond(m, "foo") | L.cond(m, 3) | L.cond(i)
L.pinv(v) | L.pinv(i) | L.pinv(r, hermitian=True) | L.tensorinv(m, ind=0) | L.tensorinv(r, ind=1)
L.tensorsolve(r, v) | L.vander(s) | L.vander(v, N=0) | L.vander(v, N=1) | L.vecdot(v, v.double()) | L.cross(v, m[:2])
L.cross(r, r, dim=0) | L.householder_product(m, r) | L.householder_product(v, v) | L.householder_product(r.T, v)
L.multi_dot([m]) | L.multi_dot([m, r]) | L.matrix_exp(r) | L.matrix_exp(v) | L.matrix_exp(i) | L.norm(m, "foo")
L.norm(v, "fro") | L.norm(v, "nuc") | L.norm(m, 3, dim=(0, 1)) | L.norm(m, 2, dim=(0, 0)) | L.norm(a, 2)
L.norm(a, "fro") | L.norm(m, dim=5) | L.vector_norm(i) | L.vector_norm(m, "foo") | L.vector_norm(torch.empty(0), inf)
L.matrix_norm(v) | L.matrix_norm(m, 3) | L.matrix_norm(m, "foo") | L.matrix_norm(m, dim=(0, 0))
L.matrix_norm(m, dim=0) | L.matrix_norm(i) | L.norm(i) | L.matrix_norm(m, 0) | L.norm(m, 1, dim=(0, 1, 2))
L.norm(m, dim=()) | L.vector_norm(m, 2, dtype=torch.int32) | L.vector_norm(m, 2, dtype=torch.float16)
L.solve_triangular(m, v, upper=True) | L.solve_triangular(r, r, upper=True) | L.solve_triangular(m, r, upper=True)
torch.cholesky_solve(v, m) | torch.cholesky_solve(r, m) | torch.cholesky_solve(m, r) | torch.cholesky_inverse(r)
torch.cholesky_inverse(v) | L.inv(2) | L.solve(m, 2) | L.inv_ex(z, check_errors=True)
"""


def outcome(expression: str, library: Any, grads: bool, dtype: str = "float64") -> tuple[Any, dict[str, Any]]:
    known = scope(library, grads, dtype)
    return evaluated(expression, known), known


@batches("expression", listed(ERRORS))
def test_error_is_torchs_word_for_word(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(expression, engine, False, "float32")[0], outcome(expression, torch, False, "float32")[0]
    assert isinstance(theirs, Exception), theirs
    assert str(ours).split("\n")[0] == str(theirs).split("\n")[0]
    assert type(ours).__name__ == type(theirs).__name__.removeprefix("_")


@batches("expression", listed(VALUES))
def test_value_is_torchs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = [outcome(expression, library, False)[0] for library in (engine, torch)]
    assert not isinstance(found[1], Exception), found[1]
    assert type(found[0]).__name__ == type(found[1]).__name__
    ours, theirs = ([*made] if isinstance(made, tuple) else [made] for made in found)
    for mine, yours in zip(ours, theirs, strict=True):
        same(mine, yours, 1e-10)


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")  # torch says so once in a process
@batches("expression", DIFFERENTIABLE)
def test_nodes_and_two_derivatives_are_torchs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (engine, torch):
        made, known = outcome(expression, library, True)
        assert not isinstance(made, Exception), made
        out = next(x for x in (made if isinstance(made, tuple) else (made,)) if x.requires_grad)
        found.append((derived_twice(out, [known[k] for k in ARRAYS], library), names(out.grad_fn)))
    same_or_nothing(found[0][0], found[1][0], 1e-7)
    if expression not in OTHER_NODES:
        assert found[0][1] == found[1][1]


def test_results_are_shown_by_name() -> None:
    torch = pytest.importorskip("torch")
    for text in ("L.slogdet(torch.eye(2))", "torch.slogdet(torch.eye(2))", "L.inv_ex(torch.eye(2))"):
        scopes = [{"torch": lib, "L": lib.linalg} for lib in (engine, torch)]
        ours, theirs = (eval(text, known) for known in scopes)  # noqa: S307 - expressions of this test
        assert repr(ours) == repr(theirs)
