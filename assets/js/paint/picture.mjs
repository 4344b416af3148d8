// The whole graph at one moment as a picture for slides and papers: the painters of the stage on an SVG instead of a canvas.

import { Latest } from "../geometry/latest.mjs";
import { paintGraph } from "./paint.mjs";
import { paintPulses } from "./pulses.mjs";
import { element, escaped, joined, SvgContext } from "./svg.mjs";

const MARGIN = 24; // around all that is drawn
const ROOM = 480; // around the graph: there the message of an error and the numbers of a step may find a place
const TWICE = 2;
const MOST_SIDE = 16384; // px of a canvas, of the browsers that take the least,
const MOST_AREA = 2 ** 26; // and in all: 256 MB of memory

/**
 * An SVG of what a frame shows, wherever its camera is.
 * @param {object} frame
 * @param {{ title: string, said: string }} words
 * @returns {{ text: string, width: number, height: number }}
 */
export function pictureOf(frame, { title, said }) {
  const [left, top, right, bottom] = frame.plane.bounds;
  const view = { width: right - left + 2 * ROOM, height: bottom - top + 2 * ROOM, dpr: 1 };
  const plane = { ...frame.plane, message: new Latest() }; // on the screen it stays where it stands
  const whole = { ...frame, plane, camera: { x: (left + right) / 2, y: (top + bottom) / 2, zoom: 1 } };
  const layers = [paintGraph, paintPulses].map((paint) => {
    const context = new SvgContext(frame.ruler);
    paint(context, view, whole);
    return context;
  });
  const drawn = layers.map((one) => one.bounds).reduce(joined);
  const [x, y] = [Math.floor(drawn[0] - MARGIN), Math.floor(drawn[1] - MARGIN)];
  const [width, height] = [Math.ceil(drawn[2] + MARGIN) - x, Math.ceil(drawn[3] + MARGIN) - y];
  const parts = [element("title", {}, escaped(title)), element("desc", {}, escaped(said)), element("rect", { x, y, width, height, fill: frame.tokens.bg }),
    ...layers.map((one) => element("g", {}, `\n${one}\n`))];
  const attributes = { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `${x} ${y} ${width} ${height}`, role: "img", "xml:space": "preserve" };
  return { text: `${element("svg", attributes, `\n${parts.join("\n")}\n`)}\n`, width, height };
}

/** How many px a unit has in a PNG: two, or as many as a browser can hold. */
export function scaleOf({ width, height }) {
  return Math.min(TWICE, MOST_SIDE / width, MOST_SIDE / height, Math.sqrt(MOST_AREA / (width * height)));
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
  return { blob, scale, isWhole: scale === TWICE };
}
