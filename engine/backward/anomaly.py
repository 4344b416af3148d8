"""Anomaly detection: each node remembers where its op was called, and a nan in backward is an error at that place.

Source: torch.autograd.anomaly_mode.  It costs nothing while it is off: switching it on puts another handler in front of
the ops.
"""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..arrays import errors
from ..arrays.array import xp
from ..arrays.session import is_users, slot
from ..ops.op import Op
from ..tensor.dispatch import AFTER
from ..tensor.grad_mode import mode
from ..tensor.tensor import Tensor

NO_FORWARD = (
    "Error detected in {}. No forward pass information available. Enable detect anomaly during forward pass for more "
    "information."
)
INDUCED = (
    "\n\nPrevious calculation was induced by {}. Traceback of forward call that induced the previous calculation:\n{}"
)
NO_INDUCED = (
    "\n\nPrevious calculation was induced by {}. No forward pass information available. Enable detect anomaly during "
    "forward pass for more information."
)
FORWARD = "Error detected in {}. Traceback of forward call that caused the error:\n{}"


def _note_op(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], results: Any) -> None:
    if mode.anomaly:
        first = results[0] if isinstance(results, tuple) else results
        if first._node is not None:
            note(first._node)


AFTER.append(_note_op)


def note(node: Any) -> None:
    """The node keeps the call stack of its op, and the node whose backward created it."""
    frames = [f for f in traceback.extract_stack() if is_users(f.filename)]
    extras = node.extras()
    extras["stack"] = "".join(traceback.format_list(frames))
    if running.node is not None:
        extras["maker"] = running.node


class _RunningNode(threading.local):
    node: Any = None


running = _RunningNode()
"""The node whose backward runs, where anomalies are detected."""


def check(node: Any, cotangents: Sequence[Any] | None) -> None:
    """Raise torch's error where a rule returned nan."""
    if not mode.check_nan or cotangents is None:
        return
    for place, cotangent in enumerate(cotangents):
        array = cotangent._array if isinstance(cotangent, Tensor) else cotangent
        if array is not None and bool(xp.isnan(array).any()):
            raise errors.runtime(
                f"Function '{node.name()}' returned nan values in its {place}th output.",
                "Backstep: this is the first node of the backward pass to show a nan. Look at its upstream gradient "
                "and its saved values: 0 times inf, 0 / 0, or a nan of the forward pass.",
                node=node,
            )


@contextmanager
def watching(node: Any) -> Iterator[None]:
    """If a node fails, name its op."""
    outer, running.node = running.node, node
    try:
        yield
    except Exception:
        tell(node)
        raise
    finally:
        running.node = outer


def tell(node: Any) -> None:
    """Warn where the op of a failed node was called, and name the ops whose backward created the node."""
    stack = (node.more or {}).get("stack")
    warnings.warn((NO_FORWARD if stack is None else FORWARD).format(node.name(), stack), UserWarning, stacklevel=2)
    induced = (node.more or {}).get("maker")
    while induced is not None:
        stack = (induced.more or {}).get("stack")
        warnings.warn(
            (NO_INDUCED if stack is None else INDUCED).format(induced.name(), stack), UserWarning, stacklevel=2
        )
        induced = (induced.more or {}).get("maker")


class set_detect_anomaly:
    """Switch anomaly detection, as a call or a context manager.

    Source: torch.autograd.set_detect_anomaly.

    >>> import engine as torch
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.is_anomaly_enabled()
    True
    """

    def __init__(self, mode_: bool, check_nan: bool = True) -> None:
        self.before = (mode.anomaly, mode.check_nan)
        _switch(mode_, check_nan)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        _switch(*self.before)


def _switch(enabled: bool, check_nan: bool) -> None:
    if mode.anomaly != enabled:
        slot.note(1 if enabled else -1)
    mode.anomaly, mode.check_nan = enabled, check_nan


class detect_anomaly:
    """Inside, a nan in backward raises an error that names the op.

    Source: torch.autograd.detect_anomaly.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # torch says that it slows things down
    ...     with torch.autograd.detect_anomaly():
    ...         torch.is_anomaly_enabled()
    True
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.before = (mode.anomaly, mode.check_nan)
        _switch(True, self.check_nan)

    def __exit__(self, *_: object) -> None:
        _switch(*self.before)


def is_anomaly_enabled() -> bool:
    """Return whether anomaly detection is on.

    Source: torch.is_anomaly_enabled.

    >>> import engine as torch
    >>> torch.is_anomaly_enabled()
    False
    """
    return mode.anomaly
