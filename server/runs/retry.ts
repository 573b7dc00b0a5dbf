import { isDeepStrictEqual } from 'node:util'
import { sql } from 'drizzle-orm'
import type { z } from 'zod'
import { loadAgent, loadAsked } from '../agents/find'
import { copyTurn } from '../agents/journal/copy'
import { type AskedTurn, askedTurnOf, moveTurn } from '../agents/journal/move'
import { createThread } from '../agents/thread'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AGENT_TURN, agentTurnDefinition } from '../definition/agent-turn'
import type { AuditDetails } from '../definition/audit'
import { component } from '../definition/component'
import { graphOf } from '../definition/graph'
import { own } from '../definition/json'
import type { Definition } from '../definition/schema'
import { StepRef } from '../definition/step-ref'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { idempotencyKeyOf, MAIN_BRANCH } from '../run-store/names'
import type { RunRow } from './present'
import { continueRun, dataBefore, failedAt } from './progress'
import { refuseRepeated } from './repeated'
import { findPosition } from './rerun-from'
import { type RetryPoint, retryPointOf } from './retry-point'
import { refuseRepeatedCalls, refuseSkippedQuestion } from './skips'
import { AgainVersion, findVersionAgain, RepeatCalls, requireFit } from './version-again'

export const RetryBody = component('RetryRun', {
  version: AgainVersion.optional(),
  fromStepId: StepRef.optional().describe(
    'The step to continue at. If the old run reached it, what was done before its latest visit is kept; otherwise, all that was done before the failure, which needs the role editor.',
  ),
  repeatCalls: RepeatCalls.optional(),
})

/**
 * Starts a new run that continues where a failed one stopped, with the output of its completed steps, which do not run
 * again: on the same version, or on another one that its data fits. The turn of an agent that was cut short continues
 * after its recorded calls. Steps whose failure was handled do not run again either, unless that failure is why the run
 * ended. A step that ran branches runs all of them again. The old run stays as it is. A message to an agent is answered
 * once, so its run is retried at most once.
 * @param options.useful refuse a retry that would only end in the same way, and that of a run that was repeated before
 * @throws AppError RUN_NOT_FOUND, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND, INVALID_INPUT, FORBIDDEN,
 * VERSION_MISFIT
 */
export async function retryRun(
  ctx: ServiceContext,
  { runId, body = {} }: { runId: string; body?: unknown },
  { useful = false } = {},
) {
  authorize(ctx, 'run:retry')
  const wanted = parseInput(RetryBody, body)
  return withTransaction(ctx, async (tx) => {
    const old = await getRunRow(tx, runId, { lock: useful })
    if (useful) await refuseRepeated(tx, old.id)
    if (old.status !== 'failed') {
      throw new AppError('CONFLICT', {
        message: 'Only a failed run can be retried',
        details: [{ message: `The run is ${old.status}.`, status: old.status }],
      })
    }
    const retried =
      old.workflowId === AGENT_TURN.workflowId
        ? await retryTurn(tx, old, wanted)
        : await retryOn(tx, old, wanted, { useful })
    const details = { newRun: retried.runId, ...retried.noted }
    await record(tx, 'run.retried', { id: old.id, name: old.workflowName }, details)
    return { success: true, runId: retried.runId, retryOf: old.id }
  })
}

interface Retried {
  runId: string
  noted?: AuditDetails
}

type Wanted = z.infer<typeof RetryBody>

async function retryOn(
  tx: TransactionContext,
  old: RunRow,
  { version: wanted, fromStepId, repeatCalls }: Wanted,
  { useful }: { useful: boolean },
): Promise<Retried> {
  const on = await findVersionAgain(tx, old, wanted)
  const failed = await retryPointOf(tx, old.id, on.before)
  const point: RetryPoint | null = fromStepId === undefined ? failed : await pointAt(tx, old, fromStepId, failed)
  if (point === null) throw new AppError('CONFLICT', { message: 'The run has no step left to retry' })
  const { stepId: firstStep, before } = point
  if (useful && point.same && !on.isOther) {
    throw new AppError('CONFLICT', { message: 'A retry would end in the same way' })
  }
  const kept = await dataBefore(tx, old, before)
  if (on.isOther || point.jumps) await requireFit(tx, old, on, firstStep, { data: kept.data, before })
  if (on.isOther) {
    const at = { stepId: firstStep, before }
    await refuseSkippedQuestion(tx, old.id, on, at)
    const was = point.jumps ? (failed?.stepId ?? null) : firstStep
    if (!repeatCalls) await refuseRepeatedCalls(tx, old.id, on, { ...at, was })
  }
  const next = { workflowVersion: on.version, definition: on.definition, ...kept, firstStep }
  const retried = await continueRun(tx, old, before, { ...next, context: tx.trusted ?? old.context })
  // What a turn was asked for is only known to be asked again by the same step.
  const asks = (definition: Definition) => graphOf(definition).step(firstStep)
  if (firstStep === failed?.stepId && isDeepStrictEqual(asks(on.before), asks(on.definition)))
    await copyTurn(tx, {
      from: old.id,
      to: retried,
      branch: MAIN_BRANCH,
      stepId: firstStep,
      keyOf: keysOf(old, firstStep),
    })
  const version = wanted === undefined ? {} : { version: on.version }
  return { runId: retried, noted: { ...version, ...(fromStepId === undefined ? {} : { fromStep: fromStepId }) } }
}

/**
 * A retry from a chosen step. If the run never came to that step, which only another version may have, all that was done
 * before the failure counts.
 */
async function pointAt(
  tx: TransactionContext,
  old: RunRow,
  stepId: string,
  failed: RetryPoint | null,
): Promise<RetryPoint> {
  const seq = await findPosition(tx, old, stepId)
  if (seq !== null) return { stepId, before: sql`${seq}::bigint`, same: false }
  // It may bypass checks of earlier steps, such as an approval.
  authorize(tx, 'workflow:write')
  return { stepId, before: failed?.before ?? failedAt(tx, old.id), same: false, jumps: true }
}

function keysOf(old: RunRow, stepId: string): (visit: number) => string {
  return (visit) => idempotencyKeyOf({ runId: old.id, branch: MAIN_BRANCH }, { stepId, visit })
}

/** The run of a message to an agent: its workflow has no versions. */
async function retryTurn(tx: TransactionContext, old: RunRow, { version, fromStepId }: Wanted): Promise<Retried> {
  if (version !== undefined || fromStepId !== undefined) {
    throw new AppError('CONFLICT', {
      message: 'The run answers a message to an agent, so it can only be retried as it is',
    })
  }
  const turn = await requireTurn(tx, old.id)
  const definition = agentTurnDefinition(old.workflowName)
  const point = await retryPointOf(tx, old.id, definition)
  if (point === null) throw new AppError('CONFLICT', { message: 'The run has no step left to retry' })
  const { stepId: firstStep, before } = point
  const { workflowVersion } = old
  const next = { workflowVersion, definition, ...(await dataBefore(tx, old, before)), firstStep }
  const to = await continueRun(tx, old, before, { ...next, context: tx.trusted ?? old.context }, { builtIn: true })
  await giveOn(tx, turn, { old, to, key: keysOf(old, firstStep)(AGENT_TURN.visit) })
  return { runId: to }
}

async function requireTurn(tx: TransactionContext, runId: string): Promise<AskedTurn> {
  const turn = await askedTurnOf(tx, runId, { lock: true })
  if (turn) return turn
  throw new AppError('CONFLICT', { message: 'The run was retried before: a later run answers the message' })
}

/** Its agent has the version that the caller asked for, as it is now; a thread that is gone is made again. */
async function giveOn(
  tx: TransactionContext,
  turn: AskedTurn,
  { old, ...runs }: { old: RunRow; to: string; key: string },
) {
  const { agentId, subject, asked } = turn
  const wanted = asked.draft ? undefined : asked.version
  const { version } = await (wanted ? loadAgent(tx, agentId, wanted) : loadAsked(tx, turn, asked))
  const known = own(old.input, 'threadId')
  const threadId = turn.threadId ?? (typeof known === 'string' ? await createThread(tx, agentId, known, subject) : null)
  await moveTurn(tx, { turn, from: old.id, ...runs, version, threadId })
}
