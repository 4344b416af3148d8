// Editing in the cells of a card: one small input over the cell.  Tab goes to the next cell, Enter runs, Escape forgets.

import { indexText, nest, num, parseNumber, toNumber } from "../scene/format.mjs";
import { h } from "../page/dom.mjs";
import { count } from "../page/value_text.mjs";
import { commandOfCall, isLeaf, rowState } from "../scene/state.mjs";

/** @import { Node, Num, Row } from "../scene/scene.d.ts" */
/** @import { Moment } from "../scene/state.mjs" */
/** @import { Stage } from "./stage.mjs" */
/** @typedef {{ kind: string, target: string, dtype: string, shape: number[], data: Num[] }} Subject what is edited: the gradient that a command passes, or a leaf */

/**
 * What of a row can be edited at this moment, or null.
 * @type {(moment: Moment, node: Node, row: Row) => Subject | null}
 */
export function editableSubject(moment, node, row) {
  const { value, call } = rowState(moment, row);
  if (!value?.data || !row.cols) return null;
  if (row.key === "seed") {
    const command = commandOfCall(moment.scene, call);
    return command && { kind: "gradient", target: command.id, dtype: value.dtype, shape: value.shape, data: value.data.slice() };
  }
  if (row.key !== "value" || !isLeaf(node)) return null;
  const tensor = /^t(\d+)(?:@|$)/.exec(node.twin ?? node.id);
  return tensor && { kind: "leaf", target: tensor[1], dtype: value.dtype, shape: value.shape, data: value.data.slice() };
}

/**
 * The gradient of a call that passes none where 1 cannot be filled in, as `editableSubject` has one that is passed; else null.
 * @type {(moment: Moment, node: Node, row: Row) => Subject | null}
 */
export function unpassedSubject(moment, node, row) {
  const { derived, call } = rowState(moment, row);
  const command = derived?.kind === "missing" && row.cols ? commandOfCall(moment.scene, call) : null;
  const { dtype, shape } = node;
  return command && dtype !== null && shape ? { kind: "gradient", target: command.id, dtype, shape, data: Array(count(shape)).fill(0) } : null;
}

/** The edit as it goes to the shell: { command, gradient } or { leaf, values }, nested lists in the tensor's shape. */
export function editOf({ kind, target, shape }, data) {
  return kind === "gradient" ? { command: target, gradient: nest(data, shape) } : { leaf: target, values: nest(data, shape) };
}

export class CellEditor {
  /**
   * @param {Stage} stage
   * @param {(edit: any) => void} commit sends the edit
   */
  constructor(stage, commit) {
    this.stage = stage;
    this.commit = commit;
    this.input = h("input.bs-cell-input", {
      type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-describedby": "bs-cell-message",
    });
    this.message = h("div.bs-cell-message", { id: "bs-cell-message", role: "alert" });
    this.element = h("div.bs-cell-editor", { hidden: true }, this.input, this.message);
    stage.layer.append(this.element);
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("input", () => this.say(""));
    this.input.addEventListener("blur", () => this.leave());
    /** @type {{ node: Node, row: Row, subject: Subject, cell: number, draft: Num[], before: Num[] } | null} what is edited now */
    this.open = null;
  }

  start(node, row, cell) {
    const { moment } = this.stage;
    const subject = moment && editableSubject(moment, node, row);
    if (!subject) return false;
    this.open = { node, row, subject, cell, draft: subject.data.slice(), before: subject.data };
    this.element.hidden = false;
    if (this.stage.tip) this.stage.tip.hidden = true;
    this.stage.editing = true;
    this.show(cell);
    return true;
  }

  show(cell) {
    if (!this.open) return;
    const { node, row, draft, subject } = this.open;
    this.open.cell = cell;
    this.input.value = num(draft[cell], 9).replace("\u2212", "-");
    this.input.setAttribute("aria-label", `${row.key === "seed" ? "gradient for " : ""}${node.label}${indexText(cell, subject.shape)}`);
    this.say("");
    this.place();
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  /** Follows its cell when the camera moves. */
  place() {
    if (!this.open) return;
    const spot = this.stage.screenPos(this.open.node.id, this.open.row.key, this.open.cell);
    if (!spot) return;
    const [x, y] = this.stage.localPoint(spot.x, spot.y);
    const [width, height] = [Math.max(spot.width / this.stage.large, 64), spot.height / this.stage.large];
    const [left, top] = [x - width / 2, y - height / 2];
    const size = Math.max(13, Math.min(14 * this.stage.camera.zoom, 24));
    Object.assign(this.element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px` });
    Object.assign(this.input.style, { height: `${height}px`, fontSize: `${size}px` });
    this.element.classList.toggle("bs-at-right", left + 180 > this.stage.view.width);
  }

  say(text) {
    this.message.textContent = text;
    this.input.setAttribute("aria-invalid", text ? "true" : "false");
  }

  key(event) {
    event.stopPropagation();
    if (!this.open) return;
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter") this.keepDraft() && this.finish();
    else if (event.key === "Tab") {
      if (this.keepDraft()) this.show((this.open.cell + (event.shiftKey ? -1 : 1) + this.open.draft.length) % this.open.draft.length);
    } else return;
    event.preventDefault();
  }

  /** Takes what is typed into the draft; false, and a message, where it is not a number. */
  keepDraft() {
    if (!this.open) return false;
    const parsed = parseNumber(this.input.value, this.open.subject.dtype);
    if (parsed.error !== undefined) {
      this.say(parsed.error);
      return false;
    }
    const { draft, cell, node, row, before } = this.open;
    const text = num(draft[cell], 9).replace("\u2212", "-");
    if (this.input.value.trim() !== text) draft[cell] = parsed.value; // a value shown rounded is not replaced by its rounding
    const key = `${node.id}|${row.key}|${cell}`;
    if (toNumber(draft[cell]) !== toNumber(before[cell])) this.stage.pending.set(key, draft[cell]);
    else this.stage.pending.delete(key);
    this.stage.touch("graph");
    return true;
  }

  finish() {
    if (!this.open) return;
    const { subject, draft, before } = this.open;
    const changed = draft.some((value, i) => !Object.is(toNumber(value), toNumber(before[i])));
    this.open = null;
    this.hide();
    if (changed) this.commit(editOf(subject, draft));
  }

  /** Focus went elsewhere: a good number is kept (as Enter would), a bad one stays to be mended. */
  leave() {
    if (!this.open || !document.hasFocus()) return;
    if (this.keepDraft()) this.finish();
  }

  close() {
    if (!this.open) return;
    this.stage.pending.clear();
    this.open = null;
    this.hide();
    this.stage.touch("graph");
  }

  hide() {
    this.element.hidden = true;
    this.stage.editing = false;
    this.stage.host.focus({ preventScroll: true });
  }
}
