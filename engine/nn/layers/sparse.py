"""Tables of vectors, looked up by number."""

from __future__ import annotations

from typing import Any, Self

from ...arrays.session import unrecorded
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter, fresh

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """The base of Embedding and EmbeddingBag: the table, and the row for padding."""

    def _begin(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, weight: Tensor | None, frozen: bool,
        device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if padding_idx >= num_embeddings if padding_idx > 0 else padding_idx < -num_embeddings:
                raise AssertionError(f"{self._letter}adding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if weight is None:
            with unrecorded():
                self.weight = fresh(num_embeddings, embedding_dim, dtype=dtype, device=device)
                self.weight.requires_grad = not frozen
                self.reset_parameters()
        else:
            if list(weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight, requires_grad=not frozen)

    _letter = "P"

    def reset_parameters(self) -> None:
        """Draw the table anew from a normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _summary(self, *parts: str) -> str:
        """The sizes and what is not the default, for `extra_repr`."""
        return ", ".join(part for part in (f"{self.num_embeddings}, {self.embedding_dim}", *parts) if part)

    def _padding(self) -> str:
        return f"padding_idx={self.padding_idx}" if self.padding_idx is not None else ""

    def _rest(self) -> list[str]:
        return [
            f"max_norm={self.max_norm}" if self.max_norm is not None else "",
            f"norm_type={self.norm_type}" if self.norm_type != 2 else "",
            f"scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq is not False else "",
        ]


def _sides(embeddings: Tensor) -> tuple[int, int]:
    """The two sizes of a table; raises torch's AssertionError for other shapes."""
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """A vector for each of `num_embeddings` numbers.

    Shapes: (*) -> (*, embedding_dim), numbers from 0 to num_embeddings - 1.  Raises IndexError for other numbers,
    AssertionError for a `padding_idx` that is none of them.  Source: torch.nn.Embedding.

    >>> Embedding(10, 3)
    Embedding(10, 3)
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._begin(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """From shape (...) of numbers to (..., embedding_dim)."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        return self._summary(self._padding(), *self._rest(), "sparse=True" if self.sparse is not False else "")

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Self:
        """A table that is given, and by default not trained."""
        return cls(*_sides(embeddings), _weight=embeddings, _freeze=freeze, **options)


class EmbeddingBag(_Table):
    """The sum, mean or largest of the vectors of bags of numbers.

    Shapes: (B, L) -> (B, embedding_dim); or (D) and offsets (B) -> (B, embedding_dim).  Raises AssertionError for a
    `padding_idx` that is none of the numbers.  Source: torch.nn.EmbeddingBag.

    >>> import engine as torch
    >>> bag = torch.nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0], [3.0]]))
    >>> bag(torch.tensor([[0, 1]]))
    tensor([[2.]])
    """

    _letter = "p"

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._begin(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """From shape (bags, numbers), or (numbers,) with the offset of each bag, to (bags, embedding_dim)."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return self._summary(*self._rest(), f"mode={self.mode!r}", self._padding())

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Self:
        """A table that is given, and by default not trained."""
        layer = cls(*_sides(embeddings), _weight=embeddings, **options)
        layer.weight.requires_grad = not freeze
        return layer
