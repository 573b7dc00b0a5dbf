import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { FailedTurn, UserMessage } from '../definition/agent'
import { AppError } from '../errors'
import { newId } from '../ids'
import { NO_USAGE } from '../models/call'
import { ModelFailure } from '../models/failure'
import { type Invocation, requireDataAnswers } from './answer-with-data'
import type { Budget } from './budget'
import { failedTurn, withTurn } from './failed-turn'
import { type LoadedAgent, loadAgent } from './find'
import type { TurnAttempt } from './journal/attempt'
import { Journal } from './journal/journal'
import { type KnownTurn, readTurn } from './journal/read'
import type { TurnRow } from './journal/record'
import { readHistory } from './messages'
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
 * Answers the message of a run's step with data. Each call is recorded when it has ended, so that a later attempt
 * continues the turn where this one stopped, with the same versions of the agent and its tools.
 * @throws ModelFailure, and AppError as `invokeAgent`
 */
export async function answerInRun(
  ctx: ServiceContext,
  asked: Asked,
  attempt: TurnAttempt,
  options: Options,
): Promise<Invocation> {
  const known = attempt.continues ? await readTurn(ctx, attempt) : null
  if (known && attempt.used) options.budget.count(known.turn, attempt.used)
  const agent = await loadAgent(ctx, asked.agentId, known?.turn.tools ? known.turn.version : asked.version)
  requireDataAnswers(agent)
  // Only its record is missing, and nobody waits for its place in the thread any more.
  const ended = known?.turn.state === 'done'
  const lease =
    ended || asked.threadId === null
      ? null
      : await placeIn(ctx, agent, { threadId: asked.threadId, turnId: known?.turn.id }, options.signal)
  try {
    return await continued(ctx, { agent, asked, attempt, known, lease }, options)
  } catch (err) {
    const turn = failedTurn(err, options.budget, asked.threadId ?? undefined)
    if (turn) options.onFailed(turn)
    throw withTurn(err, turn)
  } finally {
    await lease?.release()
  }
}

async function placeIn(
  ctx: ServiceContext,
  agent: LoadedAgent,
  { threadId, turnId }: { threadId: string; turnId: string | undefined },
  signal: AbortSignal,
): Promise<TurnLease> {
  return TurnLease.take(ctx, await requireOpenThread(ctx, agent.id, threadId), signal, { turnId })
}

interface Place {
  agent: LoadedAgent
  asked: Asked
  attempt: TurnAttempt
  known: KnownTurn | null
  lease: TurnLease | null
}

async function continued(ctx: ServiceContext, place: Place, { signal, log, budget }: Options): Promise<Invocation> {
  const { agent, asked, attempt, known, lease } = place
  const { agentId: _agent, version: _version, threadId, ...userMessage } = asked
  // Its messages hide what the run hides.
  const runId = attempt.hides.size > 0 ? attempt.runId : null
  const past = threadId === null ? { history: [], to: 0 } : await readHistory(ctx, threadId, known?.turn.historyTo)
  const turn = known ? goingOn(known.turn, agent) : newTurn(ctx, { agent, threadId, historyTo: past.to })
  const journal = new Journal({ ctx, attempt, turn }, known?.calls, known?.answers)
  const request = { agent, history: past.history, userMessage, structured: true }
  const turned = runTurn(beyondReach(ctx), request, { signal, log, budget, journal })
  const { replies, metadata, data } = await turned.catch(async (err: unknown) => {
    const code = finalCode(err)
    if (code !== null) await journal.fail(code)
    throw err
  })
  const answer = (id: string) => ({ data: data ?? {}, threadId: id, metadata })
  if (turn.state === 'done' && turn.threadId !== null) return answer(turn.threadId)
  const id = threadId ?? newId('thr')
  await journal.end({ threadId: id, ticket: lease?.ticket ?? null, userMessage, replies, metadata, runId })
  lease?.ended()
  return answer(id)
}

/** A turn whose last answer did not count may get another one. */
function goingOn(turn: TurnRow, { version }: LoadedAgent): TurnRow {
  return turn.state === 'failed' ? { ...turn, version, state: 'working', errorCode: null } : { ...turn, version }
}

function newTurn(
  ctx: ServiceContext,
  { agent, threadId, historyTo }: Pick<Place, 'agent'> & Pick<TurnRow, 'threadId' | 'historyTo'>,
): TurnRow {
  return {
    id: newId('trn'),
    agentId: agent.id,
    version: agent.version,
    tools: {},
    threadId,
    historyTo,
    state: 'working',
    errorCode: null,
    usage: NO_USAGE,
    cost: null,
    startedAt: ctx.now(),
  }
}

/** The code of a failure that ends the turn, because the model would give the same answer again. */
function finalCode(err: unknown): string | null {
  if (err instanceof ModelFailure) return err.transient || err.answer === null ? null : err.code
  return err instanceof AppError && err.code === 'OUTPUT_SCHEMA_MISMATCH' ? err.code : null
}
