// The question of a chapter: open until its move, which shows the answer.
import { h } from "../../page/dom.mjs";

/**
 * @param {import("../../scene/scene.d.ts").Question} question
 * @param {boolean} isOpen
 */
export function questionOf({ text, choices }, isOpen) {
  const right = (choice) => !isOpen && choice.right;
  return h("div.ask", { "data-open": isOpen ? "yes" : null }, h("p", {}, text), choices.length ? h("ol", {}, choices.map((choice) => (
    h("li", { "data-right": right(choice) ? "yes" : null }, choice.text, right(choice) ? h("span.unseen", {}, " (right)") : null)))) : null);
}
