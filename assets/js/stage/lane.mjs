// The lane: the program's shape in time.  A segment per phase with the call as written, a stroke per step, marks, the playhead.

import { contextOf, h } from "../page/dom.mjs";
import { fonts, Ruler, writer } from "../geometry/text.mjs";
import { currentStep, isNamed, isPlain, phaseIndex, phaseLabels, sentence, spoken, strokeStride, withLabelOf } from "../scene/timeline.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */

const EDGE = 12; // room at both ends, so that the playhead is never cut
const TOP = 32; // labels are above, the bar from here on
const BAR = 16;
const HEIGHT = 68;
const GAP = 4;
const QUIET = new Set(["zero", "none", "set"]); // what the program itself does is told beside its segment
const NONE = ["None", "\u2205"]; // an emptied gradient is no zero; the sign where the word has no room
const GLYPHS = { zero: "0", set: "=", error: "!", edit: "\u270e", warning: "!" };

export class Lane {
  /** @param {{ seek: (t: number) => void, scrubbing: (on: boolean) => void }} acts `seek` while one drags, `scrubbing` at its begin and end */
  constructor({ seek, scrubbing }) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.tip = h("div.bs-lane-tip", { hidden: true });
    this.element = h("div.bs-lane", { role: "slider", tabindex: "0", "aria-label": "Time", "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0" }, this.canvas, this.tip);
    this.ruler = new Ruler(contextOf(this.canvas));
    this.seek = seek;
    this.scrubbing = scrubbing;
    /** @type {Scene} none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    /** @type {Record<string, any>} of the theme */
    this.tokens = {};
    this.t = 0;
    this.width = 0;
    this.drag = false;
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerup", (event) => this.release(event));
    this.element.addEventListener("pointercancel", (event) => this.release(event));
    this.element.addEventListener("pointerleave", () => this.hideTip());
  }

  resize() {
    this.width = this.element.clientWidth;
    this.paint();
  }

  load(scene, t) {
    this.scene = scene;
    this.element.setAttribute("aria-valuemax", String(scene.steps.length));
    this.show(t);
  }

  show(t) {
    this.t = t;
    const { lead, text } = sentence(this.scene, t);
    this.element.setAttribute("aria-valuenow", String(Math.ceil(t)));
    this.element.setAttribute("aria-valuetext", `${lead} ${text}`);
    this.paint();
  }

  x(t) {
    return EDGE + (t / Math.max(this.scene.steps.length, 1)) * (this.width - 2 * EDGE);
  }

  timeAt(event) {
    const x = event.clientX - this.element.getBoundingClientRect().left;
    const count = this.scene.steps.length;
    return Math.min(Math.max(((x - EDGE) / (this.width - 2 * EDGE)) * count, 0), count);
  }

  /** While scrubbing, time is what is under the hand, so that pulses move with it; let go, it rests on a step. */
  press(event) {
    if (!this.scene || event.button !== 0) return;
    this.drag = true;
    this.element.setPointerCapture(event.pointerId);
    this.scrubbing(true);
    this.seek(this.scrubTime(event));
  }

  scrubTime(event) {
    const t = this.timeAt(event);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    return still || (this.width / Math.max(this.scene.steps.length, 1)) < 14 || Math.abs(t - Math.round(t)) < 0.12 ? Math.round(t) : t;
  }

  point(event) {
    if (!this.scene) return;
    if (this.drag) {
      this.seek(this.scrubTime(event)); // the sentence above says where one is
      this.hideTip();
    } else this.showTip(event);
  }

  release(event) {
    if (!this.drag) return;
    this.drag = false;
    this.seek(Math.round(this.timeAt(event)));
    this.scrubbing(false);
  }

  showTip(event) {
    const k = Math.min(Math.floor(this.timeAt(event)), this.scene.steps.length - 1);
    if (k < 0) return;
    const mark = this.scene.marks.find((one) => one.step === k && !QUIET.has(one.kind));
    const phase = this.scene.phases[phaseIndex(this.scene, k)];
    const call = phase && !isPlain(phase) && !mark ? `  (${phase.label})` : ""; // above its segment it may have had no room
    this.tip.textContent = `${k + 1}. ${spoken(this.scene.steps[k])}${mark ? `  (${mark.label})` : call}`;
    this.tip.hidden = false;
    const x = event.clientX - this.element.getBoundingClientRect().left;
    this.tip.style.left = `${Math.min(Math.max(x - this.tip.offsetWidth / 2, 0), this.width - this.tip.offsetWidth)}px`;
  }

  hideTip() {
    this.tip.hidden = true;
  }

  paint() {
    if (!this.scene || this.width < 40) return;
    const dpr = window.devicePixelRatio || 1;
    const context = contextOf(this.canvas);
    if (this.canvas.width !== Math.round(this.width * dpr) || this.canvas.height !== Math.round(HEIGHT * dpr)) {
      [this.canvas.width, this.canvas.height] = [Math.round(this.width * dpr), Math.round(HEIGHT * dpr)];
    }
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.clearRect(0, 0, this.width, HEIGHT);
    const current = phaseIndex(this.scene, Math.max(currentStep(this.t), 0));
    this.scene.phases.forEach((phase, i) => this.paintPhase(context, phase, i === current));
    this.paintLabels(context, current);
    this.paintStrokes(context);
    this.paintMarks(context);
    this.paintHead(context);
  }

  colourOf(phase) {
    const { tokens } = this;
    return phase.kind === "forward" ? tokens.forward : phase.kind === "backward" ? tokens.gradient : tokens.saved;
  }

  /** Pale what is to come, full what has been; the rest of the current phase in between. */
  paintPhase(context, phase, current) {
    const [x0, x1] = [this.x(phase.start), Math.max(this.x(phase.end) - GAP, this.x(phase.start) + 2)];
    const past = Math.min(Math.max(this.x(this.t), x0), x1);
    context.save();
    context.beginPath();
    context.roundRect(x0, TOP, x1 - x0, BAR, 4);
    context.clip();
    const failing = phase.failed ? Math.max(this.x(phase.end - 1) - GAP / 2, x0) : x1; // an error ends a phase: only its last step failed
    const part = (from, to, colour) => {
      context.fillStyle = colour;
      context.globalAlpha = current ? 0.4 : 0.22;
      context.fillRect(from, TOP, to - from, BAR);
      context.globalAlpha = current ? 0.95 : 0.5;
      context.fillRect(from, TOP, Math.max(Math.min(past, to) - from, 0), BAR);
    };
    part(x0, failing, this.colourOf(phase));
    part(failing, x1, this.tokens.error);
    context.restore();
  }

  /** The calls as written, each over its own segments and as short as these ask; the current one is bold, and is there where it has no room too. */
  paintLabels(context, current) {
    const { plain, strong } = fonts(this.tokens);
    const write = writer(context);
    const { phases, steps } = this.scene;
    const [x, wide] = [(t) => this.x(t), (text) => this.ruler.widthOf(strong, text)];
    const labels = phaseLabels(phases, x, wide);
    for (const label of withLabelOf(labels, phases, current, { x, wide, end: this.x(steps.length) })) {
      const now = isNamed(label, phases, current);
      write(label.text, label.from, 19, now ? strong : plain, now ? this.tokens.ink : this.tokens.soft);
    }
  }

  paintStrokes(context) {
    const count = this.scene.steps.length;
    const stride = strokeStride(count, this.width - 2 * EDGE);
    context.strokeStyle = this.tokens.panel;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let k = stride; k < count; k += stride) {
      const x = Math.round(this.x(k) - GAP / 2) + 0.25;
      context.moveTo(x, TOP);
      context.lineTo(x, TOP + BAR);
    }
    context.stroke();
  }

  paintMarks(context) {
    const { tokens } = this;
    const colours = { error: tokens.error, edit: tokens.changed, warning: tokens.warning };
    const { plain, strong } = fonts(tokens);
    let last = -20;
    for (const mark of this.scene.marks) {
      const x = (this.x(mark.step) + this.x(mark.step + 1) - GAP) / 2;
      if (mark.kind !== "error" && x - last < 9) continue;
      last = x;
      const colour = colours[mark.kind] ?? tokens.soft;
      context.beginPath();
      context.moveTo(x, TOP + BAR + 2);
      context.lineTo(x + 4, TOP + BAR + 7);
      context.lineTo(x - 4, TOP + BAR + 7);
      context.fillStyle = colour;
      context.fill();
      const sign = mark.kind === "none" ? NONE.find((one) => this.ruler.widthOf(plain, one) <= this.x(1) - this.x(0)) ?? NONE.at(-1) : GLYPHS[mark.kind] ?? "";
      writer(context)(sign, x, TOP + BAR + 14, QUIET.has(mark.kind) ? plain : strong, colour, "center");
    }
  }

  paintHead(context) {
    const { tokens } = this;
    const x = this.x(this.t) - (this.t > 0 && this.t === Math.floor(this.t) ? GAP / 2 : 0);
    context.strokeStyle = tokens.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x, TOP - 5);
    context.lineTo(x, TOP + BAR + 5);
    context.stroke();
    context.beginPath();
    context.arc(x, TOP + BAR / 2, 7, 0, 2 * Math.PI);
    context.fillStyle = tokens.panel;
    context.fill();
    context.stroke();
  }
}
