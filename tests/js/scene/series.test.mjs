// Series through time: places on a fixed axis.
import assert from "node:assert/strict";
import test from "node:test";

import { barsOf } from "../../../assets/js/scene/series.mjs";

const series = (numbers, at = (i) => 10 - i) => ({ points: numbers.map((x, i) => ({ label: `round ${i + 1}`, element: `t${i}`, here: i === 1, track: [[0, null], [at(i), x]] })) });

test("small and large norms stand on decades, each line ten times the one below", () => {
  const { log, bars, lines } = barsOf(series([1e-8, 1e-4, 1]), 10);
  assert.equal(log, true);
  assert.equal(lines.length, 9);
  assert.deepEqual(bars.map((bar) => Number(bar.to.toFixed(6))), [0.02, 0.5, 1]);
  assert.equal(lines.at(-1).text, "1");
});

test("what is still to come is told from what has come, and the axis does not move", () => {
  const given = series([0.5, 1, 1.5]);
  const [early, late] = [barsOf(given, 8), barsOf(given, 10)];
  assert.deepEqual(early.bars.map((bar) => bar.come), [false, false, true]);
  assert.deepEqual(late.bars.map((bar) => bar.come), [true, true, true]);
  assert.deepEqual(early.bars.map((bar) => bar.to), late.bars.map((bar) => bar.to));
  assert.deepEqual(early.bars.map((bar) => bar.step), [10, 9, 8]);
});

test("numbers below zero hang under the line", () => {
  const { log, bars, lines } = barsOf(series([-1, 0, 3]), 10);
  assert.equal(log, false);
  assert.deepEqual(lines.map((line) => line.text), ["\u22121", "0", "3"]);
  assert.deepEqual(bars.map(({ from, to }) => [from, to]), [[0, 0.25], [0.25, 0.25], [0.25, 1]]);
});

test("nan and infinities are full bars, zeros none", () => {
  const { bars } = barsOf(series(["nan", "inf", 0, 1, 100], () => 1), 10);
  assert.deepEqual(bars.map((bar) => bar.to), [1, 1, 0, 0.02, 1]);
});

test("only zeros still have an axis", () => {
  assert.deepEqual(barsOf(series([0, 0, 0]), 10).bars.map((bar) => bar.to), [0, 0, 0]);
});
