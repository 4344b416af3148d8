// The answers of a lesson without a server: edits that it has and has not, and groups that were folded and unfolded.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Answers } from "../../../assets/js/lesson/answers.mjs";
import { applyDifference } from "../../../assets/js/lesson/difference.mjs";
import { isEqual } from "../../../assets/js/scene/ghosts.mjs";

const scene = (id, folded) => ({ revision: { id }, folded, nodes: [], values: [] });
const edits = (gradient) => ({ leaves: {}, commands: [{ id: "c0", gradient }] });
const section = {
  base: scene("r0", ["g1", "g2"]),
  foldings: [[0, scene("r0", ["g2"])], [0, scene("r0", ["g1"])], [0, scene("r0", [])]],
  edited: [{ edits: edits([1, 0]), revision: "r1", scene: [1, { revision: [0, { id: "r1" }] }, []] }, { edits: edits([9]), problem: { title: "refused" } }],
  details: { t0: { kind: "tensor" } }, changed: { r1: { t0: [1, { kind: [0, "op"] }, []] } },
};
const answers = () => new Answers({ programs: { p: { opens: null, sections: { "": section } } } });
const ask = (more) => ({ request: 1, program: "p", edits: null, folds: {}, previous: null, ...more });

test("a difference makes a new document and leaves the old one as it was", () => {
  const old = { a: 1, b: [1, 2, 3], c: { d: 1 } };
  assert.deepEqual(applyDifference(old, [1, { b: [2, 2, { 1: [0, 5] }], e: [0, null] }, ["a"]]), { b: [1, 5], c: { d: 1 }, e: null });
  assert.deepEqual(applyDifference([1], [2, 3, { 1: [0, 2], 2: [0, 3] }]), [1, 2, 3]);
  assert.deepEqual(old, { a: 1, b: [1, 2, 3], c: { d: 1 } });
});

test("edits are found whatever the order of their keys; others are answered with how to make them", () => {
  assert.equal(answers().scene(ask({ edits: { commands: [{ gradient: [1, 0], id: "c0" }], leaves: {} } })).scene.revision.id, "r1");
  assert.equal(answers().scene(ask({ revision: "r1" })).edits.commands[0].gradient[0], 1);
  assert.equal(answers().scene(ask({ edits: edits([9]) })).problem.title, "refused");
  assert.match(answers().scene(ask({ edits: edits([3]) })).problem.text, /pip install backstep/);
  assert.ok(!isEqual([1, [2]], [1, { 0: 2 }]) && !isEqual({ a: 1 }, { b: 1 }) && !isEqual(null, {}));
});

test("an iteration without changes of its own says that they are those of others", () => {
  const far = { ...section, edited: [] };
  const run = new Answers({ programs: { p: { opens: 0, sections: { 0: section, 9: far } } } });
  assert.equal(run.scene(ask({ edits: edits([3]) })).problem.title, "This change is not in the lesson");
  assert.equal(run.scene(ask({ section: 9, edits: edits([1, 0]) })).problem.title, "Changes of this iteration are not in the lesson");
});

test("of the packed ways to fold that obey the latest wish the most similar one is shown", () => {
  const one = answers();
  assert.deepEqual(one.scene(ask({})).scene.folded, ["g1", "g2"]);
  assert.deepEqual(one.scene(ask({ folds: { g1: false } })).scene.folded, ["g2"]);
  assert.deepEqual(one.scene(ask({ folds: { g1: false, g2: false } })).scene.folded, []);
  section.foldings.pop(); // now only one of them can be open
  const other = answers();
  other.scene(ask({ folds: { g1: false } }));
  assert.deepEqual(other.scene(ask({ folds: { g1: false, g2: false } })).scene.folded, ["g1"]);
});

test("details of a changed revision are those of the recording with what differs", () => {
  assert.deepEqual(answers().details({ request: 2, program: "p", revision: "r1", element: "t0" }).details, { kind: "op" });
  assert.deepEqual(answers().details({ request: 2, program: "p", revision: "r0", element: "t0" }).details, { kind: "tensor" });
  assert.ok(answers().details({ request: 2, program: "p", revision: "r0", element: "t9" }).problem);
});
