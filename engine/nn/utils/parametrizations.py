"""Weights of a given norm, of spectral norm 1, or orthogonal.  Source: torch.nn.utils.parametrizations."""

from __future__ import annotations

from typing import Any

from ...api.creation import fills
from ...api.creation.counting import eye
from ...api.linalg.spectrum import matrix_exp
from ...arrays.array import xp
from ...namespaces import linalg
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor, tensor_of
from ..functional import normalize
from ..layers.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

MAPS = ("matrix_exp", "cayley", "householder")
NO_WAY_BACK = (
    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
    "use_trivialization=False."
)


def norm_except(weight: Tensor, dim: int) -> Tensor:
    """The 2-norm over all dims but `dim`, kept as dims of size 1; over all of them for -1."""
    if dim == -1:
        return weight.norm(2)
    return weight.norm(2, [d for d in range(weight.dim()) if d != dim], keepdim=True)


def weighed(direction: Tensor, size: Tensor, dim: int) -> Tensor:
    """The weight of a direction and a size."""
    return direction * (size / norm_except(direction, dim))


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weighed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight as a direction times a size (`original1`, `original0`), with one size per index of `dim`.

    Source: torch.nn.utils.parametrizations.weight_norm; Salimans and Kingma, 2016.

    >>> import engine as torch
    >>> layer = weight_norm(torch.nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape, layer.parametrizations.weight.original1.shape
    (torch.Size([2, 1]), torch.Size([2, 3]))
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state: dict[str, Any], prefix: str, *_: Any) -> None:
        """Take in what the older `torch.nn.utils.weight_norm` has saved."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state for key in old):
            for place, key in enumerate(old):
                state[f"{prefix}parametrizations.{name}.original{place}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        rank = weight.ndim
        if not -rank <= dim < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{rank}, {rank - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % rank
        self.eps = eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            height, width = matrix.shape
            u, v = matrix.new_empty(height).normal_(0, 1), matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        """The weight with `dim` as rows, all else as columns."""
        if self.dim:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        """Turn `_u` and `_v` towards the first singular vectors."""
        with no_grad():
            for _ in range(count):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.T.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / self._u.clone().dot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def rows_of(module: Module, dim: int | None) -> int:
    """The dimension of a weight that counts the outputs."""
    transposed = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
    return dim if dim is not None else 1 if isinstance(module, transposed) else 0


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, tracked by one step of power iteration per call in training.

    Raises ValueError where the power iterations are not positive.
    Source: torch.nn.utils.parametrizations.spectral_norm; Miyato et al., 2018.

    >>> import engine as torch
    >>> layer = spectral_norm(torch.nn.Linear(3, 3))
    >>> bool((torch.linalg.matrix_norm(layer.eval().weight, 2) - 1).abs() < 0.1)
    True
    """
    weight = _need_weight(module, name)
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, rows_of(module, dim), eps))


def _need_weight(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


class _Orthogonal(Module):
    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        matrix = self._reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if hasattr(self, "base"):
            matrix = self.base @ matrix
        return matrix.mT if wide else matrix

    def _rotated(self, tall: Tensor) -> Tensor:
        """The exponential, or the Cayley map, of the skew part of a lower triangle."""
        n, k = tall.shape[-2:]
        lower = tall.tril()
        if n != k:
            lower = _beside(lower, lower.new_zeros(*lower.shape[:-2], n, n - k))
        skew = lower - lower.mT
        if self.orthogonal_map == "matrix_exp":
            matrix = matrix_exp(skew)
        else:
            one = eye(n, dtype=skew.dtype, device=skew.device)
            matrix = linalg.solve(one - skew * 0.5, one + skew * 0.5)
        return matrix[..., :k] if n != k else matrix

    def _reflected(self, tall: Tensor) -> Tensor:
        """A product of reflections, whose vectors stand under the diagonal; on it are signs."""
        vectors = tall.tril(-1)
        factors = 2.0 / (1.0 + (vectors * vectors).sum(-2))
        matrix = linalg.householder_product(vectors, factors)
        return matrix * tall.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, Q: Tensor) -> Tensor:
        with no_grad():
            return self._undone(Q)

    def _undone(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(NO_WAY_BACK)
            vectors = _reflections(tall)
            return vectors.mT if wide else vectors
        n, k = tall.shape[-2:]
        if n != k:
            tall = _orthogonalised(_beside(tall, tall.new_empty(*tall.shape[:-2], n, n - k).normal_(0, 1)))
        elif _is_orthogonal(tall):
            tall = tall.clone()
        else:
            tall = _orthogonalised(tall)
        self.base = tall
        start = fills.zeros_like(Q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _beside(left: Tensor, right: Tensor) -> Tensor:
    """Two matrices in one."""
    result = left.new_zeros(*left.shape[:-1], left.size(-1) + right.size(-1))
    result[..., : left.size(-1)] = left
    result[..., left.size(-1) :] = right
    return result


def _is_orthogonal(matrix: Tensor) -> bool:
    n, k = matrix.shape[-2:]
    one = eye(k, dtype=matrix.dtype, device=matrix.device)
    near = 10.0 * n * float(xp.finfo(matrix.dtype.numpy).eps)
    return bool((matrix.mT @ matrix).allclose(one, atol=near))


def _orthogonalised(matrix: Tensor) -> Tensor:
    """The Q of a QR decomposition in which the diagonal of R is not negative."""
    factor, upper = linalg.qr(matrix)
    signed: Tensor = factor * upper.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return signed


def _reflections(tall: Tensor) -> Tensor:
    """The vectors whose reflections make the Q of a matrix, under the diagonal, and signs on it."""
    raw, factors = xp.linalg.qr(tall._array, mode="raw")
    result = tensor_of(xp.ascontiguousarray(raw.swapaxes(-1, -2)))
    diagonal = result.diagonal(dim1=-2, dim2=-1)
    diagonal.sign_()
    diagonal[tensor_of(factors).eq(0.0)] *= -1
    return result


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Compute a weight as a matrix (or a batch of them) with orthonormal columns, or rows if it is wide.

    `orthogonal_map` is how it is made: "matrix_exp", "cayley" or "householder".

    Raises ValueError for fewer than two dimensions, or another map.
    Source: torch.nn.utils.parametrizations.orthogonal; Lezcano, 2019.

    >>> import engine as torch
    >>> weight = orthogonal(torch.nn.Linear(2, 4)).weight
    >>> torch.allclose(weight.T @ weight, torch.eye(2), atol=1e-5)
    True
    """
    weight = _need_weight(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    parametrization = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, parametrization, unsafe=True)
