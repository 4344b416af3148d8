// The commands panel: the program's calls as a list, and the form in which one of them, or a leaf, is edited.
// Every change becomes Edits and goes to the server at once; the form then shows the answer.
import { nest, parseNumber, shapeText } from "../../scene/format.mjs";
import { DATA, NONE_PASSED, SMALL } from "../../scene/shared.mjs";
import { isLeaf } from "../../scene/state.mjs";
import { at as trackAt } from "../../scene/timeline.mjs";
import { all, byId, fill, first, h, setProps } from "../../page/dom.mjs";
import * as edits from "../../page/edits.mjs";
import { errorSign } from "../../page/errors.mjs";
import { bunches } from "./command_groups.mjs";
import { Matrix } from "./matrix.mjs";
import { isNarrow, isOpen } from "../../page/panels.mjs";
import * as places from "../../page/command_positions.mjs";
import { briefText, count, lineText } from "../../page/value_text.mjs";
import { rootsOf, whyNoRoot } from "./roots.mjs";

const MOST_OF_PANEL = 0.5; // what the calls keep of their panel while the form is open
const MOST_CELLS = 40000; // more are not edited one by one, only by a preset

export class Commands {
  /**
   * @param {any} player `window.backstep`
   * @param {{ session: import("../../page/session.mjs").Session, inspector: import("../inspector/inspector.mjs").Inspector,
   *   panels: import("../../page/panels.mjs").Panels, toast: import("../../page/toast.mjs").Toast }} page
   */
  constructor(player, { session, inspector, panels, toast }) {
    this.player = player;
    this.session = session;
    this.inspector = inspector;
    this.panels = panels;
    this.toast = toast;
    this.matrix = new Matrix();
    /** @type {import("../../scene/scene.d.ts").Scene} the one that is shown; none before the first is loaded */
    this.scene = /** @type {any} */ (null);
    /** @type {any} { mode: "command" or "leaf", id, shape, data, hot } */
    this.form = null;
    this.seed = 1;
    /** @type {Set<string>} the commands in bunches of equal ones that are unfolded */
    this.unfolded = new Set();
    this.where = ""; // the place that a new command gets; empty: the end
    /** @type {Map<string, Map<string, any>>} by program and command: its value as recorded, for the preset "as in the program" */
    this.recorded = new Map();
    /** @type {Map<string, Map<string, string>>} by program and command: its call as written, also while an error keeps it from running */
    this.labels = new Map();
    byId("commands").addEventListener("click", (event) => this.onClick(event));
    byId("commands").addEventListener("change", (event) => this.onChange(event));
  }

  load(next) {
    this.scene = next;
    if (edits.isNone(this.session.edits)) this.keepRecorded();
    if (!this.labels.has(this.scene.program.id)) this.labels.set(this.scene.program.id, new Map());
    this.scene.commands.forEach((one) => this.labels.get(this.scene.program.id)?.set(one.id, this.labelOf(one)));
    setProps("commands-count", { children: String(bunches(this.list()).length) });
    this.writeError();
    this.writeList();
    this.writeAdd();
    if (this.form) this.reopen();
  }

  keepRecorded() {
    const seeds = new Map(this.scene.commands.map((one) => [one.id, { value: one.gradient === null ? null : this.scene.values[one.gradient], implicit: one.implicit }]));
    this.recorded.set(this.scene.program.id, seeds);
  }

  /**
   * The node of an id that the scene has.
   * @param {string | null} id
   * @returns {import("../../scene/scene.d.ts").Node}
   */
  node(id) {
    return /** @type {any} */ (this.scene.nodes.find((one) => one.id === id));
  }

  /**
   * The command of an id that the scene has; none where an error kept it from running.
   * @param {string} id
   * @returns {import("../../scene/scene.d.ts").Command}
   */
  command(id) {
    return /** @type {any} */ (this.scene.commands.find((one) => one.id === id));
  }

  current() {
    return this.session.edits;
  }

  /** Leaves that can be edited: a leaf that the program writes into is one leaf, with its first values. */
  leafNodes() {
    return this.scene.nodes.filter((one) => one.kind === "tensor" && isLeaf(one) && !one.id.includes("."));
  }

  nameOf(id) {
    return (this.node(`t${edits.tensorOf(id)}`) ?? this.node(id))?.label ?? "a tensor without a card";
  }

  send(next, after) {
    return next && this.session.edit(next, after);
  }

  list() {
    return edits.commandsOf(this.scene, this.current(), this.labels.get(this.scene.program.id));
  }

  /** A call as Python would write it; one that was added here has no line. */
  labelOf(one) {
    if (one.label !== one.kind) return one.label; // one that was added and has not run has no other name
    const name = this.node(one.root)?.label ?? "tensor";
    return one.kind === "backward" ? `${name}.backward(${one.implicit ? "" : "gradient"})` : one.kind === "zero" ? `${name}.grad.zero_()` : `${name}.grad = …`;
  }

  writeError() {
    fill(byId("command-error"), errorSign(this.scene, () => { this.player.seek((this.scene.error?.step ?? 0) + 1); this.player.select(this.scene.error?.node); setProps("tabs", { value: "inspect" }); }));
  }

  writeList() {
    const rows = bunches(this.list()).flatMap(({ at, members }) => (members.length > 1 ? [this.bunch(at, members)] : [this.row(members[0], at)]));
    rewrite(byId("command-list"), h("h2", {}, "Calls, in order"), rows.length ? h("ol.commands", {}, rows) : h("p.empty", {}, this.scene.error ? "The program stopped before its first backward call. Add a call to see what it does." : "This program never calls backward(). Add a call to see what it does."), this.leaves());
  }

  /** Equal commands as one line, with each of them below it once it is unfolded. */
  bunch(at, members) {
    const [one] = members;
    const label = this.labelOf(one);
    const isOpen = this.isUnfolded(members);
    const changed = members.filter((each) => each.changed).length;
    const wrong = members.some((each) => each.error);
    const what = one.kind === "zero" ? `${members.length} gradients` : `${members.length} calls`;
    const smallButton = (act, name, sign) => h("button.quiet", { type: "button", "data-do": act, "data-id": one.id, "aria-label": `${name}: ${label}`, title: name }, sign);
    return h("li", { class: `bunch${wrong ? " wrong" : ""}${one.unreached ? " unreached" : ""}` },
      h("div.whole", {},
        h("button.command", { type: "button", "data-do": "unfold", "data-id": one.id, "aria-expanded": isOpen ? "true" : "false" },
          h("span.nth", {}, `${at + 1}–${at + members.length}`),
          h("span.call", {}, h("code", { title: label }, short({ ...one, label })), h("span.weights", {}, `${isOpen ? "▾" : "▸"} ${what}`),
            changed ? h("span.row.wrap", {}, h("span.chip.changed", {}, `${changed} changed`)) : null)),
        h("span.tools", {}, one.unreached ? null : smallButton("run", "Play from here", "▶"), smallButton("remove-all", `Remove all ${members.length}`, "✕"))),
      isOpen ? h("ol.commands", { "aria-label": label }, members.map((each, i) => this.row(each, at + i, this.scene.steps[each.start]?.say))) : null);
  }

  /** One in which a command is being edited is open. */
  isUnfolded(members) {
    return members.some((each) => this.unfolded.has(each.id) || each.id === this.form?.id);
  }

  membersOf(id) {
    return bunches(this.list()).find(({ members }) => members[0].id === id)?.members ?? [];
  }

  toggleBunch(id) {
    const members = this.membersOf(id);
    if (!this.isUnfolded(members)) members.forEach((each) => this.unfolded.add(each.id));
    else {
      members.forEach((each) => this.unfolded.delete(each.id));
      if (members.some((each) => each.id === this.form?.id)) this.close();
    }
    this.writeList();
  }

  removeAll(id) {
    const members = this.membersOf(id);
    if (members.some((each) => each.id === this.form?.id)) this.close();
    this.send(members.reduce((now, each) => edits.remove(this.scene, now, each.id), this.current()));
  }

  /** A command; `says` is what tells it from equal ones beside it. */
  row(one, i, says = "") {
    const label = this.labelOf(one);
    const chips = [
      one.unreached ? "not reached: an earlier error ends the program" : null,
      one.roots?.length > 1 ? `${one.roots.length} roots: ${one.roots.map((id) => this.nameOf(id)).join(", ")}` : null,
      one.kind === "zero" ? null : one.retain_graph ? "retain_graph" : null,
      one.create_graph ? "create_graph" : null,
      one.inputs ? `inputs: ${one.inputs.map((id) => this.nameOf(id)).join(", ")}` : null,
    ].filter(Boolean).map((text) => h("span.chip.grey", {}, text));
    const weights = one.kind === "backward" && one.gradient !== null ? h("span.weights", {}, one.implicit ? (count(one.shape) === 1 ? "implicit gradient 1" : "no gradient") : `gradient ${briefText(this.scene.values[one.gradient])}`) : null;
    const smallButton = (act, name, sign, off) => h("button.quiet", { type: "button", "data-do": act, "data-id": one.id, "aria-label": `${name}: ${says || label}`, title: name, disabled: off }, sign);
    const canMove = (by) => places.move(this.scene, this.current(), one.id, by) !== null;
    const marks = [one.error ? h("span.chip.red", { title: one.error }, "raised an error") : null, one.changed ? h("span.chip.changed", {}, one.changed) : null];
    return h("li", { "data-command": one.id, class: [this.form?.id === one.id ? "chosen" : "", one.error ? "wrong" : "", one.unreached ? "unreached" : ""].join(" ") },
      h("button.command", { type: "button", "data-do": "choose", "data-id": one.id, disabled: one.unreached, "aria-expanded": this.form?.id === one.id ? "true" : "false" },
        h("span.nth", {}, i + 1), h("span.call", {}, says ? h("span.says", {}, says) : h("code", { title: label }, short({ ...one, label })), weights, chips.length || marks.some(Boolean) ? h("span.row.wrap", {}, marks, chips) : null)),
      h("span.tools", {}, smallButton("run", "Play from here", "▶", one.start === one.end), smallButton("up", "Earlier", "↑", !canMove(-1)), smallButton("down", "Later", "↓", !canMove(1)), smallButton("remove", "Remove", "✕")));
  }

  leaves() {
    const leaves = this.leafNodes();
    if (!leaves.length) return null;
    return h("div", {}, h("h2.keep", {}, "Leaf values"), h("div.row.wrap", {}, leaves.map((one) => h("button.pill", {
      type: "button", "data-do": "leaf", "data-id": one.id, "aria-pressed": this.form?.mode === "leaf" && this.form.id === one.id ? "true" : "false",
    }, one.label, this.current().leaves[edits.tensorOf(one.id)] !== undefined ? " · edited" : ""))));
  }

  writeAdd() {
    const roots = rootsOf(this.scene);
    const all = places.sequence(this.scene, edits.specs(this.scene, this.current()));
    if (!all.some((one) => one.key === this.where)) this.where = "";
    rewrite(byId("command-add"),
      h("label.where", {}, h("span.label", {}, "Add "), h("select.native", { "data-do": "where", "aria-label": "Where to add" },
        h("option", { value: "" }, "at the end"), all.map((one) => h("option", { value: one.key, selected: one.key === this.where }, this.placeText(one))))),
      h("button.btn", { type: "button", "data-do": "add-backward", disabled: !roots.length }, "+ backward()"),
      h("button.btn", { type: "button", "data-do": "add-zero" }, "+ zero the gradients"),
      edits.isNone(this.current()) ? null : h("button.btn", { type: "button", "data-do": "reset" }, "As recorded"));
  }

  /** A place in words: behind which line, or behind which call. */
  placeText({ place, spec }) {
    if (spec) return `after ${short({ kind: spec.kind, label: this.labels.get(this.scene.program.id)?.get(spec.id) ?? spec.kind })} · call ${this.list().findIndex((one) => one.id === spec.id) + 1}`;
    if (!place.code) return place.after < 0 ? "at the start" : `after event ${place.after}`;
    return `after line ${place.code.line} · ${lineText(place.code, this.scene.program.files).slice(0, 40)}`;
  }

  onClick(event) {
    const preset = event.target.closest("[data-preset]");
    if (preset) { this.usePreset(preset.dataset.preset); return; }
    const button = event.target.closest("[data-do]");
    if (!button || button.disabled) return;
    const { do: act, id } = button.dataset;
    const acts = {
      choose: () => (this.form?.id === id ? this.close() : this.choose(id)),
      run: () => this.run(id),
      up: () => this.send(places.move(this.scene, this.current(), id, -1)),
      down: () => this.send(places.move(this.scene, this.current(), id, 1)),
      duplicate: () => this.duplicate(),
      pick: () => this.pick(),
      remove: () => { if (this.form?.id === id) this.close(); this.send(edits.remove(this.scene, this.current(), id)); },
      unfold: () => this.toggleBunch(id),
      "remove-all": () => this.removeAll(id),
      leaf: () => (this.form?.id === id ? this.close() : this.chooseLeaf(id)),
      "add-backward": () => this.addBackward(),
      "add-zero": () => this.addZero(),
      reset: () => { this.close(); this.send(edits.NONE); },
    };
    acts[act]?.();
  }

  /** What was typed into the graph: Edits as they stand, or new numbers for a command's gradient or a leaf. */
  applyEdit(change) {
    if (!change || !this.scene) return;
    if (change.command !== undefined) this.send(edits.change(this.scene, this.current(), change.command, { gradient: change.gradient }));
    else if (change.leaf !== undefined) this.send(edits.setLeaf(this.current(), String(change.leaf), change.values));
    else this.send(change);
  }

  /** A native list was changed: where a command goes, or where new ones do. */
  onChange(event) {
    const act = event.target.dataset?.do;
    if (act === "where") this.where = event.target.value;
    else if (act === "place" && this.form) this.send(places.put(this.scene, this.current(), edits.specs(this.scene, this.current()).find((one) => one.id === this.form.id), event.target.value));
  }

  /** New commands at the chosen place, one behind the other; those that cannot stand there go to the first place where they can. */
  insert(specs) {
    let next = this.current();
    let behind = this.where;
    const ids = specs.map((one) => {
      const spec = edits.newCommand(this.scene, next, one);
      const fits = places.spots(this.scene, next, spec).map((each) => each.key);
      const key = behind && fits.includes(behind) ? behind : behind ? fits[0] : fits[fits.length - 1];
      next = key ? places.put(this.scene, next, spec, key) : edits.add(this.scene, next, one).edits;
      behind = key ? spec.id : behind;
      return spec.id;
    });
    return { next, ids };
  }

  /** One zeroing for each leaf that can have a gradient, as `optimizer.zero_grad()` would do it. */
  addZero() {
    const tensors = this.leafNodes().map((one) => edits.tensorOf(one.id));
    if (tensors.length) this.send(this.insert(tensors.map((leaf) => ({ kind: "zero", leaf }))).next);
  }

  addBackward() {
    const root = rootsOf(this.scene)[0];
    const shape = root.shape ?? [];
    const gradient = count(shape) === 1 ? null : nest(edits.preset("ones", shape), shape);
    const { next, ids } = this.insert([{ kind: "backward", root: edits.tensorOf(root.id), gradient }]);
    this.send(next, () => this.choose(ids[0]));
  }

  /** The same command once more, right behind. */
  duplicate() {
    const one = this.command(this.form.id);
    const copy = { ...edits.specs(this.scene, this.current()).find((spec) => spec.id === this.form.id) };
    if (copy.gradient === null && !one.implicit) copy.gradient = edits.passedNumbers(one, this.scene);
    const spec = edits.newCommand(this.scene, this.current(), copy);
    this.send(places.put(this.scene, this.current(), spec, this.form.id), () => this.choose(spec.id));
  }

  run(id = this.form?.id) {
    const one = this.command(id);
    this.player.seek(one ? one.start : 0);
    this.player.play();
  }

  /** Opens the form for a command; called with the command's id, also by the player's own editor. */
  choose(id) {
    if (!this.command(id)) return;
    this.form = { mode: "command", id };
    this.writeList();
    this.reopen(true);
  }

  chooseLeaf(id) {
    this.form = { mode: "leaf", id };
    this.writeList();
    this.reopen(true);
  }

  close() {
    if (this.form && this.player.choosing()) this.player.choose();
    const row = byId("command-form").querySelector(":focus-visible") && this.form?.id;
    this.form = null;
    byId("command-form").hidden = true;
    if (this.scene) this.writeList();
    if (row) first(rowOf(row), byId("command-list"))?.focus({ preventScroll: true });
  }

  /** An edit was refused: the form shows again what is. */
  restore() {
    if (!this.scene || !this.form) return;
    this.form.data = null;
    this.writeList();
    this.writeAdd();
    this.reopen(true);
  }

  /** Writes the form from the scene: after every answer, because an edit may have changed more than was typed. */
  reopen(fresh = false) {
    const leaf = this.form.mode === "leaf";
    /** @type {any} a command or a leaf */
    const one = leaf ? this.node(this.form.id) : this.command(this.form.id);
    if (!one) { this.close(); return; }
    const backward = !leaf && one.kind === "backward";
    byId("command-form").hidden = false;
    const title = leaf ? `Values of ${one.label}` : this.labelOf(one);
    setProps("command-title", { children: title, title });
    this.writePlace(leaf ? null : one);
    byId("command-root-row").hidden = !backward;
    byId("command-flags").hidden = !backward;
    byId("command-presets").hidden = !backward && !leaf;
    if (backward) this.writeFlags(one);
    const shape = leaf ? one.shape : backward ? this.gradientShape(one) : null;
    const value = leaf ? this.leafValue(one) : backward && one.gradient !== null ? this.scene.values[one.gradient] : null;
    this.form.shape = shape;
    this.form.dtype = (value ?? (leaf ? one : this.node(one.root)))?.dtype;
    this.writeValues(shape, value, leaf, fresh);
    if (fresh) keepRow();
  }

  /** Where the command stands, in a list of all places where it can. */
  writePlace(one) {
    const place = byId("command-place-row");
    place.hidden = !one;
    if (!one) return;
    const spec = edits.specs(this.scene, this.current()).find((each) => each.id === one.id);
    const now = places.spotOf(this.scene, this.current(), one.id);
    const all = spec ? places.spots(this.scene, this.current(), spec) : [];
    rewrite(place, h("label.where", {}, h("span.label", {}, "Position "), h("select.native", { "data-do": "place", "aria-label": "Position in the program" },
      all.map((each) => h("option", { value: each.key, selected: each.key === now }, this.placeText(each))))),
    h("button.btn", { type: "button", "data-do": "duplicate", title: "Add the same command again, directly after this one" }, "Duplicate"));
  }

  /** The shape that the gradient has now: for an error, that which was passed. */
  gradientShape(one) {
    const value = one.gradient === null ? null : this.scene.values[one.gradient];
    return value?.shape ?? one.shape ?? [];
  }

  leafValue(one) {
    const row = one.rows.find((each) => each.key === "value");
    const first = row?.track.find(([, id]) => id !== null);
    return first ? this.scene.values[first[1]] : null;
  }

  writeFlags(one) {
    const textOf = ({ label, shape, role }) => [label, shapeText(shape), role === "leaf" || role === "constant" ? role : null].filter(Boolean).join(" · ");
    const options = rootsOf(this.scene, one.root).map((each) => ({ value: each.id, label: textOf(each) }));
    const inputs = (one.inputs || []).map((id) => `t${edits.tensorOf(id)}`);
    const leafs = [...new Set([...this.leafNodes().map((each) => each.id), ...inputs])].map((id) => ({ value: id, label: this.nameOf(id) }));
    const same = { root: one.root, retain: one.retain_graph, create: one.create_graph, inputs };
    this.form.flags = same;
    setProps("command-root", { data: options, value: one.root });
    setProps("command-retain", { checked: one.retain_graph });
    setProps("command-create", { checked: one.create_graph });
    setProps("command-inputs", { data: leafs, value: same.inputs });
  }

  writeValues(shape, value, leaf, fresh) {
    const label = byId("command-values-label");
    const hint = byId("command-hint");
    const size = count(shape);
    const place = byId("command-grid-place");
    const none = !leaf && this.command(this.form.id)?.implicit;
    const editable = shape !== null && size > 0 && size <= MOST_CELLS && !(none && size !== 1);
    place.hidden = !editable;
    if (shape === null) { fill(label); fill(hint, "Clears .grad of every leaf, so that the next call does not add to old gradients."); return; }
    const many = !leaf && this.command(this.form.id)?.roots?.length > 1 ? ` of ${this.node(this.command(this.form.id).root)?.label}, the first of its roots` : "";
    fill(label, leaf ? "values" : `gradient${many}`, h("span.hint", {}, ` · ${shapeText(shape)}`));
    first('[data-preset="case"]').hidden = leaf ? false : !this.caseValue();
    const unpassed = first('[data-preset="none"]');
    unpassed.hidden = leaf;
    unpassed.setAttribute("aria-pressed", String(Boolean(none)));
    if (none && size !== 1) { fill(hint, "No gradient is passed, and the implicit 1 works only for a single number. Choose “ones” or another preset to pass a gradient."); return; }
    if (!editable) { fill(hint, `${size} elements are too many to edit one by one; the presets set all of them.`); return; }
    const numbers = value?.data || (value && this.form.fetched?.of === value ? this.form.fetched.data : null);
    const data = numbers || (this.form.data?.length === size ? this.form.data : null) || edits.preset("ones", shape);
    fill(hint, this.form.hot ? "Click the cell that should count." : !value || numbers ? hintOf(numbers, size) : size > DATA ? `Tensors with more than ${DATA.toLocaleString("en")} elements are not sent to the browser: editing one cell sets all others to 1.` : "Fetching the numbers …");
    if (!numbers && value && size <= DATA) this.fetchValues(value, leaf);
    if (!fresh && this.form.data && edits.isSame(this.form.data, data)) { this.form.data = data; return; }
    this.form.data = [...data];
    if (fresh || !place.dataset.mounted) this.matrix.show(shape, data);
    else this.matrix.fill(shape, data);
  }

  /** The numbers of a value that a scene holds only as a strip: asked for once, with the details of its tensor. */
  fetchValues(value, leaf) {
    const of = this.form;
    /** @type {any} */
    const one = leaf ? this.node(this.form.id) : this.command(this.form.id);
    this.inspector.want(leaf ? one.id : one.root, (details) => {
      if (this.form !== of || !details.figures) return;
      const figure = details.figures.find((each) => each.of === (leaf ? "value" : "seed"));
      const id = figure ? trackAt(figure.track, leaf ? figure.track[figure.track.length - 1][0] : one.start + 1) : null;
      const data = id === null || id === undefined ? null : details.values[id]?.data;
      if (!data || data.length !== count(this.form.shape)) return;
      this.form.fetched = { of: value, data };
      this.writeValues(this.form.shape, value, leaf, false);
    });
  }

  caseValue() {
    const seed = this.recorded.get(this.scene.program.id)?.get(this.form?.id);
    return seed?.value?.data && edits.isSame(seed.value.shape, this.form.shape) ? seed : null;
  }

  usePreset(name) {
    if (!this.form?.shape) return;
    this.form.hot = name === "one-hot";
    if (name === "case") {
      if (this.form.mode === "leaf") this.send(edits.resetLeaf(this.current(), edits.tensorOf(this.form.id)));
      else if (this.caseValue()) this.apply(this.caseValue().value.data, this.caseValue().implicit);
      return;
    }
    if (name === "none") {
      this.send(edits.change(this.scene, this.current(), this.form.id, { gradient: NONE_PASSED }));
      return;
    }
    if (name === "random") this.seed += 1;
    this.apply(edits.preset(name, this.form.shape, { seed: this.seed }));
  }

  /** New numbers for what the form is about. */
  apply(data, implicit = false) {
    this.form.data = [...data];
    this.matrix.fill(this.form.shape, data);
    const nested = nest(data, this.form.shape);
    if (this.form.mode === "leaf") this.send(edits.setLeaf(this.current(), edits.tensorOf(this.form.id), nested));
    else this.send(edits.change(this.scene, this.current(), this.form.id, { gradient: implicit ? null : nested }));
  }

  /** What the grid reports: a cell was typed into, or clicked while a one-hot is being chosen. */
  cellChanged(changed) {
    const cell = Array.isArray(changed) ? changed[0] : changed;
    if (!cell || !this.form?.shape) return;
    const at = this.matrix.cellOf(cell, this.form.shape);
    const parsed = parseNumber(String(cell.value ?? ""), this.form.dtype);
    if (parsed.error) { this.toast.say(parsed.error); this.matrix.fill(this.form.shape, this.form.data); return; }
    if (at === null || this.form.data[at] === parsed.value) return;
    const data = [...this.form.data];
    data[at] = parsed.value;
    this.apply(data);
  }

  cellClicked(cell) {
    if (!this.form?.hot || !cell) return;
    const at = this.matrix.cellOf(cell, this.form.shape);
    if (at !== null) this.apply(edits.preset("one-hot", this.form.shape, { cell: at }));
  }

  /** What the form's other inputs report. A value that we wrote ourselves does not count as a change. */
  flagChanged(name, value) {
    const one = this.form?.mode === "command" ? this.command(this.form.id) : null;
    if (!one || !this.form.flags || value === null || value === undefined || edits.isSame(this.form.flags[name], value)) return;
    this.form.flags[name] = value;
    const tensors = name === "inputs" ? (value.length ? value.map(edits.tensorOf) : null) : null;
    const changes = { root: () => this.rootChange(value), retain: () => ({ retain_graph: value }), create: () => ({ create_graph: value, ...(value ? { retain_graph: true } : {}) }), inputs: () => ({ inputs: tensors }) };
    this.send(edits.change(this.scene, this.current(), this.form.id, changes[name]()));
  }

  /** The root is chosen on the graph; pressed once more, the button takes that back. */
  pick() {
    if (this.player.choosing()) { this.player.choose(); return; }
    const one = this.command(this.form.id);
    const spec = edits.specs(this.scene, this.current()).find((each) => each.id === one.id);
    const over = isNarrow() && isOpen("right"); // the panel lies on the graph
    if (over) this.panels.toggle("right", false);
    byId("command-pick").setAttribute("aria-pressed", "true");
    this.player.choose({
      text: `Choose where ${short({ ...one, label: this.labelOf(one) })} starts`,
      why: (node) => spec ? whyNoRoot(this.scene, spec, one.start, node) : null,
      take: (node) => { const id = node.twin ?? node.id; this.player.select(id); this.flagChanged("root", rootsOf(this.scene, one.root).find((each) => edits.tensorOf(each.id) === edits.tensorOf(id))?.id); },
      onEnd: (cancelled) => {
        byId("command-pick").setAttribute("aria-pressed", "false");
        if (over) this.panels.toggle("right", true);
        if (cancelled) byId("command-pick").focus({ preventScroll: true });
      },
    });
  }

  /** Another root has another shape: a gradient that no longer fits becomes ones. */
  rootChange(id) {
    const { shape } = this.node(id);
    const spec = edits.specs(this.scene, this.current()).find((one) => one.id === this.form.id);
    if (spec?.gradient === NONE_PASSED) return { root: edits.tensorOf(id), gradient: NONE_PASSED };
    const fits = this.form.data && this.form.shape && edits.isSame(shape, this.form.shape);
    const gradient = count(shape ?? []) === 1 ? null : nest(fits ? this.form.data : edits.preset("ones", shape ?? []), shape ?? []);
    return { root: edits.tensorOf(id), gradient };
  }
}

/** The call without its arguments, which stand below it. */
function short({ kind, label }) {
  const open = label.indexOf("(");
  return kind !== "backward" || open < 0 || label[open + 1] === ")" ? label : `${label.slice(0, open)}(…)`;
}

const rowOf = (id) => `[data-id="${CSS.escape(id)}"]:not(:disabled)`;

/** Replaces what stands in a place. What the keyboard had come to has the focus again, else another button of its row, or the next row's. */
function rewrite(place, ...content) {
  const target = /** @type {HTMLElement | null} */ (place.querySelector("[data-do]:focus-visible"));
  const alike = () => all(`[data-do="${target?.dataset.do}"]`, place);
  const number = target ? alike().indexOf(target) : 0;
  fill(place, ...content);
  if (!target) return;
  const { do: act, id } = target.dataset;
  const row = id ? rowOf(id) : ":not(:disabled)";
  (first(`[data-do="${act}"]${row}`, place) ?? first(row, place) ?? alike()[number] ?? first("[data-do]", place))?.focus({ preventScroll: true });
}

/** What was chosen stays under the pointer: the form leaves it its room, up to half of the panel. */
function keepRow() {
  const [panel, calls] = [byId("commands"), byId("command-calls")];
  const row = calls.querySelector(":is(li.chosen, .pill[aria-pressed=true])");
  if (!row) return;
  const foot = row.getBoundingClientRect().bottom - panel.getBoundingClientRect().top;
  panel.style.setProperty("--calls-set", `${Math.round(Math.min(foot, MOST_OF_PANEL * panel.clientHeight))}px`);
  requestAnimationFrame(() => row.scrollIntoView({ block: "nearest" }));
}

const hintOf = (numbers, size) => `${numbers && size > SMALL ? `All ${size} elements as they are now. ` : ""}Double-click a cell, or type into it. Enter runs the change.`;
