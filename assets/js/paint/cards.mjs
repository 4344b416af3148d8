// The rows of a tensor card: cells with numbers, heat strips, ghosts of the revision before.

import { cellOf, holding, rowsOf } from "../scene/card.mjs";
import { fitNum, fitRow, isRounded, num, shapeText, statsTexts, toNumber, truth } from "../scene/format.mjs";
import { DAMAGED, PAD, SEED_LABEL } from "../scene/shared.mjs";
import { shade } from "../scene/scale.mjs";
import { flowsAt, ghostOf, nodeState, rowState } from "../scene/state.mjs";
import { cut, firstFitting } from "../geometry/text.mjs";

/** @import { Node, Row } from "../scene/scene.d.ts" */
/** @import { RowPlace } from "../scene/card.mjs" */
/** @import { Moment } from "../scene/state.mjs" */
/** @import { Brush } from "./paint.mjs" */
/** @typedef {ReturnType<typeof rowState>} RowState */

const AIR = 3; // units between a number and the border of its cell;
const LEAST_AIR = 1; // the same for a number in the smaller size

/** @type {(brush: Brush, node: Node) => void} */
export function paintRows(brush, node) {
  const { moment } = brush;
  const future = nodeState(moment, node) === "future";
  for (const place of rowsOf(node)) {
    const state = rowState(moment, place.row);
    paintLabel(brush, node, place, state);
    if (place.row.cols) paintCells(brush, node, place, state, future);
    else paintStrip(brush, place, state);
  }
}

/** @type {(brush: Brush, node: Node, place: RowPlace, state: RowState) => void} */
function paintLabel({ write, context, ruler, font, tokens }, node, place, state) {
  const { row } = place;
  if (row.key === "value") return;
  const empty = state.value === null;
  const labels = row.key === "seed" ? seedLabels(row, node, state) : gradLabels(row.label || ".grad", empty, state.past);
  const room = node.w - 2 * PAD - (row.key === "seed" ? 16 : 0);
  const text = firstFitting(ruler, font.plain, labels, room);
  write(text, place.x, place.labelY, font.plain, tokens.soft);
  if (row.key === "seed" && !empty && row.cols) pencil(context, place.x + ruler.widthOf(font.plain, text) + 5, place.labelY, tokens.root);
}

/**
 * Names for the gradient that a call passes, the longest first.  A gradient of the wrong shape, which is refused, is named by its shape; one that was derived or filled in, by how.
 * @type {(row: Row, node: Node, state: RowState) => string[]}
 */
function seedLabels(row, node, { value, other, derived }) {
  const shape = value ? shapeText(value.shape) : "";
  if (value && node.shape && shape !== shapeText(node.shape)) return [`gradient of shape ${shape}`, `gradient (${value.shape.join(", ")}${value.shape.length === 1 ? "," : ""})`, "gradient"];
  if (other) return ["gradient from another call", "from another call", "other call"];
  if (derived) return derived.labels;
  return [row.label || SEED_LABEL, "gradient"];
}

/** Names for a row of `.grad`, the longest first; for an older version, in the past tense. */
function gradLabels(label, empty, past) {
  if (past) return empty ? [`had no ${label}`, label] : [`${label} before`, `had ${label}`, label];
  return empty ? [`${label} none`, label] : [label];
}

function pencil(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.4;
  context.beginPath();
  context.moveTo(x, y + 5);
  context.lineTo(x + 1, y + 2);
  context.lineTo(x + 7, y - 4);
  context.lineTo(x + 9, y - 2);
  context.lineTo(x + 3, y + 4);
  context.closePath();
  context.stroke();
}

/** @type {(brush: Brush, node: Node, at: RowPlace, state: RowState, future: boolean) => void} */
function paintCells(brush, node, at, state, future) {
  const { moment, pending } = brush;
  const data = state.value?.data ?? null;
  const place = holding(at, data?.length ?? 0, node);
  const { row, count } = place;
  const ghost = data ? ghostOf(moment, node, row, state.value) : null;
  const lit = row.key === "value" && data ? litCells(moment, node, count) : null;
  const typedAt = (cell) => pending?.get(`${node.id}|${row.key}|${cell}`);
  const values = Array.from({ length: count - (place.more ? 1 : 0) }, (_, cell) => typedAt(cell) ?? data?.[cell] ?? null);
  const line = lineOf(brush.font, values, place.cellW, { truths: state.value?.dtype === "bool", small: ghost !== null });
  for (let cell = 0; cell < count; cell++) {
    const box = cellOf(place, cell);
    if (place.more && cell === count - 1) {
      brush.write(`+${place.more}`, box.x + box.w / 2, box.y + box.h / 2, brush.font.small, brush.tokens.soft, "center");
      continue;
    }
    const [typed, value] = [typedAt(cell), values[cell]];
    const changed = state.changed && moment.step?.at === node.id; // a new version may show the number of the one before
    const look = cellLook(brush, row, value, { ...state, changed }, lit?.has(cell) ?? false, typed !== undefined);
    paintBox(brush, box, look, future);
    if (value !== null) paintNumber(brush, box, { value, text: line.texts[cell], ghost: ghost?.[cell] ?? null }, look, line);
    else if (!future && !state.value?.damaged) dash(brush, box);
  }
  if (state.value?.damaged) {
    const [first, last] = [cellOf(place, 0), cellOf(place, count - 1)];
    const width = last.x + last.w - first.x;
    const text = cut(brush.ruler, brush.font.small, width > 120 ? DAMAGED : "missing", width);
    brush.write(text, first.x + width / 2, first.y + (last.y + last.h - first.y) / 2, brush.font.small, brush.tokens.error, "center");
  }
}

/**
 * How the numbers of a row are written in cells of `width` units: `{ texts, small, letters, truths }`.  All of them alike: in the smaller
 * size where that is asked for or the larger one has no room for one, and in as many digits as have room; letters are never narrowed.
 */
export function lineOf(font, values, width, { truths = false, small: always = false } = {}) {
  const textOf = (value, room) => (value === null ? "" : truth(value, room));
  const large = Math.floor((width - 2 * AIR) / font.cellPitch);
  const small = always || values.some((value) => (truths ? textOf(value) : num(value)).length > large);
  const letters = small ? Math.floor((width - 2 * LEAST_AIR) / font.smallPitch) : large;
  return { texts: truths ? values.map((value) => textOf(value, letters)) : fitRow(values, letters), small, letters, truths };
}

/**
 * The cells through which the gradient of the current step passes; null if these are all, and outside of a backward call.
 * @param {Moment} moment
 * @param {Node} node
 * @param {number} count
 */
function litCells(moment, node, count) {
  if (!moment.backward) return null;
  const cells = new Set();
  for (const { flow, edge, part } of flowsAt(moment)) {
    if (!flow.back || flow.value === null) continue;
    const arriving = edge.source === node.id;
    if ((!arriving && edge.target !== node.id) || (arriving && part < 1)) continue;
    const data = moment.scene.values[flow.value].data;
    if (data?.length === count) data.forEach((value, i) => toNumber(value) !== 0 && cells.add(i));
  }
  return cells.size < count ? cells : null;
}

/** @type {(brush: { tokens: any, magnitude?: number }, row: Row, value: any, state: any, lit: boolean, typed: boolean) => any} */
function cellLook({ tokens, magnitude = 0 }, row, value, state, lit, typed) {
  const nothing = value === null || value === undefined;
  const zero = !nothing && toNumber(value) === 0;
  const odd = !nothing && !Number.isFinite(toNumber(value));
  const look = { fill: tokens.field, stroke: tokens.line, width: 1, ink: tokens.ink, strong: false, dashed: false, alpha: state.other ? 0.6 : 1 };
  if (odd) Object.assign(look, { fill: tokens.errorTint, stroke: tokens.error, ink: tokens.error, strong: true });
  else if (row.key === "seed" && !nothing) {
    Object.assign(look, zero ? { ink: tokens.soft } : { fill: tokens.rootTint, stroke: tokens.root, ink: tokens.root, strong: true });
  } else if (row.key === "grad" && !nothing) {
    Object.assign(look, zero || state.past ? { ink: tokens.soft } : { ink: tokens.gradient, strong: true });
    if (magnitude && !zero && !state.past) Object.assign(look, { fill: shade(tokens.field, tokens.gradientFull, Math.abs(toNumber(value) ?? 0) / magnitude), ink: tokens.ink });
    else if (!zero && state.changed && !state.past) Object.assign(look, { fill: tokens.gradientTint, stroke: tokens.gradient, width: 2 });
  }
  if (lit && !odd) Object.assign(look, { stroke: tokens.ink, width: 2 }); // a value: what the gradient passes stands on its edge
  if (typed) Object.assign(look, { dashed: true, width: 1.5, stroke: tokens.changed, ink: tokens.changed });
  return look;
}

function paintBox({ context }, box, look, future) {
  context.globalAlpha *= look.alpha;
  context.beginPath();
  context.roundRect(box.x, box.y, box.w, box.h, 5);
  if (!future) {
    context.fillStyle = look.fill;
    context.fill();
  }
  context.lineWidth = look.width;
  context.strokeStyle = look.stroke;
  if (look.dashed) context.setLineDash([3, 2]);
  context.stroke();
  if (look.dashed) context.setLineDash([]);
  context.globalAlpha /= look.alpha;
}

function paintNumber({ context, write, ruler, font, tokens, detail, moment }, box, { value, text, ghost }, look, line) {
  const isOfSection = moment.scene.previous?.label !== undefined; // nothing was edited: it is faint, and not struck through
  context.globalAlpha *= look.alpha;
  if (detail < 2) {
    if (toNumber(value) !== 0) {
      context.fillStyle = look.ink;
      context.fillRect(box.x + box.w * 0.25, box.y + box.h * 0.4, box.w * 0.5, Math.max(2, box.h * 0.2));
    }
  } else {
    const face = line.small ? (look.strong ? font.smallStrong : font.small) : look.strong ? font.cellStrong : font.cell;
    const middle = box.y + box.h / 2;
    const y = ghost === null ? middle : middle + box.h / 4;
    write(text, box.x + box.w / 2, y, face, look.ink, "center");
    if (!line.truths && isRounded(text, value)) paintRounded(context, box.x + box.w / 2, y, text.length * (line.small ? font.smallPitch : font.cellPitch), look.ink);
    const old = ghost === null ? "" : line.truths ? truth(ghost, line.letters) : fitNum(ghost, line.letters);
    if (old && isOfSection) write(old, box.x + box.w / 2, box.y + box.h / 4, font.small, tokens.soft, "center");
    else if (old) paintGhost({ context, write, ruler, font, tokens }, box, old);
  }
  context.globalAlpha /= look.alpha;
}

/** Dots under a number: it has more digits than have room in its cell. */
function paintRounded(context, x, y, wide, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.setLineDash([1.2, 2.4]);
  context.beginPath();
  context.moveTo(x - wide / 2, y + 7);
  context.lineTo(x + wide / 2, y + 7);
  context.stroke();
  context.setLineDash([]);
}

/** The old value over the new one, on a ground of its own in the upper half of the cell, struck through by a hair. */
function paintGhost({ context, write, ruler, font, tokens }, box, text) {
  const [x, y, half] = [box.x + box.w / 2, box.y + box.h / 4, box.h / 2];
  context.beginPath();
  context.roundRect(box.x + 1, box.y + 1, box.w - 2, half - 1, [4, 4, 0, 0]);
  context.fillStyle = tokens.changedTint;
  context.fill();
  write(text, x, y, font.small, tokens.changed, "center");
  const reach = ruler.widthOf(font.small, text) / 2 + 3;
  context.fillRect(x - reach, y - 0.5, 2 * reach, 1);
}

function dash({ context, tokens }, box) {
  context.fillStyle = tokens.line;
  context.fillRect(box.x + box.w / 2 - 5, box.y + box.h / 2 - 1, 10, 2);
}

/**
 * A large tensor: a sample as bars above and below a line (so that the sign is a place, not a colour), then figures.
 * @type {(brush: Brush, place: RowPlace, state: RowState) => void}
 */
function paintStrip({ context, write, ruler, font, tokens, detail }, place, state) {
  const value = state.value;
  const height = place.h - 18;
  context.beginPath();
  context.roundRect(place.x, place.y, place.w, height, 5);
  context.fillStyle = tokens.field;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = state.changed ? tokens.gradient : tokens.line;
  context.stroke();
  if (!value) return;
  const colour = place.row.key === "value" || state.past ? tokens.soft : place.row.key === "seed" ? tokens.root : tokens.gradient;
  const samples = (value.strip ?? value.data ?? []).map(toNumber);
  const largest = Math.max(...samples.map((v) => (Number.isFinite(v) ? Math.abs(v) : 0)), 1e-300);
  const middle = place.y + height / 2;
  const step = (place.w - 8) / samples.length;
  samples.forEach((sample, i) => {
    const odd = !Number.isFinite(sample);
    const size = odd ? height / 2 - 2 : Math.max((Math.abs(sample) / largest) * (height / 2 - 2), 0.5);
    context.fillStyle = odd ? tokens.error : colour;
    context.fillRect(place.x + 4 + i * step, odd || sample > 0 ? middle - size : middle, Math.max(step - 0.6, 0.8), odd ? 2 * size : size);
  });
  if (detail >= 2) write(firstFitting(ruler, font.plain, statsTexts(value), place.w), place.x, place.y + height + 11, font.plain, tokens.soft);
}
