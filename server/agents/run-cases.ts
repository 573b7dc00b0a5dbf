import type { ModelMessage } from 'ai'
import { Deadline } from '@/lib/deadline'
import { authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { Usage } from '../definition/agent'
import { isJsonObject, type JsonValue } from '../definition/json'
import type { AgentCase } from '../definition/test-case'
import { env } from '../env'
import { AppError } from '../errors'
import { addUsage, NO_USAGE } from '../models/call'
import { ModelFailure } from '../models/failure'
import { parseInput } from '../parse'
import { messageWithDetails } from '../tools/schema'
import type { One } from '../versioned/noun'
import { type CaseResult, type RanCase, RunCases, runCases } from '../versioned/run-cases'
import { Budget } from './budget'
import { toAppError } from './failed-turn'
import type { LoadedAgent } from './find'
import { loadDraft } from './load-draft'
import { AGENT } from './noun'
import { userParts } from './prompt'
import { agentMasks } from './test-cases'
import { runTurn } from './turn'

const AT_ONCE = 3
/** For all cases together. */
const LIMIT_MS = 240_000
/** For all cases together: beyond it, no further message is sent. */
const MAX_TOKENS = 200_000

/**
 * Runs test cases of an agent as it is being edited, saved or not. Models and tools are called for real; no thread is
 * stored.
 * @param input.body `draft` has the body of an update, `only` the ids of the cases to run
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, INVALID_INPUT
 */
export async function runAgentCases(
  ctx: ServiceContext,
  { id, body }: One & { body: unknown },
  signal: AbortSignal,
): Promise<{ results: CaseResult[] }> {
  authorize(ctx, 'agent:invoke')
  const given = isJsonObject(body) ? body : {}
  const { only } = parseInput(RunCases, given)
  const agent = await loadDraft(ctx, id, given.draft)
  const all = new Spent()
  const run = (said: AgentCase, until: AbortSignal) => talk(beyondReach(ctx), agent, said, all, until)
  const masksOf = await agentMasks(ctx, id)
  // Texts about a case other than its differences do not come from the thread.
  const masks: typeof masksOf = (vault, row) => ({ ...masksOf(vault, row), json: vault.json })
  return runCases(ctx, AGENT, id, { only, atOnce: AT_ONCE, limitMs: LIMIT_MS, run, masks }, signal)
}

/** The usage of model calls so far. */
class Spent {
  usage: Usage = NO_USAGE
  cost: number | null = null

  add({ usage, cost }: Pick<Budget, 'usage' | 'cost'>): void {
    this.usage = addUsage(this.usage, usage)
    if (cost !== null) this.cost = (this.cost ?? 0) + cost
  }
}

/** One conversation, in which the agent answers the messages one by one. */
async function talk(
  ctx: ServiceContext,
  agent: LoadedAgent,
  { messages }: AgentCase,
  all: Spent,
  signal: AbortSignal,
): Promise<RanCase> {
  const { outputSchema, supervisor, model } = agent.config
  const structured = outputSchema !== null && !supervisor
  const limitMs = env().AGENT_TIMEOUT_MS
  const limit = new Deadline(signal, limitMs, () => new DOMException('The case took too long', 'TimeoutError'))
  const deadline = performance.now() + limitMs
  const own = new Spent()
  const history: ModelMessage[] = []
  let data: JsonValue = null
  try {
    for (const userMessage of messages) {
      if (all.usage.totalTokens >= MAX_TOKENS)
        return { ended: { notRun: `All test cases together have used ${MAX_TOKENS} tokens.` }, ...own }
      const budget = new Budget()
      try {
        const request = { agent, history: [...history], userMessage, structured }
        const turn = await runTurn(ctx, request, { signal: limit.signal, deadline, budget })
        data = structured ? turn.data : turn.text
        history.push({ role: 'user', content: userParts(userMessage) }, ...turn.replies)
      } finally {
        own.add(budget)
        all.add(budget)
      }
    }
    return { ended: { data }, ...own }
  } catch (thrown) {
    // The time of all cases is over, or nobody is waiting for them.
    if (signal.aborted) throw thrown
    const tooLate = `and the agent's tools did not finish within ${limitMs} ms`
    const err = toAppError(limit.late ? new ModelFailure(model.provider, tooLate, { transient: true }) : thrown)
    if (!(err instanceof AppError) || err.code === 'UNAVAILABLE') throw err
    return { ended: { failed: { code: err.code, message: messageWithDetails(err) } }, ...own }
  } finally {
    limit.release()
  }
}
