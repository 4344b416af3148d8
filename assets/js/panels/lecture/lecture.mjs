// Lecture mode: the graph large enough for the last row, with the chapter and the running lines below it, and a second window for the presenter.
// The hall's window is the one that moves; the presenter's sends it keys, and follows it.
import { currentStep } from "../../scene/timeline.mjs";
import { sentence, stopAt } from "../../scene/levels.mjs";
import { fill, h, prose, unbrokenText } from "../../page/dom.mjs";
import { endOf, restOf, stageOf } from "../program/chapters.mjs";
import { isOpen, questionOf } from "../program/question.mjs";
import { nextTry, triesOf } from "../program/proposals.mjs";
import { excerptOf, lettersOf } from "./excerpt.mjs";
import { PresenterPointer } from "./laser.mjs";

/** @typedef {"1" | "notes"} Kind the hall's window, or the presenter's */

const CHANNEL = "backstep-lecture";
const LEGIBLE = 0.025; // of the height of the screen: the smallest text of the graph
const LEAST = 12; // px: the same elsewhere
const SECOND = 1000;
const [BESIDE_TEXT, BESIDE_QUESTION] = [44, 30]; // the most letters in a row of the code: a question and its choices need the room more
const SIZES = [0.95, 0.9, 0.85, 0.8]; // of the letters of a caption that is too high at their full size
const HIGHEST = 0.366; // of the height of the screen: a caption whose letters keep their size; the graph has the same room beside all of a story
const SAMPLES = 24; // moments of a chapter whose captions are measured: at each line that with the longest sentence
const TYPED = "input, textarea, select, dialog, [contenteditable='true']";

/** What a clicker and the keyboard send; other keys go to the app. */
const KEYS = {
  PageDown: "next", ArrowRight: "next", ArrowDown: "next", " ": "next", Enter: "next", PageUp: "back", ArrowLeft: "back", ArrowUp: "back", Backspace: "back",
  b: "black", B: "black", ".": "black", l: "laser", L: "laser", s: "spot", S: "spot", n: "notes", N: "notes", t: "try", T: "try", m: "other", M: "other", F5: "again", Escape: "escape",
};

export class Lecture {
  /**
   * @param {any} player `window.backstep`
   * @param {import("../program/story.mjs").Story} story
   * @param {{ onChange: () => void, address: () => string, open: (address: string) => void,
   *   bars: (id: string, time: number, then: () => void) => HTMLElement | null | undefined }} page `onChange`: the address has to be written,
   *   `address`: of what is shown, without its moment, `open`: shows another one's, `bars`: an element's through time, undefined until they are there
   */
  constructor(player, story, page) {
    this.player = player;
    this.story = story;
    this.page = page;
    /** @type {Kind | null} */
    this.kind = null;
    this.was = false; // whether F5 leads back into the lecture
    this.startTime = 0; // when the timer was started
    this.timer = 0;
    this.key = "";
    /** @type {any} what the hall has told last */
    this.heard = null;
    this.destination = ""; // the address that is on its way
    this.room = noRoom();
    this.letters = BESIDE_TEXT; // of a row of the code, in the whole story
    /** @type {BroadcastChannel | null} */
    this.channel = null;
    this.place = h("section", { id: "lecture", hidden: true, "aria-label": "Lecture" });
    this.pointer = new PresenterPointer();
    document.getElementById("player")?.append(this.place, this.pointer.element);
    window.addEventListener("keydown", (event) => this.onKey(event), true);
    window.addEventListener("resize", () => { this.enlarge(); this.load(); });
    window.addEventListener("pagehide", () => this.end());
    document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement && this.full) this.onShrink(); });
    this.full = false; // whether the lecture has the whole screen
    this.opening = false; // whether the presenter's window is: a browser may leave the whole screen for it
    player.on("play", () => this.write());
  }

  /** The key P: into the lecture, on the whole screen, or out of it. */
  toggle() {
    this.show(this.kind === "1" ? null : "1");
    this.fill();
  }

  /** The whole screen, which a browser gives only with a key or a click: for an address it comes with the first one. */
  fill() {
    this.opening = false;
    if (this.kind !== "1" || !document.fullscreenEnabled || document.fullscreenElement) return;
    this.full = false;
    document.documentElement.requestFullscreen().then(() => { this.full = true; }, () => {});
  }

  /** The browser has left the whole screen: for Esc, which it keeps to itself, or for the presenter's window, and then the hall's goes on. */
  onShrink() {
    this.full = false;
    if (!this.opening) this.escape();
  }

  /** @param {Kind | null} kind null: the page as one works with it */
  show(kind) {
    if (kind === this.kind) {
      if (kind === "notes" && this.heard) this.follow(this.heard); // what the hall shows has come
      return;
    }
    this.end();
    this.kind = kind;
    this.was = this.was || kind === "1";
    const { dataset } = document.documentElement;
    if (kind) dataset.present = kind === "1" ? "hall" : "notes";
    else delete dataset.present;
    this.place.hidden = !kind;
    this.pointer.clear();
    this.listen(kind !== null);
    if (!kind) this.attend(null, "");
    if (!kind && this.full && document.fullscreenElement) document.exitFullscreen();
    this.full = false;
    clearInterval(this.timer);
    if (kind === "notes") {
      this.startTime = Date.now();
      this.timer = window.setInterval(() => this.showTime(), SECOND);
      this.send({ act: "hello" });
    }
    this.key = "";
    this.room = noRoom();
    this.hold(0);
    this.write();
    this.enlarge();
    this.page.onChange();
  }

  /** The smallest text of the graph has its part of the height of the screen. */
  enlarge() {
    this.player.enlarge(this.kind === "1" ? Math.max(1, (LEGIBLE * window.innerHeight) / LEAST) : 1, this.kind !== null);
  }

  listen(on) {
    this.channel?.close();
    this.channel = on ? new BroadcastChannel(CHANNEL) : null;
    if (this.channel) this.channel.onmessage = ({ data }) => this.hear(data);
  }

  send(message) {
    this.channel?.postMessage(message);
  }

  hear({ act, now }) {
    if (this.kind === "1" && act === "hello") this.tell();
    else if (this.kind === "1" && act) this.acts()[act]?.();
    else if (this.kind === "notes" && now !== undefined) this.follow(now);
  }

  /** The presenter's window goes where the hall is. @param {any} now null: the lecture is over, and the window stays where it is */
  follow(now) {
    this.heard = now;
    if (!now) this.destination = "";
    else if (now.address !== this.page.address()) {
      if (now.address !== this.destination) this.page.open(now.address);
      this.destination = now.address;
    } else {
      this.destination = "";
      if (this.story.chapter !== now.chapter) this.story.turn(now.chapter);
      if (this.player.t() !== now.t) this.player.seek(now.t);
    }
    this.write();
  }

  /** Tells the presenter's window what the hall sees. */
  tell() {
    const { scene, chapter } = this.story;
    if (this.kind === "1" && scene) this.send({ now: { address: this.page.address(), t: Math.ceil(this.player.t()), chapter, black: this.pointer.black } });
  }

  /** Tells the presenter's window that the hall shows no lecture any more, and gets no keys. */
  end() {
    if (this.kind === "1") this.send({ now: null });
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.target.closest?.(TYPED) || this.isPressed(event)) return;
    const act = this.kind ? KEYS[event.key] : this.was && event.key === "F5" ? "again" : undefined;
    if (!act || (event.shiftKey && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (this.kind === "notes" && act !== "escape") this.send({ act });
    else this.acts()[act]();
    if (act !== "escape" && act !== "notes") this.fill();
  }

  /** Whether a key is for the button that the keyboard has come to, or Enter for a node, whose cells it edits. */
  isPressed({ key, target }) {
    if (key !== "Enter" && key !== " ") return false;
    const button = target.closest?.("button") ?? (key === "Enter" && this.player.selection() !== null ? target.closest?.("#stage") : null);
    return Boolean(button?.matches(":focus-visible"));
  }

  /** @returns {Record<string, () => void>} */
  acts() {
    return {
      next: () => this.next(), back: () => this.back(), black: () => this.dark(), laser: () => this.pointer.toggle("laser"), spot: () => this.pointer.toggle("spot"),
      try: () => this.try(), other: () => this.player.emit("other"),
      notes: () => { this.opening = true; window.open(`${location.pathname}${location.search.replace(/([?&])present=1/, "$1present=notes")}`, "backstep-notes"); },
      again: () => { this.show("1"); if (!this.story.scene.program.chapters.length) this.player.seek(0); else this.story.turn(0); }, escape: () => this.escape(),
    };
  }

  /** What Space does; a move that is under way is over at once. After the end of a mistake comes its corrected version. */
  next() {
    const { scene } = this.story;
    if (this.pointer.black) { this.dark(); return; }
    if (this.player.playing()) {
      const { until } = this.story;
      if (until === null) this.player.pause();
      else this.player.seek(until);
    } else if (!this.player.emit("space")) {
      if (scene.program.other?.is_fixed && this.player.t() >= scene.steps.length) this.player.emit("other");
      else this.player.step();
    }
    this.write();
  }

  /** Makes the change that the chapter proposes, then the next one, then none. */
  try() {
    const { tries } = this.story.scene.program.chapters[this.story.chapter] ?? {};
    if (tries) this.story.session.edit(nextTry(tries, this.story.session.edits));
  }

  /** To the text of the chapter, then to the chapter before, then to the mistake that is corrected here; without a story a step back. */
  back() {
    const { chapter, scene } = this.story;
    const { chapters } = scene.program;
    const { other } = scene.program;
    if (!chapters.length) this.player.back();
    else if (other && !other.is_fixed && chapter === 0 && this.player.t() <= restOf(chapters, 0)) this.player.emit("other", true);
    else this.story.turn(this.player.t() > restOf(chapters, chapter) ? chapter : chapter - 1);
    this.write();
  }

  dark() {
    this.pointer.toggle("black");
    this.tell();
  }

  escape() {
    if (!this.pointer.clear()) this.show(null);
  }

  load() {
    this.key = "";
    this.write();
  }

  seek() {
    this.write();
  }

  /** Writes what has changed since it was written last. */
  write() {
    const { scene, chapter } = this.story;
    if (!this.kind || !scene || scene !== this.player.scene()) return; // a time of another program has no chapter in this one
    const t = this.player.t();
    const { chapters } = scene.program;
    const stage = chapters.length ? stageOf(chapters, chapter, t) : "over";
    const key = [scene.revision.id, this.kind, chapter, stage, Math.ceil(t), this.player.playing(), JSON.stringify(this.heard)].join("|");
    if (key === this.key) return;
    this.key = key;
    const one = chapters[chapter];
    if (this.kind === "1") {
      this.reserve();
      this.scaleLetters(chapter);
    }
    this.attend(one, stage);
    fill(this.place, this.kind === "1" ? this.caption(chapter, stage, t) : this.notes(one, chapters[chapter + 1], stage));
    if (this.kind === "1") {
      this.shrink(chapter);
      this.hold(this.height());
    }
    this.tell();
  }

  /** The graph shows what the chapter speaks of, as far as what happens leaves room. */
  attend(one, stage) {
    this.player.attend(this.kind && one ? one.select : [], stage === "ahead");
  }

  /** Makes the column of the code as wide and the caption as high as the story needs, from its first text to its last answer: the graph above stays
   * where it is, at one size. */
  reserve() {
    const { scene } = this.story;
    const { chapters } = scene.program;
    const key = [this.story.session.program, window.innerWidth, window.innerHeight].join("|");
    const revision = String(scene.revision.id);
    const isSame = this.room.story === key;
    if (isSame && this.room.revision === revision) return;
    const least = isSame ? this.room.height : 0;
    this.room = { ...noRoom(), story: key, revision };
    this.hold(0);
    const most = isSame ? this.letters : BESIDE_TEXT; // an edit takes the questions away: the code keeps its width all the same
    this.letters = Math.min(lettersOf(scene), most, chapters.some(({ ask }) => ask) ? BESIDE_QUESTION : BESIDE_TEXT);
    this.place.style.setProperty("--letters", String(this.letters));
    const heights = (chapters.length ? chapters : [null]).flatMap((_, chapter) => {
      this.scaleLetters(chapter);
      return this.moments(chapter).map(([stage, t]) => {
        fill(this.place, this.caption(chapter, stage, t));
        this.shrink(chapter);
        return this.height();
      });
    });
    this.hold(Math.max(least, ...heights));
  }

  /** The moments of a chapter at which its caption may be highest. @returns {[string, number][]} */
  moments(chapter) {
    const { chapters } = this.story.scene.program;
    const [rest, end] = chapters.length ? [restOf(chapters, chapter), endOf(chapters, chapter)] : [0, this.story.scene.steps.length];
    const level = this.player.level();
    const length = (t) => sentence(level, t).text.length;
    /** @type {Map<string, number>} the time of the longest sentence at each line of code, which stands beside it */
    const longest = new Map();
    for (const t of level.ends.filter((one) => one > rest && one < end)) {
      const line = lineOf(this.now(t).step);
      if (length(longest.get(line) ?? 0) <= length(t)) longest.set(line, t);
    }
    const during = [...longest.values()].sort((a, b) => length(b) - length(a)).slice(0, SAMPLES);
    return [["ahead", rest], ...during.map((t) => /** @type {[string, number]} */ (["running", t])), ["over", end]];
  }

  /** Gives a chapter letters of its own size. */
  scaleLetters(chapter) {
    this.place.style.setProperty("--size", String(this.room.sizes[chapter] ?? 1));
  }

  /** Makes the letters of a chapter smaller if its caption is too high. */
  shrink(chapter) {
    const most = Math.max(HIGHEST * window.innerHeight, this.room.height);
    for (const size of SIZES) {
      if (this.place.scrollHeight <= Math.min(most, this.place.clientHeight)) return;
      this.room.sizes[chapter] = Math.min(this.room.sizes[chapter] ?? 1, size);
      this.scaleLetters(chapter);
    }
  }

  /** The height of the caption in whole px, none less: a line of text may be a fraction of one higher. */
  height() {
    return Math.ceil(this.place.getBoundingClientRect().height);
  }

  /** @param {number} height px that the caption has from now on, at least */
  hold(height) {
    this.room.height = Math.max(this.room.height, height);
    this.place.style.minHeight = this.room.height ? `${this.room.height}px` : "";
  }

  /** The chapter, its question, and the lines that run. */
  caption(chapter, stage, t) {
    const { scene } = this.story;
    const one = scene.program.chapters[chapter];
    const { words, step } = this.now(t);
    const isFailing = stage === "running" && step?.kind === "error"; // the message comes up beside the node
    const why = one?.ask && !isOpen(stage) ? one.ask.why : ""; // in the room that the text had, so that the graph keeps its own
    const says = one && (stage === "ahead" || isFailing || !words) ? prose(one.text) : why ? prose(why) : h("p", {}, unbrokenText(words));
    return [
      h("div.lecture-words", { "aria-live": "polite" },
        one ? h("h2", {}, h("span.count", {}, `${chapter + 1} of ${scene.program.chapters.length}`), one.title) : h("h2", {}, scene.program.title),
        says, one?.ask ? questionOf({ ...one.ask, why: "" }, isOpen(stage)) : null,
        one?.tries && !isOpen(stage) ? triesOf(one.tries, this.story.session) : null),
      this.bars(one, t) ?? this.excerpt(one, stage, t),
    ];
  }

  /** The bars that a chapter speaks of, where the inspector would have them. Their room is kept until they are there. */
  bars(one, t) {
    if (!one?.inspect || !one.select.length) return null;
    const bars = this.page.bars(one.select[0], currentStep(t) + 1, () => this.load());
    return bars === null ? null : h("div.lecture-bars", {}, bars);
  }

  /** What happens at a time, in words. */
  now(t) {
    const level = this.player.level();
    const { text } = sentence(level, t);
    return { words: t > 0 ? text : "", step: stopAt(level, t)?.step ?? null };
  }

  excerpt(one, stage, t) {
    const { scene } = this.story;
    const lines = excerptOf(scene, scene.steps[currentStep(t)] ?? null, stage === "ahead" || t === 0 ? one?.lines ?? null : null, this.letters);
    return lines.length ? h("pre.lecture-code", {}, lines.map(({ number, parts }) => h("div", { "data-line": number }, parts.map(([text, marked]) => (marked ? h("mark", {}, text) : text))))) : null;
  }

  /** The presenter's own: notes, the question and its answer, what comes next, the time. */
  notes(one, next, stage) {
    const { scene, chapter } = this.story;
    const { chapters } = scene.program;
    return [
      h("div.row", {}, h("b.lecture-time", { role: "timer" }, this.elapsedTime()), h("button.btn", { type: "button", onclick: () => { this.startTime = Date.now(); this.showTime(); } }, "Start the timer again"),
        h("span.space"), this.heard?.black ? h("b", {}, "The audience sees a dark screen") : null, h("span.count", {}, this.heard ? "" : "Lecture mode is not on: press P in the other window"), h("span.whole", {}, chapters.length ? `${chapter + 1} of ${chapters.length}` : "")),
      h("h2", {}, one?.title ?? scene.program.title),
      one?.notes ? h("div.lecture-notes", {}, prose(one.notes)) : h("p.hint", {}, "This chapter has no notes."),
      one ? prose(one.text) : null,
      stage === "ahead" ? null : h("p", {}, unbrokenText(this.now(this.player.t()).words)), // before a move it would be that of the chapter before
      one?.ask ? questionOf(one.ask, false) : null,
      h("p.lecture-next", {}, h("b", {}, "Next: "), stage === "ahead" && one && endOf(chapters, chapter) > restOf(chapters, chapter) ? "the move of this chapter" : next?.title ?? (scene.program.other?.is_fixed ? "the corrected version" : "the end")),
      h("div.row", {}, ["back", "next", "black"].map((act) => h("button.btn", { type: "button", onclick: () => this.send({ act }) }, { back: "Back", next: "Next", black: "Dark" }[act]))),
    ];
  }

  elapsedTime() {
    const seconds = Math.floor((Date.now() - this.startTime) / SECOND);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  showTime() {
    const place = this.place.querySelector(".lecture-time");
    if (place) place.textContent = this.elapsedTime();
  }
}

/** The line of a step, as a key. */
const lineOf = (step) => ((code) => (code ? `${code.file}:${code.line}` : ""))(step?.from ?? step?.code);

/** The px that the captions of a story need in a revision, and the size of the letters in each chapter: before they are measured. */
const noRoom = () => ({ story: "", revision: "", height: 0, sizes: /** @type {number[]} */ ([]) });
