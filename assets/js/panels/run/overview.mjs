// The overview of the open run: requested when it is first needed, once for each recording.

/** @import { RunOverview } from "../../scene/scene.d.ts" */
/** @import { Session } from "../../page/session.mjs" */
/** @typedef {{ overview?: RunOverview, problem?: { title: string, text: string } }} Answer */

export class Overview {
  /** @param {Session} session */
  constructor(session) {
    this.session = session;
    /** @type {{ key: string, answer: Promise<Answer> } | null} the latest question */
    this.question = null;
    /** @type {{ key: string, run: RunOverview } | null} */
    this.latest = null;
  }

  /** Of the recording that is shown. */
  get key() {
    return `${this.session.program} ${this.session.version}`;
  }

  /** What is known by now. @returns {RunOverview | null} */
  runNow() {
    return this.latest?.key === this.key ? this.latest.run : null;
  }

  /** The answer of the server.  Fails where none came; then it may be asked again. @returns {Promise<Answer>} */
  ask() {
    const { key } = this;
    if (this.question?.key !== key) this.question = { key, answer: this.numbers(key, this.session.program) };
    return this.question.answer;
  }

  /** The same of the newest recording of a program whose first scene is still on its way. @param {string} program @returns {Promise<Answer>} */
  fetchAhead(program) {
    const answer = this.numbers(`${program} ahead`, program);
    answer.then(({ overview }) => {
      if (overview) this.question = { key: `${program} ${overview.version}`, answer };
    }, () => {}); // it is asked for again with the scene
    return answer;
  }

  /** @returns {Promise<Answer>} */
  async numbers(key, program) {
    try {
      const answer = await this.fetch("/run", program);
      if (answer.overview) this.latest = { key: `${program} ${answer.overview.version}`, run: answer.overview };
      return answer;
    } catch (error) {
      if (this.question?.key === key) this.question = null;
      throw error;
    }
  }

  /** What the server says of the run at an address. @param {string} path @param {string | null} [program] */
  async fetch(path, program = this.session.program) {
    return (await fetch(`${path}?program=${encodeURIComponent(program ?? "")}`)).json();
  }
}
