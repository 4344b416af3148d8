// Heatmaps and histograms, drawn by Plotly: loaded only when a figure is first asked for, chosen here by the time.
import { toNumber } from "../../scene/format.mjs";
import { at as trackAt } from "../../scene/timeline.mjs";
import { byId, fill, h, mount, setProps } from "../../page/dom.mjs";
import { table } from "../../page/value_text.mjs";

/** @import { Details } from "../../scene/scene.d.ts" */

const FEW = 2; // a value with fewer elements has no picture worth drawing
const MOST_NUMBERS = 64; // cells with their number in them
const BINS = 24;

export class Figures {
  /** @param {() => void} again shows the same details once more, when another figure was chosen */
  constructor(again) {
    this.again = again;
    this.open = false;
    this.kind = 0;
    this.key = "";
  }

  clear() {
    fill(byId("inspect-figure-bar"));
    byId("inspect-figure").hidden = true;
    this.key = "";
  }

  /** The figures of these details at this time: a bar to choose one, and the chosen one where the bar is open. */
  show(details, time) {
    const all = list(details, time);
    if (!all.length) { this.clear(); return; }
    this.kind = Math.min(this.kind, all.length - 1);
    fill(byId("inspect-figure-bar"), h("h2.keep", {}, "Pictures"), h("div.row.wrap", { role: "group", "aria-label": "Pictures" }, all.map((one, i) => h("button.pill", {
      type: "button", "aria-pressed": this.open && i === this.kind ? "true" : "false", onclick: () => { this.open = !(this.open && i === this.kind); this.kind = i; this.again(); },
    }, one.kind === "histogram" ? `${one.title}, histogram` : one.title))));
    byId("inspect-figure").hidden = !this.open;
    if (!this.open) { this.key = ""; return; }
    const figure = plot(all[this.kind]);
    const key = JSON.stringify([figure, document.documentElement.dataset.theme]);
    if (key === this.key) return;
    this.key = key;
    if (mount("inspect-figure")) requestAnimationFrame(() => setProps("figure", { figure }));
    else setProps("figure", { figure });
  }
}

/**
 * @param {Details} details
 * @param {number} time
 */
function list(details, time) {
  /** @type {{ title: string, kind: string, value?: any, axes?: string[] }[]} */
  const figures = details.figures.map((one) => ({ ...one, value: details.values[trackAt(one.track, time) ?? -1] }));
  const plots = figures.filter((one) => !one.value || one.value.stats.size >= FEW);
  const jacobian = details.jacobian;
  if (jacobian && jacobian.rows * jacobian.cols >= FEW) {
    const value = { shape: [jacobian.rows, jacobian.cols], data: jacobian.data };
    plots.push({ title: `Jacobian by ${jacobian.input}`, kind: "heatmap", value, axes: [`${jacobian.input}, element`, "output, element"] });
  }
  return plots;
}

const GRADIENTS = new Set(["seed", "grad", "upstream"]);

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** @param {any} figure */
function plot({ of, kind: form, value, axes }) {
  const frame = {
    height: 240, margin: { l: 44, r: 8, t: 8, b: 36 }, paper_bgcolor: "transparent", plot_bgcolor: token("--field"),
    font: { color: token("--ink"), size: parseFloat(token("--text-least")), family: token("--font") }, showlegend: false, dragmode: false,
  };
  const line = { gridcolor: token("--line"), zerolinecolor: token("--line"), fixedrange: true };
  if (!value || !value.data) {
    const text = value ? "Too many elements to draw" : "Nothing here at this step";
    return { data: [], layout: { ...frame, xaxis: { visible: false }, yaxis: { visible: false }, annotations: [{ text, showarrow: false, font: { color: token("--soft"), size: parseFloat(token("--text-note")) } }] } };
  }
  const numbers = value.data.map(toNumber);
  if (form === "histogram") {
    const x = numbers.filter(Number.isFinite);
    return { data: [{ type: "histogram", x, nbinsx: BINS, marker: { color: token(GRADIENTS.has(of) ? "--gradient" : "--saved") }, hovertemplate: "%{x}: %{y}<extra></extra>" }], layout: { ...frame, xaxis: line, yaxis: { ...line, title: { text: "elements" } }, bargap: 0.05 } };
  }
  return { data: [heat(numbers, value.shape)], layout: { ...frame, xaxis: { ...line, dtick: step(table(value.shape)[1]), title: { text: axes?.[0] || "" } }, yaxis: { ...line, dtick: step(table(value.shape)[0]), autorange: "reversed", title: { text: axes?.[1] || "" } } } };
}

const step = (n) => Math.max(1, Math.ceil(n / 8));

/** Blue below zero, orange above it, and the panel's own ground at zero, which is always in the middle. */
function heat(numbers, shape) {
  const [rows, cols] = table(shape);
  const z = Array.from({ length: rows }, (_, r) => numbers.slice(r * cols, (r + 1) * cols).map((x) => (Number.isFinite(x) ? x : null)));
  const most = Math.max(1e-300, ...numbers.filter(Number.isFinite).map(Math.abs));
  const text = numbers.length <= MOST_NUMBERS ? { text: z.map((row) => row.map((x) => (x === null ? "nan" : String(Number(x.toPrecision(3)))))), texttemplate: "%{text}" } : {};
  return {
    type: "heatmap", z, zmin: -most, zmax: most, xgap: numbers.length <= 1024 ? 1 : 0, ygap: numbers.length <= 1024 ? 1 : 0,
    colorscale: [[0, token("--negative")], [0.5, token("--panel")], [1, token("--positive")]], showscale: numbers.length > MOST_NUMBERS,
    colorbar: { thickness: 8, outlinewidth: 0 }, hovertemplate: "[%{y}, %{x}] = %{z}<extra></extra>", ...text,
  };
}
