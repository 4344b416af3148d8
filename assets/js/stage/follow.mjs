// Following: the part of a large graph that is shown with a step, and the position of the minimap meanwhile. Pure.

import { allOver, barsOver, CORNERS, hasMap, isLegendOnTop, isNearlyWhole, mapBox, UNDER_BARS } from "../geometry/overlays.mjs";
import { fit, pan, READABLE, toScreen, visibleBox } from "../geometry/camera.mjs";
import { boxOf, growBox, rowsOf, commonArea } from "../scene/card.mjs";
import { pointAlong } from "../geometry/curve.mjs";
import { hasGradient } from "../paint/edges.mjs";
import { placedLabels } from "../paint/labels.mjs";
import { gradientRoute } from "../geometry/plane.mjs";
import { WHOLE } from "../scene/shared.mjs";
import { flowsAt } from "../scene/state.mjs";
import { changedBy } from "../scene/timeline.mjs";

/** @import { Box } from "../scene/scene.d.ts" */
/** @typedef {{ dx: number, dy: number, cost: number, lost: number }} Move by so many px; what it costs, and what of the subjects is not seen then */

export const PADDING = { top: 76, right: 40, bottom: 64, left: 40 };
const UNDER_LEGEND = { ...PADDING, top: 67, bottom: 19 }; // where this stands on top
const BARE = { top: 22, right: 24, bottom: 22, left: 24 }; // where nothing lies over the graph
const MINIMAP_ROOM = 132;
const MESSAGE = 130; // px above and below that are kept for the message of an error, if text stays readable
const LEAST_PAD = 1;
export const WEIGHT = { ahead: 1000000, now: 160000, receives: 80000, over: 120000, row: 40000, sends: 10000, number: 400 }; // where not all of a step has room: what comes first; in a lecture, what a chapter speaks of before its move, and after it
const MARGINS = [40, 16, 6]; // px from the border of the view to what a step is about; less where there is no room for more
const LEAST_MARGIN = MARGINS[MARGINS.length - 1];
const SLIVER = 0.02; // the least cost of a hidden part, so that it is not given up for other cards
const MOVE = 0.5; // the cost of a px of the move; a hidden subject costs its weight
const PAST = 5; // the cost of a px past the end of the graph
const [CUT, CUT_STILL] = [15, 60]; // the cost of another card that the border cuts, during a move and at rest
const UNDER = 8; // a card under a bar counts as this many cut ones: it looks like a fault
const COVERED = 0.01; // and a px² of any card that is under the minimap,
const MAPPED = 60; // besides what each of them counts
const RIM = 300; // and what is around the cards of a step, as far as it is cut
const [HALO, END, HEAD] = [18, 40, 6]; // units: of what runs; of a way that arrives, its end; and of its arrowhead, to the side
const OTHER_CORNER = 110; // and another corner for it
const ENDS = { sides: [PADDING.left, PADDING.right], heights: [PADDING.top, MINIMAP_ROOM] }; // px past the ends of the graph that are as good as any: there the bars hide nothing
const BARE_ENDS = { sides: [BARE.left, BARE.right], heights: [BARE.top, BARE.bottom] };
const LEAST_END = 10; // px beside a graph that has room along an axis
const LESS = 0.96; // the factor from one zoom that is tried to the next
const [MOST, MOST_RIMS, MOST_ALONE] = [40, 4, 160]; // shifts that are tried, the shortest first: along both axes, for what is around, and along one axis
const MOST_CARDS = 80; // cards that are examined: no more are in view at a zoom at which text is readable

/**
 * The zoom for a graph that is seen in part: the usual one, or a smaller, readable one if only that shows a step with both its ends, or all
 * that a chapter speaks of: the same one through the whole story.
 */
function zoomFor({ index }, view, spoken) {
  let zoom = READABLE;
  for (const boxes of [...index.scene.steps.map((step) => [...cardsOf(index, step)].map(([node]) => boxOf(node))), ...spoken]) {
    if (!boxes.length) continue;
    const [x0, y0, x1, y1] = boxes.reduce(union);
    const room = (size, length) => (size - 2 * LEAST_MARGIN) / length;
    let fits = Math.min(zoom, room(view.width, x1 - x0), room(view.height, y1 - y0));
    if (fits < WHOLE) continue; // its ends are never seen together
    const middle = { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
    while (fits > WHOLE && !isClear({ ...middle, zoom: fits }, view, boxes)) fits = Math.max(fits * LESS, WHOLE);
    zoom = fits;
  }
  return zoom;
}

/** Whether there is a place for some boxes where nothing lies over them, the minimap in one of its corners. */
function isClear(camera, view, boxes) {
  const subjects = boxes.map((box) => ({ box, weight: WEIGHT.now }));
  return (hasMap(view) ? Object.keys(CORNERS) : [null]).some((corner) => !bestMove(camera, view, null, subjects, barsOver(view, corner)).lost);
}

/**
 * The camera as a graph opens: all of it where that is readable, else a part of it, the `focus` point in it; `whole`: all of it at any size.
 * `spoken` are the boxes that each chapter of a lecture speaks of.
 * @param {{ plane: any, view: any, error: any, focus?: any, whole?: boolean, spoken?: Box[][] }} of
 */
export function overview({ plane, view, error, focus = null, whole = false, spoken = [] }) {
  const own = view.bare ? BARE : isLegendOnTop(plane, view) ? UNDER_LEGEND : PADDING;
  const pad = error ? { ...own, top: own.top + MESSAGE, bottom: own.bottom + MESSAGE } : own;
  const camera = fit(plane.framed, view, pad, whole ? 0 : READABLE, focus);
  const [x0, y0, x1, y1] = visibleBox(camera, view, LEAST_PAD / camera.zoom);
  const [a, b, c, d] = plane.framed;
  if (a >= x0 && b >= y0 && c <= x1 && d <= y1) return camera; // then there is no minimap
  return fit(plane.framed, view, view.bare ? BARE : { ...PADDING, bottom: MINIMAP_ROOM }, whole ? 0 : zoomFor(plane, view, spoken), focus);
}

/** The nodes that a step is about, each with its weight. */
function cardsOf(index, { at, flows }) {
  const weights = new Map();
  const add = (id, weight) => {
    const node = index.nodes.get(id);
    if (node) weights.set(node, Math.max(weights.get(node) ?? 0, weight));
  };
  add(at, WEIGHT.now);
  for (const flow of flows) {
    const { source, target } = index.edges.get(flow.edge) ?? {};
    add(flow.back ? source : target, WEIGHT.receives);
    add(flow.back ? target : source, WEIGHT.sends);
  }
  return weights;
}

/** What a step is about: [{ box, weight, id }], cards, rows that receive, and the numbers on their way where they would stand by themselves. */
export function subjectsOf(brush) {
  const { moment } = brush;
  const { step, index } = moment;
  if (!step) return [];
  const cards = [...cardsOf(index, step)].map(([node, weight]) => ({ id: node.id, box: boxOf(node), weight }));
  const rows = cards.flatMap(({ id }) => rowsOf(index.nodes.get(id)).filter((place) => changedBy(place.row.track, moment.k, moment.first))
    .map(({ x, y, w, h }) => ({ box: [x, y, x + w, y + h], weight: WEIGHT.row })));
  const numbers = placedLabels({ ...brush, over: null }, flowsAt(moment).map((one) => ({ ...one, started: true }))).map(({ box }) => ({ box, weight: WEIGHT.number }));
  return [...cards, ...rows, ...numbers, ...rimsOf(brush)];
}

/** What is around the cards: the halo of what runs, and the last piece of each way that leads to one.  Nothing is given up for it. */
function rimsOf({ moment, plane }) {
  const { step, index } = moment;
  const node = index.nodes.get(step.at);
  const come = node && moment.backward ? index.outgoing.get(node.id).filter((edge) => hasGradient(moment, edge)).map((edge) => [edge.id, true]) : [];
  const ways = [...come, ...step.flows.map((flow) => [flow.edge, flow.back])].filter(([id]) => plane.routes.has(id))
    .map(([id, back]) => (back ? gradientRoute(plane, moment, index.edges.get(id)) : plane.routes.get(id).forward).flat);
  return [...(node ? [growBox(boxOf(node), HALO)] : []), ...ways.map(endOf)].map((box) => ({ box, weight: RIM, rim: true }));
}

/** The box of the last piece of a way. */
function endOf(flat) {
  const [from, to] = [Math.max(0, 1 - END / flat.total), 1].map((part) => pointAlong(flat, part));
  return growBox([Math.min(from.x, to.x), Math.min(from.y, to.y), Math.max(from.x, to.x), Math.max(from.y, to.y)], HEAD);
}

/** Camera and corner for some subjects, from those that are now: nothing moves that need not, the minimap last; `still`: where one stays, cards are not cut either. */
export function follow({ camera, corner }, view, plane, subjects, still = false) {
  const free = bringClear(camera, view, plane, subjects, still ? corner : null, still).camera;
  const looked = aboutOf(subjects).map((one) => one.box);
  const stays = corner && hides(free, view, corner, looked) < 1 && (free === camera || !cardsUnder(free, view, plane, corner).length);
  if (!hasMap(view) || stays || isNearlyWhole(plane, free, view)) return { camera: free, corner };
  const tries = Object.keys(CORNERS).map((one) => {
    const move = bringClear(camera, view, plane, subjects, one, still);
    const under = cardsUnder(move.camera, view, plane, one);
    const covers = under.length * MAPPED + COVERED * hides(move.camera, view, one, under.map(boxOf));
    return { camera: move.camera, corner: one, cost: move.cost + covers + (one === corner ? 0 : OTHER_CORNER) };
  });
  const best = cheapestOf(tries);
  return { camera: best.camera, corner: best.corner };
}

/** The corner for the minimap where nothing is followed: the same one as long as it hides no more than any of what is looked at, boxes of the plane. */
export function cornerFor(camera, view, plane, looked, corner) {
  const cards = cardsAround(camera, view, plane).map(boxOf);
  const tries = Object.keys(CORNERS).map((one) => ({ corner: one, hidden: hides(camera, view, one, looked) }));
  const now = tries.find((one) => one.corner === corner);
  if (now && tries.every((one) => one.hidden >= now.hidden)) return corner;
  return cheapestOf(tries.map((one) => ({ ...one, cost: one.hidden + COVERED * hides(camera, view, one.corner, cards) }))).corner;
}

/** The cards that are under the minimap. */
const cardsUnder = (camera, view, plane, corner) => cardsAround(camera, view, plane).filter((node) => hides(camera, view, corner, [boxOf(node)]) > 0);

/** How much the minimap hides of some boxes of the plane, in px². */
function hides(camera, view, corner, boxes) {
  const map = mapBox(view, corner);
  return boxes.reduce((sum, box) => sum + commonArea(onScreen(camera, view, box), map), 0);
}

/** The same, clear of the scale of norms and the name of the model too, if then all of the subjects is seen. */
function bringClear(camera, view, plane, subjects, corner, still) {
  const [bars, all] = [barsOver(view, corner), allOver(plane, view, corner)];
  const clear = all.length > bars.length ? bring(camera, view, plane, subjects, all, still) : null;
  return clear && !clear.lost ? clear : bring(camera, view, plane, subjects, bars, still);
}

/** The camera by the least move that shows all subjects clear of the bars, or as much of them as it can; `cost` says how well. */
function bring(camera, view, plane, subjects, bars, still) {
  const { dx, dy, cost, lost } = bestMove(camera, view, plane, subjects, bars, still);
  return { camera: dx || dy ? pan(camera, dx, dy) : camera, cost, lost };
}

function bestMove(camera, view, plane, subjects, bars, still = false) {
  const about = aboutOf(subjects);
  const boxes = about.map((one) => onScreen(camera, view, one.box));
  const rims = subjects.filter((one) => one.rim).map((one) => onScreen(camera, view, one.box));
  const bare = { boxes, weights: about.map((one) => one.weight), rims, view, bars, ends: null, others: [], cut: still ? CUT_STILL : CUT };
  const clear = !still && !hiddenParts(bare, 0, 0, LEAST_MARGIN);
  if (clear && !cutOff(bare, 0, 0)) return STAY;
  const scene = plane ? { ...bare, ends: onScreen(camera, view, plane.framed), others: othersOf(camera, view, plane, about) } : bare;
  let best = NOWHERE;
  for (const margin of plane && !still ? MARGINS : MARGINS.slice(-1)) {
    best = cheapest(scene, margin);
    if (!best.lost) break;
  }
  return clear && best.cost >= costOfOthers(scene, 0, 0) ? STAY : best;
}

/** The best of all moves along one axis, or where none of them shows all, along both. */
function cheapest(scene, margin) {
  const [across, down] = [0, 1].map((axis) => [...shifts(scene.boxes, scene, margin, axis, MOST), ...shifts(scene.rims, { ...scene, bars: [] }, 0, axis, MOST_RIMS)]);
  const [aside, above] = [0, 1].map((axis) => shifts(scene.others, scene, LEAST_MARGIN, axis, MOST_ALONE));
  const ways = [() => [0, ...down, ...above].map((dy) => [0, dy]), () => [...across, ...aside].map((dx) => [dx, 0]),
    () => across.flatMap((dx) => down.map((dy) => [dx, dy]))];
  let best = NOWHERE;
  for (const way of ways) {
    for (const [dx, dy] of way()) {
      const lost = hiddenParts(scene, dx, dy, margin, best.cost);
      const bare = lost + MOVE * Math.hypot(dx, dy) + PAST * (scene.ends ? past(scene, dx, dy) : 0);
      if (bare >= best.cost) continue;
      const cost = bare + costOfOthers(scene, dx, dy);
      if (cost < best.cost) best = { lost, cost, dx, dy };
    }
    if (!best.lost) break;
  }
  return best;
}

/** By how much to move along an axis, so that a border of a box comes to one of the view or of a bar, or that it is just out of view: the least first. */
function shifts(boxes, { view, bars }, margin, axis, most) {
  const size = axis ? view.height : view.width;
  const to = (box) => [margin - box[axis], size - margin - box[axis + 2], -box[axis + 2], size - box[axis],
    ...bars.flatMap((bar) => [bar[axis + 2] - box[axis], bar[axis] - box[axis + 2]])];
  return [...new Set(boxes.flatMap(to))].sort((one, other) => Math.abs(one) - Math.abs(other)).slice(0, most);
}

/** @type {Move} */
const NOWHERE = { dx: 0, dy: 0, cost: Infinity, lost: Infinity };
/** @type {Move} */
const STAY = { dx: 0, dy: 0, cost: 0, lost: 0 };
const aboutOf = (subjects) => subjects.filter((one) => !one.rim);
/** @type {(a: Box, b: Box) => Box} */
const union = (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
const onScreen = (camera, view, [x0, y0, x1, y1]) => [...toScreen(camera, view, x0, y0), ...toScreen(camera, view, x1, y1)];
const moveBox = ([x0, y0, x1, y1], dx, dy) => [x0 + dx, y0 + dy, x1 + dx, y1 + dy];
const cheapestOf = (tries) => tries.reduce((best, one) => (one.cost < best.cost ? one : best));
const cardsAround = (camera, view, plane, px = 0) => plane.nodes.itemsIn(visibleBox(camera, view, px / camera.zoom)).slice(0, MOST_CARDS);

/** The cards, on screen, that may come into view and are not those of the step. */
function othersOf(camera, view, plane, subjects) {
  const own = new Set(subjects.map((one) => one.id));
  return cardsAround(camera, view, plane, view.height).filter((node) => !own.has(node.id)).map((node) => onScreen(camera, view, boxOf(node)));
}

/** What is not seen of the subjects, as parts of each by their weights, were they moved by (dx, dy); not all of it once that is more than `limit`. */
function hiddenParts({ boxes, weights, view, bars }, dx, dy, margin, limit = Infinity) {
  const room = [margin, margin, view.width - margin, view.height - margin];
  let sum = 0;
  for (let i = 0; i < boxes.length && sum < limit; i++) {
    const one = moveBox(boxes[i], dx, dy);
    const all = commonArea(one, one);
    let lost = all - commonArea(one, room);
    for (const bar of bars) lost += commonArea(one, bar);
    if (lost > 1) sum += (SLIVER + lost / all) * weights[i];
  }
  return sum;
}

/** What a place costs by what the step is not about. */
const costOfOthers = (scene, dx, dy) => cutOff(scene, dx, dy) + scene.cut * scene.others.reduce((sum, box) => sum + tornCost(scene, box, dx, dy), 0);

/** What it costs that something around the cards of a step is not seen: by how much of it is out of view, or under a bar. */
function cutOff({ rims, view, bars }, dx, dy) {
  const room = [0, 0, view.width, view.height];
  const part = (box) => (commonArea(box, room) - bars.reduce((sum, bar) => sum + commonArea(box, bar), 0)) / commonArea(box, box);
  return RIM * rims.reduce((sum, box) => sum + 1 - part(moveBox(box, dx, dy)), 0);
}

/** How torn a card looks that is in view only in part: more where something lies over it than where the border cuts it. */
function tornCost({ view, bars }, box, dx, dy) {
  const one = moveBox(box, dx, dy);
  const seen = commonArea(one, [0, 0, view.width, view.height]);
  if (seen > 0 && bars.some((bar) => commonArea(one, bar) > 0)) return UNDER;
  return seen > 0 && seen < commonArea(one, one) - 1 ? 1 : 0;
}

/** How many px one would look past the ends of the graph; of one that has room along an axis, how many px of it would be out of view. */
function past({ ends: [x0, y0, x1, y1], view: { width, height, bare } }, dx, dy) {
  /** @type {(low: number, high: number, size: number, room: number[], spare?: number) => number} */
  const overhang = (low, high, size, [before, after], spare = 2 * LEAST_END) => (high - low <= size - spare
    ? Math.max(0, LEAST_END - low) + Math.max(0, high + LEAST_END - size) : Math.max(0, low - before) + Math.max(0, size - after - high));
  const { sides, heights } = bare ? BARE_ENDS : ENDS;
  return overhang(x0 + dx, x1 + dx, width, sides) + overhang(y0 + dy, y1 + dy, height, heights, bare ? 2 * LEAST_END : UNDER_BARS);
}
