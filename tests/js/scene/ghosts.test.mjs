// The numbers of one section beside those of the next.
import assert from "node:assert/strict";
import { test } from "node:test";

import { areAlike, besideTheLast } from "../../../assets/js/scene/ghosts.mjs";

const section = (label, loss, norm, steps = 2) => ({
  section: { label }, steps: Array.from({ length: steps }, () => ({ kind: "forward", at: "n0" })), values: [{ data: [loss] }, { data: [7] }], previous: null,
  nodes: [
    { id: "t0.0", rows: [{ key: "value", track: [[0, null], [1, 0]] }, { key: "grad", track: [[0, 1]] }], tracks: {} },
    { id: "g0", rows: [], tracks: { norm: [[0, null], [2, norm]] } },
  ],
});

test("numbers that differ stand beside, and the norms of folded groups", () => {
  const scene = besideTheLast(section("step = 2", 3, 0.5), section("step = 1", 4, 0.7));
  assert.deepEqual(Object.keys(scene.previous.values), ["t0.0|value"], "the gradient is the same");
  const [, [, id]] = scene.previous.values["t0.0|value"];
  assert.deepEqual(scene.values[id].data, [4]);
  assert.deepEqual(scene.previous.norms, { g0: [[0, null], [2, 0.7]] });
  assert.equal(scene.previous.label, "step = 1");
});

test("sections that took other steps are not alike", () => {
  const one = section("step = 1", 4, 0.7);
  assert.ok(areAlike(one, section("step = 2", 3, 0.5)));
  assert.ok(!areAlike(one, section("step = 2", 3, 0.5, 3)));
  assert.ok(!areAlike(one, { ...one, nodes: [one.nodes[1], one.nodes[0]] }));
});
