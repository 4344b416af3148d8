// The table of all steps: a click goes to a step; the row of the current one is marked and kept in view.
import { currentStep, spokenText } from "../../scene/timeline.mjs";
import { byId, fill, mount, setProps } from "../../page/dom.mjs";

export class Events {
  /** @param {any} player `window.backstep` */
  constructor(player) {
    this.player = player;
    /** @type {import("../../scene/scene.d.ts").Scene} the one that is shown; none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    this.visible = false; // whether the tab is open: a hidden table follows nothing
    /** @type {any} the scene whose rows the table has */
    this.loaded = null;
    this.marked = -1;
    byId("events-grid-place").addEventListener("keydown", (event) => this.onKey(event), { capture: true }); // before the grid's own keys
  }

  /** Tab leaves the table, where the grid's own would go through all its cells, thousands of them; Enter goes to the step. */
  onKey(event) {
    if (event.key === "Enter") {
      const row = grid()?.getFocusedCell()?.rowIndex;
      const step = row === undefined || !event.target.closest(".ag-cell") ? null : grid().getDisplayedRowAtIndex(row)?.data.step;
      if (step) this.player.seek(step);
    } else if (event.key === "Tab") {
      event.stopPropagation();
      const stops = event.currentTarget.querySelectorAll('[tabindex="0"]');
      const scrolls = event.currentTarget.querySelectorAll('[class*="viewport"]'); // a browser stops at these where nothing in them is a stop
      [...stops, ...scrolls].forEach((stop) => { stop.tabIndex = -1; }); // they would keep the focus in the table
      requestAnimationFrame(() => stops.forEach((stop) => { stop.tabIndex = 0; }));
    }
  }

  load(next) {
    this.scene = next;
    if (this.visible) this.show();
  }

  open(visible) {
    this.visible = visible;
    if (visible && this.scene) this.show();
  }

  show() {
    mount("events-grid-place");
    if (this.loaded !== this.scene) {
      this.loaded = this.scene;
      this.marked = -1;
      const rowData = this.scene.steps.map((step, i) => {
        const line = (step.from || step.code)?.line;
        return { step: i + 1, kind: step.kind, text: `${step.name}${line ? ` · line ${line}` : ""}\n${spokenText(step)}` };
      });
      requestAnimationFrame(() => setProps("events-grid", { rowData }));
      this.note("", rowData.length);
    }
    this.seek(this.player.t());
  }

  seek(t) {
    if (!this.visible || !this.scene) return;
    const k = currentStep(t);
    if (k === this.marked) return;
    const api = grid();
    if (!api) return;
    /** @type {any} a row of the grid */
    let row = null;
    api.forEachNode((node) => { if (node.data.step === k + 1) row = node; });
    api.deselectAll();
    if (!row && k >= 0) return;
    this.marked = k;
    if (!row) return;
    row.setSelected(true);
    if (row.displayed !== false) api.ensureNodeVisible(row, null);
  }

  /** The rows are there: mark the present one. */
  onReady() {
    this.marked = -2;
    this.seek(this.player.t());
  }

  onClick(cell) {
    const row = cell?.rowId !== undefined ? grid()?.getRowNode(String(cell.rowId)) : null;
    const step = row?.data?.step;
    if (step) this.player.seek(step);
  }

  filter(text) {
    grid()?.setGridOption("quickFilterText", text || "");
    const left = grid()?.getDisplayedRowCount();
    this.note(text, left ?? 0);
  }

  /** How many rows there are, and what helps where there is none. */
  note(text, left) {
    const count = this.scene?.steps.length ?? 0;
    const words = !count ? "This program ran no op on a tensor, so there are no steps to list."
      : !text ? `${count} steps. Click one, or press Enter on it, to go there.`
        : left ? `${left} of ${count} steps contain “${text}”.` : `No step contains “${text}”. Try the name of a tensor, MulBackward0, leaf, saves, or line 3.`;
    fill(byId("events-note"), words);
  }
}

const grid = () => {
  try { return window.dash_ag_grid?.getApi("events-grid") || null; } catch { return null; }
};
