import assert from "node:assert/strict";
import { test } from "node:test";

import { centreAcross, cameraBetween, fit, keep, pan, READABLE, toScreen, toWorld, visibleBox, zoomAt } from "../../../assets/js/geometry/camera.mjs";
import { WHOLE } from "../../../assets/js/scene/shared.mjs";
import { boxOf, cellAt, cellOf, holding, rowsOf } from "../../../assets/js/scene/card.mjs";
import { curveThrough, distanceTo, flatten, pointAlong, changesLine } from "../../../assets/js/geometry/curve.mjs";
import { Grid } from "../../../assets/js/geometry/grid.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { labelsOf, linesOn } from "../../../assets/js/paint/labels.mjs";
import { wiredEdges } from "../../../assets/js/paint/edges.mjs";
import { fonts } from "../../../assets/js/geometry/text.mjs";
import { prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { wireAt } from "../../../assets/js/geometry/wiring.mjs";
import { wireText } from "../../../assets/js/paint/wires.mjs";
import { case1 } from "../fixtures/case1.mjs";
import { synthetic } from "../fixtures/synthetic.mjs";

const VIEW = { width: 800, height: 600 };
const PAD = { top: 40, right: 40, bottom: 40, left: 40 };
const near = (a, b, slack = 1e-6) => assert.ok(Math.abs(a - b) < slack, `${a} is not ${b}`);

test("screen and plane are each other's inverse", () => {
  const camera = { x: 120, y: -40, zoom: 0.7 };
  const [sx, sy] = toScreen(camera, VIEW, 33, 44);
  const [x, y] = toWorld(camera, VIEW, sx, sy);
  near(x, 33);
  near(y, 44);
});

test("zoom keeps what is under the pointer there", () => {
  const camera = { x: 10, y: 20, zoom: 1 };
  const before = toWorld(camera, VIEW, 100, 500);
  const after = toWorld(zoomAt(camera, VIEW, 100, 500, 2.5), VIEW, 100, 500);
  near(before[0], after[0]);
  near(before[1], after[1]);
});

test("zoom has limits, and never traps one beyond them", () => {
  let camera = { x: 0, y: 0, zoom: 1 };
  for (let i = 0; i < 50; i++) camera = zoomAt(camera, VIEW, 0, 0, 2);
  assert.equal(camera.zoom, 4);
  for (let i = 0; i < 50; i++) camera = zoomAt(camera, VIEW, 0, 0, 0.5, 0.1);
  near(camera.zoom, 0.1);
  assert.ok(zoomAt({ x: 0, y: 0, zoom: 0.05 }, VIEW, 0, 0, 1.5, 0.1).zoom > 0.05);
});

test("fit shows all of a small graph, and part of a ribbon at a readable size", () => {
  const small = fit([0, 0, 400, 300], VIEW, PAD);
  const seen = visibleBox(small, VIEW);
  assert.ok(seen[0] <= 0 && seen[1] <= 0 && seen[2] >= 400 && seen[3] >= 300);
  const ribbon = fit([0, 0, 90000, 300], VIEW, PAD);
  assert.equal(ribbon.zoom, READABLE);
  near(visibleBox(ribbon, VIEW)[0], -40 / READABLE);
  const later = fit([0, 0, 90000, 300], VIEW, PAD, READABLE, [50000, 100]);
  near(later.x, 50000);
  const end = visibleBox(fit([0, 0, 90000, 300], VIEW, PAD, READABLE, [90000, 100]), VIEW);
  near(end[2], 90000 + 40 / READABLE);
  assert.ok(fit([0, 0, 90000, 300], VIEW, PAD, 0).zoom < 0.01 + 0.02);
});

test("what is shown of a large graph begins at its start where one looks near it", () => {
  const camera = fit([0, 0, 500, 900], VIEW, PAD, READABLE, [250, 420]);
  near(visibleBox(camera, VIEW)[1], -40 / camera.zoom);
});

test("the frame of a graph has room for the wires under its lowest card", () => {
  const plane = layPlane(prepare(case1()));
  const low = Math.max(...case1().nodes.map((node) => boxOf(node)[3]));
  assert.ok(plane.framed[3] >= low + 16);
});

test("pan, keep and between", () => {
  assert.deepEqual(pan({ x: 0, y: 0, zoom: 2 }, 10, -4), { x: -5, y: 2, zoom: 2 });
  assert.deepEqual(keep({ x: 0, y: 0, zoom: 1 }, [5, 5], [8, 4]), { x: 3, y: -1, zoom: 1 });
  const a = { x: 0, y: 0, zoom: 1 };
  const b = { x: 10, y: 20, zoom: 4 };
  assert.deepEqual(cameraBetween(a, b, 1), b);
  near(cameraBetween(a, b, 0.5).zoom, 2);
});

test("what is read line by line stands in the middle, or leaves no empty room at a side", () => {
  const view = { width: 820, height: 400 };
  assert.equal(centreAcross({ x: 700, y: 9, zoom: 1 }, view, [0, 0, 600, 900]).x, 300);
  assert.deepEqual(centreAcross({ x: 100, y: 9, zoom: 1 }, view, [0, 0, 1600, 900]), { x: 400, y: 9, zoom: 1 });
  assert.equal(centreAcross({ x: 900, y: 9, zoom: 1 }, view, [0, 0, 1600, 900]).x, 900);
});

test("a hit is the cell under the point, and none in the gaps", () => {
  const node = case1().nodes.find((one) => one.id === "t1");
  for (const place of rowsOf(node)) {
    for (let cell = 0; cell < 4; cell++) {
      const box = cellOf(place, cell);
      assert.deepEqual(cellAt(node, box.x + box.w / 2, box.y + box.h / 2), { row: place.row, cell });
      const [x0, y0, x1, y1] = boxOf(node);
      assert.ok(box.x >= x0 && box.x + box.w <= x1 && box.y >= y0 && box.y + box.h <= y1, "the cell is inside its card");
    }
    const first = cellOf(place, 0);
    assert.equal(cellAt(node, first.x + first.w + 1, first.y + 3).cell, -1);
  }
  assert.equal(cellAt(node, boxOf(node)[0] + 3, boxOf(node)[1] + 3), null);
});

test("a row holds more elements than it has cells in narrower ones, and the last one stands for the rest", () => {
  const node = { id: "y", x: 0, y: 0, w: 120, h: 104, shape: [1], rows: [{ key: "value", rows: 1, cols: 1 }, { key: "seed", rows: 1, cols: 1 }] };
  const [, seed] = rowsOf(node);
  assert.equal(holding(seed, 1, node), seed);
  const three = holding(seed, 3, node);
  assert.deepEqual([three.cols, three.count, three.more], [3, 3, 0]);
  const last = cellOf(three, 2);
  assert.ok(last.x > cellOf(three, 1).x + last.w && last.x + last.w <= 60 - 10 + 1e-6);
  assert.deepEqual(cellAt(node, last.x + 5, last.y + 5, (place) => holding(place, place.row === seed.row ? 3 : 1, node)), { row: seed.row, cell: 2 });
  const many = holding(seed, 10, node);
  assert.deepEqual([many.count, many.more], [3, 8]); // two numbers, and 8 more
  assert.equal(cellAt(node, cellOf(many, 2).x + 5, last.y + 5, (place) => (place.row === seed.row ? many : place)).cell, -1);
});

test("cells shrink into a box that is too small for them", () => {
  const node = { ...case1().nodes[0], w: 90, h: 80 };
  const last = cellOf(rowsOf(node).at(-1), 3);
  assert.ok(last.x + last.w <= node.x + 45 && last.y + last.h <= node.y + 40);
});

test("the grid finds what a plain search finds", () => {
  const grid = new Grid();
  const boxes = Array.from({ length: 500 }, (_, i) => [(i * 137) % 5000, (i * 811) % 4000, ((i * 137) % 5000) + 120, ((i * 811) % 4000) + 60]);
  boxes.push([-1e6, -1e6, 1e6, 1e6]);
  boxes.forEach((box, i) => grid.add(i, box));
  for (const query of [[0, 0, 500, 500], [1000, 1000, 1000, 1000], [-10, -10, 6000, 6000], [7000, 7000, 7100, 7100]]) {
    const plain = boxes.flatMap((b, i) => (b[0] <= query[2] && query[0] <= b[2] && b[1] <= query[3] && query[1] <= b[3] ? [i] : []));
    assert.deepEqual([...grid.itemsIn(query)].sort((a, b) => a - b), plain);
  }
});

test("a curve begins and ends at its points and leaves a box at a right angle", () => {
  const curve = curveThrough([[10, 5], [60, 40], [110, 5]], [-20, -20, 10, 20], [110, -20, 140, 20]);
  assert.deepEqual(curve[0].slice(0, 2), [10, 5]);
  assert.deepEqual(curve.at(-1).slice(6), [110, 5]);
  assert.equal(curve[0][3], 5, "the first tangent is horizontal");
  assert.deepEqual(curve[0].slice(6), curve[1].slice(0, 2));
});

test("a route in one direction never goes beyond its points", () => {
  for (const points of [[[82, -32], [106, -32], [194, 87]], [[0, 0], [10, 100], [200, 101], [210, 0]], [[5, 0], [5, 40], [90, 50]]]) {
    const flat = flatten(curveThrough(points));
    const pieces = flat.xs.length - 1;
    points.slice(1).forEach((b, i) => {
      const a = points[i];
      for (let k = (i * pieces) / (points.length - 1); k <= ((i + 1) * pieces) / (points.length - 1); k++) {
        assert.ok(flat.ys[k] >= Math.min(a[1], b[1]) - 1e-9 && flat.ys[k] <= Math.max(a[1], b[1]) + 1e-9);
        assert.ok(flat.xs[k] >= Math.min(a[0], b[0]) - 1e-9 && flat.xs[k] <= Math.max(a[0], b[0]) + 1e-9);
      }
    });
  }
});

test("places along a curve are even in length", () => {
  const flat = flatten(curveThrough([[0, 0], [100, 0], [100, 80]]));
  near(pointAlong(flat, 0).x, 0);
  near(pointAlong(flat, 1).y, 80);
  const steps = Array.from({ length: 20 }, (_, i) => [pointAlong(flat, i / 20), pointAlong(flat, (i + 1) / 20)]);
  for (const [a, b] of steps) assert.ok(Math.abs(Math.hypot(b.x - a.x, b.y - a.y) - flat.total / 20) < flat.total * 0.02);
  assert.ok(distanceTo(flat, 0, -7) <= 7.001);
});

test("all routes of a large scene have a direction and lie in the bounds", () => {
  const plane = layPlane(prepare(synthetic(600)));
  const [x0, y0, x1, y1] = plane.bounds;
  for (const { forward, back } of plane.routes.values()) {
    for (const route of [forward, back]) {
      assert.ok(Number.isFinite(route.tip.angle) && route.flat.total > 0);
      assert.ok(route.tip.x >= x0 && route.tip.x <= x1 && route.tip.y >= y0 && route.tip.y <= y1);
    }
  }
});

test("a wire is found under the pointer and says its derivative", () => {
  const index = prepare(case1());
  const wires = layPlane(index).wiring.at(stateAt(index, 3), [index.nodes.get("n0")]);
  assert.equal(wires.length, 4);
  const place = pointAlong(wires[2].flat, 0.1);
  assert.equal(wireAt(wires, place.x, place.y, 2), wires[2]);
  assert.equal(wireAt(wires, 5000, 5000, 5), null);
  assert.equal(wireText(wires[2]), "\u2202z[0, 2] / \u2202x[0, 2] = 2");
});

test("whether an edge is wired is the same whatever was asked before, also where a card is in the way", () => {
  const scene = case1();
  const [wire] = layPlane(prepare(scene)).wiring.at(stateAt(prepare(scene), 3), [scene.nodes.find((node) => node.id === "n0")]);
  const { x, y } = pointAlong(wire.leaving, 0.5);
  const wall = { ...scene.nodes.find((node) => node.id === "n0"), id: "wall", x, y, w: 10, h: 400 };
  const index = prepare({ ...scene, nodes: [...scene.nodes, wall] });
  const answers = (asked) => {
    const { wiring } = layPlane(index);
    asked(wiring);
    return scene.edges.map((edge) => wiring.isWired(edge));
  };
  const first = answers(() => {});
  assert.equal(first[scene.edges.findIndex((edge) => edge.id === wire.edge.id)], false, "the card is in the way");
  assert.ok(first.includes(true));
  for (let t = 0; t <= scene.steps.length; t += 0.5) assert.deepEqual(answers((wiring) => wiring.at(stateAt(index, t), index.scene.nodes.filter((node) => node.kind === "op"))), first, `${t}`);
  assert.deepEqual(answers((wiring) => scene.edges.toReversed().forEach((edge) => wiring.isWired(edge))), first);
});

test("a one-hot gradient takes one path from cell to cell, shown unasked while it passes and where it has arrived", () => {
  const index = prepare(case1());
  const { wiring } = layPlane(index);
  const live = (t) => wiring.at(stateAt(index, t), []).map(({ from, to, live: is }) => [from, to, is]);
  assert.deepEqual([2.3, 2.7, 3, 4].map(live), Array(4).fill([[0, 0, true]]));
  assert.deepEqual([0, 1, 2].map(live), [[], [], []]);
  const asked = wiring.at(stateAt(index, 2.5), [index.nodes.get("n0")]);
  assert.deepEqual(asked.map((wire) => wire.live), [true, false, false, false]);
  const around = wiring.at(stateAt(index, 0), [], [index.nodes.get("t0")]); // of a tensor that is looked at, those of its own cells
  assert.deepEqual(around.map(({ from, to }) => [from, to]), [[0, 0], [1, 1], [2, 2], [3, 3]]);
  const [wire] = asked;
  assert.ok(wire.arriving.total > 0 && wire.leaving.total > 0);
  assert.equal(wiredEdges(stateAt(index, 2.5), asked).size, 2);
});

test("what a root only passes on sets out under the columns of its cells, and no line hides an arrowhead of a value", () => {
  const index = prepare(case1());
  const { steps, phases } = index.scene;
  const k = steps.findLastIndex((step) => step.kind === "vjp" && step.at === "n0");
  assert.ok(k >= phases.at(-1).start, "of the call from another root");
  const wires = layPlane(index).wiring.at(stateAt(index, k + 1), []);
  const z = index.nodes.get(wires[0].output.id);
  const value = rowsOf(z)[0];
  const middles = [0, 1, 2, 3].map((cell) => cellOf(value, cell)).map(({ x, w }) => x + w / 2);
  assert.deepEqual(wires.map(({ arriving: { xs, ys } }) => [xs[0], ys[0]]), middles.map((x) => [x, z.y + z.h / 2]));
  const [into, out] = [wires[0].edge.points.at(-1)[1], wires[0].after.points[0][1]];
  assert.ok(wires.every(({ leaving, arriving }) => leaving.ys[0] > into + 8 && arriving.ys.at(-1) > out + 8));
});

test("a gradient that ends in an op, as at a relu's kink, has its line to the op all the same, and no further", () => {
  const scene = case1();
  const edges = scene.edges.map((edge) => (edge.wiring?.length ? { ...edge, wiring: edge.wiring.filter(([from]) => from !== 0) } : edge));
  const k = scene.steps.findLastIndex((step) => step.kind === "vjp"); // by which 1 1 1 1 comes
  const index = prepare({ ...scene, edges });
  const wires = layPlane(index).wiring.at(stateAt(index, k + 1), []);
  assert.deepEqual(wires.map(({ from, to, live, comes }) => [from, to, live, comes]), [[1, 1, true, true], [2, 2, true, true], [3, 3, true, true], [null, 0, false, true]]);
  const [edge, after] = [wires[0].edge, wires[0].after];
  assert.deepEqual([edge, after].map((one) => linesOn({ wires }, one).length), [3, 4]);
  assert.ok(wires.every((wire) => wire.arriving.total > 0) && wires[3].leaving === null);
  assert.equal(wireAt([wires[3]], wires[3].arriving.xs[3], wires[3].arriving.ys[3], 5), null, "no derivative is told of it");
});

test("equal numbers that go the same way are written once", () => {
  const one = (edge, text) => ({ flow: { text }, edge: { points: [], ...edge }, started: true });
  const written = (...flows) => labelsOf({ wires: [] }, flows).map((label) => label.text);
  const [x, y] = [{ source: "t0", target: "n0" }, { source: "t1", target: "n0" }];
  assert.deepEqual(written(one(x, "2"), one(x, "2"), one(y, "2"), one(y, null)), ["2, twice", "2"]);
  const [on, from] = [{ source: "n1", target: "t1" }, { source: "t1", target: "t1.1" }];
  assert.deepEqual(written(one({ ...from, value: false }, "2"), one(on, "2")), ["2"]); // only gradients travel to what a tensor was before
  assert.deepEqual(written(one({ ...from, value: false }, "2"), one(on, "3")), ["2", "3"]);
  assert.deepEqual(written(one({ ...from, value: true }, "2"), one(on, "2")), ["2", "2"]);
});

test("the arithmetic of a single path is written where the path is drawn, else all elements", () => {
  const edge = { id: "e", source: "t0", target: "n0", points: [] };
  const written = (wires) => labelsOf({ wires }, [{ flow: { text: "[0 1]", path: "2 \u00b7 0.5 = 1" }, edge, started: true }])[0].text;
  assert.equal(written([]), "[0 1]");
  assert.equal(written([{ live: true, sides: { leaving: [] }, edge, op: { id: "n0" }, output: { id: "t1" } }]), "2 \u00b7 0.5 = 1");
});

test("the wires of two edges from one cell are two", () => {
  const edges = [0, 1].map((slot) => ({ id: `e${slot}`, source: "t0", target: "n0", points: [[50, 0], [100, 0]], wiring: [[0, 0, 3]], grad: true, tracks: { state: [[0, "done"]] } }));
  const after = { id: "o", source: "n0", target: "t1", points: [[200, 0], [250, 0]], grad: true, tracks: { state: [[0, "done"]] } };
  const card = (id, x) => ({ id, kind: "tensor", label: id, x, y: 0, w: 100, h: 80, shape: [1], rows: [{ key: "value", rows: 1, cols: 1, track: [[0, 0]] }], saved: [], tracks: { state: [] } });
  const op = { id: "n0", kind: "op", label: "\u00d7", x: 150, y: 0, w: 100, h: 60, rows: [], saved: [], tracks: { state: [] } };
  const values = [{ shape: [1], dtype: "float32", data: [3] }];
  const index = prepare({ nodes: [card("t0", 0), op, card("t1", 300)], edges: [...edges, after], groups: [], steps: [], values, phases: [], findings: [], marks: [] });
  const [one, other] = layPlane(index).wiring.at(stateAt(index, 0), [index.nodes.get("n0")]);
  const apart = (flat, i) => Math.hypot(one[flat].xs.at(i) - other[flat].xs.at(i), one[flat].ys.at(i) - other[flat].ys.at(i));
  assert.ok(apart("leaving", 0) > 5 && apart("leaving", -1) > 5);
  assert.equal(apart("arriving", 0), 0); // one gradient comes
});

test("text has 12 px on screen, and a graph that nearly fits is shown whole", () => {
  for (const zoom of [0.4, WHOLE, 0.9, 1.5]) {
    for (const [role, font] of Object.entries(fonts({ font: "a", mono: "b", textLeast: 12, textNote: 13, textBody: 14 }, zoom))) {
      if (typeof font === "string") assert.ok(parseFloat(/([\d.]+)px/.exec(font)[1]) * zoom >= 12 - 1e-9, role);
    }
  }
  const wide = (VIEW.width - 20) / (WHOLE + 0.01);
  const camera = fit([0, 0, wide, 100], VIEW, PAD);
  const [x0, , x1] = visibleBox(camera, VIEW);
  assert.ok(x0 <= 0 && x1 >= wide && camera.zoom < READABLE);
});

test("a route to the next line keeps to its corners, which are round, and is told from others", () => {
  const points = [[100, 0], [120, 0], [134, 0], [134, 90], [-40, 90], [-40, 150], [0, 150]];
  assert.ok(changesLine(points) && changesLine(points.slice().reverse()));
  const forwards = [[0, 0], [50, 0], [50, 40], [90, 40], [90, 80], [150, 80]];
  assert.ok(changesLine(forwards) && !changesLine([...forwards.slice(0, 4), [120, 40], [150, 40]]));
  assert.ok(distanceTo(flatten(curveThrough(forwards, [-100, -30, 0, 30], [150, 50, 250, 110])), 70, 40) < 0.01, "its way between the lines is level");
  const flat = flatten(curveThrough(points, [0, -30, 100, 30], [0, 120, 100, 180]));
  const [xs, ys] = [Array.from(flat.xs), Array.from(flat.ys)];
  assert.deepEqual([xs[0], ys[0], xs.at(-1), ys.at(-1)], [100, 0, 0, 150]);
  assert.ok(Math.min(...xs) >= -40 && Math.max(...xs) <= 134 && Math.min(...ys) >= 0 && Math.max(...ys) <= 150);
  assert.ok(distanceTo(flat, 134, 90) > 3 && distanceTo(flat, 134, 90) < 14);
});
