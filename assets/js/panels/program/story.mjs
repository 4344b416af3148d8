// The story: the chapter that the present time belongs to. Text first, then Space, then one short move.
import { chapterAt, endOf, isMoving, nextMove, restOf, stageOf } from "./chapters.mjs";
import { byId, fill, h, prose } from "../../page/dom.mjs";
import { button as what } from "../../page/explain.mjs";
import * as panels from "../../page/panels.mjs";
import * as session from "../../page/session.mjs";

let scene = null;
let player = null;
let choose = () => {}; // selects without making a place in the history
let bring = () => {}; // shows the inspector, and an element beside it
let chapter = 0;
let turned = null; // the time at which the chapter was turned to: it stays until the time moves
let until = null; // where the move that Space has begun ends
let shown = "";
let room = [];
let diagnosed = null; // the revision whose error was reached: the panel that explains it was brought once

export function setUp(backstep, quietly, toInspector) {
  player = backstep;
  bring = toInspector;
  choose = quietly;
  player.on("space", space);
  player.on("play", (on) => { if (!on) until = null; show(); });
}

export function load(next) {
  const same = scene && scene.program.id === next.program.id;
  scene = next;
  until = null;
  turned = same ? turned : null;
  chapter = same ? Math.min(chapter, Math.max(0, scene.program.chapters.length - 1)) : 0;
  shown = "";
  room = roomOf(scene.program.chapters);
  seek(player.t());
}

/** Follows the time. */
export function seek(t) {
  if (!scene) return;
  const { chapters } = scene.program;
  if (until !== null && t >= until - 1e-9) ended();
  reached(t);
  if (turned !== null && t !== turned && until === null) turned = null;
  if (turned === null && until === null && chapters.length) chapter = chapterAt(chapters, t);
  show();
}

/** At the error that ends the program the inspector explains it, whatever was shown and selected before. */
function reached(t) {
  const { error, revision } = scene;
  const there = error !== null && t >= error.step + 1 - 1e-9;
  if (there && diagnosed !== revision.id) {
    if (player.selection() !== error.node) choose(null);
    bring(error.node);
  }
  diagnosed = there ? revision.id : null;
}

/** The move is over: the player rests, and what the chapter speaks of is unfolded and selected. */
function ended() {
  until = null;
  turned = null;
  player.pause();
  const { inspect, unfold } = scene.program.chapters[chapter];
  if (inspect) panels.toggle("right", true);
  if (!unfold) return point();
  session.unfold(unfold, pointAt);
}

function point() {
  const { select } = scene.program.chapters[chapter] ?? {};
  if (select?.length) choose(select[0]);
}

/** What was unfolded may lie where one does not look; the first is the one that is seen for sure. */
function pointAt() {
  point();
  for (const id of [...(scene.program.chapters[chapter]?.select ?? [])].reverse()) player.reveal(id);
}

/** Space: the chapter's move, or the next chapter's text; not claimed while something plays or when all is said. */
function space() {
  if (!scene || player.playing()) return false;
  const next = nextMove(scene.program.chapters, chapter, player.t());
  if (!next) return false;
  if (next.turn !== undefined) turn(next.turn);
  else run(next.play);
  return true;
}

function run(end) {
  choose(null); // the inspector then tells of each step as it runs
  until = end;
  player.play(end);
}

/** The text of a chapter, at the time before its move. */
function turn(to) {
  const { chapters } = scene.program;
  if (to < 0 || to >= chapters.length) return;
  player.pause();
  const rest = restOf(chapters, to);
  chapter = to;
  turned = rest;
  if (player.t() !== rest) player.seek(rest);
  choose(null);
  show();
}

function replay() {
  turn(chapter);
  run(endOf(scene.program.chapters, chapter));
  byId("timeline")?.focus({ preventScroll: true });
}

function show() {
  const { title, question, chapters } = scene.program;
  const place = byId("story");
  if (!chapters.length) {
    fill(place, h("div.over", {}, h("span", {}, "Program"), h("span.space"), what("story")), h("h1.story-title", {}, breakable(title)), question && question !== title ? h("p", {}, question) : null);
    return;
  }
  const hint = hintOf(chapters);
  const stage = stageOf(chapters, chapter, player.t());
  const key = `${scene.revision.id}|${chapter}|${hint}|${stage}`;
  if (key === shown) return;
  shown = key;
  const held = document.activeElement?.dataset?.turn; // the button that was pressed is written anew and keeps the focus
  const arrow = (by, label, sign) => h("button.quiet", {
    type: "button", "data-turn": String(by), "aria-label": label, title: label, disabled: chapters[chapter + by] === undefined, onclick: () => turn(chapter + by),
  }, sign);
  fill(
    place,
    h("div.over", {}, h("span.fitting", {}, h("span", {}, `${chapter + 1} of ${chapters.length}`), h("span", {}, ` · ${STAGES[stage]}`)), h("div.row.turns", {}, arrow(-1, "Previous chapter", "‹"), arrow(1, "Next chapter", "›"), what("story"))),
    h("div.chapters", {}, told(chapter, hint, hint !== WATCH && stage === "over" && isMoving(chapters, chapter)), ...room),
  );
  if (held) place.querySelector(`[data-turn="${held}"]:not(:disabled)`)?.focus({ preventScroll: true });
}

/** A name that may be long, as of a file: it breaks after what joins its words. */
const breakable = (name) => name.split(/(?<=[_.-])/).flatMap((part) => [part, h("wbr")]);

/** A chapter as it is read. */
function told(number, hint, again) {
  const { legacy, other } = scene.program;
  const one = scene.program.chapters[number];
  return h(one.gone ? "div.chapter.gone" : "div.chapter", {},
    h("h1.story-title", {}, one.title),
    one.gone ? h("div.since", {}, prose(one.gone)) : null,
    prose(one.text),
    one.now === undefined ? null : h("div.since", {}, h("p", {}, "You changed the program: the text above describes the recording."), one.now ? h("p", {}, h("b", {}, "Now: "), one.now) : null),
    legacy ? h("p.hint", {}, "Runs by the rules of PyTorch 0.3: ", h("code", {}, "legacy_broadcasting()")) : null,
    h("div.story-acts", {},
      one.fix && scene.error?.fix?.edits ? h("button.btn.primary", { type: "button", "data-turn": "fix", onclick: () => session.edit(scene.error.fix.edits) }, "Try it: change the call") : null,
      other ? otherButton(other) : null,
      h("p.hint.story-hint", {}, h("kbd", {}, "Space"), h("span.fitting", {}, hint.split(/(?=: )/).map((part) => h("span", {}, part))),
        again ? h("button.link", { type: "button", "data-turn": "0", onclick: replay }, "watch again") : null)));
}

/** All chapters, unseen, behind the one that is read: the tallest keeps the room, so that the code below stays where it is. */
function roomOf(chapters) {
  return chapters.map((_, number) => {
    const one = told(number, chapters[number + 1] ? nextIs(chapters[number + 1]) : AT_END, true);
    one.classList.add("behind");
    return one;
  });
}

/** From a mistake to the program without it, and back. */
function otherButton({ is_fixed: isFixed }) {
  return h("button.btn.other", { type: "button", "data-turn": "other", onclick: () => player.emit("other") },
    isFixed ? "See it fixed" : "Back to the mistake", h("kbd", { "aria-hidden": "true" }, "M"));
}

const STAGES = { ahead: "about to happen", running: "happening", over: "has happened", gone: "no longer happens" }; // what a text tells of is not there before its move
const WATCH = "watch it travel";
const AT_END = "play it all again";
const nextIs = ({ title }) => `next: ${title}`;

function hintOf(chapters) {
  if (player.playing()) return "pauses";
  const next = nextMove(chapters, chapter, player.t());
  if (!next) return player.t() < scene.steps.length ? "play on" : AT_END;
  return next.turn !== undefined ? nextIs(chapters[next.turn]) : WATCH;
}
