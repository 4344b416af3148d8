// The commands panel: the program's calls as a list, and the form in which one of them, or a leaf, is edited.
// Every change becomes Edits and goes to the server at once; the form then shows what came back.
import { nest, parseNumber, shapeText } from "../format.mjs";
import { byId, fill, h, setProps } from "./dom.mjs";
import * as edits from "./edits.mjs";
import { fillGrid, gridCell, showGrid } from "./matrix.mjs";
import { brief, count } from "./read.mjs";
import * as session from "./session.mjs";

const MOST_CELLS = 40000; // more are not edited one by one, only by a preset

let scene = null;
let player = null;
let form = null; // {mode: "command"|"leaf", id, shape, data, hot}
let seed = 1;
const recorded = new Map(); // program -> command id -> value as recorded, for the preset "as in the program"

export function setUp(backstep) {
  player = backstep;
  byId("commands").addEventListener("click", clicked);
}

export function load(next) {
  scene = next;
  if (edits.isNone(session.state().edits)) keepRecorded();
  setProps("commands-count", { children: String(scene.commands.length) });
  writeError();
  writeList();
  writeAdd();
  if (form) reopen();
}

function keepRecorded() {
  const known = new Map(scene.commands.filter((one) => one.gradient !== null).map((one) => [one.id, { value: scene.values[one.gradient], implicit: one.implicit }]));
  recorded.set(scene.program.id, known);
}

const node = (id) => scene.nodes.find((one) => one.id === id);
const command = (id) => scene.commands.find((one) => one.id === id);
const current = () => session.state().edits;
const send = (next) => next && session.edit(next);

function writeError() {
  const error = scene.error;
  const place = byId("command-error");
  if (!error) { fill(place); return; }
  fill(place, h("div.error", { role: "alert" },
    h("div.error-type", {}, error.type),
    h("p.error-message", {}, error.message),
    error.note ? h("p", {}, error.note) : null,
    error.why ? h("p", {}, error.why) : null,
    h("div.row.wrap", {},
      error.fix?.edits ? h("button.btn.primary", { type: "button", "data-do": "fix" }, error.fix.text) : error.fix ? h("p.hint", {}, error.fix.text) : null,
      h("button.btn", { type: "button", "data-do": "show-error" }, "Show where")),
    error.traceback ? h("details", {}, h("summary", {}, "Traceback"), h("pre", {}, error.traceback)) : null));
}

function writeList() {
  const list = edits.listed(scene, current()).map((one, i) => {
    const chips = [
      one.unreached ? "not reached: the error before it ends the program" : null,
      one.kind === "zero" ? null : one.retain_graph ? "retain_graph" : null,
      one.create_graph ? "create_graph" : null,
      one.inputs ? `inputs: ${one.inputs.map((id) => node(id)?.label ?? id).join(", ")}` : null,
    ].filter(Boolean).map((text) => h("span.chip.grey", {}, text));
    const weights = one.kind === "backward" && one.gradient !== null ? h("span.weights", {}, one.implicit ? "gradient 1, filled in" : `gradient ${brief(scene.values[one.gradient])}`) : null;
    const small = (act, label, sign, off) => h("button.quiet", { type: "button", "data-do": act, "data-id": one.id, "aria-label": `${label}: ${one.label}`, title: label, disabled: off }, sign);
    const movable = (by) => edits.move(scene, current(), one.id, by) !== null;
    return h("li", { class: [form?.id === one.id ? "chosen" : "", one.error ? "wrong" : ""].join(" ") },
      h("button.command", { type: "button", "data-do": "choose", "data-id": one.id, "aria-expanded": form?.id === one.id ? "true" : "false" },
        h("span.nth", {}, i + 1), h("span.call", {}, h("code", { title: one.label }, short(one)), weights,
          chips.length || one.edited || one.error ? h("span.row.wrap", {}, one.error ? h("span.chip.red", { title: one.error }, "raised an error") : null, one.edited ? h("span.chip.purple", {}, "edited") : null, chips) : null)),
      h("span.tools", {}, small("run", "Play from here", "▶", one.start === one.end), small("up", "Earlier", "↑", !movable(-1)), small("down", "Later", "↓", !movable(1)), small("remove", "Remove", "✕")));
  });
  fill(byId("command-list"), h("h2", {}, "Calls, in order"), list.length ? h("ol.commands", {}, list) : h("p.empty", {}, "This program calls no backward. Add a call and see what it does."), leaves());
}

/** The call without its arguments, which stand below it. */
function short({ kind, label }) {
  const open = label.indexOf("(");
  return kind !== "backward" || open < 0 || label[open + 1] === ")" ? label : `${label.slice(0, open)}(…)`;
}

function leaves() {
  const found = scene.nodes.filter((one) => one.kind === "tensor" && one.role === "leaf");
  if (!found.length) return null;
  return h("div", {}, h("h2.keep", {}, "Leaf values"), h("div.row.wrap", {}, found.map((one) => h("button.pill", {
    type: "button", "data-do": "leaf", "data-id": one.id, "aria-pressed": form?.mode === "leaf" && form.id === one.id ? "true" : "false",
  }, one.label, current().leaves[edits.tensorOf(one.id)] !== undefined ? " · edited" : ""))));
}

function writeAdd() {
  const roots = rootsOf();
  fill(byId("command-add"),
    h("button.btn", { type: "button", "data-do": "add-backward", disabled: !roots.length }, "+ backward()"),
    h("button.btn", { type: "button", "data-do": "add-zero" }, "+ zero the gradients"),
    edits.isNone(current()) ? null : h("button.btn", { type: "button", "data-do": "reset" }, "As recorded"));
}

/** The tensors that backward can start from, the last computed first. */
function rootsOf() {
  const found = scene.nodes.filter((one) => one.kind === "tensor" && one.role !== "constant" && one.role !== "leaf");
  return found.sort((a, b) => edits.tensorOf(b.id) - edits.tensorOf(a.id));
}

function clicked(event) {
  const preset = event.target.closest("[data-preset]");
  if (preset) { usePreset(preset.dataset.preset); return; }
  const button = event.target.closest("[data-do]");
  if (!button || button.disabled) return;
  const { do: act, id } = button.dataset;
  const acts = {
    fix: () => send(scene.error.fix.edits),
    "show-error": () => { player.seek(scene.error.step + 1); player.select(scene.error.node); },
    choose: () => (form?.id === id ? close() : choose(id)),
    run: () => run(id),
    up: () => send(edits.move(scene, current(), id, -1)),
    down: () => send(edits.move(scene, current(), id, 1)),
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

/** One zeroing for each leaf that can have a gradient, as `optimizer.zero_grad()` would do it. */
function addZero() {
  const tensors = scene.nodes.filter((one) => one.kind === "tensor" && one.role === "leaf").map((one) => edits.tensorOf(one.id));
  let next = current();
  tensors.forEach((leaf) => { next = edits.add(scene, next, { kind: "zero", leaf }).edits; });
  if (tensors.length) send(next);
}

function addBackward() {
  const root = rootsOf()[0];
  const gradient = count(root.shape) === 1 ? null : nest(edits.preset("ones", root.shape), root.shape);
  const made = edits.add(scene, current(), { kind: "backward", root: edits.tensorOf(root.id), gradient });
  session.edit(made.edits, () => { form = { mode: "command", id: made.id }; });
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
  form = null;
  byId("command-form").hidden = true;
  if (scene) writeList();
}

/** Writes the form from the scene: after every answer, because an edit may have changed more than was typed. */
function reopen(fresh = false) {
  const leaf = form.mode === "leaf";
  const one = leaf ? node(form.id) : command(form.id);
  if (!one) { close(); return; }
  const backward = !leaf && one.kind === "backward";
  byId("command-form").hidden = false;
  setProps("command-title", { children: leaf ? `Values of ${one.label}` : one.label });
  byId("command-root-row").hidden = !backward;
  byId("command-flags").hidden = !backward;
  byId("command-presets").hidden = !backward && !leaf;
  if (backward) writeFlags(one);
  const shape = leaf ? one.shape : backward ? gradientShape(one) : null;
  const value = leaf ? leafValue(one) : backward && one.gradient !== null ? scene.values[one.gradient] : null;
  form.shape = shape;
  writeValues(shape, value, leaf, fresh);
  if (fresh) requestAnimationFrame(() => byId("command-form").scrollIntoView({ block: "nearest" }));
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
  const options = rootsOf().map((each) => ({ value: each.id, label: `${each.label} · ${shapeText(each.shape)}` }));
  const leafs = scene.nodes.filter((each) => each.kind === "tensor" && each.role === "leaf").map((each) => ({ value: each.id, label: each.label }));
  const same = { root: one.root, retain: one.retain_graph, create: one.create_graph, inputs: one.inputs || [] };
  form.flags = same;
  setProps("command-root", { data: options, value: one.root });
  setProps("command-retain", { checked: one.retain_graph });
  setProps("command-create", { checked: one.create_graph });
  setProps("command-inputs", { data: leafs, value: one.inputs || [] });
}

function writeValues(shape, value, leaf, fresh) {
  const label = byId("command-values-label");
  const hint = byId("command-hint");
  const size = count(shape);
  const place = byId("command-grid-place");
  const editable = shape !== null && size > 0 && size <= MOST_CELLS;
  place.hidden = !editable;
  if (shape === null) { fill(label); fill(hint, "Sets .grad of every leaf back: the next call adds to nothing."); return; }
  fill(label, leaf ? "values" : "gradient", h("span.hint", {}, ` · ${shapeText(shape)}`));
  document.querySelector('[data-preset="case"]').hidden = leaf ? false : !caseValue();
  if (!editable) { fill(hint, `${size} elements are too many to edit one by one; the presets set all of them.`); return; }
  const data = value?.data || (form.data?.length === size ? form.data : null) || edits.preset("ones", shape);
  const unknown = !value?.data && form.data?.length !== size;
  fill(hint, form.hot ? "Click the cell that should count." : unknown ? "More elements than are shown here as recorded; editing one sets the others to 1." : "Double-click a cell, or type into it. Enter runs the change.");
  if (!fresh && form.data && edits.same(form.data, data)) { form.data = data; return; }
  form.data = [...data];
  if (fresh || !place.dataset.mounted) showGrid(shape, data);
  else fillGrid(shape, data);
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
  const parsed = parseNumber(String(cell.value ?? ""));
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

/** Another root has another shape: a gradient that no longer fits becomes ones. */
function rootChange(id) {
  const { shape } = node(id);
  const fits = form.data && form.shape && edits.same(shape, form.shape);
  const gradient = count(shape) === 1 ? null : nest(fits ? form.data : edits.preset("ones", shape), shape);
  return { root: edits.tensorOf(id), gradient };
}
