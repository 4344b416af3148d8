// The canvas as text: a list of the nodes in view for users who do not see it, and the sentence of each step.

import { cellText, dotText, element, normText, num } from "../scene/format.mjs";
import { normOfDot, normOfGroup } from "../scene/scale.mjs";
import { SEED_LABEL } from "../scene/shared.mjs";
import { savedNames } from "../paint/marks.mjs";
import { h } from "../page/dom.mjs";
import { at } from "../scene/timeline.mjs";
import { isFaint, nodeState, rowState, savedState } from "../scene/state.mjs";

/** @import { Held } from "../scene/format.mjs" */

const MOST = 150;
const WORDS = { future: "not yet computed", idle: "computed", waiting: "waiting for gradients", ready: "ready to run", done: "done", error: "error" };

export class Mirror {
  constructor(host) {
    this.list = h("ul.bs-hidden", { "aria-label": "Nodes in view", id: "bs-nodes" });
    host.append(this.list);
    this.host = host;
    this.timer = 0;
  }

  /** Soon, and once for many changes: a screen reader does not read sixty times a second. */
  update(stage) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(stage), 150);
  }

  write({ moment, visible, selection }) {
    if (!moment) return;
    const items = visible.slice(0, MOST).map((node) => h("li", { id: `bs-node-${node.id}`, "data-state": nodeState(moment, node),
      "aria-current": node.id === selection ? "true" : null }, nodeText(moment, node)));
    if (visible.length > MOST) items.push(h("li", {}, `and ${visible.length - MOST} more; zoom in to hear them`));
    this.list.replaceChildren(...items);
    if (selection && visible.some((node) => node.id === selection)) this.host.setAttribute("aria-activedescendant", `bs-node-${selection}`);
    else this.host.removeAttribute("aria-activedescendant");
  }
}

function nodeText(moment, node) {
  const parts = [`${node.kind === "op" ? "op" : node.kind} ${node.label}, ${node.sub}`,
    node.id === moment.active ? "active" : WORDS[nodeState(moment, node)]];
  if (isFaint(moment, node)) parts.push("takes no part in this call");
  if (node.saved.length && savedState(moment, node) !== "none") parts.push(`${savedState(moment, node)} ${savedNames(node)}`);
  const norm = normOfGroup(moment, node);
  if (norm !== null) parts.push(`gradient norm ${num(norm, 3)}`);
  if (node.cells) parts.push(`stack of ${node.cells.length}: ${node.cells.map((cell) => cellText(cell, at(cell.norm, moment.t) ?? null)).join("; ")}`);
  if (node.dots) parts.push(`parameters: ${node.dots.map((dot) => dotText(dot, normOfDot(moment, dot))).join("; ")}`);
  for (const row of node.rows) {
    const { value, past, other, derived } = rowState(moment, row);
    const passed = other ? "gradient passed in another call" : derived ? "gradient" : SEED_LABEL;
    const name = row.key === "value" ? "value" : past ? "previous gradient" : row.key === "grad" ? "gradient" : passed + (derived ? `, ${derived.text},` : "");
    if (value?.data) parts.push(`${name} ${value.data.map((_, i) => element(/** @type {Held} */ (value), i)).join(" ")}`);
    else if (value) parts.push(`${name} ${normText(value)}`);
  }
  return parts.join("; ");
}

/** Says a sentence in the page's live region (made here where the page has none). */
export function announce(text) {
  let live = document.getElementById("live");
  if (!live) document.body.append((live = h("div.bs-hidden", { id: "live", "aria-live": "polite" })));
  if (live.textContent !== text) live.textContent = text;
}
