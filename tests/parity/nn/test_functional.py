"""nn.functional beside torch's: values, dtypes, graphs, gradients, errors and warnings of expressions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import listed

RNG = np.random.default_rng(3)
GIVEN: dict[str, np.ndarray] = {
    "x": RNG.normal(size=(3, 4)), "y": RNG.normal(size=(3, 4)), "z": RNG.normal(size=(3, 4)),
    "b": RNG.normal(size=(2, 3, 4)), "w": RNG.normal(size=(5, 4)), "c": RNG.normal(size=5), "v": RNG.normal(size=4),
    "v2": RNG.normal(size=4), "v3": RNG.uniform(0.1, 0.9, 3), "u3": RNG.normal(size=3),
    "n": RNG.normal(size=(2, 4, 3, 3)),
    "p": RNG.uniform(0.1, 0.9, (3, 4)), "q": RNG.normal(size=(2, 3, 5, 4)), "k": RNG.normal(size=(2, 3, 6, 4)),
    "W": RNG.normal(size=(2, 4, 4)), "m": RNG.normal(size=(5, 6)),
}  # fmt: skip
"""Tensors that require grad, by the names that the expressions below have for them."""
FIXED: dict[str, np.ndarray] = {
    "t": RNG.uniform(0.1, 0.9, (3, 4)), "i": np.array([1, 0, 3]), "s": np.array([1.0, -1.0, 1.0]),
    "f": RNG.normal(size=4), "rm": RNG.normal(size=4), "rv": RNG.uniform(0.5, 2, 4), "g": RNG.uniform(0.1, 0.9, 4),
    "labels": np.array([[1, 2], [2, 2]]), "lengths": np.array([6, 6]), "two": np.array([2, 2]),
}  # fmt: skip
"""Tensors that do not."""


def scope(library: Any, dtype: str = "float64") -> dict[str, Any]:
    """The names of the expressions."""
    made = {
        k: library.tensor(a.astype(dtype), requires_grad=k in GIVEN) if a.dtype.kind == "f" else library.tensor(a)
        for k, a in (GIVEN | FIXED).items()
    }
    return {
        **made,
        "torch": library,
        "F": library.nn.functional,
        "l1": lambda a, b: (a - b).abs().sum(1),
        "lp": log_probabilities,
        "heads": _heads(library, made),
    }


def _heads(library: Any, made: dict[str, Any]) -> Any:
    """multi_head_attention_forward with two heads and weights made of the tensors at hand."""
    first = library.cat([made["z"], made["z"], made["z"], made["y"]])
    shift = library.cat([made["v"], made["v2"], made["v"]])

    def heads(
        query: Any, key: Any, value: Any, need: bool = True, bias: Any = None, zero: bool = False, dropout: float = 0.0,
        training: bool = True, separate: Any = None, many: int = 2, **others: Any,
    ) -> Any:  # fmt: skip
        row = None if bias is None else bias.view(1, 1, 4)
        if separate is not None:
            others |= dict.fromkeys(("q_proj_weight", "k_proj_weight", "v_proj_weight"), separate)
            others["use_separate_proj_weight"] = True
        return library.nn.functional.multi_head_attention_forward(
            query, key, value, 4, many, None if separate is not None else first, shift, row, row, zero, dropout,
            made["w"][:4], made["v2"], training, need_weights=need, **others,
        )  # fmt: skip

    return heads


def log_probabilities(n: Any) -> Any:
    """Six times, two samples, four classes."""
    return n.reshape(2, 4, 9)[:, :, :6].permute(2, 0, 1).log_softmax(2)


GRAPHS = """
F.linear(x, w, c) | F.linear(x, w) | F.linear(b, w, c) | F.linear(b, w) | F.linear(v, w, c) | F.linear(v, w)
F.linear(b.transpose(0, 1), w, c) | F.linear(v, v2) | F.linear(x, v2) | F.linear(x, w.detach(), c)
F.linear(b.detach(), w, c) | F.linear(b, w.detach(), c.detach()) | F.linear(b.transpose(0, 1), w)
F.linear(x, w, c[0]) | F.linear(b, w, c.view(1, 5)) | F.linear(b, w, c[0]) | F.linear(v, w[0], c[0])
F.linear(b, w[0]) | torch.addmm(c, x, w.t()) | torch.addmm(c, x, w.t(), beta=2, alpha=3)
torch.addmm(c, x, w.t(), beta=0) | F.relu6(x) | F.leaky_relu(x) | F.prelu(x, v) | F.prelu(x, v[:1]) | F.prelu(n, v)
F.prelu(u3, v[:1]) | F.prelu(x, v[0]) | F.prelu(v[0], v[:1]) | F.rrelu(x) | F.elu(x) | F.elu(x, 2.0) | F.selu(x)
F.celu(x) | F.celu(x, 2.0) | F.gelu(x) | F.gelu(x, approximate="tanh") | F.silu(x) | F.mish(x) | F.softplus(x)
F.softplus(x, 2, 1) | F.softsign(x) | F.softmin(x, 1) | F.softmax(x, 1) | F.softmax(x, dim=-1) | F.log_softmax(x, 1)
F.logsigmoid(x) | F.hardtanh(x) | F.hardtanh(x, -2, 0.5) | F.hardsigmoid(4 * x) | F.hardswish(4 * x) | F.hardshrink(x)
F.softshrink(x) | F.tanhshrink(x) | F.threshold(x, 0.1, 0.2) | F.glu(x) | F.glu(x, 1) | F.relu(x) | F.sigmoid(x)
F.tanh(x) | F.softmax(x) | F.softmin(b) | F.log_softmax(v) | F.relu(x * 1, inplace=True) | F.elu(x * 1, inplace=True)
F.silu(x * 1, inplace=True) | F.hardswish(x * 1, inplace=True) | F.leaky_relu_(x * 1)
F.softmax(x, 1, dtype=torch.float64) | F.relu6(i) | F.hardtanh(i) | F.softsign(i) | F.tanhshrink(i)
F.threshold(i, 1.5, 2.5) | F.relu(i) | F.softshrink(x, 0.1) | F.rrelu(x, 0.1, 0.3) | F.celu_(x * 1) | F.selu_(x * 1)
F.threshold_(x * 1, 0.1, 0.2) | F.hardtanh_(x * 1) | F.rrelu_(x * 1) | F.mish(x * 1, inplace=True) | F.relu_(x * 1)
F.layer_norm(x, (4,)) | F.layer_norm(x, (4,), v, v2) | F.layer_norm(b, (3, 4), y, z) | F.layer_norm(b, [4], None, v)
F.layer_norm(b, (4,), v.detach(), None, 0.1) | F.batch_norm(x, rm, rv) | F.batch_norm(x, rm, rv, v, v2, training=True)
F.batch_norm(n, rm, rv, v, v2) | F.batch_norm(n, None, None, v, v2, True, 0.1, 0.01)
F.batch_norm(b[:, :, 0].reshape(3, 2)[:, :2], None, None, training=True) | F.batch_norm(x[:0], rm, rv, training=True)
F.batch_norm(n, rm.clone(), rv.clone(), training=True, momentum=0.3) | F.group_norm(n, 2) | F.group_norm(n, 2, v, v2)
F.group_norm(x, 2, v) | F.group_norm(n[:0], 2) | F.rms_norm(x, (4,)) | F.rms_norm(x, (4,), v)
F.rms_norm(x, (3, 4), None, 0.01) | F.normalize(x) | F.normalize(x, p=1) | F.normalize(b, dim=(0, 1))
F.normalize(x, 3, 0) | F.normalize(v, dim=0) | F.mse_loss(x, y) | F.mse_loss(x, t) | F.mse_loss(x, v)
F.mse_loss(x, t, weight=p) | F.mse_loss(x, t, reduction="none") | F.mse_loss(x, t, reduction="sum")
F.mse_loss(x, v[:1]) | F.mse_loss(x, t.float()) | F.mse_loss(x[:0], y[:0])
F.mse_loss(x, y, weight=p, reduction="none") | F.mse_loss(x, y, weight=p, reduction="sum")
F.mse_loss(x, y, size_average=False) | F.mse_loss(x, y, reduce=False) | F.mse_loss(x, y, True, True) | F.l1_loss(x, y)
F.l1_loss(x, y, reduction="none") | F.l1_loss(x, v) | F.l1_loss(x, y, weight=p) | F.l1_loss(x, y, reduction="sum")
F.smooth_l1_loss(x, y) | F.smooth_l1_loss(x, y, beta=0) | F.smooth_l1_loss(x, v)
F.smooth_l1_loss(x, y, reduction="none", beta=0.5) | F.huber_loss(x, y) | F.huber_loss(x, y, weight=p)
F.huber_loss(x, y, reduction="sum", weight=p) | F.huber_loss(x, v) | F.huber_loss(x, y, "none", 0.5)
F.nll_loss(x, i) | F.nll_loss(x, i, f) | F.nll_loss(x, i, f, ignore_index=1) | F.nll_loss(x, i, reduction="none")
F.nll_loss(x, i, f, reduction="sum") | F.nll_loss(v, i[0]) | F.nll_loss(v, i[0], reduction="none")
F.nll_loss(b, i.view(1, 3).expand(2, 3)[:, :1].expand(2, 4)) | F.nll_loss(n, torch.ones(2, 3, 3).long())
F.nll_loss(n.view(2, 4, 3, 3, 1), torch.ones(2, 3, 3, 1).long(), f)
F.nll_loss(b, torch.ones(2, 4).long(), reduction="none") | F.nll_loss(x, i, ignore_index=3, reduction="none")
F.nll_loss(x[:0], i[:0]) | F.nll_loss(x, i * 0 - 100) | F.nll_loss(x, torch.tensor([1, 0, 3], dtype=torch.uint8))
F.cross_entropy(x, i) | F.cross_entropy(x, i, f) | F.cross_entropy(x, t) | F.cross_entropy(x, p, f)
F.cross_entropy(x, i, label_smoothing=0.1) | F.cross_entropy(x, i, g, label_smoothing=0.1)
F.cross_entropy(x, i, label_smoothing=0.1, reduction="none") | F.cross_entropy(n, torch.zeros(2, 3, 3).long())
F.cross_entropy(v, i[0]) | F.cross_entropy(b, torch.zeros(2, 4).long(), torch.arange(3).to(b.dtype))
F.cross_entropy(x, t, label_smoothing=0.1, reduction="none") | F.cross_entropy(x, p, label_smoothing=0.1)
F.cross_entropy(x, t, reduction="sum") | F.cross_entropy(x, i, label_smoothing=0.1, ignore_index=0)
F.cross_entropy(x, i, g, label_smoothing=0.1, ignore_index=0)
F.cross_entropy(x, i, g, label_smoothing=0.1, reduction="sum") | F.cross_entropy(n, n.detach().softmax(1), f)
F.cross_entropy(v, f) | F.cross_entropy(x, i, reduction="sum", ignore_index=0) | F.cross_entropy(x[:0], y[:0])
F.cross_entropy(b, torch.zeros(2, 4).long(), label_smoothing=0.2) | F.binary_cross_entropy(p, t)
F.binary_cross_entropy(p, t, t) | F.binary_cross_entropy(p, t, g) | F.binary_cross_entropy(p, p)
F.binary_cross_entropy(p, t, reduction="none") | F.binary_cross_entropy(v3 * 0, s * s)
F.binary_cross_entropy_with_logits(x, t) | F.binary_cross_entropy_with_logits(x, p, t, pos_weight=g)
F.binary_cross_entropy_with_logits(x, y, reduction="sum")
F.binary_cross_entropy_with_logits(x, t, g, reduction="none") | F.binary_cross_entropy_with_logits(x, p, pos_weight=g)
F.gaussian_nll_loss(x, y, p) | F.gaussian_nll_loss(x, y, p, full=True) | F.gaussian_nll_loss(x, y, 0.5)
F.gaussian_nll_loss(x, y, p[:, 0]) | F.gaussian_nll_loss(x, y, t[:, :1], reduction="sum")
F.gaussian_nll_loss(x, v, p, reduction="none") | F.poisson_nll_loss(x, t) | F.poisson_nll_loss(x, y)
F.poisson_nll_loss(p, t, log_input=False, full=True) | F.poisson_nll_loss(x, 3 * p, full=True, reduction="sum")
F.poisson_nll_loss(x, t, reduction="none") | F.hinge_embedding_loss(x, y)
F.hinge_embedding_loss(x, s.view(3, 1), 2.0, reduction="none") | F.margin_ranking_loss(v3, u3, s)
F.margin_ranking_loss(v3, u3, s, 0.5, reduction="sum") | F.soft_margin_loss(x, t)
F.soft_margin_loss(x, t, reduction="none") | F.soft_margin_loss(x, s.view(3, 1)) | F.multi_margin_loss(x, i)
F.multi_margin_loss(x, i, 2, weight=f) | F.multi_margin_loss(x, i, margin=0.5, reduction="none")
F.multi_margin_loss(v, i[0]) | F.multi_margin_loss(v, i[:1], reduction="none")
F.multilabel_margin_loss(x, torch.tensor([[1, 0, -1, 2]] * 3))
F.multilabel_margin_loss(x, torch.tensor([[-1, 0, 1, 2], [1, 1, -1, 0], [0, 3, 2, 1]]), reduction="none")
F.multilabel_margin_loss(v, torch.tensor([2, -1, 0, 1]), reduction="sum") | F.multilabel_soft_margin_loss(x, t)
F.multilabel_soft_margin_loss(x, t, t) | F.multilabel_soft_margin_loss(v, f, reduction="none")
F.multilabel_soft_margin_loss(x, t, reduction="sum") | F.cosine_embedding_loss(x, y, s)
F.cosine_embedding_loss(x, y, s, 0.2, reduction="none") | F.cosine_embedding_loss(v, v2, i[0])
F.triplet_margin_loss(x, y, z) | F.triplet_margin_loss(x, y, z, swap=True)
F.triplet_margin_loss(x, y, z, p=1, reduction="sum") | F.triplet_margin_loss(v, v2, f, reduction="none")
F.triplet_margin_with_distance_loss(x, y, z)
F.triplet_margin_with_distance_loss(x, y, z, distance_function=l1, swap=True, reduction="none") | F.kl_div(x, t)
F.kl_div(x, p, log_target=True) | F.kl_div(x, t, reduction="none") | F.kl_div(x, f, reduction="sum")
F.kl_div(x, t, size_average=False) | F.kl_div(v, v2, reduction="batchmean", log_target=True)
F.cosine_similarity(x, y) | F.cosine_similarity(x, v) | F.cosine_similarity(x, y, dim=0)
F.cosine_similarity(b, y, -1) | F.cosine_similarity(x * 0, y) | F.pairwise_distance(x, y)
F.pairwise_distance(x, v, 1, keepdim=True) | F.pairwise_distance(v, v2) | F.pairwise_distance(x, y, p=float("inf"))
F.pairwise_distance(x, y, 3) | F.pdist(x) | F.pdist(x, 1) | F.pdist(x, 0) | F.pdist(x, float("inf")) | F.pdist(x, 3)
F.pdist(x, 1.5) | F.pdist(x[:1]) | F.embedding(i, w) | F.embedding(i, w, padding_idx=0) | F.embedding(i, w, -2)
F.embedding(i.view(3, 1), w) | F.embedding(i[0], w) | F.embedding(i.int(), w)
F.embedding(i * 0, w, scale_grad_by_freq=True) | F.embedding(i, w * 1, max_norm=1.0) | F.embedding(i[:0], w)
F.embedding_bag(i.view(1, 3), w) | F.embedding_bag(i, w, torch.tensor([0, 2]), mode="sum", per_sample_weights=v3)
F.embedding_bag(i.view(1, 3), w, mode="max") | F.embedding_bag(i, w, torch.tensor([0, 1, 1]))
F.embedding_bag(i, w, torch.tensor([0, 1, 3]), include_last_offset=True, mode="sum")
F.embedding_bag(i, w, torch.tensor([0, 1]), padding_idx=0)
F.embedding_bag(i, w, torch.tensor([0, 1, 1]), mode="max")
F.embedding_bag(torch.tensor([[1, 1], [3, 4]]), w, mode="max", padding_idx=3) | F.one_hot(i) | F.one_hot(i, 5)
F.one_hot(i.view(3, 1), num_classes=4) | F.one_hot(i[0]) | F.one_hot(i[:0], 3) | F.dropout(x, 1.0)
F.dropout(x, training=False) | F.dropout(x, 0.0) | F.alpha_dropout(x) | F.feature_alpha_dropout(n)
F.dropout2d(n, 1.0) | F.dropout1d(x, 1.0) | F.dropout1d(b, 1.0) | F.dropout2d(x, 1.0) | F.dropout2d(b, 1.0)
F.dropout3d(n, 1.0) | F.dropout3d(b, 1.0) | F.alpha_dropout(x, 1.0, True) | F.dropout(x * 1, 1.0, inplace=True)
F.dropout(x[:0]) | F.scaled_dot_product_attention(q, q, q) | F.scaled_dot_product_attention(q, k, k)
F.scaled_dot_product_attention(q, q, q, is_causal=True) | F.scaled_dot_product_attention(q, k, k, m.detach())
F.scaled_dot_product_attention(q, k, k, m) | F.scaled_dot_product_attention(q, k, k, m.detach() > 0)
F.scaled_dot_product_attention(q, k, k, m.detach() > 9) | F.scaled_dot_product_attention(b, b, b)
F.scaled_dot_product_attention(b, b, b, is_causal=True) | F.scaled_dot_product_attention(b, b, b, scale=0.3)
F.scaled_dot_product_attention(b, b, b, x[:, :3] > 9) | F.scaled_dot_product_attention(x, y, z)
F.scaled_dot_product_attention(q, k, k[..., :2]) | F.scaled_dot_product_attention(q, k, k, scale=0.7)
F.scaled_dot_product_attention(q, k[:, :1], k[:, :1]) | F.scaled_dot_product_attention(q, k.detach(), k.detach())
F.scaled_dot_product_attention(q, q[:, :, :2], q[:, :, :2], is_causal=True)
F.scaled_dot_product_attention(q, k, k, dropout_p=1.0)
F.scaled_dot_product_attention(q, k, k, torch.zeros(2, 1, 5, 6, dtype=q.dtype))
F.scaled_dot_product_attention(q.transpose(2, 3), k[:, :, :5].transpose(2, 3), k[:, :, :5].transpose(2, 3))
F.bilinear(x, y, W, c[:2]) | F.bilinear(x, y, W) | F.bilinear(b, b, W, c[:2]) | F.bilinear(v, v2, W)
F.instance_norm(n) | F.instance_norm(n, None, None, v, v2) | F.instance_norm(b)
F.instance_norm(n, rm, rv, v, use_input_stats=False) | F.instance_norm(n, rm.clone(), rv.clone(), momentum=0.3)
F.local_response_norm(n, 2) | F.local_response_norm(b, 3, 0.1, 0.5, 2.0) | F.local_response_norm(n[:0], 2)
F.ctc_loss(lp(n), labels, lengths, two) | F.ctc_loss(lp(n), labels, lengths, two, reduction="none")
F.ctc_loss(lp(n), labels, lengths, two, reduction="sum", blank=1)
F.ctc_loss(lp(n), labels, lengths - 5, two, zero_infinity=True) | F.ctc_loss(lp(n), labels, (6, 5), (1, 2))
F.ctc_loss(lp(n), labels.flatten()[:3], lengths, two - torch.tensor([1, 0]))
F.ctc_loss(lp(n)[:, 0], labels[0], lengths[0], two[0], reduction="none") | F.ctc_loss(lp(n), labels, lengths, two * 0)
F.ctc_loss(lp(n), labels.int(), lengths.int(), two.int()) | heads(b, b, b) | heads(b, b, b, need=False)
heads(b, b * 1, b * 2) | heads(b, k[0].transpose(0, 1), k[0].transpose(0, 1).clone()) | heads(x, x, x)
heads(b, b, b, is_causal=True, attn_mask=torch.zeros(2, 2), need=False)
heads(b, b, b, attn_mask=torch.tensor([[False, True], [False, False]]))
heads(b, b, b, attn_mask=torch.zeros(2, 2, dtype=b.dtype), need=False)
heads(b, b, b, key_padding_mask=torch.eye(3)[:, :2] > 0)
heads(b, b, b, key_padding_mask=torch.eye(3)[:, :2] > 0, need=False, attn_mask=torch.zeros(6, 2, 2) > 0)
heads(b, b, b, average_attn_weights=False) | heads(b, b, b, bias=v)
heads(b, b, b, zero=True, attn_mask=torch.zeros(2, 2, dtype=b.dtype)) | heads(b, y.view(1, 3, 4), y.view(1, 3, 4))
heads(b, b, b, dropout=1.0) | heads(b, b, b, dropout=0.5, training=False)
heads(b, b, b, separate=x[:1].expand(4, 4)) | heads(x, x, x, need=False, key_padding_mask=torch.zeros(3) > 0)
"""
"""Same values, nodes, edges and gradients."""

ERRORS = """
F.linear(x, w.t()) | F.linear(x, w.t(), c) | F.linear(x, w, x) | F.linear(x, w.float()) | F.linear(x, w, c.float())
F.linear(x, w, c[:3]) | F.linear(x, w[0], c) | F.linear(c[0], w) | F.linear(2, w) | F.linear(x, 2)
F.linear(b, w.t()) | F.linear(b, w.t(), c) | F.linear(x.float(), w, c) | F.linear(b, w, c[:3]) | torch.addmm(c, x, w)
torch.addmm(c, x[0], w.t()) | torch.addmm(c, x, w.t()[0]) | torch.addmm(b, x, w.t()) | torch.addmm(2, x, w)
F.gelu(x, approximate="x") | F.gelu(i) | F.gelu(x, "tanh") | F.gelu(2) | F.leaky_relu(i) | F.elu(i) | F.celu(i)
F.selu(i) | F.silu(i) | F.mish(i) | F.softplus(i) | F.softmin(i, 0) | F.logsigmoid(i) | F.hardsigmoid(i)
F.hardswish(i) | F.hardshrink(i) | F.softshrink(i) | F.softshrink(x, -1) | F.glu(x[:, :3]) | F.glu(i) | F.glu(v[0])
F.glu(x, 5) | F.celu(x, 0) | F.hardtanh(x, 2, 1) | F.prelu(x, c) | F.prelu(x, c[:3]) | F.prelu(x, w)
F.prelu(x, v.float()) | F.prelu(u3, v) | F.prelu(v[0], v) | F.rrelu(i) | F.rrelu(x, 2, 1) | F.leaky_relu(x, "a")
F.gumbel_softmax(i) | F.leaky_relu(2) | F.elu(i > 0) | F.relu6(i > 0) | F.softmax(x, dim=3) | F.softmax(i, 0)
F.layer_norm(x, (3,)) | F.layer_norm(x, 4) | F.layer_norm(x, ()) | F.layer_norm(x, (4,), c)
F.layer_norm(x, (4,), None, c) | F.layer_norm(x, (3, 4), c) | F.layer_norm(i, (3,)) | F.layer_norm(x, (4,), v.float())
F.layer_norm(v[0], (4,)) | F.layer_norm(x, (1, 3, 4)) | F.batch_norm(x, None, None) | F.batch_norm(x, rm, None)
F.batch_norm(x, rm, rv, c) | F.batch_norm(x, c, rv) | F.batch_norm(x, rm, c) | F.batch_norm(x, rm, rv, None, c)
F.batch_norm(x[:1], rm, rv, training=True) | F.batch_norm(v, rm, rv) | F.batch_norm(x.float(), rm, rv)
F.batch_norm(n[:1, :, :1, :1], rm, rv, training=True) | F.batch_norm(v[0], rm, rv)
F.batch_norm(x, rm, None, training=True) | F.group_norm(n, 3) | F.group_norm(n, 2, c) | F.group_norm(n, 0)
F.group_norm(x[:1], 4) | F.group_norm(n, 2, v.float()) | F.group_norm(v, 2) | F.rms_norm(x, (3,)) | F.rms_norm(x, 4)
F.rms_norm(x, (4,), c) | F.rms_norm(i, (3,)) | F.rms_norm(x, ()) | F.normalize(x, dim=5) | F.normalize(i)
F.normalize(2) | F.batch_norm(2, rm, rv) | F.mse_loss(x, y[:2]) | F.mse_loss(x, y, reduction="x") | F.mse_loss(x, 2)
F.mse_loss(x, i) | F.mse_loss(i, i) | F.mse_loss(i, i, reduction="sum") | F.mse_loss(x, y, weight=x[:, :2])
F.mse_loss(x, v, weight=v) | F.l1_loss(x, y[:2]) | F.l1_loss(i, i) | F.smooth_l1_loss(x, y, beta=-1)
F.huber_loss(x, y, delta=0) | F.huber_loss(x, y, delta=-1) | F.smooth_l1_loss(x, y[:2]) | F.huber_loss(x, y[:2])
F.huber_loss(x, y, reduction="q") | F.smooth_l1_loss(i, i) | F.huber_loss(i, i) | F.l1_loss(x, y, weight=p[:2])
F.huber_loss(x, y, weight=p[:2]) | F.nll_loss(x, i + 3) | F.nll_loss(x, s) | F.nll_loss(x, i[:2])
F.nll_loss(x, i, c.detach()) | F.nll_loss(x, i, f.float()) | F.nll_loss(x, i, v) | F.nll_loss(x, i, reduction="a")
F.nll_loss(v[0], i[0]) | F.nll_loss(v, i) | F.nll_loss(x, i.view(1, 3)) | F.nll_loss(x, i.view(3, 1))
F.nll_loss(b, torch.zeros(2, 3).long()) | F.nll_loss(n, torch.zeros(2, 4, 4).long())
F.nll_loss(n, torch.zeros(2, 4).long()) | F.nll_loss(x, torch.tensor([-1, 0, 0])) | F.nll_loss(x, i.int())
F.nll_loss(i, i) | F.nll_loss(n, torch.zeros(2, 3, 3).long(), v) | F.nll_loss(2, i)
F.cross_entropy(x, i, label_smoothing=2) | F.cross_entropy(x, i + 5) | F.cross_entropy(x, x[:2])
F.cross_entropy(x, x, ignore_index=3) | F.cross_entropy(x, x, c) | F.cross_entropy(x, s)
F.cross_entropy(x, i, c.detach()) | F.cross_entropy(x, i > 0) | F.cross_entropy(v[0], i[0])
F.cross_entropy(x, i[:2]) | F.cross_entropy(x.long(), i) | F.cross_entropy(x, i, reduction="m")
F.cross_entropy(x, t.long()) | F.cross_entropy(x, i, v) | F.binary_cross_entropy(x, t)
F.binary_cross_entropy(p, t[:2]) | F.binary_cross_entropy(p, i) | F.binary_cross_entropy(p, x)
F.binary_cross_entropy(p, t, t[:2]) | F.binary_cross_entropy(p, t.long()) | F.binary_cross_entropy(p, t.float())
F.binary_cross_entropy(p, t, reduction="z") | F.binary_cross_entropy(p, t, v)
F.binary_cross_entropy_with_logits(x, t[:2]) | F.binary_cross_entropy_with_logits(x, t, t[:2])
F.binary_cross_entropy_with_logits(x, i) | F.binary_cross_entropy_with_logits(x, t.long())
F.binary_cross_entropy_with_logits(x, t, p) | F.binary_cross_entropy_with_logits(x, t, reduction="q")
F.binary_cross_entropy_with_logits(x, t, pos_weight=v) | F.kl_div(x, t[:2]) | F.kl_div(x, t, reduction="k")
F.kl_div(i, i) | F.gaussian_nll_loss(x, y, -t) | F.gaussian_nll_loss(x, y, -0.5) | F.gaussian_nll_loss(x, y, t[:2])
F.gaussian_nll_loss(x, y, t, reduction="x") | F.poisson_nll_loss(x, t, reduction="q") | F.poisson_nll_loss(x, t[:2])
F.hinge_embedding_loss(x, s) | F.hinge_embedding_loss(x, t, reduction="r") | F.margin_ranking_loss(v3, x, s)
F.margin_ranking_loss(v3, u3[:2], s) | F.margin_ranking_loss(v3, u3, s, reduction="l")
F.margin_ranking_loss(v3, u3, s[:2]) | F.soft_margin_loss(x, y) | F.soft_margin_loss(x, t[:2])
F.soft_margin_loss(i, i) | F.multi_margin_loss(x, i[:2]) | F.multi_margin_loss(x, i + 1)
F.multi_margin_loss(x, i, p=3) | F.multi_margin_loss(x, i, weight=c) | F.multi_margin_loss(b, i)
F.multi_margin_loss(x, s) | F.multi_margin_loss(v, i) | F.multi_margin_loss(x[:, :0], i)
F.multilabel_margin_loss(x, i) | F.multilabel_margin_loss(x, torch.tensor([[1, 0, -1, 7]] * 3))
F.multilabel_margin_loss(x, t) | F.multilabel_margin_loss(b, i) | F.multilabel_soft_margin_loss(x, t[:2])
F.multilabel_soft_margin_loss(x, t, reduction="o") | F.cosine_embedding_loss(x, y, i[0])
F.cosine_embedding_loss(x, y, t) | F.cosine_embedding_loss(x, v, s) | F.cosine_embedding_loss(x, y, s, reduction="i")
F.cosine_embedding_loss(b, b, s) | F.triplet_margin_loss(x, y, z, margin=-1) | F.triplet_margin_loss(x, y, z[:2])
F.triplet_margin_loss(x, v, z) | F.triplet_margin_loss(x, y, z, reduction="i")
F.triplet_margin_with_distance_loss(x, y, z, margin=0) | F.triplet_margin_with_distance_loss(x, y, v)
F.cosine_similarity(x, y, dim=5) | F.cosine_similarity(i, i) | F.cosine_similarity(x, c) | F.pairwise_distance(x, c)
F.pdist(v) | F.pdist(x, p=-1) | F.pdist(i.view(3, 1)) | F.embedding(i, w, 10) | F.embedding(i, w, -10)
F.embedding(i + 3, w) | F.embedding(s, w) | F.embedding(x, w) | F.embedding(i, w[0]) | F.embedding(i > 0, w)
F.embedding(i - 5, w) | F.embedding([1], w) | F.embedding(i, b) | F.one_hot(i, 2) | F.one_hot(i, -2) | F.one_hot(s)
F.one_hot(i - 1) | F.one_hot(i[:0]) | F.one_hot(i.int()) | F.one_hot(i, 0) | F.one_hot(2) | F.one_hot(i[:0], 0)
F.embedding_bag(i, x) | F.embedding_bag(i.view(1, 3), c) | F.embedding_bag(i, w, i[1:2], mode="x")
F.embedding_bag(i.view(1, 3), w, i[1:2]) | F.embedding_bag(i, w, i[:1]) | F.embedding_bag(i, w, torch.tensor([0, 9]))
F.embedding_bag(i, w, torch.tensor([[0]])) | F.embedding_bag(i, w, i[1:2], per_sample_weights=s)
F.embedding_bag(i, w, i[1:2], mode="sum", per_sample_weights=s[:2])
F.embedding_bag(i.view(1, 3), w, mode="max", scale_grad_by_freq=True) | F.embedding_bag(i.view(1, 1, 3), w)
F.embedding_bag(i + 9, w, i[1:2]) | F.embedding_bag(s, w, i[1:2]) | F.embedding_bag(i, w, s)
F.embedding_bag(i, w, i[1:2], padding_idx=9) | F.dropout(x, 1.5) | F.dropout(x, -0.1) | F.dropout(i) | F.dropout1d(v)
F.dropout2d(v) | F.alpha_dropout(x, 2.0) | F.feature_alpha_dropout(x, 2.0) | F.dropout1d(n)
F.scaled_dot_product_attention(q.float(), k, k) | F.scaled_dot_product_attention(v, v, v)
F.scaled_dot_product_attention(q, k[..., :2], k) | F.scaled_dot_product_attention(q, k, k, torch.ones(5, 6).long())
F.scaled_dot_product_attention(q, k, k, dropout_p=2.0) | F.scaled_dot_product_attention(q, k, k, x[:, :3].detach())
F.scaled_dot_product_attention(i, i, i) | F.scaled_dot_product_attention(q.long(), k.long(), k.long())
F.scaled_dot_product_attention(2, k, k) | F.scaled_dot_product_attention(b, b, b, x, is_causal=True)
F.bilinear(x, x, W, c) | F.bilinear(x, x[:2], W) | F.bilinear(x, x, W[:, :, :3]) | F.bilinear(x, x, W[:, :3])
F.bilinear(x, b, W) | F.bilinear(x, x, x) | F.bilinear(x, x, W, c[:1]) | F.instance_norm(x) | F.instance_norm(v)
F.instance_norm(n, None, None, use_input_stats=False) | F.instance_norm(n[:, :, :1, :1])
F.instance_norm(n, weight=c) | F.instance_norm(n.long()) | F.instance_norm(n, rm) | F.local_response_norm(x, 2)
F.local_response_norm(v[0], 2) | F.ctc_loss(lp(n), labels, lengths + 1, two)
F.ctc_loss(lp(n), labels, lengths, two + 1) | F.ctc_loss(lp(n), labels, lengths[:1], two)
F.ctc_loss(lp(n), labels, lengths, two, blank=9) | F.ctc_loss(lp(n), labels, lengths, two[:1])
F.ctc_loss(lp(n), labels.flatten()[:3], lengths, two) | F.ctc_loss(lp(n), labels, s, two)
F.ctc_loss(lp(n).long(), labels, lengths, two) | F.ctc_loss(lp(n), labels, lengths, two, reduction="h")
heads(b, b, x) | heads(v, v, v) | heads(b, b, b[:1]) | heads(b, b, b, is_causal=True)
heads(b, b, b, attn_mask=torch.zeros(2, 3)) | heads(b, b, b, attn_mask=torch.zeros(5, 2, 2))
heads(b, b, b, attn_mask=torch.zeros(2, 2).long()) | heads(b, b, b, key_padding_mask=torch.zeros(3, 3))
heads(b, b, b, key_padding_mask=torch.zeros(3)) | heads(b, b, b, attn_mask=torch.zeros(2))
heads(x, x, x, attn_mask=torch.zeros(2, 2, 2)) | heads(b, b, b, many=3) | heads(b, b, b, static_k=b)
"""


def outcome(expression: str, library: Any, dtype: str = "float64") -> tuple[Any, list[str], dict[str, Any]]:
    """The value of an expression or its exception, the warnings, and the names it was evaluated with."""
    found = scope(library, dtype)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = eval(expression, found)  # noqa: S307 - expressions of this file
        except Exception as error:  # noqa: BLE001 - which one is what the tests are about
            made = error
    # inf and nan are results, as in torch: numpy's warnings of them are silenced by the engine, but not in here
    said = [f"{w.category.__name__}: {w.message}" for w in told if w.category is not RuntimeWarning]
    return made, said, found


def several(made: Any) -> list[Any]:
    """The tensors that an expression gave."""
    return [m for m in made if m is not None] if isinstance(made, tuple) else [made]


def near(mine: Any, yours: Any, dtype: str, expression: str) -> None:
    assert (tuple(mine.shape), str(mine.dtype)) == (tuple(yours.shape), str(yours.dtype)), expression
    tolerance = 1e-9 if dtype == "float64" else 1e-5  # sums are taken in another order
    np.testing.assert_allclose(
        mine.detach().numpy(), yours.detach().numpy(), rtol=tolerance, atol=tolerance, err_msg=expression
    )


@batches("expression", listed(GRAPHS))
def test_function_has_torchs_values_graph_and_gradients(expression: str) -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("float64", "float32"):
        ours, told, mine = outcome(expression, engine, dtype)
        theirs, said, yours = outcome(expression, torch, dtype)
        assert not isinstance(ours, Exception), ours
        assert told == said
        for made, wanted in zip(several(ours), several(theirs), strict=True):
            near(made, wanted, dtype, expression)
            assert (made.requires_grad, made.is_leaf) == (wanted.requires_grad, wanted.is_leaf)
            assert names(made.grad_fn) == names(wanted.grad_fn)
        for library, made in ((engine, several(ours)[0]), (torch, several(theirs)[0])):
            if made.requires_grad:
                weights = np.cos(np.arange(made.numel())).reshape(tuple(made.shape))
                made.backward(library.tensor(weights).to(made.dtype))
        for name in GIVEN:
            a, e = mine[name].grad, yours[name].grad
            assert (a is None) == (e is None), name
            if a is not None:
                near(a, e, dtype, f"the gradient of {name} in {expression}")


@batches("expression", listed(ERRORS))
def test_refusal_is_torchs_word_for_word(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, told, _ = outcome(expression, engine)
    theirs, said, _ = outcome(expression, torch)
    assert isinstance(theirs, Exception), theirs
    assert (type(ours).__name__, str(ours)) == (type(theirs).__name__, str(theirs).splitlines()[0])
    assert told == said
