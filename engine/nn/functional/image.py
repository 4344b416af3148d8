"""Interpolation, grids, and channels exchanged with places.  Source: torch.nn.functional."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ...api.calls.check import need_tensor
from ...arrays import errors
from ...arrays.session import callers_level
from ...ops import image as im
from ...ops import resampling as rs
from ...ops import sampling as sa
from ...tensor.tensor import Tensor
from .averaging import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "interpolate",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
]

# -- interpolation ------------------------------------------------------------------------------------------------

MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
RANKS = {"linear": 1, "bilinear": 2, "trilinear": 3}
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """(batch, channels, *places) resampled to `size`, or to its sizes times `scale_factor`.

    `mode` is "nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear", or "lanczos" (with
    `antialias`); `align_corners` makes the outermost places of both images fall together.

    Shapes: (N, C, *) -> (N, C, *').  Raises ValueError where both or none of `size` and `scale_factor` are given.
    Source: torch.nn.functional.interpolate.

    >>> import engine as torch
    >>> interpolate(torch.tensor([[[1.0, 2.0]]]), 4, mode="linear")
    tensor([[[1.0000, 1.2500, 1.7500, 2.0000]]])
    """
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    output_sizes, factors = _sizes(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None:
        spatial = input._array.shape[2:]
        output_sizes = tuple(int(float(n) * factor) for n, factor in zip(spatial, factors, strict=True))
        if recompute_scale_factor or mode == "area":
            factors = None
    rank = input._array.ndim - 2
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and rank == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    _check_mode(mode, rank, bool(align_corners), antialias)
    if mode == "area":
        return _area(input, rank, output_sizes)
    _check_output(input, rank, output_sizes, mode)
    scales = (None,) * rank if factors is None else tuple(float(f) for f in factors)
    if mode == "nearest":
        return rs.upsample_nearest[rank](input, output_sizes, scales)
    if mode == "nearest-exact":
        return rs.upsample_nearest_exact[rank](input, output_sizes, scales)
    if antialias:
        by_mode = {
            "bilinear": rs.upsample_bilinear_aa, "bicubic": rs.upsample_bicubic_aa, "lanczos": rs.upsample_lanczos_aa
        }  # fmt: skip
        return by_mode[mode](input, output_sizes, bool(align_corners), scales)
    function = rs.upsample_bicubic if mode == "bicubic" else rs.upsample_linear[rank]
    return function(input, output_sizes, bool(align_corners), scales)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The older name of `interpolate`.

    Shapes: (N, C, *) -> (N, C, *').  Raises ValueError where both or none of `size` and `scale_factor` are given.
    Source: torch.nn.functional.upsample.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.nn.functional.upsample(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    warnings.warn(UPSAMPLE, stacklevel=callers_level())
    return interpolate(input, size, scale_factor, mode, align_corners)


def _sizes(input: Tensor, size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """The sizes wanted, or else the factors: one per spatial dimension."""
    rank, spatial = input._array.ndim - 2, list(input._array.shape[2:])
    words = "Input and {} must have the same number of spatial dimensions, but got input with spatial dimensions of {} "
    hint = ". Please provide input tensor in (N, C, d1, d2, ...,dK) format and {} in ({}1, {}2, ...,{}K) format."
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            return (size,) * rank, None
        if len(size) != rank:
            raise ValueError(
                words.format("output", spatial) + f"and output size of {size}" + hint.format("output size", *"ooo")
            )
        if not all(isinstance(n, int) for n in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(n) for n in size]}"
            )
        return tuple(size), None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (tuple, list)):
        return None, (scale_factor,) * rank
    if len(scale_factor) != rank:
        raise ValueError(
            words.format("scale_factor", spatial)
            + f"and scale_factor of shape {scale_factor}"
            + hint.format("scale_factor", *"sss")
        )
    return None, tuple(scale_factor)


def _check_mode(mode: str, rank: int, align_corners: bool, antialias: bool) -> None:
    """Raise torch's errors for a mode that does not fit the number of dimensions."""
    if mode in ("nearest", "nearest-exact", "area") and rank in (1, 2, 3):
        return
    if mode in RANKS and rank in (1, 2, 3):
        if RANKS[mode] != rank:
            raise NotImplementedError(f"Got {rank + 2}D input, but {mode} mode needs {RANKS[mode] + 2}D input")
        return
    if mode in ("bicubic", "lanczos") and rank == 2:
        if mode == "lanczos" and align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if mode == "lanczos" and not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        return
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank + 2}D) for the modes: {MODES} (got {mode})"
    )


def _check_output(input: Tensor, rank: int, output_sizes: tuple[int, ...], mode: str) -> None:
    sizes = list(input._array.shape)
    if not all(isinstance(n, int) for n in output_sizes):
        raise TypeError(
            f"upsample_{mode}{rank}d() received an invalid combination of arguments - got (Tensor, list, NoneType), "
            "but expected one of:"
        )
    spatial = sizes[2:]
    if min(*spatial, *output_sizes) <= 0:
        letters = SPATIAL[rank]
        have, want = (
            ", ".join(f"{x}: {n}" for x, n in zip(letters, ns, strict=True)) for ns in (spatial, output_sizes)
        )
        raise errors.runtime(f"Input and output sizes should be greater than 0, but got input ({have}) output ({want})")
    if not sizes[1]:
        raise errors.runtime(f"Non-empty {rank + 2}D data tensor expected but got a tensor with sizes {sizes}")
    if input._array.dtype.kind != "f" and not (mode.startswith("nearest") and input._array.dtype == "uint8"):
        word = input.dtype.legacy.removesuffix("Tensor")
        name = {"nearest": f"upsample_nearest{rank}d", "nearest-exact": f"_upsample_nearest_exact{rank}d"}.get(
            mode, f"upsample_{mode}{'' if mode in RANKS else '2d'}"
        )
        if mode in RANKS:
            name += f"{rank}d"
        raise NotImplementedError(f"\"{name}{'_channels_last' if rank > 1 else ''}\" not implemented for '{word}'")


def _area(input: Tensor, rank: int, output_sizes: tuple[int, ...]) -> Tensor:
    if rank == 1:
        return adaptive_avg_pool1d(input, output_sizes)
    return (adaptive_avg_pool2d if rank == 2 else adaptive_avg_pool3d)(input, output_sizes)


# -- grids --------------------------------------------------------------------------------------------------------

UPSAMPLE = "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead."
DEFAULT = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The positions (batch, *places, rank) of an image under the affine maps `theta` (batch, rank, rank + 1).

    Shapes: (N, 2, 3) -> (N, H, W, 2); (N, 3, 4) -> (N, D, H, W, 3).  Raises ValueError for a `theta` of other
    dimensions, NotImplementedError for a `size` that is not of 4 or 5.  Source: torch.nn.functional.affine_grid;
    Jaderberg et al., 2015.

    >>> import engine as torch
    >>> torch.nn.functional.affine_grid(torch.eye(2, 3)[None], (1, 1, 2, 2), align_corners=True)[0, 0]
    tensor([[-1., -1.],
            [ 1., -1.]])
    """
    if align_corners is None:
        warnings.warn(DEFAULT, stacklevel=callers_level())
    if theta._array.dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta._array.ndim != 3 or theta._array.shape[1:] != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=callers_level(),
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta._array.shape[0] != size[0]:
        raise errors.runtime(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {rank + 1}] but got: "
            f"[{theta._array.shape[0]}, {rank + 1}]."
        )
    return im.affine_grid_generator(theta, tuple(size), bool(align_corners))


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """`input` (batch, channels, *places) read at the positions `grid` (batch, *out, rank), where -1 ... 1 spans it.

    Shapes: (N, C, H, W), (N, H', W', 2) -> (N, C, H', W'); (N, C, D, H, W), (N, D', H', W', 3) -> (N, C, D', H', W').
    Raises RuntimeError where the dimensions or batches differ.  Source: torch.nn.functional.grid_sample; Jaderberg et
    al., 2015.

    >>> import engine as torch
    >>> image, places = torch.arange(4.0).reshape(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)
    >>> torch.nn.functional.grid_sample(image, places, align_corners=True)
    tensor([[[[1.5000]]]])
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(DEFAULT, stacklevel=callers_level())
    _check_grid(input, grid, mode)
    statics = (
        ("bilinear", "nearest", "bicubic").index(mode), ("zeros", "border", "reflection").index(padding_mode),
        bool(align_corners),
    )  # fmt: skip
    return sa.grid_sampler[input._array.ndim - 2](input, grid, *statics)


def _check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    sizes, places = list(input._array.shape), list(grid._array.shape)
    rank = len(sizes) - 2
    if sizes[0] != places[0]:
        raise errors.runtime(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{sizes} and grid with sizes {places}"
        )
    if places[-1] != rank:
        raise errors.runtime(
            f"grid_sampler(): expected grid to have size {rank} in last dimension, but got grid with sizes {places}"
        )
    for place, n in enumerate(sizes[2:], 2):
        if not n:
            raise errors.runtime(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {sizes} "
                f"with dimension {place} being empty"
            )
    if rank not in (2, 3) or len(places) != len(sizes):
        raise errors.runtime(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with "
            f"sizes {sizes} and grid with sizes {places}"
        )
    if rank == 3 and mode == "bicubic":
        raise errors.runtime("grid_sampler(): bicubic interpolation only supports 4D input")
    words = [x.dtype.legacy.removesuffix("Tensor") for x in (input, grid)]
    if words[0] != words[1]:
        raise errors.runtime(f"expected scalar type {words[0]} but found {words[1]}")
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"grid_sampler_{rank}d_cpu_kernel_impl\" not implemented for '{words[0]}'")


# -- channels and places exchanged --------------------------------------------------------------------------------


def _need_rank(name: str, input: Tensor) -> None:
    need_tensor(input, name)
    if input._array.ndim < 3:
        raise errors.runtime(
            f"{name} expects input to have at least 3 dimensions, but got input with {input._array.ndim} dimension(s)"
        )


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, channels r², height, width) as (*, channels, height r, width r).

    Shapes: (*, C, H, W) -> (*, C / r², H r, W r), r = upscale_factor.  Raises RuntimeError where r² does not divide C.
    Source: torch.nn.functional.pixel_shuffle; Shi et al., 2016.

    >>> import engine as torch
    >>> torch.nn.functional.pixel_shuffle(torch.ones(1, 4, 2, 3), 2).shape
    torch.Size([1, 1, 4, 6])
    """
    _need_rank("pixel_shuffle", input)
    if upscale_factor <= 0:
        raise errors.runtime(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    channels, square = input._array.shape[-3], upscale_factor**2
    if channels % square:
        raise errors.runtime(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {square}"
        )
    return im.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, channels, height r, width r) as (*, channels r², height, width).

    Shapes: (*, C, H, W) -> (*, C r², H / r, W / r), r = downscale_factor.  Raises RuntimeError where r does not divide
    H and W.  Source: torch.nn.functional.pixel_unshuffle.

    >>> import engine as torch
    >>> torch.nn.functional.pixel_unshuffle(torch.ones(1, 1, 4, 6), 2).shape
    torch.Size([1, 4, 2, 3])
    """
    _need_rank("pixel_unshuffle", input)
    if downscale_factor <= 0:
        raise errors.runtime(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for name, place in (("height", -2), ("width", -1)):
        n = input._array.shape[place]
        if n % downscale_factor:
            raise errors.runtime(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({place})={n} is "
                f"not divisible by {downscale_factor}"
            )
    return im.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels (dimension 1) of `groups` groups, one of each group after the other.

    Shapes: (N, C, *) -> (N, C, *).  Raises RuntimeError where `groups` does not divide C.
    Source: torch.nn.functional.channel_shuffle; Zhang et al., 2017.

    >>> import engine as torch
    >>> torch.nn.functional.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    sizes = list(input._array.shape)
    if len(sizes) <= 2:
        raise errors.runtime(f"channel_shuffle expects input with > 2 dims, but got input with sizes {sizes}")
    if groups <= 0:
        raise errors.runtime(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if sizes[1] % groups:
        raise errors.runtime(
            f"Number of channels must be divisible by groups. Got {sizes[1]} channels and {groups} groups."
        )
    return im.channel_shuffle(input, groups)
