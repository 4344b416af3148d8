// The clock: moves `t`. A step is: its sentence first, then a short move, then rest.

import { levelOf, nextStop, previousStop, stopAt } from "../scene/levels.mjs";
import { clampTime } from "../scene/timeline.mjs";

/** @import { Level } from "../scene/levels.mjs" */
/** @import { Scene } from "../scene/scene.d.ts" */

const LEAD = 320; // ms in which only the sentence is new
const MOVE = 900; // of what travels
const STILL = 260; // of a step in which nothing travels
const REST = 520;
const SHORT = 6; // steps that a move of a story may last: a longer one is hurried to take as long
const ALONE = 0.8; // a single step asked for by key moves a little faster
const START = 0.001; // so far into a step its sentence is shown and nothing has moved yet
export const SPEEDS = [0.25, 0.5, 1, 2, 4];

export class Player {
  /**
   * @param {(t: number) => void} onChange is called whenever the time has changed
   * @param {(on: boolean) => void} onPlay when playing starts or stops
   */
  constructor(onChange, onPlay) {
    this.onChange = onChange;
    this.onPlay = onPlay;
    /** @type {Scene} none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    /** @type {Level} what one step is */
    this.level = /** @type {any} */ (null);
    this.t = 0;
    this.speed = 1;
    this.pace = 1;
    this.playing = false;
    this.running = false; // also during a single step
    /** @type {number | null} where a single step ends */
    this.target = null;
    this.until = Infinity; // where a story stops, which may be within a step
    this.wait = 0; // ms that the time has stood still
    this.before = 0; // when the last frame was
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    this.frame = this.frame.bind(this);
  }

  load(scene, t, level = levelOf(scene)) {
    this.stop();
    this.scene = scene;
    this.level = level;
    this.t = clampTime(scene, t);
  }

  seek(t) {
    if (!this.scene) return;
    this.stop();
    this.move(clampTime(this.scene, t));
  }

  move(t) {
    if (t === this.t) return;
    this.t = t;
    this.onChange(t);
  }

  /**
   * Plays on.
   * @param {number | null} [until] where a story means to stop, which is reached in a short time
   */
  play(until = null) {
    if (!this.scene || this.playing || !this.scene.steps.length) return;
    this.target = null;
    this.until = until ?? Infinity;
    this.pace = until === null ? 1 : Math.max(1, (until - this.t) / SHORT);
    if (this.t >= this.scene.steps.length) this.move(0);
    this.begin(true);
  }

  pause() {
    this.stop();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** One step on, moving; asked again while it moves, that step is done at once and the next one begins. */
  forward() {
    if (!this.scene) return;
    const from = this.target ?? this.t;
    this.stop();
    const to = nextStop(this.level, from);
    this.move(from);
    if (to === this.t) return;
    if (this.reduced.matches) this.move(to);
    else {
      this.target = to;
      this.begin(false);
    }
  }

  back() {
    this.seek(previousStop(this.level, this.t));
  }

  begin(playing) {
    this.running = true;
    this.wait = this.reduced.matches ? 0 : REST; // whoever presses play has rested
    this.before = performance.now();
    if (playing) {
      this.playing = true;
      this.onPlay(true);
    }
    requestAnimationFrame(this.frame);
  }

  stop() {
    const was = this.playing;
    this.running = false;
    this.playing = false;
    this.target = null;
    if (was) this.onPlay(false);
  }

  frame(now) {
    if (!this.running) return;
    const passed = Math.max(now - this.before, 0) * (this.playing ? this.speed * this.pace : this.speed / ALONE);
    this.before = now;
    this.advance(Math.min(passed, 250 * this.speed * this.pace)); // a tab that was hidden goes on where it was
    if (this.running) requestAnimationFrame(this.frame);
  }

  advance(ms) {
    const end = this.target ?? this.scene.steps.length;
    if (this.t >= end) {
      this.stop();
      return;
    }
    if (this.reduced.matches) this.jump(ms);
    else this.glide(ms, end);
  }

  /** Where a story stops, as long as that is to come. */
  stopAhead() {
    return this.playing && this.t < this.until ? this.until : Infinity;
  }

  jump(ms) {
    this.wait += ms;
    if (this.wait < LEAD + REST) return;
    this.wait = 0;
    this.move(Math.min(nextStop(this.level, this.t), this.stopAhead()));
  }

  glide(ms, end) {
    if (Number.isInteger(this.t)) {
      this.wait += ms;
      const rest = this.playing && this.t > 0 ? REST : 0;
      if (this.wait < rest) return;
      this.wait = 0;
      this.move(this.t + START);
      return;
    }
    const stop = stopAt(this.level, this.t);
    if (!stop) return;
    this.wait += ms;
    const lead = this.playing ? LEAD : 0;
    if (this.t - stop.start <= START && this.wait < lead) return;
    const duration = stop.step.flows.length || stop.step.kind === "accumulate" ? MOVE : STILL;
    const t = Math.min(intoStep(this.t + (ms / duration) * (stop.end - stop.start)), stop.end, end, this.stopAhead());
    if (t >= stop.end) this.wait = 0;
    this.move(t);
    if (t >= end) this.stop();
  }
}

/** A time on the way through several steps: at the end of one of them it would rest. */
const intoStep = (t) => (Number.isInteger(t) ? t + START : t);
