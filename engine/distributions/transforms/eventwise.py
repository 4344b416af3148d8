"""Maps of samples that act on vectors and matrices, and those that act part by part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ...api.creation.counting import eye, tril_indices
from ...api.shape.joining import cat, stack
from ...arrays import array as arrays
from ...arrays.size import Size
from ...namespaces.linalg import cholesky
from ...nn.functional import logsigmoid, pad, softplus
from ...tensor.tensor import Tensor
from .. import constraints
from ..constraints import Constraint
from ..distribution import sum_rightmost
from .pointwise import ParameterFree, least_and_most
from .transform import Transform

__all__ = [
    "CatTransform", "CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "SoftmaxTransform",
    "StackTransform", "StickBreakingTransform",
]  # fmt: skip


def _of_vectors(shape: Sequence[int], more: int = 0) -> Size:
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return Size((*shape[:-1], shape[-1] + more))


class SoftmaxTransform(ParameterFree):
    """Vectors to probabilities; the inverse gives their logarithms, because many vectors have the same probabilities.

    Shapes: (*) -> (*).  Source: torch.distributions.SoftmaxTransform.

    >>> import engine as torch
    >>> torch.distributions.SoftmaxTransform()(torch.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        raised = (x - x.max(-1, True)[0]).exp()
        return raised / raised.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _of_vectors(shape)

    inverse_shape = forward_shape


class StickBreakingTransform(ParameterFree):
    """Vectors to one more probability: each takes its share (a sigmoid) of the rest that those before it left.

    Shapes: (*, D) -> (*, D + 1).  Source: torch.distributions.StickBreakingTransform.

    >>> import engine as torch
    >>> torch.distributions.StickBreakingTransform()(torch.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        share = (x - _left(x, x.shape[-1] + 1).log()).sigmoid().clamp(**least_and_most(x))
        rest = (1 - share).cumprod(-1)
        result: Tensor = pad(share, [0, 1], value=1) * pad(rest, [1, 0], value=1)
        return result

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        rest = (1 - parts.cumsum(-1)).clamp(min=least_and_most(y)["min"])
        return parts.log() - rest.log() + _left(parts, y.shape[-1]).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _left(x, x.shape[-1] + 1).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _of_vectors(shape, 1)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return _of_vectors(shape, -1)


def _left(like: Tensor, count: int) -> Tensor:
    """How many shares are left, at each of them, but for one's own."""
    result: Tensor = count - like.new_ones(like.shape[-1]).cumsum(-1)
    return result


class LowerCholeskyTransform(ParameterFree):
    """Square matrices to lower-triangular ones with a positive diagonal.

    Shapes: (*, D, D) -> (*, D, D).  Source: torch.distributions.LowerCholeskyTransform.

    >>> import engine as torch
    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(ParameterFree):
    """Square matrices to positive-definite ones, by way of their Cholesky factors.

    Shapes: (*, D, D) -> (*, D, D).  Source: torch.distributions.PositiveDefiniteTransform.

    >>> import engine as torch
    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(cholesky(y))


def _packed(matrix: Tensor, diag: int) -> Tensor:
    """The elements of lower triangles, row by row.  Raises ValueError for a `diag` outside of the matrix."""
    size = matrix.shape[-1]
    if diag not in range(-size, size):
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = tril_indices(size, size, diag)
    result: Tensor = matrix[..., rows, columns]
    return result


def _unpacked(vector: Tensor) -> Tensor:
    """Matrices with the elements below the diagonal.  Raises ValueError for a length that no triangle has."""
    count = vector.shape[-1]
    size = (1 + math.isqrt(1 + 8 * count)) / 2
    if size * (size - 1) != 2 * count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    matrix = vector.new_zeros((*vector.shape[:-1], int(size), int(size)))
    rows, columns = tril_indices(int(size), int(size), -1)
    matrix[..., rows, columns] = vector
    return matrix


class CorrCholeskyTransform(Transform):
    """Vectors of D (D - 1) / 2 to Cholesky factors of correlations: rows of length 1, made as a stick is broken.

    Shapes: (*, M) -> (*, D, D), M = D times D - 1 by 2.  Source: torch.distributions.CorrCholeskyTransform.

    >>> import engine as torch
    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = float(arrays.xp.finfo(x._array.dtype).eps)
        signed = _unpacked(x.tanh().clamp(min=-1 + eps, max=1 - eps))
        rest = (1 - signed**2).sqrt().cumprod(-1)
        signed = signed + eye(signed.shape[-1], dtype=signed.dtype, device=signed.device)
        return signed * pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        rest = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        share = _packed(y, -1) / _packed(rest, -1).sqrt()
        return (share.log1p() - share.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        """log |dy/dx| of the elements below the diagonal."""
        broken = 0.5 * _packed(1 - (y * y).cumsum(-1), -2).log().sum(-1)
        squashed = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        result: Tensor = broken + squashed
        return result

    def forward_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class _Parts(Transform):
    """A map for each part along `dim`."""

    _constraint: Any

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(part, Transform) for part in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]  # a constant of other classes
        return all(part.bijective for part in self.transforms)

    def _check_dim(self, value: Tensor, name: str) -> None:
        """Raise AssertionError where a value has no dimension that it could be split along."""
        if not -value.dim() <= self.dim < value.dim():
            of = name or "tensor"
            raise AssertionError(f"dim {self.dim} out of range for {of} with {value.dim()} dimensions")

    def _images(self, slices: list[Tensor], inverse: bool) -> list[Tensor]:
        parts = [part.inv if inverse else part for part in self.transforms]
        return [part(value) for part, value in zip(parts, slices, strict=True)]

    def _stretches(self, x: list[Tensor], y: list[Tensor]) -> list[Tensor]:
        places = zip(self.transforms, x, y, strict=True)
        return [part.log_abs_det_jacobian(before, after) for part, before, after in places]


class CatTransform(_Parts):
    """Maps of parts of the given `lengths` along `dim`, as `cat` joins them.

    Shapes: (*, D, *) -> (*, D, *).  Source: torch.distributions.CatTransform.

    >>> import engine as torch
    >>> D = torch.distributions
    >>> D.CatTransform([D.ExpTransform(), D.identity_transform], lengths=[1, 2])(torch.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @cached_property
    def event_dim(self) -> int:
        return max(part.event_dim for part in self.transforms)

    @cached_property
    def length(self) -> int:
        """The size along `dim`."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _split(self, value: Tensor, name: str = "") -> list[Tensor]:
        """The parts.  Raises AssertionError where they are not as long as the value."""
        self._check_dim(value, name)
        size = value.size(self.dim)
        if size != self.length:
            raise AssertionError(f"{name or 'x'}.size({self.dim}) = {size} must equal length {self.length}")
        starts = [sum(self.lengths[:number]) for number in range(len(self.lengths))]
        return [value.narrow(self.dim, start, length) for start, length in zip(starts, self.lengths, strict=True)]

    def _call(self, x: Tensor) -> Tensor:
        return cat(self._images(self._split(x), inverse=False), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return cat(self._images(self._split(y), inverse=True), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        stretches = self._stretches(self._split(x, "x"), self._split(y, "y"))
        sums = [
            sum_rightmost(stretch, self.event_dim - part.event_dim) if part.event_dim < self.event_dim else stretch
            for part, stretch in zip(self.transforms, stretches, strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        if dim < 0:
            return cat(sums, dim)
        total: Tensor = sum(sums)  # type: ignore[assignment]  # of one tensor at least
        return total

    @constraints.dependent_property
    def domain(self) -> Constraint:
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Constraint:
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)


class StackTransform(_Parts):
    """Maps of the slices along `dim`, as `stack` joins them.

    Shapes: (*) -> (*).  Source: torch.distributions.StackTransform.

    >>> import engine as torch
    >>> D = torch.distributions
    >>> D.StackTransform([D.ExpTransform(), D.identity_transform], dim=1)(torch.zeros(3, 2))
    tensor([[1., 0.],
            [1., 0.],
            [1., 0.]])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _split(self, value: Tensor, name: str = "") -> list[Tensor]:
        """The slices.  Raises AssertionError where they are not as many as the maps."""
        self._check_dim(value, name)
        size, count = value.size(self.dim), len(self.transforms)
        if size != count:
            raise AssertionError(f"{name or 'x'}.size({self.dim}) = {size} must equal len(transforms) {count}")
        return [value.select(self.dim, number) for number in range(size)]

    def _call(self, x: Tensor) -> Tensor:
        return stack(self._images(self._split(x), inverse=False), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stack(self._images(self._split(y), inverse=True), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return stack(self._stretches(self._split(x, "x"), self._split(y, "y")), self.dim)

    @constraints.dependent_property
    def domain(self) -> Constraint:
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Constraint:
        return constraints.stack([part.codomain for part in self.transforms], self.dim)
