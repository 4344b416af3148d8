"""Small programs about views, writes, nodes and dtypes: each has the same outcome here and in torch.

Most of them are what is left of a random program that came out differently.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.parity.helpers.outcomes import both, first_sentences, outcome, texts
from tests.parity.helpers.saying import listed

VIEWS = {
    "squeeze of nothing": "w = x * 1; y = w.squeeze(); y.mul_(2); r = w._version, w.grad_fn, y._is_view()",
    "squeeze of nothing, saved": "w = x * 1; y = w.squeeze((0,)); z = w * w; y.mul_(2); z.sum().backward()",
    "squeeze of a number": "w = x[0] * 1; r = w.squeeze(0).grad_fn, w.squeeze((0,)).grad_fn, w.squeeze(0)._is_view()",
    "squeeze_ of a number": "w = x[0] * 1; w.squeeze_(0); r = w.grad_fn; w.backward(); r = r, x.grad",
    "rows of transposed parts": """
        a = torch.arange(6.0).reshape(2, 3).t()
        r = torch.cat([a, a]).stride(), torch.stack([a, a], 1).is_contiguous(), torch.dstack([a, a]).view(-1)""",
    "channels that lie innermost": """
        a = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
        r = torch.cat([a, a], 1).stride(), torch.cat([a, a]).stride()""",
    "a part without elements": "r = torch.arange(3).unflatten(0, (2, -1))",
}
WRITES = {
    "a mask with itself": "m = torch.tensor([True, False]); m[m] = 2; r = m",
    "a mask with its element": "m = torch.tensor([True, False]); m[m] = m[0]; r = m",
    "a mask with one number of another dtype": "i = torch.tensor([1, 2, 3]); i[i > 1] = torch.tensor([[1.5]]); r = i",
    "an index with a number of another dtype": "i = torch.tensor([1, 2, 3]); i[[0, 1]] = torch.tensor(1.5)",
    "two indices, another dtype": "i = torch.ones(1, 2).int(); i[[0], [True, False]] = torch.tensor(1.5)",
    "a row with itself": "y = torch.tensor([1.0, 2.0]); y[None] = y; y[None, ...] = y; r = y",
    "bytes below 0": "i = torch.tensor([1, 2, 3]).byte(); i[[0, 1]] = -1; i[i == 3] = -2; r = i",
    "bytes too large": "i = torch.tensor([1, 2, 3]).byte(); i[[0, 1]] = 300",
    "bytes too large in a part": "i = torch.tensor([1, 2, 3]).byte(); i[0] = 300",
    "bytes from a number with decimals below 0": "i = torch.tensor([1, 2, 3]).byte(); i[i > 1] = -1.5",
    "copy to integers": "i = torch.tensor([1, 2, 3]); i.copy_(x); r = i, i.requires_grad, i.is_leaf",
    "copy to a part of integers": "i = torch.tensor([1, 2, 3]); i[:2] = x[:2]; r = i, i.requires_grad, i.grad_fn",
    "a number to a matrix": "y = torch.zeros(2, 2); y[:1, ...] = x[0]; r = y.grad_fn.next_functions[1][0].name()",
    "bits of a bool by an integer": "m = torch.tensor([True]); m ^= 2",
    "bits of a bool by integers": "m = torch.tensor([True]); m &= torch.tensor([2])",
    "floor division by 0": "i = torch.tensor([1]); i //= torch.tensor([0])",
    "remainder by 0": "i = torch.tensor([1]); i %= 0",
    "fmod_ by 0": "torch.tensor([1]).fmod_(torch.tensor(0))",
    "div_ by 0": "torch.tensor([1]).div_(0, rounding_mode='floor')",
}
NODES = {
    "floor division": """
        nodes = (x // 2).grad_fn, (x // x).grad_fn
        r = [(node.name(), [edge.name() for edge, _ in node.next_functions]) for node in nodes]""",
    "floor division, backward": "(x // 2).sum().backward()",
    "number that int32 cannot hold": "torch.zeros(2, dtype=torch.int32)[0] = 2**40",
    "number that int32 cannot hold, by index": "torch.zeros(2, dtype=torch.int32)[torch.tensor([0])] = 2**40",
    "number that int8 cannot hold, everywhere": "torch.zeros(2, dtype=torch.int8).fill_(300)",
    "number below 0 in uint8": "t = torch.uint8; r = torch.zeros(2, dtype=t).fill_(-1), torch.full((2,), -3, dtype=t)",
    "sign of a remainder that is zero": """
z, one = torch.tensor([0.0, -0.0, 4.0, -4.0]), torch.ones(4)
r = [torch.copysign(one, y) for y in (z % 4, z % -4.0, z % torch.tensor(-2.0), -8 % torch.abs(z + 8))]
""",
    "remainder of a number": "r = (5 % x), (5 % x).grad_fn.name(), (5 % x).grad_fn.next_functions[0][0].name()",
    "remainder of a number, backward": "(5 % x).sum().backward()",
    "a copy in the same dtype": "r = x.to(torch.float32, copy=True).grad_fn, x.clone().grad_fn",
    "bounds of a number and a tensor": """
        low = torch.tensor(1.5)
        y = torch.clamp(x, low, 2.5)
        r = y, torch.clamp(x, 1, low), x.clone().clamp_(low, 2), torch.clamp(x, low)""",
    "bounds of a number and tensors": "torch.clamp(x, torch.tensor([0.0, 1.5, 2.0]), 2.5)",
    "bounds of a number and a tensor that requires grad": "torch.clamp(x, x[0], 2.5)",
}  # fmt: skip
FLAGS = {
    "requires_grad of an inner tensor": "y = x * 2; y.requires_grad = True",
    "requires_grad of an inner tensor, off": "y = x * 2; y.requires_grad = False",
    "requires_grad_ of an inner tensor": "y = x * 2; y.requires_grad_(); r = y; y.requires_grad_(False)",
    "a gradient that is the tensor itself": "x.grad = x",
    "requires_grad of integers": "i = torch.tensor([1]); i.requires_grad = True",
    "requires_grad_ of integers": "torch.tensor([1]).requires_grad_()",
}
LAYOUTS = {
    "reductions of a transposed tensor": """
        a = torch.arange(24.0).reshape(2, 3, 4).permute(2, 1, 0)
        names = "sum mean prod amax amin var std all any logsumexp".split()
        r = [(name, getattr(a, name)(0).stride()) for name in names]""",
    "a mean that is viewed": "r = torch.arange(24.0).reshape(2, 3, 4).transpose(1, 2).mean(0).view(-1)",
    "softmax and norms of a transposed tensor": """
        a = torch.arange(24.0).reshape(2, 3, 4).permute(2, 1, 0)
        f = torch.nn.functional
        r = [y.stride() for y in (a.softmax(0), a.log_softmax(1), f.layer_norm(a, (2,)), f.logsigmoid(a))]""",
    "a vector times a matrix": "y = x @ torch.ones(3, 2); y.mul_(2); r = y._is_view(), y.grad_fn",
}
SENTENCES = {
    "expand names the last dimension": "torch.ones(4, 2).expand(3, 3)",
    "a copy that is too large": "torch.ones(3).copy_(torch.ones(4, 3))",
    "a copy of another size": "torch.ones(3).copy_(torch.ones(4))",
    "a copy of several to one": "torch.ones(1).copy_(torch.ones(2))",
    "bits by a float": "torch.tensor([1]) ^ 1.5",
    "bits of a float by integers": "1.5 | torch.tensor([1])",
    "shift by a float": "torch.tensor([1]) << 1.5",
    "product of two dtypes": "torch.ones(2, 2).half() @ torch.ones(2, 2)",
    "product of integers and floats": "torch.ones(2, 2).long() @ torch.ones(2, 2)",
    "isnan has no out": "torch.isnan(x, out=torch.zeros(3))",
    "relu has no out": "torch.relu(x, out=torch.zeros(3))",
    "median of bools": "torch.tensor([True]).nanmedian(0)",
    "narrow of nothing": "torch.zeros(0).narrow(0, -1, 1)",
}
GRADIENTS = {
    "batched, unused": """
        ones = torch.ones(2, 3)
        r = torch.autograd.grad(x * 2, [x, y := torch.ones(2, requires_grad=True)], ones, is_grads_batched=True,
                                materialize_grads=True)""",
    "batched, unused, none": """
        y = torch.ones(2, requires_grad=True)
        r = torch.autograd.grad(x * 2, [x, y], torch.ones(2, 3), is_grads_batched=True, allow_unused=True)""",
}
INTEGERS = {
    "tensordot of dimensions of size 1": """
        i = torch.tensor([[1], [2]], dtype=torch.int8)
        r = torch.tensordot(i, torch.tensor([[3, 4]], dtype=torch.int8), 1), torch.inner(i, i[:1])""",
}
BOOLS = """
m @ m | m.mv(m[0]) | m[0] @ m[0] | torch.bmm(m[None], m[None]) | m ** m | m // m | m // True | m % m
torch.fmod(m, m) | m.abs_() | m.ceil() | m.floor_() | m.round() | m.trunc_() | m.addcmul(m, m)
torch.div(m, m, rounding_mode='trunc') | torch.nn.functional.softsign(m) | m.fmod_(m) | m % 2 | m ** 2 | m / m
"""


def _programs() -> list[Any]:
    groups = (VIEWS, WRITES, NODES, FLAGS, LAYOUTS, SENTENCES, GRADIENTS, INTEGERS)
    rows = {name: textwrap.dedent(source) for group in groups for name, source in group.items()}
    bools = listed(BOOLS)
    assert len(rows) == sum(map(len, groups)), "two programs of one name"
    return texts(rows | {text: f"m = torch.tensor([[True]]); r = {text}" for text in bools})


@pytest.mark.parity
@pytest.mark.parametrize("program", _programs())
def test_small_program_has_the_same_outcome(program: Callable[[Any], Any]) -> None:
    ours, theirs = (outcome(program, library) for library in both())
    if first_sentences(theirs[:1]):
        assert first_sentences(ours) == first_sentences(theirs)
    else:
        assert ours == theirs
