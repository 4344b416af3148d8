// What the program printed, under its lines and by the time.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inOneLine, latestOf, linesShown, mostLines, printsOf } from "../../../assets/js/scene/lines.mjs";

const print = (step, line, text, more = 0, file = 0) => ({ step, code: { file, line, end: line + 1, col: 0, stop: 4 }, stream: "stdout", text, more });

test("prints stand under the last line of their call, in the order of time", () => {
  const scene = { prints: [print(0, 3, "a\n"), print(2, 7, "b\n"), print(4, 3, "c\n"), print(4, 3, "d\n", 0, 1), { ...print(5, 3, "e\n"), code: null }] };
  const found = printsOf(scene, 0);
  assert.deepEqual([...found.keys()], [4, 8]);
  assert.deepEqual(found.get(4).map(({ text }) => text), ["a\n", "c\n"]);
});

test("a print is there from its moment on, and the latest one is shown", () => {
  const prints = [print(1, 3, "a"), print(1, 3, "b"), print(4, 3, "c")];
  assert.deepEqual([0, 0.9, 1, 3.9, 4, 9].map((t) => latestOf(prints, t)), [-1, -1, 1, 1, 2, 2]);
  assert.equal(latestOf([], 3), -1);
});

test("of many lines the first are shown, and the number of the others", () => {
  const long = print(0, 1, "1\n2\n3\n4\n5\n6\n7\n8\n", 90);
  assert.deepEqual(linesShown(long), { lines: ["1", "2", "3", "4", "5", "6"], more: 92 });
  assert.equal(mostLines([print(0, 1, "a\n"), long]), 7);
  assert.equal(inOneLine(long), "1 (and 97 more lines)");
  assert.equal(inOneLine(print(0, 1, "", 1)), "(1 line that was not recorded)");
  assert.equal(inOneLine(print(0, 1, "0.5\n")), "0.5");
  assert.deepEqual(linesShown(print(0, 1, "\n")), { lines: [""], more: 0 });
});
