"""The workloads on which engines are compared, written once for torch and the engine, and once for each neighbour.

All are float32, forward and backward, and give the gradients of the same parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Loss = Callable[..., Any]
RNG = np.random.default_rng(7)
STEPS, WIDE, BATCH = 200, 64, 8
TOKENS, MODEL, HEADS = 128, 256, 4


def normal(*shape: int) -> np.ndarray:
    """Numbers small enough for deep products to stay finite."""
    spread = np.sqrt(shape[0] if len(shape) < 4 else shape[1] * 9)
    return np.asarray(RNG.standard_normal(shape) / spread, dtype="float32")


@dataclass(frozen=True)
class Workload:
    """`loss(library, parameters, data)` in torch's spelling; `plain(np, parameters, data)` with numpy's names alone,
    `plain` is None where a neighbour has no such op."""

    name: str
    parameters: Arrays
    data: Arrays
    loss: Loss
    plain: Loss | None


def chain(ops: int) -> Workload:
    """Small elementwise ops on four numbers, one after the other."""

    def loss(lib: Any, p: Any, d: Any) -> Any:
        x = y = p["x"]
        for _ in range(ops // 4):
            y = y * x
            y = y + x
            y = y - x
            y = -y
        return y.sum()

    return Workload(f"chain of {ops:,} ops", {"x": np.full(4, 1.0001, "float32")}, {}, loss, loss)


def rnn() -> Workload:
    """An Elman network over 200 steps."""
    parameters = {"wx": normal(WIDE, WIDE), "wh": normal(WIDE, WIDE), "b": normal(WIDE)}
    data = {"xs": RNG.standard_normal((STEPS, BATCH, WIDE)).astype("float32"), "h": np.zeros((BATCH, WIDE), "float32")}

    def loss(lib: Any, p: Any, d: Any) -> Any:
        h, wx, wh, b = d["h"], p["wx"], p["wh"], p["b"]
        for x in d["xs"]:
            h = lib.tanh(x @ wx + h @ wh + b)
        return (h * h).sum()

    return Workload(f"RNN, {STEPS} steps, {WIDE} wide, batch {BATCH}", parameters, data, loss, loss)


def mlp() -> Workload:
    """784-256-256-10 with relu and cross entropy, batch 64."""
    sizes = (784, 256, 256, 10)
    parameters: Arrays = {}
    for i, (m, n) in enumerate(itertools.pairwise(sizes)):
        parameters[f"w{i}"], parameters[f"b{i}"] = normal(m, n).T.copy(), normal(n)
    target = RNG.integers(0, 10, 64)
    x = RNG.standard_normal((64, 784)).astype("float32")
    data = {"x": x, "target": target, "hot": np.eye(10, dtype="float32")[target]}

    def loss(lib: Any, p: Any, d: Any) -> Any:
        f = lib.nn.functional
        h = f.relu(f.linear(d["x"], p["w0"], p["b0"]))
        h = f.relu(f.linear(h, p["w1"], p["b1"]))
        return f.cross_entropy(f.linear(h, p["w2"], p["b2"]), d["target"])

    def plain(np_: Any, p: Any, d: Any) -> Any:
        h = d["x"]
        for i in range(3):
            h = np_.matmul(h, p[f"w{i}"].T) + p[f"b{i}"]
            h = np_.maximum(h, 0) if i < 2 else h
        return -(_log_softmax(np_, h) * d["hot"]).sum() / 64

    return Workload("MLP 784-256-256-10, batch 64", parameters, data, loss, plain)


def transformer() -> Workload:
    """One encoder block, norms first: batch 4, 128 tokens, 256 wide, 4 heads."""
    n = MODEL
    weights = {"qkv": (3 * n, n), "out": (n, n), "up": (4 * n, n), "down": (n, 4 * n)}
    parameters: Arrays = {}
    for name, shape in weights.items():
        parameters[name], parameters[f"{name}_b"] = normal(shape[1], shape[0]).T.copy(), np.zeros(shape[0], "float32")
    for norm in ("n1", "n2"):
        parameters[norm], parameters[f"{norm}_b"] = np.ones(n, "float32"), np.zeros(n, "float32")
    data = {"x": RNG.standard_normal((4, TOKENS, n)).astype("float32")}

    def loss(lib: Any, p: Any, d: Any) -> Any:
        f = lib.nn.functional
        x = d["x"]
        qkv = f.linear(f.layer_norm(x, (n,), p["n1"], p["n1_b"]), p["qkv"], p["qkv_b"])
        q, k, v = (t.view(4, TOKENS, HEADS, n // HEADS).transpose(1, 2) for t in qkv.chunk(3, -1))
        mixed = f.softmax(q @ k.transpose(-2, -1) / (n // HEADS) ** 0.5, -1) @ v
        x = x + f.linear(mixed.transpose(1, 2).reshape(4, TOKENS, n), p["out"], p["out_b"])
        hidden = f.relu(f.linear(f.layer_norm(x, (n,), p["n2"], p["n2_b"]), p["up"], p["up_b"]))
        x = x + f.linear(hidden, p["down"], p["down_b"])
        return (x * x).mean()

    def plain(np_: Any, p: Any, d: Any) -> Any:
        x = d["x"]
        rows = _norm(np_, x, p["n1"], p["n1_b"])
        heads = []
        for i in range(3):
            part = np_.matmul(rows, p["qkv"][i * n : (i + 1) * n].T) + p["qkv_b"][i * n : (i + 1) * n]
            heads.append(np_.transpose(np_.reshape(part, (4, TOKENS, HEADS, n // HEADS)), (0, 2, 1, 3)))
        q, k, v = heads
        scores = np_.matmul(q, np_.transpose(k, (0, 1, 3, 2))) / (n // HEADS) ** 0.5
        mixed = np_.matmul(np_.exp(_log_softmax(np_, scores)), v)
        mixed = np_.reshape(np_.transpose(mixed, (0, 2, 1, 3)), (4, TOKENS, n))
        x = x + np_.matmul(mixed, p["out"].T) + p["out_b"]
        hidden = np_.maximum(np_.matmul(_norm(np_, x, p["n2"], p["n2_b"]), p["up"].T) + p["up_b"], 0)
        x = x + np_.matmul(hidden, p["down"].T) + p["down_b"]
        return (x * x).sum() / x.size

    name = f"transformer block, batch 4, {TOKENS} tokens, {MODEL} wide, {HEADS} heads"
    return Workload(name, parameters, data, loss, plain)


def convolution() -> Workload:
    """Two 3x3 convolutions (16 and 32 channels), each with relu and 2x2 pooling, and a linear layer: batch 16."""
    parameters = {
        "c1": normal(16, 3, 3, 3), "c1_b": np.zeros(16, "float32"), "c2": normal(32, 16, 3, 3),
        "c2_b": np.zeros(32, "float32"), "w": normal(2048, 10).T.copy(), "b": np.zeros(10, "float32"),
    }  # fmt: skip
    data = {"x": RNG.standard_normal((16, 3, 32, 32)).astype("float32"), "target": RNG.integers(0, 10, 16)}

    def loss(lib: Any, p: Any, d: Any) -> Any:
        f = lib.nn.functional
        h = f.max_pool2d(f.relu(f.conv2d(d["x"], p["c1"], p["c1_b"], padding=1)), 2)
        h = f.max_pool2d(f.relu(f.conv2d(h, p["c2"], p["c2_b"], padding=1)), 2)
        return f.cross_entropy(f.linear(h.flatten(1), p["w"], p["b"]), d["target"])

    return Workload("convolution net, batch 16, 3x32x32, 16 and 32 channels", parameters, data, loss, None)


def _log_softmax(np_: Any, x: Any) -> Any:
    shifted = x - _highest(np_, x)
    return shifted - np_.log(np_.sum(np_.exp(shifted), axis=-1, keepdims=True))


def _highest(np_: Any, x: Any) -> Any:
    """The maximum of the rows, through which no gradient need go."""
    held = np.asarray(getattr(x, "data", x) if type(x).__module__.startswith("mygrad") else getattr(x, "_value", x))
    return held.max(axis=-1, keepdims=True)


def _norm(np_: Any, x: Any, weight: Any, bias: Any) -> Any:
    mean = np_.sum(x, axis=-1, keepdims=True) / MODEL
    centred = x - mean
    scale = np_.sqrt(np_.sum(centred * centred, axis=-1, keepdims=True) / MODEL + 1e-5)
    return centred / scale * weight + bias


WORKLOADS = (chain(1_000), chain(20_000), rnn(), mlp(), transformer(), convolution())
