// The sections of a run in a row, with the loss and the gradient norm of each: their positions, and their texts. Pure.

import { num, toNumber } from "../../scene/format.mjs";
import { columnsOf, isLossLogarithmic, withNoun } from "../../scene/run.mjs";

/** @import { Num, RunFinding, RunOverview, Section } from "../../scene/scene.d.ts" */
/** @typedef {{ x: number, y: number }[]} Curve points in a unit square, upwards; a line between neighbours */
/** @typedef {{ curves: Curve[], odd: number[] }} Track pieces of a line, and where it is nan or infinite */
/** @typedef {{ losses: { name: string, track: Track }[], norm: Track, rate: Track | null }} Tracks the main loss comes first */

/** The section at a part of the row, from 0 to 1. @type {(part: number, count: number) => number} */
export const sectionAt = (part, count) => Math.min(Math.max(Math.floor(part * count), 0), count - 1);

/** The column of the overview that a section is in; null for none. @type {(run: RunOverview | null, section: number) => number | null} */
function columnOf(run, section) {
  const column = run ? run.first.findIndex((first, k) => first <= section && section <= run.last[k]) : -1;
  return column < 0 ? null : column;
}

/** The losses of a run, as the two of a GAN: the first one is what the run's own `loss` is. @type {(run: RunOverview) => { name: string, loss: (Num | null)[] }[]} */
const lossesOf = (run) => [{ name: run.root, loss: run.loss }, ...run.others];

/**
 * The losses, the norm of all gradients together and the learning rate over the run, on a scale each: the losses share theirs, that of the norm is
 * logarithmic, as is that of steep losses.  A rate that stays the same has no line.
 * @type {(run: RunOverview, count: number) => Tracks}
 */
export function tracksOf(run, count) {
  const place = run.first.map((first, k) => (first + run.last[k] + 1) / 2 / Math.max(count, 1));
  const onScale = isLossLogarithmic(run) ? Math.log10 : (value) => value;
  const losses = lossesOf(run).map(({ name, loss }) => ({ name, values: loss.map((one) => (one === null ? null : onScale(toNumber(one)))) }));
  const all = losses.flatMap(({ values }) => values);
  const logs = run.total.map((one) => (one === null || toNumber(one) <= 0 ? null : Math.log10(toNumber(one))));
  const changes = new Set(run.rate.filter((one) => one !== null)).size > 1;
  const lines = losses.map(({ name, values }) => {
    const columns = columnsOf(run, values);
    return { name, track: trackOf(columns.map((k) => place[k]), columns.map((k) => values[k]), 0, all) };
  });
  return { losses: lines, norm: trackOf(place, logs, 1), rate: changes ? trackOf(place, run.rate, 0) : null };
}

/** @type {(place: number[], values: (number | null)[], least: number, all?: (number | null)[]) => Track} `all` fills the height, and `least` is the range that does at least */
function trackOf(place, values, least, all = values) {
  const finite = all.filter((one) => one !== null && Number.isFinite(one)).map(Number);
  const [low, high] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
  const size = Math.max(high - low, least) || 1;
  const begin = (low + high - size) / 2;
  /** @type {Track} */
  const track = { curves: [], odd: [] };
  let open = false;
  values.forEach((value, k) => {
    const isNumber = value !== null && Number.isFinite(value);
    if (isNumber && !open) track.curves.push([]);
    if (isNumber) track.curves[track.curves.length - 1].push({ x: place[k], y: (value - begin) / size });
    else if (value !== null) track.odd.push(place[k]);
    open = isNumber;
  });
  return track;
}

/** The sections that findings lead to, each once. @type {(findings: RunFinding[]) => number[]} */
export const sectionsOf = (findings) => [...new Set(findings.map(({ section }) => section))].sort((a, b) => a - b);

/** How many sections there are of which kind: an evaluation between two epochs is one as well. @type {(section: Section) => string} */
export function countText({ count, iterations }) {
  const parts = count - iterations;
  return withNoun(iterations, "iteration") + (parts ? `, and ${withNoun(parts, "part")} of the run before, between or after them` : "");
}

/**
 * The text about a section: its name, its losses, the norm of its gradients, the learning rate, and its findings.
 * @type {(run: RunOverview | null, section: Section, at: number) => string}
 */
export function hoverText(run, section, at) {
  const column = columnOf(run, at);
  const own = at === section.at ? section.label : at === section.at - 1 ? section.before : at === section.at + 1 ? section.after : null;
  const name = own ?? (run && column !== null ? run.labels[column] : `section ${at + 1} of ${section.count}`);
  if (!run || column === null) return name;
  const [norm, rate] = [run.total[column], run.rate[column]];
  const losses = lossesOf(run).flatMap(({ name: one, loss }) => (loss[column] === null ? [] : [`${one} ${num(loss[column])}`]));
  const parts = [...losses, norm === null ? "" : `gradient norm ${num(norm, 3)}`, rate === null ? "" : `learning rate ${num(rate, 3)}`].filter(Boolean);
  const wrong = run.findings.filter((one) => one.section === at).map(({ label }) => label);
  return [name, [...parts, ...wrong].join(" · ")].filter(Boolean).join(": ");
}
