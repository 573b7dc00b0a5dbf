import { and, eq, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { type ServiceContext, systemContext } from '../context'
import { AppError, ERRORS, isErrorCode } from '../errors'
import { answerEvents, type TurnEvent, turnEvent } from './answer-events'
import { runOfDeadTurn } from './as-run'
import { awaitAnswer, RunFailed, type Waiting } from './await-run'
import { errorEvent } from './chat-answer'
import type { Place } from './place'

/** What follows in a stream. */
export interface Following {
  /** None if nothing is known yet. */
  events: TurnEvent[]
  /** The run that has the turn; null outside of runs, undefined if there is no turn. */
  runId: string | null | undefined
}

/** A turn that a run has. */
interface InRun {
  agentId: string
  structured: boolean
  runId: string
  threadId: string
}

/** How long a process may take to store the end of a turn that it has recorded. */
const STORES_MS = 2_000

/**
 * The events that follow once no process streams a turn any more: the answer of the run that continues it, or the
 * questions it asks. If its process died, it becomes a run now.
 * @param speaks whether the last event is a piece of an answer
 */
export async function whatFollows(
  ctx: ServiceContext,
  place: Place,
  signal: AbortSignal,
  speaks: boolean,
): Promise<Following> {
  const turn = await turnAt(ctx, place)
  if (!turn) return { events: [interrupted(place, null)], runId: undefined }
  const { agentId, answer, structured, streams, endedAt } = turn
  const { threadId } = place
  // What the interrupted call has said does not count.
  const restart = speaks ? [answerEvents(structured).restart(agentId)] : []
  const follow = async (runId: string) => {
    const more = await fromRun(ctx, { agentId, structured, runId, threadId }, signal)
    return { events: more.length > 0 ? [...restart, ...more] : [], runId }
  }
  const outside = (...events: TurnEvent[]) => ({ events, runId: null })
  if (turn.runId !== null) return follow(turn.runId)
  // Its process may be about to store its own events.
  if (streams && endedAt !== null && ctx.now().getTime() - endedAt.getTime() < STORES_MS) return outside()
  if (answer) return outside(...restart, ...answerEvents(structured).whole(agentId, { threadId, answer }))
  if (turn.state === 'failed') return outside(interrupted(place, turn.errorCode))
  const runId = await runOfDeadTurn(systemContext(ctx), turn.id).catch((err: unknown) => {
    if (err instanceof AppError) return null
    throw err
  })
  return runId === null ? outside() : follow(runId)
}

/**
 * The answer of the run that continues a turn, the questions it asks, or why it failed.
 * @returns none if it takes longer
 * @throws AppError if that could not be read
 */
async function fromRun(
  ctx: ServiceContext,
  { agentId, structured, runId, threadId }: InRun,
  signal: AbortSignal,
): Promise<TurnEvent[]> {
  try {
    const end = await awaitAnswer(ctx, runId, signal)
    if ('answer' in end) return answerEvents(structured).whole(agentId, end)
    return end.status === 'paused' ? [...questions(end), answerEvents(structured).waiting(end)] : []
  } catch (err) {
    // Any other failure may pass, so it must not become the end of the stream.
    if (!(err instanceof RunFailed)) throw err
    return [failed(ctx, err, threadId)]
  }
}

/** The last event of a turn that failed. */
export function failed(ctx: ServiceContext, err: unknown, threadId: string): TurnEvent {
  return turnEvent('error', { ...errorEvent(ctx, err), threadId, requestId: ctx.requestId })
}

/** The turn at a place of a thread, with the status of its run. */
export async function turnAt({ db, tenantId }: ServiceContext, { threadId, ticket }: Place) {
  const { id, agentId, runId, state, answer, startedAt, endedAt, errorCode, request } = agentTurns
  const structured = sql<boolean>`coalesce((${request}->>'structured')::boolean, false)`
  const streams = sql<boolean>`${request}->>'streams' is not null`
  const columns = { id, agentId, runId, state, answer, startedAt, endedAt, errorCode, structured, streams }
  const [turn] = await db
    .select({ ...columns, status: runs.status })
    .from(agentTurns)
    .leftJoin(runs, and(eq(runs.tenantId, agentTurns.tenantId), eq(runs.id, runId)))
    .where(and(eq(agentTurns.tenantId, tenantId), eq(agentTurns.threadId, threadId), eq(agentTurns.ticket, ticket)))
  return turn
}

function questions({ runId, turnId, pauseSignals }: Waiting): TurnEvent[] {
  return pauseSignals.map((pause) =>
    turnEvent('approval.requested', { ...requestOf(turnId, pause), runId, pauseId: pause.id }),
  )
}

/** A question as a stream shows it. */
function requestOf(turnId: string, pause: Waiting['pauseSignals'][number]) {
  const asksFor = 'type' in pause && pause.type === 'request_user_action' ? pause : null
  const { call, title } = asksFor ?? {}
  const { toolId = null, args = null, why = null } = call ?? {}
  return { approvalId: approvalIdOf(turnId, pause.id), title: title ?? null, toolId, args, why }
}

/** Of a question of a turn: the turn and the number of the call. */
export function approvalIdOf(turnId: string, pauseId: string): string {
  return `${turnId}.${pauseId.slice(pauseId.lastIndexOf('~') + 1)}`
}

function interrupted({ threadId }: Place, code: string | null): TurnEvent {
  const known = code !== null && isErrorCode(code) ? code : 'INTERNAL'
  const message = known === 'INTERNAL' ? 'Internal server error: the answer was interrupted' : ERRORS[known].message
  return turnEvent('error', { code: known, message, threadId })
}
