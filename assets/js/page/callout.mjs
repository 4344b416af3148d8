// A box of text beside an element of the page, for the explanations of the panels and the tour.
import { fill, h } from "./dom.mjs";

const AWAY = 12;
const EDGE = 12;

/** Where a box {width, height} goes beside a place: right, left, below, above, else in its lower corner; inside the window. */
export function placeBeside(place, box, room) {
  const clampInside = (low, size, most) => Math.max(EDGE, Math.min(low, most - size - EDGE));
  const down = clampInside(place.top, box.height, room.height);
  const across = clampInside(place.left, box.width, room.width);
  if (place.right + AWAY + box.width + EDGE <= room.width) return { x: place.right + AWAY, y: down };
  if (place.left - AWAY - box.width >= EDGE) return { x: place.left - AWAY - box.width, y: down };
  if (place.bottom + AWAY + box.height + EDGE <= room.height) return { x: across, y: place.bottom + AWAY };
  if (place.top - AWAY - box.height >= EDGE) return { x: across, y: place.top - AWAY - box.height };
  return { x: clampInside(place.right - box.width - EDGE, box.width, room.width), y: clampInside(place.bottom - box.height - EDGE, box.height, room.height) };
}

export class Callout {
  /**
   * @param {string} name a class of the style sheets
   * @param {{ onClose: () => void, onKey?: (key: string, target: any) => boolean }} acts `onClose` is called when it was left by Escape or its
   *   button; `onKey` may take a key, then it returns true
   */
  constructor(name, { onClose, onKey = () => false }) {
    this.element = h(`section.callout.${name}`, { role: "dialog", tabindex: "-1", hidden: true });
    this.element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") onClose();
      else if (!onKey(event.key, event.target)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    /** @type {HTMLElement | null} what had the focus before */
    this.before = null;
    this.place = () => this.anchor?.isConnected && this.put();
    document.body.append(this.element);
  }

  get open() {
    return !this.element.hidden;
  }

  show(anchor, label, ...content) {
    if (!this.open) this.before = /** @type {HTMLElement | null} */ (document.activeElement);
    this.anchor = anchor;
    fill(this.element, content);
    this.element.setAttribute("aria-label", label);
    this.element.hidden = false;
    this.put();
    this.element.focus({ preventScroll: true });
    window.addEventListener("resize", this.place);
  }

  put() {
    const { width, height } = this.element.getBoundingClientRect();
    const { x, y } = placeBeside(this.anchor.getBoundingClientRect(), { width, height }, { width: innerWidth, height: innerHeight });
    Object.assign(this.element.style, { left: `${Math.round(x)}px`, top: `${Math.round(y)}px` });
  }

  /** Gone; the focus is where it was before. */
  hide() {
    if (!this.open) return;
    const hasFocus = this.element.contains(document.activeElement);
    this.element.hidden = true;
    window.removeEventListener("resize", this.place);
    if (hasFocus && this.before?.isConnected) this.before.focus({ preventScroll: true });
    this.before = null;
  }
}
