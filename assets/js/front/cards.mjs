// The cards of the gallery: the levels, the search, and the arrow keys between cards.
import { all, byId, fill, first, h } from "../page/dom.mjs";

const CARD = "a[data-program]";
const TYPED = 120; // ms after the last letter

/**
 * What a search finds: programs in their order, each with the part of its text that fits; `instead` are words that are searched for in place of unknown ones.
 * @typedef {{ hits: { program: string, reason: string, text: string }[], instead: [string, string][], near: boolean }} Found
 */

export class Cards {
  /**
   * @param {HTMLElement} gallery
   * @param {{ watch: (part: HTMLElement) => void }} pictures
   */
  constructor(gallery, pictures) {
    this.gallery = gallery;
    this.pictures = pictures;
    this.field = /** @type {HTMLInputElement} */ (/** @type {unknown} */ (byId("gallery-search")));
    this.timer = 0;
    this.question = 0; // the number of the latest question
    gallery.addEventListener("keydown", arrows);
    byId("gallery-found").addEventListener("keydown", (event) => this.back(event));
    gallery.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button[data-level]"));
      if (button) this.choose(button.dataset.level ?? "");
    });
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), TYPED);
    });
    this.field.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** The programs of one level, or with "" all. */
  choose(level) {
    this.field.value = "";
    this.show(null);
    all(".levels [data-level]", this.gallery).forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.level === level)));
    for (const group of all(".gallery-group", this.gallery)) {
      const cards = all(CARD, group);
      cards.forEach((card) => { card.hidden = level !== "" && card.dataset.level !== level; });
      group.hidden = cards.every((card) => card.hidden);
    }
  }

  async search() {
    const text = this.field.value.trim();
    const number = (this.question += 1);
    if (!text) { this.show(null); return; }
    const result = await fetch(`/search?q=${encodeURIComponent(text.slice(0, LONGEST))}`).then((answer) => answer.json()).catch(() => undefined);
    if (number === this.question && result !== undefined) this.show(result.hits.length ? result : null);
  }

  /** @param {Found | null} result null shows the gallery */
  show(result) {
    byId("gallery-found").hidden = result === null;
    byId("gallery-groups").hidden = result !== null;
    first(".paths", this.gallery).hidden = result !== null;
    if (result === null) return;
    fill(byId("gallery-meant"), explanation(result));
    const place = first("#gallery-found .cards");
    fill(place, result.hits.map((hit) => this.card(hit)));
    this.pictures.watch(place);
  }

  /** The card of a program once more, with the reason for which it was found. */
  card({ program, reason, text }) {
    const card = /** @type {HTMLElement} */ (first(`#gallery-groups a[data-program="${CSS.escape(program)}"]`)?.cloneNode(true));
    card.hidden = false;
    const picture = first(".card-picture", card);
    fill(picture);
    delete picture.dataset.drawn; // its canvases are to be made
    first(".card-says", card)?.remove();
    first(".card-learn", card)?.remove();
    first(".card-foot", card).before(h("span.card-why", {}, h("b", {}, text ? `${reason}: ` : reason), withMarks(text)));
    return card;
  }

  /** Shift and Tab lead from the first card of a search to the field, past the picture, as Tab leads here. */
  back(event) {
    if (event.key !== "Tab" || !event.shiftKey || event.target !== first(`#gallery-found ${CARD}`)) return;
    event.preventDefault();
    this.field.focus();
  }

  /** From the field the arrow down leads to the first card, after a search Tab too, and Enter opens it. */
  onKey(event) {
    if (event.key === "Escape" && this.field.value) {
      event.preventDefault();
      this.field.value = "";
      this.search();
      return;
    }
    const goesOn = event.key === "Tab" && !event.shiftKey && this.field.value.trim() !== "";
    if (event.key !== "ArrowDown" && event.key !== "Enter" && !goesOn) return;
    if (event.key === "Enter" && !this.field.value.trim()) return;
    event.preventDefault();
    const go = () => {
      const card = all(CARD, this.gallery).find((one) => one.offsetParent);
      if (event.key === "Enter") card?.click();
      else card?.focus();
    };
    clearTimeout(this.timer);
    if (event.key === "ArrowDown") go();
    else this.search().then(go); // what was typed last counts too
  }
}

const LONGEST = 1000; // characters of a question: a pasted message is longer, and begins with what counts

/** What is said above the hits. */
function explanation({ hits, instead, near }) {
  const words = instead.map(([typed, meant]) => [h("b", {}, meant), ` for “${typed}”`]);
  const corrections = words.flatMap((one, i) => (i ? [", ", ...one] : one));
  if (near) return ["No program says this. The closest ones", words.length ? [" (did you mean ", ...corrections, "?)"] : null, ":"];
  return [`${hits.length} ${hits.length === 1 ? "program" : "programs"}`, words.length ? [". Did you mean ", ...corrections, "?"] : null];
}

/** A text in which the words that were searched for stand between \u0001 and \u0002. */
function withMarks(text) {
  return text.split(/(\u0001[^\u0002]*\u0002)/).filter(Boolean).map((part) => (part.startsWith("\u0001") ? h("mark", {}, part.slice(1, -1)) : part));
}

/**
 * Links to programs open in this page, once the app is there; a lesson has no front door.
 * @param {(search: string) => void} open takes the query of an address
 */
export function follow(open) {
  byId("front")?.addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest(`${CARD}, a[data-start]`));
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return; // a new tab or window was meant
    event.preventDefault();
    open(link.search);
  });
}

/** The arrow keys move between cards as they lie on the page. */
function arrows(event) {
  const card = event.target.closest?.(CARD);
  if (!card) return;
  const cards = all(CARD, byId("gallery")).filter((one) => one.offsetParent);
  const box = card.getBoundingClientRect();
  const here = cards.indexOf(card);
  const beside = { ArrowRight: here + 1, ArrowLeft: here - 1 }[event.key];
  const rows = event.key === "ArrowDown" || event.key === "ArrowUp";
  let next = beside === undefined ? null : cards[beside];
  if (rows) {
    const down = event.key === "ArrowDown";
    const ahead = cards.filter((one) => (down ? one.getBoundingClientRect().top > box.bottom - 2 : one.getBoundingClientRect().bottom < box.top + 2));
    const distanceTo = (one) => Math.abs(one.getBoundingClientRect().top - box.top) * 4 + Math.abs(one.getBoundingClientRect().left - box.left);
    next = ahead.sort((a, b) => distanceTo(a) - distanceTo(b))[0];
  }
  if (next) { next.focus(); event.preventDefault(); }
}
