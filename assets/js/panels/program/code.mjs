// The program, with the current expression marked by line and columns. A click on code selects the result of the expression, one beside it
// goes to the next step of the line.
import { num } from "../../scene/format.mjs";
import { busyLines, linesOf, mainLines, timesOf, turnOf } from "../../scene/lines.mjs";
import { lookOf, shareOf } from "../../scene/scale.mjs";
import { isLeaf } from "../../scene/state.mjs";
import { byId, fill, first, h } from "../../page/dom.mjs";
import { button as what } from "../../page/explain.mjs";
import { elementsAt, ranges, scrollTopFor } from "../../page/value_text.mjs";
import { Prints } from "./prints.mjs";
import { answersAt } from "./question.mjs";

const NARROW = 44; // letters of a line that fit beside the graph at 12 px and more

const ABOVE = 24; // px over the first line that runs

const DEFINES = /^(def|class)\b|^@/;

const WORDS = {
  forward: "computed now", vjp: "the VJP of this expression runs", accumulate: "this leaf receives its gradient", write: "written now", error: "the error was raised here",
};

const WORDS_OF_CHANGE = { edited: "edited:", removed: "removed", added: "added:", moved: "moved here:" }; // how a line is otherwise in this revision

export class Code {
  /** @param {any} player `window.backstep` */
  constructor(player) {
    this.player = player;
    this.prints = new Prints();
    /** @type {import("../../scene/scene.d.ts").Scene} the one that is shown; none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    this.file = 0;
    /** @type {HTMLElement[]} one element a line of the file that is shown */
    this.lines = [];
    this.text = ""; // what is written
    this.marked = ""; // what is marked, as text: nothing is written where it stays
    /** @type {any} the code of what is selected */
    this.picked = null;
    this.meaning = ""; // what the mark means at this step
    this.turns = { key: "", n: 0 };
    this.resting = true; // nothing runs yet
    /** @type {HTMLElement[][]} the lines that are to be in view, the one first that matters most */
    this.inView = [];
    byId("code").addEventListener("click", (event) => this.onClick(event));
    byId("code").addEventListener("keydown", (event) => this.onKey(event));
    byId("code").addEventListener("scroll", ({ target }) => {
      const pane = /** @type {HTMLElement} */ (target);
      pane.classList.toggle("down", pane.scrollTop > 0);
    }, true);
    new ResizeObserver(() => this.reveal()).observe(byId("code")); // a longer text above leaves less room
  }

  load(next) {
    const before = this.scene;
    this.scene = next;
    this.file = Math.min(this.file, Math.max(0, this.scene.program.files.length - 1));
    const same = before?.program.id === this.scene.program.id;
    if (!same) this.file = 0;
    if (this.text === this.textNow()) return; // the same program with other boxes open
    const down = same ? paneOf()?.scrollTop : 0;
    this.write();
    const pane = paneOf();
    if (down && pane) pane.scrollTop = down;
  }

  /** What the pane shows beside the marks of a moment. */
  textNow() {
    const { revision, norms } = this.scene;
    return JSON.stringify([revision.id, revision.number, norms, this.file, [...busyLines(this.scene, this.file)].sort()]);
  }

  seek(t) {
    if (!this.scene) return;
    this.prints.seek(t);
    this.withhold(t);
    const step = t > 0 ? this.player.stop()?.step : null;
    const at = step?.code || null;
    const call = step?.from || null;
    const back = step ? step.kind === "vjp" || step.kind === "accumulate" : false;
    const tone = step?.kind === "error" ? "err" : back ? "bwd" : step?.kind === "write" ? "plain" : "fwd";
    const receiver = step?.kind === "accumulate" ? this.scene.nodes.find((node) => node.id === step.at) : null;
    const keeps = receiver && receiver.kind !== "group" && !isLeaf(receiver); // by retain_grad()
    this.meaning = keeps ? "this tensor keeps its gradient" : step ? WORDS[step.kind] : "";
    const key = JSON.stringify([at, call, tone, this.meaning, this.picked, this.file]);
    if (key === this.marked) return;
    const file = at?.file ?? call?.file;
    if (file !== undefined && file !== this.file && this.scene.program.files[file]) { this.file = file; this.write(); }
    this.marked = key;
    this.mark(at, call, tone, step?.kind === "accumulate");
  }

  /** The comments that answer an open question are not shown; the numbers of the lines beside them stay. */
  withhold(t) {
    const { files, chapters } = this.scene.program;
    const answers = files[this.file] ? answersAt(this.texts(), chapters, t) : new Set();
    this.lines.forEach((line, i) => { line.hidden = answers.has(i + 1); });
  }

  /** The code of what is selected gets a line under it. */
  select(id) {
    const node = this.scene?.nodes.find((one) => one.id === id);
    this.picked = node?.code || null;
    this.marked = "";
    this.seek(this.player.t());
  }

  write() {
    this.text = this.textNow();
    this.inView = [];
    const files = this.scene.program.files;
    const place = byId("code");
    const file = files[this.file];
    if (!file) {
      fill(place, title(), h("p.empty", {}, "The source of this program was not recorded: it ran without a file."));
      this.lines = [];
      return;
    }
    const texts = this.texts();
    const active = busyLines(this.scene, this.file);
    const facts = linesOf(this.scene, this.file);
    this.lines = texts.map((_, i) => {
      const busy = active.has(i + 1);
      const line = h("li", { "data-line": i + 1, tabindex: busy ? -1 : null, role: busy ? "button" : "none", class: busy ? "has" : null });
      this.writeGutter(line, facts.get(i + 1));
      return line;
    });
    const entry = this.lines.find((line) => line.tabIndex === -1 && line.classList.contains("has"));
    if (entry) entry.tabIndex = 0;
    const tabs = files.length > 1 ? h("div.files", {}, files.map((one, i) => h("button.quiet", {
      type: "button", "aria-pressed": i === this.file ? "true" : "false", onclick: () => { this.file = i; this.marked = ""; this.write(); this.seek(this.player.t()); },
    }, one.name))) : null;
    const wide = file.text.split("\n").some((line) => line.length > NARROW);
    fill(place, title(files.length > 1 ? "" : file.name), tabs,
      h("div.lines", {}, h(`ol.program${wide ? ".wide" : ""}${this.scene.norms ? ".marked" : ""}`, { role: "group", "aria-label": "Source lines" }, this.withRows(this.lines))),
      this.changeKey(), h("p.code-key", { id: "code-key" }));
    first(".program", place).style.setProperty("--digits", String(String(texts.length).length));
    texts.forEach((text, i) => plainLine(this.lines[i], text));
    this.withhold(this.player.t());
    this.marked = "";
  }

  /** What the gutter says of a line: how often it ran, and by its colour the largest gradient that comes to it. */
  writeGutter(line, facts) {
    if (!facts) return;
    const { runs, norm } = facts;
    const { section, norms } = this.scene;
    const ran = runs === null ? "" : `Ran ${runs === 1 ? "once" : `${runs} times`}${section?.label ? ` in ${section.label}` : ""}. `;
    const gets = norm === null ? "" : `Largest gradient norm here: ${num(norm)}. `;
    const look = lookOf(norms, norm);
    line.title = `${ran}${gets}Click beside the code for its next step, Shift+click for the one before.`;
    if (look.kind !== "none") line.dataset.norm = look.kind;
    if (look.kind === "level") line.style.setProperty("--share", `${Math.round(100 * shareOf(look.part))}%`);
  }

  /** The lines, and what stands between them: their prints, in a fixed program the lines of the mistake, in an edited one what is otherwise. */
  withRows(own) {
    const before = new Map();
    const put = (n, rows) => before.set(n, [...(before.get(n) || []), ...rows]);
    this.prints.load(this.scene, this.file).forEach((row, n) => put(n + 1, [row]));
    const other = this.fixedHere();
    other?.added.forEach((n) => own[n - 1]?.classList.add("added"));
    other?.gone.forEach(({ before: n, lines: texts }) => put(n, texts.map((text) => h("li.gone", { role: "none" }, h("del", {}, text || " ")))));
    this.scene.changes.filter(({ code }) => (code ? code.file : 0) === this.file).forEach(({ kind, code, text }) => {
      if (code && kind !== "added" && kind !== "moved") for (let n = code.line; n <= code.end; n += 1) own[n - 1]?.classList.add(kind);
      put(code ? code.end + 1 : 1, [h("li.change", { role: "none" }, h("b", {}, WORDS_OF_CHANGE[kind]), text && ` ${text}`)]);
    });
    const last = own.length + 1;
    return [...own.flatMap((line, i) => [...(before.get(i + 1) || []), line]), ...(before.get(last) || [])];
  }

  changeKey() {
    const other = this.fixedHere();
    if (!other) return null;
    return h("p.code-key.change-key", {}, other.added.length ? h("span", {}, h("b", {}, "+"), " new here") : null, other.gone.length ? h("span", {}, h("b", {}, "−"), " in the mistake") : null);
  }

  fixedHere() {
    return this.file === 0 && this.scene.program.other && !this.scene.program.other.is_fixed ? this.scene.program.other : null;
  }

  texts() {
    return this.scene.program.files[this.file].text.replace(/\n$/, "").split("\n");
  }

  mark(at, call, tone, arrives) {
    if (!this.lines.length) return;
    const source = this.texts();
    this.lines.forEach((line, i) => {
      if (line.dataset.written) { plainLine(line, source[i]); delete line.dataset.written; }
      line.classList.remove("on", "call", "fwd", "bwd", "err", "plain");
    });
    const [places, from] = [at, call].map((code) => (code?.file === this.file ? ranges(code) : []));
    from.forEach(([n]) => this.lines[n - 1]?.classList.add("call"));
    const marks = new Map();
    const add = (list, cls) => list.forEach(([n, start, end]) => marks.set(n, [...(marks.get(n) || []), { from: start, to: end, cls }]));
    if (this.picked?.file === this.file) add(ranges(this.picked), "picked");
    add(places, tone);
    marks.forEach((list, n) => rewrite(this.lines[n - 1], list));
    places.forEach(([n]) => this.lines[n - 1]?.classList.add("on", tone));
    const calling = call && !isSameCode(call, at) ? h("span", {}, h("i.call"), `called in line ${call.line}`) : null;
    fill(byId("code-key"), at || call ? [h("span", {}, h(`i.${tone}`), this.meaning), calling] : "Press Space: the expression that runs is marked here.");
    const both = [places, from].map((list) => list.map(([n]) => this.lines[n - 1]).filter(Boolean)).filter((list) => list.length);
    this.resting = !at && !call;
    this.inView = this.resting ? this.atRest() : [...(arrives ? both.reverse() : both), ...this.prints.madeAt(this.player.t()).map((row) => [row])]; // a leaf was written long before: what matters is the call that runs
    this.reveal();
  }

  /** Before anything runs: from the first line that computes or defines to the one that errs, else to the first that calls backward. */
  atRest() {
    const { steps, phases } = this.scene;
    const point = steps.find((step) => step.kind === "error") ?? steps[phases.find((phase) => phase.kind === "backward")?.start ?? -1];
    if (this.scene.norms && !this.scene.error) { // too long to be read from its beginning: the statements that run, as those of a loop
      const main = mainLines(this.scene, this.file);
      const next = main && this.lines[main[1] - 1]?.nextElementSibling;
      return main ? [[...this.lines.slice(main[0] - 1, main[1]), ...(next?.classList.contains("printed") ? [/** @type {HTMLElement} */ (next)] : [])]] : [];
    }
    const [begin, last] = [steps[0]?.code, point?.from ?? point?.code].map((code) => (code?.file === this.file ? code : null));
    if (!begin || !last) return [];
    const defined = this.texts().findIndex((text) => DEFINES.test(text));
    const from = defined < 0 ? begin.line - 1 : Math.min(begin.line - 1, defined);
    return last.end > from ? [this.lines.slice(from, last.end)] : [];
  }

  /** Scrolls the lines, and only them, until those that are to be seen are in view. */
  reveal() {
    const pane = paneOf();
    if (!pane || !this.inView.length) return;
    const top = pane.getBoundingClientRect().top - pane.scrollTop;
    const spans = this.inView.map((list) => [list[0].getBoundingClientRect().top - top, list[list.length - 1].getBoundingClientRect().bottom - top]);
    if (this.resting && spans[0][1] - spans[0][0] > pane.clientHeight - 16) { // a short program is read from its beginning, unless all that matters fits
      if (this.scene.norms && !this.scene.error) pane.scrollTop = Math.max(spans[0][0] - ABOVE, 0);
      return;
    }
    pane.scrollTop = scrollTopFor(pane.scrollTop, pane.clientHeight, spans);
  }

  onClick(event) {
    const line = event.target.closest("li[data-line]");
    if (!line || !this.scene) return;
    const n = Number(line.dataset.line);
    const isDrawn = isOnText(line, event) && elementsAt(this.scene, this.file, n).length > 0;
    if (isDrawn || !this.turn(n, event.shiftKey)) this.choose(n, columnAt(line, event));
  }

  /** Goes to the next step that the line makes, or to the one before; false where it makes none. */
  turn(n, back) {
    const t = turnOf(timesOf(this.player.level(), this.file, n), this.player.t(), back);
    if (t === null) return false;
    const pane = /** @type {HTMLElement} */ (paneOf());
    const down = pane.scrollTop;
    this.player.pause();
    this.player.seek(t);
    this.inView = [[this.lines[n - 1]]]; // it stays under the pointer
    pane.scrollTop = down;
    return true;
  }

  /** Selects what the place computed; the next click on the same place takes the next candidate. */
  choose(n, col) {
    const ids = elementsAt(this.scene, this.file, n, col);
    if (!ids.length) { this.player.select(null); return; }
    const key = ids.join();
    this.turns = key === this.turns.key ? { key, n: this.turns.n + 1 } : { key, n: 0 };
    this.player.select(ids[this.turns.n % ids.length]);
  }

  onKey(event) {
    const line = event.target.closest("li.has");
    if (!line) return;
    const n = Number(line.dataset.line);
    if (event.key === " " || (event.key === "Enter" && !this.turn(n, event.shiftKey))) this.choose(n, null);
    else if (event.key === "Enter") line.focus();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.step(line, event.key === "ArrowDown" ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation(); // Space and the arrows are the player's elsewhere
  }

  step(line, by) {
    const busy = this.lines.filter((one) => one.classList.contains("has"));
    const next = busy[busy.indexOf(line) + by];
    if (!next) return;
    line.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

function plainLine(line, text) {
  const hash = commentStart(text);
  if (hash < 0) line.replaceChildren(text || " ");
  else line.replaceChildren(text.slice(0, hash), h("span.comment", {}, text.slice(hash)));
}

/** Where a comment starts: the first # outside quotes on the line; -1 where none does. */
function commentStart(text) {
  let quote = null;
  for (let i = 0; i < text.length; i += 1) {
    if (quote) { if (text[i] === "\\") i += 1; else if (text[i] === quote) quote = null; }
    else if (text[i] === '"' || text[i] === "'") quote = text[i];
    else if (text[i] === "#") return i;
  }
  return -1;
}

const isSameCode = (a, b) => a && b && a.file === b.file && a.line === b.line && a.col === b.col;

/** A line in pieces, each with the marks that lie on it: what runs is a block, what is selected has a line under it. */
function rewrite(line, marks) {
  if (!line) return;
  const letters = Array.from(line.textContent);
  const start = letters.length - line.textContent.trimStart().length;
  const spans = marks.map(({ from, to, cls }) => ({ from: from ?? start, to: to ?? letters.length, cls }));
  const cuts = [...new Set([0, ...spans.flatMap(({ from, to }) => [from, to]), letters.length])].sort((a, b) => a - b);
  line.replaceChildren(...cuts.slice(1).map((to, i) => {
    const piece = letters.slice(cuts[i], to).join("");
    const on = spans.filter((span) => span.from <= cuts[i] && span.to >= to).map((span) => span.cls);
    if (!on.length) return piece;
    return h(`${on.some((cls) => cls !== "picked") ? "u" : "span"}.${on.join(".")}`, {}, piece);
  }));
  line.dataset.written = "yes";
}

const paneOf = () => byId("code")?.querySelector(".lines");

/** Whether the pointer is on letters of a line, and not on its number or behind its end. */
function isOnText(line, { clientX: x, clientY: y }) {
  const text = document.createRange();
  text.selectNodeContents(line);
  return [...text.getClientRects()].some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
}

/** The letter under the pointer, or null where the browser cannot say. */
function columnAt(line, event) {
  const spot = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  const range = spot ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
  const [node, offset] = spot ? [spot.offsetNode, spot.offset] : range ? [range.startContainer, range.startOffset] : [null, 0];
  if (!node || !line.contains(node)) return null;
  const before = document.createRange();
  before.setStart(line, 0);
  before.setEnd(node, offset);
  return Array.from(before.toString()).length;
}

/** The name of the file; the word before it where both have room. */
const title = (name = "") => h("div.over", {}, h("h2.fitting.last", { title: name || null }, h("span", {}, name ? "Program · " : "Program"), name ? h("span", {}, name) : null), what("code"));
