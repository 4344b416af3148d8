// The levels of time that the user has entered: a set of open spans, and whether each step is a single op. Enter goes into the current step
// and opens its box on the stage; Escape goes out again. The box of an update has nothing more to show, so it stays as it is.

import { keyOf, levelOf, nextStop, opennessOf, stopAt } from "../scene/levels.mjs";

/** @import { App } from "./app.mjs" */

export class Depth {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Set<string>} of spans, by `keyOf` */
    this.entered = new Set();
    this.single = false; // whether each op is a step, whatever is open
    /** @type {{ whole: boolean } | null} the box of the step that one went into or out of is on its way, from a view of the whole or not */
    this.moved = null;
  }

  /** Opens or closes the box of a step. */
  fold(group, whole) {
    this.moved = { whole };
    this.app.fold(group);
  }

  /** For the scene that is shown now: from what view one went into or out of a box in it; null if one did not. */
  takeMove() {
    const { moved } = this;
    this.moved = null;
    return moved;
  }

  /** What one step is in a scene; what was closed on the stage since the one before is one step again. */
  levelIn(scene, before = scene) {
    const was = new Set(before?.folded);
    for (const id of scene.folded) if (!was.has(id) && before !== scene) this.entered.delete(id);
    return this.single ? levelOf(scene) : levelOf(scene, opennessOf(scene, this.entered));
  }

  /** @param {boolean} single */
  take(single) {
    if (this.single === single) return;
    this.single = single;
    this.app.relevel();
  }

  /** Into the step that one looks at, or before the first one into that: the first step in it is done.  False where it is one op. */
  into() {
    const { app } = this;
    this.take(false);
    const { player, scene, stage } = app;
    const whole = stage.fits;
    const stop = stopAt(player.level, player.t) ?? stopAt(player.level, nextStop(player.level, 0));
    if (!stop?.span) return false;
    player.stop();
    this.entered.add(keyOf(stop.span));
    app.relevel();
    app.seek(nextStop(player.level, stop.span.start));
    app.footer.lane.zoomTo(stop.span);
    if (stop.span.kind !== "write" && stop.span.group !== null && scene.folded.includes(stop.span.group)) this.fold(stop.span.group, whole);
    return true;
  }

  /** Out of the innermost span around this moment that one has gone into: it is over.  False where there is none. */
  out() {
    const { app } = this;
    const { player, scene } = app;
    const k = Math.ceil(player.t) - 1;
    const around = scene.spans.filter((span) => span.start <= k && k < span.end);
    const span = around.findLast((one) => this.entered.has(keyOf(one)));
    if (!span) return app.footer.lane.zoomTo(null);
    player.stop();
    this.entered.delete(keyOf(span));
    this.single = false;
    const group = span.group !== null && span.kind !== "write" && !scene.folded.includes(span.group) ? span.group : null;
    if (group !== null) this.fold(group, app.stage.fits);
    app.relevel();
    app.seek(span.end);
    app.footer.lane.zoomTo(around.findLast((one) => one.row < span.row && this.entered.has(keyOf(one))) ?? null);
    return true;
  }
}
