// Paints a picture or a film for the command line (viz/server/export/painting.py): a lesson that paints one and sends it back.
import "./lesson.mjs";
import { film } from "../panels/film/film.mjs";
import { pngOf } from "../paint/picture.mjs";
import { byId, until } from "../page/dom.mjs";

const FRAMES = 3600; // to wait for the scene: a minute

/** @typedef {{ kind: "svg" | "png" | "gif" | "webm", part: "whole" | "seen" | "slide", width: number, height: number, theme: "light" | "dark", step: number | null, from: number | null, to: number | null }} Job */

/** @param {Job} job @returns {Promise<Blob>} */
async function paintJob({ kind, part, width, height, theme, step, from, to }) {
  const player = await until(() => document.documentElement.dataset.ready && window.backstep, FRAMES);
  document.documentElement.dataset.painting = "";
  if (document.documentElement.dataset.theme !== theme) byId("act-theme").click();
  Object.assign(byId("player").style, { width: `${width}px`, height: `${height}px` });
  await until(() => Math.round(player.view().width) === width && Math.round(player.view().height) === height);
  const end = player.scene().steps.length;
  player.seek(Math.min(step ?? end, end));
  player.fit(kind === "gif" || kind === "webm"); // a film does not follow what happens: it shows all of it
  await document.fonts.ready;
  await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
  if (kind === "svg") return new Blob([player.picture(part).text]);
  if (kind === "png") return (await pngOf(player.picture(part))).blob;
  return film(player, kind, () => {}, { start: Math.min(from ?? 0, end), end: Math.min(to ?? end, end) });
}

/** Sends back what was painted; `fetch` is the lesson's own here. */
function send(path, body) {
  const request = new XMLHttpRequest();
  request.open("POST", path);
  request.send(body);
}

paintJob(window.backstepLesson.job).then((blob) => send("painted", blob), (error) => send("failed", String(error)));
