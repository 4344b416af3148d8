// What no picture may do, asked of the drawing itself: `node laws.mjs FOLDER` reads scenes and prints what breaks a law, as JSON.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fit, READABLE } from "../../../assets/js/geometry/camera.mjs";
import { boxOf, cellOf, cornerOf, rowsOf } from "../../../assets/js/scene/card.mjs";
import { HEAD, WHOLE } from "../../../assets/js/scene/shared.mjs";
import { changesLine, crossesBox, distanceToBox, pointAlong, strikes } from "../../../assets/js/geometry/curve.mjs";
import { hasGradient } from "../../../assets/js/paint/edges.mjs";
import { asLetters, namesOf, withMinus } from "../../../assets/js/scene/format.mjs";
import { overview } from "../../../assets/js/stage/follow.mjs";
import { lineTo, placeCallout } from "../../../assets/js/paint/message.mjs";
import { paintGraph } from "../../../assets/js/paint/paint.mjs";
import { gradientRoute, layPlane, STACK } from "../../../assets/js/geometry/plane.mjs";
import { prepare, rowState, stateAt } from "../../../assets/js/scene/state.mjs";
import { fonts, Ruler } from "../../../assets/js/geometry/text.mjs";
import { at } from "../../../assets/js/scene/timeline.mjs";
import { LETTERS } from "../fixtures/letters.mjs";

const TOUCH = 1.5; // so far a curve may be over a border
const CLEAR = 5; // so near no wire runs by a card that is not its end
const RIM = 2; // so near no text comes to the outline of an op
const MARK = 10; // so far rings and marks stand out of a card
const WIDE = 0.53; // a letter, in sizes: no canvas measures text here
const VIEWS = [[953, 530], [953, 711], [777, 711], [1257, 891]]; // the stage at 1280 x 720, 1280, 1440 and 1920 x 1080
const PAD = { top: 206, right: 40, bottom: 194, left: 40 }; // as the stage has it where an error will be told
const TOKENS = { textBody: 14, textNote: 13, textLeast: 12, font: "x", mono: "m" };

const ruler = new Ruler({
  font: "",
  measureText(text) {
    return { width: text.length * Number(/([\d.]+)px/.exec(this.font)[1]) * WIDE };
  },
});

function crossed(scene, flat, own) {
  return scene.nodes.filter((node) => !own.includes(node.id)).filter((node) => {
    const [x0, y0, x1, y1] = boxOf(node);
    return flat.xs.some((x, i) => x > x0 + TOUCH && x < x1 - TOUCH && flat.ys[i] > y0 + TOUCH && flat.ys[i] < y1 - TOUCH);
  }).map((node) => node.id);
}

function routesOverCards(scene, plane) {
  return scene.edges.flatMap((edge) => ["forward", "back", "through"].flatMap((way) => (
    crossed(scene, plane.routes.get(edge.id)[way].flat, [edge.source, edge.target]).map((id) => `${way} ${edge.id} over ${id}`))));
}

/** Cards by which a curve runs nearer than wires may. */
function besides(scene, flat, own) {
  const [x0, y0, x1, y1] = [Math.min(...flat.xs), Math.min(...flat.ys), Math.max(...flat.xs), Math.max(...flat.ys)];
  return scene.nodes.filter((node) => {
    const box = boxOf(node);
    const near = box[0] < x1 + CLEAR && x0 < box[2] + CLEAR && box[1] < y1 + CLEAR && y0 < box[3] + CLEAR;
    return near && !own.includes(node.id) && distanceToBox(flat, box) < CLEAR;
  }).map((node) => node.id);
}

function wiresOverCards(scene, index, plane) {
  const found = new Set();
  for (let k = 1; k <= scene.steps.length; k++) {
    for (const wire of plane.wiring.at(stateAt(index, k), [])) {
      const ways = [["arriving", wire.after, wire.output], ["leaving", wire.edge, wire.source]];
      for (const [way, edge, end] of ways.filter((one) => wire[one[0]] && plane.wiring.isWired(one[1]))) {
        const own = [wire.op.id, end.id];
        for (const id of crossed(scene, wire[way], own)) found.add(`${way} ${edge.id} over ${id}`);
        for (const id of besides(scene, wire[way], own)) found.add(`${way} ${edge.id} along ${id}`);
      }
    }
  }
  return [...found];
}

function calloutOverCards(scene, index, plane) {
  const node = index.nodes.get(scene.error?.node);
  const moment = stateAt(index, scene.steps.length);
  const wires = plane.wiring.at(moment, []);
  return !node ? [] : VIEWS.flatMap(([width, height]) => {
    const view = { width, height, dpr: 1 };
    const camera = fit(plane.framed, view, PAD, READABLE, [node.x, node.y]);
    const { x, y, shape } = placeCallout({ ruler, font: fonts(TOKENS, camera.zoom), plane, camera, view, moment, wires }, node, scene.error);
    const over = plane.nodes.itemsIn([x - MARK, y - MARK, x + shape.w + MARK, y + shape.h + MARK]);
    const others = scene.nodes.filter((one) => one.id !== node.id);
    const line = lineTo(others, node, [x, y, x + shape.w, y + shape.h]);
    const struck = others.filter((one) => line.slice(1).some((to, i) => strikes(line[i], to, boxOf(one))));
    return [...over, ...struck].map((one) => `${width}x${height}: ${one.id}`);
  });
}

const ARROW = 10; // length of the head of a wire
const tipOf = (flat) => [flat.xs.at(-1), flat.ys.at(-1)];
const startOf = (flat) => [flat.xs[0], flat.ys[0]];
const writtenIn = (row, { start, end }) => row.track.some(([step, id]) => step > start && step <= end && id !== null);
const given = ({ scene, t }, op) => scene.values[at(op.tracks.upstream, t)];
const equal = (a, b) => Boolean(a?.data && b?.data) && a.data.length === b.data.length && a.data.every((value, i) => Object.is(value, b.data[i]));

/** Whether a wire ends at a card's border, or in a row of which something is true. */
const shown = (place, moment, is) => !place || place.border || is(place.row);

/** Wires that end where no gradient is, or pass over numbers on their way. */
function wiresAmiss(scene, index, plane) {
  const found = new Set();
  for (let k = 1; k <= scene.steps.length; k++) {
    const moment = stateAt(index, k);
    for (const wire of plane.wiring.at(moment, []).filter((one) => one.live || one.comes)) {
      const { source, output } = wire.ends;
      const say = (what) => found.add(`step ${k}: ${wire.edge.id} ${wire.from}>${wire.to} ${what}`);
      if (wire.live && !shown(source, moment, (row) => row.key === "grad" && writtenIn(row, moment.phase))) say("arrives where its gradient does not come to stand");
      if (!shown(output, moment, (row) => (row.key === "seed" ? !rowState(moment, row).other : row.key === "grad") && equal(rowState(moment, row).value, given(moment, wire.op)))) {
        say("sets out from what is not passed");
      }
      for (const [place, node, [x, y]] of [[source, wire.source, wire.live && tipOf(wire.leaving)], [output, wire.output, startOf(wire.arriving)]].filter((one) => one[2])) {
        const [x0, y0, x1, y1] = boxOf(node);
        if (place?.border && x > x0 + 0.5 && x < x1 - 0.5 && y > y0 + 0.5 && y < y1 - 0.5) say(`ends within ${node.id}, which shows it nowhere`);
      }
      if (wire.live && plane.wiring.isWired(wire.edge)) {
        const { x, y, angle } = pointAlong(wire.leaving, 1);
        const [x0, y0, x1] = boxOf(wire.source);
        const [bx, by] = [x - Math.cos(angle) * ARROW, y - Math.sin(angle) * ARROW];
        if (bx > x0 + 1 && bx < x1 - 1 && Math.min(y, by) > y0 && Math.min(y, by) < y0 + HEAD - 8) say(`has its head on that of ${wire.source.id}`);
      }
      if ((source?.row.rows ?? 1) > 1 || (output?.row.rows ?? 1) > 1) say("ends among several lines of cells");
      const brought = moment.step.flows.find((flow) => flow.back && flow.edge === wire.edge.id);
      const data = brought && scene.values[brought.value]?.data;
      const alone = plane.wiring.at(moment, []).filter((one) => one.live && one.edge === wire.edge && one.from === wire.from).length === 1;
      if (wire.live && data && data[wire.from] === 0 && alone) say("brings a zero");
      for (const node of [wire.source, wire.output]) {
        for (const place of rowsOf(node).filter((one) => one.row.cols)) {
          for (let i = 0; i < place.row.rows * place.row.cols; i++) {
            const { x, y, w, h } = cellOf(place, i);
            if (crossesBox(wire.flat, [x + 1, y + 1, x + w - 1, y + h - 1])) say(`is over a cell of ${node.id}`);
          }
        }
      }
    }
  }
  return [...found];
}

/** Gradients' routes that are drawn at a forward op, which has none yet. */
function gradientsTooEarly(scene, index) {
  return scene.steps.flatMap((step, k) => {
    const moment = stateAt(index, k + 1);
    if (step.kind !== "forward") return [];
    return step.flows.map((flow) => index.edges.get(flow.edge)).filter((edge) => edge && hasGradient(moment, edge)
      && !scene.steps.slice(0, k).some((before) => before.flows.some((flow) => flow.back && flow.edge === edge.id))).map((edge) => `step ${k + 1}: ${edge.id}`);
  });
}

/** Gradients' routes that begin at a row in which the root of another call has its gradient. */
function startsElsewhere(scene, index, plane) {
  const found = new Set();
  for (let k = 1; k <= scene.steps.length; k++) {
    const moment = stateAt(index, k);
    for (const edge of scene.edges.filter((one) => hasGradient(moment, one))) {
      const place = rowsOf(index.nodes.get(edge.target)).find((one) => one.row.key === "seed");
      if (!place || !rowState(moment, place.row).other) continue;
      const [, y] = gradientRoute(plane, moment, edge).ends[0];
      if (y > place.y && y < place.y + place.h) found.add(`step ${k}: ${edge.id}`);
    }
  }
  return [...found];
}

/** Ends at which a route does not leave a card at a right angle to its side, at the left or the right. */
function endsAslant(scene, plane) {
  const level = (ax, ay, bx, by) => Math.abs(by - ay) <= 0.01 + 0.02 * Math.abs(bx - ax);
  return scene.edges.flatMap((edge) => ["forward", "back", "through"].flatMap((way) => {
    const { curve } = plane.routes.get(edge.id)[way];
    const [first, last] = [curve[0], curve.at(-1)];
    return [["leaves", first.slice(0, 4)], ["enters", last.slice(4)]].filter(([, end]) => !level(...end)).map(([what]) => `${way} ${edge.id} ${what} aslant`);
  }));
}

const [POINT, SIDE] = [8, 3]; // of an arrowhead what tells where it points

/** Arrowheads of values over which the lines from cell to cell of their op run. */
function headsOver(scene, index, plane) {
  const found = new Set();
  for (let k = 1; k <= scene.steps.length; k++) {
    for (const wire of plane.wiring.at(stateAt(index, k), [])) {
      const ways = [["arriving", wire.after], ["leaving", wire.edge]].filter((one) => wire[one[0]] && plane.wiring.isWired(one[1]));
      for (const edge of [...index.incoming.get(wire.op.id), wire.after].filter((one) => index.nodes.has(one.source))) {
        const [x, y] = plane.routes.get(edge.id).forward.curve.at(-1).slice(6);
        for (const [way] of ways.filter((one) => crossesBox(wire[one[0]], [x - POINT, y - SIDE, x - 1, y + SIDE]))) found.add(`${way} ${wire.edge.id} over the head of ${edge.id}`);
      }
    }
  }
  return [...found];
}

const [BESIDE, GLOW] = [4, 10]; // so near a line from cell to cell is no longer told from a route, both are wide; and the halo of what runs

/** Where a line from cell to cell, or the halo of what runs, lies on a route that runs between two lines of the picture. */
function linesOnLanes(scene, index, plane) {
  const found = new Set();
  const lanes = scene.edges.flatMap((edge) => ["points", "back"].filter((way) => changesLine(edge[way])).flatMap((way) => edge[way].slice(2, -1)
    .map((b, i) => [edge[way][i + 1], b]).filter(([a, b]) => Math.abs(a[1] - b[1]) < 0.01 && Math.abs(a[0] - b[0]) > LONG)
    .map(([a, b]) => ({ name: `${way} ${edge.id}`, y: a[1], x0: Math.min(a[0], b[0]), x1: Math.max(a[0], b[0]) }))));
  for (let k = 1; lanes.length && k <= scene.steps.length; k++) {
    const moment = stateAt(index, k);
    const node = index.nodes.get(moment.active);
    const [x0, , x1, y1] = node ? boxOf(node) : [0, 0, 0, -Infinity];
    for (const { name, y } of lanes.filter((lane) => y1 < lane.y && lane.y < y1 + GLOW && lane.x0 < x1 && x0 < lane.x1)) found.add(`halo of ${node.id} at ${name}, ${(y - y1).toFixed(1)}`);
    for (const wire of plane.wiring.at(moment, [])) {
      for (const [way, edge] of [["arriving", wire.after], ["leaving", wire.edge]].filter((one) => wire[one[0]] && plane.wiring.isWired(one[1]))) {
        const { xs, ys } = wire[way];
        for (const { name } of lanes.filter((lane) => xs.some((x, i) => x > lane.x0 && x < lane.x1 && Math.abs(ys[i] - lane.y) < BESIDE))) found.add(`${way} ${edge.id} on ${name}`);
      }
    }
  }
  return [...found];
}

const [LONG, APART] = [60, 20]; // of pieces that run back beside each other, and by how much they are apart

/** Routes that turn back at once, as a hairpin does: two long level pieces in opposite directions, one hardly above the other. */
function hairpins(scene) {
  return scene.edges.flatMap((edge) => ["points", "back"].filter((way) => edge[way].some((b, i, all) => {
    const [a, c, d] = [all[i - 1], all[i + 1], all[i + 2]];
    if (!a || !d || Math.abs(c[0] - b[0]) > 0.01 || a[1] !== b[1] || c[1] !== d[1]) return false;
    return Math.abs(c[1] - b[1]) < APART && (b[0] - a[0]) * (d[0] - c[0]) < 0 && Math.min(Math.abs(b[0] - a[0]), Math.abs(d[0] - c[0])) > LONG;
  })).map((way) => `${way} ${edge.id}`));
}

/** Ends of routes that the cards behind a folded one hide. */
function endsBehindStacks(scene, index, plane) {
  return scene.edges.flatMap((edge) => ["forward", "back"].filter((way) => {
    const route = plane.routes.get(edge.id)[way];
    const points = [[route.curve[0].slice(0, 2), way === "forward" ? edge.source : edge.target], [route.curve.at(-1).slice(6), way === "forward" ? edge.target : edge.source]];
    return points.some(([[x, y], id]) => {
      const node = index.nodes.get(id);
      if (node?.kind !== "group") return false;
      const [x0, y0, x1, y1] = boxOf(node);
      return (x > x1 - 1 && x < x1 + STACK[0] - 0.1 && y < y1 + STACK[0]) || (y > y1 - 1 && y < y1 + STACK[0] - 0.1 && x > x0 && x < x1);
    });
  }).map((way) => `${way} ${edge.id}`));
}

const LETTER = { bold: 0.7, plain: 0.6, mono: 0.602 }; // widths in sizes, of fonts that are wide
const [ASCENT, BADGE] = [0.73, 9]; // how high letters are, in sizes; how far a badge reaches

/** A context that notes the boxes of texts and the middles of badges; `letters` has the widths of single ones. */
function noting(letters = {}) {
  const [texts, badges] = [[], []];
  const sizeOf = () => Number(/([\d.]+)px/.exec(own.font)[1]);
  const measured = (text) => {
    const face = own.font.endsWith(TOKENS.mono) ? "mono" : own.font.startsWith("600") ? "bold" : "plain";
    return [...text].reduce((sum, one) => sum + (letters[face]?.[one] ?? LETTER[face]), 0) * sizeOf();
  };
  const own = {
    canvas: { width: 0, height: 0 }, globalAlpha: 1, font: "", textAlign: "left",
    measureText: (text) => ({ width: measured(text) }),
    arc: (x, y, radius) => radius > BADGE - 2 && badges.push([x, y]),
    fillText: (text, x, y) => {
      const w = own.measureText(text).width;
      const left = x - w * { left: 0, center: 0.5, right: 1 }[own.textAlign];
      if (text) texts.push({ text, font: own.font, box: [left, y - ASCENT * sizeOf(), left + w, y] });
    },
  };
  return { texts, badges, context: new Proxy(own, { get: (it, name) => it[name] ?? (() => {}) }) };
}

/** Text that lies on other text, or under a badge. */
function lettersCovered(scene, index, plane) {
  const found = new Set();
  const rules = scene.steps.flatMap((step, k) => (step.kind === "vjp" ? [k] : []));
  for (const [width, height] of VIEWS) {
    const view = { width, height, dpr: 1 };
    for (const t of [0, (rules[rules.length >> 1] ?? 0) + 1, scene.steps.length]) {
      const moment = stateAt(index, t);
      if (scene.error && moment.k >= scene.error.step) continue; // what its message covers is asked above
      const node = index.nodes.get(moment.active);
      const camera = fit(plane.bounds, view, { ...PAD, top: 76, bottom: 64 }, READABLE, node ? [node.x, node.y] : null);
      const { texts, badges, context: canvas } = noting();
      const told = paintGraph(canvas, view, { moment, plane, ruler: new Ruler(canvas), camera, tokens: TOKENS, wires: [], pending: new Map(), selection: null });
      const say = (what) => found.add(`${width}x${height} at ${t}, zoom ${camera.zoom.toFixed(2)}: ${what}`);
      if (!told.length) say("nothing is painted");
      for (const { text, box: [x0, y0, x1, y1] } of texts) {
        for (const [x, y] of badges) {
          if (Math.hypot(x - Math.min(Math.max(x, x0), x1), y - Math.min(Math.max(y, y0), y1)) < BADGE) say(`${text} under a badge`);
        }
      }
      texts.forEach(({ text, box: [x0, y0, x1, y1] }, i) => {
        for (const { text: other, box } of texts.slice(i + 1)) {
          if (x0 < box[2] - 0.5 && box[0] < x1 - 0.5 && y0 < box[3] - 0.5 && box[1] < y1 - 0.5) say(`${text} on ${other}`);
        }
      });
    }
  }
  return [...found];
}

/** How far a box keeps from the outline of an op in which it is; Infinity where it is not. */
function rim(node, [a, b, c, d]) {
  const [[x0, y0, x1, y1], round] = [boxOf(node), cornerOf(node)];
  if (a < x0 - 1 || c > x1 + 1 || b < y0 || d > y1) return Infinity;
  const corners = [a - x0, x1 - c].flatMap((x) => [b - y0, y1 - d].map((y) => (x < round && y < round ? round - Math.hypot(round - x, round - y) : Math.min(x, y))));
  return Math.min(...corners);
}

const EASY = 0.77; // from this zoom on every number is read
const SAID = 6; // letters of an op's name that are read before it is cut

/** Whether a text is what an op says, or so much of it that one knows what it is; what it is called with is in its tooltip too. */
const begins = (text, said) => text === said || text === said.split(" ")[0] || (text.endsWith("\u2026") && said.startsWith(text.slice(0, -1)) && text.length > SAID);

/** Whether texts have the name of an op's backward node: whole, or without its suffix, and then as the op's own name too. */
const nameIn = (texts, name) => namesOf(name).some((one) => texts.some((text) => asLetters(text) === asLetters(one)));

/** Whether a text is the name of a group, cut before the round or the call that tells it from its neighbours. */
const isCutName = (text, name) => / \u00b7 [^\u2026]+$/.test(text) && text.includes("\u2026") && name.endsWith(text.split("\u2026")[1]);

/** What a card does not say as its graph opens: its shape, that what is passed is a gradient, the whole of its name; text on an op's outline. */
function headsCut(scene, index, plane) {
  const found = new Set();
  const moment = stateAt(index, scene.steps.length);
  const zooms = VIEWS.map(([width, height]) => overview({ plane, view: { width, height, dpr: 1 }, error: scene.error }).zoom);
  for (const zoom of new Set([...zooms, WHOLE])) {
    const [x0, y0, x1, y1] = plane.framed;
    const view = { width: (x1 - x0 + 200) * zoom, height: (y1 - y0 + 200) * zoom, dpr: 1 };
    const { texts, context: canvas } = noting(LETTERS);
    const say = (what) => found.add(`zoom ${zoom.toFixed(3)}: ${what}`);
    const camera = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, zoom };
    paintGraph(canvas, view, { moment, plane, ruler: new Ruler(canvas), camera, tokens: TOKENS, wires: [], pending: new Map(), selection: null });
    if (zoom > EASY && texts.some(({ text, font }) => text === "\u2026" && font.endsWith(TOKENS.mono))) say("a number has no room");
    for (const node of scene.nodes) {
      const [left, top, right, bottom] = boxOf(node);
      const own = texts.filter(({ box: [a, , b, d] }) => a > left - 1 && b < right + 1 && d > top && d < bottom).map(({ text }) => text);
      const lacks = (what) => say(`${node.label} ${what}, but ${own}`);
      const [shape] = node.sub.split(" \u00b7 ");
      if (node.kind === "op") for (const { text } of texts.filter(({ box }) => rim(node, box) < RIM)) lacks(`has ${text} on its outline`);
      if (!zooms.includes(zoom)) continue; // the least of all: there heads may leave out more
      if (node.kind === "op" && !nameIn(own, node.sub)) lacks(`does not say ${node.sub}`);
      if (!own.some((text) => (node.kind === "op" ? begins(text, withMinus(node.label)) : text === node.label || isCutName(text, node.label)))) lacks("is cut");
      if (node.rows.length && node.shape?.length && !own.some((text) => text === shape || text.startsWith(`${shape} `))) lacks(`does not say ${shape}`);
      if (node.rows.some((row) => row.key === "seed" && rowState(moment, row).value) && !own.some((text) => /^gradient|^implicit 1|other call/.test(text))) lacks("does not say what is passed");
    }
  }
  return [...found];
}

const broken = {};
for (const file of readdirSync(process.argv[2]).sort()) {
  const scene = JSON.parse(readFileSync(join(process.argv[2], file), "utf8"));
  const index = prepare(scene);
  const plane = layPlane(index);
  broken[file.replace(".json", "")] = { routes: routesOverCards(scene, plane), wires: wiresOverCards(scene, index, plane),
    callout: calloutOverCards(scene, index, plane), ends: wiresAmiss(scene, index, plane),
    early: gradientsTooEarly(scene, index), letters: lettersCovered(scene, index, plane), heads: headsCut(scene, index, plane), stacks: endsBehindStacks(scene, index, plane),
    aslant: endsAslant(scene, plane), starts: startsElsewhere(scene, index, plane), hairpins: hairpins(scene), lanes: linesOnLanes(scene, index, plane), values: headsOver(scene, index, plane) };
}
console.log(JSON.stringify(broken));
