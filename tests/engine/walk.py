"""Random programs that write in place wherever they may: through views, `.data`, `detach()`, numpy and `.grad`, into
gradients that they gave, that they were handed by hooks, or got from `grad()`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import engine

REFUSALS = (RuntimeError, ValueError, TypeError, IndexError)


class Walk:
    """A program that does at random what it may: its tensors, and the gradients that it came by."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311  # nothing is secret here
        self.tensors = [self.leaf(True), self.leaf(False)]
        self.gradients: list[Any] = []

    def run(self, steps: int) -> None:
        for _ in range(steps):
            move = self.draw.choice(MOVES)
            try:
                move(self, self.draw.choice(self.tensors), self.draw.choice(self.tensors))
            except REFUSALS:  # as torch refuses it: the program goes on
                continue

    def leaf(self, requires_grad: bool) -> Any:
        numbers = [[self.draw.randint(-4, 4) / 2 for _ in range(3)] for _ in range(2)]
        return engine.tensor(numbers, requires_grad=requires_grad)

    def weights(self, tensor: Any) -> Any:
        """A gradient to start with: one that was used before, where it fits."""
        known = self.draw.choice([*self.gradients, None])
        made = known if known is not None and known.shape == tensor.shape else engine.ones_like(tensor)
        self.gradients.append(made)
        return made

    def leaves(self) -> list[Any]:
        return [t for t in self.tensors if t.is_leaf and t.requires_grad]

    # -- moves ----------------------------------------------------------------------------------------------------

    def more(self, t: Any, u: Any) -> None:
        self.tensors.append(self.leaf(self.draw.random() < 0.7))

    def compute(self, t: Any, u: Any) -> None:
        op: Callable[[], Any] = self.draw.choice([
            lambda: t + u, lambda: t * u, lambda: t - u, t.sin, t.exp, t.relu, t.clone, lambda: -t, lambda: t * 2,
            lambda: engine.cat([t, u]), lambda: t.sum(0, keepdim=True).expand_as(t), lambda: t.sum().expand(2, 3),
        ])  # fmt: skip
        self.tensors.append(op())

    def look(self, t: Any, u: Any) -> None:
        view: Callable[[], Any] = self.draw.choice([
            lambda: t[0], lambda: t.view(-1), lambda: t.reshape(-1), t.t, lambda: t[:, 1:], t.detach,
        ])  # fmt: skip
        self.tensors.append(view())

    def write(self, t: Any, u: Any) -> None:
        change: Callable[[], Any] = self.draw.choice([
            lambda: t.mul_(2), lambda: t.add_(u), t.zero_, t.relu_, lambda: t.copy_(u),
        ])  # fmt: skip
        change()

    def update(self, t: Any, u: Any) -> None:
        with engine.no_grad():
            change: Callable[[], Any] = self.draw.choice([lambda: t.mul_(0.5), lambda: t.sub_(u), lambda: t.add_(1)])
            change()

    def write_aside(self, t: Any, u: Any) -> None:
        change: Callable[[], Any] = self.draw.choice([
            lambda: t.data.mul_(2), lambda: t.data.view(-1)[:1].add_(1), lambda: t.detach().mul_(2),
            lambda: np.add(t.detach().numpy(), 1, out=t.detach().numpy()), lambda: setattr(t, "data", u.data),
        ])  # fmt: skip
        change()

    def backward(self, t: Any, u: Any) -> None:
        graph = self.draw.random() < 0.15
        t.backward(self.weights(t), retain_graph=self.draw.random() < 0.8, create_graph=graph)

    def grad(self, t: Any, u: Any) -> None:
        graph = self.draw.random() < 0.2
        found = engine.autograd.grad(t, self.leaves(), self.weights(t), True, graph, allow_unused=True)
        self.gradients += [g for g in found if g is not None]

    def hook(self, t: Any, u: Any) -> None:
        t.register_hook(self.draw.choice([self.gradients.append, lambda g: g * 2, _doubled, lambda g: g]))

    def retain(self, t: Any, u: Any) -> None:
        t.retain_grad()

    def write_gradient(self, t: Any, u: Any) -> None:
        g = self.draw.choice(self.gradients)
        change: Callable[[], Any] = self.draw.choice([
            lambda: g.mul_(3), g.zero_, lambda: g.view(-1).mul_(2), lambda: g.detach().add_(2),
        ])  # fmt: skip
        change()

    def write_grad(self, t: Any, u: Any) -> None:
        g = self.draw.choice([leaf.grad for leaf in self.leaves() if leaf.grad is not None])
        change: Callable[[], Any] = self.draw.choice([g.zero_, lambda: g.add_(1), lambda: self.gradients.append(g)])
        change()

    def give_grad(self, t: Any, u: Any) -> None:
        t.grad = self.draw.choice(self.gradients)

    def clip(self, t: Any, u: Any) -> None:
        engine.nn.utils.clip_grad_norm_(self.leaves(), 0.1)

    def step(self, t: Any, u: Any) -> None:
        engine.optim.SGD(self.leaves(), lr=0.1, momentum=0.9).step()


def _doubled(gradient: Any) -> None:
    gradient.mul_(2)


MOVES: list[Callable[[Walk, Any, Any], None]] = [
    Walk.more, Walk.compute, Walk.compute, Walk.compute, Walk.look, Walk.write, Walk.update, Walk.write_aside,
    Walk.backward, Walk.backward, Walk.grad, Walk.hook, Walk.retain, Walk.write_gradient, Walk.write_gradient,
    Walk.write_grad, Walk.give_grad, Walk.clip, Walk.step,
]  # fmt: skip
