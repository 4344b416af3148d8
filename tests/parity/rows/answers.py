"""What torch answers to every sample row: stored, so that it can be asked where torch is not installed.

`python -m tests.parity.rows.answers` writes the file anew, where torch is; a test there holds that it is fresh.
"""

from __future__ import annotations

import functools
import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from engine.ops.op import REGISTRY
from tests.engine.helpers import leaves, spelled_outputs
from tests.samples import NOT_DIFFERENTIABLE, SAMPLES, Sample

FILE = Path(__file__).parents[2] / "samples" / "answers.npz"
Answer = list[np.ndarray | None]


def ask(sample: Sample, library: Any, device: str = "cpu") -> Answer:
    """Outputs, gradients and gradients of the gradients, in float64; None where there is none."""
    given = leaves(sample, library, "float64", device)
    outputs, inputs = spelled_outputs(sample, library, given)
    differentiable = REGISTRY[sample.op].rules and sample.op not in NOT_DIFFERENTIABLE
    weighted = [o for o in outputs if differentiable and getattr(o, "requires_grad", False)]
    found: list[Any] = [o.detach() for o in outputs]
    if weighted:
        first = library.autograd.grad(
            weighted[0], inputs, _weights(weighted[0], library), create_graph=True, allow_unused=True
        )
        total = sum((g * g + g).sum() for g in first if g is not None)
        second: Iterable[Any] = [None] * len(inputs)
        if getattr(total, "requires_grad", False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                second = library.autograd.grad(total, inputs, allow_unused=True)
        found += [*(None if g is None else g.detach() for g in first), *second]
    return [None if f is None else np.array(f.detach().cpu().numpy(force=True)) for f in found]


def _weights(output: Any, library: Any) -> Any:
    """A gradient to send back: the cosines of 0, 1, 2 …"""
    count = int(np.prod(tuple(output.shape)))
    weights = library.tensor(np.cos(np.arange(count, dtype=float)).reshape(tuple(output.shape)))
    return weights.to(output.device).to(output.dtype).requires_grad_()


def numbered(samples: Iterable[Sample]) -> list[tuple[str, Sample]]:
    """The rows that torch can be asked, by a name of their own: rows of one spelling are counted."""
    seen: Counter[str] = Counter()
    found = []
    for sample in samples:
        if sample.spelled:
            seen[sample.name] += 1
            found.append((f"{sample.name} {seen[sample.name]}", sample))
    return found


def digest(sample: Sample) -> str:
    """A short name of the numbers that a row is asked about."""
    summed = hashlib.sha256()
    for value in _flat(sample.inputs):
        summed.update(
            value.tobytes() + str(value.shape).encode() if isinstance(value, np.ndarray) else repr(value).encode()
        )
    return summed.hexdigest()[:12]


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def write(answers: dict[str, tuple[str, Answer]]) -> None:
    """Store answers: all numbers in one array, beside an index of names, digests and shapes."""
    index = {
        name: [key, [None if a is None else list(a.shape) for a in answer]] for name, (key, answer) in answers.items()
    }
    flat = [np.asarray(a, dtype="float64").ravel() for _, answer in answers.values() for a in answer if a is not None]
    np.savez_compressed(FILE, data=np.concatenate(flat), index=np.array(json.dumps(index)))


@functools.cache
def stored() -> dict[str, tuple[str, Answer]]:
    """The stored answers by row: the digest of its inputs, and the arrays."""
    with np.load(FILE) as file:
        data, index = file["data"], json.loads(str(file["index"]))
    found: dict[str, tuple[str, Answer]] = {}
    place = 0
    for name, (key, shapes) in index.items():
        answer: Answer = []
        for shape in shapes:
            if shape is None:
                answer.append(None)
                continue
            size = int(np.prod(shape))
            answer.append(data[place : place + size].reshape(shape))
            place += size
        found[name] = (key, answer)
    return found


if __name__ == "__main__":
    import torch

    write({name: (digest(sample), ask(sample, torch)) for name, sample in numbered(SAMPLES)})
    print(FILE)
