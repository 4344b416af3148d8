// Texts that must not be broken at the end of a line: a number with its sign and power, a short vector in its brackets. Pure.

const MOST = 24; // characters; a longer vector may go on in the next line
const WHOLE = new RegExp(`\\[[^[\\]]{1,${MOST}}\\]|[-\u2212]?\\d[\\d.]*(?:e[-\u2212]?\\d+)?`, "g");
const BREAKS = /[ \u2212-]/; // where a line might end

/**
 * Text as a list of plain strings and of `{ whole }` that stay on one line.
 * @type {(text: string) => (string | { whole: string })[]}
 */
export function pieces(text) {
  const parts = [];
  let end = 0;
  for (const { 0: whole, index } of text.matchAll(WHOLE)) {
    if (!BREAKS.test(whole)) continue;
    if (index > end) parts.push(text.slice(end, index));
    parts.push({ whole });
    end = index + whole.length;
  }
  return end < text.length ? [...parts, text.slice(end)] : parts;
}
