// A lesson: the app on a page of its own, opened from a file. This does the work of Dash and the server, so that all other modules are the
// same.
import { Answers } from "./answers.mjs";
import { App } from "../app/app.mjs";
import { Components } from "./components.mjs";
import { byId } from "../page/dom.mjs";

/** @param {any} packed what viz/server/lesson/page.py has written into the file */
function open(packed) {
  const answers = new Answers(packed);
  const defer = (act) => { setTimeout(act); }; // as an answer of a server, after what asks for it
  const components = new Components(packed, {
    selection: ({ data }) => defer(() => window.backstepHears.details(answers.details(data))),
  });
  window.dash_clientside = { set_props: (id, props) => components.set(id, props) };
  window.dash_ag_grid = { getApi: (id) => components.grid(id) };
  window.backstepParts = packed.lazy;
  window.fetch = async (address, options) => {
    const place = String(address);
    if (place.startsWith("/run")) return Response.json(answers.run(new URL(place, "https://lesson.invalid/")));
    const ask = place === "/scene" ? JSON.parse(String(options?.body)) : {};
    if (ask.request === undefined) return new Response(null, { status: 204 }); // as a server that runs
    await new Promise((resolve) => { defer(() => resolve(null)); });
    return Response.json(answers.scene(ask));
  };
  const app = new App(packed.opens);
  window.backstep = app.api;
  app.attach(byId("stage"), byId("timeline"));
  return app.furnish();
}

open(window.backstepLesson).catch((error) => console.error("Backstep could not build its page", error));
