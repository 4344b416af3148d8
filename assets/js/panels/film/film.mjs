// A stretch of time as a film: the call of a backward pass that one looks at, painted picture by picture as on the stage.
import { gif } from "./gif.mjs";
import { contextOf, h } from "../../page/dom.mjs";

/** @import { Scene } from "../../scene/scene.d.ts" */

const PER_STEP = 0.9; // seconds
const LONGEST = 30; // seconds: steps of a longer stretch go faster
const REST = 1; // seconds at the end
const RATE = { gif: 10, webm: 30 }; // pictures per second
const WIDEST = 960; // px of a GIF, which has no compression between pictures

/**
 * The stretch around a time: its phase.
 * @type {(scene: Scene, t: number) => { start: number, end: number }}
 */
export const stretchOf = (scene, t) => scene.phases.find(({ start, end }) => t >= start && t < end) ?? scene.phases[scene.phases.length - 1];

/**
 * The times of the pictures of a film, the last one repeated for a rest.
 * @type {(stretch: { start: number, end: number }, rate: number) => number[]}
 */
export function timesOf({ start, end }, rate) {
  const pictures = Math.max(2, Math.round(Math.min((end - start) * PER_STEP, LONGEST) * rate));
  const moving = Array.from({ length: pictures }, (_, i) => start + ((end - start) * i) / (pictures - 1));
  return [...moving, ...Array(Math.round(REST * rate)).fill(end)];
}

/**
 * @param {any} player `window.backstep`
 * @param {"gif" | "webm"} kind
 * @param {(part: number) => void} progress
 * @param {{ start: number, end: number }} [stretch] of time: the call that one looks at, unless another one is named
 * @returns {Promise<Blob>}
 */
export async function film(player, kind, progress, stretch = stretchOf(player.scene(), player.t())) {
  const times = timesOf(stretch, RATE[kind]);
  const paint = player.painter();
  const { width, height } = player.view();
  const canvas = h("canvas", { width: Math.round(width), height: Math.round(height) });
  return kind === "gif" ? animation(canvas, paint, times, progress) : video(canvas, paint, times, progress);
}

async function animation(canvas, paint, times, progress) {
  const small = Math.min(1, WIDEST / canvas.width);
  const [width, height] = [canvas.width, canvas.height].map((side) => Math.floor(side * small));
  const target = h("canvas", { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (target.getContext("2d", { willReadFrequently: true }));
  const pictures = [];
  for (const [i, t] of times.entries()) {
    if (i > 0 && t === times[i - 1]) { pictures[pictures.length - 1].hundredths += 100 / RATE.gif; continue; }
    paint(canvas, t);
    context.drawImage(canvas, 0, 0, width, height);
    pictures.push({ pixels: context.getImageData(0, 0, width, height).data, hundredths: 100 / RATE.gif });
    progress(i / times.length);
    await new Promise((done) => { setTimeout(done); }); // the page stays alive
  }
  return new Blob([gif(width, height, pictures)], { type: "image/gif" });
}

/** Written by the browser's own recorder, in real time. */
async function video(canvas, paint, times, progress) {
  if (!window.MediaRecorder) throw new Error("this browser cannot record video; export a GIF instead");
  contextOf(canvas);
  const recorder = new MediaRecorder(canvas.captureStream(RATE.webm), { mimeType: "video/webm" });
  /** @type {Blob[]} */
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((done) => { recorder.onstop = done; });
  const started = new Promise((done) => { recorder.onstart = done; });
  recorder.start();
  paint(canvas, times[0]);
  await started; // pictures from before are lost
  const begun = performance.now();
  for (let i = 0; i < times.length; i = Math.floor(((performance.now() - begun) / 1000) * RATE.webm)) {
    paint(canvas, times[i]);
    progress(i / times.length);
    await new Promise((done) => { requestAnimationFrame(done); });
  }
  recorder.stop();
  await ended;
  return new Blob(parts, { type: "video/webm" });
}
