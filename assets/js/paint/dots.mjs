// The parts of a folded group that the scale of norms colours: its left edge, a dot for each parameter, and a cell for each member of a stack.

import { boxOf, DOT_RADIUS, dotsOf } from "../scene/card.mjs";
import { presentMember, stripOf } from "../scene/stacks.mjs";
import { at } from "../scene/timeline.mjs";
import { lookOf, normOfDot, shade } from "../scene/scale.mjs";

/** @import { Node, Num } from "../scene/scene.d.ts" */
/** @import { Brush } from "./paint.mjs" */

const EDGE = 7; // width of the left edge
const CORNER = 10;

/**
 * The left edge: empty before a gradient has come, dotted where it is zero, barred where it is not finite.
 * @type {(brush: Brush, node: Node, norm: Num | null) => void}
 */
export function paintNormEdge({ context, tokens, moment }, node, norm) {
  const look = lookOf(moment.scene.norms, norm);
  if (look.kind === "none") return;
  const [x0, y0, , y1] = boxOf(node);
  context.beginPath();
  context.roundRect(x0, y0, EDGE, y1 - y0, [CORNER, 0, 0, CORNER]);
  context.fillStyle = look.kind === "odd" ? tokens.error : look.kind === "zero" ? tokens.field : shade(tokens.panel, tokens.gradient, look.part);
  context.fill();
  if (look.kind === "level") return;
  context.lineWidth = 1.5;
  context.strokeStyle = look.kind === "odd" ? tokens.panel : tokens.saved;
  context.setLineDash([2, 4]);
  context.beginPath();
  context.moveTo(x0 + EDGE / 2, y0 + CORNER);
  context.lineTo(x0 + EDGE / 2, y1 - CORNER);
  context.stroke();
  context.setLineDash([]);
}

/** @type {(brush: Brush, node: Node) => void} */
export function paintDots(brush, node) {
  const { dots, more, end } = dotsOf(node);
  for (const { dot, x, y } of dots) paintDot(brush, x, y, normOfDot(brush.moment, dot), dot.shared ?? false);
  if (more && brush.detail > 1) brush.write(`+${more}`, end[0] - DOT_RADIUS, end[1], brush.font.plain, brush.tokens.soft);
}

/**
 * A parameter: a ring in the colour of leaves, filled by the norm of its gradient; a stroke through it for zero, a cross for nan and infinities.
 * One that several modules use has a second ring.
 * @type {(brush: Pick<Brush, "context" | "tokens" | "moment">, x: number, y: number, norm: Num | null, shared: boolean) => void}
 */
function paintDot({ context, tokens, moment }, x, y, norm, shared) {
  const look = lookOf(moment.scene.norms, norm);
  context.beginPath();
  context.arc(x, y, DOT_RADIUS, 0, 2 * Math.PI);
  context.fillStyle = look.kind === "odd" ? tokens.error : look.kind === "level" ? shade(tokens.panel, tokens.gradient, look.part) : tokens.panel;
  context.fill();
  context.lineWidth = 1.4;
  context.strokeStyle = tokens.leaf;
  context.stroke();
  if (shared) paintRing(context, x, y);
  if (look.kind === "zero") strokes(context, tokens.ink, [[x - 3.5, y, x + 3.5, y]]);
  if (look.kind === "odd") strokes(context, tokens.panel, [[x - 2.6, y - 2.6, x + 2.6, y + 2.6], [x - 2.6, y + 2.6, x + 2.6, y - 2.6]]);
}

function paintRing(context, x, y) {
  context.beginPath();
  context.arc(x, y, DOT_RADIUS + 2.6, 0, 2 * Math.PI);
  context.lineWidth = 1.2;
  context.stroke();
}

function strokes(context, colour, lines) {
  context.strokeStyle = colour;
  context.lineWidth = 1.6;
  context.beginPath();
  for (const [x0, y0, x1, y1] of lines) {
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
  }
  context.stroke();
}

/** @type {(brush: Brush, node: Node) => void} */
export function paintStrip({ context, tokens, moment }, node) {
  const present = node.id === moment.active && moment.span?.group !== node.id ? presentMember(moment.scene, node, moment.t) : null;
  for (const { cell, x, y, w, h } of stripOf(node)) {
    const { kind, part } = lookOf(moment.scene.norms, at(cell.norm, moment.t) ?? null);
    context.fillStyle = kind === "odd" ? tokens.error : kind === "level" ? shade(tokens.panel, tokens.gradient, part) : tokens.field;
    context.fillRect(x, y, w, h);
    if (kind === "zero" || kind === "odd") dash(context, kind === "odd" ? tokens.panel : tokens.ink, x, y + h / 2, w);
  }
  const here = present && stripOf(node).find(({ cell }) => cell === present);
  if (!here) return;
  context.lineWidth = 2;
  context.strokeStyle = tokens.ink;
  context.strokeRect(here.x, here.y - 1, here.w, here.h + 2);
}

function dash(context, colour, x, y, w) {
  context.strokeStyle = colour;
  context.lineWidth = 1.6;
  context.beginPath();
  context.moveTo(x + w * 0.25, y);
  context.lineTo(x + w * 0.75, y);
  context.stroke();
}
