import { sendBatched } from '@/db/index'
import { afterCommit, type ServiceContext, systemContext } from '../../context'
import type { Definition } from '../../definition/schema'
import { type Outgoing, outgoing, type Slot } from '../../outbox'
import { MAIN_BRANCH, type WalkClaim } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import type { RunRow } from '../../run-store/walk-data'
import { traced } from '../../telemetry/traces'
import { asksPeople } from '../flow/asks-people'
import { planFrom } from '../plan/plan'
import type { Plan } from '../plan/types'
import { keepQueued } from '../recall/queued'
import { track } from '../recall/run'
import { afterWriting } from '../write/after'
import { childDue } from '../write/child-due'
import { keepClaimed } from '../write/claimed-start'
import { isSettled } from '../write/commit'
import { START, START_BUILT_IN } from '../write/fences'
import { INSERT_RUN, INSERT_WALK } from '../write/parts'
import { callerToCheck, closingParts, followingRow, outputsOf, type Returned, visitParts } from '../write/rows'
import { begin, type NewRun, newRunRow, newWalkRow, rowOf } from '../write/start-row'
import { statementOf } from '../write/statement'

/** The workflow as the caller has read it. The run is written only if that is still true. */
interface ExpectedWorkflow {
  /** The published version, if that matters; null for none. */
  publishedVersion?: number | null
  /** It is built in, and has only a version. */
  builtIn?: boolean
}

interface InsertOptions {
  plan: boolean
  /** A caller waits here for its end, which is then answered from memory if possible. */
  remember?: boolean | undefined
  /** Already reserved for the run. */
  slot?: Slot | null
}

/**
 * Writes a run in one statement, if its workflow is not archived and has not changed since the caller read it. With
 * `plan`, and if this process may drive the run immediately, the statement also claims its walk and writes what
 * follows: the steps that compute, the first step that begins, or the end of the run. Otherwise that is planned when
 * the walk is claimed.
 * @returns the run's id; null if it was not written
 * @throws a foreign key violation if the version no longer exists; an error that `permanentFailure` recognises if
 * Postgres rejects a value of the plan
 */
export function insertRun(
  ctx: ServiceContext,
  run: NewRun,
  expectedWorkflow: ExpectedWorkflow = {},
  options: InsertOptions = { plan: false },
): Promise<string | null> {
  return traced(
    () => ({
      name: 'start run',
      kind: 'producer',
      attributes: { 'millrace.tenant.id': ctx.tenantId, 'millrace.workflow.id': run.workflowId },
      // The request that started its parent run has ended; the parent's step starts this run.
      ...(run.child ? { parent: run.child.parent.traceparent } : {}),
    }),
    async (note) => {
      const runId = await writeRun(ctx, run, expectedWorkflow, options)
      if (runId !== null) note({ 'millrace.run.id': runId })
      return runId
    },
  )
}

async function writeRun(
  ctx: ServiceContext,
  run: NewRun,
  expectedWorkflow: ExpectedWorkflow,
  options: InsertOptions,
): Promise<string | null> {
  const started = begin(run)
  const row = rowOf(ctx, run, started)
  const ref = { tenantId: row.tenantId, runId: row.id, branch: MAIN_BRANCH, epoch: 1, segment: 1 }
  const event = outgoing(ctx, 'workflow/walk.requested', ref, options.slot)
  let due: Outgoing | null = null
  try {
    const { engineRunId } = event
    const plan =
      options.plan && engineRunId !== null
        ? await planStart(ctx, row, started, run.definition, { ...ref, engineRunId })
        : null
    const settled = plan !== null && isSettled(plan)
    if (settled) event.notWritten()
    due = plan && childDue(ctx, ref, plan)
    const sent = settled ? due : event
    const why = run.retryOf || row.dataRefs ? null : memoryReason(run, options)
    const recalls = why === 'awaited' && plan?.ending != null
    const at = ctx.now()
    const caller = callerToCheck(ctx)
    const following = { plan, sent, caller }
    const statement = statementOf({
      checksKey: caller !== null,
      fence: expectedWorkflow.builtIn ? START_BUILT_IN : START,
      parts: [...visitParts(following), INSERT_RUN, INSERT_WALK, ...closingParts(following)],
      outputs: outputsOf(following, { recalls, notifies: settled }),
    })
    const written = await sendBatched<Returned>(ctx.db, statement, row.id, {
      ...newRunRow(row, plan, at),
      expects_version: expectedWorkflow.publishedVersion !== undefined,
      published_version: expectedWorkflow.publishedVersion,
      ...newWalkRow(ref, row, engineRunId, plan),
      ...followingRow(following),
    })
    if (!written) {
      event.notWritten()
      due?.notWritten()
      return null
    }
    const remember = () => {
      if (why) track(ref, row, started, plan && { plan, at, vault: written.vault }, why)
    }
    afterWriting(ctx, ref, written, { plan, caller, due, started: row, remember })
    if (!settled)
      afterCommit(ctx, () => {
        if (plan && engineRunId !== null) keepClaimed(engineRunId, plan)
        else if (options.plan && event.queuedAs !== null) keepQueued(event.queuedAs, { run: row, data: started.data })
        event.committed(written.generation)
      })
    return row.id
  } catch (err) {
    event.notWritten()
    due?.notWritten()
    throw err
  }
}

function memoryReason({ definition }: NewRun, options: InsertOptions): 'awaited' | 'asking' | null {
  if (options.remember) return 'awaited'
  return asksPeople(definition) ? 'asking' : null
}

/** The plan after a start. Null if it cannot be made now; it is then made when the walk is claimed. */
async function planStart(
  ctx: ServiceContext,
  run: RunRow,
  started: Written,
  definition: Definition,
  ref: WalkClaim,
): Promise<Plan | null> {
  const { tenantId, db, log, now } = ctx
  // It has no records yet, so it has visited nothing.
  const state = { run, ref, definition, data: started.data, refs: started.refs, own: null, outputs: {}, visits: {} }
  try {
    return await planFrom(systemContext({ tenantId, db, log, now }), state, run.currentStepId, {
      attempt: 1,
      rests: true,
    })
  } catch (err) {
    log.warn({ err, runId: run.id }, 'the first step of a run could not be planned with its start')
    return null
  }
}
