"""PyTorch's small modules, a file each (`torch.amp`, `torch.linalg` …), and the table of `Tensor`'s methods.

A program imports them by PyTorch's names: `engine.linalg` is the module that is written in `namespaces/linalg.py`.
Modules of several files in PyTorch have a folder beside this one: `torch.nn`, `torch.optim` …
"""

from __future__ import annotations

import sys

from . import accelerator, amp, backends, cuda, linalg, profiler, random, special, torch_version, version

for _module in (
    accelerator, amp, backends, cuda, cuda.amp, linalg, profiler, random, special, torch_version, version
):  # fmt: skip
    _module.__name__ = _module.__name__.replace(".namespaces", "")
    sys.modules[_module.__name__] = _module
