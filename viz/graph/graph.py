"""From a trace to the graph that is drawn: tensors that have a name or a role, ops, and the edges between them.

An unnamed result between two ops has no card: its edge goes from op to op. A leaf that is used far away is drawn again
as a stub at each such use, because one card with edges across the whole picture hides everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace

import networkx as nx

from engine.trace.events import OpCalled

from ..reading import text
from ..reading.error_tensors import error_tensors
from ..reading.facts import Facts
from ..schema.scene import NodeKind, Role
from .groups import Grouping
from .placement import group_of, group_of_leaf

MOST_INPUTS = 8
"""Constants beside each other without a model; more of them are a part of the data."""
NEAR = 3
"""The number of ranks (ops in a row) after a leaf's first use within which further uses have edges from its card."""
MANY = 16
"""The number of uses of a leaf above which even near ones have stubs."""


@dataclass(frozen=True, slots=True)
class Item:
    """Anything that is drawn as one node. `op` is the op's index, `tensor` and `version` belong to a card or a stub."""

    id: str
    kind: NodeKind
    role: Role
    tensor: int | None = None
    version: int = 0
    op: int | None = None
    twin: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An edge into input `position` of op `op`, or (op None) from an op to the card of its output `position`.

    `tensor` and `version` say what flows; `slot` is the edge's position in the node record, None if no gradient can
    travel. Without `value` only gradients travel (`gradient_paths`).
    """

    id: str
    source: str
    target: str
    op: int | None
    position: int
    input: str | None
    tensor: int
    version: int
    slot: int | None
    grad: bool
    value: bool = True


@dataclass(slots=True, weakref_slot=True, eq=False)
class Drawing:
    """The graph, with ways to find things in it. `graph` has an `item` per node and a `link` per edge."""

    graph: nx.MultiDiGraph
    facts: Facts
    grouping: Grouping
    items: dict[str, Item] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    cards: dict[tuple[int, int], str] = field(default_factory=dict)
    into: dict[int, list[Link]] = field(default_factory=lambda: defaultdict(list))
    out_of: dict[int, list[Link]] = field(default_factory=lambda: defaultdict(list))
    users: dict[str, int] = field(default_factory=dict)
    stubs: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    data_links: dict[str, Link] = field(default_factory=dict)
    """The link to a card of x from the tensor that `x.data = y` gave it."""
    older: dict[str, Link] = field(default_factory=dict)
    """By card: the link by which gradients continue to the tensor as it was before an unrecorded write,"""
    newer: dict[str, Link] = field(default_factory=dict)
    """and the same links by their other end."""
    failing: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The tensors that an error is about, by its event."""

    def twin(self, ident: str) -> str | None:
        """The card that a stub is drawn as where edges lead into a folded group from a leaf itself; None for others.

        A parameter stays in the call that owns it.
        """
        item = self.items[ident]
        if item.twin is None or item.role != "leaf" or self.items[item.twin].group in self.grouping.owners:
            return None
        return item.twin

    def card(self, tensor: int) -> str | None:
        """The newest card of a tensor."""
        fact = self.facts.tensors.get(tensor)
        versions = reversed(fact.versions) if fact is not None else ()
        return next((self.cards[tensor, v] for v in versions if (tensor, v) in self.cards), None)

    def place(self, tensor: int) -> str | None:
        """The node that shows a tensor: its card, else the op that computed it."""
        node = self.card(tensor)
        if node is None and tensor in self.facts.tensors:
            fact = self.facts.tensors[tensor]
            op = self.facts.producer(tensor, fact.last) if fact.versions else None
            node = self.facts.ops[op].id if op is not None and self.facts.ops[op].id in self.items else None
        return node


def tensor_id(tensor: int, version: int, first: int) -> str:
    """The id of a card; a tensor's first version is not written.

    >>> tensor_id(3, 0, 0), tensor_id(3, 2, 0)
    ('t3', 't3.2')
    """
    return f"t{tensor}" if version == first else f"t{tensor}.{version}"


def draw(facts: Facts, grouping: Grouping) -> Drawing:
    """The whole graph, nothing folded. Cost: linear in events and edges."""
    drawing = Drawing(nx.MultiDiGraph(), facts, grouping)
    ops = [op for op in facts.ops if op.writes_grad is None]
    drawing.failing = {error.index: error_tensors(facts, error) for error in facts.errors}
    special = facts.retained.keys() | facts.receives | {one for tensors in drawing.failing.values() for one in tensors}
    for (tensor, version), role in _cards(facts, special).items():
        if role == "inner" and tensor not in special and _is_between(facts, grouping, tensor, version):
            continue
        ident = tensor_id(tensor, version, facts.tensors[tensor].first)
        drawing.cards[tensor, version] = ident
        drawing.items[ident] = Item(
            ident, "tensor", role, tensor, version, None, None, group_of(facts, grouping, tensor, version)
        )
    for op in ops:
        ident = op.id
        op_role: Role = "inner" if any(o.requires_grad for o in op.event.outputs) else "constant"
        drawing.items[ident] = Item(ident, "op", op_role, op=op.index, group=grouping.of.get(op.index))
    _writes(drawing)
    _link_data(drawing)
    stubs = _stubs(facts, grouping, drawing)
    _feed(drawing)
    for op in ops:
        _inputs(drawing, op.event, op.index, stubs)
        _outputs(drawing, op.event, op.index)
    _histories(drawing)
    _order(drawing)
    return drawing


def _cards(facts: Facts, special: Set[int]) -> Mapping[tuple[int, int], Role]:
    """The versions of tensors that have a card, and their role, in order of appearance; a `special` tensor is one that
    a step or an error is about."""
    cards: dict[tuple[int, int], Role] = {}
    for tensor, fact in facts.tensors.items():
        if _is_gradient(facts, tensor):
            continue
        root = tensor in facts.roots
        named = tensor in facts.trace.names or root or tensor in special
        for version in fact.values:
            producer = fact.producers.get(version)
            uses = facts.uses.get((tensor, version))
            if producer is None:
                if version != fact.first and not uses and (not root or tensor in facts.owner):
                    continue  # a gradient that a later call adds to is shown in the row of its leaf
                if fact.requires_grad or uses or root or tensor in special:
                    leaf = version in fact.leaf_versions
                    inner = version != fact.first and fact.requires_grad  # computed, and written through a view
                    cards[tensor, version] = "root" if root else "leaf" if leaf else "inner" if inner else "constant"
                continue
            op = facts.ops[producer]
            if op.writes_grad is not None:
                continue
            if len(op.event.outputs) > 1 and not (uses or root or fact.requires_grad or tensor in special):
                continue  # rows of `for row in rows` that no op takes would be a tower of loose cards
            leaf = version in fact.leaf_versions
            if not (named or leaf or (not uses and op.order == 0) or (uses and _is_unrecorded(facts, tensor, version))):
                continue
            quiet = not fact.requires_grad
            cards[tensor, version] = "root" if root else "leaf" if leaf else "constant" if quiet else "inner"
        if root:
            _latest_root(facts, tensor, cards)
    _drop_data_results(facts, cards)
    return cards


def _is_gradient(facts: Facts, tensor: int) -> bool:
    """Return whether a tensor is only the `.grad` of a leaf: a row of a card, without a card of its own.

    A tensor that an op used before it belonged to a leaf is more than that.
    """
    if tensor not in facts.owner or tensor in facts.before:
        return False
    producers = facts.tensors[tensor].producers.values()
    return all(op is None or facts.ops[op].writes_grad is not None for op in producers)


def _is_unrecorded(facts: Facts, tensor: int, version: int) -> bool:
    """Return whether a tensor with a history has its values from a write that is not part of it."""
    fact = facts.tensors[tensor]
    producer = fact.producers.get(version)
    return (producer is None or facts.node(producer) is None) and version in fact.history


def _is_between(facts: Facts, grouping: Grouping, tensor: int, version: int) -> bool:
    """Return whether a large tensor only connects two parts of a model.

    An edge stands for it: a card for each would hide the parts.
    """
    op = facts.tensors[tensor].producers.get(version)
    if op is None or not grouping.model or grouping.of.get(op) is not None:
        return False
    return text.size(facts.tensors[tensor].shape) > text.SMALL


def _drop_data_results(facts: Facts, cards: dict[tuple[int, int], Role]) -> None:
    """The result of `x.data = x.data - …` and `x.data -= …` is drawn on the next card of x only."""
    for tensor, fact in facts.tensors.items():
        for version, source in fact.data_sources.items():
            if (tensor, version) not in cards or facts.uses.get(source) or cards.get(source) != "constant":
                continue
            if (facts.names.get(source[0]) or "").endswith(".data"):
                del cards[source]


def _latest_root(facts: Facts, tensor: int, cards: dict[tuple[int, int], Role]) -> None:
    """Draw only the newest version of a tensor from which backward calls start as a root."""
    fact = facts.tensors[tensor]
    versions = [version for version in fact.versions if (tensor, version) in cards]
    for version in versions[:-1]:
        cards[tensor, version] = "leaf" if version in fact.leaf_versions else "inner"


def _ranks(facts: Facts) -> list[int]:
    """The number of ops in a row before each op."""
    ranks: list[int] = []
    for op in facts.ops:
        rank = 0
        for source in op.sources:
            if source.op is not None and source.op < op.index:
                rank = max(rank, ranks[source.op] + 1)
        ranks.append(rank)
    return ranks


def _stubs(facts: Facts, grouping: Grouping, drawing: Drawing) -> set[tuple[str, int]]:
    """The uses that are drawn from a stub, as (card, op)."""
    ranks = _ranks(facts)
    far: set[tuple[str, int]] = set()
    for (tensor, version), ident in drawing.cards.items():
        if (
            drawing.items[ident].role not in ("leaf", "constant", "root")
            or facts.tensors[tensor].producers.get(version) is not None
        ):
            continue
        ops = list(dict.fromkeys(op for op, _ in facts.uses.get((tensor, version), ())))
        if len(ops) < 2:
            continue
        owner = drawing.items[ident].group
        if owner in grouping.owners:  # calls before that of its owner, and after it, use stubs
            far |= {(ident, op) for op in ops if owner not in grouping.paths[grouping.of.get(op)]}
            ops = [op for op in ops if (ident, op) not in far]
        if not ops:
            continue
        first = min(ranks[op] for op in ops)
        home = grouping.of.get(ops[0])
        for i, op in enumerate(ops):
            near = ranks[op] - first <= NEAR and i < MANY and grouping.of.get(op) == home
            if i and not near:
                far.add((ident, op))
        if not facts.tensors[tensor].requires_grad and home is not None:  # its place is where it is used first;
            item = drawing.items[ident]  # a leaf that receives a gradient from several groups is outside of them
            place = group_of_leaf(facts, grouping, tensor, version, home)
            drawing.items[ident] = Item(ident, "tensor", item.role, tensor, version, None, None, place)
    return far


def _feed(drawing: Drawing) -> None:
    """Put inputs that pass no gradient on beside the data: those of a model, as batches, initial states and dropout
    masks, and where there are many, those of any program, as the replay memory of an agent."""
    grouping = drawing.grouping
    data = next((g for g, part in grouping.quiet.items() if part == "data" and grouping.within[g] is None), None)
    if data is None:
        return
    inputs = [
        item for item in drawing.items.values()
        if item.role == "constant" and item.op is None and item.group is None and item.tensor is not None
        and drawing.facts.tensors[item.tensor].producers.get(item.version) is None
    ]  # fmt: skip
    for item in inputs if grouping.model or len(inputs) > MOST_INPUTS else []:
        drawing.items[item.id] = replace(item, group=data)


def _source(drawing: Drawing, tensor: int, op: int, position: int) -> str | None:
    """The node that hands `tensor` to an op: its card, the op that computed it, or the leaf whose gradient it is then.

    Values that the program assigns later hand on nothing that was computed before.
    """
    facts = drawing.facts
    version, producer, owner = facts.ops[op].sources[position]
    if version is not None and (tensor, version) in drawing.cards:
        own = facts.tensors[tensor].producers.get(version)
        if own == producer or (own is None and _writes_unrecorded(facts, producer)):
            return drawing.cards[tensor, version]
    if producer is not None and facts.ops[producer].id in drawing.items:
        return facts.ops[producer].id
    if version is not None and (tensor, version) in drawing.cards:
        return drawing.cards[tensor, version]
    fact = facts.tensors.get(owner) if owner is not None else None
    if owner is None or fact is None:
        return None
    now = facts.ops[op].event.index
    return next((drawing.cards[owner, then] for then in fact.before(now) if (owner, then) in drawing.cards), None)


def _writes_unrecorded(facts: Facts, op: int | None) -> bool:
    """Return whether an op only wrote: the written tensor keeps its history, and the op passes no gradient on."""
    return op is not None and facts.ops[op].event.inplace is not None and facts.ops[op].event.node is None


def slots(event: OpCalled) -> dict[int, int]:
    """The edge of the node for each input position.

    If inputs have the same name, edges belong to the last ones: before the inputs of a write, a base lists its view.
    """
    if event.node is None:
        return {}
    free: dict[str, list[int]] = defaultdict(list)
    for position, argument in enumerate(event.inputs):
        if argument.tensor is not None:
            free[argument.name].append(position)
    result = {}
    for slot, name in reversed(list(enumerate(event.node.inputs))):
        if free.get(name):
            result[free[name].pop()] = slot
    return result


def _inputs(drawing: Drawing, event: OpCalled, index: int, stubs: set[tuple[str, int]]) -> None:
    places = slots(event)
    own = drawing.facts.ops[index].id
    for position, argument in enumerate(event.inputs):
        if argument.tensor is None or argument.tensor not in drawing.facts.tensors:
            continue
        source = _source(drawing, argument.tensor, index, position)
        if source is None or source == own:
            continue
        if (source, index) in stubs:
            source = _stub(drawing, source, index)
        slot = places.get(position)
        grad = slot is not None and event.node is not None and event.node.edges[slot] is not None
        version = drawing.facts.ops[index].sources[position].version
        _link(drawing, Link(
            f"e{source}>{own}:{position}", source, own, index, position, argument.name, argument.tensor,
            version if version is not None else argument.version, slot if grad else None, grad,
        ))  # fmt: skip


def _stub(drawing: Drawing, source: str, index: int) -> str:
    ident = f"{source}@{drawing.facts.ops[index].id}"
    if ident not in drawing.items:
        item = drawing.items[source]
        group = drawing.grouping.of.get(index)
        drawing.items[ident] = Item(ident, "stub", item.role, item.tensor, item.version, None, source, group)
        drawing.users[ident] = index
        if item.tensor is not None:
            drawing.stubs[item.tensor].append(ident)
    return ident


def _outputs(drawing: Drawing, event: OpCalled, index: int) -> None:
    for position, out in enumerate(event.outputs):
        card = drawing.cards.get((out.tensor, out.version))
        if card is not None:
            own = drawing.facts.ops[index].id
            _link(drawing, Link(
                f"e{own}>{card}:{position}", own, card, None, position, None, out.tensor, out.version, None,
                out.requires_grad and event.node is not None,
            ))  # fmt: skip


def _writes(drawing: Drawing) -> None:
    """Link a version that a write through another name of the same storage made to that write."""
    facts = drawing.facts
    for (tensor, version), card in drawing.cards.items():
        fact = facts.tensors[tensor]
        writer = facts.producer(tensor, version)
        if version != fact.first and fact.producers.get(version) is None and _writes_unrecorded(facts, writer):
            own = facts.ops[writer].id if writer is not None else None
            if own in drawing.items:
                _link(drawing, Link(f"e{own}>{card}:0", own, card, None, 0, None, tensor, version, None, False))


def _link_data(drawing: Drawing) -> None:
    """After `x.data = y`, x comes from y; after `x.data -= y`, from that op. No gradient travels this way."""
    facts = drawing.facts
    for (tensor, version), card in drawing.cards.items():
        fact = facts.tensors[tensor]
        if version not in fact.data_sources:
            continue
        source, source_version = fact.data_sources[version]
        table_version = facts.resolve(source, source_version)
        own = drawing.cards.get((source, source_version if table_version is None else table_version))
        if own is None and (producer := facts.producer(source, source_version)) is not None:
            own = facts.ops[producer].id
        if own in drawing.items and own != card:
            link = Link(f"e{own}>{card}:data", own, card, None, 0, None, tensor, version, None, False)
            if version in fact.replaced:  # it is a step of its own
                drawing.links[link.id] = drawing.data_links[card] = link
            else:
                _link(drawing, link)


def _histories(drawing: Drawing) -> None:
    """Link a tensor that was written without a record to its earlier version, along which only gradients travel.

    Such a write changes the values and not the history.
    """
    facts, cards = drawing.facts, drawing.cards
    places = {drawing.items[link.source].twin or link.source for link in drawing.links.values() if link.grad}
    places |= {card for root in facts.roots if (card := drawing.card(root)) is not None}
    todo = [key for key, card in cards.items() if card in places]
    while todo:
        tensor, version = todo.pop()
        card, producer = cards[tensor, version], facts.tensors[tensor].history.get(version)
        if producer is None or card in drawing.older or not _is_unrecorded(facts, tensor, version):
            continue
        fact, event = facts.tensors[tensor], facts.ops[producer].event
        before = next(((tensor, v) for v in reversed(fact.versions) if v < version and (tensor, v) in cards), None)
        nr = next(nr for nr, out in enumerate(event.outputs) if out.tensor == tensor)
        source = facts.ops[producer].id
        if before is not None and fact.history.get(before[1]) == producer:
            source = cards[before]
            todo.append(before)
        link = Link(f"e{source}>{card}:older", source, card, None, nr, None, tensor, version, None, True, value=False)
        drawing.links[link.id] = drawing.older[card] = drawing.newer[source] = link


def _link(drawing: Drawing, link: Link) -> None:
    drawing.links[link.id] = link
    if link.op is not None:
        drawing.into[link.op].append(link)
    elif (op := drawing.items[link.source].op) is not None:
        drawing.out_of[op].append(link)


def _order(drawing: Drawing) -> None:
    """Put nodes into the graph in the order of the program: layouts keep this order unless something else decides."""
    facts = drawing.facts

    def when(item: Item) -> tuple[int, int]:
        if item.op is not None:
            return facts.ops[item.op].event.index, 1
        if item.twin is not None:
            return facts.ops[drawing.users[item.id]].event.index, 0
        producer = facts.tensors[item.tensor].producers.get(item.version) if item.tensor is not None else None
        fact = facts.tensors[item.tensor] if item.tensor is not None else None
        at = facts.ops[producer].event.index if producer is not None else fact.event if fact is not None else 0
        return at, 2 if producer is not None else 0

    for item in sorted(drawing.items.values(), key=when):
        drawing.graph.add_node(item.id, item=item)
    for link in drawing.links.values():
        drawing.graph.add_edge(link.source, link.target, key=link.id, link=link)
