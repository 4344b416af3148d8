"""The older weight and spectral norms: hooks that set the weight before every forward.

Source: torch.nn.utils.weight_norm, torch.nn.utils.spectral_norm.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...namespaces import linalg
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor
from ..functional import normalize
from ..module import Module
from ..parameter import Parameter, is_lazy
from .parametrizations import norm_except, rows_of, weighed

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]

DEPRECATED = "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`."


NOT_YET = (
    "The module passed to `{}` can't have uninitialized parameters. Make sure to run the dummy forward before applying "
    "{} normalization"
)


class _Hook:
    """A hook that sets one weight of a module before each forward."""

    word = ""

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def once(self, module: Module) -> None:
        """Raise torch's error where the weight has such a hook already."""
        for hook in module._forward_pre_hooks.values():
            if type(hook) is type(self) and hook.name == self.name:
                raise RuntimeError(f"Cannot register two {self.word} hooks on the same parameter {self.name}")


class WeightNorm(_Hook):
    """A weight of a direction and a size: parameters `weight_v` and `weight_g`."""

    word = "weight_norm"

    def compute_weight(self, module: Module) -> Tensor:
        """The weight as it is now."""
        return weighed(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    def begin(self, module: Module) -> None:
        """Replace the parameter by the two."""
        weight = getattr(module, self.name)
        if is_lazy(weight):
            raise ValueError(NOT_YET.format("WeightNorm", "weight"))
        del module._parameters[self.name]
        module.register_parameter(f"{self.name}_g", Parameter(norm_except(weight, self.dim).data))
        module.register_parameter(f"{self.name}_v", Parameter(weight.data))
        setattr(module, self.name, self.compute_weight(module))
        module.register_forward_pre_hook(self)

    def remove(self, module: Module) -> None:
        """The parameter again, with the elements that it has now."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        for end in ("_g", "_v"):
            del module._parameters[self.name + end]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight as a direction times a size before every forward; deprecated, as in torch.

    Source: torch.nn.utils.weight_norm; Salimans and Kingma, 2016.

    >>> import warnings, engine as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     layer = weight_norm(torch.nn.Linear(3, 2))
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight_g', 'weight_v']
    """
    warnings.warn(DEPRECATED, FutureWarning, stacklevel=2)
    hook = WeightNorm(name, -1 if dim is None else dim)
    hook.once(module)
    hook.begin(module)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo `weight_norm`.

    Raises ValueError for a weight that has none.  Source: torch.nn.utils.remove_weight_norm.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # of the name that torch gives up
    ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    >>> list(dict(torch.nn.utils.remove_weight_norm(layer).named_parameters()))
    ['bias', 'weight']
    """
    _removed(module, name, WeightNorm)
    return module


def _removed(module: Module, name: str, kind: type[WeightNorm | SpectralNorm]) -> Any:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return hook
    raise ValueError(f"{kind.word} of '{name}' not found in {module}")


class SpectralNorm(_Hook):
    """A weight over its largest singular value: parameter `weight_orig`, buffers `weight_u` and `weight_v`."""

    word = "spectral_norm"

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        super().__init__(name, dim)
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with `dim` as rows, all else as columns."""
        if self.dim:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight as it is now, after a step of power iteration where that is wanted."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        result: Tensor = weight / u.dot(matrix.mv(v))
        return result

    def begin(self, module: Module) -> None:
        """Replace the parameter by the original and the two vectors."""
        weight = module._parameters[self.name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{self.name}` is None")
        if is_lazy(weight):
            raise ValueError(NOT_YET.format("SpectralNorm", "spectral"))
        with no_grad():
            height, width = self.reshape_weight_to_matrix(weight).shape
            u = normalize(weight.new_empty(height).normal_(0, 1), dim=0, eps=self.eps)
            v = normalize(weight.new_empty(width).normal_(0, 1), dim=0, eps=self.eps)
        delattr(module, self.name)
        module.register_parameter(f"{self.name}_orig", weight)
        setattr(module, self.name, weight.data)
        module.register_buffer(f"{self.name}_u", u)
        module.register_buffer(f"{self.name}_v", v)
        module.register_forward_pre_hook(self)
        module._register_state_dict_hook(self.mark)
        module._register_load_state_dict_pre_hook(self.complete)

    def remove(self, module: Module) -> None:
        """The parameter again, with the elements that it has now."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))
        for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
            for key, hook in list(hooks.items()):
                if getattr(hook[0] if isinstance(hook, tuple) else hook, "__self__", None) is self:
                    del hooks[key]

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def mark(self, module: Module, state: Any, prefix: str, metadata: dict[str, Any]) -> None:
        """Say in a state in which form the weight is kept."""
        versions = metadata.setdefault("spectral_norm", {})
        key = f"{self.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = 1

    def complete(
        self, state: dict[str, Any], prefix: str, metadata: dict[str, Any], strict: bool, missing: list[str], *_: Any
    ) -> None:
        """Find the vector that states of an older form lack."""
        version = metadata.get("spectral_norm", {}).get(f"{self.name}.version")
        key = prefix + self.name
        if version is not None and version >= 1:
            return
        if version is None and key not in state and all(key + end in state for end in ("_orig", "_u", "_v")):
            return
        gone = [key + end for end in ("_orig", "", "_u") if key + end not in state]
        if gone:
            if strict:
                missing.extend(gone)
            return
        with no_grad():
            original, weight, u = state[f"{key}_orig"], state.pop(key), state[f"{key}_u"]
            matrix = self.reshape_weight_to_matrix(original)
            sigma = (original / weight).mean()
            v = linalg.pinv(matrix.t().mm(matrix)).mm(matrix.t()).mm(u.unsqueeze(1)).squeeze(1)
            state[f"{key}_v"] = v * (sigma / u.dot(matrix.mv(v)))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value before every forward.

    Raises ValueError where the power iterations are not positive.  Source: torch.nn.utils.spectral_norm; Miyato et al.,
    2018.

    >>> import engine as torch
    >>> layer = spectral_norm(torch.nn.Linear(3, 2))
    >>> list(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    hook = SpectralNorm(name, n_power_iterations, rows_of(module, dim), eps)
    hook.once(module)
    hook.begin(module)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`.

    Raises ValueError for a weight that has none.  Source: torch.nn.utils.remove_spectral_norm.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # of the name that torch gives up
    ...     layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
    ...     list(dict(torch.nn.utils.remove_spectral_norm(layer).named_parameters()))
    ['bias', 'weight']
    """
    _removed(module, name, SpectralNorm)
    return module
