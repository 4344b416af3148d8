"""What scripts say before they train, beside live torch."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.parity.scripts.test_scripts import as_engine

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.parity

IMPORTS = """
import numpy
import torch
import torch.backends.cudnn
import torch.random
import torch.utils.checkpoint
from torch.nn.modules.utils import _pair
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.batchnorm import _BatchNorm
"""
EXPRESSIONS = """
torch.cuda.device_count()
torch.cuda.is_initialized()
torch.cuda.manual_seed_all(3)
torch.cuda.empty_cache()
torch.cuda.memory_allocated()
torch.cuda.synchronize()
torch.cuda.get_device_name(0)
torch.accelerator.current_accelerator()
torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark, torch.backends.cudnn.enabled
torch.backends.mps.is_available(), torch.backends.cuda.is_built()
setattr(torch.backends.cudnn, 'benchmark', False)
torch.set_num_threads(0)
torch.set_num_threads('a')
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision('low')
torch.are_deterministic_algorithms_enabled()
torch.get_default_device()
torch.set_default_tensor_type(torch.FloatTensor)
torch.autocast('cuda', dtype=torch.float16).__class__.__name__
torch.autocast('cpu', enabled=False).__enter__().__class__.__name__
torch.amp.GradScaler('cuda').is_enabled()
torch.cuda.amp.GradScaler().scale(torch.ones(1))
torch.cuda.amp.GradScaler().state_dict()
torch.amp.GradScaler('cpu').scale(torch.ones(1))
torch.amp.GradScaler('cpu').update()
torch.matmul(torch.ones(2, 2), torch.ones(2, 2), out=torch.zeros(2, 2))
torch.linalg.inv(torch.eye(2), out=torch.zeros(2, 2))
_pair(3), _pair((1, 2))
isinstance(torch.nn.Conv2d(1, 1, 1), _ConvNd), isinstance(torch.nn.BatchNorm2d(3), _BatchNorm)
isinstance(torch.ones(1), torch.FloatTensor), isinstance(torch.ones(1), torch.LongTensor)
type((torch.ones(1, requires_grad=True) * 2).grad_fn)
torch.zeros(2, 3, requires_gard=True)
torch.ones(3) + [1, 2, 3]
torch.utils.checkpoint.checkpoint(lambda x: x * 2, torch.ones(1))
torch.zeros_like(torch.ones(2), memory_format=torch.legacy_contiguous_format)
torch.ones(2) * numpy.float64(3)
""".strip().splitlines()


def outcome(expression: str, preamble: str) -> tuple[str, list[str]]:
    """What an expression gives or raises (its first line), and the first lines of its warnings."""
    scope: dict[str, Any] = {}
    exec(preamble, scope)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = repr(eval(expression, scope))  # noqa: S307 - the table above
        except Exception as error:  # noqa: BLE001 - it is what is compared
            made = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    told = [f"{w.category.__name__}: {re.split(' .Triggered|[.] ', str(w.message))[0]}" for w in caught]
    return made, [line.splitlines()[0].rstrip(".") for line in told]


@pytest.fixture(autouse=True)
def as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A warning that another test has met is given again; importing torch's own tests has locked no switches."""
    monkeypatch.setitem(torch.backends.flags_frozen.__globals__, "__allow_nonbracketed_mutation_flag", True)
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_preamble_has_the_outcome_of_torch(expression: str) -> None:
    if torch.cuda.is_available():
        pytest.skip("these are the answers of a machine without a GPU")
    assert outcome(expression, as_engine(IMPORTS)) == outcome(expression, IMPORTS)


def test_scaler_leaves_out_a_step_that_would_write_inf() -> None:
    found = []
    for name in ("torch", "engine"):
        library = __import__(name)
        p = library.nn.Parameter(library.ones(2))
        optimizer, scaler = library.optim.SGD([p], lr=0.5), library.amp.GradScaler("cpu", init_scale=4.0)
        for factor in (1.0, float("inf"), 1.0):
            optimizer.zero_grad()
            scaler.scale((p * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
        found.append((p.tolist(), scaler.get_scale()))
    assert found[0] == found[1] == ([0.0, 0.0], 2.0)
