import type { ModelMessage } from 'ai'
import { Deadline } from '@/lib/deadline'
import type { ServiceContext } from '../context'
import type { TurnMetadata } from '../definition/agent'
import { type JsonObject, toStorableJson } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { type AnswerEnd, isRefusal, oddEnd, whyNotWhole } from '../models/answer-end'
import { callModel, type ModelAnswer, type ToolRequest } from '../models/call'
import { ModelFailure } from '../models/failure'
import { type Author, type Models, openModels } from '../models/fallback'
import { requireWhole } from '../models/whole-answer'
import { mayAsk, policiesOf, withoutReason } from './approval'
import { Budget } from './budget'
import { namingFiles, withFiles } from './file-bytes'
import type { Said } from './journal/call'
import { Journal } from './journal/journal'
import { questionAt } from './limit-question'
import { type Limits, openLimits } from './limits'
import type { ReplyMessage } from './messages'
import { asModelsKnowIt, readableFor } from './model-history'
import { systemPrompt, userParts } from './prompt'
import { MAX_ANSWER, readAnswer } from './read-answer'
import { runToolCalls } from './tool-calls'
import { type AgentTool, calledId, nameOf, openToolset, versionsOf } from './toolset'
import { inTime, type TimeLimits } from './turn-time'
import type { RunningTurn, TurnOptions, TurnRequest, TurnResult } from './turn-types'
import { countUsage } from './usage'

/** After this many rounds of tool calls, the model must answer. */
const MAX_ROUNDS = 10
const MAX_CALLS_PER_ROUND = 16

/**
 * Answers one message: rounds of tool calls, then an answer. Saves only its calls, in its journal.
 * @throws ModelFailure, AppError OUTPUT_SCHEMA_MISMATCH, the signal's reason
 */
export async function runTurn(ctx: ServiceContext, request: TurnRequest, options: TurnOptions): Promise<TurnResult> {
  const budget = options.budget ?? new Budget()
  const depth = options.depth ?? 0
  const journal = options.journal ?? new Journal()
  const models = await openModels(ctx, request.agent.config)
  const limits = await openLimits(ctx, request.agent, journal)
  journal.onSpent = (sums) => limits.note(sums)
  journal.onNext = (answered) => limits.begin(answered, budget)
  if (depth === 0) budget.most = limits.most('calls', budget.most)
  const { versions } = journal
  const { tools, warnings } = await openToolset(ctx, request.agent, { mayHandOff: depth < Budget.maxDepth, versions })
  journal.keepVersions(versions ?? versionsOf(tools))
  const turn = new Turn(ctx, request, { ...options, budget, depth, journal, runTurn }, models, limits, tools)
  if (depth === 0) budget.soFar = () => turn.metadata
  const answered = await turn.run()
  const { data, text, repaired, end } = request.structured ? await turn.structured(answered) : turn.spoken(answered)
  const cut = request.structured ? null : whyNotWhole(end, models.config.settings.maxOutputTokens)
  if (cut !== null) warnings.push(`The answer ${cut}.`)
  for (const name of budget.unpriced)
    if (limits.ofCost || models.wantsListPrice(name)) warnings.push(`The price of ${name} is not known.`)
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
  /** The models that gave the replies with calls. */
  private readonly authors = new Map<ModelMessage, Author>()
  /** Whether text of an answer that has not ended was passed on. */
  private spoke = false
  rounds = 0
  toolCalls = 0
  private readonly outputSchema: JsonObject | null

  constructor(
    private readonly ctx: ServiceContext,
    private readonly request: TurnRequest,
    private readonly options: RunningTurn,
    private readonly models: Models,
    private readonly allowed: Limits,
    private readonly tools: Map<string, AgentTool>,
  ) {
    this.outputSchema = request.structured ? request.agent.config.outputSchema : null
  }

  /** Its usage so far. */
  get metadata(): TurnMetadata {
    const { models, options, request } = this
    const { provider, modelId, fallback } = models.author
    return {
      ...{ provider, modelId },
      ...(fallback === null ? {} : { fallback: true as const }),
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
      const mayCallTools = this.tools.size > 0 && this.rounds < this.allowed.most('rounds', MAX_ROUNDS)
      const answer = await this.ask([], mayCallTools)
      const { calls, message } = answer
      if (!message) return answer
      // The arguments decide what the tools do, and another answer might have others.
      await this.options.journal.record()
      this.rounds += 1
      this.toolCalls += calls.length
      this.replies.push(message)
      this.authors.set(message, answer.by)
      // The data comes after the calls.
      if (this.request.structured) this.restart()
      this.replies.push(await runToolCalls(this.ctx, answer, this.tools, this.request, this.options))
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
    this.restart()
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
    const { maxOutputTokens } = this.models.config.settings
    requireWhole(this.models.open.provider, end, { maxOutputTokens, problem })
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
    const { journal, budget } = this.options
    for (;;) {
      const spend = (said: Said) => budget.spendOn(said, this.models.config.prices !== undefined)
      const said = await journal.answer(() => this.made(more, mayCallTools), spend)
      this.models.stayWith(said.by)
      spend(said)
      if (!isRefusal(said.end) || !this.models.passOn('refused'))
        // An answer of a retried run may be of a version whose tools never asked.
        return { ...said, policy: said.policy ?? this.policyOf(said) }
      journal.passOver('MODEL_ERROR')
      // It was paid for, also if the next model fails.
      await journal.record()
      this.restart()
    }
  }

  /** An answer of the first model that gives one. */
  private async made(more: ModelMessage[], mayCallTools: boolean): Promise<Said> {
    for (;;) {
      try {
        const answer = await this.call(more, mayCallTools)
        const said = this.saidIn(answer, mayCallTools)
        await this.count(answer, said)
        return said
      } catch (err) {
        if (!(err instanceof ModelFailure) || !this.models.passOn(err.kind)) throw err
        this.restart()
      }
    }
  }

  /** Counts what the answer used, unless its record does. */
  private async count({ tokens }: ModelAnswer, { cost }: Said): Promise<void> {
    if (this.options.journal.records) return
    this.allowed.note(await countUsage(this.ctx, this.request.agent.id, tokens, cost))
  }

  /** Takes back what an answer has said so far. */
  private restart(): void {
    if (this.spoke) this.options.listener?.onRestart()
    this.spoke = false
  }

  private saidIn(answer: ModelAnswer, mayCallTools: boolean): Said {
    const { text, end, usage, toolCalls } = answer
    const { price, author } = this.models
    const made = mayCallTools ? toolCalls.slice(0, MAX_CALLS_PER_ROUND) : []
    const wanted = made.map((call) => this.readable(call))
    const calls = wanted.map((call) => withoutReason(call, this.tools.get(call.toolName)))
    const message = wanted.length > 0 ? withCalls(answer, wanted) : null
    const cost = price ? price(answer.tokens, this.ctx.now()) : null
    const policy = this.policyOf({ calls: wanted, text })
    const { cached } = answer.tokens
    const tried = this.models.takeTried()
    return { text, end, usage, cached, calls, message, policy, cost, by: author, tried }
  }

  /** What becomes of calls; null if none may need a decision. */
  private policyOf(round: Pick<Said, 'calls' | 'text'>): Said['policy'] {
    const { agent, userMessage } = this.request
    if (round.calls.length === 0 || !mayAsk(agent.config)) return null
    const { hides } = this.options.journal
    const known = { agent: agent.name, dataContext: userMessage.dataContext, context: this.ctx.trusted, hides }
    return policiesOf(round, this.tools, known)
  }

  private call(more: ModelMessage[], mayCallTools: boolean): Promise<ModelAnswer> {
    const { signal, deadline } = this.options
    const ask = (limits: TimeLimits) => this.callInTime(more, mayCallTools, limits)
    if (deadline !== undefined) return ask({ signal, deadline })
    return inTime(this.models.open.provider, signal, ask, 'did not answer')
  }

  private async callInTime(more: ModelMessage[], mayCallTools: boolean, given: TimeLimits): Promise<ModelAnswer> {
    const { userMessage, agent } = this.request
    const { open } = this.models
    const time = this.timeFor(given)
    const { signal, deadline } = time
    const conversation = asModelsKnowIt(this.conversation(more), (id) => nameOf(this.tools, id))
    const { files: current } = userMessage
    const system = systemPrompt(agent.config, this.ctx.trusted, this.outputSchema)
    const tools = [...this.tools.values()]
    try {
      await this.keepWithinLimits([system, conversation, tools.map(schemaOf)])
      const { messages, release } = await withFiles(this.ctx, conversation, { current, signal, deadline })
      const onText = this.hearing(time.lift)
      const request = { system, messages, tools, mayCallTools, outputSchema: this.outputSchema, onText }
      // Files may have waited for room.
      return await this.options.journal
        .mayBegin()
        .then(() =>
          callModel(open, request, { signal, deadline, mayPassOn: ({ kind }) => this.models.mayPassOn(kind) }),
        )
        .catch((err: unknown) => {
          throw namingFiles(err, current)
        })
        .finally(release)
    } finally {
      time.release()
    }
  }

  /** @throws AppError BUDGET_EXCEEDED; PartEnds if people are asked whether the turn continues */
  private async keepWithinLimits(prompt: unknown): Promise<void> {
    const { budget, journal } = this.options
    await this.allowed.look()
    const reached = this.allowed.check(budget, () => this.estimate(prompt), journal.mayAsk)
    if (!reached) return
    journal.ask(questionAt(reached, journal.upcoming, this.request.agent.name, budget))
    await journal.requireDecisions()
  }

  /** The tokens of a call, files aside. */
  private estimate(prompt: unknown): number {
    return Math.ceil(JSON.stringify(prompt).length / 3) + (this.models.config.settings.maxOutputTokens ?? 0)
  }

  /** The messages so far, without what only the model of another provider can read. */
  private conversation(more: ModelMessage[]): ModelMessage[] {
    const { history, userMessage } = this.request
    const said: ModelMessage[] = [...history, { role: 'user', content: userParts(userMessage) }, ...this.replies]
    const { author, alone } = this.models
    const isOwn = (message: ModelMessage) => {
      const by = this.authors.get(message)
      return by !== undefined && by.provider === author.provider && by.fallback === author.fallback
    }
    const readable = alone ? said : said.map((one) => (isOwn(one) ? one : readableFor(author.provider, one)))
    return [...readable, ...more]
  }

  /**
   * Only the first agent's text goes to the listener; a handoff's answer goes to the agent that asked for it.
   * @param begun is called once the model has begun to speak
   */
  private hearing(begun: () => void): ((text: string) => void) | undefined {
    const { listener, depth } = this.options
    if (!listener || depth > 0) return undefined
    this.spoke = false
    return (text) => {
      begun()
      this.spoke = true
      listener.onText(text)
    }
  }

  /** What a call may take: a model that another one follows, half of the time that is left to begin its answer. */
  private timeFor({ signal, deadline }: TimeLimits) {
    if (!this.models.mayPassOn('unavailable')) return { signal, deadline, lift: () => {}, release: () => {} }
    const { provider } = this.models.open
    const ms = Math.max(1, (deadline - performance.now()) / 2)
    const late = () => new ModelFailure(provider, 'did not answer in time', { transient: true, kind: 'unavailable' })
    const limit = new Deadline(signal, ms, late)
    return {
      signal: limit.signal,
      deadline: performance.now() + ms,
      lift: () => limit.lift(),
      release: () => limit.release(),
    }
  }
}

const schemaOf = ({ name, description, parameters }: AgentTool) => ({ name, description, parameters })

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
