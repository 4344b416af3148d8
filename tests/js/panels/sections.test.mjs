// The row of a run's sections: where each is, its curves, and what is said of it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { countText, sectionsOf, sectionAt, hoverText, tracksOf } from "../../../assets/js/panels/run/sections.mjs";

const run = {
  labels: ["step = 0", "step = 1", "step = 2 to step = 3", "step = 4"], first: [0, 1, 2, 5], last: [0, 1, 4, 5],
  loss: [4, 2, "nan", 3], root: "loss", others: [], total: [1, 0.01, null, 100], rate: [0.1, 0.1, 0.1, 0.05],
  findings: [{ section: 5, label: "The loss is nan" }, { section: 1, label: "a" }, { section: 5, label: "b" }],
};
const section = { at: 1, count: 6, label: "step = 1", before: "step = 0", after: "evaluate()" };

test("a place of the row is a section, also past its ends", () => {
  assert.deepEqual([-0.1, 0, 0.17, 0.5, 0.999, 1.2].map((part) => sectionAt(part, 6)), [0, 0, 1, 3, 5, 5]);
});

test("curves stand over the sections of their columns, broken where nothing is known", () => {
  const { losses: [{ track: loss }], norm } = tracksOf(run, 6);
  assert.deepEqual(loss.curves.map((curve) => curve.map(({ y }) => y)), [[1, 0], [0.5]]);
  assert.deepEqual(loss.curves[0].map(({ x }) => x), [0.5 / 6, 1.5 / 6]);
  assert.deepEqual(loss.odd, [3.5 / 6], "of nan a mark");
  assert.deepEqual(norm.curves.map((curve) => curve.map(({ y }) => y)), [[0.5, 0], [1]], "on a log scale");
  assert.deepEqual(tracksOf(run, 6).rate?.curves[0].map(({ y }) => Math.abs(Math.round(1e6 * y))), [1e6, 1e6, 1e6, 0]);
  assert.equal(tracksOf({ ...run, rate: [0.1, 0.1, null, 0.1] }, 6).rate, null, "a rate that stays has no line");
  assert.deepEqual(tracksOf({ ...run, total: [1, "nan", "nan", 1] }, 6).norm.odd, [1.5 / 6, 3.5 / 6], "no norm is a mark too");
  assert.deepEqual(tracksOf({ ...run, loss: [4, null, 3, 2] }, 6).losses[0].track.curves.length, 2);
  const flat = tracksOf({ ...run, loss: [2, 2, 2, 2], total: [3, 3, 3, 3] }, 6);
  assert.ok([...flat.losses[0].track.curves[0], ...flat.norm.curves[0]].every(({ y }) => y === 0.5), "what does not change is in the middle");
});

test("a loss that explodes, or falls to a thousandth, has a logarithmic scale", () => {
  const heights = (loss) => tracksOf({ ...run, loss }, 6).losses[0].track.curves[0].map(({ y }) => Math.round(1000 * y) / 1000);
  assert.deepEqual(heights([1, 1e6, 1e3, 10]), [0, 1, 0.5, 0.167]);
  assert.deepEqual(heights([0, 1e6, 1e3, 10]), [0, 1, 0.001, 0], "0 has no logarithm");
  assert.deepEqual(heights([1, 1e3, 10, 1]), [0, 1, 0.009, 0], "just not");
  const broken = tracksOf({ ...run, loss: [1, 1e6, "inf", "nan"] }, 6).losses[0].track;
  assert.deepEqual([broken.curves[0].length, broken.odd], [2, [3.5 / 6, 5.5 / 6]]);
});

test("the losses of a GAN are a line each, on one scale, and each is told by its name", () => {
  const gan = { ...run, root: "errD", others: [{ name: "errG", loss: [8, 6, null, 4] }] };
  const { losses } = tracksOf(gan, 6);
  assert.deepEqual(losses.map(({ name }) => name), ["errD", "errG"]);
  assert.deepEqual(losses.map(({ track }) => track.curves.map((curve) => curve.map(({ y }) => Math.round(6 * y)))), [[[2, 0], [1]], [[6, 4, 2]]], "over a column of another loss the line goes on");
  assert.equal(hoverText(gan, section, 1), "step = 1: errD 2 · errG 6 · gradient norm 0.01 · learning rate 0.1 · a");
  assert.equal(hoverText(gan, section, 2), "evaluate(): errD nan · learning rate 0.1");
});

test("a section is told by its name, its numbers and what is wrong there", () => {
  assert.equal(hoverText(run, section, 1), "step = 1: loss 2 · gradient norm 0.01 · learning rate 0.1 · a");
  assert.equal(hoverText(run, section, 5), "step = 4: loss 3 · gradient norm 100 · learning rate 0.05 · The loss is nan · b");
  assert.equal(hoverText(run, section, 2), "evaluate(): loss nan · learning rate 0.1", "the one beside it by its own name");
  assert.equal(hoverText(null, section, 4), "section 5 of 6");
  assert.deepEqual(sectionsOf(run.findings), [1, 5]);
});

test("the number of sections says how many are iterations", () => {
  assert.equal(countText({ ...section, iterations: 4 }), "4 iterations, and 2 parts of the run before, between or after them");
  assert.equal(countText({ ...section, iterations: 5 }), "5 iterations, and 1 part of the run before, between or after them");
  assert.equal(countText({ ...section, count: 4194, iterations: 4194 }), "4,194 iterations");
});
