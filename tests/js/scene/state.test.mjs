import assert from "node:assert/strict";
import { test } from "node:test";

import { commandOfCall, describe, edgeState, findingsAt, flowsAt, ghostOf, isLeaf, nodeState, prepare, rowState, savedState, signOf, stateAt, wiredOps, wiresOf }
  from "../../../assets/js/scene/state.mjs";
import { case1 } from "../fixtures/case1.mjs";
import { kitchen } from "../fixtures/kitchen.mjs";
import { synthetic } from "../fixtures/synthetic.mjs";

const index = prepare(case1());
const moment = (t, from = index) => stateAt(from, t);
const grad = (t, from = index) => describe(moment(t, from)).nodes.t0.rows.grad;

test("founding case 1 plays to the known gradients", () => {
  assert.deepEqual([3, 4, 5, 7, 8, 10, 11, 14].map((t) => grad(t)), [null, [2, 0, 0, 0], [0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2],
    [0, 0, 0, 0], [2, 2, 2, 2]]);
});

test("a leaf from which a call starts is a leaf all the same", () => {
  const card = (role, ...keys) => ({ role, rows: keys.map((key) => ({ key })) });
  assert.deepEqual([card("leaf", "value"), card("root", "value", "grad"), card("root", "value", "grad", "seed"), card("root", "value", "seed"), card("inner", "value", "grad")]
    .map(isLeaf), [true, true, false, false, false]);
});

test("before the first step nothing runs, after the last all is done", () => {
  const first = moment(0);
  assert.equal(first.k, -1);
  assert.equal(first.active, null);
  assert.deepEqual(flowsAt(first), []);
  assert.equal(nodeState(first, index.nodes.get("t1")), "future");
  assert.equal(moment(99).t, 14);
  assert.equal(moment(14).k, 13);
});

test("within a step values are those before it, at its end those after", () => {
  assert.equal(grad(3.999), null);
  assert.deepEqual(grad(4), [2, 0, 0, 0]);
  assert.ok(moment(3.5).moving);
  assert.ok(!moment(4).moving);
  assert.equal(moment(3.5).active, "t0");
});

test("the picture is a function of the time alone", () => {
  const there = [0, 2.5, 3, 7.25, 14].map((t) => JSON.stringify(describe(moment(t))));
  const back = [14, 7.25, 3, 2.5, 0].map((t) => JSON.stringify(describe(moment(t)))).reverse();
  assert.deepEqual(there, back);
});

test("what comes to a node travels before what leaves it", () => {
  const parts = (t) => Object.fromEntries(flowsAt(moment(t)).map(({ edge, part }) => [edge.id, part]));
  assert.deepEqual(parts(2.25), { "en0>t1:0": 0.5, "et0>n0:0": 0 });
  assert.deepEqual(parts(2.75), { "en0>t1:0": 1, "et0>n0:0": 0.5 });
  assert.deepEqual(parts(3), { "en0>t1:0": 1, "et0>n0:0": 1 });
});

test("what goes on in three acts takes a third of the step for each", () => {
  const scene = case1();
  const k = scene.steps.findIndex((step) => step.kind === "vjp" && step.flows.length === 2);
  const [first] = scene.steps[k].flows;
  const edge = scene.edges.find((one) => one.id === first.edge);
  const flows = [{ ...first, edge: "older" }, ...scene.steps[k].flows];
  const longer = prepare({ ...scene, edges: [...scene.edges, { ...edge, id: "older", source: edge.target, target: "newer" }], steps: scene.steps.with(k, { ...scene.steps[k], flows }) });
  assert.deepEqual([1 / 6, 0.5, 5 / 6].map((part) => flowsAt(stateAt(longer, k + part)).map((one) => Math.round(one.part * 100))), [[50, 0, 0], [100, 50, 0], [100, 100, 50]]);
});

test("where all flows go one way they take the whole of the step", () => {
  const scene = case1();
  const away = scene.steps.findIndex((step) => step.flows.length && step.flows.every((flow) => flow.back && step.at !== flow.edge));
  const step = { ...scene.steps[away], flows: scene.steps[away].flows.slice(0, 1) };
  const from = prepare({ ...scene, steps: scene.steps.with(away, step) });
  assert.deepEqual([0.25, 0.5, 1].map((part) => flowsAt(stateAt(from, away + part)).map((one) => one.part)), [[0.25], [0.5], [1]]);
});

test("a finding stands at its node from the end of its step on", () => {
  const scene = { ...case1(), findings: [{ kind: "sum", step: 3, at: "t0", label: "", why: "", fix: "" }] };
  const from = prepare(scene);
  assert.deepEqual([3.9, 4, 14].map((t) => findingsAt(stateAt(from, t), "t0").length), [0, 1, 1]);
  assert.deepEqual(findingsAt(stateAt(from, 14), "n0"), []);
});

test("the gradient of an older version is past from the time on that a newer one has it", () => {
  const row = { key: "grad", track: [[0, null], [3, 0]], until: 5 };
  const scene = { ...case1(), values: [{ data: [2] }] };
  assert.deepEqual([3, 4.9, 5, 7].map((t) => rowState({ scene, k: t - 1, t, moving: false }, row).past), [false, false, true, true]);
  assert.ok(!rowState(moment(4), index.nodes.get("t0").rows[1]).past);
});

test("an edge is active only in the step that travels it", () => {
  const edge = index.edges.get("et0>n0:0");
  assert.deepEqual([0.5, 1.5, 2.5, 3.5].map((t) => edgeState(moment(t), edge)), ["active", "idle", "active", "done"]);
});

test("a row tells whether this step changed it, and a seed of which call it is", () => {
  const [value, seed] = index.nodes.get("t1").rows;
  assert.ok(rowState(moment(1), value).changed);
  assert.ok(!rowState(moment(2), value).changed);
  assert.ok(rowState(moment(0), seed).value);
  assert.equal(rowState(moment(1), { ...seed, track: [[0, null], [2, seed.track[0][1]]] }).value, null, "worked out later");
  assert.deepEqual([1, 3, 4].map((t) => rowState(moment(t), { ...seed, call: 1, track: [[0, null], [4, 0]] }).other), [false, true, true], "nor is what is not there yet of this call");
  assert.deepEqual([1, 3, 4, 6].map((t) => rowState(moment(t), seed).call), [0, 0, 0, 1]);
  assert.deepEqual([1, 3, 4].map((t) => rowState(moment(t), { ...seed, call: 1 }).other), [false, true, true], "another call runs");
  assert.ok([1, 3, 4, 6].every((t) => !rowState(moment(t), seed).other));
});

test("at the end of a call its own gradient is shown, until the next call moves", () => {
  const adjacent = { key: "seed", track: [[0, 0], [4.0005, 1]], call: [[0, 0], [4.0005, 1]] };
  assert.equal(rowState(moment(4), adjacent).call, 0);
  assert.equal(rowState(moment(4.001), adjacent).call, 1);
});

test("ghosts are the cells that differ", () => {
  const edited = prepare(case1({ weights: [0, 0, 1, 0], previous: [1, 0, 0, 0] }));
  const node = edited.nodes.get("t0");
  const row = node.rows[1];
  const at = moment(4, edited);
  assert.deepEqual(ghostOf(at, node, row, rowState(at, row).value), [2, null, 0, null]);
  assert.equal(ghostOf(moment(4), index.nodes.get("t0"), index.nodes.get("t0").rows[1], rowState(moment(4), index.nodes.get("t0").rows[1]).value), null);
});

test("a one-hot gradient takes one wire, all ones take four", () => {
  const op = index.nodes.get("n0");
  const carrying = (t) => wiresOf(moment(t), op).filter((wire) => wire.carries).map((wire) => wire.from);
  assert.deepEqual(carrying(2.5), [0]);
  assert.deepEqual(carrying(6), [1]);
  assert.deepEqual(carrying(9), [0, 1, 2, 3]);
  assert.deepEqual(carrying(1), [0]); // what z.backward is about to pass: dashed, as all that is to come
  assert.deepEqual([1, 2.5].map((t) => wiresOf(moment(t), op).every((wire) => wire.coming)), [true, false]);
  assert.deepEqual(wiredOps(index, "t1").map((one) => one.id).sort(), ["n0", "n1"]);
});

test("saved tensors are kept until the call that frees them", () => {
  assert.deepEqual([0, 1, 3, 13].map((t) => savedState(moment(t), index.nodes.get("n0"))), ["none", "saved", "kept", "freed"]);
});

test("a call is traced to its command", () => {
  assert.deepEqual([0, 1, 2, 3].map((call) => commandOfCall(index.scene, call).id), ["b0", "b1", "b2", "b3"]);
});

test("a call whose number is not its place among the commands is traced by where it begins", () => {
  const phases = [{ kind: "forward", call: null, start: 0 }, { kind: "backward", call: 1, start: 3 }, { kind: "backward", call: 0, start: 5 }];
  const commands = [{ id: "c0", kind: "backward", start: 3, end: 5 }, { id: "c1", kind: "backward", start: 5, end: 6 }];
  assert.deepEqual([0, 1].map((call) => commandOfCall({ phases, commands }, call).id), ["c1", "c0"]);
});

test("only a gradient of zeros counts as zero", () => {
  const scene = { ...index.scene, values: [{ stats: { zeros: 2, size: 2 } }, { stats: { zeros: 1, size: 2 } }] };
  const signs = [[1, 0], [-1, 1], [0, 0], [0, 1], [null, 1]].map(([sign, value]) => signOf({ scene }, { sign, value }));
  assert.deepEqual(signs, [1, -1, 0, null, null]);
});

test("a scene with specials is described as JSON", () => {
  const described = describe(moment(0.5, prepare(kitchen())));
  assert.equal(described.nodes.n2.state, "error");
  assert.deepEqual(described.nodes.t2.rows.grad.slice(0, 2), [1, "nan"]);
  assert.deepEqual(JSON.parse(JSON.stringify(described)), described);
});

test("a synthetic scene of 3,000 nodes is consistent", () => {
  const scene = synthetic(3000);
  assert.equal(scene.nodes.length, 3000);
  assert.ok(scene.steps.every(Boolean));
  const last = describe(stateAt(prepare(scene), scene.steps.length));
  assert.ok(Object.values(last.nodes).every((node) => node.state === "done"));
});
