import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { FailedTurn, UserMessage } from '../definition/agent'
import { requireDataAnswers } from './answer-with-data'
import type { Budget } from './budget'
import { messageOf } from './converse'
import { failedTurn, withTurn } from './failed-turn'
import { type LoadedAgent, loadAgent, loadAsked } from './find'
import type { TurnAttempt } from './journal/attempt'
import { type KnownTurn, readTurn } from './journal/read'
import { newTurn, type TurnRow } from './journal/record'
import { type AnsweredTurn, journaled, type RecordedTurn } from './journaled'
import { requireOpenThread } from './thread'
import { runTurn } from './turn'
import { TurnLease } from './turn-lease'
import type { TurnOptions } from './turn-types'

interface Asked extends UserMessage {
  agentId: string
  version: string | number
  threadId: string | null
}

interface Options {
  signal: AbortSignal
  log?: TurnOptions['log']
  onFailed: (turn: FailedTurn) => void
  budget: Budget
}

/**
 * Answers the message of a run's step, with data unless a chat was asked. Each call is recorded when it has ended, so that
 * a later attempt continues the turn where this one stopped, with the same versions of the agent and its tools. A turn
 * that invoke or chat began is continued likewise.
 * @throws ModelFailure, and AppError as `invokeAgent`
 */
export async function answerInRun(
  ctx: ServiceContext,
  step: Asked,
  attempt: TurnAttempt,
  options: Options,
): Promise<AnsweredTurn> {
  const known = attempt.continues ? await readTurn(ctx, attempt) : null
  if (known && attempt.used) options.budget.count(known.used, attempt.used)
  const asked = askedOf(step, known)
  const agent = await agentOf(ctx, step, known)
  if (asked.structured) requireDataAnswers(agent)
  // Only its record is missing, and nobody waits for its place in the thread any more.
  const ended = known?.turn.state === 'done'
  const threadId = known?.turn.threadId ?? step.threadId
  const lease = ended || threadId === null ? null : await placeIn(ctx, agent, { threadId, known }, options.signal)
  const turn = known ? goingOn(known.turn, agent) : newTurn(ctx, agent, threadId)
  try {
    const { signal, log, budget } = options
    const keepsAnswer = known !== null && known.asked !== null
    const reading = { ...beyondReach(ctx), turnThread: threadId ?? undefined }
    return await journaled(ctx, { agent, at: attempt, turn, known, lease, asked, keepsAnswer }, (request, journal) =>
      runTurn(reading, request, { signal, log, budget, journal }),
    )
  } catch (err) {
    const failed = failedTurn(err, options.budget, threadId ?? undefined)
    if (failed) options.onFailed(failed)
    throw withTurn(err, failed)
  } finally {
    await lease?.release()
  }
}

/** What the step asks, unless invoke or chat has asked before it. */
function askedOf(step: Asked, known: KnownTurn | null): RecordedTurn['asked'] {
  if (!known?.asked) {
    const { agentId: _agent, version: _version, threadId: _thread, ...userMessage } = step
    return { userMessage, structured: true }
  }
  return messageOf(known.asked)
}

function agentOf(ctx: ServiceContext, { agentId, version }: Asked, known: KnownTurn | null): Promise<LoadedAgent> {
  if (known && (known.turn.tools || known.asked)) return loadAsked(ctx, known.turn, known.asked)
  return loadAgent(ctx, known?.turn.agentId ?? agentId, version)
}

async function placeIn(
  ctx: ServiceContext,
  agent: LoadedAgent,
  { threadId, known }: { threadId: string; known: KnownTurn | null },
  signal: AbortSignal,
): Promise<TurnLease> {
  // The caller of invoke or chat was allowed to, which the run cannot check again.
  const id = known?.asked ? threadId : await requireOpenThread(ctx, agent.id, threadId)
  return TurnLease.take(ctx, id, signal, { turnId: known?.turn.id })
}

/** A turn whose last answer did not count may get another one. */
function goingOn(turn: TurnRow, { version }: LoadedAgent): TurnRow {
  return turn.state === 'failed' ? { ...turn, version, state: 'working', errorCode: null } : { ...turn, version }
}
