// The question of a chapter: open until its move has shown the answer.
import { h, prose } from "../../page/dom.mjs";

/** Whether the answer is still to come, by the stage of the chapter (see chapters.mjs). */
export const isOpen = (stage) => stage === "ahead" || stage === "running";

/**
 * @param {import("../../scene/scene.d.ts").Question} question
 * @param {boolean} open
 */
export function questionOf({ text, choices, why }, open) {
  const right = (choice) => !open && choice.right;
  return h("div.ask", { "data-open": open ? "yes" : null }, h("p", {}, text), choices.length ? h("ol", {}, choices.map((choice) => (
    h("li", { "data-right": right(choice) ? "yes" : null }, choice.text, right(choice) ? h("span.unseen", {}, " (right)") : null)))) : null,
    choices.length && !choices.some((choice) => choice.right) ? h("p.hint", {}, "None of these is marked as right: begin its line with ", h("code", {}, "# +"), ".") : null,
    !open && why ? prose(why) : null);
}
