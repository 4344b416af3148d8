// The inspector: what is selected, at this step. Details come once per element and revision and hold all moments, so
// that stepping asks the server nothing; with nothing selected the panel shows the present step from the scene alone.
import { num, shapeText } from "../format.mjs";
import { at as trackAt, currentStep } from "../timeline.mjs";
import { byId, fill, h, mount, setProps } from "./dom.mjs";
import * as figures from "./figures.mjs";
import { brief, codeText, lineText, rowsOf } from "./read.mjs";
import * as session from "./session.mjs";

const MOST_CACHED = 400;

const cache = new Map();
let scene = null;
let chosen = null; // id of the selected node
let player = null;
let written = ""; // what the panel shows, so that a step that changes nothing writes nothing
let formula = null;
let asked = 0;

export function setUp(backstep) {
  player = backstep;
  figures.setUp(() => refresh(true));
}

export function load(next) {
  scene = next;
  if (chosen && !scene.nodes.some((node) => node.id === chosen)) chosen = null;
  select(chosen);
}

export function select(id) {
  chosen = id;
  const element = elementOf(id);
  if (element && scene && !cache.has(keyOf(element))) {
    asked += 1;
    const { program, edits } = session.state();
    setProps("selection", { data: { request: asked, revision: scene.revision.id, element, program, edits } });
  }
  refresh(true);
}

/** Takes the server's answer to a selection. */
export function receive(answer) {
  if (!answer) return;
  const key = `${answer.revision ?? scene?.revision.id}|${answer.element ?? elementOf(chosen)}`;
  cache.set(key, answer.details || { problem: answer.problem });
  if (cache.size > MOST_CACHED) cache.delete(cache.keys().next().value);
  refresh(true);
}

export function seek() {
  refresh(false);
}

const keyOf = (element) => `${scene.revision.id}|${element}`;
const nodeOf = (id) => scene?.nodes.find((node) => node.id === id) || null;

/** Whose details are meant: of a stub those of the leaf that it stands for; a group has none. */
function elementOf(id) {
  const node = nodeOf(id);
  if (!node || node.kind === "group") return null;
  return node.kind === "stub" ? node.twin : node.id;
}

export function detailsOf(element) {
  return scene ? cache.get(keyOf(element)) : undefined;
}

function refresh(force) {
  if (!scene) return;
  const t = player.t();
  const step = currentStep(t);
  const details = chosen ? cache.get(keyOf(elementOf(chosen))) : null;
  const key = `${scene.revision.id}|${chosen}|${step}|${t >= step + 1}|${Boolean(details)}`;
  if (!force && key === written) return;
  written = key;
  const node = nodeOf(chosen);
  if (!node) { showFormula(null); figures.clear(); showStep(step); return; }
  if (node.kind === "group") { showFormula(null); figures.clear(); showGroup(node); return; }
  fill(byId("inspect-head"), headOf(node, details, step));
  if (!details) { showFormula(null); figures.clear(); fill(byId("inspect-body"), waiting()); return; }
  if (details.problem) { showFormula(null); figures.clear(); fill(byId("inspect-body"), failed(details.problem)); return; }
  showFormula(details);
  fill(byId("inspect-body"), bodyOf(node, details, step + 1));
  figures.show(details, step + 1);
}

function headOf(node, details, step) {
  const tone = node.role === "leaf" ? "green" : node.role === "root" ? "purple" : node.kind === "op" ? "orange" : "grey";
  const head = details?.head;
  const name = node.kind === "op" ? head?.name || node.sub || node.label : node.label;
  const code = node.code || head?.code;
  const files = scene.program.files;
  const shape = head?.shape ?? node.shape;
  const facts = [shape && shapeText(shape), head?.dtype ?? node.dtype, head?.device && head.device !== "cpu" ? head.device : null];
  return [
    h("div.row.wrap", {},
      h(`span.chip.${tone}`, {}, name),
      node.kind === "op" ? null : h("span.chip.grey", {}, node.role === "inner" ? "inner tensor" : node.role),
      facts.filter(Boolean).map((fact) => h("span.chip.grey", {}, fact)),
      step >= 0 ? h("span.chip.grey", {}, `step ${step + 1}`) : null,
      head && head.order ? h("span.chip.grey", {}, `order ${head.order}`) : null),
    code ? h("p.source", {}, "from ", h("code", {}, lineText(code, files) || codeText(code, files)), `, line ${code.line}`) : null,
  ];
}

const waiting = () => h("div.skeleton", { role: "status", "aria-label": "Loading the details" }, h("i"), h("i"), h("i"));

const failed = (problem) => h("div.empty", { role: "alert" }, h("b", {}, problem.title), h("p", {}, problem.text));

/** TeX is written by MathJax, which is loaded when the first formula is seen; till then the text stands there. */
function showFormula(details) {
  const lines = details?.formula || [];
  const tex = lines.map((line) => `$$${line.tex}$$`).join("\n\n");
  if (tex === formula) return;
  formula = tex;
  byId("inspect-formula").hidden = !tex;
  if (!tex) return;
  byId("inspect-formula").setAttribute("aria-label", lines.map((line) => line.text).join("; "));
  if (mount("inspect-formula")) requestAnimationFrame(() => setProps("formula-tex", { children: tex }));
  else setProps("formula-tex", { children: tex });
}

function bodyOf(node, details, time) {
  const told = details.moments.some((one) => one.lines.some((line) => line.label !== "value")); // a value alone stands below
  const parts = told || details.kind === "op" ? [moment(details, time)] : [];
  if (details.kind === "tensor") parts.push(held(node, time, details));
  if (details.ledger.length || node.role === "leaf") parts.push(ledger(node, details, time));
  if (details.saved.length) parts.push(saved(details, time));
  if (details.check) parts.push(check(details.check));
  if (!details.moments.length && details.kind === "op" && !details.formula.length) {
    parts.push(h("p.hint", {}, "This op takes no part in backward: its output needs no gradient, or it has no derivative."));
  }
  return parts;
}

/** The arithmetic of the last moment that has come; before the first one, what will stand here. */
function moment(details, time) {
  if (!details.moments.length) return null;
  const come = details.moments.filter((one) => one.step < time);
  const now = come[come.length - 1];
  if (!now) {
    const first = details.moments[0];
    return section("In numbers", h("p.hint", {}, "Nothing has run here yet. ", h("button.link", { type: "button", onclick: () => player.seek(first.step + 1) }, `Go to step ${first.step + 1}`)));
  }
  const all = details.moments.length;
  const nth = come.length;
  const turn = (to, sign, label) => h("button.quiet", { type: "button", "aria-label": label, disabled: !to, onclick: () => player.seek(to.step + 1) }, sign);
  const picks = all > 1 ? [h("span.space"), turn(come[nth - 2], "‹", "Moment before"), h("span.count", {}, `${nth} of ${all}`), turn(details.moments[nth], "›", "Next moment")] : [];
  return h("section", {}, h("div.over", {}, h("h2", {}, "In numbers"), picks), now.title ? h("p.source", {}, now.title) : null, sums(now.lines));
}

function sums(lines) {
  return h("div.sum", { role: "table" }, lines.map((line) => h("div.sum-line", { role: "row" },
    h("span.sum-label", { role: "rowheader" }, line.label),
    h(`span.sum-cells.${line.tone}`, { role: "cell" }, line.cells.map((cell) => h(`b${isZero(cell) ? ".zero" : ""}`, {}, cell)), line.total !== null && line.total !== undefined ? h("em", {}, `= ${line.total}`) : null))));
}

const isZero = (text) => /^\[*[-−]?0(\.0*)?\]*$/.test(text);

/** Value and gradient as numbers, as they are at this time. */
function held(node, time, details) {
  const twin = node.kind === "stub" ? nodeOf(node.twin) || node : node;
  return twin.rows.filter((row) => row.key !== "seed").map((row) => {
    const id = trackAt(row.track, time);
    const large = id === null ? null : bigger(details, row, time) || scene.values[id];
    const title = row.key === "grad" ? ".grad" : row.label || "value";
    return h("section", {}, h("h2.keep", {}, title), large ? matrix(large, row.key === "grad") : h("p.hint", {}, row.key === "grad" ? "None: no gradient has arrived" : "not computed yet"));
  });
}

/** The value with more elements than a scene carries, where the details have it. */
function bigger(details, row, time) {
  const figure = details.figures.find((one) => one.kind === "heatmap" && (row.key === "grad") === /grad/.test(one.title));
  const id = figure ? trackAt(figure.track, time) : null;
  return id === null || id === undefined ? null : details.values[id];
}

function matrix(value, gradient) {
  const rows = rowsOf(value);
  const { min, max, mean, norm, nan, inf, zeros, size } = value.stats;
  const odd = [nan && `${nan} nan`, inf && `${inf} inf`, zeros && size > 1 && `${zeros} of ${size} are 0`].filter(Boolean).join(", ");
  const facts = size > 1 ? `norm ${num(norm)} · mean ${num(mean)} · ${num(min)} … ${num(max)}${odd ? ` · ${odd}` : ""}` : odd;
  return [
    rows.length ? h(`table.matrix${gradient ? ".gradient" : ""}`, {}, h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h(isZero(cell) ? "td.zero" : "td", {}, cell)))))) : null,
    facts ? h("p.hint", {}, facts) : null,
  ];
}

function ledger(node, details, time) {
  const come = details.ledger.filter((entry) => entry.step < time);
  const text = (id) => (id === null || id === undefined ? "none" : brief(details.values[id]));
  const rows = come.map((entry) => h("button.sum-line", {
    type: "button", "aria-label": `${entry.label}: go to this step`, onclick: () => player.seek(entry.step + 1), class: `sum-line${entry.step === time - 1 ? " on" : ""}`,
  }, h("span.sum-label", { title: entry.label }, `${entry.added === null ? "" : "+ "}${entry.code ? `line ${entry.code.line}` : entry.label}`), h("span.sum-cells.cotangent", {}, entry.added === null ? text(entry.after) : text(entry.added))));
  const last = come[come.length - 1];
  return section(`${node.role === "leaf" ? "Leaf " : ""}${node.label} · ledger of .grad`, h("div.sum", {},
    h("div.sum-line", {}, h("span.sum-label", {}, "before"), h("span.sum-cells.plain", {}, text(come[0]?.before ?? null))),
    rows,
    h("div.sum-line.total", {}, h("span.sum-label", {}, "= now"), h("span.sum-cells.cotangent", {}, last ? text(last.after) : "none"))));
}

function saved(details, time) {
  const files = scene.program.files;
  const rows = details.saved.map((one) => {
    const now = trackAt(one.track, time) || "none";
    const words = { none: "not yet saved", saved: "saved", kept: "kept: retain_graph", freed: "freed" }[now];
    const tone = { kept: "green", freed: "grey.struck", none: "grey" }[now] || "grey";
    const by = now === "freed" && one.freed_by ? h("p.source", {}, "freed by ", h("code", {}, codeText(one.freed_by, files)), `, line ${one.freed_by.line}`) : null;
    const text = one.text === one.label ? one.text : `${one.text}`;
    return [h("dt", {}, one.name), h("dd", {}, h("span", {}, `${text}${one.bytes ? ` · ${bytes(one.bytes)}` : ""} `), h(`span.chip.${tone}`, {}, words), by)];
  });
  return section("Saved for backward", h("dl.facts", {}, rows));
}

const bytes = (n) => (n < 1024 ? `${n} B` : n < 1024 ** 2 ? `${num(n / 1024, 3)} kB` : `${num(n / 1024 ** 2, 3)} MB`);

function check(found) {
  return section("Check against finite differences", h("p.source", {}, found.text, " ",
    h(`span.chip.${found.agrees ? "green" : "red"}`, {}, found.agrees ? "agrees" : "differs")));
}

const section = (title, ...content) => h("section", {}, h("h2.keep", {}, title), content);

/** With nothing selected: the present step, in numbers, from what the scene has. */
function showStep(k) {
  const step = scene.steps[k];
  if (!step) {
    fill(byId("inspect-head"));
    fill(byId("inspect-body"), h("div.empty", {}, h("b", {}, "Nothing is selected"),
      h("p", {}, "Click a tensor, an op or a line of code: its formula, its numbers and what it saved appear here, at the step that you look at."),
      h("p", {}, h("kbd", {}, "Space"), " plays, ", h("kbd", {}, "→"), " takes a step.")));
    return;
  }
  const node = nodeOf(step.at);
  const names = { forward: "forward", vjp: "VJP", accumulate: "accumulate", write: "write", error: "error" };
  const tone = { forward: "blue", vjp: "orange", accumulate: "green", write: "grey", error: "red" }[step.kind];
  const code = step.code;
  fill(byId("inspect-head"), [
    h("div.row.wrap", {}, h(`span.chip.${tone}`, {}, step.name), h("span.chip.grey", {}, names[step.kind]), h("span.chip.grey", {}, `step ${k + 1}`), step.order ? h("span.chip.grey", {}, `order ${step.order}`) : null),
    code ? h("p.source", {}, "from ", h("code", {}, lineText(code, scene.program.files)), `, line ${code.line}`) : null,
  ]);
  fill(byId("inspect-body"), [
    stepNumbers(step, node, k),
    h("p.hint", {}, node ? [h("button.link", { type: "button", onclick: () => player.select(node.id) }, `Select ${node.kind === "op" ? step.name : node.label}`), " for its formula, ledger and what it saved."] : "Select something in the graph for its formula and ledger."),
  ]);
}

function stepNumbers(step, node, k) {
  const lines = [];
  const value = (id) => (id === null || id === undefined ? null : scene.values[id]);
  if (step.kind === "vjp" && node) lines.push(["upstream", value(trackAt(node.tracks.upstream, k + 1)), "upstream"]);
  step.flows.forEach((flow) => {
    const edge = scene.edges.find((one) => one.id === flow.edge);
    if (!edge || flow.value === null) return;
    const end = nodeOf(flow.back ? edge.source : edge.target);
    const start = nodeOf(flow.back ? edge.target : edge.source);
    const label = flow.back ? `to ${end?.label ?? "?"}` : end?.id === step.at ? `from ${start?.label ?? "?"}` : `gives ${end?.label ?? "?"}`;
    if (flow.back && start?.kind === "tensor" && step.kind === "vjp") return;
    lines.push([label, value(flow.value), flow.back ? "cotangent" : "plain"]);
  });
  if (step.kind === "accumulate" && node) lines.push([".grad now", value(trackAt(node.rows.find((row) => row.key === "grad")?.track || [], k + 1)), "cotangent"]);
  if (!lines.length) return h("p", {}, step.say);
  return section("In numbers", h("div.sum", {}, lines.map(([label, held, tone]) => h("div.sum-line", {}, h("span.sum-label", {}, label), h(`span.sum-cells.${tone}`, {}, brief(held))))));
}

function showGroup(node) {
  const group = scene.groups.find((one) => one.id === node.id);
  fill(byId("inspect-head"), h("div.row.wrap", {}, h("span.chip.grey", {}, node.label), h("span.chip.grey", {}, "group")));
  fill(byId("inspect-body"), h("p", {}, node.title || node.sub), h("p.hint", {}, `${group?.members.length ?? 0} parts. Double-click it to open it.`));
}
