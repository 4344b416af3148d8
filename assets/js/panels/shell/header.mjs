// The bar on top: where one is, undo and redo, share and export, theme, help.
import { byId, fill, h, setProps, toast, until } from "../../page/dom.mjs";
import * as exports from "./exports.mjs";
import * as session from "../../page/session.mjs";

let acts = {};

export function setUp(given) {
  acts = {
    undo: session.undo, redo: session.redo, share, theme: () => setTheme(theme() === "dark" ? "light" : "dark", true),
    layout: (name) => session.redraw({ layout: name === "layered" ? "" : name }), "fold-all": () => foldAll(true), "unfold-all": () => foldAll(false),
    ...given,
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-act]");
    if (!button || isDisabled(button) || !acts[button.dataset.act]) return;
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    acts[button.dataset.act](button.dataset.value);
  });
  document.addEventListener("keydown", pressed);
  document.querySelectorAll("#top [aria-haspopup=menu]").forEach(handOver);
  const fitting = new ResizeObserver(settle);
  document.querySelectorAll("#top, #top > *").forEach((part) => fitting.observe(part));
}

/** Entries that say why they do nothing stay within reach of the keyboard. */
const isDisabled = (button) => button.disabled || button.ariaDisabled === "true";

const ASIDE = ["tour", "revision", "way", "idle", "name"]; // what leaves the bar first where its title has no room

/** Before the title is cut, what is less needed steps aside. */
function settle() {
  const bar = byId("top");
  const heading = document.querySelector("#crumbs h1");
  const isCut = () => heading && heading.scrollWidth > heading.clientWidth;
  delete bar.dataset.aside;
  for (let n = 1; n <= ASIDE.length && isCut(); n += 1) bar.dataset.aside = ASIDE.slice(0, n).join(" ");
}

/** The component library says of a box around a menu's button what is to be said of the button. */
function handOver(box) {
  const button = box.querySelector("button");
  if (!button) return;
  const move = () => ["aria-haspopup", "aria-expanded", "aria-controls"].filter((name) => box.hasAttribute(name)).forEach((name) => {
    button.setAttribute(name, box.getAttribute(name));
    box.removeAttribute(name);
    if (button.getAttribute("aria-expanded") === "true") until(() => entriesOf(button)).then(begin, () => {});
  });
  new MutationObserver(move).observe(box, { attributes: true });
  move();
}

const entriesOf = (button) => byId(button.getAttribute("aria-controls"))?.querySelector("[role^=menuitem]")?.parentElement;

/** An open menu begins at its first entry; the component library begins at a nameless place before it, which a menu may not hold. */
function begin(entries) {
  markLayout();
  const place = entries.querySelector("[data-autofocus]:not([hidden])");
  if (!place) return;
  place.hidden = true;
  entries.querySelector("[role^=menuitem]").focus();
}

/** The layout that is drawn has a mark. The component library knows no such entries, and makes them anew each time. */
function markLayout() {
  const now = session.state().scene?.layout;
  document.querySelectorAll("[data-act=layout]").forEach((item) => {
    item.setAttribute("role", "menuitemradio");
    item.setAttribute("aria-checked", item.dataset.value === now ? "true" : "false");
  });
}

function pressed(event) {
  const typing = event.target.closest?.("input:not([type=checkbox], [readonly]), textarea, select, [contenteditable], .ag-cell-inline-editing");
  if (typing || document.documentElement.dataset.page !== "player") return;
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y")) {
    event.preventDefault();
    if (key === "y" || event.shiftKey) session.redo();
    else session.undo();
  }
}

export function load(scene) {
  const { program, revision } = scene;
  const crumbs = program.crumbs?.length ? program.crumbs : ["Gallery", program.question || program.title];
  const last = crumbs.length - 1;
  fill(byId("crumbs"), crumbs.map((crumb, i) => [
    i ? h("span.sep", { "aria-hidden": "true" }, "›") : null,
    i === 0 ? h("a", { href: "/", "data-act": "home" }, crumb) : i === last ? h("h1", { title: crumb }, crumb) : h("span", {}, crumb),
  ]));
  fill(byId("revision"), `Revision ${revision.number} · ${revision.label}`);
  const { history, index } = session.state();
  setProps("act-undo", { disabled: index === 0 });
  setProps("act-redo", { disabled: index >= history.length - 1 });
  document.title = `${program.title} · Backstep`;
  doubt(scene);
  markLayout();
  exports.offer(scene);
  settle();
  if (scene.layout_note) toast(scene.layout_note);
}

/** Where replay can no longer promise what the program itself would do, and what is to be said of the recording. */
function doubt(scene) {
  const place = byId("doubt");
  const texts = [scene.revision.doubt?.text, scene.program.left_out, scene.program.note].filter(Boolean);
  place.hidden = !texts.length;
  delete place.dataset.by;
  if (!texts.length) return;
  fill(place, texts.map((text) => h("p", {}, text)), h("button.quiet", { type: "button", "aria-label": "Hide this note", onclick: () => { place.hidden = true; } }, "✕"));
}

export function clear() {
  fill(byId("crumbs"));
  fill(byId("revision"));
  fill(byId("live-bar"));
  document.title = "Backstep";
}

const theme = () => document.documentElement.dataset.theme;

/** The theme of the page, the components and the pictures; `chosen` keeps it for the next visit. */
export function setTheme(name, chosen = false) {
  document.documentElement.dataset.theme = name;
  setProps("theme", { forceColorScheme: name });
  document.dispatchEvent(new CustomEvent("backstep:theme", { detail: name }));
  if (!chosen) return;
  try { localStorage.setItem("backstep.theme", name); } catch { /* forbidden: the address still carries it */ }
  acts.themed?.(name);
}

function foldAll(folded) {
  const { scene } = session.state();
  if (!scene?.groups.length) { toast("This graph has no groups."); return; }
  session.redraw({ folds: Object.fromEntries(scene.groups.map((group) => [group.id, folded])) });
}

async function share() {
  const address = location.href;
  try {
    await navigator.clipboard.writeText(address);
    toast("The link to this view is copied.");
  } catch {
    window.prompt("The link to this view:", address);
  }
}
