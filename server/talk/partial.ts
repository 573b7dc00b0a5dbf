import { parsePartialJson } from 'ai'
import { isJsonObject, type JsonObject, toStorableJson } from '../definition/json'

const PAUSE_MS = 200
/**
 * How much a text must have grown before it is read again, by its length: each of its events is kept, so all of them
 * together stay below some thirty times the text.
 */
const GROWTH = [
  { from: 65_536, by: 1.25 },
  { from: 2_048, by: 1.05 },
]

/** Reads data from the text of an answer while it grows. */
export class PartialData {
  private text = ''
  /** How long the text was when it was last read. */
  private read = 0
  private readAt = Number.NEGATIVE_INFINITY
  private last = ''
  private timer: NodeJS.Timeout | undefined

  /** @param onData receives the data so far, each time it has changed; nothing has checked it */
  constructor(private readonly onData: (data: JsonObject) => void) {}

  add(piece: string): void {
    this.text += piece
    this.plan()
  }

  /**
   * Forgets the text.
   * @returns whether any of its data was passed on
   */
  end(): boolean {
    clearTimeout(this.timer)
    const passedOn = this.last !== ''
    Object.assign(this, { text: '', read: 0, last: '', timer: undefined })
    return passedOn
  }

  private plan(): void {
    if (this.timer || this.text.length <= this.read) return
    const growth = GROWTH.find(({ from }) => this.text.length > from)
    if (growth && this.text.length < this.read * growth.by) return
    const timer = setTimeout(
      () =>
        this.look(timer).finally(() => {
          if (this.timer !== timer) return
          this.timer = undefined
          this.plan()
        }),
      Math.max(0, this.readAt + PAUSE_MS - performance.now()),
    )
    this.timer = timer
  }

  private async look(timer: NodeJS.Timeout): Promise<void> {
    this.read = this.text.length
    this.readAt = performance.now()
    const data = await dataIn(this.text)
    // The text may have ended in the meantime.
    if (!data || this.timer !== timer) return
    const text = JSON.stringify(data)
    if (text === this.last) return
    this.last = text
    this.onData(data)
  }
}

async function dataIn(text: string): Promise<JsonObject | null> {
  try {
    const { value } = await parsePartialJson(text)
    const data = toStorableJson(value)
    return isJsonObject(data) ? data : null
  } catch {
    return null
  }
}
