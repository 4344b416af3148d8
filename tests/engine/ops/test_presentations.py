"""What an op's declaration says of the shape of its result, and of working by element, is what its kernel does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.ops.op import REGISTRY, call_kernel
from tests.samples import SAMPLES, Sample

SHAPED = [s for s in SAMPLES if REGISTRY[s.op].presentation.shape is not None and not REGISTRY[s.op].lists]
ELEMENTWISE = [s for s in SAMPLES if REGISTRY[s.op].presentation.elementwise]


def by_name(sample: Sample) -> str:
    return sample.name


def result(sample: Sample, inputs: tuple[Any, ...]) -> Any:
    statics = {**REGISTRY[sample.op].statics, **sample.statics}
    with np.errstate(all="ignore"):
        made = call_kernel(REGISTRY[sample.op], inputs, statics)
    return made[0] if isinstance(made, tuple) else made


@pytest.mark.parametrize("sample", SHAPED, ids=by_name)
def test_shape_is_that_of_the_kernels_result(sample: Sample) -> None:
    rule = REGISTRY[sample.op].presentation.shape
    assert rule is not None
    told = rule({**REGISTRY[sample.op].statics, **sample.statics}, *(np.shape(one) for one in sample.inputs))
    assert told is None or told == np.shape(result(sample, sample.inputs))


@pytest.mark.parametrize("sample", ELEMENTWISE, ids=by_name)
def test_by_element_a_part_of_the_inputs_gives_that_part_of_the_result(sample: Sample) -> None:
    shape = np.broadcast_shapes(*(np.shape(one) for one in sample.inputs))

    def part(array: Any) -> Any:
        return np.broadcast_to(array, shape).reshape(-1)[1::2]

    inputs = tuple(part(one).copy() if isinstance(one, np.ndarray) else one for one in sample.inputs)
    whole = np.asarray(result(sample, sample.inputs))
    assert whole.shape == shape
    np.testing.assert_allclose(result(sample, inputs), part(whole), rtol=1e-6)
