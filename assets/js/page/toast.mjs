// A short message at the bottom, which screen readers announce too.
import { byId } from "./dom.mjs";

const SEEN = 2600; // ms

export class Toast {
  constructor() {
    this.hiding = 0;
  }

  /**
   * @param {string} text
   * @param {boolean} [stays] until the next message
   */
  say(text, stays = false) {
    const place = byId("toast");
    if (!place) return;
    place.textContent = text;
    place.hidden = false;
    clearTimeout(this.hiding);
    if (!stays) this.hiding = setTimeout(() => { place.hidden = true; }, SEEN);
  }
}
