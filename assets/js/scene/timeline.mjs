// Time: where one is in a scene, and where to go from there.  Pure.
//
// `t` runs from 0 to steps.length.  For k < t < k + 1 step k is running; at t = k + 1 it is done and is still *the* step
// that one looks at, so `currentStep` is the one that the sentence, the code mark and the pulses are about.
import { withMinus } from "./format.mjs";

/** @import { Edge, Phase, Scene, Step, Track } from "./scene.d.ts" */
/** @typedef {{ first: number, last: number, from: number, text: string }} PhaseLabel over the phases from the first to the last */
/** @typedef {{ first: number, last: number, from: number, label: string, name: string, ways: string[], left?: number | null }} Run passes of one call */

/**
 * The value of a track at `t`: that of the last pair [k, value] with k <= t (null before the first).
 * @template T
 * @param {Track<T> | null | undefined} track
 * @param {number} t
 * @returns {T | null}
 */
export function at(track, t) {
  if (!track) return null; // an element has only the tracks that concern it
  let low = 0;
  let high = track.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track[middle][0] <= t) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : track[low - 1][1];
}

/**
 * Whether step k changed the track (it then has a pair at k + 1), or one of the steps from `first` on up to it.
 * @type {(track: Track<unknown>, k: number, first?: number) => boolean}
 */
export function changedBy(track, k, first = k) {
  let low = 0;
  let high = track.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track[middle][0] < first + 1) low = middle + 1;
    else high = middle;
  }
  return low < track.length && track[low][0] <= k + 1 && (first < k || track[low][0] === k + 1);
}

/** @type {(scene: Scene, t: number) => number} */
export function clampTime(scene, t) {
  return Number.isFinite(t) ? Math.min(Math.max(t, 0), scene.steps.length) : 0;
}

/**
 * The step that one looks at: the running one, else the one just done; -1 before the first.
 * @type {(t: number) => number}
 */
export function currentStep(t) {
  return Math.ceil(t) - 1;
}

/**
 * Index of the phase of step k (binary search: phases are contiguous), -1 where there is none.
 * @type {(scene: Scene, k: number) => number}
 */
export function phaseIndex(scene, k) {
  const { phases } = scene;
  let low = 0;
  let high = phases.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (k < phases[middle].start) high = middle - 1;
    else if (k >= phases[middle].end) low = middle + 1;
    else return middle;
  }
  return -1;
}

/**
 * The times at which a backward call begins: just before its first step.
 * @type {(scene: Scene) => number[]}
 */
export function callStarts(scene) {
  return scene.phases.filter((phase) => phase.kind === "backward").map((phase) => phase.start);
}

/** @type {(scene: Scene, t: number) => number} */
export function nextCall(scene, t) {
  return callStarts(scene).find((start) => start > t) ?? scene.steps.length;
}

/** @type {(scene: Scene, t: number) => number} */
export function previousCall(scene, t) {
  return callStarts(scene).findLast((start) => start < t) ?? 0;
}

/**
 * The steps that concern a node: it is the active one, or something travels to or from it.
 * @type {(scene: Scene, edges: Map<string, Edge>, id: string) => number[]}
 */
export function stepsOf(scene, edges, id) {
  const steps = [];
  scene.steps.forEach((step, k) => {
    const touched = step.at === id || step.flows.some((flow) => {
      const edge = edges.get(flow.edge);
      return edge && (flow.back ? edge.source : edge.target) === id;
    });
    if (touched) steps.push(k);
  });
  return steps;
}

/**
 * The time at which the next step of a node is done; from the last one it starts over; null where it has none.
 * @type {(scene: Scene, edges: Map<string, Edge>, id: string, t: number) => number | null}
 */
export function runTo(scene, edges, id, t) {
  const steps = stepsOf(scene, edges, id);
  if (steps.length === 0) return null;
  return (steps.find((k) => k + 1 > t) ?? steps[0]) + 1;
}

/**
 * Node ids in the order in which they first take part, then those that never do.
 * @type {(scene: Scene) => string[]}
 */
export function executionOrder(scene) {
  const ids = new Set(scene.nodes.map((node) => node.id));
  const edges = new Map(scene.edges.map((edge) => [edge.id, edge]));
  const order = new Set();
  const add = (id) => ids.has(id) && order.add(id);
  for (const step of scene.steps) {
    const near = step.flows.flatMap((flow) => edges.get(flow.edge) ?? []);
    near.filter((edge) => edge.target === step.at).forEach((edge) => add(edge.source));
    add(step.at);
    near.filter((edge) => edge.source === step.at).forEach((edge) => add(edge.target));
  }
  scene.nodes.forEach((node) => add(node.id));
  return [...order];
}

/**
 * Every how many steps a stroke of the lane is drawn so that two are at least `gap` px apart: 1, 2, 5, 10, 20 …
 * @type {(count: number, width: number, gap?: number) => number}
 */
export function strokeStride(count, width, gap = 6) {
  const least = (count * gap) / Math.max(width, 1);
  for (let power = 1; ; power *= 10) {
    for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  }
}

/**
 * The sentence of a step; an error's message is left as torch writes it.
 * @type {(step: Step) => string}
 */
export const spokenText = (step) => (step.kind === "error" ? step.say : withMinus(step.say));

/**
 * Ways to write a phase, from the whole call on: without its arguments, without what it is called on, always with its brackets; of
 * an assignment what is written.  A piece of a word tells nothing, so what fits in no way is left to the tip.
 * @type {(label: string) => string[]}
 */
export function shorterLabels(label) {
  const [, target, sign] = /^([\w.[\]:]+) ([-+*/@]?=) ./s.exec(label) ?? [];
  if (target) return [label, `${target} ${sign} \u2026`];
  const call = lastCall(label);
  const brackets = label.endsWith("()") ? "()" : "(\u2026)"; // a call that passes something is not written as one that passes nothing
  return call ? [...new Set([label, `${call.on}${call.name}${brackets}`, `${call.name}${brackets}`])] : [label];
}

/**
 * The labels over the phases, the same at every moment: `[{ first, last, from, text }]`.  Each keeps to its own phases, which
 * are several where one call of the program runs several passes; calls of one name are shortened alike, whatever their arguments.  Those of
 * a loop that have no room one by one have one label over all rounds: `out.backward() × 6`.
 * `x` says where a time is, `wide` how wide a text is, `gap` is the least room between two.
 * @type {(phases: Phase[], x: (t: number) => number, wide: (text: string) => number, gap?: number) => PhaseLabel[]}
 */
export function phaseLabels(phases, x, wide, gap = 8) {
  const runs = runsOf(phases, x);
  const left = new Map(); // by name, how many shorter ways those have left that can be written at all
  for (const run of runs) {
    const way = run.ways.findIndex((one) => wide(one) <= x(phases[run.last].end) - gap - run.from);
    run.left = way < 0 ? null : run.ways.length - 1 - way;
    if (run.left !== null) left.set(run.name, Math.min(left.get(run.name) ?? Infinity, run.left));
  }
  const textOf = ({ ways, name }) => ways[Math.max(ways.length - 1 - left.get(name), 0)];
  const labels = runs.filter((run) => run.left !== null).map((run) => ({ first: run.first, last: run.last, from: run.from, text: textOf(run) }));
  const free = (from, to) => labels.every((one) => one.from - gap >= to || one.from + wide(one.text) + gap <= from);
  const quiet = runs.filter((run) => !left.has(run.name) && phases[run.first].kind !== "forward");
  for (const rounds of seriesOf(phases, quiet)) {
    const [{ first, from }, { last }] = [rounds[0], rounds[rounds.length - 1]];
    const text = inRounds(phases, rounds).find((one) => wide(one) <= x(phases[last].end) - gap - from);
    if (text && free(from, from + wide(text))) labels.push({ first, last, from, text });
  }
  return labels.sort((a, b) => a.first - b.first);
}

/**
 * Whether a label names a phase, and not only others around it: that of the rounds of a loop lies over all that is between them.
 * @type {(label: { first: number, last: number }, phases: Phase[], i: number) => boolean}
 */
export function isNamed({ first, last }, phases, i) {
  return first <= i && i <= last && nameOf(phases[first].label) === nameOf(phases[i].label);
}

/** Whether nothing but ops runs in a phase: it has no call, and no error, to be named by. */
export const isPlain = (phase) => phase.kind === "forward" && !phase.failed;

/**
 * The labels with that of phase `i`, which one looks at: where its segment has no room for it, it goes on over what is beside, as
 * long a way as leaves the others, else the shortest one, and those below it give way.  `end` is where the lane ends.
 * @type {(labels: PhaseLabel[], phases: Phase[], i: number, lane: { x: (t: number) => number, wide: (text: string) => number, end: number, gap?: number }) => PhaseLabel[]}
 */
export function withLabelOf(labels, phases, i, { x, wide, end, gap = 8 }) {
  const phase = phases[i];
  if (!phase || isPlain(phase) || labels.some((one) => isNamed(one, phases, i))) return labels;
  const behind = labels.find((one) => one.first > i);
  const place = (text) => Math.max(Math.min(x(phase.start), (behind ? behind.from - gap : end) - wide(text)), x(0));
  const hides = (text) => labels.filter((one) => one.from - gap < place(text) + wide(text) && place(text) < one.from + wide(one.text) + gap);
  const ways = shorterLabels(phase.label);
  const text = ways.find((one) => hides(one).length === 0) ?? ways[ways.length - 1];
  const hidden = hides(text);
  return [...labels.filter((one) => !hidden.includes(one)), { first: i, last: i, from: place(text), text }];
}

/**
 * What calls have in common that differ in their arguments alone; of what is called on something long, all that is written.
 * @type {(label: string) => string}
 */
function nameOf(label) {
  const call = /^[\w.[\]:]+ [-+*/@]?= /.test(label) ? null : lastCall(label);
  return call?.on ? `${call.on}${call.name}` : label;
}

/**
 * Phases that are passes of one call of the program, as one.
 * @type {(phases: Phase[], x: (t: number) => number) => Run[]}
 */
function runsOf(phases, x) {
  const runs = [];
  phases.forEach((phase, i) => {
    const run = runs.at(-1);
    if (run && goesOn(phases[run.last], phase)) run.last = i;
    else runs.push({ first: i, last: i, from: x(phase.start), label: phase.label, name: nameOf(phase.label), ways: shorterLabels(phase.label) });
  });
  return runs;
}

/**
 * Runs of calls that differ in their arguments alone, two at least, backward calls first.
 * @type {(phases: Phase[], runs: Run[]) => Run[][]}
 */
function seriesOf(phases, runs) {
  const alike = new Map();
  for (const run of runs) {
    const key = run.ways[1] ?? run.label;
    alike.set(key, [...(alike.get(key) ?? []), run]);
  }
  const isWrite = ([{ first }]) => phases[first].kind === "write";
  return [...alike.values()].filter((rounds) => rounds.length > 1).sort((a, b) => Number(isWrite(a)) - Number(isWrite(b)));
}

/**
 * Ways to write calls of several rounds; what runs its passes itself, as jacobian(), is one call.
 * @type {(phases: Phase[], rounds: Run[]) => string[]}
 */
function inRounds(phases, rounds) {
  const [{ first, label, ways }] = rounds;
  const several = phases[first].kind === "write" || isPass(label) ? ` \u00d7 ${rounds.length}` : "";
  return (rounds.every((one) => one.label === label) ? ways : ways.slice(1)).map((one) => `${one}${several}`);
}

/** @type {(label: string) => boolean} */
const isPass = (label) => /^(backward|grad)$/.test(lastCall(label)?.name ?? "");

/**
 * Whether a phase is part of the call before it: another of its passes, as of gradcheck(), or what failed when these were over.
 * @type {(before: Phase, phase: Phase) => boolean}
 */
function goesOn(before, phase) {
  if (before.label !== phase.label || phase.kind === "write") return false;
  if (phase.code && (phase.code.line !== before.code?.line || phase.code.col !== before.code?.col)) return false;
  return phase.call === null || !isPass(phase.label);
}

/**
 * The outermost call that comes last: its name, and what it is called on where that is short.
 * @type {(text: string) => { name: string, on: string } | null}
 */
function lastCall(text) {
  let [depth, open] = [0, -1];
  [...text].forEach((sign, i) => {
    if (sign === "(" && depth === 0 && /\w/.test(text[i - 1] ?? "")) open = i;
    depth += sign === "(" || sign === "[" ? 1 : sign === ")" || sign === "]" ? -1 : 0;
  });
  const name = /\w+$/.exec(text.slice(0, Math.max(open, 0)))?.[0];
  if (!name) return null;
  const on = text.slice(0, open - name.length);
  return { name, on: /^[\w.]*$/.test(on) ? on : "" };
}
