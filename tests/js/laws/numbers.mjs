// Where the numbers that travel stand: `node numbers.mjs FOLDER` reads scenes and prints, as JSON, by program and width of the window, how many there
// are, which of them have no place, and those that are not told by theirs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { barsOver, hasMap, isUncovered } from "../../../assets/js/geometry/overlays.mjs";
import { boxOf } from "../../../assets/js/scene/card.mjs";
import { crossesBox, crossesLine, distanceTo, distanceToBox, strikes } from "../../../assets/js/geometry/curve.mjs";
import { hasGradient, wiredEdges } from "../../../assets/js/paint/edges.mjs";
import { follow, overview, subjectsOf } from "../../../assets/js/stage/follow.mjs";
import { labelsOf, placedLabels } from "../../../assets/js/paint/labels.mjs";
import { FAR } from "../../../assets/js/paint/number_positions.mjs";
import { gradientRoute, layPlane } from "../../../assets/js/geometry/plane.mjs";
import { flowsAt, prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { fonts, Ruler } from "../../../assets/js/geometry/text.mjs";

const WIDE = 0.602; // a letter of the fixed-width fonts, in sizes: no canvas measures text here
const VIEWS = { 1280: [960, 531], 1440: [776, 711] }; // the stage in windows so wide
const TOKENS = { textBody: 14, textNote: 13, textLeast: 12, font: "x", mono: "m" };
const ruler = new Ruler({
  font: "",
  measureText(text) {
    return { width: text.length * Number(/([\d.]+)px/.exec(this.font)[1]) * WIDE };
  },
});

/** The curves of now: those of a number's own edges, and those of all other gradients. */
function curvesAt({ plane, moment, wires }, { edges, flow }) {
  const wired = wiredEdges(moment, wires);
  const live = wires.filter((wire) => wire.live || wire.comes);
  const own = edges.flatMap((edge) => (wired.has(edge.id) && flow.back ? live.map((wire) => wire.flat) : [(flow.back ? gradientRoute(plane, moment, edge) : plane.routes.get(edge.id).forward).flat]));
  const drawn = moment.scene.edges.filter((edge) => !edges.includes(edge) && hasGradient(moment, edge) && !wired.has(edge.id));
  return { own, others: drawn.map((edge) => gradientRoute(plane, moment, edge).flat), live: live.map((wire) => wire.flat) };
}

/** What does not tell whose a number is. */
function astray(brush, label) {
  const { plane, camera } = brush;
  const { text, edges, box, lead } = label;
  const { own, others, live } = curvesAt(brush, label);
  const gap = Math.min(...own.map((flat) => distanceToBox(flat, box)));
  const ends = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  const found = [];
  if (others.some((flat) => crossesBox(flat, box))) found.push("is on the route of another");
  if (live.some((flat) => crossesBox(flat, box))) found.push("is on a wire");
  if ((text.length > 8 || lead) && plane.nodes.itemsIn(box).length) found.push("is on a card");
  if (!lead) {
    if (gap * camera.zoom > FAR + 0.01) found.push("is far from its route");
    if (others.some((flat) => distanceToBox(flat, box) <= gap)) found.push("is nearer to another route");
    if (plane.nodes.itemsIn(box).length === 0 && brush.moment.scene.nodes.some((node) => !ends.has(node.id) && awayFrom(boxOf(node), box) <= gap)) found.push("is nearer to a card that is not its end");
    return found;
  }
  const [from, to] = lead;
  if (Math.min(...own.map((flat) => distanceTo(flat, ...from))) > 0.5) found.push("has a line to nowhere");
  if (!strikes(to, to, [box[0] - 0.5, box[1] - 0.5, box[2] + 0.5, box[3] + 0.5])) found.push("has a line that does not come to it");
  if (others.some((flat) => crossesLine(flat, from, to))) found.push("has a line over another route");
  if (brush.moment.scene.nodes.some((node) => strikes(from, to, boxOf(node)))) found.push("has a line over a card");
  return found;
}

/** How far two boxes are apart. */
const awayFrom = (a, b) => Math.hypot(Math.max(a[0] - b[2], 0, b[0] - a[2]), Math.max(a[1] - b[3], 0, b[1] - a[3]));

/** The brush of each step, as it is followed. */
function* brushes(index, plane, view) {
  const { scene } = index;
  const brushAt = (t, camera) => {
    const moment = stateAt(index, t);
    return { ruler, font: fonts(TOKENS, camera.zoom), plane, camera, view, moment, wires: plane.wiring.at(moment, []) };
  };
  const camera = overview({ plane, view, error: scene.error });
  const inPart = hasMap(view) && !isUncovered(plane, camera, view);
  let state = inPart ? follow({ camera, corner: null }, view, plane, subjectsOf(brushAt(0.001, camera)), true) : { camera, corner: null };
  for (let k = 1; k <= scene.steps.length; k++) {
    if (inPart) state = follow(state, view, plane, subjectsOf(brushAt(k, state.camera)), k === scene.steps.length);
    yield { ...brushAt(k, state.camera), ...(inPart ? { over: barsOver(view, state.corner) } : {}) };
  }
}

const told = {};
for (const file of readdirSync(process.argv[2]).sort()) {
  const index = prepare(JSON.parse(readFileSync(join(process.argv[2], file), "utf8")));
  const plane = layPlane(index);
  const views = (told[file.replace(".json", "")] = {});
  for (const [window, [width, height]] of Object.entries(VIEWS)) {
    const seen = (views[window] = { numbers: 0, without: [], astray: [] });
    for (const brush of brushes(index, plane, { width, height, dpr: 1 })) {
      const flows = flowsAt(brush.moment);
      const labels = labelsOf(brush, flows);
      const placed = placedLabels(brush, flows);
      const step = `step ${brush.moment.k + 1}`;
      seen.numbers += labels.length;
      seen.without.push(...labels.filter(({ flow }) => !placed.some((one) => one.flow === flow)).map(({ text }) => `${step}: ${text}`));
      seen.astray.push(...placed.flatMap((label) => astray(brush, label).map((what) => `${step}: ${label.text} ${what}`)));
    }
  }
}
console.log(JSON.stringify(told));
