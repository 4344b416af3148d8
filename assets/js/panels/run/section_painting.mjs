// The row of a run's sections on a canvas: a bead for each, and below them the loss and the gradient norm.

import { fonts, writer } from "../../geometry/text.mjs";
import { withoutCommonEnd } from "../../scene/format.mjs";

/** @import { Tracks } from "./sections.mjs" */
/** @typedef {{ context: CanvasRenderingContext2D, tokens: any, width: number, count: number, at: number, over: number | null, tracks: Tracks | null, sections: number[] }} Frame `over` is the section under the hand */

export const LEFT = 76; // px for the names of rows, as on the chart below
const EDGE = 12;
const [BEADS, GAP, CURVES] = [10, 3, 24];
export const HEIGHT = 2 + BEADS + GAP + CURVES + 3;
const APART = 4; // px of a section from which on beads stand apart
const FRAMED = 28; // px from which on the present one has a frame; a smaller one is filled
const LEAST = 3; // px of the present one
const LINE = 12; // px of a line of text
const DASHES = [[], [6, 3], [2, 2]]; // of the losses

/** @type {(width: number) => [number, number]} where the row begins and ends */
export const ends = (width) => [LEFT, width - EDGE];

/** @param {Frame} frame */
export function paintSections(frame) {
  const { context, tokens, width, count, at, over, tracks, sections } = frame;
  const [left, right] = ends(width);
  const x = (part) => left + part * (right - left);
  const each = (right - left) / count;
  const write = writer(context);
  const { plain } = fonts(tokens);
  write("run", 0, 2 + BEADS / 2, plain, tokens.soft);
  const bead = (section, colour, part) => {
    context.fillStyle = colour;
    context.globalAlpha = part;
    context.fillRect(x(section / count), 2, Math.max(each - (each >= APART ? 1.5 : 0), 1), BEADS);
    context.globalAlpha = 1;
  };
  if (each >= APART) for (let k = 0; k < count; k++) bead(k, tokens.saved, k <= at ? 0.55 : 0.25);
  else paintBar(frame, x);
  paintColumn(frame, x, at, 1);
  if (over !== null && over !== at) paintColumn(frame, x, over, 0.45);
  if (!tracks) return;
  const top = 2 + BEADS + GAP;
  const y = (part) => top + 2 + (1 - part) * (CURVES - 4);
  const isSeveral = tracks.losses.length > 1;
  write(namesOf(frame, plain), 0, top + (isSeveral ? LINE : CURVES) / 2, plain, tokens.root);
  write("‖grad‖", isSeveral ? 0 : 30, top + CURVES - (isSeveral ? LINE : CURVES) / 2, plain, tokens.gradient);
  if (tracks.rate) write("lr", LEFT - 8, 2 + BEADS / 2, plain, tokens.soft, "right");
  if (tracks.rate) paintTrack(context, tracks.rate, { x, y, colour: tokens.soft, dash: [1, 2], odd: tokens.error });
  paintTrack(context, tracks.norm, { x, y, colour: tokens.gradient, dash: [3, 2], odd: tokens.error });
  tracks.losses.forEach(({ track }, k) => paintTrack(context, track, { x, y, colour: tokens.root, dash: DASHES[k] ?? [1, 1], odd: tokens.error }));
  context.fillStyle = tokens.warning;
  for (const section of sections) paintFound(context, x((section + 0.5) / count), top + CURVES + 2);
}

/** The names of the losses, beginning with the one whose line is whole; without their common end where they have no room, or only how many. */
function namesOf({ context, tracks }, font) {
  const names = /** @type {Tracks} */ (tracks).losses.map(({ name }) => name);
  context.font = font;
  const ways = [names, withoutCommonEnd(names)].map((one) => one.join(" "));
  return ways.find((text) => context.measureText(text).width <= LEFT - 4) ?? `${names.length} losses`;
}

/** Sections too narrow to stand apart: the part of the run that has been, and the rest. */
function paintBar({ context, tokens, count, at }, x) {
  for (const [from, to, part] of [[0, at, 0.55], [at, count, 0.25]]) {
    context.fillStyle = tokens.saved;
    context.globalAlpha = part;
    context.fillRect(x(from / count), 2, x(to / count) - x(from / count), BEADS);
  }
  context.globalAlpha = 1;
}

/** A section as a whole: its bead, and a line through the curves. */
function paintColumn({ context, tokens, count }, x, section, part) {
  const [from, to] = [x(section / count), x((section + 1) / count)];
  const wide = Math.max(to - from - (to - from >= APART ? 1.5 : 0), LEAST);
  const begin = Math.min(Math.max((from + to - wide) / 2, x(0)), x(1) - wide);
  context.fillStyle = tokens.ink;
  context.globalAlpha = part;
  context.beginPath();
  if (wide > FRAMED) {
    context.roundRect(begin + 0.5, 2, wide - 1, BEADS, 2);
    context.strokeStyle = tokens.ink;
    context.lineWidth = 2;
    context.stroke();
  } else {
    context.roundRect(begin - 0.5, 1, wide + 1, BEADS + 2, 2);
    context.fill();
  }
  context.fillRect(Math.round((from + to) / 2) - 0.5, BEADS + 2, 1, GAP + CURVES);
  context.globalAlpha = 1;
}

function paintTrack(context, { curves, odd }, { x, y, colour, dash, odd: wrong }) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.setLineDash(dash);
  for (const curve of curves) {
    context.beginPath();
    if (curve.length === 1) context.arc(x(curve[0].x), y(curve[0].y), 1.5, 0, 2 * Math.PI);
    else for (const point of curve) context.lineTo(x(point.x), y(point.y));
    if (curve.length === 1) context.fill();
    else context.stroke();
  }
  context.setLineDash([]);
  context.fillStyle = wrong;
  for (const place of odd) context.fillRect(x(place) - 1.5, y(1) - 1.5, 3, 3);
}

function paintFound(context, x, y) {
  context.beginPath();
  context.moveTo(x, y - 7);
  context.lineTo(x + 4.5, y);
  context.lineTo(x - 4.5, y);
  context.fill();
}
