// The plane: everything in a scene that has a fixed position, computed once when the scene is loaded. Later results that depend on it
// are stored in it, and are dropped with it.

import { boxOf } from "../scene/card.mjs";
import { curveThrough, distanceTo, flatten } from "./curve.mjs";
import { Grid } from "./grid.mjs";
import { Memo } from "./memo.mjs";
import { passesOn } from "../scene/state.mjs";
import { Wiring } from "./wiring.mjs";

/** @import { Box, Edge, Node, Point, Scene } from "../scene/scene.d.ts" */
/** @import { Index, Moment } from "../scene/state.mjs" */
/** @typedef {{ forward: Route, back: Route, through: Route, box: Box }} Routes */
/** @typedef {ReturnType<typeof layPlane>} Plane */

export const STACK = [8, 4]; // how far the cards behind a folded one stand out at the right and below
const ARROW = 8; // how much of a route's end the arrowhead covers
const UNDER = 18; // how far below a card the wires of its cells run
const ASIDE = 12; // how far the route of a gradient is moved to the side if the layout has none for it

/**
 * @param {Index} index
 * @returns the nodes and edges by place, the routes by edge, the wiring; the places of the present step's numbers and of the error's message
 */
export function layPlane(index) {
  const nodes = new Grid();
  const edges = new Grid();
  /** @type {Map<string, Routes>} */
  const routes = new Map();
  for (const node of index.scene.nodes) nodes.add(node, boxOf(node));
  for (const edge of index.scene.edges) {
    const pair = routesOf(index, edge);
    routes.set(edge.id, pair);
    edges.add(edge, pair.box);
  }
  const bounds = boundsOf(index.scene);
  return {
    index, nodes, edges, routes, bounds, framed: framedOf(index.scene, bounds),
    wiring: new Wiring(index, nodes), numbers: new Memo(), message: new Memo(),
  };
}

/** @type {(index: Index, edge: Edge) => Routes} */
function routesOf(index, edge) {
  const [source, target] = [index.nodes.get(edge.source), index.nodes.get(edge.target)];
  const ends = [source ? outerBox(source) : null, target ? outerBox(target) : null];
  const points = clearOfStacks(edge.points.length > 1 ? edge.points : straightLine(source, target), source, target);
  const back = edge.back?.length > 1 ? clearOfStacks(edge.back, target, source) : shiftAside(points);
  const box = boundsOfPoints([...points, ...back], 24);
  const [forward, backward] = [new Route(points, ends[0], ends[1]), new Route(back, ends[1], ends[0])];
  return { forward, back: backward, through: edge.through ? new Route(clearOfStacks(edge.through, target, source), ends[1], ends[0]) : backward, box };
}

/**
 * The route of the gradient on an edge at a moment: it begins at the row of the gradient that is passed, or beside the value of the tensor that passes it on.
 * @type {(plane: { routes: Map<string, Routes> }, moment: Moment, edge: Edge) => Route}
 */
export function gradientRoute({ routes }, moment, edge) {
  const { back, through } = /** @type {Routes} */ (routes.get(edge.id));
  return through !== back && passesOn(moment, /** @type {Node} */ (moment.index.nodes.get(edge.target))) ? through : back;
}

/**
 * The box of a node with the cards behind it.
 * @type {(node: Node) => Box}
 */
function outerBox(node) {
  const [x0, y0, x1, y1] = boxOf(node);
  return node.kind === "group" ? [x0, y0, x1 + STACK[0], y1 + STACK[0]] : [x0, y0, x1, y1];
}

/**
 * A route that ends at the outermost card of a stack, not behind it.
 * @type {(points: Point[], from: Node | undefined, to: Node | undefined) => Point[]}
 */
function clearOfStacks(points, from, to) {
  if (from?.kind !== "group" && to?.kind !== "group") return points;
  const moved = points.slice();
  for (const [i, node] of /** @type {[number, Node | undefined][]} */ ([[0, from], [points.length - 1, to]])) {
    if (node?.kind !== "group") continue;
    const [, , x1, y1] = boxOf(node);
    const [x, y] = points[i];
    moved[i] = [Math.abs(x - x1) < 1 ? x + STACK[0] : x, Math.abs(y - y1) < 1 ? y + STACK[0] : y];
  }
  return moved;
}

/** One route: Beziers, an end for the arrowhead, and (on demand) places along its length. */
class Route {
  /** @type {ReturnType<typeof flatten> | undefined} */
  flattened;

  constructor(points, from, to) {
    this.ends = [points[0], points.at(-1)];
    this.curve = curveThrough(points, from, to);
    const last = this.curve.at(-1);
    const angle = Math.atan2(last[7] - last[5], last[6] - last[4]) || 0;
    this.tip = { x: last[6], y: last[7], angle };
    this.shaft = this.curve.slice();
    const [dx, dy] = [Math.cos(angle) * ARROW, Math.sin(angle) * ARROW];
    this.shaft[this.shaft.length - 1] = [...last.slice(0, 4), last[4] - dx / 2, last[5] - dy / 2, last[6] - dx, last[7] - dy];
  }

  get flat() {
    this.flattened ??= flatten(this.curve);
    return this.flattened;
  }

  distance(x, y) {
    return distanceTo(this.flat, x, y);
  }
}

/** @type {(source: Node | undefined, target: Node | undefined) => Point[]} */
function straightLine(source, target) {
  if (!source || !target) return [[0, 0], [0, 0]];
  const down = Math.abs(target.y - source.y) >= Math.abs(target.x - source.x);
  const sign = down ? Math.sign(target.y - source.y) || 1 : Math.sign(target.x - source.x) || 1;
  return down ? [[source.x, source.y + (sign * source.h) / 2], [target.x, target.y - (sign * target.h) / 2]]
    : [[source.x + (sign * source.w) / 2, source.y], [target.x - (sign * target.w) / 2, target.y]];
}

/** @type {(points: Point[]) => Point[]} */
function shiftAside(points) {
  const [a, b] = [points[0], points[points.length - 1]];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const [nx, ny] = [((a[1] - b[1]) / length) * ASIDE, ((b[0] - a[0]) / length) * ASIDE];
  return points.map(([x, y]) => /** @type {Point} */ ([x - nx, y - ny])).reverse();
}

/** @type {(points: Point[], margin: number) => Box} */
function boundsOfPoints(points, margin) {
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  return [Math.min(...xs) - margin, Math.min(...ys) - margin, Math.max(...xs) + margin, Math.max(...ys) + margin];
}

/**
 * The box that has to be in view: the bounds, and the wires that run under a card while a gradient passes.
 * @type {(scene: Scene, bounds: Box) => Box}
 */
function framedOf(scene, [x0, y0, x1, y1]) {
  const low = scene.nodes.filter((node) => node.rows?.some((row) => row.cols)).map((node) => boxOf(node)[3] + UNDER);
  return [x0, y0, x1, low.reduce((a, b) => Math.max(a, b), y1)];
}

/**
 * The box that is really covered: the bounds of the scene may leave out routes that bulge.
 * @type {(scene: Scene) => Box}
 */
function boundsOf(scene) {
  if (!scene.nodes.length) return scene.bounds ?? [0, 0, 1, 1];
  /** @type {Box} */
  const bounds = [Infinity, Infinity, -Infinity, -Infinity];
  const grow = ([x0, y0, x1, y1]) => {
    bounds[0] = Math.min(bounds[0], x0);
    bounds[1] = Math.min(bounds[1], y0);
    bounds[2] = Math.max(bounds[2], x1);
    bounds[3] = Math.max(bounds[3], y1);
  };
  for (const node of scene.nodes) grow(boxOf(node));
  for (const edge of scene.edges) for (const [x, y] of [...edge.points, ...(edge.back ?? [])]) grow([x, y, x, y]);
  for (const group of scene.groups) if (!group.folded && group.box) grow(group.box);
  return bounds;
}
