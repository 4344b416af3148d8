// One scale for the norms of gradients: boxes, edges and dots take their colour from it.  Pure.

import { at } from "./timeline.mjs";

/** @import { Dot, Edge, Node, Num } from "./scene.d.ts" */
/** @import { Moment } from "./state.mjs" */
/**
 * How a norm looks: "none" before there is one, "zero", "odd" for nan and infinities, else a "level" from 0 (small) to 1 (large).
 * @typedef {{ kind: "none" | "zero" | "odd" | "level", part: number }} Look
 */

const STEPS = 24; // shades that are told apart, so that strokes of one shade are drawn together
const HEX = /^#[\da-f]{6}$/i;
const PALEST = 0.16; // of the colour in the smallest norm: seen against the paper

/** @type {(norms: [number, number] | null, norm: Num | null | undefined) => Look} */
export function lookOf(norms, norm) {
  if (norm === null || norm === undefined || !norms) return { kind: "none", part: 0 };
  if (typeof norm === "string") return { kind: "odd", part: 1 };
  if (norm === 0) return { kind: "zero", part: 0 };
  const [low, high] = norms.map(Math.log10);
  const part = (Math.log10(norm) - low) / (high - low);
  return { kind: "level", part: Math.round(Math.min(Math.max(part, 0), 1) * STEPS) / STEPS };
}

/**
 * The norm of the gradient of what a folded group gives, at a moment.
 * @type {(moment: Moment, node: Node) => Num | null}
 */
export const normOfGroup = (moment, node) => at(node.tracks.norm ?? [], moment.t) ?? null;

/**
 * The same in the section before, where that stands beside.
 * @type {(moment: Moment, node: Node) => Num | null}
 */
export const normBefore = ({ scene, t }, { id }) => at(scene.previous?.norms?.[id], t) ?? null;

/** @type {(moment: { t: number }, dot: Dot) => Num | null} */
export const normOfDot = (moment, dot) => at(dot.norm, moment.t) ?? null;

/**
 * The norm of the gradient that went along an edge in the call that runs, at a moment.
 * @type {(moment: Moment, edge: Edge) => Num | null}
 */
export function normOfEdge({ scene, t }, { tracks }) {
  if (tracks.norm) return at(tracks.norm, t) ?? null;
  const id = at(tracks.cotangent, t);
  return id === null || id === undefined ? null : oddOr(scene.values[id].stats);
}

/** The statistics have the norm of the finite elements where some are not. */
const oddOr = ({ nan, inf, norm }) => (nan ? "nan" : inf ? "inf" : norm);

/** The share of the gradient's colour in a shade; the rest is the paper's. @type {(part: number) => number} */
export const shareOf = (part) => PALEST + (1 - PALEST) * part;

/** Red, green and blue of a colour as `#rrggbb`; null of others. @type {(colour: string) => number[] | null} */
function partsOf(colour) {
  const bits = HEX.test(colour) ? Number(`0x${colour.slice(1)}`) : null;
  return bits === null ? null : [bits >> 16, (bits >> 8) & 255, bits & 255];
}

/**
 * A shade between two colours written as `#rrggbb`: the paper's and the gradient's; of others, as with forced colours, the gradient's.
 * @type {(paper: string, full: string, part: number) => string}
 */
export function shade(paper, full, part) {
  const [from, to] = [partsOf(paper), partsOf(full)];
  if (!from || !to) return full;
  const share = shareOf(part);
  return `#${from.map((one, i) => Math.round(one + (to[i] - one) * share).toString(16).padStart(2, "0")).join("")}`;
}
