// The minimap: the whole graph in small, the part in view as a frame; a click or a drag moves the camera there.

import { hasMap, isNearlyWhole, MAP } from "../geometry/overlays.mjs";
import { visibleBox } from "../geometry/camera.mjs";
import { boxOf } from "../scene/card.mjs";
import { cornerFor } from "./follow.mjs";
import { contextOf, h } from "../page/dom.mjs";
import { isFaint, nodeState } from "../scene/state.mjs";

const { width: W, height: H } = MAP;
const INSET = 10;
const THICK = 30; // a long ribbon is drawn at least so thick, or it would be a hairline

/** What happens now, between which nodes, what is selected, and the message of an error: boxes. */
function lookedAt({ moment, selection, callout }) {
  const ends = (moment.step?.flows ?? []).map((flow) => moment.index.edges.get(flow.edge)).filter(Boolean);
  const nodes = [...new Set([moment.active, selection, ...ends.flatMap((edge) => [edge.source, edge.target])])].map((id) => moment.index.nodes.get(id));
  return [...nodes.filter(Boolean).map(boxOf), ...(callout ? [callout] : [])];
}

export class Minimap {
  /** @param {(x: number, y: number) => void} moveTo */
  constructor(moveTo) {
    /** @type {{ sx: number, sy: number, x: number, y: number } | null} from the plane to the canvas; null before it was painted */
    this.transform = null;
    this.canvas = h("canvas", { width: W, height: H, "aria-hidden": "true" });
    this.element = h("div.bs-minimap", { title: "The whole graph: click or drag to go there", hidden: true }, this.canvas); // until a frame shows that there is more to see
    this.element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.element.setPointerCapture(event.pointerId);
      this.moveTo(event, moveTo);
    });
    this.element.addEventListener("pointermove", (event) => event.buttons & 1 && this.moveTo(event, moveTo));
  }

  get corner() {
    return this.element.dataset.corner ?? null;
  }

  /** Into a corner; null: whichever is best, once one sees what is there. */
  stand(corner) {
    if (corner) this.element.dataset.corner = corner;
    else delete this.element.dataset.corner;
  }

  /** Out of the way: gone where nearly all is in view or the view is small, else in the same corner unless what one looks at is there. */
  settle(frame, view) {
    const { camera, plane } = frame;
    this.element.hidden = isNearlyWhole(plane, camera, view) || !hasMap(view);
    if (!this.element.hidden) this.stand(cornerFor(camera, view, plane, lookedAt(frame), this.corner));
  }

  moveTo(event, moveTo) {
    if (!this.transform) return;
    const box = this.canvas.getBoundingClientRect();
    const { sx, sy, x, y } = this.transform;
    const large = box.width / W;
    moveTo(((event.clientX - box.left) / large - x) / sx, ((event.clientY - box.top) / large - y) / sy);
  }

  paint(frame, view) {
    if (this.element.hidden) return;
    const context = contextOf(this.canvas);
    const { bounds } = frame.plane;
    if (this.canvas.width !== W * view.dpr) [this.canvas.width, this.canvas.height] = [W * view.dpr, H * view.dpr];
    const [wide, high] = [(W - 2 * INSET) / (bounds[2] - bounds[0] || 1), (H - 2 * INSET) / (bounds[3] - bounds[1] || 1)];
    const even = Math.min(wide, high);
    const thickness = (size) => Math.max(even, THICK / (size || 1));
    const [sx, sy] = [Math.min(wide, thickness(bounds[2] - bounds[0])), Math.min(high, thickness(bounds[3] - bounds[1]))];
    const x = W / 2 - ((bounds[0] + bounds[2]) / 2) * sx;
    const y = H / 2 - ((bounds[1] + bounds[3]) / 2) * sy;
    this.transform = { sx, sy, x, y };
    context.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
    context.clearRect(0, 0, W, H);
    this.paintNodes(context, frame, this.transform);
    const [x0, y0, x1, y1] = visibleBox(frame.camera, view);
    const [left, top] = [Math.max(x0 * sx + x, 1.5), Math.max(y0 * sy + y, 1.5)];
    const [right, bottom] = [Math.min(x1 * sx + x, W - 1.5), Math.min(y1 * sy + y, H - 1.5)];
    context.strokeStyle = frame.tokens.soft;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(left, top, Math.max(right - left, 4), Math.max(bottom - top, 4), 4);
    context.stroke();
  }

  paintNodes(context, { moment, tokens }, { sx, sy, x, y }) {
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
