// An error as Python would say it, then why it came about and the smallest change that helps.
import { h, prose } from "./dom.mjs";
import * as session from "./session.mjs";

/** The box for a scene's error; null where there is none. `where` goes to its place in the graph. */
export function errorBox({ error }, where = null) {
  if (!error) return null;
  const fix = error.fix?.edits ? h("button.btn.primary", { type: "button", "data-do": "fix", onclick: () => session.edit(error.fix.edits) }, "Make this change") : null;
  const show = where ? h("button.btn", { type: "button", "data-do": "show-error", onclick: where }, "Show where") : null;
  return h("div.error", { role: "alert" },
    h("div.error-type", {}, error.type),
    h("p.error-message", {}, error.message),
    error.why ? prose(error.why) : null,
    error.fix ? h("div.error-fix", {}, h("b", {}, "What helps"), prose(error.fix.text)) : null,
    fix || show ? h("div.row.wrap", {}, fix, show) : null,
    error.traceback || error.note ? h("details", {}, h("summary", {}, "Traceback"), error.traceback ? h("pre", {}, error.traceback) : null, error.note ? h("p", {}, error.note) : null) : null);
}

/** Boxes for what went wrong without an error: the proof in numbers, and what to write. */
export function findingBoxes(findings) {
  return findings.map(({ label, why, fix }) => h("div.finding", { role: "note" },
    h("div.finding-label", {}, label), prose(why), fix ? h("div.error-fix", {}, h("b", {}, "What helps"), prose(fix)) : null));
}
