// The overlays of the stage: buttons, legend, minimap; a `bare` stage, as in a lecture, has none. Pure: boxes [x0, y0, x1, y1] in px of a view.

import { toWorld, visibleBox } from "./camera.mjs";
import { crossesBox } from "./curve.mjs";
import { boxOf, commonArea } from "../scene/card.mjs";

/** @import { Box } from "../scene/scene.d.ts" */
/** @import { View } from "./camera.mjs" */

export const MAP = { width: 148, height: 104 }; // of the minimap
const EDGE = 12; // from the border of the stage
const TOOLS = [244, 40]; // the buttons, at the top right
const CHIP = [72, 31]; // the legend, at the lower left, of a graph that is seen in part: a small box
const SCALE = 244; // px by which the scale of norms makes it wider
const BESIDE_TOOLS = 264; // px from the right border to the end of a legend that stands at the top
const CRUMB = [27, 24, 8.4]; // the name of the model at the top left: its height, the padding of its text, the width of a letter
const BESIDE_MAP = 172; // where that name begins if the minimap has the corner
const AIR = 4; // px that are kept free around each
const [TOP, LOW] = [54, 48]; // strips above and below a graph that is seen whole, as high as the buttons and the legend
export const UNDER_BARS = TOP + LOW; // px of the height that the bars cover: a graph that reaches under them is not all in view
const SLACK = 12; // px by which the border of the graph may be out of view: no card is there
const NEARLY = 0.9; // of the area of a graph
const TOLERANCE = 6; // px that are no loss where a graph just fits
const [WIDE, HIGH] = [900, 560]; // px of a stage that is low and wide
const LEAST = 3; // a view smaller than this many minimaps has none: it would cover too much
const [CARD, EDGE_OF_GRAPH] = [2, 1]; // how bad it is to cover one
const [BELOW_TOOLS, OVER_CHIP] = [64, 56];

/** The corners for the minimap, in order of preference: the first of the best ones is taken. */
export const CORNERS = {
  "low-right": ({ width, height }) => [width - EDGE - MAP.width, height - EDGE - MAP.height],
  "top-left": () => [EDGE, EDGE],
  "low-left": ({ height }) => [EDGE, height - OVER_CHIP - MAP.height],
  "top-right": ({ width }) => [width - EDGE - MAP.width, BELOW_TOOLS],
};

/**
 * Whether a graph fits the view, apart from the bars, and nearly all of it is seen: then a minimap would hide more than it shows.
 * @type {(plane: { bounds: Box }, camera: import("./camera.mjs").Camera, view: View) => boolean}
 */
export function isNearlyWhole({ bounds: [x0, y0, x1, y1] }, camera, view) {
  const [a, b, c, d] = visibleBox(camera, view, SLACK / camera.zoom);
  const seen = Math.max(0, Math.min(x1, c) - Math.max(x0, a)) * Math.max(0, Math.min(y1, d) - Math.max(y0, b));
  return x1 - x0 <= c - a && y1 - y0 <= d - b && seen >= NEARLY * (x1 - x0) * (y1 - y0);
}

/** Whether the whole graph is in view and under no bar, even with the legend as a strip: then the camera has nothing to follow. */
export function isUncovered(plane, camera, view) {
  const { bounds } = plane;
  const [x0, y0, x1, y1] = visibleBox(camera, view, SLACK / camera.zoom);
  if (view.bare) return holds([x0, y0, x1, y1], bounds);
  return holds([x0, y0 + (SLACK + TOP - TOLERANCE) / camera.zoom, x1, y1 - (isLegendOnTop(plane, view) ? 0 : SLACK + LOW - TOLERANCE) / camera.zoom], bounds);
}

/** Whether the scale of colours stands beside the buttons: on a low and wide stage a graph needs the room below. */
export const isLegendOnTop = ({ index }, { width, height, bare = false }) => !bare && Boolean(index.scene.norms) && width >= WIDE && height < HIGH;

const holds = (outer, inner) => inner[0] >= outer[0] && inner[1] >= outer[1] && inner[2] <= outer[2] && inner[3] <= outer[3];

/** Whether a view has room for a minimap. */
export const hasMap = ({ width, height, bare = false }) => !bare && width >= LEAST * MAP.width && height >= LEAST * MAP.height;

/**
 * The minimap in one of its corners.
 * @type {(view: View, corner: string) => Box}
 */
export function mapBox(view, corner) {
  const [x, y] = CORNERS[corner](view);
  return [x - AIR, y - AIR, x + MAP.width + AIR, y + MAP.height + AIR];
}

/**
 * The boxes that lie over a graph that is seen in part; `corner` is that of the minimap, or null.
 * @type {(view: View, corner?: string | null) => number[][]}
 */
export function barsOver(view, corner = null) {
  const { width, height } = view;
  if (view.bare) return [];
  const tools = [width - EDGE - TOOLS[0] - AIR, EDGE - AIR, width - EDGE + AIR, EDGE + TOOLS[1] + AIR];
  const chip = [EDGE - AIR, height - EDGE - CHIP[1] - AIR, EDGE + CHIP[0] + AIR, height - EDGE + AIR];
  return corner && hasMap(view) ? [tools, chip, mapBox(view, corner)] : [tools, chip];
}

/**
 * The same with the overlays of a long program: the scale of norms beside the legend, and the name of the model at the top left.
 * @type {(plane: { index: any }, view: View, corner?: string | null, isHigh?: boolean) => number[][]}
 */
export function allOver({ index: { scene } }, view, corner = null, isHigh = false) {
  const bars = barsOver(view, corner);
  if (view.bare) return bars;
  const [, y0, x1, y1] = bars[1];
  if (scene.norms && isHigh) bars[1] = legendBox(view, true);
  else if (scene.norms) bars.push([x1, y0, x1 + SCALE, y1]);
  if (scene.model) bars.push(crumbBox(scene.model, hasMap(view) ? corner : null));
  return bars;
}

/**
 * The legend with the scale of norms where a graph is seen in part: at the lower left, or at the top beside the buttons.
 * @type {(view: View, isHigh: boolean) => Box}
 */
function legendBox({ width, height }, isHigh) {
  const [wide, high] = [CHIP[0] + SCALE, isHigh ? TOOLS[1] : CHIP[1]];
  const [x, y] = isHigh ? [width - BESIDE_TOOLS - wide, EDGE] : [EDGE, height - EDGE - high];
  return [x - AIR, y - AIR, x + wide + AIR, y + high + AIR];
}

/**
 * Whether the legend of a graph that is seen in part stands at the top: it does if it covers no card there and would cover more below. It stays there as long as it covers no card.
 * @type {(plane: { index: any, nodes: any, edges: any, routes: any }, camera: import("./camera.mjs").Camera, view: View, corner: string | null, now: boolean) => boolean}
 */
export function isLegendHigh(plane, camera, view, corner, now) {
  const { scene } = plane.index;
  if (view.bare || !scene.norms) return false;
  const map = hasMap(view) ? corner : null;
  const above = legendBox(view, true);
  const overlays = [...(scene.model ? [crumbBox(scene.model, map)] : []), ...(map ? [mapBox(view, map)] : [])];
  if (above[0] < 0 || overlays.some((box) => commonArea(box, above) > 0)) return false;
  const loss = lossUnder(plane, camera, view, above);
  return loss < CARD && (now || loss < lossUnder(plane, camera, view, legendBox(view, false)));
}

/** How bad it is to cover a box of the view: CARD if a card is there, EDGE_OF_GRAPH if only an edge is, else 0. */
function lossUnder({ nodes, edges, routes }, camera, view, [x0, y0, x1, y1]) {
  const box = [...toWorld(camera, view, x0, y0), ...toWorld(camera, view, x1, y1)];
  if (nodes.itemsIn(box).some((node) => commonArea(boxOf(node), box) > 0)) return CARD;
  const crosses = ({ forward, back }) => [forward, back].some(({ flat }) => crossesBox(flat, box));
  return edges.itemsIn(box).some((edge) => crosses(routes.get(edge.id))) ? EDGE_OF_GRAPH : 0;
}

/** The name of the model, beside the minimap where that has its corner. */
function crumbBox(model, corner) {
  const x = corner === "top-left" ? BESIDE_MAP : EDGE;
  return [x - AIR, EDGE - AIR, x + CRUMB[1] + CRUMB[2] * model.length + AIR, EDGE + CRUMB[0] + AIR];
}

/** The strips that a graph keeps free if it is seen whole. */
export const barsOfWhole = ({ width, height, bare = false }) => (bare ? [] : [[0, 0, width, TOP], [0, height - LOW, width, height]]);
