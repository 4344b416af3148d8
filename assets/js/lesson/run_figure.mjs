// The figure of the run view on a page without Plotly: painted on a canvas, from the same description (panels/run/figure.mjs).
import { contextOf, fill, h } from "../page/dom.mjs";

const FONT = 12; // px
const AIR = 4; // px between an axis and its names, and a bar and its number

export class RunFigure {
  /** @param {(point: any) => void} hear what was clicked: `{ x, y, customdata, data }` */
  constructor(hear) {
    this.hear = hear;
    this.canvas = h("canvas", { style: "display: block; width: 100%" });
    this.element = h("div", {}, this.canvas);
    /** @type {any} */
    this.figure = null;
    this.canvas.addEventListener("click", (event) => { const point = this.at(event); if (point) this.hear(point); });
    this.canvas.addEventListener("pointermove", (event) => { this.canvas.title = this.at(event)?.text ?? ""; });
    new ResizeObserver(() => this.paint()).observe(this.element);
  }

  set({ figure }) {
    if (!figure) return;
    this.figure = figure;
    this.paint();
  }

  /** @param {HTMLElement} place */
  into(place) {
    fill(place, this.element);
    this.paint();
  }

  /** The px of a point of the axes, and back. */
  axes() {
    const { margin, height, xaxis } = this.figure.layout;
    const wide = this.element.clientWidth - margin.l - margin.r;
    const tall = height - margin.t - margin.b;
    const [x0, x1] = xaxis.range;
    const sideways = (x) => margin.l + (((xaxis.type === "log" ? Math.log10(x) : x) - x0) / (x1 - x0)) * wide;
    const axis = (name) => {
      const { domain, range } = this.figure.layout[name === "y2" ? "yaxis2" : "yaxis"];
      const [low, high] = range ?? this.span(name);
      return { low, high, of: (y) => margin.t + tall * (1 - domain[0] - ((y - low) / (high - low)) * (domain[1] - domain[0])) };
    };
    const y = axis("y");
    const back = (px, py) => ({ column: Math.round(x0 + ((px - margin.l) / wide) * (x1 - x0)), row: Math.round(y.low + (1 - (py - margin.t) / tall) / (this.figure.layout.yaxis.domain[1] || 1) * (y.high - y.low)) });
    return { sideways, axis, back, wide, left: margin.l, bottom: margin.t + tall };
  }

  /** The range of an axis that names none: that of its points, with room around. */
  span(name) {
    const ys = this.figure.data.filter((one) => one.type === "scatter" && (one.yaxis ?? "y") === name).flatMap(({ y }) => y).filter((y) => y !== null);
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const room = (high - low || 1) * 0.08;
    return ys.length ? [low - room, high + room] : [0, 1];
  }

  paint() {
    const { element, canvas, figure } = this;
    if (!figure || !element.clientWidth) return;
    const { layout } = figure;
    const dpr = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: Math.round(element.clientWidth * dpr), height: Math.round(layout.height * dpr) });
    canvas.style.height = `${layout.height}px`;
    const context = contextOf(canvas);
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.clearRect(0, 0, element.clientWidth, layout.height);
    context.font = `${layout.font.size || FONT}px ${layout.font.family}`;
    const axes = this.axes();
    for (const trace of figure.data) PAINTERS[trace.type](context, trace, axes);
    for (const { x0, x1, y0, y1, line, xref } of layout.shapes) {
      const [left, right] = xref === "paper" ? [layout.margin.l, layout.margin.l + axes.wide] : [x0, x1].map(axes.sideways);
      const [top, bottom] = [y0, y1].map(axes.axis("y").of);
      Object.assign(context, { strokeStyle: line.color, lineWidth: line.width });
      context.strokeRect(left, top, right - left, bottom - top);
    }
    this.names(context, axes);
  }

  /** The names below the figure, and the scale of the loss beside it. */
  names(context, { sideways, axis, bottom, wide }) {
    const { xaxis, yaxis2, font, margin } = this.figure.layout;
    context.fillStyle = font.color;
    context.textAlign = "center";
    context.textBaseline = "top";
    const { tickvals = powersOf(xaxis), ticktext = tickvals.map(String) } = xaxis;
    tickvals.forEach((x, k) => context.fillText(ticktext[k].replace(/<\/?b>/g, ""), sideways(x), bottom + AIR));
    if (!yaxis2) return;
    const { low, high, of } = axis("y2");
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const part of [0.1, 0.5, 0.9]) context.fillText((low + part * (high - low)).toPrecision(3), margin.l + wide + AIR, of(low + part * (high - low)));
  }

  /** What stands below the pointer. */
  at({ offsetX, offsetY }) {
    if (!this.figure) return null;
    const { column, row } = this.axes().back(offsetX, offsetY);
    const { data } = this.figure;
    const [flow] = data.filter(({ type }) => type === "bar");
    if (flow) return flow.customdata[row] ? { x: 0, y: row, customdata: flow.customdata[row], data: flow, text: plain(flow.hovertext[row]) } : null;
    const map = data.find(({ type }) => type === "heatmap");
    const loss = data.find(({ type }) => type === "scatter");
    const [trace, text] = row >= 0 ? [map, map?.hovertext?.[row]?.[column]] : [loss, loss?.hovertext?.[column]];
    return text ? { x: column, y: row, data: trace, text: plain(text) } : null;
  }
}

const plain = (text) => text.replaceAll("<br>", "\n").replace(/<\/?b>/g, "");

/** The powers of ten in the range of an axis. */
function powersOf({ range: [from, to], dtick = 1 }) {
  const first = Math.ceil(from);
  return Array.from({ length: Math.max(0, Math.floor((to - first) / dtick) + 1) }, (_, k) => 10 ** (first + k * dtick));
}

/** @type {Record<string, (context: CanvasRenderingContext2D, trace: any, axes: any) => void>} */
const PAINTERS = {
  heatmap(context, { z, zmin, zmax, xgap, ygap, colorscale: [[, low], [, high]] }, { sideways, axis }) {
    const { of } = axis("y");
    z.forEach((row, r) => row.forEach((value, c) => {
      if (value === null) return;
      const [left, top] = [sideways(c - 0.5), of(r - 0.5)];
      for (const [colour, alpha] of [[low, 1], [high, (value - zmin) / (zmax - zmin || 1)]]) {
        Object.assign(context, { fillStyle: colour, globalAlpha: Math.max(0, Math.min(1, alpha)) });
        context.fillRect(left, top, sideways(c + 0.5) - left - xgap, of(r + 0.5) - top - ygap);
      }
    }));
    context.globalAlpha = 1;
  },
  bar(context, { x, y, text, width, marker, textfont }, { sideways, axis, left }) {
    const { of } = axis("y");
    context.textAlign = "left";
    context.textBaseline = "middle";
    y.forEach((row, k) => {
      const top = of(row - width / 2);
      context.fillStyle = marker.color[k];
      context.fillRect(left, top, Math.max(1, sideways(x[k]) - left), of(row + width / 2) - top);
      context.fillStyle = textfont.color;
      context.fillText(text[k], sideways(x[k]) + AIR, of(row));
    });
  },
  scatter(context, { x, y, yaxis = "y", mode, line, marker }, { sideways, axis }) {
    const { of } = axis(yaxis);
    const points = x.map((one, k) => (y[k] === null ? null : [sideways(one), of(y[k])]));
    if (mode.includes("lines")) {
      context.beginPath();
      points.forEach((point, k) => { if (point) context[points[k - 1] ? "lineTo" : "moveTo"](point[0], point[1]); });
      Object.assign(context, { strokeStyle: line.color, lineWidth: line.width });
      context.stroke();
    }
    points.forEach((point, k) => {
      const size = Array.isArray(marker.size) ? marker.size[k] : marker.size;
      if (!point || !size) return;
      context.fillStyle = marker.color;
      context.beginPath();
      if (marker.symbol === "triangle-up") [[0, -1], [1, 1], [-1, 1]].forEach(([dx, dy]) => context.lineTo(point[0] + (dx * size) / 2, point[1] + (dy * size) / 2));
      else context.arc(point[0], point[1], size / 2, 0, 2 * Math.PI);
      context.fill();
    });
  },
};
