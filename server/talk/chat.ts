import { requireMessage } from '../agents/answer-with-data'
import type { OpenTurn } from '../agents/converse'
import { converse, endOf, knownTurn, openTurn } from '../agents/converse'
import { toAppError } from '../agents/failed-turn'
import { loadAgent } from '../agents/find'
import { loadDraft } from '../agents/load-draft'
import { ChatRequest } from '../agents/schema'
import { createThread, requireOpenThread } from '../agents/thread'
import type { TurnListener } from '../agents/turn-types'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError, ImpossibleState } from '../errors'
import type { EventSource, ServerSentEvent, UnnamedEvent } from '../http/sse'
import { parseInput, parseWhole } from '../parse'
import { answerApprovals, ChatApprovals, decide } from './approve'
import { asRun } from './as-run'
import type { Waiting } from './await-run'
import { type ChatAnswer, chatAnswerOf, errorEvent } from './chat-answer'
import { ChatLog, endOfEvents, findEvent, parseEventId, replay } from './chat-events'
import { answerTo } from './turn'
import { fromUiChat } from './ui-chat'
import { uiStream } from './ui-stream'

/**
 * Answers a message in text, supervisors included; ignores an agent's output schema.
 * @throws AppError MESSAGE_REQUIRED, INVALID_INPUT, AGENT_NOT_FOUND, THREAD_NOT_FOUND, THREAD_BUSY, MODEL_ERROR
 */
export async function chat(ctx: ServiceContext, body: JsonObject, signal: AbortSignal): Promise<ChatAnswer | Waiting> {
  if (body.approvals !== undefined) return answerInThread(ctx, body, signal)
  const { agent, known, ...asked } = await accept(ctx, body)
  try {
    const answer = await answerTo(ctx, agent, { ...asked, structured: false }, { known, signal })
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
  const request = await accept(ctx, input.body)
  const ended = endOf(request.known)
  if (ended && 'answer' in ended) return () => replayAnswer(request.agent.id, chatAnswerOf(ended))
  const log = await begin(ctx, request, signal)
  return (gone) => log.read(gone)
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
  const ended = endOf(request.known)
  if (ended && 'answer' in ended) {
    const { threadId } = ended
    return () => uiStream(replayAnswer(request.agent.id, chatAnswerOf(ended)), { messageId: threadId, threadId })
  }
  if (ui.isOwn && ui.threadId) await createThread(ctx, request.agent.id, ui.threadId)
  const stop = new AbortController()
  const log = await begin(ctx, request, signal, stop.signal)
  const { threadId, ticket } = log.place
  return (gone) => {
    if (!ctx.keyed) gone.addEventListener('abort', () => stop.abort(), { once: true })
    return uiStream(log.read(gone), { messageId: `${threadId}.${ticket}`, threadId })
  }
}

/** @throws AppError INVALID_INPUT for a turn that answers with data */
async function answerInThread(ctx: ServiceContext, body: JsonObject, signal: AbortSignal) {
  const { agentId, threadId, approvals } = parseInput(ChatApprovals, body)
  const answer = await answerApprovals(ctx, { agentId, threadId, body: { approvals } }, signal)
  if ('turnId' in answer || 'message' in answer) return answer
  throw notOfChat()
}

/** Answers what the agent asks, and streams what follows. */
async function followApprovals(ctx: ServiceContext, body: JsonObject): Promise<EventSource> {
  const { agentId, threadId, approvals } = parseInput(ChatApprovals, body)
  const { ticket } = await decide(ctx, { agentId, threadId }, approvals)
  if (ticket === null) throw notOfChat()
  const after = await endOfEvents(ctx, { threadId, ticket })
  return (gone) => replay(ctx, after, gone)
}

function notOfChat(): AppError {
  const message = 'was begun by an invocation: read the turn, or send the approvals to the thread'
  return new AppError('INVALID_INPUT', { details: [{ path: 'threadId', message }] })
}

/** Replays the answer of an earlier request with the same key, whose own events may be gone. */
async function* replayAnswer(agentId: string, answer: ChatAnswer): AsyncGenerator<ServerSentEvent> {
  yield { event: 'message.delta', data: { text: answer.message, agentId } }
  yield { event: 'message.done', data: answer }
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
  return placeOf(await begin(ctx, await accept(ctx, body), signal))
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
  return placeOf(await begin(ctx, accepted, signal))
}

function placeOf({ place }: ChatLog) {
  return { threadId: place.threadId, lastEventId: `${place.threadId}.${place.ticket}.0` }
}

async function begin(
  ctx: ServiceContext,
  { agent, known, ...asked }: Awaited<ReturnType<typeof accept>>,
  signal: AbortSignal,
  stop?: AbortSignal,
): Promise<ChatLog> {
  const turn = await openTurn(ctx, agent, { ...asked, structured: false }, { signal, known, streams: true })
  const log = new ChatLog(ctx, placeIn(turn))
  const ended = answerInChat(ctx, turn, log, stop).catch((err: unknown) =>
    ctx.log.error({ err }, 'a chat ended unexpectedly'),
  )
  ctx.keyed?.heldBy(ended)
  return log
}

function placeIn({ lease }: OpenTurn) {
  if (!lease) throw new ImpossibleState('chat-thread', 'a chat has no thread')
  return { threadId: lease.threadId, ticket: lease.ticket }
}

async function answerInChat(
  ctx: ServiceContext,
  turn: OpenTurn,
  log: ChatLog,
  stop: AbortSignal | undefined,
): Promise<void> {
  const { agent } = turn
  const { threadId } = log.place
  const listener: TurnListener = {
    onText: (text) => log.add('message.delta', { text, agentId: agent.id }),
    onRestart: () => log.add('message.restart', { agentId: agent.id }),
    onToolCall: ({ name, ...call }) => log.add('tool.call', { ...call, toolId: name }),
    onToolResult: ({ name, ...result }) => log.add('tool.result', { ...result, toolId: name }),
    onHandOff: (handOff) => log.add('handoff', handOff),
  }
  await converse(ctx, turn, {
    // Unless the caller may stop it, only the deadline ends the turn.
    signal: stop ?? new AbortController().signal,
    listener,
    asRun: (held) => asRun(ctx, held),
    onEnd: async (end) => {
      if ('answer' in end) log.add('message.done', chatAnswerOf(end))
      else if ('err' in end) log.add('error', { ...errorEvent(ctx, end.err), threadId, requestId: ctx.requestId })
      await log.flush()
    },
  })
    // What a run does is known by its rows.
    .then((ended) => ('runId' in ended ? log.leave() : undefined))
    .catch(() => {}) // The listener has already sent this as an event.
}

async function resumeChat(ctx: ServiceContext, body: JsonObject, lastEventId: string): Promise<EventSource | null> {
  authorize(ctx, 'agent:invoke')
  const place = parseEventId(lastEventId)
  const unknown = () =>
    new AppError('INVALID_INPUT', {
      details: [{ path: 'Last-Event-ID', message: 'is not an id of an event of the last hour' }],
    })
  if (!place) throw unknown()
  const { agentId } = parseWhole(ChatRequest, body, ['message'])
  await requireOpenThread(ctx, agentId, place.threadId)
  const found = await findEvent(ctx, place)
  if (!found) throw unknown()
  return found.last ? null : (signal) => replay(ctx, place, signal)
}

async function accept(
  ctx: ServiceContext,
  body: { message?: unknown },
  load = ({ agentId, version }: { agentId: string; version: string | number }) => loadAgent(ctx, agentId, version),
) {
  authorize(ctx, 'agent:invoke')
  const message = requireMessage(body.message)
  const { agentId, version, threadId, dataContext } = parseWhole(ChatRequest, body, ['message'])
  const known = await knownTurn(ctx)
  const agent = await load({ agentId, version: known?.turn.version ?? version })
  return { agent, known, threadId, userMessage: { message, dataContext } }
}
