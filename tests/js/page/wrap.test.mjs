import assert from "node:assert/strict";
import test from "node:test";
import { widthOf, wrapFormula } from "../../../assets/js/page/wrap.mjs";

const CALL = "\\overline{\\mathrm{kernel}} = \\operatorname{convolution\\_weight}\\left(\\overline{\\mathrm{edges}}, {\\mathrm{image}}, \\mathrm{sizes}=1 \\times 1, \\mathrm{eps}=10^{-5}\\right)";
const SUM = "\\bar{x}_{ij} = y_{ij} - \\exp\\left(y_{ij}\\right) \\cdot \\left(\\sum_{k} \\bar{y}_{ik}\\right)";
const rows = (tex) => tex.replace(/^\\begin\{aligned\}|\\end\{aligned\}$/g, "").split(" \\\\ ").map((row) => row.replace("&", "").replace("\\quad ", "").trim());

test("a formula that fits is left as it is", () => {
  assert.equal(wrapFormula(SUM, 40), SUM);
  assert.equal(wrapFormula("\\frac{a}{b}", 0.1), "\\frac{a}{b}");
});

test("a call is broken behind its sign of equality and its commas, in plain brackets", () => {
  const found = rows(wrapFormula(CALL, 20));
  assert.deepEqual(found, ["\\overline{\\mathrm{kernel}} =",
    "\\operatorname{convolution\\_weight}(\\overline{\\mathrm{edges}}, {\\mathrm{image}},", "\\mathrm{sizes}=1 \\times 1, \\mathrm{eps}=10^{-5})"]);
});

test("a sum is broken before its signs, and brackets that stay in a line may grow", () => {
  assert.deepEqual(rows(wrapFormula(SUM, 13)), ["\\bar{x}_{ij} = y_{ij}", "- \\exp\\left(y_{ij}\\right) \\cdot \\left(\\sum_{k} \\bar{y}_{ik}\\right)"]);
  assert.deepEqual(rows(wrapFormula(SUM, 8)).slice(1, 2), ["- \\exp\\left(y_{ij}\\right)"]);
});

test("no line is wider than its room where its parts are not, and nothing is lost", () => {
  const bare = (tex) => tex.replace(/\\left|\\right|\s|&|\\quad|\\\\(?=\s)|\\begin\{aligned\}|\\end\{aligned\}/g, "");
  for (const tex of [CALL, SUM]) {
    for (let room = 13; room < 40; room += 1) {
      const broken = wrapFormula(tex, room);
      assert.equal(bare(broken), bare(tex));
      for (const row of rows(broken)) assert.ok(widthOf(row) <= Math.max(room, 15), `${room}: ${row}`);
    }
  }
});

test("tables and fractions are not broken", () => {
  const cases = "\\bar{x} = \\begin{cases}0 & \\text{where } x = 0 \\\\ \\dfrac{x + y + z}{n} & \\text{else}\\end{cases}";
  assert.equal(rows(wrapFormula(cases, 9).replace("0 & ", "0 ").replace(" \\\\ \\dfrac", "\\dfrac")).length, 2);
  assert.ok(wrapFormula(cases, 9).includes("\\begin{cases}0 & \\text{where } x = 0 \\\\ \\dfrac{x + y + z}{n} & \\text{else}\\end{cases}"));
});
