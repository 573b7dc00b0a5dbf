import { and, asc, eq, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { perDb } from '@/db/per-db'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { isBranch } from '../../definition/branches'
import type { JsonObject } from '../../definition/json'
import type { PauseAnswer, RunData } from '../../definition/run'
import { AppError } from '../../errors'
import { GIVEN_RUN, recordOfPause, runIs } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import { putTogether } from '../../run-store/large-values'
import { ownsOf, RUN_COLUMNS, walkData } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import type { Parked } from '../flow/types'
import { continueWalk } from '../write/request'
import { type Answerer, storeAnswer } from '../write/store-answer'

/**
 * The run's open pauses, oldest first, each with its run and walk; also with its record if it is the only one. One
 * statement, so that the run data belongs to the same moment. The data is read once, however many pauses are open.
 */
export async function findOpenPauses(ctx: ServiceContext, runId: string) {
  const { db, tenantId } = ctx
  const rows = await (ctx.reach || !('$client' in db)
    ? pausesOf(db, runIs(ctx, runId))
    : preparedPausesOf(db).execute({ tenantId, runId }))
  const [first] = rows
  if (!first) return []
  const { run, small } = first
  const [written] = await putTogether(ctx, { tenantId, runId }, [{ small, refs: run.dataRefs }])
  return rows.map((row) => ({ ...row, run, written: written ?? { data: small, refs: {} } }))
}

/** Every answer begins with this read, so its text is built once. */
const preparedPausesOf = perDb((db) => pausesOf(db, GIVEN_RUN).prepare('open_pauses'))

function pausesOf(db: Db | Tx, where: SQL | undefined) {
  const once = (column: SQLWrapper) =>
    sql`case when row_number() over (order by ${pauses.createdAt}, ${pauses.id}) = 1 then ${column} end`
  return db
    .select({
      run: {
        ...RUN_COLUMNS,
        context: sql<JsonObject | null>`${once(runs.context)}`,
      },
      small: sql<RunData>`${once(runs.smallData)}`,
      pause: pauses,
      walk: { branch: walks.branch, epoch: walks.epoch, segment: walks.segment, status: walks.status },
      record: stepRecords,
    })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .innerJoin(
      walks,
      and(eq(walks.tenantId, pauses.tenantId), eq(walks.runId, pauses.runId), eq(walks.branch, pauses.branch)),
    )
    .leftJoin(
      stepRecords,
      and(
        recordOfPause,
        sql`not exists (
          select from ${pauses} p
          where p.tenant_id = ${pauses.tenantId} and p.run_id = ${pauses.runId} and p.id <> ${pauses.id}
            and p.answered_at is null)`,
      ),
    )
    .where(and(where, isNull(pauses.answeredAt)))
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
}

export type OpenPause = Awaited<ReturnType<typeof findOpenPauses>>[number]

/** An open pause in the form that `answerParked` takes. Null if its answer is stored under the run's lock. */
export function parkedAt(open: readonly OpenPause[], { run, written, pause, walk, record }: OpenPause): Parked | null {
  // The part of a visit that takes the answer to its question is claimed.
  if (record !== null && findStepType(record.stepType)?.mode !== 'pause') return null
  // A branch continues under the lock, because others may have paused or ended the run in the meantime.
  if (open.length !== 1 || walk.status !== 'resting' || record === null || isBranch(walk.branch)) return null
  return { run, written, walk, record, pauseId: pause.id }
}

/** The data of the walk that waits at an open pause. */
export async function dataAt(ctx: ServiceContext, { run, written, pause: { branch } }: OpenPause): Promise<JsonObject> {
  if (!isBranch(branch)) return written.data
  const ref = { tenantId: ctx.tenantId, runId: run.id, branch }
  const [found] = await ctx.db
    .select({ small: runs.smallData, owns: ownsOf(ref) })
    .from(runs)
    .where(runIs(ctx, run.id))
  return (await walkData(ctx, ref, { run, small: found?.small ?? {}, owns: found?.owns ?? null })).data
}

/**
 * Writes the answer to a pause of a held run, and continues its walk.
 * @returns the run's status
 */
export async function answerHeld(
  tx: Held,
  { run, pause }: OpenPause,
  answer: PauseAnswer,
  by?: Answerer,
): Promise<'paused' | 'running'> {
  const status = await storeAnswer(tx, { tenantId: tx.tenantId, runId: run.id }, pause.id, answer, { by })
  if (status === null) throw new AppError('RUN_NOT_PAUSED')
  await continueWalk(tx, pause)
  return status
}
