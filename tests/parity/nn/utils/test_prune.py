"""Pruned parameters, adaptive softmax and the gradients of convolutions: states, steps and messages are torch's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import engine

VALUES = np.random.default_rng(0)
WEIGHTS = [VALUES.normal(size=size).astype("float32") for size in ((6, 4), 6, (3, 6), 3)]
X = VALUES.normal(size=(5, 4)).astype("float32")
STEPS = (
    "prune.l1_unstructured(layer, 'weight', 0.3)",
    "prune.l1_unstructured(layer, name='weight', amount=3)",
    "prune.ln_structured(layer, 'weight', amount=0.5, n=2, dim=0)",
    "prune.identity(layer, 'bias')",
    "prune.custom_from_mask(layer, 'bias', mask=torch.tensor([1, 0, 1, 0, 1, 1]))",
    "prune.global_unstructured(both, pruning_method=prune.L1Unstructured, amount=0.2)",
    "prune.global_unstructured(both, pruning_method=prune.L1Unstructured, amount=4)",
    "prune.is_pruned(net), prune.is_pruned(torch.nn.Linear(1, 1))",
    "prune.remove(layer, 'weight')",
    "prune.remove(layer, 'weight')",
    "prune.l1_unstructured(layer, 'nothing', 1)",
    "prune.l1_unstructured(layer, 'bias', 99)",
    "prune.l1_unstructured(layer, 'bias', -1)",
    "prune.l1_unstructured(layer, 'bias', 1.5)",
    "prune.l1_unstructured(layer, 'bias', 'a')",
    "prune.ln_structured(torch.nn.Linear(2, 2), 'bias', 1, 2, 0)",
    "prune.ln_structured(torch.nn.Linear(2, 2), 'weight', 1, 2, 5)",
    "prune.ln_structured(torch.nn.Linear(2, 2), 'weight', 9, 2, 0)",
    "prune.random_unstructured(torch.nn.Linear(2, 2), 'weight', 3).weight_mask.sum()",
    "prune.random_structured(torch.nn.Linear(2, 2), 'weight', 1, 0).weight_mask.sum(1).sort()[0]",
    "prune.l1_unstructured(torch.nn.Linear(2, 2), 'weight', 1, importance_scores=torch.ones(2)).weight",
    "prune.L1Unstructured(2).prune(torch.tensor([1.0, -2.0, 3.0]))",
    "prune.L1Unstructured(2).prune(torch.tensor([1.0, -2.0, 3.0]), importance_scores=torch.ones(2))",
    "prune.custom_from_mask(torch.nn.Linear(2, 2), 'bias', mask=torch.ones(3))",
    "prune.global_unstructured(3, prune.L1Unstructured)",
    "prune.global_unstructured(both, prune.L1Unstructured, importance_scores=[1], amount=1)",
    "prune.PruningContainer(3)",
    "prune.BasePruningMethod()",
    "sorted(net.state_dict()), [name for name, _ in net.named_buffers()]",
)
GRADIENTS = (
    "torch.nn.grad.conv1d_input((1, 1, 5), torch.ones(1, 1, 2), torch.ones(1, 1, 3))",
    "torch.nn.grad.conv1d_input((1, 2, 5), torch.ones(1, 1, 2), torch.ones(1, 1, 4))",
    "torch.nn.grad.conv1d_input((1, 1, 5), torch.ones(1, 1, 2), torch.ones(1, 2, 4))",
    "torch.nn.grad.conv2d_weight(torch.ones(1, 1, 5, 5), (1, 1, 2, 2), torch.ones(1, 1, 3, 4))",
)
SOFTMAX = (
    "kind(4, 10, [])", "kind(4, 10, [3, 2])", "kind(4, 10, [10])", "kind(4, 10, [0, 2])", "kind(4, 10, [2, 2])",
    "kind(4, 10, [2.5])", "kind(4, 10, [2])(torch.ones(2, 4), torch.tensor([1]))",
    "kind(4, 10, [2])(torch.ones(4), torch.tensor([1, 1, 1, 1]))",
    "kind(4, 10, [2])(torch.ones(1, 4), torch.tensor(1))",
    "kind(4, 10, [2])(torch.ones(1, 4), torch.tensor([[1]]))", "kind(4, 10, [2])(torch.ones(1, 4), torch.tensor([10]))",
)  # fmt: skip


def plain(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return [plain(one) for one in found]
    if hasattr(found, "detach"):
        return [str(found.dtype).split(".")[-1], found.tolist()]
    return found if isinstance(found, int | float | str | None) else type(found).__name__


def outcome(expression: str, names: dict[str, Any]) -> Any:
    try:
        return plain(eval(expression, names))  # noqa: S307  # of the tables
    except Exception as error:  # noqa: BLE001  # whatever either library raises
        return [type(error).__name__, str(error).split("\n")[0]]


def close(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return bool(one == pytest.approx(other, abs=1e-4)) if isinstance(one, float) else bool(one == other)


def pruned(library: Any, name: str) -> list[Any]:
    """After each step: what it gave, and the parameters, gradients and masks that a step of training makes of it."""
    net = library.nn.Sequential(library.nn.Linear(4, 6), library.nn.ReLU(), library.nn.Linear(6, 3))
    with library.no_grad():
        for parameter, values in zip(net.parameters(), WEIGHTS, strict=True):
            parameter.copy_(library.tensor(values))
    names = {"torch": library, "prune": importlib.import_module(f"{name}.nn.utils.prune"), "net": net, "layer": net[0],
             "both": [(net[0], "weight"), (net[2], "weight")]}  # fmt: skip
    found = []
    for step in STEPS:
        said = outcome(step, names)
        optimizer = library.optim.SGD(net.parameters(), lr=0.1)
        optimizer.zero_grad()
        names["loss"] = net(library.tensor(X)).pow(2).mean()
        said = [said, outcome("loss.backward()", names)]  # a hook that failed leaves a product of the step before
        optimizer.step()
        state = [[key, plain(one), plain(one.grad)] for key, one in net.named_parameters()]
        found.append([step, said, state, [[key, plain(one)] for key, one in net.named_buffers()]])
    return found


def test_pruning_goes_as_in_torch_step_by_step() -> None:
    torch = pytest.importorskip("torch")
    for ours, theirs in zip(pruned(engine, "engine"), pruned(torch, "torch"), strict=True):
        assert close(ours, theirs), (ours[0], ours[1], theirs[1])


def test_method_of_ones_own_prunes_a_layer() -> None:
    prune = engine.nn.utils.prune

    class Negative(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            return default_mask * (t > 0)

    layer = engine.nn.Linear(8, 8)
    Negative.apply(layer, "weight")
    prune.l1_unstructured(layer, "weight", amount=2)
    assert (layer.weight >= 0).all()
    kept = int(layer.weight_mask.sum())
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, engine.nn.Parameter)
    assert int((layer.weight > 0).sum()) == kept


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 1), (1, 1, 2, 2), (3, 2, 1, 2)]
)
def test_gradients_of_convolutions_are_torchs(rank: int, stride: int, padding: int, dilation: int, groups: int) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(1)
    x, weight = values.normal(size=(2, 4, *(7,) * rank)), values.normal(size=(6, 4 // groups, *(3,) * rank))
    step = (stride, padding, dilation, groups)
    made = getattr(torch.nn.functional, f"conv{rank}d")(torch.tensor(x), torch.tensor(weight), None, *step)
    grad = values.normal(size=tuple(made.shape))
    found = []
    for library in (engine, torch):
        by_input = getattr(library.nn.grad, f"conv{rank}d_input")
        by_weight = getattr(library.nn.grad, f"conv{rank}d_weight")
        found.append([
            by_input(x.shape, library.tensor(weight), library.tensor(grad), *step).numpy(),
            by_weight(library.tensor(x), weight.shape, library.tensor(grad), *step).numpy(),
        ])  # fmt: skip
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("expression", [*GRADIENTS, *SOFTMAX])
def test_bad_shapes_are_refused_in_torchs_words(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = [
        outcome(expression, {"torch": library, "kind": library.nn.AdaptiveLogSoftmaxWithLoss})
        for library in (engine, torch)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("head_bias", [False, True])
@pytest.mark.parametrize("cutoffs", [[5], [5, 10, 15], [1, 2]])
def test_adaptive_softmax_is_torchs(head_bias: bool, cutoffs: list[int]) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (engine, torch):
        values = np.random.default_rng(2)
        layer = library.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs, div_value=2.0, head_bias=head_bias)
        with library.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(library.tensor(values.normal(size=tuple(parameter.shape))))
        x = library.tensor(values.normal(size=(8, 16)), requires_grad=True, dtype=library.float32)
        said = layer(x, library.tensor([0, 3, 11, 5, 19, 2, 7, 14]))
        said.loss.backward()
        single = layer(x[0], library.tensor(3))
        grads = [parameter.grad for parameter in layer.parameters()]
        found.append(plain([*said, *single, layer.log_prob(x), layer.predict(x), x.grad, *grads, repr(layer)]))
    assert close(*found)
