// The story: the chapter that the current time belongs to. Text first, then Space, then one short move.
import { chapterAt, endOf, isMoving, nextMove, restOf, stageOf } from "./chapters.mjs";
import { byId, fill, first, h, prose } from "../../page/dom.mjs";
import { isOpen, questionOf } from "./question.mjs";
import { triesOf } from "./proposals.mjs";
import { button as what } from "../../page/explain.mjs";

export class Story {
  /**
   * @param {any} player `window.backstep`
   * @param {import("../../page/session.mjs").Session} session
   * @param {import("../../page/panels.mjs").Panels} panels
   * @param {{ choose: (id: string | null) => void, bring: (id: string | null) => void }} acts `choose` selects without making a place in the
   *   history, `bring` shows the inspector, and an element beside it
   */
  constructor(player, session, panels, { choose, bring }) {
    this.player = player;
    this.session = session;
    this.panels = panels;
    this.choose = choose;
    this.bring = bring;
    /** @type {import("../../scene/scene.d.ts").Scene} the one that is shown; none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    this.chapter = 0;
    /** @type {number | null} the time at which the chapter was turned to: it stays until the time moves */
    this.turned = null;
    /** @type {number | null} where the move that Space has begun ends */
    this.until = null;
    this.key = "";
    this.since = ""; // what the latest save of a watched script changed
    /** @type {HTMLElement[]} */
    this.room = [];
    /** @type {number | null} the chapter that was shown from its top */
    this.top = null;
    /** @type {string | null} the revision whose error was reached: the panel that explains it was brought once */
    this.diagnosed = null;
    player.on("space", () => this.space());
    player.on("play", (on) => { if (!on) this.until = null; this.show(); });
  }

  load(next) {
    const same = this.scene && this.scene.program.id === next.program.id;
    this.scene = next;
    if (!same) this.since = "";
    this.until = null;
    this.turned = same ? this.turned : null;
    this.chapter = same ? Math.min(this.chapter, Math.max(0, this.scene.program.chapters.length - 1)) : 0;
    this.key = "";
    this.room = this.roomOf(this.scene.program.chapters);
    this.seek(this.player.t());
  }

  /** What a save changed, until the next one. */
  onSave(text) {
    this.since = text;
    this.key = "";
    this.show();
  }

  /** The line about the latest save. */
  news() {
    return this.since ? h("div.since", { role: "status" }, h("p", {}, h("b", {}, "Since the last save: "), this.since)) : null;
  }

  /** Follows the time. */
  seek(t) {
    if (!this.scene) return;
    const { chapters } = this.scene.program;
    if (this.until !== null && t >= this.until - 1e-9) this.onEnd();
    this.onReach(t);
    if (this.turned !== null && t !== this.turned && this.until === null) this.turned = null;
    if (this.turned === null && this.until === null && chapters.length) this.chapter = chapterAt(chapters, t);
    this.show();
  }

  /** At the error that ends the program the inspector explains it, whatever was shown and selected before. */
  onReach(t) {
    const { error, revision } = this.scene;
    const there = error !== null && t >= error.step + 1 - 1e-9;
    if (there && this.diagnosed !== revision.id) {
      if (this.player.selection() !== error.node) this.choose(null);
      this.bring(error.node);
    }
    this.diagnosed = there ? revision.id : null;
  }

  /** The move is over: the player rests, and what the chapter speaks of is unfolded and selected. */
  onEnd() {
    this.until = null;
    this.turned = null;
    this.player.pause();
    const { inspect, unfold } = this.scene.program.chapters[this.chapter];
    if (inspect) this.panels.toggle("right", true);
    if (!unfold) return this.point();
    this.session.unfold(unfold, () => this.pointAt());
  }

  point() {
    const { select } = this.scene.program.chapters[this.chapter] ?? {};
    if (select?.length) this.choose(select[0]);
  }

  /** What was unfolded may lie where one does not look; the first is the one that is seen for sure. */
  pointAt() {
    this.point();
    for (const id of [...(this.scene.program.chapters[this.chapter]?.select ?? [])].reverse()) this.player.reveal(id);
  }

  /** Space: the chapter's move, or the next chapter's text; not claimed while something plays or when all is said. */
  space() {
    if (!this.scene || this.player.playing()) return false;
    const next = nextMove(this.scene.program.chapters, this.chapter, this.player.t());
    if (!next) return false;
    if (next.turn !== undefined) this.turn(next.turn);
    else this.run(next.play);
    return true;
  }

  run(end) {
    this.choose(null); // the inspector then tells of each step as it runs
    this.until = end;
    this.player.play(end);
  }

  /** The text of a chapter, at the time before its move. */
  turn(to) {
    const { chapters } = this.scene.program;
    if (to < 0 || to >= chapters.length) return;
    this.player.pause();
    const rest = restOf(chapters, to);
    this.chapter = to;
    this.turned = rest;
    if (this.player.t() !== rest) this.player.seek(rest);
    this.choose(null);
    this.show();
  }

  /** The number from 1 of the chapter whose text is read before its move; null where the time alone says which one it is. */
  get chapterAhead() {
    if (!this.scene || this.turned === null) return null;
    const { chapters } = this.scene.program;
    return this.turned === this.player.t() && chapterAt(chapters, this.turned) !== this.chapter ? this.chapter + 1 : null;
  }

  /** Comes back to such a chapter, if the time is that of its text; else to the one that the time belongs to. @param {number | null} number */
  resume(number) {
    if (!this.scene) return;
    const { chapters } = this.scene.program;
    const to = (number ?? 0) - 1;
    if (chapters[to] && restOf(chapters, to) === this.player.t()) return this.turn(to);
    this.turned = null;
    this.seek(this.player.t());
  }

  /** The first chapter about one of these kinds of findings, as it is when its move is over. @param {string[]} kinds @returns {boolean} whether there is one */
  reach(kinds) {
    const { chapters } = this.scene.program;
    const to = chapters.findIndex(({ kind }) => kind !== undefined && kinds.includes(kind));
    if (to < 0) return false;
    this.player.seek(endOf(chapters, to));
    this.chapter = to;
    this.onEnd();
    return true;
  }

  replay() {
    this.turn(this.chapter);
    this.run(endOf(this.scene.program.chapters, this.chapter));
    byId("timeline")?.focus({ preventScroll: true });
  }

  show() {
    const { title, question, chapters } = this.scene.program;
    const place = byId("story");
    if (!chapters.length) {
      fill(place, h("div.over", {}, h("span", {}, "Program"), h("span.space"), what("story")), h("h1.story-title", {}, breakable(title)), question && question !== title ? h("p", {}, question) : null, this.news());
      return;
    }
    const hint = this.hintOf(chapters);
    const stage = stageOf(chapters, this.chapter, this.player.t());
    const key = `${this.scene.revision.id}|${this.chapter}|${hint}|${stage}`;
    if (key === this.key) return;
    this.key = key;
    const turn = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.turn; // the button that was pressed is written anew and keeps the focus
    const arrow = (by, label, sign) => h("button.quiet", {
      type: "button", "data-turn": String(by), "aria-label": label, title: label, disabled: chapters[this.chapter + by] === undefined, onclick: () => this.turn(this.chapter + by),
    }, sign);
    fill(
      place,
      h("div.over", {}, h("span.fitting", {}, h("span", {}, `${this.chapter + 1} of ${chapters.length}`), h("span", {}, ` · ${STAGES[stage]}`)), h("div.row.turns", {}, arrow(-1, "Previous chapter", "‹"), arrow(1, "Next chapter", "›"), what("story"))),
      this.news(),
      h("div.chapters", {}, this.chapterBox(this.chapter, hint, hint !== WATCH && stage === "over" && isMoving(chapters, this.chapter)), ...this.room),
    );
    if (turn) (first(`[data-turn="${turn}"]:not(:disabled)`, place) ?? byId("stage"))?.focus({ preventScroll: true });
    this.uncover(place);
  }

  /** Each chapter begins at its top; the answer to its question comes into view, above the buttons at the foot. */
  uncover(place) {
    if (this.chapter !== this.top) place.scrollTop = 0;
    this.top = this.chapter;
    const [answer, acts] = [".ask:not([data-open])", ".story-acts"].map((part) => first(`.chapter:not(.behind) ${part}`, place)?.getBoundingClientRect());
    if (answer && acts) place.scrollTop += Math.max(0, answer.bottom - acts.top);
  }

  /** A chapter as it is read; `asks`: its question, if it has one, is open. */
  chapterBox(number, hint, again, asks = isOpen(stageOf(this.scene.program.chapters, number, this.player.t()))) {
    const { legacy, other } = this.scene.program;
    const one = this.scene.program.chapters[number];
    return h(one.gone ? "div.chapter.gone" : "div.chapter", {},
      h("h1.story-title", {}, one.title),
      one.gone ? h("div.since", {}, prose(one.gone)) : null,
      prose(one.text),
      one.tries ? triesOf(one.tries, this.session) : null, // an edit changes only what is below them
      one.ask ? questionOf(one.ask, asks) : null,
      one.now === undefined ? null : h("div.since", {}, h("p", {}, "You changed the program: the text above describes the recording."), one.now ? h("p", {}, h("b", {}, "Now: "), one.now) : null),
      legacy ? h("p.hint", {}, "Runs by the rules of PyTorch 0.3: ", h("code", {}, "legacy_broadcasting()")) : null,
      h("div.story-acts", {},
        one.fix && this.scene.error?.fix?.edits ? h("button.btn.primary", { type: "button", "data-turn": "fix", onclick: () => this.session.edit(this.scene.error?.fix.edits) }, "Try it: change the call") : null,
        other ? this.otherButton(other) : null,
        h("p.hint.story-hint", {}, h("kbd", {}, "Space"), h("span.fitting", {}, hint.split(/(?=: )/).map((part) => h("span", {}, part))),
          again ? h("button.link", { type: "button", "data-turn": "0", onclick: () => this.replay() }, "watch again") : null)));
  }

  /** All chapters, unseen, behind the one that is read: the tallest keeps the room, so that the code below stays where it is. */
  roomOf(chapters) {
    return chapters.map((_, number) => {
      const one = this.chapterBox(number, chapters[number + 1] ? nextIs(chapters[number + 1]) : AT_END, true, false); // with the answer it is taller
      one.classList.add("behind");
      return one;
    });
  }

  /** From a mistake to the program without it, and back. */
  otherButton({ is_fixed: isFixed }) {
    return h("button.btn.other", { type: "button", "data-turn": "other", onclick: () => this.player.emit("other") },
      isFixed ? "See it fixed" : "Back to the mistake", h("kbd", { "aria-hidden": "true" }, "M"));
  }

  hintOf(chapters) {
    if (this.player.playing()) return "pauses";
    const next = nextMove(chapters, this.chapter, this.player.t());
    if (!next) return this.player.t() < this.scene.steps.length ? "play on" : AT_END;
    return next.turn !== undefined ? nextIs(chapters[next.turn]) : WATCH;
  }
}

/** A name that may be long, as of a file: it breaks after what joins its words. */
const breakable = (name) => name.split(/(?<=[_.-])/).flatMap((part) => [part, h("wbr")]);

const STAGES = { ahead: "about to happen", running: "happening", over: "has happened", gone: "no longer happens" }; // what a text tells of is not there before its move
const WATCH = "watch it travel";
const AT_END = "play it all again";
const nextIs = ({ title }) => `next: ${title}`;
