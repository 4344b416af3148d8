// The pure parts of the panels: edits, addresses, and a scene read as text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { NONE_PASSED } from "../../../assets/js/scene/shared.mjs";
import * as edits from "../../../assets/js/page/edits.mjs";
import * as chapters from "../../../assets/js/panels/program/chapters.mjs";
import * as places from "../../../assets/js/page/command_positions.mjs";
import * as sums from "../../../assets/js/panels/inspector/arithmetic.mjs";
import * as read from "../../../assets/js/page/value_text.mjs";
import * as roots from "../../../assets/js/panels/commands/roots.mjs";
import * as url from "../../../assets/js/page/url.mjs";

const value = (shape, data) => ({ shape, dtype: "float32", data, strip: null, stats: { min: 0, max: 0, mean: 0, norm: 0, nan: 0, inf: 0, zeros: 0, size: data.length } });

const command = (id, more = {}) => ({
  id, kind: "backward", label: id, code: null, after: 4, start: 2, end: 4, root: "t1", shape: [1, 2], gradient: 0, implicit: false,
  retain_graph: false, create_graph: false, inputs: null, changed: null, error: null, ...more,
});

const tensor = (id, from) => ({ id, kind: "tensor", role: "inner", tracks: { state: [[0, "future"], [from, "idle"]] }, code: null });

const scene = {
  steps: [{}, {}, {}, {}, {}, {}], values: [value([1, 2], [1, 0]), value([], [1])],
  changes: [], commands: [command("c0"), command("c1", { after: 7, start: 4, end: 6, root: "t2", gradient: 1, shape: [], implicit: true, retain_graph: true, inputs: ["t0"] })],
  nodes: [tensor("t1", 1), tensor("t2", 3)],
};

test("a recorded command passes what the program passes, until it is edited", () => {
  const [first, second] = edits.specs(scene, edits.NONE);
  assert.deepEqual([first.root, first.gradient, first.after], [1, null, 4]);
  assert.deepEqual(edits.passedNumbers(scene.commands[0], scene), [[1, 0]]);
  assert.deepEqual([second.gradient, second.inputs, second.retain_graph], [null, [0], true]);
});

test("a change keeps all other commands and the leaves", () => {
  const made = edits.change(scene, { leaves: { 0: [[5]] }, commands: null }, "c0", { gradient: [[0, 1]] });
  assert.deepEqual(made.commands.map((one) => one.gradient), [[[0, 1]], null]);
  assert.deepEqual(made.leaves, { 0: [[5]] });
});

test("a command that an error kept from running stays in the list", () => {
  const all = edits.specs(scene, edits.NONE);
  const stopped = { ...scene, commands: scene.commands.slice(0, 1) };
  const made = edits.change(stopped, { leaves: {}, commands: all }, "c0", { retain_graph: true });
  assert.deepEqual(made.commands.map((one) => one.id), ["c0", "c1"]);
  assert.deepEqual(edits.commandsOf(stopped, made).map((one) => Boolean(one.unreached)), [false, true]);
});

test("an added command has an id of its own and no place", () => {
  const once = edits.add(scene, edits.NONE, { kind: "zero", leaf: 0 });
  const twice = edits.add(scene, once.edits, { kind: "zero", leaf: 0 });
  assert.notEqual(once.id, twice.id);
  assert.equal(once.edits.commands[2].after, null);
  assert.equal(twice.edits.commands.length, 4);
});

const placed = {
  ...scene,
  places: [{ after: -1, code: null, makes: [] }, { after: 0, code: null, makes: [0] }, { after: 2, code: null, makes: [1] }, { after: 5, code: null, makes: [2] }],
};
test("a call that passes no gradient keeps that wherever it is moved to, and in an address", () => {
  const none = edits.change(placed, edits.NONE, "c0", { gradient: NONE_PASSED });
  assert.deepEqual(none.commands.map((one) => one.gradient), ["none", null]);
  assert.equal(places.put(placed, none, none.commands[0], "p5").commands.find((one) => one.id === "c0").gradient, "none");
  assert.deepEqual(url.view(`?${url.query({ program: "p", edits: none })}`).edits, none);
});

const grown = {
  ...placed,
  places: [...placed.places, { after: 6, code: null, makes: [1] }], // a write into what the second line made
  nodes: [...placed.nodes, { ...tensor("t0", 0), role: "leaf", label: "x" }, { ...tensor("t3", 0), role: "constant", label: "c" }, { ...tensor("t1.1", 5), label: "z v1" },
    { ...tensor("t0@n1", 0), kind: "stub" }, { id: "n1", kind: "op", label: "sum", tracks: { state: [[0, "idle"]] } }, { id: "g1", kind: "group", tracks: { state: [[0, "idle"]] } }],
  edges: [{ source: "t1", target: "n1" }, { source: "n1", target: "t1" }],
};

test("a call can start from every tensor, of each from one card, results before leaves and constants", () => {
  const labels = (shown) => roots.rootsOf(grown, shown).map((one) => one.id);
  assert.deepEqual(labels(null), ["t2", "t1.1", "t0", "t3"]);
  assert.deepEqual(labels("t1"), ["t2", "t1", "t0", "t3"]);
});

test("what a call cannot start from says why; what torch refuses can be chosen", () => {
  const spec = { after: 4 };
  const why = (id) => roots.whyNoRoot(grown, spec, 2, { label: id, ...grown.nodes.find((one) => one.id === id) });
  assert.deepEqual(["t0", "t0@n1", "t1", "t3"].map(why), [null, null, null, null]);
  assert.match(why("t2"), /^t2 is not yet computed where this call runs\. Move the call further down/);
  assert.match(why("n1"), /^sum is an op\. Choose a tensor/);
  assert.match(why("g1"), /a group of ops\. Choose a tensor in it; double-click to open/);
  assert.match(roots.whyNoRoot(grown, spec, 2, { id: "g1", label: "open", members: [] }), /a group of ops/);
});

test("a call stands before what is written later into the tensor that it starts from", () => {
  const all = edits.specs(grown, edits.NONE);
  assert.ok(places.spots(grown, edits.NONE, all[0]).some((one) => one.after === 2));
  assert.ok(places.isThere(grown, all[0], 1) && !places.isThere(grown, { after: 1 }, 1) && places.isThere(grown, { after: null }, 2));
});

const ids = (made) => made.commands.map((one) => [one.id, one.after]);

test("a command moves before its neighbour only where its root exists", () => {
  assert.equal(places.move(placed, edits.NONE, "c1", -1), null); // it stands right behind what makes t2
  const early = { ...placed, places: placed.places.slice(0, 3).concat({ after: 3, code: null, makes: [2] }) };
  assert.deepEqual(ids(places.move(early, edits.NONE, "c1", -1)), [["c1", 3], ["c0", 4]]);
  assert.deepEqual(ids(places.move(placed, edits.NONE, "c0", 1)), [["c1", 7], ["c0", 7]]);
  assert.equal(places.move(placed, edits.NONE, "c1", 1), null);
});

test("a command is offered the places behind which what it needs exists, and takes its numbers along", () => {
  const [first, second] = edits.specs(placed, edits.NONE);
  assert.deepEqual(places.spots(placed, edits.NONE, first).map((one) => one.key), ["p2", "p5", "c1"]);
  assert.deepEqual(places.spots(placed, edits.NONE, second).map((one) => one.key), ["p5"]);
  const shaped = { ...placed, nodes: [{ ...tensor("t1", 1), shape: [1, 2] }, tensor("t2", 3)] };
  assert.deepEqual(places.put(shaped, edits.NONE, first, "c1").commands.map((one) => [one.id, one.after, one.gradient]), [["c1", 7, null], ["c0", 7, [[1, 0]]]]);
  assert.equal(places.spotOf(placed, edits.NONE, "c0"), "p2");
});

test("a new command stands where it is put, before what stood there", () => {
  const made = places.put(placed, edits.NONE, edits.newCommand(placed, edits.NONE, { kind: "zero", leaf: 0 }), "p0");
  assert.deepEqual(ids(made), [["new3", 0], ["c0", 4], ["c1", 7]]);
});

test("a story is a text, then a move that ends, then the next text", () => {
  const story = [{ step: 2 }, { step: null }, { step: 5 }];
  assert.deepEqual([0, 1, 2].map((i) => [chapters.restOf(story, i), chapters.endOf(story, i)]), [[0, 2], [2, 2], [2, 5]]);
  assert.deepEqual([0, 0.5, 2, 2.1, 5, 9].map((t) => chapters.chapterAt(story, t)), [0, 0, 0, 2, 2, 2]);
  assert.deepEqual([[0, 0], [0, 2], [1, 2], [2, 2], [2, 5]].map(([i, t]) => chapters.nextMove(story, i, t)), [{ play: 2 }, { turn: 1 }, { turn: 2 }, { play: 5 }, null]);
  assert.equal(chapters.nextMove([], 0, 0), null);
  assert.equal(chapters.chapterAt([{ step: null }, { step: 4 }], 0), 0); // a first chapter that only speaks is read first
});

const sceneOfMul = {
  values: [value([2], [1, 0]), value([2], [3, 0]), value([2], [3, 7])],
  nodes: [
    { id: "t0", kind: "tensor", label: "x", twin: null, rows: [{ key: "grad", track: [[0, null], [2, 1], [4, 2]] }], tracks: {} },
    { id: "n0", kind: "op", label: "× 3", rows: [], tracks: { upstream: [[0, null], [1, 0]] } },
  ],
  edges: [{ id: "e", source: "t0", target: "n0", input: "self", wiring: [[0, 0, 3], [1, 1, 3]] }],
  steps: [
    { kind: "vjp", at: "n0", name: "MulBackward0", from: { line: 7 }, flows: [{ edge: "e", back: true, value: 1 }] },
    { kind: "accumulate", at: "t0", name: "AccumulateGrad", from: { line: 7 }, flows: [] },
    { kind: "vjp", at: "n0", name: "MulBackward0", from: { line: 9 }, flows: [{ edge: "e", back: true, value: 1 }] },
    { kind: "accumulate", at: "t0", name: "AccumulateGrad", from: { line: 9 }, flows: [] },
  ],
};

test("a text announces its move, then stands beside it, then tells what was", () => {
  const told = [{ step: 3 }, { step: null }, { step: 5 }];
  assert.deepEqual([0, 1.5, 3].map((t) => chapters.stageOf(told, 0, t)), ["ahead", "running", "over"]);
  assert.deepEqual([chapters.stageOf(told, 1, 3), chapters.isMoving(told, 1)], ["over", false], "without a move it tells of what has happened");
  assert.deepEqual([chapters.stageOf([{ step: null }, { step: 2 }], 0, 0), chapters.isMoving(told, 2)], ["ahead", true], "before any move nothing has");
  assert.deepEqual([3, 4, 5, 9].map((t) => chapters.stageOf(told, 2, t)), ["ahead", "running", "over", "over"]);
});

test("a story that an edit stops ends at the error, and says of what follows that it no longer happens", () => {
  const story = [{ step: 2 }, { step: 4, fix: true }, { step: null, gone: "why" }];
  assert.deepEqual([1, 4, 9].map((t) => chapters.chapterAt(story, t)), [0, 1, 1]);
  assert.deepEqual([chapters.stageOf(story, 2, 4), chapters.nextMove(story, 0, 2), chapters.nextMove(story, 1, 4)], ["gone", { turn: 1 }, null]);
});

test("a step's arithmetic is written from the scene alone", () => {
  assert.deepEqual(sums.linesOf(sceneOfMul, 0).map((one) => [one.label, one.rows]), [["upstream", [["1", "0"]]], ["local", [["3", "3"]]], ["to x", [["3", "0"]]]]);
  assert.deepEqual(sums.linesOf(sceneOfMul, 1), []);
});

test("what a rule was given when it ran stands before what it had in forward", () => {
  const flows = [{ edge: "e", back: true, value: 2, wiring: [[0, 0, 7], [1, 1, 7]] }];
  const changed = { ...sceneOfMul, steps: [{ ...sceneOfMul.steps[0], flows }] };
  assert.deepEqual(sums.linesOf(changed, 0).map((one) => [one.label, one.rows]), [["upstream", [["1", "0"]]], ["local", [["7", "7"]]], ["in forward", [["3", "3"]]], ["to x", [["3", "7"]]]]);
});

test("two inputs that receive the same are told once", () => {
  const edges = [sceneOfMul.edges[0], { ...sceneOfMul.edges[0], id: "f", input: "other" }];
  const twice = { ...sceneOfMul, edges, steps: [{ ...sceneOfMul.steps[0], flows: [{ edge: "e", back: true, value: 1 }, { edge: "f", back: true, value: 1 }] }] };
  assert.deepEqual(sums.linesOf(twice, 0).map((one) => one.label), ["upstream", "local", "to x, twice"]);
});

test("the upstream gradient of a folded group is that of none of its steps", () => {
  const folded = { ...sceneOfMul, nodes: [sceneOfMul.nodes[0], { ...sceneOfMul.nodes[1], kind: "group" }] };
  assert.deepEqual(sums.linesOf(folded, 0).map((one) => one.label), ["to x"]);
});

test("a step in a folded group has its own upstream gradient, and each receiver by its name and its group", () => {
  const group = (id, label) => ({ id, kind: "group", label, rows: [], tracks: { upstream: [[0, 2]] } });
  const sends = [{ name: "h", value: 1, in: "g1", edge: "f" }, { name: "x", value: 2, edge: "e" }, { name: "W", value: 0 }];
  const edges = [{ ...sceneOfMul.edges[0], target: "g0", wiring: null }, { id: "f", source: "g1", target: "g0", input: null, wiring: null }];
  const folded = { ...sceneOfMul, nodes: [sceneOfMul.nodes[0], group("g0", "t = 3"), group("g1", "t = 2")], edges,
    steps: [{ ...sceneOfMul.steps[0], at: "g0", flows: [], within: { gets: "", gives: "", upstream: 0, formula: null }, sends }] };
  assert.deepEqual(sums.linesOf(folded, 0).map((one) => [one.label, one.rows]),
    [["upstream", [["1", "0"]]], ["to h, in t = 2", [["3", "0"]]], ["to x", [["3", "7"]]], ["to W", [["1", "0"]]]]);
});

test("an op that sends into a folded group names what receives it, and has local derivatives where an edge shows them", () => {
  const group = { id: "g1", kind: "group", label: "t = 2", rows: [], tracks: {} };
  const sends = [{ name: "h", value: 1, in: "g1" }, { name: "x", value: 1, edge: "e" }];
  const mixed = { ...sceneOfMul, nodes: [...sceneOfMul.nodes, group], steps: [{ ...sceneOfMul.steps[0], sends }] };
  assert.deepEqual(sums.linesOf(mixed, 0).map((one) => one.label), ["upstream", "to h, in t = 2", "local for x", "to x"]);
});

test("forward names what it was handed, and has its result where nobody named it", () => {
  const made = {
    ...sceneOfMul,
    nodes: [...sceneOfMul.nodes, { id: "n1", kind: "op", label: "+ 1", rows: [], tracks: {} }],
    edges: [{ ...sceneOfMul.edges[0], hands: "x.grad" }, { id: "g", source: "n0", target: "n1", input: "self", wiring: null }],
    steps: [{ kind: "forward", at: "n0", flows: [{ edge: "e", back: false, value: 0 }] }, { kind: "forward", at: "n1", flows: [{ edge: "g", back: false, value: 1 }] }],
  };
  assert.deepEqual(sums.linesOf(made, 0).map((one) => [one.label, one.rows]), [["x.grad", [["1", "0"]]], ["gives", [["3", "0"]]]]);
  assert.deepEqual(sums.linesOf(made, 1).map((one) => one.label), ["the result of × 3"]); // what nothing takes is in the sentence
});

test("two inputs from ops that are written alike say what went into those", () => {
  const [tensor, op] = ["tensor", "op"].map((kind) => (id, label) => ({ id, kind, label, rows: [], tracks: {} }));
  const edge = (id, source, target) => ({ ...sceneOfMul.edges[0], id, source, target, hands: null });
  const [a, b] = ["a", "b"].map((id) => ({ edge: id, back: false, value: 0 }));
  const made = {
    ...sceneOfMul,
    nodes: [tensor("t0", "pred"), tensor("t1", "y"), op("n0", "expand 4×4"), op("n1", "expand 4×4"), op("n2", "mse_loss")],
    edges: [edge("p", "t0", "n0"), edge("q", "t1", "n1"), edge("a", "n0", "n2"), edge("b", "n1", "n2")],
    steps: [{ kind: "forward", at: "n2", flows: [a, b] }, { kind: "forward", at: "n2", flows: [a, a] }],
  };
  const labels = (k) => sums.linesOf(made, k).map((one) => one.label);
  assert.deepEqual(labels(0), ["the result of expand(4×4) of pred", "the result of expand(4×4) of y"]);
  assert.deepEqual(labels(1), ["the result of expand(4×4), twice"]);
});

test("where each element has one way at most its derivative is its factor, 0 where it has none", () => {
  const [line, ...more] = sums.localLines([[0, 0, 0.5]], value([], [1]), value([2], [0.5, 0]), "x");
  assert.deepEqual([line.label, line.rows, more], ["local", [["0.5", "0"]], []]);
});

test("one way from another place is a product, which says what it multiplies", () => {
  const lines = sums.localLines([[0, 0, 2], [1, 0, 2], [2, 1, 3]], value([2], [5, 7]), value([3], [10, 10, 21]), "w");
  assert.deepEqual(lines.map((one) => one.rows[0]), [["5·2"], ["5·2"], ["7·3"]]);
});

test("an element without a way is no sum, beside others that are", () => {
  const lines = sums.localLines([[0, 0, 2], [0, 1, 5]], value([2], [1, 1]), value([2], [7, 0]), "w");
  assert.deepEqual(lines.map((one) => [one.rows[0], one.total]), [[["1·2", "+ 1·5"], "= 7"], [["0"], null]]);
});

test("each of several receivers has its own local derivatives, that of an op too, and they say whose", () => {
  const edges = [sceneOfMul.edges[0], { id: "f", source: "n1", target: "n0", input: "other", wiring: [[0, 0, 5], [1, 1, 5]] }];
  const nodes = [...sceneOfMul.nodes, { id: "n1", kind: "op", label: "× 2", rows: [], tracks: {} }];
  const both = { ...sceneOfMul, nodes, edges, steps: [{ ...sceneOfMul.steps[0], flows: [{ edge: "e", back: true, value: 1 }, { edge: "f", back: true, value: 1 }] }] };
  assert.deepEqual(sums.linesOf(both, 0).map((one) => one.label), ["upstream", "local for x", "to x", "local for × 2", "to × 2"]);
});

test("several products are written as a sum for each element", () => {
  const lines = sums.localLines([[0, 0, 2], [0, 1, 5], [1, 1, 4]], value([2], [1, -1]), value([2], [-3, -4]), "w");
  assert.deepEqual(lines.map((one) => [one.label, one.rows[0], one.total]), [["w[0]", ["1·2", "+ (−1)·5"], "= −3"], ["w[1]", ["−1·4"], "= −4"]]);
});

test("the ledger of a leaf adds up what came, call by call", () => {
  const entries = sums.ledgerOf(sceneOfMul, sceneOfMul.nodes[0], 3);
  assert.deepEqual(entries.map((one) => [one.label, one.adds.length, one.after.data]), [["line 7", 1, [3, 0]], ["line 9", 1, [3, 7]]]);
  const data = { ...sceneOfMul, steps: sceneOfMul.steps.map((step, k) => (k === 1 ? { ...step, kind: "write", writes: "value" } : step)) };
  assert.equal(sums.ledgerOf(data, data.nodes[0], 1).length, 0);
  assert.equal(sums.ledgerOf(sceneOfMul, sceneOfMul.nodes[0], 1).length, 1);
});

test("what grad() took along is not in the ledger of the next call", () => {
  const [first, added] = sceneOfMul.steps;
  const asked = { ...first, phase: 0 };
  const steps = [asked, { ...first, phase: 1 }, { ...added, phase: 1 }];
  const [entry] = sums.ledgerOf({ ...sceneOfMul, steps }, sceneOfMul.nodes[0], 2);
  assert.equal(entry.adds.length, 1);
});

test("a ledger has what came through another leaf with the same tensor as its gradient", () => {
  const track = (values) => [{ key: "grad", track: values }];
  const leaf = (id, values) => ({ id, kind: "tensor", rows: track(values) });
  const steps = [{ kind: "accumulate", at: "t1", flows: [], phase: 0 }, { kind: "write", at: "t1", name: "zero_", flows: [], phase: 1 }, { kind: "accumulate", at: "t1", flows: [], phase: 2 }];
  const two = { steps, edges: [], values: [value([1], [5]), value([1], [0])], nodes: [leaf("t0", [[0, null], [1, 0], [2, 1]]), leaf("t1", [[0, null], [1, 0], [2, 1], [3, 0]])] };
  assert.deepEqual(sums.ledgerOf(two, two.nodes[0], 2).map((one) => [one.step, one.adds, one.after.data]), [[0, null, [5]], [1, null, [0]]]);
});

test("of a long ledger the latest rows stand there, and how many came before", () => {
  const rows = Array.from({ length: 22 }, () => ({ value: value([2], [1, 0]) }));
  assert.deepEqual(sums.latestRows(rows.slice(0, 10)), { earlier: 0, rows: rows.slice(0, 10) });
  assert.equal(sums.latestRows(rows.slice(0, 11)).earlier, 0); // its own line is no longer than what would stand for it
  assert.deepEqual(sums.latestRows(rows), { earlier: 12, rows: rows.slice(12) });
  assert.deepEqual(sums.latestRows(rows, 100), { earlier: 0, rows });
  const matrices = rows.map(() => ({ value: value([2, 2], [1, 0, 0, 1]) }));
  assert.equal(sums.latestRows(matrices).rows.length, 5); // of two lines each
});

test("a matrix is written in its rows", () => {
  assert.deepEqual(sums.cellsOf(value([2, 2], [1, 2, 3, 4])), [["1", "2"], ["3", "4"]]);
  assert.deepEqual([sums.cellsOf(null), sums.cellsOf(value([], [5]))], [[["none"]], [["5"]]]);
});

test("presets fill the shape", () => {
  assert.deepEqual(edits.preset("ones", [2, 2]), [1, 1, 1, 1]);
  assert.deepEqual(edits.preset("one-hot", [3], { cell: 2 }), [0, 0, 1]);
  assert.deepEqual(edits.preset("zeros", []), [0]);
  const random = edits.preset("random", [50], { seed: 3 });
  assert.deepEqual(random, edits.preset("random", [50], { seed: 3 }));
  assert.ok(random.every((one) => one >= -1 && one <= 1) && new Set(random).size > 20);
});

test("a tensor's number is read from every kind of element id", () => {
  assert.deepEqual(["t3", "t3.1", "t3@n5", null].map(edits.tensorOf), [3, 3, 3, null]);
});

test("an address gives the same view back", () => {
  const view = { program: "weights", section: 3, run: true, edits: { leaves: { 0: [["nan", 1.5]] }, commands: null }, revision: "ab", step: 9, chapter: 2, select: "t0@n1", theme: "dark", present: "notes", layout: "spring", folds: { g1: true } };
  const back = url.view(url.query(view));
  assert.deepEqual(back, { ...view, revision: null, damaged: false, unplaced: false });
});

test("only a chapter that is counted from 1 stands in an address", () => {
  for (const other of ["0", "-1", "1.5", "x", ""]) assert.equal(url.view(`?program=p&chapter=${other}`).chapter, null, other);
  assert.ok(!url.query({ program: "p", step: 4, chapter: null }).includes("chapter"));
});

test("a program that opens at its error can be addressed at its beginning", () => {
  assert.equal(url.view("?program=p").unplaced, true);
  const start = url.query({ program: "p", step: 0, first: true });
  assert.ok(url.view(start).unplaced === false && url.view(start).step === 0);
  assert.ok(!url.query({ program: "p", step: 0 }).includes("step"));
});

test("long edits go by the id of their revision", () => {
  const long = { leaves: { 0: Array(2000).fill(0.123) }, commands: null };
  const query = url.query({ program: "p", edits: long, revision: "abc" });
  assert.ok(query.length < 100 && url.view(query).revision === "abc" && url.view(query).edits === null);
});

test("a cut address is known as one", () => {
  const query = url.query({ program: "p", edits: edits.NONE });
  assert.equal(url.view(query.slice(0, -5)).damaged, true);
  for (const other of ["x", 3, [], { leaves: [] }, { commands: {} }, { commands: [1] }]) assert.equal(url.view(url.query({ program: "p", edits: other })).damaged, true, JSON.stringify(other));
  assert.deepEqual(url.view(url.query({ program: "p", folds: { g1: true, g2: 1 } })).folds, { g1: true });
  assert.deepEqual(url.view("?step=-3&theme=pink").step, 0);
  assert.equal(url.view("?theme=pink").theme, null);
});

test("letters outside of ASCII survive an address", () => {
  assert.deepEqual(url.unpack(url.pack({ ü: "𝛿x" })), { ü: "𝛿x" });
});

test("a value is read in one line", () => {
  assert.equal(read.briefText(value([1, 2], [1, 0.25])), "[1 0.25]");
  assert.equal(read.briefText(value([], [3])), "3");
  assert.equal(read.briefText(value([2, 2], [1, 2, 3, 4])), "[1 2] [3 4]");
  assert.equal(read.briefText(null), "none");
});

test("of many truth values it is told how many are True", () => {
  const many = { ...value([2, 3, 6], []), data: null, dtype: "bool", stats: { min: 0, max: 1, mean: 0.5, norm: 2, nan: 0, inf: 0, zeros: 32, size: 36 } };
  assert.equal(read.briefText(many), "2×3×6, 4 of 36 True");
});

test("the numbers of a panel have the digits of the sentences, and nan and infinities the tone of an error", () => {
  assert.deepEqual(read.rowsOf(value([3], [1 / 60, 1 / 3, 0.016667])), [["0.01667", "0.3333", "0.016667"]]);
  assert.equal(read.briefText(value([2], [Math.E, -0.0625])), "[2.718 \u22120.0625]");
  assert.deepEqual(["nan", "-inf", "\u2212inf", "4\u00d74, norm nan, 0 \u2026 1", "1\u00b7inf"].map(read.toneOf), Array(5).fill(".odd"));
  assert.deepEqual(["0", "\u22120.0", "none"].map(read.toneOf), Array(3).fill(".zero"));
  assert.deepEqual(["0.5", "info", "10"].map(read.toneOf), ["", "", ""]);
});

test("the corners stand for a large value", () => {
  const rows = read.rowsOf(value([20, 20], Array(400).fill(7)));
  assert.equal(rows.length, 8);
  assert.equal(rows[6][0], "…");
});

test("code is found by its place, the shortest expression first", () => {
  const at = (id, kind, line, col, stop) => ({ id, kind, role: "inner", code: { file: 0, line, end: line, col, stop } });
  const program = { nodes: [at("n0", "op", 2, 4, 20), at("n1", "op", 2, 4, 9), at("t1", "tensor", 2, 4, 9)] };
  assert.deepEqual(read.elementsAt(program, 0, 2, 5), ["t1", "n1", "n0"]);
  assert.deepEqual(read.elementsAt(program, 0, 2, 12), ["n0"]);
  assert.deepEqual(read.elementsAt(program, 0, 2, 1), ["t1", "n1", "n0"]);
  assert.deepEqual(read.elementsAt(program, 0, 3, 1), []);
});

test("code over several lines reads as one", () => {
  const files = [{ name: "a.py", text: "z.backward(w,\n           retain_graph=True)\n" }];
  const code = { file: 0, line: 1, end: 2, col: 0, stop: 29 };
  assert.equal(read.codeText(code, files), "z.backward(w, retain_graph=True)");
  const call = [{ text: "ok = gradcheck(\n    torch.exp,\n    x)\n" }];
  assert.equal(read.lineText({ file: 0, line: 1, end: 3 }, call), "ok = gradcheck(torch.exp, x)");
  assert.deepEqual(read.ranges(code), [[1, 0, null], [2, null, 29]]);
});

test("what is to be seen comes into view, and nothing scrolls where it is", () => {
  assert.equal(read.scrollTopFor(40, 200, [[60, 80], [150, 170]]), 40);
  assert.equal(read.scrollTopFor(0, 200, []), 0);
  assert.ok(read.scrollTopFor(300, 200, [[100, 120]]) <= 100);
  const [top, bottom] = [read.scrollTopFor(0, 200, [[300, 320], [180, 200]]), read.scrollTopFor(400, 200, [[300, 320], [180, 200]])];
  for (const down of [top, bottom]) assert.ok(down <= 180 && down + 184 >= 320, "both, where they fit");
});

test("of two places too far apart the first one is seen", () => {
  for (const now of [0, 300, 900]) {
    const down = read.scrollTopFor(now, 200, [[500, 520], [40, 60]]);
    assert.ok(down <= 500 && down + 184 >= 520);
  }
  assert.equal(read.scrollTopFor(0, 100, [[200, 500]]), 200, "of what is taller than the pane the beginning");
});

test("a step says which derivative its call computes where there is a second one", () => {
  const steps = [0, 1, 2].map((order) => ({ order }));
  assert.deepEqual(steps.map((step) => read.orderOf({ steps }, step)?.text), [undefined, "order 1", "order 2"]);
  assert.equal(read.orderOf({ steps }, steps[2]).title, "This call computes a second derivative: it differentiates an expression that contains a gradient.");
  assert.equal(read.orderOf({ steps: steps.slice(0, 2) }, steps[1]), null);
  assert.equal(read.orderOf({ steps }, undefined), null);
});

test("what an op gave is called as in the sentences", () => {
  assert.deepEqual(["to dtype=float32", "× 2", "[0]", "max_pool2d kernel_size=2 padding=1"].map(read.resultOf),
    ["the result of to(dtype=float32)", "the result of × 2", "the result of [0]", "the result of max_pool2d(kernel_size=2, padding=1)"]);
});
