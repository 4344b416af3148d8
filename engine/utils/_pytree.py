"""torch.utils._pytree: values nested in tuples, lists and dicts, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..func.tree import Shape, flatten, unflatten

PyTree = Any


@dataclass(frozen=True)
class TreeSpec:
    """How values are nested."""

    shape: Shape

    @property
    def num_leaves(self) -> int:
        """How many leaves there are."""
        return 1 if self.shape is None else sum(TreeSpec(part).num_leaves for part in self.shape[2])


def tree_flatten(tree: PyTree) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and how they are nested.  Source: torch.utils._pytree.

    >>> leaves, spec = tree_flatten({"a": [1, 2], "b": (3,)})
    >>> leaves, tree_unflatten([4, 5, 6], spec)
    ([1, 2, 3], {'a': [4, 5], 'b': (6,)})
    """
    leaves, shape = flatten(tree)
    return leaves, TreeSpec(shape)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> PyTree:
    """The leaves nested again.  Raises ValueError for another number of leaves."""
    values = list(leaves)
    if len(values) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(values)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return unflatten(values, treespec.shape)


def tree_leaves(tree: PyTree) -> list[Any]:
    """The leaves in order."""
    return flatten(tree)[0]


def tree_structure(tree: PyTree) -> TreeSpec:
    """How values are nested."""
    return tree_flatten(tree)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree) -> PyTree:
    """The same nesting with `func` of the leaves of all trees.

    >>> tree_map(lambda a, b: a + b, {"x": 1}, {"x": 2})
    {'x': 3}
    """
    leaves, shape = flatten(tree)
    others = [flatten(rest)[0] for rest in rests]
    return unflatten([func(*some) for some in zip(leaves, *others, strict=True)], shape)


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: PyTree) -> PyTree:
    """The same nesting with `func` of the leaves of a type.

    >>> tree_map_only(int, lambda n: n + 1, [1, "a"])
    [2, 'a']
    """
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return whether `pred` holds for all leaves."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return whether `pred` holds for some leaf."""
    return any(map(pred, tree_leaves(tree)))
