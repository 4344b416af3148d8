// The lower canvas: groups, edges and nodes at one moment, as far as they are in view, with the detail that the zoom allows.

import { boxesOf, boxOf, cornerOf, GROUP_TITLE } from "../scene/card.mjs";
import { visibleBox } from "../geometry/camera.mjs";
import { paintRows } from "./cards.mjs";
import { paintEdges } from "./edges.mjs";
import { paintDots, paintNormEdge, paintStrip } from "./dots.mjs";
import { asLetters, namesOf, num, withMinus } from "../scene/format.mjs";
import { normBefore, normOfGroup } from "../scene/scale.mjs";
import { OP_BADGE, paintBadge, paintChip, paintFinding, paintFold } from "./marks.mjs";
import { paintCallout } from "./message.mjs";
import { STACK } from "../geometry/plane.mjs";
import { findingsAt, isFaint, nodeState, runIn } from "../scene/state.mjs";
import { cutName, firstFitting, fontsAt, writer } from "../geometry/text.mjs";

/** @import { Box, Node, Num, State } from "../scene/scene.d.ts" */
/** @import { Moment } from "../scene/state.mjs" */
/** @import { Camera, View } from "../geometry/camera.mjs" */
/** @import { Plane } from "../geometry/plane.mjs" */

const LATER = [4, 4]; // dashes of an outline of a node that is not computed yet
const LONGEST = "gradient norm 0.00123"; // the longest text that a folded group has for its gradient
const OLD = "0.0123"; // as wide as most norms are
const BESIDE = [["gradient norm ", " was ", ""], ["norm ", " was ", ""], ["", " was ", ""], ["", " (", ")"]]; // the texts around a norm and the one of the previous section
const [CONTINUED, PAST_SIDE] = ["\u21b3 ", 12]; // before the name of a group that goes on here from another line; units from the side that is open
const ROUND = 14; // corners of a group's box
const QUIET = 0.72; // opacity of a node that takes no part or does not exist yet: its text is in ink, which keeps a contrast of 3 to 1

/** The level of detail. 2: everything; 1: names, and cells without numbers; 0: blocks.  No text is smaller than 12 px on screen. */
function detailAt(zoom) {
  return zoom >= 0.61 ? 2 : zoom >= 0.4 ? 1 : 0;
}

/**
 * The content of a picture: a moment on a plane, the camera, and the elements that are selected, hovered over or lit.  With a `magnitude`, gradients
 * are coloured by their size, and one of that size has the full colour.
 * @typedef {{ moment: Moment, plane: Plane, camera: Camera, tokens: Record<string, any>, wires: any[], ruler: any, selection?: string | null, [key: string]: any }} Frame
 */
/** @typedef {{ context: any, write: ReturnType<typeof writer>, font: ReturnType<typeof fontsAt>, detail: number, view: View & { dpr: number }, quiet?: any } & Frame} Brush */

/**
 * A canvas context set to the plane, with what every painter needs.
 * @type {(context: any, view: View & { dpr: number }, frame: Frame) => Brush}
 */
export function brushFor(context, view, frame) {
  const { camera, tokens } = frame;
  const scale = view.dpr * camera.zoom;
  const tx = Math.round(view.dpr * (view.width / 2 - camera.x * camera.zoom));
  const ty = Math.round(view.dpr * (view.height / 2 - camera.y * camera.zoom));
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.setTransform(scale, 0, 0, scale, tx, ty);
  context.lineJoin = "round";
  context.globalAlpha = 1;
  /** @type {Brush} */
  const brush = { context, write: writer(context), font: fontsAt(tokens, camera), detail: detailAt(camera.zoom), view, ...frame }; // a small picture asks for a detail of its own
  brush.quiet = { ...brush, tokens: { ...tokens, soft: tokens.ink, freed: tokens.ink } };
  return brush;
}

/** @type {(context: any, view: View & { dpr: number }, frame: Frame) => Node[]} */
export function paintGraph(context, view, frame) {
  const brush = brushFor(context, view, frame);
  const seen = visibleBox(frame.camera, view, 40);
  paintGroups(brush, seen);
  paintEdges(brush, frame.plane.edges.itemsIn(seen));
  const nodes = frame.plane.nodes.itemsIn(seen);
  if (brush.detail === 0) paintBlocks(brush, nodes);
  else for (const node of nodes) paintNode(brush, node);
  frame.callout = paintError(brush);
  return nodes;
}

/** @type {(brush: Brush, seen: Box) => void} */
function paintGroups(brush, seen) {
  const { tokens, font, detail, moment } = brush;
  for (const group of moment.scene.groups) {
    const all = group.box;
    if (group.folded || !all || all[2] < seen[0] || all[0] > seen[2] || all[3] < seen[1] || all[1] > seen[3]) continue;
    const boxes = boxesOf(group);
    boxes.forEach((one, i) => paintGroupBox(brush, one, i > 0, i < boxes.length - 1, brush.selection === group.id));
    if (detail === 0) continue;
    boxes.forEach((one, i) => groupName(brush, one, `${i ? CONTINUED : ""}${group.label}`, font.strong, tokens.soft, i ? PAST_SIDE : GROUP_TITLE));
    paintFold(brush, boxes[0], false);
  }
}

function groupName({ ruler, write }, box, name, font, colour, from = GROUP_TITLE) {
  const room = box[2] - box[0] - from - 8;
  const [short] = name.split(": "); // of a module its name comes before its class
  write(cutName(ruler, font, ruler.widthOf(font, name) <= room ? name : short, room), box[0] + from, box[1] + 18, font, colour);
}

/** The box of an open group; it has no border at the side where it continues in another line. */
function paintGroupBox({ context, tokens }, [x0, y0, x1, y1], cutLeft, cutRight, chosen) {
  const [left, right] = [cutLeft ? 0 : ROUND, cutRight ? 0 : ROUND];
  context.beginPath();
  context.roundRect(x0, y0, x1 - x0, y1 - y0, [left, right, right, left]);
  context.globalAlpha = 0.6;
  context.fillStyle = tokens.field;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = chosen ? 2 : 1.2;
  context.strokeStyle = chosen ? tokens.ink : tokens.line;
  context.stroke();
  for (const x of [cutLeft ? x0 : null, cutRight ? x1 : null].filter((side) => side !== null)) {
    context.strokeStyle = tokens.bg; // the side that is open: a broken line
    context.setLineDash([7, 5]);
    context.lineWidth = 3;
    context.beginPath();
    context.moveTo(x, y0);
    context.lineTo(x, y1);
    context.stroke();
    context.setLineDash([]);
  }
}

/** @type {(brush: Brush, node: Node, state: State) => string} */
function blockColour({ tokens, moment }, node, state) {
  if (state === "error") return tokens.error;
  if (node.id === moment.active) return moment.backward ? tokens.gradient : moment.step?.kind === "write" ? tokens.ink : tokens.forward;
  if (state === "done") return tokens.gradient;
  return node.role === "leaf" ? tokens.leaf : node.role === "root" ? tokens.root : tokens.saved;
}

/** @type {(brush: Brush, nodes: Node[]) => void} */
function paintBlocks(brush, nodes) {
  const { context, moment } = brush;
  const byColour = new Map();
  for (const node of nodes) {
    const state = nodeState(moment, node);
    const later = state === "future";
    const key = `${later ? 1 : isFaint(moment, node) ? 0.35 : 0.85}|${blockColour(brush, node, state)}|${later}`;
    if (!byColour.has(key)) byColour.set(key, []);
    byColour.get(key).push(node);
  }
  for (const [key, members] of byColour) {
    const [alpha, colour, later] = key.split("|");
    context.globalAlpha = Number(alpha);
    // Rectangle by rectangle: one path of thousands is several times slower to fill.
    const fill = (fillStyle, by) => {
      context.fillStyle = fillStyle;
      for (const { x, y, w, h } of members) context.fillRect(x - w / 2 + by, y - h / 2 + by, w - 2 * by, h - 2 * by);
    };
    fill(colour, 0);
    if (later === "true") fill(brush.tokens.bg, 1.2 / brush.camera.zoom); // an outline
  }
  context.globalAlpha = 1;
}

/**
 * A node once more, over what was drawn since: nothing shows through it.
 * @type {(brush: Brush, node: Node) => void}
 */
export function paintOver(brush, node) {
  shape(brush, node, { fill: brush.tokens.bg, stroke: brush.tokens.bg, width: 1, dashed: false }, cornerOf(node));
  paintNode(brush, node);
}

/** @type {(brush: Brush, node: Node) => void} */
function paintNode(loud, node) {
  const { context, moment } = loud;
  const state = nodeState(moment, node);
  const active = node.id === moment.active;
  const quiet = !active && (state === "future" || isFaint(moment, node));
  const brush = quiet ? loud.quiet : loud;
  context.globalAlpha = quiet ? QUIET : 1;
  const look = frameLook(brush, node, state, active);
  if (node.kind === "op") paintOp(brush, node, look);
  else if (node.kind === "stub" && !node.rows.length) paintStub(brush, node, look);
  else if (node.kind === "group") paintGroupCard(brush, node, look);
  else paintCard(brush, node, look);
  if (["waiting", "ready", "done", "error"].includes(state)) {
    const from = node.kind === "op" ? OP_BADGE : { x: 2, y: 2 };
    paintBadge(brush, state, node.x + node.w / 2 - from.x, node.y - node.h / 2 + from.y);
  }
  context.globalAlpha = 1;
  if (findingsAt(moment, node.id).length) { // an op has it in the middle, because arrows may end at its corners
    paintFinding(brush, node.kind === "op" ? node.x : node.x - node.w / 2 + 3, node.y - node.h / 2 + (node.kind === "op" ? -4 : 1));
  }
  if (brush.selection === node.id) ring(brush, node, brush.tokens.ink, 2);
}

/** Colour and width of a node's outline, and its fill. */
function frameLook({ tokens, moment }, node, state, active) {
  const own = node.role === "leaf" ? tokens.leaf : node.role === "root" ? tokens.root : tokens.saved;
  const look = { stroke: own, fill: tokens.panel, width: own === tokens.saved ? 1.2 : 1.5, dashed: state === "future" };
  if (state === "error") return { ...look, stroke: tokens.error, fill: tokens.errorTint, width: 2.5 };
  const op = node.kind === "op" || node.kind === "group";
  if (active) {
    const [line, tint] = moment.step.kind === "write" ? [tokens.ink, tokens.field]
      : moment.backward ? [tokens.gradient, tokens.gradientTint] : [tokens.forward, tokens.forwardTint];
    return { ...look, stroke: op || own === tokens.saved ? line : own, fill: op ? tint : tokens.panel, width: 2.5, dashed: false };
  }
  if (op && state === "ready") return { ...look, stroke: tokens.gradient, width: 1.5 };
  return look;
}

function shape({ context }, node, look, radius) {
  context.beginPath();
  context.roundRect(node.x - node.w / 2, node.y - node.h / 2, node.w, node.h, radius);
  context.fillStyle = look.fill;
  context.fill();
  context.lineWidth = look.width;
  context.strokeStyle = look.stroke;
  if (look.dashed) context.setLineDash(LATER);
  const alpha = context.globalAlpha;
  if (look.dashed) context.globalAlpha = 1; // at full strength: the dashes show that the node does not exist yet
  context.stroke();
  context.globalAlpha = alpha;
  if (look.dashed) context.setLineDash([]);
}

/** @type {(brush: Brush, node: Node, look: any) => void} */
function paintOp(brush, node, look) {
  const { ruler, write, font, tokens, detail } = brush;
  shape(brush, node, look, cornerOf(node));
  const middle = node.y - node.h / 2 + 28;
  const text = withMinus(node.label);
  const room = node.w - 2 * (detail < 2 || node.role === "constant" ? 8 : OP_BADGE.room); // a constant never has a badge
  const label = firstFitting(ruler, font.title, [text, text.split(" ")[0]], room);
  if (detail < 2) {
    write(label, node.x, node.y, font.title, tokens.ink, "center");
    return;
  }
  const name = firstFitting(ruler, font.plain, namesOf(node.sub), node.w - 10);
  const sub = asLetters(name) === asLetters(label) ? "" : name; // CopySlices is called so in both lines, and Sigmoid without its suffix
  write(label, node.x, sub ? middle - 11 : middle, font.title, tokens.ink, "center");
  if (sub) write(sub, node.x, middle + 11, font.plain, node.id === brush.moment.active ? tokens.ink : tokens.soft, "center");
  if (node.h >= 80) paintChip(brush, node);
}

function head(brush, node, indent = 14, right = 12) {
  const { ruler, write, font, tokens } = brush;
  const [x0, y0, x1] = boxOf(node);
  const wide = node.w - indent - right;
  const [shape] = node.sub.split(" \u00b7 "); // the role is said by bar, stub and row too
  const ends = node.label.replace(/^self\./, ""); // says as much, where the shape has room only beside it
  const hasRoom = (name) => ruler.widthOf(font.title, name) + 10 + ruler.widthOf(font.plain, shape) <= wide;
  const name = brush.detail >= 2 && !hasRoom(node.label) && hasRoom(ends) ? ends : node.label;
  const title = cutName(ruler, font.title, name, wide);
  write(title, x0 + indent, y0 + 20, font.title, tokens.ink);
  if (brush.detail < 2) return;
  const sub = firstFitting(ruler, font.plain, [node.sub, shape, ""], wide - 10 - ruler.widthOf(font.title, title));
  if (sub) write(sub, x1 - right, y0 + 20, font.plain, tokens.soft, "right");
}

/** @type {(brush: Brush, node: Node) => void} */
function roleBar({ context, tokens }, node) {
  if (node.role !== "leaf" && node.role !== "root") return;
  context.fillStyle = node.role === "leaf" ? tokens.leaf : tokens.root;
  context.beginPath();
  context.roundRect(node.x - node.w / 2, node.y - node.h / 2 + 9, 4, 22, [0, 2, 2, 0]);
  context.fill();
}

/** @type {(brush: Brush, node: Node, look: any) => void} */
function paintCard(brush, node, look) {
  shape(brush, node, look, 10);
  roleBar(brush, node);
  head(brush, node);
  paintRows(brush, node);
}

/**
 * A further use of a leaf: its name, and an arrow that says that it is at home elsewhere.
 * @type {(brush: Brush, node: Node, look: any) => void}
 */
function paintStub(brush, node, look) {
  const { context, write, ruler, font, tokens } = brush;
  shape(brush, node, look, 19);
  const text = cutName(ruler, font.title, node.label, node.w - 40);
  write(text, node.x - 8, node.y, font.title, tokens.ink, "center");
  const [x, y] = [node.x + node.w / 2 - 20, node.y];
  context.strokeStyle = look.stroke === tokens.saved ? tokens.soft : look.stroke;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x - 4, y + 4);
  context.lineTo(x + 4, y - 4);
  context.moveTo(x - 1, y - 4);
  context.lineTo(x + 4, y - 4);
  context.lineTo(x + 4, y + 1);
  context.stroke();
}

/**
 * The norm in words, with the one of the previous section after it if that is shown: the longest wording that fits cards of this width.
 * @type {(brush: Brush, node: Node, norm: Num, long: boolean) => [string, string]}
 */
function normTexts({ ruler, font, moment }, node, norm, long) {
  const [now, was] = [num(norm, 3), normBefore(moment, node)];
  if (was === null) return [`${long ? "gradient " : ""}norm ${now}`, ""];
  /** @param {string[]} form */
  const room = ([before, between, after]) => ruler.widthOf(font.plain, `${before}${OLD}${between}${OLD}${after}`) <= node.w - 24;
  const [before, between, after] = BESIDE.find(room) ?? BESIDE[BESIDE.length - 1];
  return [`${before}${now}`, `${between}${num(was, 3)}${after}`];
}

/**
 * A folded group: a card on two others, with its shapes and the norm of its gradient; while a step runs in it, with that step.
 * @type {(brush: Brush, node: Node, look: any) => void}
 */
function paintGroupCard(brush, node, look) {
  const { write, ruler, font, tokens, moment } = brush;
  const norm = normOfGroup(moment, node);
  for (const offset of STACK) shape(brush, { ...node, x: node.x + offset, y: node.y + offset }, { ...look, width: 1, stroke: tokens.line }, 10);
  shape(brush, node, look, 10);
  const box = boxOf(node);
  paintNormEdge(brush, node, norm);
  groupName(brush, box, node.label, font.title, tokens.ink);
  paintFold(brush, box, true);
  if (node.cells) paintStrip(brush, node);
  else paintDots(brush, node);
  if (brush.detail < 2) return;
  const run = runIn(moment, node);
  const line = (text, y, colour) => write(text, box[0] + 14, box[1] + y, font.plain, colour);
  if (run) line(firstFitting(ruler, font.plain, runTexts(run), node.w - 24), 40, tokens.ink);
  else line(firstFitting(ruler, font.plain, partsTexts(node), node.w - 28), 40, tokens.soft);
  if (run?.ways.length) { // the gradient that reached the group belongs to another step
    const way = run.ways.map(withMinus).find((one) => ruler.widthOf(font.plain, one) <= node.w - 24);
    if (way) line(way, 62, look.stroke);
    return;
  }
  if (norm !== null && node.h >= 70) {
    const long = ruler.widthOf(font.plain, LONGEST) <= node.w - 24; // equal cards have the same wording, whatever their numbers
    const [text, was] = normTexts(brush, node, norm, long);
    line(text, 62, typeof norm === "string" ? tokens.error : tokens.gradient);
    if (was) write(was, box[0] + 14 + ruler.widthOf(font.plain, text), box[1] + 62, font.plain, tokens.soft);
  }
}

/**
 * The contents of a folded group, in wordings from the longest to the shortest.
 * @type {(node: Node) => string[]}
 */
function partsTexts({ sub }) {
  const [ops, shapes = ""] = sub.split(" \u00b7 ");
  const results = shapes.includes("\u2192") ? [shapes, `${ops} \u2192${shapes.split("\u2192")[1]}`] : []; // what goes out at least
  return [sub, ...results, ops, ops.split(",")[0]];
}

/** Which function runs in a folded group, and how far its steps are. */
const runTexts = ({ name, nth, of }) => namesOf(name).map((one) => `${one} \u00b7 ${nth} of ${of}`);

export function ring({ context }, node, colour, width, gap = 5) {
  const radius = cornerOf(node) + gap;
  context.beginPath();
  context.roundRect(node.x - node.w / 2 - gap, node.y - node.h / 2 - gap, node.w + 2 * gap, node.h + 2 * gap, radius);
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.stroke();
}

/** @type {(brush: Brush) => number[] | null} */
function paintError(brush) {
  const { error } = brush.moment.scene;
  if (!error || brush.moment.k < error.step || brush.detail < 2) return null;
  return paintCallout(brush, brush.moment.index.nodes.get(error.node ?? "") ?? null, error);
}
