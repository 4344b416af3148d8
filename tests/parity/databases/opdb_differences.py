"""Where an op knowingly is not torch's, each with its reason; one that is no longer true fails the test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A check that torch's samples of some ops do not pass: `call`, `method`, `in place`, `error`, or `gradients`."""

    check: str
    why: str
    ops: str


TIED = "which of several equal elements stands first is open in torch's own words"
OTHER_SHAPE = "an out= of another shape gets memory of its own; torch resizes what it has, or says that it cannot"
NO_SECOND = "torch has no second derivative of it; here it is a formula like any other"
CONSTANT = "of one element, or of the norm for p = 0, the gradient is constant: zeros here, and no graph of it in torch"
NO_IN_PLACE = "torch has no derivative of its in-place form; here it is the function's"
RARE_WORDS = "refused in both; torch's words are those of an inner check"
OUT_OF_SCOPE = "complex tensors are left out, and that is said before the arguments are looked at"
LESS_EXACT = "torch's has an error of some 1e-6; ours agrees with the integral that defines it"
DUNDER = "Python calls these with a tensor first; torch's reject anything else as descriptors do"

KNOWN = (
    Difference("call", TIED, "kthvalue topk mode sort argsort"),
    Difference("method", TIED, "kthvalue topk mode sort argsort"),
    Difference("call", LESS_EXACT, "special.bessel_j0 special.bessel_y1"),
    Difference("error", OTHER_SHAPE, "cat gather"),
    Difference("error", DUNDER, "__radd__ __rmul__ __rand__ __ror__ __rxor__"),
    Difference("error", OUT_OF_SCOPE, "complex"),
    Difference("error", RARE_WORDS, "narrow_copy"),
    Difference("error", "the dtype of out= does not count as one that was asked for", "multinomial"),
    Difference("in place", RARE_WORDS, "ldexp mvlgamma.mvlgamma_p_1 mvlgamma.mvlgamma_p_3 mvlgamma.mvlgamma_p_5"),
    Difference("in place, gradients", NO_IN_PLACE, "acosh asinh atanh"),
    Difference("call, gradients", "torch's is that of the part which was overwritten", "as_strided_scatter"),
    Difference("call", "torch asserts that its input has no gaps, and asks for a report", "as_strided_scatter"),
    Difference("method", "torch asserts that its input has no gaps, and asks for a report", "as_strided_scatter"),
    Difference(
        "call, gradients", "of elements far apart torch's float32 is exact to 2e-3, ours to 3e-4", "logcumsumexp"
    ),
    Difference("call, graph of the gradients", CONSTANT, "nn.functional.normalize put linalg.det"),
    Difference(
        "call, second gradients", NO_SECOND,
        "cdist nn.functional.pdist nn.functional.hardsigmoid nn.functional.embedding_bag "
        "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss nn.MultiMarginLoss "
        "nn.MultiLabelMarginLoss nn.TransformerEncoderLayer",
    ),
)  # fmt: skip

_DRAWN = """
bernoulli cauchy exponential geometric log_normal multinomial normal normal.in_place normal.number_mean
rand_like randint randint_like randn randn_like uniform empty empty_like empty_strided new_empty
new_empty_strided nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d
nn.functional.dropout3d nn.functional.feature_alpha_dropout.with_train
nn.functional.multi_head_attention_forward nn.functional.rrelu nn.functional.scaled_dot_product_attention
"""
DRAWN = frozenset(_DRAWN.split())
"""Ops whose values are random, or not set: dtypes, shapes and what requires grad are compared."""

INNER = {
    "_*": "an inner function",
    "native_*": "an inner function",
    "torch.*": "an inner function",
    "jiterator_*": "compiles CUDA",
    "fft.*": "results are complex",
    "masked.*": "a prototype in torch's own words",
    "signal.*": "windows for Fourier transforms",
    "sparse.*": "sparse tensors",
    "slice": "an inner function: x[a:b]",
    "grid_sampler_?d": "inner functions of grid_sample",
    "max_pool2d_with_indices_backward": "an inner function",
    "hash_tensor": "a checksum that torch tests itself with",
}
"""Patterns of names in the database that are not public names of torch: docs/make/left-out.toml has those."""


def known(op: str) -> dict[str, str]:
    """The checks that an op does not pass, with the reasons."""
    return {row.check: row.why for row in KNOWN if op in row.ops.split()}
