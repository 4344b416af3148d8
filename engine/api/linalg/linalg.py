"""Matrix products, decomposed as torch decomposes them."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import errors
from ...ops import linalg as la
from ...ops import shape as sh
from ...tensor.fast_path import quick_product
from ...tensor.tensor import Tensor
from ..calls.check import kind, need_numbers, need_tensor
from ..shape.joining import joint
from ..shape.shape import expand, reshape, unsqueeze
from ..shape.transposes import matrix_transposed

__all__ = [
    "addmm",
    "bmm",
    "dot",
    "matmul",
    "mm",
    "mv",
    "outer",
    "tril",
    "triu",
]


def _same_dtype(a: Tensor, b: Tensor, words: str) -> None:
    if a._array.dtype != b._array.dtype:
        names = [errors.C_NAMES[x.dtype.name] for x in (a, b)]
        raise errors.runtime(words.format(*names, kind(a), kind(b)))


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices.

    Shapes: (N, K), (K, M) -> (N, M).  Raises RuntimeError where the sizes or dtypes do not fit.  Source: torch.mm.

    >>> import engine as torch
    >>> torch.mm(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [1]]))
    tensor([[3],
            [7]])
    """
    need_tensor(input, "mm")
    need_tensor(mat2, "mm", "mat2", 2)
    a, b = input._array.shape, mat2._array.shape
    if len(a) != 2:
        raise errors.runtime("self must be a matrix")
    if len(b) != 2:
        raise errors.runtime("mat2 must be a matrix")
    _check_product(input, mat2)
    _same_dtype(input, mat2, "expected m1 and m2 to have the same dtype, but got: {0} != {1}")
    need_numbers("addmm_impl_cpu_", input)
    return la.mm(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices.

    Shapes: (B, N, K), (B, K, M) -> (B, N, M).  Raises RuntimeError where the sizes or dtypes do not fit.
    Source: torch.bmm.

    >>> import engine as torch
    >>> torch.bmm(torch.ones(5, 2, 3), torch.ones(5, 3, 4)).shape
    torch.Size([5, 2, 4])
    """
    need_tensor(input, "bmm")
    need_tensor(mat2, "bmm", "mat2", 2)
    a, b = input._array.shape, mat2._array.shape
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            raise errors.runtime(f"{name} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise errors.runtime(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, "
            f"{b[1]}]."
        )
    _same_dtype(input, mat2, "expected scalar type {2} but found {3}")
    need_numbers("bmm", input)
    return la.bmm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    Shapes: (N, K), (K) -> (N).  Raises RuntimeError where the sizes or dtypes do not fit.  Source: torch.mv.

    >>> import engine as torch
    >>> torch.mv(torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
    tensor([3, 7])
    """
    need_tensor(input, "mv")
    need_tensor(vec, "mv", "vec", 2)
    a, b = input._array.shape, vec._array.shape
    if len(a) != 2 or len(b) != 1:
        raise errors.runtime(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise errors.runtime(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    _same_dtype(input, vec, "addmv input tensors must have the same dtype, but got {3}, {2}, and {3}")
    need_numbers("addmv_impl_cpu", input)
    return la.mv(input, vec)


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements.

    Shapes: (N), (N) -> ().  Raises RuntimeError where the sizes or dtypes differ.  Source: torch.dot.

    >>> import engine as torch
    >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    need_tensor(input, "dot")
    need_tensor(tensor, "dot", "tensor", 2)
    a, b = input._array.shape, tensor._array.shape
    if len(a) != 1 or len(b) != 1:
        raise errors.runtime(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    _same_dtype(input, tensor, "dot : expected both vectors to have same dtype, but found {2} and {3}")
    if a != b:
        raise errors.runtime(
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, "
            f"but got {a[0]} and {b[0]} elements respectively"
        )
    need_numbers("dot", input)
    return la.dot(input, tensor)


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of one vector and one of another.

    Shapes: (N), (M) -> (N, M).  Raises RuntimeError for other dimensions than one.  Source: torch.outer.

    >>> import engine as torch
    >>> torch.outer(torch.tensor([1, 2]), torch.tensor([1, 10]))
    tensor([[ 1, 10],
            [ 2, 20]])
    """
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector._array.ndim != 1:
            raise errors.runtime(f"outer: Expected 1-D argument {name}, but got {vector._array.ndim}-D")
    return reshape(input, -1, 1) * vec2


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of vectors, matrices or batches of them, whose batch dimensions broadcast.

    Shapes: (*, N, K), (*, K, M) -> (*, N, M), broadcast; vectors (K), (K) -> (); (K), (*, K, M) -> (*, M); (*, N, K),
    (K) -> (*, N).  Raises RuntimeError where the sizes or dtypes do not fit.  Source: torch.matmul.

    >>> import engine as torch
    >>> torch.matmul(torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
    tensor([3, 7])
    """
    need_tensor(input, "matmul")
    need_tensor(other, "matmul", "other", 2)
    rank1, rank2 = input._array.ndim, other._array.ndim
    if rank1 == 2 and rank2 == 2:
        return mm(input, other)
    if not rank1 or not rank2:
        raise errors.runtime(f"both arguments to matmul need to be at least 1D, but they are {rank1}D and {rank2}D")
    if rank1 == 1 and rank2 == 1:
        return dot(input, other)
    if rank1 == 2 and rank2 == 1:
        return mv(input, other)
    if rank1 == 1 and rank2 == 2:
        return sh.squeeze_row(mm(unsqueeze(input, 0), other), 0)
    if _folds(input, other):
        return _folded(input, other)
    return _batched(input, other)


def _operator(self: Tensor, other: Any) -> Any:
    """self @ other."""
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


operator = quick_product(la.mm, _operator)


def reflected(self: Tensor, other: Any) -> Any:
    """other @ self."""
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def _folds(a: Tensor, b: Tensor) -> bool:
    """Return whether the product of a batch and one matrix runs as one product of matrices, as in torch."""
    larger_first = a._array.ndim >= b._array.ndim
    large, small = (a, b) if larger_first else (b, a)
    if large._array.ndim < 3 or small._array.ndim > 2:
        return False
    if small._requires_grad:
        return True
    if a._array.ndim == 2:
        return False
    batch = large._array if larger_first else large._array.swapaxes(-1, -2)
    if not batch.size:
        return True
    shape, strides = batch.shape, batch.strides
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _folded(a: Tensor, b: Tensor) -> Tensor:
    """The batch seen as one tall matrix."""
    larger_first = a._array.ndim >= b._array.ndim
    large = a if larger_first else matrix_transposed(b)
    small = b if larger_first else (sh.t(a) if a._array.ndim == 2 else a)
    shape = large._array.shape
    tall = reshape(large, math.prod(shape[:-1]), shape[-1])
    if small._array.ndim == 1:
        return sh.unsafe_view(mv(tall, small), shape[:-1])
    product = sh.unsafe_view(mm(tall, small), (*shape[:-1], small._array.shape[1]))
    return product if larger_first else sh.clone(matrix_transposed(product), memory_format="contiguous")


def _batched(a: Tensor, b: Tensor) -> Tensor:
    """Both expanded to the same batch, one product per pair."""
    left = unsqueeze(a, 0) if a._array.ndim == 1 else a
    right = unsqueeze(b, 1) if b._array.ndim == 1 else b
    rows, inner = left._array.shape[-2:]
    inner2, columns = right._array.shape[-2:]
    batch = joint(left._array.shape[:-2], right._array.shape[:-2])
    product = bmm(
        reshape(expand(left, *batch, rows, inner), math.prod(batch), rows, inner),
        reshape(expand(right, *batch, inner2, columns), math.prod(batch), inner2, columns),
    )
    shape = batch
    if a._array.ndim > 1:
        shape += (rows,)
    if b._array.ndim > 1:
        shape += (columns,)
    return sh.unsafe_view(product, shape)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * mat1 @ mat2, where `input` broadcasts to the shape of the product.

    Shapes: (*), (N, K), (K, M) -> (N, M).  Raises RuntimeError where the sizes do not fit.  Source: torch.addmm.

    >>> import engine as torch
    >>> torch.addmm(torch.ones(1), torch.eye(2), torch.eye(2))
    tensor([[2., 1.],
            [1., 2.]])
    """
    need_tensor(input, "addmm")
    need_tensor(mat1, "addmm", "mat1", 2)
    need_tensor(mat2, "addmm", "mat2", 3)
    check_addmm(input, mat1, mat2)
    return la.addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def check_addmm(input: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    """Raise torch's error where addmm cannot take these shapes and dtypes."""
    a, b = mat1._array.shape, mat2._array.shape
    if len(a) != 2 or len(b) != 2:
        name, rank = ("mat1", len(a)) if len(a) != 2 else ("mat2", len(b))
        raise errors.runtime(f"{name} must be a matrix, got {rank}-D tensor")
    start = input._array
    if start.dtype != mat2._array.dtype:
        raise errors.runtime(f"self and mat2 must have the same dtype, but got {kind(input)} and {kind(mat2)}")
    if mat1._array.dtype != mat2._array.dtype:
        raise errors.runtime(f"mat1 and mat2 must have the same dtype, but got {kind(mat1)} and {kind(mat2)}")
    _check_product(mat1, mat2)
    _check_expands(input, (a[0], b[1]))


def _check_product(left: Tensor, right: Tensor) -> None:
    a, b = left._array.shape, right._array.shape
    if a[1] != b[0]:
        raise errors.runtime(
            f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})",
            f"Backstep: the product needs as many columns on the left ({a[1]}) as rows on the right ({b[0]}).",
            tensors=(left, right),
        )


def _check_expands(start: Tensor, sizes: tuple[int, int]) -> None:
    """Raise torch's error where a tensor does not broadcast to the shape of a product."""
    shape = start._array.shape
    if len(shape) > 2:
        raise errors.runtime(
            f"expand(torch.{start.dtype.legacy}{{{list(shape)}}}, size={list(sizes)}): the number of sizes provided "
            f"(2) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    for back in range(1, len(shape) + 1):
        if shape[-back] not in (1, sizes[-back]):
            raise errors.runtime(
                f"The expanded size of the tensor ({sizes[-back]}) must match the existing size ({shape[-back]}) at "
                f"non-singleton dimension {2 - back}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}",
                tensors=(start,),
            )


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the last two dimensions, zeros elsewhere; `diagonal` is the last one that is kept.

    Shapes: (*, N, M) -> (*, N, M).  Raises RuntimeError for fewer than two dimensions.  Source: torch.tril.

    >>> import engine as torch
    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    _need_matrix(input, "tril")
    return sh.tril(input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of the last two dimensions, zeros elsewhere; `diagonal` is the first one that is kept.

    Shapes: (*, N, M) -> (*, N, M).  Raises RuntimeError for fewer than two dimensions.  Source: torch.triu.

    >>> import engine as torch
    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    _need_matrix(input, "triu")
    return sh.triu(input, diagonal)


def _need_matrix(input: Tensor, name: str) -> None:
    need_tensor(input, name)
    if input._array.ndim < 2:
        raise errors.runtime(f"{name}: input tensor must have at least 2 dimensions")


METHODS = (
    "tril", "triu", "mm", "bmm", "mv", "dot", "outer", "matmul", "addmm",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
