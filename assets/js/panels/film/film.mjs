// A stretch of time as a film: the current backward call, painted frame by frame as on the stage.
import { gif } from "./gif.mjs";
import { webm } from "./webm.mjs";
import { h } from "../../page/dom.mjs";

/** @import { Scene } from "../../scene/scene.d.ts" */

const PER_STEP = 0.9; // seconds
const LONGEST = 30; // seconds: steps of a longer stretch go faster
const REST = 1; // seconds at the end
const RATE = { gif: 10, webm: 30 }; // pictures per second
const WIDEST = 960; // px of a GIF, which has no compression between pictures
const CODECS = /** @type {const} */ ([["V_VP9", "vp09.00.61.08"], ["V_VP8", "vp8"]]); // as WebM and WebCodecs name them
const KEYS = 30; // pictures from one that can be sought to the next
const AHEAD = 4; // pictures that wait for the encoder
const BITS = 0.1; // per pixel

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

/** Encoded picture by picture, each with its own time: a busy machine takes longer, and loses none. */
async function video(canvas, paint, times, progress) {
  const { width, height } = canvas;
  const { id, config } = await encoding(width, height);
  /** @type {import("./webm.mjs").Encoded[]} */
  const encoded = [];
  /** @type {Error | null} */
  let problem = null;
  const encoder = new VideoEncoder({
    output(chunk) {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      encoded.push({ time: Math.round(chunk.timestamp / 1000), isKey: chunk.type === "key", data });
    },
    error(reason) { problem = reason; },
  });
  encoder.configure(config);
  for (const [i, t] of times.entries()) {
    if (t !== times[i - 1]) paint(canvas, t);
    const picture = new VideoFrame(canvas, { timestamp: (i * 1e6) / RATE.webm, duration: 1e6 / RATE.webm, alpha: "discard" });
    encoder.encode(picture, { keyFrame: i % KEYS === 0 });
    picture.close();
    progress(i / times.length);
    do await new Promise((done) => { setTimeout(done); }); while (encoder.encodeQueueSize > AHEAD); // the page stays alive
    if (problem) throw problem;
  }
  await encoder.flush();
  encoder.close();
  return new Blob(webm(id, width, height, (times.length * 1000) / RATE.webm, encoded), { type: "video/webm" });
}

/** The first of the codecs that this browser can encode. @returns {Promise<{ id: "V_VP9" | "V_VP8", config: VideoEncoderConfig }>} */
async function encoding(width, height) {
  for (const [id, codec] of window.VideoEncoder ? CODECS : []) {
    const config = { codec, width, height, framerate: RATE.webm, bitrate: BITS * width * height * RATE.webm, latencyMode: /** @type {const} */ ("quality") };
    if ((await VideoEncoder.isConfigSupported(config)).supported) return { id, config };
  }
  throw new Error(window.isSecureContext ? "this browser cannot encode video; export a GIF instead" : "browsers encode video only on pages from https://, 127.0.0.1 or a file; export a GIF instead");
}
