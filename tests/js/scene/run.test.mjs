// The table of a run: which rows it has, and the numbers of a module.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cells, columnOf, facts, inWords, loopStarts, lossText, modules, initiallyOpen, rowsOf, cellText } from "../../../assets/js/scene/run.mjs";

const parameter = (name, group, shape, sampled = false, input = false) => ({ name, group, shape, sampled, input });
const same = (values) => [values, values.map((x) => 2 * x), values];
const run = {
  program: "p", version: 1, labels: ["step = 0", "step = 1"], first: [1, 3], last: [2, 4], loss: [2, "nan"], root: "loss", others: [], total: [5, 0], rate: [null, null], calls: [],
  parameters: [parameter("model.tok.weight", "model.tok", [2, 2]), parameter("model.blocks.0.a.weight", "model.blocks.0", [3], true), parameter("model.blocks.0.a.bias", "model.blocks.0", [1])],
  quantities: { norm: [[1, null], [3, 0], [4, 0]], ratio: same([0.1, 0.2]), zeros: [[0, 1], [0.5, 1], [0, 1]], nonfinite: same([0, 1]), largest: same([1, 2]) },
  findings: [], joined: 1, updates: 1, scales: [], left_out: 0, ops: 1234, bytes: 2_500_000,
};

test("rows begin with the last layers, and a module stands before its parameters", () => {
  assert.deepEqual(rowsOf(run, new Set()).map((row) => row.label), ["blocks.0", "tok.weight"]);
  const many = Array.from({ length: 20 }, (_, k) => ({ name: `m.${k >> 1}.${k % 2 ? "bias" : "weight"}`, group: `m.${k >> 1}`, shape: [2], sampled: false, input: false }));
  assert.equal(rowsOf({ ...run, parameters: many }, initiallyOpen({ ...run, parameters: many })).length, 10, "20 parameters in 10 modules are 30 rows");
  assert.deepEqual(rowsOf(run, initiallyOpen(run)).map((row) => row.label), ["blocks.0", "a.weight", "a.bias", "tok.weight"]);
  assert.deepEqual([...modules(run).keys()], ["model.tok", "model.blocks.0"]);
});

test("two modules of many parameters are open at first: two rows would leave the page empty", () => {
  const parameters = (modules, each) => Array.from({ length: modules * each }, (_, k) => parameter(`m.part${k % modules}.a${k}.weight`, `m.part${k % modules}`, [2]));
  const rows = (modules, each) => { const big = { ...run, parameters: parameters(modules, each) }; return rowsOf(big, initiallyOpen(big)).length; };
  assert.deepEqual([rows(2, 14), rows(2, 30), rows(7, 4)], [30, 2, 7]);
});

test("of a numbered model the names keep its own", () => {
  const parameters = [parameter("net.0.weight", "net.0", [2]), parameter("net.0.bias", "net.0", [2])];
  assert.deepEqual(rowsOf({ ...run, parameters }, new Set()).map((row) => row.label), ["net.0"]);
});

test("long names of an adapter are without the modules around the model and without the ending that all have", () => {
  const names = ["q", "v"].flatMap((x) => ["A", "B"].map((y) => `self_attn.${x}_proj.lora_${y}.default.weight`));
  const parameters = [0, 1].flatMap((k) => names.map((name) => parameter(`model.base_model.model.model.layers.${k}.${name}`, `model.base_model.model.model.layers.${k}`, [2])));
  const labels = rowsOf({ ...run, parameters }, initiallyOpen({ ...run, parameters })).map((row) => row.label);
  assert.deepEqual(labels.slice(0, 3), ["model.model.layers.1", "self_attn.q_proj.lora_A", "self_attn.q_proj.lora_B"]);
  assert.equal(new Set(labels.slice(0, 5).map((label) => label.slice(-16))).size, 5, "the ends that are seen differ");
});

test("names that are short enough keep the ending that all have", () => {
  const parameters = ["a", "b"].map((x) => parameter(`model.up.${x}.weight`, "model.up", [2]));
  assert.deepEqual(rowsOf({ ...run, parameters }, new Set(["model.up"])).map((row) => row.label), ["up", "a.weight", "b.weight"]);
});

test("a module has the norm of all its gradients, the share of all zeros, and the sum of what is not finite", () => {
  const [block] = rowsOf(run, new Set());
  assert.deepEqual(cells(run, "norm", block), [5, 0]);
  assert.deepEqual(cells(run, "zeros", block), [0.375, 1]);
  assert.deepEqual(cells(run, "nonfinite", block), [0, 3]);
  assert.deepEqual(cells(run, "largest", block), [2, 4]);
});

test("a cell tells all its numbers, estimates as such, and where there is no gradient", () => {
  const rows = rowsOf(run, initiallyOpen(run));
  assert.deepEqual(cellText(run, rows[1], 0), { head: "model.blocks.0.a.weight, step = 0", text: "gradient norm 3 · update / weight ≈ 0.2 · 50 % zeros · largest element 2" });
  assert.equal(cellText(run, rows[3], 1).text, "no gradient");
  assert.deepEqual(cellText(run, undefined, 1), { head: "step = 1", text: "no gradient" }, "a run without gradients has no rows");
  assert.match(cellText(run, rows[0], 0).text, /^gradient norm 5 · update \/ weight up to ≈ 0\.2 · /, "a module has that of its parameter with the largest");
});

test("the run in few words", () => {
  assert.equal(facts(run), "1 update · 1,234 forward ops · 3 parameters · 3 MB recorded");
  assert.match(facts({ ...run, skipped: 1999 }), /^1 of 2,000 updates · /);
  assert.match(facts({ ...run, rate: [0.1, 0.01] }), / · learning rate 0.1 → 0.01 · /);
  assert.match(facts({ ...run, rate: [0.1, 0.1] }), / · learning rate 0.1 · /);
  assert.match(facts({ ...run, scales: [65536, 32768], left_out: 1 }), / · numbers without the GradScaler's factor 65,536 → 32,768; it left out 1 update$/);
  assert.match(facts({ ...run, scales: [1024, 1024] }), / · numbers without the GradScaler's factor 1,024$/);
  assert.match(facts({ ...run, joined: 2 }), / · each column: 2 iterations, with their largest numbers$/);
  assert.equal(lossText(run.loss), "2 → nan");
  assert.match(inWords(run), /2 iterations, from step = 0 to step = 1\. loss: from 2 to nan\. .*model\.blocks\.0: from 5 to nan or inf/);
  assert.match(inWords({ ...run, quantities: { ...run.quantities, nonfinite: same([0, 0]) } }), /model\.blocks\.0: from 5 to 0/);
  assert.match(cellText(run, rowsOf(run, new Set())[0], 1).text, /^gradient norm 0 of the finite elements · .* · 3 elements nan or inf/);
  assert.match(facts({ ...run, parameters: [...run.parameters, parameter("x", "", [2], false, true)] }), / · 3 parameters · 1 input · /);
  assert.deepEqual([0, 1, 2, 4, 5].map((section) => columnOf(run, section)), [-1, 0, 0, 1, -1]);
});

test("another loop begins where labels differ in more than their numbers", () => {
  assert.deepEqual(loopStarts(["pre = 0", "pre = 1", "epoch = 0 · i = 0", "epoch = 0 · i = 8", "epoch = 1 · i = 0"]), [2]);
  assert.deepEqual(loopStarts(["step = 0 to 2", "epoch = 0 · i = 9 to epoch = 1 · i = 0", "epoch = 1 · i = 1 to 2"]), [1]);
  assert.deepEqual(loopStarts(["round 9", "round 10", "round 11"]), []);
});
