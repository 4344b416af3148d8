"""Losses of margins, made of steps of their own.  Source: torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...api.math import arithmetic as am
from ...arrays import errors
from ...ops import choice as ch
from ...ops import elementwise as eo
from ...ops import reduction as ro
from ...ops import scalar as sc
from ...tensor.tensor import Tensor
from .distance import pairwise_distance
from .loss import known, reduced, reduction_of

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """x where the target is 1, max(0, margin - x) where it is -1.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.hinge_embedding_loss.

    >>> import engine as torch
    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5, 0.5]), torch.tensor([1, -1]))
    tensor(0.5000)
    """
    reduction = known(reduction_of(size_average, reduce, reduction))
    nothing = ch.zero(input.detach())
    apart = ch.where(ch.ne(target, 1), ch.clamp_min(eo.sub(margin, input), 0), nothing)
    together = ch.where(ch.ne(target, -1), input, nothing)
    return reduced(eo.add(apart, together), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin - t (x1 - x2)): the target 1 wants x1 to be the larger, -1 the smaller.

    Shapes: (*), (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the numbers of dimensions differ.
    Source: torch.nn.functional.margin_ranking_loss.

    >>> import engine as torch
    >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    reduction = known(reduction_of(size_average, reduce, reduction))
    if not input1.dim() == input2.dim() == target.dim():
        raise errors.runtime(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    product = eo.mul(eo.neg(target), eo.sub(input1, input2))
    return reduced(ch.clamp_min(sc.add_number(product, margin), 0), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - margin) where it is -1.

    Shapes: ([N,] D), ([N,] D), ([N]) -> (), with reduction "none" ([N]).  Raises RuntimeError for inputs or a target of
    other dimensions.  Source: torch.nn.functional.cosine_embedding_loss.

    >>> import engine as torch
    >>> x = torch.tensor([[1.0, 0.0]])
    >>> torch.nn.functional.cosine_embedding_loss(x, x, torch.tensor([-1]))
    tensor(1.)
    """
    reduction = known(reduction_of(size_average, reduce, reduction))
    rank = target.dim()
    if rank > 1:
        raise errors.runtime("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != rank + 1 or input2.dim() != rank + 1:
        raise errors.runtime(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )

    def dots(a: Tensor, b: Tensor) -> Any:
        return ro.sum_dim(eo.mul(a, b), rank, False)

    product = dots(input1, input2)
    squares = [sc.add_number(dots(x, x), 1e-12) for x in (input1, input2)]
    cosine = eo.div(product, eo.sqrt(eo.mul(*squares)))
    nothing = ch.zero(cosine.detach())
    together = ch.where(ch.eq(target, 1), am.sub(1, cosine), nothing)
    apart = ch.where(ch.eq(target, -1), ch.clamp_min(sc.sub_number(cosine, margin), 0), nothing)
    return reduced(eo.add(together, apart), reduction)


def _distances(
    distance: Callable[[Tensor, Tensor], Any], anchor: Tensor, positive: Tensor, negative: Tensor, margin: float,
    swap: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """How far the positive and the negative are from the anchor; raises torch's errors."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ranks = (anchor.dim(), positive.dim(), negative.dim())
    if len(set(ranks)) > 1:
        raise errors.runtime(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ch.minimum(far, distance(positive, negative))
    return near, far


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin + |anchor - positive| - |anchor - negative|).

    `swap` takes the distance of positive and negative where that is the smaller.

    Shapes: ([N,] D), ([N,] D), ([N,] D) -> (), with reduction "none" ([N]).  Raises RuntimeError where the numbers of
    dimensions differ.  Source: torch.nn.functional.triplet_margin_loss; Balntas et al., 2016.

    >>> import engine as torch
    >>> near, far = torch.zeros(1, 2), torch.full((1, 2), 3.0)
    >>> torch.nn.functional.triplet_margin_loss(near, near, far)
    tensor(0.)
    """
    reduction = known(reduction_of(size_average, reduce, reduction))
    near, far = _distances(partial(pairwise_distance, p=p, eps=eps), anchor, positive, negative, margin, swap)
    return reduced(ch.clamp_min(eo.sub(sc.add_number(near, margin), far), 0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """triplet_margin_loss with a distance other than `pairwise_distance`.

    Shapes: ([N,] D), ([N,] D), ([N,] D) -> (), with reduction "none" ([N]).  Raises RuntimeError where the numbers of
    dimensions differ.  Source: torch.nn.functional.triplet_margin_with_distance_loss; Balntas et al., 2016.

    >>> import engine as torch
    >>> near, far = torch.zeros(1, 2), torch.full((1, 2), 3.0)
    >>> torch.nn.functional.triplet_margin_with_distance_loss(near, near, far)
    tensor(0.)
    """
    reduction = known(reduction)
    near, far = _distances(distance_function or pairwise_distance, anchor, positive, negative, margin, swap)
    return reduced(ch.clamp_min(eo.sub(eo.add(near, margin), far), 0), reduction)
