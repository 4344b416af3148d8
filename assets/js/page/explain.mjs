// "What am I looking at?": each panel in two or three sentences, from its small button or the key I.
import { Callout } from "./callout.mjs";
import { byId, h, prose, setProps } from "./dom.mjs";

const TABS = { inspect: "inspector", commands: "commands", events: "events" };

/** The panels in the order in which one reads the page: `place` is the element, `tab` the tab that shows it. */
const PANELS = {
  story: { title: "The story", place: "story",
    text: "This program explained in short chapters. Read a chapter, then press `Space` to play one short move; `Space` again goes on to the next chapter. The arrows ‹ › turn the pages without playing." },
  code: { title: "The program", place: "code",
    text: "The recorded program. The expression that is running is filled with colour, blue in the forward pass and orange in the backward pass, and a bar marks the backward call. Click an expression to select what it computed, or beside it to go to the next step of its line." },
  graph: { title: "The graph", place: "stage",
    text: "Every tensor is a card with its numbers, every op a pill. Grey arrows lead from the leaves to the root, in the direction of the forward pass; gradients travel back on their own orange routes. Click to select, drag to move, turn the wheel to zoom; `/` searches the graph, `K` explains the signs." },
  inspector: { title: "The inspector", place: "right", tab: "inspect",
    text: "Exactly how: the rule of the op as a formula, then with this step’s numbers, the saved tensors, and a check against finite differences. It describes the node you selected, or the current step if you selected none." },
  commands: { title: "The commands", place: "right", tab: "commands",
    text: "The calls that the program made, in order, and those that you add. Change the gradient that is passed, the flags, or a leaf’s values, and run: you get a new revision with all its gradients. Undo brings the old one back." },
  events: { title: "The events", place: "right", tab: "events",
    text: "Every step as one row of the table, with the sentence shown above the timeline. Search the steps, or click one to go there." },
  timeline: { title: "The timeline", place: "timeline",
    text: "When: one segment per phase, one part per step, labelled with the call as written. Drag to scrub. `←` and `→` step; with `Shift` they go from call to call. Marks below show errors, edits, and where a gradient is set to zero." },
};

export class Explanations {
  /**
   * @param {any} player `window.backstep`
   * @param {(panel: { place: string, tab?: string }) => void} bring brings a panel into view before it is explained
   */
  constructor(player, bring) {
    this.player = player;
    this.bring = bring;
    /** @type {string | null} the panel that is explained */
    this.panel = null;
    this.box = new Callout("explains", { onClose: () => this.close(), onKey: (key, target) => this.onKey(key, target) });
    player.on("explain", () => { this.show(this.panel ? panelAfter(this.panel) : holding(document.activeElement)); return true; });
    document.addEventListener("click", (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      const button = /** @type {HTMLElement | null} */ (target.closest?.("[data-what]"));
      button?.focus({ preventScroll: true }); // the graph's buttons leave the focus where it was
      if (button) this.toggle(button.dataset.what === "right" ? openTab() : button.dataset.what);
      else if (this.box.open && !this.box.element.contains(target)) this.close();
    });
    for (const [place, name] of [["timeline", "timeline"], ["stage", "graph"]]) {
      const spot = byId(place).querySelector(name === "graph" ? ".bs-tools" : ".bs-aside");
      spot?.append(button(name));
    }
  }

  /** I goes on to the next panel; Space means the player here too, so that a lecture goes on. */
  onKey(key, target) {
    if (key.toLowerCase() === "i") this.show(panelAfter(this.panel));
    else if (key === " " && target === this.box.element) {
      this.close();
      if (!this.player.emit("space")) this.player.play();
    } else return false;
    return true;
  }

  toggle(name) {
    if (this.box.open && this.panel === name) this.close();
    else this.show(name);
  }

  show(name) {
    const { title, text, place, tab } = PANELS[name];
    this.bring(PANELS[name]);
    if (tab) setProps("tabs", { value: tab });
    this.panel = name;
    this.box.show(byId(place), `What am I looking at? ${title}`, h("div.head", {}, h("h2", {}, title),
      h("button.quiet", { type: "button", "aria-label": "Close", onclick: () => this.close() }, "✕")), prose(text),
    h("p.hint", {}, h("kbd", {}, "I"), " next panel ", h("kbd", {}, "Esc"), " close"));
  }

  close() {
    this.panel = null;
    this.box.hide();
  }
}

/** The small button of a panel. */
export function button(name) {
  return h("button.what", { type: "button", "data-what": name, "aria-haspopup": "dialog", title: "What am I looking at? (I)",
    "aria-label": `What am I looking at? ${PANELS[name].title}` }, "i");
}

function openTab() {
  const tab = byId("right").querySelector("[role=tab][aria-selected=true]")?.textContent.trim().toLowerCase() ?? "";
  return TABS[Object.keys(TABS).find((name) => tab.startsWith(name)) ?? "inspect"];
}

/** The panel in which an element is; the graph where it is in none. */
function holding(element) {
  const inside = ["story", "code", "right", "timeline"].find((id) => byId(id)?.contains(element));
  return inside === "right" ? openTab() : inside ?? "graph";
}

const panelAfter = (name) => { const names = Object.keys(PANELS); return names[(names.indexOf(name) + 1) % names.length]; };
