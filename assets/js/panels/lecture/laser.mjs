// A presenter's pointers: a laser's dot, a spotlight that dims the rest, and a dark screen.
import { h } from "../../page/dom.mjs";

export class PresenterPointer {
  constructor() {
    this.element = h("div.pointing", { "aria-hidden": "true" });
    this.black = false;
    window.addEventListener("pointermove", (event) => {
      this.element.style.setProperty("--x", `${event.clientX}px`);
      this.element.style.setProperty("--y", `${event.clientY}px`);
    });
  }

  /** @param {"laser" | "spot" | "black"} name */
  toggle(name) {
    const on = this.element.dataset.shows === name ? "" : name;
    this.element.dataset.shows = on;
    this.black = on === "black";
  }

  /** Removes the pointer from the screen; returns whether there was one. */
  clear() {
    const wasOn = Boolean(this.element.dataset.shows);
    this.element.dataset.shows = "";
    this.black = false;
    return wasOn;
  }
}
