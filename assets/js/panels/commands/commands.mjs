// The commands panel: the program's calls as a list, and the form in which one of them, or a leaf, is edited.
// Every change becomes Edits and goes to the server at once; the form then shows what came back.
import { nest, parseNumber, shapeText } from "../../scene/format.mjs";
import { isLeaf } from "../../scene/state.mjs";
import { at as trackAt } from "../../scene/timeline.mjs";
import { byId, fill, h, setProps } from "../../page/dom.mjs";
import * as edits from "../../page/edits.mjs";
import { errorSign } from "../../page/errors.mjs";
import * as inspector from "../inspector/inspector.mjs";
import { fillGrid, gridCell, showGrid } from "./matrix.mjs";
import * as panels from "../../page/panels.mjs";
import * as places from "../../page/places.mjs";
import { brief, count, lineText } from "../../page/read.mjs";
import { rootsOf, whyNoRoot } from "./roots.mjs";
import * as session from "../../page/session.mjs";

const MOST_FETCHED = 4096; // elements of a value that the details carry (see docs/scene-format.md)
const MOST_OF_PANEL = 0.5; // what the calls keep of their panel while the form is open
const MOST_CELLS = 40000; // more are not edited one by one, only by a preset

let scene = null;
let player = null;
let form = null; // {mode: "command"|"leaf", id, shape, data, hot}
let seed = 1;
let where = ""; // the place that a new command gets; empty: the end
const recorded = new Map(); // program -> command id -> value as recorded, for the preset "as in the program"
const labels = new Map(); // program -> command id -> its call as written, also while an error keeps it from running

export function setUp(backstep) {
  player = backstep;
  byId("commands").addEventListener("click", clicked);
  byId("commands").addEventListener("change", chosen);
}

export function load(next) {
  scene = next;
  if (edits.isNone(session.state().edits)) keepRecorded();
  if (!labels.has(scene.program.id)) labels.set(scene.program.id, new Map());
  scene.commands.forEach((one) => labels.get(scene.program.id).set(one.id, labelOf(one)));
  setProps("commands-count", { children: String(list().length) });
  writeError();
  writeList();
  writeAdd();
  if (form) reopen();
}

function keepRecorded() {
  const known = new Map(scene.commands.map((one) => [one.id, { value: one.gradient === null ? null : scene.values[one.gradient], implicit: one.implicit }]));
  recorded.set(scene.program.id, known);
}

const node = (id) => scene.nodes.find((one) => one.id === id);
const command = (id) => scene.commands.find((one) => one.id === id);
const current = () => session.state().edits;
/** Leaves that can be edited: a leaf that the program writes into is one leaf, with its first values. */
const leafNodes = () => scene.nodes.filter((one) => one.kind === "tensor" && isLeaf(one) && !one.id.includes("."));
const nameOf = (id) => (node(`t${edits.tensorOf(id)}`) ?? node(id))?.label ?? "a tensor without a card";
const send = (next, after) => next && session.edit(next, after);
const list = () => edits.listed(scene, current(), labels.get(scene.program.id));

/** A call as Python would write it; one that was added here has no line. */
function labelOf(one) {
  if (one.code || one.label.includes("(")) return one.label;
  const name = node(one.root)?.label ?? "tensor";
  return one.kind === "backward" ? `${name}.backward(${one.implicit ? "" : "gradient"})` : one.kind === "zero" ? `${name}.grad.zero_()` : `${name}.grad = …`;
}

function writeError() {
  fill(byId("command-error"), errorSign(scene, () => { player.seek(scene.error.step + 1); player.select(scene.error.node); setProps("tabs", { value: "inspect" }); }));
}

function writeList() {
  const rows = list().map(row);
  fill(byId("command-list"), h("h2", {}, "Calls, in order"), rows.length ? h("ol.commands", {}, rows) : h("p.empty", {}, scene.error ? "The program stopped before its first backward call. Add a call to see what it does." : "This program never calls backward(). Add a call to see what it does."), leaves());
}

function row(one, i) {
  const label = labelOf(one);
  const chips = [
    one.unreached ? "not reached: an earlier error ends the program" : null,
    one.roots?.length > 1 ? `${one.roots.length} roots: ${one.roots.map(nameOf).join(", ")}` : null,
    one.kind === "zero" ? null : one.retain_graph ? "retain_graph" : null,
    one.create_graph ? "create_graph" : null,
    one.inputs ? `inputs: ${one.inputs.map(nameOf).join(", ")}` : null,
  ].filter(Boolean).map((text) => h("span.chip.grey", {}, text));
  const weights = one.kind === "backward" && one.gradient !== null ? h("span.weights", {}, one.implicit ? (count(one.shape) === 1 ? "implicit gradient 1" : "no gradient") : `gradient ${brief(scene.values[one.gradient])}`) : null;
  const small = (act, name, sign, off) => h("button.quiet", { type: "button", "data-do": act, "data-id": one.id, "aria-label": `${name}: ${label}`, title: name, disabled: off }, sign);
  const movable = (by) => places.move(scene, current(), one.id, by) !== null;
  const marks = [one.error ? h("span.chip.red", { title: one.error }, "raised an error") : null, one.changed ? h("span.chip.changed", {}, one.changed) : null];
  return h("li", { "data-command": one.id, class: [form?.id === one.id ? "chosen" : "", one.error ? "wrong" : "", one.unreached ? "unreached" : ""].join(" ") },
    h("button.command", { type: "button", "data-do": "choose", "data-id": one.id, disabled: one.unreached, "aria-expanded": form?.id === one.id ? "true" : "false" },
      h("span.nth", {}, i + 1), h("span.call", {}, h("code", { title: label }, short({ ...one, label })), weights, chips.length || marks.some(Boolean) ? h("span.row.wrap", {}, marks, chips) : null)),
    h("span.tools", {}, small("run", "Play from here", "▶", one.start === one.end), small("up", "Earlier", "↑", !movable(-1)), small("down", "Later", "↓", !movable(1)), small("remove", "Remove", "✕")));
}

/** The call without its arguments, which stand below it. */
function short({ kind, label }) {
  const open = label.indexOf("(");
  return kind !== "backward" || open < 0 || label[open + 1] === ")" ? label : `${label.slice(0, open)}(…)`;
}

function leaves() {
  const found = leafNodes();
  if (!found.length) return null;
  return h("div", {}, h("h2.keep", {}, "Leaf values"), h("div.row.wrap", {}, found.map((one) => h("button.pill", {
    type: "button", "data-do": "leaf", "data-id": one.id, "aria-pressed": form?.mode === "leaf" && form.id === one.id ? "true" : "false",
  }, one.label, current().leaves[edits.tensorOf(one.id)] !== undefined ? " · edited" : ""))));
}

function writeAdd() {
  const roots = rootsOf(scene);
  const all = places.sequence(scene, edits.specs(scene, current()));
  if (!all.some((one) => one.key === where)) where = "";
  fill(byId("command-add"),
    h("label.where", {}, h("span.label", {}, "Add "), h("select.native", { "data-do": "where", "aria-label": "Where to add" },
      h("option", { value: "" }, "at the end"), all.map((one) => h("option", { value: one.key, selected: one.key === where }, placeText(one))))),
    h("button.btn", { type: "button", "data-do": "add-backward", disabled: !roots.length }, "+ backward()"),
    h("button.btn", { type: "button", "data-do": "add-zero" }, "+ zero the gradients"),
    edits.isNone(current()) ? null : h("button.btn", { type: "button", "data-do": "reset" }, "As recorded"));
}

/** A place in words: behind which line, or behind which call. */
function placeText({ place, spec }) {
  if (spec) return `after ${short({ kind: spec.kind, label: labels.get(scene.program.id)?.get(spec.id) ?? spec.kind })} · call ${list().findIndex((one) => one.id === spec.id) + 1}`;
  if (!place.code) return place.after < 0 ? "at the start" : `after event ${place.after}`;
  return `after line ${place.code.line} · ${lineText(place.code, scene.program.files).slice(0, 40)}`;
}

function clicked(event) {
  const preset = event.target.closest("[data-preset]");
  if (preset) { usePreset(preset.dataset.preset); return; }
  const button = event.target.closest("[data-do]");
  if (!button || button.disabled) return;
  const { do: act, id } = button.dataset;
  const acts = {
    choose: () => (form?.id === id ? close() : choose(id)),
    run: () => run(id),
    up: () => send(places.move(scene, current(), id, -1)),
    down: () => send(places.move(scene, current(), id, 1)),
    duplicate,
    pick,
    remove: () => { if (form?.id === id) close(); send(edits.remove(scene, current(), id)); },
    leaf: () => (form?.id === id ? close() : chooseLeaf(id)),
    "add-backward": addBackward,
    "add-zero": addZero,
    reset: () => { close(); send(edits.NONE); },
  };
  acts[act]?.();
}

/** What was typed into the graph: Edits as they stand, or new numbers for a command's gradient or a leaf. */
export function edited(change) {
  if (!change || !scene) return;
  if (change.command !== undefined) send(edits.change(scene, current(), change.command, { gradient: change.gradient }));
  else if (change.leaf !== undefined) send(edits.setLeaf(current(), String(change.leaf), change.values));
  else send(change);
}

/** A native list was changed: where a command goes, or where new ones do. */
function chosen(event) {
  const act = event.target.dataset?.do;
  if (act === "where") where = event.target.value;
  else if (act === "place" && form) send(places.put(scene, current(), edits.specs(scene, current()).find((one) => one.id === form.id), event.target.value));
}

/** New commands at the chosen place, one behind the other; those that cannot stand there go to the first place where they can. */
function insert(made) {
  let next = current();
  let behind = where;
  const ids = made.map((one) => {
    const spec = edits.fresh(scene, next, one);
    const fits = places.spots(scene, next, spec).map((each) => each.key);
    const key = behind && fits.includes(behind) ? behind : behind ? fits[0] : fits[fits.length - 1];
    next = key ? places.put(scene, next, spec, key) : edits.add(scene, next, one).edits;
    behind = key ? spec.id : behind;
    return spec.id;
  });
  return { next, ids };
}

/** One zeroing for each leaf that can have a gradient, as `optimizer.zero_grad()` would do it. */
function addZero() {
  const tensors = leafNodes().map((one) => edits.tensorOf(one.id));
  if (tensors.length) send(insert(tensors.map((leaf) => ({ kind: "zero", leaf }))).next);
}

function addBackward() {
  const root = rootsOf(scene)[0];
  const gradient = count(root.shape) === 1 ? null : nest(edits.preset("ones", root.shape), root.shape);
  const { next, ids } = insert([{ kind: "backward", root: edits.tensorOf(root.id), gradient }]);
  send(next, () => choose(ids[0]));
}

/** The same command once more, right behind. */
function duplicate() {
  const one = command(form.id);
  const made = { ...edits.specs(scene, current()).find((spec) => spec.id === form.id) };
  if (made.gradient === null && !one.implicit) made.gradient = edits.passed(one, scene);
  const spec = edits.fresh(scene, current(), made);
  send(places.put(scene, current(), spec, form.id), () => choose(spec.id));
}

export function run(id = form?.id) {
  const one = command(id);
  player.seek(one ? one.start : 0);
  player.play();
}

/** Opens the form for a command; called with the command's id, also by the player's own editor. */
export function choose(id) {
  if (!command(id)) return;
  form = { mode: "command", id };
  writeList();
  reopen(true);
}

function chooseLeaf(id) {
  form = { mode: "leaf", id };
  writeList();
  reopen(true);
}

export function close() {
  if (form && player.choosing()) player.choose();
  form = null;
  byId("command-form").hidden = true;
  if (scene) writeList();
}

/** An edit was refused: the form shows again what is. */
export function restore() {
  if (!scene || !form) return;
  form.data = null;
  writeList();
  writeAdd();
  reopen(true);
}

/** Writes the form from the scene: after every answer, because an edit may have changed more than was typed. */
function reopen(fresh = false) {
  const leaf = form.mode === "leaf";
  const one = leaf ? node(form.id) : command(form.id);
  if (!one) { close(); return; }
  const backward = !leaf && one.kind === "backward";
  byId("command-form").hidden = false;
  const title = leaf ? `Values of ${one.label}` : labelOf(one);
  setProps("command-title", { children: title, title });
  writePlace(leaf ? null : one);
  byId("command-root-row").hidden = !backward;
  byId("command-flags").hidden = !backward;
  byId("command-presets").hidden = !backward && !leaf;
  if (backward) writeFlags(one);
  const shape = leaf ? one.shape : backward ? gradientShape(one) : null;
  const value = leaf ? leafValue(one) : backward && one.gradient !== null ? scene.values[one.gradient] : null;
  form.shape = shape;
  form.dtype = (value ?? (leaf ? one : node(one.root)))?.dtype;
  writeValues(shape, value, leaf, fresh);
  if (fresh) keepRow();
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

/** Where the command stands, in a list of all places where it can. */
function writePlace(one) {
  const place = byId("command-place-row");
  place.hidden = !one;
  if (!one) return;
  const spec = edits.specs(scene, current()).find((each) => each.id === one.id);
  const now = places.spotOf(scene, current(), one.id);
  const all = places.spots(scene, current(), spec);
  fill(place, h("label.where", {}, h("span.label", {}, "Place "), h("select.native", { "data-do": "place", "aria-label": "Place in the program" },
    all.map((each) => h("option", { value: each.key, selected: each.key === now }, placeText(each))))),
  h("button.btn", { type: "button", "data-do": "duplicate", title: "Add the same command again, directly after this one" }, "Duplicate"));
}

/** The shape that the gradient has now: for an error, that which was passed. */
function gradientShape(one) {
  const value = one.gradient === null ? null : scene.values[one.gradient];
  return value?.shape ?? one.shape ?? [];
}

function leafValue(one) {
  const row = one.rows.find((each) => each.key === "value");
  const first = row?.track.find(([, id]) => id !== null);
  return first ? scene.values[first[1]] : null;
}

function writeFlags(one) {
  const said = ({ label, shape, role }) => [label, shapeText(shape), role === "leaf" || role === "constant" ? role : null].filter(Boolean).join(" · ");
  const options = rootsOf(scene, one.root).map((each) => ({ value: each.id, label: said(each) }));
  const inputs = (one.inputs || []).map((id) => `t${edits.tensorOf(id)}`);
  const leafs = [...new Set([...leafNodes().map((each) => each.id), ...inputs])].map((id) => ({ value: id, label: nameOf(id) }));
  const same = { root: one.root, retain: one.retain_graph, create: one.create_graph, inputs };
  form.flags = same;
  setProps("command-root", { data: options, value: one.root });
  setProps("command-retain", { checked: one.retain_graph });
  setProps("command-create", { checked: one.create_graph });
  setProps("command-inputs", { data: leafs, value: same.inputs });
}

function writeValues(shape, value, leaf, fresh) {
  const label = byId("command-values-label");
  const hint = byId("command-hint");
  const size = count(shape);
  const place = byId("command-grid-place");
  const none = !leaf && command(form.id)?.implicit;
  const editable = shape !== null && size > 0 && size <= MOST_CELLS && !(none && size !== 1);
  place.hidden = !editable;
  if (shape === null) { fill(label); fill(hint, "Clears .grad of every leaf, so that the next call does not add to old gradients."); return; }
  const many = !leaf && command(form.id)?.roots?.length > 1 ? ` of ${node(command(form.id).root)?.label}, the first of its roots` : "";
  fill(label, leaf ? "values" : `gradient${many}`, h("span.hint", {}, ` · ${shapeText(shape)}`));
  document.querySelector('[data-preset="case"]').hidden = leaf ? false : !caseValue();
  const unpassed = document.querySelector('[data-preset="none"]');
  unpassed.hidden = leaf;
  unpassed.setAttribute("aria-pressed", String(Boolean(none)));
  if (none && size !== 1) { fill(hint, "No gradient is passed, and the implicit 1 works only for a single number. Choose “ones” or another preset to pass one."); return; }
  if (!editable) { fill(hint, `${size} elements are too many to edit one by one; the presets set all of them.`); return; }
  const held = value?.data || (value && form.fetched?.of === value ? form.fetched.data : null);
  const data = held || (form.data?.length === size ? form.data : null) || edits.preset("ones", shape);
  fill(hint, form.hot ? "Click the cell that should count." : !value || held ? hintOf(held, size) : size > MOST_FETCHED ? `Tensors with more than ${MOST_FETCHED.toLocaleString("en")} elements are not sent to the browser: editing one cell sets all others to 1.` : "Fetching the numbers …");
  if (!held && value && size <= MOST_FETCHED) fetchValues(value, leaf);
  if (!fresh && form.data && edits.same(form.data, data)) { form.data = data; return; }
  form.data = [...data];
  if (fresh || !place.dataset.mounted) showGrid(shape, data);
  else fillGrid(shape, data);
}

const hintOf = (held, size) => `${held && size > 16 ? `All ${size} elements as they are now. ` : ""}Double-click a cell, or type into it. Enter runs the change.`;

/** The numbers of a value that a scene holds only as a strip: asked for once, with the details of its tensor. */
function fetchValues(value, leaf) {
  const of = form;
  const one = leaf ? node(form.id) : command(form.id);
  inspector.want(leaf ? one.id : one.root, (details) => {
    if (form !== of || !details.figures) return;
    const figure = details.figures.find((each) => each.title === (leaf ? "value" : "gradient passed"));
    const id = figure ? trackAt(figure.track, leaf ? figure.track[figure.track.length - 1][0] : one.start + 1) : null;
    const data = id === null || id === undefined ? null : details.values[id]?.data;
    if (!data || data.length !== count(form.shape)) return;
    form.fetched = { of: value, data };
    writeValues(form.shape, value, leaf, false);
  });
}

function caseValue() {
  const known = recorded.get(scene.program.id)?.get(form?.id);
  return known?.value?.data && edits.same(known.value.shape, form.shape) ? known : null;
}

function usePreset(name) {
  if (!form?.shape) return;
  form.hot = name === "one-hot";
  if (name === "case") {
    if (form.mode === "leaf") send(edits.resetLeaf(current(), edits.tensorOf(form.id)));
    else if (caseValue()) apply(caseValue().value.data, caseValue().implicit);
    return;
  }
  if (name === "none") {
    send(edits.change(scene, current(), form.id, { gradient: edits.NONE_PASSED }));
    return;
  }
  if (name === "random") seed += 1;
  apply(edits.preset(name, form.shape, { seed }));
}

/** New numbers for what the form is about. */
function apply(data, implicit = false) {
  form.data = [...data];
  fillGrid(form.shape, data);
  const nested = nest(data, form.shape);
  if (form.mode === "leaf") send(edits.setLeaf(current(), edits.tensorOf(form.id), nested));
  else send(edits.change(scene, current(), form.id, { gradient: implicit ? null : nested }));
}

/** What the grid reports: a cell was typed into, or clicked while a one-hot is being chosen. */
export function cellChanged(changed) {
  const cell = Array.isArray(changed) ? changed[0] : changed;
  if (!cell || !form?.shape) return;
  const at = gridCell(cell, form.shape);
  const parsed = parseNumber(String(cell.value ?? ""), form.dtype);
  if (parsed.error) { session.refuse(parsed.error); fillGrid(form.shape, form.data); return; }
  if (at === null || form.data[at] === parsed.value) return;
  const data = [...form.data];
  data[at] = parsed.value;
  apply(data);
}

export function cellClicked(cell) {
  if (!form?.hot || !cell) return;
  const at = gridCell(cell, form.shape);
  if (at !== null) apply(edits.preset("one-hot", form.shape, { cell: at }));
}

/** What the form's other inputs report. A value that we wrote ourselves is no change. */
export function flagChanged(name, value) {
  const one = form?.mode === "command" ? command(form.id) : null;
  if (!one || !form.flags || value === null || value === undefined || edits.same(form.flags[name], value)) return;
  form.flags[name] = value;
  const tensors = name === "inputs" ? (value.length ? value.map(edits.tensorOf) : null) : null;
  const changes = { root: () => rootChange(value), retain: () => ({ retain_graph: value }), create: () => ({ create_graph: value, ...(value ? { retain_graph: true } : {}) }), inputs: () => ({ inputs: tensors }) };
  send(edits.change(scene, current(), form.id, changes[name]()));
}

/** The root is chosen on the graph; pressed once more, the button takes that back. */
function pick() {
  if (player.choosing()) { player.choose(); return; }
  const one = command(form.id);
  const spec = edits.specs(scene, current()).find((each) => each.id === one.id);
  const over = panels.isNarrow() && panels.isOpen("right"); // the panel lies on the graph
  if (over) panels.toggle("right", false);
  byId("command-pick").setAttribute("aria-pressed", "true");
  player.choose({
    text: `Choose where ${short({ ...one, label: labelOf(one) })} starts`,
    why: (node) => whyNoRoot(scene, spec, one.start, node),
    take: (node) => { const id = node.twin ?? node.id; player.select(id); flagChanged("root", rootsOf(scene, one.root).find((each) => edits.tensorOf(each.id) === edits.tensorOf(id)).id); },
    ended: (cancelled) => {
      byId("command-pick").setAttribute("aria-pressed", "false");
      if (over) panels.toggle("right", true);
      if (cancelled) byId("command-pick").focus({ preventScroll: true });
    },
  });
}

/** Another root has another shape: a gradient that no longer fits becomes ones. */
function rootChange(id) {
  const { shape } = node(id);
  const spec = edits.specs(scene, current()).find((one) => one.id === form.id);
  if (spec.gradient === edits.NONE_PASSED) return { root: edits.tensorOf(id), gradient: edits.NONE_PASSED };
  const fits = form.data && form.shape && edits.same(shape, form.shape);
  const gradient = count(shape) === 1 ? null : nest(fits ? form.data : edits.preset("ones", shape), shape);
  return { root: edits.tensorOf(id), gradient };
}
