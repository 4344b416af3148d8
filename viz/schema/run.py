"""The overview of a run: a few numbers per iteration and parameter, and what is wrong with them."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from .values import FindingKind, Num

RunFindingKind = Literal[
    "loss-nonfinite",  # the loss is nan or an infinity
    "gradient-nonfinite",  # a gradient has elements that are nan or an infinity
    "vanishing-depth",  # gradients fade on their way to the first layers
    "exploding-depth",  # gradients grow on their way to the first layers
    "vanishing-run",  # gradients fade from iteration to iteration, and the loss does not fall
    "exploding-run",  # gradients grow from iteration to iteration
    "dead",  # parameters receive only zeros from an iteration on
    "large-updates",  # updates are a large part of the weights
    "small-updates",  # updates change almost nothing of the weights
    "rounded-updates",  # updates are smaller than what the weights' dtype can represent
    "faded-rate",  # for much of the run the learning rate is almost zero
    "unheld",  # parameters receive gradients that no optimiser uses
    "never-updated",  # gradients come, and no parameter changes in the whole run
    "stalled-loss",  # the loss does not move
    "flips",  # a gradient changes its sign in every iteration
    "source",  # the graph of an iteration shows the op that produced the first nan or inf of the run
    "mistake",  # the graph of an iteration shows what to write differently: zero the gradients, remove a softmax
    "iteration",  # what else the graph of an iteration shows: dead units
]


class RunFinding(TypedDict):
    """A problem of a run, with the place that shows it."""

    kind: RunFindingKind
    """The kind of the problem."""
    label: str
    """The problem, in few words."""
    why: str
    """The cause, with the numbers of this run."""
    fix: str
    """The usual remedy."""
    section: int
    """The section to which it leads."""
    parameter: str | None
    """The parameter that shows it; null: the loss."""
    shows: list[FindingKind]
    """Kinds of findings in the section's graph: it leads to the step of the first one."""
    explains: list[RunFindingKind]
    """Kinds of problems in the numbers that it is the cause of: it is listed instead of them."""


class RunParameter(TypedDict):
    """A row of the overview."""

    name: str
    """Its name, with the path of its module."""
    group: str
    """The module that it is shown in; empty for none."""
    shape: list[int]
    """The lengths of its dimensions."""
    sampled: bool
    """Whether its update ratio is an estimate from a sample of its elements."""
    input: bool
    """Whether nothing is learnt in it: an input whose gradient the program asks for."""


class Quantities(TypedDict):
    """The numbers of all parameters: one list per parameter, one number per column, null if there is none."""

    norm: list[list[float | None]]
    """The norm of the gradient's finite elements, after the iteration's last backward call that reached it."""
    ratio: list[list[float | None]]
    """The norm of the update, which is the change up to the next gradient, over the norm of the weight before it; of
    several updates the largest."""
    zeros: list[list[float | None]]
    """The share of zeros in the gradient."""
    nonfinite: list[list[float | None]]
    """How many elements of the gradient are nan or an infinity."""
    largest: list[list[float | None]]
    """The magnitude of the gradient's largest finite element."""


class RunRoot(TypedDict):
    """A further value from which backward calls of all or of some columns start."""

    name: str
    """Its name in the program."""
    loss: list[Num | None]
    """Its value in each column; null for none."""


class RunOverview(TypedDict):
    """A whole run in a few numbers per iteration and parameter."""

    program: str
    """Its id."""
    version: int
    """The recording, counted from 1."""
    labels: list[str]
    """The name of each column: an iteration, or several."""
    first: list[int]
    """The section with which a column begins."""
    last: list[int]
    """The section with which it ends."""
    loss: list[Num | None]
    """The value from which the first backward call of each column starts; null where that has another name."""
    root: str
    """The name of `loss`: "loss", or its name in the program if there are others."""
    others: list[RunRoot]
    """The roots of further backward calls, as of a GAN; empty if all columns have one."""
    total: list[Num | None]
    """The norm of all gradients together; "nan" where one has an element that is nan or an infinity."""
    rate: list[float | None]
    """The learning rate of the optimiser's first parameter group."""
    parameters: list[RunParameter]
    """In the order of the forward pass."""
    quantities: Quantities
    """Their numbers."""
    findings: list[RunFinding]
    """The problems that these numbers show, the worst first."""
    joined: int
    """The most iterations that are one column, of which it has the largest numbers and the last loss."""
    calls: list[int]
    """The number of the backward call that each column is, in a program of several without iterations; else empty."""
    updates: int
    """Columns in which a weight was changed."""
    scales: list[float]
    """The first and the last scale of a GradScaler, without which losses and gradients are given; else empty."""
    left_out: int
    """Columns whose update a GradScaler left out, because a gradient was not finite."""
    skipped: int
    """Further iterations of the program, which were not recorded because the recording paused."""
    ops: int
    """Forward ops of the run."""
    bytes: int | None
    """The size of its file; null if there is none."""


class RunGraphs(TypedDict):
    """The second part of an overview, which takes longer to compute."""

    findings: list[RunFinding]
    """The problems that the graphs of iterations show, the source of a nan or inf before milder mistakes."""
