// The footer: one sentence, the transport, the lane, the speed.

import { icon } from "./icons.mjs";
import { Lane } from "./lane.mjs";
import { h, unbrokenText } from "../page/dom.mjs";
import { SPEEDS } from "./player.mjs";
import { sentence, stopAt } from "../scene/levels.mjs";

export class Footer {
  /** `acts` has one function per button, and seek, scrubbing, speed. */
  constructor(host, acts) {
    this.lead = h("b");
    this.text = h("span");
    this.say = h("p.bs-say", {}, this.lead, " ", this.text);
    this.play = button("play", "Play", "Space", acts.toggle);
    this.play.classList.add("bs-play");
    this.lane = new Lane(acts);
    this.speed = h("select.bs-speed", { "aria-label": "Speed", title: "Speed (< and >)", onchange: (event) => this.onChoose(event.target, acts) },
      ...SPEEDS.map((speed) => h("option", { value: String(speed), selected: speed === 1 }, `${speed}\u00d7`)));
    const transport = h("div.bs-transport", { role: "group", "aria-label": "Transport" },
      button("first", "First step", "Home", acts.first), button("previousCall", "Previous backward call", "Page Up", acts.previousCall),
      button("back", "Step back", "\u2190", acts.back), this.play, button("step", "Step", "\u2192", acts.step),
      button("nextCall", "Next backward call", "Page Down", acts.nextCall), button("last", "Last step", "End", acts.last));
    transport.addEventListener("mousedown", keepFocus);
    host.classList.add("bs-timeline");
    const run = h("div.bs-run-row", { id: "run-row", role: "slider", tabindex: "0", "aria-label": "Section of the run", "aria-valuemin": "1", hidden: true });
    host.replaceChildren(this.say, run, h("div.bs-controls", {}, transport, this.lane.element, h("div.bs-aside", {}, this.speed,
      h("button.bs-key", { type: "button", title: "All keys (?)", "aria-label": "All keys", onclick: acts.help }, "?"))));
    this.buttons = transport;
  }

  /** The arrows belong to time again once a speed is chosen. */
  onChoose(select, acts) {
    acts.speed(Number(select.value));
    select.blur();
  }

  /** Takes another scene, whose moment is then shown. */
  load(scene, level) {
    this.level = level;
    this.buttons.querySelectorAll("button").forEach((one) => { one.disabled = scene.steps.length === 0; });
    this.lane.load(scene, level);
  }

  /** Another level: what one step is has changed. */
  relevel(level) {
    this.level = level;
    this.lane.relevel(level);
  }

  show(t) {
    const { lead, text } = sentence(this.level, t);
    const kind = stopAt(this.level, t)?.step.kind ?? "";
    if (this.lead.textContent !== lead) this.lead.textContent = lead;
    if (this.text.textContent !== text) {
      this.text.replaceChildren(...unbrokenText(text));
      this.say.title = text;
    }
    this.say.dataset.kind = kind;
    this.lane.show(t);
  }

  theme(tokens) {
    this.lane.theme(tokens);
  }

  showPlaying(on) {
    this.play.replaceChildren(icon(on ? "pause" : "play"));
    this.play.setAttribute("aria-label", on ? "Pause" : "Play");
    this.play.title = on ? "Pause (Space)" : "Play (Space)";
  }

  setSpeed(speed) {
    this.speed.value = String(speed);
  }
}

/** A click does not take the focus: Space goes on meaning play, and not "that button again". */
export function keepFocus(event) {
  event.preventDefault();
}

function button(name, label, key, act) {
  return h("button", { type: "button", "aria-label": label, title: `${label} (${key})`, "data-transport": name, onclick: act }, icon(name));
}
