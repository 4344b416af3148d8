// Through time: one bar for each iteration of the selected element. A click leads to that iteration.
import { num } from "../../scene/format.mjs";
import { barsOf } from "../../scene/series.mjs";
import { h } from "../../page/dom.mjs";

/** @import { Series } from "../../scene/scene.d.ts" */
/** @import { Bar } from "../../scene/series.mjs" */

/**
 * The section with the bars at this time; null where the element comes too seldom for one. `go(step, element)` leads there.
 * @param {Series} series
 * @param {number} time
 * @param {any} go
 */
export function throughTime(series, time, go) {
  if (!series) return null;
  const { log, bars, lines } = barsOf(series, time);
  const now = bars.find((bar) => bar.here);
  const text = now && (now.come ? `${now.label}: ${num(now.value)}` : `${now.label}: not yet`);
  const most = series.of > bars.length ? `${bars.length} of ${series.of} · ` : "";
  return h(`section.through.${series.kind}`, {},
    h("h2.keep", {}, "Through time"),
    h("p.source", {}, series.title),
    h("div.series", { role: "group", "aria-label": series.title },
      h("div.series-axis", { "aria-hidden": "true" }, lines.map((line) => withEdge(h("span", {}, line.text), "bottom", line.at))),
      h("div.series-bars", {}, lines.map((line) => withEdge(h("i", { "aria-hidden": "true" }), "bottom", line.at)), bars.map((bar) => barOf(bar, go)))),
    h("div.series-ends", {}, h("span", {}, bars[0].label), h("b", {}, text || ""), h("span", {}, bars[bars.length - 1].label)),
    h("p.hint", {}, `${most}${log ? "Each horizontal line is ten times the one below it. " : ""}Click a bar to go there.`));
}

/**
 * @param {Bar} bar
 * @param {any} go
 */
function barOf(bar, go) {
  const odd = !Number.isFinite(bar.value);
  const says = `${bar.label}: ${num(bar.value)}${bar.come ? "" : ", still to come"}`;
  const button = h("button.bar", { type: "button", title: says, "aria-label": `${says}. Go there`, "aria-current": bar.here ? "true" : null,
    class: `bar${bar.come ? "" : " future"}${odd ? " odd" : ""}`, onclick: () => go(bar.step, bar.element) }, h("i"));
  withEdge(button.firstChild, "bottom", bar.from);
  withEdge(button.firstChild, "height", bar.to - bar.from);
  return button;
}

function withEdge(element, side, at) {
  element.style[side] = `${(100 * at).toFixed(2)}%`;
  return element;
}
