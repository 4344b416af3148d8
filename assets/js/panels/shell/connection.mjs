// Checks whether Backstep still runs: after a failed request, when the user comes back to the page, and now and then while the page is in
// view and nothing plays, so that the user learns of it before an edit. No step waits for a check.
import { byId, fill, first, h } from "../../page/dom.mjs";
import { Jobs } from "./jobs.mjs";

const EVERY = 5000; // ms between two looks while nobody asks for anything
const PATIENCE = 5000; // ms that a look may take
const EMPTY = [204, 205, 304]; // statuses of answers that may have no content

/** The number of the question for a scene that this request asks; undefined of one that is computed in the background, null of any other. */
function questionOf(address, body) {
  try {
    const { output, request } = JSON.parse(body);
    if (output === "made-scene.data") return undefined;
    return address.endsWith("/scene") ? request ?? null : null;
  } catch {
    return null;
  }
}

/** An answer once all of it has come; Dash would wait for ever for the rest of one that breaks off. @param {Response} answer */
async function readWhole(answer) {
  const { status, statusText, headers } = answer;
  return new Response(EMPTY.includes(status) ? null : await answer.arrayBuffer(), { status, statusText, headers });
}

/** @param {RequestInfo | URL} address */
const textOf = (address) => (address instanceof Request ? address.url : String(address));

/**
 * `hear`: { isQuiet() → bool: looking now disturbs nothing, onLoss(): no question will be answered,
 * onFailure(question, why): this one was not, onReturn(), hasPicture() → bool }.
 */
export class Connection {
  constructor(hear) {
    this.hear = hear;
    this.isLost = false;
    this.timer = 0;
    this.fetch = window.fetch.bind(window); // without what follows the requests
    this.jobs = new Jobs();
    this.followRequests();
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
    window.addEventListener("online", () => this.look());
    this.rest();
  }

  /**
   * Every request of the page goes through here, also those that Dash sends. One that broke off, before its answer or within
   * it, is asked once more where Backstep still runs: all are questions, and of several processes one that ends leaves its
   * place to another.
   */
  followRequests() {
    window.fetch = async (address, ...rest) => {
      let answer;
      try {
        const ask = () => this.fetch(address, ...rest).then(readWhole);
        answer = await ask().catch(async (error) => {
          if (!(await this.ask())) throw error;
          return ask();
        });
      } catch (error) {
        this.onUnanswered(address, rest[0], /** @type {Error} */ (error).message);
        throw error;
      }
      this.jobs.follow(textOf(address), rest[0]?.body, answer);
      if (answer.ok && this.isLost) this.regain();
      else if (!answer.ok) this.onUnanswered(address, rest[0], `status ${answer.status}`);
      return answer;
    };
  }

  /** A question that will have no answer: either nobody is there, or it was only this one. */
  async onUnanswered(address, options, why) {
    const isThere = await this.ask();
    if (!isThere) this.lose();
    else if (this.isLost) this.regain();
    const question = questionOf(textOf(address), options?.body);
    if (isThere && question !== null) this.hear.onFailure(question, why);
  }

  async ask() {
    try {
      const answer = await this.fetch("/alive", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      return answer.ok;
    } catch {
      return false;
    }
  }

  /** Looks; who was away and is there again is asked for what is shown. True where Backstep runs. */
  async look() {
    const isThere = await this.ask();
    if (!isThere) {
      this.lose();
    } else if (this.isLost) {
      this.regain();
      this.hear.onReturn();
    }
    return isThere;
  }

  rest() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (!document.hidden && !this.isLost && this.hear.isQuiet()) await this.look();
      this.rest();
    }, EVERY);
  }

  lose() {
    this.isLost = true;
    this.hear.onLoss();
    this.write(this.hear.hasPicture() ? "Backstep has stopped. You can still step; start it again to edit." : "Backstep has stopped. Start it again to go on.");
  }

  regain() {
    this.isLost = false;
    byId("ended").hidden = true;
  }

  /** The notice stays as it is while it says the same, so that its button keeps the focus. */
  write(text) {
    const place = byId("ended");
    if (place.hidden || place.querySelector("span")?.textContent !== text) {
      fill(place, h("span", {}, text), h("button.btn", { type: "button", onclick: () => this.reconnect() }, "Reconnect"));
    }
    place.hidden = false;
  }

  async reconnect() {
    const button = first("button", byId("ended"));
    button.setAttribute("aria-disabled", "true");
    if (!(await this.look())) this.write("Backstep does not answer yet. Start it again at this address, then reconnect.");
    button.removeAttribute("aria-disabled");
  }
}
