"""Claim: forward and backward cost what benchmarks/README.md says beside PyTorch, HIPS autograd and MyGrad.

One thread, float32, in one run, taking turns.  HIPS autograd and MyGrad are compared where they are installed
(`pip install autograd mygrad`); neither they nor PyTorch are dependencies.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when the libraries are imported

import numpy as np  # noqa: E402  the threads are set before
import torch  # noqa: E402  the threads are set before

import engine  # noqa: E402  the threads are set before
from benchmarks.measure import ratio, settle, table  # noqa: E402  the threads are set before
from benchmarks.workloads import WORKLOADS, Workload  # noqa: E402  the threads are set before

Run = Callable[[], list[np.ndarray]]


def of_torch(library: Any, workload: Workload) -> Run:
    """Forward and backward in torch's spelling; the gradients of the parameters."""
    parameters = {k: library.tensor(v, requires_grad=True) for k, v in workload.parameters.items()}
    data = {k: library.tensor(v) for k, v in workload.data.items()}

    def run() -> list[np.ndarray]:
        for parameter in parameters.values():
            parameter.grad = None
        workload.loss(library, parameters, data).backward()
        return [p.grad.numpy() for p in parameters.values()]

    return run


def of_autograd(workload: Workload) -> Run | None:
    """The same in HIPS autograd; None where it has no such op."""
    if workload.plain is None:
        return None
    anp: Any = import_module("autograd.numpy")  # a neighbour that need not be there
    grad: Any = import_module("autograd").grad
    plain, names = workload.plain, list(workload.parameters)

    def loss(values: tuple[Any, ...]) -> Any:
        return plain(anp, dict(zip(names, values, strict=True)), workload.data)

    gradient = grad(loss)
    return lambda: list(gradient(tuple(workload.parameters.values())))


def of_mygrad(workload: Workload) -> Run | None:
    """The same in MyGrad."""
    mygrad: Any = import_module("mygrad")

    def run() -> list[np.ndarray]:
        parameters = {k: mygrad.tensor(v) for k, v in workload.parameters.items()}
        if workload.plain is None:
            loss = _conv_in_mygrad(mygrad, parameters, workload.data)
        else:
            loss = workload.plain(mygrad, parameters, workload.data)
        loss.backward()
        return [p.grad for p in parameters.values()]

    return run


def _conv_in_mygrad(mygrad: Any, p: Any, d: Any) -> Any:
    nnet: Any = import_module("mygrad.nnet")
    h = d["x"]
    for layer in ("c1", "c2"):
        h = nnet.layers.conv_nd(h, p[layer], stride=1, padding=1) + p[f"{layer}_b"].reshape(1, -1, 1, 1)
        h = nnet.layers.max_pool(mygrad.maximum(h, 0), pool=(2, 2), stride=2)
    scores = mygrad.matmul(h.reshape(16, -1), p["w"].T) + p["b"]
    return nnet.losses.softmax_crossentropy(scores, d["target"])


def main() -> None:
    torch.set_num_threads(1)
    rivals: list[tuple[str, Callable[[Workload], Run | None]]] = [("torch", lambda w: of_torch(torch, w))]
    rivals += [("HIPS autograd", of_autograd)] if find_spec("autograd") else []
    rivals += [("MyGrad", of_mygrad)] if find_spec("mygrad") else []
    settle()
    rows = []
    for workload in WORKLOADS:
        ours = of_torch(engine, workload)
        row: list[object] = [workload.name]
        for _, make in rivals:
            theirs = make(workload)
            if theirs is None:
                row.append("no such op")
                continue
            for mine, yours in zip(ours(), theirs(), strict=True):
                np.testing.assert_allclose(mine, yours, rtol=2e-2, atol=1e-4)
            found = ratio(ours, theirs)
            row.append(found)
        row.append(f"{found.ours * 1e3:.2f}")
        rows.append(row)
    table(["workload", *(f"engine / {name}" for name, _ in rivals), "engine, ms"], rows)


if __name__ == "__main__":
    main()
