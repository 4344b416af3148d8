"""The size and the content of a node: the natural sizes of docs/scene-format.md."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from engine.trace.events import GroupEntered, OpCalled

from ..graph.graph import Drawing, Item
from ..reading import labels, text
from ..reading.facts import Facts, TensorFact
from ..reading.source_text import source
from ..schema.values import Chip, RowKey, RowSize
from .layered.layered import FOLDED
from .layered.ports import SHIFT, Anchors
from .sheet import Size

HEAD = 38
"""Height of a card's head, above its rows."""
FOOT = 8
"""Height that is free below the last row of a card."""
PAD = 10
"""Width that is free at the left and the right of a card's rows."""
CELL_ROW = 34
"""Height of a line of cells, with the gap below it."""
LABEL = 22
"""Height of the label of a row; the value's has none."""
STRIP = 46
"""Height of a heat strip, with the gap below it."""
CHIPS = 28
STRIP_WIDTH = 212
COLUMN = 46
WIDEST_COLUMN = 80
"""Width of a cell with its gap past which the numbers of a row lie too far apart to be read as one."""
FEW_COLUMNS = {1: 76, 2: 68, 3: 62}
"""Where there are few, there is room for longer numbers: a sign and four digits at the least zoom of a whole graph."""
NARROWEST = 100
LEAST = 12 / 13
"""A zoom down to which small text of the graph has its size; below it keeps its px (assets/js/geometry/text.mjs)."""
GROWN = 1.53
"""Width of a name at the least zoom of a whole graph against its estimate."""
GROWN_NAME = 1.46
"""The same of a name in the semi-bold letters of the first line."""
BADGE = 21
"""How far a badge reaches into an op, with some air: no name stands under one."""
OP_SHIFT = 14.0
"""How far from its middle values and gradients meet an op: about as far as the rows of the cards beside it."""
BUNDLE = 16
"""Height of the bundle of lines from cell to cell that goes around a card, where there is room for it."""
CLEAR = 6
"""How far that bundle keeps from its card, and from the next one below."""
HALO, WIRES = 14.0, float(BUNDLE + 2 * CLEAR)
"""How far below a card a way keeps so as not to touch what runs there: the halo of a step's own node, and the bundle of
lines from cell to cell."""
SEED_LABEL = "gradient you pass"
"""The label of the row in which the seed gradient stands."""
DOT = 18
"""Distance of the dots for parameters on a folded group, across and down."""
DOT_LINES = 2
"""Lines of dots at most; the last one says how many more there are."""
DOTS_PAD = 11
"""Width that is free at the left and the right of the dots."""
CELLS = 30
"""Cells in a line of the strip of a stack at most."""
CELL_LINE = 20
"""Distance of two lines of such cells."""
STACK_WIDTH = 260
"""Least width of a stack, so that each cell of its strip can be hit."""
WIDEST_GROUP = 280
"""Width up to which a folded group grows with the shapes that it takes and gives."""
QUIET = 54.0
"""Height of a folded group that no gradient comes to: its name, and what it consists of."""
MOST_CHIPS = 2
NAME = 25
"""Characters of an expression up to which it names the tensor that it gives."""
SHORT = 10
"""Characters of one that stands for a saved value."""


def grown(zoom: float) -> float:
    """How much larger text is in the plane at a zoom than at 1."""
    return max(1.0, LEAST / zoom)


def cells(shape: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of cells: a matrix in its shape, three dimensions row under row; (0, 0) is a heat strip.

    >>> cells(()), cells((4,)), cells((2, 3)), cells((2, 2, 3)), cells((5, 5))
    ((1, 1), (1, 4), (2, 3), (4, 3), (0, 0))
    """
    size = text.size(shape)
    if size > text.SMALL or size == 0:
        return 0, 0
    columns = shape[-1] if shape else 1
    if len(shape) == 1 and columns > 8:
        return 2, math.ceil(columns / 2)
    return size // columns, columns


def rows(item: Item, drawing: Drawing) -> list[RowSize]:
    """The rows of a card, without tracks.  The gradient has its row from the start: nothing shifts when it comes."""
    if item.kind != "tensor" or item.tensor is None:
        return []
    facts, tensor = drawing.facts, item.tensor
    fact = facts.tensors[tensor]
    high, wide = cells(fact.shape)
    keys: list[tuple[RowKey, str]] = [("value", "value")]
    leaf = facts.is_leaf(tensor, item.version)
    used = bool(facts.uses.get((tensor, item.version))) or len(fact.values) == 1
    if (leaf and used) or tensor in facts.retained or tensor in facts.receives:
        keys.append(("grad", ".grad"))
    if tensor in facts.roots and drawing.card(tensor) == item.id and not leaf:
        keys.append(("seed", SEED_LABEL))
    return [{"key": key, "label": label, "rows": high, "cols": wide} for key, label in keys]


def card_size(label: str, sub: str, card_rows: Sequence[RowSize], zoom: float = 1.0) -> Size:
    """The natural size of a tensor card; with a `zoom` below 1, the size in which its text has room there as well.

    Name and shape have room at the least zoom of a whole graph too.
    """
    much = grown(zoom)
    columns = max((row["cols"] for row in card_rows), default=0)
    pitch = min(much * FEW_COLUMNS.get(columns, COLUMN), WIDEST_COLUMN)
    strip = any(row["cols"] == 0 for row in card_rows)
    head = much * (text.width(label) + text.width(sub, "sub")) + 58
    shape, _, role = sub.partition(" · ")  # the role gives its room to the shape
    least = 0.0 if role else GROWN_NAME * text.width(label) + GROWN * text.width(shape, "sub") + 38
    seed = any(row["key"] == "seed" for row in card_rows)
    passed = much * text.width(SEED_LABEL + " (edit)", "sub") + 36 if seed else 0
    numbers = much * STRIP_WIDTH if strip else 2 * PAD + pitch * columns
    width = max(NARROWEST, numbers, head, least, passed)
    height = HEAD + FOOT
    for row in card_rows:
        height += (0 if row["key"] == "value" else LABEL) + (CELL_ROW * row["rows"] if row["rows"] else STRIP)
    return round(width), height


def card_anchors(size: Size, card_rows: Sequence[RowSize]) -> Anchors:
    """Values meet a card at its value row, gradients at `.grad` (coming back) or at the seed (setting out)."""
    at: dict[str, float] = {}
    y = HEAD - size[1] / 2
    for row in card_rows:
        y += 0 if row["key"] == "value" else LABEL
        height = CELL_ROW * row["rows"] if row["rows"] else STRIP
        at[row["key"]] = y + height / 2 - 2
        y += height
    value = at.get("value", 0.0)
    below = value + 2 * SHIFT
    return Anchors(value, at.get("grad", below), value, at.get("seed", at.get("grad", below)), fan=False)


def passing_height(size: Size, card_rows: Sequence[RowSize]) -> float:
    """How far below its middle a gradient leaves the card of a root that passes it on: in a call from another root."""
    return card_anchors(size, [row for row in card_rows if row["key"] != "seed"]).left_back


def under(card_rows: Sequence[RowSize]) -> float:
    """How far below a card the ways between lines keep, of one through which gradients go: it may glow, and the lines
    from its last row run around it where that is one line of cells, a value in several columns or a gradient."""
    wired = [row for row in card_rows[-1:] if row["rows"] == 1 and (row["cols"] > 1 or row["key"] != "value")]
    return WIRES if wired else HALO


def op_size(label: str, sub: str, saved: bool, zoom: float = 1.0) -> Size:
    """The natural size of an op; `zoom` as in `card_size`."""
    longest = grown(zoom) * max(len(label), len(sub))
    wide = GROWN * text.width(sub, "sub") + 17  # of letters that are wide, as in MmBackward0
    named = GROWN_NAME * text.width(label) + 2 * BADGE
    return max(NARROWEST, 22 + round(8 * longest), round(wide), round(named)), 56 + (CHIPS if saved else 0)


def op_anchors() -> Anchors:
    """Values above the middle of an op, gradients below it, on both sides."""
    return Anchors(-OP_SHIFT, OP_SHIFT, -OP_SHIFT, OP_SHIFT)


def stub_size(label: str, zoom: float = 1.0) -> Size:
    """The natural size of a further use of a leaf; `zoom` as in `card_size`."""
    name = max(1.15 * grown(zoom), GROWN_NAME) * text.width(label)
    return max(96, round(name + 42)), 38


def group_size(
    label: str, zoom: float = 1.0, dots: int = 0, is_quiet: bool = False, shapes: str = "", cells: int = 0
) -> Size:
    """The natural size of a folded group with so many parameters, or of one that no gradient comes to (`is_quiet`),
    between tensors of some `shapes`; of a stack of groups with so many `cells`; `zoom` as in `card_size`."""
    much, name = grown(zoom), text.width(label)
    wide = max(much, GROWN) * text.width(shapes, "sub") + 46
    least = STACK_WIDTH if cells else 0.0
    width = round(max(much * FOLDED[0], much * name + 60, GROWN_NAME * name + 44, min(wide, WIDEST_GROUP), least))
    lines = min(math.ceil(dots / ((width - 2 * DOTS_PAD) // DOT)), DOT_LINES)
    strip = math.ceil(cells / CELLS) * CELL_LINE + 4 if cells else 0
    return width, QUIET if is_quiet else FOLDED[1] + DOT * lines + strip


def saved_chips(op: int, facts: Facts) -> list[Chip]:
    """What an op saved, short enough for its pill; more than two become one chip."""
    record = facts.ops[op].event.node
    if record is None or not record.saved:
        return []
    chips: list[Chip] = []
    for saved in record.saved:
        if saved.tensor is None:
            shown = text.scalar(saved.scalar)
        else:
            shown = facts.name(saved.tensor) or _saved_expression(saved.tensor, facts)
            whole = saved.value is not None and facts.trace.value(saved.value).dtype.startswith("int")
            result = "indices" if whole else "result"  # of max and the poolings: where the winners were
            shown = shown or (
                result if saved.name.startswith("result") else input_place(facts.ops[op].event, saved.name)
            )
        chips.append({"name": saved.name, "text": f"saved {shown}", "bytes": saved.bytes})
    if len(chips) > MOST_CHIPS:
        total = sum(chip["bytes"] for chip in chips)
        return [{"name": "saved", "text": f"saved {len(chips)} values", "bytes": total}]
    if len(chips) == MOST_CHIPS:
        for chip in chips[1:]:
            chip["text"] = chip["text"].removeprefix("saved ")
    return chips


def input_place(event: OpCalled, name: str) -> str:
    """Which of an op's tensors an input is that has no name and no short expression."""
    tensors = [i.name for i in event.inputs if i.tensor is not None]
    return f"input {tensors.index(name) + 1}" if len(tensors) > 1 and name in tensors else "input"


def _saved_expression(tensor: int, facts: Facts) -> str:
    written = expression_of(tensor, facts)
    return written if len(written) <= SHORT else ""


def head(item: Item, drawing: Drawing) -> tuple[str, str, str]:
    """Label, second line and tooltip of a node."""
    facts = drawing.facts
    if item.op is not None:
        event = facts.ops[item.op].event
        label, sub = labels.label(event), labels.node_name(event)
        shapes = " , ".join(text.shape(o.shape) for o in event.outputs)
        parts = [
            text.shape(facts.tensors[i.tensor].shape)
            for i in event.inputs
            if i.tensor in facts.tensors and i.tensor is not None
        ]
        return label, sub, f"{labels.written_name(event)}: {', '.join(parts) or 'nothing'} → {shapes}"
    assert item.tensor is not None
    fact = facts.tensors[item.tensor]
    label = facts.name(item.tensor) or (
        fact.leaf.source if fact.leaf is not None and fact.leaf.source not in ("seen", "edited") else ""
    )
    if not label:
        label = expression_of(item.tensor, facts) or _kind(fact)
    label += facts.mark(item.tensor, item.version)
    role = {"leaf": "leaf", "root": "root", "constant": "constant", "inner": ""}[item.role]
    if item.kind == "stub":
        return label, text.shape(fact.shape), f"{label}: the same tensor, drawn again where it is used"
    size = text.shape(fact.shape)
    sub = f"{size} · {role}" if role else size
    grad = "requires grad" if fact.requires_grad else "no grad"
    return label, sub, f"{label}: {size}, {fact.dtype}, {grad}"


def _kind(fact: TensorFact) -> str:
    """What a tensor is called that has no name and no short expression."""
    if fact.shape:
        return "tensor"
    return "truth value" if fact.dtype.removeprefix("torch.") == "bool" else "number"


def _is_in_module(event: OpCalled, facts: Facts) -> bool:
    """Whether an op is a step of a module of a library, which the same expression called."""
    before = facts.trace.events[max(0, event.index - 50) : event.index]
    entered = next((one for one in reversed(before) if isinstance(one, GroupEntered)), None)
    return entered is not None and entered.stack == event.stack


def expression_of(tensor: int, facts: Facts) -> str:
    """What the program wrote for a tensor without a name, where that is short: `y.sum()`; else "".

    One that was written to since is still called by what made it: after `y[:2].mul_(10)` it is `y[:2]`.
    """
    fact = facts.tensors.get(tensor)
    op = fact.producers.get(fact.first) if fact is not None else None
    if op is None or len(facts.ops[op].event.outputs) > 1 or facts.ops[op].order:
        return ""
    if facts.errors and _is_in_module(facts.ops[op].event, facts):
        return ""  # a step of `net(x)`, which failed
    frame = facts.frame(facts.ops[op].event.stack)
    written = source(facts.trace, frame, NAME + 1) if frame is not None else ""
    try:
        ast.parse(written, mode="eval")
    except (SyntaxError, ValueError):
        return ""  # a statement, or an expression that was cut
    return written if 0 < len(written) <= NAME else ""
