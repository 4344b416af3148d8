// The gradient flow of a single backward pass: a bar for each row, by depth, instead of a cell for each iteration.

import { num } from "../../scene/format.mjs";
import { cells, QUANTITIES, cellText } from "../../scene/run.mjs";

/** @import { RunOverview } from "../../scene/scene.d.ts" */
/** @import { Quantity, Row } from "../../scene/run.mjs" */

const AIR = 0.4; // of a power of ten before the smallest bar, and for the number behind the largest

/** Whether there is but one backward pass, and so no time to show. @param {RunOverview} run */
export const isSingle = (run) => run.labels.length === 1;

/**
 * The bars, each with its number; and the range of their axis.
 * @param {RunOverview} run
 * @param {Row[]} rows
 * @param {Quantity} quantity
 * @param {(name: string) => string} token the colours of the page
 */
export function bars(run, rows, quantity, token) {
  const log = QUANTITIES[quantity].log;
  const values = rows.map((row) => cells(run, quantity, row)[0]);
  const wrong = rows.map((row) => Boolean(cells(run, "nonfinite", row)[0]));
  const lengths = values.map((value) => (value === null || (log && value <= 0) ? null : value));
  const numbers = lengths.filter((value) => value !== null);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)].map((value) => (numbers.length ? (log ? Math.log10(value) : value) : 0));
  const begin = log ? Math.floor(least - AIR) : 0;
  const end = log ? most + AIR + (most - begin) / 8 : 1.15;
  const words = values.map((value, k) => (wrong[k] && quantity !== "nonfinite" ? "nan or inf" : value === null ? "none" : log ? num(value, 3) : `${num(100 * value, 3)} %`));
  const hovertext = rows.map((row) => { const { head, text } = cellText(run, row, 0); return `<b>${head}</b><br>${text.split(" · ").join("<br>")}`; });
  const y = rows.map((_, row) => row);
  const first = log ? 10 ** begin : 0;
  const colour = wrong.map((one) => token(one ? "--error" : "--gradient"));
  return {
    data: [{ type: "bar", orientation: "h", y, x: lengths.map((value) => value ?? first), text: words, textposition: "outside", cliponaxis: false, hovertext, hoverinfo: "text",
      customdata: rows.map((_, row) => [row, 0]), marker: { color: colour }, width: 0.7, textfont: { color: token("--ink"), family: token("--mono"), size: parseFloat(token("--text-least")) } }],
    axis: { type: log ? "log" : "linear", range: [begin, end], showgrid: true, gridcolor: token("--line"), nticks: 6, exponentformat: "power", ...(log ? { dtick: Math.max(1, Math.ceil((end - begin) / 6)) } : { tickvals: [0, 0.5, 1], ticktext: ["0 %", "50 %", "100 %"] }) },
  };
}
