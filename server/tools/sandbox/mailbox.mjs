/** @typedef {import('./protocol').HostMessage & { type: 'fetched' }} Letter */

/** Holds the replies to a script's calls until the script can take them. Drops replies to an earlier script. */
export class Mailbox {
  /** @type {Set<number>} */
  #expected = new Set()
  /** @type {Letter[]} */
  #letters = []
  #seen = 0
  #wake = () => {}

  /** Call at the end of a script. */
  clear() {
    this.#expected.clear()
    this.#letters = []
    this.#seen = 0
  }

  /** @param {number} id */
  expect(id) {
    this.#expected.add(id)
  }

  /** How many replies have not arrived yet. */
  get awaited() {
    return this.#expected.size
  }

  /** How many replies have arrived. */
  get seen() {
    return this.#seen
  }

  /** @param {Letter} letter */
  put(letter) {
    if (!this.#expected.delete(letter.id)) return
    this.#seen++
    this.#letters.push(letter)
    this.#wake()
  }

  take() {
    return this.#letters.splice(0)
  }

  /**
   * Waits for a reply.
   *
   *
   * @param {number} ms
   * @returns {Promise<boolean>} whether one arrived
   */
  wait(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(this.#letters.length > 0), Math.max(0, ms))
      this.#wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
      if (this.#letters.length > 0) this.#wake()
    })
  }
}
