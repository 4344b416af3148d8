"""`engine.__version__` is a torch's: what scripts ask of it has torch's answers."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import torch_version, version

VERSIONS = (
    "2.13.0+cpu", "2.13.0+cpu.1", "2.13.0+1", "2.13", "1.10.0a", "1.10.0a0", "1.10", "1.10.0", "2.0.0.dev2020",
    "2.0.0a1.dev3", "2.0.0rc1", "2.0.0.post1", "2.0.0-1", "2.0.0.post1.dev2", "2.0.0.dev2020+git12", "v2.1", "1!1.0",
    "parrot", "", "0",
)  # fmt: skip
OTHERS: tuple[Any, ...] = (*VERSIONS, (1, 10), (2,), (2, 13, 0), [1, "x"], (1, 10, "0a"), 2, None)
ASKED = (
    "tuple(map(int, torch.__version__.split('.')[:2])) >= (1, 8)",
    "torch.__version__ >= '2.0'",
    "torch.__version__ >= (1, 13)",
    "torch.__version__ < '2.2'",
    "torch.__version__.startswith('2.')",
    "int(torch.__version__[0]) >= 2",
    "tuple(int(part) for part in torch.__version__.split('+')[0].split('.'))",
    "torch.version.__version__ == torch.__version__",
    "torch.version.cuda",
    "torch.version.hip",
    "type(torch.__version__).__name__",
    "torch.torch_version.TorchVersion('1.10') == '1.10.0'",
)


def outcome(kind: Any, version: str, name: str, other: Any) -> Any:
    try:
        return getattr(kind(version), name)(other)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("name", ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"])
def test_versions_compare_as_torchs(name: str) -> None:
    theirs = pytest.importorskip("torch").torch_version.TorchVersion
    for one, other in itertools.product(VERSIONS, OTHERS):
        given = outcome(torch_version.TorchVersion, one, name, other)
        assert given == outcome(theirs, one, name, other), (one, name, other)


@pytest.mark.parametrize("question", ASKED)
def test_scripts_have_the_answers_of_torch(question: str) -> None:
    torch = pytest.importorskip("torch")
    assert eval(question, {"torch": engine}) == eval(question, {"torch": torch})  # noqa: S307  # of the table


def test_version_is_of_the_torch_that_is_compared_with_and_names_the_package() -> None:
    torch = pytest.importorskip("torch")
    assert torch.__version__.split("+")[0] == version.OF_TORCH
    pyproject = Path(__file__).parents[3] / "pyproject.toml"
    assert tomllib.loads(pyproject.read_text("utf-8"))["project"]["version"] == version.OWN
    assert engine.__version__ == f"{version.OF_TORCH}+backstep.{version.OWN}"
