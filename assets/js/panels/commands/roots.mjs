// The tensors from which a backward call can start: all that exist at its position, also those for which torch raises an error. Pure.
import { at } from "../../scene/timeline.mjs";
import { tensorOf } from "../../page/edits.mjs";
import { isThere } from "../../page/command_positions.mjs";

/** @import { CommandSpec, Node, Scene } from "../../scene/scene.d.ts" */

const LAST = ["leaf", "constant"]; // roles of tensors from which one rarely starts

/**
 * One card per tensor, what is computed first and the newest of it first; of a tensor with several cards `card`, the id of one, else the newest.
 * @type {(scene: Scene, card?: string | null) => Node[]}
 */
export function rootsOf(scene, card = null) {
  const cards = new Map();
  for (const one of scene.nodes) {
    if (one.kind === "tensor" && cards.get(tensorOf(one.id))?.id !== card) cards.set(tensorOf(one.id), one);
  }
  const rank = (one) => LAST.indexOf(one.role);
  return [...cards.values()].sort((a, b) => rank(a) - rank(b) || tensorOf(b.id) - tensorOf(a.id));
}

/**
 * Why the call with this specification, which runs at step `start`, cannot start from a node; null where it can.
 * @type {(scene: Scene, spec: CommandSpec, start: number, node: Node) => string | null}
 */
export function whyNoRoot(scene, spec, start, node) {
  if (node.kind === "op") {
    const result = scene.edges.filter((edge) => edge.source === node.id).map((edge) => scene.nodes.find((one) => one.id === edge.target)).find((one) => one?.kind === "tensor");
    return `${node.label} is an op. Choose a tensor${result ? `: ${result.label} is what it computes` : ""}.`;
  }
  if (node.kind !== "tensor" && node.kind !== "stub") return "This is a group of ops. Choose a tensor in it; double-click to open it.";
  const there = isThere(scene, spec, tensorOf(node.id)) && at(node.tracks.state, start) !== "future";
  return there ? null : `${node.label} is not yet computed where this call runs. Move the call further down first.`;
}
