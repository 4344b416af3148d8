"""JSON documents as differences from a similar document; assets/js/lesson/difference.mjs applies them.

A difference is null if nothing changes, else a list that begins with its kind: `[0, value]` puts a value there, `[1,
{key: difference}, [key …]]` changes and removes keys of an object, `[2, length, {index: difference}]` changes elements
of a list after it was cut, or made longer, to a length.
"""

from __future__ import annotations

from typing import Any

Difference = list[Any] | None

PUT, OBJECT, LIST = 0, 1, 2
_MISSING = object()


def difference(old: Any, new: Any) -> Difference:
    """The changes between two JSON values.

    >>> difference({"a": 1, "b": [1, 2]}, {"b": [1, 3, 4]})
    [1, {'b': [2, 3, {'1': [0, 3], '2': [0, 4]}]}, ['a']]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        changed = {key: _put(old.get(key, _MISSING), value) for key, value in new.items()}
        changes = {key: change for key, change in changed.items() if change is not None}
        gone = [key for key in old if key not in new]
        return [OBJECT, changes, gone] if changes or gone else None
    if isinstance(old, list) and isinstance(new, list):
        before = [*old[: len(new)], *[_MISSING] * (len(new) - len(old))]
        elements = {str(i): _put(one, other) for i, (one, other) in enumerate(zip(before, new, strict=True))}
        changes = {index: change for index, change in elements.items() if change is not None}
        return [LIST, len(new), changes] if changes or len(old) != len(new) else None
    return None if type(old) is type(new) and old == new else [PUT, new]


def _put(old: Any, new: Any) -> Difference:
    return [PUT, new] if old is _MISSING else difference(old, new)
