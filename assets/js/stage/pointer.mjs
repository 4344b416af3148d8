// The pointer on the stage: pan, zoom, hover, select, and what a double click does.

import { boxesOf, cellAt, contains, foldMark, boxOf } from "../scene/card.mjs";
import { toWorld } from "../geometry/camera.mjs";
import { element, indexText } from "../scene/format.mjs";
import { isLeaf, placeAt, rowState } from "../scene/state.mjs";
import { h } from "../page/dom.mjs";
import { wireAt } from "../geometry/wiring.mjs";
import { wireText } from "../paint/wires.mjs";

const CLICK = 5; // px that a hand may tremble
const HIT = 7; // px around an edge or a wire that count as on it

/** What is under a point of the page: { node, row, cell, edge, group, fold, wire }. */
export function pick(stage, clientX, clientY) {
  const box = stage.host.getBoundingClientRect();
  const [x, y] = toWorld(stage.camera, stage.view, clientX - box.left, clientY - box.top);
  const found = { x, y, node: null, row: null, cell: -1, group: null, fold: false, wire: null, edge: null };
  if (!stage.plane) return found;
  found.wire = stage.wires.length ? wireAt(stage.wires, x, y, HIT / stage.camera.zoom / 1.4) : null;
  found.node = stage.plane.nodes.at(x, y).at(-1) ?? null;
  if (found.node) {
    const hit = found.node.rows.length ? cellAt(found.node, x, y, (place) => placeAt(stage.moment, found.node, place)) : null;
    if (hit) Object.assign(found, hit);
    found.fold = found.node.kind === "group" && contains(foldMark(boxOf(found.node)), x, y);
    return found;
  }
  const groups = stage.index.scene.groups.filter((one) => !one.folded && one.box);
  const inner = groups.findLast((one) => boxesOf(one).some((box) => x >= box[0] && x <= box[2] && y >= box[1] && y <= box[1] + 32));
  found.group = inner ?? null;
  found.fold = inner ? contains(foldMark(boxesOf(inner)[0]), x, y) : false;
  found.edge = inner ? null : edgeAt(stage, x, y);
  return found;
}

function edgeAt(stage, x, y) {
  const reach = HIT / stage.camera.zoom;
  return stage.plane.edges.within([x - reach, y - reach, x + reach, y + reach]).find((edge) => {
    const { forward, back, through } = stage.plane.routes.get(edge.id);
    return [forward, back, through].some((route) => route.distance(x, y) < reach);
  }) ?? null;
}

/** `acts`: { select(id), fold(id), edit(node, row, cell) → bool, cellClick(node, row, cell) → bool, choose(node), panned() }. */
export function listen(stage, acts) {
  const tip = h("div.bs-tip", { role: "tooltip", hidden: true });
  stage.layer.append(tip);
  stage.tip = tip;
  const { host } = stage;
  const onCanvas = (event) => event.target === stage.pulses || event.target === host || event.target === stage.graph;
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
    stage.pan(event.clientX - drag.x, event.clientY - drag.y);
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    acts.panned();
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
    acts.panned();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const box = host.getBoundingClientRect();
    stage.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), [event.clientX - box.left, event.clientY - box.top]);
  }, { passive: false });
}

function press(stage, acts, event) {
  const found = pick(stage, event.clientX, event.clientY);
  if (found.fold) acts.fold((found.node ?? found.group).id);
  else if (stage.choosing) {
    if (found.node ?? found.group) acts.choose(found.node ?? found.group);
  }
  else if (found.node && found.cell >= 0 && acts.cellClick(found.node, found.row, found.cell)) return;
  else acts.select((found.node ?? found.group)?.id ?? (found.edge ? nearOp(stage, found.edge) : null));
}

/** An edge stands for the op that it belongs to. */
function nearOp(stage, edge) {
  return stage.index.nodes.get(edge.target)?.kind === "op" ? edge.target : edge.source;
}

function doublePress(stage, acts, event) {
  const found = pick(stage, event.clientX, event.clientY);
  if (found.node?.kind === "group" || found.group) acts.fold((found.node ?? found.group).id);
  else if (stage.choosing) return;
  else if (found.node && found.cell >= 0 && acts.edit(found.node, found.row, found.cell)) return;
  else if (found.node) stage.reveal(found.node.id);
}

function hover(stage, tip, event) {
  const found = pick(stage, event.clientX, event.clientY);
  setHover(stage, tip, found, event);
  stage.host.classList.toggle("bs-over", Boolean(found.node || found.fold || found.edge));
  stage.host.classList.toggle("bs-refused", Boolean(stage.choosing && found.node && !found.fold && !stage.choosing.allows(found.node)));
}

function setHover(stage, tip, found, event = null) {
  const id = found?.node?.id ?? null;
  const wire = found?.wire ?? null;
  if (id !== stage.hover || wire?.curve !== stage.hoveredWire?.curve) {
    if (!wire || id) stage.hover = id ?? (wire ? stage.hover : null);
    stage.hoveredWire = wire;
    stage.settle();
    stage.onHover?.(stage.hover);
  }
  const text = found && !stage.editing ? hoverText(stage, found) : "";
  tip.hidden = !text;
  if (!text || !event) return;
  if (tip.textContent !== text) tip.textContent = text;
  const box = stage.host.getBoundingClientRect();
  const x = Math.min(event.clientX - box.left + 14, stage.view.width - tip.offsetWidth - 8);
  const y = event.clientY - box.top + 20;
  const over = y + tip.offsetHeight > stage.view.height ? y - tip.offsetHeight - 30 : y;
  tip.style.transform = `translate(${Math.round(Math.max(x, 8))}px, ${Math.round(over)}px)`;
}

function hoverText(stage, { node, row, cell, group, edge, wire }) {
  if (stage.choosing && (node || group)) return stage.choosing.refusal(node ?? group) ?? `Choose ${node.label}`;
  if (wire) return wireText(wire);
  if (node && row && cell >= 0) {
    const { value, derived } = rowState(stage.moment, row);
    const name = row.key === "value" ? node.label : row.key === "grad" ? `${node.label}.grad` : `gradient for ${node.label}`;
    const number = !value?.data ? "none yet" : cell < value.data.length ? element(value, cell, 9) : "missing: too few elements are passed";
    const how = row.key === "seed" || (row.key === "value" && isLeaf(node)) ? "  \u00b7  double-click to edit" : "";
    return `${name}${indexText(cell, cell < value?.data?.length ? value.shape : node.shape ?? [])} = ${number}${derived ? `, ${derived.text}` : ""}${how}`;
  }
  if (node) return node.kind === "group" ? `${node.title || node.label}  \u00b7  double-click to unfold` : node.title || node.label;
  if (group) return `${group.label}  \u00b7  double-click to fold`;
  if (!edge) return "";
  const name = (id) => stage.index.nodes.get(id)?.label ?? id;
  return `${name(edge.source)} \u2192 ${name(edge.target)}${edge.grad ? "" : "  \u00b7  no gradient travels here"}`;
}
