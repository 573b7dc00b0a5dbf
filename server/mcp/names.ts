import { type SQL, sql } from 'drizzle-orm'
import { ID_TAIL, idTail } from '../ids'
import type { Noun } from '../versioned/noun'

export type Word = Noun<never, never, never, never>['word']

/** Some clients prepend the server's name and accept 64 characters in all. */
const MAX_WORDS = 36
const ENDS_WITH_TAIL = new RegExp(`_([0-9a-f]{${ID_TAIL}})$`)

/**
 * The name of an MCP tool: words for people and models, and a tail from the id. Two objects with the same name get
 * different ones, and a listed name never comes to mean another object.
 */
export function toolName(word: Word, id: string, name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .slice(0, MAX_WORDS)
    .replace(/_$/, '')
  return `${words || word}_${idTail(`${word}:${id}`)}`
}

/** Null for a name without an object's tail. */
export function tailIn(name: string): string | null {
  return ENDS_WITH_TAIL.exec(name)?.[1] ?? null
}

/** The tail in a query. */
export function tailSql(word: Word, id: SQL | { getSQL(): SQL }): SQL<string> {
  return sql`left(encode(sha256(convert_to(${`${word}:`}::text || ${id}, 'UTF8')), 'hex'), ${ID_TAIL}::integer)`
}
