// The printed texts of the program, under the lines that printed them: of each line the latest at the current time.
import { latestOf, linesShown, moreLines, mostLines, printsOf } from "../../scene/lines.mjs";
import { fill, h } from "../../page/dom.mjs";

/** @import { Print, Scene } from "../../scene/scene.d.ts" */
/** @typedef {{ prints: Print[], element: HTMLElement, place: number }} Printed `place` is the place of the print that stands there, -1 for none */

export class Prints {
  constructor() {
    /** @type {Printed[]} */
    this.rows = [];
    this.edited = false;
  }

  /**
   * The rows of a file by the line that they stand under.  Each has room for the longest of its prints from the beginning: no step moves a line.
   * @type {(scene: Scene, file: number) => Map<number, HTMLElement>}
   */
  load(scene, file) {
    this.edited = scene.revision.base !== null && !scene.revision.ran;
    this.rows = [];
    const elements = new Map();
    for (const [line, prints] of printsOf(scene, file)) {
      const element = h("li.printed", { role: "none", style: `--lines: ${mostLines(prints)}` });
      this.rows.push({ prints, element, place: -1 });
      elements.set(line, element);
    }
    return elements;
  }

  /** The rows whose prints were made by the step that ends at a time. */
  madeAt(t) {
    return this.rows.filter(({ prints, place }) => place >= 0 && prints[place].step === t).map(({ element }) => element);
  }

  seek(t) {
    for (const row of this.rows) {
      const latest = latestOf(row.prints, t);
      if (latest === row.place) continue;
      row.place = latest;
      this.write(row);
    }
  }

  /** @param {Printed} row */
  write({ prints, element, place }) {
    if (place < 0) {
      fill(element);
      element.title = "";
      return;
    }
    const print = prints[place];
    const { lines, more } = linesShown(print);
    const times = place ? `The latest of ${place + 1} prints so far. ` : "";
    element.title = `${times}${this.edited ? "Printed when the program was recorded, without the edits. " : ""}${print.stream === "stderr" ? "Written to stderr. " : ""}${print.text.slice(0, 400)}`;
    fill(element, this.edited ? h("span.when", {}, "as recorded: ") : null, h("samp", { class: print.stream }, lines.join("\n")),
      more ? h("span.more", {}, `${lines.length ? "\n" : ""}${moreLines(more, !lines.length)}`) : null);
  }
}
