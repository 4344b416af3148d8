// A short message at the bottom, which also a screen reader says.
import { byId } from "./dom.mjs";

const SEEN = 2600; // ms

export class Toast {
  constructor() {
    this.hiding = 0;
  }

  /** @param {string} text */
  say(text) {
    const place = byId("toast");
    if (!place) return;
    place.textContent = text;
    place.hidden = false;
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => { place.hidden = true; }, SEEN);
  }
}
