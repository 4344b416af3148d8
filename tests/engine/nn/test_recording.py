"""The modules and optimisers in a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine as torch
from engine import nn, optim
from engine.replay.program import Edits
from engine.replay.replay import replay
from engine.trace.events import Accumulated, GroupEntered, GroupLeft, LeafCreated, OpCalled, Trace
from tests.fresh import canonical
from viz.graph.groups import groups
from viz.reading.facts import collect

FILE = Path(__file__).name


class Block(nn.Module):
    """Two layers and a way around them."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3))

    def forward(self, x: Any) -> Any:
        return x + self.inner(x).tanh()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(3, 1)

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def entered(trace: Trace) -> list[tuple[str, str]]:
    return [(e.name, e.kind) for e in trace.events if isinstance(e, GroupEntered)]


def test_recording_names_parameters_and_the_modules_that_ops_belong_to() -> None:
    model = Net()
    with torch.record() as trace:
        model(torch.ones(2, 3))
    parameters = [e for e in trace.events if isinstance(e, LeafCreated) and e.source == "parameter"]
    assert [e.name for e in parameters] == [f"model.{name}" for name, _ in model.named_parameters()]
    assert [trace.names[e.tensor] for e in parameters] == [e.name for e in parameters]
    assert entered(trace)[:4] == [
        ("model", "Net"), ("blocks.0", "Block"), ("blocks.0.inner", "Sequential"), ("blocks.0.inner.0", "Linear"),
    ]  # fmt: skip
    found = groups(collect(trace))
    ops = [e for e in trace.events if isinstance(e, OpCalled)]
    first = next(k for k, e in enumerate(ops) if e.name == "addmm")
    assert [found.labels[g] for g in found.paths[found.of[first]]] == ["0: Linear", "inner", "blocks.0: Block"]
    head = max(k for k, e in enumerate(ops) if e.name == "addmm")
    assert [found.labels[g] for g in found.paths[found.of[head]]] == ["head"]


class Agent:
    """An object that holds modules, as programs write them."""

    def __init__(self) -> None:
        self.actor, self.critic = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)

    def act(self, x: Any) -> Any:
        return self.actor(x)


def apply(m: Any, x: Any) -> Any:
    """A helper, in which a module has another name."""
    return m(x)


def parameter_names(trace: Trace) -> list[str | None]:
    return [e.name for e in trace.events if isinstance(e, LeafCreated) and e.source == "parameter"]


def test_parameters_are_named_as_the_program_reaches_them() -> None:
    generator = nn.Sequential(nn.Linear(1, 1, bias=False))
    critic, x = nn.Linear(1, 1, bias=False), torch.ones(1, 1)
    layers = [nn.Linear(1, 1, bias=False) for _ in range(2)]
    heads = {"a": nn.Linear(1, 1, bias=False)}
    again = generator
    with torch.record() as trace:
        for layer in layers:
            layer(x)
        apply(critic, apply(generator, x)), again(x), heads["a"](x)
    expected = ["layers[0].weight", "layers[1].weight", "generator.0.weight", "critic.weight", "heads['a'].weight"]
    assert parameter_names(trace) == expected and list(generator.state_dict()) == ["0.weight"]


class ModuleWithList(nn.Module):
    """A module that has its parts in a plain list, which it does not look into."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Module()
        self.inner.parts = [nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)]
        self.heads = {"a": nn.Linear(1, 1, bias=False)}

    def forward(self, x: Any) -> Any:
        for part in self.inner.parts:
            x = part(x)
        return self.heads["a"](x)


def test_equal_parts_in_a_plain_list_of_a_module_have_names_of_their_own() -> None:
    net, x = ModuleWithList(), torch.ones(1, 1)
    with torch.record() as trace:
        net(x)
    assert parameter_names(trace) == ["net.inner.parts[0].weight", "net.inner.parts[1].weight", "net.heads['a'].weight"]


def test_parameters_of_a_part_that_is_called_alone_have_the_name_of_the_whole() -> None:
    model, x = Net(), torch.ones(2, 3)
    with torch.record() as trace:
        model.head(x)
        model(x)
    assert parameter_names(trace)[:2] == ["model.head.weight", "model.head.bias"]
    assert parameter_names(trace)[2] == "model.blocks.0.inner.0.weight"


def test_group_of_an_outermost_call_has_the_name_by_which_the_program_reaches_the_module() -> None:
    def net() -> nn.Sequential:
        return nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1))

    generator, critic, x = net(), net(), torch.ones(1, 1)
    with torch.record() as trace:
        critic(generator(x)), (lambda: net()(x))()
    assert [e.name for e in trace.events if isinstance(e, GroupEntered) and e.kind == "Sequential"] == [
        "generator", "critic", "Sequential",
    ]  # fmt: skip
    labels = set(groups(collect(trace)).labels.values())
    assert labels == {"generator: Sequential", "critic: Sequential", "Sequential", "0: Linear", "1: Linear"}


def test_names_inside_of_a_module_are_whole_though_it_is_held_under_one_of_them() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])

        def forward(self, x: Any) -> Any:
            return self.body[1](self.body[0](x)) * 2

    body, x = Outer(), torch.ones(1, 1)
    with torch.record() as trace:
        body(x) * body(x)
    assert {"body: Outer", "body.0: Linear", "body.1: Linear"} == {
        label.partition(" ·")[0] for label in groups(collect(trace)).labels.values()
    }


def test_modules_in_an_object_have_the_name_of_its_attribute() -> None:
    agent, x = Agent(), torch.ones(1, 1)
    with torch.record() as trace:
        agent.act(x), agent.critic(x)
    assert parameter_names(trace) == ["agent.actor.weight", "agent.critic.weight"]


def test_parts_of_a_module_in_an_object_have_the_name_of_its_attribute_too() -> None:
    """A program as with a library of agents: it has the agent, whose methods call single layers of its policy."""

    class Learner:
        def __init__(self) -> None:
            self.policy = nn.ModuleDict({"actor": nn.Linear(1, 1, bias=False), "critic": nn.Linear(1, 1, bias=False)})

    learner, x = Learner(), torch.ones(1, 1)
    with torch.record() as trace:
        learner.policy["critic"](x)
    assert parameter_names(trace) == ["learner.policy.critic.weight"]
    assert [one.name for one in trace.events if isinstance(one, GroupEntered)] == ["learner.policy.critic"]


def test_module_whose_steps_a_trainer_calls_names_its_parts_by_its_attributes() -> None:
    class Lit(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.l = nn.Linear(1, 1, bias=False)

        def training_step(self) -> Any:
            return self.l(torch.ones(1, 1))

    with torch.record() as trace:
        Lit().training_step()
    assert parameter_names(trace) == ["l.weight"]


def test_dict_that_a_program_runs_in_is_no_holder_of_its_modules() -> None:
    scope: dict[str, Any] = {"nn": nn, "torch": torch}
    with torch.record() as trace:
        exec(compile("net = nn.Linear(1, 1, bias=False)\nnet(torch.ones(1, 1))", "lesson.py", "exec"), scope)
    assert parameter_names(trace) == ["net.weight"]


def test_module_without_a_name_has_its_own_names() -> None:
    with torch.record() as trace:
        (lambda: nn.Linear(1, 1, bias=False)(torch.ones(1, 1)))()
    assert parameter_names(trace) == ["weight"]


def test_groups_open_and_close_in_pairs_also_where_a_forward_raises() -> None:
    model = Net()
    with torch.record() as trace:
        try:
            model(torch.ones(2, 2))
        except RuntimeError:
            model(torch.ones(2, 3))
    depth = 0
    for event in trace.events:
        depth += isinstance(event, GroupEntered)
        depth -= isinstance(event, GroupLeft)
        assert depth >= 0
    assert depth == 0
    assert [kind for _, kind in entered(trace)].count("Net") == 2


def test_calls_in_a_loop_are_rounds_of_it() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with torch.record() as trace:
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
    found = groups(collect(trace))
    rounds = [g for g, label in found.labels.items() if label.startswith("round ")]
    assert [found.labels[g] for g in rounds] == [f"round {n}" for n in (1, 2, 3)]
    for g in rounds:
        assert sorted(label for h, label in found.labels.items() if found.within[h] == g) == [
            "SGD.step",
            "model: Sequential",
        ]


def test_steps_of_a_recurrent_layer_are_groups() -> None:
    layer = nn.GRU(2, 3)
    with torch.record() as trace:
        layer(torch.ones(3, 1, 2)).__getitem__(0).sum().backward()
    assert [name for name, _ in entered(trace)] == ["layer", "step 0", "step 1", "step 2"]
    labels = list(groups(collect(trace)).labels.values())
    assert [label for label in labels if label.startswith("step")] == ["step 0", "step 1", "step 2"]


def test_making_a_layer_is_not_recorded() -> None:
    with torch.record() as trace:
        Net()
    assert len(trace.events) == 0


def test_module_that_is_not_recorded_costs_no_number() -> None:
    model = Net()
    model(torch.ones(1, 3))
    assert all(p._id == -1 for p in model.parameters())


def test_replay_of_a_forward_that_raises_leaves_the_groups() -> None:
    def run() -> Trace:
        torch.manual_seed(0)
        model = Net()
        with pytest.raises(RuntimeError), torch.record() as trace:
            model(torch.ones(2, 2) + 1)
        return trace

    base = run()
    assert canonical(replay(base), FILE) == canonical(base, FILE)


def test_a_parameter_of_what_was_made_for_it_is_the_leaf_itself() -> None:
    with torch.record() as trace:
        w = nn.Parameter(torch.ones(2))
        drawn = nn.Parameter(torch.zeros(2) + 1)
        (w * drawn).sum().backward()
    assert "detach" not in [e.name for e in trace.events if isinstance(e, OpCalled)]
    leaf = next(e.tensor for e in trace.events if isinstance(e, LeafCreated))
    assert trace.names[leaf] == "w"
    assert canonical(replay(trace), FILE) == canonical(trace, FILE)
    edited = replay(trace, Edits(leaves={leaf: [3.0, 4.0]}))
    given = next(e for e in edited.events if isinstance(e, Accumulated) and e.tensor != leaf)
    assert edited.value(given.after).array.tolist() == [3.0, 4.0]


def test_a_parameter_of_a_tensor_that_has_a_name_shares_it() -> None:
    with torch.record() as trace:
        shared = torch.ones(2)
        parameter = nn.Parameter(shared)
        shared.mul_(3)
        parameter.sum().backward()
    assert [e.name for e in trace.events if isinstance(e, OpCalled)] == ["detach", "mul", "sum"]
    assert canonical(replay(trace), FILE) == canonical(trace, FILE)


def test_what_a_function_hands_on_of_several_results_has_the_plain_name() -> None:
    with torch.record() as trace:
        loss = nn.functional.cross_entropy(torch.zeros(2, 3, requires_grad=True), torch.tensor([0, 2]))
        y = nn.functional.layer_norm(torch.ones(1, 2), (2,))
        pooled, where = nn.functional.max_pool2d(torch.ones(1, 4, 4), 2, return_indices=True)
        pair = torch.max(torch.ones(1, 2), dim=0)
    assert (loss.dim(), y.dim(), pooled.dim(), where.dim(), len(pair)) == (0, 2, 3, 3, 2)
    assert [name for name in trace.names.values() if not name.startswith(("torch", "nn"))] == [
        "loss", "y", "pooled", "where", "pair[0]", "pair[1]",
    ]  # fmt: skip


def test_a_step_tells_once_what_its_optimiser_holds() -> None:
    used, frozen, unused = (torch.ones(2, requires_grad=kind != 1) for kind in range(3))
    optimizer = optim.SGD([used, frozen, unused], lr=0.1)
    with torch.record() as trace:
        for _ in range(2):
            used.sum().backward()
            optimizer.step()
        unused.sum().backward()
        optimizer.step()
    steps = [e.tensors for e in trace.events if isinstance(e, GroupEntered) and e.name == "SGD.step"]
    leaves = [e.tensor for e in trace.events if isinstance(e, LeafCreated) and e.requires_grad]
    assert steps == [(leaves[0], None), (), (leaves[0], leaves[-1])]


def test_a_parameter_that_is_frozen_or_written_before_the_first_call_has_its_own_name() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1), nn.BatchNorm1d(1))
    x = torch.ones(3, 2)
    with torch.record() as trace:
        for p in model[0].parameters():
            p.requires_grad = False
        nn.init.zeros_(model[1].weight)
        assert isinstance(model[2].running_mean, torch.Tensor)
        model[2].running_mean.fill_(1.0)
        model(x)
    leaves = {e.name: e.source for e in trace.events if isinstance(e, LeafCreated)}
    assert leaves["model.0.weight"] == leaves["model.1.weight"] == "parameter"
    assert leaves["model.2.running_mean"] == "buffer"
    told = list(trace.names.values())
    assert told.count("x") == 1 and {"model.0.bias", "model.1.weight", "model.2.running_mean"} <= set(told)


class WritingModel(nn.Module):
    """A model that writes its parameters in its constructor, through helpers that call them something else."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(3, 2)
        self.layers = nn.ModuleList([nn.Linear(2, 2, bias=False) for _ in range(2)])
        self.head = nn.Sequential(orthogonal(nn.Linear(2, 3, bias=False)))
        self.apply(self.initialise)
        for name, parameter in self.named_parameters():
            if name.endswith("1.weight"):
                nn.init.normal_(parameter, 0.0, 0.02)

    def initialise(self, module: Any) -> None:
        if isinstance(module, nn.Embedding | nn.Linear):
            nn.init.normal_(module.weight, 0.0, 0.02)

    def forward(self, x: Any) -> Any:
        x = self.table(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def orthogonal(layer: Any, gain: float = 1.0) -> Any:
    """A layer as programs of reinforcement learning make it."""
    nn.init.orthogonal_(layer.weight, gain)
    return layer


def test_parameter_that_a_constructor_writes_has_the_name_by_which_the_program_reaches_it() -> None:
    with torch.record() as trace:
        model = WritingModel()
        model(torch.tensor([0, 2])).sum().backward()
    leaves = {e.tensor for e in trace.events if isinstance(e, Accumulated)}
    assert {trace.names[leaf] for leaf in leaves} == {
        "model.table.weight", "model.layers.0.weight", "model.layers.1.weight", "model.head.0.weight",
    }  # fmt: skip
    assert not {"module.weight", "layer.weight", "parameter", "gain", "tensor"} & set(trace.names.values())
