// The overlay of a program that is too long to draw whole: the name of the open model, and the scale of norms.

import { h } from "../page/dom.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */

const ABOUT = "Colour and width of boxes, edges and dots: the norm of the gradient, on a logarithmic scale. A white dot has no gradient yet, one with a stroke has exactly 0, "
  + "one with a cross has nan or infinities; two rings: several modules share the parameter.";

export class Scale {
  constructor() {
    this.low = h("b");
    this.high = h("b");
    this.element = h("div.bs-scale", { hidden: true, title: ABOUT }, "gradient norm", this.low, h("i", { "aria-hidden": "true" }), this.high);
    this.crumb = h("div.bs-crumb", { hidden: true, title: "The model that is open: its parts stand in the order of the forward pass" });
  }

  /** @param {Scene} scene */
  load({ norms, model }) {
    this.element.hidden = !norms;
    if (norms) [this.low.textContent, this.high.textContent] = norms.map(power);
    this.crumb.hidden = !model;
    this.crumb.textContent = model ?? "";
  }
}

/** `1e-4`, and near 1 `0.01` … `100`. */
const power = (norm) => (norm >= 0.01 && norm <= 100 ? String(norm) : `1e${Math.round(Math.log10(norm))}`);
