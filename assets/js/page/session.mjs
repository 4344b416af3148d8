// What the page knows beside the scene: the program, the list of edits for undo and redo, and who asked the server what.
// Answers are matched by the number of the request, so that a late one is never shown as current.
import { byId, setProps, toast } from "./dom.mjs";
import { NONE, isNone, same } from "./edits.mjs";

const PATIENCE = 140; // ms before "computing" is shown: a quick answer should not flicker
const LONG = 8000; // ms after which it is said that the server takes long

const session = {
  program: null,
  layout: "",
  folds: {},
  scene: null,
  edits: NONE, // of the scene that is shown
  history: [NONE],
  index: 0,
  request: 0,
  waiting: null, // {request, commit, after} of the latest question
  unanswered: null, // the question for another program that the server was no longer there to answer
  watch: false,
  version: null,
};
const listeners = { scene: [], problem: [], busy: [] };
let timers = [];

export const state = () => session;
export const on = (event, listener) => listeners[event].push(listener);
const tell = (event, ...given) => listeners[event].forEach((listener) => listener(...given));

/** Asks for a scene. `commit` runs before its answer is shown and `after` behind it; neither where another question came. */
function ask(question) {
  const { program, edits, revision = null, previous = null, layout, folds, commit, after, keep = false } = question;
  const request = (session.request += 1);
  session.waiting = { request, commit, after, keep, question };
  session.unanswered = null;
  busy(request);
  setProps("ask", {
    data: { request, program, edits: revision ? null : edits, revision, previous: previous && { edits: previous }, layout, folds },
  });
}

/** Opens a program (another one, or this one in another revision): the undo list begins anew. */
export function open(view, after) {
  const edits = view.edits || NONE;
  const named = !view.edits && view.revision;
  ask({
    program: view.program, edits, revision: named ? view.revision : null,
    previous: isNone(edits) && !named ? null : NONE, layout: view.layout, folds: view.folds,
    commit: (answer) => {
      const shown = answer.edits || NONE;
      Object.assign(session, { program: view.program, layout: view.layout, folds: view.folds });
      session.history = isNone(shown) ? [NONE] : [NONE, shown];
      session.index = session.history.length - 1;
    },
    after,
  });
}

/** A new revision. What was undone before is forgotten. */
export function edit(edits, after) {
  const pending = session.waiting;
  const from = pending?.edits || session.edits;
  if (same(edits, from)) return;
  go(edits, session.index + 1, () => {
    session.history = [...session.history.slice(0, session.index + 1), edits];
    session.index += 1;
  }, after);
}

export function undo() {
  if (session.index > 0) go(session.history[session.index - 1], session.index - 1, () => { session.index -= 1; });
}

export function redo() {
  if (session.index < session.history.length - 1) go(session.history[session.index + 1], session.index + 1, () => { session.index += 1; });
}

/** What an edited revision at a place of the list is compared with: the one before it. As recorded, nothing was otherwise. */
const before = (edits, place) => (isNone(edits) ? null : session.history[place - 1] || null);

function go(edits, place, commit, after) {
  if (!session.program) return;
  ask({ program: session.program, edits, previous: before(edits, place), layout: session.layout, folds: session.folds, commit, after, keep: true });
  session.waiting.edits = edits;
}

/** The same revision, drawn otherwise. */
export function redraw({ layout = session.layout, folds = session.folds, after } = {}) {
  ask({
    program: session.program, edits: session.edits, previous: before(session.edits, session.index), layout, folds, keep: true,
    commit: () => Object.assign(session, { layout, folds }), after,
  });
}

/** The same revision with these groups open. */
export function unfold(groups, after) {
  redraw({ folds: { ...session.folds, ...Object.fromEntries(groups.map((id) => [id, false])) }, after });
}

/** The same edits on the newest recording of a watched script. */
export function again(after) {
  ask({ program: session.program, edits: session.edits, layout: session.layout, folds: session.folds, keep: true, after });
}

/** No answer will come to this question, by its number, or to any: what is shown stays, and the same may be asked again. */
export function fail(request = session.waiting?.request) {
  const { waiting } = session;
  if (!waiting || waiting.request !== request) return false;
  session.waiting = null;
  session.unanswered = waiting.keep && session.scene ? null : waiting.question;
  idle();
  return true;
}

/** Asks a server that was started again for what is shown, or for what it could not answer. */
export function reconnect() {
  if (session.unanswered) ask(session.unanswered);
  else if (session.scene) redraw();
}

/** Takes an answer of the server; one that is not for the latest question is dropped. */
export function receive(answer) {
  const waiting = session.waiting;
  if (!answer || !waiting || answer.request !== waiting.request) return;
  session.waiting = null;
  idle();
  if (answer.problem) {
    tell("problem", answer.problem, waiting.keep && session.scene !== null);
    return;
  }
  session.edits = answer.edits ? { leaves: answer.edits.leaves, commands: answer.edits.commands } : NONE;
  session.watch = answer.watch;
  session.version = answer.version;
  session.note = answer.note;
  waiting.commit?.(answer);
  session.scene = numbered(answer.scene);
  tell("scene", session.scene);
  waiting.after?.();
}

/** The scene with the number that its revision has in this session's list: the server knows no order of edits. */
function numbered(scene) {
  return { ...scene, revision: { ...scene.revision, number: session.index + 1 } };
}

/** Forgets the program: the gallery is shown. An answer that is still under way will be dropped. */
export function close() {
  session.waiting = null;
  session.unanswered = null;
  session.program = null;
  session.scene = null;
  idle();
}

function busy(request) {
  idle();
  const place = byId("busy");
  const say = (text) => {
    if (session.waiting?.request !== request) return;
    document.documentElement.dataset.computing = "yes";
    place.textContent = text;
    place.hidden = false;
    tell("busy", true);
  };
  timers = [
    setTimeout(() => say(session.scene ? "Computing the new revision …" : "Recording the program …"), PATIENCE),
    setTimeout(() => say("Still computing …"), LONG),
  ];
}

function idle() {
  timers.forEach(clearTimeout);
  timers = [];
  delete document.documentElement.dataset.computing;
  const place = byId("busy");
  if (place) place.hidden = true;
  tell("busy", false);
}

/** An edit that was refused is said, and the picture stays as it was. */
export function refuse(text) {
  toast(text);
}
