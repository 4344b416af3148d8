// One sentence about the changes that a save of a watched script made: in lines, derivatives, gradients, steps. Pure.
import { element } from "../scene/format.mjs";
import { at } from "../scene/timeline.mjs";

/** @import { Node, Scene } from "../scene/scene.d.ts" */

const MOST = 1_000_000; // pairs of lines that are compared one by one; of longer changes only their ends are known
const NAMED = 4; // runs of lines that are told one by one
const WHOLE = 6; // elements of a value that are all written
const GRADS = 2; // gradients that are written; of more it is only said

/**
 * What changed from one recording of a program to the next.
 * @type {(before: Scene, now: Scene) => string}
 */
export function sinceSave(before, now) {
  const alike = before.section?.at === now.section?.at && before.section?.label === now.section?.label;
  const numbers = alike ? [rootSince(before, now), gradsSince(before, now), stepsSince(before, now)] : [];
  const parts = [...codeSince(before, now), sectionsSince(before, now), ...numbers].filter(Boolean);
  return parts.length ? `${parts.join("; ")}.` : "Saved without a change of code or numbers.";
}

/** @type {(before: Scene, now: Scene) => string[]} */
function codeSince(before, now) {
  const old = new Map(before.program.files.map((file) => [file.name, file.text]));
  const several = now.program.files.length > 1;
  return now.program.files.filter((file) => old.has(file.name) && old.get(file.name) !== file.text).map(({ name, text }) => {
    const { changed, gone } = linesSince(/** @type {string} */ (old.get(name)), text);
    const words = [changed.length ? `${rangesOf(changed)} changed` : "", gone ? `${gone === 1 ? "a line" : `${gone} lines`} removed` : ""].filter(Boolean).join(", ");
    return several ? `${words} in ${name}` : words;
  });
}

/**
 * The numbers of the lines that the other text has not, and how many lines went without another one in their place.
 * @type {(before: string, now: string) => { changed: number[], gone: number }}
 */
export function linesSince(before, now) {
  const [old, lines] = [before, now].map((text) => text.replace(/\n$/, "").split("\n"));
  let start = 0;
  while (start < old.length && start < lines.length && old[start] === lines[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < lines.length - start && old[old.length - 1 - end] === lines[lines.length - 1 - end]) end += 1;
  const [left, right] = [old.slice(start, old.length - end), lines.slice(start, lines.length - end)];
  const common = left.length * right.length > MOST ? new Set() : commonOf(left, right);
  const changed = right.map((_, i) => i).filter((i) => !common.has(i)).map((i) => start + i + 1);
  return { changed, gone: Math.max(0, left.length - common.size - changed.length) };
}

/**
 * The places in `right` of the longest sequence of lines that both have.
 * @type {(left: string[], right: string[]) => Set<number>}
 */
function commonOf(left, right) {
  const width = right.length + 1;
  const best = new Uint32Array((left.length + 1) * width); // of the rests from i and k on
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let k = right.length - 1; k >= 0; k -= 1) {
      best[i * width + k] = left[i] === right[k] ? best[(i + 1) * width + k + 1] + 1 : Math.max(best[(i + 1) * width + k], best[i * width + k + 1]);
    }
  }
  /** @type {Set<number>} */
  const common = new Set();
  for (let i = 0, k = 0; i < left.length && k < right.length;) {
    if (left[i] === right[k]) { common.add(k); i += 1; k += 1; }
    else if (best[(i + 1) * width + k] >= best[i * width + k + 1]) i += 1;
    else k += 1;
  }
  return common;
}

/** `line 31`, `lines 3–5 and 9`. @type {(numbers: number[]) => string} */
function rangesOf(numbers) {
  /** @type {number[][]} */
  const runs = [];
  for (const n of numbers) {
    const last = runs[runs.length - 1];
    if (last && last[1] === n - 1) last[1] = n;
    else runs.push([n, n]);
  }
  if (runs.length > NAMED) return `${numbers.length} lines`;
  const words = runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return `${numbers.length === 1 ? "line" : "lines"} ${words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}` : words[0]}`;
}

/** `loss 4.41 → 4.38`: of the last small value from which both go back. */
function rootSince(before, now) {
  const [was, is] = [before, now].map(rootOf);
  if (!was || !is || was.label !== is.label || was.text === is.text) return "";
  return `${is.label} ${was.text} → ${is.text}${now.section ? ` in ${now.section.label}` : ""}`;
}

/** The sections of a run, where these are others; the numbers that follow are of the one that is shown. @type {(before: Scene, now: Scene) => string} */
function sectionsSince({ section: before }, { section: now }) {
  const [was, is] = [before, now].map((one) => one?.count ?? 1);
  return was === is ? "" : `${is.toLocaleString("en")} ${is === 1 ? "section" : "sections"} instead of ${was.toLocaleString("en")}`;
}

/** @type {(scene: Scene) => { label: string, text: string } | null} */
function rootOf(scene) {
  const call = scene.commands.findLast((command) => command.kind === "backward" && command.shape && sizeOf(command.shape) <= WHOLE);
  const node = scene.nodes.find((one) => one.id === call?.root);
  const text = node && call ? textOf(scene, node, "value", call.start) : null;
  return node && text ? { label: node.label, text } : null;
}

/** `x.grad 2 0 → 3 0`: as it is at the end. */
function gradsSince(before, now) {
  const was = gradsOf(before);
  const changed = [...gradsOf(now)].filter(([name, text]) => was.has(name) && was.get(name) !== text);
  if (changed.length > GRADS) return "other gradients";
  return changed.map(([name, text]) => `${name}.grad ${was.get(name)} → ${text}`).join("; ");
}

/** The small gradients by the names of their tensors. @type {(scene: Scene) => Map<string, string>} */
function gradsOf(scene) {
  const pairs = scene.nodes.flatMap((node) => {
    const text = textOf(scene, node, "grad", scene.steps.length);
    return text === null ? [] : [/** @type {[string, string]} */ ([node.label.replace(/ v\d+$/, ""), text])];
  });
  return new Map(pairs);
}

/**
 * The elements of a small value in a row of a card; "None" if there is no value, null if there is no such row or the value is large.
 * @type {(scene: Scene, node: Node, key: string, t: number) => string | null}
 */
function textOf(scene, node, key, t) {
  const row = node.rows?.find((one) => one.key === key);
  if (!row) return null;
  const id = at(row.track, t);
  const value = id === null ? null : scene.values[id];
  if (!value) return "None";
  if (!value.data || sizeOf(value.shape) > WHOLE) return null;
  return value.data.map((_, i) => element(/** @type {any} */ (value), i)).join(" ");
}

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** @type {(before: Scene, now: Scene) => string} */
function stepsSince(before, now) {
  const more = now.steps.length - before.steps.length;
  return more ? `${Math.abs(more)} ${Math.abs(more) === 1 ? "step" : "steps"} ${more > 0 ? "more" : "fewer"}` : "";
}
