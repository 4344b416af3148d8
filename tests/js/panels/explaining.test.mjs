// What explains the picture: the signs of the legend, the boxes beside the panels, the stops of the tour.

import assert from "node:assert/strict";
import test from "node:test";

import { placeBeside } from "../../../assets/js/page/callout.mjs";
import { withTerms, termsOf } from "../../../assets/js/panels/inspector/terms.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { SIGNS } from "../../../assets/js/paint/legend_samples.mjs";
import { describe, nodeState, prepare, rowState, savedState, stateAt } from "../../../assets/js/scene/state.mjs";

const all = SIGNS.flatMap(({ signs }) => signs);
const moment = (id) => {
  const sign = all.find((one) => one.id === id);
  return stateAt(prepare(sign.scene), sign.t ?? 0);
};

test("every sign has words and a scene that the painter's own functions can read", () => {
  assert.equal(new Set(all.map((sign) => sign.id)).size, all.length);
  for (const sign of all) {
    assert.ok(sign.text.length > 10, sign.id);
    const index = prepare(sign.scene);
    assert.ok(describe(stateAt(index, sign.t ?? 0)), sign.id);
    assert.ok(layPlane(index).bounds.every(Number.isFinite), sign.id);
  }
});

test("signs of states show that state", () => {
  for (const name of ["future", "waiting", "ready", "done", "error"]) {
    const now = moment(name);
    assert.equal(nodeState(now, now.scene.nodes[0]), name);
  }
  for (const name of ["saved", "kept", "freed"]) {
    const now = moment(name);
    assert.equal(savedState(now, now.scene.nodes[0]), name);
  }
  assert.equal(moment("active").active, "n");
});

test("the sign of what has just arrived is a row that this step changed", () => {
  const now = moment("arrived");
  assert.equal(rowState(now, now.scene.nodes[0].rows[0]).changed, true);
  const held = moment("held");
  assert.equal(rowState(held, held.scene.nodes[0].rows[0]).changed, false);
});

test("a box stands beside its place, inside the window, and covers it only where there is no room", () => {
  const room = { width: 1000, height: 800 };
  const box = { width: 300, height: 200 };
  const place = (left, top, right, bottom) => ({ left, top, right, bottom });
  assert.deepEqual(placeBeside(place(0, 100, 300, 400), box, room), { x: 312, y: 100 });
  assert.deepEqual(placeBeside(place(700, 100, 1000, 400), box, room), { x: 388, y: 100 });
  assert.deepEqual(placeBeside(place(0, 0, 1000, 100), box, room), { x: 12, y: 112 });
  assert.deepEqual(placeBeside(place(0, 700, 1000, 800), box, room), { x: 12, y: 488 });
  const over = placeBeside(place(0, 0, 1000, 800), box, room);
  assert.ok(over.x >= 0 && over.y >= 0 && over.x + 300 <= 1000 && over.y + 200 <= 800);
});

test("terms of a formula stand for the tensors around their op", () => {
  const scene = {
    nodes: [{ id: "t0", kind: "tensor", label: "x" }, { id: "t1", kind: "tensor", label: "out" }, { id: "n1", kind: "op", label: "log" }, { id: "n0", kind: "op", label: "@" }, { id: "t2", kind: "stub", label: "a" }],
    edges: [{ source: "t0", target: "n0", input: "self" }, { source: "t2", target: "n0", input: "mat2" }, { source: "n0", target: "t1", input: null }, { source: "t1", target: "n1", input: "self" }],
  };
  const over = (name) => [...name].map((letter) => `${letter}\u0305`).join("");
  const terms = termsOf(scene, "n0", [{ text: `x\u0304 = ${over("out")} aᵀ`, terms: { "x\u0304": "self", "out\u0304": "result", a: "mat2" } }]);
  assert.deepEqual(Object.fromEntries(Object.entries(terms).map(([key, term]) => [key, term.id])), { "x\u0304": "t0", "out\u0304": "t1", a: "t2" });
  assert.equal(terms["out\u0304"].words, "the upstream gradient, from out");
  const bare = termsOf({ ...scene, edges: [{ source: "t0", target: "n0", input: "self" }, { source: "n0", target: "n1", input: "self" }] }, "n0",
    [{ terms: { "x\u0304": "self", "y\u0304": "result", y: "result", k: "result[1]", w: "weight" }, words: { k: "where it was found", share: "a part each" } }]);
  assert.deepEqual(Object.keys(bare), ["x\u0304", "y\u0304", "y", "k", "w", "share"]);
  assert.equal(bare["y\u0304"].id, "n1");
  assert.deepEqual(bare.k, { id: "n0", name: "k", gradient: false, words: "where it was found" }); // on no card: the op has it
  assert.deepEqual(bare.w, { id: "n0", name: "w", gradient: false, words: "the input weight" });
  assert.deepEqual(bare.share, { id: null, name: "share", gradient: false, words: "a part each" });
});

test("the line of text has each term once, whatever stands around it", () => {
  const words = (text, terms) => withTerms(text, terms).filter((part) => typeof part !== "string").map((one) => one.textContent);
  globalThis.document = { createElement: () => ({ setAttribute() {}, append(...all) { this.textContent = all.join(""); } }) };
  const terms = { "w\u0304": {}, w: {}, "net[2].weight": {}, "ab\u0304": {}, x1: {}, "x\u0302": {} };
  assert.deepEqual(words("w\u0304ᵢⱼ = ww · wᵀ · net[2].weight[i, j] · a\u0305b\u0305 · x1ₖ · x\u0302ᵢ · x1y", terms),
    ["w\u0304", "w", "net[2].weight", "a\u0305b\u0305", "x1", "x\u0302"]);
});

test("a tensor that was written to has its own name in a formula", () => {
  const node = (id, kind, label) => ({ id, kind, label });
  const written = {
    nodes: [node("t1.1", "tensor", "y v1"), node("n0", "op", "sum"), node("t2", "tensor", "z")],
    edges: [{ source: "t1.1", target: "n0", input: "self" }, { source: "n0", target: "t2", input: null }],
  };
  const terms = termsOf(written, "n0", [{ text: "y\u0304\u1d62 = z\u0304", terms: { "y\u0304": "self", "z\u0304": "result" } }]);
  assert.equal(Object.values(terms).find((term) => term.id === "t1.1")?.words, "the gradient sent to y");
});

test("what a folded group gives has its name, and a result of the same name is the new one", () => {
  const node = (id, kind, label) => ({ id, kind, label });
  const written = {
    nodes: [node("g0", "group", "i = 0"), node("n0", "op", "[2] ="), node("t2", "tensor", "b v3")],
    edges: [{ source: "g0", target: "n0", input: "self", hands: "b v2" }, { source: "n0", target: "t2", input: null }],
  };
  const terms = termsOf(written, "n0", [{ terms: { "b\u0304": "self", "y\u0304": "result" } }]);
  assert.deepEqual(Object.values(terms).map(({ id, words }) => [id, words]), [["g0", "the gradient sent to b"], ["t2", "the upstream gradient, from the new b"]]);
});

test("the terms of an op in a folded group are seen no nearer than there", () => {
  const scene = { nodes: [{ id: "g0", kind: "group", label: "t = 3" }, { id: "t0", kind: "tensor", label: "h" }], edges: [{ source: "t0", target: "g0", input: "self" }] };
  const terms = termsOf(scene, "g0", [{ terms: { "h\u0304": "self", U: "mat2", "y\u0304": "result", y: "result" }, words: { cos: "the cosine" } }]);
  assert.deepEqual(Object.values(terms).map(({ words }) => words), ["the gradient sent to h", "the input U", "the upstream gradient", "the result", "the cosine"]);
  assert.deepEqual(Object.values(terms).map(({ id }) => id), ["g0", "g0", "g0", "g0", null], "that h is of another round");
});

test("a term without a name is called by its expression, not by that of the op that takes it", () => {
  const code = (col, stop) => ({ file: 0, line: 1, end: 1, col, stop });
  const node = (id, label, at) => ({ id, kind: "op", label, code: at });
  const made = {
    program: { files: [{ name: "a.py", text: "(x * x.detach()).sum()" }] },
    nodes: [node("n0", "detach", code(5, 15)), node("n1", "×", code(1, 15)), node("n2", "expand", code(1, 15))],
    edges: [{ source: "n0", target: "n1", input: "other" }, { source: "n2", target: "n1", input: "self" }],
  };
  const terms = termsOf(made, "n1", [{ terms: { v: "other", u: "self" } }]);
  assert.equal(terms.v.words, "x.detach()");
  assert.equal(terms.u.words, "the result of expand");
  const named = { ...made, nodes: [...made.nodes, { id: "t0", kind: "tensor", label: "guess" }], edges: [...made.edges, { source: "t0", target: "n2", input: "self" }] };
  assert.equal(termsOf(named, "n1", [{ terms: { u: "self" } }]).u.words, "the result of expand of guess");
  const weighted = { ...made, edges: [{ source: "n0", target: "n1", input: "weight" }] };
  assert.equal(termsOf(weighted, "n1", [{ terms: { w: "weight" } }]).w.words, "x.detach(), the input weight");
});
