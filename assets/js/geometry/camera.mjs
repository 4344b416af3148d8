// The camera: which part of the plane is on screen.  Pure: every function returns a new camera {x, y, zoom},
// where (x, y) is the point of the plane in the middle of the screen and a view is {width, height} in CSS px.

import { WHOLE } from "../scene/shared.mjs";

/** @import { Box, Point } from "../scene/scene.d.ts" */
/** @typedef {{ x: number, y: number, zoom: number }} Camera */
/** @typedef {{ width: number, height: number, bare?: boolean }} View */

const MIN_ZOOM = 0.02;
const MAX_ZOOM = 4;
export const READABLE = 0.9; // the zoom of a graph that is too large to be shown whole: the camera follows its steps
const LARGEST_FIT = 1.7;
const LEAST_PAD = 10;
const GLOW_PAD = 18; // room at the left and right for the halo of the active node and the ring of the selected one
const BARS = 124; // px of the height that the buttons, the legend and some air take; less if `pad` is smaller
const CLEAR = 22; // px of that air that a graph may use if it fits only so
const JUST = 6; // px more that a graph may use if it is shown whole, with readable text, only so: its border has no card
const HAIR = 0.003;
const EVENLY = 2 / 3; // share of the shift from the middle that keeps the graph clear of both bars

/** @type {(camera: Camera, view: View, x: number, y: number) => Point} */
export function toScreen(camera, view, x, y) {
  return [(x - camera.x) * camera.zoom + view.width / 2, (y - camera.y) * camera.zoom + view.height / 2];
}

/** @type {(camera: Camera, view: View, sx: number, sy: number) => Point} */
export function toWorld(camera, view, sx, sy) {
  return [(sx - view.width / 2) / camera.zoom + camera.x, (sy - view.height / 2) / camera.zoom + camera.y];
}

/**
 * The part of the plane in view, as [x0, y0, x1, y1].
 * @type {(camera: Camera, view: View, margin?: number) => Box}
 */
export function visibleBox(camera, view, margin = 0) {
  const w = view.width / 2 / camera.zoom + margin;
  const h = view.height / 2 / camera.zoom + margin;
  return [camera.x - w, camera.y - h, camera.x + w, camera.y + h];
}

/** @type {(camera: Camera, dx: number, dy: number) => Camera} */
export function pan(camera, dx, dy) {
  return { ...camera, x: camera.x - dx / camera.zoom, y: camera.y - dy / camera.zoom };
}

/**
 * Zoom by a factor so that what is under the screen point stays under it.
 * @type {(camera: Camera, view: View, sx: number, sy: number, factor: number, smallest?: number) => Camera}
 */
export function zoomAt(camera, view, sx, sy, factor, smallest = MIN_ZOOM) {
  const zoom = Math.min(Math.max(camera.zoom * factor, Math.min(smallest, camera.zoom)), MAX_ZOOM);
  const [wx, wy] = toWorld(camera, view, sx, sy);
  return { zoom, x: wx - (sx - view.width / 2) / zoom, y: wy - (sy - view.height / 2) / zoom };
}

/**
 * The camera that shows a whole box, with `pad` px around it ({top, right, bottom, left}), or fewer if it fits only so, at a zoom of
 * at least `least`.  A box that does not fit is shown in part: at the zoom `floor`, around the `focus` point, and without empty space
 * past its ends.
 * @type {(box: Box, view: View, pad: { top: number, right: number, bottom: number, left: number }, floor?: number, focus?: Point | number[] | null, least?: number) => Camera}
 */
export function fit(box, view, pad, floor = READABLE, focus = null, least = Math.min(floor, WHOLE)) {
  const room = { w: Math.max(view.width - pad.left - pad.right, 40), h: Math.max(view.height - pad.top - pad.bottom, 40) };
  const into = (w, h) => Math.min(w / Math.max(box[2] - box[0], 1), h / Math.max(box[3] - box[1], 1), LARGEST_FIT);
  const most = Math.min(BARS, pad.top + pad.bottom);
  const tiers = [[GLOW_PAD, most], [LEAST_PAD, most], [GLOW_PAD, most - CLEAR], [LEAST_PAD, most - CLEAR]]
    .map(([side, bars]) => into(Math.max(view.width - 2 * side, 40), Math.max(room.h, view.height - bars)));
  const just = into(Math.max(view.width - 2 * LEAST_PAD, 40), Math.max(room.h, view.height - most + CLEAR + JUST));
  const tight = tiers.find((one) => one >= least) ?? (just >= least + HAIR ? just : tiers[tiers.length - 1]);
  const whole = Math.max(into(room.w, room.h), Math.min(tight, 1));
  const along = Math.max(into(room.w, Infinity), Math.min(into(Math.max(view.width - 2 * LEAST_PAD, 40), Infinity), 1));
  const lines = Math.min(floor, along) >= least ? Math.min(floor, along) : floor; // a graph that fits in width is followed in height only
  const zoom = Math.max(whole >= least ? whole : lines, MIN_ZOOM);
  const place = (low, high, size, full, shift, wish, near) => {
    const half = size / 2 / zoom;
    if (high - low <= 2 * half + 1e-6) return (low + high) / 2 + shift / zoom;
    const spare = full - 2 * LEAST_PAD + 1e-3 - (high - low) * zoom;
    if (spare >= 0) return (low + high) / 2 + (shift / zoom) * (spare < JUST ? EVENLY : 1); // it fits if it may use the padding
    return startOrEnd(low, high, near * half, half, wish ?? low) + shift / zoom;
  };
  const clear = Math.min(view.height - most + CLEAR + JUST + 2 * LEAST_PAD, view.height); // the ends of a higher graph lie under the bars
  return { zoom, x: place(box[0], box[2], room.w, view.width, (pad.right - pad.left) / 2, focus?.[0], 1.6),
    y: place(box[1], box[3], room.h, clear, (pad.bottom - pad.top) / 2, focus?.[1], 2) };
}

/**
 * The middle of the visible part of a line: the part at its start or its end if the wished point is well in view there, else the part around that point.
 * @type {(low: number, high: number, near: number, half: number, wish: number) => number}
 */
function startOrEnd(low, high, near, half, wish) {
  if (wish <= low + near) return low + half;
  return wish >= high - near ? high - half : wish;
}

/**
 * The camera under which an element that moved from (x0, y0) to (x1, y1) in the plane stays where it is on the screen.
 * @type {(camera: Camera, before: Point, after: Point) => Camera}
 */
export function keep(camera, [x0, y0], [x1, y1]) {
  return { ...camera, x: camera.x + x1 - x0, y: camera.y + y1 - y0 };
}

/**
 * The camera, moved sideways only: a box that fits the view is centred, and a wider one leaves no empty space beside it.
 * @type {(camera: Camera, view: View, box: Box) => Camera}
 */
export function centreAcross(camera, view, [x0, , x1]) {
  const half = (view.width / 2 - LEAST_PAD) / camera.zoom;
  const x = x1 - x0 <= 2 * half ? (x0 + x1) / 2 : Math.min(Math.max(camera.x, x0 + half), x1 - half);
  return { ...camera, x };
}

/**
 * A camera between two others: the position moves along a line, the zoom by a constant ratio.
 * @type {(a: Camera, b: Camera, part: number) => Camera}
 */
export function cameraBetween(a, b, part) {
  if (part >= 1) return b;
  const s = part * part * (3 - 2 * part);
  return { x: a.x + (b.x - a.x) * s, y: a.y + (b.y - a.y) * s, zoom: a.zoom * (b.zoom / a.zoom) ** s };
}
