// The grid in which a gradient or a leaf is edited, cell by cell in its shape; a large one through a window.
import { byId, fill, h, mount, setProps } from "../../page/dom.mjs";
import { table } from "../../page/read.mjs";

const WIDE = 64; // columns in the window
const LONG = 256; // rows in the window
const ROW = 32;
const HEAD = 28;
const MOST_HIGH = 300;

let origin = [0, 0]; // row and column at the window's corner
let shown = { shape: null, data: null };

/** Shows the numbers with columns for this shape. */
export function showGrid(shape, data) {
  origin = [0, 0];
  shown = { shape, data };
  const fresh = mount("command-grid-place");
  // A grid that has just been mounted takes properties from the next frame on.
  if (fresh) requestAnimationFrame(write);
  else write();
}

/** Other numbers in the same columns: what has the focus keeps it. */
export function fillGrid(shape, data) {
  const same = shown.shape && JSON.stringify(shape) === JSON.stringify(shown.shape);
  shown = { shape, data };
  if (same) setProps("command-grid", { rowData: rows() });
  else showGrid(shape, data);
}

/** The index of the element that a grid event is about; null outside. */
export function gridCell({ rowId, rowIndex, colId }, shape) {
  const col = Number(/^c(\d+)$/.exec(colId)?.[1]);
  const row = Number(rowIndex ?? rowId);
  if (!Number.isInteger(col) || !Number.isInteger(row)) return null;
  return (row + origin[0]) * table(shape)[1] + col;
}

function size() {
  const [all, cols] = table(shown.shape);
  return [Math.min(all - origin[0], LONG), Math.min(cols - origin[1], WIDE)];
}

function write() {
  const [high, wide] = size();
  const columnDefs = Array.from({ length: wide }, (_, i) => ({
    field: `c${i + origin[1]}`, headerName: String(i + origin[1]), minWidth: 52, width: 58, flex: wide <= 5 ? 1 : undefined, cellClass: "num", sortable: false,
  }));
  if (high > 1) columnDefs.unshift({ field: "row", headerName: "", width: 44, editable: false, pinned: "left", cellClass: "row-number" });
  const style = { height: `${Math.min(MOST_HIGH, HEAD + high * ROW + 4 + (wide > 5 ? 14 : 0))}px`, width: "100%" };
  setProps("command-grid", { columnDefs, rowData: rows(), style });
  writeWindow();
}

function rows() {
  const cols = table(shown.shape)[1];
  const [high, wide] = size();
  return Array.from({ length: high }, (_, r) => {
    const row = { row: r + origin[0] };
    for (let c = 0; c < wide; c += 1) row[`c${c + origin[1]}`] = shown.data[(r + origin[0]) * cols + c + origin[1]];
    return row;
  });
}

/** Where the window lies, and the way to the rest of a large tensor. */
function writeWindow() {
  const [all, cols] = table(shown.shape);
  const place = byId("command-window");
  if (all <= LONG && cols <= WIDE) { fill(place); return; }
  const move = (axis, by, most) => () => {
    origin[axis] = Math.max(0, Math.min(most - 1, origin[axis] + by));
    write();
  };
  const pair = (axis, span, most, name) => (most <= span ? [] : [
    h("button.quiet", { type: "button", "aria-label": `${name} before`, disabled: origin[axis] === 0, onclick: move(axis, -span, most) }, "‹"),
    h("span.hint", {}, `${name} ${origin[axis]} to ${Math.min(most, origin[axis] + span) - 1} of ${most}`),
    h("button.quiet", { type: "button", "aria-label": `${name} after`, disabled: origin[axis] + span >= most, onclick: move(axis, span, most) }, "›"),
  ]);
  fill(place, pair(0, LONG, all, "rows"), pair(1, WIDE, cols, "columns"));
}
