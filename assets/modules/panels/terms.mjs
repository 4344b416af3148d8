// The terms of a formula and what each stands for on the graph: pointing at one lights its tensor. Pure but for `wire`.
import { h } from "./dom.mjs";
import { codeText } from "./read.mjs";

const NAME = /[\p{Ll}\p{Lu}_][\p{Ll}\p{Lu}\p{M}\p{Nd}_[\]]*/gu; // raised and lowered letters are exponents and indices
const BAR = /[\u0304\u0305]/gu; // a bar over a letter, over each letter of a name
const VERSION = / v\d+$/; // of a tensor that was written to; a formula has its name alone
const MOST = 24; // characters of an expression that is quoted
const PAD = 90; // units of MathJax, 1000 to an em
const UPSTREAM = "g"; // how the printer calls an output without a name

/** A name as the printer wrote it, plain or with bars: { name, gradient }. */
function termOf(text) {
  const flat = text.normalize("NFD");
  return { name: flat.replace(BAR, "").normalize("NFC"), gradient: flat.search(BAR) >= 0 };
}

/**
 * What the names in the formulas of an op stand for: { key: { id, name, gradient, words } }, where key is the name, with a
 * bar behind it for its gradient. A name that stands for nothing on the graph (a number, a function) is left out.
 */
export function termsOf(scene, op, lines) {
  const nodes = new Map(scene.nodes.map((node) => [node.id, node]));
  const label = (id) => (nodes.get(id)?.kind === "tensor" || nodes.get(id)?.kind === "stub" ? nodes.get(id).label.replace(VERSION, "") : null);
  const known = new Map();
  const put = (name, gradient, id, words) => { if (name && !known.has(keyOf(name, gradient))) known.set(keyOf(name, gradient), { id, name, gradient, words }); };
  const given = new Set(scene.edges.filter((one) => one.target === op).map((edge) => label(edge.source)));
  for (const edge of scene.edges.filter((one) => one.source === op)) {
    const name = label(edge.target);
    if (given.has(name) && name) { // `h = h @ U`: in the formula the new one has no name
      put(UPSTREAM, true, edge.target, `the upstream gradient, that of the new ${name}`);
      put("result", false, edge.target, `the result, the new ${name}`);
      continue;
    }
    for (const each of [name, UPSTREAM]) put(each, true, edge.target, name ? `the upstream gradient, that of ${name}` : "the upstream gradient");
    for (const each of [name, "result"]) put(each, false, edge.target, name ? `the result, ${name}` : "the result");
  }
  for (const edge of scene.edges.filter((one) => one.target === op)) {
    const name = label(edge.source);
    const by = nodes.get(edge.source)?.kind === "op" ? nodes.get(edge.source).label : null;
    const written = by && expressionOf(scene, nodes.get(edge.source), nodes.get(op));
    for (const each of [name, edge.input]) {
      put(each, true, edge.source, `the gradient sent to ${name ?? (by ? `${written || by}, the input ${edge.input}` : `the input ${edge.input}`)}`);
      put(each, false, edge.source, name ? `the input ${name}` : by ? `${written || `what ${by} gave`}, the input ${edge.input}` : `the input ${edge.input}`);
    }
  }
  const found = {};
  for (const { text } of lines) {
    for (const [word] of text.matchAll(NAME)) {
      const term = known.get(keyIn(word));
      if (term) found[keyOf(term.name, term.gradient)] = term;
    }
  }
  return found;
}

/** What the program wrote for an op's result, where that is short and no part of the same expression's own ops. */
function expressionOf(scene, node, op) {
  if (!node.code || !scene.program || JSON.stringify(node.code) === JSON.stringify(op?.code)) return "";
  const written = codeText(node.code, scene.program.files);
  return written.length <= MOST && !/[\n=]/.test(written) ? written : "";
}

export const keyOf = (name, gradient) => (gradient ? `${name}\u0304` : name);

function keyIn(word) {
  const { name, gradient } = termOf(word);
  return keyOf(name, gradient);
}

/** The line of text with its terms as elements. */
export function spelled(text, terms) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(NAME)) {
    const key = keyIn(match[0]);
    if (!(key in terms)) continue;
    parts.push(text.slice(end, match.index), h("span.term", { "data-term": key }, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

/** Marks the terms in what MathJax has drawn: a name is an <mi>, a gradient the bar over one. */
export function markDrawn(place, terms) {
  for (const one of place.querySelectorAll('[data-mml-node="mover"], [data-mml-node="mi"]')) {
    if (one.parentElement.closest("[data-term]")) continue;
    const gradient = one.dataset.mmlNode === "mover";
    const base = gradient ? one.firstElementChild : one;
    const text = [...base.querySelectorAll("[data-c]")].map((glyph) => String.fromCodePoint(parseInt(glyph.dataset.c, 16))).join("");
    const key = keyOf(text.normalize("NFKC"), gradient);
    if (!(key in terms)) continue;
    one.dataset.term = key;
    cover(one);
  }
}

/** A drawn name is hit where its letters have ink; a clear box over it makes all of it the target. */
function cover(term) {
  const { x, y, width, height } = term.getBBox();
  const box = document.createElementNS(term.namespaceURI, "rect");
  for (const [key, value] of Object.entries({ x: x - PAD, y: y - PAD, width: width + 2 * PAD, height: height + 2 * PAD, fill: "transparent", "pointer-events": "all" })) box.setAttribute(key, value);
  term.append(box);
}

/** What each term is, in words: a list whose buttons light and select. */
export function list(terms, choose) {
  const shown = Object.entries(terms);
  if (!shown.length) return null;
  return h("dl.terms", { "aria-label": "Terms of the formula" }, shown.map(([key, { id, name, gradient, words }]) => [
    h("dt", {}, h("button.link", { type: "button", "data-term": key, "aria-label": `${gradient ? `gradient of ${name}` : name}: select on the graph`, onclick: () => choose(id) }, gradient ? h("span.bar", {}, name) : name)),
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
