// Numbers of another scene beside those of a scene: of the previous revision, or of the previous section. Pure.

/** @import { Scene } from "./scene.d.ts" */

const KEYS = ["value", "grad", "seed"];

/** Whether two values are the same JSON, in whatever order their keys stand. */
export function isEqual(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object" || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && isEqual(one[key], other[key]));
}

/** A scene with the values of another revision where they differ, as `previous` of viz/scene/scene.py has them. */
export function withGhosts(scene, before) {
  const values = [...scene.values];
  /** @type {Record<string, any>} */
  const ghosts = {};
  const nodes = new Map(scene.nodes.map((node) => [node.id, node]));
  for (const node of before.nodes) {
    for (const row of node.rows) {
      if (!KEYS.includes(row.key) || !nodes.has(node.id)) continue;
      const now = nodes.get(node.id).rows.find(({ key }) => key === row.key)?.track ?? [[0, null]];
      const resolveTrack = (track, of) => track.map(([t, id]) => [t, id === null ? null : of[id]]);
      if (isEqual(resolveTrack(row.track, before.values), resolveTrack(now, scene.values))) continue;
      ghosts[`${node.id}|${row.key}`] = row.track.map(([t, id]) => [t, id === null ? null : values.push(before.values[id]) - 1]);
    }
  }
  return { ...scene, values, previous: { values: ghosts } };
}

/**
 * Whether two sections took the same steps in the same graph, so that each number of one has its like in the other.
 * @type {(one: Scene, other: Scene) => boolean}
 */
export function areAlike(one, other) {
  return one.steps.length === other.steps.length && one.nodes.length === other.nodes.length
    && one.steps.every(({ kind, at }, k) => kind === other.steps[k].kind && at === other.steps[k].at)
    && one.nodes.every(({ id }, k) => id === other.nodes[k].id);
}

/**
 * A section with the numbers of the one before it: those in cards that differ, and the norms of all folded groups.
 * @type {(scene: Scene, before: Scene) => Scene}
 */
export function besideTheLast(scene, before) {
  const ghosts = withGhosts(scene, before);
  const norms = Object.fromEntries(before.nodes.flatMap(({ id, tracks }) => (tracks.norm ? [[id, tracks.norm]] : [])));
  return { ...ghosts, previous: { ...ghosts.previous, norms, label: before.section?.label ?? "" } };
}
