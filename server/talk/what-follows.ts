import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { type ServiceContext, systemContext } from '../context'
import type { ChatEventName } from '../definition/agent'
import { type JsonObject, toStorableJson } from '../definition/json'
import { runOfDeadTurn } from './as-run'
import { awaitAnswer, type Waiting } from './await-run'
import { type ChatAnswer, chatAnswerOf, errorEvent } from './chat-answer'

/** How long events are kept after they were stored. */
export const LIFETIME_MS = 3_600_000

/** A turn by its place in a thread. */
interface Place {
  threadId: string
  ticket: number
}

interface Next {
  event: ChatEventName
  data: JsonObject
}

/**
 * The events that follow once no process streams a turn any more: the answer of the run that continues it, or the
 * questions it asks. If its process died, it becomes a run now.
 * @param speaks whether the last event is a piece of an answer
 * @returns none if nothing is known yet
 */
export async function whatFollows(
  ctx: ServiceContext,
  place: Place,
  signal: AbortSignal,
  speaks: boolean,
): Promise<Next[]> {
  const turn = await turnAt(ctx, place)
  if (!turn || turn.state === 'failed') return [interrupted(place)]
  const { agentId, answer } = turn
  if (answer) return said(agentId, chatAnswerOf({ threadId: place.threadId, answer }), speaks)
  const runId = turn.runId ?? (await runOfDeadTurn(systemContext(ctx), turn.id))
  if (runId === null) return []
  try {
    const end = await awaitAnswer(ctx, runId, signal)
    if ('answer' in end) return said(agentId, chatAnswerOf(end), speaks)
    return end.status === 'paused' ? asked(end) : []
  } catch (err) {
    return [next('error', { ...errorEvent(ctx, err), threadId: place.threadId, requestId: ctx.requestId })]
  }
}

/** Whether the run of a turn waits for people. */
export async function waitsForPeople(ctx: ServiceContext, place: Place): Promise<boolean> {
  const turn = await turnAt(ctx, place)
  return turn?.status === 'paused'
}

/** Whether a turn is recorded whose events a stream may still request. */
export async function isRecorded(ctx: ServiceContext, place: Place): Promise<boolean> {
  const turn = await turnAt(ctx, place)
  return turn !== undefined && ctx.now().getTime() - turn.startedAt.getTime() < LIFETIME_MS
}

async function turnAt({ db, tenantId }: ServiceContext, { threadId, ticket }: Place) {
  const { id, agentId, runId, state, answer, startedAt } = agentTurns
  const [turn] = await db
    .select({ id, agentId, runId, state, answer, startedAt, status: runs.status })
    .from(agentTurns)
    .leftJoin(runs, and(eq(runs.tenantId, agentTurns.tenantId), eq(runs.id, runId)))
    .where(and(eq(agentTurns.tenantId, tenantId), eq(agentTurns.threadId, threadId), eq(agentTurns.ticket, ticket)))
  return turn
}

function said(agentId: string, answer: ChatAnswer, speaks: boolean): Next[] {
  return [
    // What the interrupted call has said does not count.
    ...(speaks ? [next('message.restart', { agentId })] : []),
    next('message.delta', { text: answer.message, agentId }),
    next('message.done', answer),
  ]
}

function asked({ threadId, runId, turnId, pauseSignals }: Waiting): Next[] {
  return [
    ...pauseSignals.map((pause) =>
      next('approval.requested', { ...requestOf(turnId, pause), runId, pauseId: pause.id }),
    ),
    next('message.waiting', { threadId, runId }),
  ]
}

/** A question as a chat shows it. */
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

function interrupted({ threadId }: Place): Next {
  const message = 'Internal server error: the answer was interrupted'
  return next('error', { code: 'INTERNAL', message, threadId })
}

function next(event: ChatEventName, data: Record<string, unknown>): Next {
  return { event, data: toStorableJson(data) as JsonObject }
}
