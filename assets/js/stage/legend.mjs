// The legend: a strip of the few signs that every program has, and a panel of all of them, painted by the painter of the graph.

import { keepFocus } from "./footer.mjs";
import { Lane } from "./lane.mjs";
import { paintGraph } from "../paint/paint.mjs";
import { contextOf, h, inline } from "../page/dom.mjs";
import { layPlane } from "../geometry/plane.mjs";
import { paintPulses } from "../paint/pulses.mjs";
import { ROOM_WIDE, SIGNS } from "../paint/legend_samples.mjs";
import { prepare, stateAt } from "../scene/state.mjs";
import { Ruler } from "../geometry/text.mjs";

const STRIP = [["future", "to come"], ["leaf", "leaf"], ["root", "root"], ["forward", "forward"], ["positive", "gradient"],
  ["saved", "saved"], ["waiting", "waits"]];
const HIGH = 68; // height of a sample, in px
const LOW = 16; // how much lower one looks where the foot of a pill is what is meant

export class Legend {
  /** @param {import("./stage.mjs").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.more = h("button.bs-legend-more", { type: "button", "aria-expanded": "false", "aria-controls": "bs-signs", title: "What the signs mean (K)",
      onclick: () => this.toggle() }, "Legend");
    this.more.addEventListener("mousedown", keepFocus);
    this.strip = h("div.bs-legend", {}, this.more, stage.scale.element, h("ul", { "aria-label": "The most common signs" },
      ...STRIP.map(([kind, text]) => h("li", {}, h("i", { "data-kind": kind }), text))));
    this.panel = h("section.bs-signs", { id: "bs-signs", "aria-label": "Legend: what the signs mean", tabindex: "-1", hidden: true });
    this.panel.addEventListener("keydown", (event) => event.key === "Escape" && this.toggle(false) && event.stopPropagation());
    this.panel.addEventListener("wheel", (event) => event.stopPropagation(), { passive: true });
    this.samples = [];
  }

  get open() {
    return !this.panel.hidden;
  }

  /** Opens or closes the panel of all signs; it stays while one steps, so that a picture can be read with it. */
  toggle(on = !this.open) {
    if (on === this.open) return false;
    if (on && !this.samples.length) this.build();
    const hasFocus = this.panel.contains(document.activeElement);
    this.panel.hidden = !on;
    this.more.setAttribute("aria-expanded", String(on));
    if (on) {
      this.paint();
      this.panel.focus({ preventScroll: true });
    } else if (hasFocus) this.stage.host.focus({ preventScroll: true });
    return true;
  }

  build() {
    const close = h("button.quiet", { type: "button", "aria-label": "Close the legend", onclick: () => this.toggle(false) }, "\u2715");
    this.panel.append(h("div.bs-signs-head", {}, h("h2", {}, "What the signs mean"), close), h("div", {}, SIGNS.map(({ title, signs }) => (
      h("section", {}, h("h3", {}, title), h("ul", {}, signs.map((sign) => {
        const canvas = h("canvas", { "aria-hidden": "true" });
        this.samples.push({ sign, canvas });
        return h("li", { "data-sign": sign.id }, canvas, h("span", {}, inline(sign.text)));
      })))))));
  }

  /** Again when the theme or the density of the screen has changed. */
  paint() {
    if (!this.open) return;
    for (const { sign, canvas } of this.samples) paintSample(canvas, sign, this.stage.tokens, window.devicePixelRatio || 1);
  }
}

/** One sign on its canvas: the graph, and what moves over it. */
function paintSample(canvas, sign, tokens, dpr) {
  if (sign.lane) return paintLane(canvas, sign, tokens);
  const view = { width: ROOM_WIDE, height: HIGH, dpr };
  const over = document.createElement("canvas");
  for (const one of [canvas, over]) [one.width, one.height] = [Math.round(view.width * dpr), Math.round(view.height * dpr)];
  const index = prepare(sign.scene);
  const moment = stateAt(index, sign.t ?? 0);
  const plane = layPlane(index);
  const wired = index.nodes.get(sign.wired);
  const wires = wired ? plane.wiring.at(moment, [wired]) : [];
  const frame = { moment, plane, ruler: new Ruler(contextOf(canvas)), camera: { x: 0, y: sign.low ? LOW : 0, zoom: 1 }, tokens,
    selection: null, hover: sign.hover ?? null, wires, hoveredWire: null, pending: new Map(sign.pending ?? []) };
  paintGraph(canvas.getContext("2d"), view, frame);
  paintPulses(over.getContext("2d"), view, frame);
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(over, 0, 0);
}

/** A piece of the timeline, by the timeline's own painter. */
function paintLane(canvas, sign, tokens) {
  const lane = new Lane({ seek: () => {}, scrubbing: () => {} });
  Object.assign(lane, { tokens, scene: sign.scene, t: sign.t, width: ROOM_WIDE });
  lane.paint();
  [canvas.width, canvas.height] = [lane.canvas.width, lane.canvas.height];
  canvas.getContext("2d").drawImage(lane.canvas, 0, 0);
}
