// The pictures of the cards: a program's graph after its last backward call, painted when the card comes into view. Pointing at a card, or
// reaching it by the keyboard, plays that call.
import { Film, callsOf, paint, sceneOf, sheets, stillOf } from "./film.mjs";
import { all, contextOf, first } from "../page/dom.mjs";
import { readTokens, watchTheme } from "../paint/theme.mjs";
import { Ruler } from "../geometry/text.mjs";
import { Player } from "../stage/player.mjs";

const AHEAD = "200px"; // of the page below what is seen
const ZOOM = { least: 0.1, floor: 0.2 }; // a picture in which no card is seen any more has the beginning of its graph

export class Pictures {
  constructor() {
    /** @type {Map<string, Promise<Film | null>>} by program */
    this.films = new Map();
    /** @type {Map<Element, HTMLCanvasElement[]>} by the place of a picture */
    this.canvases = new Map();
    this.tokens = readTokens();
    this.ruler = new Ruler(contextOf(sheets()[0]));
    this.seen = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => isIntersecting && this.onAppear(target)), { rootMargin: AHEAD });
    this.player = new Player((t) => this.onMove(t), () => {});
    /** @type {{ place: Element, film: Film, end: number } | null} the picture that moves */
    this.clip = null;
    watchTheme(() => { this.tokens = readTokens(); this.canvases.forEach((_, place) => this.paint(place)); });
  }

  /** Watches the cards in a part of the page. */
  watch(part) {
    all(".card-picture", part).forEach((place) => {
      this.seen.observe(place);
      const card = place.closest("[data-program]");
      ["pointerenter", "focus"].forEach((name) => card?.addEventListener(name, () => this.play(place)));
      ["pointerleave", "blur"].forEach((name) => card?.addEventListener(name, () => this.rest()));
    });
  }

  /** The last backward call, unless less motion is wished for. */
  async play(place) {
    if (this.player.reduced.matches || !this.canvases.has(place) || this.clip?.place === place) return;
    this.rest();
    const film = await this.film(place.closest("[data-program]").dataset.program);
    const call = film && callsOf(film.scene).at(-1);
    if (!call || !place.closest(":hover, :focus")) return;
    this.clip = { place, film, end: call.end };
    this.player.load(film.scene, call.start);
    this.player.play();
  }

  /** The picture that moved stands again. */
  rest() {
    this.player.pause();
    const { place } = this.clip ?? {};
    this.clip = null;
    if (place) this.paint(place);
  }

  onMove(t) {
    if (!this.clip) return;
    const { place, film, end } = this.clip;
    if (t >= end) this.player.pause();
    this.draw(place, film, t);
  }

  film(program) {
    if (!this.films.has(program)) this.films.set(program, sceneOf(program).then((scene) => scene && new Film(scene)));
    return /** @type {Promise<Film | null>} */ (this.films.get(program));
  }

  onAppear(place) {
    this.seen.unobserve(place);
    if (this.canvases.has(place)) return;
    const canvases = sheets();
    place.append(...canvases);
    this.canvases.set(place, canvases);
    this.paint(place);
  }

  async paint(place) {
    const card = place.closest("[data-program]");
    const film = await this.film(card.dataset.program);
    if (!film) return;
    this.draw(place, film, stillOf(film.scene));
    place.dataset.drawn = "yes";
    const { steps, section } = film.scene;
    first(".card-steps", card).textContent = section ? `${section.iterations.toLocaleString("en")} iterations` : `${steps.length} steps`;
  }

  draw(place, film, t) {
    const canvases = this.canvases.get(place);
    const { width, height } = place.getBoundingClientRect();
    if (!canvases || width < 1) return;
    const view = { width, height, dpr: window.devicePixelRatio || 1 };
    paint(canvases, view, { ...film.frame(t, this, film.cameraOnAll(view, ZOOM)), detail: 1 });
  }
}
