// The overview of a run as a table: rows of parameters in their modules, a number per cell, and the texts about it. Pure.

import { num, toNumber } from "./format.mjs";

/** @import { Num, Quantities, RunOverview } from "./scene.d.ts" */
/** @typedef {keyof Quantities} Quantity */
/** @typedef {{ label: string, name: string, group: string | null, members: number[] }} Row a parameter, or (`group`) a module with its parameters: open or folded */

const MANY = 24; // rows, of more of which modules are folded at first
const FEW = 6; // folded rows, of which fewer would leave the page empty: then twice as many may be open
const STEEP = 1000; // how many times the least loss the largest is, where an even scale would show that one alone
const WIDE = 22; // characters of a label that there is room for

/** @type {Record<Quantity, { title: string, short: string, log: boolean }>} */
export const QUANTITIES = {
  norm: { title: "gradient norm", short: "gradient norm", log: true },
  ratio: { title: "update / weight", short: "update / weight", log: true },
  zeros: { title: "share of zeros", short: "zeros", log: false },
  nonfinite: { title: "non-finite", short: "non-finite elements", log: true },
  largest: { title: "largest element", short: "largest element", log: true },
};

/**
 * The modules with more than one parameter, in the order of the forward pass.
 * @param {RunOverview} run
 */
export function modules(run) {
  const rows = new Map();
  run.parameters.forEach(({ group }, row) => rows.set(group, [...(rows.get(group) ?? []), row]));
  return rows;
}

/**
 * The columns at which another loop begins, as a training after a pretraining: labels differ in more than their numbers.
 * @param {string[]} labels
 */
export function loopStarts(labels) {
  const loops = labels.map((label) => label.split(" to ")[0].replace(/= [^·]*|\d+/g, ""));
  return loops.flatMap((loop, column) => (column && loop !== loops[column - 1] ? [column] : []));
}

/** The modules that are open at first: all, if there are few rows. @param {RunOverview} run */
export function initiallyOpen(run) {
  const all = new Set(modules(run).keys());
  const most = rowsOf(run, new Set()).length < FEW ? 2 * MANY : MANY;
  return rowsOf(run, all).length > most ? new Set() : all;
}

/**
 * The rows that are shown: the last layers first, because gradients come from there; a module before its parameters.
 * @param {RunOverview} run
 * @param {Set<string>} open
 * @returns {Row[]}
 */
export function rowsOf(run, open) {
  const names = run.parameters.map((one) => one.name);
  const cut = wrappers([...modules(run).keys()], sharedPrefixLength(names));
  const rows = [];
  for (const [group, members] of [...modules(run)].reverse()) {
    const alone = members.length === 1 || group === "";
    if (!alone) rows.push({ label: group.slice(cut) || group, name: group, group, members });
    const start = alone ? cut : group.length + 1;
    if (alone || open.has(group)) rows.push(...withoutEnding(members.map((row) => names[row].slice(start))).map((label, k) => ({ label, name: names[members[k]], group: null, members: [members[k]] })));
  }
  return rows;
}

/** How many characters of modules' names can be left out where they are too long: the modules around a model, as of an adapter. */
function wrappers(groups, cut) {
  while (groups.length > 1 && groups.some((group) => group.length - cut > WIDE)) {
    const next = groups[0].indexOf(".", cut) + 1;
    if (!next || !groups.every((group) => group.startsWith(groups[0].slice(0, next)) && /^\D/.test(group.slice(next)))) break;
    cut = next;
  }
  return cut;
}

/** Paths of one module's parameters without the ending that all have, if some are too long: the end tells which one it is. */
function withoutEnding(paths) {
  while (paths.length > 1 && paths.some((path) => path.length > WIDE)) {
    const ending = paths[0].slice(paths[0].lastIndexOf("."));
    if (!paths.every((path) => path.includes(".") && path.endsWith(ending) && path.length > ending.length)) break;
    paths = paths.map((path) => path.slice(0, -ending.length));
  }
  return paths;
}

/** How many characters of the names are the model's, which all have. */
function sharedPrefixLength(names) {
  const first = names[0]?.split(".")[0] ?? "";
  return names.length > 1 && names.every((name) => name.startsWith(`${first}.`) && /\.\D.*\./.test(name)) ? first.length + 1 : 0;
}

/**
 * The numbers of a row: of a module the norm of all its gradients together, the share of all their zeros, the sum of what is
 * non-finite, else the largest; null where there is none.
 * @param {RunOverview} run
 * @param {Quantity} quantity
 * @param {Row} row
 * @returns {(number | null)[]}
 */
export function cells(run, quantity, row) {
  return row.members.length === 1 ? run.quantities[quantity][row.members[0]] : run.labels.map((_, column) => cell(run, quantity, row, column));
}

/** One of them. @type {(run: RunOverview, quantity: Quantity, row: Row, column: number) => number | null} */
export function cell(run, quantity, { members }, column) {
  const table = run.quantities[quantity];
  if (members.length === 1) return table[members[0]][column];
  const rows = members.filter((row) => table[row][column] !== null);
  return rows.length ? aggregate(quantity, rows.map((row) => Number(table[row][column])), rows.map((row) => sizeOf(run, row))) : null;
}

/** @type {(quantity: Quantity, values: number[], sizes: number[]) => number} */
function aggregate(quantity, values, sizes) {
  if (quantity === "norm") return Math.hypot(...values);
  if (quantity === "nonfinite") return sum(values);
  if (quantity === "zeros") return sum(values.map((share, k) => share * sizes[k])) / Math.max(1, sum(sizes));
  return Math.max(...values);
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const sizeOf = (run, row) => run.parameters[row].shape.reduce((a, b) => a * b, 1);

/** @param {Row} row @param {RunOverview} run */
const isSampled = (run, row) => row.members.some((one) => run.parameters[one].sampled);

/**
 * What a cell says: its place, and all its numbers.
 * @param {RunOverview} run
 * @param {Row | undefined} row none where no gradient is added to `.grad`, as with autograd.grad alone: the iteration is left
 * @param {number} column
 */
export function cellText(run, row, column) {
  if (!row) return { head: run.labels[column], text: "no gradient" };
  const at = (quantity) => cell(run, quantity, row, column);
  const norm = at("norm");
  const head = [row.name || "all parameters", ...(run.labels.length > 1 ? [run.labels[column]] : [])].join(", ");
  if (norm === null) return { head, text: "no gradient" };
  const parts = [`gradient norm ${num(norm, 3)}${at("nonfinite") ? " of the finite elements" : ""}`];
  const ratio = at("ratio");
  const most = row.members.length > 1 ? "up to " : ""; // of a module it is the largest of its parameters
  if (ratio !== null) parts.push(`update / weight ${most}${isSampled(run, row) ? "≈ " : ""}${num(ratio, 3)}`);
  if (at("zeros")) parts.push(`${num(100 * Number(at("zeros")), 3)} % zeros`);
  if (at("nonfinite")) parts.push(`${num(at("nonfinite"))} elements nan or inf`);
  parts.push(`largest element ${num(at("largest"), 3)}`);
  return { head, text: parts.join(" · ") };
}

/** `1 update`, `4,194 updates`. @type {(count: number, one: string) => string} */
export const withNoun = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;

/**
 * The line below the title.
 * @param {RunOverview} run
 */
export function facts(run) {
  const size = run.bytes === null ? null : run.bytes < 1e6 ? `${Math.ceil(run.bytes / 1e3)} kB recorded` : `${Math.round(run.bytes / 1e6).toLocaleString("en")} MB recorded`;
  const rates = run.rate.filter((one) => one !== null);
  const rate = rates.length ? `learning rate ${[...new Set([num(rates[0], 3), num(rates[rates.length - 1], 3)])].join(" → ")}` : null;
  const inputs = run.parameters.filter(({ input }) => input).length;
  const joined = run.joined > 1 ? `each column: ${run.joined} iterations, with their largest numbers` : null;
  const updates = run.skipped ? `${run.updates.toLocaleString("en")} of ${withNoun(run.updates + run.skipped, "update")}` : withNoun(run.updates, "update");
  const ends = [...new Set(run.scales.map((one) => one.toLocaleString("en")))].join(" → ");
  const skips = run.left_out ? `; it left out ${withNoun(run.left_out, "update")}` : "";
  const scaled = run.scales.length ? `numbers without the GradScaler's factor ${ends}${skips}` : null;
  return [updates, withNoun(run.ops, "forward op"), withNoun(run.parameters.length - inputs, "parameter"), inputs ? withNoun(inputs, "input") : null, rate, size, joined, scaled].filter(Boolean).join(" · ");
}

/** The columns of a loss: without those that have only others, over which its line goes on.  Where none is known, it breaks. @type {(run: RunOverview, loss: (Num | null)[]) => number[]} */
export function columnsOf(run, loss) {
  const isOthers = (column) => loss[column] === null && [run, ...run.others].some((one) => one.loss[column] !== null);
  return loss.flatMap((_, column) => (isOthers(column) ? [] : [column]));
}

/** All finite numbers among the losses. @type {(run: RunOverview) => number[]} */
export const lossNumbers = (run) => [run, ...run.others].flatMap(({ loss }) => loss.flatMap((one) => (one !== null && Number.isFinite(toNumber(one)) ? [toNumber(one)] : [])));

/** Whether the scale of the losses is logarithmic: on an even one, of a loss that falls to a thousandth or explodes, only the largest are told apart. @type {(run: RunOverview) => boolean} */
export function isLossLogarithmic(run) {
  const numbers = lossNumbers(run);
  const [least, most] = [numbers.reduce((a, b) => Math.min(a, b), Infinity), numbers.reduce((a, b) => Math.max(a, b), 0)];
  return least > 0 && most > STEEP * least;
}

/** From the first loss to the last; empty where none is known. @type {(loss: (Num | null)[]) => string} */
export function lossText(loss) {
  const numbers = loss.filter((one) => one !== null);
  if (numbers.length === 1) return num(numbers[0], 3);
  return numbers.length ? `${num(numbers[0], 3)} → ${num(numbers[numbers.length - 1], 3)}` : "not known";
}

/**
 * The run in words, for who does not see the picture.
 * @param {RunOverview} run
 */
export function inWords(run) {
  const last = run.labels.length - 1;
  const norm = (row, column) => (cell(run, "nonfinite", row, column) ? "nan or inf" : num(cell(run, "norm", row, column), 3) || "none");
  const rows = rowsOf(run, new Set()).map((row) => `${row.name || "the parameters"}: from ${norm(row, 0)} to ${norm(row, last)}`);
  if (last === 0) return `One backward pass, loss ${num(run.loss[0], 3) || "not known"}. Gradient norms, the last layers first: ${rows.map((row) => row.replace(/: from (.*) to .*$/, ": $1")).join("; ")}.`;
  const calls = run.calls.length ? `${run.labels.length} backward calls, from ${run.labels[0]} to ${run.labels[last]}.`
    : `${run.labels.length} iterations, from ${run.labels[0]} to ${run.labels[last]}. ${[{ name: run.root, loss: run.loss }, ...run.others].map(({ name, loss }) => `${name}: ${lossText(loss).replace(/(.*) →/, "from $1 to")}.`).join(" ")}`;
  return `${calls} Gradient norms, the last layers first: ${rows.join("; ")}.`;
}

/** The column that a section is in; -1 for none. @type {(run: RunOverview, section: number) => number} */
export const columnOf = (run, section) => (run.calls.length ? -1 : run.first.findIndex((first, column) => first <= section && section <= run.last[column]));
