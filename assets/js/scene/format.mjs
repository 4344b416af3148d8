// Numbers, shapes and indices as text.  Pure.

import { DAMAGED, DIGITS, EXACT, NOISE, PLAIN } from "./shared.mjs";

/** @import { Num, Value } from "./scene.d.ts" */
/** @typedef {Value & { data: Num[] }} Held a value all of whose elements are there */
/** @typedef {Num | any[]} Nested a number, or a list of these, as deep as there are dimensions */

/** @type {Record<string, number>} */
const SPECIAL = { nan: NaN, inf: Infinity, "-inf": -Infinity };
export const MINUS = "\u2212";

/**
 * A `num` of the scene (JSON has no nan and no infinities) as a JavaScript number.
 * @template {Num | null} T
 * @param {T} value
 * @returns {T extends null ? null : number}
 */
export function toNumber(value) {
  return /** @type {any} */ (typeof value === "string" ? SPECIAL[value] ?? Number(value) : value);
}

/**
 * How many digits are written where none are asked for: as the sentences have it (`_digits` in `viz/reading/text.py`).
 * @type {(size: number) => number}
 */
function digitsOf(size) {
  const [shorter, usual, longer] = [DIGITS - 1, DIGITS, DIGITS + 1].map((most) => Number(size.toPrecision(most)));
  return longer === size || (usual === shorter && Math.abs(longer - size) <= EXACT * size) ? DIGITS + 1 : DIGITS;
}

/**
 * A number in at most `most` significant digits: `2`, `0.0167`, `1e-4`, `−3.5`, `nan`, `inf`.
 * @type {(value: Num | null | undefined, most?: number | null) => string}
 */
export function num(value, most = null) {
  if (value === null || value === undefined) return "";
  const x = toNumber(value);
  if (Number.isNaN(x)) return "nan";
  const sign = x < 0 ? MINUS : "";
  const size = Math.abs(x);
  if (size === Infinity) return `${sign}inf`;
  const digits = most ?? digitsOf(size);
  const [least, large] = PLAIN;
  if (Number.isInteger(size) && size < large) return sign + String(size);
  if (size !== 0 && (Number(size.toPrecision(digits)) < least || size >= large)) return sign + scientificText(size, digits);
  return sign + String(Number(size.toPrecision(digits)));
}

/** @type {(size: number, digits: number) => string} */
function scientificText(size, digits) {
  const [mantissa, exponent] = size.toExponential(Math.max(0, digits - 1)).split("e");
  return `${Number(mantissa)}e${exponent.replace("+", "")}`;
}

/**
 * What a sum of products comes to, with its sign: `=` where a calculator gives it for the numbers as they are written, `≈` where
 * it differs in the last digit that is written.  As the sentences have it (`viz/reading/text.py`).
 * @type {(terms: Num[][], value: Num) => string}
 */
export function result(terms, value) {
  const text = num(value);
  /** @type {(one: Num) => number} */
  const read = (one) => toNumber(/** @type {Num} */ (num(one).replace(MINUS, "-")));
  const products = terms.map((term) => term.map(read).reduce((product, factor) => product * factor, 1));
  const left = products.reduce((sum, product) => sum + product, 0);
  const right = read(value);
  if (!Number.isFinite(left) || !Number.isFinite(right)) return `${Object.is(left, right) ? "=" : "\u2248"} ${text}`;
  const digits = Math.max(DIGITS, text.replace(MINUS, "").split("e")[0].replace(".", "").replace(/^0+/, "").length);
  const least = Math.min(Math.abs(left), Math.abs(right));
  const half = least === 0 ? 0 : 0.5 * 10 ** (Math.floor(Math.log10(least)) - digits + 1);
  const size = products.reduce((sum, product) => sum + Math.abs(product), 0);
  return `${Math.abs(left - right) <= half + NOISE * size ? "=" : "\u2248"} ${text}`;
}

/**
 * An element of a Value of the scene: of a tensor of truth values `True` or `False`, as torch prints them.
 * @type {(value: Held, i: number, digits?: number | null) => string}
 */
export function element(value, i, digits = null) {
  return value.dtype === "bool" ? truth(value.data[i]) : num(value.data[i], digits);
}

/**
 * `True` or `False`, or one letter where there is no room.
 * @type {(value: Num, room?: number) => string}
 */
export function truth(value, room = 5) {
  const word = toNumber(value) ? "True" : "False";
  return room >= 5 ? word : word[0];
}

/**
 * A sentence with minus signs before its numbers, as the cells have them; what is an index or a name stays as written.
 * @type {(text: string) => string}
 */
export function withMinus(text) {
  return text.replace(/(^|[\s(\u00b7]|(?<![\w)\]])\[+)-(?=\.?\d|inf\b)/g, `$1${MINUS}`);
}

/** The second line of an op, then a shorter one, without the suffix that all nodes have: `MulBackward0`, `Mul`. */
export const namesOf = (name) => [name, name === "no gradient" ? "no grad" : name.replace(/Backward\d*$/, "") || name];

/**
 * Names without the last word that all of them have, which follows them once: `d`, `g`, `loss` of `d_loss` and `g_loss`.
 * @type {(names: string[]) => string[]}
 */
export function withoutCommonEnd(names) {
  const [, end] = /[._ ]([^._ ]+)$/.exec(names[0] ?? "") ?? [];
  const isCommon = end && names.length > 1 && names.every((name) => name.length > end.length + 1 && /[._ ]/.test(name.at(-end.length - 1) ?? "") && name.endsWith(end));
  return isCommon ? [...names.map((name) => name.slice(0, -end.length - 1)), end] : names;
}

/** A name without the difference between `nll_loss` and `NllLoss`. */
export const asLetters = (name) => name.replace(/_/g, "").toLowerCase();

/**
 * A text of at most `most` characters; what is left out of a longer one is an ellipsis at its end.
 * @type {(text: string, most: number) => string}
 */
export function shorten(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
}

/** What stands for a number that no text of its cell's width is true to. */
const NO_ROOM = "\u2026";

/**
 * The most exact text of a number that has at most `room` characters, with no more digits than `num` writes, or than `digits` are
 * asked for.  A number that is not whole and has room only for its whole part begins with `\u2248`; where nothing has room, an
 * ellipsis stands for it.  `isRounded` tells whether it has fewer than three digits.
 * @type {(value: Num | null, room: number, digits?: number) => string}
 */
export function fitNum(value, room, digits = DIGITS + 1) {
  if (value === null) return "";
  const fewer = [4, 3, 2, 1].filter((most) => most < digits);
  const all = [shorterOf(num(value), num(value, digits)), ...fewer.flatMap((most) => ways(value, most))];
  return all.map((text) => (isMadeWhole(text, value) ? `\u2248${text}` : text)).find((text) => text.length <= room) ?? NO_ROOM;
}

/**
 * A number in `most` digits: as it is written mostly, and as a large or a small one can be too.
 * @type {(value: Num, most: number) => string[]}
 */
function ways(value, most) {
  const x = toNumber(value);
  const size = Math.abs(x);
  const powers = Number.isFinite(x) && (size >= 1000 || (size > 0 && size < 0.01));
  return [num(value, most), ...(powers ? [(x < 0 ? MINUS : "") + scientificText(size, most)] : [])];
}

/**
 * Whether a text says that a number is whole that is not.
 * @type {(text: string, value: Num) => boolean}
 */
function isMadeWhole(text, value) {
  const isWhole = (one) => /^\D?\d+$/.test(one);
  return isWhole(text) && !isWhole(num(value)) && Math.abs(toNumber(value)) < 1000;
}

/**
 * Whether a text of `fitNum` has fewer than three digits of a number that has so many, which is to be shown.
 * @type {(text: string, value: Num | null) => boolean}
 */
export const isRounded = (text, value) => text !== NO_ROOM && digitsIn(text) < Math.min(3, digitsIn(num(value, 3)));

/**
 * How many significant digits a text has.
 * @type {(text: string) => number}
 */
const digitsIn = (text) => text.replace(/e.*/, "").replace(/\D/g, "").replace(/^0+/, "").length;

/**
 * The numbers of one row, each in at most `room` characters: all of them in as many digits as the longest has room for, so that
 * none seems to be rounder than its neighbours; what has no room for three takes none from the others.  "" for what is not known.
 * @type {(values: (Num | null)[], room: number) => string[]}
 */
export function fitRow(values, room) {
  const able = values.filter((value) => num(value, 3).length <= room);
  const digits = [DIGITS + 1, DIGITS].find((some) => able.every((value) => shorterOf(num(value), num(value, some)).length <= room)) ?? 3;
  return values.map((value) => fitNum(value, room, digits));
}

/** @type {(a: string, b: string) => string} */
function shorterOf(a, b) {
  return a.length <= b.length ? a : b;
}

/**
 * `1×4`, or `scalar` for a shape without dimensions.
 * @type {(shape: number[] | null) => string}
 */
export function shapeText(shape) {
  return !shape ? "" : shape.length === 0 ? "scalar" : shape.join("\u00d7");
}

/**
 * The index of element `cell` (counted row by row) of a tensor: `[0, 1]`; empty for a scalar.
 * @type {(cell: number, shape: number[]) => string}
 */
export function indexText(cell, shape) {
  const index = [];
  let rest = cell;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(rest % shape[axis]);
    rest = Math.floor(rest / shape[axis]);
  }
  return index.length ? `[${index.join(", ")}]` : "";
}

/**
 * A flat list as a nested list of the shape, as torch and the server's Edits spell it.
 * @type {(flat: Num[], shape: number[]) => Nested}
 */
export function nest(flat, shape) {
  if (shape.length === 0) return flat[0];
  /** @type {Nested[]} */
  let level = flat.slice();
  for (let axis = shape.length - 1; axis > 0; axis--) {
    const next = [];
    for (let i = 0; i < level.length; i += shape[axis]) next.push(level.slice(i, i + shape[axis]));
    level = next;
  }
  return level;
}

/**
 * What a tensor of `dtype` holds of a number, as to whether it is finite there: of half precision from 65520 on it is not.
 * @type {(x: number, dtype: string) => number}
 */
const roundTo = (x, dtype) => (dtype === "float32" ? Math.fround(x) : Math.abs(x) >= (BEYOND[dtype] ?? Infinity) ? x * Infinity : x);
/** @type {Record<string, number>} the least number that a short float has no finite number for: half a step beyond its largest */
const BEYOND = { float16: 65520, bfloat16: 3.3961775292304957e38, float8_e4m3fn: 464, float8_e4m3fnuz: 248, float8_e5m2: 61440, float8_e5m2fnuz: 61440 };

/** @type {(text: string, value: number, where: string) => string} */
function tooLarge(text, value, where) {
  const inf = value < 0 ? "-inf" : "inf";
  if (!where.includes("float")) return `\u201c${text.trim()}\u201d is too large for ${where}.`;
  return `\u201c${text.trim()}\u201d is too large for ${where}: it would be ${inf}. Type ${inf} if that is meant.`;
}

/**
 * What a person typed for a tensor of `dtype`: `{ value }` (a scene `num`) or `{ error }`, a sentence that says what is expected.
 * @type {(text: string, dtype?: string) => { value: Num, error?: undefined } | { error: string, value?: undefined }}
 */
export function parseNumber(text, dtype = "float64") {
  const plain = text.trim().replace(MINUS, "-").replace(/(\d),(\d)/, "$1.$2").toLowerCase();
  if (plain === "") return { error: "Type a number, such as 1 or 0.5." };
  if (plain === "nan" || plain === "inf" || plain === "-inf") return { value: plain };
  const fraction = /^([-+]?[\d.]+)\s*\/\s*([\d.]+)$/.exec(plain);
  const value = fraction ? Number(fraction[1]) / Number(fraction[2]) : Number(plain);
  if (!fraction && Math.abs(value) === Infinity) return { error: tooLarge(text, value, dtype) };
  if (Number.isFinite(value)) return Number.isFinite(roundTo(value, dtype)) ? { value } : { error: tooLarge(text, value, dtype) };
  return { error: `\u201c${text.trim()}\u201d is not a number. Try 1, 0.5, 1e-4, 1/3 or inf.` };
}

/**
 * How many elements of a tensor of truth values are True; they have no norm and no range that would tell more.
 * @type {(stats: { size: number, zeros: number | null }) => string}
 */
export const truths = ({ size, zeros }) => `${size - (zeros ?? 0)} of ${size} True`;

/**
 * The norm of a value, or that its numbers are lost.
 * @type {(value: Pick<Value, "stats" | "damaged">, digits?: number | null) => string}
 */
export const normText = ({ damaged, stats }, digits = null) => (damaged ? DAMAGED : `norm ${num(stats.norm, digits)}`);

/**
 * A line about a large tensor, and shorter ones: range and norm, or how many of its truth values are True.
 * @type {(value: Pick<Value, "dtype" | "stats" | "damaged">) => string[]}
 */
export function statsTexts({ dtype, stats, damaged }) {
  if (damaged) return [DAMAGED];
  if (dtype === "bool") return [truths(stats)];
  const odd = stats.nan ? `${stats.nan} nan` : stats.inf ? `${stats.inf} inf` : "";
  const range = `${odd}${odd && "  "}${num(stats.min, 3)} \u2026 ${num(stats.max, 3)}`;
  return [`${range}   norm ${num(stats.norm, 3)}`, range, ...(odd ? [odd] : [])];
}

/**
 * What a message begins with: torch's own first sentence.
 * @type {(message: string) => string}
 */
export const firstSentence = (message) => message.split(/(?<=[.!?])\s/, 1)[0];

/**
 * One line about a parameter in a folded group: `attn.qkv.weight 192\u00d764, gradient norm 0.021`.
 * @type {(dot: { name: string, shape: number[], shared?: true }, norm: Num | null) => string}
 */
export const dotText = ({ name, shape, shared }, norm) => (
  `${name} ${shapeText(shape)}, ${norm === null ? "no gradient yet" : `gradient norm ${num(norm, 3)}`}${shared ? ", shared with another module" : ""}`);

/** One line about a member of a stack: `blocks.3, gradient norm 0.021`. @type {(cell: { label: string }, norm: Num | null) => string} */
export const cellText = ({ label }, norm) => `${label}, ${norm === null ? "no gradient yet" : `gradient norm ${num(norm, 3)}`}`;
