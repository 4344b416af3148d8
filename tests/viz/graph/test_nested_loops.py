"""How often a loop runs, read from the program."""

from __future__ import annotations

import ast

import pytest

from viz.graph.nested_loops import length


def runs(before: str, iterated: str) -> int | None:
    program = ast.parse(f"{before}\nfor i in {iterated}:\n    i\n")
    loop = program.body[-1]
    assert isinstance(loop, ast.For)
    return length(loop, program)


@pytest.mark.parametrize("limits", ["3", "-2", "1, 4", "5, 1", "1, 10, 3", "10, 1, -3", "1, 10, -3", "0, 9, 9"])
def test_length_of_a_range_is_pythons(limits: str) -> None:
    assert runs("", f"range({limits})") == len(eval(f"range({limits})"))  # noqa: S307 of our own text


@pytest.mark.parametrize(
    ("before", "iterated", "expected"),
    [
        ("n = list(n)", "n", None),
        ("a = list(b)\nb = tuple(a)", "a", None),
        ("n = -n", "range(n)", None),
        ("n = -4", "range(-1, n, -1)", 3),
        ("a = [1, 2]", "zip(a, a, enumerate(a))", 2),
        ("", "range(10**2)", None),
        ("", "range(1" + "0" * 30 + ")", 10**30),
        ("", "range()", None),
        ("", "range(1, 2, 3, 4)", None),
        ("", "range(1, 2, 0)", None),
    ],
)  # fmt: skip
def test_length_of_a_loop_is_found_or_not_and_the_search_ends(before: str, iterated: str, expected: int | None) -> None:
    assert runs(before, iterated) == expected


def test_a_chain_of_names_is_followed_once_each() -> None:
    chain = "a0 = [1, 2, 3]\n" + "\n".join(f"a{n + 1} = zip(a{n}, a{n})" for n in range(60))
    assert runs(chain, "a60") == 3
