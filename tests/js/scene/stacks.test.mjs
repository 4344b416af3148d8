import assert from "node:assert/strict";
import { test } from "node:test";

import { memberAt, neighbour, presentMember, stripOf, toggleFolds } from "../../../assets/js/scene/stacks.mjs";

const cellsOf = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => ({ id: `s.${first + i}`, label: `b.${first + i}`, norm: [[0, null]] }));
const stack = (id, first, last, group = null) => ({ id, kind: "group", x: 0, y: 0, w: 260, h: 120, group, cells: cellsOf(first, last) });
const group = (id, within, folded, more = {}) => ({ id, within, folded, ...more });
const span = (start, end, name) => ({ start, end, group: name });

const folded = { nodes: [stack("s", 0, 47)], groups: [group("s", null, true, { stack: true })], spans: [span(0, 8, "s"), span(0, 4, "s.47"), span(4, 8, "s.46")] };
const open = {
  nodes: [stack("s.0…s.3", 0, 3, "s"), stack("s.5…s.47", 5, 47, "s")],
  groups: [group("s", null, false, { stack: true }), group("s.0…s.3", "s", true, { stack: true }), group("s.4", "s", false), group("s.4.0", "s.4", true), group("s.5…s.47", "s", true, { stack: true })],
  spans: [],
};

test("the cells of a strip stand in equal lines inside their node, and each is found at its place", () => {
  const cells = stripOf(folded.nodes[0]);
  assert.equal(new Set(cells.map(({ y }) => y)).size, 2);
  assert.ok(cells.every(({ x, y, w, h }) => x > -130 && x + w < 130 && y > -60 && y + h < 60 && w > 4));
  for (const { cell, x, y, w, h } of cells) assert.equal(memberAt(folded.nodes[0], x + w / 2, y + h / 2), cell);
  assert.equal(memberAt(folded.nodes[0], 0, -50), null);
});

test("a stack opens at the member of the present step, and at the one that is named", () => {
  assert.equal(presentMember(folded, folded.nodes[0], 5)?.id, "s.46");
  assert.deepEqual(toggleFolds(folded, "s", 5), { s: false, "s.46": false });
  assert.deepEqual(toggleFolds(folded, "s", 0), { s: false, "s.0": false });
  assert.deepEqual(toggleFolds(folded, "s.7", 5), { s: false, "s.7": false });
});

test("where one opens the other closes, and where the open one closes the stack is one node again", () => {
  assert.deepEqual(toggleFolds(open, "s.30", 0), { "s.4": true, "s.5…s.47": false, "s.30": false });
  assert.deepEqual(toggleFolds(open, "s.4", 0), { s: true, "s.4": true });
  assert.deepEqual(toggleFolds(open, "s", 0), { s: true, "s.4": true });
  assert.deepEqual(toggleFolds(open, "s.4.0", 0), { "s.4.0": false }, "what is in a member folds as everything does");
});

test("the next member opens, and at the ends none", () => {
  assert.deepEqual(neighbour(open, 1, null), { "s.4": true, "s.5": false });
  assert.deepEqual(neighbour(open, -1, "s.4.0"), { "s.4": true, "s.3": false });
  const last = { ...open, nodes: open.nodes.slice(0, 1), groups: open.groups.slice(0, 4) };
  assert.equal(neighbour(last, 1, null), null);
  assert.equal(neighbour(folded, 1, null), null);
});
