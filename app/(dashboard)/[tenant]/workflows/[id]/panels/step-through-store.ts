import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isSamePlace, type Place } from '@/server/definition/verdict'
import type { StepThrough } from '@/server/runs/step-through/schema'
import type { Stood } from '@/server/runs/step-through/step-through'

type Sent = { [K in keyof Omit<StepThrough, 'version' | 'stop'>]-?: NonNullable<StepThrough[K]> }
export type Came = Sent['facts'][number]['came']
/** How a fact came about. A computed one is only kept so that it stays the same. */
export type How = 'computed' | 'typed' | 'ran' | 'last' | 'answered'
type Fact = Sent['facts'][number] & { how: How }
type Skip = Sent['skips'][number] & { at: number }

/** What a person has said while stepping through a draft. This tab keeps it; the server never does. */
export interface Session {
  input: JsonObject
  facts: readonly Fact[]
  changes: Sent['changes']
  skips: readonly Skip[]
  /** How many visits have passed. */
  passed: number
}

export function begin(input: JsonObject): Session {
  return { input, facts: [], changes: [], skips: [], passed: 0 }
}

/** What the server is sent. */
export function sentOf({ facts, skips, ...rest }: Session): Sent {
  return {
    ...rest,
    facts: facts.map(({ how: _how, ...fact }) => fact),
    skips: skips.map(({ at: _at, ...skip }) => skip),
  }
}

/** The session with what the server has found: how far the walk came, and what it computed. */
export function stoodAt(session: Session, { earlier, visits, computed }: Stood): Session {
  const facts = computed.map((fact) => ({ ...fact, how: 'computed' as const }))
  return { ...session, passed: earlier + visits.length, facts: [...session.facts, ...facts] }
}

/** The visit that comes next has come to this. */
export function came(session: Session, at: Place, came: Came, how: How): Session {
  const others = session.facts.filter((fact) => !isSamePlace(fact, at))
  return { ...session, facts: [...others, { ...at, came, how }], passed: session.passed + 1 }
}

/** The fields that differ from those shown, or why they cannot be changed. */
export function changedFields(shown: JsonObject, now: JsonObject): JsonObject | { gone: string } {
  const gone = Object.keys(shown).find((name) => !Object.hasOwn(now, name))
  if (gone !== undefined) return { gone }
  const differs = ([name, value]: [string, JsonValue]) => JSON.stringify(value) !== JSON.stringify(shown[name])
  return Object.fromEntries(Object.entries(now).filter(differs))
}

/** Changes fields before a visit. */
export function changed(session: Session, before: Place, fields: JsonObject): Session {
  const known = session.changes.find((change) => isSamePlace(change.before, before))
  const others = session.changes.filter((change) => change !== known)
  return { ...session, changes: [...others, { before, fields: { ...known?.fields, ...fields } }] }
}

/** Leaves out branches of a fork, from the one in which it stands. */
export function skipped(session: Session, stood: Stood, scope: string, from: string, to: string | null): Session {
  const inside = `${scope}/${from}`
  const isInside = ({ branch }: Place) => branch === inside || branch.startsWith(`${inside}/`)
  const first = stood.visits.findIndex(isInside)
  const at = first < 0 ? session.passed : stood.earlier + first
  return { ...backTo(session, stood, at), skips: [...session.skips, { scope, from, to, at }] }
}

/** Stands before an earlier visit again, with the changes that were made before it. */
export function backTo(session: Session, { visits, earlier, next }: Stood, nth: number): Session {
  const later = [...visits.slice(Math.max(0, nth - earlier)), ...(next ? [next.at] : [])]
  const isLater = (place: Place, from: number) => later.slice(from).some((visit) => isSamePlace(visit, place))
  return {
    ...session,
    facts: session.facts.filter((fact) => !isLater(fact, 0)),
    changes: session.changes.filter(({ before }) => !isLater(before, 1)),
    skips: session.skips.filter(({ at }) => at <= nth),
    passed: nth,
  }
}

/** How each visit came about, if it did not only compute. */
export function howOf({ facts }: Session, place: Place): How | null {
  return facts.find((fact) => isSamePlace(fact, place))?.how ?? null
}

/** The text under which this tab keeps a session. */
export const keyOf = (tenantId: string, workflowId: string) => `millrace-steps:${tenantId}:${workflowId}`

export function readSession(key: string): Session | null {
  try {
    const found = JSON.parse(window.sessionStorage.getItem(key) ?? 'null') as Session | null
    return found && Array.isArray(found.facts) && Array.isArray(found.skips) ? found : null
  } catch {
    return null
  }
}

/** If there is no room, it lives as long as the panel. */
export function keepSession(key: string, session: Session | null): void {
  try {
    if (session === null) window.sessionStorage.removeItem(key)
    else window.sessionStorage.setItem(key, JSON.stringify(session))
  } catch {}
}
