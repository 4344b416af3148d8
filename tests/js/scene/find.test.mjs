import assert from "node:assert/strict";
import { test } from "node:test";

import { entries, examples, placeOf, plain, search, words } from "../../../assets/js/scene/find.mjs";

const node = (id, kind, role, label, sub, title, group = null) => ({ id, kind, role, label, sub, title, group });
const scene = () => ({
  nodes: [
    node("t0", "tensor", "leaf", "W", "3×4 · leaf", "W: 3×4, float32, requires grad"),
    node("t1", "tensor", "constant", "x", "2×3 · constant", "x: 2×3, float64, no grad"),
    node("n0", "op", "inner", "@", "MmBackward0", "mm: 2×3, 3×4 → 2×4"),
    node("t2", "tensor", "inner", "x2", "2×4", "x2: 2×4, float32, requires grad", "g0"),
    node("n1", "op", "inner", "× 2", "MulBackward0", "mul: 2×4 → 2×4", "g0"),
    node("t0@n5", "stub", "leaf", "W", "3×4", "W: the same tensor, drawn again where it is used"),
    node("g1", "group", "inner", "t = 1", "2 ops · 2×4 → scalar", "t = 1: 2 ops, folded"),
    node("t9", "tensor", "root", "y.sum()", "scalar · root", "y.sum(): scalar, float32, requires grad"),
  ],
  groups: [{ id: "g0", label: "t = 0", round: true, within: null, folded: false }, { id: "g1", label: "t = 1", round: true, within: null, folded: true }],
  folded: ["g1", "g2"],
  hidden: {
    names: [["op", "inner", "log", "LogBackward0", "log: 2×4 → 2×4"], ["tensor", "inner", "fc.bias", "3", "fc.bias: 3, float32, requires grad"]],
    nodes: [["n2", 0, "g1"], ["t4", 1, "g2"], ["n3", 0, "g2"]],
    groups: [{ id: "g2", label: "fc: Linear", within: "g1" }],
  },
  findings: [{ at: "n1", kind: "nan", label: "first nan: mul" }, { at: null, kind: "inf", label: "nowhere" }],
  error: { node: "n0", type: "RuntimeError" },
});
const all = entries(scene());
const ids = (query, most = 20) => search(all, query, most).hits.map((one) => one.id);

test("everything of the scene is an entry once, a stub as its tensor", () => {
  assert.deepEqual(all.map((one) => one.id), ["t0", "t1", "n0", "t2", "n1", "g1", "t9", "n2", "t4", "n3", "g0", "g2"]);
});

test("names are found by the user's spelling, the whole one first", () => {
  assert.deepEqual(ids("x"), ["t1", "t2"]);
  assert.equal(ids("w")[0], "t0");
  assert.deepEqual(ids("y.sum()"), ["t9"]);
  assert.deepEqual(ids("bias"), ["t4"]);
});

test("ops are found by label, torch's name and node name", () => {
  for (const query of ["× 2", "* 2", "mul", "MulBackward0", "mulback"]) assert.equal(ids(query)[0], "n1", query);
  assert.deepEqual(ids("backward0"), ["n0", "n1", "n2", "n3"]);
});

test("shapes are found as one writes them: results before inputs, in brackets the whole one alone", () => {
  for (const query of ["3×4", "3x4", "3 x 4", "3*4", "[3, 4]", "(3,4)", "torch.Size([3, 4])"]) assert.deepEqual(ids(query), ["t0", "n0"], query);
  assert.deepEqual(ids("[3]"), ["t4"]);
  assert.deepEqual(ids("[]"), ["t9"]);
  assert.deepEqual(ids("[2, "), ids("2"));
  assert.deepEqual(ids("2×4").slice(0, 3), ["n0", "t2", "n1"]);
});

test("dtypes, roles and kinds are words too, and all words of a query have to fit", () => {
  assert.deepEqual(ids("float64"), ["t1"]);
  assert.deepEqual(ids("torch.float64"), ["t1"]);
  assert.deepEqual(ids("leaf"), ["t0"]);
  assert.deepEqual(ids("root"), ["t9"]);
  assert.deepEqual(ids("no_grad"), ["t1"]);
  assert.deepEqual(ids("tensor 2×4"), ["t2"]);
  assert.deepEqual(ids("leaf float64"), []);
});

test("what is wrong is found by its word", () => {
  assert.deepEqual(ids("nan"), ["n1"]);
  assert.deepEqual(ids("error"), ["n0"]);
  assert.deepEqual(ids("runtimeerror"), ["n0"]);
  assert.deepEqual(ids("inf"), []);
});

test("groups are found, and by them what is in them", () => {
  assert.equal(ids("t = 1")[0], "g1");
  for (const inside of ["n2", "t4", "n3", "g2"]) assert.ok(ids("t = 1").includes(inside), inside);
  assert.equal(ids("linear")[0], "g2");
});

test("what is in folded groups says which to unfold, the innermost first", () => {
  const of = (id) => all.find((one) => one.id === id);
  assert.deepEqual(of("t4").unfold, ["g2", "g1"]);
  assert.deepEqual(of("g2").unfold, ["g1"]);
  assert.deepEqual(of("t2").unfold, []);
  assert.deepEqual([of("t4").group, of("t2").group, of("t0").group], ["fc: Linear", "t = 0", null]);
  assert.deepEqual(["t4", "n2", "t2", "g2", "g1", "t0"].map((id) => placeOf(of(id))), ["t = 1, fc: Linear", "t = 1", "t = 0", "t = 1", "", ""]);
});

test("at most as many as there is room for, and how many there are", () => {
  const { hits, total } = search(all, "2", 3);
  assert.equal(hits.length, 3);
  assert.ok(total > 3);
  assert.deepEqual(search(all, "  ", 3), { hits: [], total: 0 });
});

test("a query is read into words, a shape into one", () => {
  assert.deepEqual(words("Relu [3, 4]"), [{ text: "3×4", whole: true }, { text: "relu", whole: false }]);
  assert.deepEqual(words("[3,"), [{ text: "3", whole: false }]);
  assert.deepEqual(words("["), []);
  assert.equal(plain("X ** 2 − 3 X 4"), "x ** 2 - 3×4");
});

test("examples are of this program", () => {
  const found = new Map(examples(all).map(([what, ...queries]) => [what, queries]));
  assert.deepEqual(found.get("a name"), ["W"]);
  assert.deepEqual(found.get("a shape"), ["3×4", "[3, 4]"]);
  assert.deepEqual(found.get("what is wrong"), ["nan", "error"]);
  for (const [what, queries] of found) for (const query of queries) assert.ok(search(all, query, 1).total > 0, `${what}: ${query}`);
  assert.deepEqual(examples(entries({ nodes: [], groups: [], folded: [], hidden: null, findings: [], error: null })), []);
});

test("a letter costs one pass: each entry is looked at once", () => {
  let looked = 0;
  const counted = all.map((one) => new Proxy(one, { get: (target, key) => { looked += key === "names"; return target[key]; } }));
  search(counted, "z", 5);
  assert.equal(looked, all.length);
});
