// The timeline. A small program has a lane: a segment per phase with the call as written, a stroke per step, marks, the playhead. A large
// one has a flame chart that can be zoomed: an overview, rows of phases, modules and ops.

import { contextOf, h, prepareContext, wheelPixels } from "../page/dom.mjs";
import { coloursOf, edgesOf, OVERVIEW, overviewPlace, paintFlame, placeOf, sheetOf } from "../paint/flame.mjs";
import { fonts, Ruler, writer } from "../geometry/text.mjs";
import { withMinus } from "../scene/format.mjs";
import { chartOf, followStep, isWhole, shiftView, spanAt, viewOf, zoomView } from "../scene/flame.mjs";
import { inOneLine } from "../scene/lines.mjs";
import { isClosed, levelOf, sentence, stopAt } from "../scene/levels.mjs";
import { currentStep, isNamed, isPlain, phaseIndex, phaseLabels, spokenText, strokeStride, withLabelOf } from "../scene/timeline.mjs";

/** @import { Chart, View } from "../scene/flame.mjs" */
/** @import { Level } from "../scene/levels.mjs" */
/** @import { Sheet } from "../paint/flame.mjs" */
/** @import { Scene, Span } from "../scene/scene.d.ts" */
/** @typedef {"scrub" | "pan" | "brush" | "range" | "pinch" | "press"} Drag `press`: it is not yet known which; `range`: one marks what is to be seen */

const EDGE = 12; // room at both ends, so that the playhead is never cut
const TOP = 32; // labels are above, the bar from here on
const BAR = 16;
const HEIGHT = 68;
const BESIDE = 490; // px of the buttons beside a lane
const LOW = 820; // px: on a lower window fewer rows of modules are shown
const [CLOSER, WHEEL, PINCH] = [1.5, 0.0018, 0.012]; // zoom by a key, and per px of a wheel and of a pinch on a touchpad
const NEAR = 9; // px around the playhead in which it is taken hold of
const APART = 9; // px from a mark to the next
const MOVED = 4; // px from which on a press is a drag
const GAP = 4;
const QUIET = new Set(["zero", "none", "set"]); // the program's own writes: their text is beside the segment
const NONE = ["None", "\u2205"]; // a cleared gradient is None, not 0; the sign is for little room
const SPACE = 10; // between two of these words
const GLYPHS = { zero: "0", set: "=", error: "!", edit: "\u270e", warning: "!" };

export class Lane {
  /** @param {{ seek: (t: number) => void, scrubbing: (on: boolean) => void, into?: () => boolean, out?: () => boolean }} acts `seek` while one drags, `scrubbing` at its begin and end; into and out of a step */
  constructor({ seek, scrubbing, into = () => false, out = () => false }) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.tip = h("div.bs-lane-tip", { hidden: true });
    this.element = h("div.bs-lane", { role: "slider", tabindex: "0", "aria-label": "Time", "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0" }, this.canvas, this.tip);
    this.ruler = new Ruler(contextOf(this.canvas));
    this.seek = seek;
    this.scrubbing = scrubbing;
    this.acts = { into, out };
    /** @type {Scene} none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    /** @type {Level} */
    this.level = this.coarse = /** @type {any} */ (null);
    /** @type {Chart | null} none for a small program */
    this.chart = null;
    /** @type {Sheet} of the chart, where there is one */
    this.sheet = /** @type {any} */ (null);
    /** @type {View} in places of the chart */
    this.view = { from: 0, to: 0 };
    /** @type {string[]} of what kind the phase of each step is */
    this.kinds = [];
    /** @type {HTMLCanvasElement} the chart without what moves */
    this.still = document.createElement("canvas");
    this.painted = ""; // of what `still` is a picture
    /** @type {Record<string, any>} of the theme */
    this.tokens = {};
    /** @type {import("../paint/flame.mjs").Colours} of the chart; none before the theme is known */
    this.colours = /** @type {any} */ (null);
    this.t = 0;
    this.width = 0;
    this.height = HEIGHT;
    /** @type {Drag | null} */
    this.drag = null;
    this.begin = { x: 0, y: 0, view: this.view, t: 0 };
    /** @type {import("../scene/scene.d.ts").Print[]} those whose signs are painted */
    this.signed = [];
    /** @type {Map<number, PointerEvent>} fingers on the chart */
    this.fingers = new Map();
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerup", (event) => this.release(event));
    this.element.addEventListener("pointercancel", (event) => this.release(event));
    this.element.addEventListener("pointerleave", () => this.hideTip());
    this.element.addEventListener("dblclick", (event) => this.zoomTo(this.spanUnder(event)?.span ?? null));
    this.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  resize() {
    this.width = this.element.clientWidth;
    this.arrange();
    this.paint();
  }

  /** Lane or chart, and how high. */
  arrange() {
    if (!this.scene) return;
    const before = this.chart?.axis.total ?? null;
    this.chart = this.width < 40 ? null : chartOf(this.scene, this.room, (span) => !isClosed(this.coarse, span), window.innerHeight < LOW ? 2 : undefined);
    if (this.chart) {
      this.sheet = sheetOf(this.chart, this.width);
      this.kinds = this.scene.steps.map(({ kind }) => kind);
      for (const { start, end, kind } of this.chart.rows[0].spans) for (let k = start; k < end; k++) if (this.kinds[k] !== "error") this.kinds[k] = kind;
    }
    this.painted = "";
    if (this.chart && this.chart.axis.total !== before) this.view = { from: 0, to: this.total };
    this.height = this.chart ? this.sheet.height : HEIGHT;
    this.element.style.height = this.canvas.style.height = `${this.height}px`;
    this.element.classList.toggle("chart", this.chart !== null);
  }

  /** The width beside the buttons, where a lane stands: a chart has more, but whether it is one does not depend on that. */
  get room() {
    return Math.max((this.element.closest(".bs-timeline")?.clientWidth ?? this.width) - BESIDE, 40);
  }

  /** Those that stand on a chart, which shows what the program itself does as spans. */
  get marks() {
    return this.scene.marks.filter((mark) => !QUIET.has(mark.kind));
  }

  get prints() {
    return this.scene.prints ?? [];
  }

  get count() {
    return this.scene.steps.length;
  }

  /** How long the chart is, which is less than its steps while updates are closed. */
  get total() {
    return this.chart ? this.chart.axis.total : this.count;
  }

  /** Another level: what one step is has changed, and so may the length of updates; not where single ops are taken for a moment. */
  relevel(level) {
    this.level = level;
    if (!level.spans.size) return;
    this.coarse = level;
    this.arrange();
  }

  theme(tokens) {
    this.tokens = tokens;
    this.colours = coloursOf(tokens);
    this.paint();
  }

  load(scene, level = levelOf(scene)) {
    const same = this.scene?.program.id === scene.program.id && this.scene.steps.length === scene.steps.length;
    this.scene = scene;
    this.level = this.coarse = level;
    if (!same) this.chart = null;
    this.arrange();
    this.element.setAttribute("aria-valuemax", String(scene.steps.length));
  }

  show(t) {
    this.t = t;
    const { lead, text } = sentence(this.level, t);
    this.element.setAttribute("aria-valuenow", String(Math.ceil(t)));
    this.element.setAttribute("aria-valuetext", `${lead} ${text}`);
    const stop = stopAt(this.level, t);
    if (this.chart && stop && !this.drag && !isWhole(this.view, this.total)) this.view = followStep(this.view, this.total, ...this.placesOf(stop));
    this.paint();
  }

  /** Where some steps begin and end on the chart. @type {(steps: { start: number, end: number }) => [number, number]} */
  placesOf({ start, end }) {
    const { axis } = /** @type {Chart} */ (this.chart);
    return [axis.place(start), axis.place(end)];
  }

  x(t) {
    return this.chart ? placeOf({ chart: this.chart, sheet: this.sheet, view: this.view }, t) : EDGE + (t / Math.max(this.count, 1)) * (this.width - 2 * EDGE);
  }

  /** Where the pointer is on the lane. @type {(event: { clientX: number, clientY: number }) => { x: number, y: number }} */
  spot(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  timeAt(event) {
    const { x } = this.spot(event);
    const { left, right } = this.chart ? this.sheet : { left: EDGE, right: this.width - EDGE };
    const { from, to } = this.chart ? this.view : { from: 0, to: this.count };
    const place = from + ((x - left) / (right - left)) * (to - from);
    return Math.min(Math.max(this.chart ? this.chart.axis.time(place) : place, 0), this.count);
  }

  /** The row of the chart under the pointer, and the span in it. @returns {{ row: number, span: Span | null } | null} */
  spanUnder(event) {
    if (!this.chart) return null;
    const { y } = this.spot(event);
    const row = this.sheet.bands.findIndex((band) => y >= band.y - 1 && y <= band.y + band.h + 1);
    const spans = this.sheet.bands[row]?.row;
    return row < 0 ? null : { row, span: spans ? spanAt(spans, this.timeAt(event)) : null };
  }

  /** While scrubbing, time is what is under the hand, so that pulses move with it; let go, it rests on a step. */
  press(event) {
    if (!this.scene || (event.button !== 0 && event.button !== 1)) return;
    this.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, event);
    const { x, y } = this.spot(event);
    if (this.chart && this.fingers.size === 2) { this.beginPinch(); return; }
    this.begin = { x, y, view: this.view, t: this.t };
    if (this.chart && this.fingers.size > 2) return;
    else if (this.chart && event.button === 1) this.drag = "pan";
    else if (this.chart && y < OVERVIEW + 2) this.takeBrush(x);
    else if (this.printAt(event)) this.drag = "press";
    else if (this.chart && (this.spanUnder(event)?.row ?? 0) > 0 && Math.abs(x - this.x(this.t)) > NEAR) this.drag = "press";
    else this.scrub(event);
  }

  scrub(event) {
    this.drag = "scrub";
    this.scrubbing(true);
    this.seek(this.scrubTime(event));
  }

  /** A second finger: what the first one did to time is taken back. */
  beginPinch() {
    const { drag } = this;
    this.drag = "pinch";
    if (drag !== "scrub") return;
    this.seek(this.begin.t);
    this.scrubbing(false);
  }

  /** The place of the chart at a point of its overview. */
  overviewAt(x) {
    const { left, right } = this.sheet;
    return ((x - left) / (right - left)) * this.total;
  }

  /** The piece of the overview that is seen is taken hold of; beside it, it comes to the pointer first.  Where that is all, a piece is marked. */
  takeBrush(x) {
    this.drag = isWhole(this.view, this.total) ? "range" : "brush";
    if (this.drag === "range") return;
    const { from, to } = this.view;
    const place = this.overviewAt(x);
    if (place < from || place > to) this.look(shiftView(this.view, this.total, place - (from + to) / 2));
    this.begin.view = this.view;
  }

  scrubTime(event) {
    const t = this.timeAt(event);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    return still || this.x(1) - this.x(0) < 14 || Math.abs(t - Math.round(t)) < 0.12 ? Math.round(t) : t;
  }

  point(event) {
    if (!this.scene) return;
    if (!this.drag) return this.showTip(event);
    this.hideTip(); // the sentence above says where one is
    const { x, y } = this.spot(event);
    const by = x - this.begin.x;
    if (this.drag !== "pinch" && this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, event);
    if (this.drag === "press" && Math.hypot(by, y - this.begin.y) > MOVED) {
      if (isWhole(this.view, this.total)) this.scrub(event);
      else this.drag = "pan";
    }
    const { from, to } = this.begin.view;
    if (this.drag === "scrub") this.seek(this.scrubTime(event));
    else if (this.drag === "pan") this.look(shiftView(this.begin.view, this.total, (-by * (to - from)) / (this.sheet.right - this.sheet.left)));
    else if (this.drag === "brush") this.look(shiftView(this.begin.view, this.total, (by * this.total) / (this.sheet.right - this.sheet.left)));
    else if (this.drag === "range" && Math.abs(by) > MOVED) this.look(viewOf(this.markedRange(x), this.total));
    else if (this.drag === "pinch") this.pinch(event);
  }

  /** What was marked on the overview, up to a point. */
  markedRange(x) {
    const [start, end] = [this.begin.x, x].map((one) => this.overviewAt(one)).sort((a, b) => a - b);
    return { start, end };
  }

  /** Two fingers: what is under each stays under it. */
  pinch(event) {
    const ends = () => [...this.fingers.values()].map((one) => this.spot(one).x).sort((a, b) => a - b);
    const [a, b] = ends();
    this.fingers.set(event.pointerId, event);
    const [c, d] = ends();
    const time = (x) => this.view.from + ((x - this.sheet.left) / (this.sheet.right - this.sheet.left)) * (this.view.to - this.view.from);
    const size = this.view.to - this.view.from;
    const middle = time((a + b) / 2);
    const closer = zoomView(this.view, this.total, middle, Math.max(d - c, 8) / Math.max(b - a, 8));
    this.look(shiftView(closer, this.total, (((a + b) - (c + d)) / 2 / (this.sheet.right - this.sheet.left)) * size));
  }

  release(event) {
    this.fingers.delete(event.pointerId);
    const { drag } = this;
    this.drag = null;
    if (drag === "pinch" && this.fingers.size) { this.goOnWithOne(); return; }
    if (drag === "press" || (drag === "range" && isWhole(this.view, this.total))) this.seek(this.timeOfClick(event));
    if (drag !== "scrub") return;
    this.seek(Math.round(this.timeAt(event)));
    this.scrubbing(false);
  }

  /** One of two fingers is left: it moves the chart. */
  goOnWithOne() {
    const [finger] = this.fingers.values();
    this.drag = this.fingers.size === 1 ? "pan" : "pinch";
    this.begin = { ...this.spot(finger), view: this.view, t: this.t };
  }

  /** A click on a module leads to its end, one on an op to that of the op. */
  timeOfClick(event) {
    const print = this.printAt(event);
    if (print) return print.step;
    const target = this.spanUnder(event);
    const t = this.timeAt(event);
    return target?.span ? target.span.end : target?.row === this.sheet.bands.length - 1 ? Math.min(Math.floor(t) + 1, this.count) : Math.round(t);
  }

  // -- zoom --------------------------------------------------------------------------------------------------------

  /** @param {View} view */
  look(view) {
    if (view.from === this.view.from && view.to === this.view.to) return false;
    this.view = view;
    this.paint();
    return true;
  }

  /** Zooms in on a span, or to all of time; false where that is what one sees, or nothing is to be zoomed. */
  zoomTo(span) {
    if (!this.chart) return false;
    if (!span) return this.look({ from: 0, to: this.total });
    const [start, end] = this.placesOf(span);
    return this.look(viewOf({ start, end }, this.total));
  }

  wheel(event) {
    if (!this.chart || !this.scene) return;
    event.preventDefault();
    this.hideTip();
    const by = wheelPixels(event);
    const along = Math.abs(by.x) > Math.abs(by.y) ? by.x : event.shiftKey ? by.y : 0;
    const { from, to } = this.view;
    const under = from + ((this.spot(event).x - this.sheet.left) / (this.sheet.right - this.sheet.left)) * (to - from);
    if (along) this.look(shiftView(this.view, this.total, (along * (to - from)) / this.width));
    else this.look(zoomView(this.view, this.total, under, Math.exp(-by.y * (event.ctrlKey ? PINCH : WHEEL))));
  }

  /** Keys while the timeline has the focus: + and - zoom around the playhead, 0 shows all, Enter goes into the step and Escape out of it. */
  key(event) {
    if (!this.chart || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = Math.min(Math.max(this.chart.axis.place(this.t), this.view.from), this.view.to);
    const zoomBy = (factor) => this.look(zoomView(this.view, this.total, place, factor));
    const keys = {
      "+": () => zoomBy(CLOSER), "=": () => zoomBy(CLOSER), "-": () => zoomBy(1 / CLOSER), _: () => zoomBy(1 / CLOSER), 0: () => this.zoomTo(null),
      Enter: () => this.acts.into(), Escape: () => this.acts.out(),
    };
    if (!keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
  }

  showTip(event) {
    const k = Math.min(Math.floor(this.timeAt(event)), this.count - 1);
    if (k < 0) return;
    const span = this.spanUnder(event)?.span;
    const print = this.printAt(event);
    this.tip.textContent = print ? `Printed: ${inOneLine(print)}` : span ? `${span.label}: ${withMinus(span.say)}` : this.tipOf(k);
    this.tip.hidden = false;
    const { x } = this.spot(event);
    this.tip.style.left = `${Math.min(Math.max(x - this.tip.offsetWidth / 2, 0), this.width - this.tip.offsetWidth)}px`;
  }

  tipOf(k) {
    const mark = this.scene.marks.find((one) => one.step === k && !QUIET.has(one.kind));
    const phase = this.scene.phases[phaseIndex(this.scene, k)];
    const call = phase && !isPlain(phase) && !mark ? `  (${phase.label})` : ""; // above its segment it may have had no room
    return `${k + 1}. ${spokenText(this.scene.steps[k])}${mark ? `  (${mark.label})` : call}`;
  }

  hideTip() {
    this.tip.hidden = true;
  }

  paint() {
    if (!this.scene || this.width < 40) return;
    const dpr = window.devicePixelRatio || 1;
    const context = prepareContext(this.canvas, this.width, this.height, dpr);
    if (this.chart) {
      this.paintChart(context, dpr);
      return;
    }
    const current = phaseIndex(this.scene, Math.max(currentStep(this.t), 0));
    this.scene.phases.forEach((phase, i) => this.paintPhase(context, phase, i === current));
    this.paintLabels(context, current);
    this.paintStrokes(context);
    this.paintMarks(context, this.scene.marks);
    this.paintHead(context);
  }

  /** What stays is painted once for each view; over it the step and the playhead. */
  paintChart(context, dpr) {
    const { view, tokens, colours, ruler, sheet, width, kinds } = this;
    const chart = /** @type {Chart} */ (this.chart);
    const frame = { ruler, tokens, colours, chart, sheet, view, kinds };
    const key = `${view.from} ${view.to} ${width} ${dpr} ${tokens.panel} ${tokens.gradient}`;
    if (key !== this.painted) {
      paintFlame({ ...frame, context: prepareContext(this.still, width, this.height, dpr) });
      this.painted = key;
    }
    context.drawImage(this.still, 0, 0, width, this.height);
    context.save();
    context.beginPath();
    context.rect(sheet.left - 6, 0, sheet.right - sheet.left + 12, this.height);
    context.clip();
    this.paintStop(context, frame);
    this.paintMarks(context, this.marks);
    const x = this.x(this.t);
    const last = sheet.bands[sheet.bands.length - 1];
    context.strokeStyle = tokens.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x, OVERVIEW + 6);
    context.lineTo(x, last.y + last.h + 2);
    context.moveTo(overviewPlace(frame, chart.axis.place(this.t)), 1);
    context.lineTo(overviewPlace(frame, chart.axis.place(this.t)), OVERVIEW - 1);
    context.stroke();
    context.beginPath();
    context.arc(x, OVERVIEW + 6, 5, 0, 2 * Math.PI);
    context.fillStyle = tokens.panel;
    context.fill();
    context.stroke();
    context.restore();
  }

  /** A line around the step that one looks at, and around the op where time stands. */
  paintStop(context, frame) {
    const stop = stopAt(this.level, this.t);
    if (!stop) return;
    const bands = this.sheet.bands.filter(({ row }) => (stop.span ? row?.spans.includes(stop.span) : row === null));
    context.strokeStyle = this.tokens.ink;
    context.lineWidth = 2;
    for (const { y, h: height } of bands) {
      const [x0, x1] = edgesOf(frame, stop);
      context.beginPath();
      context.roundRect(x0, y, Math.max(x1 - x0, 2), height, 4);
      context.stroke();
    }
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

  /** Where the marks stand: below the segments, or in the chart below the rows. */
  get markTop() {
    return this.chart ? this.sheet.marks - 2 : TOP + BAR;
  }

  /** The print whose sign is under the pointer. */
  printAt(event) {
    const { x, y } = this.spot(event);
    return y < this.markTop ? null : this.signed.find((print) => Math.abs(this.x(print.step) - x) < NEAR) ?? null;
  }

  /** The signs of prints, where there is room beside marks and each other: two lines of text. */
  paintPrints(context, positions) {
    const top = this.markTop;
    this.signed = [];
    context.strokeStyle = this.tokens.soft;
    context.lineWidth = 1.5;
    context.beginPath();
    let last = -20;
    for (const print of this.prints) {
      const x = Math.round(this.x(print.step));
      if (x - last < APART || positions.some((mark) => Math.abs(mark - x) < APART)) continue;
      last = x;
      this.signed.push(print);
      for (const [y, w] of [[4.5, 8], [8.5, 5]]) {
        context.moveTo(x - 4, top + y);
        context.lineTo(x - 4 + w, top + y);
      }
    }
    context.stroke();
  }

  paintMarks(context, marks) {
    const { tokens } = this;
    const top = this.markTop;
    const positions = [];
    const colours = { error: tokens.error, edit: tokens.changed, warning: tokens.warning };
    const { plain, strong } = fonts(tokens);
    let last = -20;
    for (const mark of marks) {
      const x = (this.x(mark.step) + this.x(mark.step + 1) - (this.chart ? 0 : GAP)) / 2;
      if (mark.kind !== "error" && x - last < APART) continue;
      last = x;
      positions.push(x);
      const colour = colours[mark.kind] ?? tokens.soft;
      context.beginPath();
      context.moveTo(x, top + 2);
      context.lineTo(x + 4, top + 7);
      context.lineTo(x - 4, top + 7);
      context.fillStyle = colour;
      context.fill();
      const sign = mark.kind === "none" ? NONE.find((one) => this.ruler.widthOf(plain, one) + SPACE <= this.x(1) - this.x(0)) ?? NONE.at(-1) : GLYPHS[mark.kind] ?? "";
      writer(context)(sign, x, top + 14, QUIET.has(mark.kind) ? plain : strong, colour, "center");
    }
    this.paintPrints(context, positions);
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
