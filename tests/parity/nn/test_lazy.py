"""Layers that learn the size of their input, beside torch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

START = """
nn = torch.nn
def shapes(module):
    return [(name, tuple(t.shape), str(t.dtype)) for name, t in module.state_dict().items()]
def learned(layer, *sizes):
    made = layer(torch.ones(*sizes))
    return str(layer), type(layer).__name__, shapes(layer), tuple(made.shape), len(layer._forward_pre_hooks)
"""
ROWS = {
    "linear": "r = str(nn.LazyLinear(2)), learned(nn.LazyLinear(2), 4, 3)",
    "linear without bias": "r = learned(nn.LazyLinear(2, bias=False), 3)",
    "conv1d": "r = learned(nn.LazyConv1d(4, 3), 2, 3, 5)",
    "conv2d": "r = str(nn.LazyConv2d(4, 3)), learned(nn.LazyConv2d(4, 3, padding=1, groups=2), 2, 6, 5, 5)",
    "conv3d, no batch": "r = learned(nn.LazyConv3d(2, 2), 3, 4, 4, 4)",
    "transposed 1d": "r = learned(nn.LazyConvTranspose1d(4, 3, bias=False), 2, 3, 5)",
    "transposed 2d": "r = learned(nn.LazyConvTranspose2d(4, 3, stride=2, output_padding=1, groups=2), 2, 6, 5, 5)",
    "transposed 3d": "r = learned(nn.LazyConvTranspose3d(2, 2), 1, 3, 2, 2, 2)",
    "batch norm 1d": "r = str(nn.LazyBatchNorm1d()), learned(nn.LazyBatchNorm1d(), 4, 3)",
    "batch norm 2d, plain": "r = learned(nn.LazyBatchNorm2d(affine=False, track_running_stats=False), 4, 3, 2, 2)",
    "batch norm 3d": "r = learned(nn.LazyBatchNorm3d(eps=0.1, momentum=0.2), 4, 3, 2, 2, 2)",
    "instance norm 1d": "r = learned(nn.LazyInstanceNorm1d(), 4, 3, 5)",
    "instance norm 2d": "r = learned(nn.LazyInstanceNorm2d(affine=False), 4, 3, 5, 5)",
    "instance norm 3d": "r = learned(nn.LazyInstanceNorm3d(track_running_stats=False), 4, 3, 2, 2, 2)",
    "a network": """
        net = nn.Sequential(nn.LazyConv2d(2, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3))
        before = str(net), [type(p).__name__ for p in net.parameters()]
        net(torch.ones(2, 1, 5, 5)).sum().backward()
        r = before, str(net), [p.grad is not None for p in net.parameters()]""",
    "an optimiser made before": """
        net = nn.LazyLinear(2, bias=False)
        optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
        net(torch.ones(1, 3)).sum().backward()
        before = net.weight.detach().clone()
        optimizer.step()
        r = torch.allclose(before - net.weight, torch.ones(2, 3))""",
    "of another dtype": """
        net = nn.LazyLinear(2).double()
        r = str(net.weight.dtype), net(torch.ones(1, 3, dtype=torch.float64)).dtype, net.float().weight.dtype""",
    "drawn as Linear is": """
        torch.manual_seed(3); a = nn.LazyLinear(2); a(torch.ones(1, 3))
        torch.manual_seed(3); b = nn.Linear(3, 2)
        r = torch.equal(a.weight, b.weight), torch.equal(a.bias, b.bias)""",
    "loaded from one that has learned": """
        full = nn.Linear(3, 2)
        lazy = nn.LazyLinear(2)
        told = str(lazy.load_state_dict(full.state_dict()))
        r = told, type(lazy.weight).__name__, torch.equal(lazy.weight, full.weight)
        lazy(torch.ones(1, 3))
        r = r, str(lazy)""",
    "loaded into one that has learned": "nn.Linear(3, 2).load_state_dict(nn.LazyLinear(2).state_dict())",
    "loaded from one that has not learned": """
        lazy = nn.LazyLinear(2)
        r = str(lazy.load_state_dict(nn.LazyLinear(2).state_dict())), str(lazy.weight)""",
    "copied": """
        import copy
        a = nn.LazyLinear(2)
        b = copy.deepcopy(a)
        a(torch.ones(1, 3)); b(torch.ones(1, 4))
        r = str(a), str(b)""",
    "shape asked for": "nn.LazyLinear(2).weight.shape",
    "too many dimensions": "nn.LazyConv2d(2, 3)(torch.ones(1, 1, 1, 5, 5))",
    "groups that do not divide": "nn.LazyConv2d(2, 3, groups=2)(torch.ones(1, 3, 5, 5))",
    "loaded, and another input": """
        lazy = nn.LazyLinear(2)
        lazy.load_state_dict(nn.Linear(3, 2).state_dict())
        lazy(torch.ones(1, 4))""",
    "normalised too early": "nn.utils.spectral_norm(nn.LazyLinear(2))",
    "a parameter alone": """
        p = nn.parameter.UninitializedParameter(dtype=torch.float64, requires_grad=False)
        before = repr(p), p.dtype, p.requires_grad, nn.parameter.is_lazy(p), isinstance(p, nn.Parameter)
        p.materialize((2, 3))
        r = before, type(p).__name__, p.shape, p.dtype, p.requires_grad""",
    "a buffer alone": """
        b = nn.parameter.UninitializedBuffer()
        b.materialize(4, dtype=torch.float64)
        r = type(b).__name__, b.shape, b.dtype""",
    "a mixin of one's own": """
        class Bias(nn.modules.lazy.LazyModuleMixin, nn.Module):
            def __init__(self):
                super().__init__()
                self.b = nn.parameter.UninitializedParameter()
            def initialize_parameters(self, t):
                self.b.materialize(t.shape[-1:])
                with torch.no_grad():
                    self.b.fill_(2)
            def forward(self, t):
                return t + self.b
        m = Bias()
        r = m(torch.ones(3)), type(m).__name__, m.has_uninitialized_params()""",
    "a mixin that does nothing": """
        class Bias(nn.modules.lazy.LazyModuleMixin, nn.Module):
            def __init__(self):
                super().__init__()
                self.b = nn.parameter.UninitializedParameter()
            def initialize_parameters(self, t):
                pass
        Bias()(torch.ones(3))""",
}


@pytest.mark.parity
@pytest.mark.parametrize("program", texts({name: START + textwrap.dedent(text) for name, text in ROWS.items()}))
def test_lazy_layer_is_torchs(program: Callable[[Any], Any]) -> None:
    same(program)


def test_uninitialised_parameter_is_taken_by_no_op() -> None:
    import engine

    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
        engine.nn.LazyLinear(2).weight * 2
