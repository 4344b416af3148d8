// Searches the elements of a scene. Pure: the entries are made once per scene, a letter costs one pass over them.

/** @import { Group, HiddenGroup, NodeKind, Role, Scene } from "./scene.d.ts" */
/**
 * What can be found: where it is (`rounds` of loops and folded groups to `unfold`, the innermost first), and the words by which it is.
 * @typedef {{ id: string, wrong: Wrong | null, kind: NodeKind, role: Role, label: string, sub: string, names: string[], roles: string[], shape: string, dtype: string,
 *   facts: string[], inputs: string[], group: string | null, rounds: string[], around: string[], unfold: string[] }} Entry
 */
/** @typedef {{ text: string, words: string[], error: boolean }} Wrong */
/** @typedef {{ text: string, whole: boolean }} Word */

// What a match counts where it is the whole word: of a name, a role, what is wrong, a shape or dtype, the shape of an op's input, a group around it.
const [NAME, ROLE, WRONG, FACT, INPUTS, AROUND] = [100, 90, 80, 60, 50, 40];
const SEEN = 1; // of two equal ones that on the stage comes before that in a folded group

/**
 * All that can be found: { id, kind, role, label, sub, shape, dtype, group, rounds, unfold, wrong, … }.  `rounds` of loops and
 * `unfold`, the folded groups, are those around it, the innermost first; a stub is found as the tensor that it stands for.
 * @type {(scene: Scene) => Entry[]}
 */
export function entries(scene) {
  const inside = scene.hidden ?? { names: [], nodes: [], groups: [] };
  const around = pathsOf([...scene.groups, ...inside.groups], new Set(scene.folded));
  const wrong = wrongAt(scene);
  const all = [];
  const add = (id, group, named) => all.push({ id, wrong: wrong.get(id) ?? null, ...named, ...around(group) });
  for (const { id, group, kind, role, label, sub, title } of scene.nodes) if (kind !== "stub") add(id, group, describeItem(kind, role, label, sub, title));
  const names = inside.names.map((name) => describeItem(...name)); // rounds are alike: once for all of them
  for (const [id, name, group] of inside.nodes) add(id, group, names[name]);
  const open = scene.groups.filter((group) => !group.folded);
  for (const { id, within, label } of [...open, ...inside.groups]) add(id, within, describeItem("group", "inner", label, "", label));
  return all;
}

/**
 * Of a group's id: the label of it, the words of all around it, and which of them are folded.
 * @type {(groups: (Group | HiddenGroup)[], folded: Set<string>) => (id: string | null) => { group: string | null, rounds: string[], around: string[], unfold: string[] }}
 */
function pathsOf(groups, folded) {
  const groupsById = new Map(groups.map((group) => [group.id, group]));
  const paths = new Map();
  const path = (id) => {
    const group = groupsById.get(id);
    if (!group) return { group: null, rounds: [], around: [], unfold: [] };
    if (!paths.has(id)) {
      const outer = path(group.within);
      paths.set(id, { group: group.label, rounds: [...(group.round ? [group.label] : []), ...outer.rounds], around: [plain(group.label), ...outer.around], unfold: [...(folded.has(id) ? [id] : []), ...outer.unfold] });
    }
    return paths.get(id);
  };
  return path;
}

/**
 * Where an entry is, in words: the rounds of loops around it, which tell equal ones apart where the text is cut off, and the innermost group.
 * @type {(entry: { group: string | null, rounds: string[] }) => string}
 */
export const placeOf = ({ group, rounds }) => [...new Set([...rounds, group])].filter(Boolean).join(", ");

/**
 * What is wrong at an element, in words: { text, words, error }.
 * @type {(scene: Scene) => Map<string, Wrong>}
 */
function wrongAt({ error, findings = [] }) {
  const marks = new Map();
  for (const { at, kind, label } of findings) {
    const before = marks.get(at) ?? { text: label, words: ["warning"], error: false };
    if (at !== null) marks.set(at, { ...before, words: [...before.words, ...kind.split("-"), ...plain(label).split(" ")] });
  }
  if (error?.node) marks.set(error.node, { text: error.type, words: ["error", plain(error.type), ...(marks.get(error.node)?.words ?? [])], error: true });
  return marks;
}

/**
 * A title is `name: what is known of it`: shape, dtype and requires_grad of a tensor, `shapes → shapes` of an op.
 * @param {NodeKind} kind
 * @param {Role} role
 * @param {string} label
 * @param {string} sub
 * @param {string} title
 */
function describeItem(kind, role, label, sub, title) {
  const cut = title.lastIndexOf(": ");
  const detail = cut < 0 ? "" : title.slice(cut + 2);
  const names = [label, title.slice(0, Math.max(cut, 0)), kind === "op" ? sub : ""].map(plain).filter(Boolean);
  const base = { kind, role, label, sub, names: [...new Set(names)], roles: role === "inner" ? [kind] : [kind, role], shape: "", dtype: "", facts: [], inputs: [] };
  const parts = (text) => text.split(",").map((one) => plain(one.trim()).replaceAll(" ", "_")).filter(Boolean);
  if (kind === "group") return { ...base, shape: sub.split(" \u00b7 ")[1] ?? "" };
  if (kind === "tensor") return { ...base, facts: parts(detail), shape: detail.split(",")[0], dtype: parts(detail)[1] ?? "" };
  const [inputs, result = ""] = detail.split(" \u2192 ");
  return { ...base, inputs: parts(inputs), facts: parts(result), shape: result.replaceAll(" ,", ",") };
}

/**
 * Text as it is compared: without case, and with the signs that the graph has for what a keyboard has.
 * @type {(text: string) => string}
 */
export function plain(text) {
  return text.toLowerCase().replaceAll("\u2212", "-").replace(/(?<!\*)\*(?!\*)/g, "\u00d7").replace(/(\d)\s*[x\u00d7]\s*(?=\d)/g, "$1\u00d7");
}

/**
 * The words of a query: { text, whole }; a shape in brackets is one word, and `whole` once it is closed.
 * @type {(query: string) => Word[]}
 */
export function words(query) {
  const text = plain(query).replaceAll("torch.size", " ").replace(/\btorch\./g, "");
  const parts = [];
  const rest = text.replace(/(^|\s)[([]+\s*(\d+(?:\s*[,\u00d7]\s*\d+)*)?\s*,?\s*([\])]+|$)/g, (_, before, sizes, closed) => {
    const shape = sizes?.replace(/\s*[,\u00d7]\s*/g, "\u00d7") ?? (closed ? "scalar" : "");
    if (shape) parts.push({ text: shape, whole: Boolean(closed) });
    return before;
  });
  return [...parts, ...rest.split(/\s+/).filter(Boolean).map((word) => ({ text: word, whole: false }))];
}

/**
 * How well a word fits a text: 1 as a whole, less at its start, at the start of a word in it, and anywhere (not a single letter).
 * @type {(word: Word, text: string) => number}
 */
function fit({ text: word, whole }, text) {
  if (text === word) return 1;
  if (whole) return 0;
  const at = text.indexOf(word);
  if (at === 0) return 0.6;
  if (at < 0) return 0;
  const starts = (i) => i > 0 && !/[\p{L}\p{N}]/u.test(text[i - 1]);
  for (let i = at; i > 0; i = text.indexOf(word, i + 1)) if (starts(i)) return 0.4;
  return word.length > 1 ? 0.2 : 0;
}

/** @type {(word: Word, texts: string[]) => number} */
const bestFit = (word, texts) => texts.reduce((most, text) => Math.max(most, fit(word, text)), 0);

/**
 * How well an entry fits a word; 0 where it does not.
 * @type {(one: Entry, word: Word) => number}
 */
function score(one, word) {
  return Math.max(NAME * bestFit(word, one.names), ROLE * bestFit(word, one.roles), FACT * bestFit(word, one.facts),
    INPUTS * bestFit(word, one.inputs), one.wrong ? WRONG * bestFit(word, one.wrong.words) : 0, AROUND * bestFit(word, one.around));
}

/**
 * The best `most` of the entries that fit all words of a query, and how many fit: { hits, total }.
 * @type {(all: Entry[], query: string, most: number) => { hits: Entry[], total: number }}
 */
export function search(all, query, most) {
  const terms = words(query);
  const whole = { text: plain(query.trim()), whole: false };
  const ranks = new Map(); // few different scores: by rank in one pass, each in the order of the program
  let total = 0;
  for (const one of terms.length ? all : []) {
    let sum = one.unfold.length ? 0 : SEEN;
    const fits = terms.every((word) => {
      const points = score(one, word);
      sum += points;
      return points > 0;
    });
    if (!fits) continue;
    total += 1;
    if (terms.length > 1) sum += NAME * bestFit(whole, one.names) + AROUND * bestFit(whole, one.around);
    const rank = Math.round(sum);
    if (ranks.has(rank)) ranks.get(rank).push(one);
    else ranks.set(rank, [one]);
  }
  const hits = [];
  for (const rank of [...ranks.keys()].sort((a, b) => b - a)) hits.push(...ranks.get(rank).slice(0, most - hits.length));
  return { hits, total };
}

/**
 * What one can search for, with examples of this program: [[what, query, …]].
 * @type {(all: Entry[]) => string[][]}
 */
export function examples(all) {
  const tensors = all.filter((one) => one.kind === "tensor");
  const leaf = tensors.find((one) => one.role === "leaf") ?? tensors[0];
  const shape = (tensors.find((one) => one.shape.includes("\u00d7")) ?? leaf)?.shape;
  const op = all.find((one) => one.kind === "op" && one.sub.includes("Backward")) ?? all.find((one) => one.kind === "op");
  const wrong = all.flatMap((one) => one.wrong?.words ?? []);
  const rows = [["a name", leaf?.label], ["an op", op?.label, op?.sub.includes("Backward") && op.sub], ["a shape", shape, shape && `[${shape.replaceAll("\u00d7", ", ").replace("scalar", "")}]`],
    ["a dtype", leaf?.dtype], ["a role", ...["leaf", "root", "constant"].filter((role) => tensors.some((one) => one.role === role))],
    ["a group", all.find((one) => one.kind === "group")?.label], ["what is wrong", ...["nan", "inf", "error", "warning"].filter((word) => wrong.includes(word)).slice(0, 2)]];
  return rows.map((row) => row.flatMap((text) => text || [])).filter((row) => row.length > 1);
}
