// The Export menu: saves the graph as a picture, a film, the recording, the scene, a lesson.
import { film } from "../film/film.mjs";
import { pngOf } from "../../paint/picture.mjs";
import { byId, fill, h, post, setProps } from "../../page/dom.mjs";

const PICTURES = {
  "export-svg": "Picture (SVG)", "export-png": "Picture (PNG)", "export-svg-seen": "What I see (SVG)", "export-png-seen": "What I see (PNG)",
  "export-svg-slide": "Slide, 16:9 (SVG)", "export-png-slide": "Slide, 16:9 (PNG)", "export-webm": "This call as video (WebM)", "export-gif": "This call as animation (GIF)",
};
const SAME = "Run the same on PyTorch";
const TIMES = 3; // how often one file is asked for in the background
const WORK = { html: "Writing the lesson: replaying the most likely changes …" }; // what takes long enough to be said
const POLL = 500; // ms between two questions for how far it is

/**
 * The acts of the menu, by name.
 * @param {any} player `window.backstep`, which paints
 * @param {import("../../page/session.mjs").Session} session
 * @param {import("../../page/toast.mjs").Toast} toast
 * @param {ServerFiles} files
 * @returns {Record<string, (value?: any) => void>}
 */
export function acts(player, session, toast, files) {
  return {
    "export-svg": (part) => save(new Blob([player.picture(part).text], { type: "image/svg+xml" }), pictureName(player, session, "svg", part)),
    "export-png": (part) => savePng(player, session, toast, part), "export-film": (kind) => saveFilm(player, session, toast, kind), "copy-frame": (attributes) => copyFrame(session, toast, attributes), "export-file": (ending) => saveFile(session, toast, files, ending), "export-scene": () => saveScene(session),
    "on-torch": () => runOnTorch(session, toast),
  };
}

/** The files that the server writes; what takes long it has written in the background, by Dash, and is asked for once more. */
export class ServerFiles {
  constructor() {
    /** @type {{ resolve: () => void, reject: (error: Error) => void } | null} who waits for what is written in the background */
    this.waiting = null;
  }

  /**
   * The content of a file.
   * @param {string} ending
   * @param {any} ask
   * @returns {Promise<Blob>}
   */
  async content(ending, ask, times = TIMES) {
    const answer = await post(`/export/${ending}`, ask);
    if (answer.status === 202 && times > 0) {
      await this.requestLater({ ending, ...ask });
      return this.content(ending, ask, times - 1);
    }
    if (answer.status !== 200) throw new Error((await answer.json().catch(() => ({}))).problem?.text || `the server answered ${answer.status}`);
    return answer.blob();
  }

  /** @returns {Promise<void>} */
  requestLater(ask) {
    this.waiting?.reject(new Error("another file was requested"));
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      setProps("later-file", { data: ask });
    });
  }

  /** @param {{ problem?: { text: string } }} answer */
  settle({ problem }) {
    if (problem) this.waiting?.reject(new Error(problem.text));
    else this.waiting?.resolve();
    this.waiting = null;
  }
}

/** Says how many changes the server has replayed for a file, until the function that it returns is called. @returns {() => void} */
function follow(toast, ending, ask) {
  let ended = false;
  const timer = setInterval(async () => {
    const { replayed } = await post(`/export/${ending}/progress`, ask).then((answer) => answer.json()).catch(() => ({}));
    if (replayed && !ended) toast.say(`${WORK[ending]} ${replayed} so far`, true);
  }, POLL);
  return () => {
    ended = true;
    clearInterval(timer);
  };
}

/** Pictures are offered where there is a graph; elsewhere the entries say why they are not. */
export function offer(scene) {
  const hasGraph = scene.nodes.length > 0;
  const runs = scene.program.on_torch;
  setProps("on-torch", { "aria-disabled": String(!runs), children: runs ? SAME : `${SAME}: not available for this program` });
  for (const [id, name] of Object.entries(PICTURES)) setProps(id, { "aria-disabled": String(!hasGraph), children: hasGraph ? name : `${name}: there is no graph` });
}

/** Something to read above the graph, until it is hidden or another revision is shown. */
function note(text, link) {
  const place = byId("doubt");
  fill(place, h("div", {}, h("p", {}, text), link), h("button.quiet", { type: "button", "aria-label": "Hide this note", onclick: () => { place.hidden = true; } }, "✕"));
  place.hidden = false;
  delete place.dataset.by;
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const programName = ({ program }) => program.replace(/[^\w.-]+/g, "-");
const fileName = (session, ending) => `${programName(session)}-${session.index + 1}.${ending}`;

/** `weights-step-3.svg`; of an edited revision `weights-revision-2-step-3.svg`. */
function pictureName(player, session, ending, part = "whole") {
  const { index } = session;
  return `${programName(session)}${index ? `-revision-${index + 1}` : ""}-step-${Math.ceil(player.t())}${part === "whole" ? "" : `-${part}`}.${ending}`;
}

/** A film of the call that one looks at, with its progress. */
async function saveFilm(player, session, toast, kind) {
  const name = pictureName(player, session, kind);
  player.pause();
  try {
    const blob = await film(player, kind, (part) => toast.say(`Painting the ${kind === "gif" ? "animation" : "video"}: ${Math.round(100 * part)} %`, true));
    save(blob, name);
    toast.say(`${name} is saved.`);
  } catch (error) {
    toast.say(`The film could not be made: ${/** @type {Error} */ (error).message}`);
  }
}

/** The line that shows a lesson file in a page of one's own, in a frame with these attributes. */
async function copyFrame(session, toast, attributes) {
  const name = fileName(session, "html");
  const title = session.scene.program.title.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const line = `<iframe src="${name}" title="${title}" ${attributes}></iframe>`;
  try {
    await navigator.clipboard.writeText(line);
    toast.say(`The <iframe> is copied. Export the lesson too, and put ${name} beside your page.`);
  } catch {
    window.prompt("The <iframe> for a page of yours:", line);
  }
}

async function savePng(player, session, toast, part = "whole") {
  const name = pictureName(player, session, "png", part);
  try {
    const { blob, scale, isWhole } = await pngOf(player.picture(part));
    save(blob, name);
    if (!isWhole) toast.say(`The PNG has ${scale.toPrecision(2)} px per unit instead of 2, because browsers limit the size of a picture. The SVG has no such limit.`);
  } catch (error) {
    toast.say(`The picture could not be saved: ${/** @type {Error} */ (error).message}`);
  }
}

function saveScene(session) {
  save(new Blob([JSON.stringify(session.scene, null, 1)], { type: "application/json" }), fileName(session, "scene.json"));
}

/** The program once more on PyTorch: what differs is said on the page, beside a link to that recording. */
async function runOnTorch(session, toast) {
  const { program } = session;
  toast.say("Running the program on PyTorch …", true);
  try {
    const answer = await post("/on-torch", { program });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(reply.problem?.text || `the server answered ${answer.status}`);
    toast.say("The program has run on PyTorch.");
    if (session.program !== program) return;
    note(reply.text, h("a.link", { href: `/pair?program=${encodeURIComponent(reply.program)}`, target: "_blank" }, "Open both side by side"));
  } catch (error) {
    toast.say(`Not run on PyTorch: ${/** @type {Error} */ (error).message}`);
  }
}

/** A file that the server writes, by its ending. */
async function saveFile(session, toast, files, ending) {
  const { program, section, edits, folds } = session;
  const ask = { program, section, edits, folds };
  if (WORK[ending]) toast.say(WORK[ending], true);
  const stop = WORK[ending] ? follow(toast, ending, ask) : () => {};
  try {
    save(await files.content(ending, ask), fileName(session, ending));
    stop();
    if (WORK[ending]) toast.say("The lesson is saved. It opens in any browser, offline.");
  } catch (error) {
    stop();
    toast.say(`The file could not be saved: ${/** @type {Error} */ (error).message}`);
  }
}
