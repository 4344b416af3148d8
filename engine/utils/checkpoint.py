"""torch.utils.checkpoint: intermediate results of a function are not kept, but computed again in backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..api.random.random import get_rng_state, set_rng_state
from ..autograd import Function, backward
from ..backward.reentrancy import current
from ..namespaces.random import fork_rng
from ..nn import Sequential
from ..tensor.grad_mode import enable_grad, no_grad
from ..tensor.tensor import Tensor
from . import recomputation
from .recomputation import CheckpointError, GraphExecGroup, set_checkpoint_early_stop

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "GraphExecGroup",
    "checkpoint",
    "checkpoint_sequential",
    "set_checkpoint_early_stop",
]

UNSAID = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
    "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, preserve_rng_state: bool = True,
    context_fn: Any = None, determinism_check: str = "default", debug: bool = False, early_stop: bool = True,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """`function(*args)`, keeping only its arguments for backward.

    With `use_reentrant=False` the graph is that of the function; what its nodes need is computed when the first of them
    asks.  With True it is one node, whose backward runs the function and a backward of its own.

    Shapes: those of `function`.  Source: torch.utils.checkpoint.checkpoint; Chen et al., 2016.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> checkpoint(lambda x: x.sin() * x, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(0.0770)
    """
    if use_reentrant is None:
        warnings.warn(UNSAID, UserWarning, stacklevel=2)
        use_reentrant = True
    if not use_reentrant:
        return recomputation.run(
            function, args, kwargs, preserve_rng_state, context_fn or recomputation.no_contexts, determinism_check,
            debug, early_stop,
        )  # fmt: skip
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn not in (None, recomputation.no_contexts) or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


NOT_WHOLE = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
    ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
    "the `inputs` argument."
)


class CheckpointFunction(Function):
    """The node of a checkpoint that is one node.

    Source: torch.utils.checkpoint.CheckpointFunction.
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """The function, without a graph."""
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=4
            )
        ctx.run_function, ctx.preserve = run_function, preserve_rng_state
        ctx.state = get_rng_state() if preserve_rng_state else None
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [place for place, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The function once more, with a graph, and backward through it."""
        if current.run is not None and current.run.route is not None:
            raise RuntimeError(NOT_WHOLE)
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[place] = tensor.detach().requires_grad_(tensor.requires_grad)
        with fork_rng(enabled=ctx.preserve), enable_grad():
            if ctx.preserve:
                set_rng_state(ctx.state)
            results = ctx.run_function(*inputs)
        outputs = (results,) if isinstance(results, Tensor) else results
        pairs = [
            (o, g) for o, g in zip(outputs, grad_outputs, strict=True) if isinstance(o, Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(i.grad if isinstance(i, Tensor) else None for i in inputs))


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]] | Sequential, segments: int, input: Any,
    use_reentrant: bool | None = None, preserve_rng_state: bool = True,
) -> Any:  # fmt: skip
    """A chain of functions in `segments` checkpoints, of which the last is kept as usual.

    Shapes: those of the functions.  Source: torch.utils.checkpoint.checkpoint_sequential; Chen et al., 2016.

    >>> import engine as torch
    >>> x = torch.tensor(1.0, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint_sequential([torch.sin, torch.exp], 2, x, use_reentrant=False)
    tensor(2.3198, grad_fn=<ExpBackward0>)
    """
    if use_reentrant is None:
        warnings.warn(UNSAID.replace("checkpoint:", "checkpoint.checkpoint_sequential:", 1), UserWarning, stacklevel=2)
        use_reentrant = True
    stages = list(functions.children()) if isinstance(functions, Sequential) else list(functions)
    size = len(stages) // segments

    def chain(part: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for function in part:
                value = function(value)
            return value

        return run

    done = 0
    for start in range(0, size * (segments - 1), size):
        done = start + size
        part = chain(stages[start:done])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return chain(stages[done:])(input)
