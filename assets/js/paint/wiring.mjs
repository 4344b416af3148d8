// The wiring of an op cell by cell: from each cell of an input, through the pill, to the cells of the output that it reaches.

import { boxOf, cellOf, cornerOf, rowsOf } from "../scene/card.mjs";
import { distanceTo, flatten, pointAlong, changesLine } from "../geometry/curve.mjs";
import { indexText, num, toNumber } from "../scene/format.mjs";
import { isLeaf, wiredOps, wiresOf as allWiresOf } from "../scene/state.mjs";
import { at } from "../scene/timeline.mjs";

const SPREAD = 0.62; // part of the pill's side over which wires enter,
const HEAD = 8; // under the arrowheads of values: so far from these,
const LEAST = 12; // over so much at least,
const LOW = 0.73; // and down to this part of the lower half: there a pill is still nearly upright
const BUNDLE = 16; // height of the bundle of wires that goes around a card, where there is room,
const CLEAR = 6; // and how far it keeps from that card and from the next one below
const TOUCH = 1.5; // how far a wire may be over a border
const BEND = 6; // how far from a card's side one runs down along it
const [FULL, HOLLOW, INSIDE] = [2.6, 4, 1.4]; // width of a line on which a gradient goes, of one with a negative number, and what is left free in that
const MANY = 8; // lines of which more are thinner, to be told apart where they lie close
const THIN = 0.7;
const DOT = 3.2; // radius of the end of a line, which touches its cell and covers nothing in it
export const PAST = 0.75; // strength of a gradient that an earlier step has sent
const LANE = 14; // from a wire to the next one that ends in the same cell
const ONE = { i: 0, n: 1 };
const curves = new WeakMap();
const rooms = new WeakMap();
const looked = new WeakSet(); // ops whose wires are known to have a free way or not,
const blocked = new WeakSet(); // and the edges beside which they have none

const MOST_LIVE = 16; // wires of a running VJP that are shown unasked

/**
 * The wires of some ops at a moment, each with its curve; on `live` ones the gradient passes now, by those that `comes` is true of it comes to
 * the op at least.  One that ends there has no cell that it leads to (`from` is null).
 */
export function wiresAt(moment, ops, tensors = []) {
  const running = liveWires(moment);
  const lively = new Set(running.map((wire) => wire.op.id));
  const asked = new Set(ops.map((op) => op.id));
  const shown = new Set(running.map(keyOf));
  const around = tensors.flatMap((node) => wiresAround(moment, node)).filter((wire) => !shown.has(keyOf(wire)));
  const wires = [...ops.flatMap((op) => anyDrawn(wiresOf(moment, op))), ...[...around, ...running].filter((wire) => !asked.has(wire.op.id))];
  const past = moment.step?.kind === "accumulate"; // what came to the op had come before it went on to the leaf
  return wires.map((wire) => Object.assign(curveOf(wire), wire, { past, live: wire.carries && lively.has(wire.op.id), comes: wire.given !== 0 && lively.has(wire.op.id) }));
}

const keyOf = ({ edge, from, to }) => `${edge.id}|${from}>${to}`;

/** Of a tensor that is looked at: the wires that begin or end in its cells, op by op, where they are few and hide nothing. */
function wiresAround(moment, node) {
  const { index } = moment;
  return wiredOps(index, node.id).flatMap((op) => {
    const wires = anyDrawn(wiresOf(moment, op)).filter((wire) => wire.source === node || wire.output === node);
    return wires.length <= MOST_LIVE && wires.every((wire) => isClear(wire, index)) ? wires : [];
  });
}

/** Between open cards, the paths from cell to cell that the gradient takes in a VJP or took to a leaf; none where they are many. */
function liveWires(moment) {
  const { step, index, active } = moment;
  const node = active === null ? null : index.nodes.get(active);
  let wires = [];
  if (node?.kind === "op" && step.kind === "vjp") wires = wiresOf(moment, node);
  else if (node && isLeaf(node) && step.kind === "accumulate") {
    wires = wiredOps(index, active).flatMap((op) => wiresOf(moment, op)).filter((wire) => wire.source === node);
  }
  const carrying = anyDrawn(wires.filter((wire) => wire.carries));
  const isShown = (wire) => isOpen(wire.source) && isOpen(wire.output) && isPlain(wire) && isClear(wire, index);
  if (carrying.length > MOST_LIVE || !carrying.every(isShown)) return [];
  const stops = step?.kind === "vjp" ? endingIn(wires, carrying) : [];
  return carrying.length + stops.length <= MOST_LIVE && stops.every(isShown) ? [...carrying, ...stops] : carrying;
}

/** The wires that bring a gradient to an op from cells from which none goes on: one for each cell. */
function endingIn(wires, carrying) {
  const cells = new Set(carrying.map((wire) => wire.to));
  return wires.filter(({ to, after, given }) => given !== 0 && isWired(after) && !cells.has(to) && cells.add(to)).map((wire) => ({ ...wire, from: null }));
}

/** Whether a wire runs over no node but those that it joins: over a card it would hide the numbers there. */
function isClear(wire, index) {
  const curve = Object.getPrototypeOf(curveOf(wire));
  if (curve.clear !== undefined) return curve.clear;
  const { xs, ys } = curve.flat;
  const own = new Set([wire.op.id, wire.source.id, wire.output.id]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const near = [...index.nodes.values()].filter((node) => !own.has(node.id) && node.x - node.w / 2 < right && left < node.x + node.w / 2);
  curve.clear = !near.some((node) => xs.some((x, i) => Math.abs(x - node.x) < node.w / 2 && Math.abs(ys[i] - node.y) < node.h / 2));
  return curve.clear;
}

/**
 * Whether wires are drawn beside an edge: not where it goes on in another line of the picture, nor where they would cross a
 * card that is not its end (which `wiresAt` has found out); there its route says it all.
 */
export function isWired(edge) {
  return !changesLine(edge.points) && !blocked.has(edge);
}

/** The wires of an op, each with the rows at which it ends; they know then whether they have a free way. */
function wiresOf(moment, op) {
  const wires = allWiresOf(moment, op);
  const phase = callAt(moment);
  for (const wire of wires) {
    wire.scene = moment.scene;
    wire.values = [...(moment.index.incoming.get(op.id) ?? []).map(({ points }) => points.at(-1)), ...moment.index.outgoing.get(op.id).map(({ points }) => points[0])];
    wire.ends = endsOf(wire, phase);
    wire.sent = sentOn(moment, wire);
    wire.carries &&= !isLost(wire, wires);
  }
  if (looked.has(op)) return wires;
  looked.add(op);
  for (const call of new Set([phase, ...moment.scene.phases.filter((one) => one.kind === "backward")])) {
    for (const wire of wires) {
      const { leaving, arriving } = halves({ ...wire, ends: endsOf(wire, call) });
      if (leaving && isCrossed(moment.scene, leaving, [op, wire.source])) blocked.add(wire.edge);
      if (isCrossed(moment.scene, arriving, [op, wire.output])) blocked.add(wire.after);
    }
  }
  return wires;
}

/** The backward call of a moment: the one that runs, else the next one, else the last one; null where there is none. */
function callAt({ phase, scene, t }) {
  const calls = scene.phases.filter((one) => one.kind === "backward");
  return calls.includes(phase) ? phase : calls.find((one) => one.start >= t) ?? calls.at(-1) ?? null;
}

/**
 * Where a wire ends: in the row that shows what goes over it.  Where it arrives, that is a `.grad` that the call writes; where it
 * sets out, the gradient that the call passes, or a `.grad` that it left as this op gets it.  A card that shows it in no row is met
 * at its border, beside its value, or where it sets out from several cells under them: the value itself is not what is passed.
 */
function endsOf({ op, source, output }, call) {
  const [seed, kept] = [placeOf(output, "seed"), placeOf(output, "grad")];
  const start = seed && isPassed(seed.row, call) ? seed : kept && isWritten(kept.row, call) && isGiven(kept.row, op, call) ? kept : null;
  const grad = placeOf(source, "grad");
  return { source: grad && isWritten(grad.row, call) ? grad : besideValue(source), output: start ?? besideValue(output, true) };
}

const placeOf = (node, key) => rowsOf(node).find((one) => one.row.key === key && one.row.cols);

function besideValue(node, leaves = false) {
  const value = placeOf(node, "value");
  return value && { ...value, border: true, leaves };
}

function isWritten({ track }, call) {
  return call !== null && track.some(([step, id]) => step > call.start && step <= call.end && id !== null);
}

/** Whether a `.grad` after a call is what the call passed on to an op: not where it had grown in an earlier call (equal values have one id). */
const isGiven = ({ track }, op, call) => at(track, call.end) === at(op.tracks.upstream, call.end);

function isPassed(row, call) {
  return call !== null && (Array.isArray(row.call) ? row.call.some(([, one]) => one === call.call) : (row.call ?? call.call) === call.call);
}

/** What comes to the cell that a wire leads to, of all wires of its edge. */
function sentOn(moment, { edge, from, given, local }) {
  const flow = moment.step?.flows.find((one) => one.back && one.edge === edge.id);
  const id = flow ? flow.value : at(edge.tracks.cotangent, moment.t);
  const data = id === null || id === undefined ? null : moment.scene.values[id].data;
  return data && from !== null ? toNumber(data[from]) : given * toNumber(local);
}

/** Whether what a wire would bring is a zero in its dtype: 1e-4 times 1e-4 in half precision. */
function isLost(wire, wires) {
  return wire.sent === 0 && !wires.some((one) => one !== wire && one.carries && one.edge === wire.edge && one.from === wire.from);
}

/** Whether a curve passes over a card other than some. */
function isCrossed(scene, curve, own) {
  const { xs, ys } = flatten(curve);
  return scene.nodes.some((node) => {
    if (own.includes(node)) return false;
    const [x0, y0, x1, y1] = boxOf(node);
    return xs.some((x, i) => x > x0 + TOUCH && x < x1 - TOUCH && ys[i] > y0 + TOUCH && ys[i] < y1 - TOUCH);
  });
}

function anyDrawn(wires) {
  return wires.filter((wire) => isWired(wire.edge) || isWired(wire.after));
}

function isOpen(node) {
  return node.rows.some((row) => row.cols);
}

/** Whether a wire ends at rows of one line: of several lines the framed cells tell better, since a way to the upper ones runs past the lower. */
function isPlain({ ends }) {
  return [ends.source, ends.output].every((place) => !place || place.row.rows === 1);
}

function curveOf(wire) {
  let known = curves.get(wire.edge);
  if (!known) curves.set(wire.edge, (known = new Map()));
  const key = `${wire.from}>${wire.to} ${wire.ends.source?.row.key} ${wire.ends.output?.row.key}`; // a value is met beside it
  if (!known.has(key)) known.set(key, layWire(wire));
  return Object.create(known.get(key)); // what a wire carries changes with time, its way does not
}

/** From the cell of the input to the op, and from that of the output. */
function halves({ scene, op, source, output, from, to, ends, lane, values }) {
  const end = { ...anchor(output, ends.output, to, op), room: roomBelow(scene, output) };
  const b = port(op, output, end.part, values);
  const arriving = half(end, b);
  if (from === null) return { b, arriving, leaving: null };
  const start = { ...anchor(source, ends.source, from, op, lane), room: roomBelow(scene, source) };
  const a = port(op, source, start.part, values);
  return { a, b, leaving: half(start, a), arriving };
}

function layWire(wire) {
  const { edge, after } = wire;
  const { a, b, leaving, arriving } = halves(wire);
  const [goes, comes] = [isWired(edge) && leaving, isWired(after) && arriving];
  const through = goes && comes ? [[...a.at, ...a.at, ...b.at, ...b.at]] : [];
  const curve = [...(goes || []), ...through, ...(comes ? arriving.slice().reverse().map(turned) : [])];
  const kept = {};
  return {
    curve,
    /** What of it is drawn on each side of its op, from the card on. */
    sides: { leaving: goes || null, arriving: comes || null },
    get flat() {
      return (kept.flat ??= flatten(curve));
    },
    /** The way of the gradient: from the output's cell to the op … */
    get arriving() {
      return (kept.arriving ??= flatten(arriving));
    },
    /** … and on to the input's cell. */
    get leaving() {
      return leaving && (kept.leaving ??= flatten(leaving.slice().reverse().map(turned)));
    },
  };
}

/**
 * Where a wire leaves a card, so that it crosses no cell and no text: what ends in the last line of cells from below, all else at the
 * card's side.  Columns are aligned, so a cell is told by its column, at the side by its place in the height of its line; one alone
 * has no column to tell.  What goes the same way several times has as many lanes, side by side.
 */
function anchor(node, row, cell, op, { i, n } = ONE) {
  const frame = { under: node.y + node.h / 2, top: node.y - node.h / 2, side: (sign) => node.x + sign * (node.w / 2 + 4), towards: op.x < node.x ? -1 : 1 };
  if (!row) return { ...frame, x: node.x + (i - (n - 1) / 2) * LANE, y: frame.under, ny: 1, part: 0 };
  const above = op.y + op.h / 2 < frame.top;
  const { rows, cols } = row.row;
  const box = cellOf(row, cell);
  const [line, column] = [Math.floor(cell / cols), cell % cols];
  const part = (cell * n + i + 0.5) / (rows * cols * n) - 0.5;
  const last = (row.leaves || row.row === rowsOf(node).at(-1).row) && line === rows - 1;
  if (last && !above && (!row.border || cols > 1)) return { ...frame, x: box.x + box.w / 2 + (i - (n - 1) / 2) * Math.min(LANE, box.w / (n + 1)), part, y: row.border ? frame.under : box.y + box.h + DOT, ny: 1 };
  const y = row.leaves && cols === 1 ? box.y + box.h / 2 + HEAD + 4 : box.y + (box.h * (column * n + i + 1)) / (cols * n + 1); // one alone leaves under the arrowhead of its value
  return { ...frame, x: node.x + (frame.towards * node.w) / 2, y, part, aside: true };
}

/** Where a wire meets an op: at the side at which the card stands, where values come and go above it, or over or under it. */
function port(op, node, part, values) {
  const [dx, dy] = [node.x - op.x, node.y - op.y];
  if (Math.abs(dy) - (node.h + op.h) / 2 > Math.abs(dx) - (node.w + op.w) / 2) {
    const side = Math.sign(dy) || 1;
    return { at: [op.x + part * op.w * SPREAD, op.y + (side * op.h) / 2], nx: 0, ny: side };
  }
  const side = Math.sign(dx) || 1;
  const [half, round] = [op.h / 2, cornerOf(op)];
  const heads = values.filter(([x]) => (x - op.x) * side > 0).map(([, y]) => y + HEAD - op.y);
  const low = half * LOW;
  const high = Math.min(Math.max(-half * SPREAD, ...heads), low - LEAST);
  const y = high + (part + 0.5) * (low - high);
  const inset = round - Math.sqrt(round ** 2 - Math.max(Math.abs(y) - half + round, 0) ** 2);
  return { at: [op.x + side * (op.w / 2 - inset), op.y + y], nx: side, ny: 0 };
}

/** How far below a card the next one stands. */
function roomBelow(scene, node) {
  if (!rooms.has(node)) {
    const [x0, , x1, under] = boxOf(node);
    const tops = scene.nodes.map(boxOf).filter(([left, top, right]) => top >= under && left < x1 && x0 < right).map(([, top]) => top - under);
    rooms.set(node, Math.min(...tops, Infinity));
  }
  return rooms.get(node);
}

/** From a cell to a port; where the port is beside the card, around the card's lower corner instead of over its numbers. */
function half(cell, port) {
  const [px, py] = port.at;
  if (cell.aside) return sideways(cell.x, cell.y, cell, port);
  if (port.nx !== 0 && cell.ny > 0 && py < cell.under) {
    const wx = cell.side(-port.nx);
    const bundle = Math.min(BUNDLE, Math.max(cell.room - 2 * CLEAR, 0));
    const wy = cell.under + Math.min(CLEAR, cell.room / 2) + (0.5 - cell.part * port.nx * -1) * bundle;
    const reach = Math.max(Math.abs(px - wx) * 0.5, 14);
    return [[cell.x, cell.y, cell.x, wy, cell.x, wy, wx, wy],
      [wx, wy, wx - port.nx * reach, wy, px + port.nx * reach, py, px, py]];
  }
  const reach = Math.max(Math.hypot(px - cell.x, py - cell.y) * 0.4, 18);
  const drop = Math.min(Math.max(reach, 40), 70);
  return [[cell.x, cell.y, cell.x, cell.y + cell.ny * drop, px + port.nx * reach, py + port.ny * reach, px, py]];
}

/** From a card's side to a port: straight to one that is beside it, and past its border first to one under or over it. */
function sideways(x, y, cell, port) {
  const [px, py] = port.at;
  const { towards } = cell;
  if (port.ny === 0) {
    const reach = Math.max(Math.abs(px - x) * 0.5, 14);
    return [[x, y, x + towards * reach, y, px + port.nx * reach, py, px, py]];
  }
  const [out, border] = [x + towards * BEND, port.ny < 0 ? cell.under : cell.top];
  const reach = Math.max(Math.abs(py - border) * 0.5, 14);
  return [[x, y, out, y, out, y, out, border], [out, border, out, border - port.ny * reach, px, py + port.ny * reach, px, py]];
}

function turned(b) {
  return [b[6], b[7], b[4], b[5], b[2], b[3], b[0], b[1]];
}

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
  const found = new Map();
  const add = (key, line) => line.curve && (line.loud || !found.has(key)) && found.set(key, line);
  for (const { op, edge, output, from, to, sides, arriving, leaving, given, sent, carries, live, comes, coming, past } of wires) {
    add(`${edge.id} ${from}`, { curve: sides.leaving, flat: leaving, number: sent, loud: carries, live, coming });
    add(`${op.id} ${output.id} ${to}`, { curve: sides.arriving, flat: arriving, number: given, loud: carries || comes, live: comes, coming, past });
  }
  return [...found.values()];
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

/** The wire within `reach` units of a point, or null. */
export function wireAt(wires, x, y, reach) {
  let best = null;
  let nearest = reach;
  for (const wire of wires) {
    const distance = wire.from === null ? Infinity : distanceTo(wire.flat, x, y);
    if (distance < nearest) [best, nearest] = [wire, distance];
  }
  return best;
}

/** `∂z[0, 1] / ∂x[0, 1] = 2` */
export function wireText({ output, source, from, to, local }) {
  return `\u2202${output.label}${indexText(to, output.shape ?? [])} / \u2202${source.label}${indexText(from, source.shape ?? [])} = ${num(local)}`;
}
