import { toStorableJson } from '../../definition/json'
import type { LoggedLine } from '../../definition/run'

/** The limits of an attempt's log, however many scripts the attempt runs. */
export const MAX_LINES = 100
export const MAX_LOG_BYTES = 16 * 1024

/** The console output of an attempt's scripts so far, stored with the attempt. */
export class AttemptLog {
  #lines: LoggedLine[] = []
  #bytes = 0

  /** For the attempt's row; empty if nothing was written. A script that is still running no longer adds to it. */
  get columns(): { logs?: LoggedLine[] } {
    return this.#lines.length === 0 ? {} : { logs: [...this.#lines] }
  }

  readonly add = (line: LoggedLine): void => {
    const last = this.#lines.length - 1
    if (last + 1 >= MAX_LINES || this.#bytes >= MAX_LOG_BYTES) {
      this.#lines[last] = { ...(this.#lines[last] ?? line), truncated: true }
      return
    }
    const text = toStorableJson(line.text)
    const room = MAX_LOG_BYTES - this.#bytes
    const bytes = Buffer.byteLength(text)
    this.#bytes += bytes
    this.#lines.push(bytes <= room ? { ...line, text } : { ...line, text: cutBytes(text, room), truncated: true })
  }
}

function cutBytes(text: string, max: number): string {
  // A character cut in half at the end becomes U+FFFD.
  return Buffer.from(text)
    .subarray(0, max)
    .toString()
    .replace(/\uFFFD$/, '')
}
