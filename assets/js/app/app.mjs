// The app: owns everything that lives as long as the page. It joins stage, footer, player, keys and editing, and the shell with its panels,
// which know the app only through `window.backstep`.

import { Bus } from "./bus.mjs";
import { NodePicker } from "../stage/node_picker.mjs";
import { countServerCalls } from "./counters.mjs";
import { Depth } from "./depth.mjs";
import { CellEditor } from "../stage/editor.mjs";
import { Footer } from "../stage/footer.mjs";
import { helpDialog, listenKeys } from "./keys.mjs";
import { install } from "../panels/shell/shell.mjs";
import { Legend } from "../stage/legend.mjs";
import { announce, Mirror } from "../stage/screen_reader.mjs";
import { Player, SPEEDS } from "../stage/player.mjs";
import { listen } from "../stage/pointer.mjs";
import { Presets } from "../stage/presets.mjs";
import { Search } from "../stage/search.mjs";
import { Stage } from "../stage/stage.mjs";
import { entries } from "../scene/find.mjs";
import { describe, prepare, stateAt } from "../scene/state.mjs";
import { counterpart, sentence, stopAt } from "../scene/levels.mjs";
import { clampTime, nextCall, previousCall, runTo } from "../scene/timeline.mjs";
import { toolbar } from "../stage/toolbar.mjs";

/** @import { Scene } from "../scene/scene.d.ts" */
/** @import { Index } from "../scene/state.mjs" */

export class App {
  /** @type {Scene} none before the first is loaded, as the index */
  scene = /** @type {any} */ (null);
  /** @type {Index} */
  index = /** @type {any} */ (null);
  /** @type {Scene | null} what was asked for before there was a place to show it */
  earlyScene = null;
  frames = 0;
  scrub = false; // whether one drags along the lane
  loose = false; // whether what happens is left where it is, and not brought into view
  /** @type {string | null} the step that was told of last; none in a scene that has just come */
  step = null;
  /** @type {Stage} none before `attach`, as all that it makes */
  stage = /** @type {any} */ (null);
  /** @type {Footer} */
  footer = /** @type {any} */ (null);
  /** @type {Mirror} */
  mirror = /** @type {any} */ (null);
  /** @type {CellEditor} */
  editor = /** @type {any} */ (null);
  /** @type {Presets} */
  presets = /** @type {any} */ (null);
  /** @type {NodePicker} */
  picker = /** @type {any} */ (null);
  /** @type {Search} */
  search = /** @type {any} */ (null);
  /** @type {ReturnType<typeof toolbar>} */
  tools = /** @type {any} */ (null);
  /** @type {Legend} */
  legend = /** @type {any} */ (null);
  /** @type {HTMLDialogElement | null} of all keys; made when it is first asked for */
  dialog = null;

  /** @param {string | null} [program] the one that a page without a gallery is about */
  constructor(program = null) {
    this.program = program;
    this.serverCalls = countServerCalls();
    this.bus = new Bus();
    this.depth = new Depth(this);
    this.player = new Player((t) => this.timeChanged(t), (on) => this.onPlay(on));
    this.api = this.answers();
    listenKeys(this);
  }

  /**
   * Moves into the page, once its places are there; what was asked for before is done now.
   * @param {HTMLElement} stageHost
   * @param {HTMLElement} footerHost
   */
  attach(stageHost, footerHost) {
    this.stage = new Stage(stageHost, { onPaint: () => { this.frames += 1; }, onMove: () => this.viewMoved() });
    this.mirror = new Mirror(stageHost);
    this.editor = new CellEditor(this.stage, (edit) => this.edit(edit));
    this.presets = new Presets(this.stage, (edit) => this.edit(edit));
    this.picker = new NodePicker(this.stage);
    this.search = new Search(this.stage, { choose: (element) => this.find(element), onMove: () => this.onPan() });
    this.tools = toolbar({ search: () => this.search.toggle(), zoomIn: () => this.stage.zoom(1.2), zoomOut: () => this.stage.zoom(1 / 1.2), fit: () => this.stage.fitMore(),
      follow: () => this.toggleFollow(), cells: () => this.toggleCells() });
    this.legend = new Legend(this.stage);
    this.stage.layer.append(this.tools.element, this.legend.strip, this.legend.panel);
    listen(this.stage, { select: (id) => this.select(id), fold: (id) => this.fold(id), find: (id) => this.findById(id), edit: (node, row, cell) => this.typeIn(node, row, cell),
      cellClick: (...spot) => this.presets.cellClick(...spot), choose: (node) => this.picker.take(node), onPan: () => this.onPan() });
    this.stage.onHover = (id) => this.emitHover(id);
    this.footer = new Footer(footerHost, {
      seek: (t) => this.player.seek(t), scrubbing: (on) => this.scrubbing(on),
      toggle: () => this.player.toggle(), speed: (speed) => this.setSpeed(speed),
      first: () => this.seek(0), last: () => this.seek(Infinity), back: () => this.back(), step: () => this.forward(),
      previousCall: () => this.previousCall(), nextCall: () => this.nextCall(), help: () => this.help(),
      into: () => this.depth.into(), out: () => this.depth.out(),
    });
    this.footer.theme(this.stage.tokens);
    this.stage.onTheme = (tokens) => { this.footer.theme(tokens); this.legend.paint(); };
    if (this.earlyScene) this.load(this.earlyScene);
  }

  /** Makes the panels, once their places are there too. */
  furnish() {
    return install(this.api, this.program);
  }

  isReady() {
    return this.scene !== null && this.stage !== null && this.stage.host.isConnected && this.stage.view.width > 0;
  }

  hasFocus(target) {
    return target === this.stage.host;
  }

  /** @param {Scene} scene */
  load(scene) {
    if (!this.stage) {
      this.earlyScene = scene;
      return;
    }
    this.earlyScene = null;
    if (this.scene?.revision.id !== scene.revision.id || this.scene.program.id !== scene.program.id) this.picker.end();
    const same = this.scene?.program.id === scene.program.id;
    const isEdited = same && this.scene.revision.id !== scene.revision.id;
    const now = Math.round(this.player.t);
    const t = !same ? 0 : this.scene.section?.at === scene.section?.at ? clampTime(scene, now) : counterpart(this.scene, scene, now);
    const level = this.depth.levelIn(scene, this.scene);
    this.scene = scene;
    this.index = { ...prepare(scene), level };
    this.step = null;
    this.player.load(scene, t, level);
    this.stage.load(this.index, t, same);
    this.footer.load(scene, level);
    this.search.load(scene);
    if (this.stage.selection && !this.has(this.stage.selection)) this.select(null);
    this.presets.update();
    this.bus.emit("scene", scene);
    this.loose = true; // a new revision moves nothing
    this.timeChanged(t);
    this.loose = false;
    if (isEdited) this.speak(`Revision ${scene.revision.number}, ${scene.revision.label}.`);
    const moved = this.depth.takeMove();
    if (moved) this.stage.arrive(moved.whole);
    else if (same && this.stage.bare) this.stage.arrive(false); // nobody in the hall can look for what happens now
  }

  has(id) {
    return this.index?.nodes.has(id) || this.index?.groups.has(id) || false;
  }

  timeChanged(t) {
    this.stage.seek(t, !this.loose);
    this.footer.show(t);
    this.mirror.update(this.stage); // also within a step: what it brings is there when its move has ended
    this.bus.emit("time", t);
    const stop = stopAt(this.index.level, t);
    const key = stop ? `${stop.start} ${stop.end}` : "";
    if (key === this.step) return;
    this.step = key;
    this.stage.pending.clear(); // what was typed has come back as a revision, or was refused
    this.editor.close();
    this.presets.update();
    this.bus.emit("step", (stop?.end ?? 0) - 1, stop?.step ?? null);
    if (!this.scrub) this.speak();
  }

  /** Shows the moment at another level: what one step is has changed. */
  relevel() {
    const level = this.depth.levelIn(this.scene);
    this.index.level = level;
    this.player.level = level;
    this.footer.relevel(level);
    this.loose = true;
    this.timeChanged(this.player.t);
    this.loose = false;
  }

  /** Tells a screen reader what happens now, and before it `news`. */
  speak(news = "") {
    const { lead, text } = sentence(this.index.level, this.player.t);
    announce(`${news} ${lead} ${text}`.trim());
  }

  onPlay(on) {
    this.loose = false;
    if (on) this.depth.take(false);
    this.footer?.showPlaying(on);
    this.tools?.follow(this.stage.follow);
    this.bus.emit("play", on);
  }

  /** Whoever moves the picture while it plays is not pulled back until it plays anew. */
  onPan() {
    this.editor.close();
    this.loose = this.player.playing;
  }

  scrubbing(on) {
    this.scrub = on;
    if (!on) this.speak();
  }

  viewMoved() {
    this.editor?.place();
    this.presets?.place();
    if (this.mirror) this.mirror.update(this.stage);
  }

  /** Lets a node be chosen on the graph (see NodePicker.begin); without a question, no longer. */
  choose(ask = null) {
    this.player.pause();
    this.picker?.end();
    if (ask) this.picker.begin(ask);
    this.presets?.update();
  }

  emitHover(id) {
    this.presets.update();
    this.bus.emit("hover", id);
  }

  select(id) {
    const target = id === null ? null : this.has(id) ? id : this.holding(id);
    if (!this.stage || target === this.stage.selection) return;
    this.stage.selection = target;
    this.stage.settle();
    this.stage.touch("graph");
    this.presets.update();
    this.mirror.update(this.stage);
    this.bus.emit("select", target);
  }

  /** The folded group that is shown instead of what is in it; null where there is none. */
  holding(id) {
    let outermost = null;
    const first = this.scene?.groups.find((one) => one.members.includes(id) || one.id === id);
    for (let group = first; group; group = this.index.groups.get(group.within ?? "")) if (group.folded) outermost = group.id;
    return outermost;
  }

  /** Selects the next node of the order of execution; false at its end, so that Tab leaves the stage. */
  selectNext(by) {
    const { nodes, order: all } = this.index;
    const order = this.picker.on ? all.filter((id) => this.picker.allows(nodes.get(id))) : all;
    const now = order.indexOf(this.stage.selection ?? "");
    const next = now < 0 ? (by > 0 ? 0 : order.length - 1) : now + by;
    if (next < 0 || next >= order.length) return false;
    this.select(order[next]);
    this.stage.reveal(order[next]);
    const node = nodes.get(order[next]);
    if (node) announce(`${node.label}, ${node.sub}`);
    return true;
  }

  /** Shows and selects what a search has found, once the folded groups around it are open. */
  find({ id, label, sub, unfold }) {
    const show = () => {
      this.stage.reveal(id);
      this.select(id);
      announce([label, sub].filter(Boolean).join(", "));
    };
    if (unfold.length) this.bus.emit("unfold", unfold, show);
    else show();
  }

  /** An element that a folded group stands for. */
  findById(id) {
    const entry = entries(this.scene).find((one) => one.id === id);
    if (entry) this.find(entry);
  }

  /** On the stage what is selected; else the step that one looks at. */
  enter() {
    const node = this.hasFocus(document.activeElement) ? this.index.nodes.get(this.stage.selection ?? "") : null;
    if (!node) return this.depth.into();
    if (node.kind === "group") return this.fold(node.id);
    if (this.picker.on) {
      this.picker.take(node);
      return true;
    }
    const rows = ["seed", "value"].map((key) => node.rows.find((one) => one.key === key));
    if (!rows.some((row) => row && this.typeIn(node, row, 0))) this.bus.emit("enter", node.id);
    return true;
  }

  escape() {
    if (this.legend.toggle(false) || this.picker.end(true)) return true;
    if (this.presets.hot) {
      this.presets.heat(false);
      this.presets.update();
      return true;
    }
    const closed = this.bus.emit("escape");
    if (this.stage.selection === null) return closed || this.depth.out();
    this.select(null);
    return true;
  }

  foldSelected() {
    const id = this.stage.selection ?? "";
    const own = this.index.groups.has(id) ? id : this.index.nodes.get(id)?.group;
    return own ? this.fold(own) : false;
  }

  fold(id) {
    this.bus.emit("fold", id);
    return true;
  }

  /** Opens a cell to type in, if it can be edited; what plays stops, because its next step would close it. */
  typeIn(node, row, cell) {
    if (!this.editor.start(node, row, cell)) return false;
    this.player.pause();
    return true;
  }

  edit(change) {
    this.player.pause();
    this.bus.emit("edit", change);
  }

  toggleCells() {
    this.stage.allWires = !this.stage.allWires;
    this.tools.cells(this.stage.allWires);
    this.stage.settle();
    this.stage.touch("graph");
  }

  toggleFollow() {
    this.stage.follow = !this.stage.follow;
    this.loose = false;
    this.tools.follow(this.stage.follow);
    if (this.stage.follow) this.stage.followActive();
  }

  setSpeed(speed) {
    this.player.speed = speed;
    this.footer.setSpeed(speed);
  }

  changeSpeed(by) {
    const place = SPEEDS.indexOf(this.player.speed) + by;
    if (SPEEDS[place]) this.setSpeed(SPEEDS[place]);
  }

  space() {
    if (!this.bus.emit("space")) this.player.toggle();
  }

  /** A step on at the level that one looks at, or (`single`) an op; behind the last one the next section of the run begins. */
  forward(single = false) {
    const { player, scene } = this;
    this.depth.take(single);
    if (player.t < scene.steps.length || !this.bus.emit("turn", 1, "start")) player.forward();
  }

  /** A step back; before the first one is the end of the section before. */
  back(single = false) {
    this.depth.take(single);
    if (this.player.t > 0 || !this.bus.emit("turn", -1, "end")) this.player.back();
  }

  seek(t) {
    this.player.seek(t === Infinity ? this.scene.steps.length : t);
  }

  nextCall() {
    this.seek(nextCall(this.scene, this.player.t));
  }

  previousCall() {
    this.seek(previousCall(this.scene, this.player.t));
  }

  runToSelected() {
    const id = this.stage.selection;
    const t = id === null ? null : runTo(this.scene, this.index.edges, id, this.player.t);
    if (t === null) return false;
    this.seek(t);
    return true;
  }

  help() {
    this.dialog ??= helpDialog(this);
    if (!this.dialog.open) this.dialog.showModal();
  }

  /** Plain JSON of what is drawn now. */
  state() {
    if (!this.scene) return null;
    const { stage, player } = this;
    const wires = stage.wires.map(({ edge, from, to, local, carries }) => ({ edge: edge.id, from, to, local, carries }));
    return {
      ...describe(stateAt(this.index, player.t)), playing: player.playing, speed: player.speed, selection: stage.selection,
      hover: stage.hover, lit: stage.lit?.id ?? null, camera: { ...stage.camera }, follow: stage.follow, wires, visible: stage.visible.map((node) => node.id),
    };
  }

  /**
   * The graph at this moment as an SVG, { text, width, height }; null where there is none.
   * @param {import("../paint/picture.mjs").Part} [part]
   */
  picture(part) {
    if (!this.scene?.nodes.length || !this.stage) return null;
    const { program, revision } = this.scene;
    const { lead, text } = sentence(this.index.level, this.player.t);
    return this.stage.picture({ title: `${program.title}, revision ${revision.number}: ${revision.label}`, description: `${lead} ${text}` }, part);
  }

  /**
   * The object that the page and the tests speak to.  Events of `on(event, listener)`, which returns how to stop:
   * scene (scene), time (t), step (k, step; k = -1 before the first), select (id), hover (id), play (bool), space () and
   * enter (id), edit ({ command, gradient } or { leaf, values }), fold (group id), neighbour (by), unfold (group ids, what to do then).  A listener of `space` that returns
   * true has claimed the key: then it does not play.
   */
  answers() {
    return {
      load: (scene) => this.load(scene), scene: () => this.scene, seek: (t) => this.scene && this.player.seek(t), t: () => this.player.t,
      play: (until) => this.player.play(until), pause: () => this.player.pause(), playing: () => this.player.playing,
      step: (single) => this.forward(single), back: (single) => this.back(single), into: () => this.depth.into(), stop: () => (this.index ? stopAt(this.index.level, this.player.t) : null), level: () => this.index?.level ?? null, speed: (speed) => this.setSpeed(speed),
      select: (id) => this.select(id), find: (entry) => this.find(entry), selection: () => this.stage?.selection ?? null, reveal: (id) => this.stage?.reveal(id), uncover: (id, from) => this.stage?.uncover(id, from), returnToFit: () => this.stage?.returnToFit(), reopen: () => this.stage?.reopen(), attend: (ids, ahead) => this.stage?.attend(ids, ahead),
      on: (event, listener) => this.bus.on(event, listener), emit: (event, ...payload) => this.bus.emit(event, ...payload),
      edit: (change) => this.edit(change), choose: (ask) => this.choose(ask), choosing: () => Boolean(this.picker?.on), fold: (id) => this.fold(id), fit: (whole = false) => this.stage?.fit(true, whole), light: (term) => this.stage?.light(term), help: () => this.help(),
      clearPending: () => this.stage && (this.stage.pending.clear(), this.stage.touch("graph")),
      picture: (part) => this.picture(part), painter: () => this.stage.painter(), view: () => this.stage.view, state: () => this.state(), screenPos: (id, row, cell) => this.stage?.screenPos(id, row, cell) ?? null,
      enlarge: (large, bare) => this.stage.enlarge(large, bare), leastText: () => this.stage.leastText(), frameCount: () => this.frames, serverCalls: this.serverCalls,
    };
  }
}
