// The components of the page without Dash: `setProps` sets their properties, and the page hears their changes.
import { byId, fill, first, h } from "../page/dom.mjs";
import { EventTable } from "./event_table.mjs";
import { figureOf } from "./figure.mjs";
import { GradientTable } from "./gradient_table.mjs";
import { RunFigure } from "./run_figure.mjs";

export class Components {
  /**
   * @param {{ hears: [id: string, prop: string, name: string][], lazy: Record<string, string> }} packed which property of which component the page
   *   hears of and under which name, and which component is mounted into which place
   * @param {Record<string, (props: any) => void>} stores what is asked for by setting them
   */
  constructor({ hears, lazy }, stores) {
    this.names = new Map(hears.map(([id, prop, name]) => [`${id}.${prop}`, name]));
    this.lazy = lazy;
    this.events = new EventTable((prop, value) => this.hear("events-grid", prop, value));
    this.gradient = new GradientTable((prop, value) => this.hear("command-grid", prop, value));
    this.run = new RunFigure((point) => this.hear("run-figure", "clickData", { points: [point] }));
    /** @type {Record<string, (props: any) => void>} */
    this.own = {
      ...stores, tabs: ({ value }) => this.turn(value), theme: () => {}, "formula-tex": () => {}, "run-figure": (props) => this.run.set(props),
      "events-grid": (props) => this.events.set(props), "command-grid": (props) => this.gradient.set(props),
      figure: ({ figure }) => fill(byId("figure"), figureOf(figure)),
    };
    const { value } = byId("tabs").dataset;
    this.turn(value);
    byId("tabs").addEventListener("click", (event) => this.onPress(/** @type {Element} */ (event.target)));
    byId("tabs").addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("input", (event) => this.onType(/** @type {any} */ (event.target)));
    document.addEventListener("change", (event) => this.onChoose(/** @type {any} */ (event.target)));
    document.addEventListener("click", (event) => this.menus(/** @type {Element} */ (event.target)));
    document.addEventListener("keydown", (event) => this.inMenu(event));
  }

  hear(id, prop, value) {
    const name = this.names.get(`${id}.${prop}`);
    if (name) window.backstepHears?.[name]?.(value);
  }

  grid(id) {
    return id === "events-grid" ? this.events : null;
  }

  /** Gives a component properties; those of a place that has none are mounted into it. */
  set(id, props) {
    if (this.own[id]) this.own[id](props);
    else if (id in this.lazy) this.mount(id);
    else if (byId(id)) this.plain(/** @type {any} */ (byId(id)), props);
  }

  mount(place) {
    const id = this.lazy[place];
    if (id === "events-grid") fill(byId(place), this.events.element);
    else if (id === "command-grid") fill(byId(place), this.gradient.element);
    else if (id === "run-figure") this.run.into(byId(place));
    else fill(byId(place), h("div", { id }));
  }

  plain(element, { children, data, ...rest }) {
    if (children !== undefined) fill(element, children);
    if (data !== undefined) fill(element, data.map(({ value, label }) => h("option", { value }, label)));
    for (const [name, value] of Object.entries(rest)) {
      if (name === "value" && element.multiple) for (const option of element.options) option.selected = value.includes(option.value);
      else if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
  }

  onType(target) {
    if (target.matches("input[type=text][id]")) this.hear(target.id, "value", target.value);
  }

  onChoose(target) {
    if (target.matches("input[type=checkbox][id]")) this.hear(target.id, "checked", target.checked);
    else if (target.matches("select[multiple][id]")) this.hear(target.id, "value", [...target.selectedOptions].map((option) => option.value));
    else if (target.matches("select[id]")) this.hear(target.id, "value", target.value);
  }

  /** Shows a tab. */
  turn(value) {
    for (const tab of document.querySelectorAll("[data-tab]")) {
      const isOpen = /** @type {HTMLElement} */ (tab).dataset.tab === value;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.setAttribute("tabindex", isOpen ? "0" : "-1");
      tab.toggleAttribute("data-active", isOpen);
      first(`[data-panel="${/** @type {HTMLElement} */ (tab).dataset.tab}"]`).hidden = !isOpen;
    }
    this.hear("tabs", "value", value);
  }

  onPress(target) {
    const tab = /** @type {HTMLElement | null} */ (target.closest("[data-tab]"));
    if (tab) this.turn(tab.dataset.tab);
  }

  onKey(event) {
    const tabs = [...document.querySelectorAll("[data-tab]")];
    const at = tabs.indexOf(event.target);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !by) return;
    const next = /** @type {HTMLElement} */ (tabs[(at + by + tabs.length) % tabs.length]);
    this.turn(next.dataset.tab);
    next.focus();
    event.preventDefault();
  }

  /** A press on a menu's button opens it; a press on an entry, or elsewhere, closes it. */
  menus(target) {
    const opener = target.closest("[aria-haspopup=menu]");
    const wasOpen = opener?.getAttribute("aria-expanded") === "true";
    for (const one of document.querySelectorAll("[aria-haspopup=menu]")) expand(one, one === opener && !wasOpen);
    if (opener && !wasOpen) first("[role^=menuitem]", /** @type {any} */ (opener.nextElementSibling))?.focus();
  }

  inMenu(event) {
    const menu = event.target.closest?.(".mantine-Menu-dropdown");
    if (!menu) return;
    const entries = [...menu.querySelectorAll("[role^=menuitem]")];
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) entries[(entries.indexOf(event.target) + by + entries.length) % entries.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") {
      expand(menu.previousElementSibling, false);
      menu.previousElementSibling.focus();
    } else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  }
}

function expand(opener, on) {
  opener.setAttribute("aria-expanded", String(on));
  opener.nextElementSibling.hidden = !on;
}
