// The one script that Dash loads: makes the app and `window.backstep`, then waits for the places of the page.

import { App } from "./js/app/app.mjs";
import { byId, until } from "./js/page/dom.mjs";

const app = new App();
window.backstep = app.api;

until(() => byId("stage") && byId("timeline"))
  .then(() => app.attach(byId("stage"), byId("timeline")))
  .then(() => app.furnish())
  .catch((error) => console.error("Backstep could not build its page", error));
