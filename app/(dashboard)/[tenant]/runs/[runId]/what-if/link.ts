import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import type { Place } from '@/server/definition/verdict'
import type { Came, Changes } from './changes'
import type { Version } from './use-what-if'

/** Longer addresses are cut by some programs. */
const MOST = 16_000

export interface Tried {
  version: Version
  changes: Changes
}

/**
 * The part of an address behind `#`, which no browser sends to a server. It has the changes only: what they make of the run
 * is computed for the person who opens it. Null if it would be too long.
 */
export function linkOf(tried: Tried): string | null {
  const text = encodeURIComponent(JSON.stringify(tried))
  return text.length > MOST ? null : `#${text}`
}

/** @returns null for anything else, such as a part that was cut */
export function triedIn(hash: string): Tried | null {
  const sent = parsed(hash)
  if (!isJsonObject(sent) || !isJsonObject(sent.changes)) return null
  const { version, changes } = sent
  const { input, data, came } = changes
  if (!isJsonObject(input) || !isVersion(version)) return null
  const edits = listOf(data).flatMap(({ before, fields }) =>
    isPlace(before) && isJsonObject(fields) ? [{ before, fields }] : [],
  )
  const said = listOf(came).flatMap(({ at, came }) =>
    isPlace(at) && isJsonObject(came) && isCame(came) ? [{ at, came: came as Came }] : [],
  )
  return { version, changes: { input, data: edits, came: said } }
}

const isCame = (came: JsonObject) => 'output' in came || isJsonObject(came.failed) || isJsonObject(came.answer)

function parsed(hash: string): JsonValue {
  try {
    return JSON.parse(decodeURIComponent(hash.slice(1)))
  } catch {
    return null
  }
}

const isVersion = (value: JsonValue | undefined): value is Version =>
  typeof value === 'number' || value === 'own' || value === 'published' || value === 'latest'

function isPlace(value: JsonValue | undefined): value is JsonValue & Place {
  return (
    isJsonObject(value) &&
    typeof value.branch === 'string' &&
    typeof value.stepId === 'string' &&
    typeof value.visit === 'number'
  )
}

const listOf = (value: JsonValue | undefined) => (Array.isArray(value) ? value.filter(isJsonObject) : [])
