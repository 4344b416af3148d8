// The answers of the server, from the data that was packed when the lesson was written (viz/server/lesson/packing.py).
import { applyDifference } from "./difference.mjs";
import { isNone } from "../page/edits.mjs";
import { isEqual, withGhosts } from "../scene/ghosts.mjs";

const UNFORESEEN = {
  kind: "unforeseen", title: "This change is not in the lesson",
  text: "A lesson holds the replays of the most likely changes: each one-hot gradient, ones, zeros, none, the flags of each call, some pairs of these, and what its chapters propose. For any other change, install Backstep with `pip install backstep` and run the program with it.",
};
const FAR = {
  kind: "unforeseen", title: "Changes of this iteration are not in the lesson",
  text: "The lesson holds the replays of the iteration that it opens with, and of as many around it as fit. For changes of this one, install Backstep with `pip install backstep` and open the recording with it.",
};
const ELSEWHERE = { kind: "elsewhere", title: "This part of the run is not in the lesson", text: "Open the recording with `backstep open` to see all of it." };
const NO_RUN = { title: "The whole run is not in the lesson", text: "Open the recording with `backstep open` to see all of its iterations." };

export class Answers {
  /** @param {any} packed */
  constructor(packed) {
    this.packed = packed;
    /** @type {Map<any, any[]>} by section: its recorded scenes, the one that is shown first at the front */
    this.foldings = new Map();
    /** @type {any} the scene that was sent last */
    this.latest = null;
  }

  /** The answer to a question for a scene, as viz/server/callbacks/answers.py gives it. */
  scene(ask) {
    const { request } = ask;
    const section = this.sectionOf(ask);
    if (!section) return { request, problem: { ...ELSEWHERE, ways: [] } };
    const result = this.resultOf(section, ask);
    if (result.problem) return { request, problem: result.problem };
    const before = ask.previous && !isEqual(ask.previous.edits, result.edits) ? this.resultOf(section, { edits: ask.previous.edits, revision: null, folds: ask.folds }).scene : null;
    const scene = before ? withGhosts(result.scene, before) : result.scene;
    this.latest = scene;
    return { request, scene, edits: result.edits, watch: false, version: 1, note: "" };
  }

  sectionOf({ program, section }) {
    const entry = this.packed.programs[program];
    return entry?.sections[entry.opens === null ? "" : String(section ?? entry.opens)];
  }

  resultOf(section, { edits, revision, folds }) {
    const named = edits ?? this.namedBy(section, revision);
    if (isNone(named)) return { scene: this.nearestScene(section, folds ?? {}), edits: null };
    const entry = section.edited.find((one) => isEqual(one.edits, named));
    if (!entry) return { problem: { ...(section.edited.length ? UNFORESEEN : FAR), ways: [] } };
    return entry.problem ? { problem: { ...entry.problem, ways: [] } } : { scene: applyDifference(section.base, entry.scene), edits: entry.edits };
  }

  /** The edits of a revision that an address names by its id. */
  namedBy(section, revision) {
    return revision ? section.edited.find((one) => one.revision === revision)?.edits : null;
  }

  /**
   * The recorded scene whose groups are folded as asked for.  Not all ways to fold are packed: of those that do what was asked for last the one
   * that is most like it.
   */
  nearestScene(section, folds) {
    if (!this.foldings.has(section)) this.foldings.set(section, [section.base, ...section.foldings.map((one) => applyDifference(section.base, one))]);
    const all = this.foldings.get(section) ?? [];
    const differences = (scene) => Object.entries(folds).filter(([id, folded]) => scene.folded.includes(id) !== folded).length;
    const changes = Object.entries(folds).filter(([id, folded]) => this.latest && this.latest.folded.includes(id) !== folded);
    const obeys = all.filter((scene) => changes.every(([id, folded]) => scene.folded.includes(id) === folded));
    return (obeys.length ? obeys : all).reduce((best, one) => (differences(one) < differences(best) ? one : best));
  }

  /** The answer to a question for the whole run, at the address where a server has it. @param {URL} address */
  run({ pathname, searchParams }) {
    const { overview, graphs } = this.packed.programs[searchParams.get("program") ?? ""]?.run ?? {};
    if (pathname.endsWith("/graphs")) return { graphs };
    return overview ? { overview } : { problem: NO_RUN };
  }

  /** The answer to a question for the details of an element. */
  details({ request, revision, element, program, section: number }) {
    const section = this.sectionOf({ program, section: number });
    const byElement = section?.details ?? {};
    const change = section?.changed[revision];
    const details = change ? (element in change ? applyDifference(byElement[element], change[element]) : null) : byElement[element];
    const problem = details ? undefined : { kind: "unknown-element", title: "This element has no details here", text: "The lesson does not hold them.", ways: [] };
    return { request, revision, element, details, problem };
  }
}
