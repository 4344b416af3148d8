// Live coding: a new recording of a watched script is shown at the same place, with the same edits.
import { byId, fill, h } from "./dom.mjs";
import { sinceSave } from "./save_summary.mjs";

const EVERY = 700; // ms between two looks; they go past Dash, and no step waits for one

export class Live {
  /**
   * @param {import("./session.mjs").Session} session
   * @param {(text: string) => void} tell says what a save changed
   */
  constructor(session, tell) {
    this.session = session;
    this.tell = tell;
    this.timer = 0;
    this.noted = "";
  }

  load() {
    clearTimeout(this.timer);
    const { watch, note } = this.session;
    fill(byId("live-bar"), watch ? [h("span.dot", { "aria-hidden": "true" }), note ? "an older recording" : "watching the script"] : null);
    byId("live-bar").classList.toggle("wrong", Boolean(watch && note));
    remark(watch && note);
    if (watch) this.timer = setTimeout(() => this.look(), EVERY);
  }

  async look() {
    const { program, version, watch, waiting } = this.session;
    if (!watch || !program) return;
    if (!waiting && !document.hidden) {
      try {
        const answer = await fetch(`/live?program=${encodeURIComponent(program)}`);
        const newest = await answer.json();
        if (newest.version !== null && newest.version !== version) { this.askAgain(); return; }
        if (newest.note !== this.noted) { this.noted = newest.note; this.session.note = newest.note; this.load(); return; }
      } catch {
        // the connection says that nobody answers
      }
    }
    this.timer = setTimeout(() => this.look(), EVERY);
  }

  askAgain() {
    const before = this.session.scene;
    this.session.askAgain(() => this.report(before));
  }

  report(before) {
    this.noted = "";
    this.tell(sinceSave(before, this.session.scene));
    const bar = byId("live-bar");
    bar.classList.remove("fresh");
    requestAnimationFrame(() => bar.classList.add("fresh"));
  }
}

/** What keeps the newest version from being shown, at the foot of the graph of the last one that ran. */
function remark(note) {
  const place = byId("doubt");
  if (!note) {
    if (place.dataset.by === "live") place.hidden = true;
    return;
  }
  place.dataset.by = "live";
  place.hidden = false;
  fill(place, h("p", {}, h("b", {}, "Not recorded again: "), note.trim().split("\n").pop()));
}
