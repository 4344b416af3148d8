"""Weights that are computed from others, the older norms, and the older backward hooks: as in torch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import engine
from tests.parity.helpers.outcomes import same, texts

START = """
from importlib import import_module
nn = torch.nn
parametrize = import_module(torch.__name__ + ".nn.utils.parametrize")
made = import_module(torch.__name__ + ".nn.utils.parametrizations")
def layer(kind=nn.Linear, *sizes):
    found = kind(*(sizes or (3, 2))).double()
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.arange(parameter.numel(), dtype=torch.float64).reshape(parameter.shape).sin() + 0.5)
    return found
x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
def rounded(*tensors):
    return [[round(v, 6) for v in t.flatten().tolist()] for t in tensors]
class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).T
    def right_inverse(self, w):
        return w.triu()
class Twice(nn.Module):
    def forward(self, w):
        return 2 * w
class Outer(nn.Module):
    def forward(self, a, b):
        return a.unsqueeze(-1) * b
    def right_inverse(self, w):
        return w[:, 0], w[0]
"""
PARAMETRIZE = {
    "symmetric": """
        m = parametrize.register_parametrization(layer(nn.Linear, 3, 3), "weight", Symmetric())
        m(x).sum().backward()
        r = rounded(m.weight, m.parametrizations.weight.original.grad), [n for n, _ in m.named_parameters()], str(m)""",
    "two after each other": """
        m = parametrize.register_parametrization(layer(nn.Linear, 3, 3), "weight", Symmetric())
        parametrize.register_parametrization(m, "weight", Twice())
        r = rounded(m.weight), len(m.parametrizations.weight), parametrize.is_parametrized(m, "bias")""",
    "set": """
        m = parametrize.register_parametrization(layer(nn.Linear, 3, 3), "weight", Symmetric())
        m.weight = torch.ones(3, 3, dtype=torch.float64)
        r = rounded(m.weight, m.parametrizations.weight.original)""",
    "set without a way back": """
        m = parametrize.register_parametrization(layer(), "weight", Twice())
        m.weight = torch.ones(2, 3)""",
    "of two tensors": """
        m = parametrize.register_parametrization(layer(), "weight", Outer(), unsafe=True)
        r = rounded(m.weight, m.parametrizations.weight.original0), list(m.state_dict())""",
    "of a buffer": """
        m = nn.BatchNorm1d(2).double()
        parametrize.register_parametrization(m, "running_mean", Twice())
        r = rounded(m.running_mean), [n for n, _ in m.named_buffers()]""",
    "cached": """
        m = parametrize.register_parametrization(layer(), "weight", Twice())
        with parametrize.cached():
            a = m.weight is m.weight
        r = a, m.weight is m.weight""",
    "removed": """
        m = parametrize.register_parametrization(layer(), "weight", Twice())
        kind = type(m).__name__, parametrize.type_before_parametrizations(m).__name__
        parametrize.remove_parametrizations(m, "weight")
        r = kind, type(m).__name__, rounded(m.weight), type(m.weight).__name__, [n for n, _ in m.named_parameters()]""",
    "removed, the original left": """
        m = parametrize.register_parametrization(layer(), "weight", Twice())
        r = rounded(parametrize.remove_parametrizations(m, "weight", leave_parametrized=False).weight)""",
    "removed of two, the original left": """
        m = parametrize.register_parametrization(layer(), "weight", Outer(), unsafe=True)
        parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)""",
    "transferred": """
        a, b = parametrize.register_parametrization(layer(), "weight", Twice()), layer()
        parametrize.transfer_parametrizations_and_params(a, b)
        r = rounded(b.weight), b.parametrizations.weight.original is a.parametrizations.weight.original""",
    "copied": """
        import copy
        m = parametrize.register_parametrization(layer(), "weight", Twice())
        c = copy.deepcopy(m)
        with torch.no_grad():
            m.parametrizations.weight.original.zero_()
        r = rounded(c.weight), type(c).__name__""",
    "of nothing": "parametrize.register_parametrization(layer(), 'wait', Twice())",
    "not removed of nothing": "parametrize.remove_parametrizations(layer(), 'weight')",
    "another shape": "parametrize.register_parametrization(layer(), 'weight', Outer2 := nn.Flatten(0))",
    "another dtype": """
        class Single(nn.Module):
            def forward(self, w):
                return w.float()
        parametrize.register_parametrization(layer(), "weight", Single())""",
    "no tensor": """
        class No(nn.Module):
            def forward(self, w):
                return 3
        parametrize.register_parametrization(layer(), "weight", No())""",
    "saved": """
        import copy
        copy.copy(parametrize.register_parametrization(layer(), "weight", Twice())).__getstate__()""",
}
NORMS = {
    "weight": """
        m = made.weight_norm(layer())
        m(x).sum().backward()
        p = m.parametrizations.weight
        r = rounded(m.weight, p.original0, p.original0.grad, p.original1.grad), str(m)""",
    "weight over dim 1": """
        m = made.weight_norm(layer(nn.Conv1d, 2, 3, 2), dim=1)
        r = rounded(m.weight, m.parametrizations.weight.original0)""",
    "weight over all": "r = rounded(made.weight_norm(layer(), dim=None).parametrizations.weight.original0)",
    "weight, a state of the older form": """
        m = made.weight_norm(layer())
        state = {"bias": m.bias, "weight_g": torch.ones(2, 1), "weight_v": torch.ones(2, 3)}
        m.load_state_dict(state)
        r = rounded(m.weight)""",
    "older weight": """
        m = nn.utils.weight_norm(layer())
        m(x).sum().backward()
        r = rounded(m.weight, m.weight_g, m.weight_g.grad, m.weight_v.grad), [n for n, _ in m.named_parameters()]""",
    "older weight twice": "nn.utils.weight_norm(nn.utils.weight_norm(layer()))",
    "older weight removed": """
        m = nn.utils.remove_weight_norm(nn.utils.weight_norm(layer()))
        r = rounded(m.weight), [n for n, _ in m.named_parameters()], len(m._forward_pre_hooks)""",
    "older weight not there": "nn.utils.remove_weight_norm(layer())",
    "spectral": """
        m = made.spectral_norm(layer())
        m.parametrizations.weight[0]._u.copy_(torch.tensor([0.6, 0.8]))
        m.parametrizations.weight[0]._v.copy_(torch.tensor([0.0, 0.6, 0.8]))
        m(x).sum().backward()
        r = rounded(m.eval().weight, m.parametrizations.weight.original.grad), list(m.state_dict())""",
    "spectral of a vector": "r = rounded(made.spectral_norm(layer(), 'bias').bias)",
    "spectral of no weight": "made.spectral_norm(layer(), 'wait')",
    "spectral without a step": "made.spectral_norm(layer(), n_power_iterations=0)",
    "spectral, dim too far": "made.spectral_norm(layer(), dim=4)",
    "older spectral": """
        m = nn.utils.spectral_norm(layer())
        m.weight_u.copy_(torch.tensor([0.6, 0.8])); m.weight_v.copy_(torch.tensor([0.0, 0.6, 0.8]))
        m(x).sum().backward()
        r = rounded(m.weight, m.weight_orig.grad, m.weight_u), sorted(m.state_dict()), m.state_dict()._metadata[""]""",
    "older spectral twice": "nn.utils.spectral_norm(nn.utils.spectral_norm(layer()))",
    "older spectral removed": """
        m = nn.utils.spectral_norm(layer())
        m.weight_u.copy_(torch.tensor([0.6, 0.8])); m.weight_v.copy_(torch.tensor([0.0, 0.6, 0.8]))
        nn.utils.remove_spectral_norm(m)
        r = rounded(m.weight), list(m.state_dict()), m.state_dict()._metadata[""]""",
    "older spectral not there": "nn.utils.remove_spectral_norm(layer())",
    "orthogonal, exponential": """
        m = made.orthogonal(layer(nn.Linear, 3, 3), use_trivialization=False)
        m(x).sum().backward()
        r = rounded(m.weight, m.parametrizations.weight.original.grad)""",
    "orthogonal, cayley": """
        r = rounded(made.orthogonal(layer(), orthogonal_map="cayley", use_trivialization=False).weight)""",
    "orthogonal, reflections": "r = rounded(made.orthogonal(layer(nn.Linear, 2, 3), use_trivialization=False).weight)",
    "orthogonal, with a base": "r = rounded(made.orthogonal(layer(nn.Linear, 3, 3)).weight)",
    "orthogonal, set": """
        m = made.orthogonal(layer(nn.Linear, 3, 3))
        m.weight = torch.eye(3, dtype=torch.float64).flip(0)
        r = rounded(m.weight)""",
    "orthogonal, not to be set": """
        m = made.orthogonal(layer(nn.Linear, 3, 3), use_trivialization=False)
        m.weight = torch.eye(3, dtype=torch.float64)""",
    "orthogonal, of a vector": "made.orthogonal(layer(), 'bias')",
    "orthogonal, by another map": "made.orthogonal(layer(), orthogonal_map='x')",
}
SMALL = {
    "instance norm without eps": "r = nn.InstanceNorm1d(2, eps=0)(torch.arange(12.0).reshape(2, 2, 3))",
    "batch norm without eps": "nn.BatchNorm1d(3, eps=0)(torch.arange(12.0).reshape(4, 3))",
    "switches of cudnn": """
        before = torch.backends.cudnn.enabled
        with torch.backends.cudnn.flags(enabled=False):
            inside = torch.backends.cudnn.enabled
        r = before, inside, torch.backends.cudnn.enabled""",
    "a prefix taken off": """
        utils = import_module(torch.__name__ + ".nn.modules.utils")
        holder = nn.Module()
        holder.module = nn.Linear(3, 2)
        state = holder.state_dict()
        utils.consume_prefix_in_state_dict_if_present(state, "module.")
        r = list(state), list(state._metadata), str(nn.Linear(3, 2).load_state_dict(state))""",
    "no first values": "r = str(nn.utils.skip_init(nn.Linear, 3, 2)), nn.utils.skip_init(nn.Linear, 3, 2).weight.shape",
    "no first values of a number": "nn.utils.skip_init(int, 3)",
    "no first values of a module without device": "nn.utils.skip_init(nn.Tanh)",
    "a search that starts at the end": """
        p = torch.zeros(2)
        optimizer = torch.optim.LBFGS([p.requires_grad_()], 0.01, tolerance_grad=-1.0)
        r = optimizer.step(lambda: torch.tensor([10.0])), p""",
    "elements set under no_grad": """
        with torch.no_grad():
            x.requires_grad_().set_(torch.ones(3, dtype=torch.float64))
        r = x""",
    "nothing checked": """
        t = torch.ones(2, 0, dtype=torch.float64, requires_grad=True)
        r = torch.autograd.gradcheck(lambda a: a * 2, (t,))""",
}
HOOKS = {
    "on the node": """
        m = layer()
        m.register_backward_hook(lambda module, inner, outer: seen.append((len(inner), outer[0].shape)))
        m(x.clone().requires_grad_()).sum().backward()
        r = seen""",
    "on several nodes": """
        m = nn.Sequential(layer(), nn.Tanh())
        m.register_backward_hook(lambda module, inner, outer: seen.append(len(inner)))
        m(x.clone().requires_grad_()).sum().backward()
        r = seen""",
    "of both kinds": """
        m = layer()
        m.register_full_backward_hook(print); m.register_backward_hook(print)""",
    "of both kinds, the other way": """
        m = layer()
        m.register_backward_hook(print); m.register_full_backward_hook(print)""",
    "of a module that gives a dict": """
        class D(nn.Module):
            def forward(self, t):
                return {"a": t * 2}
        m = D()
        m.register_backward_hook(lambda *given: seen.append(1))
        m(x.clone().requires_grad_())["a"].sum().backward()
        r = seen""",
}
GROUPS = {"parametrize": PARAMETRIZE, "norm": NORMS, "small": SMALL, "hook": HOOKS}
ROWS = {f"{group}: {name}": START + textwrap.dedent(source) for group, rows in GROUPS.items()
        for name, source in rows.items()}  # fmt: skip


@pytest.mark.parity
@pytest.mark.parametrize("program", texts(ROWS))
def test_computed_weight_is_torchs(program: Callable[[Any], Any]) -> None:
    same(program)


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook")  # torch's warning, compared above
def test_older_hook_of_all_modules_sees_each() -> None:
    # beside torch it would leave a flag there that no removal takes back
    seen: list[str] = []
    hooks = engine.nn.modules.module
    with hooks.register_module_backward_hook(lambda module, inner, outer: seen.append(type(module).__name__)):
        with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks as a"):
            hooks.register_module_full_backward_hook(print)
        engine.nn.Tanh()(engine.ones(2, requires_grad=True)).sum().backward()
    engine.nn.Tanh()(engine.ones(2, requires_grad=True)).sum().backward()
    assert seen == ["Tanh"]
