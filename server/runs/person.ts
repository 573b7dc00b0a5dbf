import { and, eq, or, sql } from 'drizzle-orm'
import { groupMembers, groups } from '@/db/schema/groups'
import { apiKeys } from '@/db/schema/keys'
import { members, users } from '@/db/schema/members'
import type { ServiceContext } from '../context'
import { sameName } from '../definition/people'
import { AppError } from '../errors'
import { type Role, roleOf } from '../roles'

/** A person who answers, regardless of how they authenticated: signed in, with a token, or named by an API key. */
export interface Person {
  /** Identifies them for counting: a member's id, else the name in the token or from the key, else the key's id. */
  id: string
  name: string
  /** Every name that `user:` may use for them. */
  names: readonly string[]
  /** Null for a non-member whom a key names. */
  role: Role | null
  /** Every name that `group:` may use for their groups. */
  groups: readonly string[]
}

/**
 * The person who answers.
 * @param answeredBy the person an API key answers for
 * @throws AppError INVALID_INPUT if any other caller names a person
 */
export async function personOf(ctx: ServiceContext, answeredBy?: string): Promise<Person> {
  const { actor } = ctx
  if (answeredBy !== undefined && actor.kind !== 'apiKey' && sameName(answeredBy) !== sameName(actor.id)) {
    const message = 'Only an API key can answer for another person.'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'answeredBy', message }] })
  }
  if (actor.kind === 'apiKey' && answeredBy === undefined) return keyAsPerson(ctx, actor)
  const called = sameName(answeredBy ?? actor.id)
  const member = await memberCalled(ctx, called)
  const role = actor.kind === 'apiKey' ? (member?.role ?? null) : actor.role
  if (!member) {
    const name = actor.kind === 'user' ? actor.name : called
    return { id: called, name, names: [called], role, groups: [] }
  }
  const { email, ...person } = member
  return { ...person, names: [...new Set([person.id, email, called])], role }
}

/** A member as a person who answers; null if there is no such member. */
export async function personOfMember(ctx: ServiceContext, called: string): Promise<Person | null> {
  const member = await memberCalled(ctx, sameName(called))
  if (!member) return null
  const { email, ...person } = member
  return { ...person, names: [person.id, email] }
}

async function keyAsPerson({ tenantId, db }: ServiceContext, { id, role }: { id: string; role: Role }) {
  const [key] = await db
    .select({ name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.tenantId, tenantId), eq(apiKeys.id, id)))
  return { id, name: key?.name ?? id, names: [id], role, groups: [] }
}

async function memberCalled({ tenantId, db }: ServiceContext, called: string) {
  const [member] = await db
    .select({ id: users.id, name: users.name, email: users.email, role: members.role, groups: groupsOfMember })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, tenantId), or(eq(users.id, called), eq(users.email, called))))
    .limit(1)
  return member && { ...member, role: roleOf(member.role) }
}

/** The names of the groups of a row of `members`, as `sameGroup` returns them. */
export const groupsOfMember = sql<string[]>`(
  select coalesce(json_agg(called), '[]') from ${groupMembers} gm
  join ${groups} g on g.tenant_id = gm.tenant_id and g.id = gm.group_id
  cross join unnest(g.key || g.earlier_keys) called
  where gm.tenant_id = ${members.tenantId} and gm.user_id = ${members.userId})`
