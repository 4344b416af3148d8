"""Every op of torch's own database that the engine has, on torch's own samples: results, gradients, errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

from docs.make import left_out
from tests.batches import batches
from tests.parity.databases.opdb_differences import DRAWN, INNER, KNOWN, known

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch's database of ops needs expecttest: pip install 'backstep[test]'")
database = pytest.importorskip("torch.testing._internal.common_methods_invocations")
opdb = pytest.importorskip("tests.parity.databases.opdb")

pytestmark = pytest.mark.parity


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Samples are small: several threads of torch only wait for each other."""
    before = opdb.torch.get_num_threads()
    opdb.torch.set_num_threads(1)
    yield
    opdb.torch.set_num_threads(before)


def _full_name(info: Any) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else str(info.name)


INFOS = {_full_name(info): info for info in database.op_db}


def _why_absent(name: str) -> str | None:
    """Why the engine does not have an op of the database."""
    public = next((row.reason for row in left_out.reasons() if row.fits(f"torch.{name}")), None)
    return public or next((why for pattern, why in INNER.items() if fnmatchcase(name, pattern)), None)


@batches("name", INFOS)
def test_op_does_on_torchs_samples_what_torchs_does(name: str, record_property: Callable[[str, object], None]) -> None:
    info, expected = INFOS[name], known(name)
    try:
        findings = opdb.compared(info, name in DRAWN)
    except opdb.Absent:
        assert _why_absent(info.name), f"the engine has no {name}, and docs/make/left-out.toml no reason"
        return
    record_property("torch's database of ops", dict(findings.counts))
    new = {check: text for check, text in findings.unlike.items() if check not in expected}
    gone = [check for check in expected if check not in findings.unlike]
    assert not new, f"unlike torch's: {new}"
    assert not gone, f"no longer unlike torch's: take {gone} out of opdb_differences.py"


def test_every_difference_is_of_an_op_that_is_compared() -> None:
    listed = {op for row in KNOWN for op in row.ops.split()} | DRAWN
    layers = {op for op in listed if re.match(r"(nn|optim)\.[A-Z]", op)}  # those of test_layer_databases.py
    assert listed - layers <= INFOS.keys(), listed - layers - INFOS.keys()
    assert not [pattern for pattern in INNER if not any(fnmatchcase(info.name, pattern) for info in INFOS.values())]


def test_comparison_finds_what_is_unlike() -> None:
    torch, engine = opdb.torch, opdb.engine
    ours, theirs = engine.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])
    assert opdb.unlike(ours, theirs) is None
    for other in (
        torch.tensor([1.0, 2.1]), torch.tensor([[1.0, 2.0]]), torch.tensor([1, 2]), torch.tensor([1.0, 2.0]).double(),
        torch.tensor([1.0, 2.0], requires_grad=True), (theirs, theirs), 1.0, RuntimeError("no"),
    ):  # fmt: skip
        assert opdb.unlike(ours, other) is not None, other
    assert opdb.unlike(RuntimeError("a b. c"), RuntimeError("a b. d")) is None
    assert opdb.unlike(RuntimeError("a b"), TypeError("a b")) is not None
