"""Running our code around the import of a module that the program imports later."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
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
                    spec.loader = _Inside(spec.loader, self)
                return spec
        return None


class _Inside(Loader):
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
