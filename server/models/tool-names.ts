import { ID_TAIL, idTail } from '../ids'
import type { Noun } from '../versioned/noun'

export type Word = Noun<never, never, never, never>['word']

/** Every provider takes 64 characters. Some clients put a server's name in front, and an agent `handoff_`. */
const MAX_WORDS = 36
const ENDS_WITH_TAIL = new RegExp(`_([0-9a-f]{${ID_TAIL}})$`)
/** Accepted by every provider. */
const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/
const MAX_OF_ID = 51

/** How ids of hand-overs begin, and the names by which a model knows them. */
export const HAND_OFF = 'handoff_'

/**
 * The name of an object as something to call, for models and MCP clients: words for people and models, and a tail from
 * the id. Two objects with the same name get different ones, and a listed name never comes to mean another object.
 */
export function toolName(word: Word, id: string, name: string): string {
  return `${wordsOf(name) || word}_${tailOf(word, id)}`
}

function wordsOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .slice(0, MAX_WORDS)
    .replace(/_$/, '')
}

/** Whether a text is the name that people gave the tool, or its name for models without the tail. */
export function isNameOfTool(text: string, name: string): boolean {
  const tail = tailIn(name)
  return tail !== null && name === `${wordsOf(text)}_${tail}`
}

/** The tail of an object's name. */
export function tailOf(word: Word, id: string): string {
  return idTail(`${word}:${id}`)
}

/** Null for a name without an object's tail. */
export function tailIn(name: string): string | null {
  return ENDS_WITH_TAIL.exec(name)?.[1] ?? null
}

/**
 * The name of a tool that an agent no longer has, in its earlier messages: the id if providers accept it; otherwise its start
 * and a digest of the whole, so that no two share a name.
 */
export function idAsName(id: string): string {
  if (ACCEPTED.test(id)) return id
  const words = id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_OF_ID)
  return `${words}_${idTail(id)}`
}

/**
 * Whether a text means the tool or hand-over that a model knows by this name: by that name, by one that it had before
 * its object was renamed, or by its id.
 */
export function meansTool(text: string, name: string): boolean {
  const tail = tailIn(name)
  if (text === name || tail === null) return text === name
  const ofId = text.startsWith(HAND_OFF) ? tailOf('agent', text.slice(HAND_OFF.length)) : tailOf('tool', text)
  return tail === ofId || tail === tailIn(text)
}
