// The stage: two canvases, their size, the camera, and the frames that repaint what has changed.

import { allOver, barsOfWhole, isLegendHigh, isLegendOnTop, isUncovered } from "../geometry/overlays.mjs";
import { boxesOf, boxOf, cellOf, rowsOf, shownAs } from "../scene/card.mjs";
import { centreAcross, cameraBetween, fit, keep, pan, READABLE, toScreen, visibleBox, zoomAt } from "../geometry/camera.mjs";
import { follow, overview, PADDING, subjectsOf, WEIGHT } from "./follow.mjs";
import { Minimap } from "./minimap.mjs";
import { paintGraph } from "../paint/paint.mjs";
import { contextOf, h } from "../page/dom.mjs";
import { pictureOf } from "../paint/picture.mjs";
import { layPlane } from "../geometry/plane.mjs";
import { paintPulses } from "../paint/pulses.mjs";
import { Scale } from "./scale.mjs";
import { nodeState, placeAt, stateAt } from "../scene/state.mjs";
import { fontsAt, Ruler } from "../geometry/text.mjs";
import { readTokens, watchTheme } from "../paint/theme.mjs";

/** @import { Box, Node, Num, Point } from "../scene/scene.d.ts" */
/** @import { Index, Moment } from "../scene/state.mjs" */
/** @import { Camera } from "../geometry/camera.mjs" */
/** @import { Plane } from "../geometry/plane.mjs" */
/** @import { ShownWire } from "../geometry/wiring.mjs" */
/** @import { NodePicker } from "./node_picker.mjs" */

const GLIDE = 320; // ms of a camera move
const BESIDE = 24; // px between a panel and what came out from under it
const JUST_AFTER = 0.001; // after the start of a step: its sentence is shown, and nothing has moved
const LABEL = "Graph. Tab goes through the nodes, the arrows through time, slash searches, question mark lists the keys.";

export class Stage {
  /** @type {Camera} */
  camera = { x: 0, y: 0, zoom: 1 };
  view = { width: 0, height: 0, dpr: 1, bare: false };
  isLegendHigh = false; // whether it has made room for a card or an edge, in a graph that is seen in part
  large = 1; // px of the page per px of the view: a hall sees all of it larger
  bare = false; // whether nothing lies over the graph
  /** @type {number | undefined} px of the page's right that a panel takes; undefined before the first look */
  beside = undefined;
  /** @type {Index} none before the first scene, as `plane` and the moment */
  index = /** @type {any} */ (null);
  /** @type {Plane} */
  plane = /** @type {any} */ (null);
  /** @type {Moment | null} */
  moment = null;
  t = 0;
  /** @type {string | null} an id, as `hover` */
  selection = null;
  /** @type {string | null} */
  hover = null;
  /** @type {ShownWire | null} */
  hoveredWire = null;
  /** @type {{ id: string, gradient: boolean } | null} what a term of a formula stands for */
  lit = null;
  /** @type {NodePicker | null} where a node is being chosen */
  picker = null;
  allWires = false;
  follow = true;
  fitted = false; // whether the camera shows all that it can of the graph
  /** @type {Camera | null} where following has brought it last */
  brought = null;
  /** @type {Camera | null} where a graph that was seen whole has made room for a panel */
  aside = null;
  /** @type {{ ids: string[], weight: number }} what the chapter of a lecture speaks of */
  spoken = { ids: [], weight: 0 };
  editing = false; // whether a cell is
  /** @type {Map<string, Num>} what was typed into cells and is not yet in a revision */
  pending = new Map();
  /** @type {Node[]} */
  visible = [];
  /** @type {ShownWire[]} */
  wires = [];
  /** @type {Box | undefined} of an error's message */
  callout = undefined;
  /** @type {{ from: Camera, to: Camera, start: number, fitted: boolean } | null} a camera move under way */
  glide = null;
  /** @type {Set<string>} what the next frame paints */
  dirty = new Set();
  isDue = false; // whether a frame was asked for
  /** @type {string | null} what the lower canvas shows */
  painted = null;
  /** @type {HTMLElement | null} */
  tip = null;
  /** @type {((tokens: Record<string, any>) => void) | null} */
  onTheme = null;
  /** @type {((id: string | null) => void) | null} */
  onHover = null;

  /**
   * @param {HTMLElement} host
   * @param {{ onPaint: () => void, onMove: () => void }} hooks `onPaint` is called after every frame that painted something, `onMove` when the camera
   *   or the scene has changed
   */
  constructor(host, hooks) {
    this.host = host;
    this.hooks = hooks;
    this.graph = h("canvas.bs-canvas", { "aria-hidden": "true" });
    this.pulses = h("canvas.bs-canvas.bs-pulses", { "aria-hidden": "true" });
    this.layer = h("div.bs-layer");
    this.scale = new Scale();
    this.layer.append(this.scale.crumb);
    this.minimap = new Minimap((x, y) => this.look({ ...this.camera, x, y }));
    host.classList.add("bs-stage");
    host.setAttribute("role", "application");
    host.setAttribute("aria-label", LABEL);
    host.tabIndex = 0;
    host.append(this.graph, this.pulses, this.layer, this.minimap.element);
    this.tokens = readTokens();
    this.ruler = new Ruler(contextOf(this.graph));
    this.paint = this.paint.bind(this);
    watchTheme(() => {
      this.tokens = readTokens();
      this.touch("graph");
      this.onTheme?.(this.tokens);
    });
    new ResizeObserver(() => this.resize()).observe(host);
    this.watchDensity();
    this.resize();
  }

  /** Moving the window to a screen of another density changes devicePixelRatio without a resize. */
  watchDensity() {
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => {
      this.resize();
      this.watchDensity();
    }, { once: true });
  }

  resize() {
    const box = this.host.getBoundingClientRect();
    const [width, height] = [box.width / this.large, box.height / this.large];
    const dpr = (window.devicePixelRatio || 1) * this.large;
    const { bare } = this;
    if (width === this.view.width && height === this.view.height && dpr === this.view.dpr && bare === this.view.bare) return;
    const first = this.view.width < 2 && width >= 2;
    const beside = parseFloat(getComputedStyle(this.host).right) || 0;
    const shift = !first && beside !== this.beside ? this.view.width - width : 0; // a panel came or went: what one looked at stays
    this.beside = beside;
    this.view = { width, height, dpr, bare };
    for (const canvas of [this.graph, this.pulses]) this.size(canvas, Math.round(width * dpr), Math.round(height * dpr));
    const fitted = this.fits;
    if (first && this.plane) this.fit(false);
    else if (shift > 0 || (shift && !fitted)) this.hold(shift / 2);
    else if (fitted && this.plane) this.fit(false);
    else if ((bare || this.isBrought) && this.follow && this.plane) this.followActive(); // a longer caption or another lane leaves the graph less room
    this.touch("graph");
    if (this.view.width) this.paint(); // in the same task, so that a resized canvas is never seen empty
  }

  /** A canvas of so many px of the screen.  It is not enlarged with the stage, because that would blur every letter. */
  size(canvas, width, height) {
    Object.assign(canvas, { width, height });
    const ownPixels = (px) => (this.large === 1 ? "" : `${px / window.devicePixelRatio}px`);
    Object.assign(canvas.style, { width: ownPixels(width), height: ownPixels(height), transform: this.large === 1 ? "" : `scale(${1 / this.large})` });
  }

  /** Shows all of the stage, its text too, so many times as large: a smaller view of the same place in the page; `bare`: with nothing over it. */
  enlarge(large, bare) {
    if (large === this.large && bare === this.bare) return;
    Object.assign(this, { large, bare });
    const size = `${100 / large}%`;
    Object.assign(this.host.style, large === 1 ? { width: "", height: "", transform: "" } : { width: size, height: size, transform: `scale(${large})` });
    this.resize();
    this.fit(false);
  }

  /**
   * A point of the page in px of the view.
   * @type {(clientX: number, clientY: number) => Point}
   */
  localPoint(clientX, clientY) {
    const { left, top } = this.host.getBoundingClientRect();
    return [(clientX - left) / this.large, (clientY - top) / this.large];
  }

  /** The size of the smallest text of the graph, in px of the page. */
  leastText() {
    const sizes = Object.values(fontsAt(this.tokens, this.camera)).map((font) => parseFloat(/([\d.]+)px/.exec(String(font))?.[1] ?? "Infinity"));
    return Math.min(...sizes) * this.camera.zoom * this.large;
  }

  /** Whether the camera is where following has brought it, or on its way there: nobody has moved it since. */
  get isBrought() {
    return this.brought !== null && this.brought === (this.glide?.to ?? this.camera);
  }

  /** Whether the camera shows all that it can of the graph, or will do once it has arrived. */
  get fits() {
    return this.glide ? this.glide.fitted : this.fitted;
  }

  /** Keeps everything where it is on screen, now that the middle of the view has moved so many px to the left. */
  hold(px) {
    const moveCamera = (camera) => ({ ...camera, x: camera.x - px / camera.zoom });
    const { isBrought } = this;
    this.camera = moveCamera(this.camera);
    if (this.glide) Object.assign(this.glide, { from: moveCamera(this.glide.from), to: moveCamera(this.glide.to) });
    if (isBrought) this.brought = this.glide?.to ?? this.camera; // nobody has moved it
    this.hooks.onMove();
  }

  /** Shows another scene; of the same program, what one looked at stays where it was. */
  load(index, t, same) {
    const { isBrought } = this;
    const anchor = same && this.index ? this.foldedCorner(index) ?? this.anchor(index) : null;
    this.index = index;
    this.plane = layPlane(index);
    this.scale.load(index.scene);
    this.t = t;
    this.pending.clear();
    if (this.tip) this.tip.hidden = true; // its number may be another one now
    this.hover = null;
    this.hoveredWire = null;
    this.lit = null;
    if (anchor) this.look(this.cameraHolding(anchor), this.fitted);
    else if (!same || !this.view.width) this.fit(false);
    if (anchor && isBrought) this.brought = this.camera;
    this.settle();
  }

  /**
   * The camera that holds a place where it was; of a model, whose lines are laid out again, in height alone, or all of it where it is read.
   * @param {[Point, Point]} anchor
   */
  cameraHolding([was, is]) {
    const camera = keep(this.camera, was, is);
    if (!this.index.scene.model) return camera;
    const whole = this.cameraFor(null);
    return this.fitted && isUncovered(this.plane, whole, this.view) ? whole : centreAcross(camera, this.view, this.plane.bounds);
  }

  /**
   * The corner of a group that was opened or closed: its mark stays under the pointer.
   * @param {Index} index
   * @returns {[Point, Point] | null}
   */
  foldedCorner(index) {
    const seen = visibleBox(this.camera, this.view);
    for (const [id, group] of this.index.groups) {
      const now = index.groups.get(id);
      if (!now?.box || !group.box || now.folded === group.folded) continue;
      const [[x, y], corner] = [boxesOf(group)[0], boxesOf(now)[0]];
      if (x >= seen[0] && x <= seen[2] && y >= seen[1] && y <= seen[3]) return [[x, y], [corner[0], corner[1]]];
    }
    return null;
  }

  /**
   * A node that both scenes have, as near to the middle of the view as possible (the selected one where in view).
   * @param {Index} index
   * @returns {[Point, Point] | null}
   */
  anchor(index) {
    const middle = this.visible.filter((node) => index.nodes.has(node.id));
    const chosen = middle.find((node) => node.id === this.selection)
      ?? middle.sort((a, b) => this.distance(a) - this.distance(b))[0];
    const now = chosen && index.nodes.get(chosen.id);
    if (!now) return null;
    return [[chosen.x, chosen.y], [now.x, now.y]];
  }

  distance(node) {
    return Math.hypot(node.x - this.camera.x, node.y - this.camera.y);
  }

  /** `following`: whether what happens now is brought into view, where that is wanted at all. */
  seek(t, following) {
    const before = this.moment?.k;
    this.t = t;
    this.settle();
    if (following && this.follow && this.moment?.k !== before) this.followActive();
  }

  settle() {
    this.moment = this.index ? stateAt(this.index, this.t) : null;
    this.wires = this.wiresOf([this.selection, this.hover], this.visible);
    const { moment } = this;
    const key = moment ? `${moment.settled}|${moment.k}|${moment.progress >= 0.5}|${moment.progress >= 1}` : "";
    this.touch(key === this.painted ? "pulses" : "graph");
    this.painted = key;
  }

  /** The wires of what is looked at, or of all nodes that are seen. */
  wiresOf(looked, seen) {
    if (!this.moment) return [];
    const nodes = this.allWires ? seen : [...new Set(looked)].map((id) => this.index.nodes.get(id)).filter((node) => node !== undefined);
    const [ops, tensors] = [nodes.filter((node) => node.kind === "op"), nodes.filter((node) => node.kind !== "op")];
    return this.plane.wiring.at(this.moment, ops, this.allWires ? [] : tensors);
  }

  /** Brings what happens now into view: the active node, the ends of what travels, and its numbers. */
  followActive() {
    const now = this.glide?.to ?? this.camera;
    this.bringIn(this.subjects(now), this.t === 0 || this.t >= this.index.scene.steps.length);
  }

  /** Brings into view what one went into or out of; from a view of the `whole` graph to one of all that can be seen now. */
  arrive(whole) {
    if (!this.follow) return;
    if (whole) this.fit();
    else this.followActive();
  }

  /** What the step is about; before the first one, what that will be about. */
  subjects(camera) {
    const { plane, tokens, view, index, wires, ruler } = this;
    const moment = this.t > 0 ? this.moment : stateAt(index, JUST_AFTER);
    const font = fontsAt(tokens, camera);
    const spoken = this.cardsOf(this.spoken.ids).filter(({ id }) => !this.isFuture(id)).map((one) => ({ ...one, weight: this.spoken.weight })); // an empty card says nothing
    return [...subjectsOf({ ruler, moment, plane, font, camera, view, wires }), ...spoken];
  }

  /**
   * The boxes of what a chapter of a lecture speaks of, as far as the graph has it.
   * @param {string[]} ids
   * @returns {{ id: string, box: Box }[]}
   */
  cardsOf(ids) {
    return ids.flatMap((id) => {
      const node = shownAs(this.index, id);
      return node ? [{ id, box: boxOf(node) }] : [];
    });
  }

  isFuture(id) {
    const node = this.index.nodes.get(id);
    return node !== undefined && this.moment !== null && nodeState(this.moment, node) === "future";
  }

  /**
   * In a lecture: brings into view what a chapter speaks of, with what has just happened.
   * @param {string[]} ids
   * @param {boolean} ahead whether its text is read before its move: then this comes first
   */
  attend(ids, ahead) {
    const [weight, before] = [ahead ? WEIGHT.ahead : WEIGHT.over, this.spoken];
    this.spoken = { ids, weight };
    if (!ids.length || !this.follow || !this.plane) return;
    if (String(ids) !== String(before.ids) ? this.fits || this.isBrought : weight !== before.weight) this.followActive();
  }

  /** Into view, and out from under what lies over the stage; `still`: where one stays. */
  bringIn(subjects, still = false) {
    const now = this.glide?.to ?? this.camera;
    if (isUncovered(this.plane, now, this.view)) return;
    const { camera, corner } = follow({ camera: now, corner: this.minimap.corner }, this.view, this.plane, subjects, still);
    this.minimap.stand(corner);
    if (camera === now) return;
    this.brought = camera;
    this.glideTo(camera);
  }

  /** Lights what a term of a formula stands for: { id, gradient }, or nothing. */
  light(term) {
    if (term?.id === this.lit?.id && term?.gradient === this.lit?.gradient) return;
    this.lit = term;
    this.touch("pulses");
  }

  reveal(id) {
    const node = this.index && shownAs(this.index, id);
    if (!node) return;
    if (this.camera.zoom < READABLE * 0.6) this.glideTo({ x: node.x, y: node.y, zoom: 1 });
    else this.bringIn([{ id, box: boxOf(node), weight: WEIGHT.now }]);
  }

  /** Out from under a panel that takes or covers the right of the graph, from so many px of the page on. */
  uncover(id, from) {
    const isWhole = Boolean(this.plane) && this.fits && isUncovered(this.plane, this.glide?.to ?? this.camera, this.view);
    const isOwn = this.fits || this.isBrought;
    this.resize(); // the panel may have come just now
    const covered = Math.max(0, this.host.getBoundingClientRect().right - from) / this.large;
    const node = this.index?.nodes.get(id);
    if (!node) return;
    const now = this.glide?.to ?? this.camera;
    const [x0, , x1] = boxOf(node);
    const [left, right] = [x0, x1].map((x) => toScreen(now, this.view, x, 0)[0]);
    const shift = Math.min(right - (this.view.width - covered - BESIDE), left - BESIDE);
    if (shift <= 0) return;
    const to = pan(now, -shift, 0);
    if (isWhole || this.aside === now) this.aside = to;
    if (isOwn) this.brought = to;
    this.glideTo(to);
  }

  /** Nothing covers the graph any more: all of it is seen again, if it was before and nobody has moved it since. */
  returnToFit() {
    const isAside = this.aside !== null && this.aside === (this.glide?.to ?? this.camera);
    this.aside = null;
    if (!isAside) return;
    this.resize(); // the panel has gone just now
    this.fit();
  }

  /** The graph as it opens, unless somebody has moved it: the message of an error that is fixed needs no room any more. */
  reopen() {
    if (this.fits || this.isBrought) this.fit();
  }

  /** `whole`: at any zoom; else at one at which text is read. */
  fit(smooth = true, whole = false) {
    if (!this.plane || !this.view.width) return;
    const node = this.index.nodes.get(this.moment?.active ?? "");
    const focus = node ? [node.x, node.y] : null;
    const camera = this.openingCamera(this.cameraFor(focus, whole));
    if (smooth) this.glideTo(camera, !whole);
    else this.look(camera, true);
  }

  /** Of a graph that is not seen whole: what happens now is in view all the same, and the minimap in the best corner for it. */
  openingCamera(fitted) {
    if (isUncovered(this.plane, fitted, this.view)) return fitted;
    const { camera, corner } = follow({ camera: fitted, corner: null }, this.view, this.plane, this.subjects(fitted), true);
    this.minimap.stand(corner);
    return camera;
  }

  cameraFor(focus, whole = false) {
    const { plane, view, index } = this;
    const spoken = this.bare ? index.scene.program.chapters.map(({ select }) => this.cardsOf(select).map(({ box }) => box)) : [];
    return overview({ plane, view, error: index.scene.error, focus, whole, spoken });
  }

  /** All of it where readable; where that is what one sees already, all of it at any size. */
  fitMore() {
    const readable = this.cameraFor(null).zoom;
    this.fit(true, Math.abs(this.camera.zoom - readable) < 0.01);
  }

  look(camera, fitted = false) {
    this.glide = null;
    this.camera = camera;
    this.fitted = fitted;
    this.touch("graph");
    this.hooks.onMove();
  }

  glideTo(camera, fitted = false) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.look(camera, fitted);
    this.glide = { from: this.camera, to: camera, start: performance.now(), fitted };
    this.touch("graph");
  }

  /**
   * @param {number} factor
   * @param {number[] | null} [at] px of the stage; else its middle
   */
  zoom(factor, at = null) {
    const [x, y] = at ?? [this.view.width / 2, this.view.height / 2];
    const whole = this.plane ? fit(this.plane.framed, this.view, PADDING, 0).zoom : 1;
    this.look(zoomAt(this.camera, this.view, x, y, factor, Math.min(whole * 0.6, 0.5)));
  }

  pan(dx, dy) {
    this.look(pan(this.camera, dx, dy));
  }

  touch(what) {
    this.dirty.add(what);
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(this.paint);
  }

  paint() {
    this.isDue = false;
    this.advanceGlide();
    if (!this.dirty.size || !this.moment || !this.view.width) return;
    const { moment, plane, ruler, camera, tokens, selection, hover, wires, hoveredWire, lit, pending } = this;
    const frame = { moment, plane, ruler, camera, tokens, selection, hover, wires, hoveredWire, lit, pending };
    if (this.dirty.has("graph")) {
      this.visible = paintGraph(contextOf(this.graph), this.view, frame);
      if (!this.glide && !this.host.classList.contains("bs-dragging")) this.settleBars(frame);
      this.minimap.paint(frame, this.view);
      const moved = String(this.callout) !== String(frame.callout);
      this.callout = frame.callout;
      if (moved) this.hooks.onMove(); // what floats beside a card makes room for the message
      if (this.allWires) frame.wires = this.wires = this.wiresOf([], this.visible);
    }
    frame.rest = this.glide?.to ?? camera; // numbers stand where they will, also on the way there
    frame.over = this.boxesOver(frame.rest);
    const { picker } = this;
    frame.choosable = picker ? this.visible.filter((node) => picker.allows(node)) : [];
    paintPulses(contextOf(this.pulses), this.view, frame);
    this.dirty.clear();
    this.hooks.onPaint();
    if (this.glide) this.touch("graph");
  }

  /** The legend is a strip where it covers nothing of the graph, else a small one, beside a minimap, that makes room for cards and edges if it can. */
  settleBars(frame) {
    this.minimap.settle(frame, this.view);
    const uncovered = isUncovered(this.plane, this.camera, this.view);
    this.host.classList.toggle("bs-in-part", !uncovered);
    this.isLegendHigh = !uncovered && isLegendHigh(this.plane, this.camera, this.view, this.minimap.corner, this.isLegendHigh);
    this.host.classList.toggle("bs-legend-top", uncovered ? isLegendOnTop(this.plane, this.view) : this.isLegendHigh);
  }

  /** What lies over the graph now, in px: no number stands there. */
  boxesOver(camera) {
    const { view, callout } = this;
    const bars = isUncovered(this.plane, camera, view) ? barsOfWhole(view) : allOver(this.plane, view, this.minimap.corner, this.isLegendHigh);
    if (!callout) return bars;
    const [x0, y0, x1, y1] = callout;
    return [...bars, [...toScreen(camera, view, x0, y0), ...toScreen(camera, view, x1, y1)]];
  }

  /**
   * The graph as it is drawn now, without what is only pointed at.
   * @param {{ title: string, description: string }} words
   * @param {import("../paint/picture.mjs").Part} [part]
   */
  picture(words, part) {
    const { moment, plane, ruler, tokens, selection, pending, camera, view } = this;
    const wires = this.wiresOf([selection], this.index.scene.nodes);
    return pictureOf({ moment, plane, ruler, tokens, selection, wires, pending, camera, view, hover: null, hoveredWire: null, lit: null }, words, part);
  }

  /**
   * A painter of what the stage shows, at any time, on a canvas of the size of the view.
   * @returns {(canvas: HTMLCanvasElement, t: number) => void}
   */
  painter() {
    const { index, plane, tokens, selection, camera, ruler } = this;
    const view = { ...this.view, dpr: 1 };
    return (canvas, t) => {
      const context = contextOf(canvas);
      const moment = stateAt(index, t);
      const wires = plane.wiring.at(moment, [], []);
      const frame = { moment, plane, ruler, tokens, selection, camera, wires, pending: new Map(), hover: null, hoveredWire: null, lit: null };
      context.fillStyle = tokens.bg;
      context.fillRect(0, 0, canvas.width, canvas.height);
      for (const paint of [paintGraph, paintPulses]) {
        const layer = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
        paint(contextOf(layer), view, frame);
        context.drawImage(layer, 0, 0);
      }
    };
  }

  advanceGlide() {
    if (!this.glide) return;
    const part = Math.min((performance.now() - this.glide.start) / GLIDE, 1);
    this.camera = cameraBetween(this.glide.from, this.glide.to, Math.max(part, 0));
    this.dirty.add("graph");
    if (part < 1) return;
    this.fitted = this.glide.fitted;
    this.glide = null;
    this.hooks.onMove();
  }

  /**
   * Where a node, a row or a cell of it is, in CSS px of the page; null for what is not there.
   * @param {string} id
   * @param {string | null} [key] of the row
   * @param {number} [cell]
   */
  screenPos(id, key = null, cell = 0) {
    const node = this.index?.nodes.get(id);
    if (!node) return null;
    const { moment } = this;
    const place = key === null ? null : rowsOf(node).find((one) => one.row.key === key);
    if (key !== null && !place) return null;
    const box = place && moment ? cellOf(placeAt(moment, node, place), cell) : { x: node.x - node.w / 2, y: node.y - node.h / 2, w: node.w, h: node.h };
    const [x, y] = toScreen(this.camera, this.view, box.x + box.w / 2, box.y + box.h / 2);
    const origin = this.host.getBoundingClientRect();
    const zoom = this.camera.zoom * this.large;
    return { x: origin.left + x * this.large, y: origin.top + y * this.large, width: box.w * zoom, height: box.h * zoom,
      visible: x >= 0 && y >= 0 && x <= this.view.width && y <= this.view.height };
  }
}
