// The one script that Dash loads: sets up `window.backstep`, then waits for the places of the page.

import { App } from "./js/app/app.mjs";
import { countServerCalls } from "./js/app/counters.mjs";
import { until } from "./js/page/dom.mjs";
import { install } from "./js/panels/shell/main.mjs";

countServerCalls();
const app = new App();
window.backstep = app.api();

until(() => document.getElementById("stage") && document.getElementById("timeline"))
  .then(() => app.attach(document.getElementById("stage"), document.getElementById("timeline")))
  .then(() => install(window.backstep))
  .catch((error) => console.error("Backstep could not build its page", error));
