// The tour: six stops, each beside what it speaks of. It is offered and never imposed, and whoever has seen or declined it
// is not asked again; the help starts it anew. The page stays usable behind it.
import { Callout } from "../../page/callout.mjs";
import { byId, h, prose } from "../../page/dom.mjs";

const KEPT = "backstep.tour";

const STOPS = [
  { title: "A program, explained in chapters", place: "story",
    text: "The chapters explain what this program shows. Read one, then press `Space` to play one short move. That is all you need to follow a story." },
  { title: "The lines that run", place: "code",
    text: "The expression that runs now is marked here: blue while it is computed, orange while its gradient is computed. Click a line to find it on the graph." },
  { title: "The graph", place: "stage",
    text: "Tensors are cards with their numbers, ops are pills. Gradients travel from the purple root back to the green leaves, and are added to their `.grad`. `K` opens the legend." },
  { title: "Time", place: "timeline",
    text: "Drag along the lane, or step with `←` and `→`: backwards works as well as forwards. The sentence says what the step does." },
  { title: "Exactly how", place: "right", tab: "inspect",
    text: "The rule as a formula, then with the numbers of this step. Click a card, a pill or a line of code to keep it here while you step." },
  { title: "Change a call", place: "right", tab: "commands",
    text: "Choose a call, change the gradient that it passes or one of its flags, and run it. The new gradients appear at once, and `Ctrl+Z` undoes the change. `?` lists all keys." },
];

let box = null;
let spot = null;
let at = -1;
let acts = {};

/** `acts`: show(stop) brings its panel into view, ended() after the last stop or when it was left. */
export function setUp(given) {
  acts = given;
  box = new Callout("tour", { closed: leave, pressed });
  spot = h("div.spot", { hidden: true, "aria-hidden": "true" });
  document.body.append(spot);
  window.addEventListener("resize", () => at >= 0 && light());
}

function pressed(key, target) {
  if (key === "ArrowRight" || ((key === " " || key === "Enter") && target === box.element)) go(at + 1);
  else if (key === "ArrowLeft") go(at - 1);
  else if (key === "Home") go(0);
  else if (key === "End") go(STOPS.length - 1);
  else return false;
  return true;
}

export const running = () => at >= 0;

export function start() {
  remember();
  go(0);
}

function go(to) {
  if (to >= STOPS.length) { leave(); return; }
  at = Math.max(to, 0);
  const stop = STOPS[at];
  acts.show(stop);
  light();
  const last = at === STOPS.length - 1;
  box.show(byId(stop.place), `Tour, stop ${at + 1} of ${STOPS.length}: ${stop.title}`,
    h("p.over", {}, `Stop ${at + 1} of ${STOPS.length}`, h("span.space"), h("button.quiet", { type: "button", "aria-label": "Leave the tour (Escape)", onclick: leave }, "✕")),
    h("h2", {}, stop.title), prose(stop.text),
    h("div.row", {}, h("button.btn", { type: "button", disabled: at === 0, onclick: () => go(at - 1) }, "Back"),
      h("button.btn.primary", { type: "button", onclick: () => go(at + 1) }, last ? "Done" : "Next"), h("span.space"),
      h("span.hint", {}, h("kbd", {}, "→"), " ", h("kbd", {}, "Esc"))));
}

/** A frame around what the stop speaks of. */
function light() {
  const { left, top, width, height } = byId(STOPS[at].place).getBoundingClientRect();
  Object.assign(spot.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  spot.hidden = false;
}

export function leave() {
  if (at < 0) return;
  at = -1;
  spot.hidden = true;
  box.hide();
  acts.ended();
}

/** The offer in the header: to whoever has not seen the tour and did not come by the address of one moment. */
export function offer(deep) {
  const place = byId("tour-offer");
  if (!place) return;
  place.hidden = deep || seen();
}

export function remember() {
  try { localStorage.setItem(KEPT, "seen"); } catch { /* storage may be forbidden: then it is offered again */ }
  const place = byId("tour-offer");
  if (place) place.hidden = true;
}

function seen() {
  try { return localStorage.getItem(KEPT) === "seen"; } catch { return false; }
}
