// The parameters in a folded group, each with the norm of its gradient on the scale of the graph.

import { num, shapeText } from "../../scene/format.mjs";
import { lookOf, normOfDot } from "../../scene/scale.mjs";
import { h } from "../../page/dom.mjs";

/** @import { Node, Scene } from "../../scene/scene.d.ts" */

const LEAST = 0.04; // of a bar's length: the smallest norm is seen too

/**
 * @param {Scene} scene
 * @param {Node} node
 * @param {number} t
 */
export function parametersOf(scene, node, t) {
  if (!node.dots?.length) return null;
  const rows = node.dots.map((dot) => {
    const norm = normOfDot({ t }, dot);
    const { kind, part } = lookOf(scene.norms, norm);
    const length = kind === "level" ? LEAST + (1 - LEAST) * part : 0;
    return h("tr", {}, h("th", { scope: "row", title: `${dot.name} ${shapeText(dot.shape)}${dot.shared ? ", shared with another module" : ""}` }, dot.name),
      h("td.parameter-bar", { "aria-hidden": "true" }, h("i", { style: `width: ${(100 * length).toFixed(0)}%` })),
      h("td.parameter-norm", { "data-odd": kind === "odd" }, norm === null ? "none yet" : num(norm, 3)));
  });
  return h("table.parameters", {}, h("caption", {}, `${rows.length === 1 ? "Parameter" : `${rows.length} parameters`}, norm of .grad`), h("tbody", {}, rows));
}
