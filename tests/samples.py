"""One row per op: inputs to call it on, and how a torch user spells the same call.

The tests run every row: forward, gradient and second derivative against torch, against small steps, and on arrays
against Tensors.  An op without a row fails, and so does a row without an op.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DRAWS = np.random.default_rng(7)


@dataclass(frozen=True, eq=False)
class Sample:
    """`spelled` is a Python expression of `torch` and x, y, z (the inputs), equal to the call; `reason` says why there
    is none.  `kink`: the derivative jumps (or is 0) at the inputs, so that small steps say nothing of the second one.
    """

    op: str
    inputs: tuple[Any, ...]
    statics: Mapping[str, Any] = field(default_factory=dict)
    spelled: str = ""
    reason: str = ""
    kink: bool = False
    same_node: bool = True

    @property
    def name(self) -> str:
        """What the row is called among tests."""
        return f"{self.op}-{self.spelled or 'inner'}"


def real(*shape: int) -> np.ndarray:
    """Numbers on both sides of 0, none near 0 or a whole number."""
    return np.asarray(np.sign(DRAWS.random(shape) - 0.5) * positive(*shape))


def real_number() -> np.ndarray:
    """One of them, without dimensions."""
    return np.asarray(real(1)[0])


def positive(*shape: int) -> np.ndarray:
    """Numbers between 0.2 and 1.8, none within 0.05 of a whole number."""
    return np.asarray(DRAWS.choice([0.0, 1.0], shape) + DRAWS.uniform(0.2, 0.8, shape))


def unit(*shape: int) -> np.ndarray:
    """Numbers between -0.9 and 0.9."""
    return DRAWS.uniform(-0.9, 0.9, shape)


def mask(*shape: int) -> np.ndarray:
    """Truth values, of both kinds."""
    flat = np.arange(int(np.prod(shape))) % 3 == 0
    return np.asarray(flat.reshape(shape))


def whole(*shape: int) -> np.ndarray:
    """Integers from 1 to 5."""
    return DRAWS.integers(1, 6, shape)


def index(*values: Any) -> np.ndarray:
    """Places."""
    return np.array(values, dtype=np.int64)


def unary(name: str, make: Any = real, kink: bool = False, spelled: str = "") -> Sample:
    """A function of one tensor that torch has under the op's own name."""
    return Sample(name, (make(2, 3),), spelled=spelled or f"torch.{name}(x)", kink=kink)


def two(name: str, spelled: str, make: Any = real, kink: bool = False) -> list[Sample]:
    """A function of two tensors: of one shape, broadcast both ways, and of a tensor and a number."""
    return [
        Sample(name, (make(2, 3), make(2, 3)), spelled=spelled, kink=kink),
        Sample(name, (make(2, 1), make(1, 3)), spelled=spelled, kink=kink),
        Sample(name, (make(3), make(2, 3)), spelled=spelled, kink=kink),
    ]


INNER = "used by the rules of other ops; torch has no such function"
SELECT_1 = (("select", {"dim": 0, "index": 1}, None),)
TIED = np.array([[3.0, 1.0, 3.0], [2.0, 3.0, 0.5]])

ARITHMETIC = [
    *two("add", "x + y"),
    *two("sub", "x - y"),
    *two("mul", "x * y"),
    *two("div", "x / y"),
    Sample("add", (real(2, 3), 1.5), spelled="x + y"),
    Sample("mul", (real(2, 3), 2), spelled="y * x"),
    Sample("div", (real(2, 3), 2), spelled="x / y"),
    Sample("mul", (real_number(), real(3)), spelled="x * y"),
    Sample("rsub", (real(2, 3), 1.0), spelled="1.0 - x"),
    Sample("add.alpha", (real(2, 3), real(3)), {"alpha": 2}, "torch.add(x, y, alpha=2)"),
    Sample("sub.alpha", (real(2, 3), real(3)), {"alpha": 2}, "torch.sub(x, y, alpha=2)"),
    Sample("floor_divide", (positive(2, 3), positive(3)), spelled="x // y", kink=True),
    Sample(
        "div.mode",
        (real(2, 3), real(3)),
        {"rounding_mode": "floor"},
        "torch.div(x, y, rounding_mode='floor')",
        kink=True,
    ),
    Sample(
        "div.mode",
        (real(2, 3), real(3)),
        {"rounding_mode": "trunc"},
        "torch.div(x, y, rounding_mode='trunc')",
        kink=True,
    ),
    Sample("remainder.Scalar", (real(2, 3), 0.7), spelled="x % 0.7"),
    Sample("remainder", (real(2, 3), positive(3)), spelled="x % y"),
    Sample("fmod.Scalar", (real(2, 3), 0.7), spelled="torch.fmod(x, 0.7)"),
    Sample("fmod", (real(2, 3), positive(3)), spelled="torch.fmod(x, y)"),
    Sample("pow.Tensor_Scalar", (real(2, 3),), {"exponent": 3}, "x ** 3"),
    Sample("pow.Tensor_Scalar", (positive(2, 3),), {"exponent": -0.5}, "x ** -0.5"),
    Sample("pow.Tensor_Scalar", (real(2, 3),), {"exponent": 0}, "x ** 0"),
    Sample("pow.Tensor_Scalar", (real(2, 3),), {"exponent": 1}, "x ** 1"),
    *two("pow.Tensor_Tensor", "x ** y", positive),
    Sample("pow.Scalar", (real(2, 3),), {"self": 2.0}, "2.0 ** x"),
    Sample("pow.Scalar", (positive(2, 3),), {"self": 0.0}, "0.0 ** x", kink=True),
    unary("neg"),
    unary("reciprocal"),
    unary("abs"),
    unary("sign"),
    unary("floor"),
    unary("ceil"),
    unary("trunc"),
    unary("round"),
]

FUNCTIONS = [
    unary("exp"),
    unary("expm1"),
    unary("exp2"),
    unary("log", positive),
    unary("log2", positive),
    unary("log10", positive),
    unary("log1p", positive),
    unary("sqrt", positive),
    unary("rsqrt", positive),
    unary("sin"),
    unary("cos"),
    unary("tan", unit),
    unary("asin", unit),
    unary("acos", unit),
    unary("atan"),
    unary("sinh"),
    unary("cosh"),
    unary("tanh"),
    unary("asinh"),
    Sample("acosh", (positive(2, 3) + 1,), spelled="torch.acosh(x)"),
    unary("atanh", unit),
    unary("erf"),
    unary("erfc"),
    unary("sigmoid"),
    unary("relu"),
    Sample("softplus", (real(2, 3),), {"beta": 1, "threshold": 20}, "torch.nn.functional.softplus(x)"),
    Sample(
        "softplus",
        (5 * real(2, 3),),
        {"beta": 2, "threshold": 3},
        "torch.nn.functional.softplus(x, beta=2, threshold=3)",
    ),
    *two("atan2", "torch.atan2(x, y)"),
]

CHOICES = [
    *(Sample(n, (real(2, 3), real(3)), spelled=f"torch.{n}(x, y)") for n in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(Sample(f"logical_{n}", (mask(2, 3), mask(3)), spelled=f"torch.logical_{n}(x, y)") for n in ("and", "or", "xor")),
    *(
        Sample(f"bitwise_{n}", (whole(2, 3), whole(3)), spelled=f"torch.bitwise_{n}(x, y)")
        for n in ("and", "or", "xor")
    ),
    Sample("logical_not", (mask(2, 3),), spelled="torch.logical_not(x)"),
    Sample("bitwise_not", (whole(2, 3),), spelled="~x"),
    *(
        Sample(n, (np.array([1.0, np.nan, np.inf, -np.inf]),), spelled=f"torch.{n}(x)")
        for n in ("isnan", "isinf", "isfinite")
    ),
    Sample("isclose", (np.array([1.0, 2.0]), np.array([1.0 + 1e-9, 2.1])), spelled="torch.isclose(x, y)"),
    Sample("zero", (real(2, 3),), reason="zero_ writes; as a function it is zeros_like, which makes a leaf"),
    Sample("where", (mask(2, 3), real(2, 3), real(3)), spelled="torch.where(x, y, z)"),
    Sample("where", (mask(2, 3), real(2, 1), 0.0), spelled="torch.where(x, y, 0.0)"),
    Sample("masked_fill", (real(2, 3), mask(2, 3)), {"value": 7.0}, "x.masked_fill(y, 7.0)"),
    *two("maximum", "torch.maximum(x, y)"),
    *two("minimum", "torch.minimum(x, y)"),
    Sample("maximum", (TIED, np.array([3.0, 2.0, 3.0])), spelled="torch.maximum(x, y)", kink=True),
    Sample("minimum", (TIED, np.array([3.0, 2.0, 3.0])), spelled="torch.minimum(x, y)", kink=True),
    Sample("clamp", (real(2, 3),), {"min": -0.5, "max": 1.1}, "torch.clamp(x, -0.5, 1.1)"),
    Sample("clamp", (TIED,), {"min": 1.0, "max": 3.0}, "x.clamp(1.0, 3.0)", kink=True),
    Sample("clamp", (real(2, 3),), {"min": 0.1, "max": None}, "x.clamp(min=0.1)"),
    Sample("clamp_min", (real(2, 3),), {"min": 0.1}, "x.clamp_min(0.1)"),
    Sample("clamp_max", (real(2, 3),), {"max": 0.1}, "x.clamp_max(0.1)"),
    Sample("clamp.Tensor", (real(2, 3), -positive(3), positive(3)), spelled="x.clamp(y, z)"),
    Sample("clamp.Tensor", (real(2, 3), real(3), None), spelled="x.clamp(min=y)"),
]

REDUCTIONS = [
    Sample("sum", (real(2, 3),), spelled="x.sum()"),
    Sample("sum", (real_number(),), spelled="x.sum()"),
    Sample("sum.dim", (real(2, 3, 2),), {"dim": (0, 2), "keepdim": False}, "x.sum((0, -1))"),
    Sample("sum.dim", (real(2, 3),), {"dim": 1, "keepdim": True}, "torch.sum(x, 1, keepdim=True)"),
    Sample("mean", (real(2, 3),), spelled="x.mean()"),
    Sample("mean.dim", (real(2, 3),), {"dim": 0, "keepdim": False}, "x.mean(0)"),
    Sample("cumsum", (real(2, 3),), {"dim": 1}, "x.cumsum(1)"),
    Sample("var", (real(2, 3),), {"dim": None, "correction": 1}, "x.var()"),
    Sample(
        "var", (real(2, 3),), {"dim": 1, "correction": 0, "keepdim": True}, "x.var(1, unbiased=False, keepdim=True)"
    ),
    Sample("std", (real(2, 3),), {"dim": None, "correction": 1}, "x.std()"),
    Sample("std", (real(2, 3),), {"dim": 0, "correction": 1}, "x.std(0)"),
    Sample("prod", (real(2, 3),), spelled="x.prod()"),
    Sample("prod", (np.array([2.0, 0.0, 3.0]),), spelled="x.prod()"),
    Sample("prod.dim_int", (np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 2.0]]),), {"dim": 1, "keepdim": False}, "x.prod(1)"),
    Sample("prod.dim_int", (real(2, 3),), {"dim": 0, "keepdim": True}, "x.prod(0, keepdim=True)"),
    Sample("max", (real(2, 3),), spelled="x.max()"),
    Sample("min", (real(2, 3),), spelled="x.min()"),
    Sample("max", (TIED,), spelled="x.max()", kink=True),
    Sample("max.dim", (real(2, 3),), {"dim": 1, "keepdim": False}, "x.max(1)"),
    Sample("max.dim", (TIED,), {"dim": 0, "keepdim": True}, "x.max(0, keepdim=True)", kink=True),
    Sample("min.dim", (real(2, 3),), {"dim": 0, "keepdim": False}, "x.min(0)"),
    Sample("amax", (TIED,), {"dim": (0, 1), "keepdim": False}, "x.amax()", kink=True),
    Sample("amax", (real(2, 3),), {"dim": 1, "keepdim": True}, "x.amax(1, keepdim=True)"),
    Sample("amin", (real(2, 3),), {"dim": (0, 1), "keepdim": False}, "x.amin((0, 1))"),
    Sample("argmax", (TIED,), {"dim": 1}, "x.argmax(1)"),
    Sample("argmin", (TIED,), spelled="x.argmin()"),
    Sample("all", (mask(2, 3),), {"dim": 1}, "x.all(1)"),
    Sample("any", (mask(2, 3),), spelled="x.any()"),
    Sample("logsumexp", (real(2, 3),), {"dim": 1}, "x.logsumexp(1)"),
    Sample("logsumexp", (real(2, 3),), {"dim": (0, 1), "keepdim": True}, "x.logsumexp((0, 1), keepdim=True)"),
    Sample("softmax", (real(2, 3),), {"dim": 1}, "torch.softmax(x, -1)"),
    Sample("log_softmax", (real(2, 3),), {"dim": 0}, "torch.log_softmax(x, 0)"),
    *(Sample("linalg_vector_norm", (real(2, 3),), {"ord": float(p)}, f"x.norm({p})") for p in (1, 2, 3, 1.5)),
    Sample("linalg_vector_norm", (real(2, 3),), {"ord": 2.0, "dim": 1, "keepdim": True}, "x.norm(2, 1, True)"),
    Sample("linalg_vector_norm", (real(2, 3),), {"ord": float("inf"), "dim": 0}, "x.norm(float('inf'), 0)"),
    Sample("linalg_vector_norm", (real(2, 3),), {"ord": 0.0}, "x.norm(0)"),
    Sample("linalg_vector_norm", (np.zeros((2, 2)),), {"ord": 2.0}, "x.norm()", kink=True),
    Sample("gather", (real(2, 3), index([0, 2], [1, 1])), {"dim": 1}, "x.gather(1, y)"),
    Sample("scatter_sum", (real(2, 2), index([0, 2], [1, 1])), {"dim": 1, "sizes": (2, 3)}, reason=INNER),
    Sample("even_share", (TIED, np.array(3.0)), reason=INNER),
    Sample("off_diagonal", (real(3, 3),), {"dim": 0, "value": 1}, reason=INNER),
    Sample("prod_of_others", (np.array([[2.0, 0.0, 3.0], [1.0, 1.5, 2.0]]),), {"dim": 1}, reason=INNER),
]

SHAPES = [
    Sample("to", (real(2, 3),), {"dtype": np.dtype("float32")}, "x.to(torch.float32)", kink=True),
    Sample(
        "to.device",
        (real(2, 3),),
        {"device": "cpu", "source": "cpu"},
        reason="x.to('cpu') of a tensor that is there is the tensor",
    ),
    Sample("sum_to_size", (real(2, 3),), {"size": (1, 3)}, "x.sum_to_size(1, 3)", same_node=False),
    Sample("expand", (real(3, 1),), {"size": (2, 3, 4)}, "x.expand(2, -1, 4)"),
    Sample("unsqueeze", (real(2, 3),), {"dim": 2}, "x.unsqueeze(-1)"),
    Sample("squeeze", (real(1, 3, 1),), spelled="x.squeeze()"),
    Sample("squeeze.dim", (real(1, 3, 1),), {"dim": 0}, "x.squeeze(0)"),
    Sample("squeeze.dim", (real(2, 3),), {"dim": 0}, "x.squeeze(0)"),
    Sample("squeeze.dims", (real(1, 3, 1),), {"dim": (0, 1)}, "x.squeeze((0, 1))"),
    Sample("squeeze.row", (real(1, 3),), {"dim": 0}, reason="the end of vector @ matrix"),
    Sample("view", (real(2, 3),), {"size": (3, 2)}, "x.view(3, -1)"),
    Sample("_reshape_alias", (real(3, 2).T,), {"size": (2, 3, 1)}, reason="reshape of a view that is no copy"),
    Sample("_unsafe_view", (real(2, 3),), {"size": (6,)}, reason="the end of a reshape that copies, and of matmul"),
    Sample("reshape", (real(2, 3),), {"size": (3, 2)}, reason=INNER),
    Sample("clone", (real(2, 3),), spelled="x.clone()"),
    Sample("alias", (real(2, 3),), spelled="x[...]"),
    Sample("detach", (real(2, 3),), spelled="x.detach()"),
    Sample("data", (real(2, 3),), spelled="x.data"),
    Sample("transpose", (real(2, 3, 2),), {"dim0": 0, "dim1": 2}, "x.transpose(0, -1)"),
    Sample("permute", (real(2, 3, 4),), {"dims": (2, 0, 1)}, "x.permute(2, 0, 1)"),
    Sample("t", (real(2, 3),), spelled="x.t()"),
    Sample("flip", (real(2, 3),), {"dims": (1,)}, "x.flip(1)"),
    Sample("tril", (real(2, 3, 3),), {"diagonal": -1}, "torch.tril(x, -1)"),
    Sample("triu", (real(2, 3),), {"diagonal": 1}, "x.triu(1)"),
    Sample("zero_of", (real(2),), {"size": (3,)}, reason=INNER),
    Sample("cat", ([real(2, 3), real(1, 3)],), {"dim": 0}, "torch.cat(x)"),
    Sample("cat", ([real(2, 3), real(2, 2), np.zeros((0,))],), {"dim": 1}, "torch.cat(x, -1)"),
    Sample("clone_gradient", (real(2, 3),), reason=INNER),
    Sample("unbind", (real(2, 3),), {"dim": 1}, "x.unbind(1)"),
    Sample("stack", ([real(2, 3), real(2, 3)],), {"dim": 1}, "torch.stack(x, 1)"),
    Sample("select", (real(2, 3),), {"dim": 1, "index": 2}, "x[:, -1]"),
    Sample("slice", (real(5, 3),), {"dim": 0, "start": 1, "end": 5, "step": 2}, "x[1::2]"),
    Sample("select_backward", (real(2),), {"sizes": (2, 3), "dim": 1, "index": 2}, reason=INNER),
    Sample("slice_backward", (real(2, 3),), {"sizes": (5, 3), "dim": 0, "start": 1, "end": 5, "step": 2}, reason=INNER),
]

PARTS = [
    Sample("index", (real(3, 4), [index(0, 2, 2)]), spelled="x[torch.tensor([0, 2, 2])]"),
    Sample("index", (real(3, 4), [None, index(0, 2)]), spelled="x[:, [0, 2]]"),
    Sample("index", (real(3, 4), [mask(3, 4)]), spelled="x[torch.arange(12).view(3, 4) % 3 == 0]"),
    Sample(
        "index",
        (real(3, 4), [index([0], [2]), index(1, 1)]),
        spelled="x[torch.tensor([[0], [2]]), torch.tensor([1, 1])]",
    ),
    Sample("index_backward", (real(3, 4), [index(0, 2, 2)]), {"sizes": (4, 4)}, reason=INNER),
    Sample("index_cleared", (real(3, 4), [index(0, 2)]), reason=INNER),
    Sample(
        "index_put", (real(3, 4), real(2, 4), [index(0, 2)]), spelled="x.clone().index_put_((torch.tensor([0, 2]),), y)"
    ),
    Sample("index_select", (real(3, 4), index(2, 0, 2)), {"dim": 1}, "x.index_select(1, y)"),
    Sample("index_sum", (real(3, 3), index(2, 0, 2)), {"dim": 1, "sizes": (3, 4)}, reason=INNER),
    Sample("take_slice", (real(3, 4),), {"path": SELECT_1}, reason=INNER),
    Sample("spread_slice", (real(4),), {"path": SELECT_1, "sizes": (3, 4)}, reason=INNER),
    Sample("zero_slice", (real(3, 4),), {"path": SELECT_1}, reason=INNER),
    Sample("copy_slices", (real(3, 4), real(4)), {"path": SELECT_1}, reason="what writing a view means for its base"),
    Sample("fill.Scalar", (real(2, 3),), {"value": 2.0}, "x.clone().fill_(2.0)"),
    Sample("fill.Tensor", (real(2, 3), real_number()), spelled="x.clone().fill_(y)"),
    Sample("copy", (real(2, 3), real(3)), spelled="x.clone().copy_(y)"),
    Sample("normal", (real(2, 3), real(2, 3)), reason="random"),
    Sample("uniform", (real(2, 3), real(2, 3)), reason="random"),
]

PRODUCTS = [
    Sample("mm", (real(2, 3), real(3, 4)), spelled="x @ y"),
    Sample("bmm", (real(2, 2, 3), real(2, 3, 2)), spelled="torch.bmm(x, y)"),
    Sample("mv", (real(2, 3), real(3)), spelled="x @ y"),
    Sample("dot", (real(3), real(3)), spelled="x @ y"),
]

SAMPLES = [*ARITHMETIC, *FUNCTIONS, *CHOICES, *REDUCTIONS, *SHAPES, *PARTS, *PRODUCTS]
NOT_DIFFERENTIABLE = {"floor_divide": "torch gives it a node that raises in backward"}
