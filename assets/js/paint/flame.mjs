// The flame chart on a canvas: an overview of the whole time with the part in view, rows of spans, and a row of ops.

import { waysOf } from "../scene/flame.mjs";
import { shade } from "../scene/scale.mjs";
import { fonts, writer } from "../geometry/text.mjs";

/** @import { Chart, Row, View } from "../scene/flame.mjs" */
/** @import { Num, Span } from "../scene/scene.d.ts" */
/** @import { Ruler } from "../geometry/text.mjs" */
/** @typedef {{ y: number, h: number, row: Row | null }} Band a row and where it is; null for that of the ops */
/** @typedef {{ bands: Band[], height: number, marks: number, left: number, right: number }} Sheet `marks` is where these stand; their row is there without any too, so that an edit that brings one moves nothing */
/** @typedef {{ context: CanvasRenderingContext2D, ruler: Ruler, tokens: any, colours: Colours, chart: Chart, sheet: Sheet, view: View, kinds: string[] }} Frame */

export const OVERVIEW = 10; // px of the strip at the top
const [BAR, OPS, GAP, MARKS] = [20, 12, 2, 16];
const [GUTTER, EDGE, WIDE] = [76, 12, 640]; // the names of rows stand beside them where the chart is wide
const APART = 6; // px: from here on ops are drawn one by one
const PAD = 5; // beside a label
const PARTS = { phase: { forward: 0.35, backward: 0.45, write: 0.35 }, module: { forward: 0.15, backward: 0, write: 0.15 } }; // of the colour, where no norm is known
const READ = 4.5; // contrast of a label
const NONE = { kind: "none", part: 0 };
const OFF = [0, 0.06, -0.06, 0.12, -0.12, 0.18, -0.18, 0.24, -0.24];

/**
 * Where everything is in a chart of a width.
 * @type {(chart: Chart, width: number) => Sheet}
 */
export function sheetOf(chart, width) {
  let y = OVERVIEW + 8;
  /** @type {Band[]} */
  const bands = chart.rows.map((row) => {
    const band = { y, h: BAR, row };
    y += BAR + GAP;
    return band;
  });
  bands.push({ y, h: OPS, row: null });
  y += OPS + 2;
  return { bands, height: y + MARKS, marks: y, left: width >= WIDE ? GUTTER : EDGE, right: width - EDGE };
}

/** @type {(frame: { chart: Chart, sheet: Sheet, view: View }, t: number) => number} px at which a time is */
export const placeOf = ({ chart, sheet: { left, right }, view: { from, to } }, t) => left + ((chart.axis.place(t) - from) / (to - from || 1)) * (right - left);

/** @type {(frame: { chart: Chart, sheet: Sheet }, place: number) => number} px of the overview at which a place of the chart is */
export const overviewPlace = ({ chart, sheet: { left, right } }, place) => left + (place / Math.max(chart.axis.total, 1)) * (right - left);

/** All that stays while time goes on. @type {(frame: Frame) => void} */
export function paintFlame(frame) {
  const { context, sheet, tokens } = frame;
  paintOverview(frame);
  context.save();
  context.beginPath();
  context.rect(sheet.left - 1, 0, sheet.right - sheet.left + 2, sheet.height);
  context.clip();
  for (const { y, h, row } of sheet.bands) {
    if (row) for (const span of row.spans) paintSpan(frame, span, y, h);
    else paintOps(frame, y, h);
  }
  context.restore();
  if (sheet.left < GUTTER) return;
  const write = writer(context);
  const { plain } = fonts(tokens);
  for (const { y, h, row } of sheet.bands) write(row ? row.name : "op", 0, y + h / 2, plain, tokens.soft);
}

function paintOverview(frame) {
  const { context, sheet, tokens, colours, chart, view } = frame;
  const x = (place) => overviewPlace(frame, place);
  for (const span of chart.rows[0].spans) {
    const [x0, x1] = [span.start, span.end].map((t) => x(chart.axis.place(t)));
    context.fillStyle = colours.fill(span.kind, PARTS.phase[span.kind]);
    context.fillRect(x0, 2, Math.max(x1 - x0 - 1, 1), OVERVIEW - 4);
  }
  if (view.to - view.from >= chart.axis.total) return;
  context.fillStyle = tokens.panel;
  context.globalAlpha = 0.6;
  context.fillRect(sheet.left, 1, x(view.from) - sheet.left, OVERVIEW - 2);
  context.fillRect(x(view.to), 1, sheet.right - x(view.to), OVERVIEW - 2);
  context.globalAlpha = 1;
  context.strokeStyle = tokens.ink;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(x(view.from), 0.75, Math.max(x(view.to) - x(view.from), 4), OVERVIEW - 1.5, 3);
  context.stroke();
}

/** @type {(frame: Frame, span: Span, y: number, h: number) => void} */
function paintSpan(frame, span, y, h) {
  const { context, ruler, tokens, colours, chart, sheet } = frame;
  const [x0, x1] = edgesOf(frame, span);
  if (x1 < sheet.left || x0 > sheet.right) return;
  const { kind, part } = span.row === 0 ? NONE : chart.look(span.norm);
  const tones = kind === "odd" ? colours.error : colours.tonesOf(span.kind, kind === "none" ? PARTS[span.row === 0 ? "phase" : "module"][span.kind] : part);
  context.fillStyle = tones.fill;
  context.beginPath();
  context.roundRect(x0, y, x1 - x0, h, Math.min(4, (x1 - x0) / 2));
  context.fill();
  const [from, to] = [Math.max(x0, sheet.left) + PAD, Math.min(x1, sheet.right) - PAD];
  if (to - from < 8) return;
  const { plain } = fonts(tokens);
  const text = waysOf(span).find((one) => ruler.widthOf(plain, one) <= to - from);
  if (text) writer(context)(text, (from + to) / 2, y + h / 2, plain, tones.ink, "center");
}

/** Where a span begins and ends on the screen, with a gap to the next one where there is room. @type {(frame: Frame, span: { start: number, end: number }) => [number, number]} */
export function edgesOf(frame, { start, end }) {
  const [x0, x1] = [placeOf(frame, start), placeOf(frame, end)];
  return [x0, Math.max(x1 - (x1 - x0 > 4 ? GAP : 0), x0 + 1)];
}

/** @type {(norm: Num | null) => number} */
const weightOf = (norm) => (norm === null ? -1 : typeof norm === "string" ? Infinity : norm);

/** Each op where there is room, else in each column of pixels the one that receives the largest gradient. */
function paintOps(frame, y, h) {
  const { context, chart, view, kinds, tokens, colours } = frame;
  const [first, last] = [Math.max(Math.floor(chart.axis.time(view.from)), 0), Math.min(Math.ceil(chart.axis.time(view.to)), kinds.length)];
  const tone = (k) => {
    const { kind, part } = chart.look(chart.ops[k]);
    if (kind === "odd" || kinds[k] === "error") return tokens.error;
    return colours.fill(kinds[k], kind === "none" ? PARTS.module[kinds[k]] : part);
  };
  let [column, most] = [-1, -1];
  for (let k = first; k < last; k++) {
    const [start, end] = [placeOf(frame, k), placeOf(frame, k + 1)];
    const [x, each] = [Math.floor(start), end - start];
    const weight = weightOf(chart.ops[k]);
    if (each < 1 && x === column && weight <= most) continue;
    [column, most] = [x, weight];
    context.fillStyle = tone(k);
    context.fillRect(each < APART ? x : start + 0.5, y, each < APART ? Math.ceil(each) : each - 1.5, h);
  }
}

/** @typedef {ReturnType<typeof coloursOf>} Colours */

/**
 * The colours of spans, and of the labels on them: a shade on which these are read is taken where the one that is meant is too near to both.
 * @param {any} tokens
 */
export function coloursOf(tokens) {
  const full = { forward: tokens.forward, backward: tokens.gradient, write: tokens.saved };
  /** @type {Map<string, { fill: string, ink: string }>} */
  const tonesByKey = new Map();
  /** @type {(kind: string, part: number) => { fill: string, ink: string }} */
  const tonesOf = (kind, part) => {
    const key = `${kind} ${part}`;
    const tones = tonesByKey.get(key) ?? OFF.map((by) => readOn(shade(tokens.panel, full[kind], part + by), tokens)).find((one) => one.contrast >= READ) ?? readOn(full[kind], tokens);
    tonesByKey.set(key, tones);
    return tones;
  };
  return {
    /** @type {(kind: string, part: number) => string} */
    fill: (kind, part) => shade(tokens.panel, full[kind], part),
    tonesOf, error: readOn(tokens.error, tokens),
  };
}

/**
 * What is read best on a colour, of text and paper.
 * @type {(fill: string, tokens: any) => { fill: string, ink: string, contrast: number }}
 */
export function readOn(fill, { ink, panel, bg }) {
  const [best] = [ink, panel, bg].map((one) => ({ fill, ink: one, contrast: contrast(fill, one) })).sort((a, b) => b.contrast - a.contrast);
  return best;
}

/** How well a colour is read on another, both as `#rrggbb`; of others, as with forced colours, nothing is known. @type {(one: string, other: string) => number} */
export function contrast(one, other) {
  const [low, high] = [one, other].map(luminance).sort((a, b) => a - b);
  return Number.isNaN(low + high) ? READ : (high + 0.05) / (low + 0.05);
}

const luminance = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)).map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4))
  .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
