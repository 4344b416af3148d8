"""What a tensor says of itself, its other dtypes, and what is known of dtypes, beside torch."""

from __future__ import annotations

import pytest

import engine
from engine.arrays.errors import OutOfScope
from tests.batches import batches
from tests.parity.helpers.saying import listed
from tests.parity.helpers.tables import assert_agreement

AGREE = """
x.type() | x.type('torch.DoubleTensor') | x.type(torch.int64) | x.type(torch.float32) | x.type('foo') | x.type_as(d)
x.to(torch.float64) | x.to(d) | x.to('cpu') | x.to('cpu', torch.float64) | x.to(torch.float64, copy=True)
x.to(dtype=torch.int32) | x.to(device='cpu') | x.double() | x.float() | x.half() | x.int() | x.long()
x.short() | x.char() | x.byte() | x.bool() | i.float() | f.bool() | x.half().float() | c.long() | b.float()
b.int() | x.is_floating_point() | i.is_floating_point() | x.is_complex() | x.element_size() | x.nbytes | x.itemsize
x.is_cuda | x.is_cpu | x.is_sparse | x.is_quantized | x.is_meta | x.device | x.get_device() | x.dtype
x.dim() | x.ndim | x.ndimension() | x.numel() | x.nelement() | x.shape | x.size() | x.size(0) | x.size(-1)
x.size(5) | len(x) | x.stride() | x.is_contiguous() | x.t().is_contiguous() | s.item() | i.tolist() | x.item()
torch.get_default_dtype() | torch.is_tensor(x) | torch.numel(x) | torch.is_floating_point(x) | torch.is_complex(x)
torch.result_type(i, s) | torch.result_type(i, 2.5) | torch.result_type(c, -1) | torch.result_type(b, 1)
torch.result_type(x, 'a') | torch.promote_types(torch.int32, torch.float16)
torch.promote_types(torch.bool, torch.uint8) | torch.promote_types(torch.uint8, torch.int16)
torch.promote_types(torch.int8, 2) | torch.can_cast(torch.float64, torch.float16)
torch.can_cast(torch.float32, torch.int64) | torch.can_cast(torch.int64, torch.uint8)
torch.float32.is_floating_point | torch.int64.is_signed | torch.float32.itemsize | torch.uint8.is_signed
torch.float64 | torch.double | torch.half | torch.bool | torch.uint8 | x.is_signed() | c.is_signed()
torch.is_signed(i) | x.is_nonzero() | s.is_nonzero() | torch.is_nonzero(e) | x.is_same_size(d) | x.requires_grad
x.is_leaf | x.output_nr | x.grad | x.grad_fn | x.names | float(s) | int(s) | bool(s) | complex(s) | s.__index__()
i[1].__index__() | x.abs().sum().item() | (x==1).any().item() | 2 in i | 7 in i | x.__contains__('a')
torch.is_same_size(x, w) | torch.iinfo(torch.int64).max | torch.iinfo('a') | torch.finfo(2) | torch.float16.itemsize
torch.long | x.new_zeros(2, dtype=torch.int8) | x.long().float() | d.type() | b.type() | i.type() | torch.int
torch.short | torch.float | torch.finfo(torch.float32).max | torch.finfo(torch.float32).min
torch.finfo(torch.float32).tiny | torch.finfo(torch.float16).resolution | torch.finfo(torch.float32).bits
torch.finfo(torch.float32)==torch.finfo(torch.float32) | x.bool().sum() | x.to(torch.bool) | f.to(torch.int64).dtype
x.to(non_blocking=True) | x.to() | x.cpu() | x.conj_physical() | x.resolve_conj() | x.resolve_neg() | x.is_conj()
x.is_neg() | x.is_inference() | torch.is_inference(x) | x.is_view() | x._is_view() | x.is_set_to(x)
torch.scalar_tensor(2.) | torch.typename(x) | x.retains_grad | x.is_shared() | x.is_pinned() | x.storage_offset()
x[1:].storage_offset() | x.T.stride(0) | x.numpy().dtype.name | x.index_fill(0, i[:1], 2.)
"""


@batches("expression", listed(AGREE))
def test_tensor_and_dtype_say_what_torchs_say(expression: str) -> None:
    assert_agreement(expression)


@pytest.mark.parametrize("name", ["cfloat", "cdouble", "bfloat16", "to_sparse", "dequantize"])
def test_what_is_left_out_says_so(name: str) -> None:
    with pytest.raises(OutOfScope, match=rf"{name}\(\): .* are out of scope in Backstep"):
        getattr(engine.ones(2), name)()


def test_bfloat16_can_be_named_and_says_that_it_is_left_out() -> None:
    assert repr(engine.bfloat16) == "torch.bfloat16" and engine.bfloat16.itemsize == 2
    for use in (
        lambda: engine.ones(2, dtype=engine.bfloat16), lambda: engine.ones(2).to(engine.bfloat16),
        lambda: engine.nn.Linear(2, 2).to(engine.bfloat16), lambda: engine.set_default_dtype(engine.bfloat16),
    ):  # fmt: skip
        with pytest.raises(OutOfScope, match=r"torch\.bfloat16: .* use torch\.float32"):
            use()
    assert engine.get_default_dtype() is engine.float32


@pytest.mark.parametrize("name", ["complex64", "complex128", "cfloat", "cdouble"])
def test_complex_dtype_can_be_named_and_says_that_it_is_left_out(name: str) -> None:
    dtype = getattr(engine, name)
    assert dtype.is_complex and not dtype.is_floating_point and engine.ones(2).dtype != dtype
    for make in (lambda: engine.ones(2, dtype=dtype), lambda: engine.ones(2).to(dtype)):
        with pytest.raises(OutOfScope, match=r"torch\.complex\d+: complex tensors are out of scope"):
            make()


@pytest.mark.parametrize("source", ["x * 1j", "1j * x", "x + 1j", "x - 1j", "x / 1j", "x ** 1j", "torch.add(x, 1j)"])
def test_complex_operand_is_left_out_in_so_many_words(source: str) -> None:
    with pytest.raises(OutOfScope, match="complex numbers are out of scope"):
        eval(source, {"x": engine.ones(2), "torch": engine})  # noqa: S307 - sources of this file
