"""Ops of torch's own database, recorded: each gives what it gives alone, and its trace fits together.

Every 24th entry here; BACKSTEP_DATABASE=1 takes all of them.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from engine.trace.file.consistency import check
from tests.batches import batches
from viz.record.block import Block

from .test_recorder import assert_is_consistent

pytestmark = pytest.mark.parity

torch: Any
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None


def entries() -> list[Any]:
    if torch is None:
        return [None]
    found = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    return list(found if os.environ.get("BACKSTEP_DATABASE") else found[::24])


def tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)


def run(op: Any, sample: Any) -> list[Any]:
    """The results of an op, and the gradients of its inputs."""
    torch.manual_seed(1)
    inputs = list(tensors((sample.input, sample.args, tuple(sample.kwargs.values()))))
    for one in inputs:
        one.grad = None
    results = list(tensors(op(sample.input, *sample.args, **sample.kwargs)))
    roots = [one for one in results if one.requires_grad]
    if roots:
        sum((one.abs() if one.is_complex() else one).sum() for one in roots).backward()
    return [one.detach().clone() for one in results] + [one.grad.clone() for one in inputs if one.grad is not None]


def same(one: Any, other: Any) -> bool:
    """Whether two tensors hold the same, a nan included."""
    one, other = (t if t.layout is torch.strided else t.to_dense() for t in (one, other))
    pair = [torch.view_as_real(t.to(torch.complex64)) if t.is_complex() else t for t in (one, other)]
    return bool(torch.equal(*pair) or (pair[0] != pair[0]).any())


@batches("op", entries(), lambda op: f"{op and op.name}", size=30)
def test_op_is_recorded_and_gives_what_it_gives_alone(op: Any) -> None:
    if op is None:
        pytest.skip("torch is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd))[:2]
        for sample in samples:
            try:
                alone = run(op, sample)
            except (
                RuntimeError,
                AssertionError,
                TypeError,
            ):  # no derivative, for a GPU, or wrong
                continue
            with Block() as trace:
                recorded = run(op, sample)
            for one, other in zip(alone, recorded, strict=True):
                written = "empty" not in op.name
                assert one.shape == other.shape and (not written or same(one, other))
            heads = [(value.shape, value.dtype) for value in trace.values]
            lost = [value.damaged for value in trace.values]
            check(trace.events, heads.__getitem__, lost.__getitem__)
            assert_is_consistent(trace)
