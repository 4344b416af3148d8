// The buttons over the stage: the camera, search, following the steps, wires.

import { keepFocus } from "./footer.mjs";
import { icon } from "./icons.mjs";
import { h } from "../page/dom.mjs";

/** `acts`: search, zoomIn, zoomOut, fit, follow (toggles), cells (toggles). */
export function toolbar(acts) {
  /** @type {(name: string, label: string, key: string, act: () => void, pressed?: string) => HTMLElement} */
  const tool = (name, label, key, act, pressed) => h("button", {
    type: "button", title: `${label} (${key})`, "aria-label": label, "aria-pressed": pressed, "data-tool": name, onclick: act,
  }, icon(name));
  const follow = tool("follow", "Follow the steps while playing", "L", acts.follow, "true");
  const cells = tool("cells", "Show the wires from cell to cell everywhere", "C", acts.cells, "false");
  const element = h("div.bs-tools", { role: "toolbar", "aria-label": "View" },
    tool("search", "Search in the graph", "/", acts.search), tool("plus", "Zoom in", "+", acts.zoomIn), tool("minus", "Zoom out", "\u2212", acts.zoomOut),
    tool("fit", "Fit", "0", acts.fit), follow, cells);
  element.addEventListener("mousedown", keepFocus);
  const press = (one, on) => one.setAttribute("aria-pressed", String(on));
  return { element, follow: (on) => press(follow, on), cells: (on) => press(cells, on) };
}
