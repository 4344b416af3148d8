// The last answer to a question: a picture asks the same again at every frame.

/** @template T */
export class Latest {
  constructor() {
    /** @type {{ key: string, answer: T } | null} */
    this.known = null;
  }

  /**
   * The last answer where it has the same key and `holds` still, else a new one.
   * @param {string} key
   * @param {() => T} make
   * @param {(answer: T) => boolean} [holds]
   * @returns {T}
   */
  of(key, make, holds = () => true) {
    if (this.known?.key !== key || !holds(this.known.answer)) this.known = { key, answer: make() };
    return this.known.answer;
  }
}
