// The numbers of the seed gradient on a picture, as spin buttons over their cells: dragged up and down, or changed by the arrow keys.
import { callAt } from "./film.mjs";
import { h } from "../page/dom.mjs";
import { toScreen } from "../geometry/camera.mjs";
import { cellOf, rowsOf } from "../scene/card.mjs";
import { num, toNumber } from "../scene/format.mjs";
import { placeAt, rowState } from "../scene/state.mjs";
import { editableSubject, editOf } from "../stage/editor.mjs";

const PIXELS = 14; // dragged for one step
const STEP = 0.5;
const MOST = 9;
const KEYS = { ArrowUp: STEP, ArrowDown: -STEP, PageUp: 1, PageDown: -1 };

export class Seed {
  /** @param {{ grab: () => void, onChange: (edit: any) => void, onLeave: () => void, onPaint: () => void }} acts `grab` when a number is taken, `onLeave` when it is let go after a change */
  constructor(acts) {
    this.acts = acts;
    this.element = h("div.hero-cells");
    /** @type {Map<string, any>} what has been typed and not been replayed, for the painter */
    this.pending = new Map();
    /** @type {any} the row that can be changed now: { subject, node, row, frame } */
    this.now = null;
    /** @type {number[] | null} the numbers as they are being changed */
    this.draft = null;
    /** @type {{ cell: number, y: number, from: number, moved: boolean } | null} */
    this.drag = null;
  }

  /** Puts the buttons over the cells of the call that runs. */
  place(frame, view) {
    this.now = rowAt(frame.moment) ?? (this.drag && this.now);
    const { now } = this;
    const count = now?.subject.data.length ?? 0;
    while (this.element.children.length < count) this.element.append(this.button(this.element.children.length));
    [...this.element.children].forEach((button, cell) => {
      const box = button instanceof HTMLElement ? button : null;
      if (!box) return;
      box.hidden = cell >= count;
      if (box.hidden) return;
      const at = placeAt(frame.moment, now.node, rowsOf(now.node).find((one) => one.row === now.row) ?? rowsOf(now.node)[0]);
      const rect = cellOf(at, cell);
      const [x, y] = toScreen(frame.camera, view, rect.x, rect.y);
      Object.assign(box.style, { left: `${x}px`, top: `${y}px`, width: `${rect.w * frame.camera.zoom}px`, height: `${rect.h * frame.camera.zoom}px` });
      box.setAttribute("aria-valuenow", String(this.value(cell)));
      box.setAttribute("aria-valuetext", num(this.value(cell)));
      box.setAttribute("aria-label", count > 1 ? `Gradient of ${now.node.label}, element ${cell + 1} of ${count}` : `Gradient of ${now.node.label}`);
    });
  }

  button(cell) {
    const button = h("div.hero-cell", { role: "spinbutton", tabindex: "0", "aria-valuemin": -MOST, "aria-valuemax": MOST, title: "Drag up or down, or use the arrow keys" });
    button.addEventListener("pointerdown", (event) => this.take(event, cell));
    button.addEventListener("pointermove", (event) => this.pull(event));
    button.addEventListener("pointerup", () => this.release());
    button.addEventListener("pointercancel", () => this.release());
    button.addEventListener("focus", () => this.acts.grab());
    button.addEventListener("keydown", (event) => this.key(event, cell));
    return button;
  }

  /** Whether a number is being changed. */
  get isHeld() {
    return this.drag !== null || this.draft !== null;
  }

  value(cell) {
    return this.draft?.[cell] ?? numberOf(this.now.subject.data[cell]);
  }

  take(event, cell) {
    if (event.button) return;
    this.acts.grab();
    event.currentTarget.setPointerCapture(event.pointerId);
    this.drag = { cell, y: event.clientY, from: this.value(cell), moved: false };
  }

  pull(event) {
    if (!this.drag) return;
    const steps = Math.round((this.drag.y - event.clientY) / PIXELS);
    if (steps) this.drag.moved = true;
    if (this.drag.moved) this.set(this.drag.cell, this.drag.from + steps * STEP);
  }

  release() {
    const { drag } = this;
    this.drag = null;
    if (drag?.moved) this.acts.onLeave();
  }

  key(event, cell) {
    const by = KEYS[event.key];
    const digit = /^\d$/.test(event.key) ? Number(event.key) : null;
    if (by === undefined && digit === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.set(cell, digit ?? this.value(cell) + by);
  }

  set(cell, number) {
    const { subject, node, row } = this.now;
    const value = Math.max(-MOST, Math.min(MOST, number));
    if (value === this.value(cell)) return;
    const draft = this.draft ?? subject.data.map(numberOf);
    draft[cell] = value;
    this.draft = draft;
    this.pending.set(`${node.id}|${row.key}|${cell}`, value);
    this.acts.onPaint();
    this.acts.onChange(editOf(subject, draft.slice()));
  }

  /** What was changed has come back as a replay, or was refused. */
  onSettle() {
    this.draft = null;
    this.pending.clear();
  }
}

/** @type {(one: any) => number} */
const numberOf = (one) => toNumber(one) ?? 0;

/** The row of the gradient that a call receives, if it can be changed: of the call that runs, or of the one that ran last. */
function rowAt(moment) {
  const call = callAt(moment.scene, moment.t)?.call;
  if (call === undefined) return null;
  for (const node of moment.scene.nodes) {
    const row = node.rows?.find(({ key }) => key === "seed");
    if (!row || rowState(moment, row).call !== call) continue;
    const subject = editableSubject(moment, node, row);
    if (subject) return { subject, node, row };
  }
  return null;
}
