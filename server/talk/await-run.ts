import { and, eq, isNull } from 'drizzle-orm'
import { agentTurns } from '@/db/schema/turns'
import type { AnsweredTurn } from '../agents/journaled'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { env } from '../env'
import { AppError, ImpossibleState, isErrorCode } from '../errors'
import { mark } from '../interpreter/index'
import type { PresentedRun } from '../runs/present'
import { waitForRun } from '../runs/wait'

/** What a caller gets of a turn that waits for people: the open questions of its run. */
export interface Waiting {
  data: null
  threadId: string
  status: 'paused' | 'running'
  runId: string
  turnId: string
  pauseSignal: PresentedRun['pauseSignal']
  pauseSignals: PresentedRun['pauseSignals']
}

export type Answer = AnsweredTurn | Waiting

/**
 * Waits, as a synchronous start does, until the run that continues a turn has ended or asks people.
 * @param since when it cannot have ended yet
 * @throws RunFailed why it failed; AppError RUN_NOT_FOUND, THREAD_NOT_FOUND, UNAVAILABLE
 */
export async function awaitAnswer(
  ctx: ServiceContext,
  runId: string,
  signal: AbortSignal,
  since = mark(),
): Promise<Answer> {
  // Who may talk to the agent may see how its answer comes about.
  const run = await waitForRun(beyondReach(ctx), runId, env().SYNC_START_TIMEOUT_MS, signal, since)
  if (run.status === 'failed') throw failureOf(run)
  const turn = await turnOf(ctx, runId)
  if (run.status === 'completed') {
    if (!turn.answer) throw new ImpossibleState('turn-answer', `the run ${runId} ended without its turn's answer`)
    return { threadId: turn.threadId, answer: turn.answer }
  }
  const { status, pauseSignal, pauseSignals } = run
  return { data: null, threadId: turn.threadId, status, runId, turnId: turn.id, pauseSignal, pauseSignals }
}

async function turnOf({ db, tenantId }: ServiceContext, runId: string) {
  const { id, threadId, answer } = agentTurns
  const [turn] = await db
    .select({ id, threadId, answer })
    .from(agentTurns)
    .where(and(eq(agentTurns.tenantId, tenantId), eq(agentTurns.runId, runId), isNull(agentTurns.rootId)))
  if (!turn?.threadId) throw new AppError('THREAD_NOT_FOUND')
  return { ...turn, threadId: turn.threadId }
}

/** The run that continues a turn ended without an answer. */
export class RunFailed extends AppError {
  override name = 'RunFailed'
}

function failureOf({ error, outcome }: PresentedRun): RunFailed {
  if (error === null) return new RunFailed('CONFLICT', { message: `The run that answers was ${outcome ?? 'stopped'}` })
  const { code, message } = error
  return isErrorCode(code)
    ? new RunFailed(code, { message })
    : new RunFailed('MODEL_ERROR', { details: [{ code, message }] })
}
