"""What the tensors of one call are called in its formula: by the program's names, else by letters."""

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
_PICKED = "yk"
OUTPUTS = {
    **dict.fromkeys(
        ("max.dim", "min.dim", "median.dim", "nanmedian.dim", "mode", "kthvalue", "topk", "sort", "sort.stable",
         "cummax", "cummin", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool2d_with_indices",
         "max_pool3d_with_indices"), _PICKED,
    ),
    **dict.fromkeys(("native_layer_norm", "native_group_norm", "native_batch_norm"), "yμρ"),
    "nll_loss_forward": "yN", "nll_loss2d_forward": "yN", "var_mean": "yμ", "std_mean": "yμ", "linalg_eigh": "λV",
    "_linalg_eigh": "λV", "linalg_qr": "QR", "linalg_lu": "PLU", "_linalg_svd": "USV", "frexp": "me",
}  # fmt: skip
"""The letters of the results of ops that have several."""
_PLACES = {1: "the result indices: where along the dimension each value was found"}
_WINDOWS = {1: "where each window's largest was found, its plane counted through row by row"}
_STATISTICS = {1: "the mean that was taken away", 2: "1 / standard deviation, what was multiplied by"}
_COUNTED = {1: "how many targets counted, or the sum of their weights"}
ROLES: dict[str, dict[int, str]] = {
    **{name: _WINDOWS if "pool" in name else _PLACES for name, letters in OUTPUTS.items() if letters == _PICKED},
    **{name: _STATISTICS for name, letters in OUTPUTS.items() if letters == "yμρ"},
    **{name: _COUNTED for name, letters in OUTPUTS.items() if letters == "yN"},
    "_linalg_svd": {2: "the third result, Vh: the transposed V"},
}
"""What a result is that is not the one that the op is called for."""


def result_key(nr: int, count: int) -> str:
    """How a result is called where it has no name: `result`, or `result[1]` of several."""
    return "result" if count == 1 else f"result[{nr}]"


def lettered(
    op: str, inputs: Sequence[str], outputs: int, names: Mapping[str, str], taken: Collection[str]
) -> dict[str, str]:
    """The name per input and result: the program's, else a letter that neither it nor the call has for anything else.

    `inputs` are the keys of the tensors, as `self` and `tensors[0]`; `taken` the names of the whole program.
    """
    used = {*taken, *names.values()}
    found: dict[str, str] = {}
    offered: dict[str, Iterator[str]] = {}

    def free(letters: str) -> str:  # what was passed over is still used: no search begins anew
        return next(name for name in offered.setdefault(letters, _names(letters)) if name not in used)

    for nr in range(outputs):
        key = result_key(nr, outputs)
        found[key] = names.get(key) or free(OUTPUTS.get(op, "")[nr : nr + 1] + RESULTS)
        used.add(found[key])
    for key in inputs:
        role = key.partition("[")[0]
        preferred = role if len(role) == 1 else OF_ROLE.get(role, "")
        found[key] = names.get(key) or free(preferred + LETTERS)
        used.add(found[key])
    return found


def _names(letters: str) -> Iterator[str]:
    yield from letters
    number = 1
    while True:
        yield f"{letters[0]}{number}"
        number += 1
