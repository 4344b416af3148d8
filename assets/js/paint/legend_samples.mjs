// The signs of the picture and their meanings, each with the smallest scene that shows it. Pure: legend.mjs paints them with the
// painter of the graph, so that the legend and the picture cannot differ.

const IDLE = { state: [[0, "idle"]], faint: [[0, false]], saved: [[0, "none"]], upstream: [[0, null]] };
const ROOM = 148; // width of a sample, in px
const CENTRE = 0;
const AWAY = 400; // where the other route of an edge is out of sight

const value = (...data) => ({ shape: [data.length], dtype: "float32", data, strip: null, stats: statsOf(data) });

function statsOf(data) {
  const numbers = data.filter(Number.isFinite);
  return { min: Math.min(...numbers), max: Math.max(...numbers), mean: 0, norm: Math.hypot(...numbers),
    nan: data.filter((one) => one === "nan").length, inf: 0, zeros: data.filter((one) => one === 0).length, size: data.length };
}

const row = (key, label, cols, id) => ({ key, label, rows: 1, cols, track: [[0, id]], call: null });

function node(id, kind, x, w, h, more = {}) {
  const { tracks, ...rest } = more;
  return { id, kind, role: "inner", x, y: CENTRE, w, h, label: "", sub: "", title: "", group: null, twin: null, shape: null, dtype: null,
    rows: [], saved: [], formula: [], code: null, tracks: { ...IDLE, ...tracks }, ...rest };
}

const tensor = (label, sub, more = {}) => node("t", "tensor", 0, 116, 40, { label, sub, ...more });
const op = (more = {}) => node("n", "op", 0, 112, 56, { label: "\u00d7", sub: "MulBackward0", ...more });
const state = (name, more = {}) => ({ tracks: { state: [[0, name]], ...more } });
const saving = (name) => op({ h: 84, saved: [{ name: "self", text: "x", bytes: 4 }], tracks: { saved: [[0, name]] } });

/**
 * A scene of one step, or of none where nothing has run.
 * @type {(nodes: any[], more?: any) => any}
 */
function scene(nodes, { edges = [], values = [], step = null, previous = null, groups = [], findings = [], phase = "backward" } = {}) {
  return { format: 1, revision: { id: "legend" }, program: { chapters: [] }, steps: step ? [step] : [],
    phases: step ? [{ kind: phase, label: "", start: 0, end: 1, call: 0, code: null, failed: false }] : [],
    marks: [], nodes, edges, groups, values, previous, changes: [], commands: [], places: [], error: null, findings, warnings: [], bounds: [0, 0, 0, 0], folded: [], norms: [1e-4, 1] };
}

const step = (kind, at, flows = []) => ({ kind, phase: 0, at, name: "", say: "", code: null, from: null, flows, order: 1 });

/**
 * An edge between two points without cards: its ends lie outside the sample.
 * @param {any} what
 */
function edgeScene({ sign = 1, run = null, done = "done", data = [1], text = null }) {
  const ends = [node("a", "stub", -ROOM, 40, 30), node("b", "stub", ROOM, 40, 30)];
  const [here, away] = [[[-62, 0], [62, 0]], [[-62, -AWAY], [62, -AWAY]]];
  const gradient = run === "back";
  const edge = { id: "e", source: "a", target: "b", input: null, points: gradient ? away : here, back: (gradient ? here : away).slice().reverse(), grad: true, wiring: null,
    tracks: { state: [[0, done]], faint: [[0, false]], cotangent: [[0, 0]] } };
  const flow = { edge: "e", back: gradient, value: 0, text, sign, size: 0.5 };
  const kind = run === "forward" ? "forward" : "vjp";
  return scene(ends, { edges: [edge], values: [value(...data)], step: run ? step(kind, "b", [flow]) : null, phase: run === "forward" ? "forward" : "backward" });
}

/** A card with one row of cells, placed so that the row is in the middle. */
function cells(key, data, more = {}) {
  const above = key === "value" ? 38 : 60; // the head of the card, and the row's label
  const card = tensor("", "", { h: above + 42, y: 6 - above / 2, w: 20 + 54 * data.length, shape: [data.length], rows: [row(key, " ", data.length, 0)], ...more.node });
  return scene([card], { values: [value(...data), ...(more.values ?? [])], ...more.scene });
}

/** Two cells, each through an op to the cell that depends on it; a gradient has come back to the first. */
function wiredScene() {
  const card = (id, x) => node(id, "tensor", x, 66, 80, { y: -30, shape: [2], rows: [{ ...row("value", " ", 2, 0) }] });
  const nodes = [card("a", -46), op({ id: "n", y: 16, w: 24, h: 24, label: "", sub: "", tracks: { state: [[0, "done"]], upstream: [[0, 1]] } }), card("b", 46)];
  const edge = (source, target, wiring) => ({ id: source + target, source, target, input: null, points: [[0, AWAY], [1, AWAY]], back: [[1, AWAY], [0, AWAY]], grad: true, wiring,
    tracks: { state: [[0, "idle"]], faint: [[0, false]], cotangent: [[0, null]] } });
  return scene(nodes, { edges: [edge("a", "n", [[0, 0, 2], [1, 1, 2]]), edge("n", "b", null)], values: [value(1, 2), value(1, 0)], step: step("accumulate", null) });
}

const WAS = { values: { "t|value": [[0, 1]] } };
const GRAD_STEP = { scene: { step: step("accumulate", "t") }, node: { role: "leaf", rows: [{ ...row("grad", " ", 2, 0), track: [[0, null], [1, 0]] }] } };

const PASSED = { edge: "e", back: true, value: 1, text: null, sign: 1, size: 0.5 };
const PASSING = { id: "e", source: "n", target: "t", input: null, points: [[0, AWAY], [9, AWAY]], back: [[9, AWAY], [0, AWAY]], grad: true, wiring: null,
  tracks: { state: [[0, "done"]], faint: [[0, false]], cotangent: [[0, 1]] } };
const PASS_STEP = { values: [value(0, 1)], scene: { edges: [PASSING], step: step("vjp", null, [PASSED]) } };

/**
 * A folded group with some parameters, by the norms of their gradients, and that of its own.
 * @type {(norms: (number | string | null)[], own?: number | null, shared?: boolean) => any}
 */
function boxScene(norms, own = null, shared = false) {
  const dots = norms.map((norm, i) => ({ id: `d${i}`, name: "w", shape: [1], norm: [[0, norm]], ...(shared ? { shared } : {}) }));
  return scene([node("g", "group", -4, 124, 92, { y: -14, label: "layer", sub: "", dots, tracks: { norm: [[0, own]] } })]);
}

/** A piece of the timeline: phases of two steps each. */
function laneScene(kinds, marks = []) {
  const steps = kinds.flatMap((_, phase) => [{ ...step("forward", null), phase }, { ...step("forward", null), phase }]);
  const phases = kinds.map(([kind, label, failed = false], i) => ({ kind, label, start: 2 * i, end: 2 * i + 2, call: null, code: null, failed }));
  return { ...scene([]), steps, phases, marks };
}

const TWINS = [node("t", "tensor", -40, 60, 34, { role: "leaf", label: "x" }), node("s", "stub", 44, 56, 34, { role: "leaf", label: "x", twin: "t" })];

/**
 * [{ title, signs: [{ id, text, scene, t, low, hover, lane, pending }] }]: `t` is the moment shown, `low` looks at the foot of a
 * pill, `hover` is the node that is pointed at, `lane` says that it is a piece of the timeline, `wired` is the op whose wires are shown, `pending` what was typed.
 */
export const SIGNS = [
  { title: "Tensors and ops", signs: [
    { id: "leaf", text: "A leaf: gradients arrive here, in its `.grad`", scene: scene([tensor("x", "leaf", { role: "leaf" })]) },
    { id: "root", text: "A root: a backward call starts here", scene: scene([tensor("z", "root", { role: "root" })]) },
    { id: "inner", text: "Any other tensor: computed, or a constant", scene: scene([tensor("h", "1\u00d74")]) },
    { id: "op", text: "An op, with the node that runs its rule backward", scene: scene([op()]) },
    { id: "stub", text: "A stub: the same leaf, used again", scene: scene([node("s", "stub", 0, 96, 38, { role: "leaf", label: "x" })]) },
    { id: "twins", text: "Dotted line: another use of the leaf that you point at", scene: scene(TWINS), hover: "t" },
    { id: "group", text: "A folded group: double-click to open it", scene: scene([node("g", "group", -4, 124, 56, { label: "layer", sub: "4 ops" })]) },
  ] },
  { title: "Progress", signs: [
    { id: "future", text: "Dashed outline: not computed yet", scene: scene([op(state("future"))]) },
    { id: "waiting", text: "Ring: takes part in this call and waits for gradients", scene: scene([op(state("waiting"))]) },
    { id: "ready", text: "Ring with a dot: all its gradients are there", scene: scene([op(state("ready"))]) },
    { id: "active", text: "Halo: it runs in this step", scene: scene([op(state("ready"))], { step: step("vjp", "n") }), t: 1 },
    { id: "done", text: "Check mark: its rule has run, or its `.grad` has arrived", scene: scene([op(state("done"))]) },
    { id: "error", text: "`!`: the error is here", scene: scene([op(state("error"))]) },
    { id: "finding", text: "Triangle: something is wrong here, but no error was raised", scene: scene([op(state("done"))], { findings: [{ kind: "sum", step: -1, at: "n", label: "", why: "", fix: "" }] }) },
    { id: "faint", text: "Pale: takes no part in this call", scene: scene([op({ tracks: { faint: [[0, true]] } })]) },
  ] },
  { title: "Edges and gradients", signs: [
    { id: "rest", text: "Grey: the forward computation", scene: edgeScene({ done: "idle" }) },
    { id: "later", text: "Dashed: not computed yet", scene: edgeScene({ done: "future" }) },
    { id: "forward", text: "Blue: the forward op that runs in this step", scene: edgeScene({ run: "forward" }), t: 0.5 },
    { id: "positive", text: "Disc with +: a gradient on its way; a wider route means a larger gradient", scene: edgeScene({ run: "back" }), t: 0.5 },
    { id: "negative", text: "Hollow, with \u2212: a negative gradient", scene: edgeScene({ run: "back", sign: -1, data: [-1] }), t: 0.5 },
    { id: "zero", text: "Dotted, broken disc with 0: a gradient of zeros", scene: edgeScene({ run: "back", sign: 0, data: [0] }), t: 0.5 },
    { id: "odd", text: "Red: a nan or an infinity on its way", scene: edgeScene({ run: "back", sign: null, data: ["nan"] }), t: 1 },
    { id: "wires", text: "From cell to cell: which element depends on which; orange: the path of the gradient", scene: wiredScene(), t: 1, wired: "n" },
  ] },
  { title: "Norms of gradients", signs: [
    { id: "norm", text: "A box, its left edge in the colour of the gradient's norm", scene: boxScene([], 0.3) },
    { id: "dots", text: "Dots: its parameters, in the colour of the norm of their gradients; white: none yet", scene: boxScene([null, 0.001, 0.02, 0.6]) },
    { id: "dotless", text: "A stroke: the gradient is exactly 0; a cross: it has nan or infinities", scene: boxScene([0, "nan"]) },
    { id: "shared", text: "Two rings: several modules use the parameter", scene: boxScene([0.1], null, true) },
  ] },
  { title: "Numbers", signs: [
    { id: "seed", text: "The gradient you pass: double-click to edit", scene: cells("seed", [1, 0]) },
    { id: "arrived", text: "Frame: this step changed it", scene: cells("grad", [2, 0], GRAD_STEP), t: 1 },
    { id: "passed", text: "Thick frame: the values that the gradient of this step goes through", scene: cells("value", [3, 4], PASS_STEP), t: 1 },
    { id: "held", text: "Bold orange: a gradient that is not zero", scene: cells("grad", [2, 0], { node: { role: "leaf" } }) },
    { id: "nan", text: "Red cell: a nan or an infinity", scene: cells("value", ["nan", 1]) },
    { id: "rounded", text: "Dots under a number: it has more digits than fit here", scene: cells("value", [-0.012345678, 1]) },
    { id: "ghost", text: "Above, struck through: the number before your edit", scene: cells("value", [3, 4], { values: [value(1, 4)], scene: { previous: WAS } }) },
    { id: "typed", text: "Dashed cell: typed, not yet run", scene: cells("value", [3, 4]), pending: [["t|value|0", 5]] },
  ] },
  { title: "Saved for backward", signs: [
    { id: "saved", text: "Saved by the forward pass", scene: scene([saving("saved")]), low: true },
    { id: "kept", text: "Kept: the call had `retain_graph=True`", scene: scene([saving("kept")]), low: true },
    { id: "freed", text: "Freed: a second call would fail here", scene: scene([saving("freed")]), low: true },
  ] },
  { title: "On the timeline", signs: [
    { id: "phases", text: "One segment per phase, one part per step; full colour: already run", lane: true, t: 3, scene: laneScene([["forward", "forward"], ["backward", "call"]]) },
    { id: "zeroed", text: "`0`: a gradient is set to zeros", lane: true, t: 0, scene: laneScene([["backward", "call"], ["write", "zero_()"]], [{ step: 2, kind: "zero", label: "" }]) },
    { id: "dropped", text: "`None` or `\u2205`: a gradient is dropped, and `.grad` is None", lane: true, t: 0, scene: laneScene([["backward", "call"], ["write", "x.grad = None"]], [{ step: 2, kind: "none", label: "" }]) },
    { id: "set", text: "`=`: the program sets a gradient, or `.data`", lane: true, t: 0, scene: laneScene([["backward", "call"], ["write", "x.grad = …"]], [{ step: 2, kind: "set", label: "" }]) },
    { id: "edit", text: "Pencil: you changed or added something", lane: true, t: 0, scene: laneScene([["forward", "forward"], ["backward", "call"]], [{ step: 2, kind: "edit", label: "" }]) },
    { id: "fails", text: "Red, `!`: the step that raised an error", lane: true, t: 0, scene: laneScene([["forward", "forward"], ["backward", "call", true]], [{ step: 3, kind: "error", label: "" }]) },
  ] },
];

export const ROOM_WIDE = ROOM;
