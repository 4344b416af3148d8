"""The size and the content of a node: the natural sizes of docs/scene-format.md."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from engine.trace.events import GroupEntered, OpCalled

from ..graph.folds import FOLD_ABOVE
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
"""Free height below the last row of a card."""
PAD = 10
"""Free width at the left and at the right of a card's rows."""
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
"""Largest width of a cell with its gap: further apart, the numbers of a row are not read as one row."""
MOST_IN_LINE = 8
"""The most cells side by side, or one below the other."""
FEW_COLUMNS = {1: 76, 2: 68, 3: 62}
"""Width of a cell by the number of columns: a few have room for a sign and four digits at the least zoom of a graph."""
NARROWEST = 100
LEAST = 12 / 13
"""The zoom below which small text of the graph keeps its size in px (assets/js/geometry/text.mjs)."""
GROWN = 1.53
"""Width of a name at the least zoom of a whole graph, relative to its estimate."""
GROWN_NAME = 1.46
"""The same for a name in the semi-bold letters of the first line."""
BADGE = 21
"""How far a badge reaches into an op, with some margin: names end before it."""
OP_SHIFT = 14.0
"""Distance from an op's middle at which values and gradients meet it: about that of the rows of the cards beside it."""
BUNDLE = 16
"""Height of the bundle of wires from cell to cell that runs around a card, if there is room for it."""
CLEAR = 6
"""Distance of that bundle from its card, and from the next card below."""
HALO, WIRES = 14.0, float(BUNDLE + 2 * CLEAR)
"""Distance that a route keeps below a card: from the halo of the active node, and from the bundle of wires from cell to
cell."""
SEED_LABEL = "gradient you pass"
"""The label of the row with the seed gradient."""
DOT = 18
"""Distance between the dots for parameters on a folded group, horizontally and vertically."""
DOT_LINES = 2
"""The most lines of dots; the last one gives the number of the others."""
DOTS_PAD = 11
"""Free width at the left and at the right of the dots."""
CELLS = 30
"""The most cells in a line of a stack's strip."""
CELL_LINE = 20
"""Distance between two lines of such cells."""
STACK_WIDTH = 260
"""Least width of a stack, so that each cell of its strip can be clicked."""
WIDEST_GROUP = 280
"""Largest width of a folded group that grows with the shapes of its inputs and results."""
QUIET = 54.0
"""Height of a folded group that receives no gradient: its name, and its contents in a line."""
MOST_CHIPS = 2
NAME = 25
"""The most characters of an expression that names its result."""
SHORT = 10
"""The most characters of an expression that names a saved value."""


def grown(zoom: float) -> float:
    """How much larger text is in the plane at a zoom than at zoom 1."""
    return max(1.0, LEAST / zoom)


def cells(shape: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of cells: a matrix has its shape, three dimensions are rows of rows; (0, 0) is a heat strip.

    More than eight cells side by side, or one below the other, stand in two lines, in their order.

    >>> cells(()), cells((4,)), cells((2, 3)), cells((2, 2, 3)), cells((5, 5))
    ((1, 1), (1, 4), (2, 3), (4, 3), (0, 0))
    >>> cells((8,)), cells((10,)), cells((8, 1)), cells((10, 1))
    ((1, 8), (2, 5), (8, 1), (2, 5))
    """
    size = text.size(shape)
    if size > text.SMALL or size == 0:
        return 0, 0
    columns = shape[-1] if shape else 1
    if size > MOST_IN_LINE and columns in (1, size):
        return 2, math.ceil(size / 2)
    return size // columns, columns


def rows(item: Item, drawing: Drawing) -> list[RowSize]:
    """The rows of a card, without tracks.  The gradient has its row from the start: nothing shifts when it arrives.

    In a large graph, a constant or an intermediate value with more than a line of elements is a strip: the graph's
    parts need the space.
    """
    if item.kind != "tensor" or item.tensor is None:
        return []
    facts, tensor = drawing.facts, item.tensor
    fact = facts.tensors[tensor]
    high, wide = cells(fact.shape)
    if item.role in ("constant", "inner") and len(drawing.items) > FOLD_ABOVE and high * wide > MOST_IN_LINE:
        high, wide = 0, 0
    keys: list[tuple[RowKey, str]] = [("value", "value")]
    leaf = item.version in fact.leaf_versions
    is_used = bool(facts.uses.get((tensor, item.version))) or len(fact.values) == 1
    if (leaf and is_used) or tensor in facts.retained or tensor in facts.receives:
        keys.append(("grad", ".grad"))
    if tensor in facts.roots and drawing.card(tensor) == item.id and not leaf:
        keys.append(("seed", SEED_LABEL))
    return [{"key": key, "label": label, "rows": high, "cols": wide} for key, label in keys]


def card_size(label: str, sub: str, card_rows: Sequence[RowSize], zoom: float) -> Size:
    """The natural size of a tensor card; with a `zoom` below 1, the size in which its text fits at that zoom too.

    Name and shape fit at the least zoom of a whole graph as well.
    """
    much = grown(zoom)
    columns = max((row["cols"] for row in card_rows), default=0)
    pitch = min(much * FEW_COLUMNS.get(columns, COLUMN), WIDEST_COLUMN)
    strip = any(row["cols"] == 0 for row in card_rows)
    head = much * (text.width(label) + text.width(sub, "sub")) + 58
    shape, _, role = sub.partition(" · ")  # the role leaves its room to the shape
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
    """Values meet a card at its value row; gradients arrive at `.grad` and start from the seed."""
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
    """How far below the middle a gradient leaves the card of a root, if a call from another root passes through it."""
    return card_anchors(size, [row for row in card_rows if row["key"] != "seed"]).left_back


def under(card_rows: Sequence[RowSize]) -> float:
    """The distance that routes between lines keep below a card with gradients: it may glow, and the wires of its last
    row run around it if that is one line of cells, a value in several columns or a gradient."""
    wired = [row for row in card_rows[-1:] if row["rows"] == 1 and (row["cols"] > 1 or row["key"] != "value")]
    return WIRES if wired else HALO


def op_size(label: str, sub: str, saved: bool, zoom: float) -> Size:
    """The natural size of an op; `zoom` as in `card_size`."""
    longest = grown(zoom) * max(len(label), len(sub))
    wide = GROWN * text.width(sub, "sub") + 17  # wide letters, as in MmBackward0
    named = GROWN_NAME * text.width(label) + 2 * BADGE
    return max(NARROWEST, 22 + round(8 * longest), round(wide), round(named)), 56 + (CHIPS if saved else 0)


def op_anchors() -> Anchors:
    """On both sides of an op, values above the middle and gradients below it."""
    return Anchors(-OP_SHIFT, OP_SHIFT, -OP_SHIFT, OP_SHIFT)


def stub_size(label: str, zoom: float) -> Size:
    """The natural size of a further use of a leaf; `zoom` as in `card_size`."""
    name = max(1.15 * grown(zoom), GROWN_NAME) * text.width(label)
    return max(96, round(name + 42)), 38


def group_size(
    label: str, zoom: float = 1.0, dots: int = 0, is_quiet: bool = False, shapes: str = "", cells: int = 0
) -> Size:
    """The natural size of a folded group with `dots` for its parameters, or of one that receives no gradient
    (`is_quiet`), between tensors of these `shapes`; of a stack with a strip of `cells`; `zoom` as in `card_size`."""
    much, name = grown(zoom), text.width(label)
    wide = max(much, GROWN) * text.width(shapes, "sub") + 46
    least = STACK_WIDTH if cells else 0.0
    width = round(max(much * FOLDED[0], much * name + 60, GROWN_NAME * name + 44, min(wide, WIDEST_GROUP), least))
    lines = min(math.ceil(dots / ((width - 2 * DOTS_PAD) // DOT)), DOT_LINES)
    strip = math.ceil(cells / CELLS) * CELL_LINE + 4 if cells else 0
    return width, QUIET if is_quiet else FOLDED[1] + DOT * lines + strip


def saved_chips(op: int, facts: Facts) -> list[Chip]:
    """The saved values of an op, short enough for its pill; more than two become one chip."""
    record = facts.ops[op].event.node
    if record is None or not record.saved:
        return []
    chips: list[Chip] = []
    for saved in record.saved:
        if saved.tensor is None:
            content = text.scalar(saved.scalar)
        else:
            content = facts.names.get(saved.tensor) or _saved_expression(saved.tensor, facts)
            whole = saved.value is not None and facts.trace.value(saved.value).dtype.startswith("int")
            result = "indices" if whole else "result"  # for max and the poolings: where the largest elements were
            content = content or (
                result if saved.name.startswith("result") else input_place(facts.ops[op].event, saved.name)
            )
        chips.append({"name": saved.name, "text": f"saved {content}", "bytes": saved.bytes})
    if len(chips) > MOST_CHIPS:
        total = sum(chip["bytes"] for chip in chips)
        return [{"name": "saved", "text": f"saved {len(chips)} values", "bytes": total}]
    if len(chips) == MOST_CHIPS:
        for chip in chips[1:]:
            chip["text"] = chip["text"].removeprefix("saved ")
    return chips


def input_place(event: OpCalled, name: str) -> str:
    """`input 2`: the place of an op's input that has no name and no short expression."""
    tensors = [i.name for i in event.inputs if i.tensor is not None]
    return f"input {tensors.index(name) + 1}" if len(tensors) > 1 and name in tensors else "input"


def _saved_expression(tensor: int, facts: Facts) -> str:
    expression = expression_of(tensor, facts)
    return expression if len(expression) <= SHORT else ""


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
    label = facts.names.get(item.tensor) or (
        fact.leaf.source if fact.leaf is not None and fact.leaf.source not in ("seen", "edited") else ""
    )
    if not label:
        call = call_of(fact, facts) if item.role == "root" else ""
        label = expression_of(item.tensor, facts) or call or _kind(fact)
    label += facts.mark(item.tensor, item.version)
    role = {"leaf": "leaf", "root": "root", "constant": "constant", "inner": ""}[item.role]
    if item.kind == "stub":
        return label, text.shape(fact.shape), f"{label}: the same tensor, drawn again where it is used"
    size = text.shape(fact.shape)
    sub = f"{size} · {role}" if role else size
    grad = "requires grad" if fact.requires_grad else "no grad"
    return label, sub, f"{label}: {size}, {fact.dtype}, {grad}"


def call_of(fact: TensorFact, facts: Facts) -> str:
    """`mse_loss(…)`: the op that made a tensor whose expression is too long; "" for one that is written as a sign."""
    op = fact.producers.get(fact.first)
    if op is None:
        return ""
    event = facts.ops[op].event
    form = labels.presentation(event)
    return "" if form.sign or form.indexing else f"{labels.written_name(event)}(…)"


def _kind(fact: TensorFact) -> str:
    """A description of a tensor without a name and without a short expression."""
    if fact.shape:
        return "tensor"
    return "truth value" if fact.dtype.removeprefix("torch.") == "bool" else "number"


def _is_in_module(event: OpCalled, facts: Facts) -> bool:
    """Return whether an op is a step of a library's module that the same expression called."""
    before = facts.trace.events[max(0, event.index - 50) : event.index]
    entered = next((one for one in reversed(before) if isinstance(one, GroupEntered)), None)
    return entered is not None and entered.stack == event.stack


def expression_of(tensor: int, facts: Facts) -> str:
    """The program's expression for a tensor without a name, if it is short: `y.sum()`; else "".

    After a write it is still the expression that created the tensor: after `y[:2].mul_(10)` it is `y[:2]`.
    """
    fact = facts.tensors.get(tensor)
    op = fact.producers.get(fact.first) if fact is not None else None
    if op is None or len(facts.ops[op].event.outputs) > 1 or facts.ops[op].order:
        return ""
    if facts.errors and _is_in_module(facts.ops[op].event, facts):
        return ""  # a step of `net(x)`, which failed
    frame = facts.frames.get(facts.ops[op].event.stack)
    expression = source(facts.trace, frame, NAME + 1) if frame is not None else ""
    try:
        ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError):
        return ""  # a statement, or an expression that was cut
    return expression if 0 < len(expression) <= NAME else ""
