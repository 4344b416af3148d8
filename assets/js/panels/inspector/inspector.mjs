// The inspector: what is selected, at this step. Details come once per element and revision and hold all moments, so
// that stepping asks the server nothing; with nothing selected the panel shows the present step from the scene alone.
import { DAMAGED, normText, num, shapeText, truths, withMinus } from "../../scene/format.mjs";
import { isLeaf } from "../../scene/state.mjs";
import { at as trackAt, currentStep, spoken } from "../../scene/timeline.mjs";
import { byId, fill, h, setProps } from "../../page/dom.mjs";
import { errorBox, findingBoxes } from "../../page/errors.mjs";
import * as figures from "./figures.mjs";
import * as formula from "./formula.mjs";
import { codeText, lineText, orderOf, rowsOf, toneOf } from "../../page/read.mjs";
import * as session from "../../page/session.mjs";
import { cellsOf, latest, ledgerOf, linesOf } from "./sums.mjs";
import { throughTime } from "./through.mjs";

const MOST_CACHED = 400;
const PORTION = 100; // earlier rows of a ledger that one click brings

const cache = new Map();
const wanted = new Map(); // what waits for details: key -> what to do with them
let scene = null;
let chosen = null; // id of the selected node
let player = null;
let diagnosis = null; // the box of the error, where this is its element and its step
let written = ""; // what the panel shows, so that a step that changes nothing writes nothing
let asked = 0;
let opened = { key: "", rows: 0 }; // earlier rows that were asked for, and of which ledger

export function setUp(backstep) {
  player = backstep;
  formula.setUp(backstep);
  figures.setUp(() => refresh(true));
}

export function load(next) {
  scene = next;
  if (chosen && !scene.nodes.some((node) => node.id === chosen)) chosen = null;
  select(chosen);
}

export function select(id) {
  chosen = id;
  ask(elementOf(id));
  refresh(true);
}

function ask(element) {
  if (!element || !scene || cache.has(keyOf(element))) return;
  asked += 1;
  const { program, edits } = session.state();
  setProps("selection", { data: { request: asked, revision: scene.revision.id, element, program, edits } });
}

/** The details of an element, asked for once; `then` runs when they are there, at once where they are. */
export function want(id, then) {
  const element = elementOf(id);
  if (!element) return;
  if (cache.has(keyOf(element))) { then(cache.get(keyOf(element))); return; }
  wanted.set(keyOf(element), then);
  ask(element);
}

/** What was asked for will not come: whoever wants it asks again. */
export function forget() {
  wanted.clear();
}

/** Takes the server's answer to a selection. */
export function receive(answer) {
  if (!answer) return;
  const key = `${answer.revision ?? scene?.revision.id}|${answer.element ?? elementOf(chosen)}`;
  cache.set(key, answer.details || { problem: answer.problem });
  if (cache.size > MOST_CACHED) cache.delete(cache.keys().next().value);
  wanted.get(key)?.(cache.get(key));
  wanted.delete(key);
  refresh(true);
}

export function seek() {
  refresh(false);
}

const keyOf = (element) => `${scene.revision.id}|${element}`;
const nodeOf = (id) => scene?.nodes.find((node) => node.id === id) || null;

/** Whose details are meant: of a stub those of the leaf that it stands for. */
function elementOf(id) {
  const node = nodeOf(id);
  if (!node) return null;
  return node.kind === "stub" ? node.twin : node.id;
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
  const isHere = scene.error?.step === step && (!node || scene.error.node === elementOf(chosen));
  diagnosis = isHere ? errorBox(scene) : null;
  if (!node) { figures.clear(); showStep(step); return; }
  if (node.kind === "group") { formula.show(null); figures.clear(); showGroup(node, details, step + 1); return; }
  const head = headOf(node, details, step);
  const call = callAt(step);
  if (!details && node.formula?.length) formula.show(formula.asked(node.formula, call), scene, node.id);
  if (!details) { if (!node.formula?.length) formula.show(null); figures.clear(); writeParts(head, waiting()); return; }
  if (details.problem) { formula.show(null); figures.clear(); writeParts(head, failed(details.problem)); return; }
  formula.show(formula.asked(details.formula, call), scene, node.id);
  writeParts(head, findingBoxes(findingsOf(elementOf(chosen), step)), bodyOf(node, details, step + 1));
  figures.show(details, step + 1);
}

/** What is shown, and what is told of it; an error and its remedy stand before both, so that they are in view. */
function writeParts(head, ...body) {
  fill(byId("inspect-head"), diagnosis ? null : head);
  fill(byId("inspect-body"), diagnosis, diagnosis ? h("div", {}, head) : null, body);
}

/** What went wrong at an element without an error, once the step is done. */
const findingsOf = (id, step) => (scene.findings || []).filter((one) => one.at === id && one.step <= step);

/** The backward call that a step is part of; null in between. */
const callAt = (k) => scene.phases[scene.steps[k]?.phase]?.call ?? null;

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
      orderChip(scene.steps[step])),
    quoted("from ", code, lineText(code, files) || codeText(code, files)),
  ];
}

function orderChip(step) {
  const order = orderOf(scene, step);
  return order && h("span.chip.grey", { title: order.title }, order.text);
}

const waiting = () => h("div.skeleton", { role: "status", "aria-label": "Loading the details" }, h("i"), h("i"), h("i"));

const failed = (problem) => h("div.empty", { role: "alert" }, h("b", {}, problem.title), h("p", {}, problem.text));

function bodyOf(node, details, time) {
  const told = details.moments.some((one) => one.lines.some((line) => line.label !== "value")); // a value alone stands below
  const parts = told || details.kind === "op" ? [moment(details, time)] : [];
  if (details.kind === "tensor") parts.push(held(node, time, details));
  if (details.kind === "tensor") parts.push(throughTime(details.through, time, goTo));
  if (details.ledger.length || isLeaf(node)) parts.push(ledger(node, details, time));
  if (details.saved.length) parts.push(saved(details, time));
  if (details.kind !== "tensor") parts.push(throughTime(details.through, time, goTo));
  if (details.check) parts.push(check(details.check));
  if (!details.moments.length && details.kind === "op" && !details.formula.length) {
    parts.push(h("p.hint", {}, "This op takes no part in backward: its output needs no gradient, or it has no derivative."));
  }
  return parts;
}

/** To a round of a series: its time, and its element where that is drawn. */
function goTo(step, element) {
  player.seek(step);
  if (nodeOf(element)) player.select(element);
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
  const picks = all > 1 ? [h("span.space"), turn(come[nth - 2], "‹", "Previous moment"), h("span.count", {}, `${nth} of ${all}`), turn(details.moments[nth], "›", "Next moment")] : [];
  return h("section", {}, h("div.over", {}, h("h2", {}, "In numbers"), picks), now.title ? h("p.source", {}, now.title) : null, sums(now.lines));
}

/** Lines of arithmetic; each has `rows` of cells, or `cells` that are one row. */
function sums(lines) {
  return h("div.sum", { role: "table" }, lines.map((line) => h("div.sum-line", { role: "row" },
    h("span.sum-label", { role: "rowheader", title: line.label }, withMinus(line.label)),
    h(`span.sum-rows.${line.tone}`, { role: "cell" }, cells(line.rows || shaped(line), line.total)))));
}

/** The cells of a line in rows, where they belong to a matrix. */
function shaped({ cells: all, cols }) {
  if (!cols || cols >= all.length) return [all];
  return Array.from({ length: all.length / cols }, (_, i) => all.slice(i * cols, (i + 1) * cols));
}

/** Rows of cells; numbers of one row of a tensor stay in one line, a sum of products and what is said in words may go on in another. */
function cells(rows, total = null) {
  const kind = (row) => (total !== null && total !== undefined ? ".terms" : row.some((cell) => / /.test(cell)) ? ".words" : "");
  return rows.map((row, i) => h(`span.sum-cells${kind(row)}`, {}, row.map((cell) => h(`b${toneOf(cell)}`, {}, withMinus(cell))), total !== null && total !== undefined && i === rows.length - 1 ? h(`em${toneOf(total.slice(2))}`, {}, withMinus(total)) : null));
}


/** Value and gradient as numbers, as they are at this time. */
function held(node, time, details) {
  const twin = node.kind === "stub" ? nodeOf(node.twin) || node : node;
  return twin.rows.filter((row) => row.key !== "seed").map((row) => {
    const id = trackAt(row.track, time);
    const large = id === null ? null : bigger(details, row, time) || scene.values[id];
    const past = row.until !== undefined && time >= row.until; // as on the card: what an older version had
    const title = row.key === "grad" ? `.grad${past ? " before" : ""}` : row.label || "value";
    return h("section", {}, h("h2.keep", {}, title), large ? matrix(large, row.key === "grad" && !past) : h("p.hint", {}, row.key === "grad" ? noGradient(twin, row.track, time) : "not computed yet"));
  });
}

/** Where retain_grad() was called and nothing is there (yet). */
const RETAINS = {
  kept: "None yet: retain_grad() was called, so the backward() that reaches this tensor writes one here.",
  unheld: "None: retain_grad() was called, but the program no longer held this tensor when the gradient arrived: its name was reassigned or deleted. Give the new tensor another name to keep both.",
  unreached: "None: retain_grad() was called, and no backward() reaches this tensor after it.",
};

/** What would bring one: a leaf waits for a call, any other tensor was not asked to keep it. */
const noGradient = (node, track, time) => (track?.some(([from, held]) => from <= time && held !== null) ? "None: the program dropped the gradient that had arrived."
  : node.retains ? RETAINS[node.retains]
  : isLeaf(node) ? `None: no gradient has arrived. The first backward() that reaches ${node.label} writes one here.`
  : `None: only leaves keep their gradient. ${node.label}.retain_grad() before the call would keep this one${namesake(node) ? "; the one in the program is for another tensor of this name" : ""}.`);

const namesake = (node) => scene.nodes.some((one) => one.retains && one.id !== node.id && one.label === node.label);

/** The value with more elements than a scene carries, where the details have it. */
function bigger(details, row, time) {
  const figure = details.figures.find((one) => one.kind === "heatmap" && one.title === (row.key === "grad" ? ".grad" : "value"));
  const id = figure ? trackAt(figure.track, time) : null;
  return id === null || id === undefined ? null : details.values[id];
}

function matrix(value, gradient) {
  if (value.damaged) return [h("p.hint", {}, value.shape.length ? `${shapeText(value.shape)}, ${DAMAGED}` : DAMAGED)];
  const rows = rowsOf(value);
  const { min, max, mean, norm, nan, inf, zeros, size } = value.stats;
  const odd = [nan && `${nan} nan`, inf && `${inf} inf`, zeros && size > 1 && `${zeros} of ${size} are 0`].filter(Boolean).join(", ");
  const facts = value.dtype === "bool" ? size > 1 && truths(value.stats) : size > 1 ? `norm ${num(norm)} · mean ${num(mean)} · ${num(min)} … ${num(max)}${odd ? ` · ${odd}` : ""}` : odd;
  return [
    rows.length ? h(`table.matrix${gradient ? ".gradient" : ""}`, {}, h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h(`td${toneOf(cell)}`, {}, cell)))))) : null,
    facts ? h("p.hint", {}, facts) : null,
  ];
}

function ledger(node, details, time) {
  const come = details.ledger.filter((entry) => entry.step < time);
  const value = (id) => (id === null || id === undefined ? null : details.values[id]);
  const isPart = (entry) => entry.added !== null && entry.after === null; // what one edge brought to the sum of a call
  const told = new Set(come.filter(isPart).map((entry) => entry.call));
  const rows = come.filter((entry) => isPart(entry) || entry.added === null || !told.has(entry.call)).map((entry) => ({
    step: entry.step, label: `${entry.added === null ? "" : "+ "}${entry.code ? `line ${entry.code.line}` : entry.label}`, title: entry.label, value: value(entry.added === null ? entry.after : entry.added),
  }));
  const first = come.find((entry) => !isPart(entry));
  return ledgerTable(node, value(first?.before ?? null), rows, come.length ? value(come.findLast((entry) => !isPart(entry))?.after ?? null) : null, time);
}

/** What came to `.grad`, line by line: the step of a line is gone to by a click. */
function ledgerTable(node, before, rows, now, time) {
  const plain = (name, value, more = "") => h(`div.sum-line${more}`, {}, h("span.sum-label", {}, name), h(`span.sum-rows${more ? ".cotangent" : ".plain"}`, {}, cells(cellsOf(value))));
  const key = `${scene.revision.id}|${node.id}`;
  if (opened.key !== key) opened = { key, rows: 0 };
  const shown = latest(rows, opened.rows);
  return section(`${isLeaf(node) ? "Leaf " : ""}${node.label} · ledger of .grad`, h("div.sum", {},
    plain("before", before),
    shown.earlier ? earlierRow(shown.earlier) : null,
    shown.rows.map((row) => h("button.sum-line", {
      type: "button", title: row.title, "aria-label": `${row.title}: go to this step`, onclick: () => player.seek(row.step + 1), class: `sum-line${row.step === time - 1 ? " on" : ""}`,
    }, h("span.sum-label", {}, row.label), h("span.sum-rows.cotangent", {}, cells(cellsOf(row.value))))),
    plain("= now", now, ".total")));
}

/** What a long ledger leaves out, in its place; it keeps the focus while there is more, then the first row has it. */
function earlierRow(count) {
  const more = () => {
    opened.rows += PORTION;
    refresh(true);
    byId("inspect-body").querySelector("button.sum-line")?.focus({ preventScroll: true });
  };
  const words = count > PORTION ? `show ${PORTION} more` : "show them";
  return h("button.sum-line.earlier", { type: "button", onclick: more }, h("span.sum-label", {}, `… ${count} earlier`), h("span.sum-rows", {}, words));
}

/** What stands in the program, and what is otherwise there in this revision. */
function quoted(before, code, text) {
  if (!code) return null;
  const edited = scene.changes.find((one) => one.kind === "edited" && JSON.stringify(one.code) === JSON.stringify(code));
  return h("p.source", {}, before, h("code", {}, text), `, line ${code.line}`, edited ? h("span.chip.changed", {}, `edited: ${edited.text}`) : null);
}

function saved(details, time) {
  const files = scene.program.files;
  const rows = details.saved.map((one) => {
    const now = trackAt(one.track, time) || "none";
    const by = now === "freed" && one.freed_by ? quoted("freed by ", one.freed_by, codeText(one.freed_by, files)) : null;
    return savedRow(one.name, one.text, one.bytes, now, by);
  });
  return section("Saved for backward", h("dl.facts", {}, rows));
}

function savedRow(name, text, size, state, by = null) {
  const words = { none: "not yet saved", saved: "saved", kept: "kept: retain_graph", freed: "freed" }[state];
  const tone = { kept: "green", freed: "grey.struck", none: "grey" }[state] || "grey";
  return [h("dt", {}, attributeOf(name)), h("dd", {}, h("span", {}, `${text}${size ? ` · ${bytes(size)}` : ""} `), h(`span.chip.${tone}`, {}, words), by)];
}

/** What Python calls it: `grad_fn._saved_self`; a custom Function has `saved_tensors[0]`, several that are one chip have no name. */
function attributeOf(name) {
  return /^\w+$/.test(name) && name !== "saved" ? h("code", { title: `grad_fn._saved_${name} in Python` }, `_saved_${name}`) : name;
}

const bytes = (n) => (n < 1024 ? `${n} B` : n < 1024 ** 2 ? `${num(n / 1024, 3)} kB` : `${num(n / 1024 ** 2, 3)} MB`);

function check(found) {
  return section("Check against finite differences", h("p.source", {}, withMinus(found.text), " ",
    h(`span.chip.${found.agrees ? "green" : "red"}`, {}, found.agrees ? "agrees" : "differs")));
}

const section = (title, ...content) => h("section", {}, h("h2.keep", {}, title), content);

/** With nothing selected: the element that is active at this step, from what the scene has; the server is not asked. */
function showStep(k) {
  const step = scene.steps[k];
  if (!step) {
    formula.show(null);
    fill(byId("inspect-head"));
    fill(byId("inspect-body"), h("div.empty", {}, h("b", {}, "Nothing is selected"),
      h("p", {}, "Click a tensor, an op or a line of code: its formula, its numbers and its saved tensors appear here, at the current step."),
      h("p", {}, h("kbd", {}, "Space"), " plays, ", h("kbd", {}, "→"), " takes a step.")));
    return;
  }
  const node = nodeOf(step.at);
  const names = { forward: "forward", vjp: "VJP", accumulate: "accumulate", write: "write", error: "error" };
  const tone = { forward: "blue", vjp: "orange", accumulate: "green", write: "grey", error: "red" }[step.kind];
  const own = step.kind === "accumulate" || step.kind === "write"; // then the call says more than where the leaf was made
  const code = (own && step.from) || step.code;
  const read = node?.formula?.length ? node.formula : scene.formulas?.[step.within?.formula]; // a folded group has none of its own
  formula.show(step.kind === "vjp" ? formula.asked(read, callAt(k)) : null, scene, node?.id);
  const head = [
    h("div.row.wrap", {}, h(`span.chip.${tone}`, {}, step.name), own && node?.kind === "tensor" ? h(`span.chip.${node.role === "leaf" ? "green" : "grey"}`, {}, node.label) : h("span.chip.grey", {}, names[step.kind]),
      h("span.chip.grey", {}, `step ${k + 1}`), orderChip(step)),
    quoted(own && step.from ? "during " : "from ", code, (own ? codeText : lineText)(code, scene.program.files)),
  ];
  const here = (scene.findings || []).filter((one) => one.step === k);
  writeParts(head, findingBoxes(here), stepBody(step, node, k));
}

function stepBody(step, node, k) {
  const lines = linesOf(scene, k);
  const whole = node && h("p.hint", {}, h("button.link", { type: "button", onclick: () => player.select(node.id) }, `Open ${node.kind === "op" && step.kind !== "error" ? step.name : node.label}`),
    node.kind === "op" ? " for plots, the gradient check and all its steps." : node.kind === "group" ? " for the gradient that came back into it." : " for its value, its gradient and plots.");
  return [
    lines.length ? section("In numbers", sums(lines)) : step.kind === "accumulate" || step.kind === "error" ? null : h("p", {}, spoken(step)),
    step.kind === "error" && scene.error?.step !== k ? h("p", {}, step.say) : null,
    step.kind === "accumulate" || step.kind === "write" ? stepLedger(node, k) : null,
    step.kind === "vjp" || step.kind === "forward" ? stepSaved(node, k) : null,
    whole,
  ];
}

function stepLedger(node, k) {
  if (!node?.rows?.some((row) => row.key === "grad")) return null;
  const entries = ledgerOf(scene, node, k);
  if (!entries.length) return null;
  const files = scene.program.files;
  const rows = entries.flatMap((one) => (one.adds?.length ? one.adds.map((value) => ({ step: one.step, label: `+ ${one.label}`, title: codeText(one.code, files) || one.label, value }))
    : [{ step: one.step, label: one.label, title: codeText(one.code, files) || one.label, value: one.after }]));
  const before = trackAt(node.rows.find((row) => row.key === "grad").track, entries[0].step); // of `w v1`: what w held
  return ledgerTable(node, before === null || before === undefined ? null : scene.values[before], rows, entries[entries.length - 1].after, k + 1);
}

function stepSaved(node, k) {
  if (!node?.saved?.length) return null;
  const state = trackAt(node.tracks.saved, k + 1) || "none";
  return section("Saved for backward", h("dl.facts", {}, node.saved.map((one) => savedRow(one.name, one.text.replace(/^saved /, ""), one.bytes, state))));
}

function showGroup(node, details, time) {
  const upstream = trackAt(node.tracks.upstream, time);
  const norm = upstream === null || upstream === undefined ? null : normText(scene.values[upstream]);
  writeParts(h("div.row.wrap", {}, h("span.chip.orange", {}, node.label), h("span.chip.grey", {}, "group, folded")),
    h("p", {}, node.sub),
    h("p.hint", {}, norm === null ? "No single gradient comes back into it at this step: open it to see what runs inside." : `The gradient that came back into it has ${norm}.`),
    h("p.hint", {}, "Press Enter or double-click to open it."),
    details?.problem ? null : throughTime(details?.through, time, goTo));
}
