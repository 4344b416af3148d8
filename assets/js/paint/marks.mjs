// Small marks on nodes: waiting for gradients, saved tensors, the button that folds.

import { foldMark } from "../scene/card.mjs";
import { BADGE } from "../scene/shared.mjs";
import { savedState } from "../scene/state.mjs";
import { firstFitting } from "../geometry/text.mjs";

/** @import { Node } from "../scene/scene.d.ts" */
/** @import { Brush } from "./paint.mjs" */

const RADIUS = 8;
/** Where the badge of an op is, from its corner: on its outline, over the line of its name; and how much of that line it may want for itself. */
export const OP_BADGE = { x: 10, y: 4, room: BADGE };

/** waiting: a ring; ready: a ring with a dot; done: a disc with a check mark; error: a red disc with "!".  Shapes differ, not only colours. */
export function paintBadge({ context, tokens }, state, x, y) {
  const colour = state === "error" ? tokens.error : tokens.gradient;
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
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

/**
 * What an op saves, without the word that the scene may begin it with: the state is said by `saved`, `kept` or `freed`.
 * @type {(node: Node) => string}
 */
export function savedNames(node) {
  return node.saved.map((one) => (one.text || one.name).replace(/^saved /, "")).join(", ");
}

/**
 * What an op keeps for backward, inside its pill: dashed while saved, dotted and struck through when freed.
 * @type {(brush: Brush, node: Node) => void}
 */
export function paintChip(brush, node) {
  const { context, write, ruler, font, tokens, moment } = brush;
  const state = savedState(moment, node);
  if (state === "none" || !node.saved.length) return;
  const names = savedNames(node);
  const room = node.w - 32;
  const text = firstFitting(ruler, font.plain, [`${state} ${names}`, state], room); // the names are in the tooltip and the inspector too
  const w = ruler.widthOf(font.plain, text) + 16;
  const [x, y] = [node.x - w / 2, node.y + node.h / 2 - 33];
  context.beginPath();
  context.roundRect(x, y, w, 22, 6);
  context.lineWidth = state === "kept" ? 1.6 : 1.2;
  context.strokeStyle = state === "kept" ? tokens.soft : tokens[state];
  context.setLineDash(state === "freed" ? [1, 4] : [4, 3]);
  context.stroke();
  context.setLineDash([]);
  write(text, node.x, y + 11, font.plain, state === "kept" ? tokens.ink : state === "freed" ? tokens.freed : tokens.soft, "center");
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
