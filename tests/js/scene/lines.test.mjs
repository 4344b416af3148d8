// The lines of the program: the steps that each makes, at a level, and the way from one to the next.
import assert from "node:assert/strict";
import { test } from "node:test";

import { levelOf } from "../../../assets/js/scene/levels.mjs";
import { busyLines, linesOf, mainLines, timesOf, turnOf } from "../../../assets/js/scene/lines.mjs";

const code = (line, end = line, file = 0) => ({ file, line, end, col: 0, stop: 9 });
const span = (start, end, row, kind, label, group, at) => ({ start, end, row, kind, label, say: "", group, within: row ? 0 : null, norm: null, code: at });

// y = block(x) calls lines 1 and 2; line 6 zeroes two gradients; line 7 calls backward
const scene = {
  folded: ["g0"], nodes: [{ code: code(3) }],
  steps: [code(1), code(2), code(5), code(6), code(6), code(5), code(2), code(1)].map((one) => ({ code: one })),
  spans: [
    span(0, 3, 0, "forward", "forward", null, null), span(0, 2, 1, "forward", "block", "g0", code(4)), span(3, 5, 0, "write", "opt.zero_grad()", null, code(6)),
    span(5, 8, 0, "backward", "y.backward()", null, code(7)), span(6, 8, 1, "backward", "block", "g0", code(4)),
  ],
  lines: [{ file: 0, line: 1, runs: 6, norm: 0.5 }, { file: 1, line: 1, runs: 1, norm: null }],
};
const folded = levelOf(scene, (one) => one.kind !== "write" && one.group !== "g0");
const single = levelOf(scene);

test("a line makes the ops that stand in it, forward and backward, also in a call that is one step", () => {
  assert.deepEqual(timesOf(folded, 0, 1), [1, 8]);
  assert.deepEqual(timesOf(folded, 0, 5), [3, 6]);
  assert.deepEqual(timesOf(folded, 1, 1), [], "another file");
});

test("what a line calls is one step where it is folded, else its first step", () => {
  assert.deepEqual(timesOf(folded, 0, 4), [2, 8]);
  assert.deepEqual(timesOf(single, 0, 4), [1, 7]);
  assert.deepEqual(timesOf(folded, 0, 7), [6], "a backward call begins");
});

test("a statement that writes to many leaves is one step until it is opened", () => {
  assert.deepEqual(timesOf(folded, 0, 6), [5]);
  assert.deepEqual(timesOf(single, 0, 6), [4, 5]);
});

test("from step to step of a line, forwards and back, and around at its ends", () => {
  const times = [2, 5, 8];
  assert.deepEqual([0, 2, 2.5, 8].map((t) => turnOf(times, t)), [2, 5, 5, 2]);
  assert.deepEqual([8, 5.5, 2].map((t) => turnOf(times, t, true)), [5, 5, 8]);
  assert.equal(turnOf([], 3), null);
});

test("the lines with steps or cards, those of the outermost statements, and what is known of them", () => {
  assert.deepEqual([...busyLines(scene, 0)].sort(), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(mainLines(scene, 0), [6, 7]);
  assert.equal(mainLines(scene, 1), null);
  assert.deepEqual([...linesOf(scene, 0).keys()], [1]);
});
