import { and, eq, or } from 'drizzle-orm'
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
  if (!member) return { id: called, name: actor.kind === 'user' ? actor.name : called, names: [called], role }
  const { id, name, email } = member
  return { id, name, names: [...new Set([id, email, called])], role }
}

/** A member as a person who answers; null if there is no such member. */
export async function personOfMember(ctx: ServiceContext, called: string): Promise<Person | null> {
  const member = await memberCalled(ctx, sameName(called))
  return member ? { id: member.id, name: member.name, names: [member.id, member.email], role: member.role } : null
}

async function keyAsPerson({ tenantId, db }: ServiceContext, { id, role }: { id: string; role: Role }) {
  const [key] = await db
    .select({ name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.tenantId, tenantId), eq(apiKeys.id, id)))
  return { id, name: key?.name ?? id, names: [id], role }
}

async function memberCalled({ tenantId, db }: ServiceContext, called: string) {
  const [member] = await db
    .select({ id: users.id, name: users.name, email: users.email, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, tenantId), or(eq(users.id, called), eq(users.email, called))))
    .limit(1)
  return member && { ...member, role: roleOf(member.role) }
}
