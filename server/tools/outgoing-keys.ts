import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../definition/json'

/**
 * Gives each call within a piece of work its own idempotency key. Repeating the work gives the same call the same key,
 * in any order; a number distinguishes equal calls.
 */
export class OutgoingKeys {
  private readonly made = new Map<string, number>()

  /** @param work identifies the work, such as a step's own key */
  constructor(private readonly work: string) {}

  /** @param call the target and arguments of the call */
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
