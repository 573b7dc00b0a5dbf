import { type SQL, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { allows } from '../auth/policy'
import type { TransactionContext } from '../context'
import { newlyAhead, reachable } from '../definition/paths'
import type { Definition } from '../definition/schema'
import { findStepType, isCall } from '../steps/registry'
import { bodiesOf } from '../workflows/check/regions'
import { misfit } from './version-again'

// What a run would pass over, or do twice, if it continued at a step of another version.

interface Versions {
  /** What the old run followed. */
  before: Definition
  definition: Definition
}

/** The step at which a run would continue, and the position up to which its records are kept. */
interface At {
  stepId: string
  before: SQL
}

/**
 * Refuses to pass over a question to people that the version asks before the step, and that the old run did not get an
 * answer to. An editor may do so, as with changed data.
 * @throws AppError VERSION_MISFIT
 */
export async function refuseSkippedQuestion(tx: TransactionContext, runId: string, on: Versions, at: At) {
  if (allows(tx, 'workflow:write')) return
  const asked = questionsBefore(on.definition, at.stepId)
  const known = stepsBefore(on.before, at.stepId)
  const due = asked.filter((stepId) => !known.has(stepId) || isOnEveryWay(on.definition, stepId, at.stepId))
  const answered = await stepsKept(tx, runId, at.before, due)
  const skipped = due.filter((stepId) => !answered.has(stepId))
  const details = skipped.map((stepId) => ({
    code: 'APPROVAL_SKIPPED',
    message: `${stepId} asks people before ${at.stepId} in that version, and the run has no answer. Only an editor may pass over it.`,
    stepId,
  }))
  if (details.length > 0) throw misfit(details)
}

/**
 * Refuses to make calls again that the run completed: those that come after the step in the version, and did not come
 * after it in the old one.
 * @param was the step of the old version that stands for it; null without one
 * @throws AppError VERSION_MISFIT
 */
export async function refuseRepeatedCalls(
  tx: TransactionContext,
  runId: string,
  on: Versions,
  { was, ...at }: At & { was: string | null },
) {
  const ahead = newlyAhead({ definition: on.before, at: was }, { definition: on.definition, at: at.stepId })
  const calls = on.definition.steps.flatMap(({ id, type }) => (ahead.has(id) && isCall(type) ? [id] : []))
  const made = await stepsKept(tx, runId, at.before, calls)
  const details = calls
    .filter((stepId) => made.has(stepId))
    .map((stepId) => ({
      code: 'CALL_REPEATED',
      message: `${stepId} comes after ${at.stepId} in that version, so the run would do it again.`,
      stepId,
    }))
  if (details.length > 0) throw misfit(details)
}

function questionsBefore(definition: Definition, stepId: string): string[] {
  const earlier = stepsBefore(definition, stepId)
  return definition.steps.flatMap(({ id, type: name }) => {
    const type = findStepType(name)
    return earlier.has(id) && type?.mode === 'pause' && type.answers !== undefined ? [id] : []
  })
}

/** The steps that a run may perform before it first comes to a step, with those in branches. */
function stepsBefore(definition: Definition, stepId: string): Set<string> {
  const { initialStep, edges } = definition
  if (initialStep === null || initialStep === stepId) return new Set()
  const reached = reachable({ ...definition, edges: edges.filter(({ from }) => from !== stepId) }, initialStep)
  const backwards = { ...definition, edges: edges.map((edge) => ({ ...edge, from: edge.to, to: edge.from })) }
  const leading = reachable(backwards, stepId)
  const earlier = new Set([...reached].filter((id) => id !== stepId && leading.has(id)))
  for (const { fork, steps } of bodiesOf(definition)) if (earlier.has(fork)) for (const id of steps) earlier.add(id)
  return earlier
}

function isOnEveryWay(definition: Definition, passed: string, stepId: string): boolean {
  const { initialStep, edges } = definition
  if (initialStep === null || initialStep === passed) return true
  const around = { ...definition, edges: edges.filter(({ from, to }) => from !== passed && to !== passed) }
  return !reachable(around, initialStep).has(stepId) && !bodiesOf(definition).some(({ steps }) => steps.has(passed))
}

/** Those of some steps that a run has done before a position, also in branches. */
async function stepsKept(
  tx: TransactionContext,
  runId: string,
  before: SQL,
  stepIds: readonly string[],
): Promise<Set<string>> {
  if (stepIds.length === 0) return new Set()
  const rows = await tx.db.execute<{ id: string }>(sql`
    select distinct s.step_id as id from ${stepRecords} s
    where s.tenant_id = ${tx.tenantId} and s.run_id = ${runId} and (s.status = 'completed' or s.handled)
      and s.seq < ${before} and s.step_id in (select jsonb_array_elements_text(${JSON.stringify(stepIds)}::jsonb))`)
  return new Set(rows.map(({ id }) => id))
}
