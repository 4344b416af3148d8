import assert from "node:assert/strict";
import { test } from "node:test";

import { contrast, readOn } from "../../../assets/js/paint/flame.mjs";
import { chartOf, followStep, isWhole, shiftView, spanAt, viewOf, waysOf, zoomView } from "../../../assets/js/scene/flame.mjs";
import { case1 } from "../fixtures/case1.mjs";

const small = case1();
const span = (start, end, row, within, label, norm = null) => ({ start, end, row, within, label, norm, kind: norm === null ? "forward" : "backward", group: null, say: "", code: null });
const steps = Array.from({ length: 100 }, () => small.steps[0]);
const spans = [
  span(0, 50, 0, null, "forward"), span(0, 50, 1, 0, "model"), span(0, 20, 2, 1, "blocks.0"), span(20, 50, 2, 1, "blocks.1"),
  span(50, 100, 0, null, "loss.backward()", 1), span(50, 80, 1, 4, "blocks.1", 0.1), span(80, 100, 1, 4, "blocks.0", 0.001),
];
const scene = { ...small, steps, spans };

test("a small program keeps its lane, a large one and one with more steps than there is room has a chart", () => {
  assert.equal(chartOf(small, 900), null);
  assert.equal(chartOf({ ...small, spans: [span(0, 14, 0, null, "forward"), span(0, 9, 1, 0, "f")] }, 900), null);
  assert.equal(chartOf(scene, 900)?.rows.length, 2);
  const flat = { ...scene, spans: [spans[0], spans[4]] };
  assert.equal(chartOf(flat, 900), null);
  assert.equal(chartOf(flat, 300)?.rows.length, 1);
});

test("the model as a whole has no row of its own, and rows are found by time", () => {
  const [phases, modules] = chartOf(scene, 900).rows;
  assert.deepEqual([phases, modules].map(({ name, spans: all }) => [name, all.map(({ label }) => label)]),
    [["phase", ["forward", "loss.backward()"]], ["module", ["blocks.0", "blocks.1", "blocks.1", "blocks.0"]]]);
  assert.deepEqual([0, 19.9, 20, 79, 80, 100].map((t) => spanAt(modules, t)?.start ?? null), [0, 0, 20, 50, 80, null]);
});

test("a gradient is darker on the scale of the graph, or on one of its own over two decades at least", () => {
  const { look } = chartOf(scene, 900);
  assert.deepEqual([0.001, 1, 0, "inf", null].map((norm) => look(norm)), [
    { kind: "level", part: 0 }, { kind: "level", part: 1 }, { kind: "zero", part: 0 }, { kind: "odd", part: 1 }, { kind: "none", part: 0 }]);
  const even = chartOf({ ...scene, spans: spans.map((one) => ({ ...one, norm: one.norm && 1 })) }, 900);
  assert.deepEqual([1, 0.1].map((norm) => even.look(norm).part), [1, 0.5], "equal ones do not differ in colour");
  assert.equal(chartOf({ ...scene, norms: [0.01, 100] }, 900).look(1).part, 0.5);
});

test("zooming keeps the moment under the pointer, and the view in time", () => {
  const near = zoomView({ from: 0, to: 100 }, 100, 30, 4);
  assert.deepEqual(near, { from: 22.5, to: 47.5 });
  assert.deepEqual(zoomView(near, 100, 30, 1 / 4), { from: 0, to: 100 });
  assert.ok(isWhole(zoomView(near, 100, 30, 0.01), 100));
  assert.ok(zoomView(near, 100, 30, 1e6).to - zoomView(near, 100, 30, 1e6).from >= 6);
  assert.deepEqual(shiftView(near, 100, 1000), { from: 75, to: 100 });
  assert.deepEqual(shiftView(near, 100, -1000), { from: 0, to: 25 });
  const one = viewOf({ start: 0, end: 50 }, 100);
  assert.ok(one.from === 0 && one.to >= 50 && one.to < 56);
});

test("the view goes along with a step that leaves it, on either side, and stays where it sees it", () => {
  const view = { from: 40, to: 60 };
  assert.equal(followStep(view, 100, 45, 50), view);
  for (const [start, end] of [[60, 63], [80, 90], [97, 100], [30, 41], [0, 2], [10, 90]]) {
    const { from, to } = followStep(view, 100, start, end);
    assert.ok(Math.abs(to - from - 20) < 1e-9);
    assert.ok(from <= end && to >= end, `the end of ${start} to ${end} is seen`);
    if (end - start <= 16) assert.ok(from <= start, `the begin of ${start} to ${end} is seen`);
  }
});

test("an update takes little room until one goes into it, and places are those of times", () => {
  const update = { ...span(100, 1100, 0, null, "AdamW.step"), kind: "write" };
  const long = { ...scene, steps: Array.from({ length: 1100 }, () => small.steps[0]), spans: [...spans, update] };
  const [closed, open] = [chartOf(long, 900).axis, chartOf(long, 900, () => true).axis];
  assert.deepEqual([closed.total, open.total], [115, 1100]);
  for (const axis of [closed, open]) for (const t of [0, 13, 50, 99.5, 100, 600, 1100]) assert.ok(Math.abs(axis.time(axis.place(t)) - t) < 1e-6);
  assert.deepEqual([50, 100, 600].map(closed.place), [50, 100, 107.5]);
});

test("labels are shortened to what tells a module from its neighbours", () => {
  assert.deepEqual(waysOf(spans[2]), ["blocks.0", ".0"]);
  assert.equal(waysOf(spans[4]).at(-1), "backward");
  assert.deepEqual(["AdamW.step", "opt.zero_grad(set_to_none=True)", "forward"].map((label) => waysOf(span(0, 9, 0, null, label)).at(-1)), ["AdamW", "zero_grad", "forward"]);
  assert.deepEqual(waysOf(span(0, 9, 1, 0, "head")), ["head"]);
});

test("what is read best on a colour is found", () => {
  const tokens = { ink: "#1b2430", panel: "#ffffff", bg: "#f6f7f9" };
  assert.deepEqual(["#ffffff", "#000000", "#ffd0b0"].map((fill) => readOn(fill, tokens).ink), ["#1b2430", "#ffffff", "#1b2430"]);
  assert.ok(Math.abs(contrast("#000000", "#ffffff") - 21) < 0.01 && Math.abs(contrast("#767676", "#ffffff") - 4.54) < 0.01);
});
