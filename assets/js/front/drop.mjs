// A file that is dropped on the page, or chosen: a trace file is opened; for a script, the command that records it is shown.
// A script is never run from here: anyone who reaches this port could run programs with its user's rights.
import { byId, fill, first, h } from "../page/dom.mjs";

const TRACE = "application/vnd.sqlite3";
const LARGEST = 16 * 2 ** 20; // bytes of one request

export class Drop {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    const field = /** @type {HTMLInputElement | null} */ (first("input[type=file]", place));
    if (!field) return; // a server for many takes no files
    field.addEventListener("change", () => { if (field.files?.[0]) this.take(field.files[0]); field.value = ""; });
    const page = byId("front");
    page.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      place.classList.add("over");
    });
    page.addEventListener("dragleave", (event) => event.relatedTarget === null && place.classList.remove("over"));
    page.addEventListener("drop", (event) => {
      place.classList.remove("over");
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.take(file);
    });
  }

  /** @param {File} file */
  async take(file) {
    this.place.scrollIntoView({ block: "nearest" });
    if (/\.py$/i.test(file.name)) this.say("To record it, run in its folder:", `backstep run ${quoteName(file.name)}`);
    else if (file.size > LARGEST) this.say("This file is too large for the browser. Open it with:", `backstep open ${quoteName(file.name)}`);
    else await this.open(file);
  }

  async open(file) {
    this.say(`Opening ${file.name} …`);
    try {
      const answer = await fetch(`/open?name=${encodeURIComponent(file.name)}`, { method: "POST", headers: { "Content-Type": TRACE }, body: file });
      const { program, problem } = await answer.json();
      if (program) location.assign(`/?program=${encodeURIComponent(program)}`);
      else this.say(problem.text);
    } catch {
      this.say("Backstep could not take this file. Open it with:", `backstep open ${quoteName(file.name)}`);
    }
  }

  say(text, command = "") {
    const copy = h("button.btn", { type: "button", onclick: () => navigator.clipboard.writeText(command).then(() => { copy.textContent = "Copied"; }, () => {}) }, "Copy");
    fill(byId("drop-said"), h("span", {}, withCode(text)), command ? [" ", h("code", {}, command), " ", copy] : null);
  }
}

/** A message with its commands, which stand in backticks, as code. */
const withCode = (text) => text.split(/`([^`]+)`/).map((part, k) => (k % 2 ? h("code", {}, part) : part));

/** A file's name as a shell takes it. */
const quoteName = (name) => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
