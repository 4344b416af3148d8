// The edits that a chapter proposes: a press makes one, and another one takes it back.
import { NONE } from "../../page/edits.mjs";
import { h } from "../../page/dom.mjs";
import { isEqual } from "../../scene/ghosts.mjs";

/** @typedef {import("../../scene/scene.d.ts").Try} Try */

/**
 * @param {Try[]} tries
 * @param {import("../../page/session.mjs").Session} session
 */
export function triesOf(tries, session) {
  return h("div.tries", { role: "group", "aria-label": "Changes to try" }, tries.map(({ text, edits, problem }) => {
    if (!edits) return h("p.hint", {}, h("code", {}, `# ! ${text}`), ` is not a change: ${problem}`);
    const isOn = isEqual(session.edits, edits);
    return h("button.btn", { type: "button", "data-turn": `try ${text}`, "aria-pressed": String(isOn), onclick: () => session.edit(isOn ? NONE : edits) }, isOn ? "Undo " : "Try ", h("code", {}, text));
  }));
}

/**
 * What comes after the present edits: the first that is proposed, the next, and after the last the program as recorded.
 * @param {Try[]} tries
 * @param {import("../../scene/scene.d.ts").Edits | null} present
 */
export function nextTry(tries, present) {
  const all = tries.flatMap(({ edits }) => edits ?? []);
  return all[all.findIndex((edits) => isEqual(edits, present)) + 1] ?? NONE;
}
