// The pictures of the cards: a program's graph after its last backward call, painted when the card comes into view.
import { Film, paint, sceneOf, sheets, stillOf } from "./film.mjs";
import { all, contextOf, first } from "../page/dom.mjs";
import { readTokens, watchTheme } from "../paint/theme.mjs";
import { Ruler } from "../geometry/text.mjs";

const AHEAD = "200px"; // of the page below what is seen

export class Pictures {
  constructor() {
    /** @type {Map<string, Promise<Film | null>>} by program */
    this.films = new Map();
    /** @type {Map<Element, HTMLCanvasElement[]>} by the place of a picture */
    this.drawn = new Map();
    this.tokens = readTokens();
    this.ruler = new Ruler(contextOf(sheets()[0]));
    this.seen = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => isIntersecting && this.come(target)), { rootMargin: AHEAD });
    watchTheme(() => { this.tokens = readTokens(); this.drawn.forEach((_, place) => this.paint(place)); });
  }

  /** Watches the cards in a part of the page. */
  watch(part) {
    all(".card-picture", part).forEach((place) => this.seen.observe(place));
  }

  film(program) {
    if (!this.films.has(program)) this.films.set(program, sceneOf(program).then((scene) => scene && new Film(scene)));
    return /** @type {Promise<Film | null>} */ (this.films.get(program));
  }

  come(place) {
    this.seen.unobserve(place);
    if (this.drawn.has(place)) return;
    const canvases = sheets();
    place.append(...canvases);
    this.drawn.set(place, canvases);
    this.paint(place);
  }

  async paint(place) {
    const card = place.closest("[data-program]");
    const film = await this.film(card.dataset.program);
    const canvases = this.drawn.get(place);
    if (!film || !canvases) return;
    const { width, height } = place.getBoundingClientRect();
    if (width < 1) return;
    const view = { width, height, dpr: window.devicePixelRatio || 1 };
    paint(canvases, view, { ...film.frame(stillOf(film.scene), view, this), detail: 1 });
    place.dataset.drawn = "yes";
    const count = film.scene.steps.length;
    first(".card-steps", card).textContent = `${count} steps`;
  }
}
