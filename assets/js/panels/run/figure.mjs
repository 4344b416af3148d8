// The figure of a run: the loss, and below it a cell for each parameter and iteration, on one axis of time.

import { bars, isSingle } from "./flow.mjs";
import { cells, columnOf, columnsOf, isLossLogarithmic, loopStarts, lossNumbers, QUANTITIES, cellText } from "../../scene/run.mjs";
import { shorten, toNumber } from "../../scene/format.mjs";

/** @import { RunOverview } from "../../scene/scene.d.ts" */
/** @import { Quantity, Row } from "../../scene/run.mjs" */
/** @typedef {{ run: RunOverview, rows: Row[], quantity: Quantity, findings: RunOverview["findings"], now: number, cell: { row: number, column: number } | null }} Shown */

const [ROW, TALL, TALLEST] = [22, 36, 56]; // px of a row, of the labels beside it too: of many, of few, and of few in a high window
const ROOM = 440; // px that few rows share
const LOW = 900; // px of a window's height up to which they share no more, as the findings above them need room too
const LOSS = 104; // px of the loss curve
const GAP = 24;
const FOOT = 32;
const LEFT = 24; // px for the name of the first iteration
const SIDE = 76; // px of the scale on the right

const NAMED = 5; // backward calls whose names have room side by side
const LONGEST = 26; // characters of the name of the last column, half of which stands over the scale
export const DASHES = ["dash", "dot"]; // of further losses
const LOSS_LABELS = 4; // of its scale
const LOSS_ALONE = 8; // px where there is one loss, and no curve

/** The px of a row, where there are so many, in a window of a height. @param {number} rows @param {number} [window] */
export function rowHeight(rows, window = innerHeight) {
  const more = Math.max(0, window - LOW);
  const tall = Math.min(TALLEST, TALL + Math.floor(more / 10));
  return Math.min(tall, Math.max(ROW, Math.floor((ROOM + more / 2) / Math.max(rows, 1))));
}

/** The px above the first row. @param {RunOverview} run */
export const heightAbove = (run) => (isSingle(run) ? LOSS_ALONE : LOSS) + GAP;

/** @type {(run: RunOverview, rows: number) => number} */
export const height = (run, rows) => heightAbove(run) + rows * rowHeight(rows) + FOOT;

/** @param {Shown} shown */
export function figure({ run, rows, quantity, findings, now, cell }) {
  const tall = height(run, rows.length) - FOOT;
  const text = { color: token("--soft"), size: parseFloat(token("--text-least")), family: token("--font") };
  const columns = run.labels.length;
  if (isSingle(run)) return flow({ run, rows, quantity, cell }, text, tall);
  return {
    data: [...curve(run), ...others(run), ...maps(run, rows, quantity, text), ...marks(run, rows, findings)],
    layout: {
      height: height(run, rows.length), margin: { l: LEFT, r: SIDE, t: 0, b: FOOT }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", font: text, showlegend: false, dragmode: false,
      hoverlabel: { bgcolor: token("--panel"), bordercolor: token("--edge"), font: { ...text, color: token("--ink") }, align: "left" },
      xaxis: { range: [-0.5, columns - 0.5], fixedrange: true, showgrid: false, zeroline: false, ticklabeloverflow: "allow", anchor: "y", ...axisNames(run, now) },
      yaxis: { domain: [0, (rows.length * rowHeight(rows.length)) / tall], range: [rows.length - 0.5, -0.5], fixedrange: true, visible: false },
      yaxis2: { domain: [1 - LOSS / tall, 1], fixedrange: true, side: "right", gridcolor: token("--line"), zeroline: false, ...lossAxis(run) },
      shapes: [...outline(now, -0.5, rows.length - 0.5, 2), ...(cell ? outline(cell.column, cell.row - 0.5, cell.row + 0.5, 3) : [])],
    },
  };
}

/** The same of a single backward pass: bars in place of cells, and no curve. */
function flow({ run, rows, quantity, cell }, text, tall) {
  const { data, axis } = bars(run, rows, quantity, token);
  const around = cell && { type: "rect", xref: "paper", yref: "y", x0: 0, x1: 1, y0: cell.row - 0.5, y1: cell.row + 0.5, line: { color: token("--ink"), width: 2 }, fillcolor: "transparent" };
  return {
    data,
    layout: {
      height: height(run, rows.length), margin: { l: LEFT, r: SIDE, t: 0, b: FOOT }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", font: text, showlegend: false, dragmode: false,
      hoverlabel: { bgcolor: token("--panel"), bordercolor: token("--edge"), font: { ...text, color: token("--ink") }, align: "left" },
      xaxis: { fixedrange: true, zeroline: false, ...axis },
      yaxis: { domain: [0, (rows.length * rowHeight(rows.length)) / tall], range: [rows.length - 0.5, -0.5], fixedrange: true, visible: false },
      shapes: around ? [around] : [],
    },
  };
}

/** The findings at their cells, and those of no parameter at the loss. */
function marks(run, rows, findings) {
  const places = findings.map(({ label, section, parameter }) => {
    const member = run.parameters.findIndex(({ name }) => name === parameter);
    return { label, column: columnOf(run, section), row: member < 0 ? -1 : rows.findIndex(({ members }) => members.includes(member)) };
  }).filter(({ column }) => column >= 0);
  const least = Math.min(...run.loss.filter((one) => typeof one === "number"));
  const sign = (findings, axis, y) => (findings.length ? [{
    type: "scatter", mode: "markers", yaxis: axis, x: findings.map(({ column }) => column), y: findings.map(y), cliponaxis: false, customdata: findings.map(({ row, column }) => [row, column]),
    marker: { symbol: "triangle-up", size: 12, color: token("--warning"), line: { color: token("--panel"), width: 1.5 } }, hovertext: findings.map(({ label }) => label), hoverinfo: "text",
  }] : []);
  return [...sign(places.filter(({ row }) => row >= 0), "y", ({ row }) => row), ...sign(places.filter(({ row }) => row < 0), "y2", () => (Number.isFinite(least) ? least : 0))];
}

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A frame around a column, or a cell. */
function outline(column, y0, y1, width) {
  if (column < 0) return [];
  return [{ type: "rect", xref: "x", yref: "y", x0: column - 0.5, x1: column + 0.5, y0, y1, line: { color: token("--ink"), width }, fillcolor: "transparent" }];
}

/** By their names the present iteration, the first, the last, and those with which another loop begins; of few backward calls each. */
function axisNames(run, now) {
  if (run.calls.length && run.calls.length <= NAMED) return { tickvals: run.calls.map((_, column) => column), ticktext: run.labels };
  const last = run.labels.length - 1;
  const name = (column) => shorten(run.labels[column], LONGEST);
  const tickvals = [];
  for (const column of [...(now < 0 ? [] : [now]), 0, last, ...loopStarts(run.labels)]) {
    if (tickvals.every((one) => Math.abs(column - one) > last / 8)) tickvals.push(column);
  }
  return { tickvals, ticktext: tickvals.map((column) => (column === now ? `<b>${name(column)}</b>` : name(column))) };
}

/**
 * The scale of the losses.  Of those that are all the same a range around them, as wide as they are large: a narrower one has labels that differ in
 * digits nobody reads.
 * @param {RunOverview} run
 */
function lossAxis(run) {
  const numbers = lossNumbers(run);
  const [least, most] = [numbers.reduce((a, b) => Math.min(a, b), Infinity), numbers.reduce((a, b) => Math.max(a, b), -Infinity)];
  if (isLossLogarithmic(run)) return { type: "log", ...powers(Math.log10(least), Math.log10(most), LOSS_LABELS, (power) => 10 ** power) };
  const around = least === 0 ? [0, 1] : [least - Math.abs(least) / 2, least + Math.abs(least) / 2];
  return { visible: numbers.length > 0, nticks: LOSS_LABELS, exponentformat: "e", ...(least === most ? { range: around } : {}) };
}

/** The finite numbers of a loss; null where there is none. */
const finiteOf = (loss) => loss.map((one) => (one !== null && Number.isFinite(toNumber(one)) ? toNumber(one) : null));

/** The loss; where it is nan or inf, a mark. */
function curve(run) {
  const finite = finiteOf(run.loss);
  const x = columnsOf(run, run.loss);
  const y = x.map((column) => finite[column]);
  const least = Math.min(...finite.filter((one) => one !== null));
  const hovertext = run.labels.map((label, column) => `<b>${label}</b><br>${run.calls.length ? "root" : run.root} ${run.loss[column]}${run.rate[column] === null ? "" : `<br>learning rate ${run.rate[column]}`}`);
  const wrong = x.filter((column) => run.loss[column] !== null && finite[column] === null);
  const line = { type: "scatter", x, y, yaxis: "y2", mode: run.calls.length ? "markers" : "lines+markers", marker: { color: token("--root"), size: y.map((_, k) => (run.calls.length || isAlone(y, k) ? 7 : 0)) }, line: { color: token("--root"), width: 2 }, hovertext: x.map((column) => hovertext[column]), hoverinfo: "text" };
  const marks = { type: "scatter", x: wrong, y: wrong.map(() => (Number.isFinite(least) ? least : 0)), yaxis: "y2", mode: "markers", marker: { symbol: "x", color: token("--error"), size: 8 }, hovertext: wrong.map((column) => hovertext[column]), hoverinfo: "text" };
  return wrong.length ? [line, marks] : [line];
}

/** The roots of further backward calls. */
function others(run) {
  return run.others.map(({ name, loss }, k) => {
    const [x, finite] = [columnsOf(run, loss), finiteOf(loss)];
    return {
      type: "scatter", mode: "lines", x, y: x.map((column) => finite[column]), yaxis: "y2",
      line: { color: token("--root"), width: 2, dash: DASHES[k] }, hovertext: x.map((column) => `<b>${run.labels[column]}</b><br>${name} ${loss[column]}`), hoverinfo: "text",
    };
  });
}

/** Whether a point has no neighbour that a line could lead to. */
const isAlone = (points, column) => (points[column - 1] ?? null) === null && (points[column + 1] ?? null) === null;

/** The cells by magnitude, and over them those that have a look of their own: exact zeros, and what is not finite. */
function maps(run, rows, quantity, font) {
  const { log } = QUANTITIES[quantity];
  const table = rows.map((row) => cells(run, quantity, row));
  const wrong = rows.map((row) => cells(run, "nonfinite", row));
  const gap = run.labels.length <= 200 ? 1 : 0;
  const onAxis = (value) => (value === null || (log && !value) ? null : log ? Math.log10(value) : value);
  const z = table.map((row) => row.map(onAxis));
  const [zmin, zmax] = log ? range(z) : [0, 1];
  const colorbar = { thickness: 10, outlinewidth: 0, len: rows.length * rowHeight(rows.length), lenmode: "pixels", y: 0, yanchor: "bottom", x: 1.01, tickfont: font, ...(log ? powers(zmin, zmax) : { tickvals: [0, 1], ticktext: ["0 %", "100 %"] }) };
  const hovertext = rows.map((row) => run.labels.map((_, column) => { const { head, text } = cellText(run, row, column); return `<b>${head}</b><br>${text.split(" · ").join("<br>")}`; }));
  const flatHeatmap = (of, colour) => ({ type: "heatmap", z: of, zmin: 0, zmax: 1, xgap: gap, ygap: gap, showscale: false, hoverinfo: "skip", hoverongaps: false, colorscale: [[0, colour], [1, colour]] });
  return [
    { type: "heatmap", z, zmin, zmax, xgap: gap, ygap: gap, hoverongaps: true, hovertext, hoverinfo: "text", colorscale: [[0, token("--gradient-tint")], [1, token("--gradient")]], showscale: rows.length > 3, colorbar },
    ...(log ? [flatHeatmap(table.map((row) => row.map((value) => (value === 0 && quantity !== "nonfinite" ? 1 : null))), token("--saved"))] : []),
    flatHeatmap(wrong.map((row) => row.map((count) => (count ? 1 : null))), token("--error")),
  ];
}

/** The range of the scale, at least a power of ten wide. */
function range(z) {
  let [least, most] = [Infinity, -Infinity];
  for (const row of z) for (const value of row) if (value !== null) [least, most] = [Math.min(least, value), Math.max(most, value)];
  if (!Number.isFinite(least)) return [-1, 0];
  return most - least < 1 ? [most - 1, most] : [least, most];
}

/** Labels at so many powers of ten at most; `onAxis`: where a power stands. */
function powers(least, most, count = 6, onAxis = (power) => power) {
  const step = Math.max(1, Math.ceil((most - least) / count));
  const first = Math.ceil(least / step) * step;
  const tickvals = Array.from({ length: Math.max(0, Math.floor((most - first) / step) + 1) }, (_, k) => first + k * step);
  return { tickvals: tickvals.map(onAxis), ticktext: tickvals.map((power) => (power >= 0 && power <= 3 ? String(10 ** power) : `1e${power}`)) };
}
