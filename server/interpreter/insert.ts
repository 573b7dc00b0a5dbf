import { runs, walks } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import { newId } from '../ids'
import { emit } from '../outbox'

export const MAIN_BRANCH = 'main'

export interface NewRun {
  workflowId: string
  workflowVersion: number
  workflowName: string
  input: JsonObject
  /** The run data to start with; the input unless the run continues another one. */
  data?: JsonObject
  firstStep: string
  context: JsonObject | null
  retryOf?: string
  /** A draft is being tried out. */
  test?: boolean
}

/**
 * Writes a run, its main walk and the event that starts it.
 * @returns the run's id
 */
export async function insertRun(tx: TransactionContext, run: NewRun): Promise<string> {
  const runId = newId('run')
  const now = tx.now()
  const { firstStep, test, ...row } = run
  const made = tx.db.insert(runs).values({
    data: run.input,
    ...row,
    tenantId: tx.tenantId,
    id: runId,
    status: 'running',
    currentStepId: firstStep,
    startedBy: tx.actor.id,
    startedVia: test ? 'test' : tx.actor.kind,
    startTime: now,
    updatedAt: now,
  })
  const walk = { tenantId: tx.tenantId, runId, branch: MAIN_BRANCH, epoch: 1, segment: 1 }
  const walking = tx.db
    .insert(walks)
    .values({ ...walk, status: 'requested', stepId: firstStep, visit: 1, updatedAt: now })
  // Sent in this order without waiting for each other: the walk's row refers to the run's.
  await Promise.all([made, walking, emit(tx, 'workflow/walk.requested', walk)])
  return runId
}
