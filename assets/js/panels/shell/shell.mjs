// The shell: connects the panels, the address and the server's answers to the player, `window.backstep`.
import { Code } from "../program/code.mjs";
import { Commands } from "../commands/commands.mjs";
import { Connection } from "./connection.mjs";
import { byId, first, setProps, until } from "../../page/dom.mjs";
import { Events } from "./events.mjs";
import { Explanations } from "../../page/explain.mjs";
import { entries } from "../../scene/find.mjs";
import * as exports from "./exports.mjs";
import { follow } from "../../front/cards.mjs";
import { Header } from "./header.mjs";
import { Inspector } from "../inspector/inspector.mjs";
import { Lecture } from "../lecture/lecture.mjs";
import { Live } from "../../page/live.mjs";
import * as notice from "../../page/notice.mjs";
import { goToPart, isNarrow, isOpen, Panels } from "../../page/panels.mjs";
import { Overview } from "../run/overview.mjs";
import { RunRow } from "../run/section_row.mjs";
import { hasRun, RunView } from "../run/run.mjs";
import { Sections } from "./sections.mjs";
import { Session } from "../../page/session.mjs";
import { Share } from "./share.mjs";
import { SEVERAL } from "../../scene/shared.mjs";
import { neighbour, toggleFolds } from "../../scene/stacks.mjs";
import { Story } from "../program/story.mjs";
import { Toast } from "../../page/toast.mjs";
import * as tour from "./tour.mjs";
import * as url from "../../page/url.mjs";

const SETTLED = 250; // ms of rest before a step goes into the address: browsers limit how often that may change

/** The root of the page says as attributes what is shown, for the style sheets and for tests. */
const root = () => document.documentElement;

/**
 * Makes the shell once the places of its panels are there, and shows what the address asks for.
 * @param {any} player `window.backstep`
 * @param {string | null} program the one that a page without a gallery is about
 */
export async function install(player, program) {
  await until(() => window.backstepParts && byId("commands-count") && byId("inspect-body"));
  const shell = new Shell(player, program);
  shell.visit(url.view(location.search), false);
  root().dataset.app = "ready";
  document.dispatchEvent(new Event("backstep:app"));
}

export class Shell {
  /**
   * @param {any} player `window.backstep`
   * @param {string | null} program shown where an address names none; null: then the gallery is
   */
  constructor(player, program) {
    this.player = player;
    this.program = program;
    /** @type {string | null} in the address only where it was chosen */
    this.theme = null;
    this.quiet = false; // while a view is taken from the address nothing is written back into it
    this.resting = 0;
    this.before = 0; // the moment at which the tour was asked for
    this.touring = false; // the tour begins once the program that it was asked for is there
    this.session = new Session();
    this.toast = new Toast();
    this.panels = new Panels(() => this.player.returnToFit());
    const { session, toast, panels } = this;
    this.story = new Story(player, session, panels, { choose: (id) => this.choose(id), bring: (id) => this.inspect(id) });
    this.lecture = new Lecture(player, this.story, {
      onChange: () => this.write(false), address: () => this.address(), open: (address) => this.visit({ ...url.view(address), unplaced: false, present: "notes" }, false),
      bars: (id, time, then) => this.inspector.barsOf(id, time, then),
    });
    this.code = new Code(player);
    this.inspector = new Inspector(player, session);
    this.commands = new Commands(player, { session, inspector: this.inspector, panels, toast });
    this.events = new Events(player);
    this.live = new Live(session, (text) => this.story.onSave(text));
    this.files = new exports.ServerFiles();
    const saves = exports.acts(player, session, toast, this.files);
    const share = new Share(toast, () => saves["export-file"]("html"));
    this.header = new Header(session, toast, { ...saves, ...this.acts(), share: () => share.open() });
    this.sections = new Sections(session, (by) => this.turn(by));
    this.overview = new Overview(session);
    this.row = new RunRow((by) => this.turn(by), this.overview);
    this.run = new RunView(session, this.overview, (section, place) => this.goTo(section, place));
    this.explanations = new Explanations(player, (panel) => this.bring(panel));
    this.tour = new tour.Tour({ show: (stop) => this.bring(stop), onEnd: () => this.onTourEnd() });
    this.connect();
    this.hear();
    this.follow();
    follow((search) => this.visit(url.view(search), true));
    window.addEventListener("popstate", () => this.visit(url.view(location.search), false));
  }

  /** What the buttons of the page do, by name. */
  acts() {
    return {
      home: () => this.visit(url.view(""), true), onTheme: (name) => { this.theme = name; this.write(false); },
      "view-run": () => this.view("run"), "view-graph": () => this.view("graph"),
      help: () => this.player.help(), panel: () => this.panels.toggle("right"), left: () => this.panels.toggle("left"),
      tour: () => this.takeTour(), "tour-decline": tour.remember,
      "command-run": () => this.commands.run(), "command-close": () => this.commands.close(),
    };
  }

  /** Notices when Backstep has stopped. */
  connect() {
    const onFailure = (question, why) => {
      if (this.onUnanswered(question)) this.toast.say(`Backstep could not answer (${why}). Nothing on the screen has changed; try again.`);
    };
    new Connection({ isQuiet: () => !this.player.playing() && !this.session.waiting, onLoss: () => this.onUnanswered(), onFailure, onReturn: () => this.session.reconnect(),
      hasPicture: () => root().dataset.page === "player" && this.session.scene !== null && !root().dataset.blank });
  }

  /** What Dash's components tell (see viz/server/components/listeners.py). */
  hear() {
    const { session, inspector, events, commands } = this;
    window.backstepHears = {
      madeScene: (answer) => session.proceed(answer), madeFile: (answer) => this.files.settle(answer), details: (answer) => inspector.receive(answer), tab: (name) => events.open(name === "events"),
      eventsFilter: (text) => events.filter(text), runClicked: (data) => this.run.onClick(data), eventClicked: (cell) => events.onClick(cell), eventsReady: () => events.onReady(),
      commandRoot: (value) => commands.flagChanged("root", value), commandRetain: (value) => commands.flagChanged("retain", value),
      commandCreate: (value) => commands.flagChanged("create", value), commandInputs: (value) => commands.flagChanged("inputs", value),
      commandCell: (cell) => commands.cellChanged(cell), commandClicked: (cell) => commands.cellClicked(cell),
    };
  }

  follow() {
    this.session.on("scene", (scene) => this.take(scene));
    this.session.on("problem", (problem, stay) => this.showRefusal(problem, stay));
    this.player.on("time", (t) => [this.code, this.story, this.inspector, this.events, this.lecture].forEach((panel) => panel.seek(t)));
    this.player.on("step", () => { clearTimeout(this.resting); this.resting = setTimeout(() => this.write(false), SETTLED); });
    this.player.on("select", (id) => { this.code.select(id ?? null); this.inspector.select(id ?? null); if (id) this.reveal(id); this.write(true); });
    this.player.on("edit", (change) => this.commands.applyEdit(change));
    this.player.on("fold", (id) => this.fold(id));
    this.player.on("neighbour", (by) => this.neighbour(by));
    this.player.on("unfold", (groups, after) => this.session.unfold(groups, after));
    this.player.on("other", (atEnd) => this.visitOther(atEnd));
    this.player.on("turn", (by, edge) => this.turn(by, edge));
    this.player.on("compare", () => this.sections.compare());
    this.player.on("view", () => this.session.scene !== null && hasRun(this.session.scene) && this.view(root().dataset.view === "run" ? "graph" : "run"));
    this.player.on("panel", (side) => this.panels.toggle(side));
    this.player.on("part", goToPart);
    this.player.on("tour", () => this.takeTour());
    this.player.on("present", () => this.lecture.toggle());
    this.player.on("escape", () => isNarrow() && isOpen("right") && (this.panels.toggle("right", false), true));
  }

  /** From a mistake to the program without it, or back to it: to its beginning or its end. A lecture goes on there. */
  visitOther(atEnd = false) {
    const other = this.session.scene?.program.other;
    const moment = atEnd ? { step: Number.MAX_SAFE_INTEGER, unplaced: false } : {};
    if (other) this.visit({ ...url.view(""), ...moment, program: other.id, present: this.lecture.kind }, true);
    return Boolean(other);
  }

  /**
   * To another section of the run: at its start or its end, or at the same moment of it.  False where there is none.
   * @param {number} by
   * @param {"start" | "end" | null} [edge]
   */
  turn(by, edge = null) {
    const { section } = this.session.scene ?? {};
    const index = section ? section.at + by : -1;
    if (!section || index < 0 || index >= section.count) return false;
    this.player.pause();
    this.session.turn(index, () => { if (edge) this.player.seek(edge === "start" ? 0 : this.session.scene.steps.length); });
    return true;
  }

  /**
   * The whole run, or the graph of one of its iterations.
   * @param {"run" | "graph"} name
   */
  view(name) {
    this.display(name);
    this.write(false);
    return true;
  }

  /** The same without writing it into the address, which may be about to become a new place. */
  display(name) {
    const view = this.session.scene && hasRun(this.session.scene) ? name : "graph";
    root().dataset.view = view;
    ["run", "graph"].forEach((one) => byId(`view-${one}`)?.setAttribute("aria-pressed", one === view ? "true" : "false"));
    if (view === "run") this.player.pause();
    this.run.show(view === "run");
  }

  /**
   * The graph of a section: where a finding shows, or a parameter as it has received its gradient; without either, where backward begins.
   * @param {number} section
   * @param {{ parameter: string | null, shows?: string[], call?: number, label?: string }} place `call` is the backward call, of one in a program without iterations; the `label` of a finding that no step shows is said on arrival
   */
  goTo(section, place) {
    const { parameter, shows, call, label } = place;
    const { waiting, scene } = this.session;
    if (!scene && waiting) { // its graph is on the way
      const { after } = waiting;
      waiting.after = () => { after?.(); this.goTo(section, place); };
      return;
    }
    const arrive = () => {
      this.view("graph");
      if (this.story.reach(shows ?? [])) return;
      this.find(parameter, call);
      if (label) this.toast.say(label);
    };
    if ((this.session.section ?? 0) === section) { arrive(); return; } // none: the program is its own only section
    this.player.pause();
    this.session.turn(section, arrive);
  }

  /** @param {string | null} parameter @param {number} [call] */
  find(parameter, call) {
    const { scene } = this.session;
    const { start, end } = scene.phases.find((phase) => call !== undefined && phase.call === call) ?? { start: 0, end: scene.steps.length };
    const steps = scene.steps.slice(start, end);
    const entry = parameter && entries(scene).find(({ label }) => label === parameter);
    const own = steps.findLastIndex(({ kind, at }) => kind === "accumulate" && at === (entry && entry.id)); // -1 in a folded group
    const received = own < 0 ? steps.findLastIndex(({ kind }) => kind === "accumulate") : own;
    const step = parameter ? received + 1 : steps.findIndex(({ kind }) => kind === "vjp");
    this.player.seek(start + Math.max(0, step));
    if (entry) this.player.find(entry);
  }

  /**
   * Shows what is about to be explained: its panel, and its tab.
   * @param {{ place: string, tab?: string }} panel
   */
  bring({ place: where, tab }) {
    if (where === "right") this.panels.toggle("right", true);
    if (where === "story" || where === "code") this.panels.toggle("left", true);
    if (tab) setProps("tabs", { value: tab });
  }

  /** The tour begins at the beginning of the program. */
  beginTour() {
    this.before = this.player.t();
    this.player.pause();
    this.player.seek(0);
    this.tour.start();
  }

  /** After the tour the page is as one works with it, at the moment from which one came. */
  onTourEnd() {
    if (this.player.t() === 0) this.player.seek(this.before);
    if (isNarrow()) this.panels.toggle("right", false);
    setProps("tabs", { value: "inspect" });
    byId("stage").focus({ preventScroll: true });
  }

  /** The tour, here where a program is open, else with the gallery's first one. */
  takeTour() {
    this.explanations.close();
    if (this.session.scene && root().dataset.page === "player") { this.beginTour(); return; }
    const program = first("a[data-start]")?.dataset.start;
    if (!program) return;
    this.touring = true;
    this.visit({ ...url.view(""), program }, true);
  }

  /** Opens a folded group or a member of a stack, or folds what is open. */
  fold(id) {
    this.refold(this.session.scene && toggleFolds(this.session.scene, id, this.player.t()));
  }

  /** Opens the next member of a stack. */
  neighbour(by) {
    this.refold(this.session.scene && neighbour(this.session.scene, by, this.player.selection()));
  }

  refold(changes) {
    if (changes) this.session.redraw({ folds: { ...this.session.folds, ...changes } });
  }

  /** A selection on a narrow screen opens the panel that tells about it, and shows the inspector. */
  reveal(id) {
    if (this.quiet || this.player.choosing() || !isNarrow() || !this.session.scene || root().dataset.present) return;
    this.panels.toggle("right", true);
    this.player.uncover(id, byId("right").getBoundingClientRect().left);
  }

  /** Shows the inspector, and beside it the element that it speaks of; not in a lecture, which has no panels. */
  inspect(id) {
    if (root().dataset.present) return;
    if (first(".tab-body :focus-visible", byId("right"))) byId("tabs-tab-inspect").focus({ preventScroll: true }); // what the keyboard is in may be hidden now
    this.bring({ place: "right", tab: "inspect" });
    if (id && isNarrow()) this.player.uncover(id, byId("right").getBoundingClientRect().left);
  }

  /** Shows the view of an address. */
  visit(request, push) {
    const view = { ...request, program: request.program ?? this.program };
    notice.hide();
    if (view.theme) { this.theme = view.theme; }
    this.header.setTheme(view.theme || root().dataset.theme);
    this.tour.leave();
    this.explanations.close();
    tour.offer(!push && (!view.unplaced || Boolean(view.select || view.edits || view.revision)));
    if (!view.program) { this.home(push); return; }
    root().dataset.page = "player";
    if (view.damaged) {
      notice.show({ title: "This link is incomplete", text: "Its edits cannot be read; part of the link is probably missing. The program itself is still here, as it was recorded.", ways: [["Open the program as recorded", `/?program=${encodeURIComponent(view.program)}`], ["Open the gallery", "/"]] }, false);
      return;
    }
    const { program, scene } = this.session;
    if (!push && !this.session.waiting && this.isShown(view)) { this.place(view); this.display(view.run ? "run" : "graph"); return; }
    if (!scene || program !== view.program) this.blank();
    if (!scene && view.run) this.showRunAhead(view.program);
    this.quiet = true; // the address of a view is written when its moment and selection are there
    this.session.open(view, () => { this.place(view); this.display(this.opens(view)); this.lecture.show(view.present); this.write(push); });
  }

  /** The numbers of a run come before the graph of its first iteration does. */
  showRunAhead(program) {
    root().dataset.view = "run";
    this.run.showAhead(program);
  }

  /** A run of more than a few iterations opens as a whole, unless the address leads to a place in it, or it ends with an error. */
  opens(view) {
    const leads = !view.unplaced || view.section !== null || view.select || view.edits || view.revision;
    const { scene } = this.session;
    return view.run || (!leads && !this.program && !scene?.error && (scene?.section?.count ?? 0) >= SEVERAL) ? "run" : "graph";
  }

  /** Whether the scene of this address is the one on the screen, so that only the moment and the selection differ. */
  isShown(view) {
    const { program, section, edits, scene, layout, folds } = this.session;
    if (!scene || program !== view.program || (view.section !== null && view.section !== section) || layout !== view.layout || JSON.stringify(folds) !== JSON.stringify(view.folds)) return false;
    if (!view.edits && view.revision) return view.revision === scene.revision.id;
    return JSON.stringify(shortEdits(edits)) === JSON.stringify(view.edits);
  }

  /** The moment and the selection of a view, without making a new place in the history of them. */
  place(view) {
    this.quiet = true;
    this.player.pause();
    const opens = view.unplaced ? this.session.scene?.program.opens ?? null : null;
    this.player.seek(opens ?? view.step);
    this.story.resume(view.chapter);
    this.player.select(view.select);
    if (opens !== null) byId("left")?.scrollTo({ top: 0 }); // what is told first stands above the line that it is about
    this.quiet = false;
  }

  /** Selects for the story: no new place in the history, and no panel that slides over the graph. */
  choose(id) {
    const before = this.quiet;
    this.quiet = true;
    this.player.select(id);
    this.quiet = before;
    this.write(false);
  }

  home(push) {
    this.player.pause();
    this.session.close();
    this.commands.close();
    root().dataset.page = "gallery";
    delete root().dataset.view;
    this.header.clear();
    if (push) url.write({ theme: this.theme }, true);
    if (push || document.activeElement === document.body) byId("gallery-search")?.focus({ preventScroll: true }); // who is busy on the page stays there
  }

  /** Another program is on its way: what belongs to the old one must not look current. */
  blank() {
    this.setBlank(true);
    delete root().dataset.view;
    this.header.clear();
  }

  /** Without a scene the bar's buttons for it stay where they are, and do nothing. @param {boolean} on */
  setBlank(on) {
    if (on) root().dataset.blank = "yes";
    else delete root().dataset.blank;
    byId("scene-acts")?.toggleAttribute("inert", on);
  }

  take(scene) {
    this.setBlank(false);
    root().dataset.page = "player";
    const isKnown = isSame(this.player.scene()?.error, scene.error);
    this.player.load(scene);
    [this.header, this.sections, this.story, this.code, this.inspector, this.commands, this.events, this.live, this.run, this.row, this.lecture].forEach((panel) => panel.load(scene));
    const now = this.player.t();
    this.code.seek(now);
    this.story.seek(now);
    notice.empty(scene, scene.program.note);
    if (scene.error && !isKnown && this.session.index > 0) this.player.seek(scene.error.step + 1);
    this.write(true);
    root().dataset.ready = scene.revision.id;
    if (this.touring) requestAnimationFrame(() => this.beginTour());
    this.touring = false;
  }

  showRefusal(problem, stay) {
    this.player.clearPending(); // what was typed into a card did not come about
    this.commands.restore();
    if (!stay) this.setBlank(true);
    notice.show(problem, stay);
    root().dataset.ready = "problem";
  }

  /** A question, or every one, has no answer: the panels show again what is, so that the same can be tried once more. */
  onUnanswered(question) {
    this.inspector.forget();
    if (!this.session.fail(question)) return false;
    this.player.clearPending();
    this.commands.restore();
    this.quiet = false;
    root().dataset.ready = "unanswered";
    return true;
  }

  /** The address of what is shown, without its moment. */
  address() {
    const { program, section, edits, scene, layout, folds } = this.session;
    return url.query({ program, section, edits: shortEdits(edits), revision: scene?.revision.id, layout, folds });
  }

  /** The present view into the address. */
  write(push) {
    const { program, section, edits, scene, layout, folds } = this.session;
    if (this.quiet || !program || !scene || root().dataset.page !== "player") return;
    url.write({
      program, section, edits: shortEdits(edits), revision: scene.revision.id, run: root().dataset.view === "run", step: Math.ceil(this.player.t()), first: Number.isInteger(scene.program.opens), chapter: this.story.chapterAhead,
      select: this.player.selection(), theme: this.theme, layout, folds, present: this.lecture.kind,
    }, push);
  }
}

const shortEdits = (edits) => (edits.commands === null && !Object.keys(edits.leaves).length ? null : edits);

/** Whether two revisions end with one error, at one place: an edit that leaves it as it is leads nobody to it. */
const isSame = (before, error) => Boolean(before && error) && before.step === error.step && before.node === error.node && before.message === error.message;
