// An error as Python would print it, then its cause and the smallest change that fixes it: whole in the inspector,
// elsewhere only its type, with a link to the inspector.
import { firstSentence } from "../scene/format.mjs";
import { byId, h, prose } from "./dom.mjs";

/**
 * The diagnosis of a scene's error; null where there is none. What a long message says after its first sentence is folded away.
 * @param {any} scene
 * @param {(edits: any) => void} edit makes the change that helps
 * @returns {HTMLElement | null}
 */
export function errorBox({ error }, edit) {
  if (!error) return null;
  const fix = error.fix?.edits ? h("button.btn.primary", { type: "button", "data-do": "fix", onclick: () => { byId("stage")?.focus({ preventScroll: true }); edit(error.fix.edits); } }, "Make this change") : null;
  const first = firstSentence(error.message);
  const more = first === error.message ? null : h("p.error-message", {}, error.message);
  return h("div.error", { role: "alert" },
    h("div.error-type", {}, error.type),
    h("p.error-message", {}, first),
    error.why ? prose(error.why) : null,
    error.fix ? h("div.error-fix", {}, h("b", {}, "How to fix it"), prose(error.fix.text)) : null,
    fix ? h("div.row.wrap", {}, fix) : null,
    more || error.traceback || error.note ? h("details", {}, h("summary", {}, more ? "Full message and traceback" : "Traceback"), more, error.traceback ? h("pre", {}, error.traceback) : null, error.note ? h("p", {}, error.note) : null) : null);
}

/** That there is an error, where the diagnosis does not stand; `where` goes to it. Null where there is none. */
export function errorSign({ error }, where) {
  return error && h("div.error.row.wrap", {}, h("span.error-type", {}, error.type), h("span.space"), h("button.btn", { type: "button", "data-do": "show-error", onclick: where }, "Show where"));
}

/** Boxes for what went wrong without an error: the proof in numbers, and what to write. */
export function findingBoxes(findings) {
  return findings.map(({ label, why, fix }) => h("div.finding", { role: "note" },
    h("div.finding-label", {}, label), prose(why), fix ? h("div.error-fix", {}, h("b", {}, "How to fix it"), prose(fix)) : null));
}
