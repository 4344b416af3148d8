// The table of all steps: a click goes there, the row of the present step is marked and kept in view.
import { currentStep, spoken } from "../../scene/timeline.mjs";
import { byId, fill, mount, setProps } from "../../page/dom.mjs";

let scene = null;
let player = null;
let shown = false; // whether the tab is open: a hidden table follows nothing
let loaded = null;
let marked = -1;

export function setUp(backstep) {
  player = backstep;
  byId("events-grid-place").addEventListener("keydown", pressed, { capture: true }); // before the grid's own keys
}

/** Tab leaves the table, where the grid's own would go through all its cells, thousands of them; Enter goes to the step. */
function pressed(event) {
  if (event.key === "Enter") {
    const row = grid()?.getFocusedCell()?.rowIndex;
    const step = row === undefined || !event.target.closest(".ag-cell") ? null : grid().getDisplayedRowAtIndex(row)?.data.step;
    if (step) player.seek(step);
  } else if (event.key === "Tab") {
    event.stopPropagation();
    const stops = event.currentTarget.querySelectorAll('[tabindex="0"]');
    const scrolls = event.currentTarget.querySelectorAll('[class*="viewport"]'); // a browser stops at these where nothing in them is a stop
    [...stops, ...scrolls].forEach((stop) => { stop.tabIndex = -1; }); // they would keep the focus in the table
    requestAnimationFrame(() => stops.forEach((stop) => { stop.tabIndex = 0; }));
  }
}

export function load(next) {
  scene = next;
  if (shown) show();
}

export function open(visible) {
  shown = visible;
  if (visible && scene) show();
}

function show() {
  mount("events-grid-place");
  if (loaded !== scene) {
    loaded = scene;
    marked = -1;
    const rowData = scene.steps.map((step, i) => {
      const line = (step.from || step.code)?.line;
      return { step: i + 1, kind: step.kind, text: `${step.name}${line ? ` · line ${line}` : ""}\n${spoken(step)}` };
    });
    requestAnimationFrame(() => setProps("events-grid", { rowData }));
    note("", rowData.length);
  }
  seek(player.t());
}

const grid = () => {
  try { return window.dash_ag_grid?.getApi("events-grid") || null; } catch { return null; }
};

export function seek(t) {
  if (!shown || !scene) return;
  const k = currentStep(t);
  if (k === marked) return;
  const api = grid();
  if (!api) return;
  let found = null;
  api.forEachNode((node) => { if (node.data.step === k + 1) found = node; });
  api.deselectAll();
  if (!found && k >= 0) return;
  marked = k;
  if (!found) return;
  found.setSelected(true);
  if (found.displayed !== false) api.ensureNodeVisible(found, null);
}

/** The rows are there: mark the present one. */
export function ready() {
  marked = -2;
  seek(player.t());
}

export function clicked(cell) {
  const row = cell?.rowId !== undefined ? grid()?.getRowNode(String(cell.rowId)) : null;
  const step = row?.data?.step;
  if (step) player.seek(step);
}

export function filter(text) {
  grid()?.setGridOption("quickFilterText", text || "");
  const left = grid()?.getDisplayedRowCount();
  note(text, left ?? 0);
}

/** How many rows there are, and what helps where there is none. */
function note(text, left) {
  const count = scene?.steps.length ?? 0;
  const words = !count ? "This program ran no op on a tensor, so there are no steps to list."
    : !text ? `${count} steps. Click one, or press Enter on it, to go there.`
      : left ? `${left} of ${count} steps contain “${text}”.` : `No step contains “${text}”. Try the name of a tensor, MulBackward0, leaf, saves, or line 3.`;
  fill(byId("events-note"), words);
}
