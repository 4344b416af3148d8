"""Derivatives as functions.  Source: torch.func.

Each call takes its arguments anew: as leaves of its own, or, where a derivative of it may be wanted further out, as
views of what was given.  What comes out has a history only where something from outside leads to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from .. import autograd
from ..api.shape.joining import stack
from ..arrays import errors
from ..arrays.array import xp
from ..tensor.grad_mode import enable_grad, is_grad_enabled
from ..tensor.node import AccumulateGrad
from ..tensor.tensor import Tensor, tensor_of
from .tree import flatten, mapped, unflatten

Places = int | tuple[int, ...]


class _Call:
    """One call of a derivative: its own leaves."""

    def __init__(self) -> None:
        self.recorded = is_grad_enabled()
        self.own: set[int] = set()
        self.leaves: list[Tensor] = []

    def differentiable(self, value: Any) -> Any:
        """An argument that is differentiated."""
        if not isinstance(value, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
        if value.requires_grad:
            return value.view_as(value)
        leaf = value.detach().requires_grad_()
        self.own.add(id(leaf))
        self.leaves.append(leaf)  # alive, so that its id stays its own
        return leaf

    def returned(self, value: Any) -> Any:
        """A result as the caller gets it: with history where something else than our own leaves is in it."""
        if not isinstance(value, Tensor) or not value.requires_grad:
            return value
        return value if self.recorded and self._from_outside(value) else value.detach()

    def _from_outside(self, value: Tensor) -> bool:
        if value._node is None:
            return id(value) not in self.own
        seen, stack_ = {value._node}, [value._node]
        while stack_:
            node = stack_.pop()
            if type(node) is AccumulateGrad and id(node.variable) not in self.own:
                return True
            for target in node.targets:
                if target is not None and target not in seen:
                    seen.add(target)
                    stack_.append(target)
        return False


def _places(argnums: Places, count: int) -> Places:
    """The arguments that are meant, checked as torch checks them."""
    if isinstance(argnums, tuple):
        places = tuple(_place(n, count) for n in argnums)
        if not places:
            raise RuntimeError("argnums must be non-empty")
        if len(set(places)) != len(places):
            raise RuntimeError(f"argnums elements must be unique, got {places}")
        return places
    if not isinstance(argnums, int):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    return _place(argnums, count)


def _place(number: Any, count: int) -> int:
    if not isinstance(number, int):
        raise RuntimeError(f"argnum must be int, got: {type(number)}")
    if not -count <= number < count:
        raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    return number % count


def _picked(call: _Call, args: Sequence[Any], argnums: Places) -> tuple[list[Any], Any]:
    """The arguments with those that are meant taken anew, and these."""
    places = _places(argnums, len(args))
    arguments = list(args)
    for place in (places,) if isinstance(places, int) else places:
        arguments[place] = mapped(call.differentiable, arguments[place])
    return arguments, arguments[places] if isinstance(places, int) else tuple(arguments[p] for p in places)


def _slopes(outputs: Sequence[Tensor], inputs: Sequence[Tensor], weights: Any = None, graph: bool = True) -> list[Any]:
    """Gradients, zeros where there is none."""
    grad_places = [i for i, o in enumerate(outputs) if o.requires_grad]
    if not grad_places:
        return [tensor_of(xp.zeros_like(i._array)) for i in inputs]
    chosen = None if weights is None else [weights[i] for i in grad_places]
    slopes = autograd.grad([outputs[i] for i in grad_places], inputs, chosen, True, graph, allow_unused=True)
    return [tensor_of(xp.zeros_like(i._array)) if f is None else f for i, f in zip(inputs, slopes, strict=True)]


def _with_aux(name: str, output: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise errors.runtime(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def grad_and_value(func: Callable[..., Any], argnums: Places = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function of (gradient, value) of `func`, which gives a number.

    Shapes: (*A) -> (*A), () of the function that is given back.  Raises RuntimeError where the function gives no single
    element.  Source: torch.func.grad_and_value.

    >>> import engine as torch
    >>> torch.func.grad_and_value(lambda x: (x * x).sum())(torch.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """
    name = "grad_and_value(f)(*args)"

    @wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        call = _Call()
        with enable_grad():
            arguments, primals = _picked(call, args, argnums)
            output, aux = _with_aux(name, func(*arguments, **kwargs), has_aux)
            if not isinstance(output, Tensor):
                raise errors.runtime(f"{name}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim():
                raise errors.runtime(
                    f"{name}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe "
                    "you wanted to use the vjp or jacrev APIs instead?"
                )
            leaves, shape = flatten(primals)
            gradients = unflatten([call.returned(s) for s in _slopes([output], leaves)], shape)
        value = call.returned(output)
        return (gradients, (value, mapped(call.returned, aux))) if has_aux else (gradients, value)

    return derived


def grad(func: Callable[..., Any], argnums: Places = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of `func`, which gives a number, with respect to an argument.

    Shapes: (*A) -> (*A) of the function that is given back.  Raises RuntimeError where the function gives no single
    element.  Source: torch.func.grad.

    >>> import engine as torch
    >>> cube = lambda x: x**3
    >>> x = torch.tensor(2.0)
    >>> torch.func.grad(cube)(x), torch.func.grad(torch.func.grad(cube))(x)
    (tensor(12.), tensor(12.))
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return derived


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(output, function): the result of `func`, and a function from its cotangent to those of the arguments.

    Shapes: (*A) -> (*R), *R the sizes of what the function gives; the other function takes (*R) and gives (*A).
    Source: torch.func.vjp.

    >>> import engine as torch
    >>> output, back = torch.func.vjp(torch.sin, torch.zeros(2))
    >>> back(torch.tensor([1.0, 3.0]))
    (tensor([1., 3.]),)
    """
    call = _Call()
    with enable_grad():
        arguments = mapped(call.differentiable, tuple(primals))
        output, aux = _with_aux("vjp(f, *primals)", func(*arguments), has_aux)
    outputs, shape = flatten(output)
    _need_tensors("vjp(f, *primals)", outputs)
    for out in outputs:
        if not out.is_floating_point():
            raise errors.runtime(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{out.dtype}"
            )
    inputs, nested = flatten(arguments)

    def back(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        weights, have = flatten(cotangents)
        if have != shape:
            raise errors.runtime(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function."
            )
        graph = is_grad_enabled() if create_graph is None else create_graph
        again = _Call()
        again.own = call.own
        return unflatten([again.returned(s) for s in _slopes(outputs, inputs, weights, graph)], nested)

    result = mapped(call.returned, output)
    return (result, back, mapped(call.returned, aux)) if has_aux else (result, back)


def _need_tensors(name: str, outputs: Sequence[Any]) -> None:
    if not outputs:
        raise errors.runtime(f"{name}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for out in outputs:
        if not isinstance(out, Tensor):
            raise errors.runtime(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(out)}"
            )


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:  # fmt: skip
    """(output, tangent): the result of `func`, and its tangent for the `tangents` of the arguments.

    Shapes: (*A), (*A) -> (*R), (*R), *R the sizes of what the function gives.  Raises RuntimeError where a tangent has
    another shape than its argument.  Source: torch.func.jvp.

    >>> import engine as torch
    >>> torch.func.jvp(torch.exp, (torch.zeros(2),), (torch.tensor([1.0, 2.0]),))
    (tensor([1., 1.]), tensor([1., 2.]))
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise errors.runtime(f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if flatten(primals)[1] != flatten(tangents)[1]:
        raise errors.runtime(
            f"{name}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            "tuple of 3 tensors, tangents also must be."
        )
    call = _Call()
    with enable_grad():
        arguments = mapped(call.differentiable, primals)
        output, aux = _with_aux(name, func(*arguments), has_aux)
        outputs, shape = flatten(output)
        _need_tensors(name, outputs)
        inputs, moves = flatten(arguments)[0], flatten(tangents)[0]
        pushed = [_pushed(call, out, inputs, moves) for out in outputs]
    slopes = unflatten([call.returned(p) for p in pushed], shape)
    result = mapped(call.returned, output)
    return (result, slopes, mapped(call.returned, aux)) if has_aux else (result, slopes)


def _pushed(call: _Call, out: Tensor, inputs: Sequence[Tensor], moves: Sequence[Tensor]) -> Tensor:
    """The tangent of an output: the gradient is linear in its weights, and its gradient for them is what is wanted."""
    weights = tensor_of(xp.zeros_like(out._array), requires_grad=True)
    call.own.add(id(weights))
    call.leaves.append(weights)
    slopes = _slopes([out], inputs, [weights])
    tangent: Tensor = _slopes(slopes, [weights], list(moves))[0]
    return tangent


def jacrev(
    func: Callable[..., Any], argnums: Places = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func`: of shape output + input, one backward per element of the output.

    Shapes: (*A) -> (*R, *A), *R the sizes of what the function gives.  Source: torch.func.jacrev.

    >>> import engine as torch
    >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @wraps(func)
    def derived(*args: Any) -> Any:
        call = _Call()
        with enable_grad():
            arguments, primals = _picked(call, args, argnums)
            output, aux = _with_aux("jacrev(f, *primals)", func(*arguments), has_aux)
            outputs, shape = flatten(output)
            _need_tensors("jacrev(f, *primals)", outputs)
            inputs, nested = flatten(primals)
            rows = [unflatten([call.returned(b) for b in _blocks(out, inputs)], nested) for out in outputs]
        matrices = unflatten(rows, shape)
        return (matrices, mapped(call.returned, aux)) if has_aux else matrices

    return derived


def _blocks(out: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The Jacobian of one output for each input."""
    rows = []
    for element in range(out._array.size):
        weights = xp.zeros(out._array.shape, dtype=out._array.dtype)
        weights.reshape(-1)[element] = 1
        rows.append(_slopes([out], inputs, [tensor_of(weights)]))
    sizes = [(*out._array.shape, *i._array.shape) for i in inputs]
    if not rows:
        return [tensor_of(xp.zeros(size, dtype=i._array.dtype)) for size, i in zip(sizes, inputs, strict=True)]
    return [stack([row[place] for row in rows]).reshape(size) for place, size in enumerate(sizes)]


def jacfwd(
    func: Callable[..., Any], argnums: Places = 0, has_aux: bool = False, *, chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian, as by `jacrev`; here computed in the same way.

    Shapes: (*A) -> (*R, *A), *R the sizes of what the function gives.  Source: torch.func.jacfwd.

    >>> import engine as torch
    >>> torch.func.jacfwd(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Callable[..., Any], argnums: Places = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of `func`.

    Shapes: (*A) -> (*R, *A, *A), *R the sizes of what the function gives.  Source: torch.func.hessian.

    >>> import engine as torch
    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
