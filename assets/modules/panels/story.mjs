// The story: the chapter that the present step belongs to, and the way to the next one.
import { byId, fill, h, prose } from "./dom.mjs";

let scene = null;
let chapter = 0;
let chosen = -1; // the time at which the reader chose the chapter: it stays until the time moves on
let player = null;

export function setUp(backstep) {
  player = backstep;
}

export function load(next) {
  const same = scene && next && scene.program.id === next.program.id;
  scene = next;
  if (!same) chapter = 0;
  chapter = Math.min(chapter, Math.max(0, scene.program.chapters.length - 1));
  show();
}

/** Follows the time: the last chapter whose moment has come. */
export function seek(t) {
  if (!scene || t === chosen) return;
  chosen = -1;
  const chapters = scene.program.chapters;
  let found = 0;
  chapters.forEach((one, i) => { if (one.step !== null && one.step <= Math.ceil(t - 1e-9)) found = i; });
  if (found !== chapter) { chapter = found; show(); }
}

export function turn(by) {
  const chapters = scene?.program.chapters || [];
  const to = chapter + by;
  if (to < 0 || to >= chapters.length) return;
  chapter = to;
  const { step, select } = chapters[to];
  if (step !== null) { chosen = step; player.pause(); player.seek(step); }
  if (select?.length) player.select(select[0]);
  show();
}

function show() {
  const { title, question, chapters, legacy } = scene.program;
  const place = byId("story");
  if (!chapters.length) {
    fill(place, h("p.over", {}, "Program"), h("h1.story-title", {}, title), question && question !== title ? h("p", {}, question) : null);
    return;
  }
  const one = chapters[chapter];
  const arrow = (by, label, sign) => h("button.quiet", {
    type: "button", "aria-label": label, title: label, disabled: chapters[chapter + by] === undefined, onclick: () => turn(by),
  }, sign);
  const last = chapter === chapters.length - 1;
  fill(
    place,
    h("div.over", {}, h("span", {}, `${chapter + 1} of ${chapters.length} · ${title}`), h("span.space"), arrow(-1, "Chapter before", "‹"), arrow(1, "Next chapter", "›")),
    h("h1.story-title", {}, one.title),
    prose(one.text),
    legacy ? h("p.hint", {}, "Runs by the rule of PyTorch 0.3: ", h("code", {}, "legacy_broadcasting()")) : null,
    h("p.hint", {}, h("kbd", {}, "Space"), last ? " play on, or change what was asked" : " watch it travel"),
  );
}
