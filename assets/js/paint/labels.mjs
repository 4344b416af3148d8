// The travelling number: its text, and a position at which nobody takes it for another route's.

import { num, shapeText, withMinus } from "../scene/format.mjs";
import { placesAt } from "./number_positions.mjs";
import { gradientRoute } from "../geometry/plane.mjs";

const MOST_LABELS = 24;

/** The lines from cell to cell by which the gradient of an edge travels now, `{ flat, number }`: one for each cell. */
export function linesOn({ wires }, edge) {
  const lines = new Map();
  for (const wire of wires) {
    if (wire.live && wire.sides.leaving && wire.edge.id === edge.id) lines.set(wire.from, { flat: wire.leaving, number: wire.sent });
    else if (wire.comes && wire.sides.arriving && edge.source === wire.op.id && edge.target === wire.output.id) lines.set(wire.to, { flat: wire.arriving, number: wire.upstream });
  }
  return [...lines.values()];
}

/**
 * The texts of the flows: equal numbers with the same route, such as the two of `x * x`, have one text, and so has a number that continues from
 * an edge for gradients alone.  The arithmetic of a single path holds for cells, so it is written only where that path is drawn.
 */
export function labelsOf(brush, flows) {
  const groups = new Map();
  for (const { flow, edge, started } of flows) {
    if (!started || !flow.text) continue;
    const text = (linesOn(brush, edge).length && flow.path) || flow.text;
    const key = `${edge.source}|${edge.target}|${text}`;
    if (groups.has(key)) groups.get(key).edges.push(edge);
    else groups.set(key, { flow, edge, edges: [edge], text });
  }
  const labels = [...groups.values()].map((one) => ({ ...one, text: withMinus(one.text), times: one.edges.length }));
  const before = (label) => labels.find(({ edge, text }) => edge.value === false && edge.source === label.edge.target && text === label.text);
  for (const label of labels) before(label)?.edges.push(...label.edges);
  return labels.filter((label) => !before(label)).map((one) => ({ ...one, text: one.text + timesOf(one) }));
}

/**
 * The numbers of some flows, `{ text, flow, edges, box, lead }` (`lead`: the line to its route of one that stands away from it, or null);
 * without those that have no room.  Each has its place from the beginning of its step, and keeps it.
 */
export function placedLabels(brush, flows) {
  const moving = new Set(flows.filter((one) => one.started).map((one) => one.flow));
  const settled = { ...brush, moment: { ...brush.moment, t: Math.ceil(brush.moment.t) } }; // as at the end of the step, so that a label does not move during it
  return placeAll(settled, flows).filter((one) => moving.has(one.flow));
}

/**
 * First the numbers that have room beside their routes, those that a step sends before those that it receives; then the others, at the end
 * of a line. Numbers without room in either place are replaced by their shape and norm.
 */
function placeAll(brush, flows) {
  const lit = flows.map((one) => ({ edge: one.edge, ways: waysOf(brush, one.flow, one.edge) }));
  /** @type {any} */
  const places = placesAt(brush, lit);
  const spots = [];
  let left = labelsOf(brush, flows.map((one) => ({ ...one, started: true }))).slice(-MOST_LABELS).reverse();
  for (const [find, forms] of [[places.beside, formsOf], [places.away, formsOf], [places.beside, summaries], [places.away, summaries]]) {
    left = left.filter((label) => {
      /** @type {any} */
      let spot = null;
      const text = forms(label, brush.moment.scene).find((form) => (spot = find(form, label.edges, spots)));
      if (spot) spots.push({ ...label, text, ...spot });
      return !spot;
    });
  }
  return spots;
}

/** The curves on which a flow is drawn. */
function waysOf(brush, flow, edge) {
  const lines = flow.back ? linesOn(brush, edge) : [];
  return lines.length ? lines.map(({ flat }) => flat) : [(flow.back ? gradientRoute(brush.plane, brush.moment, edge) : brush.plane.routes.get(edge.id).forward).flat];
}

/** The texts for a number, the longest first: with its product, and without, because the sentence has the product too. */
function formsOf({ text }) {
  const [, result] = / [=\u2248] (.*)$/.exec(text) ?? [];
  return result === undefined ? [text] : [text, result];
}

/** The text for several numbers that have no room: shape and norm, as for a tensor that is too large to be written out. */
function summaries(label, { values }) {
  const { flow } = label;
  const { shape, stats, damaged } = values[flow.value] ?? {};
  if (!shape || stats.size < 2 || damaged) return [];
  const norm = `norm ${num(stats.nan ? "nan" : stats.inf ? "inf" : stats.norm, 3)}${timesOf(label)}`;
  return [`${shapeText(shape)}, ${norm}`, norm];
}

/** How often a number goes the same way. */
const timesOf = ({ times }) => (times === 1 ? "" : `, ${times === 2 ? "twice" : `${times} times`}`);
