/** @typedef {import('./protocol').HostMessage & { type: 'fetched' }} Letter */

/** The replies to a script's calls, kept until the script can take them. What is for an earlier script is dropped. */
export class Mailbox {
  /** @type {Set<number>} */
  #expected = new Set()
  /** @type {Letter[]} */
  #letters = []
  #seen = 0
  #wake = () => {}

  /** At the end of a script. */
  clear() {
    this.#expected.clear()
    this.#letters = []
    this.#seen = 0
  }

  /** @param {number} id */
  expect(id) {
    this.#expected.add(id)
  }

  /** How many replies are still to come. */
  get awaited() {
    return this.#expected.size
  }

  /** How many have come. */
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
   * Until there is a letter.
   *
   * @param {number} ms
   * @returns {Promise<boolean>} whether there is one
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
