// The minimap: the whole graph in small, the part in view as a frame; a click or a drag moves the camera there.

import { toWorld, visibleBox } from "./camera.mjs";
import { boxOf, shared } from "./card.mjs";
import { h } from "./panels/dom.mjs";
import { isFaint, nodeState } from "./state.mjs";

const W = 148;
const H = 104;
const INSET = 10;
const EDGE = 12; // from the border of the stage
const LEGEND = 56; // height that the legend takes below
const CORNERS = {
  "low-right": (view) => [view.width - EDGE - W, view.height - EDGE - H],
  "top-left": () => [EDGE, EDGE],
  "low-left": (view) => [EDGE, view.height - LEGEND - H],
  "top-right": (view) => [view.width - EDGE - W, EDGE + 52],
};
const LOOKED = 20; // times worse than any other node is to cover one that one looks at
const LEAST = 3; // of a view that is smaller than so many minimaps, it would cover too much
const THICK = 30; // a long ribbon is drawn at least so thick, or it would be a hairline

/** What happens now, between which nodes, and what is selected. */
function lookedAt({ moment, selection }) {
  const ends = (moment.step?.flows ?? []).map((flow) => moment.index.edges.get(flow.edge)).filter(Boolean);
  return new Set([moment.active, selection, ...ends.flatMap((edge) => [edge.source, edge.target])]);
}

export class Minimap {
  constructor(moveTo) {
    this.canvas = h("canvas", { width: W, height: H, "aria-hidden": "true" });
    this.element = h("div.bs-minimap", { title: "The whole graph: click or drag to go there" }, this.canvas);
    this.element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.element.setPointerCapture(event.pointerId);
      this.moveTo(event, moveTo);
    });
    this.element.addEventListener("pointermove", (event) => event.buttons & 1 && this.moveTo(event, moveTo));
  }

  /** Out of the way: gone where all is in view or the view is small, else in the corner in which it covers nothing, or least, and last what one looks at. */
  settle(frame, view) {
    const { camera, plane, callout } = frame;
    const seen = visibleBox(camera, view, 12 / camera.zoom);
    const { bounds } = plane;
    const whole = bounds[0] >= seen[0] && bounds[1] >= seen[1] && bounds[2] <= seen[2] && bounds[3] <= seen[3];
    this.element.hidden = whole || view.width < LEAST * W || view.height < LEAST * H;
    if (this.element.hidden) return;
    const looked = lookedAt(frame);
    const costs = Object.entries(CORNERS).map(([name, place]) => {
      const [x, y] = place(view);
      const box = [...toWorld(camera, view, x, y), ...toWorld(camera, view, x + W, y + H)];
      const covered = plane.nodes.within(box).reduce((sum, node) => sum + shared(box, boxOf(node)) * (looked.has(node.id) ? LOOKED : 1), 0);
      const cost = covered + (callout ? shared(box, callout) * LOOKED : 0);
      return { name, cost: name === this.element.dataset.corner ? cost / 2 : cost }; // it does not move for little
    });
    this.element.dataset.corner = costs.reduce((best, one) => (one.cost < best.cost ? one : best)).name;
  }

  moveTo(event, moveTo) {
    if (!this.transform) return;
    const box = this.canvas.getBoundingClientRect();
    const { sx, sy, x, y } = this.transform;
    moveTo((event.clientX - box.left - x) / sx, (event.clientY - box.top - y) / sy);
  }

  paint(frame, view) {
    if (this.element.hidden) return;
    const context = this.canvas.getContext("2d");
    const { bounds } = frame.plane;
    if (this.canvas.width !== W * view.dpr) [this.canvas.width, this.canvas.height] = [W * view.dpr, H * view.dpr];
    const [wide, high] = [(W - 2 * INSET) / (bounds[2] - bounds[0] || 1), (H - 2 * INSET) / (bounds[3] - bounds[1] || 1)];
    const even = Math.min(wide, high);
    const thick = (size) => Math.max(even, THICK / (size || 1));
    const [sx, sy] = [Math.min(wide, thick(bounds[2] - bounds[0])), Math.min(high, thick(bounds[3] - bounds[1]))];
    const x = W / 2 - ((bounds[0] + bounds[2]) / 2) * sx;
    const y = H / 2 - ((bounds[1] + bounds[3]) / 2) * sy;
    this.transform = { sx, sy, x, y };
    context.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
    context.clearRect(0, 0, W, H);
    this.paintNodes(context, frame);
    const [x0, y0, x1, y1] = visibleBox(frame.camera, view);
    const [left, top] = [Math.max(x0 * sx + x, 1.5), Math.max(y0 * sy + y, 1.5)];
    const [right, bottom] = [Math.min(x1 * sx + x, W - 1.5), Math.min(y1 * sy + y, H - 1.5)];
    context.strokeStyle = frame.tokens.soft;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(left, top, Math.max(right - left, 4), Math.max(bottom - top, 4), 4);
    context.stroke();
  }

  paintNodes(context, { moment, tokens }) {
    const { sx, sy, x, y } = this.transform;
    for (const node of moment.scene.nodes) {
      const state = nodeState(moment, node);
      const active = node.id === moment.active;
      context.globalAlpha = active ? 1 : state === "future" || isFaint(moment, node) ? 0.3 : 0.8;
      const now = moment.backward ? tokens.gradient : moment.step?.kind === "write" ? tokens.ink : tokens.forward;
      context.fillStyle = state === "error" ? tokens.error : active ? now
        : node.role === "leaf" ? tokens.leaf : node.role === "root" ? tokens.root : tokens.saved;
      const [w, high] = [Math.max(node.w * sx, active ? 4 : 1.5), Math.max(node.h * sy, active ? 4 : 1.5)];
      context.fillRect(node.x * sx + x - w / 2, node.y * sy + y - high / 2, w, high);
    }
    context.globalAlpha = 1;
  }
}
