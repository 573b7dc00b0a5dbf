import { diffValues } from '@/server/definition/diff'
import type { JsonValue } from '@/server/definition/json'
import type { Conflict, Side } from './merge'

/** A field that at least one side of a conflict changed. A side is `undefined` where the field is missing. */
export interface ConflictField {
  /** Empty for a conflict over a single value. */
  path: string
  was: JsonValue | undefined
  mine: JsonValue | undefined
  theirs: JsonValue | undefined
  changedBy: Side | 'both'
}

/** The changes of both sides of a conflict, field by field. Empty if one of them deleted the whole. */
export function conflictFields(conflict: Conflict): ConflictField[] {
  const { kind, mine, theirs } = conflict
  const was = conflict.was as JsonValue | null
  const gone = kind !== 'meta' && (mine === null || theirs === null)
  if (gone) return []
  const changes = (side: Side) => {
    const now = conflict[side] as JsonValue
    // If both added it, everything in it is new, and only differences matter.
    const before = was === null && kind !== 'meta' ? (side === 'mine' ? theirs : mine) : was
    return new Map(diffValues(before as JsonValue, now).map((change) => [change.path, change]))
  }
  const [ours, others] = [changes('mine'), changes('theirs')]
  return [...new Set([...ours.keys(), ...others.keys()])].map((path) => {
    const [own, other] = [ours.get(path), others.get(path)]
    // A side that did not change it has the former value.
    return {
      path,
      was: was === null ? undefined : (own ?? other)?.before,
      mine: own ? own.after : other?.before,
      theirs: other ? other.after : own?.before,
      changedBy: own && other ? 'both' : own ? 'mine' : 'theirs',
    }
  })
}

/** A text in three parts: the second differs from before, in whole words. */
export function changedPart(before: string, now: string): [string, string, string] {
  let start = 0
  while (start < before.length && start < now.length && before[start] === now[start]) start++
  while (inWord(before, start) || inWord(now, start)) start--
  let end = 0
  const most = Math.min(before.length, now.length) - start
  while (end < most && before[before.length - 1 - end] === now[now.length - 1 - end]) end++
  while (inWord(before, before.length - end) || inWord(now, now.length - end)) end--
  return [now.slice(0, start), now.slice(start, now.length - end), now.slice(now.length - end)]
}

/** Whether a word spans a position in a text. */
function inWord(text: string, at: number): boolean {
  return /^[\p{L}\p{N}]{2}$/u.test(text.slice(at - 1, at + 1)) && at > 0
}
