import assert from "node:assert/strict";
import { test } from "node:test";

import { element, fitNum, fitRow, indexText, isRounded, namesOf, nest, num, parseNumber, result, shapeText, statsTexts, toNumber, truth, withMinus, withoutCommonEnd } from "../../../assets/js/scene/format.mjs";
import { pieces } from "../../../assets/js/scene/line_breaks.mjs";

test("num writes integers plainly and others in few digits", () => {
  const cases = [[2, "2"], [-0, "0"], [1234567, "1.235e6"], [1 / 60, "0.01667"], [0.016667, "0.016667"], [1e-4, "1e-4"], [1.25e-5, "1.25e-5"], [-3.5, "\u22123.5"],
    [3.3003, "3.3003"], [Math.E, "2.718"], [Math.fround(0.1), "0.1"], ["nan", "nan"], ["-inf", "\u2212inf"], [Infinity, "inf"], [null, ""], [999999, "999999"]];
  for (const [value, text] of cases) assert.equal(num(value), text);
});

test("a product equals its result where a calculator gives it from what is written", () => {
  assert.deepEqual([result([[2, 3]], 6), result([[1 / 3, 3]], 1), result([[0.1, 3], [-0.3, 1]], 0)], ["= 6", "\u2248 1", "= 0"]);
  assert.equal(result([[1.95883, 1.2], [-4.87256, 0.5]], -0.08568), "\u2248 \u22120.08568");
  assert.deepEqual([result([["inf", 2]], "inf"), result([["nan", 0]], "nan")], ["= inf", "= nan"]);
});

test("five digits stand where a number has no more, and where four would pass for all of it", () => {
  assert.equal(num(277.75), "277.75");
  for (const exact of [1.1001, 3.3003]) assert.equal(num(Math.fround(exact)), String(exact));
  assert.equal(num(Math.fround(7.512098789215088)), "7.512", "that it is near five digits is chance");
  assert.equal(num(Math.fround(0.069968)), "0.06997");
  assert.equal(num(Math.fround(2.8799004554748535)), "2.88");
});

test("fitNum keeps to its room, and isRounded tells where a number has more digits", () => {
  for (const value of [0.333333, 12345.678, 1.6667e-2, -0.14285714, 8.125, 123456, -7, 0.99963, "nan", "-inf", -1.25e-5]) {
    for (let room = 1; room < 12; room++) assert.ok(fitNum(value, room).length <= room, `${value}: ${fitNum(value, room)} in ${room}`);
  }
  assert.equal(fitNum(0.333333, 5), "0.333");
  assert.equal(fitNum(8.125, 6), "8.125");
  assert.equal(fitNum(123456, 4), "1e5");
  assert.equal(fitNum(1.25e-5, 6), "1.3e-5");
  assert.deepEqual([["1.3e-5", 1.25e-5], ["1e5", 123456], ["1.25e-5", 1.25e-5], ["7", 7], ["0.33", 0.33024], ["\u2026", 0.1]].map((one) => isRounded(...one)), [true, true, false, false, false, false]);
  assert.equal(fitNum(1.25e-5, 7), "1.25e-5");
  assert.equal(fitNum(1e-5, 4), "1e-5");
  assert.equal(fitNum(0.33024, 4), "0.33", "three digits, the last one a zero");
  assert.equal(fitNum("inf", 4), "inf");
  assert.equal(fitNum(-0.0079, 5), "\u22128e-3");
  assert.equal(fitNum(-0.0833, 5), "\u22120.08");
  assert.equal(fitNum(-0.0833, 4), "\u2026", "what no text of four letters is true to");
});

test("fitNum writes what is no whole number never as one, and no more digits than the sentences", () => {
  assert.equal(fitNum(0.99963, 6), "0.9996");
  assert.equal(fitNum(0.99963, 5), "\u22481");
  assert.equal(fitNum(-1.9998, 3), "\u2248\u22122");
  assert.equal(fitNum(Math.E, 8), "2.718");
  assert.equal(fitNum(3, 1), "3");
});

test("the numbers of a row have as many digits as the longest of them has room for", () => {
  assert.deepEqual(fitRow([1.9590, -4.8722], 6), ["1.959", "\u22124.872"]);
  assert.deepEqual(fitRow([1.9590, -4.8722], 5), ["1.96", "\u22124.87"]);
  assert.deepEqual(fitRow([-0.0625, 1 / 6], 7), ["\u22120.0625", "0.1667"]);
  assert.deepEqual(fitRow([-0.0625, 1 / 6], 6), ["\u22120.063", "0.1667"]);
  assert.deepEqual(fitRow([1 / 60, 1 / 7, 1.25e-5], 6), ["0.0167", "0.143", "1.3e-5"]);
  assert.deepEqual(fitRow([0.016667, 3], 8), ["0.016667", "3"], "what five digits are all of has five");
  assert.deepEqual(fitRow([0.2447, 123456, "nan", null], 5), ["0.245", "1.2e5", "nan", ""], "what has no room for three digits takes none from the others");
});

test("toNumber reads what JSON cannot say", () => {
  assert.ok(Number.isNaN(toNumber("nan")));
  assert.equal(toNumber("-inf"), -Infinity);
  assert.equal(toNumber(1.5), 1.5);
});

test("nest follows the shape", () => {
  assert.deepEqual(nest([1, 2, 3, 4], [1, 4]), [[1, 2, 3, 4]]);
  assert.deepEqual(nest([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2]), [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
  assert.equal(nest([7], []), 7);
});

test("an index counts row by row", () => {
  assert.equal(indexText(5, [2, 3]), "[1, 2]");
  assert.equal(indexText(3, [4]), "[3]");
  assert.equal(indexText(0, []), "");
});

test("parseNumber takes what people type, and says what is wrong with the rest", () => {
  for (const [text, value] of [["1", 1], [" -0.5 ", -0.5], ["1e-4", 1e-4], ["1/4", 0.25], ["0,5", 0.5], ["\u22122", -2], ["inf", "inf"], ["NaN", "nan"]]) {
    assert.deepEqual(parseNumber(text), { value });
  }
  for (const text of ["", "one", "1..2", "1/0", "--3", "Infinity"]) assert.match(parseNumber(text).error, /number/);
});

test("parseNumber says of a number that a dtype cannot hold what would become of it", () => {
  assert.equal(parseNumber("1e400").error, "\u201c1e400\u201d is too large for float64: it would be inf. Type inf if that is meant.");
  assert.equal(parseNumber("\u22121e39", "float32").error, "\u201c\u22121e39\u201d is too large for float32: it would be -inf. Type -inf if that is meant.");
  assert.match(parseNumber("65520", "float16").error, /too large for float16/);
  assert.match(parseNumber("3.4e38", "bfloat16").error, /too large for bfloat16: it would be inf/);
  assert.match(parseNumber("1e400", "int64").error, /too large for int64\.$/);
  for (const [text, dtype] of [["1e39", "float64"], ["3.4028235e38", "float32"], ["65519", "float16"]]) assert.deepEqual(parseNumber(text, dtype), { value: Number(text) });
});

test("shapes and statistics are one line", () => {
  assert.equal(shapeText([2, 3]), "2\u00d73");
  assert.equal(shapeText([]), "scalar");
  assert.deepEqual(statsTexts({ dtype: "float32", stats: { min: -1, max: 2, norm: 3.14159, nan: 2, inf: 0 } }), ["2 nan  \u22121 \u2026 2   norm 3.14", "2 nan  \u22121 \u2026 2", "2 nan"]);
});

test("withMinus turns the hyphens of numbers into signs, and those of names and indices not", () => {
  assert.equal(withMinus("-4 + (-2) = -6, [[0 -2] [-1 3]] and -inf"), "\u22124 + (\u22122) = \u22126, [[0 \u22122] [\u22121 3]] and \u2212inf");
  assert.equal(withMinus("x[-1] of log-softmax, 1e-5, dim=-1"), "x[-1] of log-softmax, 1e-5, dim=-1");
});

test("truth values are written as torch does", () => {
  const value = { shape: [2], dtype: "bool", data: [1, 0] };
  assert.deepEqual([element(value, 0), element(value, 1), truth(0, 3)], ["True", "False", "F"]);
  assert.deepEqual(statsTexts({ dtype: "bool", stats: { min: 0, max: 1, norm: 2, nan: 0, inf: 0, zeros: 32, size: 36 } }), ["4 of 36 True"]);
});

test("numbers and short vectors stay on one line, long vectors may go on", () => {
  assert.deepEqual(pieces("gives −1.251e-4 and [1 2 3]."), ["gives ", { whole: "−1.251e-4" }, " and ", { whole: "[1 2 3]" }, "."]);
  assert.deepEqual(pieces("sum(x) is 12"), ["sum(x) is 12"]);
  assert.deepEqual(pieces(`[${"1.2345 ".repeat(9)}0]`), [`[${"1.2345 ".repeat(9)}0]`]);
  assert.deepEqual(pieces("[[1 2] [3 4]]"), ["[", { whole: "[1 2]" }, " ", { whole: "[3 4]" }, "]"]);
  assert.deepEqual(pieces(""), []);
});

test("a second line of an op has a shorter form that says the same", () => {
  assert.deepEqual(["MulBackward0", "no gradient", "mul_"].map((name) => namesOf(name)[1]), ["Mul", "no grad", "mul_"]);
});

test("names lose only a whole word that all of them end in", () => {
  assert.deepEqual(withoutCommonEnd(["d_loss", "g_loss"]), ["d", "g", "loss"]);
  assert.deepEqual(withoutCommonEnd(["loss.train", "valid.train"]), ["loss", "valid", "train"]);
  for (const names of [["errD", "errG"], ["loss"], ["d_loss"], ["loss", "d_loss"], ["closs", "d_loss"], []]) assert.deepEqual(withoutCommonEnd(names), names);
});
