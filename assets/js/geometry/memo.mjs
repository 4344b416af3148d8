// The last answer to a question: a picture asks the same question in every frame.

/** @template T */
export class Memo {
  constructor() {
    /** @type {{ key: string, answer: T } | null} */
    this.entry = null;
  }

  /**
   * The last answer where it has the same key and `holds` still, else a new one.
   * @param {string} key
   * @param {() => T} make
   * @param {(answer: T) => boolean} [holds]
   * @returns {T}
   */
  of(key, make, holds = () => true) {
    if (this.entry?.key !== key || !holds(this.entry.answer)) this.entry = { key, answer: make() };
    return this.entry.answer;
  }
}
