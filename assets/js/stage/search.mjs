// The field over the stage that finds elements: typing lists them, the arrow keys highlight them and bring them into view, Enter selects.

import { entries, examples, placeOf, search, words } from "../scene/find.mjs";
import { keepFocus } from "./footer.mjs";
import { announce } from "./screen_reader.mjs";
import { h } from "../page/dom.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */
/** @import { Entry } from "../scene/find.mjs" */
/** @import { Camera } from "../geometry/camera.mjs" */
/** @import { Stage } from "./stage.mjs" */

const [ROW, BARS] = [44, 184]; // px: of a row, and what the rest of the stage needs over, in and under the list
const [LEAST, MOST] = [2, 12]; // rows

export class Search {
  /**
   * @param {Stage} stage
   * @param {{ choose: (entry: Entry) => void, onMove: () => void }} acts `choose` selects what was found; `onMove` is called when the camera follows the arrows
   */
  constructor(stage, acts) {
    this.stage = stage;
    this.acts = acts;
    /** @type {Scene} none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    /** @type {Entry[] | null} all that can be found; null until one asks */
    this.all = null;
    /** @type {Entry[]} the list */
    this.hits = [];
    this.at = -1;
    /** @type {{ focus: HTMLElement | null, camera: { camera: Camera, fitted: boolean } | null }} what closing leads back to */
    this.back = { focus: null, camera: null };
    this.input = h("input.bs-find-field", { type: "text", role: "combobox", "aria-label": "Search in the graph", "aria-expanded": "false", "aria-autocomplete": "list",
      "aria-controls": "bs-found", autocomplete: "off", spellcheck: "false", placeholder: "Name, op, shape, dtype \u2026", oninput: () => this.type() });
    this.list = h("ul.bs-found", { id: "bs-found", role: "listbox", "aria-label": "Found in the graph" });
    this.note = h("div.bs-find-note");
    this.element = h("search.bs-find", { hidden: true }, this.input, this.list, this.note);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusout", (event) => this.onLeave(event.relatedTarget));
    this.element.addEventListener("mousedown", (event) => event.target !== this.input && keepFocus(event));
    this.element.addEventListener("wheel", (event) => event.stopPropagation(), { passive: true });
    stage.layer.append(this.element);
  }

  get open() {
    return !this.element.hidden;
  }

  /** A scene: of another program what was typed for the one before is gone. */
  load(scene) {
    if (this.scene?.program.id !== scene.program.id) this.input.value = "";
    this.scene = scene;
    this.all = null;
    if (this.open) this.type();
  }

  toggle(on = !this.open) {
    if (!on) return this.close(true);
    if (!this.scene) return false;
    if (!this.open) this.back = { focus: /** @type {HTMLElement | null} */ (document.activeElement), camera: null };
    this.element.hidden = false;
    this.input.focus({ preventScroll: true });
    this.input.select();
    this.type();
    return true;
  }

  /** `undo`: the focus and the camera are again as they were. */
  close(undo) {
    if (!this.open) return false;
    const { focus, camera } = this.back;
    this.element.hidden = true;
    this.stage.light(null);
    if (!undo) return true;
    if (camera) this.stage.glideTo(camera.camera, camera.fitted);
    (focus?.isConnected && focus !== document.body ? focus : this.stage.host).focus({ preventScroll: true });
    return true;
  }

  /** The focus went elsewhere on the page. */
  onLeave(to) {
    if (this.open && document.hasFocus() && !this.element.contains(to)) this.close(false);
  }

  type() {
    const all = this.all ??= entries(this.scene);
    const room = Math.min(Math.max(Math.floor((this.stage.view.height - BARS) / ROW), LEAST), MOST);
    const { hits, total } = search(all, this.input.value, room);
    this.hits = hits;
    this.list.replaceChildren(...hits.map((one, i) => option(one, i, { point: () => this.point(i), choose: () => this.choose(i) })));
    this.list.hidden = hits.length === 0;
    this.input.setAttribute("aria-expanded", String(hits.length > 0));
    const count = total > hits.length ? `${hits.length} of ${total} found` : `${total} found`;
    const typed = words(this.input.value).length > 0;
    this.note.replaceChildren(...(total ? [h("p", {}, `${count} \u00b7 `, h("kbd", {}, "\u2191"), " ", h("kbd", {}, "\u2193"), " look, ", h("kbd", {}, "Enter"), " selects")] : this.hints(all, typed)));
    this.point(hits.length ? 0 : -1);
    if (typed) announce(total ? count : "Nothing found");
  }

  /** What one can type here, in the words of this program. */
  hints(all, typed) {
    const { left_out: leftOut } = this.scene.program;
    const say = typed ? [h("p", {}, "Nothing in this program matches ", h("b", {}, this.input.value.trim()), ". Each word is searched in"), leftOut ? h("p", {}, leftOut) : null]
      : [h("p", {}, "Search by")];
    const rows = examples(all).map(([what, ...queries]) => [h("dt", {}, what),
      h("dd", {}, ...queries.map((query) => h("button", { type: "button", onclick: () => this.fill(query) }, query)))]);
    return [say[0], h("dl", {}, ...rows.flat()), say[1]].flatMap((one) => one ?? []);
  }

  fill(query) {
    this.input.value = query;
    this.input.focus({ preventScroll: true });
    this.type();
  }

  /** Marks one of the list and lights it on the stage, or the folded group that it is in. */
  point(at) {
    this.at = at;
    this.list.querySelectorAll("[role=option]").forEach((row, i) => row.setAttribute("aria-selected", String(i === at)));
    if (at < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `bs-found-${at}`);
    this.stage.light(at < 0 ? null : { id: this.place(at), gradient: false });
  }

  place(at) {
    return this.hits[at].unfold.at(-1) ?? this.hits[at].id;
  }

  /** The next one by the arrows: also brought into view, beside the list. */
  go(by) {
    const { length } = this.hits;
    if (!length) return;
    this.point((this.at + by + length) % length);
    this.back.camera ??= { camera: this.stage.camera, fitted: this.stage.fitted };
    this.acts.onMove();
    this.stage.reveal(this.place(this.at));
    this.stage.uncover(this.place(this.at), this.element.getBoundingClientRect().left);
  }

  choose(at = this.at) {
    const entry = this.hits[at];
    if (!entry) return;
    this.close(false);
    this.stage.host.focus({ preventScroll: true });
    this.acts.choose(entry);
  }

  /** Its keys are its own: neither Space nor the arrows reach the player. */
  key(event) {
    event.stopPropagation();
    if (event.key === "Escape") this.close(true);
    else if (event.target !== this.input) return;
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.go(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter" && !event.isComposing) this.choose();
    else return;
    event.preventDefault();
  }
}

function option(one, i, { point, choose }) {
  const { kind, role, label, sub, shape, dtype, unfold, wrong } = one;
  const where = placeOf(one);
  const first = kind === "op" ? sub : kind === "tensor" && role !== "inner" ? role : kind;
  const what = [first, kind === "group" ? sub.split(" \u00b7 ")[0] : dtype, where && `in ${where}${unfold.length ? ", folded" : ""}`].filter(Boolean).join(" \u00b7 ");
  return h("li", { id: `bs-found-${i}`, role: "option", "aria-selected": "false", onpointermove: point, onclick: choose }, h("i", { "data-kind": kind, "data-role": role }),
    h("b", {}, label), h("code", {}, shape), h("span", {}, wrong ? h("em", { "data-error": wrong.error }, `! ${wrong.text}`) : null, wrong ? " \u00b7 " : null, what));
}
