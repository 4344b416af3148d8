// The sections beside the current one: cached, so that turning to them does not wait for the server; and on request the numbers of the
// previous section beside the current ones.

import { areAlike, besideTheLast } from "../scene/ghosts.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */
/** @import { Session } from "./session.mjs" */
/** @typedef {{ scene: Scene, edits: null, watch: boolean, version: number, note: string }} Answer what the server says of a section as it was recorded */

const MOST = 3; // answers that are kept: the present section, the one before, the next one
const REST = 300; // ms after a section has come until the next one in the direction of travel is asked for

export class Neighbours {
  /** @param {Session} session */
  constructor(session) {
    this.session = session;
    /** @type {Map<string, Promise<Answer | null>>} by what was asked, the latest last */
    this.answers = new Map();
    /** @type {Map<string, Answer>} those that have come */
    this.here = new Map();
    /** @type {Scene | null} the present section, as it came */
    this.plain = null;
    this.beside = false; // whether the numbers of the one before are shown
    this.way = 1; // the direction in which one last went
    this.timer = 0;
  }

  key(section) {
    const { program, version, folds, layout } = this.session;
    return JSON.stringify([program, version, section, folds, layout]);
  }

  /** A section that is here; null where it is not. @returns {Answer | null} */
  answerFor(section) {
    return this.here.get(this.key(section)) ?? null;
  }

  /** Asks for a section as it was recorded, once; null where no answer came. @returns {Promise<Answer | null>} */
  ask(section) {
    const key = this.key(section);
    const here = this.here.get(key);
    let answer = here ? Promise.resolve(here) : this.answers.get(key);
    if (!answer) {
      const { program, version, folds, layout } = this.session;
      answer = this.session.answerTo({ program, section, ahead: Math.max(0, section + this.way), folds, layout })
        .then((loaded) => (loaded?.scene && loaded.version === version ? this.keep(key, loaded) : null)); // it is an extra
      this.answers.set(key, answer);
      answer.then((loaded) => { if (!loaded) this.answers.delete(key); });
    }
    return answer;
  }

  /** @param {string} key @param {Answer} answer */
  keep(key, answer) {
    this.here.delete(key);
    this.here.set(key, answer);
    while (this.here.size > MOST) {
      const [oldest] = this.here.keys();
      this.here.delete(oldest);
      this.answers.delete(oldest);
    }
    return answer;
  }

  /**
   * Takes what has come and is about to be shown: the scene to show instead of its own.
   * @param {Answer} answer
   * @returns {Scene}
   */
  take(answer) {
    const { scene } = answer;
    clearTimeout(this.timer);
    const at = scene.section?.at ?? 0;
    if (this.plain?.section && at !== this.plain.section.at) this.way = Math.sign(at - this.plain.section.at);
    this.plain = scene;
    if (!this.isRecorded) return scene;
    this.keep(this.key(at), answer);
    const next = at + this.way;
    if (next >= 0 && next < (scene.section?.count ?? 0)) this.timer = window.setTimeout(() => requestIdleCallback(() => { if (this.plain === scene) this.ask(next); }), REST);
    return this.sceneNow();
  }

  /** Whether the present scene is a section as it was recorded. */
  get isRecorded() {
    return Boolean(this.plain?.section) && this.plain?.revision.base === null;
  }

  /** The section before, where it is here. @returns {Scene | null} */
  get before() {
    return this.answerFor((this.plain?.section?.at ?? 0) - 1)?.scene ?? null;
  }

  sceneNow() {
    const scene = /** @type {Scene} */ (this.plain);
    if (!this.beside || !this.isRecorded) return scene;
    const { before } = this;
    if (before) return areAlike(scene, before) ? besideTheLast(scene, before) : scene;
    const at = scene.section?.at ?? 0;
    if (at > 0) this.ask(at - 1).then((loaded) => { if (loaded && this.plain === scene && this.beside && this.before) this.session.show(this.sceneNow()); });
    return scene;
  }

  /** Shows the numbers of the section before, or no longer. */
  toggle() {
    this.beside = !this.beside;
    if (this.plain) this.session.show(this.sceneNow());
  }

  /** Why there are none beside the present section; empty where there are. */
  get lack() {
    const { plain, before } = this;
    if (!plain?.section) return "";
    if (plain.section.at === 0) return "This is the first section of the run.";
    if (!this.isRecorded) return "This section is edited: its numbers stand beside those before the edit.";
    return before && !areAlike(plain, before) ? `${plain.section.before} took other steps, so its numbers cannot stand beside these.` : "";
  }
}
