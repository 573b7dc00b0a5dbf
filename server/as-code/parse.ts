import { isJsonObject, type JsonObject, type JsonValue, jsonSize, toStorableJson } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { MAX_JSON_BYTES } from '../http/body'
import { refuseLargeJson } from '../http/parse-json'
import { parseInput } from '../parse'
import { findBuiltinTool } from '../tools/builtin'
import type { Named } from '../versioned/noun'
import { KINDS } from './all-kinds'
import { type Kind, VERSIONED_KINDS, type VersionedKind } from './kinds'
import { ApplyDefinitions, type ApplyOptions, MAX_DEFINITIONS } from './schema'
import { STARTER_KINDS } from './starters/kinds'
import type { StarterItem } from './starters/tasks'
import { detailOf } from './task'

/** A definition of the request. */
export interface Item {
  kind: VersionedKind
  id: string
  /** Its position in the body. */
  path: string
  content: Named
}

/**
 * The definitions of a body, and the content that each would be saved as.
 * @throws AppError INVALID_INPUT with the problems of all of them
 */
export function parseDefinitions(input: JsonObject): {
  items: Item[]
  starters: StarterItem[]
  options: ApplyOptions
} {
  const parsed = parseNamed(input)
  const details: ErrorDetail[] = []
  const given = <K extends Kind>(kinds: readonly K[]) =>
    kinds.flatMap((kind) => itemsOf(input, kind, parsed[kind.plural], details))
  const items = given(VERSIONED_KINDS)
  const starters = given(STARTER_KINDS)
  const count = items.length + starters.length
  if (count > MAX_DEFINITIONS) throw problem('', `There may be at most ${MAX_DEFINITIONS} definitions.`)
  if (parsed.prune && count === 0 && details.length === 0)
    throw problem('prune', 'needs at least one definition: without any, it would archive everything')
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  const { publish, prune, force } = parsed
  return { items, starters, options: { publish, prune, force } }
}

type ItemOf<K extends Kind> = { kind: K; id: string; path: string; content: ReturnType<K['contentOf']> }

/** The definitions of one kind. Adds their problems to `details`. */
function itemsOf<K extends Kind>(
  input: JsonObject,
  kind: K,
  list: readonly { id: string }[],
  details: ErrorDetail[],
): ItemOf<K>[] {
  const known = new Map<string, string>()
  return list.flatMap((item, index) => {
    const place = { kind, id: item.id, path: `${kind.plural}[${index}]` }
    try {
      const other = known.get(item.id.toLowerCase())
      if (other === item.id) throw problem('id', 'is given twice')
      if (other !== undefined) throw problem('id', `${item.id} differs from ${other} only in case`)
      if (kind.word === 'tool' && findBuiltinTool(item.id)) throw problem('id', 'is a built-in tool')
      known.set(item.id.toLowerCase(), item.id)
      const given = givenAt(input, kind, index) ?? {}
      refuseLarge(given)
      // The type of a kind's content is lost on the way through its interface.
      const content = kind.contentOf(item) as ReturnType<K['contentOf']>
      refuseLost({ ...given, id: null }, toStorableJson({ ...content }))
      return [{ ...place, content }]
    } catch (err) {
      if (!(err instanceof AppError) || err.status !== 400) throw err
      details.push(...err.details.map((detail) => detailOf(place, detail)))
      return []
    }
  })
}

/** Names the definition in each detail. */
function parseNamed(input: JsonObject) {
  try {
    return parseInput(ApplyDefinitions, input)
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    throw new AppError(err.code, { details: err.details.map((detail) => named(input, detail)) })
  }
}

function named(input: JsonObject, detail: ErrorDetail): ErrorDetail {
  const [, plural = '', index = '', at = ''] = /^(\w+)\[(\d+)\]\.?(.*)$/.exec(detail.path ?? '') ?? []
  const kind = KINDS.find((one) => one.plural === plural)
  const item = kind && givenAt(input, kind, Number(index))
  if (!kind || typeof item?.id !== 'string') return detail
  return detailOf({ kind, id: item.id, path: `${plural}[${index}]` }, { ...detail, path: at })
}

function givenAt(input: JsonObject, { plural }: Kind, index: number): JsonObject | null {
  const list = input[plural]
  const item = Array.isArray(list) ? list[index] : null
  return isJsonObject(item) ? item : null
}

/** Limits a definition to the size of an ordinary save. */
function refuseLarge(item: JsonObject): void {
  if (jsonSize(item) > MAX_JSON_BYTES) throw problem('', `is larger than ${MAX_JSON_BYTES} bytes`)
  refuseLargeJson(JSON.stringify(item), 'It')
}

/** Rejects unknown fields within a definition, which would be dropped, because nobody would notice the misspelling. */
function refuseLost(given: JsonValue, kept: JsonValue | undefined, path = ''): void {
  if (Array.isArray(given)) {
    if (Array.isArray(kept))
      for (const [index, item] of given.entries()) refuseLost(item, kept[index], `${path}[${index}]`)
    return
  }
  if (!isJsonObject(given) || !isJsonObject(kept)) return
  for (const [name, value] of Object.entries(given)) {
    const place = path === '' ? name : `${path}.${name}`
    if (Object.hasOwn(kept, name)) refuseLost(value, kept[name], place)
    else if (value !== null && !(isJsonObject(value) && Object.keys(value).length === 0))
      throw problem(place, 'is unknown and would be lost: its name may be misspelt')
  }
}

function problem(path: string, message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [path === '' ? { message } : { path, message }] })
}
