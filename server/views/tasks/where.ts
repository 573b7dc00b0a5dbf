import { and, eq, isNotNull, isNull, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { pauses, pauseVotes, runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { partsOf } from '../../definition/people'
import { hasText } from '../../query/search-text'
import { assignmentsOf } from '../../runs/may-answer'
import { isNamed } from '../../runs/named'
import type { Person } from '../../runs/person'
import { isClaimedBy, unclaimed } from './claims'
import { heldBy } from './held'
import type { TaskFilter } from './schema'

/**
 * The tenant's pauses waiting for a person, without those the caller has answered, even if they can still undo it. The
 * query must join `runs`.
 */
export function openTasks(ctx: ServiceContext, filter: TaskFilter): SQL | undefined {
  return and(
    ofTenant(ctx, filter),
    isNull(pauses.answeredAt),
    // Written exactly as in the partial index.
    isNotNull(pauses.signal),
    isNull(runs.endTime),
    // A run that is being cancelled takes no answer, though its pauses stay open until its running steps have ended.
    or(isNull(runs.cancelRequestedAt), isNotNull(runs.cleanupStartedAt)),
    not(heldBy(ctx.actor.id)),
  )
}

/** A person's own tasks: claimed by them, or assigned to them or their groups by name and unclaimed. */
export function isMine(person: Person): SQL | undefined {
  return or(isClaimedBy(person.id), and(assignedTo(person, ['user', 'group']), unclaimed))
}

/** The tasks of a person's role: assigned to it and unclaimed. */
export function isOfRole(person: Person): SQL | undefined {
  return and(assignedTo(person, ['role']), unclaimed)
}

/** Tasks assigned to a person in one of these ways, if that person has not voted and may decide. */
function assignedTo(person: Person, ways: readonly ('user' | 'group' | 'role')[]): SQL {
  const mine = assignmentsOf(person).map(partsOf)
  const named = ways.flatMap((way) => {
    const names = mine.filter(({ kind }) => kind === way).map(({ name }) => name)
    return names.length === 0
      ? []
      : [sql`(starts_with(assignee, ${`${way}:`}) and ${isNamed(sql`substr(assignee, ${way.length + 2})`, names)})`]
  })
  return sql`exists (
      select from json_array_elements_text(${pauses.signal}->'assignees') assignee where ${or(...named) ?? sql`false`})
    and not ${votedBy(person.id)}
    and not (${pauses.signal}->>'noSelfApproval' is not null and ${isNamed(runs.startedBy, person.names)})`
}

function votedBy(person: string): SQL {
  return sql`exists (
    select from ${pauseVotes} v
    where v.tenant_id = ${pauses.tenantId} and v.run_id = ${pauses.runId} and v.pause_id = ${pauses.id}
      and ${isNamed(sql`v.person`, [person])})`
}

/** Written exactly as in the partial index. */
export const answered = sql`${pauses.answer} is not null and ${pauses.signal} is not null`

/** The tenant's answered tasks, of anybody or of one actor, who may have decided them with others. */
export function doneTasks(ctx: ServiceContext, filter: TaskFilter, by: string | null): SQL | undefined {
  return and(ofTenant(ctx, filter), answered, by === null ? undefined : or(eq(pauses.answeredBy, by), votedBy(by)))
}

function ofTenant(ctx: ServiceContext, { workflowId, type, q, tests }: TaskFilter): SQL | undefined {
  return and(
    eq(pauses.tenantId, ctx.tenantId),
    workflowId === undefined ? undefined : eq(runs.workflowId, workflowId),
    type === undefined ? undefined : eq(pauses.kind, type),
    tests ? undefined : ne(runs.startedVia, 'test'),
    q ? or(hasText(runs.workflowName, q), hasText(runs.businessKey, q), hasText(TITLE, q)) : undefined,
  )
}

const TITLE = sql`${pauses.signal}->>'title'`
