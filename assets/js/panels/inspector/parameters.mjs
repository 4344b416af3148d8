// The parameters in a folded group, and the members of a stack, each with the norm of its gradient on the scale of the graph.

import { num, shapeText } from "../../scene/format.mjs";
import { lookOf, normOfDot } from "../../scene/scale.mjs";
import { at } from "../../scene/timeline.mjs";
import { h } from "../../page/dom.mjs";

/** @import { Node, Num, Scene } from "../../scene/scene.d.ts" */

const LEAST = 0.04; // of a bar's length: the smallest norm is seen too

/** @type {(scene: Scene, node: Node, t: number) => HTMLElement | null} */
export function parametersOf(scene, node, t) {
  if (!node.dots?.length) return null;
  const rows = node.dots.map((dot) => row(scene, dot.name, `${dot.name} ${shapeText(dot.shape)}${dot.shared ? ", shared with another module" : ""}`, normOfDot({ t }, dot)));
  return table(`${rows.length === 1 ? "Parameter" : `${rows.length} parameters`}, norm of .grad`, rows);
}

/** @type {(scene: Scene, node: Node, t: number, open: (id: string) => void) => HTMLElement | null} */
export function membersOf(scene, node, t, open) {
  if (!node.cells?.length) return null;
  const rows = node.cells.map(({ id, label, norm }) => (
    row(scene, h("button.link", { type: "button", onclick: () => open(id) }, label), `Open ${label}`, at(norm, t) ?? null)));
  return table(`${rows.length} in this stack, by the norm of the gradient that each received`, rows);
}

const table = (caption, rows) => h("table.parameters", {}, h("caption", {}, caption), h("tbody", {}, rows));

/** @type {(scene: Scene, name: string | HTMLElement, title: string, norm: Num | null) => HTMLElement} */
function row(scene, name, title, norm) {
  const { kind, part } = lookOf(scene.norms, norm);
  const length = kind === "level" ? LEAST + (1 - LEAST) * part : 0;
  return h("tr", {}, h("th", { scope: "row", title }, name),
    h("td.parameter-bar", { "aria-hidden": "true" }, h("i", { style: `width: ${(100 * length).toFixed(0)}%` })),
    h("td.parameter-norm", { "data-odd": kind === "odd" }, norm === null ? "none yet" : num(norm, 3)));
}
