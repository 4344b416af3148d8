import assert from "node:assert/strict";
import { test } from "node:test";

import { counterpart, keyOf, levelOf, nextStop, opennessOf, previousStop, sentence, stopAt } from "../../../assets/js/scene/levels.mjs";
import { flowsAt, prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { case1 } from "../fixtures/case1.mjs";

const small = case1();

const span = (start, end, row, kind, label, group = null, within = null) => ({ start, end, row, kind, label, group, within, say: `${label} says.`, norm: null, code: null });
const step = (kind, at, flows = []) => ({ kind, at, flows, phase: 0, name: kind, say: `${kind} ${at}.`, code: null, from: null, order: 0 });
const flow = (edge, value, back = true) => ({ edge, back, value, text: String(value), sign: 1, size: 0.5 });
const node = (id) => ({ id, kind: "group", x: 0, y: 0, rows: [], tracks: { state: [[0, "idle"]], faint: [[0, false]] } });

/** Two modules, each of two ops, forward and backward, and the step of an optimiser; `a` is folded, and so is what is in `b`. */
function trained() {
  const spans = [
    span(0, 5, 0, "forward", "forward"), span(0, 2, 1, "forward", "a", "ga", 0), span(2, 4, 1, "forward", "b", "gb", 0), span(2, 4, 2, "forward", "in b", "gin", 2),
    span(5, 10, 0, "backward", "loss.backward()"), span(6, 8, 1, "backward", "b", "gb", 4), span(8, 10, 1, "backward", "a", "ga", 4),
    span(10, 13, 0, "write", "SGD.step", "gs"),
  ];
  const steps = [
    step("forward", "ga"), step("forward", "ga"), step("forward", "n2"), step("forward", "n3"), step("forward", "loss"),
    step("vjp", "loss"), step("vjp", "n3"), step("vjp", "n2", [flow("a>b", 1)]), step("vjp", "ga", [flow("x>a", 2), flow("y>a", 4)]), step("vjp", "ga", [flow("x>a", 3)]),
    step("write", "p"), step("write", "p"), step("forward", "p"),
  ];
  const nodes = ["ga", "n2", "n3", "loss", "p", "x", "y"].map(node);
  const edges = [["x>a", "x", "ga"], ["y>a", "y", "ga"], ["a>b", "ga", "n2"]].map(([id, source, target]) => ({ id, source, target, tracks: {} }));
  return { ...small, spans, steps, nodes, edges, groups: [], folded: ["ga", "gin"], phases: [{ ...small.phases[0], start: 0, end: 13 }], values: [], findings: [], error: null };
}
const scene = trained();
const level = (...entered) => levelOf(scene, opennessOf(scene, new Set(entered)));

test("without folded boxes each step is a stop", () => {
  const one = levelOf(small, opennessOf(small, new Set()));
  assert.deepEqual([0, 0.5, 13.5, 14].map((t) => nextStop(one, t)), [1, 1, 14, 14]);
  assert.deepEqual([0, 0.5, 1, 1.5, 14].map((t) => previousStop(one, t)), [0, 0, 0, 1, 13]);
  for (let t = 1; t <= 14; t++) assert.equal(stopAt(one, t).step, small.steps[t - 1]);
});

test("a folded box, and the step of an optimiser, are one stop forwards and backwards", () => {
  const ends = [2, 4, 5, 6, 7, 8, 10, 13];
  assert.deepEqual(level("gin").ends, [2, 3, 4, 5, 6, 7, 8, 10, 13], "what one went into is stepped through");
  assert.deepEqual(level().ends, ends);
  let t = 0;
  for (const end of ends) assert.equal(t = nextStop(level(), t), end);
  for (const end of [...ends.slice(0, -1).reverse(), 0]) assert.equal(t = previousStop(level(), t), end);
});

test("who rests in the middle of several steps looks at a single one, and leaves them with the next step", () => {
  assert.equal(stopAt(level(), 9).step, scene.steps[8]);
  assert.equal(stopAt(level(), 8.5).span.label, "a", "on the way through them, at all of them");
  assert.deepEqual([nextStop(level(), 11), previousStop(level(), 11)], [13, 10]);
});

test("the sentence is that of what one steps over, with how far its phase is", () => {
  assert.deepEqual(sentence(level(), 10), { lead: "Backward, 4 of 4.", text: "a says." });
  assert.deepEqual(sentence(level(), 13), { lead: "Update.", text: "SGD.step says." });
  assert.deepEqual(sentence(level("write SGD.step"), 11), { lead: "Update, 1 of 3.", text: "write p." });
  assert.equal(sentence(level(), 0).lead, "8 steps at this level, 13 in all.");
  const single = levelOf(small);
  assert.deepEqual(sentence(single, 3), { lead: "Step 3 of 14.", text: small.steps[2].say });
  assert.deepEqual(sentence(single, 2.1), { lead: "Step 3 of 14.", text: small.steps[2].say });
  assert.equal(sentence(levelOf({ ...small, steps: [], spans: [] }), 0).lead, "No steps.");
});

test("the picture of several steps is at its box, and all that they send is on its way together", () => {
  const index = { ...prepare(scene), level: level() };
  const moment = stateAt(index, 9);
  assert.equal(moment.step, scene.steps[8], "within them it is that of the single step");
  const [half, over] = [stateAt(index, 9.5), stateAt(index, 10)];
  assert.deepEqual([half.active, half.progress, half.k, half.moving], ["ga", 0.75, 9, true]);
  assert.deepEqual(flowsAt(half).map(({ flow: { edge, value, text }, part }) => [edge, value, text, part]), [["x>a", null, null, 0.75], ["y>a", 4, "4", 0.75]]);
  assert.deepEqual([over.progress, over.moving, over.step.say, over.step.kind], [1, false, "a says.", "vjp"]);
});

test("both passes through a module are gone into together, and an update by its name", () => {
  assert.deepEqual(scene.spans.filter(({ label }) => label === "a").map(keyOf), ["ga", "ga"]);
  assert.equal(keyOf(scene.spans.at(-1)), "write SGD.step");
});

test("the same moment of another iteration is in the same module, whatever ran before it", () => {
  const cleared = { ...span(5, 9, 0, "write", "opt.zero_grad()") };
  const later = ({ start, end, ...more }) => ({ ...more, start: start + 4, end: end + 4, within: more.within === 4 ? 5 : more.within });
  const next = { ...scene, steps: [...scene.steps.slice(0, 5), ...Array(4).fill(scene.steps[10]), ...scene.steps.slice(5)], spans: [...scene.spans.slice(0, 4), cleared, ...scene.spans.slice(4).map(later)] };
  const [there, back] = [(t) => counterpart(scene, next, t), (t) => counterpart(next, scene, t)];
  for (let t = 0; t <= 5; t++) assert.equal(there(t), t);
  for (let t = 6; t <= 13; t++) assert.deepEqual([there(t), back(t + 4)], [t + 4, t]);
  assert.equal(counterpart(scene, { ...next, spans: [] }, 12), 12, "of an unlike one as many steps in");
});
