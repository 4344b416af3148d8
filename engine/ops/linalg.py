"""Products of matrices and vectors."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, xp
from .notation import signs, sums
from .op import PLAIN, READS_FIRST, by_hand, op
from .presentation import Presentation
from .result_shapes import number, product_of_matrices
from .shape import scaled, t, transpose, unsqueeze


def _mm(self: Array, mat2: Array) -> Array:
    return self.dot(mat2)  # of two matrices it is their product, and a microsecond sooner than matmul


def _bmm(self: Array, mat2: Array) -> Array:
    return xp.matmul(self, mat2)


def _mv(self: Array, vec: Array) -> Array:
    return xp.matmul(self, vec)


def _dot(self: Array, tensor: Array) -> Array:
    return xp.matmul(self, tensor)


@by_hand(lambda grad, mat2: grad.dot(mat2.T))
def _of_left(grad: Any, mat2: Any) -> Any:
    return mm(grad, t(mat2))


@by_hand(lambda grad, self: self.T.dot(grad))
def _of_right(grad: Any, self: Any) -> Any:
    return mm(t(self), grad)


mm = op(
    "mm", _mm, PLAIN,
    Presentation(sign="@", shape=product_of_matrices, notation=signs.matrices, indexed=sums.matrices, plain=True),
    self=_of_left,
    mat2=_of_right,
)  # fmt: skip
bmm = op(
    "bmm", _bmm, PLAIN,
    Presentation(sign="@", shape=product_of_matrices, notation=signs.matrices, indexed=sums.matrices, plain=True),
    self=lambda grad, mat2: bmm(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: bmm(transpose(self, 1, 2), grad),
)  # fmt: skip
mv = op(
    "mv", _mv, PLAIN,
    Presentation(shape=lambda attrs, a, b: a[:-1], notation=signs.matrices, indexed=sums.vectors, plain=True),
    self=lambda grad, vec: unsqueeze(grad, 1) * unsqueeze(vec, 0),
    vec=lambda grad, self: mv(t(self), grad),
)  # fmt: skip
dot = op(
    "dot", _dot, PLAIN, Presentation(shape=number, indexed=sums.vectors, plain=True),
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)  # fmt: skip


def _addmm(self: Array, mat1: Array, mat2: Array, beta: float = 1, alpha: float = 1) -> Array:
    out = mat1.dot(mat2)
    if alpha != 1:
        out *= alpha
    if beta:  # a factor 0 hides what it multiplies, nan too
        out += self if beta == 1 else self * beta
    return out


addmm = op(
    "addmm", _addmm, READS_FIRST,
    self=lambda grad, beta: scaled(grad, beta),
    mat1=lambda grad, mat2, alpha: scaled(mm(grad, t(mat2)), alpha),
    # The product of the transposed factors: by columns, as the transposed weight of a linear layer lies in memory.
    mat2=lambda grad, mat1, alpha: scaled(t(mm(t(grad), mat1)), alpha),
)  # fmt: skip
