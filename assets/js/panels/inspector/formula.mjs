// The formula: as text at once; as TeX, set by MathJax, once the time rests. Set formulas are cached and shown again
// without waiting, so that stepping through a program does not set its formulas twice.
import { byId, fill, h, mount, setProps } from "../../page/dom.mjs";
import { list, markDrawn, withTerms, termsOf, wire } from "./terms.mjs";
import { legibleTex } from "./tex.mjs";
import { wrapFormula } from "../../page/wrap.mjs";

const REST = 160; // ms after which a formula is worth typesetting
const MOST_KEPT = 400;
const HIGH = 0.442; // em; the height of an x in MathJax's font, which it makes as high as one in the text around it
const SURE = 0.98; // widths are estimated before MathJax sets anything
const STEP = 1; // em; a panel that is dragged sets a formula anew only where this much room has come or gone

export class Formula {
  /** @param {any} player `window.backstep` */
  constructor(player) {
    this.player = player;
    /** @type {Map<string, HTMLElement>} what MathJax made, by its TeX */
    this.copies = new Map();
    this.tex = ""; // what is to be seen
    this.setting = ""; // what MathJax was given
    this.timer = 0;
    /** @type {Record<string, any>} what the names in the formula stand for */
    this.terms = {};
    this.key = "";
    /** @type {Parameters<Formula["show"]>} what was to be shown, for a panel of another width */
    this.last = [null, null, null];
    this.room = 16; // em
    /** @type {HTMLElement | null} as wide as a hundred x are high */
    this.ruler = null;
    player.on("play", (on) => { if (!on && this.tex && !this.copies.has(this.tex)) this.setLater(); });
    const light = (key) => player.light(this.terms[key]?.id ? this.terms[key] : null);
    wire(byId("inspect-formula-now"), light);
    wire(byId("inspect-terms"), light);
    new MutationObserver(() => this.keep()).observe(byId("inspect-formula"), { childList: true, subtree: true });
    new ResizeObserver(() => { if (this.last[0]?.length && ![0, this.room].includes(this.roomNow())) this.show(...this.last); }).observe(/** @type {HTMLElement} */ (byId("inspect-formula-now").parentElement));
  }

  /** How many em of a formula the panel has room for, in whole steps. */
  roomNow() {
    const place = /** @type {HTMLElement} */ (byId("inspect-formula-now").parentElement);
    this.ruler ??= place.appendChild(h("span.formula-ruler", { "aria-hidden": "true" }));
    const em = this.ruler.getBoundingClientRect().width / 100 / HIGH;
    return em > 0 ? STEP * Math.floor((SURE * place.clientWidth) / em / STEP) : 0;
  }

  /**
   * Shows the formulas of an op of a scene; none: hides their place.
   * @param {import("../../scene/scene.d.ts").Formula[] | null | undefined} lines
   * @param {import("../../scene/scene.d.ts").Scene | null} [scene]
   * @param {string | null} [op]
   */
  show(lines, scene = null, op = null) {
    this.last = [lines, scene, op];
    if (lines?.length) this.room = this.roomNow() || this.room;
    const tex = (lines || []).map((line) => `$$${wrapFormula(legibleTex(line.tex), this.room)}$$`).join("\n\n");
    const key = `${tex}|${op}|${scene?.revision.id}`;
    if (key === this.key) return;
    this.key = key;
    this.tex = tex;
    this.terms = scene && op && lines?.length ? termsOf(scene, op, lines) : {};
    fill(byId("inspect-terms"), list(this.terms, (id) => this.player.select(id)));
    clearTimeout(this.timer);
    const place = byId("inspect-formula-now");
    place.hidden = !tex;
    if (!tex || !lines) return;
    place.setAttribute("aria-label", lines.map((line) => line.text).join("; "));
    if (this.copies.has(tex)) { this.put(place, this.copies.get(tex)); return; }
    fill(place, lines.map((line) => h("p.formula-text", {}, withTerms(line.text, this.terms))));
    if (!this.player.playing()) this.setLater();
  }

  setLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.setting = this.tex;
      if (mount("inspect-formula")) requestAnimationFrame(() => setProps("formula-tex", { children: this.setting }));
      else setProps("formula-tex", { children: this.setting });
    }, REST);
  }

  /** MathJax has written into its hidden place: keep it, and show it where it is still wanted. */
  keep() {
    const from = byId("formula-tex");
    const lines = this.setting.split("\n\n");
    const done = from ? [...from.querySelectorAll("mjx-container")] : [];
    if (!this.setting || this.copies.has(this.setting) || done.length !== lines.length || !done.every((one) => one.querySelector("svg, mjx-math"))) return;
    const copy = h("div.tex", {}, done.map((one) => one.cloneNode(true)));
    this.copies.set(this.setting, copy);
    if (this.copies.size > MOST_KEPT) this.copies.delete(this.copies.keys().next().value ?? "");
    if (this.tex === this.setting) this.put(byId("inspect-formula-now"), copy);
  }

  put(place, formula) {
    fill(place, formula.cloneNode(true));
    markDrawn(place, this.terms);
  }
}

/** The formulas of what a backward call asked for; before any call, of all. */
export const formulasOf = (lines, call) => lines?.filter((line) => !line.calls || call === null || call === undefined || line.calls.includes(call));
