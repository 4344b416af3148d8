"""Linear and bilinear maps.  Source: torch.nn.functional."""

from __future__ import annotations

from ...api.calls.check import need_tensor, one_dim
from ...api.linalg.linalg import check_addmm, matmul
from ...api.shape.shape import reshape
from ...arrays import errors
from ...ops import elementwise as el
from ...ops import linalg as la
from ...ops import shape as sh
from ...ops.trilinear import trilinear
from ...tensor.tensor import Tensor

__all__ = [
    "bilinear",
    "linear",
]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, over the last dimension of `input`.

    Shapes: (*, in), (out, in), (out) -> (*, out); (*, in), (in) -> (*).  Raises RuntimeError where the last sizes
    differ.  Source: torch.nn.functional.linear.

    >>> import engine as torch
    >>> torch.nn.functional.linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([5.0]))
    tensor([[16.]])
    """
    need_tensor(input, "linear")
    need_tensor(weight, "linear", "weight", 2)
    rank = input._array.ndim
    if not rank or not weight._array.ndim:
        raise errors.runtime(
            f"both arguments to linear need to be at least 1D, but they are {rank}D and {weight._array.ndim}D"
        )
    if weight._array.ndim > 2:
        raise errors.runtime(f"t() expects a tensor with <= 2 dimensions, but self is {weight._array.ndim}D")
    columns = sh.t(weight)
    if bias is None:
        return matmul(input, columns)
    need_tensor(bias, "linear", "bias", 3)
    if rank == 2:
        check_addmm(bias, input, columns)
        return la.addmm(bias, input, columns)
    if weight._array.ndim == 2 and _is_row(bias) and input._array.flags.c_contiguous:
        return _flattened(input, columns, bias)
    return el.add(matmul(input, columns), bias)


def _is_row(bias: Tensor) -> bool:
    """Return whether the bias is one row, the same for every row of the product."""
    shape = bias._array.shape
    return len(shape) == 1 or (len(shape) == 2 and shape[0] == 1)


def _flattened(input: Tensor, columns: Tensor, bias: Tensor) -> Tensor:
    """The batch seen as one tall matrix."""
    shape = input._array.shape
    rows = 1
    for n in shape[:-1]:
        rows *= n
    tall = sh.view(input, (rows, shape[-1]))
    check_addmm(bias, tall, columns)
    return sh.view(la.addmm(bias, tall, columns), (*shape[:-1], columns._array.shape[1]))


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[o] @ input2 + bias[o] for each output o, over the last dimensions of the inputs.

    Shapes: (*, in1), (*, in2), (out, in1, in2), (out) -> (*, out).  Raises RuntimeError where the sizes differ.
    Source: torch.nn.functional.bilinear.

    >>> import engine as torch
    >>> torch.nn.functional.bilinear(torch.ones(5, 2), torch.ones(5, 3), torch.ones(4, 2, 3)).shape
    torch.Size([5, 4])
    """
    for place, (name, tensor) in enumerate((("input1", input1), ("input2", input2), ("weight", weight)), 1):
        need_tensor(tensor, "bilinear", name, place)
    first, second, table = input1._array.shape, input2._array.shape, weight._array.shape
    if len(first) != len(second):
        raise errors.runtime(f"bilinear(): input dimensions do not match: got {len(first)} and {len(second)}")
    for d, (m, n) in enumerate(zip(first[:-1], second[:-1], strict=True)):
        if m != n:
            raise errors.runtime(f"bilinear(): input batch dimensions do not match at dim {d}: got {m} and {n}")
    for number, (size, weight_size) in enumerate(
        ((first[-1], table[one_dim(1, len(table))]), (second[-1], table[one_dim(2, len(table))])), 1
    ):
        if size != weight_size:
            raise errors.runtime(
                f"bilinear(): input{number} size does not match weight size: got {size} but expected {weight_size}"
            )
    if bias is not None and bias._array.shape[0] != table[0]:
        raise errors.runtime(
            f"bilinear(): bias size does not match weight size: got {bias._array.shape[0]} but expected {table[0]}"
        )
    product = trilinear(reshape(input1, -1, first[-1]), weight, reshape(input2, -1, second[-1]))
    result = sh.view(product, (*first[:-1], table[0]))
    return result if bias is None else el.add(result, bias)
