import assert from "node:assert/strict";
import { test } from "node:test";

import { boxOf, commonArea } from "../../../assets/js/scene/card.mjs";
import { lineTo, paintCallout, placeCallout, struckBy } from "../../../assets/js/paint/message.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { prepare } from "../../../assets/js/scene/state.mjs";
import { fonts, Ruler } from "../../../assets/js/geometry/text.mjs";

const VIEW = { width: 900, height: 600, dpr: 1 };
const ERROR = { type: "RuntimeError", message: "what was expected is not what was found" };
const context = { font: "", measureText: (text) => ({ width: text.length * 7 }) };
const ruler = new Ruler(context);
const FONT = fonts({ textBody: 14, textNote: 13, textLeast: 12, font: "x", mono: "m" });

const node = (id, x, y, w = 120, h = 80) => ({ id, kind: "op", label: id, x, y, w, h, rows: [], saved: [], tracks: { state: [] } });

function placeIn(nodes, edges = [], view = VIEW) {
  const scene = { nodes, edges, groups: [], steps: [], values: [], phases: [], findings: [], marks: [] };
  const plane = layPlane(prepare(scene));
  const { x, y, shape } = placeCallout({ ruler, font: FONT, plane, camera: { x: 0, y: 0, zoom: 1 }, view }, nodes[0], ERROR);
  return [x, y, x + shape.w, y + shape.h];
}

test("a message stands above its node where nothing else is there, at the border of the view too", () => {
  const above = placeIn([node("own", 0, 0)]);
  assert.ok(above[3] < -40 && above[3] > -70);
  const aside = placeIn([node("own", 380, 0)]);
  assert.ok(aside[3] < -40 && aside[3] > -70 && aside[2] <= 450, "moved into the view, not to another side");
});

test("a message keeps away from the rings of cards, and its line from their names", () => {
  const nodes = [node("own", 0, 0), node("above", 0, -110, 500), node("right", 150, 0), node("left", -150, 0)];
  const box = placeIn(nodes);
  const others = nodes.slice(1);
  for (const one of others) assert.equal(commonArea([box[0] - 12, box[1] - 12, box[2] + 12, box[3] + 12], boxOf(one)), 0);
  assert.deepEqual(struckBy(others, lineTo(others, nodes[0], box)), []);
});

test("a message stands where the bars would be over a view that has none, as in a lecture", () => {
  const nodes = [node("own", 0, 0, 700, 400), node("left", -420, 0, 60, 400), node("right", 420, 0, 60, 400)];
  const bare = placeIn(nodes, [], { ...VIEW, height: 560, bare: true });
  assert.equal(nodes.reduce((sum, one) => sum + commonArea(bare, boxOf(one)), 0), 0);
  const barred = placeIn(nodes, [], { ...VIEW, height: 560 });
  assert.ok(nodes.some((one) => commonArea(barred, boxOf(one)) > 0), "the same place is under a bar elsewhere");
});

const isUpright = ([[a], [b]]) => a === b;
const isLevel = ([[, a], [, b]]) => a === b;

test("a line to a message above, below or beside its node is straight, and ends at a right angle away from the corners", () => {
  const own = node("own", 0, 0);
  assert.deepEqual(lineTo([], own, [-100, -120, 100, -60]), [[0, -40], [0, -60]]);
  assert.deepEqual(lineTo([], own, [90, -20, 300, 60]), [[60, 0], [90, 0]]);
  const aside = lineTo([], own, [20, 60, 300, 120]);
  assert.deepEqual(aside, [[34, 40], [34, 60]], "as near to the middle as the corner of the message lets it");
});

test("a line to a message that stands off at a corner turns once, between the middle of a side and a side of the message", () => {
  const own = node("own", 0, 0);
  for (const [dx, dy] of [[1, 1], [1, -1], [-1, 1], [-1, -1]]) {
    const box = [dx * 250 - 100, dy * 150 - 40, dx * 250 + 100, dy * 150 + 40];
    const way = lineTo([], own, box);
    assert.equal(way.length, 3);
    assert.ok(isUpright(way) && way[0][0] === 0 && isLevel(way.slice(1)), `${way}: it leaves where no edges run`);
  }
});

test("a line that would strike out a card goes another way", () => {
  const [own, card] = [node("own", 0, 0), node("card", 140, 0)];
  const box = [230, -140, 400, -20];
  assert.deepEqual(struckBy([card], lineTo([card], own, box)), []);
  const below = [node("low", 0, 80, 40, 40)];
  const [[x]] = lineTo(below, own, [-80, 130, 80, 180]);
  assert.ok(Math.abs(x) > 24 && Math.abs(x) <= 60 - 26, String(x));
});

test("a message stands beside routes rather than on them", () => {
  const nodes = [node("own", 0, 0), node("far", 300, -200)];
  const edge = { id: "e", source: "own", target: "far", points: [[0, -40], [0, -90], [300, -90], [300, -160]], back: null, grad: false, tracks: {} };
  const box = placeIn(nodes, [edge]);
  assert.ok(box[1] >= 0 || box[2] <= 0, "above, it would lie on the route");
});

test("a message where nothing was made is on as few lines as it can be, and nearer to nothing than to all", () => {
  const nodes = [node("a", -200, 0), node("b", 0, 0), node("c", 200, 0)];
  const plane = layPlane(prepare({ nodes, edges: [], groups: [], steps: [], values: [], phases: [], findings: [], marks: [] }));
  const lines = [];
  const brush = { ruler, context: new Proxy(context, { get: (it, name) => it[name] ?? (() => {}) }), write: (text) => lines.push(text), font: FONT, plane, camera: { x: 0, y: 60, zoom: 1 }, view: VIEW,
    moment: { t: 1 }, wires: [], tokens: {} };
  const [x0, y0, x1] = paintCallout(brush, null, ERROR);
  assert.deepEqual(lines, [ERROR.type, ERROR.message]);
  assert.ok(y0 >= 40 + 24 && x0 < 0 && x1 > 0, String([x0, y0, x1]));
});
