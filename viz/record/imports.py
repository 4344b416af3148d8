"""Imports of a program that is recorded: our code around one of them, and modules of its own that have our names."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

IMPORTING = "<frozen importlib._bootstrap>"
"""The file of Python's own import: it leaves frames of this file out of the traceback of a module that fails, if there
are no others between them."""


class Import(MetaPathFinder):
    """The import of a module, which happens inside a context; it may fail and be tried again."""

    def __init__(self, name: str, around: Callable[[], AbstractContextManager[None]]) -> None:
        self.name, self.around = name, around

    def wait(self) -> None:
        """Begin to wait for it."""
        sys.meta_path.insert(0, self)

    def leave(self) -> None:
        """Stop waiting for it."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the other finders have for it, with our loader."""
        if fullname != self.name:
            return None
        self.leave()
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find is not None else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _ContextLoader(spec.loader, self)
                return spec
        return None


class _ContextLoader(Loader):
    """The loader of a module, which runs it inside a context and leaves no trace of itself."""

    def __init__(self, real: Any, imported: Import) -> None:
        self.real, self.imported = real, imported

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The same as the real loader."""
        spec.loader = self.real
        module: ModuleType | None = self.real.create_module(spec)
        spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The same as the real loader."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.real
        try:
            with self.imported.around():
                self.real.exec_module(module)
        except BaseException:
            self.imported.wait()
            raise

    exec_module.__code__ = exec_module.__code__.replace(co_filename=IMPORTING)


class NameClashes:
    """Modules of the program that have the names of ours, such as its own `engine.py`: each side imports its own.

    `sys.modules` has the program's, as without us, except while one of our modules imports another one.  `root` is the
    folder of our packages.
    """

    def __init__(self, names: Iterable[str], root: str) -> None:
        self.names, self.root = frozenset(names), root
        self.folders = tuple(os.path.join(root, package, "") for package in ("engine", "viz", "backstep"))
        self.absent: dict[str, ModuleType] = {}  # the modules of the other side, which sys.modules does not have now
        self.has_ours = True  # whether it has ours
        self._real: Any = builtins.__import__
        self._lock = threading.RLock()

    def separate(self) -> None:
        """From now on the program does not see ours, which are loaded."""
        if self.names:
            self._swap()
            builtins.__import__ = self._import

    def join(self) -> None:
        """Load ours, in a program that sees its own."""
        self.has_ours = False
        builtins.__import__ = self._import
        with self.side(is_ours=True):
            sys.path.insert(0, self.root)
            try:
                for name in self.names:
                    importlib.import_module(name)
            finally:
                sys.path.remove(self.root)

    @contextlib.contextmanager
    def side(self, is_ours: bool) -> Iterator[None]:
        """Have our modules in `sys.modules`, or those of the program."""
        with self._lock:
            if not self.names or is_ours is self.has_ours:
                yield
                return
            self._swap()
            try:
                yield
            finally:
                self._swap()

    def _import(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        own = globals or {}
        package = str(own.get("__package__") or own.get("__name__", "")) if level else name
        if package.partition(".")[0] not in self.names:
            return self._real(name, globals, locals, fromlist, level)
        is_ours = str(own.get("__file__")).startswith(self.folders)
        if is_ours is not self.has_ours:  # most often an import in a function of ours, of what is loaded
            full = importlib.util.resolve_name("." * level + name, package) if level else name
            module = self.absent.get(full)
            if module is not None and all(hasattr(module, part) for part in fromlist or ()):
                return module if fromlist else self.absent[full.partition(".")[0]]
        with self.side(is_ours):
            return self._real(name, globals, locals, fromlist, level)

    def _swap(self) -> None:
        """Exchange the modules.  Linear in those that are loaded."""
        present = {name: module for name, module in list(sys.modules.items()) if name.partition(".")[0] in self.names}
        for name in present:
            del sys.modules[name]
        sys.modules.update(self.absent)
        self.absent, self.has_ours = present, not self.has_ours
