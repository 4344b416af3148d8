"""PyTorch's ops as the engine's: for a call of an aten op, the op of ours that computes the same, and its arguments.

The engine has PyTorch's names, so most rows of the table are a name; the others say what is called or given in another
way.  Nothing here imports torch: a tensor is whatever has a `shape`.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.arrays.element_types import ELEMENT_TYPES, eps

if TYPE_CHECKING:
    from engine.ops.op import Op

    Ops = Mapping[str, Op]
    """The engine's ops by their names, which the reader of a log has: the watched program needs none of them."""


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A call of an op of the engine: `inputs` by their names in a trace (`tensors[0]` in a list), tensors or numbers,
    and `attrs`.  It has the first `results` of PyTorch's results (None: all); one that is `inplace` writes its first
    input.
    """

    op: str
    inputs: tuple[tuple[str, Any], ...]
    attrs: Mapping[str, Any]
    results: int | None = None
    inplace: bool = False


SAME = """
abs acos acosh _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d addbmm addcdiv addcmul
addmm addmv addr affine_grid_generator alias amax amin aminmax angle argmax argmin as_strided as_strided_copy
as_strided_scatter asin asinh atan atan2 atanh avg_pool2d avg_pool3d baddbmm binary_cross_entropy
binary_cross_entropy_with_logits bincount bitwise_not block_diag bmm cat ceil celu celu_ channel_shuffle
cholesky_inverse cholesky_solve clamp clamp.Tensor clamp_max clamp_max.Tensor clamp_min clamp_min.Tensor clone col2im
constant_pad_nd convolution copysign.Scalar cos cosh count_nonzero cummax cummin cumprod cumsum deg2rad detach
diag_embed diagonal diagonal_copy diagonal_scatter digamma dist div.Scalar dot elu elu_ embedding _embedding_bag
eq_.Scalar eq_.Tensor erf erfc erfinv _euclidean_dist exp exp2 expand expm1 flip floor floor_divide fmax fmin
fmod.Scalar frac gather gcd ge_.Scalar ge_.Tensor gelu glu grid_sampler_2d grid_sampler_3d gt_.Scalar gt_.Tensor
hardshrink hardsigmoid hardswish hardtanh heaviside histc huber_loss hypot i0 igamma igammac im2col index_add index_copy
index_put index_reduce index_select isinf isnan isneginf isposinf kthvalue lcm le_.Scalar le_.Tensor leaky_relu
leaky_relu_ lerp.Scalar lerp.Tensor lgamma linalg_cholesky_ex linalg_cross _linalg_det _linalg_eigh
linalg_householder_product linalg_inv_ex linalg_lstsq linalg_lu linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp
linalg_qr _linalg_slogdet _linalg_solve_ex linalg_solve_triangular linalg_vector_norm log log10 log1p log2 logaddexp
logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor logit logsumexp lt_.Scalar lt_.Tensor
masked_fill.Tensor masked_scatter masked_select max max.dim max_pool2d_with_indices max_pool3d_with_indices max_unpool2d
max_unpool3d maximum mean mean.dim median median.dim min min.dim minimum mish mm mode mse_loss mul.Scalar
multi_margin_loss mv mvlgamma nan_to_num nanmedian nanmedian.dim nansum narrow_copy native_batch_norm native_group_norm
native_layer_norm ne_.Scalar ne_.Tensor neg nextafter nll_loss2d_forward nll_loss_forward norm.ScalarOpt_dim
_pdist_forward permute pixel_shuffle pixel_unshuffle polygamma pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor
_prelu_kernel prod prod.dim_int put rad2deg reciprocal reflection_pad1d reflection_pad2d reflection_pad3d relu
remainder.Scalar remainder.Scalar_Tensor renorm
repeat replication_pad1d replication_pad2d replication_pad3d roll rot90 round round.decimals
rrelu_with_noise rrelu_with_noise_ rsqrt rsub.Scalar rsub.Tensor _scaled_dot_product_flash_attention_for_cpu
scatter.reduce scatter.value scatter.value_reduce scatter_add select_scatter sgn sigmoid sign signbit silu sin sinc sinh
slice_scatter smooth_l1_loss soft_margin_loss softplus softshrink sort sort.stable special_bessel_j0 special_bessel_j1
special_bessel_y0 special_bessel_y1 special_entr special_erfcx special_i0e special_i1 special_i1e special_log_ndtr
special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
special_ndtri special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0
special_xlog1py special_xlog1py.other_scalar special_xlog1py.self_scalar special_zeta special_zeta.other_scalar
special_zeta.self_scalar split_with_sizes sqrt squeeze squeeze.dim squeeze.dims squeeze_ squeeze_.dim squeeze_.dims
stack std_mean sum t t_ take tan tanh threshold threshold_ topk trace transpose_ tril triu trunc unfold _unique2
unique_consecutive unique_dim unsafe_split_with_sizes _unsafe_view unsqueeze unsqueeze_ upsample_bicubic2d
_upsample_bicubic2d_aa upsample_bilinear2d _upsample_bilinear2d_aa _upsample_lanczos2d_aa upsample_linear1d
upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d
_upsample_nearest_exact3d upsample_trilinear3d vdot view view.dtype view_copy xlogy.Scalar_Other xlogy.Scalar_Self zero
""".split()  # noqa: SIM905 a list would be four hundred lines
"""Ops that are called as PyTorch calls them, `x` for its `x.default`."""

RENAMED = {
    "_cdist_forward": "cdist", "_linalg_svd": "_linalg_svd", "_log_softmax": "log_softmax", "_reshape_alias": "view",
    "_softmax": "softmax", "_to_copy": "to", "all": "all", "all.dim": "all", "all.dims": "all", "any": "any",
    "any.dim": "any", "any.dims": "any", "copy_": "copy",
    "copysign.Tensor": "copysign", "div.Scalar_mode": "div.mode", "div.Tensor": "div", "div.Tensor_mode": "div.mode",
    "fill.Scalar": "fill", "fill.Tensor": "fill.value", "fill_.Scalar": "fill.Scalar", "fill_.Tensor": "fill.Tensor",
    "fmod.Tensor": "fmod", "frexp.Tensor": "frexp", "index.Tensor": "index", "index_fill.int_Scalar": "index_fill",
    "index_fill.int_Tensor": "index_fill.Tensor", "isin.Tensor_Tensor": "isin", "ldexp.Tensor": "ldexp",
    "linalg_pinv.atol_rtol_tensor": "linalg_pinv", "log_sigmoid_forward": "log_sigmoid",
    "masked_fill.Scalar": "masked_fill", "mul.Tensor": "mul", "multilabel_margin_loss_forward":
    "multilabel_margin_loss", "remainder.Tensor": "remainder", "scatter.src": "scatter",
    "scatter_reduce.two": "scatter_reduce", "select.int": "select", "slice.Tensor": "slice", "split.Tensor": "split",
    "std.correction": "std", "std_mean.correction": "std_mean", "sum.dim_IntList": "sum.dim",
    "transpose.int": "transpose", "unbind.int": "unbind", "unsafe_split.Tensor": "unsafe_split",
    "var.correction": "var", "var_mean.correction": "var_mean", "where.self": "where", "xlogy.Tensor": "xlogy",
    "__lshift__.Scalar": "bitwise_left_shift", "__lshift__.Tensor": "bitwise_left_shift",
    "__rshift__.Scalar": "bitwise_right_shift", "__rshift__.Tensor": "bitwise_right_shift",
    "bitwise_left_shift.Tensor": "bitwise_left_shift", "bitwise_right_shift.Tensor": "bitwise_right_shift",
    **{f"{name}.{kind}": name
       for name in ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor")
       for kind in ("Tensor", "Scalar")},
}  # fmt: skip
"""Ops that have another name in the engine; several of PyTorch's may be one of the engine's."""

BY_ALPHA = {
    "add.Tensor": ("add", "add.alpha"), "add.Scalar": ("add", "add.alpha"), "sub.Tensor": ("sub", "sub.alpha"),
    "sub.Scalar": ("sub", "sub.alpha"), "rsub.Scalar": ("rsub", "rsub.Scalar"), "rsub.Tensor": ("rsub", "rsub.Tensor"),
}  # fmt: skip
"""Ops that have two counterparts: without a factor (or with 1), and with another one."""

TABLE: Mapping[str, str] = {**{name: name for name in SAME}, **RENAMED, **{k: v[0] for k, v in BY_ALPHA.items()}}
"""Every aten op that has a counterpart, without the namespace and without `.default`, and the op of the engine."""

LATE = "as_strided_"
"""An op that changes its first input: the memory's layout before the call would be needed after it."""

RESULTS = {
    "_linalg_det": 1, "_linalg_slogdet": 2, "_linalg_solve_ex": 1, "log_sigmoid": 1, "multilabel_margin_loss": 1,
    "rrelu_with_noise": 1, "_scaled_dot_product_flash_attention_for_cpu": 1,
}  # fmt: skip
"""Ops of which PyTorch gives more results, or others after these: they are for its own backward."""

CALLED = {
    ("copy", "source"): "src",
    ("special_scaled_modified_bessel_k0", "self"): "x",
    ("special_scaled_modified_bessel_k1", "self"): "x",
    ("special_spherical_bessel_j0", "self"): "x",
}
"""Arguments that have another name in PyTorch's schema."""

NEW_DIMENSION = frozenset({"stack", "unsqueeze", "unsqueeze_", "diag_embed"})
"""Ops whose dimensions are those of the result."""
ONE_AS_NUMBER = frozenset(
    {"sum.dim", "mean.dim", "var", "std", "var_mean", "std_mean", "amax", "amin", "logsumexp", "linalg_vector_norm",
     "nansum", "all", "any", "count_nonzero", "norm.ScalarOpt_dim"}
)  # fmt: skip
"""Reductions, of which one dimension in a list is written as a number."""
REDUCTIONS = ("none", "mean", "sum")


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of PyTorch's: the op of the engine, PyTorch's arguments by their names, and the shape of its result."""

    op: Op
    arguments: Mapping[str, Any]
    shape: tuple[int, ...]

    @property
    def first(self) -> Any:
        """The first tensor among the arguments."""
        return next(_tensors(self.arguments.values()))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the tensor that dimensions are counted in."""
        return self.shape if self.op.name in NEW_DIMENSION else tuple(self.first.shape)

    def dimension(self, dim: int) -> int:
        """A dimension counted from the front."""
        return dim % max(1, len(self.sizes))

    def dims(self, dim: Any) -> Any:
        """One dimension, or several, counted from the front; for no list at all, None."""
        if not isinstance(dim, Sequence):
            return None if dim is None else self.dimension(dim)
        counted = tuple(self.dimension(one) for one in dim)
        if self.op.name not in ONE_AS_NUMBER:
            return counted
        return counted[0] if len(counted) == 1 else counted or tuple(range(len(self.sizes)))

    def position(self, place: Any, default: int) -> Any:
        """A position along the dimension `dim`, between 0 and its size."""
        size = self.sizes[self.arguments.get("dim", 0)]
        place = default if place is None else place
        return max(0, min(size, place + size if place < 0 else place))


def _tensors(values: Any) -> Any:
    for value in values:
        if hasattr(value, "shape"):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _dtype(call: _Call, value: Any) -> Any:
    if value is None or isinstance(value, np.dtype):
        return value
    return ELEMENT_TYPES[str(value).rpartition(".")[2]]  # torch.float32


def _dtype_of_copy(call: _Call, value: Any) -> Any:
    """None for a copy that is moved only: PyTorch passes the tensor's own dtype with the device."""
    own = call.first.dtype
    is_moved = call.arguments.get("device") is not None
    return None if is_moved and value in (None, own) else _dtype(call, own if value is None else value)


def _number(call: _Call, value: Any) -> Any:
    """A number that PyTorch takes as a tensor."""
    return float(value) if value is not None else 0.0


def _relative(call: _Call, value: Any) -> Any:
    """A relative tolerance, by default that of the largest dimension."""
    if value is not None:
        return float(value)
    if call.arguments.get("atol_tensor", call.arguments.get("atol")) is not None:
        return 0.0
    return max(call.sizes[-2:]) * eps(str(call.first.dtype).rpartition(".")[2])


def _scales(call: _Call, _: Any) -> Any:
    names = [n for n in ("scales", "scales_d", "scales_h", "scales_w") if n in call.arguments]
    return tuple(call.arguments[name] for name in names)


Form = Callable[[_Call, Any], Any]
FORMS: Mapping[str, Form] = {
    **dict.fromkeys(("dim", "dim0", "dim1", "dim2", "dims"), _Call.dims),
    "correction": lambda call, value: 1 if value is None else value,
    "dtype": _dtype,
    "memory_format": lambda call, value: {"None": "preserve"}.get(
        str(value), str(value).rpartition(".")[2].removesuffix("_format")
    ),
    "reduction": lambda call, value: REDUCTIONS[value] if isinstance(value, int) else value,
    "scales": _scales,
}
"""The conversion of PyTorch's static arguments of a name to the engine's."""
FORMS_OF: Mapping[tuple[str, str], Form] = {
    **{(op, "size"): lambda call, value: call.shape for op in ("view", "expand", "_unsafe_view", "view_copy")},
    **{(op, "stride"): lambda call, value: tuple(value or call.arguments["kernel_size"])
       for op in ("avg_pool2d", "avg_pool3d", "max_pool2d_with_indices", "max_pool3d_with_indices")},
    **{(op, "index"): lambda call, value: call.position(value, 0) for op in ("select", "select_scatter")},
    **{(op, "start"): lambda call, value: call.position(value, 0) for op in ("slice", "slice_scatter")},
    **{(op, "end"): lambda call, value: call.position(value, 2**63 - 1) for op in ("slice", "slice_scatter")},
    **{(op, "source_stride"): lambda call, value: tuple(call.first.stride())
       for op in ("as_strided", "as_strided_copy", "as_strided_scatter")},
    **{(op, "source_offset"): lambda call, value: int(call.first.storage_offset())
       for op in ("as_strided", "as_strided_copy", "as_strided_scatter")},
    **{(op, "storage_offset"): lambda call, value: int(call.first.storage_offset() if value is None else value)
       for op in ("as_strided", "as_strided_copy", "as_strided_scatter")},
    **{(op, name): lambda call, value: float(value) for op, name in
       (("linalg_vector_norm", "ord"), ("renorm", "p"), ("histc", "min"), ("histc", "max"), ("hardtanh", "min_val"),
        ("hardtanh", "max_val"))},
    ("to", "dtype"): _dtype_of_copy,
    ("to", "device"): lambda call, value: None if value is None else str(value),
    ("nansum", "dim"): lambda call, value: call.dims(value or ()),
    ("nan_to_num", "nan"): lambda call, value: 0.0 if value is None else value,
    ("linalg_pinv", "atol"): _number,
    ("linalg_pinv", "rtol"): _relative,
    ("linalg_lstsq", "rcond"): _relative,
    ("linalg_lstsq", "driver"): lambda call, value: value or "gelsy",
}  # fmt: skip
"""The same conversion for the static arguments of single ops."""


def short_name(name: str) -> str:
    """The name of an aten op in the table; "" for an op that is not aten's.

    >>> short_name("aten::mul.Tensor"), short_name("aten.exp.default"), short_name("torchvision::nms")
    ('mul.Tensor', 'exp', '')
    """
    space, _, rest = name.replace("::", ".", 1).partition(".")
    return rest.removesuffix(".default") if space == "aten" else ""


def counterpart(ops: Ops, name: str, arguments: Mapping[str, Any], shape: Sequence[int] = ()) -> Counterpart | None:
    """The call of the engine's that is PyTorch's call of the op `name`, with `arguments` by the names of its schema,
    defaults filled in; `shape` is that of its first result.  None if there is none.

    >>> from engine.ops.op import REGISTRY
    >>> x = np.ones((2, 3))
    >>> counterpart(REGISTRY, "aten::sum.dim_IntList", {"self": x, "dim": [-1], "keepdim": False, "dtype": None}).attrs
    {'dim': 1, 'keepdim': False, 'dtype': None}
    >>> counterpart(REGISTRY, "aten::add_.Tensor", {"self": x, "other": 2, "alpha": 1}).inputs[1]
    ('other', 2)
    >>> counterpart(REGISTRY, "aten::fft_fft", {"self": x}) is None
    True
    """
    short = short_name(name)
    base, dot, overload = short.partition(".")
    outside = f"{base.rstrip('_')}{dot}{overload}"
    key = short if short in TABLE else outside if base.endswith("_") and short != LATE else ""
    if key not in TABLE or not _has_values(arguments):
        return None
    op = ops[_chosen(key, arguments)]
    call = _Call(op, arguments, tuple(shape))
    if op.name == "to" and str(arguments.get("device")).startswith("meta"):  # where there are no elements
        return None
    inputs = tuple(one for name in _inputs(op, arguments) for one in _named(name, _argument(op, name, arguments)))
    attrs = {name: _static(call, name, default) for name, default in op.statics.items()}
    is_write = base.endswith("_") and not base.startswith("__") and not op.view
    return Counterpart(op.name, inputs, attrs, RESULTS.get(op.name), is_write)


def _chosen(key: str, arguments: Mapping[str, Any]) -> str:
    """The op of the engine for a row of the table."""
    if key in BY_ALPHA:
        return BY_ALPHA[key][arguments.get("alpha", 1) != 1]
    if key == "bincount":
        return "bincount" if arguments.get("weights") is None else "bincount.weights"
    return TABLE[key]


def _has_values(arguments: Mapping[str, Any]) -> bool:
    """Return whether all tensors among the arguments are dense and real: the engine has no others."""
    kinds = [_is_dense_and_real(getattr(one, "layout", None), one.dtype) for one in _tensors(arguments.values())]
    return bool(kinds) and all(kinds)


@functools.cache
def _is_dense_and_real(layout: Any, dtype: Any) -> bool:
    kind = f"{layout} {dtype}"
    return not any(word in kind for word in ("complex", "sparse", "quint"))


def _inputs(op: Op, arguments: Mapping[str, Any]) -> Sequence[str]:
    """The inputs that a call has here: in training, a batch norm reads no running statistics; else rrelu no noise."""
    if op.name == "native_batch_norm" and arguments.get("training"):
        return op.inputs[:3]
    return [name for name in op.inputs if name != "noise" or arguments.get("training")]


def _argument(op: Op, name: str, arguments: Mapping[str, Any]) -> Any:
    return arguments.get(CALLED.get((op.name, name), name))


def _named(name: str, value: Any) -> list[tuple[str, Any]]:
    """An input as a trace has it: each tensor of a list by its place, nothing for None."""
    if isinstance(value, (list, tuple)):
        return [(f"{name}[{place}]", one) for place, one in enumerate(value) if one is not None]
    return [] if value is None else [(name, value)]


def _static(call: _Call, name: str, default: Any) -> Any:
    argument = call.arguments.get(CALLED.get((call.op.name, name), name), default)
    form = FORMS_OF.get((call.op.name, name)) or FORMS.get(name)
    value = form(call, argument) if form is not None else argument
    return tuple(value) if isinstance(value, list) else value


def library(names: Iterable[str]) -> dict[str, Any]:
    """Describe the PyTorch that the program has imported: its version, and its documentation of the ops `names`. A file
    has it as JSON.
    """
    sentences = {name: documentation(name) for name in names}
    version = str(getattr(sys.modules.get("torch"), "__version__", ""))
    documented = {name: sentence for name, sentence in sentences.items() if sentence}
    return {"name": "PyTorch", "version": version, "documentation": documented}


_MARKUP = re.compile(r"(?::\w+:)?`+~?([^`<]+?)(?: <[^>]*>)?`+")
"""The marks around names in documentation: :attr:`input`, ``x``."""


def documentation(name: str) -> str:
    """The first sentence of PyTorch's own documentation of an op, read from the library that the program has imported;
    "" if there is none.
    """
    torch: Any = sys.modules.get("torch")
    base = short_name(name).partition(".")[0].strip("_")
    for home in (torch, getattr(getattr(torch, "nn", None), "functional", None), getattr(torch, "Tensor", None)):
        function = getattr(home, base, None)
        text = (None if function is None else function.__doc__) or ""  # None has documentation too, from 3.13 on
        paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
        paragraph = next((one for one in paragraphs if one and not one.startswith((f"{base}(", "..", ">>>"))), "")
        if paragraph:
            return re.split(r"(?<=[.:]) ", _MARKUP.sub(r"\1", paragraph))[0].rstrip(".:")
    return ""
