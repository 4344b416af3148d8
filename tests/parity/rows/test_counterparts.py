"""The table of PyTorch's ops and the engine's: every sample row through both, op by op."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.ops.op import REGISTRY
from engine.tensor.dispatch import apply
from engine.tensor.inplace import apply_inplace
from engine.trace.events import OpCalled, Output
from tests.batches import batches
from tests.engine.helpers import leaves, spelled_outputs
from tests.samples import NOT_DIFFERENTIABLE, SAMPLES, Sample
from viz.reading.labels import shown_attrs
from viz.record.torch import ops
from viz.record.torch.ops import BY_ALPHA, REDUCTIONS, TABLE, Counterpart, counterpart, documentation

pytestmark = pytest.mark.parity

COMPOSED = {"argsort", "data", "isclose", "isfinite", "isreal", "one_hot"}
"""Ops that PyTorch composes of several others."""
OTHER_CALLS = {"linalg_lu_solve", "detach", "threshold_"}
"""Rows in which the two libraries call helpers of their own around the op."""
BACKWARD = {
    "_ctc_loss_backward", "affine_grid_generator_backward", "as_strided_backward", "avg_pool_backward",
    "diagonal_backward", "embedding_dense_backward", "index_backward", "nll_loss_backward", "normalized_backward",
    "resample_backward", "select_backward", "slice_backward", "unfold_backward",
}  # fmt: skip
"""Rules of other ops as ops of their own, for a double backward: what PyTorch has there takes other arguments."""
DRAWS = {
    "bernoulli", "bernoulli_", "bernoulli_.Tensor", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal",
    "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", "poisson", "random.from_", "random.to_",
    "random_", "uniform",
}  # fmt: skip
"""Random draws: here the numbers that are drawn are an input."""
OTHERWISE = {
    "_ctc_loss": "PyTorch's takes the lengths as lists of numbers",
    "_reshape_alias": "a view here",
    "_safe_softmax": "PyTorch's has a dtype, and is inside of an attention",
    "_trilinear": "PyTorch's is told which dimensions to expand and to sum",
    "add.Scalar": "inside of rules",
    "as_strided.path": "a view of a view, which is written",
    "as_strided_": "the memory's layout before the call would be needed after it",
    "copy_slices": "a write to a view, which PyTorch does not dispatch",
    "embedding_renorm": "in place in PyTorch",
    "reshape": "a view or a copy in PyTorch",
    "squeeze.row": "inside of the rule of index_select",
    "sub.Scalar": "inside of rules",
    "sum_to_size": "a sum and a view in PyTorch",
    "to.device": "the engine has one kind of device less",
}


UP_TO_SIGN = {"_linalg_eigh", "_linalg_svd"}
"""Ops whose vectors have either sign, as the library underneath has it."""


class Calls:
    """The ops that a program dispatches below autograd, with copies of their arguments."""

    def __init__(self, torch: Any) -> None:
        from torch.utils._python_dispatch import TorchDispatchMode

        calls: list[tuple[Any, dict[str, Any], Any]] = []

        class Mode(TorchDispatchMode):  # type: ignore[misc]  # of PyTorch mypy sees nothing
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                arguments = bound(func, args, kwargs or {})
                given = {name: copied(value) for name, value in arguments.items()}
                out = func(*args, **(kwargs or {}))
                calls.append((func, given, out))
                return out

        self.calls, self.mode = calls, Mode()


def bound(func: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names, defaults filled in."""
    given = dict(zip((a.name for a in func._schema.arguments), args, strict=False)) | kwargs
    rest = {a.name: a.default_value for a in func._schema.arguments if a.has_default_value()}
    return rest | given


def copied(value: Any) -> Any:
    """A tensor of the same memory layout, as it is now."""
    if isinstance(value, (list, tuple)):
        return [copied(one) for one in value]
    if not hasattr(value, "detach"):
        return value
    copy = value.detach().clone() if value.is_contiguous() else value.detach()
    return copy.requires_grad_(value.requires_grad)


def shape_of(out: Any) -> tuple[int, ...]:
    first = out[0] if isinstance(out, (list, tuple)) else out
    return tuple(getattr(first, "shape", ()))


def asked(func: Any, given: dict[str, Any], out: Any) -> Counterpart | None:
    return counterpart(
        REGISTRY, func._schema.name + "." + (func._schema.overload_name or "default"), given, shape_of(out)
    )


def calls_of(sample: Sample, torch: Any) -> list[tuple[Any, dict[str, Any], Any]]:
    """The calls of a row as it is spelled; else that of the aten op of its name."""
    watched = Calls(torch)
    with watched.mode, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if sample.spelled:
            spelled_outputs(sample, torch, leaves(sample, torch, "float64"))
        else:
            direct(sample, torch)
    return watched.calls


def direct(sample: Sample, torch: Any) -> None:
    """Call the aten op that a row is about, if the table has it."""
    name = next((name for name, op in TABLE.items() if op == sample.op and not name.endswith("_")), None)
    if name is None:
        return
    base, _, overload = name.partition(".")
    func = getattr(getattr(torch.ops.aten, base), overload or "default")
    op = REGISTRY[sample.op]
    values = dict(zip(op.inputs, leaves(sample, torch, "float64"), strict=True)) | dict(sample.statics)
    renamed = {ops.CALLED.get((sample.op, key), key): value for key, value in values.items()}
    known = {a.name: a for a in func._schema.arguments}
    if "reduction" in renamed and isinstance(renamed["reduction"], str):
        renamed["reduction"] = REDUCTIONS.index(renamed["reduction"])
    if "dtype" in renamed and renamed["dtype"] is not None:
        renamed["dtype"] = getattr(torch, str(renamed["dtype"]))
    if getattr(renamed.get("attn_mask"), "dtype", None) == torch.bool:
        return  # the function above it has made numbers of the mask
    missing = [n for n, a in known.items() if n not in renamed and not a.has_default_value()]
    rest = {n: 0.1 if str(known[n].type) == "float" else None for n in missing}
    func(**{n: v for n, v in renamed.items() if n in known}, **rest)


@batches("sample", SAMPLES, lambda s: s.name)
def test_row_of_the_table_is_recorded_and_computed_as_the_engine_does(sample: Sample) -> None:
    """Each op that a row calls: the event, then result and gradient of the op by itself."""
    torch = pytest.importorskip("torch")
    calls = calls_of(sample, torch)
    if sample.spelled and sample.op not in COMPOSED | OTHER_CALLS:
        same_events(sample, calls)
    for func, given, out in calls:
        one = asked(func, given, out)
        if one is not None and one.op not in ("alias", "detach"):
            compare(torch, func, given, one, sample)


def same_events(sample: Sample, calls: list[tuple[Any, dict[str, Any], Any]]) -> None:
    """The calls are what the engine records of the same row."""
    with engine.record() as trace:
        spelled_outputs(sample, engine, leaves(sample, engine, "float64"))
    recorded = [event for event in trace.events if isinstance(event, OpCalled) and event.name not in OTHERWISE]
    found = [(asked(*call), call[2]) for call in calls]
    matched = [(one, out) for one, out in found if one is not None and one.op != "detach" and not is_as_it_was(one)]
    assert [one.op for one, _ in matched] == [event.name for event in recorded]
    for (one, out), event in zip(matched, recorded, strict=True):
        assert [name for name, _ in one.inputs] == [i.name for i in event.inputs]
        assert dict(one.attrs) == dict(event.attrs)
        assert one.inplace == (event.inplace is not None)
        assert (one.results or (len(out) if isinstance(out, (list, tuple)) else 1)) == len(event.outputs)


def is_as_it_was(one: Counterpart) -> bool:
    """Return whether a call copies a tensor into its own dtype, as that does which makes the row's own tensors."""
    own = str(one.inputs[0][1].dtype).removeprefix("torch.")
    return one.op == "to" and str(one.attrs["dtype"]) in ("None", own)


def compare(torch: Any, func: Any, given: dict[str, Any], one: Counterpart, sample: Sample) -> None:
    theirs, ours = NewLeaves(torch), NewLeaves(engine)
    arguments = {name: theirs.take(value) for name, value in given.items()}
    if func._schema.name.endswith("_"):
        arguments["self"] = arguments["self"].clone()
    made = func(**arguments)
    op = REGISTRY[one.op]
    inputs: dict[str, Any] = {}
    for name, value in one.inputs:
        base, _, listed = name.partition("[")
        if listed:
            values = inputs.setdefault(base, [])
            values += [None] * (int(listed[:-1]) - len(values))
            values.append(ours.take(value))
        else:
            inputs[base] = ours.take(value)
    values = [inputs.get(name) for name in op.inputs]
    if one.inplace:
        mine = apply_inplace(op, (values[0].clone(), *values[1:]), dict(one.attrs))
    else:
        mine = apply(op, tuple(values), dict(one.attrs))
    results, expected = listed_of(mine)[: one.results], listed_of(made)[: one.results]
    if one.op == "_embedding_bag":  # the others are for its backward, and depend on who calls
        results, expected = results[:1], expected[:1]
    tolerance = 1e-7 if sample.loose or "float32" in str(one.attrs.values()) else 1e-10
    for result, other in zip(results, expected, strict=True):
        close(result, other, tolerance, up_to_sign=one.op in UP_TO_SIGN)
    if one.op in UP_TO_SIGN or "against its own small steps" in sample.reason:
        return
    pairs = [(r, o) for r, o in zip(results, expected, strict=True) if r.requires_grad and o.requires_grad]
    if pairs and one.op not in NOT_DIFFERENTIABLE and theirs.leaves:
        result, other = pairs[0]
        weights = np.cos(np.arange(result.numel(), dtype=float)).reshape(tuple(result.shape))
        wanted = [leaf for key, leaf in theirs.leaves.items() if key in ours.leaves]
        same = [ours.leaves[key] for key in theirs.leaves if key in ours.leaves]
        grads = engine.autograd.grad(result, same, engine.tensor(weights).to(result.dtype), allow_unused=True)
        others = torch.autograd.grad(other, wanted, torch.tensor(weights).to(other.dtype), allow_unused=True)
        for gradient, another in zip(grads, others, strict=True):
            if gradient is not None and another is not None:
                close(gradient, another, 100 * tolerance)
            else:
                rest = another if gradient is None else gradient
                assert rest is None or not rest.detach().numpy(force=True).any()


class NewLeaves:
    """Arguments as new leaves of one library, by the tensor of PyTorch that they were."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.leaves: dict[int, Any] = {}

    def take(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self.take(one) for one in value]
        if not hasattr(value, "detach"):
            return value
        leaf = self.library.tensor(value.detach().numpy().copy()) if self.library is engine else value.detach()
        if value.requires_grad:
            self.leaves[id(value)] = leaf = leaf.requires_grad_()
        return leaf


def listed_of(made: Any) -> list[Any]:
    return list(made) if isinstance(made, (list, tuple)) else [made]


def close(mine: Any, theirs: Any, tolerance: float, up_to_sign: bool = False) -> None:
    assert tuple(mine.shape) == tuple(theirs.shape)
    found, expected = mine.detach().numpy(), theirs.detach().numpy(force=True)
    if up_to_sign:
        found, expected = abs(found), abs(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def schemas() -> Iterator[tuple[str, Any]]:
    torch = pytest.importorskip("torch")
    for name in TABLE:
        base, _, overload = name.partition(".")
        yield name, getattr(getattr(torch.ops.aten, base), overload or "default")


def test_every_row_is_an_op_of_pytorch_whose_arguments_the_table_gives() -> None:
    """Whatever an op needs has a name in PyTorch's schema, a default, or a form that makes it of other arguments."""
    missing = []
    for name, func in schemas():
        known = {argument.name for argument in func._schema.arguments}
        for op in {TABLE[name], *BY_ALPHA.get(name, ())}:
            declared = REGISTRY[op]
            for static, default in declared.statics.items():
                made = (op, static) in ops.FORMS_OF or static == "scales"
                if ops.CALLED.get((op, static), static) not in known and not made:
                    missing += [(name, static)] if default is inspect.Parameter.empty else []
            missing += [(name, one) for one in declared.inputs if ops.CALLED.get((op, one), one) not in known]
    assert missing == []


def test_every_op_of_the_engine_that_pytorch_has_is_in_the_table() -> None:
    torch = pytest.importorskip("torch")
    here = {*TABLE.values(), *(op for both in BY_ALPHA.values() for op in both), "bincount.weights"}
    outside = {name for name in REGISTRY if name not in here and not name.startswith("_doc")}
    explained = COMPOSED | BACKWARD | DRAWS | set(OTHERWISE)
    assert outside & explained == explained, "these are in the table by now"
    unknown = {name for name in outside - explained if hasattr(torch.ops.aten, name.partition(".")[0])}
    assert unknown == set()
    reasons = {sample.op for sample in SAMPLES if sample.reason}
    assert {name for name in outside - explained if name not in reasons} == set()


def test_call_that_the_engine_cannot_have_has_no_counterpart() -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    for name, arguments in {
        "aten::istft": {"self": x, "n_fft": 4},
        "torchvision::nms": {"boxes": x},
        "aten::mul.Tensor": {"self": x.to(torch.complex64), "other": x},
        "aten::exp": {"self": x.to_sparse()},
        "aten::_to_copy": {"self": x, "dtype": torch.float64, "device": torch.device("meta")},
    }.items():
        assert counterpart(REGISTRY, name, arguments, (2,)) is None


def test_documentation_is_the_first_sentence_of_the_installed_one() -> None:
    torch = pytest.importorskip("torch")
    said = documentation("aten::istft")
    assert said and said in torch.istft.__doc__
    assert "`" not in documentation("aten::cumsum") and documentation("aten::cumsum").endswith("dim")
    assert documentation("torchvision::nms") == documentation("aten::_fft_r2c") == ""


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"dtype": "float32", "device": "cuda:0"}, ["device=cuda:0"]),  # `x.to(device)`: PyTorch passes its dtype too
        ({"dtype": "float64", "device": "cuda:0"}, ["dtype=float64", "device=cuda:0"]),
        ({"dtype": "float64"}, ["dtype=float64"]),
    ],
)
def test_copy_says_where_it_was_moved(arguments: dict[str, str], shown: list[str]) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    given = {"self": x, "dtype": getattr(torch, arguments["dtype"]), "device": arguments.get("device")}
    one = counterpart(REGISTRY, "aten::_to_copy", given, (2,))
    assert one is not None
    output = Output(0, 0, 0, (2,), arguments["dtype"], False, 0)
    event = OpCalled(
        index=0,
        stack=-1,
        name=one.op,
        inputs=(),
        attrs=one.attrs,
        outputs=(output,),
        node=None,
        inplace=None,
        call=None,
    )
    assert shown_attrs(event) == shown
    kept = apply(REGISTRY["to"], (engine.ones(2),), dict(one.attrs))
    assert str(kept.dtype) == f"torch.{arguments['dtype']}"
