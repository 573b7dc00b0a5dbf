import { randomBytes } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import type { Lookup, Reference } from '../../definition/template'
import type { Reason } from '../../definition/verdict'

/** The recorded facts do not determine how the walk continues. */
export class Undetermined extends Error {
  override name = 'Undetermined'
  constructor(readonly reason: Reason) {
    super(`It depends on ${reason.place.stepId}: ${reason.why}`)
  }
}

/** No stored value contains it. */
const MARK = `unknown ${randomBytes(16).toString('hex')} `
const PATTERN = new RegExp(`${MARK}(\\d+);`)
const ALONE = new RegExp(`^${MARK}\\d+;$`)
const ALL = new RegExp(PATTERN, 'g')
const BETWEEN = new RegExp(`${MARK}\\d+;`)

/** Whether a value with unknown parts may be this one, as far as its known parts say. */
export function mayEqual(value: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof value === 'string') return mayEqualText(value, other)
  if (Array.isArray(value))
    return Array.isArray(other) && value.length === other.length && value.every((part, at) => mayEqual(part, other[at]))
  if (!isJsonObject(value) || !isJsonObject(other)) return value === other
  const names = Object.keys(value)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && mayEqual(own(value, name), own(other, name)))
  )
}

/** Of a text with unknown parts, how it begins and ends is known. */
function mayEqualText(text: string, other: JsonValue | undefined): boolean {
  const parts = text.split(BETWEEN)
  if (parts.length === 1) return text === other
  if (typeof other !== 'string') return parts.every((part) => part === '')
  const others = other.split(BETWEEN)
  const [start = '', otherStart = ''] = [parts[0], others[0]]
  const [end = '', otherEnd = ''] = [parts.at(-1), others.at(-1)]
  const starts = start.startsWith(otherStart) || otherStart.startsWith(start)
  return starts && (end.endsWith(otherEnd) || otherEnd.endsWith(end))
}

/**
 * The unknown values of a walk: texts with a mark that leads to the reason. They are copied like other values, and may
 * decide nothing.
 */
export class Unknowns {
  private readonly reasons: Reason[] = []

  /** Whether the walk has any. Without, nothing needs to be looked for. */
  get any(): boolean {
    return this.reasons.length > 0
  }

  make(reason: Reason): string {
    this.reasons.push(reason)
    return `${MARK}${this.reasons.length - 1};`
  }

  /** Whether a text is an unknown value, and nothing else. */
  static isMark(text: string): boolean {
    return ALONE.test(text)
  }

  /** A text without marks, to be shown. */
  static shown(text: string): string {
    return text.replaceAll(ALL, '***')
  }

  /** The reason why a value, or a part of it, is unknown. Null if all of it is known. */
  reasonIn(value: JsonValue | undefined): Reason | null {
    if (!this.any || value === undefined) return null
    const [, number] = PATTERN.exec(typeof value === 'string' ? value : JSON.stringify(value)) ?? []
    return number === undefined ? null : (this.reasons[Number(number)] ?? null)
  }

  /**
   * The fields that a step may have set whose result is unknown: every name, also those that nothing has set so far.
   * @param data all fields so far
   */
  everyField(data: JsonObject, mark: string): JsonObject {
    return Object.fromEntries([...Object.keys(data), mark].map((name) => [name, mark]))
  }

  /** Finds values like `lookup`, and an unknown one for a name that a step may have set. */
  lookup(data: JsonObject, lookup: Lookup): Lookup {
    const every = this.any ? Object.keys(data).find((name) => name.startsWith(MARK)) : undefined
    if (every === undefined) return lookup
    return (root) => (root === '_' || Object.hasOwn(data, root) ? lookup(root) : (data[every] ?? null))
  }

  /** What stands where a reference leads: nothing unknown, an unknown value to copy, or one that would decide. */
  met({ root, path, fallback }: Reference, lookup: Lookup): { reason: Reason; decides: boolean } | null {
    if (root === 'secrets') return null
    let value = lookup(root)
    for (const segment of path) {
      const through = typeof value === 'string' ? this.reasonIn(value) : null
      if (through) return { reason: through, decides: true }
      if (Array.isArray(value) && typeof segment === 'number') value = value[segment]
      else if (isJsonObject(value)) value = own(value, String(segment))
      else return null
    }
    const reason = this.reasonIn(value)
    // A value that contains something unknown is no null, so a fallback does not count.
    return reason && { reason, decides: fallback !== null && typeof value === 'string' }
  }
}
