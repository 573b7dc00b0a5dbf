import { and, eq, inArray } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { members, users } from '@/db/schema/members'
import { taskLinks } from '@/db/schema/task-links'
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

const DELETED_KEY = 'a deleted API key'

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
    if (id.startsWith('key_')) return { id, kind: 'apiKey', name: keyNames.get(id) ?? DELETED_KEY }
    const machine = own(SYSTEM_ACTORS, id)
    if (machine !== undefined) return { id, kind: 'system', name: machine }
    if (id.startsWith('sch_')) return { id, kind: 'system', name: 'a schedule' }
    if (id.startsWith('inb_')) return { id, kind: 'system', name: 'an inbound webhook' }
    if (id.startsWith('stl_')) return { id, kind: 'system', name: 'a start link' }
    if (id.startsWith('usr_')) return { id, kind: 'user', name: 'a former member' }
    return { id, kind: 'token', name: id }
  }
}

/** The name of an answerer. With a task link, `link` stands for the holder. */
export interface AnswererName extends Omit<ActorName, 'kind'> {
  kind: ActorName['kind'] | 'link'
}

interface Answered {
  answeredBy: string | null
  answeredVia: string | null
}

const isLink = (via: string | null): via is string => via?.startsWith('lnk_') ?? false

/**
 * Names the answerers. A task link's maker stands for its unknown holder, unless the link was made for a named person.
 */
export async function nameAnswerers(
  ctx: ServiceContext,
  answers: readonly Answered[],
): Promise<(answer: Answered) => AnswererName | null> {
  const linkIds = [...new Set(answers.map(({ answeredVia }) => answeredVia))].filter(isLink)
  const [nameOf, links] = await Promise.all([
    nameActors(
      ctx,
      answers.map(({ answeredBy }) => answeredBy),
    ),
    linkIds.length === 0
      ? []
      : ctx.db
          .select({ id: taskLinks.id, answersFor: taskLinks.answersFor })
          .from(taskLinks)
          .where(and(eq(taskLinks.tenantId, ctx.tenantId), inArray(taskLinks.id, linkIds))),
  ])
  const forSomebody = new Set(links.flatMap(({ id, answersFor }) => (answersFor === null ? [] : [id])))
  return ({ answeredBy, answeredVia }) => {
    const who = nameOf(answeredBy)
    if (who === null || !isLink(answeredVia)) return who
    if (forSomebody.has(answeredVia)) return { ...who, name: `${who.name} (by link)` }
    return { id: answeredVia, kind: 'link', name: `a link made by ${who.name}` }
  }
}

/** How a vote came in, for display; null if the voter cast it directly. */
export async function nameWays(ctx: ServiceContext, vias: readonly (string | null)[]) {
  const nameOf = await nameActors(
    ctx,
    vias.filter((via) => !isLink(via)),
  )
  return (via: string | null): string | null => {
    if (via === null) return null
    if (isLink(via)) return 'a link'
    const name = nameOf(via)?.name ?? DELETED_KEY
    return name === DELETED_KEY ? name : `the key ${name}`
  }
}
