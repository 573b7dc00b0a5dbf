import { and, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { stepRecords, walks } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { getRunRow } from '../interpreter/find-run'
import { insertRun } from '../interpreter/insert'
import { MAIN_BRANCH } from '../interpreter/receipt'
import { findVersionToRun } from '../workflows/find-version-to-run'
import type { RunRow } from './present'

/**
 * Starts a new run that continues where a failed one stopped, on the same version and with the output of its completed
 * steps, which do not run again, nor do those whose failure was handled. A step that ran branches runs all of them again.
 * The old run stays as it is.
 * @throws AppError RUN_NOT_FOUND, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND
 */
export async function retryRun(ctx: ServiceContext, { runId }: { runId: string }) {
  authorize(ctx, 'run:retry')
  return withTransaction(ctx, async (tx) => {
    const old = await getRunRow(tx, runId)
    if (old.status !== 'failed') {
      throw new AppError('CONFLICT', {
        message: 'Only a failed run can be retried',
        details: [{ message: `The run is ${old.status}.`, status: old.status }],
      })
    }
    const { version, definition } = await findVersionToRun(tx, old.workflowId, String(old.workflowVersion))
    const done = await readProgress(tx, old)
    const run = {
      workflowId: old.workflowId,
      workflowVersion: version,
      definition,
      input: old.input,
      data: done.data,
      firstStep: await stepToRetry(tx, old, definition, done.last),
      context: tx.trusted ?? old.context,
      retryOf: old.id,
      test: old.startedVia === 'test',
    }
    // Not planned: its own records follow the copied ones.
    const retried = await insertRun(tx, run)
    if (retried === null) throw new AppError('WORKFLOW_ARCHIVED')
    await copyCompleted(tx, old.id, retried)
    return { success: true, runId: retried, retryOf: old.id }
  })
}

type Last = { stepId: string; status: string; handled: boolean | null }

/** The run data before the failed step and before any cleanup, and the last step of the main path. */
async function readProgress(tx: TransactionContext, old: RunRow): Promise<{ data: JsonObject; last: Last | null }> {
  const ofRun = and(
    eq(stepRecords.tenantId, tx.tenantId),
    eq(stepRecords.runId, old.id),
    eq(stepRecords.branch, MAIN_BRANCH),
  )
  // What the failure path has done after it does not count.
  const before = sql`${stepRecords.seq} <= ${failedAt(tx, old.id)}`
  const columns = {
    stepId: stepRecords.stepId,
    status: stepRecords.status,
    handled: stepRecords.handled,
  }
  const [[last], [merged]] = await Promise.all([
    tx.db.select(columns).from(stepRecords).where(and(ofRun, before)).orderBy(desc(stepRecords.seq)).limit(1),
    // In Postgres, because a loop may have left more than fits in memory here.
    tx.db.execute<{ data: JsonObject | null }>(sql`
      select jsonb_object_agg(field.key, field.value order by s.seq) as data
      from ${stepRecords} s cross join lateral jsonb_each(s.delta) field
      where s.tenant_id = ${tx.tenantId} and s.run_id = ${old.id} and s.branch = ${MAIN_BRANCH}
        and s.seq <= ${failedAt(tx, old.id)}
        and (s.status = 'completed' or s.handled) and jsonb_typeof(s.delta) = 'object'`),
  ])
  return { data: { ...old.input, ...merged?.data }, last: last ?? null }
}

async function stepToRetry(
  tx: TransactionContext,
  old: RunRow,
  definition: Definition,
  last: Last | null,
): Promise<string> {
  if (last?.status === 'failed' && !last.handled) return last.stepId
  // It stopped between two steps: the walk knows the next one.
  const [walk] = await tx.db
    .select({ stepId: walks.stepId })
    .from(walks)
    .where(and(eq(walks.tenantId, tx.tenantId), eq(walks.runId, old.id), eq(walks.branch, MAIN_BRANCH)))
  const next = walk?.stepId ?? definition.initialStep
  const follows = last === null || definition.edges.some((edge) => edge.from === last.stepId && edge.to === next)
  if (next && follows) return next
  throw new AppError('CONFLICT', { message: 'The run has no step left to retry' })
}

/** Columns that a copied record does not share: its run, its position, and the number of its last change. */
const OWN_COLUMNS = new Set(['runId', 'seq', 'change'])

/** Takes the columns from the schema, so that new ones are copied without a change here. */
async function copyCompleted(tx: TransactionContext, from: string, to: string): Promise<void> {
  const copied = Object.keys(getTableColumns(stepRecords)).filter((name) => !OWN_COLUMNS.has(name))
  const names = sql.raw(copied.map((name) => `"${toSnakeCase(name)}"`).join(', '))
  await tx.db.execute(sql`
    insert into ${stepRecords} (run_id, ${names})
    select ${to}, ${names} from ${stepRecords}
    where tenant_id = ${tx.tenantId} and run_id = ${from} and (status = 'completed' or handled) and branch = ${MAIN_BRANCH}
      and seq <= ${failedAt(tx, from)}
    order by seq`)
}

/** The position of the record with which the main path failed, or a position after all of them. */
function failedAt(tx: TransactionContext, runId: string): SQL {
  return sql`(
    select coalesce(min(f.seq), ${Number.MAX_SAFE_INTEGER}::bigint) from ${stepRecords} f
    where f.tenant_id = ${tx.tenantId} and f.run_id = ${runId} and f.branch = ${MAIN_BRANCH}
      and f.status = 'failed' and f.handled is not true)`
}
