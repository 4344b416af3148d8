"""Layers and losses beside torch's with the same state: printed form, outputs, gradients, state afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import first_sentence, said
from tests.parity.nn.pairs import compare, drawn, ours_from, pair, torch

X2 = drawn(4, 6)
X3 = drawn(3, 4, 8)
X4 = drawn(2, 4, 7, 6)
X5 = drawn(2, 4, 5, 4, 3)
WORDS = np.array([[1, 4, 0, 2], [3, 3, 4, 1]])
CLASSES = np.array([1, 0, 4, 2])

LAYERS: dict[str, tuple[Any, ...]] = {
    "Linear": (lambda n: n.Linear(6, 3), X2),
    "Linear without bias": (lambda n: n.Linear(8, 5, bias=False), X3),
    "Bilinear": (lambda n: n.Bilinear(6, 3, 5), X2, drawn(4, 3, seed=1)),
    "Bilinear without bias": (lambda n: n.Bilinear(8, 2, 5, bias=False), X3, drawn(3, 4, 2, seed=1)),
    "Identity": (lambda n: n.Identity(54, unused=1), X2),
    "Flatten": (lambda n: n.Flatten(), X4),
    "Flatten some": (lambda n: n.Flatten(0, 2), X4),
    "Unflatten": (lambda n: n.Unflatten(1, (2, 3)), X2),
    "Embedding": (lambda n: n.Embedding(5, 3), WORDS),
    "Embedding padding": (lambda n: n.Embedding(5, 3, padding_idx=-1, scale_grad_by_freq=True), WORDS),
    "Embedding max_norm": (lambda n: n.Embedding(5, 3, max_norm=0.5, norm_type=1.0), WORDS),
    "EmbeddingBag": (lambda n: n.EmbeddingBag(5, 3), WORDS),
    "EmbeddingBag sum": (
        lambda n: n.EmbeddingBag(5, 3, mode="sum", padding_idx=1), WORDS.reshape(-1), np.array([0, 3])
    ),
    "EmbeddingBag max": (lambda n: n.EmbeddingBag(5, 3, mode="max"), WORDS),
    "Conv1d": (lambda n: n.Conv1d(4, 6, 3), X3),
    "Conv1d options": (lambda n: n.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False), X3),
    "Conv1d same": (lambda n: n.Conv1d(4, 2, 4, padding="same"), X3),
    "Conv1d same reflected": (lambda n: n.Conv1d(4, 2, 4, padding="same", padding_mode="reflect"), X3),
    "Conv1d valid circular": (lambda n: n.Conv1d(4, 2, 4, padding="valid", padding_mode="circular"), X3),
    "Conv2d": (lambda n: n.Conv2d(4, 3, 3), X4),
    "Conv2d without batch": (lambda n: n.Conv2d(4, 3, (3, 2)), X4[0]),
    "Conv2d options": (lambda n: n.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2), X4),
    "Conv2d replicated": (lambda n: n.Conv2d(4, 3, 3, padding=1, padding_mode="replicate"), X4),
    "Conv3d": (lambda n: n.Conv3d(4, 2, 2, padding=1), X5),
    "Conv3d circular": (lambda n: n.Conv3d(4, 2, 2, padding=1, padding_mode="circular"), X5),
    "ConvTranspose1d": (lambda n: n.ConvTranspose1d(4, 3, 3, stride=2, padding=1, output_padding=1), X3),
    "ConvTranspose2d": (lambda n: n.ConvTranspose2d(4, 6, 3, stride=2, groups=2, dilation=2, bias=False), X4),
    "ConvTranspose2d sized": (lambda n: n.ConvTranspose2d(4, 2, 3, stride=2, padding=1), X4, [13, 12]),
    "ConvTranspose3d": (lambda n: n.ConvTranspose3d(4, 2, 2), X5),
    "MaxPool1d": (lambda n: n.MaxPool1d(3, stride=2, padding=1), X3),
    "MaxPool2d": (lambda n: n.MaxPool2d(2), X4),
    "MaxPool2d options": (lambda n: n.MaxPool2d((3, 2), stride=2, padding=1, dilation=2, ceil_mode=True), X4),
    "MaxPool2d places": (lambda n: n.MaxPool2d(2, return_indices=True), X4),
    "MaxPool3d": (lambda n: n.MaxPool3d(2), X5),
    "AvgPool1d": (lambda n: n.AvgPool1d(3, padding=1), X3),
    "AvgPool2d": (lambda n: n.AvgPool2d(3, stride=2, ceil_mode=True, count_include_pad=False, divisor_override=2), X4),
    "AvgPool3d": (lambda n: n.AvgPool3d(2), X5),
    "LPPool1d": (lambda n: n.LPPool1d(2, 3), np.abs(X3) + 0.1),
    "LPPool2d": (lambda n: n.LPPool2d(1.5, 2, stride=1), np.abs(X4) + 0.1),
    "LPPool3d": (lambda n: n.LPPool3d(2, 2), np.abs(X5) + 0.1),
    "AdaptiveAvgPool1d": (lambda n: n.AdaptiveAvgPool1d(3), X3),
    "AdaptiveAvgPool2d": (lambda n: n.AdaptiveAvgPool2d((3, None)), X4),
    "AdaptiveAvgPool3d": (lambda n: n.AdaptiveAvgPool3d(2), X5),
    "AdaptiveMaxPool1d": (lambda n: n.AdaptiveMaxPool1d(3), X3),
    "AdaptiveMaxPool2d": (lambda n: n.AdaptiveMaxPool2d((3, 2), return_indices=True), X4),
    "AdaptiveMaxPool3d": (lambda n: n.AdaptiveMaxPool3d(2), X5),
    "ConstantPad1d": (lambda n: n.ConstantPad1d((1, 2), 3.5), X3),
    "ConstantPad2d": (lambda n: n.ConstantPad2d(1, -1.0), X4),
    "ConstantPad3d": (lambda n: n.ConstantPad3d(1, 2.0), X5),
    "ZeroPad1d": (lambda n: n.ZeroPad1d(2), X3),
    "ZeroPad2d": (lambda n: n.ZeroPad2d((1, 0, -1, 2)), X4),
    "ZeroPad3d": (lambda n: n.ZeroPad3d(1), X5),
    "ReflectionPad1d": (lambda n: n.ReflectionPad1d((3, 1)), X3),
    "ReflectionPad2d": (lambda n: n.ReflectionPad2d(2), X4),
    "ReflectionPad3d": (lambda n: n.ReflectionPad3d(1), X5),
    "ReplicationPad1d": (lambda n: n.ReplicationPad1d(2), X3),
    "ReplicationPad2d": (lambda n: n.ReplicationPad2d((1, 2, 3, 0)), X4),
    "ReplicationPad3d": (lambda n: n.ReplicationPad3d(1), X5),
    "CircularPad1d": (lambda n: n.CircularPad1d((1, 2)), X3),
    "CircularPad2d": (lambda n: n.CircularPad2d(1), X4),
    "CircularPad3d": (lambda n: n.CircularPad3d(1), X5),
    "Fold": (lambda n: n.Fold((4, 5), (2, 2)), drawn(2, 12, 12)),
    "Unfold": (lambda n: n.Unfold(2, dilation=2, padding=1, stride=2), X4),
    "PixelShuffle": (lambda n: n.PixelShuffle(2), X4),
    "PixelUnshuffle": (lambda n: n.PixelUnshuffle(2), drawn(2, 3, 4, 6)),
    "ChannelShuffle": (lambda n: n.ChannelShuffle(2), X4),
    "Upsample": (lambda n: n.Upsample(scale_factor=2), X4),
    "Upsample sized": (lambda n: n.Upsample(size=(5, 9), mode="bilinear"), X4),
    "UpsamplingNearest2d": (lambda n: n.UpsamplingNearest2d(scale_factor=(2, 3)), X4),
    "UpsamplingBilinear2d": (lambda n: n.UpsamplingBilinear2d(size=(9, 9)), X4),
    "BatchNorm1d": (lambda n: n.BatchNorm1d(4), X3),
    "BatchNorm1d of rows": (lambda n: n.BatchNorm1d(6, momentum=None, eps=1e-3), X2),
    "BatchNorm2d": (lambda n: n.BatchNorm2d(4, momentum=0.3), X4),
    "BatchNorm2d plain": (lambda n: n.BatchNorm2d(4, affine=False, track_running_stats=False), X4),
    "BatchNorm3d": (lambda n: n.BatchNorm3d(4), X5),
    "InstanceNorm1d": (lambda n: n.InstanceNorm1d(4), X3),
    "InstanceNorm2d": (lambda n: n.InstanceNorm2d(4, affine=True, track_running_stats=True), X4),
    "InstanceNorm2d without batch": (lambda n: n.InstanceNorm2d(4), X4[0]),
    "InstanceNorm3d": (lambda n: n.InstanceNorm3d(4, affine=True), X5),
    "LayerNorm": (lambda n: n.LayerNorm(6), X2),
    "LayerNorm of two": (lambda n: n.LayerNorm([4, 8], eps=1e-3, bias=False), X3),
    "LayerNorm plain": (lambda n: n.LayerNorm((6,), elementwise_affine=False), X4),
    "GroupNorm": (lambda n: n.GroupNorm(2, 4), X4),
    "GroupNorm plain": (lambda n: n.GroupNorm(4, 4, affine=False), X3),
    "RMSNorm": (lambda n: n.RMSNorm(6), X2),
    "RMSNorm of two": (lambda n: n.RMSNorm([4, 8], eps=1e-3), X3),
    "LocalResponseNorm": (lambda n: n.LocalResponseNorm(3, alpha=0.1), X4),
    "LocalResponseNorm of three": (lambda n: n.LocalResponseNorm(2, beta=0.5, k=2.0), X3),
    "PairwiseDistance": (lambda n: n.PairwiseDistance(p=3, keepdim=True), X2, drawn(4, 6, seed=1)),
    "CosineSimilarity": (lambda n: n.CosineSimilarity(dim=0), X2, drawn(4, 6, seed=1)),
    "ReLU": (lambda n: n.ReLU(), X2),
    "ReLU in place": (lambda n: n.Sequential(n.Linear(6, 3), n.ReLU(inplace=True)), X2),
    "ReLU6": (lambda n: n.ReLU6(), 5 * X2),
    "RReLU": (lambda n: n.RReLU(0.1, 0.1), X2),
    "ELU": (lambda n: n.ELU(0.5), X2),
    "CELU": (lambda n: n.CELU(0.5), X2),
    "SELU": (lambda n: n.SELU(), X2),
    "SiLU": (lambda n: n.SiLU(), X2),
    "Mish": (lambda n: n.Mish(), X2),
    "GELU": (lambda n: n.GELU(), X2),
    "GELU tanh": (lambda n: n.GELU("tanh"), X2),
    "GLU": (lambda n: n.GLU(), X2),
    "Sigmoid": (lambda n: n.Sigmoid(), X2),
    "Tanh": (lambda n: n.Tanh(), X2),
    "Softplus": (lambda n: n.Softplus(2.0, 1.0), X2),
    "Softsign": (lambda n: n.Softsign(), X2),
    "Softshrink": (lambda n: n.Softshrink(0.3), X2),
    "Hardshrink": (lambda n: n.Hardshrink(), X2),
    "Hardtanh": (lambda n: n.Hardtanh(-0.3, 0.4), X2),
    "Hardsigmoid": (lambda n: n.Hardsigmoid(), 2 * X2),
    "Hardswish": (lambda n: n.Hardswish(), 2 * X2),
    "LeakyReLU": (lambda n: n.LeakyReLU(0.2), X2),
    "LogSigmoid": (lambda n: n.LogSigmoid(), X2),
    "Tanhshrink": (lambda n: n.Tanhshrink(), X2),
    "Threshold": (lambda n: n.Threshold(0.1, 20), X2),
    "PReLU": (lambda n: n.PReLU(), X2),
    "PReLU of channels": (lambda n: n.PReLU(4, init=0.1), X4),
    "Softmax": (lambda n: n.Softmax(dim=1), X2),
    "Softmin": (lambda n: n.Softmin(dim=0), X2),
    "LogSoftmax": (lambda n: n.LogSoftmax(dim=-1), X3),
    "Softmax2d": (lambda n: n.Softmax2d(), X4),
    "Dropout of nothing": (lambda n: n.Dropout(0.0), X2),
    "Dropout of all": (lambda n: n.Dropout(1.0), X2),
    "Dropout2d of nothing": (lambda n: n.Dropout2d(0.0), X4),
    "AlphaDropout of nothing": (lambda n: n.AlphaDropout(0.0), X2),
    "Sequential": (
        lambda n: n.Sequential(n.Conv2d(4, 2, 3), n.BatchNorm2d(2), n.ReLU(), n.Flatten(), n.Linear(40, 3)), X4
    ),
}  # fmt: skip


@batches("name", LAYERS)
@pytest.mark.filterwarnings("ignore:Using padding='same'")  # torch says how it computes
def test_layer_computes_as_torchs(name: str) -> None:
    make, *args = LAYERS[name]
    compare(make, *args)


EVALUATED = [
    "BatchNorm1d", "BatchNorm1d of rows", "BatchNorm2d", "BatchNorm2d plain", "BatchNorm3d", "InstanceNorm2d",
    "InstanceNorm1d", "RReLU", "Dropout of all", "AlphaDropout of nothing",
]  # fmt: skip


@batches("name", EVALUATED)
def test_layer_in_evaluation_computes_as_torchs(name: str) -> None:
    make, *args = LAYERS[name]
    compare(make, *args, train=False)


BINARY = (drawn(4, 6, seed=2) > 0).astype("float64")
SIGNS = 2 * BINARY - 1
SIGNS.flags.writeable = False  # no gradient is asked of targets, which some losses refuse
PART = 1 / (1 + np.exp(-X2))
LOSSES: dict[str, tuple[Any, ...]] = {
    "L1Loss": (lambda n, t: n.L1Loss(), X2, drawn(4, 6, seed=1)),
    "MSELoss": (lambda n, t: n.MSELoss(), X2, drawn(4, 6, seed=1)),
    "MSELoss sum": (lambda n, t: n.MSELoss(reduction="sum"), X2, drawn(4, 6, seed=1)),
    "SmoothL1Loss": (lambda n, t: n.SmoothL1Loss(beta=0.5), X2, drawn(4, 6, seed=1)),
    "HuberLoss": (lambda n, t: n.HuberLoss(delta=0.7), X2, drawn(4, 6, seed=1)),
    "NLLLoss": (lambda n, t: n.NLLLoss(), X2, CLASSES),
    "NLLLoss weighted": (lambda n, t: n.NLLLoss(t.arange(6.0) + 1, ignore_index=0, reduction="none"), X2, CLASSES),
    "CrossEntropyLoss": (lambda n, t: n.CrossEntropyLoss(), X2, CLASSES),
    "CrossEntropyLoss weighted": (lambda n, t: n.CrossEntropyLoss(t.arange(6.0) + 1, label_smoothing=0.1), X2, CLASSES),
    "CrossEntropyLoss ignoring": (lambda n, t: n.CrossEntropyLoss(ignore_index=1), X2, CLASSES),
    "CrossEntropyLoss of probabilities": (lambda n, t: n.CrossEntropyLoss(), X2, PART / PART.sum(1, keepdims=True)),
    "CTCLoss": (
        lambda n, t: n.CTCLoss(), drawn(7, 2, 4) - 1.5, np.array([[1, 2, 2], [3, 1, 0]]), np.array([7, 6]),
        np.array([3, 2]),
    ),
    "PoissonNLLLoss": (lambda n, t: n.PoissonNLLLoss(full=True), X2, np.abs(drawn(4, 6, seed=1)) * 3),
    "GaussianNLLLoss": (lambda n, t: n.GaussianNLLLoss(), X2, drawn(4, 6, seed=1), PART),
    "KLDivLoss": (lambda n, t: n.KLDivLoss(reduction="batchmean"), X2, PART),
    "BCELoss": (lambda n, t: n.BCELoss(), PART, BINARY),
    "BCELoss weighted": (lambda n, t: n.BCELoss(t.arange(6.0)), PART, BINARY),
    "BCEWithLogitsLoss": (lambda n, t: n.BCEWithLogitsLoss(), X2, BINARY),
    "BCEWithLogitsLoss weighted": (lambda n, t: n.BCEWithLogitsLoss(pos_weight=t.arange(6.0)), X2, BINARY),
    "HingeEmbeddingLoss": (lambda n, t: n.HingeEmbeddingLoss(0.5), X2, SIGNS),
    "CosineEmbeddingLoss": (lambda n, t: n.CosineEmbeddingLoss(0.1), X2, drawn(4, 6, seed=1), SIGNS[:, 0]),
    "MarginRankingLoss": (lambda n, t: n.MarginRankingLoss(0.1), X2, drawn(4, 6, seed=1), SIGNS),
    "SoftMarginLoss": (lambda n, t: n.SoftMarginLoss(), X2, SIGNS),
    "MultiMarginLoss": (lambda n, t: n.MultiMarginLoss(p=2, margin=0.7), X2, CLASSES),
    "MultiLabelMarginLoss": (
        lambda n, t: n.MultiLabelMarginLoss(), X2[:2], np.array([[0, 3, -1, 1, 2, 4], [5, -1, 0, 0, 0, 0]])
    ),
    "MultiLabelSoftMarginLoss": (lambda n, t: n.MultiLabelSoftMarginLoss(), X2, BINARY),
    "TripletMarginLoss": (lambda n, t: n.TripletMarginLoss(swap=True), X2, drawn(4, 6, seed=1), drawn(4, 6, seed=2)),
    "TripletMarginWithDistanceLoss": (
        lambda n, t: n.TripletMarginWithDistanceLoss(margin=0.5), X2, drawn(4, 6, seed=1), drawn(4, 6, seed=2)
    ),
}  # fmt: skip


@batches("name", LOSSES)
def test_loss_computes_as_torchs(name: str) -> None:
    make, *args = LOSSES[name]
    compare(lambda n: make(n, engine if n is engine.nn else torch), *args)


def test_unpooling_puts_back_what_pooling_took() -> None:
    for dims, x in ((1, X3), (2, X4), (3, X5)):
        found = []
        for t in (engine, torch):
            given = t.from_numpy(x.copy()).requires_grad_()
            small, places = getattr(t.nn, f"MaxPool{dims}d")(2, return_indices=True)(given)
            layer = getattr(t.nn, f"MaxUnpool{dims}d")(2)
            large = layer(small, places, output_size=given.size())
            large.pow(2).sum().backward()
            found.append((repr(layer), large.detach().numpy(), given.grad.numpy()))
        assert found[0][0] == found[1][0]
        np.testing.assert_allclose(found[0][1], found[1][1])
        np.testing.assert_allclose(found[0][2], found[1][2])


def test_dropout_drops_the_part_asked_for_and_scales_the_rest() -> None:
    engine.manual_seed(0)
    made = engine.nn.Dropout(0.25)(engine.ones(100, 100))
    values = made.numpy()
    assert set(np.unique(values)) == {np.float32(0.0), np.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 0.02
    channels = engine.nn.Dropout2d(0.5)(engine.ones(20, 30, 2, 2)).numpy().reshape(600, 4)
    assert all(len(set(row)) == 1 for row in channels.tolist())


REFUSED: dict[str, Callable[[Any], Any]] = {
    "Conv channels in groups": lambda t: t.nn.Conv2d(3, 4, 3, groups=2),
    "Conv channels out in groups": lambda t: t.nn.Conv2d(4, 3, 3, groups=2),
    "Conv no groups": lambda t: t.nn.Conv2d(4, 4, 3, groups=0),
    "Conv same with stride": lambda t: t.nn.Conv2d(4, 4, 3, stride=2, padding="same"),
    "ConvTranspose mode": lambda t: t.nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect"),
    "ConvTranspose size": lambda t: t.nn.ConvTranspose2d(4, 4, 3, stride=2)(t.zeros(1, 4, 3, 3), output_size=[20, 20]),
    "ConvTranspose sizes": lambda t: t.nn.ConvTranspose2d(4, 4, 3)(t.zeros(1, 4, 3, 3), output_size=[5]),
    "BatchNorm1d rank": lambda t: t.nn.BatchNorm1d(3)(t.zeros(2, 3, 4, 5)),
    "BatchNorm2d rank": lambda t: t.nn.BatchNorm2d(3)(t.zeros(2, 3)),
    "BatchNorm3d rank": lambda t: t.nn.BatchNorm3d(3)(t.zeros(2, 3)),
    "BatchNorm of one": lambda t: t.nn.BatchNorm1d(3)(t.zeros(1, 3)),
    "BatchNorm channels": lambda t: t.nn.BatchNorm1d(3)(t.zeros(2, 4)),
    "InstanceNorm rank": lambda t: t.nn.InstanceNorm1d(3)(t.zeros(2)),
    "InstanceNorm channels": lambda t: t.nn.InstanceNorm1d(3, affine=True)(t.zeros(2, 4, 5)),
    "InstanceNorm other channels": lambda t: t.nn.InstanceNorm1d(3)(t.zeros(2, 4, 5)).shape == (2, 4, 5),
    "InstanceNorm of one": lambda t: t.nn.InstanceNorm1d(3)(t.zeros(2, 3, 1)),
    "GroupNorm groups": lambda t: t.nn.GroupNorm(2, 3),
    "LayerNorm shape": lambda t: t.nn.LayerNorm(3)(t.zeros(2, 4)),
    "Dropout part": lambda t: t.nn.Dropout(1.5),
    "Embedding padding": lambda t: t.nn.Embedding(3, 2, padding_idx=3),
    "EmbeddingBag padding": lambda t: t.nn.EmbeddingBag(3, 2, padding_idx=-4),
    "Embedding weight": lambda t: t.nn.Embedding(3, 2, _weight=t.zeros(2, 2)),
    "Embedding pretrained": lambda t: t.nn.Embedding.from_pretrained(t.zeros(3)),
    "Embedding number": lambda t: t.nn.Embedding(3, 2)(t.tensor([3])),
    "Bilinear sizes": lambda t: t.nn.Bilinear(3, 2, 2)(t.zeros(2, 4), t.zeros(2, 2)),
    "Bilinear of nothing": lambda t: t.nn.Bilinear(0, 2, 2),
    "Linear sizes": lambda t: t.nn.Linear(3, 2)(t.zeros(2, 4)),
    "Hardtanh bounds": lambda t: t.nn.Hardtanh(1.0, 0.0),
    "Softmax2d rank": lambda t: t.nn.Softmax2d()(t.zeros(2, 2)),
    "Softmax without dim": lambda t: t.nn.Softmax()(t.zeros(2, 2)).shape == (2, 2),
    "CircularPad rank": lambda t: t.nn.CircularPad1d(1)(t.zeros(3)),
    "Unflatten sizes": lambda t: t.nn.Unflatten(1, 3),
    "Unflatten floats": lambda t: t.nn.Unflatten(1, (2.0, 3)),
    "HuberLoss delta": lambda t: t.nn.HuberLoss(delta="a"),
    "MultiMarginLoss p": lambda t: t.nn.MultiMarginLoss(p=3),
    "MultiMarginLoss weight": lambda t: t.nn.MultiMarginLoss(weight=t.zeros(2, 2)),
    "TripletMarginLoss margin": lambda t: t.nn.TripletMarginLoss(margin=0),
    "loss by older flags": lambda t: t.nn.MSELoss(size_average=False).reduction,
    "LocalResponseNorm rank": lambda t: t.nn.LocalResponseNorm(2)(t.zeros(2, 2)),
    "CrossEntropyLoss class": lambda t: t.nn.CrossEntropyLoss()(t.zeros(2, 2), t.tensor([0, 2])),
}  # fmt: skip


@batches("name", REFUSED)
def test_layer_refuses_as_torchs(name: str) -> None:
    assert said(engine, REFUSED[name], first_sentence) == said(torch, REFUSED[name], first_sentence)


def test_state_of_a_batch_norm_before_it_counted_is_loaded() -> None:
    mine, theirs = pair(lambda n: n.BatchNorm1d(3))
    for module, state in ((mine, ours_from(theirs.state_dict())), (theirs, dict(theirs.state_dict()))):
        del state["num_batches_tracked"]
        assert repr(module.load_state_dict(state)) == "<All keys matched successfully>"


def test_pretrained_embedding_is_frozen_and_shares_memory() -> None:
    table = engine.ones(3, 2)
    layer = engine.nn.Embedding.from_pretrained(table)
    assert not layer.weight.requires_grad
    table.mul_(2)
    assert layer(engine.tensor([1])).tolist() == [[2.0, 2.0]]
