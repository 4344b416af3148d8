// On request each number stands beside what it was in the section before: the scene of that is kept, or asked for once.

import { areAlike, besideTheLast } from "../scene/ghosts.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */
/** @import { Session } from "./session.mjs" */

export class Ghosts {
  /** @param {Session} session */
  constructor(session) {
    this.session = session;
    this.on = false;
    /** @type {Scene | null} the present section, as it came */
    this.plain = null;
    /** @type {Scene | null} the section before it */
    this.before = null;
    /** @type {Scene | null} for which that was asked */
    this.asked = null;
  }

  /** The scene to show instead of one that has come. @param {Scene} scene */
  take(scene) {
    const last = this.plain;
    this.plain = scene;
    if (last && this.isBefore(last, scene)) this.before = last;
    else if (this.before && !this.isBefore(this.before, scene)) this.before = null;
    return this.shown();
  }

  /** Whether a scene is of the section before that of another, as it was recorded, and folded like it. @type {(one: Scene, other: Scene) => boolean} */
  isBefore(one, other) {
    const isRecorded = one.revision.base === null && other.revision.base === null && one.program.id === other.program.id;
    return isRecorded && Boolean(one.section && other.section) && one.section?.at === (other.section?.at ?? 0) - 1 && String(one.folded) === String(other.folded);
  }

  shown() {
    const scene = /** @type {Scene} */ (this.plain);
    if (!this.on || !scene.section || scene.revision.base !== null) return scene;
    if (!this.before && scene.section.at > 0) this.ask(scene);
    return this.before && areAlike(scene, this.before) ? besideTheLast(scene, this.before) : scene;
  }

  /** @param {Scene} scene */
  async ask(scene) {
    if (this.asked === scene) return;
    this.asked = scene;
    const { program, folds, layout } = this.session;
    const body = JSON.stringify({ program, section: (scene.section?.at ?? 0) - 1, folds, layout });
    try {
      const answer = await (await fetch("/scene", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
      if (this.plain !== scene || !answer.scene || !this.isBefore(answer.scene, scene)) return;
      this.before = answer.scene;
      if (this.on) this.session.show(this.shown());
    } catch {
      this.asked = null; // it is an extra: without an answer the scene is shown as it is
    }
  }

  /** Shows them, or no longer. */
  toggle() {
    this.on = !this.on;
    if (this.plain) this.session.show(this.shown());
  }

  /** Why there are none beside the present section; empty where there are. */
  get lack() {
    const { section } = this.plain ?? {};
    if (!section || !this.plain) return "";
    if (section.at === 0) return "This is the first section of the run.";
    if (this.plain.revision.base !== null) return "This section is edited: its numbers stand beside those before the edit.";
    return this.before && !areAlike(this.plain, this.before) ? `${section.before} took other steps, so its numbers have no place beside these.` : "";
  }
}
