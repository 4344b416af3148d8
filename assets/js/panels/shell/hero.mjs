// The picture at the head of the gallery: the first backward call of its first program, played whenever the page comes up
// and for whoever points at it.  It rests at the end of that call.
import { fit } from "../../geometry/camera.mjs";
import { paintGraph } from "../../paint/paint.mjs";
import { layPlane } from "../../geometry/plane.mjs";
import { Player } from "../../stage/player.mjs";
import { paintPulses } from "../../paint/pulses.mjs";
import { prepare, stateAt } from "../../scene/state.mjs";
import { readTokens, watchTheme } from "../../paint/theme.mjs";
import { currentStep } from "../../scene/timeline.mjs";
import { Ruler } from "../../geometry/text.mjs";
import { contextOf, h } from "../../page/dom.mjs";

/** @import { Phase, Scene } from "../../scene/scene.d.ts" */

const PAD = { top: 20, right: 20, bottom: 20, left: 20 };

export class Hero {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.canvases = [h("canvas"), h("canvas")];
    /** @type {{ width: number, height: number } | null} null where there is no room */
    this.view = null;
    /** @type {Promise<{ scene?: Scene }> | null} */
    this.asked = null;
    /** @type {{ index: ReturnType<typeof prepare>, plane: ReturnType<typeof layPlane>, call: Phase } | null} what is played; null until it has come */
    this.film = null;
    this.said = h("span");
    this.stage = h("div", {}, this.canvases);
    place.append(this.stage, this.said);
    this.tokens = readTokens();
    this.ruler = new Ruler(contextOf(this.canvases[0]));
    this.player = new Player((t) => this.moved(t), () => {});
    watchTheme(() => { this.tokens = readTokens(); this.paint(); });
    new ResizeObserver(() => this.resized()).observe(this.stage);
    place.addEventListener("pointerenter", () => this.play());
  }

  /** A narrow page, and that of a program, has no room for it: then it asks for nothing. */
  async resized() {
    const { width, height } = this.stage.getBoundingClientRect();
    const came = width > 1 && !this.view;
    this.view = width > 1 ? { width, height } : null;
    this.paint();
    if (!came) return;
    this.asked ??= fetch(`/scene?program=${encodeURIComponent(this.place.dataset.start ?? "")}`).then((answer) => answer.json())
      .catch(() => { this.asked = null; return {}; }); // nobody answers, as the page says; another time it is asked again
    const { scene } = await this.asked;
    if (scene && !this.film) this.load(scene);
    this.play();
  }

  /** @param {Scene} scene */
  load(scene) {
    const call = scene.phases.find(({ kind }) => kind === "backward");
    if (!call) throw new Error("the program at the head of the gallery has no backward call");
    const index = prepare(scene);
    this.film = { index, plane: layPlane(index), call };
    this.player.load(scene, call.end);
    this.moved(call.end);
  }

  /** From the beginning, where one does not ask for less motion. */
  play() {
    if (!this.film || this.player.running || this.player.reduced.matches) return;
    this.player.seek(this.film.call.start);
    this.player.play();
  }

  moved(t) {
    if (!this.film) return;
    const { index, call } = this.film;
    if (t === call.end) this.player.pause();
    this.said.textContent = t > call.start ? index.scene.steps[currentStep(t)].say : call.label;
    this.paint();
  }

  paint() {
    if (!this.film || !this.view) return;
    const { index, plane } = this.film;
    const { ruler, tokens } = this;
    const view = { ...this.view, dpr: window.devicePixelRatio || 1 };
    const moment = stateAt(index, this.player.t);
    const frame = { moment, plane, ruler, camera: fit(plane.framed, view, PAD, 0), tokens, selection: null, hover: null, lit: null,
      wires: plane.wiring.at(moment, []), hoveredWire: null, pending: new Map() };
    this.canvases.forEach((canvas, k) => {
      Object.assign(canvas, { width: Math.round(view.width * view.dpr), height: Math.round(view.height * view.dpr) });
      [paintGraph, paintPulses][k](contextOf(canvas), view, frame);
    });
  }
}
