// What is seen of each step where a graph is followed: `node followed.mjs FOLDER` reads scenes and prints, as JSON, what of a step lies
// under a bar or out of view, by program and width of the window.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { barsOver, hasMap, isNearlyWhole, isUncovered } from "../../../assets/js/geometry/overlays.mjs";
import { toScreen } from "../../../assets/js/geometry/camera.mjs";
import { commonArea } from "../../../assets/js/scene/card.mjs";
import { cornerFor, follow, overview, subjectsOf } from "../../../assets/js/stage/follow.mjs";
import { placedLabels } from "../../../assets/js/paint/labels.mjs";
import { placeCallout } from "../../../assets/js/paint/message.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { flowsAt, prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { fonts, Ruler } from "../../../assets/js/geometry/text.mjs";

const WIDE = 0.53; // a letter, in sizes: no canvas measures text here
const VIEWS = { 1280: [960, 531], 1440: [776, 711], 1920: [1120, 915] }; // the stage in windows so wide
const TOKENS = { textBody: 14, textNote: 13, textLeast: 12, font: "x", mono: "m" };
const BARS = ["the buttons", "the legend", "the minimap", "the message"];
const LOST = 1; // px² that are nothing

const ruler = new Ruler({
  font: "",
  measureText(text) {
    return { width: text.length * Number(/([\d.]+)px/.exec(this.font)[1]) * WIDE };
  },
});

const onScreen = (camera, view, [x0, y0, x1, y1]) => [...toScreen(camera, view, x0, y0), ...toScreen(camera, view, x1, y1)];

/** A program in a view: `open` as it opens, `step(state, k)` as step k is followed, `look(state, k)` what is amiss then. */
function shownIn(index, plane, view) {
  const { scene } = index;
  const brushAt = (t, camera) => {
    const moment = stateAt(index, t);
    return { ruler, font: fonts(TOKENS, camera.zoom), plane, camera, view, moment, wires: plane.wiring.at(moment, []) };
  };
  const barsAt = (state, k, brush, looked) => {
    const node = k === scene.steps.length && index.nodes.get(scene.error?.node);
    if (!node) return barsOver(view, isNearlyWhole(plane, state.camera, view) ? null : state.corner); // then the minimap is hidden
    const { x, y, shape } = placeCallout(brush, node, scene.error);
    const box = [x, y, x + shape.w, y + shape.h];
    return [...barsOver(view, cornerFor(state.camera, view, plane, [...looked, box], state.corner)), onScreen(state.camera, view, box)];
  };
  return {
    open(camera) {
      return follow({ camera, corner: null }, view, plane, subjectsOf(brushAt(0.001, camera)), true);
    },
    step(state, k) {
      return follow(state, view, plane, subjectsOf(brushAt(k, state.camera)), k === scene.steps.length);
    },
    look(state, k) {
      const brush = brushAt(k, state.camera);
      const cards = subjectsOf(brush).filter((one) => one.id);
      const bars = barsAt(state, k, brush, cards.map((one) => one.box));
      const found = bars.flatMap((bar, i) => bars.slice(0, i).flatMap((other, j) => (commonArea(bar, other) > LOST ? [`${BARS[i]} on ${BARS[j]}`] : [])));
      for (const { id, box } of cards) {
        const card = onScreen(state.camera, view, box);
        bars.forEach((bar, i) => commonArea(card, bar) > LOST && found.push(`${BARS[i]} on ${id}`));
        if (commonArea(card, card) - commonArea(card, [0, 0, view.width, view.height]) > LOST) found.push(`${id} is cut`);
      }
      for (const { text, box } of placedLabels({ ...brush, over: bars }, flowsAt(brush.moment))) {
        bars.forEach((bar, i) => commonArea(onScreen(state.camera, view, box), bar) > LOST && found.push(`${BARS[i]} on ${text}`));
      }
      return found.map((one) => `step ${k}: ${one}`);
    },
  };
}

const seen = {};
for (const file of readdirSync(process.argv[2]).sort()) {
  const scene = JSON.parse(readFileSync(join(process.argv[2], file), "utf8"));
  const index = prepare(scene);
  const plane = layPlane(index);
  for (const [window, [width, height]] of Object.entries(VIEWS)) {
    const view = { width, height, dpr: 1 };
    const camera = overview({ plane, view, error: scene.error });
    if (!hasMap(view) || isUncovered(plane, camera, view)) continue;
    const { open, step, look } = shownIn(index, plane, view);
    const rest = open(camera);
    const found = new Set();
    let [state, corners, direct] = [rest, 0, null];
    for (let k = 1; k <= scene.steps.length; k++) {
      const next = step(state, k);
      if (next.corner !== state.corner) corners += 1;
      state = next;
      direct = step(rest, k); // as from an address, or along the timeline
      for (const one of [...look(state, k), ...look(direct, k)]) found.add(one);
    }
    (seen[file.replace(".json", "")] ??= {})[window] = { steps: scene.steps.length, zoom: camera.zoom, corners, found: [...found] };
  }
}
console.log(JSON.stringify(seen));
