"""Modules called with given tensors as their parameters and buffers.  Source: torch.func.functional_call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..api.shape.joining import stack
from ..nn.module import Module
from ..tensor.tensor import Tensor

_absent = object()


def functional_call(
    module: Module, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """`module(*args)` with the given tensors under the names of its parameters and buffers.

    Tensors that are tied are replaced together (`tie_weights`); `strict` wants all names, and no others.

    Shapes: those of the module.  Source: torch.func.functional_call.

    >>> import engine as torch
    >>> layer = torch.nn.Linear(2, 1)
    >>> given = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    >>> torch.func.functional_call(layer, given, (torch.tensor([3.0, 4.0]),))
    tensor([7.])
    """
    state = _joined(parameter_and_buffer_dicts)
    if tie_weights:
        state = _tied(module, state)
    if strict:
        _need_all(module, state)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, state):
        return module(*args, **(kwargs or {}))


def _joined(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(d, Mapping) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: value for d in dicts for name, value in d.items()}


def _all(module: Module) -> dict[str, Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))
    }  # fmt: skip


def _tied(module: Module, tensors: dict[str, Any]) -> dict[str, Any]:
    """The given tensors under all names that their places have."""
    names: dict[int, list[str]] = {}
    for name, tensor in _all(module).items():
        names.setdefault(id(tensor), []).append(name)
    state = dict(tensors)
    for tied in names.values():
        values = [tensors[name] for name in tied if name in tensors]
        if len({id(v) for v in values}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for name in tied if values else ():
            state[name] = values[0]
    return state


def _need_all(module: Module, tensors: dict[str, Any]) -> None:
    own = _all(module)
    wrong = []
    for label, names in (("Unexpected", tensors.keys() - own.keys()), ("Missing", own.keys() - tensors.keys())):
        if names:
            text = ", ".join(repr(name) for name in sorted(names))
            wrong.append(f"{label} key(s): {text}.")
    if wrong:
        text = "\n\t".join(wrong)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{text}")


@contextmanager
def _replaced(module: Module, tensors: dict[str, Any]) -> Iterator[None]:
    """Inside, the module has other tensors."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, value in tensors.items():
            path, _, last = name.rpartition(".")
            holder = _holder(module.get_submodule(path), last)
            before.append((holder, last, holder.get(last, _absent)))
            holder[last] = value
        yield
    finally:
        for holder, last, value in reversed(before):
            if value is _absent:
                del holder[last]
            else:
                holder[last] = value


def _holder(module: Module, name: str) -> dict[str, Any]:
    """Where a module keeps what it has under a name."""
    for tensors in (module._parameters, module._buffers):
        if name in tensors:
            return tensors
    return module.__dict__


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(parameters, buffers) of several models of one kind, stacked by name.

    Source: torch.func.stack_module_state.

    >>> import engine as torch
    >>> parameters, buffers = torch.func.stack_module_state([torch.nn.Linear(2, 1) for _ in range(3)])
    >>> {name: tuple(value.shape) for name, value in parameters.items()}
    {'weight': (3, 1, 2), 'bias': (3, 1)}
    """
    modules = list(models)
    if not modules:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in modules}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(modules[0]) for model in modules):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in modules]
    buffers = [dict(model.named_buffers()) for model in modules]
    return (
        {name: _stacked(name, [p[name] for p in parameters]) for name in parameters[0]},
        {name: _stacked(name, [b[name] for b in buffers]) for name in buffers[0]},
    )


def _stacked(name: str, tensors: list[Tensor]) -> Tensor:
    flags = {tensor.requires_grad for tensor in tensors}
    if len(flags) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    result: Tensor = stack(tensors)
    return result.detach().requires_grad_() if flags == {True} else result
