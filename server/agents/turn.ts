import type { ModelMessage } from 'ai'
import type { ServiceContext } from '../context'
import type { TurnMetadata } from '../definition/agent'
import { type JsonObject, toStorableJson } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { type AnswerEnd, oddEnd, whyNotWhole } from '../models/answer-end'
import { callModel, type ModelAnswer, type ToolRequest } from '../models/call'
import { type OpenModel, openModel } from '../models/registry'
import { requireWhole } from '../models/whole-answer'
import { Budget, costOf } from './budget'
import { namingFiles, withFiles } from './file-bytes'
import type { Said } from './journal/call'
import { Journal } from './journal/journal'
import type { ReplyMessage } from './messages'
import { asModelsKnowIt } from './model-history'
import { systemPrompt, userParts } from './prompt'
import { MAX_ANSWER, readAnswer } from './read-answer'
import { runToolCalls } from './tool-calls'
import { type AgentTool, calledId, nameOf, openToolset, versionsOf } from './toolset'
import type { RunningTurn, TurnOptions, TurnRequest, TurnResult } from './turn-types'

/** After this many rounds of tool calls, the model must answer. */
const MAX_ROUNDS = 10
const MAX_CALLS_PER_ROUND = 16

/**
 * Answers one message: rounds of tool calls, then an answer. Saves only its calls, in its journal.
 * @throws ModelFailure, AppError OUTPUT_SCHEMA_MISMATCH, the signal's reason
 */
export async function runTurn(ctx: ServiceContext, request: TurnRequest, options: TurnOptions): Promise<TurnResult> {
  const { config } = request.agent
  const budget = options.budget ?? new Budget()
  const depth = options.depth ?? 0
  const journal = options.journal ?? new Journal()
  const open = await openModel(ctx, config.model)
  const { versions } = journal
  const { tools, warnings } = await openToolset(ctx, request.agent, { mayHandOff: depth < Budget.maxDepth, versions })
  journal.keepVersions(versions ?? versionsOf(tools))
  const turn = new Turn(ctx, request, { ...options, budget, depth, journal, runTurn }, open, tools)
  if (depth === 0) budget.soFar = () => turn.metadata
  const answered = await turn.run()
  const { data, text, repaired, end } = request.structured ? await turn.structured(answered) : turn.spoken(answered)
  const cut = request.structured ? null : whyNotWhole(end, config.model.settings.maxOutputTokens)
  if (cut !== null) warnings.push(`The answer ${cut}.`)
  const metadata: TurnMetadata = {
    ...turn.metadata,
    ...(repaired ? { repaired } : {}),
    ...oddEnd(end),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
  return { text, data, replies: [...turn.replies, { role: 'assistant', content: [{ type: 'text', text }] }], metadata }
}

interface Final {
  data: JsonObject | null
  text: string
  repaired: boolean
  end: AnswerEnd
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

  /** Its usage so far. */
  get metadata(): TurnMetadata {
    const { open, options, request } = this
    return {
      provider: open.provider,
      modelId: open.modelId,
      version: request.agent.version,
      ...(request.agent.draft ? { draft: true as const } : {}),
      ...options.budget.spent,
      rounds: this.rounds,
      toolCalls: this.toolCalls,
    }
  }

  /** Runs rounds until the model gives its final answer. */
  async run(): Promise<Said> {
    for (;;) {
      const mayCallTools = this.tools.size > 0 && this.rounds < MAX_ROUNDS
      const answer = await this.ask([], mayCallTools)
      const { calls, message } = answer
      if (!message) return answer
      // The arguments decide what the tools do, and another answer might have others.
      await this.options.journal.record()
      this.rounds += 1
      this.toolCalls += calls.length
      this.replies.push(message)
      this.replies.push(await runToolCalls(this.ctx, calls, this.tools, this.request, this.options))
    }
  }

  /** The answer as text. */
  spoken({ text, end }: Said): Final {
    if (text.trim() === '') this.refuse(end, 'gave an empty answer')
    return { data: null, text, repaired: false, end }
  }

  /** The answer as data. If it does not match, the model gets one chance to correct it. */
  async structured(first: Said): Promise<Final> {
    const schema = this.outputSchema ?? {}
    const read = readAnswer(first.text, schema)
    if (read.data) return { data: read.data, text: JSON.stringify(read.data), repaired: false, end: first.end }
    // The model would end another attempt in the same way, at the same price.
    this.refuse(first.end)
    if (first.text.length > MAX_ANSWER) throw new AppError('OUTPUT_SCHEMA_MISMATCH', { details: read.details })
    await this.options.journal.record()
    const second = await this.ask(
      [
        { role: 'assistant', content: [{ type: 'text', text: first.text.trim() === '' ? '(no answer)' : first.text }] },
        { role: 'user', content: repairRequest(read.details) },
      ],
      false,
    )
    const again = readAnswer(second.text, schema)
    if (again.data) return { data: again.data, text: JSON.stringify(again.data), repaired: true, end: second.end }
    this.refuse(second.end)
    throw new AppError('OUTPUT_SCHEMA_MISMATCH', { details: again.details })
  }

  /** @throws ModelFailure if the answer is incomplete, otherwise for the given problem, if any */
  private refuse(end: AnswerEnd, problem: string | null = null): void {
    const { maxOutputTokens } = this.request.agent.config.model.settings
    requireWhole(this.open.provider, end, { maxOutputTokens, problem })
  }

  /** Names the tool by its id and makes arguments storable; a call with arguments that cannot be stored is not made. */
  private readable(call: ToolRequest): ToolRequest {
    const toolName = calledId(this.tools, call.toolName)
    try {
      return { ...call, toolName, input: toStorableJson(call.input) }
    } catch {
      return { ...call, toolName, input: null }
    }
  }

  /** The next answer, which the journal may have. */
  private async ask(more: ModelMessage[], mayCallTools: boolean): Promise<Said> {
    const { prices } = this.request.agent.config.model
    const { journal, budget } = this.options
    const said = await journal.answer(
      this.open.modelId,
      (usage) => (prices ? costOf(usage, prices) : null),
      async () => this.saidIn(await this.call(more, mayCallTools), mayCallTools),
    )
    budget.spend(said.usage, prices)
    return said
  }

  private saidIn(answer: ModelAnswer, mayCallTools: boolean): Said {
    const { text, end, usage, toolCalls } = answer
    const made = mayCallTools ? toolCalls.slice(0, MAX_CALLS_PER_ROUND) : []
    const calls = made.map((call) => this.readable(call))
    return { text, end, usage, calls, message: calls.length > 0 ? withCalls(answer, calls) : null }
  }

  private async call(more: ModelMessage[], mayCallTools: boolean): Promise<ModelAnswer> {
    const { history, userMessage, agent } = this.request
    const { listener, signal, deadline } = this.options
    const conversation = asModelsKnowIt(
      [...history, { role: 'user', content: userParts(userMessage) }, ...this.replies, ...more],
      (id) => nameOf(this.tools, id),
    )
    const { files: current } = userMessage
    const { messages, release } = await withFiles(this.ctx, conversation, { current, signal, deadline })
    return callModel(
      this.open,
      {
        system: systemPrompt(agent.config, this.ctx.trusted, this.outputSchema),
        messages,
        tools: [...this.tools.values()],
        mayCallTools,
        outputSchema: this.outputSchema,
        // Only the first agent's text goes to the listener; a handoff's answer goes to the agent that asked for it.
        onText: this.options.depth === 0 && !this.request.structured ? listener?.onText : undefined,
      },
      { signal, deadline },
    )
      .catch((err: unknown) => {
        throw namingFiles(err, current)
      })
      .finally(release)
  }
}

function repairRequest(details: ErrorDetail[]): string {
  const faults = details.map(({ path, message }) => `- ${path}: ${message}`)
  return `Your answer ("data") does not match the JSON Schema:\n${faults.join('\n')}\nGive the corrected JSON object and nothing else.`
}

/** The model's message with only the calls that get a result. */
function withCalls({ message, text }: ModelAnswer, calls: ToolRequest[]): ReplyMessage {
  if (typeof message.content === 'string') return { role: 'assistant', content: [{ type: 'text', text }] }
  const answered = new Map(calls.map((call) => [call.toolCallId, call]))
  const content: typeof message.content = []
  for (const part of message.content) {
    if (part.type === 'tool-call') {
      const call = answered.get(part.toolCallId)
      if (call) content.push({ ...part, toolName: call.toolName, input: call.input ?? {} })
      answered.delete(part.toolCallId)
    } else if (part.type === 'reasoning' || (part.type === 'text' && part.text.trim() !== '')) content.push(part)
  }
  return { ...message, content }
}
