import assert from "node:assert/strict";
import { test } from "node:test";

import { at, callStarts, changedBy, clampTime, currentStep, executionOrder, nextCall, phaseIndex, previousCall,
  isNamed, phaseLabels, runTo, shorterLabels, stepsOf, strokeStride, withLabelOf } from "../../../assets/js/scene/timeline.mjs";
import { case1 } from "../fixtures/case1.mjs";

const TRACK = [[0, "a"], [3, "b"], [3, "c"], [10, null], [12, "d"]];
const scene = case1();
const edges = new Map(scene.edges.map((edge) => [edge.id, edge]));

test("a track holds its last value that has begun", () => {
  for (const [t, value] of [[-1, null], [0, "a"], [2.999, "a"], [3, "c"], [9.5, "c"], [10, null], [11.9, null], [12, "d"], [1e9, "d"]]) {
    assert.equal(at(TRACK, t), value);
  }
  assert.equal(at([], 3), null);
});

test("the binary search agrees with reading from the front", () => {
  const track = Array.from({ length: 200 }, (_, i) => [Math.floor(i * 1.7), i]);
  for (let t = -1; t < 360; t += 0.5) {
    const slow = track.filter((pair) => pair[0] <= t).at(-1)?.[1] ?? null;
    assert.equal(at(track, t), slow);
  }
});

test("a step changes the pair after it", () => {
  assert.ok(changedBy(TRACK, 2));
  assert.ok(!changedBy(TRACK, 3));
  assert.ok(changedBy(TRACK, 9));
  assert.ok(!changedBy(TRACK, 100));
});

test("the current step is the running one, else the one just done", () => {
  assert.deepEqual([0, 0.001, 0.5, 1, 1.001, 2].map(currentStep), [-1, 0, 0, 0, 1, 1]);
});

test("time stays within the scene", () => {
  assert.deepEqual([-3, NaN, 99, 2.5].map((t) => clampTime(scene, t)), [0, 0, 14, 2.5]);
});

test("every step lies in one phase", () => {
  for (let k = 0; k < scene.steps.length; k++) {
    const phase = scene.phases[phaseIndex(scene, k)];
    assert.ok(phase.start <= k && k < phase.end);
    assert.equal(scene.phases.indexOf(phase), scene.steps[k].phase);
  }
  assert.equal(phaseIndex(scene, 99), -1);
});

test("backward calls follow one another in both directions", () => {
  assert.deepEqual(callStarts(scene), [2, 5, 8, 11]);
  assert.deepEqual([0, 2, 6.5, 11].map((t) => nextCall(scene, t)), [2, 5, 8, 14]);
  assert.deepEqual([14, 11, 5.5, 2].map((t) => previousCall(scene, t)), [11, 8, 5, 0]);
});

test("run to node stops where its next step is done, and starts over after the last", () => {
  assert.deepEqual(stepsOf(scene, edges, "n1"), [1, 11]);
  assert.deepEqual([0, 2, 11.5, 12].map((t) => runTo(scene, edges, "n1", t)), [2, 12, 12, 2]);
  assert.equal(runTo(scene, edges, "nowhere", 0), null);
});

test("nodes are ordered as they run, inputs first", () => {
  assert.deepEqual(executionOrder(scene), ["t0", "n0", "t1", "n1", "t2"]);
});

test("a phase is written shorter in whole words only", () => {
  assert.deepEqual(shorterLabels("loss.backward()"), ["loss.backward()", "backward()"]);
  assert.deepEqual(shorterLabels("torch.autograd.grad(y, x)"), ["torch.autograd.grad(y, x)", "torch.autograd.grad(\u2026)", "grad(\u2026)"]);
  assert.equal(shorterLabels("(x * x).sum().backward()").at(1), "backward()");
  assert.deepEqual(shorterLabels("w -= 0.1 * w.grad"), ["w -= 0.1 * w.grad", "w -= \u2026"]); // `w` alone is no call
  assert.deepEqual(shorterLabels("x.grad = torch.zeros(3)"), ["x.grad = torch.zeros(3)", "x.grad = \u2026"]);
  assert.deepEqual(shorterLabels("forward"), ["forward"]);
});

const phase = (kind, label, start, end, more = {}) => ({ kind, label, start, end, call: kind === "backward" ? start : null, code: null, failed: false, ...more });
const written = (phases, unit) => phaseLabels(phases, (t) => t * unit, (text) => 7 * text.length);

test("a label keeps to its own phase, whatever the moment, and calls that are written alike are shortened alike", () => {
  const phases = [phase("forward", "forward", 0, 2), phase("backward", "loss.backward()", 2, 6), phase("write", "w -= 0.25 * w.grad", 6, 7), phase("backward", "loss.backward()", 7, 10)];
  for (const unit of [12, 25, 30, 40, 60, 200]) {
    const labels = written(phases, unit);
    for (const { first, last, from, text } of labels) {
      assert.equal(from, phases[first].start * unit);
      assert.ok(from + 7 * text.length <= phases[last].end * unit - 8, `${unit}: ${text}`);
    }
    assert.ok(new Set(labels.filter(({ text }) => text.includes("backward")).map(({ text }) => text)).size <= 1, unit);
    assert.ok(labels.every(({ text }) => text !== "w"));
  }
  assert.deepEqual(written(phases, 30).map(({ text }) => text), ["forward", "backward()", "backward()"]);
  assert.equal(written(phases, 200)[2].text, "w -= 0.25 * w.grad");
});

test("one call of the program that runs several passes has one label, two calls have two", () => {
  const code = (line) => ({ file: 0, line, end: line, col: 0, stop: 9 });
  const check = [1, 2, 3].map((k) => phase("backward", "gradcheck(f, x)", k, k + 1, { code: code(4) }));
  assert.deepEqual(written([...check, phase("forward", "gradcheck(f, x)", 4, 5, { failed: true })], 40).map(({ first, last }) => [first, last]), [[0, 3]]);
  const failing = [phase("backward", "grad(y, x)", 0, 2, { code: code(4) }), phase("backward", "grad(y, x)", 2, 3, { call: null, failed: true })];
  assert.equal(written(failing, 90).length, 1);
  for (const line of [4, 5]) {
    const again = [phase("backward", "y.backward()", 0, 2, { code: code(4) }), phase("backward", "y.backward()", 2, 4, { code: code(line) })];
    assert.equal(written(again, 90).length, 2);
  }
});

test("strokes thin out so that two never touch", () => {
  assert.equal(strokeStride(10, 1000), 1);
  for (const count of [300, 3000, 100000]) {
    const stride = strokeStride(count, 1000);
    assert.ok((1000 / count) * stride >= 6);
    assert.match(String(stride), /^[125]0*$/);
  }
});

test("calls of a loop that have no room one by one have one label over all rounds", () => {
  const rounds = (n, label, more = () => ({})) => Array.from({ length: n }, (_, k) => [phase("forward", "forward", 8 * k, 8 * k + 4), phase("backward", label, 8 * k + 4, 8 * k + 8, more(k))]).flat();
  assert.deepEqual(written(rounds(6, "out.backward()"), 10), [{ first: 1, last: 11, from: 40, text: "out.backward() \u00d7 6" }]);
  assert.deepEqual(written(rounds(6, "out.backward(one_hot, retain_graph=True)"), 10).map(({ text }) => text), ["out.backward(one_hot, retain_graph=True) \u00d7 6"]);
  const unlike = rounds(3, "").map((one, k) => (one.kind === "forward" ? one : { ...one, label: `out.backward(e[${k}])` }));
  assert.deepEqual(written(unlike, 10).map(({ text }) => text), ["out.backward(\u2026) \u00d7 3"]);
  assert.deepEqual(written(rounds(6, "jacobian(f, a)"), 8).map(({ text }) => text), ["jacobian(f, a)"], "it runs its passes itself");
  assert.deepEqual(written(rounds(6, "out.backward()"), 2), [], "and none where that has no room either");
  const wider = rounds(4, "loss.backward()").toSpliced(3, 0, phase("write", "w.grad = None", 8, 8 + 12));
  assert.deepEqual(written(wider, 10).map(({ text }) => text), ["w.grad = None"], "it covers no other label");
});

test("calls of one name are shortened alike, whatever their arguments, and other calls are not", () => {
  const phases = [phase("backward", "out.backward(weights, retain_graph=True)", 0, 20), phase("backward", "out.backward(weights)", 20, 30), phase("backward", "loss.backward()", 30, 50)];
  assert.deepEqual(written(phases, 10).map(({ text }) => text), ["backward(\u2026)", "backward(\u2026)", "loss.backward()"]);
  assert.deepEqual(written(phases, 12).map(({ text }) => text), ["out.backward(\u2026)", "out.backward(\u2026)", "loss.backward()"]);
  assert.deepEqual(written(phases, 30).map(({ text }) => text), phases.map(({ label }) => label));
});

/** The labels with that of phase `i`, `unit` px a step and 7 px a letter. */
function withCurrent(phases, i, unit) {
  const [x, wide] = [(t) => t * unit, (text) => 7 * text.length];
  return withLabelOf(phaseLabels(phases, x, wide), phases, i, { x, wide, end: x(phases.at(-1).end) });
}

test("the phase that one looks at is named where its segment is too narrow: as long as leaves the others, else the shortest way", () => {
  const far = [phase("forward", "forward", 0, 8), phase("backward", "y.backward(a, b)", 8, 28), phase("backward", "z.backward(weights)", 28, 29)];
  const named = withCurrent(far, 2, 20);
  assert.deepEqual(named.map(({ text }) => text), ["forward", "y.backward(a, b)", "z.backward(weights)"]);
  assert.equal(named[2].from + 7 * named[2].text.length, 29 * 20, "it ends with the lane");
  const close = [phase("backward", "loss.backward()", 0, 6), phase("write", "optimizer.step()", 6, 8), phase("forward", "forward", 8, 14)];
  for (const [unit, texts] of [[20, ["forward", "step()"]], [24, ["loss.backward()", "forward", "step()"]]]) {
    const labels = withCurrent(close, 1, unit);
    assert.deepEqual(labels.map(({ text }) => text), texts, String(unit));
    const spans = labels.map(({ from, text }) => [from, from + 7 * text.length]).sort((a, b) => a[0] - b[0]);
    assert.ok(spans.every(([from], k) => from >= 0 && (k === 0 || from >= spans[k - 1][1] + 8)), String(unit));
  }
  for (const i of [0, 2]) assert.deepEqual(withCurrent(close, i, 20), phaseLabels(close, (t) => 20 * t, (text) => 7 * text.length), "what has a label keeps the others");
});

test("the label of a loop's rounds names these, not what is between them", () => {
  const phases = [0, 1, 2].flatMap((k) => [phase("backward", "loss.backward()", 8 * k, 8 * k + 7), phase("write", "opt.step()", 8 * k + 7, 8 * k + 8)]);
  const [label] = withCurrent(phases, 2, 7);
  assert.equal(label.text, "loss.backward() \u00d7 3");
  assert.deepEqual(phases.map((_, i) => isNamed(label, phases, i)), [true, false, true, false, true, false]);
  assert.ok(withCurrent(phases, 3, 7).some(({ text }) => /step\(\)$/.test(text)), "which has its own name while one looks at it");
});
