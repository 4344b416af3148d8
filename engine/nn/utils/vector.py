"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...api.calls.check import typename
from ...api.inplace.inplace import set_data
from ...api.shape.joining import cat
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters, one after the other; differentiable.

    Shapes: (*), ... -> (N) of N elements.  Source: torch.nn.utils.parameters_to_vector.

    >>> import engine as torch
    >>> torch.nn.utils.parameters_to_vector([torch.tensor([1.0, 2.0]), torch.tensor([[3.0]])])
    tensor([1., 2., 3.])
    """
    joined: Tensor = cat([parameter.view(-1) for parameter in parameters])
    return joined


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write the elements of a vector into the parameters, one after the other.

    Shapes: (N), (*), ...  Raises TypeError where `vec` is no tensor.  Source: torch.nn.utils.vector_to_parameters.

    >>> import engine as torch
    >>> w = torch.zeros(2)
    >>> torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0]), [w])
    >>> w
    tensor([1., 2.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    with no_grad():
        for parameter in parameters:
            end = start + parameter.numel()
            set_data(parameter, vec[start:end].reshape(tuple(parameter.shape)))
            start = end
