// The cells of a gradient or a leaf on a page without Dash: a table of inputs, with the properties that panels/commands/matrix.mjs sets.
import { fill, h } from "../page/dom.mjs";

export class GradientTable {
  /** @param {(prop: string, value: any) => void} hear */
  constructor(hear) {
    this.hear = hear;
    /** @type {any[]} */
    this.columnDefs = [];
    /** @type {any[]} */
    this.rowData = [];
    this.element = h("div.gradient-table");
  }

  set({ columnDefs = this.columnDefs, rowData = this.rowData, style }) {
    Object.assign(this, { columnDefs, rowData });
    if (style) Object.assign(this.element.style, style);
    fill(this.element, h("table", {},
      h("thead", {}, h("tr", {}, columnDefs.map(({ headerName }) => h("th", { scope: "col" }, headerName)))),
      h("tbody", {}, rowData.map((row, rowIndex) => h("tr", {}, columnDefs.map(({ field, editable }) => (
        editable === false ? h("th.row-number", { scope: "row" }, row[field]) : h("td", {}, this.cell(row[field], field, rowIndex)))))))));
  }

  cell(value, colId, rowIndex) {
    return h("input.num", {
      type: "text", inputmode: "decimal", value, "aria-label": `Element ${colId.slice(1)} of row ${rowIndex}`,
      onchange: (event) => this.hear("cellValueChanged", [{ rowIndex, colId, value: event.target.value }]),
      onclick: () => this.hear("cellClicked", { rowIndex, colId }),
      onkeydown: (event) => { if (event.key === "Enter") event.target.blur(); },
    });
  }
}
