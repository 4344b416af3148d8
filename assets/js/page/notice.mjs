// Full-screen messages: nothing was found, something failed, nothing was recorded; each offers a next action.
import { byId, fill, first, h, prose } from "./dom.mjs";

/** Over the graph. `stay` says that the picture behind it is still true and may be gone back to. */
export function show(problem, stay) {
  const place = byId("notice");
  place.hidden = false;
  place.classList.toggle("over", stay);
  fill(place, h("div.notice-box", {},
    h("h1", {}, problem.title), prose(problem.text),
    h("div.row.wrap", {},
      (problem.ways || []).map(([label, address]) => h("a.btn", { href: address }, label)),
      stay ? h("button.btn.primary", { type: "button", onclick: hide }, "Go back") : null)));
  first("a, button", place)?.focus();
}

export function hide() {
  const place = byId("notice");
  if (place) place.hidden = true;
}

/** A scene without steps still has to say why it is empty. */
export function empty(scene, note) {
  if (scene.steps.length || scene.nodes.length) { hide(); return; }
  show({ title: "This program recorded nothing", text: note || "No tensor op ran in it. A program is recorded from its first tensor on: check that it imports torch, or Backstep\u2019s engine, and computes something with it.", ways: [["Open the gallery", "/"]] }, false);
}
