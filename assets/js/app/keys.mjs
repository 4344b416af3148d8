// The keyboard: one table, from which both the keys and the overlay that lists them come.

import { h } from "../page/dom.mjs";

/** @import { App } from "./app.mjs" */
/** @typedef {[keys: string[], text: string, meaning: string, act?: (key: string) => unknown, where?: "stage" | "anywhere" | "everywhere"]} Row `stage`: only what has the focus there; `anywhere`: also while the whole run is shown; `everywhere`: in the gallery too */

const PAN = 80;

/**
 * All keys; those without an action are listened to elsewhere.
 * @param {App} app
 * @returns {{ title: string, rows: Row[] }[]}
 */
function keyTable(app) {
  return [
    { title: "Time", rows: [
      [[" "], "Space", "Next move of the story; after that, play or pause", () => app.space()],
      [["ArrowRight"], "\u2192", "Step; a folded box is one step, and so is an optimiser\u2019s", () => app.forward()],
      [["ArrowLeft"], "\u2190", "Step back", () => app.back()],
      [["Shift+ArrowRight", "Shift+ArrowLeft"], "Shift \u2192, Shift \u2190", "One op forward, or back", (key) => (key === "ArrowRight" ? app.forward(true) : app.back(true))],
      [["PageDown"], "Page Down", "Next backward call", () => app.nextCall()],
      [["PageUp"], "Page Up", "Previous backward call", () => app.previousCall()],
      [["Home"], "Home", "First step", () => app.seek(0)],
      [["End"], "End", "Last step", () => app.seek(Infinity)],
      [["n", "N"], "N", "Run to the selected node", () => app.runToSelected()],
      [[","], ",", "Previous iteration of a long run", () => app.bus.emit("turn", -1), "anywhere"],
      [["."], ".", "Next iteration", () => app.bus.emit("turn", 1), "anywhere"],
      [["g", "G"], "G", "Show the numbers of the previous iteration beside these", () => app.bus.emit("compare")],
      [["r", "R"], "R", "Switch between the whole run and the graph of an iteration", () => app.bus.emit("view"), "anywhere"],
      [["<", ">"], "< >", "Slower, faster", (key) => app.changeSpeed(key === ">" ? 1 : -1)],
    ] },
    { title: "Graph", rows: [
      [["Tab", "Shift+Tab"], "Tab", "Next node in order of execution (Shift: previous)",
        (key) => app.selectNext(key === "Tab" ? 1 : -1), "stage"],
      [["Enter"], "Enter", "Edit the selected node\u2019s cells, or unfold it; with nothing selected, go into the step", () => app.enter()],
      [["Escape"], "Esc", "Clear the selection; with nothing selected, go out of the step", () => app.escape()],
      [["/"], "/", "Search in the graph", () => app.search.toggle(true)],
      [["f", "F"], "F", "Fold or unfold the selected group", () => app.foldSelected()],
      [["j", "J"], "J, Shift J", "In a stack of equal blocks: open the next one, or the one before", (key) => app.bus.emit("neighbour", key === "j" ? 1 : -1)],
      [["m", "M"], "M", "Switch between a mistake and its corrected version", () => app.bus.emit("other")],
      [["c", "C"], "C", "Show the wires from cell to cell everywhere", () => app.toggleCells()],
    ] },
    { title: "Explanations", rows: [
      [["k", "K"], "K", "Legend: what the signs mean", () => app.legend.toggle()],
      [["i", "I"], "I", "What am I looking at? Press again for the next panel", () => app.bus.emit("explain")],
      [["t", "T"], "T", "Tour of six stops", () => app.bus.emit("tour")],
      [["?", "F1"], "?, F1", "This list; F1 also while you type", () => app.help(), "everywhere"],
    ] },
    { title: "View", rows: [
      [["0"], "0", "Fit the view; press again for the whole graph", () => app.stage.fitMore()],
      [["+", "="], "+", "Zoom in", () => app.stage.zoom(1.2)],
      [["-", "_"], "\u2212", "Zoom out", () => app.stage.zoom(1 / 1.2)],
      [["w", "W", "Shift+ArrowUp"], "W, Shift \u2191", "Move up", () => app.stage.pan(0, PAN)],
      [["s", "S", "Shift+ArrowDown"], "S, Shift \u2193", "Move down", () => app.stage.pan(0, -PAN)],
      [["a", "A"], "A", "Move left", () => app.stage.pan(PAN, 0)],
      [["d", "D"], "D", "Move right", () => app.stage.pan(-PAN, 0)],
      [["l", "L"], "L", "Follow the steps while playing", () => app.toggleFollow()],
      [["["], "[", "Show or hide the left panel", () => app.bus.emit("panel", "left")],
      [["]"], "]", "Show or hide the right panel", () => app.bus.emit("panel", "right")],
      [["F6", "Shift+F6"], "F6", "Next part of the page, as a panel or the steps (Shift: previous)",
        (key) => app.bus.emit("part", key === "F6" ? 1 : -1), "anywhere"],
      [["p", "P"], "P", "Lecture mode: fills the screen", () => app.bus.emit("present")],
    ] },
    { title: "Gallery", rows: [
      [[], "\u2193, Tab", "From the search to the first program"],
      [[], "\u2192, \u2193", "The program beside, or below"],
      [[], "Esc", "Clear the search"],
    ] },
    { title: "Changes", rows: [
      [[], "Ctrl Z, Ctrl Y", "Undo, redo an edit"], // the header listens to these two: they work while typing elsewhere too
    ] },
  ];
}

const TYPED = "input, textarea, [contenteditable='true'], .ag-root-wrapper";
const OWN_KEYS = `${TYPED}, select, dialog, [role=grid], [role=dialog], [role=menu], [role=listbox], [role=combobox]`;
const PRESSED = "button, a[href], summary, [role=button], [role=tab], [role=switch], [role=checkbox], [role=menuitem]";
const MOVED = "[role=tablist], [role=radiogroup]";

/** The button that a click meant, else the element itself. @type {(target: any) => Element} */
const pressableOf = (target) => target.closest?.(PRESSED) ?? target;

const moves = (key) => key.startsWith("Arrow") || key === "Home" || key === "End";

/**
 * Whether what has the focus needs this key for itself.  A button that was clicked has the focus, but whoever then presses Space means the
 * player, and not "that button again", with Enter the step, and with an arrow the next step, not the next tab; whoever came to it by Tab
 * means the button.  `clicked` is the element that was clicked last; null since one came to another by Tab.
 */
function ownsKey(target, key, clicked) {
  if (!target?.closest || key === "F6" || key === "F1") return false;
  if (target.closest(OWN_KEYS)) return key !== "?" || target.closest(TYPED) !== null;
  const button = target.closest(PRESSED);
  if (key === " ") return button !== null && !clicked;
  if (key === "Enter") return button !== null && !button.contains(clicked); // a panel that opens may give its own button the focus
  return moves(key) && target.closest(MOVED) !== null && !(clicked && target.closest("[role=tab]"));
}

/** @param {App} app */
export function listenKeys(app) {
  /** @type {Element | null} */
  let clicked = null; // what was clicked, unless one has come to something by Tab since
  const table = new Map();
  for (const { rows } of keyTable(app)) for (const [keys, , , act, where] of rows) for (const key of keys) table.set(key, { act, where });
  document.addEventListener("pointerdown", (event) => { clicked = pressableOf(event.target); }, true);
  const press = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (ownsKey(event.target, event.key, clicked)) return;
    const isArrow = event.key.startsWith("Arrow");
    const name = (event.shiftKey && (isArrow || event.key === "Tab" || event.key === "F6") ? "Shift+" : "") + event.key;
    const entry = table.get(name);
    if (!entry || (entry.where === "stage" && !app.hasFocus(event.target))) return;
    const { page, view } = document.documentElement.dataset;
    if (entry.where !== "everywhere" && (page === "gallery" || !app.isReady() || (view === "run" && entry.where !== "anywhere"))) return;
    if (event.key === " " && event.target !== document.body && event.target.closest?.(PRESSED)) event.target.blur(); // else its release would still press it
    if (entry.act(isArrow ? event.key : name) !== false) event.preventDefault();
  };
  document.addEventListener("keydown", press);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab" || event.key === "F6") clicked = null;
    const target = /** @type {HTMLElement} */ (event.target);
    if (!clicked || !moves(event.key) || !target.closest?.("[role=tab]")) return;
    target.blur();
    event.stopPropagation(); // the tabs would take it first
    press(event);
  }, true);
}

/**
 * The overlay of all keys: a native dialog, so that focus and Escape are the browser's.
 * @param {App} app
 */
export function helpDialog(app) {
  const then = (act) => () => { dialog.close(); act(); };
  const dialog = h("dialog.bs-help", { "aria-label": "All keys" }, h("header", {}, h("h2", {}, "Keys"),
    h("button.btn.needs-graph", { type: "button", onclick: then(() => app.legend.toggle(true)) }, "Legend"),
    h("button.btn", { type: "button", onclick: then(() => app.bus.emit("tour")) }, "Take the tour"),
    h("button.bs-close", { type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "\u00d7")),
  h("div.bs-help-columns", {}, ...keyTable(app).map(({ title, rows }) => h("section", {}, h("h3", {}, title),
    h("dl", {}, ...rows.map(([, text, meaning]) => (
      [h("dt", {}, ...text.split(", ").map((one) => h("kbd", {}, one))), h("dd", {}, meaning)])))))));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  return dialog;
}
