"""The names of the tensors in a call's formula: the program's names, else letters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

LETTERS = "uvwtqabcdefhoxyz"
"""For inputs without a name; without the letters of indices."""
RESULTS = "yzqfehdcba"
"""For results without a name."""
OF_ROLE = {
    "weight": "w", "bias": "b", "target": "t", "condition": "c", "mask": "m", "index": "k", "indices": "k",
    "query": "q", "key": "k", "value": "v", "min": "a", "max": "b",
}  # fmt: skip
"""The letter of an input whose role has a usual one."""


def result_key(nr: int, count: int) -> str:
    """How a result is called where it has no name: `result`, or `result[1]` of several."""
    return "result" if count == 1 else f"result[{nr}]"


def lettered(
    usual: str, inputs: Sequence[str], outputs: int, names: Mapping[str, str], other_names: Collection[str]
) -> dict[str, str]:
    """The name per input and result: the program's, else a letter that neither it nor the call has for anything else.

    `usual` are the letters of the op's own results; `inputs` are the keys of the tensors, as `self` and `tensors[0]`;
    `other_names` those of the whole program.
    """
    names_in_use = {*other_names, *names.values()}
    result: dict[str, str] = {}
    offered: dict[str, Iterator[str]] = {}

    def free(letters: str) -> str:  # what was passed over is still used: no search begins anew
        return next(name for name in offered.setdefault(letters, _names(letters)) if name not in names_in_use)

    for nr in range(outputs):
        key = result_key(nr, outputs)
        result[key] = names.get(key) or free(usual[nr : nr + 1] + RESULTS)
        names_in_use.add(result[key])
    for key in inputs:
        role = key.partition("[")[0]
        preferred = role if len(role) == 1 else OF_ROLE.get(role, "")
        result[key] = names.get(key) or free(preferred + LETTERS)
        names_in_use.add(result[key])
    return result


def _names(letters: str) -> Iterator[str]:
    yield from letters
    number = 1
    while True:
        yield f"{letters[0]}{number}"
        number += 1
