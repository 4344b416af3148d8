// The upper canvas, with everything that moves or glows: pulses with their numbers, the active node, wires, the element under the pointer.

import { cellOf, rowsOf, shownAs } from "../scene/card.mjs";
import { pointAlong } from "../geometry/curve.mjs";
import { gradientWidth, paintEdges } from "./edges.mjs";
import { fitNum, fitRow, MINUS, toNumber } from "../scene/format.mjs";
import { linesOn, placedLabels } from "./labels.mjs";
import { brushFor, paintOver, ring } from "./paint.mjs";
import { gradientRoute } from "../geometry/plane.mjs";
import { flowsAt, isOdd, signOf } from "../scene/state.mjs";
import { at, changedBy } from "../scene/timeline.mjs";
import { fontsAt } from "../geometry/text.mjs";
import { paintWires } from "./wires.mjs";

/** @import { Flow, Node } from "../scene/scene.d.ts" */
/** @import { Brush, Frame } from "./paint.mjs" */

const APART = 26; // units from one pulse to the next of a file
const LARGEST = 1 / 8; // largest radius of a pulse, as a part of its route: the arrowhead of a short route stays visible
const PLATE = { x: 4, y: 3 }; // how much smaller the plate under a number is than the space reserved for it
const LEAD = { width: 1.2, dot: 3 }; // the line to a number that stands away from its route, and where it begins
const PILL = { pad: 4, apart: 2, h: 22 }; // what is being added: room beside its number, room to the next one, height

/** @type {(context: any, view: any, frame: Frame) => void} */
export function paintPulses(context, view, frame) {
  const brush = brushFor(context, view, frame);
  const { moment } = frame;
  const active = moment.active && moment.index.nodes.get(moment.active);
  const flows = flowsAt(moment);
  const numbers = brush.detail > 0 ? numbersOf(brush, flows) : [];
  for (const { box } of numbers) paintPlate(brush, box); // under all that moves
  if (active) glow(brush, active);
  if (active && flows.length && brush.detail > 0) paintAgain(brush, active, flows);
  if (frame.hover && frame.hover !== frame.selection) paintHover(brush, frame.hover);
  paintTwins(brush, frame.hover ?? frame.selection);
  if (frame.lit) paintLit(brush, frame.lit);
  for (const node of frame.choosable ?? []) paintChoosable(brush, node, node.id === frame.hover || node.id === frame.selection);
  if (frame.wires.length && brush.detail > 0) {
    paintWires(brush, frame.wires, frame.hoveredWire);
    for (const op of new Set(frame.wires.map((wire) => wire.op))) paintOver(brush, op);
  }
  for (const one of numbers) if (one.lead) paintLead(brush, one);
  if (moment.moving) for (const one of flows) paintTravel(brush, one, flows.filter(({ flow, edge }) => goesAlong(one, flow, edge)));
  for (const { text, flow, box: [x0, y0, x1, y1] } of numbers) brush.write(text, (x0 + x1) / 2, (y0 + y1) / 2, brush.font.smallStrong, colourOf(brush, flow), "center");
  if (moment.step?.kind === "accumulate" && moment.moving && active && brush.detail === 2) paintAdding(brush, active);
}

/**
 * A halo that swells while the step runs and rests at its end.
 * @type {(brush: Brush, node: Node) => void}
 */
function glow(brush, node) {
  const { context, tokens, moment } = brush;
  if (moment.step?.kind === "write") return;
  const swell = moment.moving ? Math.sin(Math.PI * moment.progress) : 0;
  const error = moment.step?.kind === "error";
  context.globalAlpha = error ? 0.22 : 0.75 + 0.25 * swell;
  ring(brush, node, error ? tokens.error : moment.backward ? tokens.glow : tokens.glowForward, 8 + 6 * swell, 5 + 3 * swell);
  context.globalAlpha = 1;
}

/** The routes of the step over the halo: their arrowheads say which way they go. */
function paintAgain(brush, active, flows) {
  paintEdges(brush, flows.map(({ edge }) => edge));
  paintOver(brush, active);
}

function paintHover(brush, id) {
  const node = brush.moment.index.nodes.get(id);
  if (node) ring(brush, node, brush.tokens.saved, 1.5);
}

/** The node of the formula's term under the pointer: ink for a value, its own colour for a gradient.  Or the result of a search. */
function paintLit(brush, { id, gradient }) {
  const { tokens, moment } = brush;
  const node = shownAs(moment.index, id);
  if (!node) return;
  ring(brush, node, gradient ? tokens.glow : tokens.line, 10, 8);
  ring(brush, node, gradient ? tokens.gradient : tokens.ink, 3, 5);
}

/**
 * The nodes that can be picked for a panel: a broken ring around each, and a whole one around the node under the pointer.
 * @type {(brush: Brush, node: Node, chosen: any) => void}
 */
function paintChoosable(brush, node, chosen) {
  const { context, tokens } = brush;
  ring(brush, node, tokens.rootTint, 10, 8);
  if (!chosen) context.setLineDash([7, 5]);
  ring(brush, node, tokens.root, 3, 8);
  context.setLineDash([]);
}

/** The other places of the same tensor: outlined, and joined with a dotted line. */
function paintTwins(brush, id) {
  const { context, tokens, moment } = brush;
  const node = id && moment.index.nodes.get(id);
  if (!node) return;
  const home = moment.index.nodes.get(node.twin ?? node.id);
  const others = moment.index.twins.get(home?.id ?? "") ?? [];
  if (!home || !others.length) return;
  context.setLineDash([1, 6]);
  context.lineCap = "round";
  for (const other of others.map((one) => moment.index.nodes.get(one))) {
    ring(brush, other, tokens.leaf, 1.5);
    context.beginPath();
    context.moveTo(home.x, home.y + home.h / 2);
    context.lineTo(other.x, other.y - other.h / 2);
    context.strokeStyle = tokens.leaf;
    context.lineWidth = 2;
    context.stroke();
  }
  context.setLineDash([]);
  context.lineCap = "butt";
  ring(brush, home, tokens.leaf, 1.5);
}

/** Whether two flows take the same route, such as those of `x * x`: their curves lie close together. */
const goesAlong = (one, flow, edge) => flow.back === one.flow.back && edge.source === one.edge.source && edge.target === one.edge.target;

/** The pulses on one edge, part of the `file` of flows with the same route: one pulse, or one for each line from cell to cell. */
function paintTravel(brush, one, file) {
  const { flow, edge, part, started } = one;
  if (!started || part >= 1) return;
  const lines = flow.back && brush.detail > 0 ? linesOn(brush, edge) : [];
  const [before, count] = [file.indexOf(one), file.length];
  if (!lines.length) {
    const { flat } = flow.back ? gradientRoute(brush.plane, brush.moment, edge) : brush.plane.routes.get(edge.id).forward;
    const own = inFile(part, before, count, APART / flat.total);
    if (own < 1) paintPulse(brush, flow, flat, own, signOf(brush.moment, flow));
    return;
  }
  lines.forEach(({ flat, number }, i) => {
    const own = inFile(part, before * lines.length + i, count * lines.length, APART / flat.total);
    if (own > 0 && own < 1) paintPulse(brush, flow, flat, own, Number.isFinite(number) ? Math.sign(number) : null, !Number.isFinite(number));
  });
}

/** The position of pulse `i` of `count` when their file is at `part`. Pulses on one route follow each other, and the last one arrives at the end of the step. */
export function inFile(part, i, count, apart) {
  const lag = count > 1 ? Math.min(apart, 0.6 / (count - 1)) : 0;
  return Math.min(Math.max(part * (1 + lag * (count - 1)) - lag * i, 0), 1);
}

/** One pulse: a disc with `+`, a ring with `−`, a broken ring with `0`; a disc without a sign if signs are mixed or unknown. */
function paintPulse(brush, flow, flat, part, sign, odd = isOdd(brush.moment, flow.value)) {
  const { context, tokens, detail, camera } = brush;
  const place = pointAlong(flat, ease(part));
  const colour = !flow.back ? tokens.forward : odd ? tokens.error : tokens.gradient;
  const scale = detail === 0 ? 0.5 / camera.zoom : 1;
  const full = (flow.back ? 4.5 + gradientWidth(flow.size) : 6) * scale;
  const radius = detail === 0 ? full : Math.min(full, flat.total * LARGEST);
  disc(context, place, radius * 1.9, flow.back ? tokens.glow : tokens.glowForward);
  const hollow = flow.back && (sign === -1 || sign === 0);
  disc(context, place, radius, hollow ? tokens.bg : colour);
  if (hollow) {
    context.lineWidth = 2.2 * scale;
    context.strokeStyle = colour;
    if (sign === 0) context.setLineDash([radius / 3, radius / 3]); // a whole ring would look like a waiting node
    context.stroke();
    context.setLineDash([]);
  }
  if (flow.back && sign !== null) paintSign(context, place, sign, radius * 0.52, scale, hollow ? colour : tokens.onGradient);
}

function paintSign(context, { x, y }, sign, half, scale, colour) {
  if (sign === 0) {
    context.beginPath();
    context.roundRect(x - half * 0.6, y - half, half * 1.2, half * 2, half * 0.6);
    context.lineWidth = 1.6 * scale;
    context.strokeStyle = colour;
    context.stroke();
    return;
  }
  context.fillStyle = colour;
  context.fillRect(x - half, y - 0.9 * scale, 2 * half, 1.8 * scale);
  if (sign === 1) context.fillRect(x - 0.9 * scale, y - half, 1.8 * scale, 2 * half);
}

function disc(context, { x, y }, radius, colour) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
}

function ease(part) {
  return part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part);
}

/** The numbers of the step, at their positions for the camera at rest. */
function numbersOf(brush, flows) {
  const { rest = brush.camera } = brush;
  return placedLabels(rest === brush.camera ? brush : { ...brush, camera: rest, font: fontsAt(brush.tokens, rest) }, flows);
}

/** From a number to a place of its route. */
function paintLead(brush, { flow, lead: [[x, y], end] }) {
  const { context } = brush;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(...end);
  context.strokeStyle = colourOf(brush, flow);
  context.lineWidth = LEAD.width;
  context.stroke();
  disc(context, { x, y }, LEAD.dot, colourOf(brush, flow));
}

/** @type {(brush: Brush, flow: Flow) => string} */
const colourOf = ({ tokens, moment }, flow) => (!flow.back ? tokens.forward : isOdd(moment, flow.value) ? tokens.error : tokens.gradient);

/** The ground of a number, as large as its text. */
function paintPlate({ context, tokens }, [x0, y0, x1, y1]) {
  context.globalAlpha = 0.9;
  context.beginPath();
  context.roundRect(x0 + PLATE.x, y0 + PLATE.y, x1 - x0 - 2 * PLATE.x, y1 - y0 - 2 * PLATE.y, 4);
  context.fillStyle = tokens.bg;
  context.fill();
  context.globalAlpha = 1;
}

/**
 * The numbers that are being added to `.grad`, sinking into their cells.
 * @type {(brush: Brush, node: Node) => void}
 */
function paintAdding(brush, node) {
  const { context, tokens, font, moment, write } = brush;
  const place = rowsOf(node).find((one) => one.row.key === "grad");
  if (!place?.row.cols || !changedBy(place.row.track, moment.k)) return;
  const data = (time) => moment.scene.values[at(place.row.track, time) ?? -1]?.data ?? null;
  const [before, after] = [data(moment.k), data(moment.k + 1)];
  if (!after) return;
  const sink = ease(Math.min(moment.progress / 0.8, 1));
  const added = after.map((value, cell) => toNumber(value) - (before ? toNumber(before[cell]) : 0));
  const pills = pillsOf(font, place, added);
  context.globalAlpha = Math.min(1, (1 - moment.progress) * 5);
  for (const { cell, text, w } of pills) {
    const box = cellOf(place, cell);
    const [x, y] = [box.x + box.w / 2, box.y + box.h + 22 - sink * 22 - box.h / 2 * sink];
    context.beginPath();
    context.roundRect(x - w / 2, y - PILL.h / 2, w, PILL.h, PILL.h / 2);
    context.fillStyle = tokens.gradient;
    context.fill();
    write(text, x, y, font.smallStrong, tokens.onGradient, "center");
  }
  context.globalAlpha = 1;
}

/** The numbers that are added to the cells of a row, as pills that do not overlap: `[{ cell, text, w }]`; empty if nothing is added. */
export function pillsOf(font, place, added) {
  const room = place.pitchX - PILL.apart - 2 * PILL.pad;
  const letters = Math.floor(room / font.smallPitch);
  const sizes = fitRow(added.map(Math.abs), letters - 1); // beside its sign
  const texts = sizes.map((size, cell) => (added[cell] > 0 ? `+${size}` : added[cell] < 0 ? `${MINUS}${size}` : fitNum(added[cell], letters)));
  return texts.map((text, cell) => ({ cell, text, w: text.length * font.smallPitch + 2 * PILL.pad })).filter(({ cell }) => added[cell] !== 0);
}
