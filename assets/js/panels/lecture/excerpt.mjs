// The few lines of the program that matter at a moment, for those who cannot read all of it.  Pure.

/** @import { Code, Scene, Step } from "../../scene/scene.d.ts" */

const MOST = 5;

/**
 * The lines that a chapter is about, or those of a step with its expression marked: each as its number and its parts, [text, whether it is marked].
 * @param {Scene} scene
 * @param {Step | null} step
 * @param {[number, number] | null} chapter the first and the last line, where the chapter is read
 * @returns {{ number: number, parts: [string, boolean][] }[]}
 */
export function excerptOf(scene, step, chapter) {
  /** @type {Code | null} */
  const code = chapter ? null : step?.from ?? step?.code ?? null;
  const lines = scene.program.files[code?.file ?? 0]?.text.split("\n") ?? [];
  const [first, last] = chapter ?? (code ? [code.line, code.end] : [0, 0]);
  if (!first) return [];
  const spare = Math.max(0, MOST - (last - first + 1));
  const [low, high] = linesBetweenComments(lines, first, last);
  const from = Math.max(low, first - Math.ceil(spare / 2));
  const to = Math.min(high, Math.max(last, from + MOST - 1), first + MOST - 1 + Math.floor(spare / 2));
  const rows = Array.from({ length: to - from + 1 }, (_, i) => ({ number: from + i, text: lines[from + i - 1] }));
  while (rows.length && !rows[rows.length - 1].text.trim()) rows.pop();
  while (rows.length && !rows[0].text.trim()) rows.shift();
  return rows.map(({ number, text }) => ({ number, parts: partsOf(text, number, code, [first, last]) }));
}

/** The lines around some that lie between comments: those of a lesson have the presenter's notes, and the answer to the question that is asked. */
function linesBetweenComments(lines, first, last) {
  const isComment = (number) => lines[number - 1].startsWith("#");
  let [low, high] = [first, last];
  while (low > 1 && !isComment(low - 1)) low -= 1;
  while (high < lines.length && !isComment(high + 1)) high += 1;
  return [low, high];
}

/** @returns {[string, boolean][]} */
function partsOf(text, number, code, [first, last]) {
  if (number < first || number > last) return [[text || " ", false]];
  const indent = text.length - text.trimStart().length;
  if (!code) return /** @type {[string, boolean][]} */ ([[text.slice(0, indent), false], [text.slice(indent) || " ", true]]).filter(([part]) => part);
  const start = number === code.line ? code.col : indent;
  const stop = number === code.end ? code.stop : text.length;
  /** @type {[string, boolean][]} */
  const parts = [[text.slice(0, start), false], [text.slice(start, stop), true], [text.slice(stop), false]];
  return parts.filter(([part]) => part);
}
