import assert from "node:assert/strict";
import { test } from "node:test";

import { hasGradient } from "../../../assets/js/paint/edges.mjs";
import { lineOf } from "../../../assets/js/paint/cards.mjs";
import { placedLabels } from "../../../assets/js/paint/labels.mjs";
import { paintGraph } from "../../../assets/js/paint/paint.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { inFile, paintPulses, pillsOf } from "../../../assets/js/paint/pulses.mjs";
import { flowsAt, prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { cutName, fonts, Ruler } from "../../../assets/js/geometry/text.mjs";
import { paintWires } from "../../../assets/js/paint/wires.mjs";
import { case1 } from "../fixtures/case1.mjs";

const COLOURS = ["bg", "panel", "field", "ink", "soft", "line", "saved", "leaf", "root", "gradient", "forward", "gradientTint", "forwardTint", "rootTint", "freed", "glow"];
const TOKENS = { ...Object.fromEntries(COLOURS.map((name) => [name, name])), textLeast: 12, textNote: 13, textBody: 14 };
const VIEW = { width: 1600, height: 900, dpr: 1 };
const RULER = new Ruler({ measureText: (text) => ({ width: 7 * text.length }) });

/** A context that notes each stroke, { colour, alpha, dash, width }, the colours of what is filled, and texts. */
function noting() {
  const strokes = [];
  const fills = [];
  const texts = [];
  const own = { canvas: { width: 0, height: 0 }, globalAlpha: 1, dash: [], setLineDash: (dash) => (own.dash = dash), measureText: (text) => ({ width: 7 * text.length }),
    stroke: () => strokes.push({ colour: own.strokeStyle, alpha: own.globalAlpha, dash: own.dash, width: own.lineWidth }), fill: () => fills.push(own.fillStyle),
    fillText: (text) => texts.push(text) };
  return { strokes, texts, filled: () => fills, context: new Proxy(own, { get: (it, name) => it[name] ?? (() => {}) }) };
}

function frameAt(index, t) {
  const moment = stateAt(index, t);
  const plane = layPlane(index);
  const [x0, y0, x1, y1] = plane.bounds;
  return { moment, plane, camera: { x: (x0 + x1) / 2, y: (y0 + y1) / 2, zoom: 1 }, tokens: TOKENS, ruler: RULER, wires: plane.wiring.at(moment, []), pending: new Map() };
}

test("what is not there yet is dashed, in the full strength of lines that say something", () => {
  const { strokes, context } = noting();
  const index = prepare(case1());
  paintGraph(context, VIEW, frameAt(index, 0));
  const dashed = strokes.filter((one) => one.dash.length);
  const to = [...index.scene.nodes, ...index.scene.edges].filter((item) => item.tracks.state[0][1] === "future");
  assert.ok(dashed.length >= 3 && to.length >= 3);
  for (const { colour, alpha } of dashed) {
    assert.equal(alpha, 1);
    assert.ok(["saved", "leaf", "root"].includes(colour), colour); // tests/repository/test_look.py has their contrasts
  }
  assert.ok(dashed.some(({ colour }) => colour === "saved") && dashed.some(({ colour }) => colour === "root"));
});

test("in a narrow card the shape outlasts the role, and the row that is passed says that it is a gradient, or another call's", () => {
  const told = (w, t = 0) => {
    const scene = case1();
    const index = prepare({ ...scene, edges: [], nodes: scene.nodes.filter((node) => node.id === "t1").map((node) => ({ ...node, w })) });
    const { texts, context } = noting();
    paintGraph(context, VIEW, { ...frameAt(index, t), wires: [] });
    return texts;
  };
  const [first, other] = [case1().phases.find((phase) => phase.kind === "backward").end, case1().steps.length];
  assert.deepEqual([300, 110].map((w) => told(w).filter((text) => /\d\u00d7\d/.test(text))[0]), ["1\u00d74 \u00b7 root", "1\u00d74"]);
  for (const w of [300, 130, 100]) assert.ok(told(w, first).some((text) => text.startsWith("gradient")), `${w}`);
  for (const w of [300, 130]) assert.ok(told(w, other).some((text) => text.includes("other call")), `of another call at ${w}`);
  assert.ok(told(300, other).includes("gradient from another call"));
});

test("a gradient that is not the one that was passed says how it was made of that", () => {
  const told = (w, how) => {
    const scene = case1();
    const nodes = scene.nodes.filter((node) => node.id === "t1").map((node) => ({ ...node, w, rows: node.rows.map((row) => ({ ...row, derived: [[0, how && { kind: "converted", text: how[0], labels: how }]] })) }));
    const { texts, context } = noting();
    paintGraph(context, VIEW, { ...frameAt(prepare({ ...scene, edges: [], nodes }), 0), wires: [] });
    return texts.filter((text) => /^(gradient|implicit)/.test(text));
  };
  const [cast, implicit] = [["gradient, cast from float64", "gradient from float64", "gradient, cast", "gradient"], ["gradient, implicit 1", "implicit 1", "gradient"]];
  assert.deepEqual(told(300, cast), ["gradient, cast from float64"]);
  assert.deepEqual([120, 100].map((w) => told(w, implicit)[0]), ["implicit 1", "gradient"]);
  assert.deepEqual(told(300, null), ["gradient you pass"]);
  assert.ok(["gradient from float64", "gradient, cast"].includes(told(160, cast)[0]));
});

test("an edge on which only gradients travel is dashed until one came, also when its ends are there", () => {
  const drawn = (t, value) => {
    const { edges, ...scene } = case1();
    const index = prepare({ ...scene, nodes: [], edges: edges.slice(0, 1).map((edge) => ({ ...edge, value })) });
    const { strokes, context, filled } = noting();
    paintGraph(context, VIEW, { ...frameAt(index, t), wires: [] });
    return [strokes.map((one) => one.colour).sort(), filled().sort(), strokes.some((one) => one.dash?.length > 0)];
  };
  const rest = case1().phases.find((phase) => phase.kind === "backward").start;
  assert.deepEqual(drawn(rest, true), [["saved"], ["saved"], false]);
  assert.deepEqual(drawn(rest, false), [["saved"], ["saved"], true]);
  assert.deepEqual(drawn(rest + 1, true), [["gradient", "saved"], ["gradient", "saved"], false]);
  assert.deepEqual(drawn(rest + 1, false), [["gradient"], ["gradient"], false]);
});

test("a gradient has a route where one runs or has run, not where an op is only computed in a backward call", () => {
  const index = prepare(case1());
  const last = index.scene.steps.length;
  for (const edge of index.scene.edges) {
    for (let t = 0; t <= last; t += 0.5) {
      const moment = stateAt(index, t);
      const ran = index.scene.steps.slice(0, Math.ceil(t)).some((step) => step.flows.some((flow) => flow.back && flow.edge === edge.id));
      if (hasGradient(moment, edge)) assert.ok(ran, `${edge.id} at ${t}`);
    }
  }
  const { scene } = index;
  const k = scene.steps.findIndex((step) => step.kind === "forward");
  const inside = { ...stateAt(index, k + 1), phase: { kind: "backward" } };
  for (const flow of scene.steps[k].flows) assert.ok(!hasGradient(inside, { ...index.edges.get(flow.edge), grad: true }));
});

test("a number stands still while its step runs, and appears when its turn has come", () => {
  const index = prepare(case1());
  const boxes = (t) => {
    const frame = frameAt(index, t);
    return new Map(placedLabels({ ...frame, font: fonts(TOKENS, 1), view: VIEW }, flowsAt(frame.moment)).map(({ flow, box }) => [flow.edge, box]));
  };
  const [early, late] = [boxes(2.3), boxes(3)];
  assert.equal(early.size, 1);
  assert.equal(late.size, 2);
  for (const [edge, box] of early) assert.deepEqual(box, late.get(edge));
});

/** What is placed of one number between two high cards that are `gap` units apart: `{ text, box, lead }`. */
function numberBetween(gap, text, camera = { x: 0, y: 0, zoom: 1 }, data = [1]) {
  const card = (id, x, w) => ({ id, kind: "op", label: id, x, y: 0, w, h: 80, rows: [], saved: [], tracks: { state: [] } });
  const nodes = [card("a", 0, 120), card("b", 120 + gap, 120)];
  const [near, far] = [[60, 8], [60 + gap, 8]];
  const edge = { id: "e", source: "a", target: "b", points: [near, far], back: [far, near], grad: true, tracks: { state: [[0, "done"]], cotangent: [[0, null]] } };
  const stats = { size: data.length, norm: Math.hypot(...data), nan: 0, inf: 0 };
  const values = [{ shape: [data.length], dtype: "float32", data, strip: null, stats }];
  const index = prepare({ nodes, edges: [edge], groups: [], steps: [], values, phases: [], findings: [], marks: [] });
  const brush = { ruler: RULER, font: fonts(TOKENS, 1), plane: layPlane(index), camera, view: VIEW,
    moment: { index, scene: index.scene, t: 0, k: 0, active: null, phase: null, step: null }, wires: [] };
  const flow = { edge: "e", back: true, value: 0, text };
  const at = (now) => placedLabels({ ...brush, camera: now }, [{ flow, edge, started: true, part: 1 }])[0];
  return { at, ...at(camera) };
}

test("a product that has no place is written as what comes of it, which is shorter", () => {
  assert.equal(numberBetween(200, "0.5 \u00b7 2 = 1").text, "0.5 \u00b7 2 = 1");
  assert.equal(numberBetween(40, "0.5 \u00b7 2 = 1").text, "1");
});

test("a number that has no room beside its route stands away from it, at the end of a line that passes over no card", () => {
  assert.equal(numberBetween(200, "[1 2 3]", undefined, [1, 2, 3]).lead, null);
  const { text, box: [x0, y0, x1, y1], lead: [from, to] } = numberBetween(30, "[1 2 3]", undefined, [1, 2, 3]);
  assert.equal(text, "[1 2 3]");
  assert.ok(y1 < -40 || y0 > 40, "it is on a card");
  assert.ok(from[0] > 60 && from[0] < 90 && to[0] >= x0 && to[0] <= x1 && (to[1] === y0 || to[1] === y1));
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const [x, y] = [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])];
    assert.ok(Math.abs(y) > 40 || (x > 60 && x < 90), "the line is over a card");
  }
});

test("a number keeps its place while one pans, as long as that is in view", () => {
  const { box, at } = numberBetween(30, "[1 2 3]", undefined, [1, 2, 3]);
  for (const camera of [{ x: 40, y: -60, zoom: 1 }, { x: -300, y: 100, zoom: 1 }]) assert.deepEqual(at(camera).box, box);
  const beyond = at({ x: 0, y: box[3] + VIEW.height / 2 - 54, zoom: 1 }); // there are the buttons
  assert.ok(beyond === undefined || beyond.box[1] > box[3]);
});

test("several numbers without any room are told by shape and norm", () => {
  const data = Array.from({ length: 16 }, () => 3);
  const long = `[${data.map((one) => `${one}.12345`).join(" ")}]`;
  const { at } = numberBetween(200, long, undefined, data);
  assert.equal(at({ x: 160, y: 0, zoom: 4 }).text, "16, norm 12");
});

test("pulses on wires that lie close follow one another, and all arrive", () => {
  for (const count of [1, 2, 5, 16]) {
    const parts = (part) => Array.from({ length: count }, (_, i) => inFile(part, i, count, 0.15));
    assert.deepEqual(parts(0), Array(count).fill(0));
    for (const last of parts(1)) assert.ok(Math.abs(last - 1) < 1e-9);
    const half = parts(0.5);
    for (let i = 1; i < count; i++) assert.ok(half[i - 1] > half[i] || half[i - 1] === 0 || half[i] === 1);
  }
});

test("a name that is cut keeps the parts that tell it from its neighbours", () => {
  const shown = (text, letters) => cutName(RULER, "font", text, 7 * letters);
  assert.deepEqual(["net[0].bias", "net[2].bias"].map((name) => shown(name, 10)), ["…[0].bias", "…[2].bias"]);
  assert.equal(shown("model.layers[3].attn.q_proj.weight", 24), "…[3].attn.q_proj.weight");
  assert.deepEqual([shown("net[2].bias v1", 13), shown("net[2].bias v1", 9)], ["…[2].bias v1", "…bias v1"]);
  assert.deepEqual([shown("model.weight", 9), shown("cell · 12", 8), shown("epoch = 12", 8), shown("round 12", 6)], ["m…weight", "ce… · 12", "ep… = 12", "ro… 12"]);
  assert.deepEqual([shown("net[2].bias", 11), shown("embedding", 5)], ["net[2].bias", "embe…"]);
});

test("numbers keep a gap to the borders of their cells, all of a row in one size", () => {
  for (const zoom of [0.62, 0.8, 1, 1.7]) {
    const font = fonts(TOKENS, zoom);
    for (const [values, width] of [[[0.016667, 1 / 7, 1.25e-5], 48], [[-0.0625, 0], 62], [[0.09003, 0.2447, 0.6652, -12.5], 40], [[1], 70]]) {
      const { texts, small } = lineOf(font, values, width);
      const pitch = small ? font.smallPitch : font.cellPitch;
      for (const text of texts) assert.ok(text.length * pitch <= width - 2, `${text} at ${zoom}`);
    }
  }
  const narrow = lineOf(fonts(TOKENS, 1), [1 / 60, 1 / 7, 1.25e-5], 57);
  assert.deepEqual(narrow.texts, ["0.01667", "0.1429", "1.25e-5"]);
  assert.deepEqual(lineOf(fonts(TOKENS, 0.63), [1 / 7, 1.25e-5], 61).texts, ["0.143", "1e-5"], "what has no room for all of them has fewer digits");
  assert.deepEqual(lineOf(fonts(TOKENS, 0.63), [-1 / 7, 3], 37).texts, ["\u2026", "3"], "and what has none at all that it is there");
  assert.deepEqual(lineOf(fonts(TOKENS, 0.63), [1.959, -4.8722], 72).texts, ["1.959", "\u22124.872"], "four digits at the least zoom of a whole graph");
  assert.deepEqual(lineOf(fonts(TOKENS, 1), [1, 0, null], 20, { truths: true }).texts, ["T", "F", ""]);
});

test("what is added to neighbouring cells stands on pills that do not meet", () => {
  for (const zoom of [0.62, 1, 1.7]) {
    for (const pitchX of [50, 58, 76]) {
      const pills = pillsOf(fonts(TOKENS, zoom), { pitchX }, [-0.001234, 12.3456, 0, NaN, 1e-7]);
      assert.deepEqual(pills.map(({ cell }) => cell), [0, 1, 3, 4]);
      for (const { w, text } of pills) assert.ok(w < pitchX, `${text}: ${w}`);
      assert.match(pills[0].text, /^\u2212./);
      assert.match(pills[1].text, /^\+./);
      assert.equal(pills[2].text, "nan");
    }
  }
});

test("two pulses that go the same way are never on each other", () => {
  const scene = case1();
  const k = scene.steps.findIndex((step) => step.kind === "vjp" && step.flows.some((flow) => scene.edges.find((edge) => edge.id === flow.edge).target === step.at));
  const flow = scene.steps[k].flows.find((one) => scene.edges.find((edge) => edge.id === one.edge).target === scene.steps[k].at);
  const edge = { ...scene.edges.find((one) => one.id === flow.edge), wiring: null };
  scene.edges = [...scene.edges.map((one) => (one.id === edge.id ? edge : one)), { ...edge, id: "again" }];
  scene.steps[k].flows = [...scene.steps[k].flows, { ...flow, edge: "again" }];
  const index = prepare(scene);
  for (const part of [0.7, 0.8]) {
    const own = [];
    const { context } = noting();
    context.arc = (x, y) => own.push([x, y]);
    paintPulses(context, VIEW, { ...frameAt(index, k + part), wires: [], hover: null, selection: null });
    const [first, second] = [own[0], own.at(-1)];
    assert.ok(Math.hypot(first[0] - second[0], first[1] - second[1]) > 5, `${first} and ${second}`);
  }
});

test("a folded group says which function runs in it, how far its steps of this call are, and the gradients that come and go", () => {
  const step = (name, phase, id, within, sends = []) => ({ name, kind: phase ? "vjp" : "forward", phase, at: id, flows: [], sends, ...(within && { within }) });
  const steps = [step("mul", 0, "g"), step("sum", 0, "g"), step("exp", 0, "n"), step("SumBackward0", 1, "g", { gets: "-1", gives: "[-1 -1]" }), step("MulBackward0", 1, "g", { gets: "[-1 -1]", gives: "[2 0]", upstream: 0 }, [{ name: "x", value: 1 }])];
  const tracks = { state: [[0, "idle"]], faint: [[0, false]], upstream: [[0, null], [4, 0]] };
  const node = (id, kind, x) => ({ id, kind, role: "inner", label: id, sub: "2 ops \u00b7 2", x, y: 0, w: 200, h: 76, rows: [], saved: [], tracks });
  const index = prepare({ nodes: [node("g", "group", 0), node("n", "op", 400)], edges: [], groups: [], steps, values: [{ stats: { norm: 1, nan: 0, inf: 0 } }, { stats: { norm: 0, nan: 0, inf: 0 } }], findings: [],
    phases: [{ kind: "forward", start: 0, end: 3 }, { kind: "backward", start: 3, end: 5 }], bounds: [-100, -50, 500, 50] });
  const told = (t, w = 200) => {
    const { texts, context } = noting();
    index.nodes.get("g").w = w;
    paintGraph(context, VIEW, frameAt(index, t));
    return texts.filter((text) => !["g", "n"].includes(text)).slice(0, 2);
  };
  const shown = [0, 0.5, 2, 3, 3.5, 5].map((t) => told(t));
  assert.deepEqual(shown.map(([run]) => run), ["2 ops \u00b7 2", "mul \u00b7 1 of 2", "sum \u00b7 2 of 2", "2 ops \u00b7 2", "SumBackward0 \u00b7 1 of 2", "MulBackward0 \u00b7 2 of 2"]);
  assert.deepEqual(shown.slice(4).map(([, way]) => way), ["\u22121 \u2192 [\u22121 \u22121]", "[\u22121 \u22121] \u2192 [2 0]"]);
  assert.deepEqual([5, 3.5, 3, 2, 0.5, 0].map((t) => told(t)), shown.reverse(), "the same whichever way one goes");
  assert.deepEqual(told(5, 112), ["Mul \u00b7 2 of 2", "norm 1 \u2192 0"], "where there is less room: of this step, not what came back into the group");
});

test("a group that goes on in another line has its name there too, with a sign that it does", () => {
  const group = { id: "g", label: "for i \u00b7 2", members: [], within: null, folded: false, box: [0, 0, 600, 300], parts: [[200, 0, 600, 100], [0, 200, 400, 300]] };
  const index = prepare({ nodes: [], edges: [], groups: [group], steps: [], values: [], phases: [], findings: [], bounds: [0, 0, 600, 300] });
  const { texts, context } = noting();
  paintGraph(context, VIEW, frameAt(index, 0));
  assert.deepEqual(texts, ["for i \u00b7 2", "\u21b3 for i \u00b7 2"]);
});

/** What is filled, stroked and written in turn, each as `{ what, colour, dash, width, radius, text }`. */
function painted(paint) {
  const done = [];
  const { context } = noting();
  let radius = 0;
  const look = (what, colour, more = {}) => done.push({ what, colour, dash: context.dash, width: context.lineWidth, radius, ...more });
  Object.assign(context, { beginPath: () => (radius = 0), arc: (x, y, r) => (radius = r), fill: () => look("fill", context.fillStyle), stroke: () => look("stroke", context.strokeStyle),
    fillText: (text) => look("text", context.fillStyle, { text }) });
  paint(context);
  return done;
}

/** A step of case1 in which one gradient travels, of `sign`, on a way so long. */
function travelling(sign, length = 300) {
  const scene = case1();
  const k = scene.steps.findIndex((step) => step.kind === "vjp");
  const [flow] = scene.steps[k].flows;
  const edge = { ...scene.edges.find((one) => one.id === flow.edge), back: [[0, 500], [length, 500]] };
  scene.edges = scene.edges.map((one) => (one.id === edge.id ? edge : one));
  scene.steps[k].flows = [{ ...flow, sign, ...(sign === 0 ? { value: scene.values.push({ shape: [1], dtype: "float32", data: [0], strip: null, stats: { size: 1, zeros: 1, nan: 0, inf: 0, norm: 0 } }) - 1 } : {}) }];
  return painted((context) => paintPulses(context, VIEW, { ...frameAt(prepare(scene), k + 0.5), wires: [], hover: null, selection: null }));
}

test("the ground of a number hides neither the halo nor a pulse: it is painted before them, and its text last", () => {
  const done = travelling(1);
  const [ground, halo, pulse] = [done.findIndex((one) => one.colour === "bg"), done.findIndex((one) => one.colour === "glow"), done.findIndex((one) => one.radius > 0)];
  assert.ok(ground >= 0 && ground < halo && halo < pulse, String([ground, halo, pulse]));
  assert.ok(done.at(-1).text, "its text is written last");
});

test("a zero that travels is a broken ring, as no node has one that waits, and a negative number a whole one", () => {
  const rings = (sign) => travelling(sign).filter((one) => one.what === "stroke" && one.radius > 0 && one.width > 2).map((one) => one.dash.length > 0);
  assert.deepEqual([1, -1, 0].map(rings), [[], [false], [true]]);
});

test("on a short way a pulse is small, so that the arrowhead is seen", () => {
  const largest = (length) => Math.max(...travelling(1, length).filter((one) => one.what === "fill" && one.colour === "gradient").map((one) => one.radius));
  assert.ok(largest(300) > 5);
  assert.ok(largest(32) <= 4);
});

/** The lines that a step of case1 draws from cell to cell: `{ colour, width }` of what is stroked, where each local derivative is `local` and the numbers are some. */
function wiredLines(local, given, sent) {
  const scene = case1();
  const k = scene.steps.findIndex((step) => step.kind === "vjp");
  const [to, from] = scene.steps[k].flows;
  for (const [flow, data] of [[to, given], [from, sent]]) scene.values[flow.value] = { ...scene.values[flow.value], data };
  scene.edges = scene.edges.map((edge) => (edge.wiring ? { ...edge, wiring: edge.wiring.map(([a, b]) => [a, b, local]) } : edge));
  const frame = frameAt(prepare(scene), k + 1);
  return painted((context) => paintWires({ context, tokens: { ...TOKENS, error: "error" } }, frame.wires, null)).filter((one) => one.what === "stroke" && one.width > 2.5 && one.width < 5).map(({ colour, width }) => [colour, width]);
}

test("on the lines from cell to cell a negative number is hollow and an infinity red, on each side of the op by what travels there", () => {
  const [full, hollow] = [["gradient", 2.6], ["gradient", 4]];
  assert.deepEqual(wiredLines(2, [1, 0, 0, 0], [2, 0, 0, 0]), [full]);
  assert.deepEqual(wiredLines(-2, [1, 0, 0, 0], [-2, 0, 0, 0]), [full, hollow]);
  assert.deepEqual(wiredLines("inf", [-1, 0, 0, 0], ["-inf", 0, 0, 0]), [hollow, ["error", 4]]);
});

test("what the step uses is the brightest: the way by which a leaf gets what it adds up, not those before it", () => {
  const scene = case1();
  const k = scene.steps.findIndex((step) => step.kind === "accumulate");
  const orange = (wires) => {
    const { strokes, context } = noting();
    const index = prepare({ ...scene, edges: scene.edges.map((edge) => ({ ...edge, wiring: wires ? edge.wiring : null })) });
    const frame = frameAt(index, k + 1);
    if (wires) paintWires({ context, ...frame, tokens: TOKENS }, frame.wires, null);
    else paintGraph(context, VIEW, { ...frame, wires: [] });
    return strokes.filter(({ colour, width }) => colour === "gradient" && width < 5).map(({ alpha }) => alpha);
  };
  assert.ok(orange(false).includes(1), "its route");
  assert.deepEqual([...new Set(orange(true))].sort(), [0.75, 1], "its wires, and those that came to the op before");
});

test("both names of the op that runs are in ink, a quiet one's second name is not", () => {
  const scene = case1();
  const colours = (t) => {
    const done = painted((context) => paintGraph(context, VIEW, { ...frameAt(prepare(scene), t), wires: [] }));
    return done.find(({ text }) => text === "MulBackward0")?.colour;
  };
  const k = scene.steps.findIndex((step) => step.kind === "vjp" && step.at === "n0");
  assert.deepEqual([colours(k + 1), colours(k + 2)], ["ink", "soft"]);
});

test("the name of an op that has no room for its suffix stands without that, and once where it is the label's", () => {
  const texts = (w, label) => {
    const scene = case1();
    const nodes = scene.nodes.filter((node) => node.id === "n0").map((node) => ({ ...node, w, label }));
    const { texts: lines, context } = noting();
    paintGraph(context, VIEW, { ...frameAt(prepare({ ...scene, edges: [], nodes }), 0), wires: [] });
    return lines.filter((text) => /mul/i.test(text));
  };
  assert.deepEqual([texts(100, "\u00d7"), texts(70, "\u00d7"), texts(70, "mul"), texts(100, "mul")], [["MulBackward0"], ["Mul"], ["mul"], ["mul", "MulBackward0"]]);
});

test("beside an attribute of self the shape has room without that", () => {
  const heads = (w) => {
    const scene = case1();
    const nodes = scene.nodes.filter((node) => node.id === "t1").map((node) => ({ ...node, w, label: "self.weights[0]", sub: "40\u00d740 \u00b7 leaf" }));
    const { texts, context } = noting();
    paintGraph(context, VIEW, { ...frameAt(prepare({ ...scene, edges: [], nodes }), 0), wires: [] });
    return texts.slice(0, 2);
  };
  assert.deepEqual([heads(260), heads(180), heads(150)].map(([name, shape]) => `${name} ${shape}`), ["self.weights[0] 40\u00d740 \u00b7 leaf", "self.weights[0] 40\u00d740", "weights[0] 40\u00d740"]);
});
