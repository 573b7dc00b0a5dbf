import { and, asc, gt, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { type ServiceContext, type Sweep, systemContext, withTransaction } from '../../context'
import { fairOrder } from '../../query/fair-order'
import { hold } from '../../run-store/held'
import { watchNext } from '../notice/timers'
import { nextTimeOut, timeOutRuns } from '../stop/time-out'
import { answerHeld, findOpenPauses, type OpenPause, parkedAt } from './answer'
import { lookForEvents } from './events'
import { answerParked } from './parked'

const BATCH = 200
const AT_ONCE = 4
/** The delay before retrying an answer that failed. */
const AGAIN_MS = 1_000

/**
 * Answers the pauses that are due, and ends the runs that exceed their time limit. A delay continues, and any other
 * pause takes its `timeout` exit. If a person answered first, that answer counts; nothing is answered twice.
 * @returns how many pauses it answered
 */
export async function answerDue(clock: Sweep): Promise<number> {
  return (await answerAll(clock)).answered
}

const ALL = undefined
/** The questions of agents, as the index `pauses_due_of_agents` names them. No engine run waits for their time. */
const QUESTIONS = sql`${pauses.id} ~ '~[0-9.]+$'`

/** Repeats until nothing is left that can be answered now. Failures are left for the next check. */
async function answerAll(
  clock: Sweep,
  which: SQL | undefined = ALL,
): Promise<{ until: Date; answered: number; failed: number }> {
  for (let answered = 0; ; ) {
    const until = clock.now()
    // Concurrently, so that neither waits for the other.
    const [answers, ends] = await Promise.all([answerUntil(clock, until, which), timeOutRuns(clock, until)])
    answered += answers.answered
    const [done, found] = [answers.answered + ends.done, Math.max(answers.found, ends.found)]
    if (found < BATCH || done === 0) return { until, answered, failed: answers.failed + ends.failed }
  }
}

async function answerUntil({ db, log, now }: Sweep, until: Date, which: SQL | undefined) {
  const due = await db
    .select({
      ...{ tenantId: pauses.tenantId, runId: pauses.runId, id: pauses.id },
      ...{ eventName: pauses.eventName, dueAt: pauses.dueAt },
    })
    .from(pauses)
    .where(and(isNotNull(pauses.dueAt), isNull(pauses.answeredAt), lte(pauses.dueAt, until), which))
    .orderBy(fairOrder(pauses.tenantId, pauses.dueAt), asc(pauses.dueAt))
    .limit(BATCH)
  let [answered, failed] = [0, 0]
  await forEachAtOnce(due, AT_ONCE, async (next) => {
    const { tenantId, runId, id } = next
    try {
      const ctx = systemContext({ tenantId, db, log, now })
      // An event that arrived in time counts, even if it is delivered late.
      if (next.eventName !== null) await lookForEvents(ctx, next, { until: next.dueAt ?? until })
      await answerOne(ctx, { runId, pauseId: id, until })
      answered++
    } catch (err) {
      failed++
      log.error({ err, tenantId, runId, pauseId: id }, 'a pause whose time is up could not be answered')
    }
  })
  return { found: due.length, answered, failed }
}

async function answerOne(
  ctx: ServiceContext,
  { runId, pauseId, until }: { runId: string; pauseId: string; until: Date },
): Promise<void> {
  const answer = { due: true } as const
  // A move of its run may have given it more time.
  const isDue = ({ pause: { id, dueAt } }: OpenPause) => id === pauseId && dueAt !== null && dueAt <= until
  const open = await findOpenPauses(ctx, runId)
  const chosen = open.find(isDue)
  if (!chosen) return
  const parked = parkedAt(open, chosen)
  if (parked && (await answerParked(ctx, parked, answer))) return
  await withTransaction(ctx, async (tx) => {
    const held = await hold(tx, { tenantId: ctx.tenantId, runId })
    const open = await findOpenPauses(tx, runId)
    const chosen = open.find(isDue)
    if (chosen) await answerHeld(held, chosen, answer)
  })
}

/**
 * Answers pauses and ends runs on time in this process, whichever process opened them. If it dies, the other processes
 * do the same, and so does a sweep every minute.
 * @param what.pauses `questions` where an engine run waits for the time of each other pause
 * @returns a function that stops it
 */
export function watchDue(clock: Sweep, what: { pauses: 'all' | 'questions' } = { pauses: 'all' }): () => void {
  const which = what.pauses === 'all' ? ALL : QUESTIONS
  return watchNext(async () => {
    try {
      const { until, failed } = await answerAll(clock, which)
      // Next are the pauses that became due while the others were answered.
      const next = earliest(await nextPause(clock, until, which), await nextTimeOut(clock, until))
      const again = failed > 0 ? new Date(clock.now().getTime() + AGAIN_MS) : null
      return earliest(again, next)
    } catch (err) {
      clock.log.warn({ err }, 'could not answer pauses whose time is up; the next sweep does it')
      return null
    }
  })
}

async function nextPause({ db }: Sweep, until: Date, which: SQL | undefined): Promise<Date | null> {
  const later = and(isNotNull(pauses.dueAt), isNull(pauses.answeredAt), gt(pauses.dueAt, until), which)
  const [found] = await db.select({ at: pauses.dueAt }).from(pauses).where(later).orderBy(asc(pauses.dueAt)).limit(1)
  return found?.at ?? null
}

function earliest(a: Date | null, b: Date | null): Date | null {
  return a && b ? (a < b ? a : b) : (a ?? b)
}
