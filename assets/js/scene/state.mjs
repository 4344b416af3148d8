// The state of the picture at a time: a function of (scene, t) and of nothing else. Pure.

import { holding } from "./card.mjs";
import { num, toNumber } from "./format.mjs";
import { levelOf, stopAt } from "./levels.mjs";
import { at, changedBy, clampTime, executionOrder, phaseIndex } from "./timeline.mjs";

/** @import { Command, Edge, Finding, Flow, Node, Num, Row, Scene, State, Saved, Step, Track, Value } from "./scene.d.ts" */
/** @import { RowPlace } from "./card.mjs" */
/**
 * A prepared scene: its elements by id, edges by their ends, the order in which nodes take part, what happens where, and the level of its steps.
 * @typedef {ReturnType<typeof prepare>} Index
 */
/**
 * What the picture is at a time: `k` the step that one looks at, `step` that step, `active` the node that it is about.
 * @typedef {ReturnType<typeof stateAt>} Moment
 */
/**
 * From cell `from` of `source` (null: what ends in the op) through `op` to cell `to` of `output`, beside `edge` and `after`.
 * @typedef {{ op: Node, edge: Edge, after: Edge, source: Node, output: Node, from: number | null, to: number, lane: { i: number, n: number } }} WirePlace
 */
/** @typedef {WirePlace & { local: Num, upstream: number, carries: boolean, coming: boolean }} CarriedWire with the local derivative, and the upstream gradient that it multiplies */

/**
 * Look-up tables of a scene, made once when it is loaded.
 * @param {Scene} scene
 */
export function prepare(scene) {
  const nodes = new Map(scene.nodes.map((node) => [node.id, node]));
  const edges = new Map(scene.edges.map((edge) => [edge.id, edge]));
  /** @type {Map<string, Edge[]>} */
  const incoming = new Map(scene.nodes.map((node) => [node.id, []]));
  /** @type {Map<string, Edge[]>} */
  const outgoing = new Map(scene.nodes.map((node) => [node.id, []]));
  for (const edge of scene.edges) {
    outgoing.get(edge.source)?.push(edge);
    incoming.get(edge.target)?.push(edge);
  }
  /** @type {Map<string, string[]>} */
  const twins = new Map();
  for (const node of scene.nodes) {
    if (node.twin) twins.set(node.twin, [...(twins.get(node.twin) ?? []), node.id]);
  }
  return {
    scene, nodes, edges, incoming, outgoing, twins,
    groups: new Map(scene.groups.map((group) => [group.id, group])),
    level: levelOf(scene), order: executionOrder(scene), runs: runsInGroups(scene), flows: flowHistory(scene), findings: byNode(scene.findings ?? []),
  };
}

/**
 * Of the steps that happen in folded groups, which of how many of its phase in that group each is: by step [nth, of].
 * @type {(scene: Scene) => Map<number, [number, number]>}
 */
function runsInGroups(scene) {
  const groups = new Set(scene.nodes.filter((node) => node.kind === "group").map((node) => node.id));
  const runs = new Map();
  const places = new Map();
  scene.steps.forEach(({ at: id, phase }, k) => {
    if (id === null || !groups.has(id)) return;
    const key = `${phase}|${id}`;
    if (!runs.has(key)) runs.set(key, []);
    places.set(k, [runs.get(key).push(k), runs.get(key)]);
  });
  return new Map([...places].map(([k, [nth, all]]) => [k, [nth, all.length]]));
}

/**
 * The norms of what comes to a step in a folded group and of what it sends: for where the numbers have no room.
 * @type {(scene: Scene, step: Step) => string[]}
 */
function normsOf({ values }, { within, sends = [] }) {
  /** @type {(ids: (number | null | undefined)[]) => string} */
  const norms = (ids) => [...new Set(ids.flatMap((id) => (typeof id === "number" ? [num(values[id].stats.norm, 3)] : [])))].join(", ");
  const [came, goes] = [norms([within?.upstream]), norms(sends.map(({ value }) => value)) || "nothing"];
  return [came ? `norm ${came} \u2192 ${goes}` : `norm ${goes}`, `\u2192 ${goes}`];
}

/**
 * What runs in a folded group now: the function, which of how many of this call, and the gradients that come to it and that it sends, in ways from the longest to the shortest; null where nothing does.
 * @type {(moment: Moment, node: Node) => { name: string, nth: number, of: number, ways: string[] } | null}
 */
export function runIn(moment, node) {
  const run = node.id === moment.active && !moment.span ? moment.index.runs.get(moment.k) : undefined;
  if (!run || !moment.step) return null;
  const { name, within } = moment.step;
  const [nth, of] = run;
  return { name, nth, of, ways: within ? [[within.gets, within.gives].filter(Boolean).join(" \u2192 "), ...normsOf(moment.index.scene, moment.step)] : [] };
}

/** @type {(findings: Finding[]) => Map<string, Finding[]>} */
function byNode(findings) {
  const byId = new Map();
  for (const one of findings) if (one.at !== null) byId.set(one.at, [...(byId.get(one.at) ?? []), one]);
  return byId;
}

/**
 * What is wrong at a node though nothing was raised, as far as it has happened.
 * @type {(moment: Moment, id: string) => Finding[]}
 */
export function findingsAt(moment, id) {
  return (moment.index.findings.get(id) ?? []).filter((one) => moment.t >= one.step + 1 - 1e-9);
}

/**
 * Per edge a track of what travelled on it: [[k + 1, flow] …].
 * @type {(scene: Scene) => Map<string, Track<Flow>>}
 */
function flowHistory(scene) {
  const history = new Map();
  scene.steps.forEach((step, k) => {
    for (const flow of step.flows) {
      if (!history.has(flow.edge)) history.set(flow.edge, []);
      history.get(flow.edge).push([k + 1, flow]);
    }
  });
  return history;
}

/**
 * The moment `t` of a prepared scene at its level, where step `k` is the last of those that are one; its methods answer for one node or edge, so that only what is in view is computed.
 * @param {Index} index
 * @param {number} time
 */
export function stateAt(index, time) {
  const { scene } = index;
  const t = clampTime(scene, time);
  const stop = stopAt(index.level, t);
  const [step, k] = stop ? [stop.step, stop.end - 1] : [null, -1];
  return {
    index, scene, t, k, step, span: stop?.span ?? null, first: stop?.start ?? -1,
    settled: Math.floor(t),
    progress: stop ? (t - stop.start) / (stop.end - stop.start) : 0,
    moving: t > 0 && !Number.isInteger(t),
    phase: scene.phases[phaseIndex(scene, Math.max(k, 0))] ?? null,
    active: step?.at ?? null,
    backward: step ? step.kind === "vjp" || step.kind === "accumulate" : false,
  };
}

/** @type {(moment: Moment, node: Node) => State} */
export function nodeState(moment, node) {
  const { error } = moment.scene;
  if (error?.node === node.id && moment.k >= error.step) return "error"; // also where none of its rules failed
  return at(node.tracks.state, moment.t) ?? "idle";
}

/** @type {(moment: Moment, item: Node | Edge) => boolean} */
export function isFaint(moment, item) {
  return item.id !== moment.active && at(item.tracks.faint, moment.t) === true;
}

/** @type {(moment: Moment, node: Node) => Saved} */
export function savedState(moment, node) {
  return at(node.tracks.saved ?? [], moment.t) ?? "none";
}

/** What a row shows: `{ value, past, other, changed, call, derived }`; `past` marks the `.grad` that an older version of a tensor had while it was the present one, `other` the seed of another call
 *  than the one that runs; `derived` is how a seed came about that is not what was passed: `{ kind, text, labels }`.
 * @param {Moment} moment
 * @param {Row} row
 */
export function rowState(moment, row) {
  const { scene, k, t } = moment;
  const id = at(row.track, t);
  const past = row.until !== undefined && t >= row.until - 1e-9;
  const call = callOf(row, t);
  const other = call !== null && runs(moment) && moment.phase?.call !== call;
  const changed = id !== null && k >= 0 && changedBy(row.track, k, moment.first) && !moment.moving;
  return { value: id === null ? null : scene.values[id], past, other, changed, call, derived: ofSeed(row, row.derived, t) };
}

/**
 * Whether a card only passes on the gradient of the call that runs: it is the root of another one, whose gradient stands in its row.
 * @type {(moment: Moment, node: Node) => boolean}
 */
export function passesOn(moment, node) {
  const row = node.rows.find((one) => one.key === "seed");
  return row !== undefined && runs(moment) && (callOf(row, moment.t) ?? (Array.isArray(row.call) ? null : moment.phase?.call)) !== moment.phase?.call;
}

/**
 * Whether a backward call runs.
 * @type {(moment: Moment) => boolean}
 */
const runs = (moment) => moment.phase?.kind === "backward" && moment.t > moment.phase.start;

/**
 * The place of a row, with as many cells as what it shows at this moment has elements.
 * @type {(moment: Moment, node: Node, place: RowPlace) => RowPlace}
 */
export const placeAt = (moment, node, place) => holding(place, rowState(moment, place.row).value?.data?.length ?? 0, node);

/** @type {(row: Row, t: number) => number | null} */
const callOf = (row, t) => ofSeed(row, row.call, t);

/**
 * What holds of a seed at a time, by a track or always.
 * @template T
 * @param {Row} row
 * @param {Track<T | null> | undefined} track
 * @param {number} t
 * @returns {T | null}
 */
function ofSeed(row, track, t) {
  return row.key !== "seed" ? null : Array.isArray(track) ? at(track, t) : (track ?? null);
}

/**
 * The elements of a row of the revision before where they differ: an array with null at equal places, or null.
 * @type {(moment: Moment, node: Node, row: Row, value: Value | null) => (Num | null)[] | null}
 */
export function ghostOf(moment, node, row, value) {
  const track = moment.scene.previous?.values[`${node.id}|${row.key}`];
  if (!track || !value?.data) return null;
  const id = at(track, moment.t);
  const old = id === null ? null : moment.scene.values[id];
  const now = value.data;
  if (!old?.data || old.data.length !== now.length) return null;
  const differing = old.data.map((v, i) => (Object.is(v, now[i]) ? null : v));
  return differing.some((v) => v !== null) ? differing : null;
}

/**
 * The state of an edge: one of "future", "idle", "active", "done", and the last flow in the running call.
 * @type {(moment: Moment, edge: Edge) => "future" | "idle" | "active" | "done"}
 */
export function edgeState(moment, edge) {
  const active = moment.step?.flows.some((flow) => flow.edge === edge.id) ?? false;
  const settled = at(edge.tracks.state, moment.t) ?? "idle";
  return active ? "active" : settled;
}

/**
 * The sign of a gradient on its way: 1, -1, 0 where all of it is zero, null where signs are mixed or nothing is known.
 * @type {(moment: Moment, flow: Flow) => -1 | 0 | 1 | null}
 */
export function signOf(moment, flow) {
  if (flow.sign !== 0) return flow.sign;
  const value = flow.value === null ? null : moment.scene.values[flow.value];
  return value && (value.stats.zeros ?? 0) < value.stats.size ? null : 0; // the scene's 0 also stands for mixed signs
}

/**
 * Whether a value of the scene holds nan or an infinity.
 * @type {(moment: Moment, id: number | null | undefined) => boolean}
 */
export function isOdd(moment, id) {
  const stats = id === null || id === undefined ? null : moment.scene.values[id]?.stats;
  return Boolean(stats && (stats.nan || stats.inf));
}

/**
 * What last travelled on an edge in this phase (for the colour and width of an edge that is done).
 * @type {(moment: Moment, edge: Edge) => Flow | null}
 */
export function lastFlow(moment, edge) {
  const history = moment.index.flows.get(edge.id);
  if (!history) return null;
  const flow = at(history, moment.t);
  return flow && flow.back ? flow : null;
}

/**
 * The flows of the current step, each with how far it is (0 to 1): what leaves a node sets out when all has come to it.
 * @type {(moment: Moment) => { flow: Flow, edge: Edge, part: number, started: boolean }[]}
 */
export function flowsAt(moment) {
  const { step, index } = moment;
  if (!step) return [];
  const acts = new Map(); // by node: the act after what comes to it
  const flows = [];
  for (const flow of step.flows) {
    const edge = index.edges.get(flow.edge);
    if (!edge) continue;
    const [start, end] = flow.back ? [edge.target, edge.source] : [edge.source, edge.target];
    const act = acts.get(start) ?? 0;
    acts.set(end, Math.max(acts.get(end) ?? 0, act + 1));
    flows.push({ flow, edge, act });
  }
  const count = Math.max(...flows.map(({ act }) => act + 1));
  return flows.map(({ flow, edge, act }) => {
    const part = moment.progress * count - act;
    return { flow, edge, part: Math.min(Math.max(part, 0), 1), started: part > 0 || act === 0 };
  });
}

/**
 * The edges that the wires of an op run beside: `after` leads to its `output`, each of `into` comes from a `source` with cells; `lane` tells
 * edges of one tensor apart.  Null where its result has no card.
 * @param {Index} index
 * @param {Node} op
 */
function ends(index, op) {
  const after = index.outgoing.get(op.id)?.find((edge) => edge.grad && index.nodes.has(edge.target)); // not the places that max() gives beside its values
  if (!after) return null;
  const cellular = (index.incoming.get(op.id) ?? []).filter((edge) => !["op", "group"].includes(index.nodes.get(edge.source)?.kind ?? "")); // those have no cells
  const into = cellular.map((edge) => {
    const twins = cellular.filter((one) => one.source === edge.source); // as the two of `x * x`
    return { edge, source: /** @type {Node} */ (index.nodes.get(edge.source)), lane: { i: twins.indexOf(edge), n: twins.length } };
  });
  return { after, output: /** @type {Node} */ (index.nodes.get(after.target)), into };
}

/**
 * The wires of an op: from each cell of an input to each cell of the output, with the upstream gradient that came, or is about to be passed.
 * @type {(moment: Moment, op: Node) => CarriedWire[]}
 */
export function wiresOf(moment, op) {
  const { index, scene } = moment;
  const both = ends(index, op);
  if (!both) return [];
  const { after, output, into } = both;
  const inBackward = moment.phase?.kind === "backward" && !["idle", "future"].includes(nodeState(moment, op));
  const id = inBackward || moment.active === op.id ? at(op.tracks.upstream, moment.t) : null;
  const coming = id === null && !inBackward; // what the next call will pass: told, but nothing travels yet
  const passed = coming ? nextSeed(moment, output) : id === null ? null : scene.values[id];
  const upstream = passed?.data;
  const wires = [];
  for (const { edge, source, lane } of into) {
    const run = inBackward ? lastFlow(moment, edge) : null; // it may have gone by other values than those of forward
    for (const [from, to, local] of run?.wiring ?? edge.wiring ?? []) {
      const arriving = upstream ? toNumber(upstream[to]) : 0;
      const carries = arriving !== 0 && toNumber(local) !== 0;
      wires.push({ op, edge, after, source, output, from, to, local, upstream: arriving, carries, coming, lane });
    }
  }
  return moment.active === op.id && upstream ? [...wires, ...stopsOf(wires, upstream)] : wires;
}

/**
 * Every wire that an op has at some moment, without what it carries then: by the values of forward, by those that a gradient has gone by, and
 * those that end in the op.
 * @type {(index: Index, op: Node) => WirePlace[]}
 */
export function everyWireOf(index, op) {
  const both = ends(index, op);
  if (!both) return [];
  const { after, output, into } = both;
  const wirings = (edge) => [edge.wiring, ...(index.flows.get(edge.id) ?? []).map(([, flow]) => flow.back && flow.wiring)].filter(Boolean);
  const wires = into.flatMap(({ edge, source, lane }) => wirings(edge).flat().map(([from, to]) => ({ op, edge, after, source, output, from, to, lane })));
  if (!wires.length) return [];
  const passed = (op.tracks.upstream ?? []).flatMap(([, id]) => (id === null ? [] : index.scene.values[id].data ?? []).flatMap((number, to) => (toNumber(number) === 0 ? [] : [to])));
  return [...wires, ...[...new Set(passed)].map((to) => ({ ...wires[0], from: null, to }))];
}

/**
 * Wires of cells of the output whose gradient comes to the op and goes no further (`from` is null): a relu's that are not above 0.
 * @type {(wires: CarriedWire[], upstream: Num[]) => CarriedWire[]}
 */
function stopsOf(wires, upstream) {
  if (!wires.length) return [];
  const reached = new Set(wires.map((wire) => wire.to));
  return upstream.flatMap((number, to) => (
    reached.has(to) || toNumber(number) === 0 ? [] : [{ ...wires[0], from: null, to, local: 0, upstream: toNumber(number), carries: false }]));
}

/**
 * The gradient that the next backward call will pass to a root; null where it starts from another one.
 * @type {(moment: Moment, root: Node) => Value | null}
 */
function nextSeed(moment, root) {
  const row = root.rows.find((one) => one.key === "seed");
  const call = row && moment.scene.phases.find((phase) => phase.kind === "backward" && phase.start >= moment.t)?.call;
  const state = row ? rowState(moment, row) : null;
  return state && state.call === call ? state.value : null;
}

/**
 * The ops whose wiring an element shows: an op its own, a tensor that of the ops around it.
 * @type {(index: Index, id: string) => Node[]}
 */
export function wiredOps(index, id) {
  const node = index.nodes.get(id);
  if (!node) return [];
  if (node.kind === "op") return [node];
  const near = [...(index.outgoing.get(id) ?? []).map((edge) => edge.target),
                ...(index.incoming.get(id) ?? []).map((edge) => edge.source)];
  return near.flatMap((other) => index.nodes.get(other) ?? []).filter((other) => other.kind === "op");
}

/**
 * Whether a card is a leaf's, also where a call starts from it: a root that is computed has a row for what is passed.
 * @type {(node: Node) => boolean}
 */
export function isLeaf({ role, rows }) {
  const has = (key) => rows.some((row) => row.key === key);
  return role === "leaf" || (role === "root" && has("grad") && !has("seed"));
}

/**
 * The command behind the backward call that a seed row belongs to.
 * @type {(scene: Scene, call: number | null) => Command | null}
 */
export function commandOfCall(scene, call) {
  const phase = scene.phases.find((one) => one.kind === "backward" && one.call === call);
  const backward = scene.commands.filter((command) => command.kind === "backward");
  return (phase && backward.find((one) => one.start <= phase.start && phase.start < Math.max(one.end, one.start + 1)))
    ?? (call === null ? null : backward[call] ?? null);
}

/**
 * All of it as plain JSON, for tests and for the panels.
 * @param {Moment} moment
 */
export function describe(moment) {
  const nodes = {};
  for (const node of moment.scene.nodes) {
    const rows = {};
    for (const row of node.rows) {
      const { value } = rowState(moment, row);
      rows[row.key] = value ? value.data ?? { stats: value.stats } : null;
    }
    nodes[node.id] = { label: node.label, state: nodeState(moment, node), active: node.id === moment.active,
                       faint: isFaint(moment, node), saved: savedState(moment, node), rows };
  }
  const edges = {};
  for (const edge of moment.scene.edges) edges[edge.id] = { state: edgeState(moment, edge), faint: isFaint(moment, edge) };
  const flows = flowsAt(moment).map(({ flow, part }) => ({ ...flow, part }));
  return { t: moment.t, step: moment.k, steps: moment.scene.steps.length, revision: moment.scene.revision.id,
           from: moment.first, say: moment.step?.say ?? null, phase: moment.phase?.label ?? null, active: moment.active, nodes, edges, flows };
}
