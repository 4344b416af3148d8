// Values and code of a scene as text for the panels. Pure: no page here.
import { element, num, shapeText, shorten, truths } from "../scene/format.mjs";
import { DAMAGED, SMALL } from "../scene/shared.mjs";

/** @import { Scene, Step } from "../scene/scene.d.ts" */

/**
 * Rows and columns of a shape: all dimensions but the last one in the rows.
 * @type {(shape: number[] | null) => number[]}
 */
export function table(shape) {
  if (!shape || shape.length === 0) return [1, 1];
  return [shape.slice(0, -1).reduce((a, b) => a * b, 1), shape[shape.length - 1]];
}

export const count = (shape) => (shape || []).reduce((a, b) => a * b, 1);

/** Rows of numbers of a Value, as text: whole where it is small, else its corners with dots between. */
export function rowsOf(value, most = 8) {
  if (!value || !value.data) return [];
  const [rows, cols] = table(value.shape);
  const pick = (n) => (n <= most ? Array.from({ length: n }, (_, i) => i) : [...Array(most - 2).keys(), null, n - 1]);
  return pick(rows).map((r) => pick(cols).map((c) => (r === null || c === null ? "…" : element(value, r * cols + c))));
}

/** The class of a number as text: `.odd` with nan or an infinity in it, as on the cards; `.zero` where nothing passes; else "". */
export const toneOf = (text) => (/(^|[^\w])(nan|inf)($|[^\w])/.test(text) ? ".odd" : text === "none" || /^\[*[-−]?0(\.0*)?\]*$/.test(text) ? ".zero" : "");

/** A Value in one line: all numbers where it is small, else shape, norm and range, or how many are True. */
export function briefText(value) {
  if (!value) return "none";
  if (value.damaged) return value.shape.length ? `${shapeText(value.shape)}, ${DAMAGED}` : DAMAGED;
  if (value.data && value.data.length <= SMALL) {
    if (value.shape.length === 0) return element(value, 0);
    return rowsOf(value, SMALL).map((row) => `[${row.join(" ")}]`).join(" ");
  }
  if (value.dtype === "bool") return `${shapeText(value.shape)}, ${truths(value.stats)}`;
  const { min, max, norm } = value.stats;
  return `${shapeText(value.shape)}, norm ${num(norm)}, ${num(min)} … ${num(max)}`;
}

/** Lines of code as one, as they would be written in one: without a gap behind a bracket that ended a line. */
const inOneLine = (lines) => lines.map((line) => line.trim()).reduce((text, line) => `${text}${/[([{]$/.test(text) ? "" : " "}${line}`);

/** The text of a piece of code, on one line. */
export function codeText(code, files) {
  if (!code || !files[code.file]) return "";
  const lines = files[code.file].text.split("\n").slice(code.line - 1, code.end);
  const cut = lines.map((line, i) => {
    const letters = Array.from(line);
    return letters.slice(i === 0 ? code.col : 0, i === lines.length - 1 ? code.stop : undefined).join("");
  });
  return inOneLine(cut);
}

const LONGEST = 120; // letters of the lines around a piece of code

/** The lines of a piece of code, whole and without their indentation, as one. */
export function lineText(code, files) {
  if (!code || !files[code.file]) return "";
  const lines = files[code.file].text.split("\n").slice(code.line - 1, Math.max(code.line, code.end ?? 0));
  return shorten(inOneLine(lines), LONGEST);
}

/** The ranges of letters that a piece of code covers: [line, from, to] with `to` null at the end of the line. */
export function ranges(code) {
  const list = [];
  for (let line = code.line; line <= code.end; line += 1) {
    list.push([line, line === code.line ? code.col : null, line === code.end ? code.stop : null]);
  }
  return list;
}

/**
 * The elements whose code holds this place, the shortest expression first; without a column, those of the line.
 * @type {(scene: Scene, file: number, line: number, col?: number | null) => string[]}
 */
export function elementsAt(scene, file, line, col = null) {
  const holds = ({ code }) => {
    if (!code || code.file !== file || line < code.line || line > code.end) return false;
    if (col === null) return true;
    return !(line === code.line && col < code.col) && !(line === code.end && col >= code.stop);
  };
  const length = ({ code }) => (code.end - code.line) * 1000 + code.stop - code.col;
  const nodes = scene.nodes.filter((node) => node.kind !== "group" && node.kind !== "stub" && holds(node));
  if (!nodes.length && col !== null) return elementsAt(scene, file, line);
  const rank = (node) => length(node) * 2 + (node.kind === "op" ? 1 : 0);
  return nodes.sort((a, b) => rank(a) - rank(b)).map((node) => node.id);
}

const NEAR = 56; // px beside what is scrolled to, so that the next lines are seen, too

/**
 * How far down a pane of `height` px is to be: as it is where what is to be seen is seen, else so that it comes into view.
 * `spans` are [top, bottom] of what is to be seen, what matters most first; the others count where they fit beside it.
 */
export function scrollTopFor(now, height, spans) {
  if (!spans.length) return now;
  let [top, bottom] = spans[0];
  for (const [from, to] of spans.slice(1)) {
    const both = [Math.min(top, from), Math.max(bottom, to)];
    if (both[1] - both[0] <= height - 16) [top, bottom] = both; // the last px of the pane are pale
  }
  const beside = Math.max(Math.min(NEAR, (height - (bottom - top)) / 2), 0);
  if (top < now) return Math.max(top - beside, 0);
  if (bottom > now + height - 16) return Math.min(bottom + beside - height, top);
  return now;
}

const ORDINALS = ["", "first", "second", "third"];

/**
 * Which derivative the call of a step computes, as `{ text, title }`; null where those of the program compute no other than the first.
 * @type {(scene: Scene, step: Step) => { text: string, title: string } | null}
 */
export function orderOf(scene, step) {
  if (!step?.order || scene.steps.every(({ order }) => order < 2)) return null;
  const which = ORDINALS[step.order] ?? `${step.order}th`;
  return { text: `order ${step.order}`, title: `This call computes a ${which} derivative${step.order > 1 ? ": it differentiates an expression that contains a gradient" : ""}.` };
}

/** What an op without a card gave, by what is written on it, as the sentences say it: `the result of to(dtype=float32)`. */
export const resultOf = (label) => `the result of ${label.replace(/^([^\W\d]\w*) (.+)$/u, (_, name, inputs) => `${name}(${inputs.replaceAll(" ", ", ")})`)}`;

/**
 * ` of guess` behind an op that one tensor goes into: two that are written alike are told apart by it.
 * @type {(scene: Pick<import("../scene/scene.d.ts").Scene, "edges">, node: { id: string }, label: (id: string) => string | null) => string}
 */
export function ofWhat(scene, { id }, label) {
  const into = scene.edges.filter((edge) => edge.target === id);
  const name = into.length === 1 ? into[0].hands ?? label(into[0].source) : null;
  return name ? ` of ${name}` : "";
}
