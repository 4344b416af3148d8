"""Where backward hooks of a module sit: a node around its inputs and one around its outputs.

The node of the outputs runs first in backward: the hooks before are called, and what the outputs received is kept.  The
node of the inputs runs when their gradients are there, and calls the hooks with both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..arrays import errors
from ..autograd.function import Function
from ..tensor.grad_mode import mode
from ..tensor.tensor import Tensor

__all__ = ["BackwardHookFunction", "Boundary", "on_node"]

NO_INPUT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook "
    "for more details."
)


OLDER = "Using {} deprecated and will be removed in future versions. This hook will be missing some {}"
FULL = ". Please use register_full_backward_hook to get the documented behavior."
ONE = "non-full backward hooks on a Module that does not {} single Tensor or a tuple of Tensors is"


class BackwardHookFunction(Function):
    """Tensors as they are, behind one node.  The name is torch's."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The arguments; those without gradient stay without."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """The gradients as they are."""
        return args


class Boundary:
    """The two nodes of one call of a module."""

    def __init__(self, module: Any, hooks: Sequence[Callable[..., Any]], early: Sequence[Callable[..., Any]]) -> None:
        self.module = module
        self.hooks = hooks
        self.early = early
        self.received: Any = None  # what the outputs received, from their node to that of the inputs
        self.inputs: list[int] | None = None
        self.count = 0

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments behind a node, where one of them requires grad."""
        args, self.inputs = self._wrapped(args, self._inputs_ran)
        self.count = len(args)
        return args

    def leave(self, result: Any) -> Any:
        """The result behind a node, where a tensor of it requires grad."""
        several = isinstance(result, tuple)
        parts = result if several else (result,)
        places: list[int] = []

        def ran(_: Any, grad_outputs: Any) -> Any:
            return self._outputs_ran(grad_outputs, places, len(parts))

        wrapped, found = self._wrapped(parts, ran)
        places.extend(found or ())
        return wrapped if several else wrapped[0]

    def _wrapped(self, parts: tuple[Any, ...], hook: Callable[..., Any]) -> tuple[tuple[Any, ...], list[int] | None]:
        places = [place for place, part in enumerate(parts) if isinstance(part, Tensor)]
        if not mode.enabled or not any(parts[place].requires_grad for place in places):
            return parts, None
        made = BackwardHookFunction.apply(*(parts[place] for place in places))
        next(tensor.grad_fn for tensor in made if tensor.grad_fn is not None).register_hook(hook)
        listed = list(parts)
        for place, tensor in zip(places, made, strict=True):
            listed[place] = tensor
        kind = type(parts)
        return (tuple(listed) if kind is tuple else kind(*listed)), places

    def _outputs_ran(self, grad_outputs: Any, places: list[int], count: int) -> Any:
        """The gradients of the outputs are there."""
        received = _spread(grad_outputs, places, count)
        for hook in self.early:
            changed = hook(self.module, received)
            if changed is None:
                continue
            if len(changed) != count:
                raise errors.runtime(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but expected "
                    f"{count}"
                )
            received = changed
        self.received = received
        if self.inputs is None:
            self._without_inputs()
        return tuple(received[place] for place in places)

    def _without_inputs(self) -> None:
        """No input requires grad: the hooks are called here, with nothing for the inputs."""
        warnings.warn(NO_INPUT, stacklevel=4)
        nothing = (None,) * self.count
        for hook in self.hooks:
            changed = hook(self.module, nothing, self.received)
            if changed is not None and not (isinstance(changed, tuple) and all(part is None for part in changed)):
                raise errors.runtime(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.received = None

    def _inputs_ran(self, grad_inputs: Any, _: Any) -> Any:
        """The gradients of the inputs are there."""
        if self.received is None:  # a gradient that came past the outputs
            return None
        assert self.inputs is not None
        found = _spread(grad_inputs, self.inputs, self.count)
        for hook in self.hooks:
            changed = hook(self.module, found, self.received)
            if changed is None:
                continue
            if len(changed) != len(found):
                raise errors.runtime(
                    f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected "
                    f"{len(found)}"
                )
            found = changed
        self.received = None
        return tuple(found[place] for place in self.inputs)


def _spread(values: Any, places: list[int], count: int) -> tuple[Any, ...]:
    """Values at their places among `count`, None elsewhere."""
    found: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return tuple(found)


def on_node(module: Any, hooks: Sequence[Callable[..., Any]], args: Any, result: Any) -> None:
    """The older backward hooks: on the node of the first tensor of the result, whatever that node is."""
    tensor = result
    while not isinstance(tensor, Tensor):
        tensor = next(v for v in tensor.values() if isinstance(v, Tensor)) if isinstance(tensor, dict) else tensor[0]
    node = tensor.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda inner, outer, hook=hook: hook(module, inner, outer))
    told = _what_is_missed(node, args, result)
    if told is not None:
        warnings.warn(OLDER.format(*told), FutureWarning, stacklevel=5)


def _what_is_missed(node: Any, args: Any, result: Any) -> tuple[str, str] | None:
    """What torch says of a module for which the older hooks do not see all gradients."""
    outputs = (result,) if isinstance(result, Tensor) else result
    if not (isinstance(outputs, tuple) and all(isinstance(o, Tensor) for o in outputs)):
        return ONE.format("return a"), "of the grad_output" + FULL
    if not all(isinstance(a, Tensor) for a in args):
        return ONE.format("take as input a"), "of the grad_input" + FULL
    nodes = {id(o.grad_fn): o.grad_fn for o in outputs if o.grad_fn is not None}
    if not nodes or (len(nodes) == 1 and id(node) not in nodes):
        return "a non-full backward hook when outputs are nested in python data structure is", "grad_output."
    if len(nodes) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes is",
            "grad_output" + FULL,
        )
    if {id(a.grad_fn) for a in args if a.grad_fn is not None} != {id(n) for n, _ in node.next_functions}:
        return "a non-full backward hook when the forward contains multiple autograd Nodes is", "grad_input" + FULL
    return None
