// The inspector: the selection, at this step. Details come once per element and revision and hold all moments, so
// that stepping asks the server nothing; with nothing selected the panel shows the current step from the scene alone.
import { num, shapeText, truths, withMinus } from "../../scene/format.mjs";
import { DAMAGED } from "../../scene/shared.mjs";
import { isLeaf } from "../../scene/state.mjs";
import { at as trackAt, currentStep, spokenText } from "../../scene/timeline.mjs";
import { byId, fill, first, h, setProps } from "../../page/dom.mjs";
import { errorBox, findingBoxes } from "../../page/errors.mjs";
import { Figures } from "./figures.mjs";
import { formulasOf, Formula } from "./formula.mjs";
import { codeText, lineText, orderOf, rowsOf, toneOf } from "../../page/value_text.mjs";
import { cellsOf, latestRows, ledgerOf, linesOf } from "./arithmetic.mjs";
import { membersOf, parametersOf } from "./parameters.mjs";
import { throughTime } from "./time_bars.mjs";

const MOST_CACHED = 400;
const PORTION = 100; // earlier rows of a ledger that one click brings

export class Inspector {
  /**
   * @param {any} player `window.backstep`
   * @param {import("../../page/session.mjs").Session} session
   */
  constructor(player, session) {
    this.player = player;
    this.session = session;
    this.formula = new Formula(player);
    this.figures = new Figures(() => this.refresh(true));
    /** @type {import("../../scene/scene.d.ts").Scene} the one that is shown; none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    /** @type {string | null} id of the selected node */
    this.chosen = null;
    /** @type {Map<string, any>} details by revision and element */
    this.cache = new Map();
    /** @type {Map<string, (details: any) => void>} what waits for details, and what it does with them */
    this.callbacks = new Map();
    this.requests = 0;
    /** @type {HTMLElement | null} the box of the error, where this is its element and its step */
    this.diagnosis = null;
    this.key = ""; // what the panel shows, so that a step that changes nothing writes nothing
    this.opened = { key: "", rows: 0 }; // the ledger that was opened, and how many earlier rows it shows
  }

  load(next) {
    this.scene = next;
    if (this.chosen && !this.scene.nodes.some((node) => node.id === this.chosen)) this.chosen = null;
    this.select(this.chosen);
  }

  select(id) {
    this.chosen = id;
    this.ask(this.elementOf(id));
    this.refresh(true);
  }

  ask(element) {
    if (!element || !this.scene || this.cache.has(this.keyOf(element))) return;
    this.requests += 1;
    const { program, edits } = this.session;
    setProps("selection", { data: { request: this.requests, revision: this.scene.revision.id, element, program, section: this.scene.section?.at ?? null, edits } });
  }

  /** The details of an element, asked for once; `then` runs when they have arrived, or at once if they are here. */
  want(id, then) {
    const element = this.elementOf(id);
    if (!element) return;
    if (this.cache.has(this.keyOf(element))) { then(this.cache.get(this.keyOf(element))); return; }
    this.callbacks.set(this.keyOf(element), then);
    this.ask(element);
  }

  /** The bars of an element through time, to be shown elsewhere; undefined as long as its details are on their way to `then`. */
  barsOf(id, time, then) {
    const element = this.elementOf(id);
    if (!element) return null;
    const details = this.cache.get(this.keyOf(element));
    if (!details) { this.want(id, then); return undefined; }
    return throughTime(details.through ?? null, time, (step, at) => this.goTo(step, at));
  }

  /** Forgets open questions, which will have no answer: they may be asked again. */
  forget() {
    this.callbacks.clear();
  }

  /** Takes the server's answer to a selection. */
  receive(answer) {
    if (!answer) return;
    const key = `${answer.revision ?? this.scene?.revision.id}|${answer.element ?? this.elementOf(this.chosen)}`;
    this.cache.set(key, answer.details || { problem: answer.problem });
    if (this.cache.size > MOST_CACHED) this.cache.delete(this.cache.keys().next().value ?? "");
    this.callbacks.get(key)?.(this.cache.get(key));
    this.callbacks.delete(key);
    this.refresh(true);
  }

  seek() {
    this.refresh(false);
  }

  keyOf(element) {
    return `${this.scene.revision.id}|${element}`;
  }

  nodeOf(id) {
    return this.scene?.nodes.find((node) => node.id === id) || null;
  }

  /** Whose details are meant: of a stub those of the leaf that it stands for. */
  elementOf(id) {
    const node = this.nodeOf(id);
    if (!node) return null;
    const isRun = node.cells && this.scene.groups.some((group) => group.stack && group.id === node.group); // a part of a stack, known to this picture alone
    return node.kind === "stub" ? node.twin : isRun ? node.group : node.id;
  }

  refresh(force) {
    if (!this.scene) return;
    const t = this.player.t();
    const step = currentStep(t);
    const details = this.chosen ? this.cache.get(this.keyOf(this.elementOf(this.chosen))) : null;
    const key = `${this.scene.revision.id}|${this.chosen}|${step}|${t >= step + 1}|${Boolean(details)}`;
    if (!force && key === this.key) return;
    this.key = key;
    const node = this.nodeOf(this.chosen);
    const isHere = this.scene.error?.step === step && (!node || this.scene.error.node === this.elementOf(this.chosen));
    this.diagnosis = isHere ? errorBox(this.scene, (edits) => this.session.edit(edits, () => this.player.reopen())) : null;
    if (!node) { this.figures.clear(); this.showStep(step); return; }
    if (node.kind === "group") { this.formula.show(null); this.figures.clear(); this.showGroup(node, details, step + 1); return; }
    const head = this.headOf(node, details, step);
    const call = this.callAt(step);
    if (!details && node.formula?.length) this.formula.show(formulasOf(node.formula, call), this.scene, node.id);
    if (!details) { if (!node.formula?.length) this.formula.show(null); this.figures.clear(); this.writeParts(head, skeleton()); return; }
    if (details.problem) { this.formula.show(null); this.figures.clear(); this.writeParts(head, problemBox(details.problem)); return; }
    this.formula.show(formulasOf(details.formula, call), this.scene, node.id);
    this.writeParts(head, findingBoxes(this.findingsOf(this.elementOf(this.chosen), step)), this.bodyOf(node, details, step + 1));
    this.figures.show(details, step + 1);
  }

  /** The head and the details of an element; an error and its fix come first, so that they are in view. */
  writeParts(head, ...body) {
    fill(byId("inspect-head"), this.diagnosis ? null : head);
    fill(byId("inspect-body"), this.diagnosis, this.diagnosis ? h("div", {}, head) : null, body);
  }

  /** What went wrong at an element without an error, once the step is done. */
  findingsOf(id, step) {
    return (this.scene.findings || []).filter((one) => one.at === id && one.step <= step);
  }

  /** The backward call that a step is part of; null in between. */
  callAt(k) {
    return this.scene.phases[this.scene.steps[k]?.phase]?.call ?? null;
  }

  headOf(node, details, step) {
    const tone = node.role === "leaf" ? "green" : node.role === "root" ? "purple" : node.kind === "op" ? "orange" : "grey";
    const head = details?.head;
    const name = node.kind === "op" ? head?.name || node.sub || node.label : node.label;
    const code = node.code || head?.code;
    const files = this.scene.program.files;
    const shape = head?.shape ?? node.shape;
    const facts = [shape && shapeText(shape), head?.dtype ?? node.dtype, head?.device && head.device !== "cpu" ? head.device : null];
    return [
      h("div.row.wrap", {},
        h(`span.chip.${tone}`, {}, name),
        node.kind === "op" ? null : h("span.chip.grey", {}, node.role === "inner" ? "inner tensor" : node.role),
        facts.filter(Boolean).map((fact) => h("span.chip.grey", {}, fact)),
        step >= 0 ? h("span.chip.grey", {}, `step ${step + 1}`) : null,
        this.orderChip(this.scene.steps[step])),
      this.sourceLine("from ", code, lineText(code, files) || codeText(code, files)),
      head?.about ? h("p.hint", {}, head.about) : null,
    ];
  }

  orderChip(step) {
    const order = orderOf(this.scene, step);
    return order && h("span.chip.grey", { title: order.title }, order.text);
  }

  bodyOf(node, details, time) {
    const parts = details.kind === "op" ? [this.moment(details, time)] : []; // of a tensor a moment has its value alone, which stands below
    if (details.kind === "tensor") parts.push(this.rowValues(node, time, details));
    if (details.kind === "tensor") parts.push(throughTime(details.through, time, (step, element) => this.goTo(step, element)));
    if (details.ledger.length || isLeaf(node)) parts.push(this.ledger(node, details, time));
    if (details.saved.length) parts.push(this.savedSection(details, time));
    if (details.kind !== "tensor") parts.push(throughTime(details.through, time, (step, element) => this.goTo(step, element)));
    if (details.check) parts.push(check("Check against finite differences", details.check));
    if (details.compared) parts.push(check(`Compared with ${details.compared.library}`, details.compared));
    if (!details.moments.length && details.kind === "op" && !details.formula.length) {
      parts.push(h("p.hint", {}, "This op takes no part in backward: its output needs no gradient, or it has no derivative."));
    }
    return parts;
  }

  /** Goes to an iteration of a series: to its time, and to its element if that is drawn. */
  goTo(step, element) {
    this.player.seek(step);
    if (this.nodeOf(element)) this.player.select(element);
  }

  /** The arithmetic of the latest moment; before the first one, a hint at what will be shown here. */
  moment(details, time) {
    if (!details.moments.length) return null;
    const come = details.moments.filter((one) => one.step < time);
    const now = come[come.length - 1];
    if (!now) {
      const first = details.moments[0];
      return section("In numbers", h("p.hint", {}, "Nothing has run here yet. ", h("button.link", { type: "button", onclick: () => this.player.seek(first.step + 1) }, `Go to step ${first.step + 1}`)));
    }
    const all = details.moments.length;
    const nth = come.length;
    const turn = (to, sign, label) => h("button.quiet", { type: "button", "aria-label": label, disabled: !to, onclick: () => this.player.seek(to.step + 1) }, sign);
    const picks = all > 1 ? [h("span.space"), turn(come[nth - 2], "‹", "Previous moment"), h("span.count", {}, `${nth} of ${all}`), turn(details.moments[nth], "›", "Next moment")] : [];
    return h("section", {}, h("div.over", {}, h("h2", {}, "In numbers"), picks), now.title ? h("p.source", {}, now.title) : null, sums(now.lines));
  }

  /** Value and gradient as numbers, as they are at this time. */
  rowValues(node, time, details) {
    const twin = node.kind === "stub" ? this.nodeOf(node.twin) || node : node;
    return twin.rows.filter((row) => row.key !== "seed").map((row) => {
      const id = trackAt(row.track, time);
      const large = id === null ? null : fullValue(details, row, time) || this.scene.values[id];
      const past = row.until !== undefined && time >= row.until; // as on the card: what an older version had
      const title = row.key === "grad" ? `.grad${past ? " before" : ""}` : row.label || "value";
      return h("section", {}, h("h2.keep", {}, title), large ? matrix(large, row.key === "grad" && !past) : h("p.hint", {}, row.key === "grad" ? this.noGradient(twin, row.track, time) : "not computed yet"));
    });
  }

  /** Why there is no gradient: a leaf waits for a call, and any other tensor was not told to keep it. */
  noGradient(node, track, time) {
    return track?.some(([from, value]) => from <= time && value !== null) ? "None: the program dropped the gradient that had arrived."
    : node.retains ? RETAINS[node.retains]
    : isLeaf(node) ? `None: no gradient has arrived. The first backward() that reaches ${node.label} writes one here.`
    : `None: only leaves keep their gradient. ${node.label}.retain_grad() before the call would keep this one${this.namesake(node) ? "; the one in the program is for another tensor of this name" : ""}.`;
  }

  namesake(node) {
    return this.scene.nodes.some((one) => one.retains && one.id !== node.id && one.label === node.label);
  }

  ledger(node, details, time) {
    const come = details.ledger.filter((entry) => entry.step < time);
    const value = (id) => (id === null || id === undefined ? null : details.values[id]);
    const isPart = (entry) => entry.added !== null && entry.after === null; // what one edge brought to the sum of a call
    const calls = new Set(come.filter(isPart).map((entry) => entry.call));
    const rows = come.filter((entry) => isPart(entry) || entry.added === null || !calls.has(entry.call)).map((entry) => ({
      step: entry.step, label: `${entry.added === null ? "" : "+ "}${entry.code ? `line ${entry.code.line}` : entry.label}`, title: entry.label, value: value(entry.added === null ? entry.after : entry.added),
    }));
    const first = come.find((entry) => !isPart(entry));
    return this.ledgerTable(node, value(first?.before ?? null), rows, come.length ? value(come.findLast((entry) => !isPart(entry))?.after ?? null) : null, time);
  }

  /** The additions to `.grad`, line by line; a click on a line leads to its step. */
  ledgerTable(node, before, rows, now, time) {
    const plain = (name, value, more = "") => h(`div.sum-line${more}`, {}, h("span.sum-label", {}, name), h(`span.sum-rows${more ? ".cotangent" : ".plain"}`, {}, cells(cellsOf(value))));
    const key = `${this.scene.revision.id}|${node.id}`;
    if (this.opened.key !== key) this.opened = { key, rows: 0 };
    const excerpt = latestRows(rows, this.opened.rows);
    return section(`${isLeaf(node) ? "Leaf " : ""}${node.label} · ledger of .grad`, h("div.sum", {},
      plain("before", before),
      excerpt.earlier ? this.earlierRow(excerpt.earlier) : null,
      excerpt.rows.map((row) => h("button.sum-line", {
        type: "button", title: row.title, "aria-label": `${row.title}: go to this step`, onclick: () => this.player.seek(row.step + 1), class: `sum-line${row.step === time - 1 ? " on" : ""}`,
      }, h("span.sum-label", {}, row.label), h("span.sum-rows.cotangent", {}, cells(cellsOf(row.value))))),
      plain("= now", now, ".total")));
  }

  /** The button for the rows that a long ledger leaves out; it keeps the focus while there are more, then the first row has it. */
  earlierRow(count) {
    const showMore = () => {
      this.opened.rows += PORTION;
      this.refresh(true);
      first("button.sum-line", byId("inspect-body"))?.focus({ preventScroll: true });
    };
    const words = count > PORTION ? `show ${PORTION} more` : "show them";
    return h("button.sum-line.earlier", { type: "button", onclick: showMore }, h("span.sum-label", {}, `… ${count} earlier`), h("span.sum-rows", {}, words));
  }

  /** The line of the program, and its edited form in this revision. */
  sourceLine(before, code, text) {
    if (!code) return null;
    const edited = this.scene.changes.find((one) => one.kind === "edited" && JSON.stringify(one.code) === JSON.stringify(code));
    return h("p.source", {}, before, h("code", {}, text), `, line ${code.line}`, edited ? h("span.chip.changed", {}, `edited: ${edited.text}`) : null);
  }

  savedSection(details, time) {
    const files = this.scene.program.files;
    const rows = details.saved.map((one) => {
      const now = trackAt(one.track, time) || "none";
      const by = now === "freed" && one.freed_by ? this.sourceLine("freed by ", one.freed_by, codeText(one.freed_by, files)) : null;
      return savedRow(one.name, one.text, one.bytes, now, by);
    });
    return section("Saved for backward", h("dl.facts", {}, rows));
  }

  /** With nothing selected: the element that is active at this step, from what the scene has; the server is not asked. */
  showStep(k) {
    const step = this.scene.steps[k];
    if (!step) {
      this.formula.show(null);
      fill(byId("inspect-head"));
      fill(byId("inspect-body"), h("div.empty", {}, h("b", {}, "Nothing is selected"),
        h("p", {}, "Click a tensor, an op or a line of code: its formula, its numbers and its saved tensors appear here, at the current step."),
        h("p", {}, h("kbd", {}, "Space"), " plays, ", h("kbd", {}, "→"), " takes a step.")));
      return;
    }
    const stop = this.player.stop();
    if (stop?.span) {
      this.showSpan(stop, k);
      return;
    }
    const node = this.nodeOf(step.at);
    const names = { forward: "forward", vjp: "VJP", accumulate: "accumulate", write: "write", error: "error" };
    const tone = { forward: "blue", vjp: "orange", accumulate: "green", write: "grey", error: "red" }[step.kind];
    const own = step.kind === "accumulate" || step.kind === "write"; // then the call says more than where the leaf was made
    const code = (own && step.from) || step.code;
    const read = node?.formula?.length ? node.formula : this.scene.formulas?.[step.within?.formula ?? -1]; // a folded group has none of its own
    this.formula.show(step.kind === "vjp" ? formulasOf(read, this.callAt(k)) : null, this.scene, node?.id);
    const head = [
      h("div.row.wrap", {}, h(`span.chip.${tone}`, {}, step.name), own && node?.kind === "tensor" ? h(`span.chip.${node.role === "leaf" ? "green" : "grey"}`, {}, node.label) : h("span.chip.grey", {}, names[step.kind]),
        h("span.chip.grey", {}, `step ${k + 1}`), this.orderChip(step)),
      this.sourceLine(own && step.from ? "during " : "from ", code, (own ? codeText : lineText)(code, this.scene.program.files)),
    ];
    const here = (this.scene.findings || []).filter((one) => one.step === k);
    this.writeParts(head, findingBoxes(here), this.stepBody(step, node, k));
  }

  /** The same for several steps that are shown as one. */
  showSpan({ start, end, span, step }, k) {
    this.formula.show(null);
    const node = this.nodeOf(step.at);
    const tone = { forward: "blue", backward: "orange", write: "grey" }[span.kind];
    const head = [
      h("div.row.wrap", {}, h(`span.chip.${tone}`, {}, span.label), h("span.chip.grey", {}, { forward: "forward", backward: "backward", write: "write" }[span.kind]),
        h("span.chip.grey", {}, `steps ${start + 1}\u2013${end}`)),
      this.sourceLine("from ", step.code, lineText(step.code, this.scene.program.files)),
    ];
    const here = (this.scene.findings || []).filter((one) => start <= one.step && one.step <= k);
    this.writeParts(head, findingBoxes(here), h("p", {}, spokenText(step)), h("p.hint", {}, h("button.link", { type: "button", onclick: () => this.player.into() }, "Go into these steps"), " (", h("kbd", {}, "Enter"), ")"),
      node && h("p.hint", {}, h("button.link", { type: "button", onclick: () => this.player.select(node.id) }, `Open ${node.label}`), " for its parts and gradients."));
  }

  stepBody(step, node, k) {
    const lines = linesOf(this.scene, k);
    const whole = node && h("p.hint", {}, h("button.link", { type: "button", onclick: () => this.player.select(node.id) }, `Open ${node.kind === "op" && step.kind !== "error" ? step.name : node.label}`),
      node.kind === "op" ? " for plots, the gradient check and all its steps." : node.kind === "group" ? " for its parts and gradients." : " for its value, its gradient and plots.");
    return [
      lines.length ? section("In numbers", sums(lines)) : step.kind === "accumulate" || step.kind === "error" ? null : h("p", {}, spokenText(step)),
      step.kind === "error" && this.scene.error?.step !== k ? h("p", {}, step.say) : null,
      step.kind === "accumulate" || step.kind === "write" ? this.stepLedger(node, k) : null,
      step.kind === "vjp" || step.kind === "forward" ? stepSaved(node, k) : null,
      whole,
    ];
  }

  stepLedger(node, k) {
    if (!node?.rows?.some((row) => row.key === "grad")) return null;
    const entries = ledgerOf(this.scene, node, k);
    if (!entries.length) return null;
    const files = this.scene.program.files;
    const rows = entries.flatMap((one) => (one.adds?.length ? one.adds.map((value) => ({ step: one.step, label: `+ ${one.label}`, title: codeText(one.code, files) || one.label, value }))
      : [{ step: one.step, label: one.label, title: codeText(one.code, files) || one.label, value: one.after }]));
    const before = trackAt(node.rows.find((row) => row.key === "grad").track, entries[0].step); // of `w v1`: what w held
    return this.ledgerTable(node, before === null || before === undefined ? null : this.scene.values[before], rows, entries[entries.length - 1].after, k + 1);
  }

  showGroup(node, details, time) {
    const norm = trackAt(node.tracks.norm, time);
    this.writeParts(h("div.row.wrap", {}, h("span.chip.orange", {}, node.label), h("span.chip.grey", {}, node.cells ? "stack" : "group, folded")),
      h("p", {}, node.sub),
      h("p.hint", {}, norm === null ? "It has received no gradient by this step." : `The gradient that came back into it has norm ${num(norm, 4)}.`),
      parametersOf(this.scene, node, time),
      membersOf(this.scene, node, time, (id) => this.player.fold(id)),
      h("p.hint", {}, node.cells ? "Click a cell of its strip, or a name here, to open that one." : "Press Enter or double-click to open it."),
      details?.problem ? null : throughTime(details?.through, time, (step, element) => this.goTo(step, element)));
  }
}

const skeleton = () => h("div.skeleton", { role: "status", "aria-label": "Loading the details" }, h("i"), h("i"), h("i"));

const problemBox = (problem) => h("div.empty", { role: "alert" }, h("b", {}, problem.title), h("p", {}, problem.text));

/** Lines of arithmetic; each has `rows` of cells, or `cells` that are one row. */
function sums(lines) {
  return h("div.sum", { role: "table" }, lines.map((line) => h("div.sum-line", { role: "row" },
    h("span.sum-label", { role: "rowheader", title: line.label }, withMinus(line.label)),
    h(`span.sum-rows.${line.tone}`, { role: "cell" }, cells(line.rows || cellRows(line), line.total)))));
}

/** The cells of a line in rows, where they belong to a matrix. */
function cellRows({ cells: all, cols }) {
  if (!cols || cols >= all.length) return [all];
  return Array.from({ length: all.length / cols }, (_, i) => all.slice(i * cols, (i + 1) * cols));
}

/**
 * Rows of cells; numbers of one row of a tensor stay in one line, a sum of products and what is said in words may go on in another.
 * @type {(rows: string[][], total?: string | null) => HTMLElement[]}
 */
function cells(rows, total = null) {
  const kind = (row) => (total !== null && total !== undefined ? ".terms" : row.some((cell) => / /.test(cell)) ? ".words" : "");
  return rows.map((row, i) => h(`span.sum-cells${kind(row)}`, {}, row.map((cell) => h(`b${toneOf(cell)}`, {}, withMinus(cell))), total !== null && total !== undefined && i === rows.length - 1 ? h(`em${toneOf(total.slice(2))}`, {}, withMinus(total)) : null));
}

/** The text for a tensor with retain_grad() that has no gradient (yet). */
const RETAINS = {
  kept: "None yet: retain_grad() was called, so the backward() that reaches this tensor writes one here.",
  unheld: "None: retain_grad() was called, but the program no longer held this tensor when the gradient arrived: its name was reassigned or deleted. Give the new tensor another name to keep both.",
  unreached: "None: retain_grad() was called, and no backward() reaches this tensor after it.",
};

/** The whole value, from the details, of a tensor that is too large for the scene; else null. */
function fullValue(details, row, time) {
  const figure = details.figures.find((one) => one.kind === "heatmap" && one.of === row.key);
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

/** @type {(name: string, text: string, bytes: number, now: string, by?: HTMLElement | null) => HTMLElement[]} */
function savedRow(name, text, size, state, by = null) {
  const words = { none: "not yet saved", saved: "saved", kept: "kept: retain_graph", freed: "freed" }[state];
  const tone = { kept: "green", freed: "grey.struck", none: "grey" }[state] || "grey";
  return [h("dt", {}, attributeOf(name)), h("dd", {}, h("span", {}, `${text}${size ? ` · ${bytes(size)}` : ""} `), h(`span.chip.${tone}`, {}, words), by)];
}

/** A saved value as an attribute of its node in Python, `_saved_self`; a name that is none, such as `saved_tensors[0]`, stays as it is. */
function attributeOf(name) {
  return /^\w+$/.test(name) && name !== "saved" ? h("code", { title: `grad_fn._saved_${name} in Python` }, `_saved_${name}`) : name;
}

const bytes = (n) => (n < 1024 ? `${n} B` : n < 1024 ** 2 ? `${num(n / 1024, 3)} kB` : `${num(n / 1024 ** 2, 3)} MB`);

function check(title, outcome) {
  return section(title, h("p.source", {}, withMinus(outcome.text), " ",
    h(`span.chip.${outcome.agrees ? "green" : "red"}`, {}, outcome.agrees ? "agrees" : "differs")));
}

const section = (title, ...content) => h("section", {}, h("h2.keep", {}, title), content);

function stepSaved(node, k) {
  if (!node?.saved?.length) return null;
  const state = trackAt(node.tracks.saved, k + 1) || "none";
  return section("Saved for backward", h("dl.facts", {}, node.saved.map((one) => savedRow(one.name, one.text.replace(/^saved /, ""), one.bytes, state))));
}
