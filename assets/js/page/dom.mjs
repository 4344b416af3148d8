// Small helpers for writing panels: elements from a line of code, Dash's set_props where Dash is there, and a request with JSON.
import { withMinus } from "../scene/format.mjs";
import { pieces } from "../scene/line_breaks.mjs";

/**
 * The element that a tag names, without its classes: of "canvas.hint" a canvas.
 * @template {string} Tag
 * @typedef {Tag extends `${infer Name}.${string}` ? Made<Name> : Tag extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag] : HTMLElement} Made
 */

/**
 * An element: `h("p.hint", {title: "…"}, "text", child)`. A name that starts with `on` is a listener.
 * @template {string} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} content
 * @returns {Made<Tag>}
 */
export function h(tag, attributes = {}, ...content) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "dataset") Object.assign(element.dataset, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...content.flat(3).filter((part) => part !== null && part !== undefined && part !== false));
  return /** @type {Made<Tag>} */ (element);
}

/**
 * What a canvas is drawn on with.
 * @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D}
 */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** The context of a canvas of this size, empty. @type {(canvas: HTMLCanvasElement, width: number, height: number, dpr: number) => CanvasRenderingContext2D} */
export function prepareContext(canvas, width, height, dpr) {
  const [w, high] = [Math.round(width * dpr), Math.round(height * dpr)];
  if (canvas.width !== w || canvas.height !== high) [canvas.width, canvas.height] = [w, high];
  const context = contextOf(canvas);
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * An element of the page; of a part that is not there yet, and of no test's page, null.
 * @type {(id: string) => HTMLElement}
 */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** Replaces what stands in an element. */
export function fill(element, ...content) {
  if (element) element.replaceChildren(...content.flat(3).filter((part) => part !== null && part !== undefined && part !== false));
}

/**
 * What the page has at a selector; of a part that is not there yet, null.
 * @type {(selector: string, within?: ParentNode) => HTMLElement}
 */
export const first = (selector, within = document) => /** @type {any} */ (within.querySelector(selector));

/**
 * All that the page has at a selector, in its order.
 * @type {(selector: string, within?: ParentNode) => HTMLElement[]}
 */
export const all = (selector, within = document) => [...within.querySelectorAll(selector)].map((one) => /** @type {HTMLElement} */ (one));

export function setProps(id, props) {
  window.dash_clientside.set_props(id, props);
}

/** Mounts a heavy component (see `lazy_parts` in viz/server/components) into its place; true once, when it was not there. */
export function mount(place) {
  const holder = byId(place);
  if (!holder || holder.dataset.mounted) return false;
  holder.dataset.mounted = "yes";
  setProps(place, { children: window.backstepParts[place] });
  return true;
}

/** Resolves when `ready()` first gives something; looked at once a frame, because no event tells that React has mounted. */
export function until(ready, frames = 900) {
  return new Promise((resolve, reject) => {
    const look = (left) => {
      const value = ready();
      if (value) resolve(value);
      else if (left <= 0) reject(new Error("a part of the page did not appear"));
      else requestAnimationFrame(() => look(left - 1));
    };
    look(frames);
  });
}

/** Text with `code`, **bold** and blank lines between paragraphs, as the stories are written; nothing else is markup. */
export function prose(text) {
  return text.trim().split(/\n\s*\n/).map((paragraph) => h("p", {}, ...inline(paragraph.replace(/\s*\n\s*/g, " "))));
}

export function inline(text) {
  // Stars beside a space or within a word are a power or a product: `5e23 ** 2`.
  const marked = /(`[^`]+`|(?<!\w)\*\*(?!\s)[^*]+(?<!\s)\*\*|(?<![\w*])\*(?![*\s])[^*]*(?<!\s)\*(?![\w*]))/;
  return text.split(marked).flatMap((part, k) => {
    if (k % 2 === 0) return part ? unbrokenText(withMinus(part)) : [];
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    return part.startsWith("**") ? h("b", {}, part.slice(2, -2)) : h("em", {}, part.slice(1, -1));
  });
}

/** Text whose numbers and short vectors stay on one line. */
export const unbrokenText = (text) => pieces(text).map((part) => (typeof part === "string" ? part : h("span.whole", {}, part.whole)));

/** Sends data as JSON. @type {(address: string, data: any) => Promise<Response>} */
export const post = (address, data) => fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) });

const LINE = 36; // px: the three lines that Firefox counts for a notch are about what other browsers report in px

/** How far a wheel was turned, in px. @param {Pick<WheelEvent, "deltaX" | "deltaY" | "deltaMode">} event */
export function wheelPixels({ deltaX, deltaY, deltaMode }) {
  const unit = deltaMode === 1 ? LINE : 1;
  return { x: deltaX * unit, y: deltaY * unit };
}
