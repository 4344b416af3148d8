// The arithmetic of a step, written out from the scene alone, so that it appears without a click. Pure: no page here.
import { element, indexText, num, result, toNumber } from "../../scene/format.mjs";
import { SMALL } from "../../scene/shared.mjs";
import { at as trackAt, changedBy } from "../../scene/timeline.mjs";
import { briefText, ofWhat, resultOf, table } from "../../page/value_text.mjs";

/** @import { Code, Edge, Num, Node, Scene, Step, Value, Wire } from "../../scene/scene.d.ts" */
/** @import { Held } from "../../scene/format.mjs" */
/** @typedef {{ label: string, rows: string[][], tone?: string, total?: string | null, isWhole?: boolean }} SumLine cells in rows, and what they come to */

const TERMS = 8; // products in one line; of a longer sum only the result is shown
const LATEST = 10; // lines of a ledger that are shown at once, so that the total below them is in view

/**
 * A value as cells in rows: one row for each but the last dimension; a large one tells its shape, norm and range.
 * @type {(value: Value | null | undefined) => string[][]}
 */
export function cellsOf(value) {
  if (!value) return [["none"]];
  if (!value.data || value.data.length > SMALL) return [briefText(value).split(/(?<=,) /)];
  const [rows, cols] = table(value.shape);
  return Array.from({ length: rows }, (_, r) => Array.from({ length: cols }, (_, c) => element(/** @type {Held} */ (value), r * cols + c)));
}

/** @type {(label: string, value: Value | null | undefined, tone: string) => SumLine} */
const line = (label, value, tone) => ({ label, rows: cellsOf(value), tone });

/**
 * The lines of step `k`: what flows in, the local derivatives, and what flows out; [] where the sentence says it all.
 * @type {(scene: Scene, k: number) => SumLine[]}
 */
export function linesOf(scene, k) {
  const step = scene.steps[k];
  const nodes = byId(scene.nodes);
  const node = nodes.get(step?.at);
  if (!node) return [];
  if (step.kind === "vjp") return vjp(scene, step, k, node, nodes);
  if (step.kind === "forward" || (step.kind === "write" && node.kind === "op")) return forward(scene, step, k, node, nodes);
  return [];
}

/** @type {(scene: Scene, step: Step, k: number, node: Node, nodes: Map<string, Node>) => SumLine[]} */
function forward(scene, step, k, node, nodes) {
  const flows = flowsOf(scene, byId(scene.edges), step);
  const inputs = flows.filter(({ edge }) => edge.target === node.id).map(({ edge }) => edge);
  /** @type {SumLine[]} */
  const lines = flows.map(({ edge, value }) => {
    const into = edge.target === node.id;
    return line(into ? edge.hands ?? resultName(scene, nodes, edge, inputs) : `gives ${nodes.get(edge.target)?.label ?? ""}`.trim(), value, "plain");
  });
  if (node.kind !== "op" || flows.some(({ edge }) => edge.source === node.id)) return joinAlike(lines);
  const result = valueWithoutCard(scene, k, node);
  return result ? [...joinAlike(lines), line("gives", result, "plain")] : joinAlike(lines);
}

/**
 * The name of an input, or of the op that computed it; if two inputs have the same name, with the inputs of that op.
 * @type {(scene: Scene, nodes: Map<string, Node>, edge: Edge, inputs: Edge[]) => string}
 */
function resultName(scene, nodes, { source }, inputs) {
  const node = nodes.get(source);
  if (node?.kind !== "op") return node?.label ?? "?";
  const isAlike = (other) => other.source !== source && nodes.get(other.source)?.label === node.label;
  const tensor = (id) => (nodes.get(id)?.kind === "op" ? null : nodes.get(id)?.label ?? null);
  return `${resultOf(node.label)}${inputs.some(isAlike) ? ofWhat(scene, node, tensor) : ""}`;
}

/**
 * The result of an op that has no card: the value that the first op using it receives; null if no later step shows it.
 * @type {(scene: Scene, k: number, node: Node) => Value | null}
 */
function valueWithoutCard(scene, k, node) {
  const out = new Set(scene.edges.filter((edge) => edge.source === node.id).map((edge) => edge.id));
  for (let later = k + 1; out.size && later < scene.steps.length; later++) {
    const flow = scene.steps[later].flows.find((one) => !one.back && out.has(one.edge) && one.value !== null);
    if (flow && flow.value !== null) return scene.values[flow.value];
  }
  return null;
}

/**
 * The lines, with equal ones (such as the two of `x * x`) joined into one that states their number.
 * @template {{ label: string }} [T=SumLine]
 * @param {T[]} lines
 * @returns {T[]}
 */
function joinAlike(lines) {
  /** @type {Map<string, [T, number]>} */
  const counts = new Map();
  for (const one of lines) {
    const key = JSON.stringify(one);
    counts.set(key, [one, (counts.get(key)?.[1] ?? 0) + 1]);
  }
  return [...counts.values()].map(([one, times]) => (times > 1 ? { ...one, label: `${one.label}, ${times === 2 ? "twice" : `${times} times`}` } : one));
}

const byId = (elements) => new Map(elements.map((one) => [one.id, one]));

const flowsOf = (scene, edges, step) => step.flows.map((flow) => ({
  flow, edge: edges.get(flow.edge), value: flow.value === null ? null : scene.values[flow.value],
})).filter((one) => one.edge && one.value);

/**
 * What a rule sends: as the step has it where a folded group hides receivers, else by the edges to the op.
 * @type {(scene: Scene, step: Step, node: Node, nodes: Map<string, Node>) => any[]}
 */
function sentBy(scene, step, node, nodes) {
  const flows = flowsOf(scene, byId(scene.edges), step);
  if (!step.sends) return flows.filter(({ edge }) => edge.target === node.id).map((one) => ({ ...one, name: nodes.get(one.edge.source)?.label || one.edge.input || "input", place: "" })); // one from the op's output into it is the upstream gradient
  return step.sends.filter(({ value }) => value !== null).map(({ name, value, edge, in: group }) => ({
    ...flows.find((one) => one.edge.id === edge), value: scene.values[value ?? -1], name, place: group ? `, in ${nodes.get(group)?.label ?? "a folded group"}` : "",
  }));
}

/** @type {(scene: Scene, step: Step, k: number, node: Node, nodes: Map<string, Node>) => SumLine[]} */
function vjp(scene, step, k, node, nodes) {
  const number = node.kind === "group" ? step.within?.upstream : trackAt(node.tracks.upstream, k + 1); // what a folded group itself has came to all of it, not to this step
  const upstream = number === null || number === undefined ? null : scene.values[number];
  const lines = [];
  for (const { flow, edge, value, name, place } of sentBy(scene, step, node, nodes)) {
    const derivatives = localLines(flow?.wiring ?? edge?.wiring, upstream, value, name);
    if (flow?.wiring && derivatives[0]?.isWhole) derivatives.push(...localLines(edge.wiring, upstream, value, name).slice(0, 1).map((one) => ({ ...one, label: "in forward", tone: "plain", isWhole: false })));
    lines.push({ derivatives, name, to: line(`to ${name}${place}`, value, "cotangent") });
  }
  const each = joinAlike(lines.map(({ derivatives, name, to }) => ({ derivatives, name, to, label: to.label })));
  const whose = (one, name) => (one.isWhole && each.length > 1 ? { ...one, label: `local for ${name}` } : one);
  return [...(upstream ? [line("upstream", upstream, "upstream")] : []), ...each.flatMap(({ derivatives, name, to, label }) => [...derivatives.map((one) => whose(one, name)), { ...to, label }])];
}

/**
 * A number in a product: in brackets where its sign would follow another one.
 * @type {(value: Num) => string}
 */
function factor(value) {
  const text = num(value);
  return text.startsWith("−") ? `(${text})` : text;
}

/** Whether it is clear which upstream gradient each derivative multiplies: the one at the same position, the only one, or, if all are 1, any. */
const isFactor = (wiring, upstream, value) => upstream.data.length === 1 || wiring.every(([, , derivative]) => derivative === 1)
  || (upstream.data.length === value.data.length && wiring.every(([from, to]) => from === to));

/**
 * The local derivatives: in one line if each element has at most one path, with its derivative as the factor. Otherwise one sum of
 * products for each element that has a path.
 * @type {(wiring: Wire[] | null | undefined, upstream: Value | null | undefined, value: Value, label: string) => SumLine[]}
 */
export function localLines(wiring, upstream, value, label) {
  const came = upstream?.data;
  if (!wiring?.length || !came || !value.data) return [];
  const { data } = value;
  const ways = data.map((_, j) => wiring.filter(([from]) => from === j));
  if (isFactor(wiring, upstream, value) && ways.every((terms) => terms.length <= 1)) return [{ ...line("local", { ...value, data: ways.map((terms) => terms[0]?.[2] ?? 0) }, "local"), isWhole: true }];
  if (data.length > SMALL || ways.some((terms) => terms.length > TERMS)) return [];
  return ways.map((terms, j) => {
    const factors = terms.map(([, to, derivative]) => [came[to], derivative]);
    const cells = factors.map(([value, by], i) => `${i ? `+ ${factor(value)}` : num(value)}·${factor(by)}`);
    const total = factors.reduce((sum, [value, by]) => sum + toNumber(value) * toNumber(by), 0);
    return { label: `${label}${indexText(j, value.shape)}`, rows: [cells.length ? cells : [num(data[j])]], total: cells.length ? result(factors, total) : null, tone: "local" };
  });
}

/**
 * The additions to a tensor's `.grad` up to the end of step `k`: `{step, code, label, adds: [Value], after}`, oldest first.
 * @type {(scene: Scene, node: Node, k: number) => { step: number, code: Code | null, label: string, adds: Value[], after: Value | null }[]}
 */
export function ledgerOf(scene, node, k) {
  const track = node.rows.find((row) => row.key === "grad")?.track || [];
  const own = new Set([node.id, ...scene.nodes.filter((one) => one.twin === node.id).map((one) => one.id)]);
  const tensors = new Set(scene.nodes.filter((one) => one.kind === "tensor").map((one) => one.id));
  const edges = byId(scene.edges);
  const entries = [];
  let coming = [];
  scene.steps.slice(0, k + 1).forEach((step, i) => {
    if (scene.steps[i - 1]?.phase !== step.phase) coming = []; // gradients that grad() returned, or of a failed call, are not added by the next call
    if (step.kind === "vjp") coming.push(...flowsOf(scene, edges, step).filter(({ edge }) => own.has(edge.source)).map(({ value }) => value));
    const at = step.at ?? "";
    const here = own.has(at);
    const along = !here && tensors.has(at) && changedBy(track, i); // of a leaf that has the same tensor as its gradient
    if ((!here && !along) || (step.kind !== "accumulate" && step.kind !== "write")) return;
    if (step.writes === "value") return; // x.data = y leaves the gradient as it is
    const id = trackAt(track, i + 1);
    const code = step.from || step.code;
    const adds = here && step.kind === "accumulate" ? coming : null;
    entries.push({ step: i, code, label: code ? `line ${code.line}` : step.name, adds, after: id === null || id === undefined ? null : scene.values[id] });
    if (here) coming = [];
  });
  return entries;
}

/** The latest rows of a long ledger, with `more` earlier ones, and the number of those left out. A single row is never left out: the button would take as much room. */
export function latestRows(rows, more = 0) {
  let earlier = rows.length;
  for (let room = LATEST; earlier > 0; earlier--) {
    room -= cellsOf(rows[earlier - 1].value).length;
    if (room < 0) break;
  }
  earlier -= more;
  return earlier < 2 ? { earlier: 0, rows } : { earlier, rows: rows.slice(earlier) };
}
