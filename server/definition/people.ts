/** A vote at a pause that needs several, as the decision keeps it. */
export type Vote = {
  /** The person's id. */
  by: string
  name: string
  actionId: string
}

/** `user:` with an address, a token's `sub` or an id; or `role:` for everybody with that role or a higher one. */
export const ASSIGNEE = /^(?:user:[^\s](?:.{0,254}[^\s])?|role:(?:viewer|operator|editor|admin|owner))$/

/** How people are named, so that one person has one name: addresses are the same in upper and lower case. */
export function sameName(name: string): string {
  return name.includes('@') ? name.toLowerCase() : name
}

/** How many people an assignment names, if it names each of them; null if it contains a role or a template. */
export function namedPeople(assignees: unknown): number | null {
  if (!Array.isArray(assignees)) return null
  if (!assignees.every((one) => typeof one === 'string' && one.startsWith('user:') && !one.includes('${'))) return null
  return new Set(assignees.map(sameName)).size
}

/** How many votes an action needs; 1 by default. */
export function votesNeeded(needs: Readonly<Record<string, number>>, actionId: string): number {
  return Object.hasOwn(needs, actionId) ? (needs[actionId] ?? 1) : 1
}
