"""The result shape and the elementwise flag in an op's declaration agree with its kernel."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np

from engine.ops.op import REGISTRY, call_kernel
from tests.batches import batches
from tests.samples import SAMPLES, Sample

SHAPED = [s for s in SAMPLES if REGISTRY[s.op].presentation.shape is not None and not REGISTRY[s.op].lists]
ELEMENTWISE = [s for s in SAMPLES if REGISTRY[s.op].presentation.elementwise]

ROOT = Path(__file__).resolve().parents[3]
MOST = 3
"""Names of ops in one list, up to which it is about these and not a table of what is known of ops."""
TABLES = {
    "engine/formula/styles.py": "commands of TeX",
    "engine/tensor/devices.py": "torch's own words for devices that do not fit, by its own names",
    "engine/trace/variable_names.py": "methods in the text of a program",
    "viz/findings/silent.py": "the losses of differences, one finding",
    "viz/record/torch/calls.py": "PyTorch's ops that broadcast, by its own names",
    "viz/record/torch/ops.py": "PyTorch's ops, and which of ours compute the same",
    "viz/record/torch/entries.py": "PyTorch's ops on lists of tensors, by its own names",
    "viz/record/torch_import.py": "modules of torch.distributions",
}
"""Other lists of words that are names of ops too, and what they are."""


def by_name(sample: Sample) -> str:
    return sample.name


def result(sample: Sample, inputs: tuple[Any, ...]) -> Any:
    statics = {**REGISTRY[sample.op].statics, **sample.statics}
    with np.errstate(all="ignore"):
        made = call_kernel(REGISTRY[sample.op], inputs, statics)
    return made[0] if isinstance(made, tuple) else made


@batches("sample", SHAPED, by_name)
def test_shape_is_that_of_the_kernels_result(sample: Sample) -> None:
    rule = REGISTRY[sample.op].presentation.shape
    assert rule is not None
    told = rule({**REGISTRY[sample.op].statics, **sample.statics}, *(np.shape(one) for one in sample.inputs))
    assert told is None or told == np.shape(result(sample, sample.inputs))


@batches("sample", ELEMENTWISE, by_name)
def test_by_element_a_part_of_the_inputs_gives_that_part_of_the_result(sample: Sample) -> None:
    shape = np.broadcast_shapes(*(np.shape(one) for one in sample.inputs))

    def part(array: Any) -> Any:
        return np.broadcast_to(array, shape).reshape(-1)[1::2]

    inputs = tuple(part(one).copy() if isinstance(one, np.ndarray) else one for one in sample.inputs)
    whole = np.asarray(result(sample, sample.inputs))
    assert whole.shape == shape
    np.testing.assert_allclose(result(sample, inputs), part(whole), rtol=1e-6)


def has_table(file: Path) -> bool:
    """Whether a list, a set or the keys of a dictionary in a file have more than `MOST` names of ops."""
    listed = (
        node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
    )
    return any(sum(isinstance(i, ast.Constant) and i.value in REGISTRY for i in items) > MOST for items in listed)


def test_no_table_of_ops_stands_elsewhere() -> None:
    """All knowledge of an op is in its declaration: the code that records, replays, shows or draws names no op."""
    folders = ("engine/backward", "engine/formula", "engine/replay", "engine/tensor", "engine/trace", "viz")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py") if "gallery" not in file.parts]
    assert {file.relative_to(ROOT).as_posix() for file in files if has_table(file)} == set(TABLES)
