// Edges: forward routes at rest in grey, blue while the forward pass runs on them; a gradient on its own route in orange.

import { toNumber } from "../scene/format.mjs";
import { lookOf, normOfEdge, shade } from "../scene/scale.mjs";
import { gradientRoute } from "../geometry/plane.mjs";
import { edgeState, isFaint, isOdd, lastFlow, signOf } from "../scene/state.mjs";
import { at } from "../scene/timeline.mjs";
import { PAST } from "./wires.mjs";

/** @import { Edge } from "../scene/scene.d.ts" */
/** @import { Moment } from "../scene/state.mjs" */
/** @import { Brush } from "./paint.mjs" */

const FAINT = 0.3; // what takes no part
const BATCH = 64; // routes in one path: very long paths are slow to stroke, and so are thousands of short ones

/** How wide a gradient is drawn: by its size relative to the largest of its call. */
export function gradientWidth(size) {
  return 2 + 3 * Math.min(Math.max(size ?? 0.4, 0), 1);
}

/** Strokes of one look are collected and drawn together. */
class Strokes {
  constructor() {
    this.looks = new Map();
  }

  add(route, colour, width, alpha, kind = "plain") {
    const rounded = Math.round(width * 2) / 2;
    const key = `${colour}|${rounded}|${alpha}|${kind}`;
    let look = this.looks.get(key);
    if (!look) this.looks.set(key, (look = { colour, width: rounded, alpha, kind, routes: [] }));
    look.routes.push(route);
  }

  paint(context, detail, paper) {
    for (const look of this.looks.values()) {
      context.globalAlpha = look.alpha;
      context.setLineDash(look.kind === "zero" ? [2, 5] : look.kind === "later" ? [4, 5] : []);
      for (let from = 0; from < look.routes.length; from += BATCH) strokeBatch(context, look, look.routes.slice(from, from + BATCH), detail, paper);
      context.setLineDash([]);
      if (detail > 0) arrows(context, look);
    }
    context.globalAlpha = 1;
  }
}

function strokeBatch(context, look, routes, detail, paper) {
  trace(context, routes, detail);
  context.strokeStyle = look.colour;
  context.lineWidth = look.width;
  context.stroke();
  if (look.kind !== "hollow") return;
  context.lineWidth = Math.max(look.width - 2.6, 1);
  context.strokeStyle = paper;
  context.stroke();
}

function trace(context, routes, detail) {
  context.beginPath();
  for (const route of routes) {
    if (detail === 0) {
      context.moveTo(route.ends[0][0], route.ends[0][1]);
      context.lineTo(route.ends[1][0], route.ends[1][1]);
      continue;
    }
    context.moveTo(route.shaft[0][0], route.shaft[0][1]);
    for (const b of route.shaft) context.bezierCurveTo(b[2], b[3], b[4], b[5], b[6], b[7]);
  }
}

function arrows(context, look) {
  const [length, half] = [10 + look.width * 0.7, 4.2 + look.width * 0.7];
  context.fillStyle = look.colour;
  context.beginPath();
  for (const { tip } of look.routes) {
    const [c, s] = [Math.cos(tip.angle), Math.sin(tip.angle)];
    const [bx, by] = [tip.x - c * length, tip.y - s * length];
    context.moveTo(tip.x, tip.y);
    context.lineTo(bx - s * half, by + c * half);
    context.lineTo(bx + s * half, by - c * half);
    context.closePath();
  }
  context.fill();
}

/**
 * The edges beside which the running VJP is drawn from cell to cell.
 * @param {Moment} moment
 * @param {any[]} wires
 */
export function wiredEdges(moment, wires) {
  const ids = new Set();
  for (const wire of wires) {
    if (wire.live && wire.sides.leaving) ids.add(wire.edge.id);
    if (!wire.comes || !wire.sides.arriving) continue;
    for (const edge of moment.index.outgoing.get(wire.op.id) ?? []) if (edge.target === wire.output.id) ids.add(edge.id);
  }
  return ids;
}

/**
 * Whether a gradient's route is drawn: while one runs on it and once it has, not where a recorded op is computed meanwhile.
 * @type {(moment: Moment, edge: Edge) => boolean}
 */
export function hasGradient(moment, edge) {
  if (!edge.grad || moment.phase?.kind !== "backward") return false;
  return at(edge.tracks.state, moment.t) === "done" || (moment.step?.flows.some((flow) => flow.edge === edge.id && flow.back) ?? false);
}

/**
 * Whether the gradient that came by an edge is what the step adds to a leaf's `.grad`, at the leaf or where it is drawn again.
 * @type {(moment: Moment, edge: Edge) => boolean}
 */
function isAddedUp({ step, index, active }, { source }) {
  return step?.kind === "accumulate" && (source === active || index.nodes.get(source)?.twin === active);
}

/** @type {(brush: Brush, edges: Edge[]) => void} */
export function paintEdges(brush, edges) {
  const { context, moment, tokens, detail, plane } = brush;
  const wired = detail > 0 ? wiredEdges(moment, brush.wires) : new Set();
  const rest = new Strokes();
  const gradients = new Strokes();
  const thin = detail === 0 ? 1.6 / Math.max(brush.camera.zoom, 0.05) : 1;
  for (const edge of edges) {
    const route = plane.routes.get(edge.id);
    if (!route) continue;
    const state = edgeState(moment, edge);
    const forward = state === "active" && !moment.backward;
    const norm = edge.grad && moment.scene.norms ? normOfEdge(moment, edge) : null;
    const hasLine = !wired.has(edge.id) && (hasGradient(moment, edge) || (norm !== null && moment.scene.model !== null)); // in a model, colours of norms stay
    if (forward) gradients.add(route.forward, tokens.forward, 2.5 * Math.min(thin, 12), 1);
    else if (edge.value !== false) rest.add(route.forward, tokens.saved, 1.5 * Math.min(thin, 6), isFaint(moment, edge) ? FAINT : 1, state === "future" ? "later" : "plain");
    else if (!hasLine) rest.add(route.back, tokens.saved, 1.5 * Math.min(thin, 6), isFaint(moment, edge) ? FAINT : 1, "later"); // only gradients take it
    if (!hasLine) continue;
    const flow = moment.step?.flows.find((one) => one.edge === edge.id && one.back) ?? lastFlow(moment, edge);
    const sign = flow ? signOf(moment, flow) : signOfCotangent(moment, edge);
    const kind = sign === 0 ? "zero" : sign === -1 ? "hollow" : "plain";
    const width = sign === 0 ? 1.5 : Math.max(gradientWidth(flow?.size), kind === "hollow" ? 4 : 0);
    const odd = isOdd(moment, flow ? flow.value : at(edge.tracks.cotangent, moment.t));
    const running = (state === "active" && !forward) || isAddedUp(moment, edge);
    const look = lookOf(moment.scene.norms, norm);
    if (look.kind === "level" && !odd && (sign === null || moment.scene.model !== null)) { // the sign of many elements says nothing
      gradients.add(gradientRoute(plane, moment, edge), running ? tokens.gradient : shade(tokens.bg, tokens.gradient, look.part), (1.5 + 4 * look.part) * Math.min(thin, 6), 1);
      continue;
    }
    const paler = brush.magnitude && typeof norm === "number" ? shade(tokens.bg, tokens.gradient, Math.min(norm / brush.magnitude, 1)) : tokens.gradient;
    gradients.add(gradientRoute(plane, moment, edge), odd ? tokens.error : paler, width * Math.min(thin, 6), running ? 1 : PAST, kind);
  }
  rest.paint(context, detail, tokens.bg);
  gradients.paint(context, detail, tokens.bg);
}

/**
 * The sign of what an edge last carried: 0 all zero, null mixed or unknown.
 * @param {Moment} moment
 * @param {Edge} edge
 */
function signOfCotangent(moment, edge) {
  const id = at(edge.tracks.cotangent, moment.t);
  const data = id === null ? null : moment.scene.values[id].data;
  if (!data) return null;
  const numbers = data.map(toNumber);
  if (numbers.every((v) => v === 0)) return 0;
  return numbers.every((v) => v >= 0) ? 1 : numbers.every((v) => v <= 0) ? -1 : null;
}
