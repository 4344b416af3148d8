// Pictures of a tensor on a page without Plotly, from the same description: a heatmap is a table of coloured cells, a histogram a row of bars.
import { h } from "../page/dom.mjs";

const MOST = 4096; // cells of a heatmap

/** @param {any} figure as panels/inspector/figures.mjs describes it */
export function figureOf({ data: [trace], layout }) {
  if (!trace) return h("p.hint", {}, layout.annotations?.[0]?.text ?? "");
  return trace.type === "heatmap" ? heatmap(trace) : histogram(trace);
}

function heatmap({ z, zmax, text, colorscale }) {
  if (z.length * (z[0]?.length ?? 0) > MOST) return h("p.hint", {}, "Too many elements to draw");
  const tone = (x) => (x === null ? "transparent" : `color-mix(in oklab, ${colorscale[x < 0 ? 0 : 2][1]} ${(100 * Math.abs(x)) / zmax}%, ${colorscale[1][1]})`);
  return h("div.heatmap", { role: "img", style: `--columns: ${z[0].length}` }, z.flatMap((row, r) => row.map((x, c) => (
    h("span", { title: `[${r}, ${c}] = ${x}`, style: `background: ${tone(x)}` }, text?.[r][c])))));
}

function histogram({ x, nbinsx, marker }) {
  const [low, high] = [Math.min(...x), Math.max(...x)];
  const bins = Array(nbinsx).fill(0);
  for (const value of x) bins[Math.min(nbinsx - 1, Math.floor(((value - low) / (high - low || 1)) * nbinsx))] += 1;
  const most = Math.max(...bins);
  const edge = (i) => (low + ((high - low) * i) / nbinsx).toPrecision(3);
  return h("div.histogram", { role: "img" }, h("div.bars", {}, bins.map((n, i) => h("i", { title: `${edge(i)} to ${edge(i + 1)}: ${n}`, style: `height: ${(100 * n) / most}%; background: ${marker.color}` }))),
    h("div.row", {}, h("span", {}, edge(0)), h("span.space"), h("span", {}, edge(nbinsx))));
}
