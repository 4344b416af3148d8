// The pointer on the stage: pan, zoom, hover, select, and double clicks.

import { boxesOf, cellAt, contains, dotAt, foldMark, boxOf } from "../scene/card.mjs";
import { toWorld } from "../geometry/camera.mjs";
import { cellText, dotText, element, indexText, num } from "../scene/format.mjs";
import { normOfDot, normOfEdge } from "../scene/scale.mjs";
import { memberAt } from "../scene/stacks.mjs";
import { isLeaf, placeAt, rowState } from "../scene/state.mjs";
import { at } from "../scene/timeline.mjs";
import { h, wheelPixels } from "../page/dom.mjs";
import { wireAt } from "../geometry/wiring.mjs";
import { wireText } from "../paint/wires.mjs";

/** @import { Cell, Dot, Edge, Group, Node, Row } from "../scene/scene.d.ts" */
/** @import { Held } from "../scene/format.mjs" */
/** @import { ShownWire } from "../geometry/wiring.mjs" */
/** @import { Stage } from "./stage.mjs" */
/**
 * What is under a point of the plane; `cell` -1: no cell of the row.
 * @typedef {{ x: number, y: number, node: Node | null, row: Row | null, cell: number, group: Group | null, fold: boolean, wire: ShownWire | null, edge: Edge | null, dot: Dot | null, member: Cell | null }} Found
 */

const CLICK = 5; // px that a hand may tremble
const HIT = 7; // px around an edge or a wire that count as on it

/**
 * What is under a point of the page.
 * @type {(stage: Stage, clientX: number, clientY: number) => Found}
 */
export function pick(stage, clientX, clientY) {
  const [x, y] = toWorld(stage.camera, stage.view, ...stage.localPoint(clientX, clientY));
  /** @type {Found} */
  const target = { x, y, node: null, row: null, cell: -1, group: null, fold: false, wire: null, edge: null, dot: null, member: null };
  const { moment } = stage;
  if (!stage.plane || !moment) return target;
  target.wire = stage.wires.length ? wireAt(stage.wires, x, y, HIT / stage.camera.zoom / 1.4) : null;
  /** @type {Node | null} */
  const node = stage.plane.nodes.at(x, y).at(-1) ?? null;
  if (node) {
    target.node = node;
    const hit = node.rows.length ? cellAt(node, x, y, (place) => placeAt(moment, node, place)) : null;
    if (hit) Object.assign(target, hit);
    target.dot = dotAt(node, x, y);
    target.member = memberAt(node, x, y);
    target.fold = node.kind === "group" && contains(foldMark(boxOf(node)), x, y);
    return target;
  }
  const groups = stage.index.scene.groups.filter((one) => !one.folded && one.box);
  const inner = groups.findLast((one) => boxesOf(one).some((box) => x >= box[0] && x <= box[2] && y >= box[1] && y <= box[1] + 32));
  target.group = inner ?? null;
  target.fold = inner ? contains(foldMark(boxesOf(inner)[0]), x, y) : false;
  target.edge = inner ? null : edgeAt(stage, x, y);
  return target;
}

function edgeAt(stage, x, y) {
  const reach = HIT / stage.camera.zoom;
  return stage.plane.edges.itemsIn([x - reach, y - reach, x + reach, y + reach]).find((edge) => {
    const { forward, back, through } = stage.plane.routes.get(edge.id);
    return [forward, back, through].some((route) => route.distance(x, y) < reach);
  }) ?? null;
}

/**
 * @param {Stage} stage
 * @param {{ select: (id: string | null) => void, fold: (id: string) => void, find: (id: string) => void, edit: (node: Node, row: Row, cell: number) => boolean,
 *   cellClick: (node: Node, row: Row, cell: number) => boolean, choose: (node: Node | Group) => void, onPan: () => void }} acts
 */
export function listen(stage, acts) {
  const tip = h("div.bs-tip", { role: "tooltip", hidden: true });
  stage.layer.append(tip);
  stage.tip = tip;
  const { host } = stage;
  const onCanvas = (event) => event.target === stage.pulses || event.target === host || event.target === stage.graph;
  /** @type {{ x: number, y: number, moved: boolean } | null} */
  let drag = null;

  host.addEventListener("pointerdown", (event) => {
    if (event.button > 1 || !onCanvas(event)) return;
    drag = { x: event.clientX, y: event.clientY, moved: false };
    host.focus({ preventScroll: true });
  });
  host.addEventListener("pointermove", (event) => {
    if (!drag) {
      if (onCanvas(event)) hover(stage, tip, event);
      return;
    }
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < CLICK) return;
    if (!drag.moved) host.setPointerCapture(event.pointerId);
    drag.moved = true;
    tip.hidden = true;
    host.classList.add("bs-dragging");
    stage.pan((event.clientX - drag.x) / stage.large, (event.clientY - drag.y) / stage.large);
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    acts.onPan();
  });
  const release = (event) => {
    host.classList.remove("bs-dragging");
    const click = drag && !drag.moved && event.type === "pointerup";
    drag = null;
    if (click && event.button === 0) press(stage, acts, event);
  };
  host.addEventListener("pointerup", release);
  host.addEventListener("pointercancel", release);
  host.addEventListener("pointerleave", () => setHover(stage, tip, null));
  host.addEventListener("dblclick", (event) => onCanvas(event) && doublePress(stage, acts, event));
  host.addEventListener("wheel", (event) => {
    event.preventDefault();
    acts.onPan();
    stage.zoom(Math.exp(-wheelPixels(event).y * (event.ctrlKey ? 0.01 : 0.0016)), stage.localPoint(event.clientX, event.clientY));
  }, { passive: false });
}

function press(stage, acts, event) {
  const hit = pick(stage, event.clientX, event.clientY);
  const pressed = hit.node ?? hit.group;
  if (pressed && hit.fold) acts.fold(pressed.id);
  else if (hit.dot && !stage.picker) acts.find(hit.dot.id);
  else if (hit.member && !stage.picker) acts.fold(hit.member.id);
  else if (stage.picker) {
    if (pressed) acts.choose(pressed);
  }
  else if (hit.node && hit.row && hit.cell >= 0 && acts.cellClick(hit.node, hit.row, hit.cell)) return;
  else acts.select(pressed?.id ?? (hit.edge ? nearOp(stage, hit.edge) : null));
}

/** An edge stands for the op that it belongs to. */
function nearOp(stage, edge) {
  return stage.index.nodes.get(edge.target)?.kind === "op" ? edge.target : edge.source;
}

function doublePress(stage, acts, event) {
  const hit = pick(stage, event.clientX, event.clientY);
  const pressed = hit.node ?? hit.group;
  if (hit.dot || hit.member) return; // its first click has opened it
  if (pressed && (hit.node?.kind === "group" || hit.group)) acts.fold(pressed.id);
  else if (stage.picker) return;
  else if (hit.node && hit.row && hit.cell >= 0 && acts.edit(hit.node, hit.row, hit.cell)) return;
  else if (hit.node) stage.reveal(hit.node.id);
}

function hover(stage, tip, event) {
  const hit = pick(stage, event.clientX, event.clientY);
  setHover(stage, tip, hit, event);
  stage.host.classList.toggle("bs-over", Boolean(hit.node || hit.fold || hit.edge));
  stage.host.classList.toggle("bs-refused", Boolean(stage.picker && hit.node && !hit.fold && !stage.picker.allows(hit.node)));
}

/** @type {(stage: Stage, tip: HTMLElement, hit: Found | null, event?: PointerEvent) => void} */
function setHover(stage, tip, hit, event) {
  const id = hit?.node?.id ?? null;
  const wire = hit?.wire ?? null;
  if (id !== stage.hover || wire?.curve !== stage.hoveredWire?.curve) {
    if (!wire || id) stage.hover = id ?? (wire ? stage.hover : null);
    stage.hoveredWire = wire;
    stage.settle();
    stage.onHover?.(stage.hover);
  }
  const text = hit && !stage.editing ? hoverText(stage, hit) : "";
  tip.hidden = !text;
  if (!text || !event) return;
  if (tip.textContent !== text) tip.textContent = text;
  const [left, top] = stage.localPoint(event.clientX, event.clientY);
  const x = Math.min(left + 14, stage.view.width - tip.offsetWidth - 8);
  const y = top + 20;
  const over = y + tip.offsetHeight > stage.view.height ? y - tip.offsetHeight - 30 : y;
  tip.style.transform = `translate(${Math.round(Math.max(x, 8))}px, ${Math.round(over)}px)`;
}

/** @type {(stage: Stage, hit: Found) => string} */
function hoverText(stage, { node, row, cell, group, edge, wire, dot, member }) {
  const choice = node ?? group;
  if (stage.picker && choice) return stage.picker.refusal(choice) ?? `Choose ${choice.label}`;
  if (wire) return wireText(wire);
  if (node && row && cell >= 0 && stage.moment) {
    const { value, derived } = rowState(stage.moment, row);
    const name = row.key === "value" ? node.label : row.key === "grad" ? `${node.label}.grad` : `gradient for ${node.label}`;
    const whole = value?.data ? /** @type {Held} */ (value) : null;
    const isHere = whole !== null && cell < whole.data.length;
    const number = !whole ? "none yet" : isHere ? element(whole, cell, 9) : "missing: too few elements are passed";
    const how = row.key === "seed" || (row.key === "value" && isLeaf(node)) ? "  \u00b7  double-click to edit" : "";
    return `${name}${indexText(cell, isHere ? whole.shape : node.shape ?? [])} = ${number}${derived ? `, ${derived.text}` : ""}${how}`;
  }
  if (node && dot && stage.moment) return `${dotText(dot, normOfDot(stage.moment, dot))}  \u00b7  click to open`;
  if (member && stage.moment) return `${cellText(member, at(member.norm, stage.moment.t) ?? null)}  \u00b7  click to open`;
  if (node) return node.kind === "group" ? `${node.title || node.label}  \u00b7  double-click to unfold` : node.title || node.label;
  if (group) return `${group.label}  \u00b7  double-click to fold`;
  if (!edge) return "";
  const name = (id) => stage.index.nodes.get(id)?.label ?? id;
  const norm = edge.grad && stage.moment?.scene.norms && !edge.tracks.norm ? normOfEdge(stage.moment, edge) : null;
  const says = !edge.grad ? "  \u00b7  no gradient travels here" : norm === null ? "" : `  \u00b7  gradient norm ${num(norm, 3)}`;
  return `${name(edge.source)} \u2192 ${name(edge.target)}${says}`;
}
