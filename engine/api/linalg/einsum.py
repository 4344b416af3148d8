"""einsum: products summed over named dimensions, taken apart as torch does.

Every operand is brought to the same dimensions, output first, then what is summed, those that it lacks with size 1.
Then operands are multiplied two by two: by one batched product of matrices, or element by element where nothing is
summed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...arrays import errors
from ...ops import elementwise as el
from ...ops import shape as sh
from ...ops import views as vw
from ...ops.reduction import sum_dim
from ...tensor.tensor import Tensor
from ..shape.shape import reshape, unsqueeze, view
from ..shape.transposes import movedim
from .linalg import bmm

__all__ = ["einsum"]

ELLIPSIS = "..."


@dataclass(frozen=True, slots=True)
class Equation:
    """Subscripts of each operand; of the output (None where none are given)."""

    operands: list[list[str]]
    output: list[str] | None


def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation such as "ij,jk->ik" names, or lists of subscripts after each operand.

    Shapes: those of the equation.  Raises RuntimeError where the operands do not fit the equation.
    Source: torch.einsum.

    >>> import engine as torch
    >>> torch.einsum("ij,j->i", torch.ones(2, 3), torch.arange(3.0))
    tensor([3., 3.])
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        text, operands = _as_text(args)
    else:
        text, operands = args[0], list(args[1:])
        parts: Any = operands[0]
        if len(operands) == 1 and isinstance(parts, (list, tuple)):
            operands = list(parts)
    equation = _parsed(text)
    if len(equation.operands) != len(operands):
        few = "fewer" if len(operands) < len(equation.operands) else "more"
        raise errors.runtime(f"einsum(): {few} operands were provided than specified in the equation")
    return _Contraction(equation, operands).result()


def _as_text(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """The equation of operands that stand each before a list of numbers."""

    def letter(n: Any) -> str:
        if n is Ellipsis:
            return ELLIPSIS
        if not 0 <= n < 52:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)

    text = ",".join("".join(letter(n) for n in labels) for labels in args[1::2])
    if len(args) % 2:
        return text + "->" + "".join(letter(n) for n in args[-1]), list(args[:-1:2])
    return text, list(args[::2])


# -- reading ----------------------------------------------------------------------------------------------------------


def _parsed(text: str) -> Equation:
    arrow = text.find("->")
    left = text if arrow < 0 else text[:arrow]
    operands: list[list[str]] = []
    start = 0
    for number, part in enumerate(left.split(",")):
        operands.append(_labels(part, start, f"operand {number}"))
        start += len(part) + 1
    return Equation(operands, None if arrow < 0 else _labels(text[arrow + 2 :], arrow + 2, "output", True))


def _labels(part: str, start: int, whose: str, is_output: bool = False) -> list[str]:
    """The subscripts in a part of the equation, which begins at `start`."""
    labels: list[str] = []
    place = 0
    where = "in the output" if is_output else f"for {whose}"
    while place < len(part):
        mark = part[place]
        if mark == " ":
            place += 1
        elif mark == ".":
            if ELLIPSIS in labels:
                raise errors.runtime(
                    f"einsum(): found '.' {where} for which an ellipsis "
                    f"{'(...)' if is_output else ''}was already found".replace("  ", " ")
                )
            if part[place : place + 3] != ELLIPSIS:
                raise errors.runtime(f"einsum(): found '.' {where} that is not part of any ellipsis")
            labels.append(ELLIPSIS)
            place += 3
        elif mark.isascii() and mark.isalpha():
            if is_output and mark in labels:
                raise errors.runtime(f"einsum(): output subscript {mark} appears more than once in the output")
            labels.append(mark)
            place += 1
        else:
            raise errors.runtime(
                f"einsum(): invalid subscript given at index {start + place} in the equation string, subscripts must "
                "be in [a-zA-Z]"
            )
    return labels


# -- multiplying ------------------------------------------------------------------------------------------------------


class _Contraction:
    """One call: the dimensions that all operands get, and how they are multiplied."""

    def __init__(self, equation: Equation, operands: list[Tensor]) -> None:
        self.equation, self.operands = equation, operands
        self.hidden = max((self._covered(n) for n in range(len(operands))), default=0)
        self.place: dict[str, int] = {}
        self.outputs = self._output_places()
        self.rank = self.outputs
        for label in sorted({name for labels in equation.operands for name in labels if name != ELLIPSIS}):
            if label not in self.place:
                self.place[label] = self.rank
                self.rank += 1

    def _covered(self, number: int) -> int:
        """How many dimensions the ellipsis of an operand stands for."""
        labels, rank = self.equation.operands[number], self.operands[number]._array.ndim
        if ELLIPSIS in labels:
            if rank < len(labels) - 1:
                raise errors.runtime(
                    f"einsum(): the number of subscripts in the equation ({len(labels) - 1}) is more than the number "
                    f"of dimensions ({rank}) for operand {number}"
                )
            return int(rank) - len(labels) + 1
        if rank != len(labels):
            raise errors.runtime(
                f"einsum(): the number of subscripts in the equation ({len(labels)}) does not match the number of "
                f"dimensions ({rank}) for operand {number} and no ellipsis was given"
            )
        return 0

    def _output_places(self) -> int:
        """Give the subscripts of the output their places; how many dimensions it has."""
        names = [name for labels in self.equation.operands for name in labels]
        output = self.equation.output
        if output is None:  # the ellipsis, then what appears once, in the order of the alphabet
            output = [ELLIPSIS] if ELLIPSIS in names else []
            output += sorted(name for name in set(names) - {ELLIPSIS} if names.count(name) == 1)
        count = 0
        for label in output:
            if label != ELLIPSIS and label not in names:
                raise errors.runtime(
                    f"einsum(): output subscript {label} does not appear in the equation for any input operand"
                )
            self.place[label] = count
            count += self.hidden if label == ELLIPSIS else 1
        if ELLIPSIS in names and ELLIPSIS not in self.place:  # an ellipsis that is not in the output is summed
            self.place[ELLIPSIS] = count
            self.summed_hidden = self.hidden
        return count

    summed_hidden = 0

    def _aligned(self, number: int) -> Tensor:
        """An operand in the dimensions of all."""
        operand = self.operands[number]
        order = [-1] * self.rank
        seen: dict[str, int] = {}
        j = 0
        for label in self.equation.operands[number]:
            if label == ELLIPSIS:
                for _ in range(self.hidden - self._covered(number)):
                    operand = unsqueeze(operand, j)
                for k in range(self.hidden):
                    order[self.place[label] + k] = j
                    j += 1
            elif label in seen:
                dim = seen[label]
                sizes = operand._array.shape
                if sizes[j] != sizes[dim]:
                    raise errors.runtime(
                        f"einsum(): subscript {label} is repeated for operand {number} but the sizes don't match, "
                        f"{sizes[j]} != {sizes[dim]}"
                    )
                operand = movedim(vw.diagonal(operand, 0, dim, j), -1, dim)
            else:
                seen[label] = j
                order[self.place[label]] = j
                j += 1
        for place, name in enumerate(order):
            if name == -1:
                operand = unsqueeze(operand, -1)
                order[place] = j
                j += 1
        return sh.permute(operand, tuple(order))

    def _check_sizes(self, aligned: list[Tensor]) -> None:
        names = {place: label for label, place in self.place.items() if label != ELLIPSIS}
        sizes = [1] * self.rank
        for number, x in enumerate(aligned):
            for dim, n in enumerate(x._array.shape):
                if sizes[dim] == 1:
                    sizes[dim] = n
                elif n not in (1, sizes[dim]):
                    if dim in names:
                        raise errors.runtime(
                            f"einsum(): subscript {names[dim]} has size {n} for operand {number} which does not "
                            f"broadcast with previously seen size {sizes[dim]}"
                        )
                    raise errors.runtime(
                        f"einsum(): dimension {self._own_dim(number, dim)} covered by ellipsis in operand {number}"
                        f"has size {n} which does not broadcast with previously seen ellipsis with size {sizes[dim]} "
                        "for the respective dimension"
                    )

    def _own_dim(self, number: int, dim: int) -> int:
        """Which dimension of an operand an ellipsis brought to place `dim`."""
        labels = self.equation.operands[number]
        missing = self.hidden - self._covered(number)
        return dim - self.place[ELLIPSIS] - missing + labels.index(ELLIPSIS)

    def result(self) -> Tensor:
        """The operands multiplied from the left, each dimension summed with the last pair that has it."""
        if self.summed_hidden:
            shift = self.summed_hidden
            self.rank += shift
            for label, place in self.place.items():
                if label != ELLIPSIS and place >= self.outputs:
                    self.place[label] = place + shift
        left = [self._aligned(number) for number in range(len(self.operands))]
        self._check_sizes(left)
        inner = range(self.outputs, self.rank)
        number = {dim: sum(x._array.shape[dim] != 1 for x in left) for dim in inner}
        product = left[0]
        for other in left[1:]:
            product = self._step(product, other, number)
        if not inner:
            return product
        if len(left) > 1:
            return view(product, tuple(product._array.shape[: self.outputs]))
        return sum_dim(product, tuple(inner))

    def _step(self, a: Tensor, b: Tensor, number: dict[int, int]) -> Tensor:
        """The product of two operands, summed over what no later one has."""
        only_a, only_b, shared = [], [], []
        for dim in number:
            m, n = a._array.shape[dim], b._array.shape[dim]
            if m != 1 and n != 1:
                number[dim] -= 1
                if number[dim] == 1:
                    shared.append(dim)
                    number[dim] = 0
            elif number[dim] == 1:
                if m != 1:
                    only_a.append(dim)
                    number[dim] = 0
                elif n != 1:
                    only_b.append(dim)
                    number[dim] = 0
        a = sum_dim(a, tuple(only_a), True) if only_a else a
        b = sum_dim(b, tuple(only_b), True) if only_b else b
        return product_of_pair(a, b, shared)


def product_of_pair(left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
    """The product of two tensors of one rank, summed over dimensions that stay with size 1: one batched product."""
    if not summed:
        return el.mul(left, right)
    both: list[int] = []
    of_left: list[int] = []
    of_right: list[int] = []
    a, b = left._array.shape, right._array.shape
    for dim, (m, n) in enumerate(zip(a, b, strict=True)):
        if dim in summed:
            continue
        (both if m != 1 and n != 1 else of_left if m != 1 else of_right).append(dim)
    batch, rows = math.prod(a[d] for d in both), math.prod(a[d] for d in of_left)
    columns, depth = math.prod(b[d] for d in of_right), math.prod(a[d] for d in summed)
    product = bmm(
        reshape(sh.permute(left, (*both, *of_left, *summed, *of_right)), batch, rows, depth),
        reshape(sh.permute(right, (*both, *summed, *of_right, *of_left)), batch, depth, columns),
    )
    sizes = (*(a[d] for d in both), *(a[d] for d in of_left), *(1 for _ in summed), *(b[d] for d in of_right))
    order = [*both, *of_left, *summed, *of_right]
    return sh.permute(view(product, sizes), tuple(order.index(d) for d in range(len(a))))


METHODS: tuple[str, ...] = ()
"""It is no method of Tensor."""
