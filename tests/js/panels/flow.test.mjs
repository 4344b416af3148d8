// The gradient flow of a single backward pass: bars on a scale, with what has none told beside them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bars, isSingle } from "../../../assets/js/panels/run/flow.mjs";
import { rowsOf } from "../../../assets/js/scene/run.mjs";

const parameter = (name) => ({ name, group: name, shape: [2], sampled: false, input: false });
const run = {
  program: "p", version: 1, labels: ["the program"], first: [0], last: [0], loss: [2], root: "loss", others: [], total: [5],
  parameters: ["a", "b", "c", "d"].map(parameter),
  quantities: { norm: [[1e-4], [0], [null], [10]], ratio: [[null], [null], [null], [null]], zeros: [[0], [1], [null], [0.25]], nonfinite: [[0], [0], [null], [3]], largest: [[1], [0], [null], [4]] },
  findings: [], joined: 1, calls: [], updates: 0, ops: 4, bytes: null,
};
const rows = rowsOf(run, new Set());
const drawn = (quantity) => bars(run, rows, quantity, (name) => name);

test("each row has a bar as long as its magnitude, the last layers first, and its number beside it", () => {
  const { data: [found], axis } = drawn("norm");
  assert.equal(isSingle(run), true);
  assert.deepEqual(found.text, ["nan or inf", "none", "0", "1e-4"]);
  assert.deepEqual(found.x, [10, 10 ** axis.range[0], 10 ** axis.range[0], 1e-4]);
  assert.ok(axis.type === "log" && axis.range[0] < -4 && axis.range[1] > 1);
  assert.deepEqual(found.marker.color, ["--error", "--gradient", "--gradient", "--gradient"]);
  assert.deepEqual(found.customdata, [[0, 0], [1, 0], [2, 0], [3, 0]]);
});

test("a share is on a scale of its own, and a quantity that nothing has draws no bar", () => {
  const { data: [shares], axis } = drawn("zeros");
  assert.deepEqual([shares.x, axis.range], [[0.25, 0, 1, 0], [0, 1.15]]);
  const none = drawn("ratio");
  assert.ok(none.data[0].text.slice(1).every((one) => one === "none") && none.axis.range.every(Number.isFinite));
});
