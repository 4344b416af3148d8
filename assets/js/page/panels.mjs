// The sizes of the panels: separators that are dragged or moved by keys, and hidden panels, all kept for the next visit.
// early.js restores the kept sizes before the first paint, so that nothing moves when the modules load.
import { byId } from "./dom.mjs";

const STORAGE_KEY = "backstep.panels";
const NARROW = "(max-width: 1365px)"; // below this the right panel slides over the graph
const STEP = 16;
const SNAP = 72; // px under the least size at which letting go folds a panel away

/** Per separator: the variable that it sets, the least and the largest value, its unit, and where the pointer puts it. */
const SPLITS = {
  left: { variable: "--left-set", least: 240, most: () => innerWidth / 2 - 160, unit: "px", at: (event) => event.clientX, now: () => byId("left").offsetWidth, grow: "ArrowRight", shrink: "ArrowLeft" },
  right: { variable: "--right-set", least: 280, most: () => innerWidth / 2 - 80, unit: "px", at: (event) => innerWidth - event.clientX, now: () => byId("right").offsetWidth, grow: "ArrowLeft", shrink: "ArrowRight" },
  story: { variable: "--story-set", least: 15, most: () => 80, unit: "%", at: (event) => { const box = byId("left").getBoundingClientRect(); return (100 * (event.clientY - box.top)) / box.height; },
    now: () => (100 * byId("story").offsetHeight) / Math.max(byId("left").offsetHeight, 1), grow: "ArrowDown", shrink: "ArrowUp" },
};

/** The root of the page has the state of the panels as attributes, for the style sheets. */
const root = () => document.documentElement;

export class Panels {
  /** @param {() => void} onUncover is called when the panel no longer slides over the graph */
  constructor(onUncover) {
    this.onUncover = onUncover;
    /** @type {Record<string, any>} */
    this.sizes = read();
    for (const name of Object.keys(SPLITS)) this.separate(name, byId(`split-${name}`));
    ["left", "right"].forEach(say);
    new ResizeObserver(tell).observe(byId("left"));
    new ResizeObserver(tell).observe(byId("right"));
    new ResizeObserver(tell).observe(byId("story"));
    matchMedia(NARROW).addEventListener("change", (change) => put("right", change.matches ? false : !this.sizes.rightClosed));
    tell();
  }

  /** Shows or hides a side panel; what slides over the graph is not kept, because it is there for a look only. */
  toggle(side, open = !isOpen(side)) {
    put(side, open);
    if (side === "right" && !open) this.onUncover();
    if (side === "left" || !isNarrow()) this.keep({ [`${side}Closed`]: open ? undefined : true });
  }

  keep(change) {
    this.sizes = { ...this.sizes, ...change };
    try { localStorage.setItem(STORAGE_KEY, JSON.stringify(this.sizes)); } catch { /* storage may be forbidden: then nothing is kept */ }
  }

  keepSize(name) {
    this.keep({ [name]: root().style.getPropertyValue(SPLITS[name].variable) || undefined });
    tell();
  }

  separate(name, bar) {
    const split = SPLITS[name];
    const side = name === "story" ? null : name;
    let drag = null;
    bar.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      bar.setPointerCapture(event.pointerId);
      drag = split.at(event) - split.now();
      root().dataset.resizing = name;
    });
    bar.addEventListener("pointermove", (event) => drag !== null && size(name, split.at(event) - drag));
    const release = (event) => {
      if (drag === null) return;
      const folded = side && split.at(event) - drag < split.least - SNAP;
      drag = null;
      delete root().dataset.resizing;
      if (folded) { size(name, null); this.toggle(side, false); }
      this.keepSize(name);
    };
    bar.addEventListener("pointerup", release);
    bar.addEventListener("pointercancel", release);
    bar.addEventListener("dblclick", () => { size(name, null); this.keepSize(name); });
    bar.addEventListener("keydown", (event) => {
      const by = event.key === split.grow ? 1 : event.key === split.shrink ? -1 : 0;
      if (by) size(name, split.now() + by * (split.unit === "%" ? 4 : STEP));
      else if (event.key === "Home") size(name, split.least);
      else if (event.key === "End") size(name, split.most());
      else if (event.key === "Delete" || event.key === "Backspace") size(name, null);
      else if (event.key === "Enter" && side) this.toggle(side, false);
      else return;
      event.preventDefault();
      this.keepSize(name);
    });
  }
}

export const isNarrow = () => matchMedia(NARROW).matches;
export const isOpen = (side) => (side === "right" ? root().dataset.right === "open" : !root().hasAttribute("data-left-closed"));

function put(side, open) {
  if (side === "right") root().dataset.right = open ? "open" : "closed";
  else root().toggleAttribute("data-left-closed", !open);
  say(side);
}

const say = (side) => byId(side === "right" ? "act-panel" : "act-left")?.setAttribute("aria-expanded", String(isOpen(side)));

const PARTS = ["left", "run", "stage", "right", "timeline", "top"];
const FIRST = "[role=tab][aria-selected=true], button:not(:disabled, [tabindex='-1']), a[href], [tabindex='0']";

/** Moves the focus to the next part of the page that is there, or to the one before. @param {number} by 1 or -1 */
export function goToPart(by) {
  const parts = PARTS.map(byId).filter((part) => part && entryOf(part));
  const now = parts.findIndex((part) => part.contains(document.activeElement));
  const next = now < 0 && by > 0 ? 0 : Math.max(now, 0) + by;
  entryOf(parts.at(next % parts.length)).focus();
}

/** Where the keyboard comes into a part of the page; nothing if that is hidden. @param {any} part */
const entryOf = (part) => [part, ...part.querySelectorAll(FIRST)].find((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }));

function read() {
  try { return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}") || {}; } catch { return {}; }
}

/** Sets a size; null: as it was made. */
function size(name, value) {
  const { variable, least, most, unit } = SPLITS[name];
  if (value === null) root().style.removeProperty(variable);
  else root().style.setProperty(variable, `${Math.round(Math.min(Math.max(value, least), most()))}${unit}`);
}

/** What the separators are to those who do not see them. */
function tell() {
  for (const [name, { least, most, now }] of Object.entries(SPLITS)) {
    const bar = byId(`split-${name}`);
    bar.setAttribute("aria-valuemin", String(least));
    bar.setAttribute("aria-valuemax", String(Math.round(most())));
    bar.setAttribute("aria-valuenow", String(Math.round(Math.min(Math.max(now(), least), most()))));
  }
}
