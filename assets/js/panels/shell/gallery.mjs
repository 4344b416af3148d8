// The gallery: the search box, and cards that open without loading the page again.
import { all, byId, fill, h } from "../../page/dom.mjs";

const WAIT_FOR = "a[data-program]";

export function setUp(openProgram) {
  byId("gallery").addEventListener("click", (event) => {
    const card = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(`${WAIT_FOR}, a[data-start]`));
    if (!card || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return; // a new tab or window was meant
    event.preventDefault();
    openProgram(card.dataset.program || card.dataset.start);
  });
  byId("gallery").addEventListener("keydown", arrows);
  byId("gallery-search").addEventListener("keydown", fromSearch);
}

/** Shows the cards that have all the words. */
export function search(text) {
  const words = (text || "").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const group of all(".gallery-group")) {
    let some = false;
    for (const card of all(WAIT_FOR, group)) {
      const fits = words.every((word) => card.dataset.words?.includes(word));
      card.hidden = !fits;
      some = some || fits;
      shown += fits ? 1 : 0;
    }
    group.hidden = !some;
  }
  const none = byId("gallery-empty");
  none.hidden = shown > 0 || words.length === 0;
  fill(none, h("p", {}, `No program contains “${text}”. Try a word from a question:  `, h("code", {}, "retain_graph"), ", ", h("code", {}, "jacobian"), ", ", h("code", {}, "nan"), "."));
}

/** From the search box the arrow down leads to the first card that is left, and Enter opens it. */
function fromSearch(event) {
  if (event.key !== "ArrowDown" && event.key !== "Enter") return;
  const first = all(WAIT_FOR).find((one) => one.offsetParent);
  if (!first || (event.key === "Enter" && !event.target.value.trim())) return;
  event.preventDefault();
  if (event.key === "Enter") first.click();
  else first.focus();
}

/** The arrow keys move between cards as they lie on the page. */
function arrows(event) {
  const card = event.target.closest?.(WAIT_FOR);
  if (!card) return;
  const cards = all(WAIT_FOR).filter((one) => one.offsetParent);
  const box = card.getBoundingClientRect();
  const here = cards.indexOf(card);
  const beside = { ArrowRight: here + 1, ArrowLeft: here - 1 }[event.key];
  const rows = event.key === "ArrowDown" || event.key === "ArrowUp";
  let next = beside === undefined ? null : cards[beside];
  if (rows) {
    const down = event.key === "ArrowDown";
    const ahead = cards.filter((one) => (down ? one.getBoundingClientRect().top > box.bottom - 2 : one.getBoundingClientRect().bottom < box.top + 2));
    const far = (one) => Math.abs(one.getBoundingClientRect().top - box.top) * 4 + Math.abs(one.getBoundingClientRect().left - box.left);
    next = ahead.sort((a, b) => far(a) - far(b))[0];
  }
  if (next) { next.focus(); event.preventDefault(); }
}
