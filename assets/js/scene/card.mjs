// The positions inside the box of a node. Pure: units of the plane, in absolute coordinates.
// The layout gives the box; natural sizes are in docs/scene-format.md. Rows that do not fit are made lower, none is left out.

import { CELL_ROW, DOT, DOT_LINES, DOTS_PAD, FOOT, HEAD, LABEL, PAD, STRIP, WIDEST_COLUMN } from "./shared.mjs";

/** @import { Box, Dot, Group, Node, Row } from "./scene.d.ts" */
/** @typedef {{ x: number, y: number, w: number, h: number }} Rect */
/**
 * The place of a row: its box, `labelY` the middle of its label, `count` cells in `cols` columns, each `cellW` by `cellH`, `pitch` apart; the
 * last one stands for `more` elements that have no cell.
 * @typedef {Rect & { row: Row, labelY: number, cols: number, count: number, pitchX: number, pitchY: number, cellW: number, cellH: number, more?: number }} RowPlace
 */
/** @typedef {Rect & { kind: "group" }} Shown an open group, in the form of a node */

const CELL_GAP = 4;
const LEAST_PITCH = 30; // the narrowest cell and its gap: a number of few letters

/** @type {(node: Rect) => Box} */
export function boxOf(node) {
  return [node.x - node.w / 2, node.y - node.h / 2, node.x + node.w / 2, node.y + node.h / 2];
}

/**
 * The radius of a node's corners: of a low op less than half its height, or its lower line would touch them at the least zoom.
 * @type {(node: { kind: string, h: number }) => number}
 */
export function cornerOf(node) {
  return node.kind === "op" ? Math.min(26, node.h * 0.36) : 10;
}

/**
 * The rows of a card: [{ row, x, y, w, h, labelY, cols, count, cellW, cellH, pitchX, pitchY }].
 * @type {(node: Node) => RowPlace[]}
 */
export function rowsOf(node) {
  const [x0, y0] = boxOf(node);
  const natural = node.rows.reduce((sum, row) => sum + rowHeight(row), 0);
  const room = node.h - HEAD - FOOT;
  const scale = natural > 0 ? Math.min(1, room / natural) : 1;
  const inner = node.w - 2 * PAD;
  let y = y0 + HEAD;
  return node.rows.map((row) => {
    const label = row.key === "value" ? 0 : LABEL * scale;
    const pitchX = row.cols ? Math.min((inner + CELL_GAP) / row.cols, WIDEST_COLUMN) : inner;
    const pitchY = (row.rows ? CELL_ROW : STRIP) * scale;
    const place = {
      row, x: x0 + PAD, y: y + label, w: row.cols ? pitchX * row.cols - CELL_GAP : inner, h: pitchY * (row.rows || 1) - CELL_GAP,
      labelY: y + label / 2 - 2, // so that no letter of it hangs into the cells
      cols: row.cols, count: cellCount(node, row), pitchX, pitchY, cellW: pitchX - CELL_GAP, cellH: pitchY - CELL_GAP,
    };
    y += rowHeight(row) * scale;
    return place;
  });
}

/** @type {(row: Row) => number} */
function rowHeight(row) {
  return (row.key === "value" ? 0 : LABEL) + (row.rows ? row.rows * CELL_ROW : STRIP);
}

/**
 * The place of a row that is to hold `size` elements: where it has fewer cells (a gradient of a shape that does not fit),
 * more and narrower ones.  Where they have no room either, the last cell stands for the `more` that are left.
 * @type {(place: RowPlace, size: number, node: { w: number }) => RowPlace}
 */
export function holding(place, size, node) {
  if (!place.cols || size <= place.count) return place;
  const room = node.w - 2 * PAD + CELL_GAP;
  const cols = Math.min(Math.ceil(size / place.row.rows), Math.max(1, Math.floor(room / LEAST_PITCH)));
  const pitchX = Math.min(room / cols, place.pitchX);
  const count = Math.min(size, cols * place.row.rows);
  return { ...place, cols, count, pitchX, cellW: pitchX - CELL_GAP, w: pitchX * cols - CELL_GAP, more: size > count ? size - count + 1 : 0 };
}

/**
 * How many cells a row really has: the last line of a long vector may not be full.
 * @type {(node: Node, row: Row) => number}
 */
function cellCount(node, row) {
  const size = node.shape ? node.shape.reduce((a, b) => a * b, 1) : Infinity;
  return Math.min(row.rows * row.cols, size);
}

/**
 * The box of one cell: {x, y, w, h}; of the whole row where it has no cells.
 * @type {(place: RowPlace, cell: number) => Rect}
 */
export function cellOf(place, cell) {
  if (!place.cols) return { x: place.x, y: place.y, w: place.w, h: place.h };
  const r = Math.floor(cell / place.cols);
  const c = cell % place.cols;
  return { x: place.x + c * place.pitchX, y: place.y + r * place.pitchY, w: place.cellW, h: place.cellH };
}

/**
 * What is under a point of a card: { row, cell } (cell -1 between the cells or on a strip), or null; `at` gives the place of a row.
 * @type {(node: Node, x: number, y: number, at?: (place: RowPlace) => RowPlace) => { row: Row, cell: number } | null}
 */
export function cellAt(node, x, y, at = (place) => place) {
  for (const place of rowsOf(node).map(at)) {
    if (x < place.x || x > place.x + place.w || y < place.y || y > place.y + place.h) continue;
    if (!place.cols) return { row: place.row, cell: -1 };
    const c = Math.floor((x - place.x) / place.pitchX);
    const r = Math.floor((y - place.y) / place.pitchY);
    const inside = x - place.x - c * place.pitchX <= place.cellW && y - place.y - r * place.pitchY <= place.cellH;
    const cell = r * place.cols + c;
    return { row: place.row, cell: inside && cell < place.count - (place.more ? 1 : 0) ? cell : -1 };
  }
  return null;
}

/**
 * The fold mark of a group: a square before its title; of a node (folded) or of an open group's box.
 * @type {(box: Box) => Rect}
 */
export function foldMark(box) {
  return { x: box[0] + 8, y: box[1] + 8, w: 20, h: 20 };
}

/**
 * The boxes of an open group: one, or one in each line of the picture over which it goes on; its mark and name stand in the first.
 * @type {(group: { parts?: Box[], box?: Box }) => Box[]}
 */
export function boxesOf(group) {
  return group.parts ?? (group.box ? [group.box] : []);
}

/**
 * What an id is shown as: a node, or the (first) box of an open group in the form of one; null for what is not there.
 * @type {(index: { nodes: Map<string, Node>, groups: Map<string, Group> }, id: string) => Node | Shown | null}
 */
export function shownAs(index, id) {
  const [box] = boxesOf(index.groups.get(id) ?? {});
  return index.nodes.get(id) ?? (box ? { kind: "group", x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2, w: box[2] - box[0], h: box[3] - box[1] } : null);
}

/** Where a group's title begins, behind its fold mark. */
export const GROUP_TITLE = 36;

/** @type {(rect: Rect, x: number, y: number) => boolean} */
export function contains(rect, x, y) {
  return x >= rect.x && x <= rect.x + rect.w && y >= rect.y && y <= rect.y + rect.h;
}

/**
 * A box with some room around it.
 * @type {(box: number[], by: number) => Box}
 */
export const growBox = ([x0, y0, x1, y1], by) => [x0 - by, y0 - by, x1 + by, y1 + by];

/**
 * The area that two boxes have in common.
 * @type {(a: number[], b: number[]) => number}
 */
export function commonArea(a, b) {
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
}

export const DOT_RADIUS = 6;
const DOTS_TOP = 82; // of a folded group, to the middle of its first line of dots

/**
 * The dots of a folded group, each with its middle; `more` is the number of those without room, which is written at `end`.
 * @type {(node: Node) => { dots: { dot: Dot, x: number, y: number }[], more: number, end: [number, number] }}
 */
export function dotsOf(node) {
  const all = node.dots ?? [];
  const [x0, y0] = boxOf(node);
  const columns = Math.max(Math.floor((node.w - 2 * DOTS_PAD) / DOT), 1);
  const most = columns * DOT_LINES;
  const count = all.length > most ? most - 2 : all.length; // the number takes the room of two
  const across = all.length > most ? columns : Math.ceil(all.length / Math.ceil(all.length / columns)); // equal lines
  const place = (i) => /** @type {[number, number]} */ ([x0 + DOTS_PAD + (i % across + 0.5) * DOT, y0 + DOTS_TOP + Math.floor(i / across) * DOT]);
  const dots = all.slice(0, count).map((dot, i) => ({ dot, x: place(i)[0], y: place(i)[1] }));
  return { dots, more: all.length - count, end: place(count) };
}

/**
 * The dot of a folded group at a point.
 * @type {(node: Node, x: number, y: number) => Dot | null}
 */
export const dotAt = (node, x, y) => dotsOf(node).dots.find((one) => Math.hypot(x - one.x, y - one.y) <= DOT / 2)?.dot ?? null;
