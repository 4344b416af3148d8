// The few lines of a program that a hall sees.
import assert from "node:assert/strict";
import { test } from "node:test";

import { excerptOf, lettersOf } from "../../../assets/js/panels/lecture/excerpt.mjs";

const scene = { program: { files: [{ name: "a.py", text: ["x = 1", "", "y = 2 * x", "z = y + 1", "w = (z +", "     y)", "", "print(w)", ""].join("\n") }] } };
const numbers = (lines) => lines.map(({ number }) => number);
const marked = (lines) => lines.flatMap(({ parts }) => parts.filter(([, on]) => on).map(([text]) => text));

test("the expression of a step is marked, with lines around it", () => {
  const lines = excerptOf(scene, { from: null, code: { file: 0, line: 3, end: 3, col: 4, stop: 9 } }, null);
  assert.deepEqual([numbers(lines), marked(lines)], [[1, 2, 3, 4], ["2 * x"]], "of the statement in lines 5 and 6 not only the first");
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

test("statements are shown whole: brackets in texts and comments open none, and of a very long one the lines that run are shown", () => {
  const text = ["a = [  # (", "  '(',", "]", "s = \"\"\"(", "\"\"\"", "b = a \\", "  + a", "net = f(", "  1,", "  2,", "  3,", "  4,", "  5,", ")", "y = net", ...Array.from({ length: 12 }, (_, i) => (i ? `  ${i},` : "h = g(")), ")"].join("\n");
  const long = { program: { files: [{ name: "a.py", text }], chapters: [{ lines: [1, 7] }] }, steps: [{ from: null, code: { file: 0, line: 8, end: 8, col: 6, stop: 7 } }] };
  const at = (line, end = line) => numbers(excerptOf(long, { from: null, code: { file: 0, line, end, col: 0, stop: 3 } }, null));
  assert.deepEqual([at(2), at(5), at(6), at(10), at(20), at(15)], [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14], [20], [15]]);
  assert.deepEqual(numbers(excerptOf(long, null, [1, 7])), [1, 2, 3, 4, 5], "of many the first ones");
  assert.equal(lettersOf(long), "a = [  # (".length, "of the lines that are shown");
  const narrow = { ...long, program: { ...long.program, files: [{ name: "a.py", text: ["a = 1", "b = a + a", "c = b", "d = c + c + c + c", "e = d"].join("\n") }] } };
  assert.deepEqual(numbers(excerptOf(narrow, null, [3, 3], 9)), [2, 3, 4], "a long line needs three of the five rows");
});
