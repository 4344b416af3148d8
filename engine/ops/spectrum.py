"""QR, eigenvalues, singular values and what is made of them: pseudoinverse, least squares; exponential, reflections."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays import errors
from ..arrays.array import Array, library_of, linalg_of, strict, xp
from .choice import eq, logical_and, where
from .decomposition import each, flipped, identity_of, linalg_solve_triangular
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .products import multiplied
from .reduction import sum_dim
from .shape import Sizes, cat, slice_, tril, triu, unsqueeze
from .views import diag_embed

# -- QR -----------------------------------------------------------------------------------------------------------


def _qr(A: Array, mode: Any = "reduced") -> tuple[Array, Array]:
    if mode == "r":
        return xp.zeros(0, dtype=A.dtype, like=A), xp.linalg.qr(A, mode="r")
    factors = xp.linalg.qr(A, mode=mode)
    return factors[0], factors[1]


def _by_qr(grads: Any, results: Any, A_sizes: Sizes, mode: str) -> Any:
    rows, columns = A_sizes[-2:]
    if mode == "r":
        raise errors.runtime(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to require gradients."
        )
    if mode == "complete" and rows > columns:
        raise errors.runtime("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    (gQ, gR), (Q, R) = grads, results
    if rows >= columns:
        return _by_tall_qr(gQ, gR, Q, R, A_sizes)
    along = len(A_sizes) - 1
    far, far_gradient = slice_(R, along, rows, columns), slice_(gR, along, rows, columns)
    square, square_gradient = slice_(R, along, 0, rows), slice_(gR, along, 0, rows)
    beside = multiplied(Q, far_gradient)  # R2 = Q^T A2
    gQ = gQ + multiplied(multiplied(Q, far), flipped(far_gradient, A_sizes))
    return cat([_by_tall_qr(gQ, square_gradient, Q, square, A_sizes), beside], along)


def _by_tall_qr(gQ: Any, gR: Any, Q: Any, R: Any, sizes: Sizes) -> Any:
    """(gQ + Q s(triu(gR R^T - Q^T gQ))) R^-T, where s adds the transpose and halves the diagonal."""
    inner = triu(multiplied(gR, flipped(R, sizes)) - multiplied(flipped(Q, sizes), gQ))
    inner = inner + flipped(triu(inner, 1), sizes)
    return linalg_solve_triangular(flipped(R, sizes), gQ + multiplied(Q, inner), False, False)


linalg_qr = op("linalg_qr", _qr, PLAIN, Presentation(letters="QR"), A=_by_qr)

# -- eigenvalues and singular values ------------------------------------------------------------------------------


def _eigh(A: Array, UPLO: Any = "L", compute_v: bool = True) -> tuple[Array, Array]:
    if not A.size:
        return xp.zeros(A.shape[:-1], dtype=A.dtype, like=A), A.copy()
    try:
        with strict(A):
            result = xp.linalg.eigh(A, UPLO=UPLO)
    except xp.linalg.LinAlgError:
        return library_of(A).full(A.shape[:-1], xp.nan, dtype=A.dtype), xp.full_like(A, xp.nan)
    return result[0], result[1]


def _gaps(values: Any, rank: int) -> Any:
    """value_j - value_i, in row i and column j."""
    return unsqueeze(values, rank - 2) - unsqueeze(values, rank - 1)


def _over_gaps(numerator: Any, gaps: Any) -> Any:
    """Divide by gaps, but keep 0 where both are 0: the gradient of equal values alone does not depend on their gap."""
    return numerator / where(logical_and(eq(numerator, 0), eq(gaps, 0)), 1, gaps)


def _by_eigh(grads: Any, result0: Any, result1: Any, A_sizes: Sizes) -> Any:
    """V (diag(gL) + skew(V^T gV) / 2 (L_j - L_i)) V^T: what keeps V orthonormal is skew."""
    rank = len(A_sizes)
    back = flipped(result1, A_sizes)
    turned = _over_gaps(_skew(multiplied(back, grads[1]), A_sizes) / 2, _gaps(result0, rank))
    return multiplied(multiplied(result1, turned + diag_embed(grads[0], 0, rank - 2, rank - 1)), back)


linalg_eigh = op("_linalg_eigh", _eigh, Traits(node="LinalgEighBackward0"), Presentation(letters="λV"), A=_by_eigh)


def _svd(A: Array, full_matrices: bool = False, compute_uv: bool = True) -> tuple[Array, Array, Array]:
    rows, columns = A.shape[-2:]
    k = min(rows, columns)
    if not A.size:
        shapes = ((rows, rows), (columns, columns)) if full_matrices else ((rows, k), (k, columns))
        U, Vh = (xp.broadcast_to(library_of(A).eye(*s, dtype=A.dtype), (*A.shape[:-2], *s)).copy() for s in shapes)
        return U, xp.zeros((*A.shape[:-2], k), dtype=A.dtype, like=A), Vh
    try:
        with strict(A):
            U, S, Vh = xp.linalg.svd(A, full_matrices=full_matrices)
    except xp.linalg.LinAlgError:
        wide, lead = (rows, columns) if full_matrices else (k, k), A.shape[:-2]
        sizes = (*lead, rows, wide[0]), (*lead, k), (*lead, wide[1], columns)
        U, S, Vh = (library_of(A).full(s, xp.nan, dtype=A.dtype) for s in sizes)
    return U, S, Vh


def _by_svd(grads: Any, results: Any, A_sizes: Sizes, full_matrices: bool) -> Any:
    """U ((skew(U^T gU) / E) S + S (skew(V^T gV) / E) + diag(gS)) V^T, and what lies outside of the spaces of U and V.

    E is S_j^2 - S_i^2 in row i and column j; skew(X) = X - X^T.
    """
    (gU, gS, gVh), (U, S, Vh) = grads, results
    rank, (rows, columns) = len(A_sizes), A_sizes[-2:]
    down, along, k = rank - 2, rank - 1, min(A_sizes[-2:])
    if full_matrices:
        U, gU = slice_(U, along, 0, k), slice_(gU, along, 0, k)
        Vh, gVh = slice_(Vh, down, 0, k), slice_(gVh, down, 0, k)
    gaps = _gaps(S * S, rank)
    in_rows, in_columns = unsqueeze(S, along), unsqueeze(S, down)
    left, right = (_skew(multiplied(a, b), A_sizes) for a, b in ((_t(U, A_sizes), gU), (Vh, _t(gVh, A_sizes))))
    inner = _over_gaps(left, gaps) * in_columns + in_rows * _over_gaps(right, gaps)
    slope = multiplied(multiplied(U, inner + diag_embed(gS, 0, down, along)), Vh)
    if rows > k:
        scaled = gU / in_columns
        slope = slope + multiplied(scaled - multiplied(U, multiplied(_t(U, A_sizes), scaled)), Vh)
    if columns > k:
        scaled = gVh / in_rows
        slope = slope + multiplied(U, scaled - multiplied(multiplied(scaled, _t(Vh, A_sizes)), Vh))
    return slope


def _t(matrices: Any, sizes: Sizes) -> Any:
    return flipped(matrices, sizes)


def _skew(matrices: Any, sizes: Sizes) -> Any:
    return matrices - flipped(matrices, sizes)


linalg_svd = op(
    "_linalg_svd", _svd, Traits(node="LinalgSvdBackward0"),
    Presentation(letters="USV", roles=("", "", "the third result, Vh: the transposed V")),
    A=_by_svd,
)  # fmt: skip

# -- pseudoinverse and least squares ------------------------------------------------------------------------------


def _pinv(self: Array, atol: float = 0.0, rtol: float = 0.0, hermitian: bool = False) -> Array:
    if not self.size:
        return xp.zeros((*self.shape[:-2], *self.shape[:-3:-1]), dtype=self.dtype, like=self)
    if hermitian:
        values, vectors = xp.linalg.eigh(self)
        size, left, right = abs(values), vectors, vectors.swapaxes(-1, -2)
    else:
        U, values, Vh = xp.linalg.svd(self, full_matrices=False)
        size, left, right = values, Vh.swapaxes(-1, -2), U.swapaxes(-1, -2)
    enough = size > xp.maximum(rtol * size.max(axis=-1, keepdims=True), atol)
    turned = xp.where(enough, 1 / xp.where(enough, values, 1), 0).astype(self.dtype)
    return xp.matmul(left * turned[..., None, :], right)


def by_pinv(grad: Any, self: Any, X: Any, sizes: Sizes) -> Any:
    """-X^T G X^T + (I - A X) G^T X X^T + X^T X G^T (I - X A)."""
    back, across = flipped(X, sizes), flipped(grad, sizes)
    first = multiplied(across, multiplied(X, back))
    last = multiplied(multiplied(back, X), across)
    slope = first - multiplied(self, multiplied(X, first)) + last - multiplied(multiplied(last, X), self)
    return slope - multiplied(multiplied(back, grad), back)


linalg_pinv = op(
    "linalg_pinv", _pinv, PLAIN, Presentation(name="pinv", word="the pseudoinverse"),
    self=lambda grad, self, result, self_sizes: by_pinv(grad, self, result, self_sizes),
)  # fmt: skip


def _lstsq(self: Array, b: Array, rcond: float = 0.0, driver: str = "gelsy") -> tuple[Array, Array, Array, Array]:
    def solve(one: Array, other: Array) -> tuple[Array, ...]:
        x, _, rank, values = xp.linalg.lstsq(one, other, rcond=rcond)
        return x, xp.asarray(rank, dtype="int64", like=one), values

    rows, columns = self.shape[-2:]
    vector = b.ndim == self.ndim - 1
    right = b[..., None] if vector else b
    lead = xp.broadcast_shapes(self.shape[:-2], right.shape[:-2])
    wide = xp.broadcast_to(self, (*lead, rows, columns))
    right = xp.broadcast_to(right, (*lead, *right.shape[-2:]))
    solution, rank, values = each(solve, wide, right)
    none = xp.zeros(0, dtype=self.dtype, like=self)
    residuals = none
    if rows > columns and driver != "gelsy" and bool((rank == columns).all()):
        off = xp.matmul(wide, solution) - right
        residuals = (off * off).sum(axis=-2)
    if driver == "gels":
        rank = none.astype("int64")
    return (
        (solution[..., 0] if vector else solution).astype(self.dtype), residuals, rank,
        values.astype(self.dtype) if driver in ("gelsd", "gelss") else none,
    )  # fmt: skip


def _by_lstsq(grads: Any, self: Any, b: Any, results: Any, self_sizes: Sizes, b_sizes: Sizes) -> Any:
    """The solution is pinv(A) b, the residuals are the sums of (A X - b)^2."""
    grad, b, X = _columns((grads[0], b, results[0]), self_sizes, b_sizes)
    slope = by_pinv(multiplied(grad, flipped(b, self_sizes)), self, linalg_pinv(self), self_sizes)
    if grads[1].shape == (0,):
        return slope
    off = (multiplied(self, X) - b) * unsqueeze(grads[1], len(self_sizes) - 2)
    return slope + 2 * multiplied(off, flipped(X, self_sizes))


def _by_lstsq_of_b(grads: Any, self: Any, b: Any, results: Any, self_sizes: Sizes, b_sizes: Sizes) -> Any:
    grad, b, X = _columns((grads[0], b, results[0]), self_sizes, b_sizes)
    slope = multiplied(flipped(linalg_pinv(self), self_sizes), grad)
    if grads[1].shape != (0,):
        slope = slope - 2 * (multiplied(self, X) - b) * unsqueeze(grads[1], len(self_sizes) - 2)
    return sum_dim(slope, len(self_sizes) - 1) if len(b_sizes) == len(self_sizes) - 1 else slope


def _columns(values: tuple[Any, ...], self_sizes: Sizes, b_sizes: Sizes) -> tuple[Any, ...]:
    """Vectors as matrices of one column."""
    if len(b_sizes) != len(self_sizes) - 1:
        return values
    return tuple(unsqueeze(value, len(b_sizes)) for value in values)


linalg_lstsq = op("linalg_lstsq", _lstsq, Traits(differentiable=(0, 1)), self=_by_lstsq, b=_by_lstsq_of_b)

# -- exponential --------------------------------------------------------------------------------------------------


def _matrix_exp(self: Array) -> Array:
    if not self.size:
        return self.copy()
    return each(lambda one: (linalg_of(one).expm(one),), self)[0].astype(self.dtype, copy=False)


def _by_exponential(grad: Any, self: Any, self_sizes: Sizes) -> Any:
    """The corner of exp([[A^T, G], [0, A^T]])."""
    n, down, along = self_sizes[-1], len(self_sizes) - 2, len(self_sizes) - 1
    back = flipped(self, self_sizes)
    both = cat([cat([back, grad], along), cat([back * 0, back], along)], down)
    return slice_(slice_(linalg_matrix_exp(both), down, 0, n), along, n, 2 * n)


linalg_matrix_exp = op(
    "linalg_matrix_exp", _matrix_exp, PLAIN,
    Presentation(name="matrix_exp", word="the exponential of a matrix, I + X + X²/2 + …"),
    self=_by_exponential,
)  # fmt: skip

# -- reflections --------------------------------------------------------------------------------------------------


def _householder_product(input: Array, tau: Array) -> Array:
    rows, columns = input.shape[-2:]
    product = xp.broadcast_to(library_of(input).eye(rows, columns, dtype=input.dtype), input.shape).copy()
    vectors = xp.tril(input, -1) + library_of(input).eye(rows, columns, dtype=input.dtype)
    for i in range(tau.shape[-1] - 1, -1, -1):
        v = vectors[..., :, i : i + 1]
        product -= tau[..., i, None, None] * xp.matmul(v, xp.matmul(v.swapaxes(-1, -2), product))
    return product


def _by_reflections(grad: Any, input: Any, tau: Any, input_sizes: Sizes, tau_sizes: Sizes) -> tuple[Any, Any]:
    """Q = H_1 ... H_k E, H_i = I - tau_i v_i v_i^T: the reflections one after the other, from both sides."""
    along, count = len(input_sizes) - 1, tau_sizes[-1]
    low = tril(input, -1) + identity_of(input)
    vectors = [slice_(low, along, i, i + 1) for i in range(count)]
    scales = [unsqueeze(slice_(tau, along - 1, i, i + 1), along) for i in range(count)]
    rest: list[Any] = [None] * count + [identity_of(input)]
    for i in range(count - 1, -1, -1):
        rest[i] = _reflected(rest[i + 1], vectors[i], scales[i], input_sizes)
    columns, numbers = [], []
    for i in range(count):
        v, R = vectors[i], rest[i + 1]
        across = multiplied(flipped(grad, input_sizes), v)  # G^T v
        other = multiplied(flipped(R, input_sizes), v)  # R^T v
        numbers.append(-multiplied(flipped(across, input_sizes), other))
        columns.append(-(scales[i] * (multiplied(grad, other) + multiplied(R, across))))
        grad = _reflected(grad, v, scales[i], input_sizes)
    if not count:
        return input * 0, tau * 0
    if count < input_sizes[-1]:
        columns.append(slice_(input, along, count, input_sizes[-1]) * 0)
    return tril(cat(columns, along), -1), sum_dim(cat(numbers, along), along - 1)


def _reflected(value: Any, v: Any, scale: Any, sizes: Sizes) -> Any:
    return value - scale * multiplied(v, multiplied(flipped(v, sizes), value))


linalg_householder_product = op(
    "linalg_householder_product", _householder_product, PLAIN,
    Presentation(word="the product of reflections"),
    input=lambda grad, input, tau, input_sizes, tau_sizes: _by_reflections(grad, input, tau, input_sizes, tau_sizes)[
        0
    ],
    tau=lambda grad, input, tau, input_sizes, tau_sizes: _by_reflections(grad, input, tau, input_sizes, tau_sizes)[1],
)  # fmt: skip
