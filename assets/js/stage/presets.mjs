// The strip over a root: ones, one-hot, random, zeros for the gradient to pass, or none.

import { toScreen, toWorld } from "../geometry/camera.mjs";
import { boxOf, commonArea } from "../scene/card.mjs";
import { NONE_PASSED } from "../scene/shared.mjs";
import { editableSubject, editOf, unpassedSubject } from "./editor.mjs";
import { keepFocus } from "./footer.mjs";
import { h } from "../page/dom.mjs";

const [GAP, EDGE] = [10, 8]; // px between the strip and its card, and to the border of the stage
const BARS = ".bs-tools, .bs-legend, .bs-minimap, #right";
const LINGER = 600; // ms in which the pointer may go from the card to the strip
const MAKERS = {
  ones: () => 1,
  random: () => Math.round((Math.random() * 2 - 1) * 100) / 100,
  zeros: () => 0,
};
const WHY = {
  ones: "Every element counts once: the gradient of the sum",
  "one-hot": "Only one element counts: click its cell",
  random: "Weights between \u22121 and 1",
  zeros: "Every weight is 0, so the gradients that arrive are 0",
  none: "No gradient is passed: PyTorch fills in 1, which works only for a single number",
};

export class Presets {
  /**
   * @param {import("./stage.mjs").Stage} stage
   * @param {(edit: any) => void} commit sends an edit
   */
  constructor(stage, commit) {
    this.stage = stage;
    this.commit = commit;
    this.hot = false;
    this.buttons = Object.fromEntries(["ones", "one-hot", "random", "zeros", "none"].map((name) => [name,
      h("button.bs-preset", { type: "button", title: WHY[name], "data-preset-cell": name, onclick: (event) => this.choose(name, event) }, name)]));
    this.hint = h("span.bs-preset-hint", { "data-quiet": "" }, "click a cell");
    this.element = h("div.bs-presets", { role: "toolbar", "aria-label": "Gradient you pass", hidden: true },
      ...Object.values(this.buttons), this.hint);
    this.element.addEventListener("mousedown", keepFocus);
    this.element.addEventListener("pointerleave", () => this.update());
    stage.layer.append(this.element);
    this.node = null;
  }

  /**
   * Shows the strip over the root that is selected or pointed at; it waits for a pointer that is on its way to it.
   * In front of a hall a chapter selects, and only the pointer asks for the strip: it would hide part of the graph.
   */
  update() {
    const { index, hover, picker, large } = this.stage;
    const selection = large === 1 ? this.stage.selection : null;
    if (picker) {
      this.hide();
      return;
    }
    const candidate = [hover, selection].map((id) => id && index?.nodes.get(id)).find((node) => node && this.subject(node));
    clearTimeout(this.leaving);
    if (candidate) this.show(candidate);
    else if (this.node && (!index?.nodes.has(this.node.id) || !this.subject(index.nodes.get(this.node.id)))) this.hide();
    else if (this.node) this.leaving = setTimeout(() => this.inUse() || this.hide(), LINGER);
  }

  inUse() {
    return this.hot || this.element.matches(":hover, :has(:focus-visible)");
  }

  show(node) {
    this.node = node;
    this.element.hidden = false;
    this.place();
  }

  hide() {
    this.node = null;
    this.element.hidden = true;
    this.heat(false);
  }

  subject(node) {
    const row = node.rows.find((one) => one.key === "seed");
    const { moment } = this.stage;
    return row && moment ? editableSubject(moment, node, row) ?? unpassedSubject(moment, node, row) : null;
  }

  place() {
    if (!this.node) return;
    const spot = this.stage.screenPos(this.node.id);
    if (!spot) return; // another scene may not have it; then the strip goes with the next update
    const { width, height } = this.stage.view;
    const [w, h] = [this.element.offsetWidth, this.element.offsetHeight];
    const [x, y] = this.stage.localPoint(spot.x, spot.y);
    const [dx, dy] = [(spot.width / this.stage.large + w) / 2 + GAP, (spot.height / this.stage.large + h) / 2 + GAP];
    const clampAt = (at) => Math.min(Math.max(at, w / 2 + EDGE), width - w / 2 - EDGE);
    const spots = [[clampAt(x), y - dy], [clampAt(x), y + dy], [x - dx, y], [x + dx, y], [clampAt(x), y - dy + GAP - 1], [clampAt(x), y + dy - GAP + 1]]
      .filter(([cx, cy]) => cy - h / 2 >= EDGE && cy + h / 2 <= height - EDGE && cx - w / 2 >= EDGE && cx + w / 2 <= width - EDGE);
    const bars = [...document.querySelectorAll(BARS)].map((bar) => bar.getBoundingClientRect())
      .map((bar) => [...this.stage.localPoint(bar.left, bar.top), ...this.stage.localPoint(bar.right, bar.bottom)]);
    const { camera, view, callout } = this.stage;
    if (callout) bars.push([...toScreen(camera, view, callout[0], callout[1]), ...toScreen(camera, view, callout[2], callout[3])]);
    const costs = spots.map((at) => this.coveredArea(at, w, h, bars));
    const [cx, cy] = spots[costs.indexOf(Math.min(...costs))] ?? [clampAt(x), y + dy];
    Object.assign(this.element.style, { left: `${cx}px`, top: `${cy - h / 2}px` });
  }

  /**
   * How much the strip would cover there of cards, and of the bars that lie on the stage.
   * @param {number[]} at its middle
   * @param {number} w
   * @param {number} h
   * @param {number[][]} bars
   */
  coveredArea([x, y], w, h, bars) {
    const { camera, view, plane } = this.stage;
    const box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
    const cards = plane.nodes.itemsIn([...toWorld(camera, view, box[0], box[1]), ...toWorld(camera, view, box[2], box[3])])
      .map(boxOf).map(([x0, y0, x1, y1]) => [...toScreen(camera, view, x0, y0), ...toScreen(camera, view, x1, y1)]);
    return [...cards, ...bars].reduce((sum, other) => sum + commonArea(box, other), 0);
  }

  choose(name, event) {
    const subject = this.node && this.subject(this.node);
    if (!subject) return;
    if (name === "none") {
      this.heat(false);
      this.commit({ command: subject.target, gradient: NONE_PASSED });
    } else if (name !== "one-hot") {
      this.heat(false);
      this.commit(editOf(subject, subject.data.map(MAKERS[name])));
    } else if (event.detail === 0) this.next(subject); // by keyboard there is no cell to click: each press takes the next one
    else this.heat(!this.hot);
  }

  next(subject) {
    const hot = subject.data.findIndex((value) => value !== 0);
    const single = subject.data.filter((value) => value !== 0).length === 1;
    this.oneHot(subject, single ? (hot + 1) % subject.data.length : 0);
  }

  oneHot(subject, cell) {
    this.commit(editOf(subject, subject.data.map((_, i) => (i === cell ? 1 : 0))));
  }

  heat(on) {
    this.hot = on;
    this.hint.toggleAttribute("data-quiet", !on);
    this.buttons["one-hot"].setAttribute("aria-pressed", String(on));
  }

  /** A click on a cell while one-hot is chosen: true where it was taken. */
  cellClick(node, row, cell) {
    if (!this.hot || row.key !== "seed") return false;
    const { moment } = this.stage;
    const subject = moment && editableSubject(moment, node, row);
    if (subject) this.oneHot(subject, cell);
    return subject !== null;
  }
}
