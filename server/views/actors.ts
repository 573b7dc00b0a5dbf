import { and, eq, inArray } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { members, users } from '@/db/schema/members'
import { SYSTEM_ACTORS } from '../audit/system-actors'
import type { ServiceContext } from '../context'
import { own } from '../definition/json'

/** The name of an actor for people to read. */
export interface ActorName {
  /** The id history stores. */
  id: string
  kind: 'user' | 'apiKey' | 'token' | 'system'
  name: string
}

/** Adds the names of their authors to versions. */
export async function withAuthors<V extends { createdBy: string }>(ctx: ServiceContext, versions: readonly V[]) {
  const nameOf = await nameActors(
    ctx,
    versions.map(({ createdBy }) => createdBy),
  )
  return versions.map((item) => ({ ...item, author: nameOf(item.createdBy)?.name ?? item.createdBy }))
}

/**
 * Finds names for the actor ids in history: a member's or an API key's name. Any other id is the `sub` of a token,
 * which the customer chose.
 */
export async function nameActors(
  ctx: ServiceContext,
  ids: Iterable<string | null>,
): Promise<(id: string | null) => ActorName | null> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  const keyIds = wanted.filter((id) => id.startsWith('key_'))
  const others = wanted.filter((id) => !id.startsWith('key_'))
  const [keys, people] = await Promise.all([
    keyIds.length === 0
      ? []
      : ctx.db
          .select({ id: apiKeys.id, name: apiKeys.name })
          .from(apiKeys)
          .where(and(eq(apiKeys.tenantId, ctx.tenantId), inArray(apiKeys.id, keyIds))),
    others.length === 0
      ? []
      : ctx.db
          .select({ id: users.id, name: users.name })
          .from(members)
          .innerJoin(users, eq(users.id, members.userId))
          .where(and(eq(members.tenantId, ctx.tenantId), inArray(users.id, others))),
  ])
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]))
  const userNames = new Map(people.map(({ id, name }) => [id, name]))
  return (id) => {
    if (id === null) return null
    const user = userNames.get(id)
    if (user !== undefined) return { id, kind: 'user', name: user }
    if (id.startsWith('key_')) return { id, kind: 'apiKey', name: keyNames.get(id) ?? 'a deleted API key' }
    const machine = own(SYSTEM_ACTORS, id)
    if (machine !== undefined) return { id, kind: 'system', name: machine }
    if (id.startsWith('sch_')) return { id, kind: 'system', name: 'a schedule' }
    if (id.startsWith('inb_')) return { id, kind: 'system', name: 'an inbound webhook' }
    if (id.startsWith('usr_')) return { id, kind: 'user', name: 'a former member' }
    return { id, kind: 'token', name: id }
  }
}
