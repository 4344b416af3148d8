// The positions in the program that a command can have. Pure: lines of the program and commands in one sequence, and which commands fit where.
import { inOrder, passedNumbers, specs, withCommands } from "./edits.mjs";

/** @import { CommandSpec, Edits, Place, Scene } from "../scene/scene.d.ts" */
/** @typedef {{ key: string, after: number | null, place?: Place, spec?: CommandSpec }} Spot a line, or a command behind one */

const order = (after) => (after === null || after === undefined ? Infinity : after);

/**
 * Everything that a command can stand behind, in the program's order: `{place}` or `{spec}`, each with its `key`.
 * @type {(scene: Scene, list: CommandSpec[]) => any[]}
 */
export function sequence(scene, list) {
  const lines = (scene.places || []).map((place) => ({ key: `p${place.after}`, after: place.after, place }));
  const commands = inOrder(list).map((spec) => ({ key: spec.id, after: order(spec.after), spec }));
  return [...lines, ...commands].sort((a, b) => (a.after === b.after ? (a.spec ? 1 : 0) - (b.spec ? 1 : 0) : a.after - b.after));
}

/**
 * The event behind which a tensor exists, whatever writes into it later; -1 where no line of the program makes it.
 * @type {(scene: Scene, tensor: number) => number}
 */
const madeAt = (scene, tensor) => (scene.places || []).find((place) => place.makes.includes(tensor))?.after ?? -1;

/**
 * Whether a tensor exists where a command stands.
 * @type {(scene: Scene, spec: CommandSpec, tensor: number) => boolean}
 */
export const isThere = (scene, spec, tensor) => madeAt(scene, tensor) <= order(spec.after);

/**
 * The event behind which all that a command names exists.
 * @type {(scene: Scene, spec: CommandSpec) => number}
 */
function neededAt(scene, spec) {
  const tensors = [spec.root, spec.leaf, ...(spec.inputs || [])].filter((one) => one !== null && one !== undefined);
  return Math.max(-1, ...tensors.map((tensor) => madeAt(scene, tensor)));
}

/**
 * The places where a command can stand: those of the sequence without it, behind which what it needs exists.
 * @type {(scene: Scene, edits: Edits | null, spec: CommandSpec) => any[]}
 */
export function spots(scene, edits, spec) {
  const need = neededAt(scene, spec);
  return sequence(scene, specs(scene, edits).filter((one) => one.id !== spec.id)).filter((one) => one.after >= need);
}

/** What a command stands behind now. */
export function spotOf(scene, edits, id) {
  const all = sequence(scene, specs(scene, edits));
  const at = all.findIndex((one) => one.key === id);
  return at > 0 ? all[at - 1].key : null;
}

/** The edits with this command (new, or moved) behind what has the key. */
export function put(scene, edits, own, key) {
  const spec = withExplicitGradient(scene, own);
  const rest = inOrder(specs(scene, edits).filter((one) => one.id !== spec.id));
  const behind = sequence(scene, rest).find((one) => one.key === key);
  if (!behind) return null;
  const after = behind.spec ? behind.spec.after : behind.place.after;
  const index = behind.spec ? rest.indexOf(behind.spec) + 1 : rest.findIndex((one) => order(one.after) >= after);
  const at = index < 0 ? rest.length : index;
  return withCommands(edits, [...rest.slice(0, at), { ...spec, after }, ...rest.slice(at)]);
}

/**
 * A moved command takes its numbers along: the tensor that the program passes may not be made yet where it goes to.
 * @type {(scene: Scene, spec: CommandSpec) => CommandSpec}
 */
function withExplicitGradient(scene, spec) {
  const command = scene.commands.find((one) => one.id === spec.id);
  const root = scene.nodes.find((one) => one.id === command?.root);
  const fits = command?.shape && root?.shape && String(command.shape) === String(root.shape);
  return spec.kind === "backward" && spec.gradient === null && fits && (command.roots || []).length < 2 ? { ...spec, gradient: passedNumbers(command, scene) } : spec;
}

/**
 * Before the command before it, or behind the one behind it; else to the nearest place on that side; null where there is none.
 * @type {(scene: Scene, edits: Edits | null, id: string, by: number) => Edits | null}
 */
export function move(scene, edits, id, by) {
  const spec = specs(scene, edits).find((one) => one.id === id);
  if (!spec) return null;
  const all = sequence(scene, specs(scene, edits));
  const at = all.findIndex((one) => one.key === id);
  const fits = new Set(spots(scene, edits, spec).map((one) => one.key));
  const others = all.filter((one) => one.key !== id);
  const commands = others.map((one, i) => (one.spec ? i : -1)).filter((i) => i >= 0);
  const beside = by < 0 ? commands.findLast((i) => i < at) : commands.find((i) => i >= at);
  const spot = beside === undefined ? undefined : by < 0 ? others[beside - 1] : others[beside];
  const near = by < 0 ? others.slice(0, Math.max(0, at - 1)).findLast((one) => fits.has(one.key)) : others.slice(at).findLast((one) => fits.has(one.key));
  const to = spot && fits.has(spot.key) ? spot : near;
  return to ? put(scene, edits, spec, to.key) : null;
}
