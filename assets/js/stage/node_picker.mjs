// Choosing a node on the graph for a panel: nodes that can be chosen have a ring, a bar says so, a click or Enter chooses one, Escape cancels.

import { keepFocus } from "./footer.mjs";
import { announce } from "./screen_reader.mjs";
import { h } from "../page/dom.mjs";

export class NodePicker {
  /** @param {import("./stage.mjs").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.request = null;
    this.text = h("span");
    this.why = h("p.bs-choosing-why", { role: "alert" });
    this.element = h("div.bs-choosing-bar", { hidden: true }, this.text,
      h("button.btn", { type: "button", onclick: () => this.end(true) }, "Cancel ", h("kbd", {}, "Esc")), this.why);
    this.element.addEventListener("mousedown", keepFocus);
    stage.layer.append(this.element);
  }

  get on() {
    return this.request !== null;
  }

  /** `ask`: { text, why(node) → why it cannot be chosen, or null, take(node), onEnd(cancelled) }. */
  begin(ask) {
    this.end();
    this.request = ask;
    this.text.textContent = `${ask.text}: click it, or use Tab and Enter.`;
    this.why.textContent = "";
    this.show(true);
    this.stage.host.focus({ preventScroll: true });
    announce(`${ask.text}. Tab goes through the choices, Enter chooses, Escape cancels.`);
  }

  show(on) {
    this.element.hidden = !on;
    this.stage.picker = on ? this : null;
    this.stage.host.classList.toggle("bs-choosing", on);
    this.stage.host.classList.remove("bs-refused");
    this.stage.touch("pulses");
  }

  /** Why a node cannot be chosen; null where it can. */
  refusal(node) {
    return this.request.why(node);
  }

  allows(node) {
    return this.refusal(node) === null;
  }

  /** Takes a node or a group that was clicked, or that is selected when Enter is pressed, or shows why it cannot be chosen. */
  take(node) {
    const why = this.refusal(node);
    if (why !== null) {
      this.why.textContent = why;
      return;
    }
    const { request } = this;
    this.end();
    request.take(node);
  }

  end(cancelled = false) {
    if (!this.on) return false;
    const { request } = this;
    this.request = null;
    this.show(false);
    request.onEnd(cancelled);
    return true;
  }
}
