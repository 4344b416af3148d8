"""Averaged weights, beside torch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

START = """
from importlib import import_module
swa = import_module(torch.__name__ + ".optim.swa_utils")
nn = torch.nn
def net():
    made = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.arange(parameter.numel(), dtype=torch.float64).reshape(parameter.shape) / 4)
    return made
data = [torch.linspace(-1, k, 12, dtype=torch.float64).reshape(4, 3) for k in (1, 2, 5)]
def averaged(**options):
    model = net()
    mean = swa.AveragedModel(model, **options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for batch in data:
        optimizer.zero_grad()
        (model(batch) ** 2).sum().backward()
        optimizer.step()
        mean.update_parameters(model)
    return mean
def shown(module):
    return [(name, [round(float(v), 6) for v in t.flatten()]) for name, t in module.state_dict().items()]
def rates(**options):
    optimizer = torch.optim.SGD([{"params": [torch.ones(1)], "lr": 1.0}, {"params": [torch.ones(1)], "lr": 0.1}])
    schedule = swa.SWALR(optimizer, **options)
    found = []
    for _ in range(5):
        optimizer.step(); schedule.step()
        found.append([round(rate, 9) for rate in schedule.get_last_lr()])
    return found, sorted(schedule.state_dict())
"""
ROWS = {
    "mean": "r = shown(averaged())",
    "mean with buffers": "r = shown(averaged(use_buffers=True))",
    "exponential": "r = shown(averaged(avg_fn=swa.get_ema_avg_fn(0.9)))",
    "exponential of lists": "r = shown(averaged(multi_avg_fn=swa.get_ema_multi_avg_fn(0.9), use_buffers=True))",
    "mean by a function": "r = shown(averaged(avg_fn=swa.get_swa_avg_fn()))",
    "own function": "r = shown(averaged(avg_fn=lambda mean, now, count: 0.25 * mean + 0.75 * now))",
    "both functions": "averaged(avg_fn=swa.get_swa_avg_fn(), multi_avg_fn=swa.get_swa_multi_avg_fn())",
    "decay too large": "swa.get_ema_avg_fn(1.5)",
    "forward": "r = round(averaged().eval()(data[0]).sum().item(), 6)",
    "statistics anew": """
        model = net()
        swa.update_bn(data, model)
        r = shown(model[1]), model[1].momentum, model.training""",
    "statistics anew, of pairs": """
        model = net().eval()
        swa.update_bn([(batch, 1) for batch in data], model)
        r = shown(model[1]), model.training""",
    "statistics of nothing": "r = swa.update_bn(data, nn.Linear(3, 2))",
    "rate by cosine": "r = rates(swa_lr=0.05, anneal_epochs=3)",
    "rates by line": "r = rates(swa_lr=[0.05, 0.5], anneal_epochs=2, anneal_strategy='linear')",
    "rate at once": "r = rates(swa_lr=0.05, anneal_epochs=0)",
    "too many rates": "rates(swa_lr=[0.1, 0.2, 0.3])",
    "another strategy": "rates(swa_lr=0.1, anneal_strategy='x')",
    "hooks of all optimisers, and of one": """
        room = import_module(torch.__name__ + ".optim.optimizer")
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        optimizer.register_step_pre_hook(lambda *_: seen.append("own before"))
        optimizer.register_step_post_hook(lambda *_: seen.append("own after"))
        before = room.register_optimizer_step_pre_hook(lambda *_: seen.append("all before"))
        after = room.register_optimizer_step_post_hook(lambda *_: seen.append("all after"))
        optimizer.step()
        before.remove(); after.remove()
        optimizer.step()
        r = seen""",
    "epochs below zero": "rates(swa_lr=0.1, anneal_epochs=-1)",
}


@pytest.mark.parity
@pytest.mark.parametrize("program", texts({name: START + textwrap.dedent(text) for name, text in ROWS.items()}))
def test_average_is_torchs(program: Callable[[Any], Any]) -> None:
    same(program)
