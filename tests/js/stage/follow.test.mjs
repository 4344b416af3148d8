import assert from "node:assert/strict";
import { test } from "node:test";

import { allOver, barsOfWhole, barsOver, CORNERS, isLegendHigh, isNearlyWhole, isUncovered, mapBox } from "../../../assets/js/geometry/overlays.mjs";
import { curveThrough, flatten } from "../../../assets/js/geometry/curve.mjs";
import { READABLE, toScreen } from "../../../assets/js/geometry/camera.mjs";
import { WHOLE } from "../../../assets/js/scene/shared.mjs";
import { commonArea } from "../../../assets/js/scene/card.mjs";
import { cornerFor, follow, overview, subjectsOf, WEIGHT } from "../../../assets/js/stage/follow.mjs";
import { Grid } from "../../../assets/js/geometry/grid.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { fonts, Ruler } from "../../../assets/js/geometry/text.mjs";

const VIEW = { width: 960, height: 540 };
const NOW = { x: 0, y: 0, zoom: 1 };

/** A large graph of some cards [x0, y0, x1, y1] whose steps are about some of them. */
function planeOf(cards = {}, steps = [], bounds = [-3000, -3000, 3000, 3000], ways = []) {
  const nodes = new Grid();
  const edges = new Grid();
  const routes = new Map();
  const index = { nodes: new Map(), edges: new Map(), scene: { steps } };
  for (const [id, [x0, y0, x1, y1]] of Object.entries(cards)) {
    const node = { id, x: (x0 + x1) / 2, y: (y0 + y1) / 2, w: x1 - x0, h: y1 - y0 };
    nodes.add(node, [x0, y0, x1, y1]);
    index.nodes.set(id, node);
  }
  for (const [id, [[x0, y0], [x1, y1]]] of ways.entries()) {
    const flat = flatten(curveThrough([[x0, y0], [x1, y1]]));
    edges.add({ id }, [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)]);
    routes.set(id, { forward: { flat }, back: { flat } });
  }
  return { index, nodes, edges, routes, bounds, framed: bounds };
}

const card = (id, x) => ({ id, kind: "op", role: "inner", label: id, sub: "", x, y: 0, w: 100, h: 40, rows: [], saved: [], tracks: {} });
const about = (...boxes) => boxes.map((box, i) => ({ id: `s${i}`, box, weight: i ? WEIGHT.sends : WEIGHT.now }));
const onScreen = ({ camera }, [x0, y0, x1, y1]) => [...toScreen(camera, VIEW, x0, y0), ...toScreen(camera, VIEW, x1, y1)];
const isIn = ([x0, y0, x1, y1]) => x0 >= 0 && y0 >= 0 && x1 <= VIEW.width && y1 <= VIEW.height;
const isSeen = (found, box) => isIn(onScreen(found, box)) && barsOver(VIEW, found.corner).every((bar) => commonArea(bar, onScreen(found, box)) < 1);

test("what is in view and under nothing moves nothing, not even the minimap", () => {
  for (const corner of Object.keys(CORNERS)) {
    const found = follow({ camera: NOW, corner }, VIEW, planeOf(), about([-50, -50, 50, 50]));
    assert.equal(found.camera, NOW);
    assert.equal(found.corner, corner);
  }
});

test("what is out of view comes in along one axis, with some room around it", () => {
  const found = follow({ camera: NOW, corner: "low-right" }, VIEW, planeOf(), about([500, -20, 600, 20]));
  assert.equal(found.camera.y, 0);
  assert.equal(onScreen(found, [500, -20, 600, 20])[2], VIEW.width - 40);
});

test("what is far away comes in, however far", () => {
  const box = [2500, 2500, 2600, 2560];
  assert.ok(isSeen(follow({ camera: NOW, corner: "low-right" }, VIEW, planeOf(), about(box)), box));
});

test("what lies under the buttons or the legend comes out from under them", () => {
  for (const box of [[300, -268, 400, -200], [-470, 230, -400, 268], [-479, 200, -440, 269]]) {
    assert.ok(isSeen(follow({ camera: NOW, corner: "top-left" }, VIEW, planeOf(), about(box)), box), String(box));
  }
});

test("beside the small legend there is room for cards, which a bar all along would not have", () => {
  const box = [-300, 200, -100, 262];
  assert.equal(follow({ camera: NOW, corner: "top-left" }, VIEW, planeOf(), about(box)).camera, NOW);
  assert.ok(barsOfWhole(VIEW).some((bar) => commonArea(bar, onScreen({ camera: NOW }, box)) > 0));
});

test("the minimap leaves its corner only for what the step is about, and hides nothing of it there", () => {
  const [x0, y0, x1, y1] = mapBox(VIEW, "low-right");
  const box = [x0 - 470, y0 - 260, x1 - 500, y1 - 290];
  const cards = { other: box };
  assert.equal(follow({ camera: NOW, corner: "low-right" }, VIEW, planeOf(cards), about([-50, -50, 50, 50])).corner, "low-right");
  const found = follow({ camera: NOW, corner: "low-right" }, VIEW, planeOf(cards), about(box));
  assert.ok(isSeen(found, box));
  assert.equal(cornerFor(NOW, VIEW, planeOf(cards), [[-50, -50, 50, 50]], "low-right"), "low-right");
  assert.notEqual(cornerFor(NOW, VIEW, planeOf(cards), [box], "low-right"), "low-right");
  assert.notEqual(cornerFor(NOW, VIEW, planeOf(cards), [], null), "low-right", "at first where it hides least of any card");
});

test("as the camera moves, the minimap leaves a corner in which it would lie over a card, and other cards keep clear of every bar", () => {
  const out = [-50, 268, 50, 330]; // one has to look further down
  const [x0, y0, x1, y1] = mapBox(VIEW, "low-right");
  const cards = { low: [x0 - 470, y0 - 200, x1 - 500, y1 - 220], chip: [-476, 268, -400, 300] };
  const found = follow({ camera: NOW, corner: "low-right" }, VIEW, planeOf(cards), about(out));
  assert.ok(isSeen(found, out));
  for (const card of Object.values(cards)) {
    const box = onScreen(found, card);
    assert.ok(barsOver(VIEW, found.corner).every((bar) => commonArea(bar, box) === 0) || commonArea(box, [0, 0, VIEW.width, VIEW.height]) === 0, String(box));
  }
});

test("the halo of what runs and the end of a way that arrives are brought into view by a short move, and no other card is hidden for them", () => {
  const box = [380, -40, 470, 40];
  const rim = { box: [470, -6, 510, 6], weight: 1, rim: true };
  const state = { camera: NOW, corner: "top-left" };
  assert.equal(follow(state, VIEW, planeOf(), about(box)).camera, NOW);
  const found = follow(state, VIEW, planeOf(), [...about(box), rim]);
  assert.ok(isIn(onScreen(found, rim.box)));
  const tight = planeOf({ left: [-470, -200, -380, 200] });
  assert.equal(follow(state, VIEW, tight, [...about(box), { ...rim, box: [470, -6, 481, 6] }]).camera, NOW, "a little of it is not worth a card");
});

test("what is around the cards of a step is a subject of the camera: its halo, and the end of each way that leads to one", () => {
  const scene = { steps: [{ kind: "forward", at: "b", flows: [{ edge: "e", back: false }], phase: 0 }], phases: [{ kind: "forward", start: 0, end: 1 }],
    nodes: [card("a", 0), card("b", 300)], edges: [{ id: "e", source: "a", target: "b", points: [[50, 0], [250, 0]], back: [[250, 8], [50, 8]], tracks: {} }],
    groups: [], values: [], bounds: [-50, -20, 350, 20] };
  const index = prepare(scene);
  const brush = { moment: stateAt(index, 1), plane: layPlane(index), camera: NOW, view: VIEW, wires: [], font: fonts({ textBody: 14, textNote: 13, textLeast: 12 }, 1),
    ruler: new Ruler({ measureText: () => ({ width: 10 }) }) };
  const rims = subjectsOf(brush).filter((one) => one.rim).map((one) => one.box);
  assert.deepEqual(rims[0], [232, -38, 368, 38]);
  assert.deepEqual(rims[1].map(Math.round), [204, -6, 256, 6]);
});

test("where both ends have no room, where the number arrives is seen whole, and as much of the other as there is room for", () => {
  const [to, from] = [[-60, 1000, 60, 1100], [-60, 500, 60, 620]];
  const found = follow({ camera: NOW, corner: "top-left" }, VIEW, planeOf(), about(to, from));
  assert.ok(isSeen(found, to));
  const [, , , low] = onScreen(found, to);
  assert.ok(VIEW.height - low < 8, "no room is left below it");
  assert.ok(onScreen(found, from)[3] > 0);
});

test("where one stays, no card is cut that need not be", () => {
  const plane = planeOf({ torn: [-60, -300, 60, -240], below: [-60, 100, 60, 160] });
  const box = [-50, -50, 50, 50];
  const state = { camera: NOW, corner: "low-right" };
  assert.equal(follow(state, VIEW, plane, about(box)).camera, NOW);
  const [, top, , low] = onScreen(follow(state, VIEW, plane, about(box), true), [-60, -300, 60, -240]);
  assert.ok(top >= 0 || low <= 0, "all of it is seen, or nothing");
});

test("a large graph is shown as much smaller as its steps need to be seen with both ends, and read", () => {
  const step = { at: "a", flows: [{ edge: "e", back: true }] };
  const plane = planeOf({ a: [-50, -300, 50, -200], b: [-50, 250, 50, 350] }, [step]);
  plane.index.edges.set("e", { source: "a", target: "b" });
  const { zoom } = overview({ plane, view: VIEW });
  assert.ok(zoom < READABLE && zoom >= WHOLE && 650 * zoom <= VIEW.height);
  const far = planeOf({ a: [-50, -300, 50, -200], b: [-50, 2250, 50, 2350] }, [step]);
  far.index.edges.set("e", { source: "a", target: "b" });
  assert.equal(overview({ plane: far, view: VIEW }).zoom, READABLE, "no zoom at which one reads would do");
});

test("a graph in view that lies under the bars is followed, and has no minimap", () => {
  const plane = planeOf({}, [], [-100, -260, 100, 200]);
  assert.ok(isNearlyWhole(plane, NOW, VIEW) && !isUncovered(plane, NOW, VIEW));
  assert.ok(isUncovered(planeOf({}, [], [-100, -200, 100, 200]), NOW, VIEW));
});

test("a graph that is just higher than the room between the bars opens with its first cards clear of the buttons", () => {
  const view = { width: 776, height: 605 };
  const cards = { data: [-100, -27, 100, 27], top: [620, -77, 830, 83], middle: [100, 300, 500, 400], low: [640, 500, 800, 700], last: [-135, 740, 60, 804] };
  const plane = planeOf(cards, [{ at: "data", flows: [] }], [-135, -77, 1062, 804]);
  const camera = overview({ plane, view, error: null, focus: [0, 0] });
  assert.ok(camera.zoom >= WHOLE, "at a zoom at which cards say their shapes");
  const found = follow({ camera, corner: null }, view, plane, about(cards.data), true);
  const top = [...toScreen(found.camera, view, 620, -77), ...toScreen(found.camera, view, 830, 83)];
  assert.ok(top[1] >= 0 && barsOver(view).every((bar) => commonArea(bar, top) < 1), String(top));
  assert.ok(isNearlyWhole(plane, found.camera, view), "nothing is hidden by a minimap");
  assert.ok(!isNearlyWhole(plane, { ...found.camera, y: found.camera.y + 400 }, view), "panned away, it has one");
});

test("what a step is about comes out from under the scale of norms and the name of the model", () => {
  const plane = planeOf();
  plane.index.scene.model = "model: GPT";
  plane.index.scene.norms = [0.001, 1];
  for (const box of [[-380, 220, -250, 262], [-470, -258, -390, -235]]) {
    const found = follow({ camera: NOW, corner: "low-right" }, VIEW, plane, about(box));
    assert.ok(isSeen({ camera: NOW, corner: "low-right" }, box), "neither the buttons nor the button of the legend lie over it");
    assert.ok(allOver(plane, VIEW, found.corner).every((bar) => commonArea(bar, onScreen(found, box)) < 1), String(box));
  }
});

test("a graph that is whole only just is shown whole, clear of the buttons and the legend", () => {
  const bounds = [0, 0, 1000, 700];
  const at = (height) => overview({ plane: planeOf({}, [], bounds), view: { width: 1100, height }, error: null });
  for (const height of [527, 529, 531, 540]) {
    const view = { width: 1100, height };
    const camera = at(height);
    const [, top] = toScreen(camera, view, 0, 0);
    const [, end] = toScreen(camera, view, 0, 700);
    assert.ok(camera.zoom >= WHOLE && top >= 51.9 && end <= height - 43.9, `${height}: zoom ${camera.zoom}, ${top} to ${end}`);
  }
});

test("the legend with the scale of norms makes room for a card or an edge if nothing is at the top, and stays there as long as nothing comes", () => {
  const low = [-400, 230, -300, 262];
  const high = [0, -258, 100, -235];
  const isHigh = (cards, now, model = "model: GPT", view = VIEW, corner = "low-right", ways = []) => {
    const plane = planeOf(cards, [], undefined, ways);
    Object.assign(plane.index.scene, { model, norms: [0.001, 1] });
    return isLegendHigh(plane, NOW, view, corner, now);
  };
  assert.deepEqual([isHigh({}, false), isHigh({ low }, false), isHigh({}, true), isHigh({ low, high }, false), isHigh({ low, high }, true)], [false, true, true, false, false]);
  assert.equal(isHigh({ low }, false, "model: a name that is too long for both of them to have room beside the buttons"), false);
  assert.equal(isHigh({ low }, false, null, { ...VIEW, width: 560 }, null), false, "a narrow stage has no room for it");
  const between = (cards, now, ...ways) => isHigh(cards, now, "model: GPT", VIEW, "low-right", ways);
  const [below, above, beside] = [[[-900, 246], [900, 246]], [[50, -900], [50, 900]], [[-480, -900], [900, 260]]];
  assert.deepEqual([between({}, false, below), between({}, false, below, above), between({ low }, false, below, above), between({ high }, false, below)],
    [true, false, true, false], "an edge counts as well, but less than a card");
  assert.equal(between({}, false, beside), false, "an edge whose box is there but not its line covers nothing");
  assert.ok(allOver({ index: { scene: { norms: [0.001, 1] } } }, VIEW, null, true).every((bar) => commonArea(bar, [20, VIEW.height - 40, 300, VIEW.height - 20]) === 0));
});
