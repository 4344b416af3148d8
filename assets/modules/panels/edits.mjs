// Edits as data: from the commands of a scene to the list that the server replays. Pure: no page here.
import { nest } from "../format.mjs";
import { count } from "./read.mjs";

/** The number of a tensor from an element id: "t3", "t3.1" and "t3@n5" are all 3. */
export const tensorOf = (id) => (id ? Number(/^t(\d+)/.exec(id)?.[1]) : null);

export const NONE = { leaves: {}, commands: null };

export const isNone = (edits) => !edits || (edits.commands === null && Object.keys(edits.leaves).length === 0);

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The commands as specifications: the edited list where there is one (it also has what an error kept from running). */
export function specs(scene, edits) {
  return edits?.commands ?? scene.commands.map((command) => specOf(command, scene));
}

/** The commands to list: those of the scene, and behind them those that were not reached. */
export function listed(scene, edits) {
  const reached = new Set(scene.commands.map((command) => command.id));
  const rest = (edits?.commands || []).filter((spec) => !reached.has(spec.id)).map((spec) => ({
    ...spec, label: spec.kind === "backward" ? "backward()" : "zero the gradient", code: null, start: scene.steps.length, end: scene.steps.length,
    root: spec.root === null ? null : `t${spec.root}`, shape: null, gradient: null, implicit: false, inputs: null, edited: true, error: null, unreached: true,
  }));
  return [...scene.commands, ...rest];
}

export function specOf(command, scene) {
  const value = command.gradient === null || command.implicit ? null : scene.values[command.gradient];
  return {
    id: command.id,
    kind: command.kind,
    after: command.after,
    root: command.kind === "backward" ? tensorOf(command.root) : null,
    gradient: value && value.data ? nest(value.data, value.shape) : null,
    retain_graph: command.retain_graph,
    create_graph: command.create_graph,
    inputs: command.inputs ? command.inputs.map(tensorOf) : null,
    leaf: command.kind === "backward" ? null : tensorOf(command.root),
  };
}

const withCommands = (edits, commands) => ({ leaves: edits?.leaves || {}, commands });

/** One command changed. */
export function change(scene, edits, id, changes) {
  return withCommands(edits, specs(scene, edits).map((spec) => (spec.id === id ? { ...spec, ...changes } : spec)));
}

export function remove(scene, edits, id) {
  return withCommands(edits, specs(scene, edits).filter((spec) => spec.id !== id));
}

/** A new command behind all others; its id is one that no command has. */
export function add(scene, edits, made) {
  const list = specs(scene, edits);
  const taken = new Set(list.map((spec) => spec.id));
  let n = list.length + 1;
  while (taken.has(`new${n}`)) n += 1;
  const blank = { root: null, gradient: null, retain_graph: false, create_graph: false, inputs: null, leaf: null };
  const spec = { ...blank, id: `new${n}`, after: null, ...made }; // the server puts it behind all else
  return { edits: withCommands(edits, [...list, spec]), id: spec.id };
}

/** Two neighbours exchanged (`by` is -1 or 1), each taking the other's place in the program; null where that cannot be. */
export function move(scene, edits, id, by) {
  const list = specs(scene, edits);
  const from = list.findIndex((spec) => spec.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= list.length) return null;
  const early = by < 0 ? list[from] : list[to];
  const place = by < 0 ? to : from;
  const command = scene.commands[place];
  if (command && !existsBefore(scene, early.root ?? early.leaf, command.start)) return null;
  const moved = [...list];
  moved[from] = { ...list[to], after: list[from].after };
  moved[to] = { ...list[from], after: list[to].after };
  return withCommands(edits, moved);
}

/** Whether a tensor has been computed when `step` begins: then a command that needs it may stand there. */
export function existsBefore(scene, tensor, step) {
  if (tensor === null || tensor === undefined) return true;
  const node = scene.nodes.find((one) => (one.kind === "tensor" || one.kind === "stub") && tensorOf(one.id) === tensor);
  const track = node?.tracks?.state || [];
  const made = track.find(([, state]) => state !== "future");
  return Boolean(node) && (!track.length || (made !== undefined && made[0] <= step));
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
