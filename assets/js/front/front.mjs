// The front door: the page of the gallery, before the app has loaded and beside it.
import { startApp } from "./start.mjs";
import { Cards } from "./cards.mjs";
import { Drop } from "./drop.mjs";
import { Hero } from "./hero.mjs";
import { Pictures } from "./pictures.mjs";
import { byId, first } from "../page/dom.mjs";

const INTEREST = ["pointerover", "focusin"]; // in a link to a program: then the app is wanted soon

function open() {
  const front = byId("front");
  const pictures = new Pictures();
  new Cards(byId("gallery"), pictures);
  new Drop(byId("drop"));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const onReady = () => {
    pictures.watch(front);
    document.documentElement.dataset.front = "ready";
    performance.mark("front"); // benchmarks/front_door.py reads it
    setTimeout(startApp, calm ? 0 : PATIENCE);
  };
  const place = first("#hero");
  if (place) new Hero(place, onReady);
  if (!place?.offsetParent) onReady();
  INTEREST.forEach((name) => front.addEventListener(name, (event) => /** @type {Element} */ (event.target).closest("a, [data-act]") && startApp()));
  front.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button[data-act]"));
    if (!button || document.documentElement.dataset.app) return;
    document.addEventListener("backstep:app", () => button.click(), { once: true });
    startApp();
  });
  document.addEventListener("keydown", (event) => { // until the app listens
    const isHelp = event.key === "F1" || (event.key === "?" && document.activeElement?.tagName !== "INPUT");
    if (!isHelp || document.documentElement.dataset.app) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (first("[data-act=help]", front)).click();
  });
}

const PATIENCE = 6000; // ms of the first picture, which nothing disturbs, before the app is got ready

open();
