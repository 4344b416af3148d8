"""Averages of the weights of a training: of all since a moment (SWA), or the younger the more (EMA).

Source: torch.optim.swa_utils.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any

from ..api.creation import creation
from ..arrays.array import int64
from ..nn.layers.normalization import _BatchNorm
from ..nn.module import Module
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from .optimizer import Optimizer
from .scheduler import LRScheduler, spread

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _need_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The step of an exponential moving average, of one tensor: decay * average + (1 - decay) * weight.

    Shapes: (*), (*), number -> (*) of the function.  Raises ValueError for a decay outside 0 … 1.
    Source: torch.optim.swa_utils.get_ema_avg_fn.

    >>> import engine as torch
    >>> get_ema_avg_fn(0.75)(torch.tensor(4.0), torch.tensor(8.0), 1)
    tensor(5.)
    """
    _need_decay(decay)

    def ema_update(average: Tensor, weight: Tensor, count: Any) -> Tensor:
        return decay * average + (1 - decay) * weight

    function: Average = no_grad()(ema_update)
    return function


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """The same step for a list of tensors, which are updated in place.

    Raises ValueError for a decay outside 0 … 1.  Source: torch.optim.swa_utils.get_ema_multi_avg_fn.

    >>> import engine as torch
    >>> averages = [torch.tensor([4.0]), torch.tensor([0.0])]
    >>> get_ema_multi_avg_fn(0.75)(averages, [torch.tensor([8.0]), torch.tensor([4.0])], 1)
    >>> averages
    [tensor([5.]), tensor([1.])]
    """
    _need_decay(decay)

    def ema_update(averages: Sequence[Tensor], weights: Sequence[Tensor], count: Any) -> None:
        for average, weight in zip(averages, weights, strict=True):
            if average.is_floating_point():
                average.lerp_(weight, 1 - decay)
            else:
                average.copy_(average * decay + weight * (1 - decay))

    function: MultiAverage = no_grad()(ema_update)
    return function


def get_swa_avg_fn() -> Average:
    """The step of a plain average of one tensor, which already contains `count` values.

    Shapes: (*), (*), number -> (*) of the function.  Source: torch.optim.swa_utils.get_swa_avg_fn; Izmailov et al.,
    2018.

    >>> import engine as torch
    >>> get_swa_avg_fn()(torch.tensor(4.0), torch.tensor(8.0), 1)
    tensor(6.)
    """

    def swa_update(average: Tensor, weight: Tensor, count: Any) -> Tensor:
        return average + (weight - average) / (count + 1)

    function: Average = no_grad()(swa_update)
    return function


def get_swa_multi_avg_fn() -> MultiAverage:
    """The same step for a list of tensors, which are updated in place.

    Source: torch.optim.swa_utils.get_swa_multi_avg_fn; Izmailov et al., 2018.

    >>> import engine as torch
    >>> averages = [torch.tensor([4.0]), torch.tensor([0.0])]
    >>> get_swa_multi_avg_fn()(averages, [torch.tensor([8.0]), torch.tensor([4.0])], 1)
    >>> averages
    [tensor([6.]), tensor([2.])]
    """

    def swa_update(averages: Sequence[Tensor], weights: Sequence[Tensor], count: Any) -> None:
        for average, weight in zip(averages, weights, strict=True):
            if average.is_floating_point():
                average.lerp_(weight, 1 / float(count + 1))
            else:
                average.copy_(average + (weight - average) / (count + 1))

    function: MultiAverage = no_grad()(swa_update)
    return function


class AveragedModel(Module):
    """A copy of `model` whose weights are the average of those passed to `update_parameters`.

    `avg_fn(average, weight, count)` gives the new average of a tensor, `multi_avg_fn` writes those of lists; the
    default is the plain mean.  Buffers are averaged with `use_buffers`, else copied.

    Source: torch.optim.swa_utils.AveragedModel; Izmailov et al., 2018.

    >>> import engine as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> averaged = AveragedModel(model)
    >>> for weight in (2.0, 4.0):
    ...     _ = model.weight.data.fill_(weight)
    ...     averaged.update_parameters(model)
    >>> averaged(torch.ones(1)).item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", creation.tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged copy."""
        return self.module(*args, **kwargs)

    def _averaged(self, model: Module) -> Iterator[Tensor]:
        return itertools.chain(model.parameters(), model.buffers() if self.use_buffers else ())

    def update_parameters(self, model: Module) -> None:
        """Take the weights of `model` into the average."""
        averages = [p.detach() for p in self._averaged(self.module)]
        weights = [p.detach().to(a.device) for p, a in zip(self._averaged(model), averages, strict=False)]
        if not self.n_averaged:
            for average, weight in zip(averages, weights, strict=False):
                average.copy_(weight)
        elif self.avg_fn is not None:
            for average, weight in zip(averages, weights, strict=True):
                average.copy_(self.avg_fn(average, weight, self.n_averaged.to(average.device)))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            for places in _alike(averages):
                chosen = [averages[i] for i in places], [weights[i] for i in places]
                update(*chosen, self.n_averaged.to(averages[places[0]].device))
        if not self.use_buffers:
            for mine, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.detach().copy_(theirs.detach().to(mine.device))
        self.n_averaged += 1


def _alike(tensors: Sequence[Tensor]) -> list[list[int]]:
    """The places of tensors of one device and dtype."""
    groups: dict[Any, list[int]] = {}
    for place, tensor in enumerate(tensors):
        groups.setdefault((str(tensor.device), tensor.dtype.name), []).append(place)
    return list(groups.values())


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of the batch norms of `model` in one pass over the data.

    Source: torch.optim.swa_utils.update_bn.

    >>> import engine as torch
    >>> model = torch.nn.BatchNorm1d(1)
    >>> update_bn([torch.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    norms = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not norms:
        return
    for module in norms:
        module.reset_running_stats()
        module.momentum = None  # a mean of all batches
    trained = model.training
    model.train()
    with no_grad():
        for batch in loader:
            first = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(first if device is None else first.to(device))
    for module, momentum in norms.items():
        module.momentum = momentum
    model.train(trained)


class SWALR(LRScheduler):
    """Go to the rate `swa_lr` in `anneal_epochs` epochs, along a cosine or a line, and stay there.

    Raises ValueError for another strategy, or a negative number of epochs.  Source: torch.optim.swa_utils.SWALR;
    Izmailov et al., 2018.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> rates = []
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     rates.append(schedule.get_last_lr()[0])
    >>> rates
    [0.75, 0.5, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        rates = spread("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """How far of the way a step is."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        """The rates at this epoch; that of the start is found from the present one."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
