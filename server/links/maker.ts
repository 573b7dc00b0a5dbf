import { and, eq, sql } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { members, users } from '@/db/schema/members'
import { signingSecrets } from '@/db/schema/secrets'
import { may } from '../auth/policy'
import type { Actor, ServiceContext } from '../context'
import { roleOf } from '../roles'
import { type Person, personOf } from '../runs/person'
import type { LinkRow } from './find'

/**
 * Whom an answer by a link counts for, as they are now: what the maker may do may have changed since. Null if the maker
 * has left, or may not answer tasks any more.
 */
export async function personBehind(ctx: ServiceContext, link: LinkRow): Promise<Person | null> {
  const actor = await findMaker(ctx, link)
  if (!actor || !may(actor.role, 'run:resume')) return null
  return personOf({ ...ctx, actor }, link.makerKind === 'apiKey' ? (link.answersFor ?? undefined) : undefined)
}

async function findMaker(ctx: ServiceContext, link: LinkRow): Promise<Actor | null> {
  const { db, tenantId } = ctx
  const { makerKind, makerId, secretId, answersFor } = link
  if (makerKind === 'apiKey') {
    const role = await roleOfCredential(ctx, apiKeys, makerId)
    return role === null ? null : { kind: 'apiKey', id: makerId, role: roleOf(role) }
  }
  if (makerKind === 'jwt') {
    const role = await roleOfCredential(ctx, signingSecrets, secretId ?? '')
    return role === null ? null : { kind: 'jwt', id: makerId, secretId: secretId ?? '', role: roleOf(role) }
  }
  const userId = makerKind === 'system' ? (answersFor ?? '') : makerId
  const [member] = await db
    .select({ name: users.name, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, tenantId), eq(members.userId, userId)))
  return member ? { kind: 'user', id: userId, name: member.name, sessionId: '', role: roleOf(member.role) } : null
}

/**
 * Null for a key or a signing secret that no longer counts. One that was replaced is as good as the one it was replaced
 * with.
 */
async function roleOfCredential(
  { db, tenantId, now }: ServiceContext,
  credentials: typeof apiKeys | typeof signingSecrets,
  id: string,
): Promise<string | null> {
  const at = now().toISOString()
  const [found] = await db.execute<{ role: string }>(sql`
    with recursive line as (
      select k.id, k.role, k.disabled_at, k.grace_until from ${credentials} k where k.tenant_id = ${tenantId} and k.id = ${id}
      union
      select k.id, k.role, k.disabled_at, k.grace_until from line
      join ${credentials} k on k.tenant_id = ${tenantId} and k.rotated_from = line.id
      where line.disabled_at is null and line.grace_until <= ${at}::timestamptz)
    select role from line where disabled_at is null and (grace_until is null or grace_until > ${at}::timestamptz)`)
  return found?.role ?? null
}
