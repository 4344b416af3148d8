// The wires of an op on a canvas: lines from cell to cell, in the style of the gradient on them; and the text of a wire.

import { pointAlong } from "../geometry/curve.mjs";
import { DOT } from "../geometry/wiring.mjs";
import { indexText, num } from "../scene/format.mjs";

const [FULL, HOLLOW, INSIDE] = [2.6, 4, 1.4]; // width of a line on which a gradient goes, of one with a negative number, and what is left free in that
const MANY = 8; // lines of which more are thinner, to be told apart where they lie close
const THIN = 0.7;
export const PAST = 0.75; // strength of a gradient that an earlier step has sent

export function paintWires(brush, wires, hovered) {
  const { context, tokens } = brush;
  const draw = (lines, colour, width, alpha = 1, gaps = []) => {
    if (!lines.length) return;
    context.setLineDash(gaps);
    context.beginPath();
    for (const { curve } of lines) {
      context.moveTo(curve[0][0], curve[0][1]);
      for (const b of curve) context.bezierCurveTo(b[2], b[3], b[4], b[5], b[6], b[7]);
    }
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.globalAlpha = alpha;
    context.stroke();
    context.globalAlpha = 1;
    context.setLineDash([]);
  };
  const lines = linesOf(wires);
  const [loud, quiet] = [true, false].map((is) => lines.filter((line) => line.loud === is));
  draw(quiet, tokens.soft, 1.1, loud.length ? 0.4 : 0.75);
  const thin = loud.length > MANY ? THIN : 1;
  draw(loud, tokens.bg, 5 * thin, 0.7);
  draw(loud.filter((line) => line.coming), tokens.gradient, 1.6, 1, [5, 5]); // nothing has travelled yet
  for (const [odd, past] of [[false, true], [false, false], [true, true], [true, false]]) {
    const [colour, alpha] = [odd ? tokens.error : tokens.gradient, past ? PAST : 1];
    const own = loud.filter((line) => !Number.isFinite(line.number) === odd && Boolean(line.past) === past);
    const hollow = own.filter((line) => line.number < 0 && !line.coming);
    draw(own.filter((line) => !(line.number < 0) && !line.coming), colour, FULL * thin, alpha);
    draw(hollow, colour, HOLLOW * thin, alpha);
    draw(hollow, tokens.bg, INSIDE * thin);
    context.globalAlpha = alpha;
    dots(brush, own, colour, DOT);
    arrows(brush, own.filter((line) => line.live), colour);
    context.globalAlpha = 1;
  }
  dots(brush, quiet, tokens.soft, 2);
  const same = hovered && wires.find((wire) => wire.edge === hovered.edge && wire.from === hovered.from && wire.to === hovered.to);
  if (same) draw([same], same.carries ? tokens.gradient : tokens.ink, 4);
}

/**
 * What is drawn of some wires: one line for each cell on each side of an op, `{ curve, flat, number, loud, live, coming, past }`, with the number
 * that travels on it.  On one that several wires share a gradient is seen where one of them has it.
 */
function linesOf(wires) {
  const lines = new Map();
  const add = (key, line) => line.curve && (line.loud || !lines.has(key)) && lines.set(key, line);
  for (const { op, edge, output, from, to, sides, arriving, leaving, upstream: number, sent, carries, live, comes, coming, past } of wires) {
    add(`${edge.id} ${from}`, { curve: sides.leaving, flat: leaving, number: sent, loud: carries, live, coming });
    add(`${op.id} ${output.id} ${to}`, { curve: sides.arriving, flat: arriving, number, loud: carries || comes, live: comes, coming, past });
  }
  return [...lines.values()];
}

/** Where a gradient arrives: at the op, and at the cell of the input. */
function arrows({ context }, lines, colour) {
  context.fillStyle = colour;
  context.beginPath();
  for (const { flat } of lines) {
    const { x, y, angle } = pointAlong(flat, 1);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const [bx, by] = [x - c * 10, y - s * 10];
    context.moveTo(x, y);
    context.lineTo(bx - s * 5, by + c * 5);
    context.lineTo(bx + s * 5, by - c * 5);
    context.closePath();
  }
  context.fill();
}

/** Where lines end at cells. */
function dots({ context }, lines, colour, radius) {
  context.fillStyle = colour;
  context.beginPath();
  for (const { curve: [[x, y]] } of lines) {
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.fill();
}

/** `∂z[0, 1] / ∂x[0, 1] = 2` */
export function wireText({ output, source, from, to, local }) {
  return `\u2202${output.label}${indexText(to, output.shape ?? [])} / \u2202${source.label}${indexText(from, source.shape ?? [])} = ${num(local)}`;
}
