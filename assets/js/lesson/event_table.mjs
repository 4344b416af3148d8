// The table of all steps on a page without Dash: a list, with the few methods of a grid that panels/shell/events.mjs calls.
import { fill, h } from "../page/dom.mjs";

export class EventTable {
  /** @param {(prop: string, value: any) => void} hear */
  constructor(hear) {
    this.hear = hear;
    /** @type {{ data: any, displayed: boolean, element: HTMLElement, setSelected: (on: boolean) => void }[]} */
    this.rows = [];
    this.words = "";
    this.element = h("div.event-table", { role: "grid", "aria-label": "Events" });
    this.element.addEventListener("click", (event) => this.onPress(/** @type {Element} */ (event.target)));
    this.element.addEventListener("keydown", (event) => this.onKey(event));
  }

  set({ rowData }) {
    if (!rowData) return;
    this.rows = rowData.map((data) => {
      const element = h("div.event-row", { role: "row", tabindex: "-1", "data-step": data.step }, h("span.num", { role: "gridcell" }, data.step), h("span.event.ag-cell", { role: "gridcell" }, data.text));
      return { data, displayed: true, element, setSelected: (on) => element.toggleAttribute("data-selected", on) };
    });
    this.rows[0]?.element.setAttribute("tabindex", "0");
    this.filter();
    fill(this.element, this.rows.map(({ element }) => element));
    requestAnimationFrame(() => this.hear("virtualRowData", rowData));
  }

  filter() {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of this.rows) {
      const text = `${row.data.step} ${row.data.kind} ${row.data.text}`.toLowerCase();
      row.displayed = words.every((word) => text.includes(word));
      row.element.hidden = !row.displayed;
    }
  }

  onPress(target) {
    const row = /** @type {HTMLElement | null} */ (target.closest("[data-step]"));
    if (row) this.hear("cellClicked", { rowId: row.dataset.step });
  }

  onKey(event) {
    const visible = this.rows.filter(({ displayed }) => displayed);
    const next = visible[visible.findIndex(({ element }) => element === event.target) + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? NaN)];
    if (!next) return;
    next.element.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  // -- what is asked of a grid

  setGridOption(_name, text) { this.words = text; this.filter(); }

  getDisplayedRowCount() { return this.rows.filter(({ displayed }) => displayed).length; }

  getRowNode(id) { return this.rows.find(({ data }) => String(data.step) === id) ?? null; }

  getFocusedCell() {
    const rowIndex = this.rows.findIndex(({ element }) => element === document.activeElement);
    return rowIndex < 0 ? null : { rowIndex };
  }

  getDisplayedRowAtIndex(at) { return this.rows[at]; }

  forEachNode(act) { this.rows.forEach(act); }

  deselectAll() { this.rows.forEach((row) => row.setSelected(false)); }

  ensureNodeVisible(row) { row.element.scrollIntoView({ block: "nearest" }); }
}
