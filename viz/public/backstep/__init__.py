"""Backstep, as programs import it: record a block of a program, show it, open it, replay it, check its gradients.

`import backstep` loads neither the engine nor the app: each function loads what it needs when it is called.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    import engine as engine
    from engine.replay.program import Edits
    from engine.trace.events import Trace
    from viz.record.block import Block
    from viz.server.lesson.notebook import Cell
    from viz.server.server import RunningServer

__all__ = ["check", "engine", "open", "record", "replay", "show"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


@overload
def record(path: _Function, /) -> _Function: ...
@overload
def record(
    path: str | PathLike[str] | None = None, *, record_every: int | None = None, steps: Iterable[int] | None = None,
    pause: bool = False,
) -> Block: ...  # fmt: skip
def record(
    path: Any = None, *, record_every: int | None = None, steps: Iterable[int] | None = None, pause: bool = False
) -> Any:
    """Record the program inside a `with` block, or each call of a function that this decorates.

    The block gives a trace, which can be read after the block.  With a `path` it is written there while the program
    runs; another trace at that path is replaced, any other file raises ValueError.  In a training loop, `steps` are the
    iterations that keep their values, `record_every` keeps those of every n-th and of the second; all others have
    statistics.  The first iteration is 0, and each ends with `optimizer.step()` (or with `backward()`, if there is no
    optimiser); if several make a step in it, with the last of them.  With `pause`, nothing is recorded of the others,
    which run as fast as without a recording; the first two always are.

    A decorated function has the trace of its last call as its attribute `trace`.

    >>> import backstep
    >>> from backstep import engine as torch
    >>> with backstep.record() as trace:
    ...     x = torch.tensor([1.0, 2.0], requires_grad=True)
    ...     (x * x).sum().backward()
    >>> len(trace.events)
    8
    """
    from viz.record.block import Block

    if callable(path):
        return Block()(path)
    return Block(path, record_every=record_every, steps=steps, pause=pause)


def show(trace: Trace, title: str = "trace", **options: Any) -> RunningServer | Cell | None:
    """Open a trace in the browser; the options are those of `viz.show`.

    Raises TypeError for anything that is not a trace.

    >>> import backstep
    >>> backstep.show("run.backstep")
    Traceback (most recent call last):
    TypeError: viz.show: expected a trace, found str. Record one with `with backstep.record() as trace:`, or ...
    """
    import viz

    return viz.show(trace, title, **options)


def open(path: str | PathLike[str]) -> Trace:
    """Read a trace from a file.

    Raises `engine.trace.file.database.TraceFileError` if the file is not a trace.

    >>> import os, tempfile
    >>> import backstep
    >>> from backstep import engine as torch
    >>> path = os.path.join(tempfile.mkdtemp(), "run.backstep")
    >>> with backstep.record(path) as trace:
    ...     torch.ones(3, requires_grad=True).sum().backward()
    >>> len(backstep.open(path).events) == len(trace.events)
    True
    """
    from engine.trace.file import tracefile

    return tracefile.open_trace(path)


def replay(trace: Trace, edits: Edits | None = None) -> Trace:
    """Run a trace again on Backstep's engine, with edits: other values of leaves, other backward calls.

    Raises ValueError if an edit does not fit, TypeError for something other than a trace, such as the path of one.

    >>> import backstep
    >>> from backstep import engine as torch
    >>> with backstep.record() as trace:
    ...     x = torch.tensor(2.0, requires_grad=True)
    ...     (x * x).backward()
    >>> list(backstep.replay(trace).events) == list(trace.events)
    True
    """
    from engine.replay.replay import replay as run
    from engine.trace.events import Trace

    if not isinstance(trace, Trace):
        raise TypeError(
            f"backstep.replay() expects a trace, found {type(trace).__name__} {trace!r:.80}: a trace is what `with "
            'backstep.record() as trace:` gives, and what backstep.open("run.backstep") reads from a file'
        )
    return run(trace, edits)


def check(function: Callable[..., Any], inputs: Any, **options: Any) -> bool:
    """Return whether the gradients of a function agree with finite differences, for float64 inputs that require grad.

    The check is the `gradcheck` of the inputs' own library, Backstep's engine or PyTorch; so are its `options`.  Raises
    that library's GradcheckError, with both Jacobians, if they differ.

    >>> import backstep
    >>> from backstep import engine as torch
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> backstep.check(lambda x: (x * x).sum(), x)
    True
    """
    tensors = inputs if isinstance(inputs, (list, tuple)) else (inputs,)
    torch = sys.modules.get("torch")
    is_torchs = any(isinstance(one, getattr(torch, "Tensor", ())) for one in tensors)
    library: Any = torch if is_torchs else __getattr__("engine")
    return bool(library.autograd.gradcheck(function, inputs, **options))


def load_ipython_extension(shell: object) -> None:
    """`%load_ext backstep` gives a notebook the magic `%%backstep`, which records a cell and shows it below."""
    import viz

    viz.load_ipython_extension(shell)


def _join() -> None:
    """Let the program have a module `engine` of its own: `import engine` is that one, and in our modules ours."""
    engine, viz = importlib.util.find_spec("engine"), importlib.util.find_spec("viz")
    root = os.path.dirname(os.path.dirname(str(viz and viz.origin)))
    if engine is None or os.path.dirname(str(engine.origin)) == os.path.join(root, "engine"):
        return
    if not os.path.isfile(os.path.join(root, "viz", "record", "imports.py")):
        raise ImportError(
            f"Backstep needs its own `viz`, and `import viz` finds {viz and viz.origin}: rename that, "
            "or record the script with `backstep run`"
        )
    from viz.record.imports import NameClashes

    NameClashes(["engine"], root).join()


_join()


def __getattr__(name: str) -> Any:
    if name != "engine":
        raise AttributeError(f"module 'backstep' has no attribute {name!r}")
    import engine  # a statement, and no `import_module`: where the program has an `engine` too, this is ours

    return engine
