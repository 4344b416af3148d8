"""Tensors on `cuda`, without a GPU: on arrays that behave as cupy's (elsewhere.py), which is what can be asked here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as torch
from engine import nn
from engine.arrays import array
from engine.ops.op import REGISTRY
from engine.replay.replay import replay
from engine.trace.events import Trace, VjpRun
from tests.engine.arrays import elsewhere_cupy
from tests.engine.arrays.elsewhere import Elsewhere
from tests.engine.helpers import call, flat, floats, leaves
from tests.samples import NOT_DIFFERENTIABLE, SAMPLES, Sample

F = nn.functional


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that is none."""
    elsewhere_cupy.install(monkeypatch)


# -- the stand-in itself -------------------------------------------------------------------------------------------

REFUSED = {
    "np.asarray(c)": (TypeError, "Implicit conversion to a NumPy array is not allowed. Please use `.get()`"),
    "c + np.ones(3)": (TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    "np.ones(3) + c": (TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    "np.add(c, 1, where=c > 0)": (TypeError, "Wrong arguments"),
    "np.sum(c, where=c > 0)": (TypeError, "unexpected keyword argument 'where'"),
    "np.sort(c, kind='heapsort')": (ValueError, "kind can only be None or 'stable'"),
    "np.maximum.reduce(c)": (NotImplementedError, "`maximum.reduce` is not supported yet"),
    "np.multiply.at(c, 0, c[0])": (NotImplementedError, "`multiply.at` is not supported yet"),
    "np.full((2,), 1.0, like=c)": (TypeError, "unexpected keyword argument 'device'"),
    "np.ascontiguousarray(c)": (TypeError, "Implicit conversion"),
    "np.where(True, c, c)": (AttributeError, "'bool' object has no attribute 'astype'"),
    "np.geomspace(c[0], c[1])": (TypeError, "no implementation found"),
    "c.flags.writeable": (AttributeError, "writeable"),
    "c.setflags()": (AttributeError, "setflags"),
    "range(c[0].astype(int))": (TypeError, "cannot be interpreted as an integer"),
    "hash(c)": (TypeError, "unhashable"),
    "c.__setitem__(slice(1), [1.0])": (ValueError, "non-scalar numpy.ndarray cannot be used for fill"),
}


@pytest.mark.parametrize("spelled", REFUSED)
def test_stand_in_refuses_what_cupy_refuses(spelled: str) -> None:
    kind, words = REFUSED[spelled]
    with pytest.raises(kind, match=words.replace("(", r"\(").split("`.get")[0]):
        eval(spelled, {"np": np, "c": Elsewhere(np.arange(3.0))})  # noqa: S307 - a table of our own


def test_stand_in_answers_as_cupy_answers() -> None:
    c: Any = Elsewhere(np.arange(4.0))
    assert isinstance(c.sum(), Elsewhere) and c.sum().shape == ()
    element = c[1]
    element[...] = 7.0
    assert c.tolist() == [0.0, 7.0, 2.0, 3.0]  # an element is a view
    assert c[Elsewhere(np.array([5]))].tolist() == [7.0]  # places are wrapped around
    c[Elsewhere(np.array([0, 0]))] = Elsewhere(np.array([1.0, 2.0]))
    assert c[0].item() == 1.0  # which of two writes stays is not told: here the first
    equal: Any = np.allclose(c, c)
    assert isinstance(equal, Elsewhere)


# -- where tensors live --------------------------------------------------------------------------------------------

MADE = """
torch.zeros(2, device="cuda") | torch.ones(2, device="cuda") | torch.full((2,), 3.0, device="cuda")
torch.empty(2, device="cuda:0") | torch.arange(3, device="cuda") | torch.linspace(0, 1, 3, device="cuda")
torch.eye(3, device="cuda") | torch.rand(2, device="cuda") | torch.randn(2, 2, device="cuda")
torch.randint(0, 5, (2,), device="cuda") | torch.randperm(4, device="cuda") | torch.tensor([1.0], device="cuda")
torch.as_tensor(np.ones(2), device="cuda") | torch.zeros_like(c) | torch.full_like(c, 2) | torch.rand_like(c)
torch.zeros_like(h, device="cuda") | c.new_zeros(2) | c.new_tensor([1.0]) | c.new_full((2,), 1.0) | torch.tensor(c)
torch.bernoulli(c * 0.5) | torch.multinomial(c, 2) | c.clone().normal_() | h.to("cuda") | h.cuda() | h.to(c)
c[torch.tensor([0, 1])] | c[np.array([0, 1])] | c[[0, 1]] | c[c > 0] | c[0] | c[:, 1:] | c[None, ..., 0]
c * h.sum() | h.sum() * c | torch.where(c > 0, c, h.sum()) | c.clone().mul_(h.sum()) | c.clone().copy_(h)
c.masked_fill(c > 0, h.sum()) | F.dropout(c) | torch.unique(c) | torch.histc(c) | c.nonzero() | torch.sort(c)[0]
"""


@pytest.mark.parametrize("spelled", [part.strip() for part in MADE.replace("\n", "|").split("|") if part.strip()])
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_tensor_is_made_on_the_gpu(spelled: str) -> None:
    c, h = torch.ones(2, 3, device="cuda"), torch.ones(2, 3)
    made = eval(spelled, {"torch": torch, "np": np, "F": F, "c": c, "h": h})  # noqa: S307 - a table of our own
    assert isinstance(made._array, Elsewhere)
    assert str(made.device) == "cuda:0" and made.is_cuda


def test_tensor_tells_where_it_is_and_comes_back() -> None:
    c = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    assert repr(c) == "tensor([1., 2.], device='cuda:0', requires_grad=True)"
    assert repr((c * 2).sum()) == "tensor(6., device='cuda:0', grad_fn=<SumBackward0>)"
    assert (c.type(), c.get_device(), c.sum().item(), c.tolist()) == ("torch.cuda.FloatTensor", 0, 3.0, [1.0, 2.0])
    assert c.to("cuda") is c and torch.device("cuda") != torch.device("cuda:0")
    back = c.detach().cpu()
    assert str(back.device) == "cpu" and isinstance(back.numpy(), np.ndarray)
    assert isinstance(c.numpy(force=True), np.ndarray)


MIXED = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
BY_ELEMENT = (
    "c + h", "h * c", "c.sum() * h", "c == h", "torch.where(c > 0, c, h)", "torch.maximum(c, h)", "F.mse_loss(c, h)",
    "c.clone().add_(h)", "h.clone().add_(c)", "torch.clamp(c, h)", "torch.atan2(h, c)", "h.clone().add_(c.sum())",
)  # fmt: skip


def whole(name: str, found: str, others: str, kernel: str) -> str:
    """torch's message for an argument of an op that is not elementwise."""
    return (
        f"Expected all tensors to be on the same device, but got {name} is on {found}, different from other tensors on "
        f"{others} (when checking argument in method wrapper_CUDA_{kernel})"
    )


APART = {
    **dict.fromkeys(BY_ELEMENT, MIXED),
    "c @ h.t()": whole("mat2", "cpu", "cuda:0", "mm"),
    "torch.cat([c, h])": whole("tensors", "cpu", "cuda:0", "cat"),
    "torch.addmm(h[:, :2], c, c.t())": whole("mat1", "cuda:0", "cpu", "addmm"),
    "torch.index_select(c, 0, i)": whole("index", "cpu", "cuda:0", "_index_select"),
    "torch.gather(c, 1, i[:, None])": whole("index", "cpu", "cuda:0", "gather"),
    "h[i.cuda()]": "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    "c.masked_fill(h > 0, 1.0)": (
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"
    ),
    "c.requires_grad_().backward(h)": "invalid gradient at index 0 - expected device cuda:0 but got cpu",
    "setattr(c, 'grad', h)": (
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'. Please ensure "
        "that the gradient and the tensor are on the same device"
    ),
    "torch.zeros(2, device='cuda:1')": "CUDA error: invalid device ordinal",
}


@pytest.mark.parametrize("spelled", APART)
def test_tensors_apart_give_torchs_error(spelled: str) -> None:
    names = {"torch": torch, "F": F, "c": torch.ones(2, 3, device="cuda"), "h": torch.ones(2, 3)}
    with pytest.raises(RuntimeError) as caught:
        eval(spelled, {**names, "i": torch.tensor([0, 1])})  # noqa: S307 - a table of our own
    assert str(caught.value) == APART[spelled]


def test_numpy_of_a_tensor_on_the_gpu_is_refused() -> None:
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy\. Use Tensor\.cpu"):
        torch.ones(2, device="cuda").numpy()


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("torch.linalg.inv(z)", "linalg.inv: The diagonal element 1 is zero"),
        ("torch.linalg.solve(z, z)", "torch.linalg.solve: The solver failed because the input matrix is singular."),
        ("torch.linalg.cholesky(z)", "linalg.cholesky: The factorization could not be completed"),
    ],
)
def test_matrix_without_an_inverse_is_an_error_there_too(spelled: str, words: str) -> None:
    with pytest.raises(torch.linalg.LinAlgError, match=words):
        eval(spelled, {"torch": torch, "z": torch.zeros(2, 2, device="cuda")})  # noqa: S307 - a table of our own


def test_dtype_that_cupy_cannot_add_in_place_is_out_of_scope() -> None:
    c = torch.zeros(4, dtype=torch.int8, device="cuda")
    with pytest.raises(
        NotImplementedError, match=r"index_add\(\) of this dtype is left out on a GPU: cupy.add.at only"
    ):
        c.index_add(0, torch.tensor([0], device="cuda"), c[:1])


# -- gradients -----------------------------------------------------------------------------------------------------


def test_gradients_come_back_over_a_move() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.to("cuda") * x.to("cuda")).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert (str(first.device), first.tolist(), second.tolist()) == ("cpu", [2.0, 4.0], [2.0, 2.0])


def test_number_in_a_tensor_on_the_host_takes_part_and_gets_its_gradient() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    x = torch.ones(2, device="cuda", requires_grad=True)
    ((a * a) * x).sum().backward()
    assert (str(a.grad.device), a.grad.item()) == ("cpu", 8.0)
    assert (str(x.grad.device), x.grad.tolist()) == ("cuda:0", [4.0, 4.0])


def test_writes_in_place_count_versions_and_reach_views() -> None:
    x = torch.zeros(4, device="cuda")
    view = x[1:3]
    view.add_(1)
    x[0] = torch.tensor(5.0)
    x[3:] = torch.tensor([7.0])
    x[torch.tensor([0])] *= 2
    x[x > 9] -= 1
    assert x.tolist() == [9.0, 1.0, 1.0, 7.0] and view._version == x._version > 0
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        torch.ones(1, 2, device="cuda").expand(3, 2).add_(1)
    y = torch.ones(2, device="cuda", requires_grad=True)
    z = y.exp()
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# -- whole programs ------------------------------------------------------------------------------------------------


def network() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.BatchNorm1d(8), nn.Linear(8, 2))


def trained(place: str, name: str, **settings: Any) -> list[float]:
    """The losses of a small network, on one device."""
    model = network().double().to(place)
    optimizer = getattr(torch.optim, name)(model.parameters(), **settings)
    x = torch.linspace(-1, 1, 30, dtype=torch.float64).reshape(10, 3).to(place)
    labels = torch.tensor([0, 1] * 5, device=place)
    losses = []
    for _ in range(4):

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss: torch.Tensor = F.cross_entropy(model(x), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            return loss

        losses.append(float(optimizer.step(closure).item()))
    assert {str(p.device) for p in model.parameters()} == {"cpu" if place == "cpu" else "cuda:0"}
    return losses


@pytest.mark.parametrize(
    "name",
    ["ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"],
)
def test_network_trains_there_as_here(name: str) -> None:
    settings = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {}
    np.testing.assert_allclose(trained("cuda", name, **settings), trained("cpu", name, **settings), rtol=1e-10)


def program(place: str) -> list[float]:
    model = network().to(place)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.linspace(-1, 1, 12).reshape(4, 3).to(place)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def cotangents(trace: Trace) -> list[np.ndarray]:
    """The results of every rule."""
    kept = [c for event in trace.events if isinstance(event, VjpRun) for c in event.cotangents if c is not None]
    found = [trace.value(c).array for c in kept]
    assert all(type(array) is np.ndarray for array in found)
    return found  # type: ignore[return-value]  # narrowed by what was asked


def test_recording_holds_numpys_arrays_and_runs_again(tmp_path: Path) -> None:
    with torch.record() as trace:
        there = program("cuda")
    np.testing.assert_allclose(there, program("cpu"), rtol=1e-6)
    trace.save(tmp_path / "there.backstep")
    opened = Trace.open(tmp_path / "there.backstep")
    again = replay(opened)
    assert len(cotangents(trace)) > 20
    for mine, theirs in zip(cotangents(again), cotangents(opened), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_recording_runs_again_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.record() as trace:
        program("cuda")
    held = cotangents(trace)
    monkeypatch.setattr(array, "cupy", None)
    again = replay(trace)
    for mine, theirs in zip(cotangents(again), held, strict=True):
        np.testing.assert_array_equal(mine, theirs)


# -- rows that torch cannot be asked ---------------------------------------------------------------------------------


def computed(sample: Sample, place: str) -> list[np.ndarray]:
    """Outputs and gradients of an op called by itself."""
    inputs = leaves(sample, device=place)
    made = call(sample, inputs)
    outputs, carriers = made if isinstance(made, (tuple, list)) else [made], floats(made)
    found = list(outputs)
    if carriers and REGISTRY[sample.op].rules and sample.op not in NOT_DIFFERENTIABLE:
        found += torch.autograd.grad([(c * c).sum() for c in carriers[:1]], flat(inputs), allow_unused=True)
    assert all(f is None or f.is_cuda == (place == "cuda") for f in found)
    return [np.zeros(0) if f is None else f.numpy(force=True) for f in found]


INNER = [s for s in SAMPLES if not s.spelled and s.op != "to.device"]  # a move is tested above, by where it leads


@pytest.mark.parametrize("sample", INNER, ids=lambda sample: sample.name)
def test_op_that_torch_lacks_gives_there_what_it_gives_here(sample: Sample) -> None:
    for mine, theirs in zip(computed(sample, "cuda"), computed(sample, "cpu"), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
