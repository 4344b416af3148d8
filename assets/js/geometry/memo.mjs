// The last result of a computation that every frame of a picture repeats.

/** @template T */
export class Memo {
  constructor() {
    /** @type {{ key: string, answer: T } | null} */
    this.entry = null;
  }

  /**
   * The last answer if its key is the same and it still `holds`, else a new one.
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
