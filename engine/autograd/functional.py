"""Whole derivatives of functions.  Source: torch.autograd.functional.

A row of a Jacobian is one backward pass from one element of the output: `jacobian` runs them all.  What is computed on
the way are ops like any others, in torch's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..api.shape.joining import stack
from ..arrays import errors
from ..arrays.array import xp
from ..tensor.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from ..tensor.tensor import Tensor, tensor_of
from .calls import grad

Tensors = Tensor | tuple[Tensor, ...]

INDEPENDENT = " This is not allowed in strict mode."
WITHOUT_GRAD = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided function."
        + INDEPENDENT
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
        "for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {} is independent of the input. This is not "
        "allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian "
        "depends on the inputs."
    ),
}
"""What strict mode says of a tensor that does not require grad, by what it is."""

UNUSED = {
    "back": "The output of the user-provided function is independent of input {}." + INDEPENDENT,
    "back_trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients." + INDEPENDENT
    ),
    "double_back": "The jacobian of the user-provided function is independent of input {}." + INDEPENDENT,
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}
"""What strict mode says where no gradient came, by the stage of the computation."""

BATCHED_STRICT = (
    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
    "set `strict=False` or `vectorize=False`."
)
FORWARD_STRICT = (
    'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). '
    'Please either set `strict=False` or `strategy="reverse-mode"`.'
)
FORWARD_GRAPH = (
    'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together '
    '(yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
)
FORWARD_LOOP = (
    "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
)
STRATEGIES = (
    'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
    'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
)


class _Task:
    """One call of a function of this file: its name, and what was asked for."""

    def __init__(self, name: str, create_graph: bool, strict: bool) -> None:
        self.name, self.create_graph, self.strict = name, create_graph, strict

    def tensors(self, value: Any, what: str) -> tuple[bool, tuple[Tensor, ...]]:
        """Return whether a value is a tuple, and its tensors; raises TypeError for anything else."""
        several = isinstance(value, tuple)
        values: tuple[Any, ...] = value if several else (value,)
        for place, tensor in enumerate(values):
            if not isinstance(tensor, Tensor):
                where = f"the value at index {place}" if several else f"the given {what}"
                raise TypeError(
                    f"The {what} given to {self.name} must be either a Tensor or a tuple of Tensors but {where} has "
                    f"type {type(tensor)}."
                )
        return several, values

    def points_of(self, inputs: Any) -> tuple[bool, tuple[Tensor, ...]]:
        """Return whether the inputs are a tuple, and the points to differentiate at."""
        several, values = self.tensors(inputs, "inputs")
        return several, self.points(values)

    def points(self, inputs: tuple[Tensor, ...], need: bool = True) -> tuple[Tensor, ...]:
        """The tensors at which to differentiate: leaves, or with `create_graph` joined to the caller's graph."""
        return tuple(
            t.view_as(t) if self.create_graph and t.requires_grad else t.detach().requires_grad_(need) for t in inputs
        )

    def called(self, func: Callable[..., Any], points: tuple[Tensor, ...]) -> tuple[bool, tuple[Tensor, ...]]:
        """Call the user's function and return whether its result is a tuple, and the tensors in it."""
        several, outputs = self.tensors(func(*points), "outputs of the user-provided function")
        self.need_grad(outputs, "outputs")
        return several, outputs

    def value(self, func: Callable[..., Any], points: tuple[Tensor, ...]) -> Tensor:
        """The one number that the user's function returns."""
        several, outputs = self.called(func, points)
        if several:
            raise errors.runtime(f"The function given to {self.name} should return a single Tensor")
        if outputs[0].numel() != 1:
            raise errors.runtime(
                f"The Tensor returned by the function given to {self.name} should contain a single element"
            )
        return outputs[0]

    def weights(self, v: Any, like: tuple[Tensor, ...], several: bool, side: str) -> tuple[Tensor, ...] | None:
        """The vector of the product, checked against what it multiplies; None where it is the implicit 1."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                raise errors.runtime(f"The vector v can only be None if {side} a single Tensor with a single element.")
            return None
        points = self.points(self.tensors(v, "v")[1], need=False)
        if len(points) != len(like):
            raise errors.runtime(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(points)}."
                if several
                else "The given v should contain a single Tensor."
            )
        for place, (mine, other) in enumerate(zip(points, like, strict=True)):
            if mine.shape != other.shape:
                which = f"Entry {place} in " if several else ""
                raise errors.runtime(f"{which}v has invalid size: should be {other.shape} but got {mine.shape}.")
        return points

    def need_grad(self, tensors: Sequence[Tensor | None], kind: str) -> None:
        """In strict mode: raise torch's error where a tensor does not depend on the inputs."""
        if not self.strict:
            return
        for place, tensor in enumerate(tensors):
            if tensor is None:
                raise errors.runtime(UNUSED["back"].format(place))
            if not tensor.requires_grad:
                raise errors.runtime(WITHOUT_GRAD[kind].format(place))

    def filled(self, gradients: Sequence[Tensor | None], like: Sequence[Tensor], stage: str) -> tuple[Tensor, ...]:
        """Gradients with zeros where none came; in strict mode torch's error."""
        result = []
        for place, (gradient, other) in enumerate(zip(gradients, like, strict=True)):
            if gradient is None:
                if self.strict:
                    raise errors.runtime(UNUSED[stage].format(place))
                gradient = zeros(other)
            elif self.strict and self.create_graph and not gradient.requires_grad:
                what = "hessian" if "double" in stage else "jacobian"
                raise errors.runtime(
                    f"The {what} of the user-provided function is independent of input {place}. This is not allowed in "
                    "strict mode when create_graph=True."
                )
            result.append(gradient)
        return tuple(result)

    def released(self, tensors: Sequence[Tensor], several: bool) -> Any:
        """The results, without history unless a graph was asked for; one alone where one was given."""
        result = tuple(t if self.create_graph else t.detach() for t in tensors)
        return result if several else result[0]


def zeros(like: Tensor, requires_grad: bool = False) -> Tensor:
    """Zeros of the shape and dtype of a tensor."""
    return tensor_of(xp.zeros_like(like._array), requires_grad=requires_grad)


def _pulled(
    outputs: Sequence[Tensor | None], inputs: Sequence[Tensor], weights: Any = None, *, graph: bool = False,
    keep: bool | None = None,
) -> Any:  # fmt: skip
    """autograd.grad of the outputs that require grad; None for all where none does."""
    every = zip(outputs, weights or (None,) * len(outputs), strict=True)
    pairs = [(out, weight) for out, weight in every if out is not None and out.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    roots, seeds = (tuple(column) for column in zip(*pairs, strict=True))
    return grad(roots, tuple(inputs), seeds, keep, graph, allow_unused=True)


def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(outputs, v times the Jacobian): the result of `backward(v)`.

    Shapes: (*A), (*R) -> (*R), (*A), *R the sizes of what the function gives.  Raises RuntimeError where v has another
    shape than the output.  Source: torch.autograd.functional.vjp.

    >>> import engine as torch
    >>> vjp(lambda x: x * x, torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0]))[1]
    tensor([0., 6.])
    """
    task = _Task("vjp", create_graph, strict)
    with enable_grad():
        several_inputs, points = task.points_of(inputs)
        several, outputs = task.called(func, points)
        weights = task.weights(v, outputs, several, "the user-provided function returns")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = task.filled(_pulled(outputs, points, weights, graph=create_graph), points, "back")
    return task.released(outputs, several), task.released(gradients, several_inputs)


def jvp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(outputs, the Jacobian times v), by two backward passes: the vjp is linear in its weights.

    Shapes: (*A), (*A) -> (*R), (*R), *R the sizes of what the function gives.  Raises RuntimeError where v has another
    shape than the input.  Source: torch.autograd.functional.jvp.

    >>> import engine as torch
    >>> jvp(lambda x: x * x, torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0]))[1]
    tensor([0., 6.])
    """
    task = _Task("jvp", create_graph, strict)
    with enable_grad():
        several_inputs, points = task.points_of(inputs)
        weights = task.weights(v, points, several_inputs, "the input to the user-provided function is")
        several, outputs = task.called(func, points)
        dummies = tuple(zeros(out, requires_grad=True) for out in outputs)
        slopes = _pulled(outputs, points, dummies, graph=True)
        task.need_grad(slopes, "grad_inputs")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        tangents = task.filled(_pulled(slopes, dummies, weights, graph=create_graph), outputs, "back_trick")
    return task.released(outputs, several), task.released(tangents, several)


def jacobian(
    func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """All first derivatives of `func`: entry [i..., j...] is d output[i...] / d input[j...].

    A tensor of shape (*output, *input); for several outputs or inputs a (nested) tuple.  One backward pass per element
    of the output, also with `vectorize` and for the strategy "forward-mode".

    Shapes: (*A) -> (*R, *A), *R the sizes of what the function gives.  Raises TypeError where `func` takes or returns
    something else than tensors.  Source: torch.autograd.functional.jacobian.

    >>> import engine as torch
    >>> jacobian(lambda x: x * x, torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(STRATEGIES)
    if strategy == "forward-mode":
        _check_forward(create_graph, strict, vectorize)
    task = _Task("jacobian", create_graph, strict)
    with enable_grad():
        several_inputs, points = task.points_of(inputs)
        several, outputs = task.called(func, points)
        if vectorize and strict:
            raise errors.runtime(BATCHED_STRICT)
        table = [_rows(task, number, output, points) for number, output in enumerate(outputs)]
        jacobians = [task.released(row, several_inputs) for row in table]
    return tuple(jacobians) if several else jacobians[0]


def _check_forward(create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Raise torch's errors for options that it does not offer in forward mode."""
    if create_graph:
        raise NotImplementedError(FORWARD_GRAPH)
    if strict:
        raise errors.runtime(FORWARD_STRICT)
    if not vectorize:
        raise NotImplementedError(FORWARD_LOOP)


def _rows(task: _Task, number: int, output: Tensor, points: tuple[Tensor, ...]) -> list[Tensor]:
    """The derivatives of one output with respect to each input."""
    rows: list[list[Tensor]] = [[] for _ in points]
    for place in range(output.numel()):
        gradients = _pulled((output.reshape(-1)[place],), points, graph=task.create_graph, keep=True)
        for column, (row, gradient, point) in enumerate(zip(rows, gradients, points, strict=True)):
            if gradient is None:
                if task.strict:
                    raise errors.runtime(
                        f"Output {number} of the user-provided function is independent of input {column}." + INDEPENDENT
                    )
                gradient = zeros(point)
            elif task.strict and task.create_graph and not gradient.requires_grad:
                raise errors.runtime(
                    f"The jacobian of the user-provided function is independent of input {number}. This is not allowed "
                    "in strict mode when create_graph=True."
                )
            row.append(gradient)
    return [_joined(row, output, point) for row, point in zip(rows, points, strict=True)]


def _joined(rows: list[Tensor], output: Tensor, point: Tensor) -> Tensor:
    return stack(rows).view((*output.shape, *point.shape))


def hessian(
    func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """All second derivatives of a function that returns one element.

    Shapes: (*A) -> (*A, *A).  Raises RuntimeError where the function gives no single element.
    Source: torch.autograd.functional.hessian.

    >>> import engine as torch
    >>> hessian(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    task = _Task("hessian", create_graph, strict)
    several, values = task.tensors(inputs, "inputs")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def slopes(*points: Tensor) -> Any:
        result = jacobian(lambda *p: task.value(func, p).squeeze(), points, create_graph=True)
        task.need_grad(result, "jacobian")
        return result

    table = jacobian(slopes, values, create_graph, strict, vectorize, outer_jacobian_strategy)
    return table if several else table[0][0]


def _sloped(task: _Task, func: Callable[..., Any], inputs: Tensors, v: Any) -> tuple[Any, ...]:
    """Return whether the inputs are a tuple, the points, the weights, the one value there, and its gradients."""
    several, points = task.points_of(inputs)
    weights = task.weights(v, points, several, "the input to the user-provided function is")
    value = task.value(func, points)
    slopes = _pulled((value,), points, graph=True)
    task.need_grad(slopes, "jacobian")
    return several, points, weights, value, slopes


def vhp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(output, v times the Hessian) of a function that returns one element.

    Shapes: (*A), (*A) -> (), (*A).  Raises RuntimeError where the function gives no single element, or v has another
    shape.  Source: torch.autograd.functional.vhp.

    >>> import engine as torch
    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    (tensor(9.), tensor([6., 0.]))
    """
    task = _Task("vhp", create_graph, strict)
    with enable_grad():
        several, points, weights, value, slopes = _sloped(task, func, inputs, v)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        products = task.filled(_pulled(slopes, points, weights, graph=create_graph), points, "double_back")
    return task.released((value,), False), task.released(products, several)


def hvp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(output, the Hessian times v), by a third backward pass; `vhp`, equal by symmetry, needs only two.

    Shapes: (*A), (*A) -> (), (*A).  Raises RuntimeError where the function gives no single element, or v has another
    shape.  Source: torch.autograd.functional.hvp.

    >>> import engine as torch
    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0]))
    (tensor(9.), tensor([ 0., 12.]))
    """
    task = _Task("hvp", create_graph, strict)
    with enable_grad():
        several, points, weights, value, slopes = _sloped(task, func, inputs, v)
        dummies = tuple(zeros(point, requires_grad=True) for point in points)
        twice = _pulled(slopes, points, dummies, graph=True)
        task.need_grad(slopes, "hessian")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        products = task.filled(_pulled(twice, dummies, weights, graph=create_graph), points, "double_back_trick")
    return task.released((value,), False), task.released(products, several)
