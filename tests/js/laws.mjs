// What no picture may do, asked of the drawing itself: `node laws.mjs FOLDER` reads scenes and prints what breaks a law, as JSON.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fit, READABLE } from "../../assets/modules/camera.mjs";
import { boxOf } from "../../assets/modules/card.mjs";
import { lineTo, placeCallout, strikes } from "../../assets/modules/message.mjs";
import { layPlane } from "../../assets/modules/plane.mjs";
import { prepare, stateAt } from "../../assets/modules/state.mjs";
import { fonts } from "../../assets/modules/text.mjs";
import { isWired, wiresAt } from "../../assets/modules/wiring.mjs";

const TOUCH = 1.5; // so far a curve may be over a border
const MARK = 10; // so far rings and marks stand out of a card
const WIDE = 0.53; // a letter, in sizes: no canvas measures text here
const VIEWS = [[953, 530], [953, 711], [777, 711], [1257, 891]]; // the stage at 1280 x 720, 1280, 1440 and 1920 x 1080
const PAD = { top: 206, right: 40, bottom: 194, left: 40 }; // as the stage has it where an error will be told
const TOKENS = { textBody: 14, textNote: 13, textLeast: 12, font: "x", mono: "m" };

const context = {
  font: "",
  measureText(text) {
    return { width: text.length * Number(/([\d.]+)px/.exec(this.font)[1]) * WIDE };
  },
};

function crossed(scene, flat, own) {
  return scene.nodes.filter((node) => !own.includes(node.id)).filter((node) => {
    const [x0, y0, x1, y1] = boxOf(node);
    return flat.xs.some((x, i) => x > x0 + TOUCH && x < x1 - TOUCH && flat.ys[i] > y0 + TOUCH && flat.ys[i] < y1 - TOUCH);
  }).map((node) => node.id);
}

function routesOverCards(scene, plane) {
  return scene.edges.flatMap((edge) => ["forward", "back"].flatMap((way) => (
    crossed(scene, plane.routes.get(edge.id)[way].flat, [edge.source, edge.target]).map((id) => `${way} ${edge.id} over ${id}`))));
}

function wiresOverCards(scene, index) {
  const found = new Set();
  for (let k = 1; k <= scene.steps.length; k++) {
    for (const wire of wiresAt(stateAt(index, k), [])) {
      const ways = [["arriving", wire.after, wire.output], ["leaving", wire.edge, wire.source]];
      for (const [way, edge, end] of ways.filter((one) => isWired(one[1]))) {
        for (const id of crossed(scene, wire[way], [wire.op.id, end.id])) found.add(`${way} ${edge.id} over ${id}`);
      }
    }
  }
  return [...found];
}

function calloutOverCards(scene, index, plane) {
  const node = index.nodes.get(scene.error?.node);
  const moment = stateAt(index, scene.steps.length);
  const wires = wiresAt(moment, []);
  return !node ? [] : VIEWS.flatMap(([width, height]) => {
    const view = { width, height, dpr: 1 };
    const camera = fit(plane.framed, view, PAD, READABLE, [node.x, node.y]);
    const { x, y, shape } = placeCallout({ context, font: fonts(TOKENS, camera.zoom), plane, camera, view, moment, wires }, node, scene.error);
    const over = plane.nodes.within([x - MARK, y - MARK, x + shape.w + MARK, y + shape.h + MARK]);
    const others = scene.nodes.filter((one) => one.id !== node.id);
    const line = lineTo(others, node, [x, y, x + shape.w, y + shape.h]);
    const struck = others.filter((one) => strikes(...line, boxOf(one)));
    return [...over, ...struck].map((one) => `${width}x${height}: ${one.id}`);
  });
}

const broken = {};
for (const file of readdirSync(process.argv[2]).sort()) {
  const scene = JSON.parse(readFileSync(join(process.argv[2], file), "utf8"));
  const index = prepare(scene);
  const plane = layPlane(index);
  broken[file.replace(".json", "")] = { routes: routesOverCards(scene, plane), wires: wiresOverCards(scene, index),
    callout: calloutOverCards(scene, index, plane) };
}
console.log(JSON.stringify(broken));
