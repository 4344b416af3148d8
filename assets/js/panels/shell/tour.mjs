// The tour: six stops, each beside the part of the page that it explains. It is offered and never imposed, and visitors who have seen or declined
// it are not asked again; the help starts it again. The page stays usable behind it.
import { Callout } from "../../page/callout.mjs";
import { byId, h, prose } from "../../page/dom.mjs";

const STORAGE_KEY = "backstep.tour";

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

export class Tour {
  /**
   * @param {{ show: (stop: { place: string, tab?: string }) => void, onEnd: () => void }} acts `show` brings the panel of a stop into view,
   *   `onEnd` is called after the last stop or when the tour was left
   */
  constructor(acts) {
    this.acts = acts;
    this.at = -1;
    this.box = new Callout("tour", { onClose: () => this.leave(), onKey: (key, target) => this.onKey(key, target) });
    this.spot = h("div.spot", { hidden: true, "aria-hidden": "true" });
    document.body.append(this.spot);
    window.addEventListener("resize", () => this.at >= 0 && this.light());
  }

  onKey(key, target) {
    if (key === "ArrowRight" || ((key === " " || key === "Enter") && target === this.box.element)) this.go(this.at + 1);
    else if (key === "ArrowLeft") this.go(this.at - 1);
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(STOPS.length - 1);
    else return false;
    return true;
  }

  start() {
    remember();
    this.go(0);
  }

  go(to) {
    if (to >= STOPS.length) { this.leave(); return; }
    this.at = Math.max(to, 0);
    const stop = STOPS[this.at];
    this.acts.show(stop);
    this.light();
    const last = this.at === STOPS.length - 1;
    this.box.show(byId(stop.place), `Tour, stop ${this.at + 1} of ${STOPS.length}: ${stop.title}`,
      h("p.over", {}, `Stop ${this.at + 1} of ${STOPS.length}`, h("span.space"), h("button.quiet", { type: "button", "aria-label": "Leave the tour (Escape)", onclick: () => this.leave() }, "✕")),
      h("h2", {}, stop.title), prose(stop.text),
      h("div.row", {}, h("button.btn", { type: "button", disabled: this.at === 0, onclick: () => this.go(this.at - 1) }, "Back"),
        h("button.btn.primary", { type: "button", onclick: () => this.go(this.at + 1) }, last ? "Done" : "Next"), h("span.space"),
        h("span.hint", {}, h("kbd", {}, "→"), " ", h("kbd", {}, "Esc"))));
  }

  /** A frame around what the stop speaks of. */
  light() {
    const { left, top, width, height } = byId(STOPS[this.at].place).getBoundingClientRect();
    Object.assign(this.spot.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    this.spot.hidden = false;
  }

  leave() {
    if (this.at < 0) return;
    this.at = -1;
    this.spot.hidden = true;
    this.box.hide();
    this.acts.onEnd();
  }
}

/** The offer in the header: to whoever has not seen the tour and did not come by the address of one moment. */
export function offer(deep) {
  const place = byId("tour-offer");
  if (!place) return;
  place.hidden = deep || wasSeen();
}

export function remember() {
  try { localStorage.setItem(STORAGE_KEY, "seen"); } catch { /* storage may be forbidden: then it is offered again */ }
  const place = byId("tour-offer");
  if (place) place.hidden = true;
}

function wasSeen() {
  try { return localStorage.getItem(STORAGE_KEY) === "seen"; } catch { return false; }
}
