import assert from "node:assert/strict";
import test from "node:test";
import { legibleTex } from "../../../assets/js/panels/inspector/tex.mjs";

test("a formula without small parts stays as it is", () => {
  for (const tex of ["\\bar{x}_{i} = 2 \\cdot \\overline{\\mathrm{length}}_{ij}", "\\frac{a_{i}}{\\operatorname{exp}\\left(b\\right)}",
    "\\sum_{k} a_{ik} \\cdot b^{\\top}"]) assert.equal(legibleTex(tex), tex);
});

test("fractions in cases and in fractions are set in full size", () => {
  assert.equal(legibleTex("\\begin{cases}0 & \\text{where } x = 0 \\\\ \\frac{x_{i}}{n} & \\text{else}\\end{cases} \\cdot \\frac{1}{2}"),
    "\\begin{cases}0 & \\text{where } x = 0 \\\\ \\dfrac{x_{i}}{n} & \\text{else}\\end{cases} \\cdot \\frac{1}{2}");
  assert.equal(legibleTex("\\frac{\\frac{a}{b}}{c}"), "\\frac{\\dfrac{a}{b}}{c}");
});

test("scripts of scripts are as large as scripts", () => {
  assert.equal(legibleTex("x_{y_{i}}"), "x_{y_{\\scriptstyle i}}");
  assert.equal(legibleTex("x^{\\frac{1}{n_k}}"), "x^{\\frac{\\scriptstyle 1}{\\scriptstyle n_{\\scriptstyle k}}}");
  assert.equal(legibleTex("e^\\top_2"), "e^{\\top}_{2}");
});
