import { type Invocation, invocationOf, requireDataAnswers, requireMessage } from '../agents/answer-with-data'
import { keptVersion, knownTurn } from '../agents/converse'
import { toAppError } from '../agents/failed-turn'
import { loadAgent } from '../agents/find'
import { loadDraft } from '../agents/load-draft'
import { InvokeAgent } from '../agents/schema'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import type { EventSource } from '../http/sse'
import { parseWhole } from '../parse'
import { wantedVersion } from '../versioned/versions'
import type { Waiting } from './await-run'
import { type Accepted, openTurnStream, requirePlace, resumeStream } from './stream'
import { answerTo, askedOf } from './turn'

/**
 * Answers a message with data that matches the agent's output schema, in a new or an existing thread. When the signal
 * fires, the model call is aborted and the thread stays as it was.
 * @throws AppError MESSAGE_REQUIRED, INVALID_INPUT, AGENT_NOT_FOUND, AGENT_NO_STRUCTURED_OUTPUT, AGENT_SUPERVISOR,
 * THREAD_NOT_FOUND, THREAD_BUSY, THREAD_WAITING, OUTPUT_SCHEMA_MISMATCH, MODEL_ERROR
 */
export async function invokeAgent(
  ctx: ServiceContext,
  input: { agentId: string; body: unknown },
  signal: AbortSignal,
): Promise<Invocation | Waiting> {
  return answered(ctx, await accept(ctx, input), signal)
}

/**
 * Like `invokeAgent`, but streams events, as `openChat` does. Null if the caller has seen the last one.
 * @throws AppError what `invokeAgent` throws before the agent starts; later failures become an `error` event
 */
export async function openInvocation(
  ctx: ServiceContext,
  { lastEventId, ...input }: { agentId: string; body: unknown; lastEventId: string | null },
  signal: AbortSignal,
): Promise<EventSource | null> {
  if (lastEventId === null) return openTurnStream(ctx, await accept(ctx, input), signal)
  authorize(ctx, 'agent:invoke')
  return resumeStream(ctx, { agentId: input.agentId, place: requirePlace(lastEventId), structured: true })
}

async function accept(ctx: ServiceContext, input: { agentId: string; body: unknown }): Promise<Accepted> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  const known = await knownTurn(ctx)
  // An agent that cannot answer with data is reported before other errors.
  const version = wantedVersion(body.version ?? undefined)
  const agent = await loadAgent(ctx, input.agentId, keptVersion(known) ?? version)
  requireDataAnswers(agent)
  const { version: _version, ...sent } = parseWhole(InvokeAgent, body, ['message'])
  const userMessage = await askedOf(ctx, { message, ...sent }, known)
  return { agent, known, asking: { userMessage, structured: true, threadId: sent.threadId, version } }
}

/**
 * Like `invokeAgent`, for an agent as it is being edited, saved or not.
 * @param input.body `draft` is the body of an update
 * @throws AppError AGENT_ARCHIVED, and what `invokeAgent` throws
 */
export async function invokeDraftAgent(
  ctx: ServiceContext,
  input: { agentId: string; body: unknown },
  signal: AbortSignal,
): Promise<Invocation | Waiting> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  const sent = parseWhole(InvokeAgent, body, ['message', 'draft'])
  const agent = await loadDraft(ctx, input.agentId, body.draft)
  requireDataAnswers(agent)
  const userMessage = await askedOf(ctx, { message, ...sent }, null)
  const asking = { userMessage, structured: true, threadId: sent.threadId }
  return answered(ctx, { agent, known: null, asking }, signal)
}

async function answered(
  ctx: ServiceContext,
  { agent, known, asking }: Accepted,
  signal: AbortSignal,
): Promise<Invocation | Waiting> {
  try {
    const answer = await answerTo(ctx, agent, asking, { known, signal })
    return 'answer' in answer ? invocationOf(answer) : answer
  } catch (err) {
    throw toAppError(err)
  }
}
