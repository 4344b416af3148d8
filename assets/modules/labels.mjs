// The number that travels: what is written, and where it stands so that nobody takes it for another route's.

import { barsOfWhole } from "./bars.mjs";
import { toWorld, visibleBox } from "./camera.mjs";
import { boxOf, grown, shared } from "./card.mjs";
import { crossesBox, distanceToBox, pointAlong } from "./curve.mjs";
import { hasGradient, wiredEdges } from "./edges.mjs";
import { withMinus } from "./format.mjs";
import { widthOf } from "./text.mjs";
import { isWired } from "./wiring.mjs";

const MOST_LABELS = 24;
const GAPS = [7, 14, 22, 29]; // px on screen from a number to a place of its own route; past FAR it is nobody's
const FAR = 30;
const SHIFTS = [0, -0.3, 0.3, -0.55, 0.55]; // how far to the side of a place, in widths
const PARTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
const HEIGHT = 22;
const LEAST_APART = 10; // units from one number to the next: of two that stand as lines of text no one can tell whose they are
const AIR = 3; // units between a number and another route,
const NEARER = 8; // and how much nearer than to one that is lit too it is to its own
const SHORT = 8; // letters of a number that is written even close to a card, or over a little of what rests
const MOST_COVERED = 0.35;
const CROSSING = 0.2; // what covering a route at rest counts, as a part of the number,
const IN_HALO = 0.3; // and what being in the halo of what runs does
const SIDE = 6; // px at the border of the view in which none stands
const BADGE = 10; // how far a badge stands out of its node,
const HALO = 12; // and the halo of what runs

/** The live wires on which the gradient of an edge travels. */
export function liveOn({ wires }, edge) {
  return !isWired(edge) ? [] : wires.filter((wire) => wire.live && (wire.edge.id === edge.id || (edge.source === wire.op.id && edge.target === wire.output.id)));
}

/** What is written: once for equal numbers that go the same way, as the two of `x * x` do. */
export function labelsOf(flows) {
  const found = new Map();
  for (const { flow, edge, started } of flows) {
    if (!started || !flow.text) continue;
    const key = `${edge.source}|${edge.target}|${flow.text}`;
    if (found.has(key)) found.get(key).edges.push(edge);
    else found.set(key, { flow, edge, edges: [edge] });
  }
  return [...found.values()].map(({ flow, edge, edges }) => (
    { flow, edge, edges, text: edges.length === 1 ? withMinus(flow.text) : `${withMinus(flow.text)}, ${edges.length === 2 ? "twice" : `${edges.length} times`}` }));
}

/** The numbers of some flows with their boxes [x0, y0, x1, y1]; without those for which there is no place.  All of a step have theirs from its beginning. */
export function placedLabels(brush, flows) {
  const lit = flows.map((one) => ({ edge: one.edge, ways: waysOf(brush, one.flow, one.edge) }));
  const wired = wiredEdges(brush.moment, brush.wires);
  const begun = new Set(flows.filter((one) => one.started).map((one) => one.flow));
  const placed = [];
  for (const label of labelsOf(flows.map((one) => ({ ...one, started: true }))).slice(-MOST_LABELS).reverse()) { // what comes of a step before what came to it
    const own = lit.filter((one) => label.edges.includes(one.edge)).flatMap((one) => one.ways);
    const others = lit.filter((one) => !label.edges.includes(one.edge)).flatMap((one) => one.ways);
    const around = { own, others, wired, taken: placed.map((one) => one.box) };
    for (const text of formsOf(label.text)) {
      const box = place(brush, text, label.edges, around);
      if (!box) continue;
      placed.push({ ...label, text, box });
      break;
    }
  }
  return placed.filter((one) => begun.has(one.flow));
}

/** The curves on which a flow is drawn. */
function waysOf(brush, flow, edge) {
  const wires = flow.back ? liveOn(brush, edge) : [];
  const route = brush.plane.routes.get(edge.id);
  return wires.length ? wires.map((wire) => (edge.source === wire.op.id ? wire.arriving : wire.leaving)) : [(flow.back ? route.back : route.forward).flat];
}

/** A number as it is written, and where that has no place what comes of its product alone: the sentence has the product too. */
function formsOf(text) {
  const at = text.lastIndexOf(" = ");
  return at < 0 ? [text] : [text, text.slice(at + 3)];
}

function place(brush, text, edges, around) {
  const active = brush.moment.index.nodes.get(brush.moment.active);
  const glowing = active ? grown(boxOf(active), HALO) : null;
  const size = [widthOf(brush.context, brush.font.smallStrong, text) + 14, HEIGHT];
  const room = roomFor(brush);
  let fallback = null;
  let least = MOST_COVERED * size[0] * size[1];
  for (const box of boxesBeside(around.own, size, brush.camera.zoom)) {
    if (!isIn(room, box)) continue;
    if (around.taken.some((other) => shared(grown(box, LEAST_APART), other) > 0)) continue;
    const near = brush.plane.nodes.within([box[0] - BADGE, box[1] - 2, box[2] + 2, box[3] + BADGE]);
    if (near.some((node) => shared(box, boxOf(node)) > 0) || (near.length && text.length > SHORT) || !isOwn(brush, box, around, edges)) continue;
    const crossed = crossings(brush.plane, box);
    if (crossed && text.length > SHORT) continue; // a long one would hide what it lies on; the sentence has it too
    const glows = glowing ? shared(box, glowing) : 0;
    if (!near.length && !crossed && !glows) return box;
    const cost = near.length + glows * IN_HALO + crossed * CROSSING * size[0] * size[1];
    if (cost < least) [fallback, least] = [box, cost];
  }
  return fallback;
}

/** Boxes beside some curves: near ones first, at the middle first; under or over a place of a curve, or at its side. */
function* boxesBeside(curves, [w, h], zoom) {
  for (const gap of GAPS.map((px) => px / zoom)) {
    for (const part of PARTS) {
      for (const flat of curves) {
        const { x, y, angle } = pointAlong(flat, part);
        const [up, side] = [gap + h / 2, gap + w / 2];
        const upright = Math.abs(Math.sin(angle)) > 0.7;
        const level = [1, -1].flatMap((sign) => SHIFTS.map((shift) => [x + shift * w, y + sign * up]));
        const beside = [[x + side, y], [x - side, y]];
        for (const [cx, cy] of upright ? [...beside, ...level] : [...level, ...beside]) yield [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2];
      }
    }
  }
}

/** Whether a place covers no route of now, is near its own, and nearer to it than to the others. */
function isOwn(brush, box, { own, others, wired }, edges) {
  if (own.some((flat) => crossesBox(flat, grown(box, 1)))) return false;
  const gap = Math.min(...own.map((flat) => distanceToBox(flat, box)));
  if (gap > FAR / brush.camera.zoom || others.some((flat) => distanceToBox(flat, box) < gap + NEARER)) return false;
  const { plane, moment } = brush;
  const ends = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  if (plane.nodes.within(grown(box, gap)).some((node) => !ends.has(node.id))) return false; // it would seem to be what that op gives
  return !plane.edges.within(grown(box, gap)).some((edge) => (
    !edges.includes(edge) && !wired.has(edge.id) && hasGradient(moment, edge) && distanceToBox(plane.routes.get(edge.id).back.flat, box) < gap + AIR));
}

/** How many forward routes, at rest or to come, a box covers. */
function crossings(plane, box) {
  const wide = grown(box, AIR);
  return plane.edges.within(wide).filter((edge) => crossesBox(plane.routes.get(edge.id).forward.flat, wide)).length;
}

/** The part of the plane in view, and what lies over it; `over` (px of the view) is null where a number may stand anywhere. */
function roomFor({ camera, view, over = barsOfWhole(view) }) {
  return over && { seen: visibleBox(camera, view, -SIDE / camera.zoom),
    bars: over.map(([x0, y0, x1, y1]) => [...toWorld(camera, view, x0, y0), ...toWorld(camera, view, x1, y1)]) };
}

function isIn(room, box) {
  if (!room) return true;
  const { seen, bars } = room;
  return box[0] >= seen[0] && box[1] >= seen[1] && box[2] <= seen[2] && box[3] <= seen[3] && bars.every((bar) => shared(bar, box) === 0);
}
