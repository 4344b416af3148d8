// One program as a moving picture: its scene at any time on two canvases, painted by the painters of the app.
import { cameraBetween, fit } from "../geometry/camera.mjs";
import { layPlane } from "../geometry/plane.mjs";
import { paintGraph } from "../paint/paint.mjs";
import { paintPulses } from "../paint/pulses.mjs";
import { contextOf, h, post } from "../page/dom.mjs";
import { boxOf } from "../scene/card.mjs";
import { toNumber } from "../scene/format.mjs";
import { WHOLE } from "../scene/shared.mjs";
import { prepare, stateAt } from "../scene/state.mjs";
import { currentStep } from "../scene/timeline.mjs";

/** @import { Camera } from "../geometry/camera.mjs" */
/** @import { Phase, Scene, Step } from "../scene/scene.d.ts" */
/** @typedef {{ width: number, height: number, dpr: number }} View */

export class Film {
  /** @param {Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.index = prepare(scene);
    this.plane = layPlane(this.index);
    this.magnitude = largest(scene);
  }

  /**
   * The picture at a time, as the painters take it.
   * @param {number} t
   * @param {{ tokens: any, ruler: any }} look
   * @param {Camera} camera
   * @param {Map<string, any>} [pending] cells that are being changed
   */
  frame(t, { tokens, ruler }, camera, pending = new Map()) {
    const moment = stateAt(this.index, t);
    return { moment, plane: this.plane, ruler, tokens, camera, magnitude: this.magnitude, selection: null, hover: null, lit: null, wires: this.plane.wiring.at(moment, []), hoveredWire: null, pending };
  }

  /**
   * All of the graph; one that has no room at the zoom `least` is shown from its beginning, at the zoom `floor`.
   * @type {(view: View, zoom: { least: number, floor: number }) => Camera}
   */
  cameraOnAll(view, { least, floor }) {
    return fit(this.plane.framed, view, PAD, floor, null, least);
  }

  /** All of the graph if its numbers are read so, else what happens. @type {(t: number, view: View) => Camera} */
  cameraAt(t, view) {
    const step = currentStep(t);
    const [from, to] = [step - 1, step].map((k) => fit(this.plane.framed, view, PAD, WHOLE, middleOf(this.index, this.scene.steps[k]), WHOLE));
    return cameraBetween(from, to, Math.min((t - step) / GLIDE, 1));
  }
}

/** The middle of the cards of a step, if it has any. @type {(index: any, step: Step | undefined) => [number, number] | null} */
function middleOf(index, step) {
  if (!step) return null;
  const ends = step.flows.flatMap(({ edge }) => { const { source, target } = index.edges.get(edge) ?? {}; return [source, target]; });
  const boxes = [step.at, ...ends].flatMap((id) => { const node = index.nodes.get(id); return node ? [boxOf(node)] : []; });
  if (!boxes.length) return null;
  const middle = (low, high) => (Math.min(...boxes.map((box) => box[low])) + Math.max(...boxes.map((box) => box[high]))) / 2;
  return [middle(0, 2), middle(1, 3)];
}

const PAD = { top: 12, right: 12, bottom: 12, left: 12 };
const GLIDE = 0.35; // of a step, in which the camera comes to it

/** Two canvases, one over the other: what stands, and what moves. */
export const sheets = () => [h("canvas"), h("canvas")];

/**
 * @param {HTMLCanvasElement[]} canvases
 * @param {View} view
 * @param {ReturnType<Film["frame"]>} frame
 */
export function paint(canvases, view, frame) {
  canvases.forEach((canvas, k) => {
    const [width, height] = [Math.round(view.width * view.dpr), Math.round(view.height * view.dpr)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    [paintGraph, paintPulses][k](contextOf(canvas), view, frame);
  });
}

/**
 * The largest number among the gradients on the cards: the one that is painted in the full colour.
 * @type {(scene: Scene) => number}
 */
function largest(scene) {
  const rows = scene.nodes.flatMap((node) => node.rows ?? []).filter(({ key }) => key === "grad" || key === "seed");
  const ids = new Set(rows.flatMap(({ track }) => track.map(([, id]) => id)));
  const numbers = [...ids].flatMap((id) => (id === null ? [] : scene.values[id].data ?? [])).map((one) => Math.abs(toNumber(one)));
  return numbers.filter(Number.isFinite).reduce((a, b) => Math.max(a, b), 0);
}

/**
 * The backward calls, in their order.
 * @type {(scene: Scene) => Phase[]}
 */
export const callsOf = (scene) => scene.phases.filter(({ kind }) => kind === "backward");

/**
 * The backward call that runs at a time, or the one that ran last before it.
 * @type {(scene: Scene, t: number) => Phase | undefined}
 */
export const callAt = (scene, t) => callsOf(scene).findLast(({ start }) => start < t);

/**
 * The time that a still picture shows: the error, or the end of the last backward call, else the end.
 * @type {(scene: Scene) => number}
 */
export const stillOf = (scene) => (scene.error ? scene.error.step + 1 : callsOf(scene).at(-1)?.end ?? scene.steps.length);

/**
 * A program's scene, as recorded or with edits; null if nobody answers, or the edits are refused.
 * @type {(program: string, edits?: any) => Promise<Scene | null>}
 */
export async function sceneOf(program, edits = null) {
  const response = edits === null ? fetch(`/scene?program=${encodeURIComponent(program)}`)
    : post("/scene", { program, edits });
  try {
    return (await (await response).json()).scene ?? null;
  } catch {
    return null; // nobody answers, as the page says; another time it is asked again
  }
}
