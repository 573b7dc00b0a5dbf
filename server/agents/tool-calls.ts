import type { ToolModelMessage } from 'ai'
import { isUnavailable } from '@/db/deadline'
import type { ServiceContext } from '../context'
import type { CallPolicy } from '../definition/approval'
import { cutText, isJsonObject, type JsonObject, toStorableJson } from '../definition/json'
import { AppError, Stopping } from '../errors'
import type { ToolRequest } from '../models/call'
import { withOwnNames } from '../tools/acceptable-schema'
import { runTool } from '../tools/run'
import { withheld } from './approval'
import type { LoadedAgent } from './find'
import { type Said, succeeded, type ToolOutput } from './journal/call'
import type { AgentTool } from './toolset'
import type { RunningTurn, ToolResult, TurnRequest } from './turn-types'

const MAX_NAME = 200
const MAX_ARGS = 256 * 1024
const MAX_RESULT = 100_000
const AT_ONCE = 4

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

async function runOne(
  ctx: ServiceContext,
  { toolCallId, toolName, input, policy }: ToolRequest & { policy: CallPolicy },
  seq: number,
  tools: Map<string, AgentTool>,
  request: TurnRequest,
  options: RunningTurn,
): Promise<ToolOutput> {
  const { listener, signal, budget, journal } = options
  signal.throwIfAborted()
  const name = toStorableJson(cutText(toolName, MAX_NAME))
  const tool = tools.get(toolName)
  const known = journal.resultOf(seq)
  if (known) {
    if (tool) budget.take()
    budget.called.push({ toolId: name, success: succeeded(known) })
    return known
  }
  await journal.mayBegin()
  const startedAt = journal.now()
  const event = { toolCallId, name, agentId: request.agent.id }
  listener?.onToolCall({ ...event, args: toStorableJson(input) })
  const refused = tool && isJsonObject(input) ? withheld(policy, tool, input) : null
  let result: ToolResult
  if (!tool) result = failure('TOOL_NOT_FOUND', `There is no tool ${name}.`)
  else if (!budget.take()) result = failure('TOO_MANY_CALLS', 'No more tools can be called for this message.')
  else if (!isJsonObject(input)) result = failure('INVALID_INPUT', 'The arguments must be a JSON object.')
  else if (JSON.stringify(input).length > MAX_ARGS) result = failure('INVALID_INPUT', 'The arguments are too large.')
  else if (refused) result = refused
  else if (tool.kind === 'handoff') result = await handOff(ctx, tool.agent, input, request, options)
  else result = await callTool(ctx, tool, input, request, { ...options, seq })
  budget.called.push({ toolId: name, success: result.success })
  listener?.onToolResult({ ...event, ...result })
  const output = toOutput(result)
  journal.addResult(seq, name, startedAt, output)
  // The results of others can be computed again, so they are recorded with the next one.
  if (tool?.kind === 'tool' && !tool.computes && !refused) await journal.record()
  return output
}

async function callTool(
  ctx: ServiceContext,
  { title, toolId, version, names }: AgentTool & { kind: 'tool' },
  args: JsonObject,
  { userMessage }: TurnRequest,
  { signal, log, keys, journal, seq }: RunningTurn & { seq: number },
): Promise<ToolResult> {
  // An Idempotency-Key does not replay a tool's own transactions.
  const { keyed: _keyed, ...own } = ctx
  try {
    const called = { toolId, version, args: withOwnNames(args, names), dataContext: userMessage.dataContext }
    const outcome = await runTool(own, called, {
      signal,
      idempotencyKey: journal.keyOf(seq) ?? keys?.next([toolId, args]),
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

/** The other agent takes its own turn without the history: it sees only the message it was handed. */
async function handOff(
  ctx: ServiceContext,
  agent: LoadedAgent,
  input: JsonObject,
  { agent: from, userMessage }: TurnRequest,
  options: RunningTurn,
): Promise<ToolResult> {
  const { message } = input
  if (typeof message !== 'string' || message.trim() === '') return failure('INVALID_INPUT', 'message is required')
  options.listener?.onHandOff({ from: from.id, to: agent.id, message })
  const { outputSchema } = agent.config
  try {
    const answer = await options.runTurn(
      ctx,
      {
        agent,
        history: [],
        userMessage: { ...userMessage, message },
        structured: outputSchema !== null,
      },
      { ...options, depth: options.depth + 1, journal: undefined },
    )
    if (answer.data) return { success: true, data: { data: answer.data } }
    const { finishReason } = answer.metadata
    return { success: true, data: { message: answer.text, ...(finishReason ? { finishReason } : {}) } }
  } catch (err) {
    if (err instanceof AppError && err.code === 'OUTPUT_SCHEMA_MISMATCH') return failure(err.code, err.message)
    throw err
  }
}

function failure(code: string, message: string): ToolResult {
  return { success: false, error: { code, message } }
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
