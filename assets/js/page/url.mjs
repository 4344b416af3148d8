// The address of a view, both ways. Pure but for `write`, which puts it into the browser's history.

const LONGEST = 2048; // characters of edits in an address; what is longer goes by the id of its revision

/** Text as base64url without padding, so that it stands in an address as it is. */
export function pack(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The value again, or undefined where the text was cut or changed. */
export function unpack(text) {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(raw, (letter) => letter.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

const PRESENT = ["1", "notes"]; // the hall, and the presenter's own window

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Whether these are edits in their form; what the commands and values in them say, the server looks at. */
const areEdits = (value) => isObject(value) && isObject(value.leaves ?? {}) && Array.isArray(value.commands ?? []) && (value.commands ?? []).every(isObject);

/** The query of a view: {program, section, edits, revision, run, step, chapter, select, theme, layout, folds}; what is null is left out.
 * `chapter`, counted from 1, is one whose text is read before its move, where the step belongs to the one before.
 * `first` says that a step of 0 has to stand there, because without a step the program opens at another one. */
export function query(view) {
  if (!view.program) return view.theme ? `?theme=${view.theme}` : "";
  const pairs = [["program", view.program]];
  const packed = view.edits ? pack(view.edits) : "";
  if (packed && packed.length <= LONGEST) pairs.push(["edits", packed]);
  else if (packed) pairs.push(["revision", view.revision]);
  if (Number.isInteger(view.section)) pairs.push(["section", view.section]);
  if (view.run) pairs.push(["view", "run"]);
  if (view.step || view.first) pairs.push(["step", view.step]);
  if (view.chapter) pairs.push(["chapter", view.chapter]);
  if (view.select) pairs.push(["select", view.select]);
  if (view.layout) pairs.push(["layout", view.layout]);
  if (view.folds && Object.keys(view.folds).length) pairs.push(["folds", pack(view.folds)]);
  if (view.theme) pairs.push(["theme", view.theme]);
  if (view.present) pairs.push(["present", view.present]);
  return `?${new URLSearchParams(pairs.filter(([, value]) => value !== null && value !== undefined))}`;
}

/** The view of a query; `damaged` says that the edits in it could not be read. */
export function view(search) {
  const query = new URLSearchParams(search);
  const edits = query.has("edits") ? unpack(query.get("edits")) : null;
  const damaged = edits !== null && !areEdits(edits);
  const folds = query.has("folds") ? unpack(query.get("folds")) : {};
  const step = Number(query.get("step") ?? 0);
  const chapter = Number(query.get("chapter") ?? NaN);
  const section = Number(query.get("section") ?? NaN);
  const theme = query.get("theme");
  return {
    program: query.get("program"),
    edits: damaged ? null : edits,
    damaged,
    revision: query.get("revision"),
    section: Number.isSafeInteger(section) && section >= 0 ? section : null,
    step: Number.isFinite(step) && step > 0 ? step : 0,
    chapter: Number.isSafeInteger(chapter) && chapter > 0 ? chapter : null,
    run: query.get("view") === "run",
    unplaced: !query.has("step"),
    select: query.get("select"),
    layout: query.get("layout") || "",
    folds: isObject(folds) ? Object.fromEntries(Object.entries(folds).filter(([, folded]) => typeof folded === "boolean")) : {},
    theme: theme === "dark" || theme === "light" ? theme : null,
    present: PRESENT.find((name) => name === query.get("present")) ?? null,
  };
}

/** Puts the view into the address: `push` makes a place that the back button returns to. */
export function write(view, push) {
  const address = `${location.pathname}${query(view)}`;
  if (address === `${location.pathname}${location.search}`) return;
  try {
    if (push) history.pushState(null, "", address);
    else history.replaceState(history.state, "", address);
  } catch { /* a page in a file or a frame may have no address of its own */ }
}
