// The formula: as text at once; as TeX, written by MathJax, once the time rests. What was typeset is kept and shown again
// without waiting, so that stepping through a program does not set its formulas twice.
import { byId, fill, h, mount, setProps } from "../../page/dom.mjs";
import { list, markDrawn, spelled, termsOf, wire } from "./terms.mjs";
import { legible } from "./tex.mjs";
import { wrapped } from "../../page/wrap.mjs";

const REST = 160; // ms after which a formula is worth typesetting
const MOST_KEPT = 400;
const HIGH = 0.442; // em; the height of an x in MathJax's font, which it makes as high as one in the text around it
const SURE = 0.98; // widths are estimated before MathJax sets anything
const STEP = 1; // em; a panel that is dragged sets a formula anew only where this much room has come or gone

const kept = new Map(); // TeX -> what MathJax made of it
let player = null;
let wanted = ""; // what is to be seen
let setting = ""; // what MathJax was given
let timer = 0;
let terms = {}; // what the names in the formula stand for
let shown = "";
let last = []; // what was to be shown, for a panel of another width
let room = 16; // em
let ruler = null; // as wide as a hundred x are high

export function setUp(backstep) {
  player = backstep;
  player.on("play", (on) => { if (!on && wanted && !kept.has(wanted)) later(); });
  const light = (key) => player.light(terms[key]?.id ? terms[key] : null);
  wire(byId("inspect-formula-now"), light);
  wire(byId("inspect-terms"), light);
  new MutationObserver(made).observe(byId("inspect-formula"), { childList: true, subtree: true });
  new ResizeObserver(() => { if (last[0]?.length && ![0, room].includes(roomNow())) show(...last); }).observe(byId("inspect-formula-now").parentElement);
}

/** How many em of a formula the panel has room for, in whole steps. */
function roomNow() {
  const place = byId("inspect-formula-now").parentElement;
  ruler ??= place.appendChild(h("span.formula-ruler", { "aria-hidden": "true" }));
  const em = ruler.getBoundingClientRect().width / 100 / HIGH;
  return em > 0 ? STEP * Math.floor((SURE * place.clientWidth) / em / STEP) : 0;
}

/** The formulas of what a backward call asked for; before any call, of all. */
export const asked = (lines, call) => lines?.filter((line) => !line.calls || call === null || call === undefined || line.calls.includes(call));

/** Shows the formulas [{text, tex, terms, words}] of an op of a scene; none: hides their place. */
export function show(lines, scene = null, op = null) {
  last = [lines, scene, op];
  if (lines?.length) room = roomNow() || room;
  const tex = (lines || []).map((line) => `$$${wrapped(legible(line.tex), room)}$$`).join("\n\n");
  const key = `${tex}|${op}|${scene?.revision.id}`;
  if (key === shown) return;
  shown = key;
  wanted = tex;
  terms = scene && op && lines?.length ? termsOf(scene, op, lines) : {};
  fill(byId("inspect-terms"), list(terms, (id) => player.select(id)));
  clearTimeout(timer);
  const place = byId("inspect-formula-now");
  place.hidden = !tex;
  if (!tex) return;
  place.setAttribute("aria-label", lines.map((line) => line.text).join("; "));
  if (kept.has(tex)) { put(place, kept.get(tex)); return; }
  fill(place, lines.map((line) => h("p.formula-text", {}, spelled(line.text, terms))));
  if (!player.playing()) later();
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    setting = wanted;
    if (mount("inspect-formula")) requestAnimationFrame(() => setProps("formula-tex", { children: setting }));
    else setProps("formula-tex", { children: setting });
  }, REST);
}

/** MathJax has written into its hidden place: keep it, and show it where it is still wanted. */
function made() {
  const from = byId("formula-tex");
  const lines = setting.split("\n\n");
  const done = from ? [...from.querySelectorAll("mjx-container")] : [];
  if (!setting || kept.has(setting) || done.length !== lines.length || !done.every((one) => one.querySelector("svg, mjx-math"))) return;
  const copy = h("div.tex", {}, done.map((one) => one.cloneNode(true)));
  kept.set(setting, copy);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  if (wanted === setting) put(byId("inspect-formula-now"), copy);
}

function put(place, drawn) {
  fill(place, drawn.cloneNode(true));
  markDrawn(place, terms);
}
