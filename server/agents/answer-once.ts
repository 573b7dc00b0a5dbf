import { authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { TurnMetadata } from '../definition/agent'
import { isJsonObject, type JsonObject } from '../definition/json'
import { parseInput } from '../parse'
import { requireMessage } from './answer-with-data'
import { Budget } from './budget'
import { failedTurn, toAppError, withTurn } from './failed-turn'
import { loadAgent } from './find'
import { loadDraft } from './load-draft'
import { InvokeAgent } from './schema'
import { runTurn } from './turn'
import { inTime } from './turn-time'

/** An answer outside any thread. */
export interface SingleAnswer {
  text: string
  /** Null for a text answer. */
  data: JsonObject | null
  metadata: TurnMetadata
}

/**
 * Answers one message like `invokeAgent` and `chat`, but stores nothing: for people who compare agents.
 * @param input.body as for `invokeAgent`; `draft`, the body of an update, replaces the agent
 */
export async function answerOnce(
  ctx: ServiceContext,
  { agentId, body }: { agentId: string; body: unknown },
  caller: AbortSignal,
): Promise<SingleAnswer> {
  authorize(ctx, 'agent:invoke')
  const asked = isJsonObject(body) ? body : {}
  const userMessage = { message: requireMessage(asked.message), dataContext: {} }
  const { dataContext, version } = parseInput(InvokeAgent, asked)
  const agent =
    asked.draft === undefined ? await loadAgent(ctx, agentId, version) : await loadDraft(ctx, agentId, asked.draft)
  const { outputSchema, supervisor, model } = agent.config
  const request = {
    agent,
    history: [],
    userMessage: { ...userMessage, dataContext },
    structured: outputSchema !== null && !supervisor,
  }
  const budget = new Budget()
  try {
    const { text, data, metadata } = await inTime(model.provider, caller, (limits) =>
      runTurn(beyondReach(ctx), request, { ...limits, budget }),
    )
    return { text, data, metadata }
  } catch (err) {
    throw toAppError(withTurn(err, failedTurn(err, budget)))
  }
}
