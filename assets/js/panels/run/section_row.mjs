// The row of a run's sections above the timeline: marks the current one; a click on another leads there.

import { byId, h, prepareContext } from "../../page/dom.mjs";
import { ends, HEIGHT, paintSections } from "./section_painting.mjs";
import { readTokens, watchTheme } from "../../paint/theme.mjs";
import { sectionsOf, sectionAt, hoverText, tracksOf } from "./sections.mjs";

/** @import { RunOverview, Scene, Section } from "../../scene/scene.d.ts" */

export class RunRow {
  /**
   * @param {(by: number) => unknown} turn goes so many sections on
   * @param {{ runNow: () => RunOverview | null, ask: () => Promise<unknown> }} overview
   */
  constructor(turn, overview) {
    this.turn = turn;
    this.overview = overview;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.tip = h("div.bs-lane-tip", { hidden: true });
    this.element = byId("run-row");
    this.element.append(this.canvas, this.tip);
    this.element.style.height = `${HEIGHT}px`;
    this.tokens = readTokens();
    watchTheme(() => { this.tokens = readTokens(); this.paint(); });
    /** @type {Section | null} the present one */
    this.section = null;
    /** @type {number | null} the section under the hand */
    this.over = null;
    this.pressed = false;
    this.width = 0;
    new ResizeObserver(() => { this.width = this.element.clientWidth; this.paint(); }).observe(this.element);
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerup", (event) => this.release(event));
    this.element.addEventListener("pointercancel", () => this.leave());
    this.element.addEventListener("pointerleave", () => this.leave());
    this.element.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** @param {Scene} scene */
  load(scene) {
    this.section = scene.section ?? null;
    this.element.hidden = !this.section;
    this.show();
    if (this.section && !this.run) requestIdleCallback(() => this.overview.ask().then(() => this.show(), () => {})); // after what is shown first
  }

  /** The numbers of the run; none before they have come. */
  get run() {
    return this.overview.runNow();
  }

  show() {
    const { section } = this;
    if (!section) return;
    this.paint();
    this.element.setAttribute("aria-valuemax", String(section.count));
    this.element.setAttribute("aria-valuenow", String(section.at + 1));
    this.element.setAttribute("aria-valuetext", hoverText(this.run, section, section.at));
  }

  sectionUnder(event) {
    const [left, right] = ends(this.width);
    return this.section ? sectionAt((event.clientX - this.element.getBoundingClientRect().left - left) / Math.max(right - left, 1), this.section.count) : null;
  }

  press(event) {
    if (!this.section || event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.pressed = true;
    this.point(event);
  }

  point(event) {
    const { section } = this;
    if (!section || (event.pointerType === "touch" && !this.pressed)) return;
    const over = this.sectionUnder(event);
    if (over !== null) this.tip.textContent = hoverText(this.run, section, over);
    this.tip.hidden = false;
    const x = event.clientX - this.element.getBoundingClientRect().left;
    this.tip.style.left = `${Math.min(Math.max(x - this.tip.offsetWidth / 2, 0), this.width - this.tip.offsetWidth)}px`;
    if (over === this.over) return;
    this.over = over;
    this.paint();
  }

  /** Where one lets go is where one wants to be: on the way there sections are only named. */
  release(event) {
    const { pressed, section } = this;
    const to = this.sectionUnder(event);
    this.pressed = false;
    if (event.pointerType === "touch") this.leave();
    if (pressed && section && to !== null && to !== section.at) this.turn(to - section.at);
  }

  leave() {
    this.pressed = false;
    this.tip.hidden = true;
    if (this.over === null) return;
    this.over = null;
    this.paint();
  }

  onKey(event) {
    const { section } = this;
    if (!section || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -section.at, End: section.count - 1 - section.at };
    const by = moves[event.key];
    if (by === undefined) return;
    if (by) this.turn(by);
    event.preventDefault();
    event.stopPropagation(); // the player has keys of the same names
  }

  paint() {
    const { section, run, width, tokens, over } = this;
    if (!section || width < 160) return;
    const context = prepareContext(this.canvas, width, HEIGHT, window.devicePixelRatio || 1);
    const tracks = run && run.labels.length ? tracksOf(run, section.count) : null;
    paintSections({ context, tokens, width, count: section.count, at: section.at, over, tracks, sections: run ? sectionsOf(run.findings) : [] });
  }
}
