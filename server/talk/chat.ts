import { requireMessage } from '../agents/answer-with-data'
import { keptVersion, knownTurn } from '../agents/converse'
import { toAppError } from '../agents/failed-turn'
import { loadAgent } from '../agents/find'
import { loadDraft } from '../agents/load-draft'
import { ChatRequest } from '../agents/schema'
import { createThread } from '../agents/thread'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import type { EventSource, UnnamedEvent } from '../http/sse'
import { parseInput, parseWhole } from '../parse'
import { answerApprovals, ChatApprovals, decide } from './approve'
import type { Waiting } from './await-run'
import { type ChatAnswer, chatAnswerOf } from './chat-answer'
import { endOfEvents, replay, type TurnLog } from './chat-events'
import { beginningOf, type Place } from './place'
import { type Accepted, beginTurn, openTurnEvents, openTurnStream, requirePlace, resumeStream } from './stream'
import { answerTo, askedOf } from './turn'
import { fromUiChat } from './ui-chat'
import { uiStream } from './ui-stream'

/**
 * Answers a message in text, supervisors included; ignores an agent's output schema.
 * @throws AppError MESSAGE_REQUIRED, INVALID_INPUT, AGENT_NOT_FOUND, THREAD_NOT_FOUND, THREAD_BUSY, MODEL_ERROR
 */
export async function chat(ctx: ServiceContext, body: JsonObject, signal: AbortSignal): Promise<ChatAnswer | Waiting> {
  if (body.approvals !== undefined) return answerInThread(ctx, body, signal)
  const { agent, known, asking } = await accept(ctx, body)
  try {
    const answer = await answerTo(ctx, agent, asking, { known, signal })
    return 'answer' in answer ? chatAnswerOf(answer) : answer
  } catch (err) {
    throw toAppError(err)
  }
}

/**
 * Like `chat`, but streams events. If the caller disconnects, the turn continues, and within an hour the caller may
 * resume with the id of the last event it saw. Null if that was the final event.
 * @throws AppError what `chat` throws before the agent starts; later failures become an `error` event
 */
export async function openChat(
  ctx: ServiceContext,
  input: { body: JsonObject; lastEventId: string | null },
  signal: AbortSignal,
): Promise<EventSource | null> {
  if (input.lastEventId !== null) return resumeChat(ctx, input.body, input.lastEventId)
  if (input.body.approvals !== undefined) return followApprovals(ctx, input.body)
  return openTurnStream(ctx, await accept(ctx, input.body), signal)
}

/**
 * Like `openChat`, in the AI SDK's UI message stream, for requests of its `DefaultChatTransport`. A caller that
 * disconnects ends the turn, because that is how its `stop` works; the exception is a turn with an `Idempotency-Key`,
 * whose answer is stored.
 * @throws AppError what `openChat` throws
 */
export async function openUiChat(
  ctx: ServiceContext,
  body: JsonObject,
  signal: AbortSignal,
): Promise<EventSource<UnnamedEvent>> {
  const ui = fromUiChat(ctx, body)
  const request = await accept(ctx, ui.body)
  const stop = new AbortController()
  const { place, read } = await openTurnEvents(ctx, request.known, signal, async () => {
    if (ui.isOwn && ui.threadId) await createThread(ctx, request.agent.id, ui.threadId)
    return beginTurn(ctx, request, signal, stop.signal)
  })
  return (gone) => {
    if (!ctx.keyed) gone.addEventListener('abort', () => stop.abort(), { once: true })
    return uiStream(read(gone), startOf(place))
  }
}

const startOf = ({ threadId, ticket }: Place) => ({ messageId: `${threadId}.${ticket}`, threadId })

async function answerInThread(ctx: ServiceContext, body: JsonObject, signal: AbortSignal) {
  authorize(ctx, 'agent:invoke')
  const { agentId, threadId, approvals } = parseInput(ChatApprovals, body)
  const place = { agentId, threadId, chat: true }
  return (await answerApprovals(ctx, { ...place, body: { approvals } }, signal)) as ChatAnswer | Waiting
}

/** Answers what the agent asks, and streams what follows. */
async function followApprovals(ctx: ServiceContext, body: JsonObject): Promise<EventSource> {
  authorize(ctx, 'agent:invoke')
  const { agentId, threadId, approvals } = parseInput(ChatApprovals, body)
  const { turnId } = await decide(ctx, { agentId, threadId, chat: true }, approvals)
  const begun = await beginningOf(ctx, turnId)
  if (!begun) throw new AppError('THREAD_NOT_FOUND')
  const after = await endOfEvents(ctx, begun)
  return (gone) => replay(ctx, after, gone)
}

/**
 * Starts a turn for a caller that cannot send a message when it opens a stream; `openChat` with this id reads the turn
 * from the start.
 * @throws AppError what `openChat` throws
 */
export async function beginChat(
  ctx: ServiceContext,
  body: JsonObject,
  signal: AbortSignal,
): Promise<{ threadId: string; lastEventId: string }> {
  return placeOf(await beginTurn(ctx, await accept(ctx, body), signal))
}

/**
 * Like `beginChat`, for an agent as it is being edited, saved or not: `draft` is the body of an update.
 * @throws AppError AGENT_ARCHIVED, and what `openChat` throws
 */
export async function beginDraftChat(
  ctx: ServiceContext,
  { draft, ...body }: { message?: unknown; draft?: unknown },
  signal: AbortSignal,
): Promise<{ threadId: string; lastEventId: string }> {
  const accepted = await accept(ctx, body, ({ agentId }) => loadDraft(ctx, agentId, draft))
  return placeOf(await beginTurn(ctx, accepted, signal))
}

function placeOf({ place }: TurnLog) {
  return { threadId: place.threadId, lastEventId: `${place.threadId}.${place.ticket}.0` }
}

async function resumeChat(ctx: ServiceContext, body: JsonObject, lastEventId: string): Promise<EventSource | null> {
  authorize(ctx, 'agent:invoke')
  const place = requirePlace(lastEventId)
  const { agentId } = parseWhole(ChatRequest, body, ['message'])
  return resumeStream(ctx, { agentId, place, structured: false })
}

async function accept(
  ctx: ServiceContext,
  body: { message?: unknown },
  load = ({ agentId, version }: { agentId: string; version: string | number }) => loadAgent(ctx, agentId, version),
): Promise<Accepted> {
  authorize(ctx, 'agent:invoke')
  const message = requireMessage(body.message)
  const { agentId, version, ...sent } = parseWhole(ChatRequest, body, ['message'])
  const known = await knownTurn(ctx)
  const agent = await load({ agentId, version: keptVersion(known) ?? version })
  const userMessage = await askedOf(ctx, { message, ...sent }, known)
  return { agent, known, asking: { threadId: sent.threadId, version, userMessage, structured: false } }
}
