import { and, asc, isNotNull, isNull, lt, ne, sql } from 'drizzle-orm'
import { runs as engineRuns, jobs } from '@/db/schema/engine'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import { type Sweep, systemContext, withTransaction } from '../../context'
import { isBranch } from '../../definition/branches'
import { runOf, walkIs, walkWaits } from '../../run-store/conditions'
import { holdRun } from '../../run-store/held'
import { DEFAULT_TIMEOUT_MS } from '../../steps/define-step'
import { abandonRun } from '../stop/abandon'
import { answerDue } from '../wait/due'
import { lookAgain } from '../wait/events'
import { NEW_EPOCH, requestWalk, signalEngineWait } from '../write/request'
import { sweepCancels } from './cancels'
import { sweepLost } from './lost'
import { sweepUntaken } from './untaken'

const ANSWER_TAKEN_MS = 5_000
const STUCK_MS = 10 * 60_000
const MAX_RESTARTS = 5
const BATCH = 200
const STUCK = {
  code: 'ENGINE_GAVE_UP',
  message: `The run stopped making progress, and ${MAX_RESTARTS} restarts did not help.`,
}

/** Repairs runs that a lost event would leave stuck. Each repair is bounded and logged. */
export async function sweepRuns(sweep: Sweep): Promise<{ nudged: number; restarted: number; cancelled: number }> {
  await answerDue(sweep)
  await lookAgain(sweep)
  return {
    nudged: await resendWakeUps(sweep),
    restarted: (await sweepUntaken(sweep)) + (await sweepLost(sweep)) + (await restartStuck(sweep)),
    cancelled: await sweepCancels(sweep),
  }
}

/** Finds answers that no walk has consumed because the wake-up event was lost, and sends a new one. */
async function resendWakeUps({ db, log, now }: Sweep): Promise<number> {
  const rows = await db
    .select({ tenantId: pauses.tenantId, runId: pauses.runId, branch: pauses.branch })
    .from(pauses)
    .innerJoinLateral(runOf(pauses), isNull(runs.endTime))
    .where(
      and(
        isNotNull(pauses.answeredAt),
        isNull(pauses.consumedAt),
        walkWaits(),
        lt(pauses.answeredAt, new Date(now().getTime() - ANSWER_TAKEN_MS)),
      ),
    )
    // In the index order of these few.
    .orderBy(asc(pauses.answeredAt))
    .limit(BATCH)
  const waits = new Map(rows.map((row) => [`${row.tenantId} ${row.runId} ${row.branch}`, row]))
  for (const { tenantId, runId, branch } of waits.values()) {
    log.warn({ tenantId, runId, branch }, 'an answer was not taken; sending the wake-up event again')
    await signalEngineWait(systemContext({ tenantId, db, log }), { tenantId, runId, branch })
  }
  return waits.size
}

/**
 * Restarts walks that neither move nor wait although nothing is working on them: the engine lost the call, or its run
 * was cancelled from outside. They restart under a higher epoch, so the earlier call no longer counts. A run that stays
 * stuck after the last restart fails.
 */
async function restartStuck({ db, log, now }: Sweep): Promise<number> {
  const before = new Date(now().getTime() - STUCK_MS)
  // An attempt may take as long as its timeout, counted from its start or from its retry's due time. A pause has none.
  const busyUntil = sql`(
    select max(
      coalesce(
        case when s.attempts->-1->>'part' = 'asks' then ${walks.updatedAt} end,
        (s.attempts->-1->>'endTime')::timestamptz
          + make_interval(secs => coalesce((s.attempts->-1->>'retryInMs')::bigint, 0) / 1000.0),
        s.start_time)
      + make_interval(secs => coalesce((s.config->>'timeoutMs')::bigint, ${DEFAULT_TIMEOUT_MS}) / 1000.0))
    from ${stepRecords} s
    where s.tenant_id = ${walks.tenantId} and s.run_id = ${walks.runId} and s.branch = ${walks.branch} and s.end_time is null
      and not exists (
        select from ${pauses} p where p.tenant_id = s.tenant_id and p.run_id = s.run_id and p.branch = s.branch
          and p.step_id = s.step_id and p.visit = s.visit and ${walkWaits(sql`p.signal`)}))`
  // Behind a long queue of its tenant a walk waits for its turn. Only the embedded engine shows this.
  const queued = sql`
    select event::json->'data'->>'runId' from (
      select event from ${jobs} where event is not null
      union all select r.event from ${jobs} j join ${engineRuns} r on r.id = j.run_id where j.owner is null) waiting
    where event like '%"runId"%'`
  const still = await db
    .select({ tenantId: walks.tenantId, runId: walks.runId, branch: walks.branch })
    .from(walks)
    .innerJoinLateral(runOf(walks), sql`true`)
    .where(
      and(
        // A walk that waits at a pause or for branches needs no engine run: the answer or the last branch requests it
        // in the same commit.
        sql`${walks.status} in ('requested', 'walking')`,
        lt(walks.updatedAt, before),
        // The row of a running branch shows whether it makes progress. A requested branch may be queued behind others
        // of its run.
        sql`((${walks.scope} is not null and ${walks.status} = 'walking')
          or ${runs.updatedAt} < ${before.toISOString()}::timestamptz)`,
        sql`coalesce(${busyUntil}, ${walks.updatedAt}) < ${before.toISOString()}::timestamptz`,
        // It waits for a person, or for a time, which `answerDue` watches.
        sql`not exists (
          select from ${pauses} p
          where p.tenant_id = ${walks.tenantId} and p.run_id = ${walks.runId} and p.branch = ${walks.branch}
            and p.answered_at is null and ${walkWaits(sql`p.signal`)})`,
        sql`(${walks.status} <> 'requested' or ${walks.runId} not in (${queued}))`,
      ),
    )
    .limit(BATCH)
  let restarted = 0
  for (const { tenantId, runId, branch } of still) {
    const ctx = systemContext({ tenantId, db, log, now })
    restarted += await withTransaction(ctx, async (tx) => {
      const { held, run } = await holdRun(tx, runId)
      // It moved between the query and the lock.
      if (run.endTime || (!isBranch(branch) && run.updatedAt >= before)) return 0
      const stuck = and(walkIs({ tenantId, runId, branch }), lt(walks.updatedAt, before), ne(walks.status, 'ended'))
      const which = and(stuck, lt(walks.restarts, MAX_RESTARTS))
      const again = await requestWalk(held, { tenantId, runId }, which, {
        ...NEW_EPOCH,
        restarts: sql`${walks.restarts} + 1`,
      })
      if (again) {
        log.warn(again, 'a walk was stuck; restarting it')
        return 1
      }
      const [lost] = await tx.db.select({ branch: walks.branch }).from(walks).where(stuck)
      if (lost) {
        await abandonRun(held, run, STUCK)
        log.error({ tenantId, runId, branch }, 'a walk stayed stuck after every restart; ending its run')
      }
      return 0
    })
  }
  return restarted
}
