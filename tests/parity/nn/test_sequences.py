"""Recurrent layers, attention and transformers beside torch's with the same state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.parity.helpers.saying import said
from tests.parity.nn.pairs import backward, close, compare, drawn, leaves, pair, plain, tensors, torch

X = drawn(5, 3, 4)
H = drawn(2, 3, 6, seed=1)
C = drawn(2, 3, 6, seed=2)

RECURRENT: dict[str, tuple[Any, ...]] = {
    "RNN": (lambda n: n.RNN(4, 6), X),
    "RNN relu": (lambda n: n.RNN(4, 6, nonlinearity="relu", bias=False), X),
    "RNN by place": (lambda n: n.RNN(4, 6, 2, "relu"), X, H),
    "RNN both ways": (lambda n: n.RNN(4, 6, bidirectional=True), X, H),
    "RNN without batch": (lambda n: n.RNN(4, 6, 2), X[:, 0], H[:, 0]),
    "LSTM": (lambda n: n.LSTM(4, 6), X),
    "LSTM with state": (lambda n: n.LSTM(4, 6, num_layers=2), X, (H, C)),
    "LSTM batch first": (lambda n: n.LSTM(4, 6, batch_first=True, bias=False), X),
    "LSTM both ways": (lambda n: n.LSTM(4, 6, 2, bidirectional=True, batch_first=True), X),
    "LSTM projected": (lambda n: n.LSTM(4, 6, 2, proj_size=3), X),
    "LSTM projected both ways": (lambda n: n.LSTM(4, 6, 2, proj_size=3, bidirectional=True, bias=False), X),
    "LSTM without batch": (lambda n: n.LSTM(4, 6, 2), X[:, 0], (H[:, 0], C[:, 0])),
    "LSTM without batch, first": (lambda n: n.LSTM(4, 6, batch_first=True), X[:, 0]),
    "GRU": (lambda n: n.GRU(4, 6), X),
    "GRU with state": (lambda n: n.GRU(4, 6, 2, bias=False), X, H),
    "GRU both ways": (lambda n: n.GRU(4, 6, 2, bidirectional=True), X),
    "RNNCell": (lambda n: n.RNNCell(4, 6), X[0]),
    "RNNCell relu": (lambda n: n.RNNCell(4, 6, nonlinearity="relu"), X[0], H[0]),
    "RNNCell without batch": (lambda n: n.RNNCell(4, 6, bias=False), X[0, 0], H[0, 0]),
    "LSTMCell": (lambda n: n.LSTMCell(4, 6), X[0], (H[0], C[0])),
    "LSTMCell without batch": (lambda n: n.LSTMCell(4, 6), X[0, 0]),
    "GRUCell": (lambda n: n.GRUCell(4, 6), X[0], H[0]),
    "GRUCell without state": (lambda n: n.GRUCell(4, 6, bias=False), X[0]),
}  # fmt: skip

Q = drawn(5, 2, 8)
K = drawn(4, 2, 8, seed=1)
V = drawn(4, 2, 8, seed=2)
HIDDEN = np.array([[False, False, True, True], [False, False, False, True]])
LATER = np.triu(np.ones((5, 4)), 1) > 0
CAUSAL = np.triu(np.full((5, 5), -np.inf), 1)
for fixed in (CAUSAL,):
    fixed.flags.writeable = False

ATTENTION: dict[str, tuple[Any, ...]] = {
    "to itself": (lambda n: n.MultiheadAttention(8, 2), Q, Q, Q),
    "to another": (lambda n: n.MultiheadAttention(8, 2), Q, K, V),
    "without bias": (lambda n: n.MultiheadAttention(8, 4, bias=False), Q, K, V),
    "batch first": (lambda n: n.MultiheadAttention(8, 2, batch_first=True), K, V, V),
    "more keys": (lambda n: n.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True), Q, K, V),
    "other sizes": (lambda n: n.MultiheadAttention(8, 2, kdim=3, vdim=5), Q, drawn(4, 2, 3), drawn(4, 2, 5)),
    "without batch": (lambda n: n.MultiheadAttention(8, 2), Q[:, 0], K[:, 0], V[:, 0]),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "without weights": {"need_weights": False},
    "weights of each head": {"average_attn_weights": False},
}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layer_computes_as_torchs(name: str) -> None:
    make, *args = RECURRENT[name]
    compare(make, *args)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ATTENTION)
def test_attention_computes_as_torchs(name: str, options: str) -> None:
    make, *args = ATTENTION[name]
    compare(make, *args, **OPTIONS[options])


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize(
    "masks", [{"key_padding_mask": HIDDEN}, {"attn_mask": LATER}, {"attn_mask": LATER, "key_padding_mask": HIDDEN}]
)
def test_masked_attention_computes_as_torchs(masks: dict[str, Any], weights: bool) -> None:
    compare(lambda n: n.MultiheadAttention(8, 2, add_bias_kv=True), Q, K, V, need_weights=weights, **masks)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("both", [False, True])
def test_packed_sequences_go_through_as_in_torch(kind: str, both: bool) -> None:
    mine, theirs = pair(lambda n: getattr(n, kind)(4, 6, 2, bidirectional=both))
    results = []
    for t, module in ((engine, mine), (torch, theirs)):
        x = tensors(t, X)
        packed = t.nn.utils.rnn.pack_padded_sequence(x, t.tensor([2, 5, 3]), enforce_sorted=False)
        out, last = module(packed)
        padded, lengths = t.nn.utils.rnn.pad_packed_sequence(out)
        backward([padded, last], 3)
        results.append([padded, lengths, last, x.grad, [p.grad for p in module.parameters()]])
    close(results[0], results[1])


SMALL: dict[str, Any] = {"dim_feedforward": 16, "dropout": 0.0}
TRANSFORMERS: dict[str, tuple[Any, ...]] = {
    "layer": (lambda n: n.TransformerEncoderLayer(8, 2, **SMALL), Q),
    "layer gelu first": (
        lambda n: n.TransformerEncoderLayer(8, 2, activation="gelu", norm_first=True, batch_first=True, **SMALL), Q
    ),
    "layer without bias": (lambda n: n.TransformerEncoderLayer(8, 2, bias=False, **SMALL), Q),
    "layer masked": (lambda n: n.TransformerEncoderLayer(8, 2, **SMALL), Q, CAUSAL),
    "encoder": (
        lambda n: n.TransformerEncoder(n.TransformerEncoderLayer(8, 2, batch_first=True, **SMALL), 2, n.LayerNorm(8)), Q
    ),
    "encoder causal": (
        lambda n: n.TransformerEncoder(n.TransformerEncoderLayer(8, 2, batch_first=True, **SMALL), 2),
        Q.transpose(1, 0, 2), CAUSAL,
    ),
    "decoder layer": (lambda n: n.TransformerDecoderLayer(8, 2, **SMALL), Q, K),
    "decoder layer first": (lambda n: n.TransformerDecoderLayer(8, 2, norm_first=True, **SMALL), Q, K),
    "decoder": (lambda n: n.TransformerDecoder(n.TransformerDecoderLayer(8, 2, **SMALL), 2), Q, K, CAUSAL),
    "transformer": (lambda n: n.Transformer(8, 2, 1, 1, batch_first=True, **SMALL), Q, Q + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformer_computes_as_torchs(name: str) -> None:
    make, *args = TRANSFORMERS[name]
    compare(make, *args)


def test_evaluated_transformer_computes_as_torchs_quick_way() -> None:
    make, x = TRANSFORMERS["encoder"]
    mine, theirs = pair(make)
    with engine.no_grad(), torch.no_grad():
        ours, others = mine.eval()(tensors(engine, x)), theirs.eval()(tensors(torch, x))
    np.testing.assert_allclose(plain(ours), plain(others), rtol=1e-9)


def test_layers_of_an_encoder_are_copies_that_share_nothing() -> None:
    layer = engine.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = engine.nn.TransformerEncoder(layer, 3)
    parameters = list(encoder.parameters())
    assert len(parameters) == 3 * len(list(layer.parameters()))
    assert not {id(p) for p in parameters} & {id(p) for p in layer.parameters()}
    np.testing.assert_array_equal(plain(encoder.layers[2].linear1.weight), plain(layer.linear1.weight))


def test_dropout_between_recurrent_layers_is_for_training_only() -> None:
    engine.manual_seed(0)
    layer = engine.nn.LSTM(4, 6, 2, dropout=0.5)
    x = engine.from_numpy(X).float()
    trained = [layer(x)[0] for _ in range(2)]
    assert not engine.equal(*trained)
    layer.eval()
    assert engine.equal(layer(x)[0], layer(x)[0])


REFUSED: dict[str, Callable[[Any], Any]] = {
    "RNN nonlinearity": lambda t: t.nn.RNN(3, 4, nonlinearity="x"),
    "RNN projected": lambda t: t.nn.RNN(3, 4, proj_size=2),
    "GRU projected": lambda t: t.nn.GRU(3, 4, proj_size=2),
    "LSTM projected too far": lambda t: t.nn.LSTM(3, 4, proj_size=4),
    "LSTM projected below": lambda t: t.nn.LSTM(3, 4, proj_size=-1),
    "dropout of one layer": lambda t: repr(t.nn.LSTM(3, 4, dropout=0.5)),
    "dropout too large": lambda t: t.nn.LSTM(3, 4, 2, dropout=1.5),
    "dropout bool": lambda t: t.nn.LSTM(3, 4, 2, dropout=True),
    "size of nothing": lambda t: t.nn.LSTM(0, 4),
    "size of a float": lambda t: t.nn.LSTM(3, 4.0),
    "no layers": lambda t: t.nn.GRU(3, 4, num_layers=0),
    "bias of a number": lambda t: t.nn.GRU(3, 4, bias=1),
    "mode": lambda t: t.nn.RNNBase("TREE", 3, 4),
    "input rank": lambda t: t.nn.LSTM(3, 4)(t.zeros(3)),
    "input rank of RNN": lambda t: t.nn.RNN(3, 4)(t.zeros(3)),
    "input size": lambda t: t.nn.LSTM(3, 4)(t.zeros(2, 2, 2)),
    "input dtype": lambda t: t.nn.LSTM(3, 4)(t.zeros(2, 2, 3, dtype=t.float64)),
    "hidden size": lambda t: t.nn.GRU(3, 4)(t.zeros(2, 2, 3), t.zeros(1, 1, 4)),
    "hidden size of LSTM": lambda t: t.nn.LSTM(3, 4)(t.zeros(2, 2, 3), (t.zeros(1, 1, 4), t.zeros(1, 2, 4))),
    "cell size": lambda t: t.nn.LSTM(3, 4)(t.zeros(2, 2, 3), (t.zeros(1, 2, 4), t.zeros(1, 2, 5))),
    "hidden rank": lambda t: t.nn.GRU(3, 4)(t.zeros(2, 2, 3), t.zeros(1, 4)),
    "hidden rank without batch": lambda t: t.nn.GRU(3, 4)(t.zeros(2, 3), t.zeros(1, 1, 4)),
    "hidden rank of LSTM": lambda t: t.nn.LSTM(3, 4)(t.zeros(2, 2, 3), (t.zeros(1, 4), t.zeros(1, 4))),
    "cell input rank": lambda t: t.nn.LSTMCell(3, 4)(t.zeros(2, 2, 3)),
    "cell state rank": lambda t: t.nn.LSTMCell(3, 4)(t.zeros(2, 3), (t.zeros(1, 2, 4), t.zeros(2, 4))),
    "cell nonlinearity": lambda t: t.nn.RNNCell(3, 4, nonlinearity="x")(t.zeros(2, 3)),
    "heads": lambda t: t.nn.MultiheadAttention(5, 2),
    "no heads": lambda t: t.nn.MultiheadAttention(4, 0),
    "attention size": lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(2, 2, 6)] * 3),
    "attention rank": lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(4)] * 3),
    "attention ranks": lambda t: t.nn.MultiheadAttention(4, 2)(t.zeros(2, 1, 4), t.zeros(2, 4), t.zeros(2, 4)),
    "attention keys": lambda t: t.nn.MultiheadAttention(4, 2)(t.zeros(2, 1, 4), t.zeros(2, 1, 4), t.zeros(3, 1, 4)),
    "attention mask": lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(2, 1, 4)] * 3, attn_mask=t.zeros(3, 3)),
    "attention mask of integers": lambda t: t.nn.MultiheadAttention(4, 2)(
        *[t.zeros(2, 1, 4)] * 3, attn_mask=t.zeros(2, 2, dtype=t.int64)
    ),
    "attention masks of two kinds": lambda t: t.nn.MultiheadAttention(4, 2)(
        *[t.zeros(2, 1, 4)] * 3, attn_mask=t.zeros(2, 2), key_padding_mask=t.zeros(1, 2, dtype=t.bool)
    )[0].shape == (2, 1, 4),
    "attention causal without mask": lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(2, 1, 4)] * 3, is_causal=True),
    "activation": lambda t: t.nn.TransformerEncoderLayer(4, 2, activation="wave"),
    "encoder not batch first": lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2, 8), 1).num_layers,
    "encoder norm first": lambda t: t.nn.TransformerEncoder(
        t.nn.TransformerEncoderLayer(4, 2, 8, norm_first=True), 1
    ).use_nested_tensor,
    "transformer batches": lambda t: small(t)(t.zeros(2, 1, 4), t.zeros(2, 2, 4)),
    "transformer features": lambda t: small(t)(t.zeros(2, 1, 4), t.zeros(2, 1, 3)),
    "transformer mask": lambda t: t.nn.Transformer.generate_square_subsequent_mask(3).tolist(),
}  # fmt: skip


def small(t: Any) -> Any:
    return t.nn.Transformer(4, 2, 1, 1, 8, batch_first=False)


@pytest.mark.parametrize("name", REFUSED)
def test_layer_refuses_as_torchs(name: str) -> None:
    assert said(engine, REFUSED[name]) == said(torch, REFUSED[name])


def test_leaves_are_all_tensors_of_a_result() -> None:
    assert len(leaves((1, [engine.ones(1), None], {"a": engine.ones(1)}))) == 2


@pytest.mark.parametrize("name", ["half", "float", "double", "byte", "char", "short", "int", "long", "cpu"])
def test_packed_sequence_is_converted_as_its_data_are(name: str) -> None:
    torch = pytest.importorskip("torch")
    for library in (engine, torch):
        packed = library.nn.utils.rnn.pack_sequence([library.tensor([1.0, 2.0]), library.tensor([3.0])])
        made = getattr(packed, name)()
        assert made.data.dtype is getattr(packed.data, name)().dtype
        assert (made is packed) == (made.data is packed.data) and not made.is_cuda
        assert made.batch_sizes is packed.batch_sizes


def test_grad_scaler_tells_and_takes_its_factors() -> None:
    scaler = engine.amp.GradScaler("cpu")
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()) == (2.0, 0.5, 2000)
    scaler.set_growth_factor(4.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(1)
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()) == (4.0, 0.25, 1)
