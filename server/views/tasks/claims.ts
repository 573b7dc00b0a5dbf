import { and, asc, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { members, users } from '@/db/schema/members'
import { pauses, pauseVotes } from '@/db/schema/runs'
import { taskClaims } from '@/db/schema/tasks'
import { authorize, may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { roleOf } from '../../roles'
import { pauseIs } from '../../run-store/conditions'
import { requireRun } from '../../run-store/find-run'
import { claimIs, claimStands } from '../../runs/claim-row'
import { barOf, forbidsStarter, startersOf } from '../../runs/may-answer'
import { groupsOfMember } from '../../runs/person'
import { signalOf } from '../../runs/present'
import { TaskAt } from '../../runs/task-at'
import { nameActors } from '../actors'

/** The claimant of a task. */
export interface Claim {
  id: string
  name: string
  at: string
}

export async function readClaim(ctx: ServiceContext, runId: string, pauseId: string): Promise<Claim | null> {
  const [claim] = await ctx.db
    .select({ person: taskClaims.person, at: taskClaims.claimedAt })
    .from(taskClaims)
    .where(and(claimIs({ tenantId: ctx.tenantId, runId, pauseId }), claimStands(taskClaims)))
  if (!claim) return null
  const { person: id, at } = claim
  const nameOf = await nameActors(ctx, [id])
  return { id, name: nameOf(id)?.name ?? id, at: at.toISOString() }
}

const MAX = 500

/**
 * The members who may answer a task, and so may be given it, by name.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function listTakers(ctx: ServiceContext, input: unknown): Promise<{ id: string; name: string }[]> {
  authorize(ctx, 'task:answer')
  const { runId, pauseId } = parseInput(TaskAt, input)
  await requireRun(ctx, runId)
  const [pause] = await ctx.db
    .select()
    .from(pauses)
    .where(and(pauseIs({ tenantId: ctx.tenantId, runId }, pauseId), isNotNull(pauses.signal)))
  if (!pause) throw new AppError('RUN_NOT_FOUND')
  const signal = signalOf(pause)
  const [people, starters, votes] = await Promise.all([
    ctx.db
      .select({ id: users.id, name: users.name, email: users.email, role: members.role, groups: groupsOfMember })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(eq(members.tenantId, ctx.tenantId))
      .orderBy(asc(users.name), asc(users.id)),
    forbidsStarter(signal) ? startersOf(ctx, runId) : [],
    ctx.db
      .select({ person: pauseVotes.person })
      .from(pauseVotes)
      .where(and(eq(pauseVotes.tenantId, ctx.tenantId), eq(pauseVotes.runId, runId), eq(pauseVotes.pauseId, pauseId))),
  ])
  const voted = new Set(votes.map(({ person }) => person))
  return people
    .map(({ role, ...person }) => ({ ...person, role: roleOf(role), names: [person.id, person.email] }))
    .filter((person) => may(person.role, 'task:answer') && !voted.has(person.id))
    .filter((person) => barOf(signal, person, starters) === null)
    .slice(0, MAX)
    .map(({ id, name }) => ({ id, name }))
}

const here = sql`c.tenant_id = ${pauses.tenantId} and c.run_id = ${pauses.runId} and c.pause_id = ${pauses.id}
  and ${claimStands({ tenantId: sql`c.tenant_id`, person: sql`c.person` })}`

/** The claimant of a pause. */
export const claimant = sql<string | null>`(select c.person from ${taskClaims} c where ${here})`

export function isClaimedBy(person: string): SQL {
  return sql`exists (select from ${taskClaims} c where ${here} and c.person = ${person})`
}

/** If votes decide, one person's claim does not exclude the others. */
export const unclaimed = sql`(${pauses.signal}->'needs' is not null
  or not exists (select from ${taskClaims} c where ${here}))`
