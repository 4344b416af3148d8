// The position of a travelling number, so that nobody takes it for another route's: beside its own, or further away with a line that leads there.

import { barsOfWhole } from "../geometry/overlays.mjs";
import { toWorld, visibleBox } from "../geometry/camera.mjs";
import { boxOf, growBox, commonArea } from "../scene/card.mjs";
import { comesWithin, crossesBox, crossesLine, distanceToBox, pointAlong, strikes } from "../geometry/curve.mjs";
import { hasGradient, wiredEdges } from "./edges.mjs";
import { gradientRoute } from "../geometry/plane.mjs";

const GAPS = [7, 14, 22, 29]; // px on screen from a number to its own route; beyond FAR it would seem to belong to no route
export const FAR = 30;
const SHIFTS = [0, -0.3, 0.3, -0.55, 0.55]; // shifts to the side, in widths of the number
const PARTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
const HEIGHT = 22;
const LEAST_APART = 10; // units between two numbers: if they stood like lines of text, no one could tell which belongs to which route
const AIR = 3; // units between a number and another route, or a card that is not its end
const NEARER = 8; // a number is nearer to its own route than to any other lit one, by this many units
const SHORT = 8; // letters of a short number, which may stand close to a card or over a route at rest
const MOST_COVERED = 0.35;
const CROSSING = 0.2; // covering a route at rest counts as covering this share of the number,
const IN_HALO = 0.3; // and standing in the halo of the active node as this
const SIDE = 6; // px at the border of the view that stay free of numbers
const BADGE = 10; // how far a badge stands out of its node,
const HALO = 12; // and the halo of the active node
const LEADS = [32, 44, 58, 74, 92, 112]; // px on screen of a line from a route to its number
const SLANTS = [0, -0.35, 0.35, -0.8, 0.8]; // how far such a line goes to the side, in its heights
const ALONG = [0, -0.4, 0.4]; // where that line meets the number, in widths from its middle

/**
 * The places of a step's numbers: `beside(text, edges, others)` and `away(…)` give `{ box: [x0, y0, x1, y1], lead }` or null; `lead` is the
 * line [from, to] from the route to a number that stands away from it.  `lit` has the curves of each edge, `others` the numbers that have theirs.
 */
export function placesAt(brush, lit) {
  const places = knownAt(brush);
  const room = roomFor(brush);
  const search = (kind, make, choose) => (text, edges, others) => {
    const key = `${kind} ${edges[0].id} ${text}`;
    if (!places.has(key)) places.set(key, make(brush, text, surroundings(brush, lit, edges)));
    return choose(places.get(key), (one) => isFree(one, room, others));
  };
  return { beside: search("beside", placesBeside, cheapest), away: search("away", placesAway, firstFree) };
}

/** The candidates that were found at a step and a zoom: they stay the same in every frame of a move and during a pan. */
function knownAt({ plane, moment, camera, wires, font }) {
  const live = wires.filter((wire) => wire.live).map(({ edge, from, to }) => `${edge.id} ${from} ${to}`);
  const key = [moment.k, camera.zoom, font.smallStrong, ...live].join("|");
  return plane.numbers.of(key, () => new Map());
}

/** The things that a number must keep clear of: its `own` curves, the curves of `others` in the step, the routes that gradients have taken, the active node. */
function surroundings({ plane, moment, wires }, lit, edges) {
  const [own, others] = [true, false].map((is) => lit.filter((one) => edges.includes(one.edge) === is).flatMap((one) => one.ways));
  const wired = wiredEdges(moment, wires);
  const active = moment.index.nodes.get(moment.active);
  const ends = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  const trails = (box) => plane.edges.itemsIn(box).filter((edge) => !edges.includes(edge) && !wired.has(edge.id) && hasGradient(moment, edge))
    .map((edge) => gradientRoute(plane, moment, edge).flat);
  return { own, others, trails, ends, glowing: active ? growBox(boxOf(active), HALO) : null };
}

/** A candidate `{ box, lead, cost }`; `cost` is computed when it is read, and is Infinity if a number must not stand there. */
class Place {
  constructor(box, lead, price) {
    this.box = box;
    this.lead = lead;
    this.price = price;
    /** @type {number | undefined} */
    this.sum = undefined;
  }

  get cost() {
    this.sum ??= this.price(this.box, this.lead);
    return this.sum;
  }
}

/** The first free candidate that costs nothing, else the cheapest free one. */
function cheapest(places, free) {
  let best = null;
  for (const one of places) {
    if (!free(one) || one.cost >= (best?.cost ?? Infinity)) continue;
    best = one;
    if (best.cost === 0) break;
  }
  return best;
}

const firstFree = (places, free) => places.find((one) => free(one) && one.cost === 0) ?? null;

/** @type {(brush: any, text: string) => [number, number]} */
const sizeOf = ({ ruler, font }, text) => [ruler.widthOf(font.smallStrong, text) + 14, HEIGHT];

/**
 * Candidates beside the routes; the cost is the share of the number that is covered.
 * @param {any} brush
 * @param {string} text
 * @param {any} around
 */
function placesBeside(brush, text, around) {
  const [w, h] = sizeOf(brush, text);
  const price = (box) => {
    const near = nodesAt(brush.plane, box);
    if (near.some((node) => commonArea(box, boxOf(node)) > 0) || (near.length && text.length > SHORT) || !isOwn(brush, box, around)) return Infinity;
    const crossed = crossings(brush.plane, box);
    if (crossed && text.length > SHORT) return Infinity; // a long number would hide the route; the sentence has it too
    const glows = around.glowing ? commonArea(box, around.glowing) : 0;
    const cost = near.length / (w * h) + (glows / (w * h)) * IN_HALO + crossed * CROSSING;
    return cost < MOST_COVERED ? cost : Infinity;
  };
  return [...boxesBeside(around.own, [w, h], brush.camera.zoom)].map((box) => new Place(box, null, price));
}

/** Places over and under the routes, at the end of a line that passes over nothing; the shortest lines first. */
function placesAway(brush, text, around) {
  const price = (box, lead) => (isAlone(brush.plane, box, around) && leads(brush.plane, lead, around) ? 0 : Infinity);
  return [...boxesAway(around, sizeOf(brush, text), brush.camera.zoom)].map(({ box, lead }) => new Place(box, lead, price));
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
        const aside = [[x + side, y], [x - side, y]];
        for (const [cx, cy] of upright ? [...aside, ...level] : [...level, ...aside]) yield [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2];
      }
    }
  }
}

/** Boxes over and under some curves, each with a line from a place of a curve where no other is. */
function* boxesAway({ own, others }, [w, h], zoom) {
  const starts = PARTS.flatMap((part) => own.map((flat) => pointAlong(flat, part)))
    .filter(({ x, y }) => !others.some((flat) => crossesBox(flat, growBox([x, y, x, y], NEARER / 2))));
  for (const reach of LEADS.map((px) => px / zoom)) {
    for (const slant of SLANTS) {
      for (const { x, y } of starts) {
        for (const up of [-reach, reach]) {
          const end = [x + slant * reach, y + up];
          for (const left of ALONG.map((shift) => end[0] + (shift - 0.5) * w)) {
            const top = up < 0 ? end[1] - h : end[1];
            yield { box: [left, top, left + w, top + h], lead: [[x, y], end] };
          }
        }
      }
    }
  }
}

/** Whether a place is in view, and clear of the numbers that are placed already and of their lines. */
function isFree({ box, lead }, room, others) {
  if (room && !isIn(room, box)) return false;
  const wide = growBox(box, LEAST_APART);
  return others.every((one) => commonArea(wide, one.box) === 0 && !(one.lead && strikes(one.lead[0], one.lead[1], growBox(box, AIR))) && !(lead && strikes(lead[0], lead[1], growBox(one.box, AIR))));
}

/** The nodes that a box would overlap, with their badges. */
/** @type {(plane: any, box: number[]) => any[]} */
const nodesAt = (plane, [x0, y0, x1, y1]) => plane.nodes.itemsIn([x0 - BADGE, y0 - 2, x1 + 2, y1 + BADGE]);

/** The nodes that come so near to a box, with the badge at their corner. */
function nodesNear(plane, box, reach) {
  const wide = growBox(box, reach);
  return plane.nodes.itemsIn(growBox(wide, BADGE)).filter((node) => commonArea(wide, boxOf(node)) > 0 || commonArea(wide, badgeOf(boxOf(node))) > 0);
}

/** @type {(box: number[]) => number[]} */
const badgeOf = ([, y0, x1]) => [x1 - BADGE, y0 - BADGE, x1 + BADGE, y0 + BADGE];

/** Whether a place covers no route of the step, and is near to its own route, nearer than to any other. */
function isOwn(brush, box, { own, others, trails, ends }) {
  if (own.some((flat) => crossesBox(flat, growBox(box, 1)))) return false;
  const gap = Math.min(...own.map((flat) => distanceToBox(flat, box)));
  if (gap > FAR / brush.camera.zoom || others.some((flat) => comesWithin(flat, box, gap + NEARER))) return false;
  if (nodesNear(brush.plane, box, gap + AIR).some((node) => !ends.has(node.id))) return false; // it would seem to be the result of that op
  return !trails(growBox(box, gap)).some((flat) => comesWithin(flat, box, gap + AIR));
}

/** Whether nothing is at a box: no node, no route, no halo. */
function isAlone(plane, box, { own, others, trails, glowing }) {
  if (nodesAt(plane, box).length || (glowing && commonArea(box, glowing) > 0)) return false;
  const wide = growBox(box, NEARER);
  return ![...own, ...others, ...trails(wide)].some((flat) => comesWithin(flat, box, NEARER)) && crossings(plane, box) === 0;
}

/** Whether a line leads over no card, no badge and no other gradient's route. */
function leads(plane, [a, b], { others, trails }) {
  const around = [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
  if (plane.nodes.itemsIn(growBox(around, BADGE)).some((node) => meetsNode(a, b, boxOf(node)))) return false;
  const start = growBox([...a, ...a], NEARER / 2);
  return ![...others, ...trails(growBox(around, NEARER))].some((flat) => crossesLine(flat, a, b) || crossesBox(flat, start));
}

const meetsNode = (a, b, box) => strikes(a, b, growBox(box, 2)) || strikes(a, b, badgeOf(box));

/** How many forward routes, at rest or to come, a box covers. */
function crossings(plane, box) {
  const wide = growBox(box, AIR);
  return plane.edges.itemsIn(wide).filter((edge) => crossesBox(plane.routes.get(edge.id).forward.flat, wide)).length;
}

/** The part of the plane in view, and what lies over it; `over` (px of the view) is null where a number may stand anywhere. */
function roomFor({ camera, view, over = barsOfWhole(view) }) {
  return over && { seen: visibleBox(camera, view, -SIDE / camera.zoom),
    bars: over.map(([x0, y0, x1, y1]) => [...toWorld(camera, view, x0, y0), ...toWorld(camera, view, x1, y1)]) };
}

function isIn({ seen, bars }, box) {
  return box[0] >= seen[0] && box[1] >= seen[1] && box[2] <= seen[2] && box[3] <= seen[3] && bars.every((bar) => commonArea(bar, box) === 0);
}
