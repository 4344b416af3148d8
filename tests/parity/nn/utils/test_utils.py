"""nn.utils: clipping, vectors of parameters, padded and packed sequences are torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.parity.helpers.saying import said

torch = pytest.importorskip("torch")

GRADIENTS = [np.array([[3.0, -4.0], [0.5, 2.0]]), np.array(7.0), np.array([np.pi, -1e-3])]


def parameters(t: Any, gradients: Any = None) -> list[Any]:
    made = []
    for grad in GRADIENTS if gradients is None else gradients:
        p = t.zeros(*grad.shape, dtype=t.float64, requires_grad=True)
        p.grad = t.tensor(grad.tolist(), dtype=t.float64)
        made.append(p)
    made.append(t.zeros(3, requires_grad=True))
    return made


def clipped(clip: Callable[[Any, list[Any]], Any], gradients: Any = None) -> Callable[[Any], Any]:
    def action(t: Any) -> Any:
        ps = parameters(t, gradients)
        found = clip(t.nn.utils, ps)
        return None if found is None else found.tolist(), [p.grad is not None and p.grad.tolist() for p in ps]

    return action


def iter_of(listed: list[Any]) -> Any:
    return (item for item in listed)


def vectors(t: Any) -> Any:
    ps = parameters(t)[:3]
    vector = t.nn.utils.parameters_to_vector(ps)
    vector.sum().backward()
    t.nn.utils.vector_to_parameters(t.arange(7.0, dtype=t.float64), ps)
    return vector.tolist(), [p.tolist() for p in ps], ps[0].requires_grad, ps[1].grad.tolist()


SEQUENCES = [[[1.0], [2.0]], [[3.0]], [[4.0], [5.0], [6.0]]]


def sequences(t: Any) -> list[Any]:
    return [t.tensor(s, dtype=t.float64, requires_grad=True) for s in SEQUENCES]


def packing(**options: Any) -> Callable[[Any], Any]:
    """Packed and unpacked again, with gradients."""

    def action(t: Any) -> Any:
        rnn, made = t.nn.utils.rnn, sequences(t)
        packed = rnn.pack_sequence(made, enforce_sorted=False)
        padded, lengths = rnn.pad_packed_sequence(packed, **options)
        (padded * t.arange(float(padded.numel()), dtype=t.float64).reshape(padded.shape)).sum().backward()
        parts = [packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices, padded, lengths]
        return (
            [part.tolist() for part in parts],
            [s.grad.tolist() for s in made],
            [s.tolist() for s in rnn.unpack_sequence(packed)],
        )

    return action


SAME: dict[str, Callable[[Any], Any]] = {
    "norm": clipped(lambda u, p: u.clip_grad_norm_(p, 1.0)),
    "norm of one": clipped(lambda u, p: u.clip_grad_norm_(p[0], 1.0)),
    "norm of a generator": clipped(lambda u, p: u.clip_grad_norm_((q for q in p), 2.0, norm_type=1)),
    "largest": clipped(lambda u, p: u.clip_grad_norm_(p, 1.0, norm_type=float("inf"))),
    "norm that is small enough": clipped(lambda u, p: u.clip_grad_norm_(p, 100.0)),
    "norm of nothing": clipped(lambda u, p: u.clip_grad_norm_([p[3]], 1.0)),
    "norm of an empty generator": clipped(lambda u, p: u.clip_grad_norm_(iter_of([]), 1.0)),
    "norm of nan": clipped(lambda u, p: u.clip_grad_norm_(p, 1.0, error_if_nonfinite=True), [np.array([np.nan])]),
    "old name": clipped(lambda u, p: u.clip_grad_norm(p, 1.0)),
    "total": clipped(lambda u, p: u.get_total_norm([q.grad for q in p[:3]])),
    "by a norm": clipped(lambda u, p: u.clip_grads_with_norm_(p, 1.0, u.get_total_norm(p[0].grad))),
    "value": clipped(lambda u, p: u.clip_grad_value_(p, 2.5)),
    "vector": vectors,
    "vector of no tensor": lambda t: t.nn.utils.vector_to_parameters([1.0], []),
    "padded": lambda t: t.nn.utils.rnn.pad_sequence(sequences(t)).tolist(),
    "padded left, batch first": lambda t: t.nn.utils.rnn.pad_sequence(sequences(t), True, -1.0, "left").tolist(),
    "padded number": lambda t: t.nn.utils.rnn.pad_sequence(3),
    "packed": packing(),
    "packed batch first": packing(batch_first=True, padding_value=-1.0),
    "packed to a total": packing(total_length=5),
    "packed to a total too short": packing(total_length=2),
    "unsorted": lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(2, 2), [1, 2]),
    "lengths of another batch": lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(2, 2), [1]),
    "length of nothing": lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(2, 2), [1, 0]),
}


@pytest.mark.parametrize("name", SAME)
def test_utility_answers_as_torchs(name: str) -> None:
    mine, theirs = said(engine, SAME[name]), said(torch, SAME[name])
    ours, others = flat(mine), flat(theirs)
    assert len(ours) == len(others)
    for a, b in zip(ours, others, strict=True):
        assert a == (pytest.approx(b, rel=1e-13, nan_ok=True) if isinstance(b, float) else b)


def flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [f"{type(value).__name__} {len(value)}", *(leaf for item in value for leaf in flat(item))]
    return [value]
