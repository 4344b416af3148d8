// The upper canvas: what moves or glows: pulses with their numbers, the active node, wires, what is pointed at.

import { visibleBox } from "./camera.mjs";
import { boxOf, cellOf, rowsOf, shared, shownAs } from "./card.mjs";
import { pointAlong } from "./curve.mjs";
import { gradientWidth } from "./edges.mjs";
import { fitNum, toNumber, withMinus } from "./format.mjs";
import { brushFor, paintOver, ring } from "./paint.mjs";
import { flowsAt, isOdd, signOf } from "./state.mjs";
import { at, changedBy } from "./timeline.mjs";
import { widthOf } from "./text.mjs";
import { isWired, paintWires } from "./wiring.mjs";

const MOST_LABELS = 24;
const PLACES = [8, 30, 52, 76, 104].flatMap((far) => [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((part) => [far, part])); // where a label is tried
const SHORT = 8; // letters of a number that is written even where it covers a little
const MOST_COVERED = 0.35; // of such a one may lie on cards
const [TOP, LOW, SIDE] = [54, 48, 6]; // px of the view in which no label is tried: under the buttons, over the legend, at the border
const BADGE = 10; // how far a badge stands out of its node

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
  if (moment.moving) for (const one of flows) paintTravel(brush, one);
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

/** What is on its way on one edge: one pulse, or one for each path from cell to cell. */
function paintTravel(brush, { flow, edge, part, started }) {
  if (!started || part >= 1) return;
  const wires = flow.back && brush.detail > 0 ? liveOn(brush, edge) : [];
  if (!wires.length) {
    const route = brush.plane.routes.get(edge.id);
    paintPulse(brush, flow, (flow.back ? route.back : route.forward).flat, part, signOf(brush.moment, flow));
    return;
  }
  for (const wire of wires) {
    const arriving = edge.source === wire.op.id;
    const number = arriving ? wire.given : wire.given * toNumber(wire.local);
    paintPulse(brush, flow, arriving ? wire.arriving : wire.leaving, part, Math.sign(number) || null);
  }
}

function liveOn({ wires }, edge) {
  return !isWired(edge) ? [] : wires.filter((wire) => wire.live && (wire.edge.id === edge.id || (edge.source === wire.op.id && edge.target === wire.output.id)));
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

/** The number that travels, beside its edge: at the first of a few places where it covers nothing. */
function paintLabels(brush, flows) {
  const taken = [];
  for (const { text, flow, edge } of labelsOf(flows).slice(0, MOST_LABELS)) {
    const route = brush.plane.routes.get(edge.id);
    const wire = flow.back ? liveOn(brush, edge).at(-1) : null;
    const flat = !wire ? (flow.back ? route.back : route.forward).flat : edge.source === wire.op.id ? wire.arriving : wire.leaving;
    const box = placeLabel(brush, flat, text, taken);
    if (!box) continue;
    taken.push(box);
    writeLabel(brush, flow, text, box);
  }
}

/** What is written: once for equal numbers that go the same way, as the two of `x * x` do. */
export function labelsOf(flows) {
  const found = new Map();
  for (const { flow, edge, started } of flows) {
    if (!started || !flow.text) continue;
    const key = `${edge.source}|${edge.target}|${flow.text}`;
    if (found.has(key)) found.get(key).count += 1;
    else found.set(key, { flow, edge, count: 1 });
  }
  return [...found.values()].map(({ flow, edge, count }) => (
    { flow, edge, text: count === 1 ? withMinus(flow.text) : `${withMinus(flow.text)}, ${count === 2 ? "twice" : `${count} times`}` }));
}

function placeLabel(brush, flat, text, taken) {
  const w = widthOf(brush.context, brush.font.smallStrong, text) + 14;
  const h = 22;
  const room = roomFor(brush);
  let fallback = null;
  let least = MOST_COVERED * w * h;
  for (const [far, part] of PLACES) {
    const place = pointAlong(flat, part);
    const [nx, ny] = [-Math.sin(place.angle), Math.cos(place.angle)];
    const away = far + (Math.abs(nx) * w + Math.abs(ny) * h) / 2;
    for (const side of ny < 0 ? [-1, 1] : [1, -1]) {
      const [x, y] = [place.x + side * nx * away, place.y + side * ny * away];
      const box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
      if (box[0] < room[0] || box[1] < room[1] || box[2] > room[2] || box[3] > room[3]) continue;
      if (taken.some((other) => meets(box, other))) continue;
      const near = brush.plane.nodes.within([box[0] - BADGE, box[1] - 2, box[2] + 2, box[3] + BADGE]);
      if (!near.length) return box;
      const covered = near.reduce((sum, node) => sum + shared(box, boxOf(node)), 0);
      if (covered < least) [fallback, least] = [box, covered];
    }
  }
  return text.length <= SHORT ? fallback : null; // a long one would hide what it lies on; the sentence has it too
}

/** The part of the plane that is in view and under no bar. */
function roomFor({ camera, view }) {
  const [x0, y0, x1, y1] = visibleBox(camera, view, -SIDE / camera.zoom);
  return [x0, y0 + (TOP - SIDE) / camera.zoom, x1, y1 - (LOW - SIDE) / camera.zoom];
}

function meets(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

function writeLabel({ context, write, font, tokens, moment }, flow, text, [x0, y0, x1, y1]) {
  context.globalAlpha = 0.9;
  context.beginPath();
  context.roundRect(x0, y0, x1 - x0, y1 - y0, 6);
  context.fillStyle = tokens.bg;
  context.fill();
  context.globalAlpha = 1;
  const colour = !flow.back ? tokens.forward : isOdd(moment, flow.value) ? tokens.error : tokens.gradient;
  write(text, (x0 + x1) / 2, (y0 + y1) / 2, font.smallStrong, colour, "center");
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
  after.forEach((value, cell) => {
    const added = toNumber(value) - (before ? toNumber(before[cell]) : 0);
    if (added === 0) return;
    const box = cellOf(place, cell);
    const text = `${added > 0 ? "+" : ""}${fitNum(added, 5)}`;
    const [x, y] = [box.x + box.w / 2, box.y + box.h + 22 - sink * 22 - box.h / 2 * sink];
    const w = widthOf(context, font.smallStrong, text) + 12;
    context.globalAlpha = Math.min(1, (1 - moment.progress) * 5);
    context.beginPath();
    context.roundRect(x - w / 2, y - 11, w, 22, 11);
    context.fillStyle = tokens.gradient;
    context.fill();
    write(text, x, y, font.smallStrong, tokens.onGradient, "center");
    context.globalAlpha = 1;
  });
}
