// The few lines of the program that matter at a moment, for those who cannot read all of it.  Pure.

/** @import { Code, Scene, Step } from "../../scene/scene.d.ts" */

const MOST = 5; // rows on the screen: as many statements as fit in them are shown, each of them whole
const LONGEST = 9; // lines of a single statement that is shown whole, as a network's layers
const HANGING = 4; // letters by which a long line is indented where it goes on below itself
const PARTS = /#[^\n]*|("""|''')[^]*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\\\n|[([{]|[)\]}]|\n/g; // what can end a line, or keep it from ending a statement

/**
 * The lines that a chapter is about, or those of a step with its expression marked: each as its number and its parts, [text, whether it is marked].
 * @param {Scene} scene
 * @param {Step | null} step
 * @param {[number, number] | null} chapter the first and the last line, where the chapter is read
 * @param {number} letters the letters of a row on the screen
 * @returns {{ number: number, parts: [string, boolean][] }[]}
 */
export function excerptOf(scene, step, chapter, letters = Infinity) {
  /** @type {Code | null} */
  const code = chapter ? null : step?.from ?? step?.code ?? null;
  const file = scene.program.files[code?.file ?? 0];
  const [first, last] = chapter ?? (code ? [code.line, code.end] : [0, 0]);
  if (!first || !file) return [];
  const { lines, statements } = readFile(file);
  const [from, to] = rangeOf(lines, statements, [first, last], letters);
  const rows = Array.from({ length: to - from + 1 }, (_, i) => ({ number: from + i, text: lines[from + i - 1] }));
  while (rows.length && !rows[rows.length - 1].text.trim()) rows.pop();
  while (rows.length && !rows[0].text.trim()) rows.shift();
  return rows.map(({ number, text: line }) => ({ number, parts: partsOf(line, number, code, [first, last]) }));
}

/** The letters of the longest line that a lecture on a scene may show. @param {Scene} scene */
export function lettersOf({ program, steps }) {
  const files = program.files.map(readFile);
  /** @type {Map<string, { file: number, span: [number, number] }>} */
  const spans = new Map();
  const add = (file, span) => { if (files[file]) spans.set(`${file}|${span}`, { file, span }); };
  for (const { lines } of program.chapters) if (lines) add(0, lines);
  for (const step of steps) {
    const code = step.from ?? step.code;
    if (code) add(code.file, [code.line, code.end]);
  }
  return [...spans.values()].reduce((most, { file, span }) => {
    const { lines, statements } = files[file];
    const [from, to] = rangeOf(lines, statements, span, Infinity);
    return lines.slice(from - 1, to).reduce((longest, line) => Math.max(longest, line.length), most);
  }, 0);
}

/** The lines of a file, and the first and the last one of each statement. @param {{ text: string }} file */
const readFile = ({ text }) => ({ lines: text.split("\n"), statements: statementsOf(text) });

/** @type {(text: string) => [number, number][]} */
function statementsOf(text) {
  /** @type {[number, number][]} */
  const statements = [];
  let [first, line, depth] = [1, 1, 0];
  for (const [part] of text.matchAll(PARTS)) {
    if ("([{".includes(part)) depth += 1;
    else if (")]}".includes(part)) depth -= 1;
    if (part === "\n" && depth <= 0) {
      statements.push([first, line]);
      first = line + 1;
    }
    line += part.split("\n").length - 1;
  }
  return [...statements, [first, line]];
}

/** The statements that have some lines, and as many around them as there is room for; of too many the first ones. */
function rangeOf(lines, statements, [first, last], letters) {
  const own = statements.filter(([begin, end]) => begin <= last && end >= first);
  const [begin, end] = own[0];
  if (end - begin >= LONGEST) return [first, Math.min(last, first + LONGEST - 1)];
  const rows = (low, high) => lines.slice(low - 1, high).reduce((sum, line) => sum + rowsOf(line, letters), 0);
  let [from, to] = [begin, own.findLast((one) => rows(begin, one[1]) <= MOST)?.[1] ?? end];
  const [low, high] = linesBetweenComments(lines, from, to);
  const fits = (one) => one && one[0] >= low && one[1] <= high && rows(Math.min(from, one[0]), Math.max(to, one[1])) <= MOST;
  for (;;) {
    const [before, after] = [statements.find((one) => one[1] === from - 1), statements.find((one) => one[0] === to + 1)];
    if (fits(before) && (begin - from <= to - end || !fits(after))) [from] = before;
    else if (fits(after)) [, to] = after;
    else return [from, to];
  }
}

/** The rows that a line has on the screen. */
const rowsOf = (line, letters) => (line.length > letters ? 1 + Math.ceil((line.length - letters) / (letters - HANGING)) : 1);

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
