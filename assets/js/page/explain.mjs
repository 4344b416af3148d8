// "What am I looking at?": each panel in two or three sentences, from its small button or the key I.
import { Callout } from "./callout.mjs";
import { byId, h, prose, setProps } from "./dom.mjs";

const TABS = { inspect: "inspector", commands: "commands", events: "events" };

/** The panels in the order in which one reads the page: `place` is the element, `tab` the tab that shows it. */
const PANELS = {
  story: { title: "The story", place: "story",
    text: "This program explained in short chapters. Read a chapter, then press `Space` to play one short move; `Space` again goes on to the next chapter. The arrows ‹ › turn the pages without playing." },
  code: { title: "The program", place: "code",
    text: "The recorded program. The expression that is running is filled with colour, blue in the forward pass and orange in the backward pass, and a bar marks the backward call. Click a line to select the tensor that it computed." },
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

let box = null;
let shown = null;
let visible = () => {};

/** `shows(panel)` brings a panel into view before it is explained. */
export function setUp(player, shows) {
  visible = shows;
  box = new Callout("explains", { closed: close, pressed: (key, target) => pressed(player, key, target) });
  player.on("explain", () => { show(shown ? after(shown) : holding(document.activeElement)); return true; });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-what]");
    button?.focus({ preventScroll: true }); // the graph's buttons leave the focus where it was
    if (button) toggle(button.dataset.what === "right" ? openTab() : button.dataset.what);
    else if (box.open && !box.element.contains(event.target)) close();
  });
  for (const [place, name] of [["timeline", "timeline"], ["stage", "graph"]]) {
    const spot = byId(place).querySelector(name === "graph" ? ".bs-tools" : ".bs-aside");
    spot?.append(button(name));
  }
}

/** I goes on to the next panel; Space means the player here too, so that a lecture goes on. */
function pressed(player, key, target) {
  if (key.toLowerCase() === "i") show(after(shown));
  else if (key === " " && target === box.element) {
    close();
    if (!player.emit("space")) player.play();
  } else return false;
  return true;
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

const after = (name) => { const names = Object.keys(PANELS); return names[(names.indexOf(name) + 1) % names.length]; };

function toggle(name) {
  if (box.open && shown === name) close();
  else show(name);
}

function show(name) {
  const { title, text, place, tab } = PANELS[name];
  visible(PANELS[name]);
  if (tab) setProps("tabs", { value: tab });
  shown = name;
  box.show(byId(place), `What am I looking at? ${title}`, h("div.head", {}, h("h2", {}, title),
    h("button.quiet", { type: "button", "aria-label": "Close", onclick: close }, "✕")), prose(text),
  h("p.hint", {}, h("kbd", {}, "I"), " next panel ", h("kbd", {}, "Esc"), " close"));
}

export function close() {
  shown = null;
  box?.hide();
}
