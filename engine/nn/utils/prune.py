"""torch.nn.utils.prune: parameters of which elements, or whole slices, are set to 0, and the hooks that do it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

from ...api.creation.fills import ones_like, zeros_like
from ...api.random.draws import rand, rand_like
from ...tensor.tensor import Tensor
from ..module import Module
from .vector import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A hook that multiplies a parameter by a mask before each forward.  Source: torch.nn.utils.prune.

    `apply` puts it on a module: the parameter goes on as `name_orig`, the mask is the buffer `name_mask`, and `name` is
    their product.  A class below it says in `compute_mask` what is kept, and in PRUNING_TYPE what it is asked about
    when something is set to 0 already: "unstructured" what is left, "structured" the slices along `dim` that are left,
    "global" everything.

    >>> import engine as torch
    >>> class Negative(torch.nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         return default_mask * (t > 0)
    >>> Negative().prune(torch.tensor([1.0, -1.0]))
    tensor([1., -0.])
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: Any

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The new mask, from the importance of each element and the mask so far: 1 for elements that are kept."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter of the module, with 0 where the mask has it."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = getattr(module, f"{self._tensor_name}_mask"), getattr(module, f"{self._tensor_name}_orig")
        result: Tensor = mask.to(dtype=original.dtype) * original
        return result

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> Any:
        """Put such a hook on a module, after those that are on it; the result is the hook."""
        method = _joined(_taken_off(module, name), cls, name, args, kwargs)
        original = getattr(module, name)
        scores = _scores(importance_scores, original, f"parameter {name} of {module}")
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            before = ones_like(original)
        else:
            before = getattr(module, f"{name}_mask").detach().clone()
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(scores, default_mask=before))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, getattr(module, f"{name}_orig"))
                del module._parameters[f"{name}_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor with 0 where the method puts it."""
        scores = _scores(importance_scores, t, "tensor t")
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the product the parameter, for good."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Any = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def _scores(scores: Tensor | None, tensor: Tensor, what: str) -> Tensor:
    if scores is None:
        return tensor
    if scores.shape != tensor.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, got {scores.shape} vs {tensor.shape}"
        )
    return scores


def _taken_off(module: Module, name: str) -> BasePruningMethod | None:
    """The hook that sets a parameter, which is no longer on its module."""
    hooks: Any = module._forward_pre_hooks
    keys = [key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(keys) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    return hooks.pop(keys[0]) if keys else None


def _joined(old: BasePruningMethod | None, cls: Any, name: str, args: Any, kwargs: Any) -> BasePruningMethod:
    """A new method of a class, behind the one that was there."""
    method: BasePruningMethod = cls(*args, **kwargs)
    method._tensor_name = name
    if old is None:
        return method
    container = old if isinstance(old, PruningContainer) else PruningContainer(old)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Several methods in turn; each works on the elements that the previous ones left.

    Source: torch.nn.utils.prune.PruningContainer.

    >>> import engine as torch
    >>> prune = torch.nn.utils.prune
    >>> layer = torch.nn.Linear(4, 1)
    >>> for _ in range(2):
    ...     _ = prune.l1_unstructured(layer, "weight", amount=1)
    >>> int(layer.weight_mask.sum())
    2
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Put another one behind those that are there."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        place = _scope(method, t, default_mask)
        part = method.compute_mask(t[place], default_mask=default_mask[place])
        mask[place] = part.to(dtype=mask.dtype)
        return mask


def _scope(method: Any, t: Tensor, mask: Tensor) -> Any:
    """Which elements a method is asked about, as an index."""
    if method.PRUNING_TYPE == "unstructured":
        return mask.eq(1)
    everything = (slice(None),) * t.dim()
    if method.PRUNING_TYPE == "global":
        return everything
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + t.dim() if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    left = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    return (*everything[:dim], left, *everything[dim + 1 :])


class Identity(BasePruningMethod):
    """Sets nothing to 0, but gives the parameter the names of a pruned one.

    Source: torch.nn.utils.prune.Identity.

    >>> import engine as torch
    >>> torch.nn.utils.prune.Identity().prune(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]  # torch's
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """The base of the methods that set a number of elements, or a fraction of them, to 0."""

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if float(amount) < 0 or (not isinstance(amount, Integral) and float(amount) > 1):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount: Any = amount

    def count(self, size: int) -> int:
        """How many of `size`.  Raises ValueError where they are not as many."""
        count = int(self.amount) if isinstance(self.amount, Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return count


class _UnstructuredMethod(_Amount):
    PRUNING_TYPE = "unstructured"

    def without(self, t: Tensor, default_mask: Tensor, least: Callable[[int], Tensor]) -> Tensor:
        """The mask without the elements at the places that `least` gives for their number."""
        count = self.count(t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[least(count)] = 0
        return mask


class RandomUnstructured(_UnstructuredMethod):
    """Elements chosen at random.

    Source: torch.nn.utils.prune.RandomUnstructured.

    >>> import engine as torch
    >>> torch.nn.utils.prune.RandomUnstructured(amount=2).prune(torch.ones(3)).sum()
    tensor(1.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return self.without(t, default_mask, lambda count: rand_like(t).view(-1).topk(k=count).indices)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:  # type: ignore[override]  # torch's
        return super().apply(module, name, amount=amount)


class L1Unstructured(_UnstructuredMethod):
    """Elements with the smallest absolute values.

    Source: torch.nn.utils.prune.L1Unstructured.

    >>> import engine as torch
    >>> torch.nn.utils.prune.L1Unstructured(amount=2).prune(torch.tensor([3.0, -1.0, 2.0]))
    tensor([3., -0., 0.])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return self.without(t, default_mask, lambda count: t.abs().view(-1).topk(k=count, largest=False).indices)

    @classmethod
    def apply(  # type: ignore[override]  # torch's
        cls, module: Module, name: str, amount: Any, importance_scores: Tensor | None = None
    ) -> Any:
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _StructuredMethod(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def only(self, t: Tensor, default_mask: Tensor, slices: Callable[[int], Tensor | None]) -> Tensor:
        """The mask with the slices along `dim` alone that `slices` gives, an index, for the number of those that go."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = self.count(t.shape[self.dim])
        index = slices(count)
        if count == 0:
            return default_mask
        mask = zeros_like(t)
        mask.movedim(self.dim, 0)[index] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_StructuredMethod):
    """Randomly chosen slices along `dim`.

    Source: torch.nn.utils.prune.RandomStructured.

    >>> import engine as torch
    >>> torch.nn.utils.prune.RandomStructured(amount=1, dim=0).prune(torch.ones(3, 2)).sum()
    tensor(4.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        def draw(count: int) -> Tensor | None:
            if count == 0:
                return None
            numbers = rand(t.shape[self.dim])
            return numbers > numbers.kthvalue(k=count).values

        return self.only(t, default_mask, draw)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]  # torch's
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_StructuredMethod):
    """Slices along `dim` with the smallest `n`-norms.

    Source: torch.nn.utils.prune.LnStructured.

    >>> import engine as torch
    >>> torch.nn.utils.prune.LnStructured(amount=1, n=2, dim=0).prune(torch.tensor([[3.0, 4.0], [1.0, 2.0]]))
    tensor([[3., 4.],
            [0., 0.]])
    """

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        def largest(count: int) -> Tensor:
            dim = range(t.dim())[self.dim]
            norm = t.norm(p=self.n, dim=[d for d in range(t.dim()) if d != dim])
            return norm.topk(k=t.shape[dim] - count, largest=True).indices

        return self.only(t, default_mask, largest)

    @classmethod
    def apply(  # type: ignore[override]  # torch's
        cls, module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """The elements of a given mask.

    Source: torch.nn.utils.prune.CustomFromMask.

    >>> import engine as torch
    >>> torch.nn.utils.prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.tensor([3.0, 4.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]  # torch's
        return super().apply(module, name, mask=mask)


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
    """Return whether a parameter of the module, or of one in it, is pruned.

    Source: torch.nn.utils.prune.is_pruned.

    >>> import engine as torch
    >>> torch.nn.utils.prune.is_pruned(torch.nn.Linear(2, 1))
    False
    """
    hooks = (hook for _, part in module.named_modules() for hook in part._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
