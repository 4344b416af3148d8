// The one script that Dash loads: makes the app and `window.backstep`, then waits for the places of the page.

import { App } from "./js/app/app.mjs";
import { until } from "./js/page/dom.mjs";

const app = new App();
window.backstep = app.api;

until(() => document.getElementById("stage") && document.getElementById("timeline"))
  .then(() => app.attach(document.getElementById("stage"), document.getElementById("timeline")))
  .then(() => app.furnish())
  .catch((error) => console.error("Backstep could not build its page", error));
