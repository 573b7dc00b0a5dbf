import { and, eq, sql } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { members, users } from '@/db/schema/members'
import { signingSecrets } from '@/db/schema/secrets'
import { MAX_LIFE_S } from '../auth/jwt'
import { allows } from '../auth/policy'
import { mayReach, reachOf } from '../auth/reach'
import type { ServiceContext } from '../context'
import { durationMs } from '../definition/duration'
import { AppError } from '../errors'
import { roleOf } from '../roles'
import { hasRun } from '../run-store/find-run'
import { type Person, personOf } from '../runs/person'
import type { LinkRow } from './find'

/** The maker of a link, with their current rights. */
type Maker = Pick<ServiceContext, 'actor' | 'reach'>

/** Who made a link: the columns of either kind. */
type MadeBy = Pick<LinkRow, 'makerKind' | 'makerId' | 'secretId'> & Partial<Pick<LinkRow, 'answersFor'>>

/**
 * The columns of a link that say who made it.
 * @throws AppError FORBIDDEN for the product's own actors, which reach people in other ways
 */
export function makerOf({ actor }: ServiceContext) {
  if (actor.kind === 'system') throw new AppError('FORBIDDEN')
  return { makerKind: actor.kind, makerId: actor.id, secretId: actor.kind === 'jwt' ? actor.secretId : null }
}

/**
 * When a link that is made now ends. A token vouches for its subject for at most a day, and so does a link made with
 * one: nobody here could end it when the subject leaves.
 */
export function endOf({ actor, now }: ServiceContext, expiresIn: string): Date {
  const maxMs = actor.kind === 'jwt' ? MAX_LIFE_S * 1_000 : Number.POSITIVE_INFINITY
  return new Date(now().getTime() + Math.min(durationMs(expiresIn) ?? 0, maxMs))
}

/** Whether the maker of a start link still may start its workflow. */
export async function mayStillStart(ctx: ServiceContext, link: MadeBy & { workflowId: string }): Promise<boolean> {
  const maker = await findMaker(ctx, link)
  return maker !== null && allows(maker, 'run:start') && mayReach({ ...ctx, ...maker }, 'workflow', link.workflowId)
}

/**
 * The person whose answer a link gives, with their current rights: the maker's may have changed. Null if the maker has
 * left, may no longer answer tasks, or no longer reaches the run.
 */
export async function personBehind(ctx: ServiceContext, link: LinkRow): Promise<Person | null> {
  const maker = await findMaker(ctx, link)
  if (!maker || !allows(maker, 'run:resume')) return null
  const asMaker = { ...ctx, ...maker }
  if (maker.reach && !(await hasRun(asMaker, link.runId))) return null
  return personOf(asMaker, link.makerKind === 'apiKey' ? (link.answersFor ?? undefined) : undefined)
}

async function findMaker(ctx: ServiceContext, link: MadeBy): Promise<Maker | null> {
  const { db, tenantId } = ctx
  const { makerKind, makerId, secretId, answersFor } = link
  if (makerKind === 'apiKey') {
    const key = await credentialNow(ctx, apiKeys, makerId)
    return key && { actor: { kind: 'apiKey', id: makerId, role: roleOf(key.role) } }
  }
  if (makerKind === 'jwt') {
    const secret = await credentialNow(ctx, signingSecrets, secretId ?? '')
    return (
      secret && {
        actor: { kind: 'jwt', id: makerId, secretId: secret.id, role: roleOf(secret.role) },
        reach: reachOf(secret),
      }
    )
  }
  const userId = makerKind === 'system' ? (answersFor ?? '') : makerId
  const [member] = await db
    .select({ name: users.name, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, tenantId), eq(members.userId, userId)))
  if (!member) return null
  return { actor: { kind: 'user', id: userId, name: member.name, sessionId: '', role: roleOf(member.role) } }
}

/** Null for a key or a signing secret that is no longer valid. A replaced one counts as its successor. */
async function credentialNow<T extends typeof apiKeys | typeof signingSecrets>(
  { db, tenantId, now }: ServiceContext,
  credentials: T,
  id: string,
): Promise<T['$inferSelect'] | null> {
  const at = now().toISOString()
  const line = sql`(
    with recursive line as (
      select k.id, k.disabled_at, k.grace_until from ${credentials} k where k.tenant_id = ${tenantId} and k.id = ${id}
      union
      select k.id, k.disabled_at, k.grace_until from line
      join ${credentials} k on k.tenant_id = ${tenantId} and k.rotated_from = line.id
      where line.disabled_at is null and line.grace_until <= ${at}::timestamptz)
    select id from line where disabled_at is null and (grace_until is null or grace_until > ${at}::timestamptz))`
  const [found] = await db
    .select()
    .from(credentials as typeof apiKeys)
    .where(and(eq(credentials.tenantId, tenantId), sql`${credentials.id} in ${line}`))
  return (found as T['$inferSelect'] | undefined) ?? null
}
