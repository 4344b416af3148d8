// The current section of a long run, and the way to the others: ‹ step = 57, 58 of 100 ›.
import { byId, fill, h } from "../../page/dom.mjs";
import { countText } from "../run/sections.mjs";

export class Sections {
  /**
   * @param {import("../../page/session.mjs").Session} session
   * @param {(by: number, edge?: "start" | "end") => boolean} turn goes to another section; at its start, its end, or the same moment
   */
  constructor(session, turn) {
    this.session = session;
    this.turn = turn;
  }

  /** @param {import("../../scene/scene.d.ts").Scene} scene */
  load({ section }) {
    const place = byId("sections");
    place.hidden = !section;
    if (!section) { fill(place); return; }
    const { at, count, label, around, before, after } = section;
    const input = h("input", {
      type: "text", inputmode: "numeric", value: String(at + 1), size: String(count).length, "aria-label": `Section of the run, 1 to ${count}`, title: "Type a number, then Enter",
      onchange: () => this.go(input, count), onfocus: () => input.select(),
    });
    fill(place, this.turnButton(-1, before, "‹", "Previous"),
      h("span.section", {}, around.length ? h("span.around", {}, `${around.join(" · ")} · `) : null, h("b", {}, label)),
      h("span.count", { title: countText(section) }, input, h("span.of", {}, ` of ${count}`)), this.turnButton(1, after, "›", "Next"), this.compareButton());
  }

  /** Whether each number stands beside what it was in the section before. */
  compareButton() {
    const { neighbours } = this.session;
    const title = neighbours.beside ? neighbours.lack || "Hide the numbers of the previous iteration (G)" : "Show the numbers of the previous iteration beside these (G)";
    return h("button.beside", { type: "button", "aria-label": "Numbers of the previous iteration", "aria-pressed": neighbours.beside ? "true" : "false", title, onclick: () => this.compare() }, "Δ");
  }

  compare() {
    if (!this.session.scene?.section) return false;
    this.session.neighbours.toggle();
    return true;
  }

  turnButton(by, label, sign, word) {
    const key = by < 0 ? "," : ".";
    const title = label === null ? `No ${word.toLowerCase()} section` : `${word}: ${label} (${key})`;
    return h("button", { type: "button", "aria-label": title, title, disabled: label === null, onclick: () => this.turn(by) }, sign);
  }

  go(input, count) {
    const { at } = this.session.scene.section;
    const index = Number(input.value) - 1;
    if (Number.isInteger(index) && index >= 0 && index < count && index !== at) this.turn(index - at);
    else input.value = String(at + 1);
  }
}
