"""What a skip means: on one's own machine that something is not installed; in CI a failure.  And Ctrl-C."""

from __future__ import annotations

import gc
import os
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Generator
from importlib.util import find_spec

import pytest

# What the CI machine cannot have; each of these skips says so in its reason.
ALLOWED = re.compile(r"\bcupy\b|\bGPU\b|\bno Firefox\b|\b(needs|on) (Windows|macOS)\b")


# Without torch: what is imported by several modules of tests must not be left half imported by the search for examples.
collect_ignore = [] if find_spec("torch") else ["parity/nn/pairs.py"]


SHARED = "BACKSTEP_SHARED_BY_TESTS"
"""The variable that names the folder of this run, in which its processes find what one of them has computed."""


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C works, as in a terminal: what is begun in the background inherits that it is ignored.  And without torch,
    modules that import it have no examples to run."""
    if not hasattr(config, "workerinput"):  # not in a process that xdist starts, which inherits the variable
        folder = tempfile.TemporaryDirectory(prefix="backstep-tests-")
        os.environ[SHARED] = folder.name
        config.add_cleanup(folder.cleanup)
    if not find_spec("torch"):
        config.option.doctest_ignore_import_errors = True
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """What is imported and collected stays: there is nothing for the cyclic collector to find, and much to look at."""
    gc.disable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores, for `-n auto`: those that drive a browser wait as much as they compute."""
    return (os.cpu_count() or 1) + 1


def in_ci() -> bool:
    """Whether CI runs the tests: `CI=true`, as every CI service sets it."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why something was skipped."""
    found = report.longrepr
    return str(found[2] if isinstance(found, tuple) else found)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where nothing may be skipped."""
    if not in_ci() or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = reason_of(report)
    if not ALLOWED.search(reason):
        report.outcome = "failed"
        report.longrepr = f"in CI, where all that tests need can be installed, a skip is a failure\n{reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much of the law of replay was tried, and how many of torch's own samples."""
    reports = terminalreporter.getreports("passed")
    given = [pair for report in reports for pair in report.user_properties]
    for kind in ("ops", "modules", "optimisers"):
        counts = [Counter(value) for name, value in given if name == f"torch's database of {kind}"]
        if counts:
            told = "; ".join(f"{check}: {n:,}" for check, n in sum(counts, Counter()).items())
            terminalreporter.write_line(f"compared with torch on its own samples: {len(counts):,} {kind}; {told}")
    found = [value for name, value in given if name == "law"]
    if found:
        pairs, events = (sum(column) for column in zip(*found, strict=True))
        terminalreporter.write_line(
            f"replay = fresh run: {pairs:,} (program, edits) pairs, {events:,} events, bit for bit"
        )


def pytest_collection_finish() -> None:
    """Thirty thousand tests and torch are a million objects that stay: the cyclic collector need not look at them again
    and again."""
    gc.enable()
    gc.collect()
    gc.freeze()
