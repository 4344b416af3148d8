// Edits as data: from the commands of a scene to the list that the server replays. Pure: no page here.
import { nest } from "../scene/format.mjs";
import { count } from "./value_text.mjs";

/** @import { Command, CommandSpec, Edits, Scene } from "../scene/scene.d.ts" */

/**
 * The number of a tensor from an element id: "t3", "t3.1" and "t3@n5" are all 3.
 * @type {(id: string | null | undefined) => any}
 */
export const tensorOf = (id) => (id ? Number(/^t(\d+)/.exec(id)?.[1]) : null);

export const NONE = Object.freeze({ leaves: Object.freeze({}), commands: null });

/** @type {(edits: Edits | null | undefined) => boolean} */
export const isNone = (edits) => !edits || (edits.commands === null && Object.keys(edits.leaves).length === 0);

export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The commands as specifications: the edited list where there is one (it also has what an error kept from running).
 * @type {(scene: Scene, edits: Edits | null | undefined) => CommandSpec[]}
 */
export function specs(scene, edits) {
  return edits?.commands ?? scene.commands.map((command) => specOf(command));
}

/** The commands to list, in the order of the program: those of the scene, and those that an error kept from running. */
export function commandsOf(scene, edits, labels = new Map()) {
  const reached = new Set(scene.commands.map((command) => command.id));
  const rest = (edits?.commands || []).filter((spec) => !reached.has(spec.id)).map((spec) => ({
    ...spec, label: labels.get(spec.id) ?? (spec.kind === "backward" ? "backward()" : spec.kind), code: null, start: scene.steps.length, end: scene.steps.length,
    root: spec.root === null ? null : `t${spec.root}`, shape: null, gradient: null, implicit: false, inputs: null, changed: null, error: null, unreached: true,
  }));
  const order = new Map(inOrder(edits?.commands || []).map((spec, i) => [spec.id, i]));
  return [...scene.commands, ...rest].sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
}

const afterOf = (spec) => spec.after ?? Infinity;

/** Commands in the order in which they run: one without a place runs last. */
export const inOrder = (list) => list.map((spec, i) => [spec, i]).sort(([a, i], [b, j]) => (afterOf(a) === afterOf(b) ? i - j : afterOf(a) - afterOf(b))).map(([spec]) => spec);

/**
 * The numbers that a call is seen to pass, as nested lists; null where they are filled in, or too many to be in a scene.
 * @type {(command: Command, scene: Scene) => any}
 */
export function passedNumbers(command, scene) {
  const value = command.gradient === null || command.implicit ? null : scene.values[command.gradient];
  return value?.data ? nest(value.data, value.shape) : null;
}

/** A recorded command: its gradient is the one that the program passes (null), whatever shape that has. */
function specOf(command) {
  return {
    id: command.id,
    kind: command.kind,
    after: command.after,
    root: command.kind === "backward" ? tensorOf(command.root) : null,
    gradient: null,
    retain_graph: command.retain_graph,
    create_graph: command.create_graph,
    inputs: command.inputs ? command.inputs.map(tensorOf) : null,
    leaf: command.kind === "backward" ? null : tensorOf(command.root),
  };
}

export const withCommands = (edits, commands) => ({ leaves: edits?.leaves || {}, commands });

/**
 * One command changed.
 * @type {(scene: Scene, edits: Edits | null, id: string, changes: Partial<CommandSpec>) => Edits}
 */
export function change(scene, edits, id, changes) {
  return withCommands(edits, specs(scene, edits).map((spec) => (spec.id === id ? { ...spec, ...changes } : spec)));
}

/** @type {(scene: Scene, edits: Edits | null, id: string) => Edits} */
export function remove(scene, edits, id) {
  return withCommands(edits, specs(scene, edits).filter((spec) => spec.id !== id));
}

/**
 * A new command; its id is one that no command has. Without a place it stands behind all else.
 * @type {(scene: Scene, edits: Edits | null, fields: any) => CommandSpec}
 */
export function newCommand(scene, edits, fields) {
  const list = specs(scene, edits);
  const ids = new Set(list.map((spec) => spec.id));
  let n = list.length + 1;
  while (ids.has(`new${n}`)) n += 1;
  const blank = { root: null, gradient: null, retain_graph: false, create_graph: false, inputs: null, leaf: null };
  return { ...blank, after: null, ...fields, id: `new${n}` };
}

/**
 * The edits with one more command, behind all others.
 * @type {(scene: Scene, edits: Edits | null, fields: any) => { edits: Edits, id: string }}
 */
export function add(scene, edits, fields) {
  const spec = newCommand(scene, edits, fields);
  return { edits: withCommands(edits, [...specs(scene, edits), spec]), id: spec.id };
}

/** Other values for a leaf. */
export function setLeaf(edits, tensor, nested) {
  return { leaves: { ...(edits?.leaves || {}), [tensor]: nested }, commands: edits?.commands ?? null };
}

/** The leaf as recorded again. */
export function resetLeaf(edits, tensor) {
  const leaves = { ...(edits?.leaves || {}) };
  delete leaves[tensor];
  return { leaves, commands: edits?.commands ?? null };
}

/** Flat data of a preset. `random` repeats for one seed, so that undo and redo lead to the same numbers. */
export function preset(name, shape, { cell = 0, seed = 1 } = {}) {
  const size = count(shape);
  if (name === "ones") return Array(size).fill(1);
  if (name === "zeros") return Array(size).fill(0);
  if (name === "one-hot") return Array.from({ length: size }, (_, i) => (i === cell ? 1 : 0));
  let state = seed >>> 0;
  return Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes' linear congruence: enough for weights
    return Math.round((state / 2 ** 31 - 1) * 100) / 100;
  });
}
