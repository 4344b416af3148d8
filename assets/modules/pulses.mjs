// The upper canvas: what moves or glows: pulses with their numbers, the active node, wires, what is pointed at.

import { cellOf, rowsOf, shownAs } from "./card.mjs";
import { lineOf } from "./cards.mjs";
import { pointAlong } from "./curve.mjs";
import { gradientWidth } from "./edges.mjs";
import { MINUS, toNumber } from "./format.mjs";
import { liveOn, placedLabels } from "./labels.mjs";
import { brushFor, paintOver, ring } from "./paint.mjs";
import { gradientRoute } from "./plane.mjs";
import { flowsAt, isOdd, signOf } from "./state.mjs";
import { at, changedBy } from "./timeline.mjs";
import { fontsAt, SQUEEZE } from "./text.mjs";
import { paintWires } from "./wiring.mjs";

const APART = 26; // units from one pulse to the next of a file
const LEAD = { width: 1.2, dot: 3 }; // the line to a number that stands away from its route, and where it begins
const PILL = { pad: 4, apart: 2, h: 22 }; // what is being added: room beside its number, room to the next one, height

export function paintPulses(context, view, frame) {
  const brush = brushFor(context, view, frame);
  const { moment } = frame;
  const active = moment.active && moment.index.nodes.get(moment.active);
  if (active) glow(brush, active);
  if (frame.hover && frame.hover !== frame.selection) paintHover(brush, frame.hover);
  paintTwins(brush, frame.hover ?? frame.selection);
  if (frame.lit) paintLit(brush, frame.lit);
  if (frame.wires.length && brush.detail > 0) {
    paintWires(brush, frame.wires, frame.hoveredWire);
    for (const op of new Set(frame.wires.map((wire) => wire.op))) paintOver(brush, op);
  }
  const flows = flowsAt(moment);
  if (moment.moving) for (const one of flows) paintTravel(brush, one, flows.filter(({ flow, edge }) => goesAlong(one, flow, edge)));
  if (brush.detail > 0) paintLabels(brush, flows);
  if (moment.step?.kind === "accumulate" && moment.moving && active && brush.detail === 2) paintAdding(brush, active);
}

/** A halo that swells while the step runs and rests at its end. */
function glow(brush, node) {
  const { context, tokens, moment } = brush;
  if (moment.step.kind === "write") return;
  const swell = moment.moving ? Math.sin(Math.PI * moment.progress) : 0;
  const error = moment.step.kind === "error";
  context.globalAlpha = error ? 0.22 : 0.75 + 0.25 * swell;
  ring(brush, node, error ? tokens.error : moment.backward ? tokens.glow : tokens.glowForward, 8 + 6 * swell, 5 + 3 * swell);
  context.globalAlpha = 1;
}

function paintHover(brush, id) {
  const node = brush.moment.index.nodes.get(id);
  if (node) ring(brush, node, brush.tokens.saved, 1.5);
}

/** What a term of the formula stands for, that is pointed at: a value in ink, a gradient in its colour.  Or what a search has found. */
function paintLit(brush, { id, gradient }) {
  const { tokens, moment } = brush;
  const node = shownAs(moment.index, id);
  if (!node) return;
  ring(brush, node, gradient ? tokens.glow : tokens.line, 10, 8);
  ring(brush, node, gradient ? tokens.gradient : tokens.ink, 3, 5);
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

/** Whether a flow goes the way of another one, as the two of `x * x` do: their routes lie close together. */
const goesAlong = (one, flow, edge) => flow.back === one.flow.back && edge.source === one.edge.source && edge.target === one.edge.target;

/** What is on its way on one edge, of `file` that go the same way: one pulse, or one for each path from cell to cell. */
function paintTravel(brush, one, file) {
  const { flow, edge, part, started } = one;
  if (!started || part >= 1) return;
  const wires = flow.back && brush.detail > 0 ? liveOn(brush, edge) : [];
  if (!wires.length) {
    const { flat } = flow.back ? gradientRoute(brush.plane, brush.moment, edge) : brush.plane.routes.get(edge.id).forward;
    const own = inFile(part, file.indexOf(one), file.length, APART / flat.total);
    if (own < 1) paintPulse(brush, flow, flat, own, signOf(brush.moment, flow));
    return;
  }
  wires.forEach((wire, i) => {
    const arriving = edge.source === wire.op.id;
    const number = arriving ? wire.given : wire.given * toNumber(wire.local);
    const way = arriving ? wire.arriving : wire.leaving;
    const own = inFile(part, i, wires.length, APART / way.total);
    if (own > 0 && own < 1) paintPulse(brush, flow, way, own, Math.sign(number) || null);
  });
}

/** Where the pulse `i` of `count` is when their file is at `part`: their ways lie close together, so one follows the other, and the last one is there at the end. */
export function inFile(part, i, count, apart) {
  const lag = count > 1 ? Math.min(apart, 0.6 / (count - 1)) : 0;
  return Math.min(Math.max(part * (1 + lag * (count - 1)) - lag * i, 0), 1);
}

function paintPulse({ context, tokens, detail, camera, moment }, flow, flat, part, sign) {
  const place = pointAlong(flat, ease(part));
  const colour = !flow.back ? tokens.forward : isOdd(moment, flow.value) ? tokens.error : tokens.gradient;
  const scale = detail === 0 ? 0.5 / camera.zoom : 1;
  const radius = (flow.back ? 4.5 + gradientWidth(flow.size) : 6) * scale;
  disc(context, place, radius * 1.9, flow.back ? tokens.glow : tokens.glowForward);
  const hollow = flow.back && (sign === -1 || sign === 0);
  disc(context, place, radius, hollow ? tokens.bg : colour);
  if (hollow) {
    context.lineWidth = 2.2 * scale;
    context.strokeStyle = colour;
    context.stroke();
  }
  if (flow.back && sign !== null && sign !== 0) {
    context.fillStyle = hollow ? colour : tokens.onGradient;
    const half = radius * 0.52;
    context.fillRect(place.x - half, place.y - 0.9 * scale, 2 * half, 1.8 * scale);
    if (sign === 1) context.fillRect(place.x - 0.9 * scale, place.y - half, 1.8 * scale, 2 * half);
  }
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

function paintLabels(brush, flows) {
  const { rest = brush.camera } = brush;
  const placed = placedLabels(rest === brush.camera ? brush : { ...brush, camera: rest, font: fontsAt(brush.tokens, rest) }, flows);
  for (const one of placed) if (one.lead) paintLead(brush, one);
  for (const { text, flow, box } of placed) writeLabel(brush, flow, text, box);
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

const colourOf = ({ tokens, moment }, flow) => (!flow.back ? tokens.forward : isOdd(moment, flow.value) ? tokens.error : tokens.gradient);

function writeLabel(brush, flow, text, [x0, y0, x1, y1]) {
  const { context, write, font, tokens } = brush;
  context.globalAlpha = 0.9;
  context.beginPath();
  context.roundRect(x0, y0, x1 - x0, y1 - y0, 6);
  context.fillStyle = tokens.bg;
  context.fill();
  context.globalAlpha = 1;
  write(text, (x0 + x1) / 2, (y0 + y1) / 2, font.smallStrong, colourOf(brush, flow), "center");
}

/** What is being added to .grad, sinking into its cell. */
function paintAdding(brush, node) {
  const { context, tokens, font, moment, write } = brush;
  const place = rowsOf(node).find((one) => one.row.key === "grad");
  if (!place?.row.cols || !changedBy(place.row.track, moment.k)) return;
  const data = (time) => moment.scene.values[at(place.row.track, time)]?.data ?? null;
  const [before, after] = [data(moment.k), data(moment.k + 1)];
  if (!after) return;
  const sink = ease(Math.min(moment.progress / 0.8, 1));
  const added = after.map((value, cell) => toNumber(value) - (before ? toNumber(before[cell]) : 0));
  const pills = pillsOf(font, place, added);
  context.globalAlpha = Math.min(1, (1 - moment.progress) * 5);
  for (const { cell, text, w, most } of pills) {
    const box = cellOf(place, cell);
    const [x, y] = [box.x + box.w / 2, box.y + box.h + 22 - sink * 22 - box.h / 2 * sink];
    context.beginPath();
    context.roundRect(x - w / 2, y - PILL.h / 2, w, PILL.h, PILL.h / 2);
    context.fillStyle = tokens.gradient;
    context.fill();
    write(text, x, y, font.smallStrong, tokens.onGradient, "center", most);
  }
  context.globalAlpha = 1;
}

/** What is added to the cells of a row, as pills that do not meet: `[{ cell, text, w, most }]`; none where nothing is. */
export function pillsOf(font, place, added) {
  const room = place.pitchX - PILL.apart - 2 * PILL.pad;
  const sizes = lineOf(font, added.map(Math.abs), room - font.smallPitch * SQUEEZE, { least: true }).texts; // beside its sign
  const texts = sizes.map((size, cell) => `${added[cell] > 0 ? "+" : added[cell] < 0 ? MINUS : ""}${size}`);
  const pitch = font.smallPitch * Math.min(1, room / (font.smallPitch * Math.max(...texts.map((text) => text.length))));
  return texts.map((text, cell) => ({ cell, text, most: text.length * pitch, w: text.length * pitch + 2 * PILL.pad })).filter(({ cell }) => added[cell] !== 0);
}
