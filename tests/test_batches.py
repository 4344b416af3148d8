"""A batch runs all its cases, and names each that fails."""

from __future__ import annotations

import pytest

from tests.batches import Skipped, batches

SEEN: list[tuple[int, str]] = []


@pytest.fixture
def word() -> str:
    return "w"


def odd(case: int, word: str) -> None:
    SEEN.append((case, word))
    if case == 7:
        pytest.skip("seven")
    assert case % 2


@pytest.mark.parametrize("suffix", ["a", "b"])
@batches("number, square", [(n, n * n) for n in range(5)], size=2)
def test_cases_and_fixtures_arrive(number: int, square: int, word: str, suffix: str) -> None:
    assert square == number * number and word == "w" and suffix in "ab"


def test_every_case_runs_and_each_that_fails_is_named() -> None:
    marked = batches("case", [1, 2, 3, 4, 7], lambda case: f"case {case}")(odd)
    text = r"(?s)3 of 5 cases failed.*case 2\n.*assert.*case 4\n.*assert.*case 7\n.*seven"
    with pytest.raises(pytest.fail.Exception, match=text):
        marked(batch=[1, 2, 3, 4, 7], word="w")
    assert [case for case, _ in SEEN] == [1, 2, 3, 4, 7]


def test_batch_is_skipped_where_all_its_cases_are() -> None:
    marked = batches("case", [7])(odd)
    with pytest.raises(Skipped):
        marked(batch=[7, 7], word="w")
