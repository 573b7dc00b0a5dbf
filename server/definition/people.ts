import type { JsonObject } from './json'

/** A vote at a pause that needs several, as the decision stores it. */
export type Vote = {
  /** The person's id. */
  by: string
  name: string
  actionId: string
  /** The values of the action's fields, and the remark, where the step asks for them. */
  data?: JsonObject
  remark?: string
}

/** The maximum length of a group's name. */
export const MAX_GROUP_NAME = 60

/**
 * `user:` with an address, a token's `sub` or an id; `group:` with the name of a group, for its members; or `role:` for
 * everyone with that role or a higher one.
 */
export const ASSIGNEE =
  /^(?:user:[^\s](?:.{0,254}[^\s])?|group:[^\s](?:.{0,58}[^\s])?|role:(?:viewer|operator|editor|admin|owner))$/

/** Invisible characters: joiners, direction marks, soft hyphens and the like. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** One of our own ids, which people may write in lower case. */
const OWN_ID = /^([a-z]{2,5})_([0-9a-hjkmnp-tv-z]{26})$/i

/**
 * Normalizes a person's name, so that every spelling counts as one person: names that look the same are equal, and
 * addresses and our own ids are case-insensitive. Everything that compares people compares this.
 */
export function sameName(name: string): string {
  const seen = name.normalize('NFC').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim()
  if (seen === '') return name
  const [, prefix, rest] = OWN_ID.exec(seen) ?? []
  if (prefix && rest) return `${prefix.toLowerCase()}_${rest.toUpperCase()}`
  return seen.includes('@') ? seen.toLowerCase() : seen
}

/** The same for the name of a group, which is case-insensitive. */
export function sameGroup(name: string): string {
  // In lower case, some letters have a composed form that they do not have in upper case.
  return sameName(name).toLowerCase().normalize('NFC')
}

/** The same for an assignment. */
export function sameAssignee(assignee: string): string {
  const { kind, name } = partsOf(assignee)
  if (kind === 'user') return `user:${sameName(name)}`
  // In a template, names of fields are case-sensitive.
  return kind === 'group' && !name.includes('${') ? `group:${sameGroup(name)}` : assignee
}

/** What an assignment names: a person, a group or a role. */
export function partsOf(assignee: string): { kind: string; name: string } {
  const [, kind = '', name = assignee] = /^(\w+):(.*)$/s.exec(assignee) ?? []
  return { kind, name }
}

/** The name in an assignment of this kind, without expressions; null for anything else. */
export function nameIn(assignee: unknown, wanted: 'user' | 'group'): string | null {
  if (typeof assignee !== 'string') return null
  const { kind, name } = partsOf(assignee)
  return kind === wanted && !name.includes('${') ? name : null
}

/**
 * An assignment in words.
 * @param nameOf finds the name of a person or a group by the assignment, as `sameAssignee` returns it
 */
export function assigneeText(assignee: string, nameOf: (same: string) => string | undefined = () => undefined): string {
  const { kind, name } = partsOf(assignee)
  if (kind === 'role') return name === 'owner' ? 'any owner' : `anybody with the role ${name} or higher`
  const called = nameOf(sameAssignee(assignee)) ?? name
  return kind === 'group' ? `anybody in the group ${called}` : called
}

/**
 * How many people an assignment names, if it names each of them; null if it contains a group, a role or a template.
 */
export function namedPeople(assignees: unknown): number | null {
  if (!Array.isArray(assignees)) return null
  if (!assignees.every((one) => typeof one === 'string' && one.startsWith('user:') && !one.includes('${'))) return null
  return new Set(assignees.map(sameAssignee)).size
}

/** How many votes an action needs; 1 by default. */
export function votesNeeded(needs: Readonly<Record<string, number>>, actionId: string): number {
  return Object.hasOwn(needs, actionId) ? (needs[actionId] ?? 1) : 1
}
