// The program, with the current expression marked by line and columns. A click on code selects what it computed.
import { isLeaf } from "../../scene/state.mjs";
import { currentStep } from "../../scene/timeline.mjs";
import { byId, fill, h } from "../../page/dom.mjs";
import { button as what } from "../../page/explain.mjs";
import { elementsAt, ranges, scrolled } from "../../page/read.mjs";

const NARROW = 44; // letters of a line that fit beside the graph at 12 px and more

const DEFINES = /^(def|class)\b|^@/;

const WORDS = {
  forward: "computed now", vjp: "the VJP of this expression runs", accumulate: "this leaf receives its gradient", write: "this is set", error: "the error was raised here",
};

const SAID = { edited: "edited:", removed: "removed", added: "added:", moved: "moved here:" }; // how a line is otherwise in this revision

let scene = null;
let file = 0;
let player = null;
let lines = []; // one element a line of the file that is shown
let marked = ""; // what is marked, as text: nothing is written where it stays
let picked = null;
let said = ""; // what the mark means at this step
let turns = { key: "", n: 0 };
let resting = true; // nothing runs yet
let inView = []; // the lines that are to be in view, the one first that matters most

export function setUp(backstep) {
  player = backstep;
  byId("code").addEventListener("click", clicked);
  byId("code").addEventListener("keydown", pressed);
  byId("code").addEventListener("scroll", ({ target }) => target.classList.toggle("down", target.scrollTop > 0), true);
  new ResizeObserver(reveal).observe(byId("code")); // a longer text above leaves less room
}

export function load(next) {
  const before = scene;
  scene = next;
  file = Math.min(file, Math.max(0, scene.program.files.length - 1));
  const same = before?.program.id === scene.program.id;
  if (!same) file = 0;
  const down = same ? paneOf()?.scrollTop : 0;
  write();
  if (down && paneOf()) paneOf().scrollTop = down;
}

export function seek(t) {
  if (!scene) return;
  const step = scene.steps[currentStep(t)];
  const at = step?.code || null;
  const call = step?.from || null;
  const back = step ? step.kind === "vjp" || step.kind === "accumulate" : false;
  const tone = step?.kind === "error" ? "err" : back ? "bwd" : step?.kind === "write" ? "plain" : "fwd";
  const receiver = step?.kind === "accumulate" ? scene.nodes.find((node) => node.id === step.at) : null;
  const keeps = Boolean(receiver) && !isLeaf(receiver); // by retain_grad()
  said = keeps ? "this tensor keeps its gradient" : step ? WORDS[step.kind] : "";
  const key = JSON.stringify([at, call, tone, said, picked, file]);
  if (key === marked) return;
  const shown = at?.file ?? call?.file;
  if (shown !== undefined && shown !== file && scene.program.files[shown]) { file = shown; write(); }
  marked = key;
  mark(at, call, tone, step?.kind === "accumulate");
}

/** The code of what is selected gets a line under it. */
export function select(id) {
  const node = scene?.nodes.find((one) => one.id === id);
  picked = node?.code || null;
  marked = "";
  seek(player.t());
}

function write() {
  inView = [];
  const files = scene.program.files;
  const place = byId("code");
  const held = files[file];
  if (!held) {
    fill(place, title(), h("p.empty", {}, "The source of this program was not recorded: it ran without a file."));
    lines = [];
    return;
  }
  const active = new Set(scene.nodes.filter((node) => node.code?.file === file).map((node) => node.code.line));
  lines = held.text.replace(/\n$/, "").split("\n").map((text, i) => {
    const busy = active.has(i + 1);
    return h("li", { "data-line": i + 1, tabindex: busy ? -1 : null, role: busy ? "button" : "none", class: active.has(i + 1) ? "has" : null });
  });
  const first = lines.find((line) => line.tabIndex === -1 && line.classList.contains("has"));
  if (first) first.tabIndex = 0;
  const tabs = files.length > 1 ? h("div.files", {}, files.map((one, i) => h("button.quiet", {
    type: "button", "aria-pressed": i === file ? "true" : "false", onclick: () => { file = i; marked = ""; write(); seek(player.t()); },
  }, one.name))) : null;
  const wide = held.text.split("\n").some((line) => line.length > NARROW);
  fill(place, title(files.length > 1 ? "" : held.name), tabs,
    h("div.lines", {}, h(`ol.program${wide ? ".wide" : ""}`, { role: "group", "aria-label": "Source lines" }, withRows(lines))), changeKey(), h("p.code-key", { id: "code-key" }));
  texts().forEach((text, i) => plainLine(lines[i], text));
  marked = "";
}

/** The lines, and what stands between them: in a fixed program those of the mistake, in an edited one what is otherwise. */
function withRows(own) {
  const before = new Map();
  const put = (n, rows) => before.set(n, [...(before.get(n) || []), ...rows]);
  const other = fixedHere();
  other?.added.forEach((n) => own[n - 1]?.classList.add("added"));
  other?.gone.forEach(({ before: n, lines: texts }) => put(n, texts.map((text) => h("li.gone", { role: "none" }, h("del", {}, text || " ")))));
  scene.changes.filter(({ code }) => (code ? code.file : 0) === file).forEach(({ kind, code, text }) => {
    if (code && kind !== "added" && kind !== "moved") for (let n = code.line; n <= code.end; n += 1) own[n - 1]?.classList.add(kind);
    put(code ? code.end + 1 : 1, [h("li.change", { role: "none" }, h("b", {}, SAID[kind]), text && ` ${text}`)]);
  });
  const last = own.length + 1;
  return [...own.flatMap((line, i) => [...(before.get(i + 1) || []), line]), ...(before.get(last) || [])];
}

function changeKey() {
  const other = fixedHere();
  if (!other) return null;
  return h("p.code-key.change-key", {}, other.added.length ? h("span", {}, h("b", {}, "+"), " new here") : null, other.gone.length ? h("span", {}, h("b", {}, "−"), " in the mistake") : null);
}

const fixedHere = () => (file === 0 && scene.program.other && !scene.program.other.is_fixed ? scene.program.other : null);

const texts = () => scene.program.files[file].text.replace(/\n$/, "").split("\n");

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

function mark(at, call, tone, arrives) {
  if (!lines.length) return;
  const source = texts();
  lines.forEach((line, i) => {
    if (line.dataset.written) { plainLine(line, source[i]); delete line.dataset.written; }
    line.classList.remove("on", "call", "fwd", "bwd", "err", "plain");
  });
  const [shown, from] = [at, call].map((code) => (code?.file === file ? ranges(code) : []));
  from.forEach(([n]) => lines[n - 1]?.classList.add("call"));
  const marks = new Map();
  const add = (list, cls) => list.forEach(([n, start, end]) => marks.set(n, [...(marks.get(n) || []), { from: start, to: end, cls }]));
  if (picked?.file === file) add(ranges(picked), "picked");
  add(shown, tone);
  marks.forEach((list, n) => rewrite(lines[n - 1], list));
  shown.forEach(([n]) => lines[n - 1]?.classList.add("on", tone));
  const calling = call && !same(call, at) ? h("span", {}, h("i.call"), `called in line ${call.line}`) : null;
  fill(byId("code-key"), at || call ? [h("span", {}, h(`i.${tone}`), said), calling] : "Press Space: the expression that runs is marked here.");
  const both = [shown, from].map((list) => list.map(([n]) => lines[n - 1]).filter(Boolean)).filter((list) => list.length);
  resting = !at && !call;
  inView = resting ? atRest() : arrives ? both.reverse() : both; // a leaf was written long before: what matters is the call that runs
  reveal();
}

/** Before anything runs: from the first line that computes or defines to the one that errs, else to the first that calls backward. */
function atRest() {
  const { steps, phases } = scene;
  const point = steps.find((step) => step.kind === "error") ?? steps[phases.find((phase) => phase.kind === "backward")?.start];
  const [first, last] = [steps[0]?.code, point?.from ?? point?.code].map((code) => (code?.file === file ? code : null));
  if (!first || !last) return [];
  const defined = texts().findIndex((text) => DEFINES.test(text));
  const from = defined < 0 ? first.line - 1 : Math.min(first.line - 1, defined);
  return last.end > from ? [lines.slice(from, last.end)] : [];
}

const same = (a, b) => a && b && a.file === b.file && a.line === b.line && a.col === b.col;

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

/** Scrolls the lines, and only them, until those that are to be seen are in view. */
function reveal() {
  const pane = paneOf();
  if (!pane || !inView.length) return;
  const top = pane.getBoundingClientRect().top - pane.scrollTop;
  const spans = inView.map((list) => [list[0].getBoundingClientRect().top - top, list.at(-1).getBoundingClientRect().bottom - top]);
  if (resting && spans[0][1] - spans[0][0] > pane.clientHeight - 16) return; // a program is read from its beginning, unless all that matters fits
  pane.scrollTop = scrolled(pane.scrollTop, pane.clientHeight, spans);
}

function clicked(event) {
  const line = event.target.closest("li[data-line]");
  if (!line || !scene) return;
  choose(Number(line.dataset.line), columnAt(line, event));
}

/** Selects what the place computed; the next click on the same place takes the next candidate. */
function choose(n, col) {
  const found = elementsAt(scene, file, n, col);
  if (!found.length) { player.select(null); return; }
  const key = found.join();
  turns = key === turns.key ? { key, n: turns.n + 1 } : { key, n: 0 };
  player.select(found[turns.n % found.length]);
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

function pressed(event) {
  const line = event.target.closest("li.has");
  if (!line) return;
  if (event.key === "Enter" || event.key === " ") choose(Number(line.dataset.line), null);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") step(line, event.key === "ArrowDown" ? 1 : -1);
  else return;
  event.preventDefault();
  event.stopPropagation(); // Space and the arrows are the player's elsewhere
}

function step(line, by) {
  const busy = lines.filter((one) => one.classList.contains("has"));
  const next = busy[busy.indexOf(line) + by];
  if (!next) return;
  line.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** The name of the file; the word before it where both have room. */
const title = (name = "") => h("div.over", {}, h("h2.fitting.last", { title: name || null }, h("span", {}, name ? "Program · " : "Program"), name ? h("span", {}, name) : null), what("code"));
