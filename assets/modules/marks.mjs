// Small marks on nodes: what it waits for, what it saved, the error, the fold.

import { visibleBox } from "./camera.mjs";
import { foldMark } from "./card.mjs";
import { savedState } from "./state.mjs";
import { squeezed, widthOf, wrap } from "./text.mjs";

const BADGE = 8;
const BAR = 52; // height of the buttons above, of the legend below
const MOST_LINES = 12; // of an error: the longest first sentence of torch's, in the narrowest shape

/** waiting: a ring; ready: a ring with a dot; done: a disc with a tick; error: a red disc with "!".  Shapes differ, not only colours. */
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

/** The first sentence of an error beside its node: in the widest shape, at the first place, that is in view and covers least; returns its box. */
export function paintCallout(brush, node, error) {
  const shapes = [320, 230, 170, 140].map((room) => calloutShape(brush, error, room));
  const spots = shapes.flatMap((shape) => calloutSpots(node, shape));
  const covers = ({ x, y, shape }) => {
    const box = [x - 4, y - 4, x + shape.w + 4, y + shape.h + 4];
    return brush.plane.nodes.within(box).reduce((sum, one) => sum + shared(box, one), 0);
  };
  const clear = (spot) => covers(spot) === 0;
  const { zoom } = brush.camera;
  const [x0, y0, x1, y1] = visibleBox(brush.camera, brush.view, -8 / zoom);
  const inside = (bar, { x, y, shape }) => x >= x0 && y >= y0 + bar && x + shape.w <= x1 && y + shape.h <= y1 - bar;
  const free = spots.filter((spot) => inside(BAR / zoom, spot)); // neither under the buttons nor under the legend
  const seen = free.some(clear) ? free : spots.filter((spot) => inside(0, spot));
  const least = [...seen].sort((one, other) => covers(one) - covers(other))[0]; // rather over a node than out of sight
  const { x, y, shape, px, py } = seen.find(clear) ?? least ?? spots.find(clear) ?? spots[0];
  const { context, write, font, tokens } = brush;
  context.strokeStyle = tokens.error;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(node.x + px * (node.w / 2), node.y + py * (node.h / 2));
  context.lineTo(node.x + px * (node.w / 2 + 18), node.y + py * (node.h / 2 + 16));
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
    { px, py, shape, x: node.x + px * dx - shape.w / 2, y: node.y + py * dy - shape.h / 2 }));
}
