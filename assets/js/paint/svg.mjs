// A canvas context that writes SVG: as much of CanvasRenderingContext2D as the painters of the graph use, so that there is
// one way of painting.  Pure, but for the widths of text, which it asks a ruler for.

import { flatten } from "../geometry/curve.mjs";

const FONT = /^(?:(\d+) )?([\d.]+)px (.+)$/;
const ANCHORS = { left: ["start", 0], center: ["middle", 0.5], right: ["end", 1] };
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" };
const UNFIT = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu; // control signs and halves of a pair: XML has none

export const escapeXml = (text) => String(text).replace(UNFIT, "\uFFFD").replace(/[&<>"]/g, (sign) => ENTITIES[sign]);

/** An element: what is undefined, or as SVG has it anyway, is left out. */
export function element(name, attributes, content = "") {
  const pairs = Object.entries(attributes).filter(([key, value]) => value !== undefined && value !== USUAL[key]);
  return `<${name}${pairs.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join("")}${content ? `>${content}</${name}>` : "/>"}`;
}

const USUAL = { "fill-opacity": 1, "stroke-opacity": 1, "stroke-width": 1, "stroke-linejoin": "miter", "stroke-linecap": "butt", "text-anchor": "start" };
const short = (number) => Number(number.toFixed(2));
const points = (...numbers) => numbers.map(short).join(" ");

export class SvgContext {
  /** @param {import("../geometry/text.mjs").Ruler} ruler */
  constructor(ruler) {
    this.ruler = ruler;
    this.canvas = { width: 0, height: 0 };
    this.fillStyle = "";
    this.strokeStyle = "";
    this.lineWidth = 1;
    this.lineJoin = "miter";
    this.lineCap = "butt";
    this.globalAlpha = 1;
    this.font = "";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    /** @type {number[]} */
    this.dashes = [];
    /** @type {{ name: string, attributes: Record<string, any>, content?: string }[]} */
    this.parts = [];
    /** @type {string[]} */
    this.path = [];
    this.bounds = nowhere();
    this.reached = nowhere();
    /** @type {number[] | undefined} where the pen is */
    this.here = undefined;
    this.clearRect();
  }

  /** What is written stays in units of the plane: the picture's viewBox is its camera. */
  setTransform() {}

  /** All of it, which is what the painters clear. */
  clearRect() {
    this.parts = [];
    this.bounds = nowhere();
    this.beginPath();
  }

  beginPath() {
    this.path = [];
    this.reached = nowhere();
  }

  moveTo(x, y) {
    this.path.push(`M${points(x, y)}`);
    this.reach(x, y);
  }

  lineTo(x, y) {
    this.path.push(`${this.path.length ? "L" : "M"}${points(x, y)}`);
    this.reach(x, y);
  }

  bezierCurveTo(...b) {
    const { xs, ys } = flatten([[...this.here ?? [], ...b]]);
    this.path.push(`C${points(...b)}`);
    xs.forEach((x, i) => this.reach(x, ys[i]));
  }

  /** Clockwise; in two halves, because SVG has no arc of a whole circle. */
  arc(x, y, radius, from, to) {
    const at = (angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    this.lineTo(...at(from));
    for (const angle of [(from + to) / 2, to]) this.path.push(arcTo(radius, ...at(angle)));
    this.reach(x - radius, y - radius);
    this.reach(x + radius, y + radius);
  }

  /** Corners that have no room are made smaller, all of them alike, as on a canvas. */
  roundRect(x, y, w, h, radii) {
    const corners = Array.isArray(radii) ? radii : Array(4).fill(radii);
    const pairs = corners.map((one, i) => (i % 2 ? h : w) / Math.max(one + corners[(i + 1) % 4], 1e-9));
    const [a, b, c, d] = corners.map((one) => one * Math.min(1, ...pairs));
    this.path.push(`M${points(x + a, y)}H${short(x + w - b)}${arcTo(b, x + w, y + b)}V${short(y + h - c)}${arcTo(c, x + w - c, y + h)}`,
      `H${short(x + d)}${arcTo(d, x, y + h - d)}V${short(y + a)}${arcTo(a, x + a, y)}Z`);
    this.reach(x, y);
    this.reach(x + w, y + h);
  }

  closePath() {
    this.path.push("Z");
  }

  setLineDash(dashes) {
    this.dashes = dashes;
  }

  fill() {
    this.put("path", { d: this.path.join(""), ...this.filling() }, this.reached);
  }

  /** The outline of what was filled just now belongs to it: one shape on the screen is one in the file. */
  stroke() {
    const d = this.path.join("");
    const last = this.parts.at(-1);
    const shape = last?.attributes.d === d && last.attributes.stroke === undefined ? last : this.put("path", { d, fill: "none" }, this.reached);
    const [colour, alpha] = solid(this.strokeStyle);
    Object.assign(shape.attributes, { stroke: colour, "stroke-opacity": short(alpha * this.globalAlpha), "stroke-width": short(this.lineWidth),
      "stroke-linejoin": this.lineJoin, "stroke-linecap": this.lineCap, "stroke-dasharray": this.dashes.length ? this.dashes.join(" ") : undefined });
    this.cover(this.reached, this.lineWidth / 2);
  }

  fillRect(x, y, w, h) {
    this.put("rect", { x: short(x), y: short(y), width: short(w), height: short(h), ...this.filling() }, [x, y, x + w, y + h]);
  }

  strokeRect(x, y, w, h) {
    this.beginPath();
    this.path.push(`M${points(x, y)}H${short(x + w)}V${short(y + h)}H${short(x)}Z`);
    this.reach(x, y);
    this.reach(x + w, y + h);
    this.stroke();
  }

  /** Text stays text. */
  fillText(text, x, y) {
    const [, weight, px, family] = FONT.exec(this.font) ?? [];
    const size = Number(px);
    const width = this.ruler.widthOf(this.font, text);
    const [anchor, part] = ANCHORS[this.textAlign];
    this.put("text", { x: short(x), y: short(y), "font-family": family, "font-size": px, "font-weight": weight, "text-anchor": anchor,
      ...this.filling() }, [x - part * width, y - size, x + (1 - part) * width, y + size * 0.3], escapeXml(text));
  }

  toString() {
    return this.parts.map(({ name, attributes, content }) => element(name, attributes, content)).join("\n");
  }

  filling() {
    const [colour, alpha] = solid(this.fillStyle);
    return { fill: colour, "fill-opacity": short(alpha * this.globalAlpha) };
  }

  put(name, attributes, box, content) {
    const part = { name, attributes, content };
    this.parts.push(part);
    this.cover(box, 0);
    return part;
  }

  reach(x, y) {
    this.here = [x, y];
    this.reached = unionOf(this.reached, [x, y, x, y]);
  }

  /**
   * @param {number[]} box
   * @param {number} around
   */
  cover([x0, y0, x1, y1], around) {
    this.bounds = unionOf(this.bounds, [x0 - around, y0 - around, x1 + around, y1 + around]);
  }
}

const nowhere = () => [Infinity, Infinity, -Infinity, -Infinity];

/** The box around two boxes. */
export function unionOf(a, b) {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}

function arcTo(radius, x, y) {
  return `A${points(radius, radius)} 0 0 1 ${points(x, y)}`;
}

/** A colour and its opacity, apart: to many programs that read SVG a colour that has both is black. */
function solid(colour) {
  const [, kind, rest, alpha] = /^(rgb)a(\(.+), *([\d.]+)\)$/.exec(colour) ?? [];
  return kind ? [`${kind}${rest})`, Number(alpha)] : [colour, 1];
}
