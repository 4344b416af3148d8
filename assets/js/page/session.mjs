// The state of the page beside the scene: the program, the list of edits for undo and redo, and the open requests to the server.
// Answers are matched by the number of the request, so that a late one is never shown as current.
import { byId, fill, h, post, setProps } from "./dom.mjs";
import { NONE, isNone, isSame } from "./edits.mjs";
import { Neighbours } from "./neighbours.mjs";

const PATIENCE = 140; // ms before "computing" is shown: a quick answer should not flicker
const TIMES = 3; // how often one thing is asked for in the background
const LOST = { kind: "failed", title: "This could not be computed", text: "It was computed, but could not be kept. The previous view is still there; try again in a moment.", ways: [["Open the gallery", "/"]] };
const LONG = 8000; // ms after which it is said that the server takes long

export class Session {
  constructor() {
    /** @type {string | null} */
    this.program = null;
    /** @type {number | null} the section of the run; none where the run is shown as a whole, or that which is shown first */
    this.section = null;
    this.layout = "";
    /** @type {Record<string, boolean>} */
    this.folds = {};
    /** @type {any} the scene that is shown */
    this.scene = null;
    /** @type {any} the edits of that scene */
    this.edits = NONE;
    this.history = [NONE];
    this.index = 0;
    this.request = 0;
    this.neighbours = new Neighbours(this);
    /** @type {any} { request, commit, after } of the latest question */
    this.waiting = null;
    /** @type {any} the question for another program that the server was no longer there to answer */
    this.unanswered = null;
    this.watch = false;
    this.version = null;
    this.note = null;
    this.running = false; // whether the program runs again for the latest question
    /** @type {Record<"scene" | "problem" | "busy", Function[]>} */
    this.listeners = { scene: [], problem: [], busy: [] };
    /** @type {number[]} */
    this.timers = [];
  }

  /**
   * @param {"scene" | "problem" | "busy"} event
   * @param {Function} listener
   */
  on(event, listener) {
    this.listeners[event].push(listener);
  }

  tell(event, ...args) {
    this.listeners[event].forEach((listener) => listener(...args));
  }

  /** Asks for a scene, unless its `answer` is here. `commit` runs before its answer is shown and `after` behind it; neither where another question came. */
  ask(question) {
    const { program, section = null, ahead = null, edits, revision = null, previous = null, layout, folds, commit, after, keep = false, answer = null } = question;
    const request = (this.request += 1);
    this.stopRun();
    this.leave();
    this.waiting = { request, commit, after, keep, question };
    this.unanswered = null;
    if (answer) { this.receive({ ...answer, request }); return; }
    this.busy(request);
    this.waiting.sent = { request, program, section, ahead, edits: revision ? null : edits, revision, previous: previous && { edits: previous }, layout, folds };
    this.send(this.waiting.sent);
  }

  /** Not as a callback of Dash: it would compare and keep all of a scene before it hands it on. */
  async send(sent) {
    const answer = await this.answerTo(sent);
    if (answer) this.receive(answer);
  }

  /** What the server answers; null if it does not, which Connection notices. */
  answerTo(ask) {
    return post("/scene", ask)
      .then((response) => (response.ok ? response.json() : null)).catch(() => null);
  }

  /** The server has this made in the background, by Dash: its answer comes to `made`, and then the same is asked once more. */
  askLater(waiting) {
    waiting.times = (waiting.times || 0) + 1;
    if (waiting.times > TIMES) { this.receive({ request: waiting.request, problem: LOST }); return; }
    waiting.isLater = true;
    const { request: _, ahead: __, ...question } = waiting.sent;
    setProps("later-scene", { data: question });
  }

  /** What was made in the background is there to be asked for, or there is a problem. */
  proceed(answer) {
    const { waiting } = this;
    if (!waiting?.isLater) return;
    waiting.isLater = false;
    if (answer.problem) this.receive({ request: waiting.request, problem: answer.problem });
    else this.send(waiting.sent);
  }

  /** Nobody waits any more for what is made in the background. */
  leave() {
    if (this.waiting?.isLater) setProps("gone", { data: this.waiting.request });
  }

  /** Opens a program (another one, or this one in another revision): the undo list begins anew. */
  open(view, after) {
    const edits = view.edits || NONE;
    const named = !view.edits && view.revision;
    this.ask({
      program: view.program, section: view.section ?? null, edits, revision: named ? view.revision : null,
      previous: isNone(edits) && !named ? null : NONE, layout: view.layout, folds: view.folds,
      commit: (answer) => {
        const latest = answer.edits || NONE;
        Object.assign(this, { program: view.program, layout: view.layout, folds: view.folds });
        this.history = isNone(latest) ? [NONE] : [NONE, latest];
        this.index = this.history.length - 1;
      },
      after,
    });
  }

  /**
   * Another section of the run, as it was recorded: edits are of one section.
   * @param {number} section
   * @param {() => void} [after]
   */
  turn(section, after) {
    const on = section + Math.sign(section - (this.section ?? 0));
    const answer = this.neighbours.answerFor(section);
    this.ask({
      answer,
      program: this.program, section, ahead: on >= 0 && on < this.scene.section.count ? on : null, edits: NONE, layout: this.layout, folds: this.folds, keep: true, after,
      commit: () => { this.history = [NONE]; this.index = 0; },
    });
  }

  /**
   * A new revision. What was undone before is forgotten.
   * @param {any} edits
   * @param {() => void} [after]
   */
  edit(edits, after) {
    const pending = this.waiting;
    const from = pending?.edits || this.edits;
    if (isSame(edits, from)) return;
    this.go(edits, this.index + 1, () => {
      this.history = [...this.history.slice(0, this.index + 1), edits];
      this.index += 1;
    }, after);
  }

  undo() {
    if (this.index > 0) this.go(this.history[this.index - 1], this.index - 1, () => { this.index -= 1; });
  }

  redo() {
    if (this.index < this.history.length - 1) this.go(this.history[this.index + 1], this.index + 1, () => { this.index += 1; });
  }

  /** What an edited revision at a place of the list is compared with: the one before it. As recorded, nothing was otherwise. */
  before(edits, place) {
    return isNone(edits) ? null : this.history[place - 1] || null;
  }

  go(edits, place, commit, after) {
    if (!this.program) return;
    this.ask({ program: this.program, section: this.section, edits, previous: this.before(edits, place), layout: this.layout, folds: this.folds, commit, after, keep: true });
    this.waiting.edits = edits;
  }

  /**
   * The same revision, drawn otherwise.
   * @param {{ layout?: string, folds?: Record<string, boolean>, after?: () => void }} view
   */
  redraw({ layout = this.layout, folds = this.folds, after } = {}) {
    this.ask({
      program: this.program, section: this.section, edits: this.edits, previous: this.before(this.edits, this.index), layout, folds, keep: true,
      commit: () => Object.assign(this, { layout, folds }), after,
    });
  }

  /** The same revision with these groups open. */
  unfold(groups, after) {
    this.redraw({ folds: { ...this.folds, ...Object.fromEntries(groups.map((id) => [id, false])) }, after });
  }

  /** The same edits on the newest recording of a watched script; where that has no such section any more, its first one. */
  askAgain(after) {
    const { program, section, edits, layout, folds } = this;
    const first = () => this.ask({ program, edits: NONE, layout, folds, keep: true, after, commit: () => { this.history = [NONE]; this.index = 0; } });
    this.ask({ program, section, edits, layout, folds, keep: true, after, without: { "unknown-section": first } });
  }

  /**
   * No answer will come to this question, or to any: what is shown stays, and the same may be asked again.
   * @param {number} [request] the number of the question
   * @returns {boolean} whether one was waited for
   */
  fail(request = this.waiting?.request) {
    const { waiting } = this;
    if (!waiting || waiting.request !== request) return false;
    this.waiting = null;
    this.unanswered = waiting.keep && this.scene ? null : waiting.question;
    this.idle();
    return true;
  }

  /** Asks a server that was started again for what is shown, or for what it could not answer. */
  reconnect() {
    if (this.unanswered) this.ask(this.unanswered);
    else if (this.scene) this.redraw();
  }

  /** Takes an answer of the server; one that is not for the latest question is dropped. */
  receive(answer) {
    const waiting = this.waiting;
    if (!answer || !waiting || answer.request !== waiting.request) return;
    if (answer.later) { this.askLater(waiting); return; }
    this.waiting = null;
    this.idle();
    const instead = waiting.question.without?.[answer.problem?.kind];
    if (instead) { instead(); return; }
    if (answer.problem?.kind === "run-again") {
      this.runAgain(waiting, answer.problem.title);
      return;
    }
    if (answer.problem) {
      this.tell("problem", answer.problem, waiting.keep && this.scene !== null);
      return;
    }
    this.edits = answer.edits ? { leaves: answer.edits.leaves, commands: answer.edits.commands } : NONE;
    this.watch = answer.watch;
    this.version = answer.version;
    this.note = answer.note;
    this.section = answer.scene.section?.at ?? null;
    waiting.commit?.(answer);
    this.show(this.neighbours.take({ ...answer, scene: this.withNumber(answer.scene) }));
    waiting.after?.();
  }

  /** The program runs again with an edit that only it can compute; then the same is asked once more. */
  async runAgain(waiting, title) {
    const { program, section, edits, revision } = waiting.question;
    const from = performance.now();
    this.waiting = waiting;
    this.running = true;
    document.documentElement.dataset.computing = "yes";
    const seconds = h("span.seconds", { "aria-hidden": "true" });
    const tell = () => { seconds.textContent = ` ${Math.round((performance.now() - from) / 1000)} s `; };
    fill(byId("busy"), h("span", {}, title), seconds, h("button.link", { type: "button", onclick: () => this.stopRun() }, "Stop"));
    byId("busy").hidden = false;
    this.timers = [setInterval(tell, 1000)];
    this.tell("busy", true);
    const answer = await answerOf("/rerun", { program, section: section ?? null, edits: revision ? null : edits, revision: revision || null });
    this.running = false;
    if (this.waiting !== waiting) return;
    if (answer.problem) { this.receive({ ...answer, request: waiting.request }); return; }
    this.ask(waiting.question);
    this.waiting.edits = waiting.edits;
  }

  /** Ends a run that goes on; its question is answered with that. */
  stopRun() {
    if (!this.running) return;
    this.running = false;
    answerOf("/rerun/stop", { program: this.waiting?.question.program ?? this.program });
  }

  /** Shows a scene: one that has come, or the same with other numbers beside its own. */
  show(scene) {
    this.scene = scene;
    this.tell("scene", scene);
  }

  /** The scene with the number that its revision has in this session's list: the server knows no order of edits. */
  withNumber(scene) {
    return { ...scene, revision: { ...scene.revision, number: this.index + 1 } };
  }

  /** Forgets the program: the gallery is shown. An answer that is still under way will be dropped. */
  close() {
    this.leave();
    this.waiting = null;
    this.unanswered = null;
    this.program = null;
    this.scene = null;
    this.idle();
  }

  busy(request) {
    this.idle();
    document.documentElement.dataset.computing = "soon"; // an answer is under way, though nothing says so yet
    const place = byId("busy");
    const say = (text) => {
      if (this.waiting?.request !== request) return;
      document.documentElement.dataset.computing = "yes";
      place.textContent = text;
      place.hidden = false;
      this.tell("busy", true);
    };
    this.timers = [
      setTimeout(() => say(this.scene ? "Computing the new picture …" : "Opening the program …"), PATIENCE),
      setTimeout(() => say("Still computing …"), LONG),
    ];
  }

  idle() {
    this.timers.forEach(clearTimeout); // also intervals
    this.timers = [];
    delete document.documentElement.dataset.computing;
    const place = byId("busy");
    if (place) place.hidden = true;
    this.tell("busy", false);
  }
}

/** The answer to a plain request; a problem where there is none. */
async function answerOf(address, data) {
  try {
    const answer = await post(address, data);
    return answer.status === 204 ? {} : await answer.json();
  } catch (error) {
    return { problem: { kind: "failed", title: "The program could not be run again", text: /** @type {Error} */ (error).message, ways: [] } };
  }
}
