"""More places around an image: a number, its mirror, its ends, or a ring.  Source: torch.nn.functional."""

from __future__ import annotations

from collections.abc import Sequence

from ...api.calls.check import need_tensor
from ...api.creation import fills
from ...arrays import errors
from ...ops import image as im
from ...ops import inplace as ip
from ...ops import resampling as rs
from ...ops import shape as sh
from ...tensor.inplace import apply_inplace
from ...tensor.tensor import Tensor

__all__ = ["pad"]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Padding around the last dimensions: (before, after) per dimension, from the last; negative numbers crop.

    `mode` is "constant" (with `value`), "reflect", "replicate" or "circular".

    Shapes: (*) -> (*'), as many dimensions.  Raises RuntimeError where `pad` is odd or too long, NotImplementedError
    for a rank that the mode does not take.  Source: torch.nn.functional.pad.

    >>> import engine as torch
    >>> torch.nn.functional.pad(torch.tensor([[1.0, 2.0, 3.0]]), (2, 1), "reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    need_tensor(input, "pad")
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    sides, rank = tuple(pad), input._array.ndim
    if len(sides) % 2:
        raise errors.runtime("Padding length must be divisible by 2")
    if len(sides) > 2 * rank:
        raise errors.runtime(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(sides)} and input of dimension {rank}"
        )
    if mode == "constant":
        return im.constant_pad_nd(_cut_to_fit(input, sides), sides, 0 if value is None else value)
    if value:
        raise errors.runtime(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    count = len(sides) // 2
    if count not in (1, 2, 3) or rank not in (count + 1, count + 2):
        raise NotImplementedError(f"Padding size {len(sides)} is not supported for {rank}D input tensor.")
    if mode == "circular":
        return _circular(input, sides)
    _check_repeated(input, sides, mode)
    return (rs.reflection_pad if mode == "reflect" else rs.replication_pad)[count](input, sides)


def _cut_to_fit(input: Tensor, sides: tuple[int, ...]) -> Tensor:
    """The input itself; an error where more is cut off than there is."""
    sizes = input._array.shape
    for i in range(len(sides) // 2):
        n = sizes[len(sizes) - 1 - i]
        if n + min(sides[2 * i], 0) < 0 or n + min(sides[2 * i], 0) + min(sides[2 * i + 1], 0) < 0:
            raise errors.runtime("narrow(): length must be non-negative.")
    return input


def _check_repeated(input: Tensor, sides: tuple[int, ...], mode: str) -> None:
    sizes, count = list(input._array.shape), len(sides) // 2
    if 0 in sizes[-count - 1 :]:
        raise errors.runtime(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {sizes}"
        )
    wide = list(sizes)
    for i in range(count):
        place = len(sizes) - 1 - i
        before, after = sides[2 * i], sides[2 * i + 1]
        if mode == "reflect" and max(before, after) >= sizes[place]:
            raise errors.runtime(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {place} of input {sizes}"
            )
        wide[place] += before + after
    if min(wide) < 0:
        raise errors.runtime(f"Trying to create tensor with negative dimension {min(wide)}: {wide}")


def _circular(input: Tensor, sides: tuple[int, ...]) -> Tensor:
    """Copies into slices of one empty tensor, as in torch: the middle first, then what wraps around each end."""
    sizes, count = input._array.shape, len(sides) // 2
    dims = [(len(sizes) - 1 - i, sides[2 * i], sides[2 * i + 1]) for i in reversed(range(count))]
    wide = list(sizes)
    for dim, before, after in dims:
        if max(before, after) > sizes[dim]:
            raise errors.runtime("Padding value causes wrapping around more than once.")
        wide[dim] += before + after
        if wide[dim] < 0:
            raise errors.runtime("Negative padding value is resulting in an empty dimension")
    out = fills.empty(*wide, dtype=input.dtype, device=input.device)
    target, source = out, input
    for dim, before, after in dims:
        target = sh.slice_(target, dim, max(before, 0), wide[dim] - max(after, 0))
        source = sh.slice_(source, dim, max(-before, 0), sizes[dim] - max(-after, 0))
    _copy(target, source)
    for dim, before, after in dims:
        n, inner = wide[dim], wide[dim] - max(after, 0)
        if before > 0:
            _copy(sh.slice_(out, dim, 0, before), sh.slice_(out, dim, inner - before, inner))
        if after > 0:
            start = max(before, 0)
            _copy(sh.slice_(out, dim, n - after, n), sh.slice_(out, dim, start, start + after))
    return out


def _copy(target: Tensor, source: Tensor) -> None:
    apply_inplace(ip.copy.op, (target, source), {})
