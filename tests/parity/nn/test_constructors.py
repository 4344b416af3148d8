"""Constructors of layers, optimisers and schedules refuse what torch's refuse, in the first line of its words."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from docs.make.left_out import names

GIVEN = {
    "T_0": "2", "T_max": "3", "base_lr": "0.1", "cutoffs": "[3]", "gamma": "0.5", "in_channels": "2",
    "in_features": "2", "kernel_size": "3", "lr_lambda": "lambda epoch: 1", "max_lr": "1.0", "milestones": "[1]",
    "mode": "'LSTM'",
    "n_classes": "10", "num_channels": "4", "num_groups": "2", "out_channels": "4", "out_features": "3",
    "embed_dim": "4", "num_heads": "2", "d_model": "4", "nhead": "2", "step_size": "2", "total_steps": "5",
    "unflattened_size": "(2, 1)", "encoder_layer": "torch.nn.TransformerEncoderLayer(4, 2)",
    "decoder_layer": "torch.nn.TransformerDecoderLayer(4, 2)", "schedulers": "[]",
}  # fmt: skip
"""The values for arguments without a default; 1 for the others."""
SMALL = {"Transformer": {"d_model": "4", "nhead": "2", "dim_feedforward": "8"}}
"""Layers whose own defaults are forty million parameters: made as small as the others, but once."""
TRIED = ("'a'", "-1", "1.5", "None", "[1]", "True", "{}")
PARAMETERS = (
    "", "[]", "3", "'a'", "torch.ones(2)", "[torch.ones(2)]", "[1]", "[{'params': 1}]", "[{'a': 1}]", "{}", "None",
    "[torch.ones(2, requires_grad=True) * 2]", "[{'params': P}, {'params': P}]", "P + P", "{1: 2}",
    "[{'params': P, 'lr': -1}]", "[('a', P[0]), P[0]]", "P, " + "0.1, " * 17,
)  # fmt: skip
OTHERWISE = {
    "RNNBase": "torch fails on the way to its message: can only concatenate str",
    "ReduceLROnPlateau": "likewise",
    "ConvTranspose": "torch takes a padding that is a text, and fails when it is called",
    "padding_mode": "torch lists a set, in another order each time",
    "cutoffs": "of a text",
    "LayerNorm(normalized_shape='a'": "torch reads a text as its letters",
    "LayerNorm(normalized_shape={}": "torch makes a layer of no dimensions",
    "RMSNorm(normalized_shape='a'": "as LayerNorm",
    "RMSNorm(normalized_shape={}": "as LayerNorm",
}
"""The calls that are refused with another message, and why."""
INNER = {"Module", "Parameter", "Buffer", "Container", "Optimizer", "LRScheduler", "RNNCellBase"}


def calls(place: str, first: str) -> Iterator[str]:
    """Calls of the classes of a place: with what they need, with nothing, too much, an unknown name, strange values."""
    torch = pytest.importorskip("torch")
    ours, theirs = (eval(place, {"torch": library}) for library in (engine, torch))  # noqa: S307  # of the rows below
    for name in names()[place]:
        kind = getattr(theirs, name)
        if name in INNER or not isinstance(kind, type) or not hasattr(ours, name):
            continue
        parameters = [*inspect.signature(kind).parameters.values()][1 if first else 0 :]
        takes = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        own = {one.name: GIVEN.get(one.name, "1") for one in takes if one.default is one.empty}
        own |= SMALL.get(name, {})
        given = [{}, own, own | {"nothing": "1"}]
        given += [own | {one.name: value} for one, value in itertools.product(takes, TRIED)]
        for arguments in given:
            listed = ", ".join([first] * bool(first) + [f"{key}={value}" for key, value in arguments.items()])
            yield f"{place}.{name}({listed})"
        yield f"{place}.{name}({', '.join([first] * bool(first) + ['1'] * 20)})"


def outcome(call: str, library: Any) -> str:
    scope = {"torch": library, "P": [library.nn.Parameter(library.ones(2))]}
    try:
        eval(call, scope)  # noqa: S307  # of the rows below
    except Exception as error:  # noqa: BLE001  # whatever either library raises
        return f"{type(error).__name__}: {error}".split("\n")[0].replace("engine.", "torch.")
    return "made"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("place", "first"),
    [("torch.nn", ""), ("torch.optim", "P"), ("torch.optim.lr_scheduler", "torch.optim.SGD(P, lr=0.1, momentum=0.9)")],
)
def test_constructors_refuse_what_torchs_refuse(place: str, first: str) -> None:
    torch = pytest.importorskip("torch")
    tried = [call for call in calls(place, first) if not any(name in call for name in OTHERWISE)]
    assert len(tried) > 400
    differing = [(call, outcome(call, engine), outcome(call, torch)) for call in tried]
    assert [row for row in differing if row[1] != row[2]] == []


@pytest.mark.filterwarnings("ignore")
def test_optimisers_refuse_parameters_that_torchs_refuse() -> None:
    torch = pytest.importorskip("torch")
    kinds = [name for name in names()["torch.optim"] if hasattr(engine.optim, name) and name not in INNER]
    tried = [f"torch.optim.{name}({given})" for name, given in itertools.product(kinds, PARAMETERS)]
    differing = [(call, outcome(call, engine), outcome(call, torch)) for call in tried]
    assert [row for row in differing if row[1] != row[2]] == []
