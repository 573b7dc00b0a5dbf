import type { ToolModelMessage } from 'ai'
import { isUnavailable } from '@/db/deadline'
import type { ServiceContext } from '../context'
import type { CallDecision, CallPolicy } from '../definition/approval'
import { cutText, isJsonObject, type JsonObject, toStorableJson } from '../definition/json'
import { AppError, Stopping } from '../errors'
import type { ToolRequest } from '../models/call'
import { runTool } from '../tools/run'
import { ownArguments, withheld } from './approval'
import { decisionOf, refusalOf } from './decision'
import { handOver, recallHandOver } from './hand-over'
import { type Said, succeeded, type ToolOutput } from './journal/call'
import { questionAbout } from './question'
import { maskerOfRuns } from './thread-masker'
import type { AgentTool } from './toolset'
import { failure, type RunningTurn, type ToolResult, type TurnRequest } from './turn-types'

const MAX_NAME = 200
const MAX_ARGS = 256 * 1024
const MAX_RESULT = 100_000
const AT_ONCE = 4
/** In place of the result of a call that waits for a decision: the turn ends before anybody reads it. */
const WAITS: ToolOutput = { type: 'text', value: '' }

/**
 * Runs the model's tool calls and returns their results. A failed call is a result too; only the end of the turn
 * throws.
 */
export async function runToolCalls(
  ctx: ServiceContext,
  { calls, policy }: Pick<Said, 'calls' | 'policy'>,
  tools: Map<string, AgentTool>,
  request: TurnRequest,
  options: RunningTurn,
): Promise<ToolModelMessage> {
  const results: ToolOutput[] = []
  const queue = calls.entries()
  const work = async () => {
    for (const [index, call] of queue)
      results[index] = await runOne(
        ctx,
        { ...call, policy: policy === null ? 'run' : (policy[index] ?? 'refuse') },
        options.journal.numberOf(index),
        tools,
        request,
        options,
      )
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, calls.length) }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  await options.journal.requireDecisions()
  return {
    role: 'tool',
    content: calls.map(({ toolCallId, toolName }, index) => ({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: results[index] ?? toOutput(failure('INTERNAL', 'The tool was not run.')),
    })),
  }
}

type Called = ToolRequest & { policy: CallPolicy }

async function runOne(
  ctx: ServiceContext,
  call: Called,
  seq: number,
  tools: Map<string, AgentTool>,
  request: TurnRequest,
  options: RunningTurn,
): Promise<ToolOutput> {
  const { listener, signal, budget, journal } = options
  const { toolCallId, toolName, input } = call
  signal.throwIfAborted()
  const name = toStorableJson(cutText(toolName, MAX_NAME))
  const tool = tools.get(toolName)
  const known = journal.resultOf(seq)
  if (known) {
    if (tool) budget.take()
    if (tool?.kind === 'handoff') recallHandOver(tool.agent, journal, seq, budget)
    budget.called.push({ toolId: name, success: succeeded(known) })
    return known
  }
  await journal.mayBegin()
  const startedAt = journal.handedOver(seq)?.turn.startedAt.toISOString() ?? journal.now()
  const event = { toolCallId, name, agentId: request.agent.id }
  listener?.onToolCall({ ...event, args: toStorableJson(input) })
  const ended = await decideAndRun(ctx, call, seq, tool, request, options)
  if (!ended) return WAITS
  const { result, decision = null, isOutside } = ended
  budget.called.push({ toolId: name, success: result.success })
  listener?.onToolResult({ ...event, ...result })
  const output = toOutput(result)
  const errorCode = result.success ? null : result.error.code
  journal.addResult({ seq, name, startedAt, errorCode }, output, decision)
  // The results of others can be computed again, so they are recorded with the next one.
  if (isOutside || decision) await journal.record()
  return output
}

interface Ended {
  result: ToolResult
  decision?: CallDecision
  /** Whether the call may have reached something outside. */
  isOutside?: boolean
}

/** Runs a call, unless that is not possible or people refused it. Null if people are asked first. */
async function decideAndRun(
  ctx: ServiceContext,
  { toolName, input, policy }: Called,
  seq: number,
  tool: AgentTool | undefined,
  request: TurnRequest,
  options: RunningTurn,
): Promise<Ended | null> {
  const { budget, journal } = options
  if (!tool)
    return { result: failure('TOOL_NOT_FOUND', `There is no tool ${toStorableJson(cutText(toolName, MAX_NAME))}.`) }
  if (!budget.take()) return { result: failure('TOO_MANY_CALLS', 'No more tools can be called for this message.') }
  if (!isJsonObject(input)) return { result: failure('INVALID_INPUT', 'The arguments must be a JSON object.') }
  if (JSON.stringify(input).length > MAX_ARGS)
    return { result: failure('INVALID_INPUT', 'The arguments are too large.') }
  const args = ownArguments(tool, input)
  const call = async (args: JsonObject, decision?: CallDecision): Promise<Ended | null> => {
    if (tool.kind === 'tool')
      return { result: await callTool(ctx, tool, args, request, { ...options, seq }), isOutside: !tool.computes }
    const result = await handOver(ctx, { agent: tool.agent, input: args, decision }, request, { ...options, seq })
    return result && { result }
  }
  const run = (args: JsonObject, decision?: CallDecision) => journal.traced(seq, () => call(args, decision))
  const decided = async (decision: CallDecision) => {
    const given = { ...args, ...decision.args }
    const ended = await run(given, decision)
    return ended && { ...ended, decision, result: decision.args ? withNote(ended.result, given) : ended.result }
  }
  const answered = journal.answerTo(seq)
  // The approved call has begun, perhaps in a run that this one retries.
  const before = answered ? undefined : journal.handedOver(seq)?.turn.handed?.decision
  if (before) return decided(before)
  if (typeof policy === 'string' || (!answered && !journal.mayAsk)) {
    const refused = withheld(policy, tool, input)
    return refused ? { result: refused } : run(args)
  }
  if (!answered) {
    journal.ask(questionAbout(journal.idOf(seq), tool, args, policy.ask, await maskerOfRuns(ctx, journal.runIds)))
    return null
  }
  const decision = decisionOf(policy.ask, answered, args)
  return decision.approved ? decided(decision) : { result: failure('REJECTED', refusalOf(decision)), decision }
}

/** Otherwise a model makes the call again, because it was made with other arguments than it gave. */
function withNote(result: ToolResult, args: JsonObject): ToolResult {
  if (!result.success) return result
  const note = 'A person changed the arguments of this call before it was made.'
  return { success: true, data: { note, arguments: args, result: result.data } }
}

async function callTool(
  ctx: ServiceContext,
  { title, toolId, version }: AgentTool & { kind: 'tool' },
  args: JsonObject,
  { userMessage }: TurnRequest,
  { signal, log, journal, seq }: RunningTurn & { seq: number },
): Promise<ToolResult> {
  // An Idempotency-Key does not replay a tool's own transactions.
  const { keyed: _keyed, ...own } = ctx
  try {
    const called = { toolId, version, args, dataContext: userMessage.dataContext }
    const outcome = await runTool(own, called, {
      signal,
      idempotencyKey: journal.keyOf(seq),
      log: log && ((line) => log({ ...line, tool: title })),
    })
    signal.throwIfAborted()
    if (!outcome.success) {
      const { code, message, details } = outcome.error
      return failure(code, [message, ...details].join('\n'))
    }
    return { success: true, data: outcome.data }
  } catch (err) {
    signal.throwIfAborted()
    // No result of the call: the next attempt makes it again.
    if (err instanceof Stopping || isUnavailable(err)) throw err
    if (!(err instanceof AppError)) {
      ctx.log.error({ err, toolId }, 'a tool failed unexpectedly')
      return failure('INTERNAL', 'The tool failed.')
    }
    const problems = err.details.slice(0, 10).map(({ path, message }) => (path ? `${path}: ${message}` : message))
    return failure(err.code, [err.message, ...problems].join('\n'))
  }
}

function toOutput(result: ToolResult): ToolOutput {
  if (!result.success) {
    return { type: 'error-text' as const, value: `${result.error.code}: ${result.error.message}`.slice(0, MAX_RESULT) }
  }
  const text = JSON.stringify(result.data)
  if (text.length <= MAX_RESULT) return { type: 'json' as const, value: result.data }
  return {
    type: 'text' as const,
    value: `${text.slice(0, MAX_RESULT)}\n(cut: the result has ${text.length} characters)`,
  }
}
