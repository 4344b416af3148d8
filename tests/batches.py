"""Many small cases in one test: what pytest itself does for a test takes longer than such a case.

Every case of a batch runs, whatever became of those before it, and each that fails is reported by its name; so is one
that is skipped, unless all are, and then the batch is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

SIZE = 24
"""Cases of a batch: few enough to be shared out evenly among the processes that test."""

Test = Callable[..., None]
Skipped: type[BaseException] = pytest.skip.Exception


def batches(
    argument: str, cases: Iterable[Any], name: Callable[[Any], str] = str, size: int = SIZE
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize(argument, cases, ids=name)`, with `size` cases to a test.

    Several arguments are separated by commas; a case is a tuple then.  Fixtures are made once for a batch.
    """
    names = [one.strip() for one in argument.split(",")]
    listed = list(cases)
    parts = [listed[start : start + size] for start in range(0, len(listed), size)]
    ids = [f"{name(part[0])} to {name(part[-1])}" for part in parts]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def batch(*, batch: list[Any], **fixtures: Any) -> None:
            failed: list[str] = []
            skips: list[BaseException] = []
            for case in batch:
                values = dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                try:
                    test(**values, **fixtures)
                except (Exception, pytest.fail.Exception, Skipped) as error:  # noqa: BLE001  told below
                    found = pytest.ExceptionInfo.from_exception(error)
                    found.traceback = found.traceback[1:]
                    failed.append(f"{name(case)}\n{found.getrepr(style='short')}")
                    skips += [error] if isinstance(error, Skipped) else []
            if len(skips) == len(batch):
                raise skips[0]
            if failed:
                pytest.fail(f"{len(failed)} of {len(batch)} cases failed\n\n" + "\n\n".join(failed), pytrace=False)

        own = inspect.signature(test)
        others = [one.replace(kind=one.KEYWORD_ONLY) for key, one in own.parameters.items() if key not in names]
        given = inspect.Parameter("batch", inspect.Parameter.KEYWORD_ONLY)
        batch.__signature__ = own.replace(parameters=[given, *others])  # type: ignore[attr-defined]
        marked: Test = pytest.mark.parametrize("batch", parts, ids=ids)(batch)
        return marked

    return decorate
