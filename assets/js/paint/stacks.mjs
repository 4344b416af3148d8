// The strip of a stack: a cell for each of its members, coloured by the norm of the gradient that came to it.

import { at } from "../scene/timeline.mjs";
import { lookOf, shade } from "../scene/scale.mjs";
import { presentMember, stripOf } from "../scene/stacks.mjs";

/** @import { Node } from "../scene/scene.d.ts" */
/** @import { Brush } from "./paint.mjs" */

/** @type {(brush: Brush, node: Node) => void} */
export function paintStrip({ context, tokens, moment }, node) {
  const present = node.id === moment.active && moment.span?.group !== node.id ? presentMember(moment.scene, node, moment.t) : null;
  for (const { cell, x, y, w, h } of stripOf(node)) {
    const { kind, part } = lookOf(moment.scene.norms, at(cell.norm, moment.t) ?? null);
    context.fillStyle = kind === "odd" ? tokens.error : kind === "level" ? shade(tokens.panel, tokens.gradient, part) : tokens.field;
    context.fillRect(x, y, w, h);
    if (kind === "zero" || kind === "odd") mark(context, kind === "odd" ? tokens.panel : tokens.ink, x, y + h / 2, w);
  }
  const here = present && stripOf(node).find(({ cell }) => cell === present);
  if (!here) return;
  context.lineWidth = 2;
  context.strokeStyle = tokens.ink;
  context.strokeRect(here.x, here.y - 1, here.w, here.h + 2);
}

function mark(context, colour, x, y, w) {
  context.strokeStyle = colour;
  context.lineWidth = 1.6;
  context.beginPath();
  context.moveTo(x + w * 0.25, y);
  context.lineTo(x + w * 0.75, y);
  context.stroke();
}
