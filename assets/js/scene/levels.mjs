// Levels in time: the extent of one step. At the current level everything in a folded box is one step, and so is the step of an optimiser;
// after going into one, each step inside it counts. Pure.

import { num } from "./format.mjs";
import { at as valueAt, spokenText } from "./timeline.mjs";

/** @import { Flow, Num, Scene, Span, Step } from "./scene.d.ts" */
/**
 * The steps `start` to `end` (exclusive) as one: `step` says what it is about, `span` is null where it is a single one.
 * @typedef {{ start: number, end: number, span: Span | null, step: Step }} Stop
 */
/**
 * Where time stops at a level: `ends` of the stops, ascending; `spans` of those that are several steps, by their end.
 * @typedef {{ scene: Scene, ends: number[], spans: Map<number, Span>, stops: Map<number, Stop> }} Level
 */

/** By what a span is known in every iteration: its group, or what the program calls; both of its passes are gone into together. */
export const keyOf = (span) => (span.kind === "write" || span.group === null ? `${span.kind} ${span.label}` : span.group);

/**
 * Whether one steps in a span and not over it, by what was `entered`.  Where no box is folded, each op is a step.
 * @type {(scene: Scene, entered: Set<string>) => (span: Span) => boolean}
 */
export function opennessOf(scene, entered) {
  const folded = new Set(scene.folded);
  return (span) => folded.size === 0 || entered.has(keyOf(span)) || (span.kind !== "write" && (span.group === null || !folded.has(span.group)));
}

/**
 * The level at which the spans that are not open are one step each.
 * @type {(scene: Scene, isOpen?: (span: Span) => boolean) => Level}
 */
export function levelOf(scene, isOpen = () => true) {
  const ends = [];
  const spans = new Map();
  let k = 0;
  for (const span of scene.spans ?? []) {
    if (span.start < k || span.end - span.start < 2 || isOpen(span)) continue; // in one that is closed, or to be gone into
    for (; k < span.start; k++) ends.push(k + 1);
    k = span.end;
    ends.push(k);
    spans.set(k, span);
  }
  for (; k < scene.steps.length; k++) ends.push(k + 1);
  return { scene, ends, spans, stops: new Map() };
}

/** Whether a span is one step at a level. @type {(level: Level, span: Span) => boolean} */
export const isClosed = (level, span) => level.spans.get(span.end) === span;

/** @type {(ends: number[], t: number) => number} the place of the first stop that ends at `t` or later */
function placeOf(ends, t) {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The time at which the next step at this level is done. @type {(level: Level, t: number) => number} */
export function nextStop(level, t) {
  return level.ends[placeOf(level.ends, Math.floor(t) + 1)] ?? level.scene.steps.length;
}

/** The time at which the step at this level began that runs or is done. @type {(level: Level, t: number) => number} */
export function previousStop(level, t) {
  return level.ends[placeOf(level.ends, t) - 1] ?? 0;
}

/**
 * The step that one looks at: the running one, else the one just done; null before the first.  Whoever rests within one of several steps,
 * where another level or a link has led, looks at the single one that is done there.
 * @type {(level: Level, t: number) => Stop | null}
 */
export function stopAt(level, t) {
  if (t <= 0 || !level.ends.length) return null;
  const place = placeOf(level.ends, t);
  const end = level.ends[place] ?? level.scene.steps.length;
  const single = Number.isInteger(t) && t !== end;
  return single ? stopOf(level, t - 1, t) : stopOf(level, level.ends[place - 1] ?? 0, end);
}

/**
 * The sentence at `t`: `{ lead, text }`.  Where steps are taken together, it begins with how far the phase is.
 * @type {(level: Level, t: number) => { lead: string, text: string }}
 */
export function sentence(level, t) {
  const { scene, ends, spans } = level;
  const total = scene.steps.length;
  const stop = stopAt(level, t);
  if (total === 0) return { lead: "No steps.", text: "This program recorded nothing to play." };
  if (!stop) {
    const lead = spans.size ? `${ends.length} steps at this level, ${total} in all.` : total === 1 ? "1 step." : `${total} steps.`;
    return { lead, text: "Nothing has run yet. Space plays, the right arrow takes one step." };
  }
  return { lead: spans.size ? leadOf(level, stop) : `Step ${stop.end} of ${total}.`, text: spokenText(stop.step) };
}

const LEADS = { forward: "Forward", backward: "Backward", write: "Update" };

/** `Backward, 7 of 11.`: the phase that a step is in, and which of its steps at this level it is. */
function leadOf({ scene, ends }, { start, end }) {
  const phase = scene.spans.find((span) => span.row === 0 && start < span.end) ?? { start: 0, end: scene.steps.length, kind: /** @type {const} */ ("forward") };
  const first = placeOf(ends, phase.start + 1);
  const [nth, of] = [placeOf(ends, end) - first + 1, placeOf(ends, phase.end) - first + 1];
  const kind = phase.kind === "write" && scene.spans.some((span) => span === phase && span.group === null) ? "Write" : LEADS[phase.kind];
  return of > 1 ? `${kind}, ${nth} of ${of}.` : `${kind}.`;
}

/** Stops are made when one looks at them, and kept. */
function stopOf(level, start, end) {
  const { scene, spans, stops } = level;
  const key = end - start === 1 ? -end : end;
  let stop = stops.get(key);
  if (!stop) {
    const span = end - start > 1 ? spans.get(end) ?? null : null;
    stop = { start, end, span, step: span ? mergeSteps(scene, span) : scene.steps[start] };
    stops.set(key, stop);
  }
  return stop;
}

const KINDS = /** @type {const} */ ({ forward: "forward", backward: "vjp", write: "write" });

/**
 * Several steps as one: it stands where all of them do, and everything that they send along edges that are seen goes its way.
 * @type {(scene: Scene, span: Span) => Step}
 */
function mergeSteps(scene, span) {
  const steps = scene.steps.slice(span.start, span.end);
  const last = steps[steps.length - 1];
  const places = new Set(steps.map((step) => step.at));
  const at = scene.nodes.some((node) => node.id === span.group) ? span.group : places.size === 1 ? last.at : null;
  return {
    kind: KINDS[span.kind], phase: last.phase, at, name: span.label, say: span.say, code: span.code ?? steps[0].code, from: last.from,
    order: last.order, flows: flowsOf(scene, steps, span.end),
  };
}

/**
 * What travels in several steps, each edge once in each direction; of several gradients along one the norm of their sum, where the graph has it.
 * @type {(scene: Scene, steps: Step[], end: number) => Flow[]}
 */
function flowsOf(scene, steps, end) {
  const normOf = (id) => valueAt(scene.edges.find((edge) => edge.id === id)?.tracks.norm, end);
  /** @type {Map<string, Flow>} */
  const sums = new Map();
  for (const flow of steps.flatMap((step) => step.flows)) {
    const key = `${flow.edge} ${flow.back}`;
    const before = sums.get(key);
    const same = !before || !flow.back || before.value === flow.value;
    sums.set(key, same ? flow : sumOf(normOf(flow.edge), flow, before));
  }
  return [...sums.values()];
}

/** @type {(norm: Num | null, flow: Flow, before: Flow) => Flow} */
function sumOf(norm, { edge, size }, before) {
  return { edge, back: true, value: null, text: norm === null ? null : `norm ${num(norm, 4)}`, sign: null, size: Math.max(size, before.size) };
}

/**
 * The same moment of another iteration, which may have more steps or fewer: as far in the same module of the same phase.
 * @type {(before: Scene, after: Scene, t: number) => number}
 */
export function counterpart(before, after, t) {
  if (t <= 0 || t >= before.steps.length) return t <= 0 ? 0 : after.steps.length;
  const alikeSpans = (spans, within, { kind, label }) => spans.filter((one) => one.within === within && one.kind === kind && one.label === label);
  let [own, other] = [{ start: 0, end: before.steps.length }, { start: 0, end: after.steps.length }];
  let [around, there] = [/** @type {number | null} */ (null), /** @type {number | null} */ (null)];
  for (const span of before.spans.filter(({ start, end }) => start < t && t <= end)) {
    const same = alikeSpans(after.spans, there, span)[alikeSpans(before.spans, around, span).indexOf(span)];
    if (!same) break;
    [own, other, around, there] = [span, same, before.spans.indexOf(span), after.spans.indexOf(same)];
  }
  return t === own.end ? other.end : Math.min(other.start + t - own.start, other.end);
}
