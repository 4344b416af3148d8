"""Derivatives by the rules compared with finite differences.  Source: torch.autograd.gradcheck."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..arrays import errors
from ..arrays.array import dtype_of, xp
from ..arrays.session import unrecorded, warn
from ..arrays.size import Size
from ..tensor.escapes import escape
from ..tensor.grad_mode import enable_grad
from ..tensor.tensor import Tensor, tensor_of
from .calls import grad
from .forward_ad import dual_level, make_dual, unpack_dual
from .function import Function

NOT_DOUBLE = (
    "Input #{} requires gradient and is not a double precision floating point or complex. This check will likely fail "
    "if all the inputs are not of double precision floating point or complex. "
)
STRIDE_0 = (
    "The {}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able "
    "to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to "
    "gradcheck."
)
NO_GRAD = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {}."
)
UNDEFINED_NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
UNDEFINED_NEW = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)


class GradcheckError(RuntimeError):
    """The two do not agree."""


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(outputs: Any) -> list[Tensor]:
    return [o for o in _as_tuple(outputs) if isinstance(o, Tensor) and o.requires_grad]


def _floats(outputs: Any) -> list[Tensor]:
    return [o for o in _as_tuple(outputs) if isinstance(o, Tensor) and o.is_floating_point()]


def numerical_jacobian(function: Callable[..., Any], inputs: Sequence[Any], place: int, eps: float) -> list[Any]:
    """(f(x + eps) - f(x - eps)) / 2 eps, one row per element of input `place`; one matrix per floating output.

    As in torch the input itself is moved, so that a function that takes it from elsewhere (a module its parameter) sees
    the step too, and gradients are recorded, so that it may differentiate on its way.  Raises AssertionError where a
    step changes the shape or dtype of an output.
    """
    target: Tensor = inputs[place]
    data = target._array
    rows: list[list[Any]] = []
    with unrecorded():
        for index in product(*map(range, data.shape)):
            element = data[index].copy()
            try:
                data[index] = element - eps
                below = [o._array.copy() for o in _floats(function(*inputs))]
                data[index] = element + eps
                above = [o._array.copy() for o in _floats(function(*inputs))]
            finally:
                data[index] = element
            for one, other in zip(below, above, strict=True):
                _check_same(one, other, index, eps)
            rows.append([((a - b) / (2 * eps)).reshape(-1) for a, b in zip(above, below, strict=True)])
        if not rows:
            return [xp.zeros((0, o._array.size)) for o in _floats(function(*inputs))]
    return [xp.stack([row[i] for row in rows]) for i in range(len(rows[0]))]


def _check_same(one: Any, other: Any, index: tuple[int, ...], eps: float) -> None:
    """Raise torch's error where a step changed the shape or dtype of an output."""
    facts = (("shape", Size(one.shape), Size(other.shape)), ("dtype", dtype_of(one), dtype_of(other)))
    for name, have, want in facts:
        if have != want:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {name} when inputs are perturbed on index {index} by "
                f"{eps}, but got: {name}s {have} and {want}."
            )


def analytical_jacobian(output: Tensor, targets: Sequence[Tensor], check_dtypes: bool = False) -> list[Any]:
    """The same matrices (input elements by output elements), one backward pass per column."""
    matrices = [xp.zeros((t._array.size, output._array.size), dtype=t._array.dtype) for t in targets]
    for element in range(output._array.size):
        weights = xp.zeros(output._array.shape, dtype=output._array.dtype)
        weights.reshape(-1)[element] = 1
        column = grad(output, targets, tensor_of(weights), retain_graph=True, allow_unused=True)
        for matrix, gradient, target in zip(matrices, column, targets, strict=True):
            if gradient is None:
                continue
            escape(gradient, "gradcheck")
            if check_dtypes and gradient.dtype != target.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            matrix[:, element] = gradient._array.reshape(-1)
    return matrices


class _Check:
    """One call of gradcheck."""

    def __init__(self, func: Callable[..., Any], inputs: Any, eps: float, atol: float, rtol: float) -> None:
        self.func, self.values = func, _as_tuple(inputs)
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.places = [i for i, v in enumerate(self.values) if isinstance(v, Tensor) and v.requires_grad]
        self.targets: list[Tensor] = [self.values[i] for i in self.places]

    def inputs(self) -> None:
        """Raise torch's errors for inputs that cannot be checked, and warn of those that hardly can."""
        for place, target in zip(self.places, self.targets, strict=True):
            if target.dtype.name != "float64":
                warn(NOT_DOUBLE.format(place))
            if target._array.size and any(
                s == 0 and n > 1 for s, n in zip(target._array.strides, target._array.shape, strict=True)
            ):
                raise RuntimeError(STRIDE_0.format(place))
        if not self.targets:
            raise ValueError(NO_GRAD)

    def numerical(self, outputs: Any) -> list[list[Any]]:
        """A matrix per input and differentiable output."""
        numbers = [nr for nr, out in enumerate(_floats(outputs)) if out.requires_grad]
        matrices = [numerical_jacobian(self.func, self.values, place, self.eps) for place in self.places]
        if not numbers:
            if any((matrix != 0).any() for column in matrices for matrix in column):
                raise GradcheckError("Numerical gradient for function expected to be zero")
            return []
        return [[column[nr] for nr in numbers] for column in matrices]

    def backward(self, outputs: Any, dtypes: bool, nondeterminism: float) -> None:
        """Compare the rules' matrices with those by small steps."""
        numerical = self.numerical(outputs)
        for number, output in enumerate(_differentiable(outputs)):
            first = analytical_jacobian(output, self.targets, dtypes)
            second = analytical_jacobian(output, self.targets)
            if any(a.size and abs(a - b).max() > nondeterminism for a, b in zip(first, second, strict=True)):
                raise GradcheckError(NOT_REENTRANT.format(nondeterminism))
            for column, analytical in enumerate(first):
                self.compare(analytical, numerical[column][number], number, column, "", output)

    def compare(self, analytical: Any, numerical: Any, number: int, column: int, mode: str, output: Any = None) -> None:
        """Raise torch's error where two matrices differ."""
        which = xp.promote_types(analytical.dtype, numerical.dtype)
        if not xp.allclose(analytical.astype(which), numerical.astype(which), rtol=self.rtol, atol=self.atol):
            wrong = GradcheckError(
                f"Jacobian {mode}mismatch for output {number} with respect to input {column},\n"
                f"numerical:{tensor_of(numerical)}\nanalytical:{tensor_of(analytical)}\n"
            )
            concerned = (self.targets[column],) if output is None else (output, self.targets[column])
            raise errors.explained(wrong, tensors=concerned)

    def forward(self, outputs: Any) -> None:
        """The same for forward mode, of all floating outputs."""
        numerical = [numerical_jacobian(self.func, self.values, place, self.eps) for place in self.places]
        count = len(_floats(outputs))
        for column, (place, target) in enumerate(zip(self.places, self.targets, strict=True)):
            rows = [self.pushed(place, element) for element in range(target._array.size)]
            for number in range(count if rows else 0):
                analytical = xp.stack([row[number] for row in rows])
                self.compare(analytical, numerical[column][number], number, column, "computed with forward mode ")

    def pushed(self, place: int, element: int) -> list[Any]:
        """Compute by forward mode how a step in one element changes each floating output."""
        with dual_level():
            arguments = list(self.values)
            for other, target in zip(self.places, self.targets, strict=True):
                tangent = xp.zeros(target._array.shape, dtype=target._array.dtype)
                if other == place:
                    tangent.reshape(-1)[element] = 1
                arguments[other] = make_dual(target.detach(), tensor_of(tangent))
            duals = [unpack_dual(o) for o in _floats(self.func(*arguments))]
        return [
            (xp.zeros_like(primal._array) if tangent is None else tangent._array).reshape(-1)
            for primal, tangent in duals
        ]

    def multiplied(self, outputs: list[Tensor]) -> None:
        """A gradient of zeros gives zeros."""
        zeros = [tensor_of(xp.zeros_like(o._array)) for o in outputs]
        for cotangent, target in zip(
            grad(outputs, self.targets, zeros, True, allow_unused=True), self.targets, strict=True
        ):
            if cotangent is None:
                continue
            if (cotangent._array != 0).any():
                raise GradcheckError("backward not multiplied by grad_output")
            if cotangent.dtype != target.dtype:
                raise GradcheckError("grad is incorrect type")

    def undefined(self, count: int) -> None:
        """Rules work where no gradient comes, to one output or to all."""
        for missing in [None, *(range(count) if count > 1 else ())]:
            outputs = _differentiable(self.func(*self.values))
            roots = [UndefinedGrad.apply(o) if missing in (None, nr) else o for nr, o in enumerate(outputs)]
            zeros = [tensor_of(xp.zeros_like(o._array)) for o in outputs]
            try:
                gradients = grad(roots, self.targets, zeros, allow_unused=True)
            except RuntimeError as error:
                warnings.warn(UNDEFINED_NEW, stacklevel=5)
                raise GradcheckError(
                    f"Expected backward function to handle undefined output grads. {UNDEFINED_NOTES}"
                ) from error
            if any(g is not None and (g._array != 0).any() for g in gradients):
                warnings.warn(UNDEFINED_NEW, stacklevel=5)
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    + UNDEFINED_NOTES
                )


class UndefinedGrad(Function):
    """Passes a value on, and no gradient back."""

    @staticmethod
    def forward(ctx: Any, value: Any) -> Any:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Return whether the rules agree with finite differences, for float64 inputs that require grad.

    `fast_mode` checks everything too; batched gradients are a loop of single ones here, so that there is nothing to
    check of them.

    Raises GradcheckError (unless `raise_exception` is False), with both Jacobians, ValueError where no input requires
    grad.  Source: torch.autograd.gradcheck.

    >>> import engine as torch
    >>> gradcheck(lambda x: x * x, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        check = _Check(func, inputs, eps, atol, rtol)
        check.inputs()
        outputs = func(*check.values)
        if check_backward_ad:
            check.backward(outputs, check_grad_dtypes, nondet_tol)
        if check_forward_ad:
            check.forward(outputs)
        roots = _differentiable(outputs)
        if check_backward_ad and roots:
            check.multiplied(roots)
            if check_undefined_grad:
                check.undefined(len(roots))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
    fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """gradcheck of the gradients: whether the rules' own derivatives are right.

    Raises GradcheckError (unless `raise_exception` is False), with both Jacobians, ValueError where no input requires
    grad.  Source: torch.autograd.gradgradcheck.

    >>> import engine as torch
    >>> gradgradcheck(lambda x: x * x * x, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    seeds = _as_tuple(inputs)
    outputs = _differentiable(func(*seeds))
    if grad_outputs is None:
        draws = xp.random.default_rng(0)
        weights = [tensor_of(draws.standard_normal(o._array.shape), requires_grad=True) for o in outputs]
    else:
        weights = list(_as_tuple(grad_outputs))
    places = [i for i, v in enumerate(seeds) if isinstance(v, Tensor) and v.requires_grad]

    def slopes(*values: Any) -> tuple[Tensor, ...]:
        points = [v.detach().requires_grad_() if isinstance(v, Tensor) and i in places and not v.requires_grad else v
                  for i, v in enumerate(values[: len(seeds)])]  # fmt: skip
        roots = _differentiable(func(*points))
        gradients = grad(roots, [points[i] for i in places], values[len(seeds) :], create_graph=True, allow_unused=True)
        return tuple(f for f in gradients if f is not None)

    return gradcheck(
        enable_grad(slopes), (*seeds, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
    )  # fmt: skip
