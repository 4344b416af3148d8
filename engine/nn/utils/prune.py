"""torch.nn.utils.prune: parameters of which elements, or whole slices, are held at 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ...api.creation.filled import ones_like
from ...tensor.tensor import Tensor
from ..module import Module
from .pruning import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
)
from .vector import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip

M = TypeVar("M", bound=Module)


def identity(module: M, name: str) -> M:
    """Mark a parameter as pruned without setting anything to 0; returns the module.

    Source: torch.nn.utils.prune.identity.

    >>> import engine as torch
    >>> sorted(name for name, _ in torch.nn.utils.prune.identity(torch.nn.Linear(2, 1), "bias").named_parameters())
    ['bias_orig', 'weight']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Any) -> M:
    """Hold `amount` elements of a parameter at 0 (a fraction of them if it is not an integer), chosen at random.

    Raises ValueError for an amount that is negative, or more than there is.
    Source: torch.nn.utils.prune.random_unstructured.

    >>> import engine as torch
    >>> int(torch.nn.utils.prune.random_unstructured(torch.nn.Linear(3, 2), "weight", amount=0.5).weight_mask.sum())
    3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: M, name: str, amount: Any, importance_scores: Tensor | None = None) -> M:
    """Hold the elements with the smallest absolute values at 0, or those with the smallest scores.

    Raises ValueError for an amount that is negative, or more than there is.
    Source: torch.nn.utils.prune.l1_unstructured.

    >>> import engine as torch
    >>> layer = torch.nn.Linear(3, 1)
    >>> _ = torch.nn.init.constant_(layer.weight, 2.0)
    >>> layer = torch.nn.utils.prune.l1_unstructured(layer, "weight", 1, torch.tensor([[3.0, 1.0, 2.0]]))
    >>> layer.weight_mask
    tensor([[1., 0., 1.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Any, dim: int) -> M:
    """Hold randomly chosen slices along `dim` at 0.

    Raises ValueError for an amount that is negative, or more than there is, IndexError where there is no dimension
    `dim`.  Source: torch.nn.utils.prune.random_structured.

    >>> import engine as torch
    >>> layer = torch.nn.utils.prune.random_structured(torch.nn.Linear(3, 2), "weight", amount=1, dim=1)
    >>> layer.weight_mask.sum(1)
    tensor([2., 2.])
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: M, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> M:  # fmt: skip
    """Hold the slices along `dim` with the smallest `n`-norms at 0.

    Raises ValueError for an amount that is negative, or more than there is, IndexError where there is no dimension
    `dim`.  Source: torch.nn.utils.prune.ln_structured.

    >>> import engine as torch
    >>> layer = torch.nn.utils.prune.ln_structured(torch.nn.Linear(3, 2), "weight", amount=0.5, n=2, dim=0)
    >>> int(layer.weight_mask.sum())
    3
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters together, as if they were one: the elements to remove are chosen among all of them.

    Raises TypeError for a method that is not unstructured.  Source: torch.nn.utils.prune.global_unstructured.

    >>> import engine as torch
    >>> one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    >>> prune = torch.nn.utils.prune
    >>> prune.global_unstructured([(one, "weight"), (two, "weight")], prune.L1Unstructured, amount=0.25)
    >>> int(one.weight_mask.sum() + two.weight_mask.sum())
    6
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    places = list(parameters)
    together = parameters_to_vector([scores.get(place, getattr(*place)) for place in places])
    before = [getattr(module, f"{name}_mask", ones_like(getattr(module, name))) for module, name in places]
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    masks = container.compute_mask(together, parameters_to_vector(before))
    for (module, name), mask in zip(places, masks.split([one.numel() for one in before]), strict=True):
        custom_from_mask(module, name, mask=mask.view_as(getattr(module, name)))


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Hold the elements at 0 where a mask is 0.

    Source: torch.nn.utils.prune.custom_from_mask.

    >>> import engine as torch
    >>> layer = torch.nn.utils.prune.custom_from_mask(torch.nn.Linear(1, 2), "bias", torch.tensor([0, 1]))
    >>> layer.bias_mask
    tensor([0., 1.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: M, name: str) -> M:
    """Make a pruned parameter ordinary again; its zeros stay but are no longer enforced.

    Raises ValueError for a parameter that is not pruned.  Source: torch.nn.utils.prune.remove.

    >>> import engine as torch
    >>> layer = torch.nn.utils.prune.identity(torch.nn.Linear(2, 1), "bias")
    >>> sorted(name for name, _ in torch.nn.utils.prune.remove(layer, "bias").named_parameters())
    ['bias', 'weight']
    """
    hooks: Any = module._forward_pre_hooks
    for key, hook in hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one in it, is pruned.

    Source: torch.nn.utils.prune.is_pruned.

    >>> import engine as torch
    >>> torch.nn.utils.prune.is_pruned(torch.nn.Linear(2, 1))
    False
    """
    hooks = (hook for _, part in module.named_modules() for hook in part._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
