// The lines of the program in time: the steps that each of them makes, and the texts that it printed. Pure.

/** @import { Code, Line, Print, Scene } from "./scene.d.ts" */
/** @import { Level } from "./levels.mjs" */

const MOST = 6; // lines of one print that stand under its line

/** @type {(code: Code | null | undefined, file: number, line: number) => boolean} */
const covers = (code, file, line) => Boolean(code && code.file === file && code.line <= line && line <= code.end);

/**
 * What is known of the lines of a file, by their numbers.
 * @type {(scene: Scene, file: number) => Map<number, Line>}
 */
export const linesOf = (scene, file) => new Map((scene.lines ?? []).filter((line) => line.file === file).map((line) => [line.line, line]));

/**
 * The times at which a step is done that a line of the program makes, ascending.  What it calls is one step where it is one at this level,
 * else one comes to its first step.
 * @type {(level: Level, file: number, line: number) => number[]}
 */
export function timesOf({ scene, spans }, file, line) {
  const calls = (scene.spans ?? []).filter((span) => covers(span.code, file, line));
  const whole = calls.filter((span) => spans.get(span.end) === span);
  const openSpans = calls.filter((span) => spans.get(span.end) !== span && span.kind !== "write");
  const times = new Set([...whole.map((span) => span.end), ...openSpans.map((span) => span.start + 1)]);
  const inside = new Uint8Array(scene.steps.length);
  for (const { start, end } of whole) inside.fill(1, start, end);
  scene.steps.forEach((step, k) => { if (!inside[k] && covers(step.code, file, line)) times.add(k + 1); });
  return [...times].sort((a, b) => a - b);
}

/**
 * The time of a line's next step after `t`, or (`back`) of the one before; after the last one comes the first.  Null for a line without steps.
 * @type {(times: number[], t: number, back?: boolean) => number | null}
 */
export function turnOf(times, t, back = false) {
  if (!times.length) return null;
  const next = back ? times.findLast((one) => one < Math.ceil(t)) : times.find((one) => one > t);
  return next ?? times[back ? times.length - 1 : 0];
}

/**
 * The lines that make steps in a file.
 * @type {(scene: Scene, file: number) => Set<number>}
 */
export function busyLines(scene, file) {
  const codes = [...scene.steps, ...(scene.spans ?? []), ...scene.nodes].map((one) => one.code);
  return new Set(codes.filter((code) => code?.file === file).map((code) => /** @type {Code} */ (code).line));
}

/**
 * The lines of the run's outermost statements: the phases and what they call, and the prints below the first.  Null where nothing in this file is one.
 * @type {(scene: Scene, file: number) => [number, number] | null}
 */
export function mainLines(scene, file) {
  const codes = (scene.spans ?? []).filter((span) => span.row === 0 && span.code?.file === file).map((span) => /** @type {Code} */ (span.code));
  if (!codes.length) return null;
  const first = Math.min(...codes.map((code) => code.line));
  const printed = (scene.prints ?? []).flatMap(({ code }) => (code?.file === file && code.line > first ? [code.end] : []));
  return [first, [...codes.map((code) => code.end), ...printed].reduce((a, b) => Math.max(a, b))];
}

// -- prints --------------------------------------------------------------------------------------------------------

/**
 * The prints of a file by the line that they stand under, in the order of time.
 * @type {(scene: Scene, file: number) => Map<number, Print[]>}
 */
export function printsOf(scene, file) {
  /** @type {Map<number, Print[]>} */
  const byLine = new Map();
  for (const print of scene.prints ?? []) {
    if (print.code?.file !== file) continue;
    const { end } = print.code;
    if (!byLine.has(end)) byLine.set(end, []);
    /** @type {Print[]} */ (byLine.get(end)).push(print);
  }
  return byLine;
}

/**
 * The place of the latest print at a time in a list; -1 before the first.
 * @type {(prints: Print[], t: number) => number}
 */
export function latestOf(prints, t) {
  let [low, high] = [0, prints.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (prints[middle].step <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * The lines of a print that are shown, and how many more there are.
 * @type {(print: Print) => { lines: string[], more: number }}
 */
export function linesShown({ text, more }) {
  const lines = text ? text.replace(/\n$/, "").split("\n") : [];
  return { lines: lines.slice(0, MOST), more: more + Math.max(0, lines.length - MOST) };
}

/** How many lines stand under the line at most, however time goes on. @type {(prints: Print[]) => number} */
export const mostLines = (prints) => prints.reduce((most, print) => {
  const { lines, more } = linesShown(print);
  return Math.max(most, lines.length + (more > 0 ? 1 : 0));
}, 1);

/** How many lines are left out, after others or (`all`) alone. @type {(more: number, all: boolean) => string} */
export function moreLines(more, all) {
  const lines = `line${more === 1 ? "" : "s"}`;
  return all ? `${more.toLocaleString("en")} ${lines} that ${more === 1 ? "was" : "were"} not recorded` : `and ${more.toLocaleString("en")} more ${lines}`;
}

/** A print in one line, for the timeline. @type {(print: Print) => string} */
export function inOneLine(print) {
  const { lines, more } = linesShown(print);
  const rest = more + Math.max(lines.length - 1, 0);
  return [lines[0] ?? "", rest ? `(${moreLines(rest, !lines.length)})` : ""].filter(Boolean).join(" ");
}
