"""What single programs of the gallery are there to show comes out of their recordings."""

from __future__ import annotations

import numpy as np
import pytest

from engine.trace.events import VjpRun, WarningGiven
from viz.gallery import HERE, gallery

from ..helpers.programs import grads, recorded


def test_measured_data_name_their_source() -> None:
    page = (HERE.parents[1] / "docs" / "gallery.md").read_text("utf-8")
    measured = [program for program in gallery() if program.data]
    assert [program.id for program in measured] == ["two_layers"]
    assert all(program.data.split(". ")[0] in page for program in measured)


def test_optimiser_brings_the_loss_down() -> None:
    losses = [float(line.partition("(")[2].partition(",")[0]) for line in recorded("training_loop")[2].splitlines()]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 1000


def test_rows_of_layer_norm_s_gradient_sum_to_zero() -> None:
    np.testing.assert_allclose(recorded("layer_norm")[1]["x"].grad.sum(dim=1).tolist(), [0, 0], atol=1e-6)


def test_first_backward_of_the_first_program_is_one_hot_and_gives_2_0_0_0() -> None:
    trace, _, output = recorded("weights")
    assert output.splitlines()[0] == "tensor([[2., 0., 0., 0.]])"
    first = next(event for event in trace.events if isinstance(event, VjpRun))
    assert np.asarray(trace.value(first.upstream[0] or 0).array).tolist() == [[1, 0, 0, 0]]


def test_matrix_product_leaves_the_other_factor_alone() -> None:
    assert recorded("matrix_product")[1]["a"].grad is None


def test_jacobian_holds_twice_a_on_its_diagonal() -> None:
    space = recorded("jacobian")[1]
    expected = np.diag([2, 4, 6, 8, 10, 12]).reshape(2, 3, 2, 3)
    assert space["full"].tolist() == expected.tolist() == space["jacobian"].tolist()


def test_inner_grad_warns_once_for_each_reading() -> None:
    trace, _, output = recorded("inner_grad")
    warned = [event for event in trace.events if isinstance(event, WarningGiven)]
    assert output.splitlines()[:2] == ["None", "None"]
    assert len(warned) == 2
    assert all(e.message.startswith("The .grad attribute of a Tensor that is not a leaf") for e in warned)


def test_three_passes_add_up_to_the_weighted_pass() -> None:
    lines = recorded("several_losses")[2].splitlines()
    assert lines[0] == lines[1]


def test_stage_gives_what_the_whole_network_gives() -> None:
    space = recorded("stage")[1]
    assert space["x"].grad.tolist() == space["dz_dx"].tolist()


def test_batches_add_up_to_the_whole_and_are_zeroed_after_the_update() -> None:
    trace, space, _ = recorded("mini_batches")
    assert grads(trace, "w")[2].tolist() == space["whole"].tolist()
    assert space["w"].grad.tolist() == [[0], [0]]


@pytest.mark.parametrize(("name", "shrinks"), [("rnn", True), ("rnn_growing", False)])
def test_norms_through_time_move_in_one_direction(name: str, shrinks: bool) -> None:
    norms = [float(line.partition(": ")[2]) for line in recorded(name)[2].splitlines() if line.startswith("dL")]
    assert len(norms) >= 8
    assert norms[-1] == pytest.approx(2**0.5, abs=1e-3)
    assert norms == sorted(norms, reverse=not shrinks)


def test_leaf_facts_print_as_in_torch() -> None:
    lines = recorded("leaf_facts")[2].splitlines()
    assert lines[:3] == [
        "True tensor([1., 2., 3.], requires_grad=True)",
        "True None",
        "False tensor([2., 4., 6.], grad_fn=<MulBackward0>)",
    ]
