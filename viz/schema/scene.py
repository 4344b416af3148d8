"""The scene: the document with everything that the browser needs to play one revision of a trace."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from .edits import Edits
from .story import Question, Try
from .values import Box, Chip, Code, ElementId, FindingKind, Formula, Num, Point, RowSize, Track, Value, ValueId, Wire

State = Literal[
    "future",  # not yet computed in forward
    "idle",  # computed; no backward call concerns it now
    "waiting",  # takes part in the running backward call; some contributions are still missing
    "ready",  # all contributions are there
    "done",  # its VJP ran in this call; a leaf has received its gradient
    "error",  # the program stopped here
]
"""What a node is doing."""

EdgeState = Literal[
    "future",  # its value is not yet computed
    "idle",  # computed; nothing has gone back along it in this call
    "done",  # the gradient has gone along it in this call
]
"""What an edge is doing."""

Saved = Literal[
    "none",  # the op has not run yet, or saves nothing
    "saved",  # saved in forward
    "kept",  # kept by `retain_graph` when the rule ran
    "freed",  # freed when the rule ran
]
"""The state of the values that an op saved."""

NodeKind = Literal[
    "tensor",
    "op",
    "stub",  # a further use of a tensor, drawn again where it is used
    "group",  # a folded group
]
"""What a node stands for."""

Role = Literal[
    "leaf",  # a tensor that the program made, and that requires a gradient
    "root",  # a tensor from which a backward call starts
    "constant",  # a tensor or an op that needs no gradient
    "inner",  # anything else
]
"""The part of an element in the graph."""

StepKind = Literal[
    "forward",  # an op runs
    "vjp",  # the rule of an op runs: upstream gradient in, gradients of the inputs out
    "accumulate",  # a gradient is added into `.grad`
    "write",  # the program writes to a leaf or a gradient
    "error",  # the program stops
]
"""What happens in a step."""

PhaseKind = Literal["forward", "backward", "write"]
"""The kind of the steps of a phase."""

MarkKind = Literal[
    "zero",  # a gradient is zeroed
    "none",  # `.grad` is set to None
    "set",  # `.grad` or `.data` is set
    "error",  # the program stops
    "edit",  # a command that an edit changed
    "warning",  # a finding, or a warning that the program was given
]
"""The meaning of a mark."""


class NodeTracks(TypedDict):
    """The states of a node over time."""

    state: Track[State]
    faint: Track[bool]
    """Whether it takes no part in the running backward call."""
    saved: NotRequired[Track[Saved]]
    """The state of an op's saved tensors."""
    upstream: NotRequired[Track[ValueId | None]]
    """The gradient that an op or a folded group receives in backward."""
    norm: NotRequired[Track[Num | None]]
    """The norm of the gradients of all results of a folded group together."""


DerivedKind = Literal[
    "converted",  # the gradient that was passed, after a cast, a broadcast or a sum
    "implicit",  # nothing was passed, so it is 1
    "missing",  # nothing was passed, and no 1 would fit
    "caller",  # a function of the library passes it
]
"""The origin of a gradient that differs from the one that was passed."""


class SeedOrigin(TypedDict):
    """The origin of the gradient that backward starts with."""

    kind: DerivedKind
    text: str
    """`cast from float64`, `stretched from shape 2`, `implicit 1`, `none passed`, `by gradcheck`."""
    labels: list[str]
    """The names of its row, the longest first."""


class Row(RowSize):
    """A row of a tensor's card; the rows stand under the title, top to bottom."""

    track: Track[ValueId | None]
    """The value that it shows; null if there is none."""
    call: NotRequired[Track[int | None]]
    """The backward call that starts with a seed."""
    derived: NotRequired[Track[SeedOrigin | None]]
    """For a seed, unless it is always null: the origin of the gradient that backward starts with, if the program did
    not pass it."""
    until: NotRequired[int]
    """For the gradient of an older version: from this time on `.grad` stands on a newer version's card, and this one
    shows a past gradient."""


class Dot(TypedDict):
    """A parameter in a folded group, drawn as a dot."""

    id: ElementId
    """The id of its card."""
    name: str
    """Its name in the group: `attn.qkv.weight`."""
    shape: list[int]
    """The sizes of its dimensions."""
    norm: Track[Num | None]
    """The norm of its `.grad`; null if there is none."""
    shared: NotRequired[Literal[True]]
    """Present if several modules use it."""


class Cell(TypedDict):
    """A member of a stack, drawn as a cell of its strip."""

    id: ElementId
    """The id of its group, which can be unfolded."""
    label: str
    """Its name: `blocks.3`, `t = 4`."""
    norm: Track[Num | None]
    """The norm of the gradients of all its results together; null if none has arrived."""


class Node(TypedDict):
    """A tensor, an op, a stub or a folded group."""

    id: ElementId
    kind: NodeKind
    role: Role
    x: float
    """The middle, in layout units."""
    y: float
    """The middle, downwards, in layout units."""
    w: float
    """Width in layout units."""
    h: float
    """Height in layout units."""
    label: str
    """The first line: `x`, `× 2`, `sum`."""
    sub: str
    """The second line: `1×4 · leaf`, `MulBackward0`; of a folded group `2 ops · 2 → 2`."""
    title: str
    """The tooltip."""
    group: ElementId | None
    """The innermost group around it."""
    twin: ElementId | None
    """The node that a stub stands for."""
    shape: list[int] | None
    """The shape of a tensor or a stub."""
    dtype: str | None
    """The dtype of a tensor or a stub."""
    rows: list[Row]
    """The rows of a tensor's card; else empty."""
    saved: list[Chip]
    """The chips inside an op's pill; else empty."""
    formula: list[Formula]
    """The gradient per differentiable input of an op's call; else empty."""
    dots: NotRequired[list[Dot]]
    """The parameters in a folded group, in the order of the program."""
    cells: NotRequired[list[Cell]]
    """The equal groups that a stack stands for, in the order of the program."""
    quiet: NotRequired[Literal["start", "data", "update", "aside"]]
    """The kind of a folded group beside a model: the setting of its parameters, its data, an optimiser's step, or
    code that receives no gradient."""
    tracks: NodeTracks
    code: Code | None
    """The line that made a tensor; null if no line of the recording did, as for a parameter."""
    retains: NotRequired[Literal["kept", "unheld", "unreached"]]
    """The effect of `retain_grad()` on a tensor. `unheld`: the program no longer holds the tensor
    when a call reaches it. `unreached`: no call reaches it."""


class EdgeTracks(TypedDict):
    """The states of an edge over time."""

    state: Track[EdgeState]
    faint: Track[bool]
    """Whether it takes no part in the running backward call."""
    cotangent: Track[ValueId | None]
    """The gradient that went along it in the latest backward call; if several edges are drawn as one, the first."""
    norm: NotRequired[Track[Num | None]]
    """If several edges are drawn as one: the norm of their gradients."""


class Edge(TypedDict):
    """A connection of two nodes; source to target is the direction of forward."""

    id: ElementId
    """`e`, its ends and a number."""
    source: ElementId
    """The node from which forward goes."""
    target: ElementId
    """The node to which forward goes."""
    input: str | None
    """The name of the target's input; null after an op, and if several edges are drawn as one."""
    hands: str | None
    """The name of its tensor, if that is not the tensor of its source but `w.grad`, or a result of a folded group."""
    points: list[Point]
    """The route of forward, from the source's border to the target's, drawn as a smooth curve through them. (A route
    to another line of the picture runs under its own line and down to the other, with rounded corners.)"""
    back: list[Point]
    """The route of the gradient, from target to source."""
    through: NotRequired[list[Point]]
    """If the target is a root that passes on gradients of other calls: their route."""
    grad: bool
    """Whether a gradient can travel here."""
    value: bool
    """Whether a value travels here. If only gradients do (from a tensor after an unrecorded write to the tensor
    before it), `points` are those of `back`, and nothing is drawn at rest."""
    tracks: EdgeTracks
    wiring: list[Wire] | None
    """For edges into an op of small tensors: from cell to cell; the target cell is one of the op's output."""


class Group(TypedDict):
    """A call of a module or function, an iteration of a loop, drawn as a box, or folded as a node too."""

    id: ElementId
    """Also the id of its node, if it is folded."""
    label: str
    """The name of the module, function or iteration."""
    members: list[ElementId]
    """The elements directly in it; for a folded group, all elements that it stands for."""
    within: ElementId | None
    """The group around it."""
    folded: bool
    """Whether a node stands for it."""
    box: Box
    """In layout units."""
    parts: NotRequired[list[Box]]
    """Its boxes line by line, if it continues in other lines of the picture."""
    round: NotRequired[Literal[True]]
    """Present for an iteration of a loop."""
    stack: NotRequired[Literal[True]]
    """Present for a series of equal groups."""


class Flow(TypedDict):
    """A value or gradient that travels along an edge in a step."""

    edge: ElementId
    """The edge along which it travels."""
    back: bool
    """From target to source: a gradient."""
    value: ValueId | None
    """Null for a sum that is recorded nowhere."""
    text: str | None
    """The numbers of a gradient: `2 · 1 = 2` for one element, else `[2 0]`."""
    path: NotRequired[str]
    """`2 · 1 = 2` if a gradient of several elements takes a single path: true for its cells, written on its wire."""
    sign: Literal[-1, 0, 1] | None
    """The common sign of a gradient's elements; 0 if their signs differ or they are zero; null if one is nan."""
    size: float
    """The size at which a gradient is drawn, 0 to 1: by the logarithm of its norm."""
    wiring: NotRequired[list[Wire]]
    """As for an edge, if the step used other local derivatives than forward because a value was changed unseen."""


class GroupGradients(TypedDict):
    """The gradients that a rule in a folded group receives and sends."""

    gets: str
    """The gradients that it receives, in few characters."""
    gives: str
    """The gradients that it sends."""
    upstream: ValueId | None
    """The first gradient that it receives."""
    formula: int | None
    """The place of its op's formulas in `formulas` of the scene."""


_In = TypedDict(
    "_In",
    {"in": NotRequired[Annotated[ElementId, "The folded group of the receiver, if it differs from the op's."]]},
)


class SentGradient(_In):
    """The gradient that a rule sends to one receiver."""

    name: str
    """The receiver, as the sentence names it."""
    value: ValueId | None
    """The gradient; null if none is sent."""
    edge: NotRequired[ElementId]
    """The drawn edge from the receiver to the op."""


Origin = TypedDict(
    "Origin",
    {
        "code": Annotated[Code | None, "The expression; of a VJP that of the *forward* op."],
        "from": Annotated[Code | None, "For backward steps and errors: the call that runs."],
    },
)
"""Where a step stands in the program."""


class FoldedGradients(TypedDict):
    """The gradients of a step that a folded group hides."""

    within: NotRequired[GroupGradients]
    """For a rule that runs in a folded group."""
    sends: NotRequired[list[SentGradient]]
    """The gradients that a rule sends to each receiver, if a folded group hides one of them or the rule."""


class WriteEffect(TypedDict):
    """The change that a write makes, if it is not one of the gradient."""

    writes: NotRequired[Literal["value"]]
    """For `x.data = y`, after which x has new values and its old gradient."""


class Step(Origin, FoldedGradients, WriteEffect):
    """One moment: a forward op, a VJP, an accumulation, a write, an error."""

    kind: StepKind
    phase: int
    """The index of its phase in `phases`."""
    at: ElementId | None
    """The node that is active: of a VJP the op, of an accumulation or a write the tensor."""
    name: str
    """`mul`, `MulBackward0`, `AccumulateGrad`, `zero_`."""
    say: str
    """One sentence in words."""
    flows: list[Flow]
    order: int
    """The order of the derivative that its call computes: 2 if it differentiates a gradient; 0 outside calls."""


class Phase(TypedDict):
    """Steps that belong together; the phases are contiguous and cover all steps."""

    kind: PhaseKind
    label: str
    """As written in the program, or changed to."""
    start: int
    """Its first step."""
    end: int
    """The step after the last."""
    call: int | None
    """The number of the backward call."""
    code: Code | None
    """The call; null for forward."""
    failed: bool
    """Whether an error ended it."""


class Span(TypedDict):
    """Steps that are one unit at a level: a phase, the call of a module or function in it, or the backward pass through
    that call. Each follows the one around it."""

    start: int
    """Its first step."""
    end: int
    """The step after the last."""
    row: int
    """How many spans are around it. Those of row 0 are contiguous and cover all steps."""
    within: int | None
    """The place of the span around it in `spans`."""
    kind: PhaseKind
    label: str
    """The name of the group without its class, or the call as written in the program."""
    say: str
    """One sentence about all its steps."""
    group: ElementId | None
    """The group that it is a call of."""
    norm: Num | None
    """The norm of the largest gradient that it receives; null outside backward, and if that is not recorded."""
    code: Code | None
    """The call; null for the forward pass."""


class Line(TypedDict):
    """A line of the program at which something was recorded."""

    file: int
    """The index of its file in `program.files`."""
    line: int
    """Its number, from 1."""
    runs: int | None
    """How often it ran, according to the recording; null if it only made a leaf."""
    norm: Num | None
    """The norm of the largest gradient that an op or a leaf of this line, or of a function that it calls, receives;
    null if none does."""


class Print(TypedDict):
    """Text that the program printed when it was recorded."""

    step: int
    """From this time on it is there."""
    code: Code | None
    """The call that printed it."""
    stream: Literal["stdout", "stderr"]
    """Where it went."""
    text: str
    """As a terminal shows it."""
    more: int
    """How many lines after it are left out."""


class Mark(TypedDict):
    """A sign on the timeline at a step."""

    step: int
    """Where on the timeline it stands."""
    kind: MarkKind
    label: str
    """Its text, in few words."""


ChangeKind = Literal["edited", "removed", "added", "moved"]
"""How an edit changes a command; `moved`: it comes from elsewhere."""


class Command(TypedDict):
    """A call of the program to autograd, or one that an edit adds."""

    id: str
    """Its name in edits."""
    kind: Literal["backward", "zero", "set"]
    """Calls of `grad` are `backward` too."""
    label: str
    """As written in the program, or as an edit makes it."""
    code: Code | None
    """Null for one that an edit added."""
    after: int | None
    """The event that it follows, as in edits."""
    start: int
    """Its first step; `end` is the step after its last."""
    end: int
    """The step after its last."""
    root: ElementId | None
    """Where a backward call starts, of several roots the first; the leaf whose gradient is zeroed or set."""
    roots: list[ElementId]
    """Where a backward call starts."""
    shape: list[int] | None
    """The shape of the first root's seed gradient."""
    gradient: ValueId | None
    """The first root's seed gradient."""
    implicit: bool
    """Whether none was passed."""
    retain_graph: bool
    """As passed to the call."""
    create_graph: bool
    """As passed to the call."""
    inputs: list[ElementId] | None
    """The tensors passed as `inputs=`; null if none was passed."""
    changed: ChangeKind | None
    """How an edit changed it; the label is then that of the call as it ran. Null: as recorded."""
    error: str | None
    """The message of the error at which it stopped."""


class Change(TypedDict):
    """Something that the edits of a revision change."""

    kind: ChangeKind
    code: Code | None
    """The line that it is about; null for the start of the program."""
    text: str
    """The change, as Python would write it."""
    command: str | None
    """The command that it is about, by its id."""
    leaf: int | None
    """The number of the tensor whose values it gives."""


class Place(TypedDict):
    """A position where a command may stand, after some lines of the program."""

    after: int
    """The event that a command at this position follows; -1 for the start."""
    code: Code | None
    """The line before it."""
    makes: list[int]
    """The tensors that are made there."""


class Fix(TypedDict):
    """The smallest remedy of an error."""

    text: str
    """The code to write instead."""
    edits: Edits | None
    """Null where edits cannot make it."""


class Error(TypedDict):
    """The error that ended the program, explained."""

    step: int
    """The step at which it was raised."""
    node: ElementId | None
    """Where it is shown."""
    type: str
    """The name of the exception's class."""
    message: str
    """The message, in PyTorch's words."""
    note: str
    """The note that Backstep added to the exception."""
    why: str
    """Its cause, with this run's names and lines."""
    fix: Fix
    traceback: str
    """The traceback that Python prints."""


class Finding(TypedDict):
    """A problem that raised no error, from the end of `step` on."""

    kind: FindingKind
    step: int
    """From the end of this step on it is known."""
    at: ElementId | None
    """The element at which it is shown; null if it has no position in the graph."""
    label: str
    """The problem, in few words."""
    why: str
    """The cause, with the numbers of this run."""
    fix: str
    """A fix; empty if none is known."""


class ProgramWarning(TypedDict):
    """A warning that the program received."""

    step: int
    """The step before which it was given."""
    message: str
    """Its text."""


class Doubt(TypedDict):
    """From this step on the program itself might take another path."""

    step: int
    """The first step that is in doubt."""
    text: str
    """Why."""


class Revision(TypedDict):
    """The program with a set of edits."""

    id: str
    """A hash of the recording and the edits."""
    number: int
    """Its number in the session; the browser counts."""
    label: str
    """`as recorded`, `gradient edited` …"""
    base: str | None
    """The revision as recorded; null for that itself."""
    doubt: Doubt | None
    ran: NotRequired[bool]
    """Set if the program itself has run with the edits: its prints are those of this run."""
    recomputed: str
    """For an edited program that ran on another library: the library that computed the numbers, and how well it agrees
    with the recording; else empty."""


class Chapter(TypedDict):
    """A part of the story of a program, or the introduction of a program without a story."""

    kind: NotRequired[FindingKind | Literal["error"]]
    """Its subject, in a program without a story."""
    title: str
    """Its heading."""
    text: str
    """Its text, in paragraphs; `code`, **bold** and *emphasis* are markup."""
    lines: tuple[int, int] | None
    """The first and the last line of the script that it is about."""
    step: int | None
    """The time to which it leads."""
    select: list[ElementId]
    """The elements that it is about, which are selected when it is shown."""
    fix: NotRequired[bool]
    """Whether it is the one about `error`, which offers `error.fix.edits`."""
    inspect: NotRequired[bool]
    """Whether it describes something in the inspector, which then opens."""
    unfold: NotRequired[list[ElementId]]
    """The folded groups around the elements it describes: its move ends by opening them."""
    notes: NotRequired[str]
    """Notes that only the presenter of a lecture sees."""
    ask: NotRequired[Question]
    """The question that it asks before its move."""
    tries: NotRequired[list[Try]]
    """The edits that it proposes."""
    gone: NotRequired[str]
    """Why, after an edit, the events it describes no longer happen. Its step is then null."""
    now: NotRequired[str]
    """If an edit may have changed its subject: the sentence of its step now, empty for no step."""


class File(TypedDict):
    """A file of the program."""

    name: str
    """Its path, as the recording has it."""
    text: str
    """All of it."""


class MissingLines(TypedDict):
    """Lines that only the other program has."""

    before: int
    """The line of this program before which they would stand."""
    lines: list[str]
    """Their text."""


class OtherProgram(TypedDict):
    """The corrected program of a mistake; for that program, the mistake."""

    id: str
    """Its name in addresses."""
    is_fixed: bool
    """Whether this program is the corrected one."""
    added: list[int]
    """The lines that only this program has."""
    gone: list[MissingLines]


class ProgramInfo(TypedDict):
    """A program without its recording."""

    id: str
    """Its name in addresses."""
    title: str
    """Its name for people."""
    question: str
    """The question that it answers; for your own program, its name."""
    crumbs: list[str]
    """The path to it through the gallery."""
    legacy: bool
    """Whether it is one of the founding cases."""
    note: NotRequired[str]
    """How a script ended, and why it shows less than expected; else empty."""
    left_out: NotRequired[str]
    """For a long recording: the part that is shown, and how to see more; else empty."""
    says: NotRequired[str | None]
    """The message of a mistake."""
    silence: NotRequired[str | None]
    """For a mistake without a message: the problem."""
    other: NotRequired[OtherProgram | None]
    """Null for a program without such a partner."""
    on_torch: NotRequired[bool]
    """Whether the same program can be run on PyTorch from here."""
    beside: NotRequired[dict[str, str]]
    """The titles of the recordings that were opened together with this one, by their names in addresses."""


class Program(ProgramInfo):
    """The program whose revision is shown."""

    chapters: list[Chapter]
    opens: NotRequired[int | None]
    """The time shown first; null for the start. For your own program: its error, or the origin of the first nan; if it
    has neither and is large, the end of its last backward call."""
    files: list[File]


class HiddenGroup(TypedDict):
    """A group inside of a folded one."""

    id: ElementId
    """The id, as in `nodes`."""
    label: str
    """The name of the module, function or iteration."""
    within: ElementId | None
    """The group around it."""
    round: NotRequired[Literal[True]]
    """Present for an iteration of a loop."""


class HiddenElements(TypedDict):
    """The elements in folded groups, by name: a search finds them and unfolds the groups around them."""

    names: list[tuple[NodeKind, Role, str, str, str]]
    """Kind, role, label, sub, title: the iterations of a loop share them."""
    nodes: list[tuple[ElementId, int, ElementId | None]]
    """Id, place of its name in `names`, group; in the order of the program, without stubs."""
    groups: list[HiddenGroup]


class PreviousRevision(TypedDict):
    """The revision before, for ghosts."""

    values: dict[str, Track[ValueId | None]]
    """The tracks of the rows that differ, by `<node id>|<key of the row>`."""
    norms: NotRequired[dict[ElementId, Track[Num | None]]]
    """If the previous section is shown beside this one: the norms of folded groups."""
    label: NotRequired[str]
    """Its name."""


class Section(TypedDict):
    """The part of a long run that a document is about: an iteration of its training loop, or the code between two."""

    at: int
    """Its number, from 0."""
    count: int
    """How many the run has."""
    iterations: int
    """How many of them are iterations."""
    kind: Literal["before", "iteration", "between", "after"]
    """An iteration, or the part before the first, between two, or after the last."""
    label: str
    """`step = 57`."""
    around: list[str]
    """The iterations of outer loops, outermost first: `epoch = 0`."""
    before: str | None
    """The label of the one before; null for the first."""
    after: str | None
    """The label of the one after; null for the last."""


class Scene(TypedDict):
    """The document: one revision of a trace, from its first step to its last."""

    format: Literal[1]
    """The number of this format."""
    revision: Revision
    program: Program
    section: NotRequired[Section | None]
    """Null if the document is about all of the run."""
    steps: list[Step]
    """In the order in which they ran."""
    phases: list[Phase]
    spans: list[Span]
    """The levels of time; an outer span before those in it."""
    lines: list[Line]
    """In the order of the files and their lines."""
    prints: list[Print]
    """In the order in which they were printed."""
    marks: list[Mark]
    formulas: list[list[Formula]]
    """The formulas of the ops in folded groups, each once."""
    nodes: list[Node]
    edges: list[Edge]
    groups: list[Group]
    values: list[Value]
    """The values that the ids elsewhere in the scene stand for."""
    previous: PreviousRevision | None
    commands: list[Command]
    changes: list[Change]
    places: list[Place]
    """Where a command may stand."""
    error: Error | None
    findings: list[Finding]
    """In the order of their steps."""
    warnings: list[ProgramWarning]
    norms: tuple[float, float] | None
    """The powers of ten around all norms of gradients, the ends of the scale of colours; null if nothing is folded at
    first, or no gradient has a norm."""
    model: str | None
    """The modules whose calls hold all of the graph, and are not drawn: `model: GPT`; null if there is none."""
    bounds: Box
    """The box around everything."""
    layout: str
    """The name of the layout used."""
    layout_note: str | None
    """Why it is not the requested one, in words to show."""
    folded: list[ElementId]
    """The folded groups."""
    hidden: HiddenElements | None
    """Null if nothing is folded."""
