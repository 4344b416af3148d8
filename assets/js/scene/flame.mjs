// The flame chart: the spans of a scene in rows, the part of the time in view, and the colours of gradients. Pure.

import { lookOf } from "./scale.mjs";
import { at, shorterLabels } from "./timeline.mjs";

/** @import { Look } from "./scale.mjs" */
/** @import { Num, Scene, Span } from "./scene.d.ts" */
/** @typedef {{ from: number, to: number }} View what is seen of the chart, in its units, which are steps but in an update */
/** @typedef {{ total: number, place: (t: number) => number, time: (place: number) => number }} Axis */
/** @typedef {{ name: string, spans: Span[] }} Row */
/** @typedef {{ rows: Row[], axis: Axis, ops: (Num | null)[], look: (norm: Num | null) => Look }} Chart `ops` has the norm of the gradient that comes to each step, null for none */

const MANY = 60; // steps from which on a program with modules has a chart
const CLOSE = 4; // px: as many more than it has steps a lane must have, so that these are told apart
const MOST_ROWS = 3; // of modules in one another
const SAME = 0.8; // of its phase that a lone module takes up: it says what the phase says
const UPDATE = 0.15; // of all else, that an update takes up at most before one goes into it
const LEAST = 6; // steps that one can zoom in on

/**
 * The chart of a scene, in which one is in the updates that are `open`; null for a small program, which a single lane shows.
 * @type {(scene: Scene, width: number, open?: (span: Span) => boolean, most?: number) => Chart | null}
 */
export function chartOf(scene, width, open = () => false, most = MOST_ROWS) {
  const { spans = [], steps } = scene;
  const nested = spans.some((span) => span.row > 0) && steps.length >= MANY;
  if (!spans.length || (!nested && steps.length * CLOSE <= width)) return null;
  const ops = normsOf(scene);
  const range = rangeOf(scene, [...spans.map((span) => span.norm), ...ops]);
  return { rows: rowsOf(spans, most), axis: axisOf(spans.filter((span) => span.row === 0), open), ops, look: (norm) => lookOf(range, norm) };
}

/**
 * Where times are on the chart: as one step of an optimiser runs as many ops as a whole backward pass, it takes less room until one goes into it.
 * @type {(phases: Span[], open: (span: Span) => boolean) => Axis}
 */
function axisOf(phases, open) {
  const lengthOf = (span) => span.end - span.start;
  const rest = phases.reduce((sum, span) => sum + (span.kind === "write" ? 0 : lengthOf(span)), 0);
  const size = (span) => (span.kind === "write" && rest > 0 && !open(span) ? Math.min(lengthOf(span), Math.max(rest * UPDATE, 1)) : lengthOf(span));
  const ends = [0];
  for (const span of phases) ends.push(ends[ends.length - 1] + size(span));
  const times = [0, ...phases.map((span) => span.end)];
  const interpolator = (from, to) => (value) => {
    const i = Math.min(Math.max(from.findLastIndex((one) => one <= value), 0), Math.max(from.length - 2, 0));
    const part = from[i + 1] > from[i] ? (value - from[i]) / (from[i + 1] - from[i]) : 0;
    return to[i] + part * (to[i + 1] - to[i]);
  };
  return { total: ends[ends.length - 1], place: interpolator(times, ends), time: interpolator(ends, times) };
}

/**
 * Phases, and rows of modules in one another.  A module that alone takes up its phase, as the whole model does, has no row of its own.
 * @type {(spans: Span[], most: number) => Row[]}
 */
function rowsOf(spans, most) {
  const children = spans.map(() => 0);
  for (const { within } of spans) if (within !== null) children[within] += 1;
  /** @type {Row[]} */
  const rows = [];
  /** @type {number[]} */
  const depth = [];
  spans.forEach((span, i) => {
    const around = span.within === null ? null : spans[span.within];
    const inner = around === null ? 0 : depth[span.within ?? 0] + 1;
    const same = around?.row === 0 && children[span.within ?? 0] === 1 && children[i] > 0 && span.end - span.start >= SAME * (around.end - around.start);
    depth[i] = same ? inner - 1 : inner;
    if (same || inner > most) return;
    rows[inner] ??= { name: ["phase", "module"][inner] ?? "", spans: [] };
    rows[inner].spans.push(span);
  });
  return rows;
}

/**
 * The norm of the gradient that comes to the op of each step; null where none does.
 * @type {(scene: Scene) => (Num | null)[]}
 */
function normsOf({ steps, nodes, values }) {
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  return steps.map(({ kind, at: id, within }, k) => {
    if (kind !== "vjp") return null;
    const value = within ? within.upstream : at(nodesById.get(id ?? "")?.tracks.upstream, k + 1);
    return value === null || value === undefined ? null : values[value].stats.norm;
  });
}

/**
 * The ends of the scale of colours: those of the graph, or where that has none, of what comes to spans and ops, two decades at least.
 * @type {(scene: Scene, norms: (Num | null)[]) => [number, number]}
 */
function rangeOf({ norms: range }, norms) {
  if (range) return range;
  const finite = norms.flatMap((norm) => (typeof norm === "number" && norm > 0 ? [norm] : []));
  const high = finite.reduce((a, b) => Math.max(a, b), 0);
  return [finite.reduce((a, b) => Math.min(a, b), high / 100), high];
}

/**
 * Ways to write a span, from its whole label on: of a name with points its last part.
 * @type {(span: Span) => string[]}
 */
export function waysOf({ label, row, kind }) {
  if (row === 0) return [...new Set([...shorterLabels(label), ...(kind === "backward" ? ["backward"] : []), /^(\w+)\.step$/.exec(label)?.[1] ?? bareOf(label)])];
  const tail = /(\.\w+|\[\w+\])$/.exec(label)?.[1];
  return tail ? [label, tail] : [label];
}

/** The name of what is called, without brackets: all that is left of `opt.zero_grad(set_to_none=True)`. @type {(label: string) => string} */
const bareOf = (label) => /^([\w.]+\.)?(\w+)\(/.exec(label)?.[2] ?? label;

/**
 * The span of a row at a time, null between two.
 * @type {(row: Row, t: number) => Span | null}
 */
export function spanAt({ spans }, t) {
  let [low, high] = [0, spans.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (t < spans[middle].start) high = middle - 1;
    else if (t >= spans[middle].end) low = middle + 1;
    else return spans[middle];
  }
  return null;
}

/** @type {(view: View, count: number) => View} such that it lies in all of time */
function clampView({ from, to }, count) {
  const size = Math.min(Math.max(to - from, Math.min(LEAST, count)), count);
  const begin = Math.min(Math.max(from, 0), count - size);
  return { from: begin, to: begin + size };
}

/** Closer by `factor`, the moment `t` staying where it is. @type {(view: View, count: number, t: number, factor: number) => View} */
export function zoomView({ from, to }, count, t, factor) {
  const size = Math.min(Math.max((to - from) / factor, Math.min(LEAST, count)), count);
  const part = (t - from) / (to - from || 1);
  return clampView({ from: t - part * size, to: t + (1 - part) * size }, count);
}

/** @type {(view: View, count: number, by: number) => View} moved by so many steps */
export const shiftView = ({ from, to }, count, by) => clampView({ from: from + by, to: to + by }, count);

/** A span with a little around it. @type {(span: { start: number, end: number }, count: number) => View} */
export function viewOf({ start, end }, count) {
  const around = (end - start) * 0.04;
  return clampView({ from: start - around, to: end + around }, count);
}

/** The view, moved where the step from `start` to `end` is not in it. @type {(view: View, count: number, start: number, end: number) => View} */
export function followStep(view, count, start, end) {
  const size = view.to - view.from;
  if (start >= view.from && end <= view.to) return view;
  const from = end > view.to ? Math.max(start - size * 0.1, end - size * 0.9) : end - size * 0.9;
  return clampView({ from, to: from + size }, count);
}

export const isWhole = ({ from, to }, count) => to - from >= count;
