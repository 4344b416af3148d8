"""Changes of a program that is run again: other values of leaves, other arguments of backward calls, each at its place.

Leaves are counted in the order in which the recording has them, and get their values before it notes them.  Nothing
here imports torch.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from .watch import Watch

AS_IS = "as recorded"
"""Instead of a gradient: the one that the program passes."""
ARGUMENTS = ("grad_tensors", "grad_outputs")
"""The parameter of `backward`, and of `grad`, that takes the gradients."""


class Changes:
    """`leaves` are values (nested lists) by the number of the leaf, `calls` are arguments by the number of the call:
    `gradients` (a list, None for none that is passed; AS_IS), `retain_graph` and `create_graph`.

    `missed` counts the changes whose place has not been reached; `fault` says why one could not be made.
    """

    def __init__(self, leaves: Mapping[int, Any], calls: Mapping[int, Mapping[str, Any]]) -> None:
        self.leaves, self.calls = dict(leaves), dict(calls)
        self.met = 0
        self.fault = ""
        self.passed: dict[int, tuple[Any, Any]] = {}  # by the id of a gradient: it, and what the program passes

    @classmethod
    def read(cls, path: str) -> Self:
        """The changes in a file that `write` has written."""
        plan = json.loads(Path(path).read_text("utf-8"))
        return cls(*({int(number): one for number, one in plan[part].items()} for part in ("leaves", "calls")))

    @property
    def missed(self) -> int:
        return len(self.leaves) + len(self.calls)

    def leaf(self, watch: Watch, tensor: Any) -> None:
        """The next leaf of the recording: gets its new values, if there are any."""
        values = self.leaves.pop(self.met, None)
        self.met += 1
        if values is None or self.fault:
            return
        torch: Any = sys.modules["torch"]
        try:
            with watch.aside():
                elements = torch._C.TensorBase.data.__get__(tensor)  # no version counts what is written here
                elements.copy_(torch.tensor(values, dtype=tensor.dtype).reshape(tensor.shape))
        except Exception as error:  # noqa: BLE001 whatever this tensor is like
            self.fault = f"{type(error).__name__}: {error}"

    def call(self, watch: Watch, real: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The arguments of the next backward call: the program's, or those of a change."""
        change = self.calls.pop(watch.recorder.calls, None)
        if change is None or self.fault:
            return args, kwargs
        try:
            arguments = inspect.signature(real).bind(*args, **kwargs).arguments
            (first, roots), *rest = arguments.items()
            changed = {**dict(rest), "retain_graph": change["retain_graph"], "create_graph": change["create_graph"]}
            if change["gradients"] != AS_IS:
                name = next(name for name in ARGUMENTS if name in inspect.signature(real).parameters)
                with watch.aside():
                    changed[name] = self.gradients(roots, changed.get(name), change["gradients"])
            return (arguments[first],), changed
        except Exception as error:  # noqa: BLE001 likewise
            self.fault = f"{type(error).__name__}: {error}"
            return args, kwargs

    def gradients(self, roots: Any, passed: Any, gradients: list[Any]) -> list[Any]:
        """The gradients of a call as tensors."""
        torch: Any = sys.modules["torch"]
        tensors = list(roots) if isinstance(roots, (list, tuple)) else [roots]
        before = list(passed) if isinstance(passed, (list, tuple)) else [passed] * len(tensors)
        seeds = []
        for root, own, numbers in zip(tensors, before, gradients, strict=True):
            one = None if numbers is None else torch.tensor(numbers, dtype=root.dtype, device=root.device)
            if one is not None:
                self.passed[id(one)] = one, own
            seeds.append(one)
        return seeds


def write(path: Path, leaves: Mapping[int, Any], calls: Mapping[int, Mapping[str, Any]]) -> None:
    """Write changes to a file, for the process in which the program runs."""
    path.write_text(json.dumps({"leaves": leaves, "calls": calls}), "utf-8")
