"""Inverses, determinants, and equations solved by factors: LU, Cholesky, triangles.  All of batches of matrices.

Kernels never raise where a matrix is singular: they give what can be given and, where torch does, an `info` (the first
pivot that failed, counted from 1; 0 where all went well), from which the functions in `api` make torch's errors.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ..arrays.array import Array, library_of, linalg_of, strict, xp
from .notation import signs
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .products import multiplied
from .result_shapes import Attrs, broadcast
from .shape import Sizes, cat, slice_, transpose, tril, triu, unsqueeze

LinAlgError = xp.linalg.LinAlgError


def flipped(value: Any, sizes: Sizes) -> Any:
    """Matrices transposed; `sizes` tells how many dimensions there are."""
    return transpose(value, len(sizes) - 2, len(sizes) - 1)


def each(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """A function of matrices, for each of a batch: what the library has for one matrix only."""
    lead = arrays[0].shape[:-2]
    if not lead:
        return function(*arrays)
    if not math.prod(lead):
        some = function(*(library_of(a).eye(*a.shape[-2:], dtype=a.dtype) for a in arrays))
        return tuple(xp.zeros((*lead, *s.shape), dtype=s.dtype, like=s) for s in some)
    flat = [a.reshape(math.prod(lead), *a.shape[-2:]) for a in arrays]
    results = [function(*parts) for parts in zip(*flat, strict=True)]
    return tuple(xp.stack(parts).reshape(*lead, *parts[0].shape) for parts in zip(*results, strict=True))


def _identity(self: Array) -> Array:
    return xp.broadcast_to(library_of(self).eye(*self.shape[-2:], dtype=self.dtype), self.shape)


identity_of = op("identity_of", _identity, PLAIN, Presentation(name="identity", word="the identity matrix"))
"""Ones on the diagonal, in the shape of a batch of matrices."""

# -- factors ------------------------------------------------------------------------------------------------------


def _lu_of_one(a: Array) -> tuple[Array, Array, Array]:
    """(LU, pivots from 1, info) of one matrix."""
    if not a.size:
        return a.copy(), xp.zeros(0, dtype="int32", like=a), xp.zeros((), dtype="int32", like=a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of what `info` says
        lu, pivots = linalg_of(a).lu_factor(a, check_finite=False)
    zero = xp.diagonal(lu) == 0
    info = xp.where(zero.any(), zero.argmax() + 1, 0).astype("int32")
    return lu, (pivots + 1).astype("int32"), info


def lu_factors(a: Array) -> tuple[Array, Array, Array]:
    """(LU, pivots from 1, info) of a batch."""
    lu, pivots, info = each(_lu_of_one, a)
    return lu, pivots, info


def _permuted(pivots: Array, rows: int) -> Array:
    """The order of rows that a sequence of exchanges leads to."""
    order = xp.broadcast_to(xp.arange(rows, like=pivots), (*pivots.shape[:-1], rows)).copy()
    for i in range(pivots.shape[-1]):
        other = (pivots[..., i] - 1).astype("int64")[..., None]
        one, two = order[..., i : i + 1].copy(), xp.take_along_axis(order, other, -1)
        order[..., i : i + 1] = two
        xp.put_along_axis(order, other, one, -1)
    return order


def _permutation(pivots: Array, rows: int, like: Array) -> Array:
    """P of A = P L U, as matrices."""
    order = _permuted(pivots, rows)
    return (xp.arange(rows, like=like)[:, None] == order[..., None, :]).astype(like.dtype)


def triangle_solved(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    """a^-1 b for a triangle; a zero on its diagonal gives inf and nan, as in torch."""
    shape = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = xp.broadcast_to(a, (*shape, *a.shape[-2:])), xp.broadcast_to(b, (*shape, *b.shape[-2:]))

    def solve(one: Array, other: Array) -> tuple[Array]:
        try:
            solution = linalg_of(one).solve_triangular(
                one, other, lower=not upper, unit_diagonal=unit, check_finite=False
            )
        except LinAlgError:
            solution = _substituted(one, other, upper)
        return (solution,)

    return each(solve, a, b)[0] if a.size and b.size else xp.zeros_like(b)


def _substituted(a: Array, b: Array, upper: bool) -> Array:
    """Row by row, for a triangle that has no inverse."""
    solution = b.copy()
    n = len(a)
    for i in range(n - 1, -1, -1) if upper else range(n):
        earlier_rows = slice(i + 1, n) if upper else slice(0, i)
        solution[i] = (solution[i] - a[i, earlier_rows] @ solution[earlier_rows]) / a[i, i]
    return solution


def _by_factors(lu: Array, pivots: Array, b: Array) -> Array:
    """A^-1 b from the factors of A."""
    rows = lu.shape[-1]
    moved = xp.matmul(_permutation(pivots, rows, lu).swapaxes(-1, -2), b)
    return triangle_solved(lu, triangle_solved(lu, moved, False, True), True, False)


# -- inverse and determinant --------------------------------------------------------------------------------------


def _inv_ex(A: Array, check_errors: bool = False) -> tuple[Array, Array]:
    try:
        with strict(A):
            return xp.linalg.inv(A), xp.zeros(A.shape[:-2], dtype="int32", like=A)
    except LinAlgError:
        lu, pivots, info = lu_factors(A)
        return _by_factors(lu, pivots, _identity(A)), info


def _by_inverse(grad: Any, inverse: Any, sizes: Sizes) -> Any:
    """-X^T G X^T."""
    back = flipped(inverse, sizes)
    return -multiplied(multiplied(back, grad), back)


def _near_inverse(self: Array) -> Array:
    """The inverse, with the smallest number in the place of pivots that are 0."""
    lu, pivots, info = lu_factors(self)
    if info.any():
        spot = xp.where(xp.diagonal(lu, axis1=-2, axis2=-1) == 0, xp.finfo(lu.dtype).eps, 0).astype(lu.dtype)
        lu = lu + spot[..., None] * library_of(lu).eye(lu.shape[-1], dtype=lu.dtype)
    return _by_factors(lu, pivots, _identity(self))


def _det(A: Array) -> tuple[Array, Array, Array]:
    lu, pivots, _ = lu_factors(A)
    return (_signs(pivots) * xp.diagonal(lu, axis1=-2, axis2=-1).prod(axis=-1)).astype(A.dtype), lu, pivots


def _signs(pivots: Array) -> Array:
    """-1 where the number of rows exchanged is odd."""
    moved = (pivots != xp.arange(1, pivots.shape[-1] + 1, like=pivots)).sum(axis=-1)
    return 1 - 2 * (moved % 2)


def _slogdet(A: Array) -> tuple[Array, Array, Array, Array]:
    lu, pivots, _ = lu_factors(A)
    along = xp.diagonal(lu, axis1=-2, axis2=-1)
    sign = (_signs(pivots) * xp.sign(along).prod(axis=-1)).astype(A.dtype)
    return sign, xp.log(abs(along)).sum(axis=-1), lu, pivots


def _spread(grad: Any, sizes: Sizes) -> Any:
    """One number per matrix, to be multiplied with matrices."""
    return unsqueeze(unsqueeze(grad, len(sizes) - 2), len(sizes) - 1)


linalg_inv_ex = op(
    "linalg_inv_ex", _inv_ex, Traits(differentiable=(0,)),
    A=lambda grad, result0, A_sizes: _by_inverse(grad, result0, A_sizes),
)  # fmt: skip
matrix_inverse = op(
    "matrix_inverse", lambda self: _inv_ex(self)[0], PLAIN,
    Presentation(name="inv", word="the inverse matrix", notation=signs.inverse),
    self=lambda grad, result, self_sizes: _by_inverse(grad, result, self_sizes),
)  # fmt: skip
"""The inverse alone, for rules."""
near_inverse = op(
    "near_inverse", _near_inverse, PLAIN,
    Presentation(
        name="near_inv", word="the inverse, computed from singular values so that it exists for singular matrices too",
    ),
    self=lambda grad, result, self_sizes: _by_inverse(grad, result, self_sizes),
)  # fmt: skip
linalg_det = op(
    "_linalg_det", _det, Traits(node="LinalgDetBackward0", differentiable=(0,)),
    A=lambda grad, A, result0, A_sizes: _spread(grad * result0, A_sizes) * flipped(near_inverse(A), A_sizes),
)  # fmt: skip
linalg_slogdet = op(
    "_linalg_slogdet", _slogdet, Traits(node="LinalgSlogdetBackward0", differentiable=(0, 1)),
    A=lambda grads, A, A_sizes: _spread(grads[1], A_sizes) * flipped(matrix_inverse(A), A_sizes),
)  # fmt: skip

# -- equations ----------------------------------------------------------------------------------------------------


def is_vector(A_sizes: Sizes, B_sizes: Sizes) -> bool:
    """Return whether `solve` takes B as a batch of vectors."""
    return len(B_sizes) == 1 or B_sizes == A_sizes[:-1]


def _solve_ex(A: Array, B: Array, left: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array, Array]:
    vector = is_vector(A.shape, B.shape)
    right = B[..., None] if vector else B if left else B.swapaxes(-1, -2)
    matrix = A if left else A.swapaxes(-1, -2)
    lu, pivots, info = lu_factors(matrix)
    try:
        with strict(matrix):
            solution = xp.linalg.solve(matrix, right)
    except LinAlgError:
        solution = _by_factors(lu, pivots, right)
    solution = solution[..., 0] if vector else solution if left else solution.swapaxes(-1, -2)
    return solution, lu, pivots, info


def _by_solution(gB: Any, result: Any, A_sizes: Sizes, B_sizes: Sizes, left: bool) -> Any:
    """The gradient of the matrix from that of the other side: -gB X^T (-X^T gB)."""
    if is_vector(A_sizes, B_sizes):
        rank = max(len(A_sizes) - 1, len(B_sizes))
        return -(unsqueeze(gB, rank) * unsqueeze(result, rank - 1))
    wide = A_sizes if len(A_sizes) >= len(B_sizes) else B_sizes
    back = flipped(result, wide)
    return -(multiplied(gB, back) if left else multiplied(back, gB))


linalg_solve_ex = op(
    "_linalg_solve_ex", _solve_ex, Traits(node="LinalgSolveExBackward0", differentiable=(0,)),
    A=lambda grad, A, result0, A_sizes, B_sizes, left: _by_solution(
        matrix_solve(flipped(A, A_sizes), grad, left), result0, A_sizes, B_sizes, left
    ),
    B=lambda grad, A, A_sizes, left: matrix_solve(flipped(A, A_sizes), grad, left),
)  # fmt: skip


def _like_right_side(attrs: Attrs, first: Sizes, right: Sizes) -> Sizes:
    """The shape of the right sides, vectors or matrices, in as many batches as both have."""
    many = 1 if len(right) == 1 or right == first[:-1] else 2
    return (*broadcast(attrs, first[:-2], right[:-many]), *right[-many:])


def _beside(attrs: Attrs, one: Sizes, other: Sizes) -> Sizes:
    """The sizes `other` of the right sides of a system, in as many batches as both have."""
    return (*broadcast(attrs, one[:-2], other[:-2]), *other[-2:])


SOLUTION = "A⁻¹ B, without the inverse: the X with A X = B"
matrix_solve = op(
    "matrix_solve", lambda self, B, left=True: _solve_ex(self, B, left)[0], PLAIN,
    Presentation(
        shape=_like_right_side, name="solve", word=SOLUTION,
        notation=signs.solution,
    ),
    self=lambda grad, self, result, self_sizes, B_sizes, left: _by_solution(
        matrix_solve(flipped(self, self_sizes), grad, left), result, self_sizes, B_sizes, left
    ),
    B=lambda grad, self, self_sizes, left: matrix_solve(flipped(self, self_sizes), grad, left),
)  # fmt: skip
"""The solution alone, for rules."""


def _solve_triangular(self: Array, B: Array, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    if left:
        return triangle_solved(self, B, upper, unitriangular)
    return triangle_solved(self.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper, unitriangular).swapaxes(-1, -2)


def _by_triangle(
    grad: Any, self: Any, result: Any, self_sizes: Sizes, B_sizes: Sizes, upper: bool, left: bool, unitriangular: bool
) -> Any:
    gB = linalg_solve_triangular(flipped(self, self_sizes), grad, not upper, left, unitriangular)
    wide = self_sizes if len(self_sizes) >= len(B_sizes) else B_sizes
    back = flipped(result, wide)
    slope = -(multiplied(gB, back) if left else multiplied(back, gB))
    return triu(slope, int(unitriangular)) if upper else tril(slope, -int(unitriangular))


linalg_solve_triangular = op(
    "linalg_solve_triangular", _solve_triangular, PLAIN,
    Presentation(shape=_beside, name="solve", word=SOLUTION, notation=signs.solution),
    self=_by_triangle,
    B=lambda grad, self, self_sizes, upper, left, unitriangular: linalg_solve_triangular(
        flipped(self, self_sizes), grad, not upper, left, unitriangular
    ),
)  # fmt: skip

# -- Cholesky -----------------------------------------------------------------------------------------------------


def _cholesky_of_one(a: Array) -> tuple[Array, Array]:
    """(L, info): where it fails, the order of the first leading minor that is not positive."""
    try:
        with strict(a):
            return xp.linalg.cholesky(a), xp.zeros((), dtype="int32", like=a)
    except LinAlgError:
        for n in range(1, len(a) + 1):
            try:
                with strict(a):
                    xp.linalg.cholesky(a[:n, :n])
            except LinAlgError:
                break
        return xp.tril(a), library_of(a).full((), n, dtype="int32")


def _cholesky_ex(self: Array, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    matrix = self.swapaxes(-1, -2) if upper else self
    try:
        with strict(matrix):
            factor, info = xp.linalg.cholesky(matrix), xp.zeros(self.shape[:-2], dtype="int32", like=self)
    except LinAlgError:
        factor, info = each(_cholesky_of_one, matrix)
    return (factor.swapaxes(-1, -2) if upper else factor), info


def _by_cholesky(grad: Any, result0: Any, self_sizes: Sizes, upper: bool) -> Any:
    """L^-T phi(L^T G) L^-1, made symmetric; phi is the lower triangle with half the diagonal."""
    factor, upstream = (flipped(x, self_sizes) if upper else x for x in (result0, grad))
    product = multiplied(flipped(factor, self_sizes), upstream)
    half = (tril(product) + tril(product, -1)) / 2
    solution = linalg_solve_triangular(flipped(factor, self_sizes), half, True)
    solution = linalg_solve_triangular(factor, solution, False, False)
    return (solution + flipped(solution, self_sizes)) / 2


linalg_cholesky_ex = op("linalg_cholesky_ex", _cholesky_ex, Traits(differentiable=(0,)), self=_by_cholesky)


def _cholesky_solve(self: Array, input2: Array, upper: bool = False) -> Array:
    across = input2.swapaxes(-1, -2)
    first, second = (across, input2) if upper else (input2, across)
    return triangle_solved(second, triangle_solved(first, self, False, False), True, False)


def _by_cholesky_factor(
    grad: Any, input2: Any, result: Any, self_sizes: Sizes, input2_sizes: Sizes, upper: bool
) -> Any:
    wide = self_sizes if len(self_sizes) >= len(input2_sizes) else input2_sizes
    common = multiplied(cholesky_solve(grad, input2, upper), flipped(result, wide))
    common = common + flipped(common, wide)
    return -(multiplied(input2, common) if upper else multiplied(common, input2))


cholesky_solve = op(
    "cholesky_solve", _cholesky_solve, PLAIN,
    Presentation(
        shape=lambda attrs, other, factor: _beside(attrs, factor, other), name="solve_cholesky",
        word="the X with A X = B, from the Cholesky factor of A",
    ),
    self=lambda grad, input2, upper: cholesky_solve(grad, input2, upper),
    input2=_by_cholesky_factor,
)  # fmt: skip


def _cholesky_inverse(self: Array, upper: bool = False) -> Array:
    return _cholesky_solve(_identity(self), self, upper)


def _by_cholesky_inverse(grad: Any, self: Any, result: Any, self_sizes: Sizes, upper: bool) -> Any:
    common = multiplied(multiplied(result, grad + flipped(grad, self_sizes)), result)
    return -(multiplied(self, common) if upper else multiplied(common, self))


cholesky_inverse = op("cholesky_inverse", _cholesky_inverse, self=_by_cholesky_inverse)

# -- LU -----------------------------------------------------------------------------------------------------------


def _lu(A: Array, pivot: bool = True) -> tuple[Array, Array, Array]:
    lu, pivots, _ = lu_factors(A)
    rows, columns = A.shape[-2:]
    k = min(rows, columns)
    lower = xp.tril(lu[..., :k], -1)
    lower += library_of(lu).eye(rows, k, dtype=lu.dtype)
    return _permutation(pivots, rows, lu), lower, xp.triu(lu[..., :k, :])


def _permutation_of(self: Array, like: Array) -> Array:
    return _permutation(self, like.shape[-2], like)


permutation_of = op(
    "permutation_of", _permutation_of, PLAIN,
    Presentation(name="permutation", word="the permutation matrix of the pivots"),
)  # fmt: skip
"""P of A = P L U from the pivots."""


def by_factors(gL: Any, gU: Any, P: Any, L: Any, U: Any, sizes: Sizes) -> Any:
    """The gradient of A = P L U: of its square part as P L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T.

    What stands below the square has L2 = A2 U^-1, what stands beside it U2 = L^-1 A2.
    """
    rows, columns = sizes[-2:]
    k, down, along = min(rows, columns), len(sizes) - 2, len(sizes) - 1
    below = beside = None
    if rows > columns:
        low, low_gradient = slice_(L, down, k, rows), slice_(gL, down, k, rows)
        L, gL = slice_(L, down, 0, k), slice_(gL, down, 0, k)
        below = linalg_solve_triangular(flipped(U, sizes), low_gradient, False, False)
        gU = gU - multiplied(flipped(low, sizes), below)
    elif columns > rows:
        far, far_gradient = slice_(U, along, k, columns), slice_(gU, along, k, columns)
        U, gU = slice_(U, along, 0, k), slice_(gU, along, 0, k)
        beside = linalg_solve_triangular(flipped(L, sizes), far_gradient, True, True, True)
        gL = gL - multiplied(beside, flipped(far, sizes))
    middle = tril(multiplied(flipped(L, sizes), gL), -1) + triu(multiplied(gU, flipped(U, sizes)))
    solution = linalg_solve_triangular(flipped(U, sizes), middle, False, False)
    solution = linalg_solve_triangular(flipped(L, sizes), solution, True, True, True)
    if below is not None:
        solution = cat([solution, below], down)
    if beside is not None:
        solution = cat([solution, beside], along)
    return multiplied(P, solution)


def _by_packed(grad: Any, result0: Any, result1: Any, A_sizes: Sizes) -> Any:
    """The gradient of both factors in one matrix."""
    k, down, along = min(A_sizes[-2:]), len(A_sizes) - 2, len(A_sizes) - 1
    left, top = slice_(result0, along, 0, k), slice_(result0, down, 0, k)
    lower = tril(left, -1) + identity_of(left)
    gL, gU = tril(slice_(grad, along, 0, k), -1), triu(slice_(grad, down, 0, k))
    return by_factors(gL, gU, permutation_of(result1, result0), lower, triu(top), A_sizes)


linalg_lu = op(
    "linalg_lu", _lu, Traits(differentiable=(1, 2)),
    Presentation(letters="PLU"),
    A=lambda grads, result0, result1, result2, A_sizes: by_factors(
        grads[1], grads[2], result0, result1, result2, A_sizes
    ),
)  # fmt: skip


def _lu_factor_ex(A: Array, pivot: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array]:
    return lu_factors(A)


linalg_lu_factor_ex = op("linalg_lu_factor_ex", _lu_factor_ex, Traits(differentiable=(0,)), A=_by_packed)


def _lu_solve(LU: Array, pivots: Array, B: Array, left: bool = True, adjoint: bool = False) -> Array:
    right = B if left else B.swapaxes(-1, -2)
    if left != adjoint:
        solution = _by_factors(LU, pivots, right)
    else:
        across = LU.swapaxes(-1, -2)
        solution = triangle_solved(across, triangle_solved(across, right, False, False), True, True)
        solution = xp.matmul(_permutation(pivots, LU.shape[-1], LU), solution)
    return solution if left else solution.swapaxes(-1, -2)


def _by_lu(
    grad: Any, LU: Any, pivots: Any, result: Any, LU_sizes: Sizes, B_sizes: Sizes, left: bool, adjoint: bool
) -> Any:
    """By the matrix A = P L U that the factors make, then tril(P^T gA U^T, -1) + triu(L^T P^T gA)."""
    wide = LU_sizes if len(LU_sizes) >= len(B_sizes) else B_sizes
    gB = linalg_lu_solve(LU, pivots, grad, left, not adjoint)
    product = (
        multiplied(gB, flipped(result, wide)) if left else multiplied(flipped(result, wide), gB)
    )  # of A, or of A^T where `adjoint`
    if adjoint:
        product = flipped(product, wide)
    unordered = -multiplied(flipped(permutation_of(pivots, LU), LU_sizes), product)
    lower, upper = tril(LU, -1) + identity_of(LU), triu(LU)
    slope = tril(multiplied(unordered, flipped(upper, LU_sizes)), -1)
    return slope + triu(multiplied(flipped(lower, LU_sizes), unordered))


linalg_lu_solve = op(
    "linalg_lu_solve", _lu_solve, PLAIN,
    Presentation(name="solve_lu", word="the X with A X = B, from A's LU"),
    LU=_by_lu,
    B=lambda grad, LU, pivots, left, adjoint: linalg_lu_solve(LU, pivots, grad, left, not adjoint),
)  # fmt: skip
