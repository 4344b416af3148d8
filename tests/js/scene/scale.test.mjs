import assert from "node:assert/strict";
import { test } from "node:test";

import { dotAt, dotsOf } from "../../../assets/js/scene/card.mjs";
import { lookOf, shade } from "../../../assets/js/scene/scale.mjs";

test("a norm is a place on the logarithmic scale; none, zero and non-finite ones look different", () => {
  const scale = /** @type {[number, number]} */ ([1e-4, 1]);
  assert.deepEqual(lookOf(scale, 0.01), { kind: "level", part: 0.5 });
  assert.deepEqual(lookOf(scale, 1e-9), { kind: "level", part: 0 });
  assert.deepEqual(lookOf(scale, 50), { kind: "level", part: 1 });
  assert.equal(lookOf(scale, 0).kind, "zero");
  assert.equal(lookOf(scale, "nan").kind, "odd");
  assert.equal(lookOf(scale, "inf").kind, "odd");
  assert.equal(lookOf(scale, null).kind, "none");
  assert.equal(lookOf(null, 1).kind, "none");
});

test("shades run from nearly the paper to the colour of the gradient", () => {
  assert.equal(shade("#ffffff", "#b84600", 1), "#b84600");
  const [pale, middle] = [0, 0.5].map((part) => parseInt(shade("#ffffff", "#b84600", part).slice(5), 16));
  assert.ok(255 > pale && pale > middle && middle > 0);
});

const dot = (i) => ({ id: `t${i}`, name: `w${i}`, shape: [1], norm: [[0, null]] });
const box = (count) => /** @type {any} */ ({ x: 0, y: 0, w: 200, h: 112, dots: Array.from({ length: count }, (_, i) => dot(i)) });

test("dots stand in equal lines inside of their box, and a number tells of those without room", () => {
  const { dots, more } = dotsOf(box(12));
  assert.equal(more, 0);
  assert.deepEqual([...new Set(dots.map(({ y }) => y))].map((y) => dots.filter((one) => one.y === y).length), [6, 6]);
  for (const { x, y } of dots) assert.ok(Math.abs(x) < 100 && Math.abs(y) < 56);
  const many = dotsOf(box(50));
  assert.equal(many.dots.length + many.more, 50);
  assert.ok(many.more > 0);
});

test("the dot under a point", () => {
  const node = box(3);
  const { x, y } = dotsOf(node).dots[1];
  assert.equal(dotAt(node, x + 2, y)?.name, "w1");
  assert.equal(dotAt(node, x, y - 30), null);
});
