import { loadAgent, loadAsked } from '../agents/find'
import { copyTurn } from '../agents/journal/copy'
import { type AskedTurn, askedTurnOf, moveTurn } from '../agents/journal/move'
import { createThread } from '../agents/thread'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AGENT_TURN, agentTurnDefinition } from '../definition/agent-turn'
import { own } from '../definition/json'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { partAsRun } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import { idempotencyKeyOf, MAIN_BRANCH } from '../run-store/names'
import { findVersionToRun } from '../workflows/find-version-to-run'
import type { RunRow } from './present'
import { continueRun, dataBefore } from './progress'
import { retryPointOf } from './retry-point'

/**
 * Starts a new run that continues where a failed one stopped, on the same version and with the output of its completed
 * steps, which do not run again. The turn of an agent that was cut short continues after its recorded calls. Steps
 * whose failure was handled do not run again either, unless that failure is why the run ended. A step that ran branches
 * runs all of them again. The old run stays as it is. A message to an agent is answered once, so its run is retried at
 * most once.
 * @param options.useful refuse a retry that would only end in the same way
 * @throws AppError RUN_NOT_FOUND, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND
 */
export async function retryRun(ctx: ServiceContext, { runId }: { runId: string }, { useful = false } = {}) {
  authorize(ctx, 'run:retry')
  return withTransaction(ctx, async (tx) => {
    const old = await getRunRow(tx, runId)
    if (old.status !== 'failed') {
      throw new AppError('CONFLICT', {
        message: 'Only a failed run can be retried',
        details: [{ message: `The run is ${old.status}.`, status: old.status }],
      })
    }
    const turn = old.workflowId === AGENT_TURN.workflowId ? await requireTurn(tx, old.id) : null
    const definition = turn ? agentTurnDefinition(old.workflowName) : await definitionOf(tx, old)
    const point = await retryPointOf(tx, old.id, definition)
    if (point === null) throw new AppError('CONFLICT', { message: 'The run has no step left to retry' })
    if (useful && point.same) throw new AppError('CONFLICT', { message: 'A retry would end in the same way' })
    const { stepId: firstStep, before } = point
    const kept = await dataBefore(tx, old, before)
    const next = { definition, ...kept, firstStep, context: tx.trusted ?? old.context }
    const retried = await continueRun(tx, old, before, next, { builtIn: turn !== null })
    const walk = { runId: old.id, branch: MAIN_BRANCH }
    const keyOf = (visit: number) => idempotencyKeyOf(walk, { stepId: firstStep, visit })
    if (turn) await giveOn(tx, turn, { old, to: retried, key: keyOf(AGENT_TURN.visit) })
    else await copyTurn(tx, { from: old.id, to: retried, branch: MAIN_BRANCH, stepId: firstStep, keyOf })
    await record(tx, 'run.retried', { id: old.id, name: old.workflowName }, { newRun: retried })
    return { success: true, runId: retried, retryOf: old.id }
  })
}

async function definitionOf(
  tx: TransactionContext,
  { workflowId, workflowVersion, part }: RunRow,
): Promise<Definition> {
  const { definition } = await findVersionToRun(tx, workflowId, String(workflowVersion))
  return part ? partAsRun(definition, part) : definition
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
