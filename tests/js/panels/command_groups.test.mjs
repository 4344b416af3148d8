// Equal commands in a row stand together, and only those.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bunches } from "../../../assets/js/panels/commands/command_groups.mjs";

const command = (id, label, line, more = {}) => ({ id, kind: "zero", label, code: { file: 0, line, col: 0 }, ...more });
const many = (n, from = 0) => Array.from({ length: n }, (_, i) => command(`z${from + i}`, "opt.zero_grad()", 4));
const rows = (list) => bunches(list).map(({ at, members }) => [at, members.length]);

test("five zeroings by one statement are one line, four are four", () => {
  const call = command("c0", "loss.backward()", 5, { kind: "backward" });
  assert.deepEqual(rows([...many(5), call, ...many(4, 5)]), [[0, 5], [5, 1], [6, 1], [7, 1], [8, 1], [9, 1]]);
  assert.deepEqual(bunches(many(6)).map(({ members }) => members.map((one) => one.id)), [["z0", "z1", "z2", "z3", "z4", "z5"]]);
});

test("what stands in another line, is not reached or was added by hand stays on its own", () => {
  assert.deepEqual(rows(many(6).map((one, i) => ({ ...one, code: { ...one.code, line: i } }))), [0, 1, 2, 3, 4, 5].map((at) => [at, 1]));
  assert.equal(rows([...many(5), ...many(5, 5).map((one) => ({ ...one, unreached: true }))]).length, 2);
  assert.equal(rows(many(6).map((one) => ({ ...one, code: null }))).length, 6);
});
