// The bar on top: the open program and revision, undo and redo, share and export, theme, help.
import { all, byId, fill, h, inline, setProps, until } from "../../page/dom.mjs";
import * as exports from "./exports.mjs";

export class Header {
  /**
   * @param {import("../../page/session.mjs").Session} session
   * @param {import("../../page/toast.mjs").Toast} toast
   * @param {Record<string, (value?: string) => void>} acts what the buttons of the page do, by name; `onTheme` receives a chosen theme
   */
  constructor(session, toast, acts) {
    this.session = session;
    this.toast = toast;
    this.key = ""; // what the bar says of the program
    this.hiddenNote = ""; // the note above the graph that was hidden
    /** @type {Record<string, (value?: string) => void>} */
    this.acts = {
      undo: () => session.undo(), redo: () => session.redo(), theme: () => this.setTheme(theme() === "dark" ? "light" : "dark", true),
      layout: (name) => session.redraw({ layout: name === "layered" ? "" : name }), "fold-all": () => this.foldAll(true), "unfold-all": () => this.foldAll(false),
      ...acts,
    };
    document.addEventListener("click", (event) => {
      const button = /** @type {any} */ (event.target).closest?.("[data-act]");
      if (!button || isDisabled(button) || !this.acts[button.dataset.act]) return;
      if (event.metaKey || event.ctrlKey) return;
      event.preventDefault();
      this.acts[button.dataset.act](button.dataset.value);
    });
    document.addEventListener("keydown", (event) => this.onKey(event));
    all("#top [aria-haspopup=menu]").forEach((box) => this.handOver(box));
    const fitting = new ResizeObserver(settle);
    all("#top, #top > *").forEach((part) => fitting.observe(part));
  }

  /** The component library puts a menu button's ARIA attributes on a box around it; they belong on the button. */
  handOver(box) {
    const button = box.querySelector("button");
    if (!button) return;
    const move = () => ["aria-haspopup", "aria-expanded", "aria-controls"].filter((name) => box.hasAttribute(name)).forEach((name) => {
      button.setAttribute(name, box.getAttribute(name));
      box.removeAttribute(name);
      if (button.getAttribute("aria-expanded") === "true") until(() => entriesOf(button)).then((entries) => this.begin(entries), () => {});
    });
    new MutationObserver(move).observe(box, { attributes: true });
    move();
  }

  /** An open menu begins at its first entry; the component library begins at a nameless place before it, which a menu may not hold. */
  begin(entries) {
    this.markLayout();
    const place = entries.querySelector("[data-autofocus]:not([hidden])");
    if (!place) return;
    place.hidden = true;
    entries.querySelector("[role^=menuitem]").focus();
  }

  /** The layout that is drawn has a mark. The component library knows no such entries, and makes them anew each time. */
  markLayout() {
    const now = this.session.scene?.layout;
    all("[data-act=layout]").forEach((item) => {
      item.setAttribute("role", "menuitemradio");
      item.setAttribute("aria-checked", item.dataset.value === now ? "true" : "false");
    });
  }

  onKey(event) {
    const typing = event.target.closest?.("input:not([type=checkbox], [readonly]), textarea, select, [contenteditable], .ag-cell-inline-editing");
    if (typing || document.documentElement.dataset.page !== "player") return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y")) {
      event.preventDefault();
      if (key === "y" || event.shiftKey) this.session.redo();
      else this.session.undo();
    }
  }

  load(scene) {
    this.say(scene);
    this.doubt(scene);
    this.markLayout();
    exports.offer(scene);
    if (scene.layout_note) this.toast.say(scene.layout_note);
  }

  /** The step from which a replay may differ from the program itself, and notes on the recording. Once hidden, it appears again only with another text. */
  doubt({ program, revision }) {
    const place = byId("doubt");
    const own = [revision.recomputed, revision.doubt?.text].filter(Boolean);
    const texts = [...own, program.left_out, program.note].filter(Boolean);
    const beside = Object.entries(program.beside ?? {});
    const note = JSON.stringify([program.id, own.length ? revision.id : null, texts, beside]);
    place.hidden = (!texts.length && !beside.length) || note === this.hiddenNote;
    delete place.dataset.by;
    if (place.hidden) return;
    const links = beside.map(([id, title]) => [" ", h("a.link", { href: `/?program=${encodeURIComponent(id)}` }, title)]);
    const hide = () => { place.hidden = true; this.hiddenNote = note; };
    fill(place, h("div", {}, texts.map((text) => h("p", {}, inline(text))), links.length ? h("p", {}, "Opened together with:", links) : null), h("button.quiet", { type: "button", "aria-label": "Hide this note", onclick: hide }, "✕"));
  }

  /** The program and the revision; where they are those that are there already, the page is not measured again. */
  say({ program, revision }) {
    const { history, index } = this.session;
    const crumbs = program.crumbs?.length ? program.crumbs : ["Gallery", program.question || program.title];
    const key = JSON.stringify([crumbs, program.title, revision.number, revision.label, history.length, index]);
    if (key === this.key) return;
    this.key = key;
    const last = crumbs.length - 1;
    fill(byId("crumbs"), crumbs.map((crumb, i) => [
      i ? h("span.sep", { "aria-hidden": "true" }, "›") : null,
      i === 0 ? h("a", { href: "/", "data-act": "home" }, crumb) : i === last ? h("h1", { title: crumb }, crumb) : h("span", {}, crumb),
    ]));
    fill(byId("revision"), `Revision ${revision.number} · ${revision.label}`);
    setProps("act-undo", { disabled: index === 0 });
    setProps("act-redo", { disabled: index >= history.length - 1 });
    document.title = `${program.title} · Backstep`;
    settle();
  }

  /** The theme of the page, the components and the pictures; `chosen` keeps it for the next visit. */
  setTheme(name, chosen = false) {
    document.documentElement.dataset.theme = name;
    setProps("theme", { forceColorScheme: name });
    document.dispatchEvent(new CustomEvent("backstep:theme", { detail: name }));
    if (!chosen) return;
    try { localStorage.setItem("backstep.theme", name); } catch { /* forbidden: the address still carries it */ }
    this.acts.onTheme?.(name);
  }

  foldAll(folded) {
    const { scene } = this.session;
    if (!scene?.groups.length) { this.toast.say("This graph has no groups."); return; }
    this.session.redraw({ folds: Object.fromEntries(scene.groups.map((group) => [group.id, folded])) });
  }

  clear() {
    this.key = "";
    fill(byId("crumbs"));
    fill(byId("revision"));
    fill(byId("live-bar"));
    document.title = "Backstep";
  }
}

/** Entries that say why they do nothing stay within reach of the keyboard. */
const isDisabled = (button) => button.disabled || button.ariaDisabled === "true";

const ASIDE = ["tour", "revision", "way", "idle", "name"]; // what leaves the bar first where its title has no room
const LAST = ["of", "count", "keys", "layout", "export", "share", "beside", "theme"]; // what leaves it where its last button has none

/** Before the title or a button is cut, what is less needed steps aside. */
function settle() {
  const bar = byId("top");
  const heading = document.querySelector("#crumbs h1");
  const isOver = () => bar.scrollWidth > bar.clientWidth;
  const isCut = () => isOver() || (heading && heading.scrollWidth > heading.clientWidth);
  delete bar.dataset.aside;
  const aside = [];
  for (const [names, isTight] of /** @type {const} */ ([[ASIDE, isCut], [LAST, isOver]])) {
    for (const name of names) {
      if (!isTight()) break;
      aside.push(name);
      bar.dataset.aside = aside.join(" ");
    }
  }
}

const entriesOf = (button) => byId(button.getAttribute("aria-controls"))?.querySelector("[role^=menuitem]")?.parentElement;

const theme = () => document.documentElement.dataset.theme;
