"""Examples of the functions that tables make, for their docstrings: a call, and what it prints (in torch too)."""

from __future__ import annotations

import re
from textwrap import fill

LISTING = """
torch.abs_(torch.tensor([-1.0, 2.0])) -> tensor([1., 2.])
torch.absolute(torch.tensor([-1.0, 2.0])) -> tensor([1., 2.])
torch.acos(torch.tensor([0.0, 1.0])) -> tensor([1.5708, 0.0000])
torch.acosh(torch.tensor([1.0, 2.0])) -> tensor([0.0000, 1.3170])
torch.addbmm(torch.zeros(1, 1), torch.ones(2, 1, 3), torch.ones(2, 3, 1)) -> tensor([[6.]])
torch.addmv(torch.ones(2), torch.eye(2), torch.tensor([1.0, 2.0]), beta=10) -> tensor([11., 12.])
torch.addmv_(torch.ones(2), torch.eye(2), torch.tensor([1.0, 2.0]), beta=10) -> tensor([11., 12.])
torch.addr(torch.zeros(2, 2), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0])) ->
tensor([[1., 3.],
        [2., 6.]])
torch.angle(torch.tensor([1.0, -1.0])) -> tensor([0.0000, 3.1416])
torch.arccos(torch.tensor([0.0, 1.0])) -> tensor([1.5708, 0.0000])
torch.arccosh(torch.tensor([1.0, 2.0])) -> tensor([0.0000, 1.3170])
torch.arcsin(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 1.5708])
torch.arcsinh(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.8814])
torch.arctan(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.7854])
torch.arctan2(torch.tensor([1.0, -1.0]), torch.tensor([0.0, -1.0])) -> tensor([ 1.5708, -2.3562])
torch.arctanh(torch.tensor([0.0, 0.5])) -> tensor([0.0000, 0.5493])
torch.asin(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 1.5708])
torch.asinh(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.8814])
torch.atan(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.7854])
torch.atan2(torch.tensor([1.0, -1.0]), torch.tensor([0.0, -1.0])) -> tensor([ 1.5708, -2.3562])
torch.atanh(torch.tensor([0.0, 0.5])) -> tensor([0.0000, 0.5493])
torch.baddbmm(torch.ones(1, 1, 1), torch.ones(1, 1, 3), torch.ones(1, 3, 1)) -> tensor([[[4.]]])
torch.bitwise_and(torch.tensor([5, 3]), 1) -> tensor([1, 1])
torch.bitwise_left_shift(torch.tensor([5, 3]), 1) -> tensor([10,  6])
torch.bitwise_or(torch.tensor([5, 3]), 8) -> tensor([13, 11])
torch.bitwise_right_shift(torch.tensor([5, 3]), 1) -> tensor([2, 1])
torch.bitwise_xor(torch.tensor([5, 3]), 1) -> tensor([4, 2])
torch.ceil(torch.tensor([-1.5, 1.5])) -> tensor([-1.,  2.])
torch.clamp_(torch.tensor([-1.0, 2.0]), min=0) -> tensor([0., 2.])
torch.clamp_max_(torch.tensor([-1.0, 2.0]), 1) -> tensor([-1.,  1.])
torch.clamp_min_(torch.tensor([-1.0, 2.0]), 0) -> tensor([0., 2.])
torch.clip_(torch.tensor([-1.0, 2.0]), max=1) -> tensor([-1.,  1.])
torch.cos(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 0.5403])
torch.cosh(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 1.5431])
torch.deg2rad(torch.tensor([0.0, 180.0])) -> tensor([0.0000, 3.1416])
torch.detach_(torch.tensor([1.0], requires_grad=True) * 2) -> tensor([2.])
torch.digamma(torch.tensor([1.0, 2.0])) -> tensor([-0.5772,  0.4228])
torch.dsplit(torch.arange(2).reshape(1, 1, 2), 2) -> (tensor([[[0]]]), tensor([[[1]]]))
torch.eq(torch.tensor([1, 2]), 2) -> tensor([False,  True])
torch.erf(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.8427])
torch.erfc(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 0.1573])
torch.erfinv(torch.tensor([0.0, 0.5])) -> tensor([0.0000, 0.4769])
torch.exp(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 2.7183])
torch.exp2(torch.tensor([0.0, 3.0])) -> tensor([1., 8.])
torch.expm1(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 1.7183])
torch.fill_(torch.zeros(2), 3) -> tensor([3., 3.])
torch.fix(torch.tensor([-1.5, 1.5])) -> tensor([-1.,  1.])
torch.floor(torch.tensor([-1.5, 1.5])) -> tensor([-2.,  1.])
torch.fmax(torch.tensor([1.0, float("nan")]), torch.tensor([0.0, 2.0])) -> tensor([1., 2.])
torch.fmin(torch.tensor([1.0, float("nan")]), torch.tensor([0.0, 2.0])) -> tensor([0., 2.])
torch.frac(torch.tensor([-1.5, 1.25])) -> tensor([-0.5000,  0.2500])
torch.gcd(torch.tensor([12, 7]), torch.tensor([18, 21])) -> tensor([6, 7])
torch.ge(torch.tensor([1, 2]), 2) -> tensor([False,  True])
torch.greater(torch.tensor([1, 2]), 1) -> tensor([False,  True])
torch.greater_equal(torch.tensor([1, 2]), 2) -> tensor([False,  True])
torch.gt(torch.tensor([1, 2]), 1) -> tensor([False,  True])
torch.hsplit(torch.tensor([[1, 2], [3, 4]]), 2) ->
(tensor([[1],
        [3]]), tensor([[2],
        [4]]))
torch.hypot(torch.tensor([3.0]), torch.tensor([4.0])) -> tensor([5.])
torch.i0(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 1.2661])
torch.igamma(torch.tensor([1.0]), torch.tensor([2.0])) -> tensor([0.8647])
torch.igammac(torch.tensor([1.0]), torch.tensor([2.0])) -> tensor([0.1353])
torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0])) -> tensor([3., 0., 0.])
torch.index_copy(torch.zeros(3), 0, torch.tensor([0, 2]), torch.tensor([1.0, 2.0])) -> tensor([1., 0., 2.])
torch.index_fill(torch.zeros(3), 0, torch.tensor([0, 2]), 1) -> tensor([1., 0., 1.])
torch.index_reduce(torch.ones(2), 0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), "prod") -> tensor([6., 1.])
torch.isfinite(torch.tensor([1.0, float("inf")])) -> tensor([ True, False])
torch.isinf(torch.tensor([1.0, float("inf")])) -> tensor([False,  True])
torch.isnan(torch.tensor([1.0, float("nan")])) -> tensor([False,  True])
torch.isneginf(torch.tensor([1.0, float("-inf")])) -> tensor([False,  True])
torch.isposinf(torch.tensor([1.0, float("inf")])) -> tensor([False,  True])
torch.isreal(torch.tensor([1.0, 2.0])) -> tensor([True, True])
torch.lcm(torch.tensor([4, 3]), torch.tensor([6, 5])) -> tensor([12, 15])
torch.ldexp(torch.tensor([1.0, 3.0]), torch.tensor([2, 1])) -> tensor([4., 6.])
torch.le(torch.tensor([1, 2]), 1) -> tensor([ True, False])
torch.less(torch.tensor([1, 2]), 2) -> tensor([ True, False])
torch.less_equal(torch.tensor([1, 2]), 1) -> tensor([ True, False])
torch.lgamma(torch.tensor([1.0, 4.0])) -> tensor([0.0000, 1.7918])
torch.log(torch.tensor([1.0, 2.0])) -> tensor([0.0000, 0.6931])
torch.log10(torch.tensor([1.0, 2.0])) -> tensor([0.0000, 0.3010])
torch.log1p(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.6931])
torch.log2(torch.tensor([1.0, 8.0])) -> tensor([0., 3.])
torch.logaddexp(torch.tensor([0.0]), torch.tensor([0.0])) -> tensor([0.6931])
torch.logaddexp2(torch.tensor([0.0]), torch.tensor([0.0])) -> tensor([1.])
torch.logical_and(torch.tensor([1, 0]), torch.tensor([1, 1])) -> tensor([ True, False])
torch.logical_not(torch.tensor([1, 0])) -> tensor([False,  True])
torch.logical_or(torch.tensor([1, 0]), torch.tensor([0, 0])) -> tensor([ True, False])
torch.logical_xor(torch.tensor([1, 0]), torch.tensor([1, 1])) -> tensor([False,  True])
torch.logit_(torch.tensor([0.5, 0.75])) -> tensor([0.0000, 1.0986])
torch.lt(torch.tensor([1, 2]), 2) -> tensor([ True, False])
torch.maximum(torch.tensor([1, 5]), torch.tensor([3, 2])) -> tensor([3, 5])
torch.minimum(torch.tensor([1, 5]), torch.tensor([3, 2])) -> tensor([1, 2])
torch.mul(torch.tensor([1.0, 2.0]), 3) -> tensor([3., 6.])
torch.multiply(torch.tensor([1.0, 2.0]), 3) -> tensor([3., 6.])
torch.nan_to_num_(torch.tensor([1.0, float("nan")])) -> tensor([1., 0.])
torch.ne(torch.tensor([1, 2]), 2) -> tensor([ True, False])
torch.neg(torch.tensor([1.0, -2.0])) -> tensor([-1.,  2.])
torch.negative(torch.tensor([1.0, -2.0])) -> tensor([-1.,  2.])
torch.nextafter(torch.tensor([1.0]), torch.tensor([2.0])) > 1 -> tensor([True])
torch.nn.functional.celu_(torch.tensor([-1.0, 2.0])) -> tensor([-0.6321,  2.0000])
torch.nn.functional.elu_(torch.tensor([-1.0, 2.0])) -> tensor([-0.6321,  2.0000])
torch.nn.functional.hardtanh_(torch.tensor([-2.0, 0.5])) -> tensor([-1.0000,  0.5000])
torch.nn.functional.leaky_relu_(torch.tensor([-1.0, 2.0])) -> tensor([-0.0100,  2.0000])
torch.nn.functional.relu_(torch.tensor([-1.0, 2.0])) -> tensor([0., 2.])
torch.nn.functional.rrelu_(torch.tensor([-1.0, 2.0])) -> tensor([-0.2292,  2.0000])
torch.nn.functional.selu_(torch.tensor([-1.0, 2.0])) -> tensor([-1.1113,  2.1014])
torch.nn.functional.threshold_(torch.tensor([-1.0, 2.0]), 0.0, 9.0) -> tensor([9., 2.])
torch.not_equal(torch.tensor([1, 2]), 2) -> tensor([ True, False])
torch.put(torch.zeros(3), torch.tensor([0, 2]), torch.tensor([1.0, 2.0])) -> tensor([1., 0., 2.])
torch.rad2deg(torch.tensor([0.0, 3.1416])) -> tensor([  0.0000, 180.0004])
torch.reciprocal(torch.tensor([2.0, 4.0])) -> tensor([0.5000, 0.2500])
torch.relu(torch.tensor([-1.0, 2.0])) -> tensor([0., 2.])
torch.round_(torch.tensor([0.5, 1.6])) -> tensor([0., 2.])
torch.rsqrt(torch.tensor([1.0, 4.0])) -> tensor([1.0000, 0.5000])
torch.scatter(torch.zeros(3), 0, torch.tensor([0, 2]), torch.tensor([1.0, 2.0])) -> tensor([1., 0., 2.])
torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0])) -> tensor([3., 0., 0.])
torch.scatter_reduce(torch.ones(2), 0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), "amax") -> tensor([3., 1.])
torch.sgn(torch.tensor([-2.0, 0.0])) -> tensor([-1.,  0.])
torch.sigmoid(torch.tensor([0.0, 2.0])) -> tensor([0.5000, 0.8808])
torch.sign(torch.tensor([-2.0, 0.0])) -> tensor([-1.,  0.])
torch.signbit(torch.tensor([-2.0, 0.0])) -> tensor([ True, False])
torch.sin(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.8415])
torch.sinc(torch.tensor([0.0, 0.5])) -> tensor([1.0000, 0.6366])
torch.sinh(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 1.1752])
torch.special.bessel_j0(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 0.7652])
torch.special.bessel_j1(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.4401])
torch.special.bessel_y0(torch.tensor([1.0, 2.0])) -> tensor([0.0883, 0.5104])
torch.special.bessel_y1(torch.tensor([1.0, 2.0])) -> tensor([-0.7812, -0.1070])
torch.special.digamma(torch.tensor([1.0, 2.0])) -> tensor([-0.5772,  0.4228])
torch.special.entr(torch.tensor([0.0, 0.5])) -> tensor([0.0000, 0.3466])
torch.special.erfcx(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 0.4276])
torch.special.erfinv(torch.tensor([0.0, 0.5])) -> tensor([0.0000, 0.4769])
torch.special.expit(torch.tensor([0.0, 1.0])) -> tensor([0.5000, 0.7311])
torch.special.gammaln(torch.tensor([1.0, 4.0])) -> tensor([0.0000, 1.7918])
torch.special.i0(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 1.2661])
torch.special.i0e(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 0.4658])
torch.special.i1(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.5652])
torch.special.i1e(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.2079])
torch.special.log_ndtr(torch.tensor([-1.0, 0.0])) -> tensor([-1.8410, -0.6931])
torch.special.modified_bessel_i0(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 1.2661])
torch.special.modified_bessel_i1(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.5652])
torch.special.modified_bessel_k0(torch.tensor([1.0, 2.0])) -> tensor([0.4210, 0.1139])
torch.special.modified_bessel_k1(torch.tensor([1.0, 2.0])) -> tensor([0.6019, 0.1399])
torch.special.ndtri(torch.tensor([0.25, 0.5])) -> tensor([-0.6745,  0.0000])
torch.special.scaled_modified_bessel_k0(torch.tensor([1.0, 2.0])) -> tensor([1.1445, 0.8416])
torch.special.scaled_modified_bessel_k1(torch.tensor([1.0, 2.0])) -> tensor([1.6362, 1.0335])
torch.special.sinc(torch.tensor([0.0, 0.5])) -> tensor([1.0000, 0.6366])
torch.special.spherical_bessel_j0(torch.tensor([0.0, 1.0])) -> tensor([1.0000, 0.8415])
torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0])) -> tensor([0.0000, 1.3863])
torch.special.zeta(torch.tensor([2.0]), torch.tensor([1.0])) -> tensor([1.6449])
torch.sqrt(torch.tensor([1.0, 4.0])) -> tensor([1., 2.])
torch.square_(torch.tensor([-1.0, 3.0])) -> tensor([1., 9.])
torch.tan(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 1.5574])
torch.tanh(torch.tensor([0.0, 1.0])) -> tensor([0.0000, 0.7616])
torch.tril_indices(2, 2) ->
tensor([[0, 1, 1],
        [0, 0, 1]])
torch.triu_indices(2, 2) ->
tensor([[0, 0, 1],
        [0, 1, 1]])
torch.trunc(torch.tensor([-1.5, 1.5])) -> tensor([-1.,  1.])
torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2) -> (tensor([[1, 2]]), tensor([[3, 4]]))
torch.xlogy_(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 1.0])) -> tensor([0., 0.])
torch.zero_(torch.ones(2)) -> tensor([0., 0.])
"""

CALLS = {
    call.removeprefix("torch.").partition("(")[0]: (call, output.strip())
    for call, _, output in (block.partition(" ->") for block in re.split(r"\n(?=torch\.)", LISTING.strip()))
}


INDENT = "    "
ONE = "Shapes: (*) -> (*)."
TWO = "Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not{}."
"""The shapes of functions of one tensor and of two, element by element; the second with its other errors."""


def with_example(doc: str, name: str, plain: str = "", shapes: str = ONE, source: str = "") -> str:
    """The text of a function with its `shapes` and errors, torch's name (`source`, if it is another) and its example,
    if it has one; `name` is the part after `torch.`.

    `plain` is what the example is of where the function has none of its own: `cos` for `cos_`, which returns the same.
    """
    doc = f"{doc}\n\n" + fill(
        f"{shapes}  Source: torch.{source or name}.", 120, initial_indent=INDENT, subsequent_indent=INDENT
    )
    of = name if name in CALLS else plain
    if of not in CALLS:
        return f"{doc}\n    "
    call, output = CALLS[of]
    lines = [
        ">>> import engine as torch",
        ">>> " + call.replace(f"torch.{of}(", f"torch.{name}(", 1),
        *output.splitlines(),
    ]
    return f"{doc}\n\n" + "".join(f"    {line}\n" for line in lines) + "    "
