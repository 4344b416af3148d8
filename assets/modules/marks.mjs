// Small marks on nodes: what it waits for, what it saved, the error, the fold.

import { visibleBox } from "./camera.mjs";
import { boxOf, foldMark } from "./card.mjs";
import { savedState } from "./state.mjs";
import { squeezed, widthOf, wrap } from "./text.mjs";

const BADGE = 8;
const BAR = 52; // height of the buttons above, of the legend below
const GRID = 36; // apart, in units: places that are tried where none beside the node is free
const MOST_LINES = 12; // of an error: the longest first sentence of torch's, in the narrowest shape

/** waiting: a ring; ready: a ring with a dot; done: a disc with a check mark; error: a red disc with "!".  Shapes differ, not only colours. */
export function paintBadge({ context, tokens }, state, x, y) {
  const colour = state === "error" ? tokens.error : tokens.gradient;
  context.beginPath();
  context.arc(x, y, BADGE, 0, 2 * Math.PI);
  context.fillStyle = state === "done" || state === "error" ? colour : tokens.panel;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colour;
  context.stroke();
  if (state === "ready") {
    context.beginPath();
    context.arc(x, y, 3.4, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  } else if (state === "done") {
    context.strokeStyle = tokens.onGradient;
    context.beginPath();
    context.moveTo(x - 3.6, y + 0.2);
    context.lineTo(x - 1, y + 3);
    context.lineTo(x + 3.8, y - 2.8);
    context.stroke();
  } else if (state === "error") {
    context.fillStyle = tokens.panel;
    context.fillRect(x - 1.1, y - 4.6, 2.2, 5.6);
    context.fillRect(x - 1.1, y + 2.4, 2.2, 2.2);
  }
}

/** A triangle with "!" at the other corner: something went wrong here without an error. */
export function paintFinding({ context, tokens }, x, y) {
  context.beginPath();
  context.moveTo(x, y - 10);
  context.lineTo(x + 10, y + 7);
  context.lineTo(x - 10, y + 7);
  context.closePath();
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = tokens.warning;
  context.stroke();
  context.fillStyle = tokens.warning;
  context.fill();
  context.fillStyle = tokens.panel;
  context.fillRect(x - 1.1, y - 5, 2.2, 6.4);
  context.fillRect(x - 1.1, y + 3, 2.2, 2.2);
}

/** What an op saves, without the word that the scene may begin it with: the state is said by `saved`, `kept` or `freed`. */
export function savedNames(node) {
  return node.saved.map((one) => (one.text || one.name).replace(/^saved /, "")).join(", ");
}

/** What an op keeps for backward, inside its pill: dashed while saved, dotted and struck through when freed. */
export function paintChip(brush, node) {
  const { context, write, font, tokens, moment } = brush;
  const state = savedState(moment, node);
  if (state === "none" || !node.saved.length) return;
  const names = savedNames(node);
  const room = node.w - 32;
  const text = squeezed(context, font.plain, [`${state} ${names}`, state], room); // the names are in the tooltip and the inspector too
  const w = Math.min(widthOf(context, font.plain, text), room) + 16;
  const [x, y] = [node.x - w / 2, node.y + node.h / 2 - 33];
  context.beginPath();
  context.roundRect(x, y, w, 22, 6);
  context.lineWidth = state === "kept" ? 1.6 : 1.2;
  context.strokeStyle = state === "kept" ? tokens.soft : tokens[state];
  context.setLineDash(state === "freed" ? [1, 4] : [4, 3]);
  context.stroke();
  context.setLineDash([]);
  write(text, node.x, y + 11, font.plain, state === "kept" ? tokens.ink : state === "freed" ? tokens.freed : tokens.soft, "center", room);
  if (state === "freed") context.fillRect(x + 8, y + 11, w - 16, 1.2);
}

export function paintFold({ context, tokens }, box, folded) {
  const mark = foldMark(box);
  const [x, y] = [mark.x + mark.w / 2, mark.y + mark.h / 2];
  context.beginPath();
  context.roundRect(mark.x, mark.y, mark.w, mark.h, 5);
  context.fillStyle = tokens.field;
  context.fill();
  context.lineWidth = 1.2;
  context.strokeStyle = tokens.saved;
  context.stroke();
  context.fillStyle = tokens.ink;
  context.fillRect(x - 5, y - 0.8, 10, 1.6);
  if (folded) context.fillRect(x - 0.8, y - 5, 1.6, 10);
}

/** The first sentence of an error beside its node, with a line to it, or where nothing was made under all; returns its box. */
export function paintCallout(brush, node, error) {
  const [x0, , x1, y1] = brush.plane.bounds;
  const { x, y, shape } = placeCallout(brush, node ?? { x: (x0 + x1) / 2, y: y1, w: 0, h: 0 }, error);
  const { context, write, font, tokens } = brush;
  context.strokeStyle = tokens.error;
  context.lineWidth = 1.5;
  context.beginPath();
  if (node) context.moveTo(...nearest(boxOf(node), x + shape.w / 2, y + shape.h / 2));
  if (node) context.lineTo(...nearest([x, y, x + shape.w, y + shape.h], node.x, node.y));
  context.stroke();
  context.beginPath();
  context.roundRect(x, y, shape.w, shape.h, 8);
  context.fillStyle = tokens.errorTint;
  context.fill();
  context.stroke();
  write(error.type, x + 14, y + 19, font.strong, tokens.error);
  shape.lines.forEach((line, i) => write(line, x + 14, y + 21 + (i + 1) * font.line, font.plain, tokens.ink));
  return [x, y, x + shape.w, y + shape.h];
}

/**
 * Where the message stands: in the widest shape, beside its node, in view and clear of all cards; else at the nearest free
 * place in view; else where it covers least.
 */
export function placeCallout(brush, node, error) {
  const all = [320, 230, 170, 140].map((room) => calloutShape(brush, error, room));
  const uncut = all.filter((shape) => !shape.lines.at(-1).endsWith("\u2026"));
  const shapes = uncut.length ? uncut : all;
  const covers = ({ x, y, shape }) => {
    const box = [x - 4, y - 4, x + shape.w + 4, y + shape.h + 4];
    return brush.plane.nodes.within(box).reduce((sum, one) => sum + shared(box, one), 0);
  };
  const clear = (spot) => covers(spot) === 0;
  const { zoom } = brush.camera;
  const seen = visibleBox(brush.camera, brush.view, -8 / zoom);
  const room = [seen[0], seen[1] + BAR / zoom, seen[2], seen[3] - BAR / zoom]; // neither under the buttons nor under the legend
  const inside = ([x0, y0, x1, y1], { x, y, shape }) => x >= x0 && y >= y0 && x + shape.w <= x1 && y + shape.h <= y1;
  const spots = shapes.flatMap((shape) => calloutSpots(node, shape));
  const beside = spots.find((spot) => inside(room, spot) && clear(spot));
  if (beside) return beside;
  const around = shapes.flatMap((shape) => allSpots(node, shape, room)).sort((one, other) => one.far - other.far);
  const left = [around.find(clear), spots.find((spot) => inside(seen, spot) && clear(spot))].find(Boolean);
  if (left) return left;
  const some = [...around, ...spots.filter((spot) => inside(seen, spot))].map((spot) => ({ ...spot, covered: covers(spot) }));
  return some.sort((one, other) => one.covered - other.covered)[0] ?? spots.find(clear) ?? spots[0]; // rather over a node than out of sight
}

/** Places all over a box, with their distance from the node; a narrow shape counts as a little farther. */
function allSpots(node, shape, [x0, y0, x1, y1]) {
  const found = [];
  const [own, thin] = [boxOf(node), Math.max(0, 300 - shape.w) / 2];
  for (let x = x0; x + shape.w <= x1; x += GRID) {
    for (let y = y0; y + shape.h <= y1; y += GRID) {
      const [a, b] = nearest(own, x + shape.w / 2, y + shape.h / 2);
      const [c, d] = nearest([x, y, x + shape.w, y + shape.h], a, b);
      found.push({ x, y, shape, far: Math.hypot(a - c, b - d) + thin });
    }
  }
  return found;
}

/** The point of a box that is nearest to a point. */
function nearest([x0, y0, x1, y1], x, y) {
  return [Math.min(Math.max(x, x0), x1), Math.min(Math.max(y, y0), y1)];
}

/** The area that a box and a node have in common. */
function shared([x0, y0, x1, y1], { x, y, w, h }) {
  return Math.max(0, Math.min(x1, x + w / 2) - Math.max(x0, x - w / 2)) * Math.max(0, Math.min(y1, y + h / 2) - Math.max(y0, y - h / 2));
}

function calloutShape({ context, font }, error, room) {
  const first = error.message.split(/(?<=[.!?])\s/, 1)[0];
  const lines = wrap(context, font.plain, first, room, MOST_LINES);
  const w = Math.max(...lines.map((line) => widthOf(context, font.plain, line)), widthOf(context, font.strong, error.type)) + 28;
  return { lines, w, h: 34 + lines.length * font.line };
}

/** Above, below, right, left, then the corners. */
function calloutSpots(node, shape) {
  const [dx, dy] = [node.w / 2 + shape.w / 2 + 18, node.h / 2 + shape.h / 2 + 16];
  return [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]].map(([px, py]) => (
    { shape, x: node.x + px * dx - shape.w / 2, y: node.y + py * dy - shape.h / 2 }));
}
