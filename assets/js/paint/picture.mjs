// The graph at one moment as a picture for slides and papers, whole or the part in view: the painters of the stage on an SVG instead of a canvas.

import { visibleBox } from "../geometry/camera.mjs";
import { Memo } from "../geometry/memo.mjs";
import { paintGraph } from "./paint.mjs";
import { paintPulses } from "./pulses.mjs";
import { element, escapeXml, unionOf, SvgContext } from "./svg.mjs";

const MARGIN = 24; // around all that is drawn
const ROOM = 480; // around the graph: there the message of an error and the numbers of a step may find a place
const TWICE = 2;
const SLIDE = [16, 9];
const SLIDE_WIDE = 3840; // px of a slide's PNG
const MOST_SIDE = 16384; // px of a canvas, of the browsers that take the least,
const MOST_AREA = 2 ** 26; // and in all: 256 MB of memory

/** @typedef {"whole" | "seen" | "slide"} Part of the graph: all of it, what the camera shows, or all of it in the middle of a slide */

/**
 * An SVG of what a frame shows.
 * @param {any} frame its `view` is needed for what is seen alone
 * @param {{ title: string, description: string }} words
 * @param {Part} [part]
 * @returns {{ text: string, width: number, height: number, density: number }} `density`: px per unit in a PNG
 */
export function pictureOf(frame, { title, description }, part = "whole") {
  const [left, top, right, bottom] = frame.plane.bounds;
  const view = part === "seen" ? { ...frame.view, dpr: 1 } : { width: right - left + 2 * ROOM, height: bottom - top + 2 * ROOM, dpr: 1 };
  const plane = { ...frame.plane, message: new Memo() }; // on the screen it stays where it stands
  const copy = { ...frame, plane, camera: part === "seen" ? frame.camera : { x: (left + right) / 2, y: (top + bottom) / 2, zoom: 1 } };
  const layers = [paintGraph, paintPulses].map((paint) => {
    const context = new SvgContext(frame.ruler);
    paint(context, view, copy);
    return context;
  });
  const box = part === "seen" ? seenBy(frame.camera, view) : frameAround(layers.map((one) => one.bounds).reduce(unionOf), part);
  const { x, y } = box;
  const { width, height } = part === "seen" ? { width: Math.round(view.width), height: Math.round(view.height) } : box;
  const parts = [element("title", {}, escapeXml(title)), element("desc", {}, escapeXml(description)), element("rect", { ...box, fill: frame.tokens.bg }),
    ...layers.map((one) => element("g", {}, `\n${one}\n`))];
  const attributes = { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `${x} ${y} ${box.width} ${box.height}`, role: "img", "xml:space": "preserve" };
  return { text: `${element("svg", attributes, `\n${parts.join("\n")}\n`)}\n`, width, height, density: part === "slide" ? SLIDE_WIDE / width : TWICE };
}

/** What a camera shows, in units of the plane. */
function seenBy(camera, view) {
  const [x, y, right, bottom] = visibleBox(camera, view);
  return { x, y, width: right - x, height: bottom - y };
}

/**
 * What is drawn with a margin; of a slide, with room beside it or above and below.
 * @param {number[]} drawn
 * @param {Part} part
 */
function frameAround([left, top, right, bottom], part) {
  const [wide, high] = [Math.ceil(right + MARGIN) - Math.floor(left - MARGIN), Math.ceil(bottom + MARGIN) - Math.floor(top - MARGIN)];
  if (part === "whole") return { x: Math.floor(left - MARGIN), y: Math.floor(top - MARGIN), width: wide, height: high };
  const unit = Math.ceil(Math.max(wide / SLIDE[0], high / SLIDE[1]));
  const [width, height] = SLIDE.map((side) => side * unit);
  return { x: Math.floor((left + right - width) / 2), y: Math.floor((top + bottom - height) / 2), width, height };
}

/** How many px a unit has in a PNG: as many as are wanted, or as a browser can hold. */
export function scaleOf({ width, height, density = TWICE }) {
  return Math.min(density, MOST_SIDE / width, MOST_SIDE / height, Math.sqrt(MOST_AREA / (width * height)));
}

/** The same picture in px: { blob, scale }. */
export async function pngOf(picture) {
  const scale = scaleOf(picture);
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.floor(picture.width * scale), height: Math.floor(picture.height * scale) });
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([picture.text], { type: "image/svg+xml" }));
  try {
    await image.decode();
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  } finally {
    URL.revokeObjectURL(image.src);
  }
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("it is too large for this browser; export an SVG instead");
  return { blob, scale, isWhole: scale === (picture.density ?? TWICE) };
}
