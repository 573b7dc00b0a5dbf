import type { ModelMessage } from 'ai'
import type { ServiceContext } from '../context'
import type { TurnMetadata } from '../definition/agent'
import { isJsonObject, type JsonObject, toStorableJson } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { callModel, type ModelAnswer, type ToolRequest } from '../models/call'
import { ModelFailure } from '../models/failure'
import { type OpenModel, openModel } from '../models/registry'
import { Budget } from './budget'
import type { ReplyMessage } from './messages'
import { checkOutput } from './output-schema'
import { systemPrompt, userParts } from './prompt'
import { runToolCalls } from './tool-calls'
import { type AgentTool, openToolset } from './toolset'
import type { RunningTurn, TurnOptions, TurnRequest, TurnResult } from './turn-types'

/** After this many rounds of tool calls, the model must answer. */
const MAX_ROUNDS = 10
const MAX_CALLS_PER_ROUND = 16
const MAX_ANSWER = 1_000_000

/**
 * Answers one message: rounds of tool calls, then an answer. Saves nothing.
 * @throws ModelFailure, AppError OUTPUT_SCHEMA_MISMATCH, the signal's reason
 */
export async function runTurn(ctx: ServiceContext, request: TurnRequest, options: TurnOptions): Promise<TurnResult> {
  const { config } = request.agent
  const budget = options.budget ?? new Budget()
  const depth = options.depth ?? 0
  const open = await openModel(ctx, config.model)
  const { tools, warnings } = await openToolset(ctx, request.agent, { mayHandOff: depth < Budget.maxDepth })
  const turn = new Turn(ctx, request, { ...options, budget, depth, runTurn }, open, tools)
  const answered = await turn.run()
  const { data, text, repaired } = request.structured
    ? await turn.structured(answered)
    : { data: null, text: answered.text, repaired: false }
  if (text === '') throw new ModelFailure(open.provider, 'gave an empty answer')
  const metadata: TurnMetadata = {
    provider: open.provider,
    modelId: open.modelId,
    version: request.agent.version,
    ...(request.agent.draft ? { draft: true as const } : {}),
    usage: budget.usage,
    ...(budget.cost === null ? {} : { cost: Number(budget.cost.toPrecision(12)) }),
    rounds: turn.rounds,
    toolCalls: turn.toolCalls,
    ...(repaired ? { repaired } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
  return { text, data, replies: [...turn.replies, { role: 'assistant', content: [{ type: 'text', text }] }], metadata }
}

class Turn {
  readonly replies: ReplyMessage[] = []
  rounds = 0
  toolCalls = 0
  private readonly outputSchema: JsonObject | null

  constructor(
    private readonly ctx: ServiceContext,
    private readonly request: TurnRequest,
    private readonly options: RunningTurn,
    private readonly open: OpenModel,
    private readonly tools: Map<string, AgentTool>,
  ) {
    this.outputSchema = request.structured ? request.agent.config.outputSchema : null
  }

  /** Runs rounds until the model gives its final answer. */
  async run(): Promise<ModelAnswer> {
    for (;;) {
      const mayCallTools = this.tools.size > 0 && this.rounds < MAX_ROUNDS
      const answer = await this.ask([], mayCallTools)
      if (!mayCallTools || answer.toolCalls.length === 0) return answer
      this.rounds += 1
      const unique = new Map(answer.toolCalls.map((call) => [call.toolCallId, call]))
      const calls = [...unique.values()].slice(0, MAX_CALLS_PER_ROUND).map(readable)
      this.toolCalls += calls.length
      this.replies.push(withCalls(answer, calls))
      this.replies.push(await runToolCalls(this.ctx, calls, this.tools, this.request, this.options))
    }
  }

  /** The answer as data. If it does not match, the model gets one chance to correct it. */
  async structured(first: ModelAnswer): Promise<{ data: JsonObject; text: string; repaired: boolean }> {
    const read = this.read(first.text)
    if (read.data) return { data: read.data, text: JSON.stringify(read.data), repaired: false }
    const second = await this.ask(
      [
        { role: 'assistant', content: [{ type: 'text', text: first.text === '' ? '(no answer)' : first.text }] },
        { role: 'user', content: repairRequest(read.details) },
      ],
      false,
    )
    const again = this.read(second.text)
    if (again.data) return { data: again.data, text: JSON.stringify(again.data), repaired: true }
    throw new AppError('OUTPUT_SCHEMA_MISMATCH', { details: again.details })
  }

  private async ask(more: ModelMessage[], mayCallTools: boolean): Promise<ModelAnswer> {
    const { history, userMessage, agent } = this.request
    const { listener, signal, deadline } = this.options
    const answer = await callModel(
      this.open,
      {
        system: systemPrompt(agent.config, this.ctx.trusted, this.outputSchema),
        messages: [...history, { role: 'user', content: userParts(userMessage) }, ...this.replies, ...more],
        tools: [...this.tools.values()],
        mayCallTools,
        outputSchema: this.outputSchema,
        // Only the first agent's text goes to the listener; a handoff's answer goes to the agent that asked for it.
        onText: this.options.depth === 0 && !this.request.structured ? listener?.onText : undefined,
      },
      { signal, deadline },
    )
    this.options.budget.spend(answer.usage, agent.config.model.prices)
    return answer
  }

  private read(text: string): { data: JsonObject | null; details: ErrorDetail[] } {
    const value = parseAnswer(text)
    if (value === undefined) return { data: null, details: [{ path: 'data', message: 'is not JSON' }] }
    if (!isJsonObject(value)) return { data: null, details: [{ path: 'data', message: 'must be object' }] }
    const details = checkOutput(this.outputSchema ?? {}, value)
    return details.length === 0 ? { data: value, details } : { data: null, details }
  }
}

/** Parses JSON, with or without a code fence; undefined when there is none. */
function parseAnswer(text: string): unknown {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(text)
  const json = fenced?.[1] ?? text
  if (json.length > MAX_ANSWER) return undefined
  try {
    return toStorableJson(JSON.parse(json))
  } catch {
    return undefined
  }
}

function repairRequest(details: ErrorDetail[]): string {
  const faults = details.map(({ path, message }) => `- ${path}: ${message}`)
  return `Your answer ("data") does not match the JSON Schema:\n${faults.join('\n')}\nGive the corrected JSON object and nothing else.`
}

/** Makes arguments storable; a call whose arguments cannot be stored is not made. */
function readable(call: ToolRequest): ToolRequest {
  try {
    return { ...call, input: toStorableJson(call.input) }
  } catch {
    return { ...call, input: null }
  }
}

/** The model's message with only those calls that get a result. */
function withCalls({ message, text }: ModelAnswer, calls: ToolRequest[]): ReplyMessage {
  if (typeof message.content === 'string') return { role: 'assistant', content: [{ type: 'text', text }] }
  const answered = new Map(calls.map((call) => [call.toolCallId, call]))
  const content: typeof message.content = []
  for (const part of message.content) {
    if (part.type === 'tool-call') {
      const call = answered.get(part.toolCallId)
      if (call) content.push({ ...part, input: call.input ?? {} })
      answered.delete(part.toolCallId)
    } else if (part.type === 'text' || part.type === 'reasoning') content.push(part)
  }
  return { ...message, content }
}
