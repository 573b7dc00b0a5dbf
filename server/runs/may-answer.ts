import { sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { startLinks } from '@/db/schema/start-links'
import type { ServiceContext } from '../context'
import { sameAssignee, sameName } from '../definition/people'
import type { PauseSignal } from '../definition/run'
import { AppError } from '../errors'
import { ROLES } from '../roles'
import type { Person } from './person'

/** The maximum length of the chain of retries and parents to follow. */
const MAX_BACK = 100

/** Whether a pause restricts who may answer, beyond the role that everyone needs. */
export function hasRules(signal: PauseSignal): boolean {
  return signal.assignees !== undefined || isVote(signal) || forbidsStarter(signal)
}

export function isVote(signal: PauseSignal): signal is Extract<PauseSignal, { type: 'request_user_action' }> & {
  needs: Record<string, number>
} {
  return signal.type === 'request_user_action' && signal.needs !== undefined
}

export type Bar = 'NOT_ASSIGNED' | 'SELF_APPROVAL'

/**
 * Why a person may not answer a pause; null if they may. Does not consider earlier votes.
 * @param starters the people who started its run, if that matters
 */
export function barOf(signal: PauseSignal, person: Person, starters: readonly string[]): Bar | null {
  const mine = assignmentsOf(person)
  if (signal.assignees && !signal.assignees.some((one) => mine.includes(sameAssignee(one)))) return 'NOT_ASSIGNED'
  const started = forbidsStarter(signal) && starters.some((starter) => person.names.includes(sameName(starter)))
  return started ? 'SELF_APPROVAL' : null
}

/** @throws AppError NOT_ASSIGNED, SELF_APPROVAL */
export async function requireMayAnswer(
  ctx: ServiceContext,
  runId: string,
  signal: PauseSignal,
  person: Person,
): Promise<void> {
  const bar = barOf(signal, person, forbidsStarter(signal) ? await startersOf(ctx, runId) : [])
  if (bar === null) return
  const message =
    bar === 'NOT_ASSIGNED'
      ? `Only its assignees may answer, and ${person.name} is not one of them.`
      : `${person.name} started this run, or the one it repeats.`
  throw new AppError(bar, { details: [{ message }] })
}

/** Every entry of `assignees` that refers to a person. */
export function assignmentsOf({ names, role, groups }: Pick<Person, 'names' | 'role' | 'groups'>): string[] {
  const roles = role === null ? [] : ROLES.slice(0, ROLES.indexOf(role) + 1)
  return [
    ...names.map((name) => `user:${name}`),
    ...groups.map((name) => `group:${name}`),
    ...roles.map((name) => `role:${name}`),
  ]
}

export function forbidsStarter(signal: PauseSignal): boolean {
  return signal.type === 'request_user_action' && signal.noSelfApproval === true
}

/**
 * The starters of a run, of the runs it repeats, and of its parent runs: each of them may be the person who made the
 * request. Anybody may have used a start link, its maker too, so the maker counts as a starter of its runs.
 */
export async function startersOf({ db, tenantId }: ServiceContext, runId: string): Promise<string[]> {
  const found = await db.execute<{ started_by: string }>(sql`
    with recursive chain as (
      select r.started_by, r.started_via, r.retry_of, r.parent_run_id, 1 as back from ${runs} r
      where r.tenant_id = ${tenantId} and r.id = ${runId}
      union
      select r.started_by, r.started_via, r.retry_of, r.parent_run_id, chain.back + 1 from chain
      join ${runs} r on r.tenant_id = ${tenantId} and r.id in (chain.retry_of, chain.parent_run_id)
      where chain.back < ${MAX_BACK})
    select started_by from chain
    union
    select l.maker_id from chain
    join ${startLinks} l on l.tenant_id = ${tenantId} and l.id = chain.started_by
    where chain.started_via = 'system'`)
  return found.map(({ started_by }) => started_by)
}
