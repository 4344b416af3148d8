// The wiring of ops cell by cell: from each cell of an input, through the pill, to the cells of the output that it reaches.

import { boxOf, cellOf, cornerOf, rowsOf } from "../scene/card.mjs";
import { changesLine, distanceTo, flatten } from "./curve.mjs";
import { toNumber } from "../scene/format.mjs";
import { BUNDLE, CLEAR } from "../scene/shared.mjs";
import { everyWireOf, isLeaf, wiredOps, wiresOf } from "../scene/state.mjs";
import { at } from "../scene/timeline.mjs";

/** @import { Edge, Node, Phase, Point, Row } from "../scene/scene.d.ts" */
/** @import { RowPlace } from "../scene/card.mjs" */
/** @import { CarriedWire, Index, Moment, WirePlace } from "../scene/state.mjs" */
/** @typedef {RowPlace & { border?: boolean, leaves?: boolean }} EndRow the row in which a wire ends, or (`border`) below which */
/** @typedef {{ source?: EndRow, output?: EndRow }} Ends */
/** @typedef {WirePlace & { heads: Point[], ends: Ends }} Joined a wire with the rows at which it ends, and the ends of the values' edges at its op */
/** @typedef {CarriedWire & Joined & { sent: number }} Wire */
/** @typedef {Way & Wire & { past: boolean, live: boolean, comes: boolean }} ShownWire */

const SPREAD = 0.62; // part of the pill's side over which wires enter,
const HEAD = 8; // distance of wires from the arrowheads of values above them,
const LEAST = 12; // but on at least this much of the side,
const LOW = 0.73; // and down to this part of its lower half, where the side of a pill is still nearly upright
const TOUCH = 1.5; // how far a wire may be over a border
const BEND = 6; // how far from a card's side one runs down along it
export const DOT = 3.2; // radius of the end of a line, which touches its cell and covers nothing in it
const LANE = 14; // from a wire to the next one that ends in the same cell
/** @type {Readonly<{ i: number, n: number }>} */
const ONE = Object.freeze({ i: 0, n: 1 });
const MOST_LIVE = 16; // wires of a running VJP that are shown unasked

/**
 * The wires of one scene.  Their courses depend on the scene alone and are computed once, at the first request; the numbers that they
 * carry depend on the moment.
 */
export class Wiring {
  /**
   * @param {Index} index
   * @param {import("./grid.mjs").Grid} nodes its nodes by place
   */
  constructor(index, nodes) {
    this.index = index;
    this.nodes = nodes;
    /** @type {Map<string, Way>} by edge, cells and rows */
    this.ways = new Map();
    /** @type {Map<string, number>} by node: how far below it the next card stands */
    this.rooms = new Map();
    /** @type {Map<string, Set<string>>} by op: the edges beside which its wires have no free way */
    this.blocked = new Map();
  }

  /**
   * The wires of some ops at a moment, each with its curve.  `live`: the gradient passes along the wire now; `comes`: it travels along it at
   * least as far as the op.  `from` is null for a wire that ends in the op and leads to no cell.
   * @param {Moment} moment
   * @param {Node[]} ops
   * @param {Node[]} [tensors] those that are looked at: their own wires are shown too
   * @returns {ShownWire[]}
   */
  at(moment, ops, tensors = []) {
    const running = this.liveWires(moment);
    const lively = new Set(running.map((wire) => wire.op.id));
    const ids = new Set(ops.map((op) => op.id));
    const keys = new Set(running.map(keyOf));
    const around = tensors.flatMap((node) => this.wiresAround(moment, node)).filter((wire) => !keys.has(keyOf(wire)));
    const wires = [...ops.flatMap((op) => this.visibleWires(this.of(moment, op))), ...[...around, ...running].filter((wire) => !ids.has(wire.op.id))];
    const past = moment.step?.kind === "accumulate"; // the gradient had reached the op before it went on to the leaf
    return wires.map((wire) => Object.assign(Object.create(this.wayOf(wire)), wire, { past, live: wire.carries && lively.has(wire.op.id), comes: wire.upstream !== 0 && lively.has(wire.op.id) }));
  }

  /**
   * Whether an edge has wires beside it.  It has none if it continues in another line of the picture, or if they would cross a card that is
   * not one of its ends: then the route alone shows the gradient.
   * @param {Edge} edge
   * @returns {boolean}
   */
  isWired(edge) {
    const [source, target] = [edge.source, edge.target].map((id) => this.index.nodes.get(id));
    const op = [source, target].find((node) => node?.kind === "op");
    return !changesLine(edge.points) && !(op && this.blockedAt(op).has(edge.id));
  }

  /**
   * The edges of an op whose wires would cross, in some call, a card that is not one of their ends.
   * @param {Node} op
   * @returns {Set<string>}
   */
  blockedAt(op) {
    let edges = this.blocked.get(op.id);
    if (!edges) this.blocked.set(op.id, (edges = this.findBlocked(op)));
    return edges;
  }

  /**
   * @param {Node} op
   * @returns {Set<string>}
   */
  findBlocked(op) {
    const crossed = new Set();
    const looked = new Set();
    const heads = this.headsAt(op);
    const wires = everyWireOf(this.index, op);
    for (const call of /** @type {(scene: Scene) => (Phase | null)[]} */
 callsOf(this.index.scene)) {
      const ends = endsIn(call);
      for (const one of wires) {
        const wire = { ...one, heads, ends: ends(one) };
        const key = wayKey(wire);
        if (looked.has(key)) continue;
        looked.add(key);
        const { leaving, arriving } = this.halves(wire);
        if (leaving && this.isCrossed(leaving, [op, wire.source])) crossed.add(wire.edge.id);
        if (this.isCrossed(arriving, [op, wire.output])) crossed.add(wire.after.id);
      }
    }
    return crossed;
  }

  /**
   * The wires that begin or end in the cells of a tensor that is looked at; for each op only if they are few and hide nothing.
   * @param {Moment} moment
   * @param {Node} node
   * @returns {Wire[]}
   */
  wiresAround(moment, node) {
    return wiredOps(this.index, node.id).flatMap((op) => {
      const wires = this.visibleWires(this.of(moment, op)).filter((wire) => wire.source === node || wire.output === node);
      return wires.length <= MOST_LIVE && wires.every((wire) => this.isClear(wire)) ? wires : [];
    });
  }

  /**
   * The wires between open cards along which the gradient travels in a VJP, or travelled to a leaf; none if they are many.
   * @param {Moment} moment
   * @returns {Wire[]}
   */
  liveWires(moment) {
    const { step, active } = moment;
    const node = active === null ? null : this.index.nodes.get(active);
    /** @type {Wire[]} */
    let wires = [];
    if (node?.kind === "op" && step?.kind === "vjp") wires = this.of(moment, node);
    else if (node && isLeaf(node) && step?.kind === "accumulate") {
      wires = wiredOps(this.index, node.id).flatMap((op) => this.of(moment, op)).filter((wire) => wire.source === node);
    }
    const carrying = this.visibleWires(wires.filter((wire) => wire.carries));
    const isShown = (wire) => isOpen(wire.source) && isOpen(wire.output) && isPlain(wire) && this.isClear(wire);
    if (carrying.length > MOST_LIVE || !carrying.every(isShown)) return [];
    const stops = step?.kind === "vjp" ? this.endingIn(wires, carrying) : [];
    return carrying.length + stops.length <= MOST_LIVE && stops.every(isShown) ? [...carrying, ...stops] : carrying;
  }

  /**
   * One wire for each cell whose gradient reaches the op and goes no further.
   * @param {Wire[]} wires
   * @param {Wire[]} carrying
   * @returns {Wire[]}
   */
  endingIn(wires, carrying) {
    const cells = new Set(carrying.map((wire) => wire.to));
    return wires.filter(({ to, after, upstream }) => upstream !== 0 && this.isWired(after) && !cells.has(to) && cells.add(to)).map((wire) => ({ ...wire, from: null }));
  }

  /**
   * The wires of an op, each with the rows at which it ends.
   * @param {Moment} moment
   * @param {Node} op
   * @returns {Wire[]}
   */
  of(moment, op) {
    const wires = /** @type {Wire[]} */ (wiresOf(moment, op));
    const [heads, ends] = [this.headsAt(op), endsIn(callAt(moment))];
    for (const wire of wires) {
      wire.heads = heads;
      wire.ends = ends(wire);
      wire.sent = sentOn(moment, wire);
      wire.carries &&= !isLost(wire, wires);
    }
    return wires;
  }

  /** @param {Wire[]} wires */
  visibleWires(wires) {
    return wires.filter((wire) => this.isWired(wire.edge) || this.isWired(wire.after));
  }

  /**
   * The ends of the values' edges at an op.
   * @param {Node} op
   * @returns {Point[]}
   */
  headsAt(op) {
    return [...(this.index.incoming.get(op.id) ?? []).map(({ points }) => points[points.length - 1]), ...(this.index.outgoing.get(op.id) ?? []).map(({ points }) => points[0])];
  }

  /**
   * Whether a wire runs over no node but those that it joins: over a card it would hide the numbers there.
   * @param {Wire} wire
   * @returns {boolean}
   */
  isClear(wire) {
    const way = this.wayOf(wire);
    way.isClear ??= !this.nodes.itemsIn(way.flat.box).some((node) => (
      ![wire.op, wire.source, wire.output].includes(node) && way.flat.xs.some((x, i) => Math.abs(x - node.x) < node.w / 2 && Math.abs(way.flat.ys[i] - node.y) < node.h / 2)));
    return way.isClear;
  }

  /**
   * Whether a curve passes over a card other than some.
   * @param {number[][]} curve
   * @param {Node[]} own
   * @returns {boolean}
   */
  isCrossed(curve, own) {
    const { xs, ys, box } = flatten(curve);
    return this.nodes.itemsIn(box).some((node) => {
      if (own.includes(node)) return false;
      const [x0, y0, x1, y1] = boxOf(node);
      return xs.some((x, i) => x > x0 + TOUCH && x < x1 - TOUCH && ys[i] > y0 + TOUCH && ys[i] < y1 - TOUCH);
    });
  }

  /**
   * The course of a wire: the number on it changes with time, the course does not.
   * @param {Wire} wire
   * @returns {Way}
   */
  wayOf(wire) {
    const key = wayKey(wire);
    let way = this.ways.get(key);
    if (!way) this.ways.set(key, (way = new Way(this.halves(wire), this.isWired(wire.edge), this.isWired(wire.after))));
    return way;
  }

  /**
   * From the cell of the input to the op, and from that of the output.
   * @param {Joined} wire
   */
  halves({ op, source, output, from, to, ends, lane, heads }) {
    const end = { ...anchor(output, ends.output, to, op), room: this.roomBelow(output) };
    const b = port(op, output, end.part, heads);
    const arriving = halfCurve(end, b);
    if (from === null) return { a: null, b, arriving, leaving: null };
    const start = { ...anchor(source, ends.source, from, op, lane), room: this.roomBelow(source) };
    const a = port(op, source, start.part, heads);
    return { a, b, leaving: halfCurve(start, a), arriving };
  }

  /**
   * How far below a card the next one stands.
   * @param {Node} node
   * @returns {number}
   */
  roomBelow(node) {
    let room = this.rooms.get(node.id);
    if (room === undefined) {
      const [x0, , x1, under] = boxOf(node);
      const tops = this.index.scene.nodes.map(boxOf).filter(([left, top, right]) => top >= under && left < x1 && x0 < right).map(([, top]) => top - under);
      this.rooms.set(node.id, (room = Math.min(...tops, Infinity)));
    }
    return room;
  }
}

/** The course of one wire: its `curve`, and in `sides` the parts that are drawn on each side of its op, from the card on. */
class Way {
  constructor({ a, b, leaving, arriving }, goes, comes) {
    this.halves = { leaving, arriving };
    this.sides = { leaving: (goes && leaving) || null, arriving: comes ? arriving : null };
    const through = this.sides.leaving && comes ? [[...a.at, ...a.at, ...b.at, ...b.at]] : [];
    this.curve = [...(this.sides.leaving ?? []), ...through, ...(comes ? reverseCurve(arriving) : [])];
    /** @type {boolean | undefined} */
    this.isClear = undefined;
    this.flattened = {};
  }

  get flat() {
    return (this.flattened.all ??= flatten(this.curve));
  }

  /** The way of the gradient: from the output's cell to the op … */
  get arriving() {
    return (this.flattened.arriving ??= flatten(this.halves.arriving));
  }

  /** … and on to the input's cell. */
  get leaving() {
    return this.halves.leaving && (this.flattened.leaving ??= flatten(reverseCurve(this.halves.leaving)));
  }
}

/** @type {(wire: WirePlace) => string} */
const keyOf = ({ edge, from, to }) => `${edge.id}|${from}>${to}`;

/**
 * The key of a wire's course: its cells, and the rows at which it ends.
 * @type {(wire: Joined) => string}
 */
const wayKey = (wire) => `${keyOf(wire)} ${wire.ends.source?.row.key} ${wire.ends.output?.row.key}`;

const callsOf = (scene) => {
  const calls = scene.phases.filter((one) => one.kind === "backward");
  return calls.length ? calls : [null];
};

/**
 * The backward call of a moment: the one that runs, else the next one, else the last one; null where there is none.
 * @type {(moment: Moment) => Phase | null}
 */
function callAt({ phase, scene, t }) {
  const calls = callsOf(scene);
  return calls.includes(phase) ? phase : calls.find((one) => one && one.start >= t) ?? calls.at(-1);
}

/**
 * A function that finds the ends of a wire in a call; wires of one edge have the same ends.
 * @type {(call: Phase | null) => (wire: WirePlace) => Ends}
 */
function endsIn(call) {
  const endsByEdge = new Map();
  return (wire) => {
    let ends = endsByEdge.get(wire.edge);
    if (!ends) endsByEdge.set(wire.edge, (ends = endsOf(wire, call)));
    return ends;
  };
}

/**
 * The rows at which a wire ends: those that show its gradient.  At the receiving card, this is a `.grad` that the call writes.  At the
 * sending card, it is the gradient that the call passes, if no hook changes it, or a `.grad` with the value that this op receives.  A wire
 * to a card without such a row ends at its border, beside the value, or below it if the wire leaves one of several cells: it must not seem
 * to carry the value.
 * @type {(wire: WirePlace, call: Phase | null) => Ends}
 */
function endsOf({ op, source, output }, call) {
  const [seed, gradRow] = [placeOf(output, "seed"), placeOf(output, "grad")];
  const isSeed = seed && call && isPassed(seed.row, call) && !isChanged(seed.row, op, call);
  const start = isSeed ? seed : gradRow && isWritten(gradRow.row, call) && isGiven(gradRow.row, op, call) ? gradRow : null;
  const grad = placeOf(source, "grad");
  return { source: grad && isWritten(grad.row, call) ? grad : besideValue(source), output: start ?? besideValue(output, true) };
}

/** @type {(node: Node, key: Row["key"]) => RowPlace | undefined} */
const placeOf = (node, key) => rowsOf(node).find((one) => one.row.key === key && one.row.cols);

/** @type {(node: Node, leaves?: boolean) => EndRow | undefined} */
function besideValue(node, leaves = false) {
  const value = placeOf(node, "value");
  return value && { ...value, border: true, leaves };
}

/** @type {(row: Row, call: Phase | null) => call is Phase} */
function isWritten({ track }, call) {
  return call !== null && track.some(([step, id]) => step > call.start && step <= call.end && id !== null);
}

/**
 * Whether the `.grad` after a call is the gradient that the op received in it, and not a sum with that of an earlier call (equal values have one id).
 * @type {(row: Row, op: Node, call: Phase) => boolean}
 */
const isGiven = ({ track }, op, call) => at(track, call.end) === at(op.tracks.upstream, call.end);

/** @type {(row: Row, call: Phase) => boolean} */
function isPassed(row, call) {
  return Array.isArray(row.call) ? row.call.some(([, one]) => one === call.call) : (row.call ?? call.call) === call.call;
}

/**
 * Whether a hook changed the gradient that a call passes before the op received it (equal values have one id).
 * @type {(row: Row, op: Node, call: Phase) => boolean}
 */
function isChanged({ track }, op, call) {
  const upstream = op.tracks.upstream ?? [];
  const isRun = upstream.some(([step, id]) => step > call.start && step <= call.end && id !== null);
  return isRun && at(track, call.end) !== at(upstream, call.end);
}

/**
 * The number that the cell at the end of a wire receives, from all wires of the edge.
 * @type {(moment: Moment, wire: CarriedWire) => number}
 */
function sentOn(moment, { edge, from, upstream, local }) {
  const flow = moment.step?.flows.find((one) => one.back && one.edge === edge.id);
  const id = flow ? flow.value : at(edge.tracks.cotangent, moment.t);
  const data = id === null || id === undefined ? null : moment.scene.values[id].data;
  return data && from !== null ? toNumber(data[from]) : upstream * toNumber(local);
}

/**
 * Whether the product on a wire rounds to zero in its dtype, such as 1e-4 times 1e-4 in half precision.
 * @type {(wire: Wire, wires: Wire[]) => boolean}
 */
function isLost(wire, wires) {
  return wire.sent === 0 && !wires.some((one) => one !== wire && one.carries && one.edge === wire.edge && one.from === wire.from);
}

/** @type {(node: Node) => boolean} */
function isOpen(node) {
  return node.rows.some((row) => row.cols);
}

/**
 * Whether a wire ends at rows of a single line.  For rows of several lines frames around the cells are clearer: a wire to an upper line runs past the lower ones.
 * @type {(wire: Joined) => boolean}
 */
function isPlain({ ends }) {
  return [ends.source, ends.output].every((place) => !place || place.row.rows === 1);
}

/**
 * The point where a wire leaves a card without crossing a cell or a text: below the card for the last line of cells, at its side for all
 * others.  Below a card, the position of the point tells the column of the cell; at its side, its height does.  A single cell needs neither.
 * Wires with the same course run side by side, each in its own lane.
 */
function anchor(node, row, cell, op, { i, n } = ONE) {
  const frame = { under: node.y + node.h / 2, top: node.y - node.h / 2, side: (sign) => node.x + sign * (node.w / 2 + 4), towards: op.x < node.x ? -1 : 1 };
  if (!row) return { ...frame, x: node.x + (i - (n - 1) / 2) * LANE, y: frame.under, ny: 1, part: 0 };
  const above = op.y + op.h / 2 < frame.top;
  const { rows, cols } = row.row;
  const box = cellOf(row, cell);
  const [line, column] = [Math.floor(cell / cols), cell % cols];
  const part = (cell * n + i + 0.5) / (rows * cols * n) - 0.5;
  const last = (row.leaves || row.row === rowsOf(node).at(-1)?.row) && line === rows - 1;
  if (last && !above && (!row.border || cols > 1)) return { ...frame, x: box.x + box.w / 2 + (i - (n - 1) / 2) * Math.min(LANE, box.w / (n + 1)), part, y: row.border ? frame.under : box.y + box.h + DOT, ny: 1 };
  const y = row.leaves && cols === 1 ? box.y + box.h / 2 + HEAD + 4 : box.y + (box.h * (column * n + i + 1)) / (cols * n + 1); // one alone leaves under the arrowhead of its value
  return { ...frame, x: node.x + (frame.towards * node.w) / 2, y, part, aside: true };
}

/** The point where a wire meets an op: above or below it, or at the side of the card, below the arrowheads of the values. */
function port(op, node, part, ends) {
  const [dx, dy] = [node.x - op.x, node.y - op.y];
  if (Math.abs(dy) - (node.h + op.h) / 2 > Math.abs(dx) - (node.w + op.w) / 2) {
    const side = Math.sign(dy) || 1;
    return { at: [op.x + part * op.w * SPREAD, op.y + (side * op.h) / 2], nx: 0, ny: side };
  }
  const side = Math.sign(dx) || 1;
  const [half, round] = [op.h / 2, cornerOf(op)];
  const heads = ends.filter(([x]) => (x - op.x) * side > 0).map(([, y]) => y + HEAD - op.y);
  const low = half * LOW;
  const high = Math.min(Math.max(-half * SPREAD, ...heads), low - LEAST);
  const y = high + (part + 0.5) * (low - high);
  const inset = round - Math.sqrt(round ** 2 - Math.max(Math.abs(y) - half + round, 0) ** 2);
  return { at: [op.x + side * (op.w / 2 - inset), op.y + y], nx: side, ny: 0 };
}

/** From a cell to a port; where the port is beside the card, around the card's lower corner instead of over its numbers. */
function halfCurve(cell, port) {
  const [px, py] = port.at;
  if (cell.aside) return curveFromSide(cell.x, cell.y, cell, port);
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
function curveFromSide(x, y, cell, port) {
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

/** The same curve from its other end. */
const reverseCurve = (curve) => curve.slice().reverse().map((b) => [b[6], b[7], b[4], b[5], b[2], b[3], b[0], b[1]]);

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
