"""A module of ours beside torch's, with the same state; what they compute is compared in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine

torch = pytest.importorskip("torch")

RTOL, ATOL = 1e-9, 1e-11


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal draws in float64."""
    return np.random.default_rng(seed).standard_normal(shape)


def ours_from(state: Any) -> dict[str, Any]:
    """A state_dict of torch's as one of ours, by way of numpy."""
    return {key: engine.from_numpy(value.numpy().copy()) for key, value in state.items()}


def torchs_from(state: Any) -> dict[str, Any]:
    """A state_dict of ours as one of torch's."""
    return {key: torch.from_numpy(value.numpy().copy()) for key, value in state.items()}


def pair(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    """(ours, torch's) of `make(nn)` in float64, with the same values, after states were exchanged both ways."""
    theirs = make(torch.nn).double()
    mine = make(engine.nn).double()
    assert list(mine.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(torchs_from(mine.state_dict()))
    for key, value in theirs.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), mine.state_dict()[key].numpy())
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.from_numpy(0.5 * drawn(*parameter.shape, seed=parameter.numel())))
    mine.load_state_dict(ours_from(theirs.state_dict()))
    return mine, theirs


def tensors(which: Any, values: Any) -> Any:
    """Arrays as tensors of a library, writeable floats with gradient; lists and tuples of them likewise."""
    if isinstance(values, (list, tuple)):
        return type(values)(tensors(which, value) for value in values)
    if not isinstance(values, np.ndarray):
        return values
    made = which.tensor(values.tolist(), dtype=getattr(which, values.dtype.name))
    if not values.size:
        made = made.reshape(values.shape)
    return made.requires_grad_() if values.dtype.kind == "f" and values.flags.writeable else made


def leaves(found: Any) -> list[Any]:
    """All tensors in nested tuples, lists and dicts."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        return [leaf for item in found for leaf in leaves(item)]
    return [] if found is None or isinstance(found, (int, float, bool)) else [found]


def plain(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().numpy())


def close(mine: Any, theirs: Any, what: str = "") -> None:
    """Every tensor of the one equals that of the other: dtype, shape, numbers."""
    ours, others = leaves(mine), leaves(theirs)
    assert len(ours) == len(others), what
    for a, b in zip(ours, others, strict=True):
        assert plain(a).dtype == plain(b).dtype, what
        assert plain(a).shape == plain(b).shape, what
        np.testing.assert_allclose(plain(a), plain(b), rtol=RTOL, atol=ATOL, err_msg=what)


def backward(found: Any, seed: int) -> None:
    """The gradient of a weighted sum of all floating outputs."""
    total: Any = 0
    for number, leaf in enumerate(leaves(found)):
        if leaf.requires_grad:
            library = engine if isinstance(leaf, engine.Tensor) else torch
            weight = library.from_numpy(np.asarray(drawn(*leaf.shape, seed=seed + number)))
            total = total + (leaf * weight).sum()
    total.backward()


def compare(make: Callable[[Any], Any], *args: Any, train: bool = True, **kwargs: Any) -> tuple[Any, Any]:
    """Outputs, gradients of parameters and inputs, and buffers afterwards are torch's; so is the printed form."""
    mine, theirs = pair(make)
    assert repr(mine) == repr(theirs)
    mine.train(train)
    theirs.train(train)
    results = []
    for module, library in ((mine, engine), (theirs, torch)):
        given, named = tensors(library, args), {k: tensors(library, v) for k, v in kwargs.items()}
        results.append((module(*given, **named), [*leaves(given), *leaves(named)]))
    close(results[0][0], results[1][0], "outputs")
    if any(leaf.requires_grad for leaf in leaves(results[1][0])):
        for out, _ in results:
            backward(out, 7)
        close([t.grad for t in results[0][1]], [t.grad for t in results[1][1]], "gradients of the inputs")
        own = [dict(module.named_parameters()) for module in (mine, theirs)]
        assert list(own[0]) == list(own[1])
        for name in own[0]:
            close(own[0][name].grad, own[1][name].grad, f"gradient of {name}")
    close(list(mine.state_dict().values()), list(theirs.state_dict().values()), "state afterwards")
    return mine, theirs
