// Stacks: series of equal groups as one node with a strip of cells, of which one is open at most.  Pure.

import { boxOf } from "./card.mjs";
import { CELL_LINE, CELLS, DOTS_PAD } from "./shared.mjs";

/** @import { Cell, Group, Node, Scene } from "./scene.d.ts" */
/** @import { Rect } from "./card.mjs" */
/** @typedef {Record<string, boolean>} Folds by group whether it is folded */

const TOP = 77; // of a stack, to its first line of cells
const WIDEST = 24;
const GAP = 2;
const BETWEEN = 5; // between two lines

/**
 * The cells of a stack's strip, each with its box.
 * @type {(node: Node) => (Rect & { cell: Cell })[]}
 */
export function stripOf(node) {
  const cells = node.cells ?? [];
  const [x0, y0] = boxOf(node);
  const columns = Math.ceil(cells.length / Math.ceil(cells.length / CELLS)); // equal lines
  const pitch = Math.min((node.w - 2 * DOTS_PAD) / columns, WIDEST);
  return cells.map((cell, i) => ({
    cell, x: x0 + DOTS_PAD + (i % columns) * pitch, y: y0 + TOP + Math.floor(i / columns) * CELL_LINE, w: pitch - GAP, h: CELL_LINE - BETWEEN,
  }));
}

/** @type {(node: Node, x: number, y: number) => Cell | null} the member of a stack whose cell is at a point */
export const memberAt = (node, x, y) => stripOf(node).find((one) => x >= one.x && x <= one.x + one.w + GAP && y >= one.y && y <= one.y + one.h)?.cell ?? null;

/** The member in which the step that ends at `t` lies. @type {(scene: Scene, node: Node, t: number) => Cell | null} */
export function presentMember(scene, node, t) {
  const k = Math.ceil(t) - 1;
  const groups = new Set(scene.spans.filter(({ start, end }) => start <= k && k < end).map(({ group }) => group));
  return node.cells?.find(({ id }) => groups.has(id)) ?? null;
}

/**
 * What changes where a group is unfolded, or folded if it is open; null for what cannot be.  In a stack the member opens that is named, else
 * that of the present step; the one that was open closes.
 * @type {(scene: Scene, id: string, t: number) => Folds | null}
 */
export function toggleFolds(scene, id, t) {
  const node = scene.nodes.find((one) => one.cells && (one.id === id || one.cells.some((cell) => cell.id === id)));
  if (node) return openMember(scene, node.id, node.id === id ? (presentMember(scene, node, t) ?? node.cells?.[0])?.id ?? id : id);
  const group = scene.groups.find((one) => one.id === id);
  if (!group) return null;
  if (group.stack) return closeStack(scene, group);
  const stack = stackAround(scene, group);
  if (!stack) return { [id]: !group.folded };
  return group.folded ? openMember(scene, id, id) : { ...closeStack(scene, stack), [id]: true };
}

/** The member after the open one of a stack (`by` -1: before), and what changes where it opens; null where there is none. @type {(scene: Scene, by: number, near: string | null) => Folds | null} */
export function neighbour(scene, by, near) {
  const groups = new Map(scene.groups.map((group) => [group.id, group]));
  const around = [];
  for (let group = groups.get(near ?? ""); group; group = groups.get(group.within ?? "")) around.push(group);
  const open = around.find((group) => !group.folded && stackAround(scene, group)) ?? scene.groups.findLast((group) => !group.folded && stackAround(scene, group));
  const stack = open && stackAround(scene, open);
  const members = stack ? membersOf(scene, stack) : [];
  const next = members[members.indexOf(open?.id ?? "") + by];
  return next === undefined || !open ? null : { [open.id]: true, [next]: false };
}

/** The members of an open stack, in the order of the program. @type {(scene: Scene, stack: Group) => string[]} */
function membersOf(scene, stack) {
  const cells = new Map(scene.nodes.flatMap((node) => (node.cells && node.group === stack.id ? [[node.id, node.cells.map(({ id }) => id)]] : [])));
  return scene.groups.flatMap((group) => (group.within !== stack.id ? [] : cells.get(group.id) ?? [group.id]));
}

/** @type {(scene: Scene, group: Group) => Group | null} */
const stackAround = (scene, group) => scene.groups.find((one) => one.id === group.within && one.stack) ?? null;

/** The members of a stack that are open, to be closed. @type {(scene: Scene, stack: Group) => Folds} */
const withoutOpen = (scene, stack) => Object.fromEntries(scene.groups.filter((one) => one.within === stack.id && !one.folded).map((one) => [one.id, true]));

/** @type {(scene: Scene, stack: Group) => Folds} */
const closeStack = (scene, stack) => ({ ...withoutOpen(scene, stack), [stack.id]: true });

/**
 * A member of the stack, or of the part of one, that a node stands for.
 * @type {(scene: Scene, node: string, member: string) => Folds}
 */
function openMember(scene, node, member) {
  const group = scene.groups.find((one) => one.id === node);
  const stack = group ? stackAround(scene, group) : null;
  return { ...(stack ? withoutOpen(scene, stack) : {}), [node]: false, [member]: false };
}
