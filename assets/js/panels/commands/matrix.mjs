// The grid in which a gradient or a leaf is edited, cell by cell in its shape; a large one through a window.
import { byId, fill, h, mount, setProps } from "../../page/dom.mjs";
import { table } from "../../page/value_text.mjs";

const WIDE = 64; // columns in the window
const LONG = 256; // rows in the window
const ROW = 32;
const HEAD = 28;
const MOST_HIGH = 300;

export class Matrix {
  constructor() {
    this.origin = [0, 0]; // row and column at the window's corner
    /** @type {{ shape: number[] | null, data: any[] | null }} */
    /** @type {{ shape: number[] | null, data: any[] }} */
    this.numbers = { shape: null, data: [] };
  }

  /** Shows the numbers with columns for this shape. */
  show(shape, data) {
    this.origin = [0, 0];
    this.numbers = { shape, data };
    const fresh = mount("command-grid-place");
    // A grid that has just been mounted takes properties from the next frame on.
    if (fresh) requestAnimationFrame(() => this.write());
    else this.write();
  }

  /** Other numbers in the same columns: what has the focus keeps it. */
  fill(shape, data) {
    const same = this.numbers.shape && JSON.stringify(shape) === JSON.stringify(this.numbers.shape);
    this.numbers = { shape, data };
    if (same) setProps("command-grid", { rowData: this.rows() });
    else this.show(shape, data);
  }

  /** The index of the element that a grid event is about; null outside. */
  cellOf({ rowId, rowIndex, colId }, shape) {
    const col = Number(/^c(\d+)$/.exec(colId)?.[1]);
    const row = Number(rowIndex ?? rowId);
    if (!Number.isInteger(col) || !Number.isInteger(row)) return null;
    return (row + this.origin[0]) * table(shape)[1] + col;
  }

  size() {
    const [all, cols] = table(this.numbers.shape);
    return [Math.min(all - this.origin[0], LONG), Math.min(cols - this.origin[1], WIDE)];
  }

  write() {
    const [high, wide] = this.size();
    /** @type {Record<string, any>[]} */
    const columnDefs = Array.from({ length: wide }, (_, i) => ({
      field: `c${i + this.origin[1]}`, headerName: String(i + this.origin[1]), minWidth: 52, width: 58, flex: wide <= 5 ? 1 : undefined, cellClass: "num", sortable: false,
    }));
    if (high > 1) columnDefs.unshift({ field: "row", headerName: "", width: 44, editable: false, pinned: "left", cellClass: "row-number" });
    const style = { height: `${Math.min(MOST_HIGH, HEAD + high * ROW + 4 + (wide > 5 ? 14 : 0))}px`, width: "100%" };
    setProps("command-grid", { columnDefs, rowData: this.rows(), style });
    this.writeWindow();
  }

  rows() {
    const cols = table(this.numbers.shape)[1];
    const [high, wide] = this.size();
    return Array.from({ length: high }, (_, r) => {
      const row = { row: r + this.origin[0] };
      for (let c = 0; c < wide; c += 1) row[`c${c + this.origin[1]}`] = this.numbers.data[(r + this.origin[0]) * cols + c + this.origin[1]];
      return row;
    });
  }

  /** Where the window lies, and the way to the rest of a large tensor. */
  writeWindow() {
    const [all, cols] = table(this.numbers.shape);
    const place = byId("command-window");
    if (all <= LONG && cols <= WIDE) { fill(place); return; }
    const move = (axis, by, most) => () => {
      this.origin[axis] = Math.max(0, Math.min(most - 1, this.origin[axis] + by));
      this.write();
    };
    const pair = (axis, span, most, name) => (most <= span ? [] : [
      h("button.quiet", { type: "button", "aria-label": `${name} before`, disabled: this.origin[axis] === 0, onclick: move(axis, -span, most) }, "‹"),
      h("span.hint", {}, `${name} ${this.origin[axis]} to ${Math.min(most, this.origin[axis] + span) - 1} of ${most}`),
      h("button.quiet", { type: "button", "aria-label": `${name} after`, disabled: this.origin[axis] + span >= most, onclick: move(axis, span, most) }, "›"),
    ]);
    fill(place, pair(0, LONG, all, "rows"), pair(1, WIDE, cols, "columns"));
  }
}
