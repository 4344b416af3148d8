// What the program printed, by the time and the line.  Pure.

/** @import { Print, Scene } from "./scene.d.ts" */

const MOST = 6; // lines of one print that stand under its line

/**
 * The prints of a file by the line that they stand under, in the order of time.
 * @type {(scene: Scene, file: number) => Map<number, Print[]>}
 */
export function printsOf(scene, file) {
  /** @type {Map<number, Print[]>} */
  const found = new Map();
  for (const print of scene.prints ?? []) {
    if (print.code?.file !== file) continue;
    const { end } = print.code;
    if (!found.has(end)) found.set(end, []);
    /** @type {Print[]} */ (found.get(end)).push(print);
  }
  return found;
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
