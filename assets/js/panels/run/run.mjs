// The run view: the whole run at a glance.  Loss, findings, and a cell for each parameter and iteration that leads to its place.

import { byId, first, fill, h, inline, mount, setProps } from "../../page/dom.mjs";
import { announce } from "../../stage/screen_reader.mjs";
import { columnOf, facts, inWords, isLossLogarithmic, lossText, initiallyOpen, QUANTITIES, rowsOf, cellText } from "../../scene/run.mjs";
import { heightAbove, DASHES, figure, height, rowHeight } from "./figure.mjs";
import { isSingle } from "./flow.mjs";

/** @import { RunOverview } from "../../scene/scene.d.ts" */
/** @import { Quantity } from "../../scene/run.mjs" */

/** Whether there is more to see than the graph: several iterations, or a model through which gradients flow. @param {import("../../scene/scene.d.ts").Scene} scene */
export const hasRun = (scene) => Boolean(scene.section || (scene.norms && scene.phases.some(({ kind }) => kind === "backward")));

const NONE = "No known problem shows in these numbers, nor in the graphs of the first iterations.";
const NO_OTHER = "No other known problem shows in the graphs of the first iterations.";

export class RunView {
  /**
   * @param {import("../../page/session.mjs").Session} session
   * @param {import("./overview.mjs").Overview} overview
   * @param {(section: number, place: { parameter: string | null, shows?: string[], call?: number, label?: string }) => void} go opens the graph at a section, at a parameter or a finding of it
   */
  constructor(session, overview, go) {
    this.session = session;
    this.overview = overview;
    this.go = go;
    this.visible = false;
    /** @type {RunOverview["findings"]} */
    this.findings = [];
    this.key = ""; // of the recording whose overview is here
    /** @type {RunOverview | null} */
    this.run = null;
    /** @type {Quantity} */
    this.quantity = "norm";
    /** @type {Set<string>} */
    this.open = new Set();
    this.each = 0; // px of a row, as drawn
    this.hasMore = false; // whether the findings in the graphs were asked for
    /** @type {{ row: number, column: number } | null} where the keys are */
    this.cell = null;
    this.isTouched = false;
    document.addEventListener("backstep:theme", () => this.draw());
    for (const kind of ["pointermove", "pointerdown", "wheel", "keydown"]) {
      document.addEventListener(kind, ({ target }) => { this.isTouched ||= target instanceof Element && target.closest("#run-plot") !== null; }, { passive: true });
    }
    window.addEventListener("resize", () => { if (this.run && this.each !== this.rowHeight()) this.draw(); });
  }

  /** @param {import("../../scene/scene.d.ts").Scene} scene */
  load(scene) {
    byId("views").hidden = !hasRun(scene);
    const key = `${scene.program.id} ${this.session.version}`;
    if (key !== this.key) [this.key, this.run, this.cell] = [key, null, null];
    if (this.visible) this.show(true);
  }

  /** @param {boolean} on */
  async show(on) {
    this.visible = on;
    if (!on) return;
    if (this.run) { this.draw(); this.askForMore(); return; }
    const { key } = this;
    this.say("The whole run", "Reading the gradients of all iterations …");
    try {
      const answer = await this.overview.ask();
      if (key !== this.key) return;
      if (answer.problem || !answer.overview) { this.say(answer.problem?.title ?? "", answer.problem?.text ?? ""); return; }
      if (!this.run) this.take(answer.overview); // else the view was opened twice meanwhile
      this.askForMore();
    } catch {
      this.say("The run could not be loaded", "Backstep did not answer. Choose Graph, then Run, to ask again.");
    }
  }

  /** Shows the run of a program whose first scene is still on its way; nothing where it is not known by then. @param {string} program */
  async showAhead(program) {
    [this.key, this.run, this.cell, this.visible] = [program, null, null, true];
    mount("run-figure-place"); // Plotly comes meanwhile
    this.say("The whole run", "Reading the gradients of all iterations …");
    const { overview } = await this.overview.fetchAhead(program).catch(() => ({ overview: undefined }));
    if (!overview || this.key !== program) return;
    this.key = `${program} ${overview.version}`;
    this.take(overview);
  }

  /** @param {RunOverview} run */
  take(run) {
    this.run = run;
    this.open = initiallyOpen(run);
    this.hasMore = false;
    this.frame(run);
    this.draw();
  }

  /** Asks for the findings in the graphs, once: they take longer, and there are mostly none. */
  async askForMore() {
    const { run } = this;
    if (this.hasMore) return;
    this.hasMore = true;
    this.writeSearch("Looking for mistakes in the graphs of the first iterations …");
    const answer = await this.overview.fetch("/run/graphs").catch(() => null); // the rest is there without them
    if (run !== this.run) return;
    const findings = answer?.graphs?.findings ?? [];
    const before = this.findings.length;
    if (findings.length) this.list(findings);
    this.writeSearch(!answer?.graphs || this.findings.length > before ? "" : before ? NO_OTHER : NONE);
    if (findings.length) this.draw();
  }

  /** Writes how far the search for findings is, below those found so far, in a row that the first of them takes. @param {string} text */
  writeSearch(text) {
    const place = byId("run-findings");
    place.querySelector(":scope > p")?.remove();
    if (text && this.run?.labels.length) place.append(h("p.hint", { role: "status" }, text));
  }

  say(title, text) {
    const place = byId("run-body");
    place.dataset.state = "waiting";
    byId("run-plot").hidden = true;
    fill(byId("run-head"), h("h2", {}, title), h("p.hint", { role: "status" }, text));
    fill(byId("run-findings"));
  }

  /** All but the figure: it changes only with the recording. @param {RunOverview} run */
  frame(run) {
    byId("run-body").dataset.state = run.labels.length ? "ready" : "empty";
    fill(byId("run-head"), h("h2", {}, isSingle(run) || run.calls.length ? "Gradient flow" : "The whole run"), h("p.hint", {}, isSingle(run) && run.loss[0] !== null ? `loss ${lossText(run.loss)} · ${facts(run)}` : facts(run)));
    first("#run-choice .hint").textContent = isSingle(run) ? "per parameter, the last layers first" : run.calls.length ? "per parameter: its .grad after each backward call" : "per parameter and iteration";
    fill(byId("run-findings"));
    this.findings = [];
    this.isTouched = false;
    this.list(run.findings);
    byId("run-plot").hidden = !run.labels.length;
    if (!run.labels.length) fill(byId("run-head"), h("h2", {}, "The whole run"), h("p.hint", {}, "No iteration calls backward(), so there are no gradients to show."));
    fill(byId("run-words"), run.labels.length ? inWords(run) : "");
    const grid = byId("run-grid");
    grid.onkeydown = (event) => this.onKey(event);
    grid.onfocus = () => { if (grid.matches(":focus-visible")) this.begin(); }; // a figure that is drawn anew while the mouse is down gets no click
    grid.onblur = () => this.end();
    if (document.activeElement === document.body) grid.focus({ preventScroll: true });
  }

  /**
   * Adds findings to the list.  Causes come before what they do to the numbers, or, as open as it was, in the place of a finding that
   * they explain.  Others that come late are closed if the grid is in use, so that it stays where it is.
   * @param {RunOverview["findings"]} findings
   */
  list(findings) {
    const explained = this.findings.filter(({ kind }) => findings.some(({ explains }) => explains.includes(kind)));
    this.findings = [...this.findings.filter((one) => !explained.includes(one)), ...findings];
    const place = byId("run-findings");
    const list = place.querySelector("ul") ?? h("ul", { "aria-label": "Findings" });
    for (const one of [...findings.filter(isCause).reverse(), ...findings.filter((one) => !isCause(one))]) {
      const item = this.item(one);
      const instead = [...list.children].filter((other) => one.explains.includes(/** @type {any} */ (other).dataset.kind));
      if (instead.length) {
        if (instead[0].querySelector("details[open]")) first("details", item).setAttribute("open", "");
        instead.forEach((other, k) => (k ? other.remove() : other.replaceWith(item)));
      } else if (isCause(one)) list.prepend(item);
      else list.append(item);
    }
    if (!list.isConnected && list.childElementCount) place.prepend(list);
    if (!this.isTouched && !list.querySelector("details[open]")) list.querySelector("details")?.setAttribute("open", "");
  }

  /** @param {RunOverview["findings"][0]} finding */
  item({ kind, label, why, fix, section, parameter, shows }) {
    return h("li", { "data-kind": kind }, h("details", {}, h("summary", {}, h("b", {}, label)), h("p", {}, inline(`${why} ${fix}`))),
      h("button.link", { type: "button", "aria-label": `Go there: ${label}`, onclick: () => this.go(section, { parameter, shows, label }) }, "Go there"));
  }

  begin() {
    this.cell ??= { row: 0, column: Math.max(0, this.now()) };
    this.showCell();
  }

  /** The keys are elsewhere: no cell is marked, and none is described. */
  end() {
    if (!this.run || !this.cell) return;
    this.cell = null;
    fill(byId("run-cell"));
    this.paint(rowsOf(this.run, this.open));
  }

  /** The column of the iteration that the graph shows. */
  now() {
    return this.run ? columnOf(this.run, this.session.section ?? -1) : -1;
  }

  draw() {
    const { run, quantity } = this;
    if (!this.visible || !run?.labels.length) return;
    const rows = rowsOf(run, this.open);
    fill(byId("run-quantities"), Object.entries(QUANTITIES).map(([name, { title }]) => h("button.pill", {
      type: "button", "aria-pressed": name === quantity ? "true" : "false", onclick: () => { this.quantity = /** @type {Quantity} */ (name); this.draw(); },
    }, title)));
    this.paint(rows);
    const labels = byId("run-labels");
    const title = labels.contains(document.activeElement) ? document.activeElement?.getAttribute("title") : null;
    labels.style.height = `${height(run, rows.length)}px`;
    const each = rowHeight(rows.length);
    this.each = each;
    fill(labels, isSingle(run) ? null : h(`div.loss${run.others.length ? ".several" : ""}`, {}, losses(run)), rows.map((row, k) => this.label(row, heightAbove(run) + k * each, each)));
    if (title) /** @type {HTMLElement | undefined} */ ([...labels.querySelectorAll("button")].find((one) => one.title === title))?.focus({ preventScroll: true });
  }

  /** The px of a row, as it would be drawn in this window. */
  rowHeight() {
    return this.run ? rowHeight(rowsOf(this.run, this.open).length) : 0;
  }

  /** The figure alone: the labels beside it stay as they are while one moves over the cells. */
  paint(rows) {
    const { run, quantity } = this;
    if (!this.visible || !run?.labels.length) return;
    const plot = figure({ run, rows, quantity, findings: this.findings, now: this.now(), cell: this.cell });
    if (mount("run-figure-place")) requestAnimationFrame(() => setProps("run-figure", { figure: plot }));
    else setProps("run-figure", { figure: plot });
  }

  label({ label, name, group }, top, each) {
    const style = `top: ${top}px; height: ${each}px; line-height: ${each}px`;
    const text = h("span.ending", {}, h("bdi", { dir: "ltr" }, label));
    if (group === null) return h("span.parameter", { style, title: name }, text);
    const open = this.open.has(group);
    return h("button", { type: "button", style, title: name, "aria-expanded": open ? "true" : "false", onclick: () => { if (!this.open.delete(group)) this.open.add(group); this.draw(); } },
      h("span", { "aria-hidden": "true" }, open ? "− " : "+ "), text);
  }

  /** A click on a cell, as Plotly tells it. */
  onClick(data) {
    const point = data?.points?.[0];
    if (!point || !this.run) return;
    setProps("run-figure", { clickData: null }); // else the same cell could not be clicked again
    const isCell = point.data?.type === "heatmap" || point.z !== undefined;
    const [row, column] = point.customdata ?? [isCell ? Math.round(point.y) : -1, Math.round(point.x)];
    requestAnimationFrame(() => this.enter(row, column)); // what is asked within a callback of Dash is lost
  }

  /** Goes to the graph at a cell; a module leads to the parameter that has the largest gradient there, the loss to itself. */
  enter(row, column) {
    const { run } = this;
    if (!run) return;
    const members = rowsOf(run, this.open)[row]?.members ?? [];
    const size = (member) => run.quantities.norm[member][column] ?? -1;
    const most = members.reduce((best, member) => (best === null || size(member) > size(best) ? member : best), /** @type {number | null} */ (null));
    this.go(run.first[column], { parameter: most === null ? null : run.parameters[most].name, call: run.calls[column] });
  }

  onKey(event) {
    const { run } = this;
    const cell = this.cell ?? { row: 0, column: Math.max(0, this.now()) };
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = rowsOf(run, this.open);
    const last = run.labels.length - 1;
    const far = Math.max(1, Math.round(last / 10));
    /** @type {Record<string, [number, number]>} */
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -last], End: [0, last], PageUp: [0, -far], PageDown: [0, far] };
    const by = moves[event.key];
    if (event.key === "Enter") this.enter(cell.row, cell.column);
    else if (event.key === "f" && (rows[cell.row]?.group ?? null) !== null) byId("run-labels").querySelectorAll("button")[rows.slice(0, cell.row).filter((row) => row.group !== null).length].click();
    else if (by) this.cell = { row: clamp(cell.row + by[0], rows.length - 1), column: clamp(cell.column + by[1], last) };
    else return;
    event.preventDefault();
    event.stopPropagation(); // the player has keys of the same names
    if (by) this.showCell();
  }

  showCell() {
    const { run, cell } = this;
    if (!run || !cell) return;
    const { head, text } = cellText(run, rowsOf(run, this.open)[cell.row], cell.column);
    fill(byId("run-cell"), h("b", {}, head), ` ${text}`);
    announce(`${head}: ${text}`);
    this.paint(rowsOf(run, this.open));
  }
}

/** Whether a finding explains those in the numbers: a mistake, or the op that produced the first nan or inf. @param {RunOverview["findings"][0]} finding */
const isCause = ({ kind }) => kind === "mistake" || kind === "source";

const clamp = (value, most) => Math.max(0, Math.min(most, value));

/** The names of the losses, each from its first value to its last. @param {RunOverview} run */
function losses(run) {
  const each = [{ name: run.calls.length ? "root" : run.root, loss: run.calls.length ? [] : run.loss }, ...run.others];
  const scale = isLossLogarithmic(run) ? h("small", {}, "logarithmic scale") : null;
  return [...each.map(({ name, loss }, k) => [h("b", { "data-line": DASHES[k - 1] ?? null }, name), h("span", {}, loss.length ? lossText(loss) : "")]), scale];
}
