// The message of an error: a box beside its node with a line to it. Its position hides as little as possible: no card, no
// name of another node under its line, few routes, and as few as possible of those that carry a gradient.

import { visibleBox } from "../geometry/camera.mjs";
import { boxesOf, boxOf, cornerOf, growBox, commonArea } from "../scene/card.mjs";
import { strikes } from "../geometry/curve.mjs";
import { firstSentence } from "../scene/format.mjs";
import { edgeState, isFaint } from "../scene/state.mjs";
import { wrap } from "../geometry/text.mjs";

/** @import { Box, Error, Node, Point } from "../scene/scene.d.ts" */
/** @import { Brush } from "./paint.mjs" */
/** @typedef {{ w: number, h: number, lines: string[] }} Callout */
/** @typedef {{ x: number, y: number, shape: Callout, extra?: number }} Spot */

const BAR = 52; // height of the buttons above, of the legend below
const GRID = 48; // units between the positions that are tried all over the view
const MOST_TRIED = 50; // positions, the best first, for which a line is searched
const MOST_LINES = 12; // of an error: the longest first sentence of torch's, in the narrowest shape
const ROOMS = [560, 420, 320, 230, 170, 140]; // widths of its text
const APART = 12; // units from every card, whose rings and marks stand out so far
const NEAR = 18; // units from its own node if it stands beside that
const COST = { covered: 1, node: 4000, struck: 3000, lit: 6, route: 2, faint: 0.7, group: 1, line: 22, other: 90 }; // compared with 1 for a unit of distance
const PARTS = [0, 0.25, 0.5, 0.75, 1]; // of a side: the points to which a line is tried,
const CORNER = 14; // and their least distance from its corners
const SIDEWAYS = 100; // the cost of a line with a corner that begins at the left or the right of the node, where edges run
const ORDER = 6; // the cost by which each side is worse than the one before; the first is above

/** Paints the first sentence of an error beside its node, with a line to it, and returns its box. Without a node it stands below the graph, far enough to belong to no card. */
export function paintCallout(brush, node, error) {
  const [x0, , x1, y1] = brush.plane.bounds;
  const { x, y, shape } = steadyPlace(brush, node ?? { x: (x0 + x1) / 2, y: y1 + 2 * APART, w: 0, h: 0 }, error);
  const { context, write, font, tokens } = brush;
  context.strokeStyle = tokens.error;
  context.lineWidth = 1.5;
  context.beginPath();
  if (node) {
    const [from, ...further] = lineTo(othersOf(brush, node), node, [x, y, x + shape.w, y + shape.h]);
    context.moveTo(...from);
    for (const point of further) context.lineTo(...point);
  }
  context.stroke();
  context.beginPath();
  context.roundRect(x, y, shape.w, shape.h, 8);
  context.fillStyle = tokens.errorTint;
  context.fill();
  context.stroke();
  write(error.type, x + 14, y + 19, font.strong, tokens.error);
  shape.lines.forEach((line, i) => write(line, x + 14, y + 21 + (i + 1) * font.line, font.plain, tokens.ink));
  return [x, y, x + shape.w, y + shape.h];
}

/**
 * The position of the message; during a pan it keeps its place among the cards as long as that is in view.
 * @type {(brush: Brush, node: Node, error: Error) => any}
 */
function steadyPlace(brush, node, error) {
  const { camera, view, moment } = brush;
  const key = [camera.zoom, view.width, view.height, moment.t, brush.wires.length].join("|");
  return brush.plane.message.of(key, () => placeCallout(brush, node, error), (place) => isInside(roomOf(brush), place));
}

/**
 * The place of the message: in view, clear of the bars, at the least cost; if there is no such place, where the bars cover it least.
 * @type {(brush: Brush, node: Node, error: Error) => any}
 */
export function placeCallout(brush, node, error) {
  const all = ROOMS.map((room) => calloutShape(brush, error, room));
  const uncut = all.filter((shape) => !shape.lines.at(-1).endsWith("\u2026"));
  const shapes = uncut.length ? uncut : all;
  const [seen, room] = [visibleBox(brush.camera, brush.view, -8 / brush.camera.zoom), roomOf(brush)];
  const least = Math.min(...shapes.map((shape) => shape.lines.length));
  const clutter = clutterOf(brush, seen);
  const fits = (within) => shapes.flatMap((shape) => [...spotsBeside(node, shape, within), ...allSpots(shape, within)]
    .filter((spot) => isInside(within, spot)).map((spot) => ({ ...spot, extra: (spot.extra ?? ORDER * 4) + (shape.lines.length - least) * COST.line })));
  const free = fits(room);
  const spots = free.length ? free : fits(seen);
  const rated = spots.map((spot) => ({ ...spot, cost: costOf(brush, node, spot, clutter) })).sort((one, other) => one.cost - other.cost);
  const others = othersOf(brush, node);
  let best = null;
  for (const spot of rated.slice(0, MOST_TRIED)) {
    if (best && best.cost <= spot.cost) break; // no later position is better, even with the best line
    /** @type {Box} */
    const box = [spot.x, spot.y, spot.x + spot.shape.w, spot.y + spot.shape.h];
    const cost = spot.cost + struckBy(others, lineTo(others, node, box)).length * COST.struck;
    if (!best || cost < best.cost) best = { ...spot, cost };
  }
  return best ?? spotsBeside(node, shapes[shapes.length - 1], null)[0];
}

/**
 * The part of the plane in view that lies neither under the buttons nor under the legend, which a bare view does not have.
 * @type {(brush: { camera: any, view: any }) => Box}
 */
function roomOf({ camera, view }) {
  const [x0, y0, x1, y1] = visibleBox(camera, view, -8 / camera.zoom);
  const bar = view.bare ? 0 : BAR / camera.zoom;
  return [x0, y0 + bar, x1, y1 - bar];
}

/**
 * The other nodes in view.
 * @type {(brush: Brush, node: Node) => Node[]}
 */
const othersOf = ({ plane, camera, view }, node) => plane.nodes.itemsIn(visibleBox(camera, view)).filter((one) => one !== node);

/** @type {(box: Box, spot: Spot) => boolean} */
const isInside = ([x0, y0, x1, y1], { x, y, shape }) => x >= x0 && y >= y0 && x + shape.w <= x1 && y + shape.h <= y1;

/**
 * The cost of a position: what the message hides there, and its distance from the node.
 * @type {(brush: Brush, node: Node, spot: any, clutter: Clutter) => number}
 */
function costOf({ plane }, node, { x, y, shape, extra }, clutter) {
  /** @type {Box} */
  const box = [x, y, x + shape.w, y + shape.h];
  const wide = growBox(box, APART);
  const far = Math.hypot(...gapOf(boxOf(node), box));
  let cost = extra + far + clutter.sumUnder(growBox(box, 4));
  for (const one of plane.nodes.itemsIn(growBox(box, 2 * APART))) {
    const area = commonArea(wide, boxOf(one));
    if (area > 0) cost += COST.node + area * COST.covered + 20 * commonArea(box, boxOf(one));
    if (one !== node && Math.hypot(...gapOf(boxOf(one), box)) <= far) cost += COST.other; // it would seem to belong to that node
  }
  return cost;
}

/** How far two boxes are apart, across and down. */
function gapOf(a, b) {
  return [0, 1].map((axis) => Math.max(0, a[axis] - b[axis + 2], b[axis] - a[axis + 2]));
}

/** The line from the node to the message: the shortest one, straight or with one corner, that meets both at a right angle and no other node; else a slanted one. */
export function lineTo(others, node, box) {
  const ways = [...straightWays(node, box), ...cornerWays(node, box)];
  const aslant = [nearestPoint(boxOf(node), (box[0] + box[2]) / 2, (box[1] + box[3]) / 2), nearestPoint(box, node.x, node.y)];
  return [...ways, aslant].find((way) => !struckBy(others, way).length) ?? aslantWay(others, node, box) ?? ways[0] ?? aslant;
}

/** The part of a side at which a line may end: between the corners, and clear of the mark at the upper right. */
const endsOf = (node) => [Math.max(node.w / 2 - inset(node), 0), Math.max(node.h / 2 - inset(node), 0)];
const inset = (node) => Math.max(cornerOf(node), CORNER);

/** Straight lines across the gap between node and message, if these overlap in one direction; those near the middle of the node's side come first. */
function straightWays(node, box) {
  const ways = [];
  const [halfX, halfY] = endsOf(node);
  const [x0, y0, x1, y1] = boxOf(node);
  const [low, high] = [Math.max(node.x - halfX, box[0] + CORNER), Math.min(node.x + halfX, box[2] - CORNER)];
  if (box[3] <= y0 || box[1] >= y1) for (const x of positionsAround(node.x, low, high)) ways.push(box[3] <= y0 ? [[x, y0], [x, box[3]]] : [[x, y1], [x, box[1]]]);
  const [top, foot] = [Math.max(node.y - halfY, box[1] + CORNER), Math.min(node.y + halfY, box[3] - CORNER)];
  if (box[2] <= x0 || box[0] >= x1) for (const y of positionsAround(node.y, top, foot)) ways.push(box[2] <= x0 ? [[x0, y], [box[2], y]] : [[x1, y], [box[0], y]]);
  return ways;
}

/** Positions from `low` to `high`, those nearest to `middle` first; none if there is no room. */
function positionsAround(middle, low, high) {
  if (low > high) return [];
  const first = Math.min(Math.max(middle, low), high);
  return [first, ...PARTS.map((part) => low + (high - low) * part).sort((one, other) => Math.abs(one - middle) - Math.abs(other - middle))];
}

/** Lines that leave the middle of a side of the node and turn once, to a side of the message; short ones first. */
function cornerWays(node, box) {
  const ways = [];
  const [x0, y0, x1, y1] = boxOf(node);
  for (const part of PARTS) {
    const [x, y] = [box[0] + CORNER + (box[2] - box[0] - 2 * CORNER) * part, box[1] + CORNER + (box[3] - box[1] - 2 * CORNER) * part];
    if (y < y0 - CORNER || y > y1 + CORNER) {
      for (const side of [box[2], box[0]]) if (side === box[2] ? node.x > side + CORNER : node.x < side - CORNER) ways.push([[node.x, y < node.y ? y0 : y1], [node.x, y], [side, y]]);
    }
    if (x < x0 - CORNER || x > x1 + CORNER) {
      for (const side of [box[3], box[1]]) if (side === box[3] ? node.y > side + CORNER : node.y < side - CORNER) ways.push([[x < node.x ? x0 : x1, node.y], [x, node.y], [x, side]]);
    }
  }
  const cost = (way) => lengthOf(way) + (way[0][1] === way[1][1] ? SIDEWAYS : 0);
  return ways.sort((one, other) => cost(one) - cost(other));
}

/** The shortest line from rim to rim that meets no other node. */
function aslantWay(others, node, box) {
  const ways = rim(boxOf(node)).flatMap((one) => rim(box).map((other) => /** @type {[Point, Point]} */ ([one, other]))).sort((one, other) => lengthOf(one) - lengthOf(other));
  return ways.find((way) => !struckBy(others, way).length && !strikes(way[0], way[1], growBox(boxOf(node), -2)));
}

/** Points around a box: five on each side, within its round corners. */
function rim([x0, y0, x1, y1]) {
  return PARTS.flatMap((part) => {
    const [x, y] = [x0 + CORNER + (x1 - x0 - 2 * CORNER) * part, y0 + CORNER + (y1 - y0 - 2 * CORNER) * part];
    return [[x, y0], [x, y1], [x0, y], [x1, y]];
  });
}

const piecesOf = (way) => way.slice(1).map((to, i) => [way[i], to]);
const lengthOf = (way) => piecesOf(way).reduce((sum, [[a, b], [c, d]]) => sum + Math.hypot(a - c, b - d), 0);

/** The nodes that a line would cross, apart from its own. */
export function struckBy(others, way) {
  return others.filter((one) => piecesOf(way).some(([from, to]) => strikes(from, to, growBox(boxOf(one), 4))));
}

/**
 * The routes, wires and borders of groups in view, so that what lies under any box is one look-up.
 * @type {(brush: Brush, seen: Box) => Clutter}
 */
function clutterOf({ plane, moment, wires = [] }, seen) {
  const clutter = new Clutter(seen);
  for (const edge of plane.edges.itemsIn(seen)) {
    const routes = plane.routes.get(edge.id);
    if (!routes) continue;
    const { forward, back } = routes;
    const lit = moment && edge.grad && ["active", "done"].includes(edgeState(moment, edge));
    clutter.addAlong(forward.flat, moment && isFaint(moment, edge) ? COST.faint : COST.route);
    if (lit) clutter.addAlong(back.flat, COST.lit);
  }
  for (const { arriving, leaving, comes, live } of wires) for (const flat of [comes && arriving, live && leaving]) if (flat) clutter.addAlong(flat, COST.lit);
  for (const group of plane.index.scene.groups) {
    for (const [x0, y0, x1, y1] of group.folded ? [] : boxesOf(group)) clutter.addAlong({ xs: [x0, x1, x1, x0, x0], ys: [y0, y0, y1, y1, y0] }, COST.group);
  }
  return clutter.accumulateSums();
}

/** The weighted length of lines in small squares of the view, as sums from the corner on: the sum over any box takes four numbers. */
class Clutter {
  /** @param {Box} seen */
  constructor([x0, y0, x1, y1]) {
    this.side = Math.max(8, Math.sqrt(((x1 - x0) * (y1 - y0)) / 60000)); // however much is in view
    this.x = x0;
    this.y = y0;
    this.wide = Math.ceil((x1 - x0) / this.side) + 1;
    this.high = Math.ceil((y1 - y0) / this.side) + 1;
    this.sums = new Float64Array(this.wide * this.high);
  }

  addAlong({ xs, ys }, weight) {
    for (let i = 1; i < xs.length; i++) {
      const length = Math.hypot(xs[i] - xs[i - 1], ys[i] - ys[i - 1]);
      const pieces = Math.min(Math.ceil(length / this.side), 4 * (this.wide + this.high));
      for (let k = 0; k < pieces; k++) {
        const part = (k + 0.5) / pieces;
        this.add(xs[i - 1] + (xs[i] - xs[i - 1]) * part, ys[i - 1] + (ys[i] - ys[i - 1]) * part, (length / pieces) * weight);
      }
    }
  }

  add(x, y, amount) {
    const [c, r] = [Math.floor((x - this.x) / this.side) + 1, Math.floor((y - this.y) / this.side) + 1];
    if (c > 0 && r > 0 && c < this.wide && r < this.high) this.sums[r * this.wide + c] += amount;
  }

  accumulateSums() {
    const { sums, wide, high } = this;
    for (let r = 0; r < high; r++) for (let c = 1; c < wide; c++) sums[r * wide + c] += sums[r * wide + c - 1];
    for (let r = 1; r < high; r++) for (let c = 0; c < wide; c++) sums[r * wide + c] += sums[(r - 1) * wide + c];
    return this;
  }

  sumUnder([x0, y0, x1, y1]) {
    const column = (x, up) => Math.min(Math.max(up((x - this.x) / this.side), 0), this.wide - 1);
    const line = (y, up) => Math.min(Math.max(up((y - this.y) / this.side), 0), this.high - 1);
    const [a, b, c, d] = [column(x0, Math.floor), line(y0, Math.floor), column(x1, Math.ceil), line(y1, Math.ceil)];
    const at = (x, y) => this.sums[y * this.wide + x];
    return at(c, d) - at(a, d) - at(c, b) + at(a, b);
  }
}

/**
 * Places all over a box, its right and lower border among them.
 * @type {(shape: Callout, within: Box) => Spot[]}
 */
function allSpots(shape, [x0, y0, x1, y1]) {
  const spots = [];
  const steps = (from, to) => Array.from({ length: Math.max(0, Math.floor((to - from) / GRID) + 1) }, (_, i) => from + i * GRID).concat(to >= from ? [to] : []);
  for (const x of steps(x0, x1 - shape.w)) for (const y of steps(y0, y1 - shape.h)) spots.push({ x, y, shape });
  return spots;
}

/** The point of a box that is nearest to a point. */
function nearestPoint([x0, y0, x1, y1], x, y) {
  return [Math.min(Math.max(x, x0), x1), Math.min(Math.max(y, y0), y1)];
}

function calloutShape({ ruler, font }, error, room) {
  const first = firstSentence(error.message);
  const lines = wrap(ruler, font.plain, first, room, MOST_LINES);
  const w = Math.max(...lines.map((line) => ruler.widthOf(font.plain, line)), ruler.widthOf(font.strong, error.type)) + 28;
  return { lines, w, h: 40 + lines.length * font.line };
}

/**
 * The positions around a node: above, below, right, left, then the corners. At the border of the view they are moved inside.
 * @type {(node: Node, shape: Callout, within: Box | null) => Spot[]}
 */
function spotsBeside(node, shape, within) {
  const [dx, dy] = [node.w / 2 + shape.w / 2 + NEAR, node.h / 2 + shape.h / 2 + NEAR];
  return [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]].map(([px, py], i) => {
    const [x, y] = [node.x + px * dx - shape.w / 2, node.y + py * dy - shape.h / 2];
    if (!within) return { shape, x, y, extra: i * ORDER };
    const into = (place, low, high) => Math.max(Math.min(place, high), low);
    return { shape, x: py ? into(x, within[0], within[2] - shape.w) : x, y: px ? into(y, within[1], within[3] - shape.h) : y, extra: i * ORDER };
  });
}
