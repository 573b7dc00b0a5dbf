import type { ServiceContext } from '../context'
import type { CallDecision } from '../definition/approval'
import type { JsonObject } from '../definition/json'
import { ERRORS } from '../errors'
import type { Budget } from './budget'
import { type LoadedAgent, loadAgent } from './find'
import { answerIn, succeeded, type ToolOutput } from './journal/call'
import type { Journal } from './journal/journal'
import { PartEnds } from './journal/part-ends'
import { finalCode } from './journaled'
import { grantOf } from './limits'
import { failure, type RunningTurn, type ToolResult, type TurnRequest } from './turn-types'

interface HandOver {
  /** As it is now. */
  agent: LoadedAgent
  input: JsonObject
  /** What people decided about it, if they were asked. */
  decision?: CallDecision | undefined
}

/**
 * The other agent takes its own turn without the history: it sees only the message it was handed. Its calls are recorded
 * as those of this turn are, and it may ask people as well.
 * @returns null if people are asked first
 */
export async function handOver(
  ctx: ServiceContext,
  { agent: current, input, decision }: HandOver,
  { agent: from, userMessage }: TurnRequest,
  options: RunningTurn & { seq: number },
): Promise<ToolResult | null> {
  const { message } = input
  if (typeof message !== 'string' || message.trim() === '') return failure('INVALID_INPUT', 'message is required')
  const { listener, seq, depth, budget } = options
  const agent = await agentOf(ctx, current, options)
  listener?.onHandOff({ from: from.id, to: agent.id, message })
  const journal = options.journal.handOver(seq, agent, { message, ...(decision ? { decision } : {}) })
  if (journal.hasFailed) {
    recallHandOver(agent, options.journal, seq, budget)
    return mismatch()
  }
  const structured = agent.config.outputSchema !== null
  const request = { agent, history: [], userMessage: { ...userMessage, message }, structured }
  try {
    const answer = await options.runTurn(ctx, request, { ...options, depth: depth + 1, journal })
    await journal.done()
    if (answer.data) return { success: true, data: { data: answer.data } }
    const { finishReason } = answer.metadata
    return { success: true, data: { message: answer.text, ...(finishReason ? { finishReason } : {}) } }
  } catch (err) {
    if (err instanceof PartEnds && err.questions) {
      options.journal.ask(...err.questions)
      return null
    }
    const code = finalCode(err)
    if (code !== null) await journal.fail(code)
    if (code !== 'OUTPUT_SCHEMA_MISMATCH') throw err
    return mismatch()
  }
}

/** The version with which the agent began, for the whole turn. */
async function agentOf(
  ctx: ServiceContext,
  agent: LoadedAgent,
  { journal, seq }: RunningTurn & { seq: number },
): Promise<LoadedAgent> {
  const before = journal.handedOver(seq)?.turn
  if (!before?.tools || before.version === agent.version) return agent
  return loadAgent(ctx, agent.id, before.version)
}

const mismatch = () => failure('OUTPUT_SCHEMA_MISMATCH', ERRORS.OUTPUT_SCHEMA_MISMATCH.message)

/** Counts what an agent, and those below it, have used for a call whose result is known: they take no turn again. */
export function recallHandOver(agent: LoadedAgent, journal: Journal, seq: number, budget: Budget): void {
  const isShown = agent.config.model.prices !== undefined
  for (const { agentId, call, answered } of journal.callsBelow(seq)) {
    if (call.kind === 'tool') {
      budget.take()
      budget.called.push({ toolId: call.name, success: succeeded(call.output as unknown as ToolOutput) })
      continue
    }
    if (answered?.limit) grantOf(answered, agentId, budget)
    budget.spendOn(answerIn(call), isShown)
  }
}
