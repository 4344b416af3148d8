// The picture at the head of the gallery: the first program plays by itself until it is touched.  A number of the gradient that its
// backward call receives can be dragged; the program is then replayed with it.
import { Film, callAt, callsOf, paint, sceneOf, sheets } from "./film.mjs";
import { Seed } from "./seed.mjs";
import { NONE, change } from "../page/edits.mjs";
import { contextOf, first } from "../page/dom.mjs";
import { readTokens, watchTheme } from "../paint/theme.mjs";
import { currentStep } from "../scene/timeline.mjs";
import { Ruler } from "../geometry/text.mjs";
import { Player } from "../stage/player.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */

const PAUSE = 2600; // ms for which the end is seen before it begins again
const TOUCHES = ["pointerdown", "keydown"];

export class Hero {
  /**
   * @param {HTMLElement} place
   * @param {() => void} onReady is called once its first picture is there, or none will be
   */
  constructor(place, onReady) {
    this.place = place;
    this.onReady = onReady;
    this.program = /** @type {string} */ (place.dataset.program);
    this.canvases = sheets();
    this.stage = first(".hero-stage", place);
    this.caption = first(".hero-say", place);
    this.button = /** @type {HTMLButtonElement} */ (first("[data-do=toggle]", place));
    /** @type {{ width: number, height: number, dpr: number } | null} null where there is no room */
    this.view = null;
    /** @type {Film | null} what is played; null until it has come */
    this.film = null;
    /** @type {import("../geometry/camera.mjs").Camera | null} the camera of the last picture */
    this.camera = null;
    this.isLoading = false;
    this.again = 0;
    /** @type {import("../scene/scene.d.ts").Edits} */
    this.edits = NONE;
    /** @type {{ command: string, gradient: any } | null} the newest change while another one is on its way */
    this.next = null;
    this.busy = false;
    this.until = Infinity; // where a call that was changed ends
    this.tokens = readTokens();
    this.ruler = new Ruler(contextOf(this.canvases[0]));
    this.player = new Player((t) => this.onMove(t), (on) => this.onPlay(on));
    this.seed = new Seed({ grab: () => this.hold(), onChange: (edit) => this.change(edit), onLeave: () => this.replay(), onPaint: () => this.paint() });
    this.stage.append(...this.canvases, this.seed.element);
    this.canvases[0].setAttribute("role", "img");
    this.button.addEventListener("click", () => (this.player.playing ? this.touch() : this.play()));
    const page = place.closest("#front") ?? place; // whoever types or clicks elsewhere reads something else
    TOUCHES.forEach((name) => page.addEventListener(name, (event) => event.target === this.button || this.touch()));
    watchTheme(() => { this.tokens = readTokens(); this.paint(); });
    new ResizeObserver(() => this.onResize()).observe(this.stage);
    new IntersectionObserver(([{ isIntersecting }]) => isIntersecting || this.touch()).observe(this.stage); // out of view it rests
  }

  /** A page that shows a program has no room for it: then it asks for nothing, and rests. */
  async onResize() {
    const { width, height } = this.stage.getBoundingClientRect();
    const came = width > 1 && !this.view;
    this.view = width > 1 ? { width, height, dpr: window.devicePixelRatio || 1 } : null;
    if (!this.view) this.touch();
    this.paint();
    if (!came) return;
    if (!this.film && !this.isLoading) {
      this.isLoading = true;
      const scene = await sceneOf(this.program);
      this.isLoading = false;
      const [call] = scene ? callsOf(scene) : [];
      if (!scene || !call) { // a lesson without a backward call, or that fails: there is nothing to play
        this.place.hidden = true;
        this.onReady();
        return;
      }
      this.load(scene, call.end);
      this.button.disabled = false;
      this.onReady();
    }
    if (!this.film || this.player.reduced.matches) return;
    this.player.seek(callsOf(this.film.scene)[0].start);
    this.play();
  }

  /**
   * @param {Scene} scene
   * @param {number} t
   */
  load(scene, t) {
    this.film = new Film(scene);
    this.player.load(scene, t);
    this.onMove(t);
  }

  /** From the first backward call to the end, and again. */
  play() {
    if (!this.film) return;
    const { scene } = this.film;
    if (this.player.t >= scene.steps.length) this.player.seek(callsOf(scene)[0].start);
    this.player.play();
  }

  /** Whoever touches it has it for himself. */
  touch() {
    clearTimeout(this.again);
    this.player.pause();
  }

  /** A number is taken: if the call that received it is over, the picture goes back to its end. */
  hold() {
    this.touch();
    const call = this.film && callAt(this.film.scene, this.player.t);
    if (call && this.player.t > call.end) this.player.seek(call.end);
  }

  onPlay(on) {
    clearTimeout(this.again);
    this.button.textContent = on ? "Pause" : "Play";
    if (!on && this.film && this.player.t >= this.film.scene.steps.length) {
      this.button.textContent = "Pause";
      this.again = setTimeout(() => this.play(), PAUSE);
    }
  }

  /** The program with another gradient; of several changes that come while one is on its way only the latest is asked for. */
  async change(edit) {
    this.next = edit;
    if (this.busy || !this.film) return;
    this.busy = true;
    while (this.next) {
      const { command, gradient } = this.next;
      this.next = null;
      const edits = change(this.film.scene, this.edits, command, { gradient });
      const scene = await sceneOf(this.program, edits);
      if (!scene) break;
      this.edits = edits;
      const call = this.call(scene, command);
      this.load(scene, call.end);
    }
    this.busy = false;
    this.seed.onSettle();
    this.paint();
  }

  /** The backward call of a command. */
  call(scene, id) {
    const command = scene.commands.find((one) => one.id === id);
    return callsOf(scene).find(({ start }) => command.start <= start && start < Math.max(command.end, command.start + 1)) ?? callsOf(scene)[0];
  }

  /** After a change the gradient travels once more, unless less motion is wished for. */
  replay() {
    if (!this.film || this.player.reduced.matches) return;
    const call = callsOf(this.film.scene).find(({ start, end }) => start < this.player.t && this.player.t <= end);
    if (!call) return;
    this.player.seek(call.start);
    this.until = call.end;
    this.player.play();
  }

  onMove(t) {
    if (!this.film) return;
    const { scene } = this.film;
    const [call] = callsOf(scene);
    this.caption.textContent = t > call.start ? scene.steps[currentStep(t)].say : call.label;
    if (t >= this.until) {
      this.until = Infinity;
      this.player.pause();
    }
    this.paint();
  }

  paint() {
    if (!this.film || !this.view) return;
    this.camera = (this.seed.isHeld && this.camera) || this.film.cameraAt(this.player.t, this.view); // a number stays under the finger
    const frame = this.film.frame(this.player.t, this, this.camera, this.seed.pending);
    paint(this.canvases, this.view, frame);
    this.canvases[0].setAttribute("aria-label", `The graph of ${this.film.scene.program.title}`);
    this.seed.place(frame, this.view);
  }
}
