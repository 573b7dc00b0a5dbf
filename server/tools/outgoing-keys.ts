import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../definition/json'

/**
 * Gives each call that a piece of work makes its own idempotency key. When the work is repeated, the same call gets the same
 * key, whenever it is made; equal calls are told apart by their number.
 */
export class OutgoingKeys {
  private readonly made = new Map<string, number>()

  /** @param work what tells the work from any other, such as a step's own key */
  constructor(private readonly work: string) {}

  /** @param call what is called, and with what */
  next(call: JsonValue): string {
    const content = digest(canonicalJson(call))
    const before = this.made.get(content) ?? 0
    this.made.set(content, before + 1)
    return digest(JSON.stringify([this.work, content, before]))
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
