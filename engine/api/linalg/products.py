"""Products beyond matmul: with something added, over chosen dimensions, of many factors; distances."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import errors
from ...arrays.session import warn
from ...ops import elementwise as el
from ...ops import linalg as la
from ...ops import products as pr
from ...ops import shape as sh
from ...ops.reduction import sum_dim
from ...tensor.tensor import Tensor
from ..calls.check import kind, need_tensor, one_dim
from ..calls.out import takes_out
from ..index.scatter import Call, both, in_place
from ..shape.joining import joint
from ..shape.shape import expanded, reshape
from .linalg import check_addmm, dot, mm, outer

__all__ = [
    "addbmm",
    "addmv",
    "addmv_",
    "addr",
    "baddbmm",
    "cdist",
    "cross",
    "ger",
    "inner",
    "kron",
    "tensordot",
    "vdot",
]

ger = outer

# -- with something added ---------------------------------------------------------------------------------------------


def _addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Call:
    start, a, b = input._array.shape, mat._array.shape, vec._array.shape
    if len(a) != 2 or len(b) != 1 or len(start) > 1:
        raise errors.runtime(f"vector + matrix @ vector expected, got {len(start)}, {len(a)}, {len(b)}")
    if a[1] != b[0] or (start and start[0] not in (1, a[0])):
        if not start:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise errors.runtime(f"size mismatch, got input ({start[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    if not input._array.dtype == mat._array.dtype == vec._array.dtype:
        raise errors.runtime(
            f"addmv input tensors must have the same dtype, but got {kind(input)}, {kind(mat)}, and {kind(vec)}"
        )
    return pr.addmv, (input, mat, vec), {"beta": beta, "alpha": alpha}


def _addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Call:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector._array.ndim != 1:
            raise errors.runtime(f"addr: Expected 1-D argument {name}, but got {vector._array.ndim}-D")
    shape = (vec1._array.size, vec2._array.size)
    expanded(input, shape, input._array.shape)
    if all(x._array.dtype.kind in "iu" for x in (input, vec1, vec2)):
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, float):
                raise errors.runtime(
                    f"For integral input tensors, argument {name} must not be a floating point number."
                )
    if all(x._array.dtype.kind == "b" for x in (input, vec1, vec2)):
        beta, alpha = bool(beta), bool(alpha)
    return pr.addr, (input, vec1, vec2), {"beta": beta, "alpha": alpha}


def _check_batches(batch1: Tensor, batch2: Tensor) -> None:
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if x._array.ndim != 3:
            raise errors.runtime(f"{name} must be a 3D tensor")


def _addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Call:
    a, b = batch1._array.shape, batch2._array.shape
    one_dim(2, len(b))
    expanded(input, (a[1], b[2]), input._array.shape)
    _check_batches(batch1, batch2)
    if a[0] != b[0]:
        raise errors.runtime(f"batch1 and batch2 must have same number of batches, got {a[0]} and {b[0]}")
    if a[2] != b[1]:
        raise errors.runtime(f"Incompatible matrix sizes for bmm ({a[1]}x{a[2]} and {b[1]}x{b[2]})")
    if input._array.dtype != batch1._array.dtype:
        raise errors.runtime(f"self and mat2 must have the same dtype, but got {kind(input)} and {kind(batch1)}")
    return pr.addbmm, (input, batch1, batch2), {"beta": beta, "alpha": alpha}


def _baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Call:
    a, b = batch1._array.shape, batch2._array.shape
    dtypes = [x._array.dtype for x in (input, batch1, batch2)]
    if dtypes[0] != dtypes[1]:
        names = [errors.C_NAMES[x.dtype.name] for x in (input, batch1, batch2)]
        raise errors.runtime(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: {names[2]}"
        )
    _check_batches(batch1, batch2)
    if a[0] != b[0] or a[2] != b[1]:
        raise errors.runtime(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, "
            f"{b[1]}]."
        )
    expanded(input, (a[0], a[1], b[2]), input._array.shape)
    if dtypes[1] != dtypes[2]:
        raise errors.runtime(f"expected scalar type {kind(batch1)} but found {kind(batch2)}")
    return pr.baddbmm, (input, batch1, batch2), {"beta": beta, "alpha": alpha}


addmv, addmv_ = both(
    "addmv", _addmv,
    "beta * input + alpha * mat @ vec, where `input` broadcasts to the product.",
    "Shapes: (*), (N, K), (K) -> (N).  Raises RuntimeError where the sizes or dtypes do not fit.",
)  # fmt: skip
addr, addr_ = both(
    "addr", _addr,
    "beta * input + alpha * (all products of an element of `vec1` and one of `vec2`).",
    "Shapes: (*), (N), (M) -> (N, M).  Raises RuntimeError for vectors of other dimensions than one.",
)  # fmt: skip
addbmm, addbmm_ = both(
    "addbmm", _addbmm,
    "beta * input + alpha * (the sum of all products of a matrix of one batch and one of the other).",
    "Shapes: (*), (B, N, K), (B, K, M) -> (N, M).  Raises RuntimeError where the sizes do not fit.",
)  # fmt: skip
baddbmm, baddbmm_ = both(
    "baddbmm", _baddbmm,
    "beta * input + alpha * (the products of two batches of matrices).",
    "Shapes: (*), (B, N, K), (B, K, M) -> (B, N, M).  Raises RuntimeError where the sizes or dtypes do not fit.",
)  # fmt: skip


def _same_size(self: Tensor, shape: tuple[int, ...]) -> None:
    """Raise torch's error where a result of that shape cannot be written into the tensor."""
    if self._array.shape != shape:
        raise errors.runtime(
            f"Bad in-place call: input tensor size {list(self._array.shape)} and output tensor size {list(shape)} "
            "should match"
        )


def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """addmm, written into the tensor."""
    check_addmm(self, mat1, mat2)
    _same_size(self, (mat1._array.shape[0], mat2._array.shape[1]))
    return in_place((la.addmm, (self, mat1, mat2), {"beta": beta, "alpha": alpha}))


# -- of two tensors ---------------------------------------------------------------------------------------------------


@takes_out
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements; of real numbers the same as dot.

    Shapes: (N), (N) -> ().  Raises RuntimeError where the sizes or dtypes differ.  Source: torch.vdot.

    >>> import engine as torch
    >>> torch.vdot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    need_tensor(input, "vdot")
    need_tensor(other, "vdot", "other", 2)
    a, b = input._array.shape, other._array.shape
    if len(a) != 1 or len(b) != 1:
        raise errors.runtime(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if input._array.dtype != other._array.dtype:
        raise errors.runtime(
            f"dot : expected both vectors to have same dtype, but found {kind(input)} and {kind(other)}"
        )
    if a != b:
        raise errors.runtime(
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, "
            f"but got {a[0]} and {b[0]} elements respectively"
        )
    return pr.vdot(input, other)


@takes_out
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last dimensions of both; of a number the product.

    Shapes: (*A, D), (*B, D) -> (*A, *B); a number (), (*) -> (*).  Raises RuntimeError where D differs.
    Source: torch.inner.

    >>> import engine as torch
    >>> torch.inner(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    need_tensor(input, "inner")
    a, b = input._array.shape, other._array.shape
    if not a or not b:
        return el.mul(input, other)
    if a[-1] != b[-1]:
        raise errors.runtime(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a)} and {list(b)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@takes_out
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """The sums of products over the last `dims` dimensions of one and the first of the other, or over listed ones.

    Shapes: (*A, *D), (*D, *B) -> (*A, *B).  Raises RuntimeError where the sizes that are summed over differ.
    Source: torch.tensordot.

    >>> import engine as torch
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), 1)[0]
    tensor([3., 3., 3., 3.])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims._array.size > 1 else int(dims)
    if isinstance(dims, (tuple, list)):
        of_a, of_b = (list(d) if isinstance(d, (tuple, list)) else [d] for d in dims)
    else:
        if dims < 0:
            raise errors.runtime(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a._array.ndim, b._array.ndim):
            raise errors.runtime(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        of_a, of_b = list(range(-dims, 0)), list(range(dims))
    if len(of_a) != len(of_b):
        raise errors.runtime("both dimension lists should have same length")
    if a._array.dtype != b._array.dtype:
        raise errors.runtime("both inputs should have same dtype")
    return _contracted(a, b, of_a, of_b)


def _contracted(a: Tensor, b: Tensor, of_a: list[int], of_b: list[int]) -> Tensor:
    """tensordot of two lists of dimensions: both permuted to matrices, multiplied, and given their dimensions back."""
    rank_a, rank_b = a._array.ndim, b._array.ndim
    places_a, places_b = [one_dim(d, rank_a) for d in of_a], [one_dim(d, rank_b) for d in of_b]
    size = 1
    for p, q, said_p, said_q in zip(places_a, places_b, of_a, of_b, strict=True):
        m, n = a._array.shape[p], b._array.shape[q]
        if n == 1:
            a = sum_dim(a, (p,), True, a._array.dtype)
        elif m == 1:
            b = sum_dim(b, (q,), True, b._array.dtype)
        elif m != n:
            raise errors.runtime(
                f"contracted dimensions need to match, but first has size {m} in dim {said_p} and second has size {n} "
                f"in dim {said_q}"
            )
        else:
            size *= m
    free_a = [d for d in range(rank_a) if d not in places_a]
    free_b = [d for d in range(rank_b) if d not in places_b]
    sizes_a, sizes_b = [a._array.shape[d] for d in free_a], [b._array.shape[d] for d in free_b]
    left, right = sh.permute(a, (*free_a, *places_a)), sh.permute(b, (*places_b, *free_b))
    if not free_a and not free_b and a._array.size == b._array.size:
        return _by_dot(left, right, size)
    product = mm(reshape(left, math.prod(sizes_a), size), reshape(right, size, math.prod(sizes_b)))
    return reshape(product, *sizes_a, *sizes_b) if sizes_a or sizes_b else reshape(product, ())


def _by_dot(left: Tensor, right: Tensor, size: int) -> Tensor:
    """Of tensors that are contracted whole: a product of two vectors."""
    left, right = (x if x._array.ndim == 1 else reshape(x, size) for x in (left, right))
    return reshape(dot(left, right), ())


@takes_out
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Every element of one times the whole other tensor, arranged in blocks.

    Shapes: (*), (*') -> (*'), each size the product of both.  Source: torch.kron.

    >>> import engine as torch
    >>> torch.kron(torch.tensor([1, 2]), torch.tensor([1, 10]))
    tensor([ 1, 10,  2, 20])
    """
    need_tensor(input, "kron")
    need_tensor(other, "kron", "other", 2)
    rank = max(input._array.ndim, other._array.ndim)
    a = (1,) * (rank - input._array.ndim) + input._array.shape
    b = (1,) * (rank - other._array.ndim) + other._array.shape
    left = sh.unsafe_view(input, tuple(n for m in a for n in (m, 1)))
    right = sh.unsafe_view(other, tuple(n for m in b for n in (1, m)))
    return sh.unsafe_view(left * right, tuple(m * n for m, n in zip(a, b, strict=True)))


@takes_out
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross products of vectors along `dim`; without it along the first dimension of size 3.

    Shapes: (*, 3, *), (*, 3, *) -> (*, 3, *), broadcast.  Raises RuntimeError where `dim` is not of size 3.
    Source: torch.cross.

    >>> import engine as torch
    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
    """
    need_tensor(input, "cross")
    need_tensor(other, "cross", "other", 2)
    if dim is None:
        sizes = input._array.shape
        if 3 not in sizes:
            raise errors.runtime("no dimension of size 3 in input")
        warn(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
            "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross "
            "in a future release."
        )
        dim = sizes.index(3)
    return linalg_cross(input, other, dim=dim)


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors along `dim`; the other dimensions broadcast.

    Shapes: (*, 3, *), (*, 3, *) -> (*, 3, *), broadcast.  Raises RuntimeError where `dim` is not of size 3.
    Source: torch.linalg.cross.

    >>> import engine as torch
    >>> torch.linalg.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    a, b = input._array.shape, other._array.shape
    if len(a) != len(b):
        raise errors.runtime("linalg.cross: inputs must have the same number of dimensions.")
    place = one_dim(dim, len(a))
    if a[place] != 3 or b[place] != 3:
        raise errors.runtime(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[place]} and {b[place]}")
    joint(a, b)
    if input._array.dtype != other._array.dtype:
        raise errors.runtime(f"expected scalar type {kind(input)} but found {kind(other)}")
    return pr.linalg_cross(input, other, dim=place)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm of the difference of every row of one matrix and every row of the other; batches broadcast.

    Shapes: (*, P, D), (*, R, D) -> (*, P, R), broadcast.  Raises RuntimeError where D differs.  Source: torch.cdist.

    >>> import engine as torch
    >>> torch.cdist(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            raise errors.runtime(f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D")
    a, b = x1._array.shape, x2._array.shape
    if a[-1] != b[-1]:
        raise errors.runtime(f"X1 and X2 must have the same number of columns. X1: {a[-1]} X2: {b[-1]}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.dtype.kind != "f":
            raise errors.runtime(f"cdist only supports floating-point dtypes, {name} got: {kind(x)}")
    if p < 0:
        raise errors.runtime("cdist only supports non-negative p values")
    joint(a[:-2], b[:-2])
    if x1._array.dtype != x2._array.dtype:
        raise errors.runtime(f"expected scalar type {kind(x1)} but found {kind(x2)}")
    if x1._array.dtype == "float16":
        raise NotImplementedError("\"cdist\" not implemented for 'Half'")
    mode = modes.index(compute_mode)
    if p == 2 and 0 not in a + b and (mode == 1 or (mode == 0 and max(a[-2], b[-2]) > 25)):
        return pr.euclidean_distance(x1, x2)
    return pr.cdist(x1, x2, p=float(p))


METHODS = (
    "addmm_", "addmv_", "addr_", "addbmm_", "baddbmm_", "addbmm", "addmv", "addr", "baddbmm", "cross", "ger", "inner",
    "kron", "vdot",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
