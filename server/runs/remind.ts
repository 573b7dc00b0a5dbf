import { and, asc, eq, gt, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { pauses, pauseVotes, runs, stepRecords } from '@/db/schema/runs'
import { heldAnswers, taskClaims } from '@/db/schema/tasks'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { type ServiceContext, type Sweep, systemContext, withTransaction } from '../context'
import { sameAssignee, sameName } from '../definition/people'
import { countReminders, nextReminder, type Reminder, type ReminderPlan } from '../definition/reminder'
import type { PauseSignal } from '../definition/run'
import { ImpossibleState } from '../errors'
import { noteReminder, touchRun } from '../interpreter/index'
import { fairOrder } from '../query/fair-order'
import { pauseIs, recordOfPause, runOf } from '../run-store/conditions'
import { type Held, hold } from '../run-store/held'
import { claimIs, claimStands } from './claim-row'
import { barOf, forbidsStarter, isVote, startersOf } from './may-answer'
import { personOfMember } from './person'
import { type PauseRow, signalOf } from './present'

const BATCH = 200
/** Of one sweep; the next one, a minute later, takes the rest. */
const MAX_BATCHES = 25
const AT_ONCE = 4

type OfTask = Pick<PauseRow, 'tenantId' | 'runId' | 'id'>

/**
 * Sends the reminders of open tasks that are due, and hands tasks over after their last one. The transaction that notes
 * a reminder writes its messages and sets the time of the next one: so each is sent once, however many processes sweep,
 * and one that is late by several intervals is sent once too.
 */
export async function sweepReminders(clock: Sweep): Promise<{ done: number }> {
  const now = clock.now()
  let done = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const due = await findDue(clock, now)
    const before = done
    await forEachAtOnce(due, AT_ONCE, async (task) => {
      try {
        if (await remindOf(systemContext({ ...clock, tenantId: task.tenantId }), task)) done++
      } catch (err) {
        const { tenantId, runId, id } = task
        clock.log.error({ err, tenantId, runId, pauseId: id }, 'nobody could be reminded of a task')
      }
    })
    if (due.length < BATCH || done === before) break
  }
  return { done }
}

function findDue({ db }: Sweep, now: Date): Promise<OfTask[]> {
  return db
    .select({ tenantId: pauses.tenantId, runId: pauses.runId, id: pauses.id })
    .from(pauses)
    .innerJoinLateral(runOf(pauses), sql`true`)
    .where(isDue(now))
    .orderBy(fairOrder(pauses.tenantId, pauses.remindAt), asc(pauses.remindAt))
    .limit(BATCH)
}

/** A task that takes answers still, and has a reminder or a hand-over due. The query must join `runs`. */
function isDue(now: Date): SQL | undefined {
  return and(
    isNotNull(pauses.remindAt),
    lte(pauses.remindAt, now),
    isNull(pauses.answeredAt),
    or(isNull(pauses.dueAt), gt(pauses.dueAt, now)),
    isNull(runs.endTime),
    isNull(runs.cancelRequestedAt),
    // A person has answered, and may still undo that.
    sql`not exists (select from ${heldAnswers} h where h.tenant_id = ${pauses.tenantId} and h.run_id = ${pauses.runId}
      and h.pause_id = ${pauses.id} and h.refused is null)`,
  )
}

/** @returns whether it was due still */
async function remindOf(ctx: ServiceContext, task: OfTask): Promise<boolean> {
  return withTransaction(ctx, async (tx) => {
    const held = await hold(tx, task)
    const [found] = await tx.db
      .select({ pause: pauses, past: stepRecords.reminders })
      .from(pauses)
      .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
      .leftJoin(stepRecords, recordOfPause)
      .where(and(pauseIs(task, task.id), isDue(tx.now())))
    if (!found) return false
    const past = found.past ?? []
    const plan = signalOf(found.pause).reminders
    if (plan && countReminders(past) < plan.times) await sendReminder(held, found.pause, { plan, past })
    else await handOver(held, found.pause, past)
    await touchRun(held, task.runId)
    return true
  })
}

async function sendReminder(
  tx: Held,
  pause: PauseRow,
  { plan, past }: { plan: ReminderPlan; past: Reminder[] },
): Promise<void> {
  const now = tx.now()
  const number = countReminders(past) + 1
  const signal = signalOf(pause)
  // Otherwise only a member who may no longer answer would be reminded.
  await releaseUnlessAllowed(tx, pause, signal)
  const to = await peopleToRemind(tx, pause, signal)
  await noteReminder(tx, pause, {
    past: [...past, { at: now.toISOString(), to, number, times: plan.times }],
    remindAt: nextReminder(plan, number, now),
  })
  await enqueue(tx, pause, { event: 'task.reminded', mail: 'reminder', to: to ?? [], dueAt: null })
}

/** Gives the task to other assignees. A claim ends if its member may no longer answer. */
async function handOver(tx: Held, pause: PauseRow, past: Reminder[]): Promise<void> {
  const before = signalOf(pause)
  const handedTo = before.reminders?.handTo
  if (!handedTo) throw new ImpossibleState('hand-over-to-nobody', `the pause ${pause.id} is to be handed to nobody`)
  const signal: PauseSignal = { ...before, assignees: handedTo }
  const after = countReminders(past)
  const handed = { at: tx.now().toISOString(), handedTo, from: before.assignees ?? null, after }
  await noteReminder(tx, pause, { past: [...past, handed], remindAt: null, signal })
  await releaseUnlessAllowed(tx, pause, signal)
  await enqueue(tx, pause, { event: 'task.assigned', mail: 'handed', to: handedTo, dueAt: signal.dueAt ?? null })
}

/**
 * The assignees to remind: the member who has claimed the task or, where votes decide, those who have not voted. Null
 * for everybody who may answer tasks.
 */
async function peopleToRemind(tx: Held, pause: PauseRow, signal: PauseSignal): Promise<string[] | null> {
  const { assignees = null } = signal
  const key = keyOf(pause)
  if (!isVote(signal)) {
    const [claim] = await tx.db
      .select({ email: users.email })
      .from(taskClaims)
      .innerJoin(users, eq(users.id, taskClaims.person))
      .where(and(claimIs(key), claimStands(taskClaims)))
    return claim ? [`user:${claim.email}`] : assignees
  }
  const votes = await tx.db
    .select({ person: pauseVotes.person, email: users.email })
    .from(pauseVotes)
    .leftJoin(users, eq(users.id, pauseVotes.person))
    .where(
      and(eq(pauseVotes.tenantId, key.tenantId), eq(pauseVotes.runId, key.runId), eq(pauseVotes.pauseId, key.pauseId)),
    )
  const voted = new Set(votes.flatMap(({ person, email }) => [sameName(person), ...(email === null ? [] : [email])]))
  const left = assignees?.filter((one) => !voted.has(sameAssignee(one).replace(/^user:/, '')))
  // If all have voted without a decision, it is still theirs.
  return left?.length ? left : assignees
}

/** Ends the claim of a task that asks something else, if its member may not answer that. */
export async function releaseAsked(tx: Held, task: OfTask): Promise<void> {
  const [pause] = await tx.db.select().from(pauses).where(pauseIs(task, task.id))
  if (pause?.signal) await releaseUnlessAllowed(tx, pause, pause.signal)
}

/** Ends the claim of a member who may no longer answer, such as one who left the group that has the task. */
async function releaseUnlessAllowed(tx: Held, pause: PauseRow, signal: PauseSignal): Promise<void> {
  const key = keyOf(pause)
  const [claim] = await tx.db.select({ person: taskClaims.person }).from(taskClaims).where(claimIs(key))
  if (!claim) return
  const person = await personOfMember(tx, claim.person)
  const starters = forbidsStarter(signal) ? await startersOf(tx, pause.runId) : []
  if (person && barOf(signal, person, starters) === null) return
  await tx.db.delete(taskClaims).where(claimIs(key))
}

async function enqueue(
  tx: Held,
  { tenantId, runId, id }: PauseRow,
  { event, mail, to, dueAt }: { event: string; mail: string; to: string[]; dueAt: string | null },
): Promise<void> {
  await tx.db.execute(sql`
    select enqueue_webhooks(${tenantId}, ${runId}, ${id}, ${event}),
      enqueue_mail_to(${tenantId}, ${runId}, ${id}, ${mail}, ${JSON.stringify(to)}::json, ${dueAt})`)
}

function keyOf({ tenantId, runId, id }: OfTask) {
  return { tenantId, runId, pauseId: id }
}
