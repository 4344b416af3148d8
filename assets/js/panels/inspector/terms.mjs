// The terms of a formula and what each stands for on the graph: pointing at one lights its tensor. Pure but for `wire`.
import { h } from "../../page/dom.mjs";
import { codeText, ofWhat, resultOf } from "../../page/value_text.mjs";

/** @import { Formula, Node, Scene } from "../../scene/scene.d.ts" */
/** @typedef {{ id: string | null, name: string, gradient: boolean, words: string }} Term what a name in a formula stands for */

const BAR = "\u0304"; // behind the name of a gradient; in the text over the letter, or (U+0305) over each of several
const OVER = "\u0305";
const HAT = "\u0302";
const HATS = new Set([0x5e, 0x2c6, 0x302]); // how fonts have a hat
const VERSION = / v\d+$/; // of a tensor that was written to; a formula has its name alone
const MOST = 24; // characters of an expression that is quoted
const PLAIN = /^(self|other|input|tensors?\b)/;
const PAD = 90; // units of MathJax, 1000 to an em
const LETTER = "[\\p{Ll}\\p{Lu}\\p{Nd}_]";

/**
 * What the names in the formulas of an op stand for: { key: { id, name, gradient, words } }, where key is the name, with a
 * bar behind it for its gradient. The server says which input or result each is; here that becomes a node of the graph.
 * A function has a sentence and no node, a result that is on no card the op itself.
 * @type {(scene: Scene, op: string, lines: Formula[]) => Record<string, Term>}
 */
export function termsOf(scene, op, lines) {
  const nodes = new Map(scene.nodes.map((node) => [node.id, node]));
  /** @type {Record<string, Term>} */
  const places = {};
  const where = nodes.get(op)?.kind === "group" ? foldedTerm : place;
  for (const { terms = {}, words = {} } of lines) {
    for (const [key, role] of Object.entries(terms)) places[key] ??= { ...where(scene, nodes, op, key, role), ...(words[key] && { words: words[key] }) };
    for (const [key, says] of Object.entries(words)) places[key] ??= { id: null, name: key, gradient: false, words: says };
  }
  return places;
}

/**
 * The node that an input or result of an op is on, and what it is in words.
 * @type {(scene: Scene, nodes: Map<string, Node>, op: string, key: string, role: string) => Term}
 */
function place(scene, nodes, op, key, role) {
  const gradient = key.endsWith(BAR);
  const name = gradient ? key.slice(0, -1) : key;
  const label = (id) => (["tensor", "stub"].includes(nodes.get(id)?.kind ?? "") ? nodes.get(id)?.label.replace(VERSION, "") ?? null : null);
  const back = role.startsWith("result");
  const [here, there] = back ? ["source", "target"] : ["target", "source"];
  const edges = scene.edges.filter((edge) => edge[here] === op);
  const sourceName = (one) => label(one.source) ?? (nodes.get(one.source)?.kind === "group" ? one.hands?.replace(VERSION, "") ?? null : null); // what a folded group gives
  const end = (one) => (back ? label(one.target) : sourceName(one));
  const edge = back ? edges.find((one) => end(one) === name) ?? (role === "result" || gradient ? edges[0] : undefined) : edges.find((one) => one.input === role) ?? edges.find((one) => end(one) === name);
  const id = edge?.[there] ?? op;
  const called = edge ? end(edge) : null;
  if (back) {
    const again = called && scene.edges.some((one) => one.target === op && sourceName(one) === called); // `h = h @ U`
    const it = again && called !== name ? `the new ${called}` : called;
    return { id, name, gradient, words: gradient ? `the upstream gradient${it ? `, from ${it}` : ""}` : `the result${it ? `, ${it}` : ""}` };
  }
  const by = nodes.get(id)?.kind === "op" && id !== op ? nodes.get(id) : null;
  const expression = by && (expressionOf(scene, by, nodes.get(op)) || `${resultOf(by.label)}${ofWhat(scene, by, label)}`);
  const as = PLAIN.test(role) ? "" : `the input ${role}`; // "self" tells nobody anything
  const it = called ?? ([expression, as].filter(Boolean).join(", ") || name);
  return { id, name, gradient, words: gradient ? `the gradient sent to ${it}` : called ? `the input ${it}` : it };
}

/** The same for an op in a folded group: its inputs and results are shown at the group. */
function foldedTerm(_scene, _nodes, id, key, role) {
  const gradient = key.endsWith(BAR);
  const name = gradient ? key.slice(0, -1) : key;
  const [value, sent] = role.startsWith("result") ? ["the result", "the upstream gradient"] : [`the input ${name}`, `the gradient sent to ${name}`];
  return { id, name, gradient, words: gradient ? sent : value };
}

/**
 * What the program wrote for an op's result, where that is short and no part of the same expression's own ops.
 * @type {(scene: Scene, node: Node, op: Node | undefined) => string}
 */
function expressionOf(scene, node, op) {
  if (!node.code || !scene.program || JSON.stringify(node.code) === JSON.stringify(op?.code)) return "";
  const source = codeText(node.code, scene.program.files);
  return source.length <= MOST && !/[\n=]/.test(source) ? source : "";
}

/** How a key stands in the line of text. */
function spelling(key) {
  const name = key.endsWith(BAR) ? key.slice(0, -1) : key;
  return name === key || [...name].length === 1 ? key : [...name].map((letter) => letter + OVER).join("");
}

/** The line of text with its terms as elements. */
export function withTerms(text, terms) {
  const keys = new Map(Object.keys(terms).map((key) => [spelling(key), key]));
  if (!keys.size) return [text];
  const any = [...keys.keys()].sort((a, b) => b.length - a.length).map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(new RegExp(`(?<!${LETTER})(?:${any})(?!${LETTER}|\\p{M})`, "gu"))) {
    parts.push(text.slice(end, match.index), h("span.term", { "data-term": keys.get(match[0]), title: terms[keys.get(match[0]) ?? ""].words }, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

const NAMED = ["mi", "mover", "msub", "mtext", "TeXAtom"].map((kind) => `[data-mml-node="${kind}"]`).join();
const glyphs = (one) => [...one.querySelectorAll("[data-c]")].map((glyph) => parseInt(glyph.dataset.c, 16));
const textIn = (one) => String.fromCodePoint(...glyphs(one)).normalize("NFKC").replaceAll(" ", "_"); // TeX has a space in a function's name

/** The key of what MathJax has drawn: a name, a gradient (a bar over it), a value under a hat. */
function keyIn(one) {
  if (one.dataset.mmlNode !== "mover") return textIn(one);
  const name = textIn(one.firstElementChild);
  return HATS.has(glyphs(one.lastElementChild)[0]) ? [...name].map((letter) => letter + HAT).join("") : name + BAR;
}

/** Marks the terms in a formula drawn by MathJax; of nested ones, the widest. */
export function markDrawn(place, terms) {
  for (const one of place.querySelectorAll(NAMED)) {
    if (one.parentElement.closest("[data-term]")) continue;
    const key = keyIn(one);
    if (!(key in terms)) continue;
    one.dataset.term = key;
    cover(one);
    entitle(one, terms[key].words);
  }
}

/** Covers a drawn name with a clear box: without that only the ink of its letters could be pointed at. */
function cover(term) {
  const { x, y, width, height } = term.getBBox();
  const box = document.createElementNS(term.namespaceURI, "rect");
  for (const [key, value] of Object.entries({ x: x - PAD, y: y - PAD, width: width + 2 * PAD, height: height + 2 * PAD, fill: "transparent", "pointer-events": "all" })) box.setAttribute(key, value);
  term.append(box);
}

/** Gives a drawn name a title, which shows its words on hover. */
function entitle(term, words) {
  const title = document.createElementNS(term.namespaceURI, "title");
  title.textContent = words;
  term.prepend(title);
}

/** What each term is, in words: a list whose buttons light and select; a function has no button. */
export function list(terms, choose) {
  const entries = Object.entries(terms);
  if (!entries.length) return null;
  return h("dl.terms", { "aria-label": "Terms of the formula" }, entries.map(([key, { id, name, gradient, words }]) => [
    h("dt", {}, id === null ? h("span.function", { "data-term": key }, name) : h("button.link", { type: "button", "data-term": key, "aria-label": `${gradient ? `gradient of ${name}` : name}: select on the graph`, onclick: () => choose(id) }, gradient ? h("span.bar", {}, name) : name)),
    h("dd", {}, words)]));
}

/** Pointing at a term, or coming to it by the keyboard, lights what it stands for. */
export function wire(place, look) {
  let lit = null;
  const show = (event) => {
    const key = event.target.closest?.("[data-term]")?.dataset.term ?? null;
    if (key === lit) return;
    lit = key;
    look(key);
  };
  const leave = () => { lit = null; look(null); };
  place.addEventListener("pointerover", show);
  place.addEventListener("focusin", show);
  place.addEventListener("pointerleave", leave);
  place.addEventListener("focusout", leave);
}
