// The few lines of a program that a hall sees.
import assert from "node:assert/strict";
import { test } from "node:test";

import { excerptOf } from "../../../assets/js/panels/lecture/excerpt.mjs";

const scene = { program: { files: [{ name: "a.py", text: ["x = 1", "", "y = 2 * x", "z = y + 1", "w = (z +", "     y)", "", "print(w)", ""].join("\n") }] } };
const numbers = (lines) => lines.map(({ number }) => number);
const marked = (lines) => lines.flatMap(({ parts }) => parts.filter(([, on]) => on).map(([text]) => text));

test("the expression of a step is marked, with lines around it", () => {
  const lines = excerptOf(scene, { from: null, code: { file: 0, line: 3, end: 3, col: 4, stop: 9 } }, null);
  assert.deepEqual([numbers(lines), marked(lines)], [[1, 2, 3, 4, 5], ["2 * x"]]);
  const wide = excerptOf(scene, { from: null, code: { file: 0, line: 5, end: 6, col: 4, stop: 7 } }, null);
  assert.deepEqual(marked(wide), ["(z +", "y)"]);
});

test("a backward step shows the call, a chapter its lines, and nothing where neither has a place", () => {
  const call = { file: 0, line: 8, end: 8, col: 0, stop: 8 };
  assert.deepEqual(marked(excerptOf(scene, { from: call, code: { file: 0, line: 3, end: 3, col: 4, stop: 9 } }, null)), ["print(w)"]);
  assert.deepEqual(marked(excerptOf(scene, null, [3, 4])), ["y = 2 * x", "z = y + 1"]);
  assert.deepEqual(marked(excerptOf(scene, null, [5, 6])), ["w = (z +", "y)"], "without its indent");
  assert.deepEqual(excerptOf(scene, null, null), []);
  assert.deepEqual(excerptOf({ program: { files: [] } }, { from: null, code: null }, null), []);
});

test("the comments of a lesson, with its notes and answers, are not for the hall", () => {
  const text = ["# ## Forward", "x = 1", "y = 2 * x", "", "# ## Back", "# > A note.", "# ? What then?", "# - 1", "# + 2", "y.backward()", "print(x.grad)", "# ## End"].join("\n");
  const lesson = { program: { files: [{ name: "a.py", text }] } };
  assert.deepEqual(numbers(excerptOf(lesson, null, [10, 11])), [10, 11]);
  assert.deepEqual(numbers(excerptOf(lesson, { from: null, code: { file: 0, line: 3, end: 3, col: 4, stop: 9 } }, null)), [2, 3]);
});
