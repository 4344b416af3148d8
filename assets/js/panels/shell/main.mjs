// The shell: connects the panels, the address and the server's answers to the player, `window.backstep`.
import * as code from "../program/code.mjs";
import * as commands from "../commands/commands.mjs";
import { Connection } from "./connection.mjs";
import { byId, h, setProps, toast, until } from "../../page/dom.mjs";
import * as events from "./events.mjs";
import * as explain from "../../page/explain.mjs";
import * as exports from "./exports.mjs";
import * as gallery from "./gallery.mjs";
import * as header from "./header.mjs";
import * as hero from "./hero.mjs";
import * as inspector from "../inspector/inspector.mjs";
import * as live from "../../page/live.mjs";
import * as notice from "../../page/notice.mjs";
import * as panels from "../../page/panels.mjs";
import * as session from "../../page/session.mjs";
import * as story from "../program/story.mjs";
import * as tour from "./tour.mjs";
import * as url from "../../page/url.mjs";

const SETTLED = 250; // ms of rest before a step goes into the address: browsers limit how often that may change

const root = document.documentElement;
let player = null;
let theme = null; // in the address only where it was chosen
let quiet = false; // while a view is taken from the address nothing is written back into it
let resting = 0;
let before = 0; // the moment at which the tour was asked for
let touring = false; // the tour begins once the program that it was asked for is there

/** Called once, by viz.mjs, with the player; resolves when the page stands and its address is shown. */
export async function install(backstep) {
  player = backstep;
  hear();
  await until(() => window.backstepParts && byId("commands-count") && byId("gallery") && byId("inspect-body"));
  story.setUp(player, choose, inspect);
  [code, inspector, commands, events].forEach((panel) => panel.setUp(player));
  gallery.setUp((program) => visit({ ...url.view(""), program }, true));
  hero.setUp();
  header.setUp({
    ...exports.acts(player), home: () => visit(url.view(""), true), themed: (name) => { theme = name; write(false); },
    help: () => player.help(), panel: () => panels.toggle("right"), left: () => panels.toggle("left"),
    tour: takeTour, "tour-decline": tour.remember,
    "command-run": () => commands.run(), "command-close": () => commands.close(),
  });
  panels.setUp();
  explain.setUp(player, bring);
  tour.setUp({ show: bring, ended });
  session.on("scene", shown);
  session.on("problem", refused);
  follow();
  new Connection({ quiet: () => !player.playing() && !session.state().waiting, gone: () => unanswered(),
    failed: (question, why) => unanswered(question) && toast(`Backstep could not answer (${why}). Nothing on the screen has changed; try again.`), returned: session.reconnect,
    hasPicture: () => root.dataset.page === "player" && session.state().scene !== null && !root.dataset.blank });
  window.addEventListener("popstate", () => visit(url.view(location.search), false));
  visit(url.view(location.search), false);
}

/** What Dash's components tell (see HEARD in viz/server/callbacks/register.py). */
function hear() {
  window.backstepHears = {
    scene: session.receive, details: inspector.receive, tab: (name) => events.open(name === "events"),
    gallerySearch: gallery.search, eventsFilter: events.filter, eventClicked: events.clicked, eventsReady: events.ready,
    commandRoot: (value) => commands.flagChanged("root", value), commandRetain: (value) => commands.flagChanged("retain", value),
    commandCreate: (value) => commands.flagChanged("create", value), commandInputs: (value) => commands.flagChanged("inputs", value),
    commandCell: commands.cellChanged, commandClicked: commands.cellClicked,
  };
}

function follow() {
  player.on("time", (t) => [code, story, inspector, events].forEach((panel) => panel.seek(t)));
  player.on("step", () => { clearTimeout(resting); resting = setTimeout(() => write(false), SETTLED); });
  player.on("select", (id) => { code.select(id ?? null); inspector.select(id ?? null); if (id) reveal(id); write(true); });
  player.on("edit", commands.edited);
  player.on("fold", fold);
  player.on("unfold", session.unfold);
  player.on("other", other);
  player.on("panel", (side) => panels.toggle(side));
  player.on("tour", takeTour);
  player.on("escape", () => panels.isNarrow() && panels.isOpen("right") && (panels.toggle("right", false), true));
}

/** From a mistake to the program without it, or back to it. */
function other() {
  const found = session.state().scene?.program.other;
  if (found) visit({ ...url.view(""), program: found.id }, true);
  return Boolean(found);
}

/** Shows what is about to be explained: its panel, and its tab. */
function bring({ place: where, tab }) {
  if (where === "right") panels.toggle("right", true);
  if (where === "story" || where === "code") panels.toggle("left", true);
  if (tab) setProps("tabs", { value: tab });
}

/** The tour begins at the beginning of the program. */
function beginTour() {
  before = player.t();
  player.pause();
  player.seek(0);
  tour.start();
}

/** After the tour the page is as one works with it, at the moment from which one came. */
function ended() {
  if (player.t() === 0) player.seek(before);
  if (panels.isNarrow()) panels.toggle("right", false);
  setProps("tabs", { value: "inspect" });
  byId("stage").focus({ preventScroll: true });
}

/** The tour, here where a program is open, else with the gallery's first one. */
function takeTour() {
  explain.close();
  if (session.state().scene && root.dataset.page === "player") { beginTour(); return; }
  const first = document.querySelector("a[data-start]")?.dataset.start;
  if (!first) return;
  touring = true;
  visit({ ...url.view(""), program: first }, true);
}

/** Opens a folded group, or folds an open one. */
function fold(id) {
  const group = session.state().scene?.groups.find((one) => one.id === id);
  if (group) session.redraw({ folds: { ...session.state().folds, [id]: !group.folded } });
}

/** A selection on a narrow screen opens the panel that tells about it, and shows the inspector. */
function reveal(id) {
  if (quiet || player.choosing() || !panels.isNarrow() || !session.state().scene) return;
  panels.toggle("right", true);
  player.uncover(id, byId("right").getBoundingClientRect().left);
}

/** Shows the inspector, and beside it the element that it speaks of. */
function inspect(id) {
  bring({ place: "right", tab: "inspect" });
  if (id && panels.isNarrow()) player.uncover(id, byId("right").getBoundingClientRect().left);
}

/** Shows the view of an address. */
function visit(view, push) {
  notice.hide();
  if (view.theme) { theme = view.theme; }
  header.setTheme(view.theme || root.dataset.theme);
  tour.leave();
  explain.close();
  tour.offer(!push && (!view.unplaced || Boolean(view.select || view.edits || view.revision)));
  if (!view.program) { home(push); return; }
  root.dataset.page = "player";
  if (view.damaged) {
    notice.show({ title: "This link is incomplete", text: "Its edits cannot be read; part of the link is probably missing. The program itself is still here, as it was recorded.", ways: [["Open the program as recorded", `/?program=${encodeURIComponent(view.program)}`], ["Open the gallery", "/"]] }, false);
    return;
  }
  const { program, scene } = session.state();
  if (!push && isShown(view)) { place(view); return; }
  if (!scene || program !== view.program) blank();
  quiet = true; // the address of a view is written when its moment and selection are there
  session.open(view, () => { place(view); write(push); });
}

/** Whether the scene of this address is the one on the screen, so that only the moment and the selection differ. */
function isShown(view) {
  const { program, edits, scene, layout, folds } = session.state();
  if (!scene || program !== view.program || layout !== view.layout || JSON.stringify(folds) !== JSON.stringify(view.folds)) return false;
  if (!view.edits && view.revision) return view.revision === scene.revision.id;
  return JSON.stringify(shortEdits(edits)) === JSON.stringify(view.edits);
}

const shortEdits = (edits) => (edits.commands === null && !Object.keys(edits.leaves).length ? null : edits);

/** The moment and the selection of a view, without making a new place in the history of them. */
function place(view) {
  quiet = true;
  player.pause();
  const opens = view.unplaced ? session.state().scene?.program.opens ?? null : null;
  player.seek(opens ?? view.step);
  player.select(view.select);
  if (opens !== null) byId("left")?.scrollTo({ top: 0 }); // what is told first stands above the line that it is about
  quiet = false;
}

/** Selects for the story: no new place in the history, and no panel that slides over the graph. */
function choose(id) {
  const before = quiet;
  quiet = true;
  player.select(id);
  quiet = before;
  write(false);
}

function home(push) {
  player.pause();
  session.close();
  commands.close();
  root.dataset.page = "gallery";
  header.clear();
  if (push) url.write({ theme }, true);
  byId("gallery-search")?.focus({ preventScroll: true });
}

/** Another program is on its way: what belongs to the old one must not look current. */
function blank() {
  root.dataset.blank = "yes";
  header.clear();
}

function shown(scene) {
  delete root.dataset.blank;
  root.dataset.page = "player";
  player.load(scene);
  [header, story, code, inspector, commands, events, live].forEach((panel) => panel.load(scene));
  const now = player.t();
  code.seek(now);
  story.seek(now);
  notice.empty(scene, scene.program.note);
  if (scene.error && session.state().index > 0) player.seek(scene.error.step + 1);
  write(true);
  root.dataset.ready = scene.revision.id;
  if (touring) requestAnimationFrame(beginTour);
  touring = false;
}

function refused(problem, stay) {
  player.clearPending(); // what was typed into a card did not come about
  commands.restore();
  if (!stay) root.dataset.blank = "yes";
  notice.show(problem, stay);
  root.dataset.ready = "problem";
}

/** A question, or every one, has no answer: the panels show again what is, so that the same can be tried once more. */
function unanswered(question) {
  inspector.forget();
  if (!session.fail(question)) return false;
  player.clearPending();
  commands.restore();
  quiet = false;
  root.dataset.ready = "unanswered";
  return true;
}

/** The present view into the address. */
function write(push) {
  const { program, edits, scene, layout, folds } = session.state();
  if (quiet || !program || !scene || root.dataset.page !== "player") return;
  url.write({
    program, edits: shortEdits(edits), revision: scene.revision.id, step: Math.ceil(player.t()), first: Number.isInteger(scene.program.opens),
    select: player.selection(), theme, layout, folds,
  }, push);
}

export const shell = { session, visit, h, setProps };
