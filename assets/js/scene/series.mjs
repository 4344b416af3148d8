// A quantity through time as bars: the end of each, and the lines across. Pure; the axis is that of the whole series, so
// that nothing shifts during stepping.

import { num, toNumber } from "./format.mjs";
import { at as trackAt } from "./timeline.mjs";

/** @import { Series } from "./scene.d.ts" */
/** @typedef {{ label: string, element: string | null, here: boolean, value: number, come: boolean, step: number, from: number, to: number }} Bar */
/** @typedef {{ at: number, text: string }} AxisLine */
/** @typedef {{ log: boolean, lines: AxisLine[], span: (x: number) => { from: number, to: number } }} Axis */

const WIDE = 20; // from this ratio of the largest to the smallest on, the scale is logarithmic
const LINES = 5; // labels across at most

/**
 * `{ log, bars: [{ label, element, here, value, come, step, from, to }], lines: [{ at, text }] }`; places from 0 to 1.
 * @type {(series: Series, time: number) => { log: boolean, bars: Bar[], lines: AxisLine[] }}
 */
export function barsOf(series, time) {
  const last = series.points.map((point) => toNumber(point.track[point.track.length - 1][1]) ?? NaN);
  const finite = last.filter(Number.isFinite);
  const axis = logarithmicAxis(finite) || linearAxis(finite);
  const bars = series.points.map((point, i) => {
    const now = trackAt(point.track, time);
    const value = now === null ? last[i] : toNumber(now);
    const step = point.track.findLast(([k, v]) => v !== null && k <= time)?.[0] ?? point.track[point.track.length - 1][0];
    return { label: point.label, element: point.element, here: point.here, value, come: now !== null, step, ...axis.span(value) };
  });
  return { log: axis.log, bars, lines: axis.lines };
}

/** @type {(values: number[]) => Axis | null} */
function logarithmicAxis(values) {
  const sizes = values.filter((x) => x > 0);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  if (!sizes.length || values.some((x) => x < 0) || most / least < WIDE) return null;
  const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const place = (x) => (Math.log10(x) - low) / (high - low);
  const every = Math.ceil((high - low) / LINES);
  const lines = Array.from({ length: high - low + 1 }, (_, i) => ({ at: i / (high - low), text: (high - low - i) % every === 0 ? num(10 ** (low + i), 1) : "" }));
  return { log: true, lines, span: (x) => (x > 0 && Number.isFinite(x) ? { from: 0, to: Math.max(place(x), 0.02) } : { from: 0, to: x === 0 ? 0 : 1 }) };
}

/** @type {(values: number[]) => Axis} */
function linearAxis(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const room = high - low || 1;
  const place = (x) => (x - low) / room;
  const lines = [...new Set([low, 0, high])].sort((a, b) => a - b).map((x) => ({ at: place(x), text: num(x, 3) }));
  return { log: false, lines, span: (x) => (Number.isFinite(x) ? { from: Math.min(place(0), place(x)), to: Math.max(place(0), place(x)) } : { from: 0, to: 1 }) };
}
