"""backward and grad: every error of the user is raised here, in torch's words, before anything runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ..arrays import errors
from ..arrays.array import as_array, dtype_of, xp
from ..arrays.session import slot, warn
from ..arrays.size import Size
from ..backward.loop import run_backward
from ..ops.reduction import sum_to_size
from ..ops.shape import clone, select, stack
from ..tensor.grad_mode import mode
from ..tensor.node import AccumulateGrad, gradient_edge
from ..tensor.tensor import Tensor, tensor_of
from ..tensor.views import refresh_view
from .graph import GradientEdge, inner_node

Tensors = Tensor | Sequence[Tensor] | GradientEdge | dict[str, Tensor]

ONLY_INPUTS = (
    "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts "
    "of the graph, please use torch.autograd.backward."
)
CREATE_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)


def backward(
    tensors: Tensors, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Tensors | None = None,
) -> None:  # fmt: skip
    """Accumulate the gradients of `tensors`, weighted by `grad_tensors`, into the leaves (or into `inputs` only).

    `grad_tensors` has one gradient per tensor, of its shape; None stands for 1 and is for scalars.  Saved values are
    freed unless `retain_graph` (default: `create_graph`).  Errors are torch's.

    Raises RuntimeError where a gradient has another shape, or there is nothing to differentiate.
    Source: torch.autograd.backward.

    >>> import engine as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.backward(x, torch.tensor([3.0, 4.0]))
    >>> x.grad
    tensor([3., 4.])
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is None:
            grad_tensors = grad_variables
        else:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
    roots = _as_list(tensors)
    targets = None if inputs is None else _inputs(inputs, "backward", roots)
    keep = create_graph if retain_graph is None else retain_graph
    call("backward", roots, grad_tensors, keep, create_graph, targets, accumulate=True)


def grad(
    outputs: Tensors, inputs: Tensors, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> Any:  # fmt: skip
    """The gradients of `outputs`, weighted by `grad_outputs`, with respect to `inputs`; no `.grad` is touched.

    Shapes: outputs (*) and inputs (*') -> (*'), one per input.  Raises RuntimeError for a gradient of another shape,
    and for an input that the outputs do not depend on.  Source: torch.autograd.grad.

    >>> import engine as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.grad(x * x, x, torch.tensor([1.0, 0.0]))
    (tensor([2., 0.]),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(ONLY_INPUTS, FutureWarning, stacklevel=2)
    targets = _inputs(inputs, "grad")
    keep = create_graph if retain_graph is None else retain_graph
    roots = _as_list(outputs)
    if is_grads_batched:
        batched = _batched(roots, targets, grad_outputs, keep, create_graph, allow_unused, materialize_grads)
        return dict(zip(inputs, batched, strict=True)) if isinstance(inputs, dict) else batched
    gradients = call("grad", roots, grad_outputs, keep, create_graph, targets, accumulate=False)
    results: list[Tensor | None] = []
    for position, (tensor, gradient) in enumerate(zip(targets, gradients, strict=True)):
        if gradient is None and materialize_grads:
            gradient = _zeros(tensor, create_graph)
        if gradient is None and not allow_unused:
            raise errors.runtime(
                f"The differentiated Tensor at index {position} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.",
                tensors=(tensor,),
            )
        results.append(gradient)
    return dict(zip(inputs, results, strict=True)) if isinstance(inputs, dict) else tuple(results)


def _zeros(target: Any, create_graph: bool) -> Tensor:
    """The gradient of an input that was not used, where zeros are to stand for it."""
    if isinstance(target, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return tensor_of(xp.zeros_like(target._array), requires_grad=create_graph)


def _batched(
    roots: list[Any], targets: list[Any], gradients: Any, keep: bool, create_graph: bool, allow_unused: Any, zeros: bool
) -> tuple[Tensor | None, ...]:
    """One backward per row of the gradients; the results stacked."""
    batches = _as_sequence(gradients) or [None] * len(roots)
    counts = set()
    for position, (root, gradient) in enumerate(zip(roots, batches, strict=False)):
        if gradient is None:
            _implicit(root)
            continue
        if not gradient._array.ndim:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
                             "C++ to convert a 0-dim tensor to a number")  # fmt: skip
        if gradient._array.shape[1:] != root._array.shape:
            raise errors.runtime(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{position}] has a shape of "
                f"{Size(gradient._array.shape[2:])} and output[{position}] has a shape of {root.shape}. If you only "
                "want some tensors in `grad_output` to be considered batched, consider using vmap."
            )
        counts.add(gradient._array.shape[0])
    if len(counts) > 1:
        sizes = [g._array.shape[0] for g in batches if g is not None]
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    count = counts.pop() if counts else 1
    rows = []
    for row in range(count):
        weights = [None if g is None else select(g, 0, row) for g in batches]
        last = row + 1 == count
        unused = True if zeros else allow_unused
        rows.append(grad(roots, targets, weights, keep or not last, create_graph, True, unused))
    stacks = [_stacked([row[i] for row in rows]) for i in range(len(targets))]
    pairs = zip(stacks, targets, strict=True)  # zeros have no dimension for the rows, in torch too
    return tuple(_zeros(target, create_graph) if stack is None and zeros else stack for stack, target in pairs)


def _inputs(inputs: Any, function: str, roots: Sequence[Any] = ()) -> list[Any]:
    """The `inputs` argument as a list; one that is empty raises torch's error."""
    if type(inputs) is dict:
        targets = list(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported."
        )
    else:
        targets = _as_list(inputs)
    if not targets:
        tensors = tuple(r for r in roots if isinstance(r, Tensor))
        raise errors.runtime(f"`inputs` argument to `{function}()` cannot be empty.", tensors=tensors)
    return targets


def call(
    function: str, roots: list[Tensor], gradients: Any, keep: bool, create_graph: bool, inputs: Any, accumulate: bool
) -> list[Any]:
    """Check the arguments of a backward call, run it, and report it to the recording."""
    try:
        seeds = _gradients(roots, gradients)
        edges = [_root_edge(i, root) for i, root in enumerate(roots)]
        if accumulate:
            _retain(inputs or ())
        captures = None if inputs is None else [_input_edge(t) for t in inputs]
    except (RuntimeError, TypeError, ValueError) as error:
        _record_refusal(function, roots, gradients, keep, create_graph, inputs, error)
        raise
    if create_graph and function == "backward":
        warn(CREATE_GRAPH)
    active = slot.active
    outer = None if active is None else active.call
    number = -1
    if active is not None:
        number = _record_start(active, function, roots, seeds, gradients, inputs, keep, create_graph)
    completed, results = False, []
    try:
        with xp.errstate(all="ignore"):  # inf and nan are results here, as in torch
            results = run_backward(
                edges, seeds, keep=keep, create_graph=create_graph, captures=captures, accumulate=accumulate
            )
        if function == "grad":
            results = [g if g is None else _in_rows(g, tensor) for g, tensor in zip(results, inputs, strict=True)]
        completed = True
    except Exception as error:
        if active is not None:
            active.error(error)
        raise
    finally:
        if active is not None:
            active.end(number, completed, outer, results if function == "grad" else ())
    return results


def _record_start(
    active: Any, function: str, roots: list[Any], seeds: list[Any], gradients: Any, inputs: Any, keep: bool, graph: bool
) -> int:
    """Record the start of a call, with the roots and inputs that are tensors; returns its number."""
    passed = _as_sequence(gradients) or [None] * len(roots)
    positions = [i for i, root in enumerate(roots) if isinstance(root, Tensor)]
    tensors = None if inputs is None else [t for t in inputs if isinstance(t, Tensor)]
    number: int = active.start(
        function, [roots[i] for i in positions], [seeds[i]._array for i in positions], [passed[i] for i in positions],
        tensors, keep=keep, graph=graph, legacy=mode.legacy_broadcasting, anomaly=mode.anomaly,
    )  # fmt: skip
    return number


def _in_rows(gradient: Tensor, tensor: Any) -> Tensor:
    """The gradient, stored row by row if its tensor is: some rules return it by columns, where `.view` would fail.

    An expanded gradient stays as it is: in torch, too, it has no memory of its own.
    """
    data = gradient._array
    if data.flags.c_contiguous or 0 in data.strides:
        return gradient
    if isinstance(tensor, GradientEdge) or not tensor._array.flags.c_contiguous:
        return gradient
    if not gradient._requires_grad:
        return tensor_of(data.copy())
    view = gradient._view
    if view is None:
        gradient._array = data.copy()
        return gradient
    if data.size != view.base._array.size:  # a slice has gaps in torch too
        return gradient
    copy: Tensor = clone(gradient, memory_format="contiguous")
    return copy


def _retain(inputs: Sequence[Any]) -> None:
    """From its first backward(inputs=...) on, an input that is not a leaf has a `.grad` too."""
    active, slot.active = slot.active, None
    try:
        for tensor in inputs:
            if isinstance(tensor, Tensor):
                tensor.retain_grad()
    finally:
        slot.active = active


def _record_refusal(
    function: str, roots: Any, gradients: Any, keep: bool, create_graph: bool, inputs: Any, error: BaseException
) -> None:
    """Record a call that was refused: it started, and ended at once."""
    active = slot.active
    if active is None:
        return
    if getattr(error, "place", None) is None:
        errors.explained(error, tensors=tuple(t for t in roots if isinstance(t, Tensor)))
    pairs = zip_longest(roots, _as_sequence(gradients) or ())  # each root with what was passed for it, if anything was
    tensors = [(t, g if isinstance(g, Tensor) else None) for t, g in pairs if isinstance(t, Tensor)]
    root_tensors, passed = [t for t, _ in tensors], [g for _, g in tensors]
    arrays = [xp.ones_like(t._array) if g is None else g._array for t, g in tensors]
    outer = active.call
    number = active.start(
        function, root_tensors, arrays, passed, inputs, keep=keep, graph=create_graph, legacy=mode.legacy_broadcasting,
        anomaly=mode.anomaly,
    )  # fmt: skip
    active.error(error)
    active.end(number, False, outer)


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, (Tensor, GradientEdge)) else list(value)


def _as_sequence(value: Any) -> list[Any] | None:
    if value is None:
        return None
    return [value] if isinstance(value, Tensor) or not isinstance(value, (list, tuple)) else list(value)


class _Edge:
    """A stand-in for a tensor, with its shape and dtype, for a GradientEdge that backward starts from."""

    _requires_grad = True

    def __init__(self, edge: GradientEdge) -> None:
        node = inner_node(edge.node)
        shape, which = node.meta(edge.output_nr)
        self._array = xp.zeros(shape, dtype=which)
        self._node = node


def _gradients(roots: list[Tensor], gradients: Any) -> list[Tensor]:
    """One gradient per root, checked as torch checks them."""
    weights = _as_sequence(gradients) or [None] * len(roots)
    roots = [_Edge(root) if isinstance(root, GradientEdge) else root for root in roots]
    for root in roots:
        if not isinstance(root, (Tensor, _Edge)):
            raise AssertionError("Expected output to be a torch.Tensor")
    if len(weights) != len(roots):
        wanting = tuple(roots[len(weights) :]) or tuple(roots)
        raise errors.runtime(f"got {len(roots)} tensors and {len(weights)} gradients", tensors=wanting)
    seeds = []
    for position, (root, gradient) in enumerate(zip(roots, weights, strict=True)):
        if gradient is None:
            seeds.append(_implicit(root))
            continue
        if not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        if gradient._array.shape != root._array.shape:
            gradient = _fitted(position, root, gradient)
        if isinstance(root, Tensor) and type(gradient._array) is not type(root._array):
            if gradient._array.ndim:
                raise errors.runtime(
                    f"invalid gradient at index {position} - expected device {root.device} but got {gradient.device}",
                    tensors=(root,),
                )
            gradient = gradient.to(root.device)
        if gradient._array.dtype != root._array.dtype:
            gradient = tensor_of(gradient._array.astype(root._array.dtype)) if not gradient._requires_grad else gradient
        seeds.append(gradient)
    return seeds


def _implicit(root: Tensor) -> Tensor:
    if not root._requires_grad:
        return tensor_of(xp.ones_like(root._array))
    if root._array.size != 1:
        raise errors.runtime(
            "grad can be implicitly created only for scalar outputs",
            f"Backstep: the root has shape {list(root._array.shape)}, so there is one gradient per weighting of its "
            f"{root._array.size} elements. Pass one: backward(gradient=torch.ones_like(root)), or reduce to a scalar: "
            "root.sum().backward().",
            tensors=(root,),
        )
    if root._array.dtype.kind != "f":
        raise errors.runtime(
            f"grad can be implicitly created only for real scalar outputs but got {dtype_of(root._array)}",
            tensors=(root,),
        )
    return tensor_of(xp.ones_like(root._array))


def _fitted(position: int, root: Tensor, gradient: Tensor) -> Tensor:
    """A gradient of another shape: torch's error, or the legacy rule of PyTorch 0.3."""
    have, want = gradient._array.shape, root._array.shape
    if mode.legacy_broadcasting:
        fitted = _legacy_fit(gradient._array, want)
        if fitted is not None:
            return tensor_of(fitted)
    raise errors.runtime(
        f"Mismatch in shape: grad_output[{position}] has a shape of {Size(have)} and output[{position}] has a shape of "
        f"{Size(want)}.",
        f"Backstep: gradient weighs each element of the root, so it has the root's shape {list(want)}. PyTorch 0.3 "
        "broadcast it: `with torch.autograd.legacy_broadcasting():` does that again.",
        tensors=(root,),
    )


def _legacy_fit(gradient: Any, shape: tuple[int, ...]) -> Any:
    try:
        return xp.broadcast_to(gradient, shape).copy()
    except ValueError:
        pass
    try:
        xp.broadcast_to(xp.empty(shape), gradient.shape)
    except ValueError:
        return None
    return as_array(sum_to_size(gradient, shape))


def _root_edge(position: int, root: Any) -> tuple[Any, int]:
    if isinstance(root, GradientEdge):
        return inner_node(root.node), root.output_nr
    if not isinstance(root, Tensor):
        raise TypeError(f"expected a Tensor to start from, found {type(root).__name__}")
    refresh_view(root)
    edge = gradient_edge(root)
    if edge is None:
        raise errors.runtime(
            f"element {position} of tensors does not require grad and does not have a grad_fn",
            "Backstep: nothing that leads to this tensor requires grad: it was made under no_grad, detached, is of an "
            "integer type, or its leaves have requires_grad=False.",
            tensors=(root,),
        )
    return edge


def _input_edge(tensor: Any) -> tuple[Any, int]:
    if isinstance(tensor, GradientEdge):
        return inner_node(tensor.node), tensor.output_nr
    if not isinstance(tensor, Tensor):
        raise errors.runtime(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}")
    refresh_view(tensor)
    edge = gradient_edge(tensor)
    if edge is None and tensor._requires_grad:  # lent by its base: nothing leads to it
        return AccumulateGrad(tensor), 0
    if edge is None:
        raise errors.runtime("One of the differentiated Tensors does not require grad", tensors=(tensor,))
    return edge


def _stacked(rows: list[Any]) -> Any:
    return None if rows[0] is None else stack(rows)
