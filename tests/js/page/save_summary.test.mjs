// What a save of a watched script changed, in one sentence.
import assert from "node:assert/strict";
import { test } from "node:test";

import { linesSince, sinceSave } from "../../../assets/js/page/save_summary.mjs";

const scene = (texts, loss = 4.41, steps = 3) => ({
  program: { files: Object.entries(texts).map(([name, text]) => ({ name, text })) }, steps: Array(steps).fill({}),
  commands: [{ kind: "backward", root: "t1", shape: [], start: 1 }],
  nodes: [{ id: "t1", label: "loss", rows: [{ key: "value", track: [[0, null], [1, 0]] }] }],
  values: [{ shape: [], dtype: "float64", data: [loss] }],
});

test("lines that are new, changed or gone, wherever they stand", () => {
  assert.deepEqual(linesSince("a\nb\nc\n", "a\nx\nc\n"), { changed: [2], gone: 0 });
  assert.deepEqual(linesSince("a\nb\nc\nd\n", "a\nd\n"), { changed: [], gone: 2 });
  assert.deepEqual(linesSince("a\nb\nc\nd\ne\n", "a\nB\nc\nd2\nd3\ne\n"), { changed: [2, 4, 5], gone: 0 });
  assert.deepEqual(linesSince("a\n", "a\n"), { changed: [], gone: 0 });
});

test("code, loss and steps in one sentence; what stayed is not told", () => {
  const before = scene({ "a.py": "1\n2\n3\n4\n" });
  assert.equal(sinceSave(before, scene({ "a.py": "1\n0\n3\n0\n" }, 4.38, 6)), "lines 2 and 4 changed; loss 4.41 → 4.38; 3 steps more.");
  assert.equal(sinceSave(before, scene({ "a.py": "1\n2\n3\n" }, 4.41, 2)), "a line removed; 1 step fewer.");
  assert.equal(sinceSave(before, before), "Saved without a change of code or numbers.");
});

test("small gradients are written, and of many it is only said", () => {
  const lesson = (grads) => ({
    program: { files: [] }, steps: [{}], commands: [],
    nodes: grads.map((_, i) => ({ id: `t${i}`, label: i ? `w${i}` : "x v2", rows: [{ key: "grad", track: [[0, null], [1, i]] }] })),
    values: grads.map((data) => ({ shape: [data?.length ?? 9], dtype: "float32", data })),
  });
  assert.equal(sinceSave(lesson([[2, 0]]), lesson([[3, 0]])), "x.grad 2 0 → 3 0.");
  assert.equal(sinceSave(lesson([null]), lesson([null])), "Saved without a change of code or numbers.");
  assert.equal(sinceSave(lesson([[1], [1], [1]]), lesson([[2], [2], [2]])), "other gradients.");
});

test("of several files the one that changed is named", () => {
  const before = scene({ "a.py": "1\n", "b.py": "1\n2\n" });
  assert.equal(sinceSave(before, scene({ "a.py": "1\n", "b.py": "1\n3\n4\n" })), "lines 2–3 changed in b.py.");
});

test("of a run the numbers are those of the section that is shown, and told only of the same one", () => {
  const at = (number, count, loss) => ({ ...scene({ "a.py": "1\n" }, loss), section: { at: number, count, label: `step = ${number}` } });
  assert.equal(sinceSave(at(5, 9, 4), at(5, 9, 3)), "loss 4 → 3 in step = 5.");
  assert.equal(sinceSave(at(5, 9, 4), at(5, 12, 4)), "12 sections instead of 9.");
  assert.equal(sinceSave(at(5, 9, 4), at(0, 3, 3)), "3 sections instead of 9.", "another one has other numbers");
});
