// Text with `code`, **bold** and *stress* as elements, of which a stub has the tag and the words.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inline } from "../../../assets/js/page/dom.mjs";

const element = (tag) => ({ tag, words: [], append(...words) { this.words.push(...words); } });
Object.assign(globalThis, { document: { createElement: element } });

const marks = (text) => inline(text).filter((part) => part.tag && part.tag !== "span").map(({ tag, words }) => [tag, ...words]);

test("what stands between marks is an element", () => {
  assert.deepEqual(marks("Each of **z** is *twice* one of `x * y * z`, the **first**s"), [["b", "z"], ["em", "twice"], ["code", "x * y * z"], ["b", "first"]]);
});

test("powers and products of numbers are no marks", () => {
  const finding = "5.572e23 ** 2 = inf at [0, 0]. This op produced it, in `(net(x) - y) ** 2` (line 10).";
  assert.deepEqual(marks(finding), [["code", "(net(x) - y) ** 2"]]);
  assert.deepEqual(marks("x**2 and y**2, 3 * 4 and a*b*c"), []);
  assert.deepEqual(marks("** 2 gives inf, of pow and ** 3"), []);
});
