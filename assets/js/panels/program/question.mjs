// The question of a chapter: open until its move has shown the answer.
import { h, prose } from "../../page/dom.mjs";
import { stageOf } from "./chapters.mjs";

/** @import { Scene } from "../../scene/scene.d.ts" */

const TITLE = /^# ## +\S/;
const ANNOTATION = /^# ?[-+=>]( |$)/; // a choice, which is right, why, a note for the presenter

/** Whether the answer is still to come, by the stage of the chapter (see chapters.mjs). */
export const isOpen = (stage) => stage === "ahead" || stage === "running";

/**
 * The lines of a lesson that answer a question that is still open, by their numbers, counted from 1.
 * @type {(texts: string[], chapters: Scene["program"]["chapters"], t: number) => Set<number>}
 */
export function answersAt(texts, chapters, t) {
  const lines = new Set();
  if (!chapters.some(({ ask }) => ask)) return lines;
  const titles = texts.flatMap((text, i) => (TITLE.test(text) ? [i] : []));
  if (titles.length !== chapters.length) return lines; // the chapters are not those of this file
  chapters.forEach(({ ask }, number) => {
    if (!ask || !isOpen(stageOf(chapters, number, t))) return;
    for (let i = titles[number] + 1; texts[i]?.startsWith("#"); i += 1) if (ANNOTATION.test(texts[i])) lines.add(i + 1);
  });
  return lines;
}

/**
 * @param {import("../../scene/scene.d.ts").Question} question
 * @param {boolean} open
 */
export function questionOf({ text, choices, why }, open) {
  const right = (choice) => !open && choice.right;
  return h("div.ask", { "data-open": open ? "yes" : null }, h("p", {}, text), choices.length ? h("ol", {}, choices.map((choice) => (
    h("li", { "data-right": right(choice) ? "yes" : null }, choice.text, right(choice) ? h("span.unseen", {}, " (right)") : null)))) : null,
    choices.length && !choices.some((choice) => choice.right) ? h("p.hint", {}, "No choice is marked as right: start the line of the right one with ", h("code", {}, "# +"), ".") : null,
    !open && why ? prose(why) : null);
}
