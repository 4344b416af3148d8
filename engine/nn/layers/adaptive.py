"""Classes by frequency: the frequent ones in a head, the others in tails."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...tensor.tensor import Tensor
from .. import functional as F
from ..container import ModuleList, Sequential
from ..module import Module
from .linear import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of many classes, few of which are frequent, and their mean loss.

    `cutoffs` say where a tail begins: the classes below the first one, and one more for each tail, are in the head; a
    tail sees in_features / div_value ** number features.  Shapes: (N, in_features), (N) -> (N) and ().  Raises
    ValueError for cutoffs that do not rise.  Source: torch.nn.AdaptiveLogSoftmaxWithLoss.

    >>> import engine as torch
    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 10, cutoffs=[2, 5])
    >>> layer.head, [tuple(weight.shape) for weight in layer.tail.parameters()]
    (Linear(in_features=16, out_features=4, bias=False), [(4, 16), (3, 4), (1, 16), (5, 1)])
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        limits = _checked(list(cutoffs), n_classes)
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*limits, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = limits[0], len(limits)
        self.head_size = self.shortlist_size + self.n_clusters
        where = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(pairwise(self.cutoffs), 1):
            size = int(in_features // div_value**number)
            narrow = Linear(in_features, size, bias=False, **where)
            self.tail.append(Sequential(narrow, Linear(size, high - low, bias=False, **where)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for narrow, wide in self.tail:
            narrow.reset_parameters()
            wide.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """(the logarithm of each target's probability, the mean of what they lack)."""
        _fits(input_, target_)
        single = target_.dim() == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        output, places = self._in_tails(input, target)
        head = F.log_softmax(self.head(input), dim=1)
        output += head.gather(1, places.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _in_tails(self, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """(what the tails say of their targets, 0 for those of the head; the place of each target in the head)."""
        output, places, count = input.new_zeros(target.size(0)), target.new_empty(target.size(0)), 0
        for number, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            inside = (target >= low) & (target < high)
            rows = inside.nonzero().squeeze()
            if rows.numel() == 0:
                continue
            count += rows.numel()
            if number == 0:
                places.index_copy_(0, rows, target[inside])
                continue
            log_probs = F.log_softmax(self.tail[number - 1](input.index_select(0, rows)), dim=1)
            places.index_fill_(0, rows, self.shortlist_size + number - 1)
            output.index_copy_(0, rows, log_probs.gather(1, (target[inside] - low).unsqueeze(1)).squeeze(1))
        if count != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        return output, places

    def _full(self, input: Tensor, head_output: Tensor) -> Tensor:
        out = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            tail = F.log_softmax(self.tail[number](input), dim=1)
            out[:, low:high] = tail + head[:, self.shortlist_size + number].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes: (N, n_classes)."""
        return self._full(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row; the tails are asked only where the head points to one."""
        head_output = self.head(input)
        output = head_output.argmax(dim=1)
        elsewhere = output >= self.shortlist_size
        if not elsewhere.any():
            return output
        if elsewhere.all():
            return self._full(input, head_output).argmax(dim=1)
        output[elsewhere] = self._full(input[elsewhere], head_output[elsewhere]).argmax(dim=1)
        return output


def _checked(cutoffs: list[int], classes: int) -> list[int]:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    rising = cutoffs == sorted(set(cutoffs)) and all(int(one) == one for one in cutoffs)
    if not rising or cutoffs[0] <= 0 or cutoffs[-1] > classes - 1:
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
            "is between 1 and n_classes-1"
        )
    return cutoffs


def _fits(input: Tensor, target: Tensor) -> None:
    """Raise torch's RuntimeError for shapes that do not go together."""
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with size "
            f"{input.size()}"
        )
