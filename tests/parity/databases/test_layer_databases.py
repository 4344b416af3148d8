"""Every module and optimiser of torch's own databases that the engine has, on torch's own samples."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine
from docs.make import left_out
from tests.parity.databases.opdb_differences import known

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch's databases need expecttest: pip install 'backstep[test]'")
modules = pytest.importorskip("torch.testing._internal.common_modules")
optimisers = pytest.importorskip("torch.testing._internal.common_optimizers")
opdb = pytest.importorskip("tests.parity.databases.opdb")
torch = opdb.torch

pytestmark = pytest.mark.parity

MODULES = {info.name: info for info in modules.module_db}
OPTIMISERS = {f"optim.{info.optim_cls.__name__}": info for info in optimisers.optim_db}
SAMPLES = 16
"""So many samples per module and mode."""
STEPS = 4


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Samples are small: several threads of torch only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _present(name: str) -> bool:
    """Whether the engine has it; if not, docs/make/left-out.toml has the reason."""
    try:
        opdb.found(name)
    except opdb.Absent:
        assert any(row.fits(f"torch.{name}") for row in left_out.reasons()), name
        return False
    return True


def _same(findings: Any, name: str) -> None:
    expected = known(name)
    new = {check: text for check, text in findings.unlike.items() if check not in expected}
    gone = [check for check in expected if check not in findings.unlike]
    assert not new, f"unlike torch's: {new}"
    assert not gone, f"no longer unlike torch's: take {gone} out of opdb_differences.py"


def _built(given: Any, cls: Any, own: Any) -> tuple[Any, Any]:
    """A module of torch and ours, made of the same arguments."""
    crossing = opdb.Crossing()
    args, kwargs = crossing(given.args), crossing(given.kwargs)
    return opdb.answer(cls, *given.args, **given.kwargs), opdb.answer(own, *args, **kwargs)


# -- modules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_module_does_on_torchs_samples_what_torchs_does(name: str, record_property: Callable[[str, Any], None]) -> None:
    info, findings = MODULES[name], opdb.Findings()
    if not _present(name):
        return
    for training in (True, False) if info.train_and_eval_differ else (True,):
        torch.manual_seed(3)
        random.seed(3)
        given = {"device": "cpu", "dtype": torch.float64, "requires_grad": True, "training": training}
        for sample in info.module_inputs_func(info, **given)[:SAMPLES]:
            _compare_module(findings, name, info.module_cls, sample, training)
        if info.module_error_inputs_func is not None:
            for refused in info.module_error_inputs_func(info, **given):
                _compare_refusal(findings, info.module_cls, opdb.found(name), refused.module_error_input)
    record_property("torch's database of modules", dict(findings.counts))
    _same(findings, name)


def _compare_module(findings: Any, name: str, cls: Any, sample: Any, training: bool) -> None:
    try:
        theirs, mine = _built(sample.constructor_input, cls, opdb.found(name))
    except opdb.OutOfReach:
        findings.counts["left out"] += 1
        return
    where = opdb.shown((sample.constructor_input.args, sample.constructor_input.kwargs))
    if not findings.see("made", opdb.unlike(str(mine), str(theirs)), where):
        return
    call, crossing = sample.forward_input, opdb.Crossing()
    given, taken = (call.args, call.kwargs), (crossing(call.args), crossing(call.kwargs))
    theirs.double().train(training)
    mine.double().train(training)
    if name.startswith("nn.Lazy"):  # learns its sizes
        theirs(*given[0], **given[1])
        mine(*taken[0], **taken[1])
    state = {key: engine.from_numpy(value.numpy(force=True).copy()) for key, value in theirs.state_dict().items()}
    mine.load_state_dict(state)
    yours, ours = opdb.answer(theirs, *given[0], **given[1]), opdb.answer(mine, *taken[0], **taken[1])
    where = f"{where}, {opdb.shown(given)}, training={training}"
    if findings.see("call", opdb.unlike(ours, yours), where) and not isinstance(yours, Exception):
        own_inputs, inputs = [*taken, list(mine.parameters())], [*given, list(theirs.parameters())]
        opdb.differentiate(findings, "call", inputs, own_inputs, yours, ours, where)


def _compare_refusal(findings: Any, cls: Any, own: Any, sample: Any) -> None:
    try:
        theirs, mine = _built(sample.constructor_input, cls, own)
    except opdb.OutOfReach:
        findings.counts["left out"] += 1
        return
    where = opdb.shown((sample.constructor_input.args, sample.constructor_input.kwargs))
    if isinstance(theirs, Exception) or isinstance(mine, Exception):
        findings.see("error", opdb.unlike(mine, theirs), where)
        return
    call, crossing = sample.forward_input, opdb.Crossing()
    yours = opdb.answer(theirs.double(), *call.args, **call.kwargs)
    ours = opdb.answer(mine.double(), *crossing(call.args), **crossing(call.kwargs))
    findings.see("error", opdb.unlike(ours, yours, values=False), f"{where}, {opdb.shown((call.args, call.kwargs))}")


# -- optimisers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimiser_does_on_torchs_samples_what_torchs_does(
    name: str, record_property: Callable[[str, Any], None]
) -> None:
    info, findings = OPTIMISERS[name], opdb.Findings()
    if not _present(name):
        return
    for sample in info.optim_inputs_func(device="cpu"):
        trained = [
            opdb.answer(_trained, library, opdb.found(name) if library is engine else info.optim_cls, kwargs)
            for library, kwargs in ((engine, opdb.Crossing()(sample.kwargs)), (torch, sample.kwargs))
        ]
        findings.see("call", opdb.unlike(*trained), sample.desc)
    for refused in info.optim_error_inputs_func(device="cpu", dtype=torch.float64):
        sample, crossing = refused.optimizer_error_input, opdb.Crossing()
        made = [
            _said(cls, _weights(library) if params is None else params, kwargs)
            for library, cls, params, kwargs in (
                (engine, opdb.found(name), crossing(sample.params), crossing(sample.kwargs)),
                (torch, info.optim_cls, sample.params, sample.kwargs),
            )
        ]
        findings.see("error", opdb.unlike(*made), sample.desc)
    record_property("torch's database of optimisers", dict(findings.counts))
    _same(findings, name)


def _weights(library: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    return [library.nn.Parameter(library.tensor(rng.standard_normal(size))) for size in ((3, 4), (4,))]


def _trained(library: Any, cls: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The weights after some steps on a curved loss, and what the optimiser keeps."""
    weights = _weights(library)
    data = library.tensor(np.random.default_rng(1).standard_normal((5, 3)))
    optimiser = cls(weights, **kwargs)

    def closure() -> Any:
        optimiser.zero_grad()
        loss = (library.tanh(data @ weights[0] + weights[1]) ** 2).sum() + (weights[1] ** 4).sum()
        loss.backward()
        return loss

    losses = [optimiser.step(closure) for _ in range(STEPS)]
    kept = [state[key] for state in optimiser.state_dict()["state"].values() for key in sorted(state)]
    single = [k.item() if getattr(k, "ndim", 1) == 0 else k for k in kept]  # LBFGS keeps numbers as either
    return [*losses, *weights, *(k for k in single if not isinstance(k, (list, dict)))]


def _said(cls: Any, params: Any, kwargs: dict[str, Any]) -> Any:
    """What an optimiser says when it is made: an error, a warning, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            cls(params, **kwargs)
        except Exception as error:  # noqa: BLE001 - which one is what is compared
            return error
    return None
