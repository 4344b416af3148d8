"""How much slower a program on the real torch runs while it is recorded: python -m benchmarks.torch_recording NAME ...

Each case is a training step; the ratio is that of the fastest of several steps, recorded and not.  The two networks are
measured at the sizes in which they were published (ResNet-18: images of 224 by 224; GPT-2 small: 1,024 tokens of
50,257), and "small", with so little data that much of the step is work on the parameters.  "statistics" keeps tensors
of up to 65,536 elements whole, and statistics and samples of all others; "values" keeps all elements.  Nothing is
written to a file.  "a window" is the mean of five steps that are recorded into a file, until it is complete; one of
them keeps its values.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from engine.trace.record import recording
from engine.trace.value_store import LIMIT
from viz.record import block
from viz.record.torch.import_hook import TorchImport

torch: Any = importlib.import_module("torch")
TorchDispatchMode: Any = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
nn: Any = torch.nn
Module: Any = nn.Module
Step = Callable[[], object]


class MemoryRecording(AbstractContextManager[None]):
    """A recording in memory, whole up to `limit` elements."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __enter__(self) -> None:
        from engine.arrays.session import slot

        self.block = recording(sys._getframe(1), self.limit)
        self.block.__enter__()
        self.arrival = TorchImport(slot.active, print)
        self.arrival.wait()

    def __exit__(self, *error: Any) -> None:
        self.arrival.stop()
        self.block.__exit__(None, None, None)


class EmptyMode(TorchDispatchMode):  # type: ignore[misc]  # likewise
    """A dispatch mode that does nothing: what torch itself takes to tell of each op."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def chain() -> Step:
    """A thousand products of four numbers."""
    x = torch.ones(4, requires_grad=True)

    def step() -> None:
        y = x
        for _ in range(1000):
            y = y * 1.01
        y.sum().backward()

    return step


class Block(Module):  # type: ignore[misc]  # mypy sees nothing of torch
    """Two convolutions around which the input goes."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.aside = None if stride == 1 and inner == outer else nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        y = self.norm2(self.second(torch.relu(self.norm1(self.first(x)))))
        return torch.relu(y + (x if self.aside is None else self.aside(x)))


def resnet(images: int, size: int, classes: int) -> Step:
    """A network of the shape of ResNet-18, on some square images."""
    sizes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
    begin = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    end = [Block(512, 512, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes)]
    network = nn.Sequential(*begin, *(Block(*one) for one in sizes), *end)
    return training(network, torch.randn(images, 3, size, size), classes)


class Layer(Module):  # type: ignore[misc]  # likewise
    """Attention and two products, each after a norm."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attend, self.join = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.widen, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.heads = heads

    def forward(self, x: Any) -> Any:
        batch, time, size = x.shape
        parts = self.attend(self.norm1(x)).split(size, dim=2)
        q, k, v = (part.view(batch, time, self.heads, size // self.heads).transpose(1, 2) for part in parts)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.join(y.transpose(1, 2).reshape(batch, time, size))
        return x + self.narrow(nn.functional.gelu(self.widen(self.norm2(x))))


def gpt(words: int, length: int) -> Step:
    """A network of the shape of GPT-2 small, on a text."""
    net = nn.Sequential(
        nn.Embedding(words, 768), *(Layer(768, 12) for _ in range(12)), nn.LayerNorm(768), nn.Linear(768, words)
    )
    return training(nn.Sequential(net, nn.Flatten(0, 1)), torch.randint(0, words, (1, length)), words)


def training(net: Any, inputs: Any, classes: int) -> Step:
    """A step of SGD."""
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    labels = torch.randint(0, classes, (net(inputs).shape[0],))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()

    return step


CASES: dict[str, tuple[Callable[[], Step], int]] = {
    "chain": (chain, 9),
    "small-resnet": (partial(resnet, 4, 96, 100), 8),
    "small-gpt": (partial(gpt, 8000, 128), 2),
    "resnet": (partial(resnet, 8, 224, 1000), 3),
    "gpt": (partial(gpt, 50_257, 1024), 1),
}
"""How each step is made, and how many times it is measured."""


def fastest(step: Step, times: int, around: Callable[[], AbstractContextManager[Any]]) -> float:
    """Processor seconds of the fastest of so many steps; the first one does not count."""
    found = []
    for _ in range(times + 1):
        with around():
            start = time.process_time()
            step()
            found.append(time.process_time() - start)
    return min(found[1:])


STEPS, KEPT = 5, 2
"""The steps of a recording with a window, and the one that keeps its values."""


def in_window(step: Step) -> float:
    """Processor seconds of a step in such a recording; the fastest of two recordings."""
    found = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            with block.Block(f"{folder}/window.backstep", steps=[KEPT]):
                for _ in range(STEPS):
                    step()
            found.append(time.process_time() - start)
    return min(found) / STEPS


def main(names: list[str]) -> None:
    for name in names or CASES:
        make, times = CASES[name]
        step = make()
        alone = fastest(step, times, nullcontext)
        bare = fastest(step, times, EmptyMode)
        statistics = fastest(step, times, lambda: MemoryRecording(LIMIT))
        values = fastest(step, times, lambda: MemoryRecording(2**30))
        window = in_window(step)
        print(
            f"{name:12} {alone * 1e3:9.1f} ms   an empty mode {bare / alone:5.2f} times   "
            f"statistics {statistics / alone:5.2f} times   values {values / alone:5.2f} times   "
            f"a window {window / alone:5.2f} times"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
