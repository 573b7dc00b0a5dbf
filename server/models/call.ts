import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AssistantModelMessage,
  type CallSettings,
  generateText,
  jsonSchema,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  type ProviderMetadata,
  type StepResult,
  streamText,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai'
import type { Usage } from '../definition/agent'
import { type JsonObject, toStorableJson } from '../definition/json'
import { traced } from '../telemetry/traces'
import { type AnswerEnd, endOf } from './answer-end'
import { distinctCalls } from './distinct-calls'
import { type ModelFailure, toModelFailure } from './failure'
import type { Tokens } from './prices'
import type { OpenModel } from './registry'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
const MAX_ATTEMPTS = 6
/** Of a model that another one follows. */
const ATTEMPTS_BEFORE_NEXT = 2

export interface ModelTool {
  name: string
  description: string
  /** JSON Schema of its arguments. */
  parameters: JsonObject
}

interface ModelRequest {
  system: string
  messages: ModelMessage[]
  tools: ModelTool[]
  /** False if the tools are listed only because earlier messages call them. */
  mayCallTools: boolean
  /** Asks for an answer as JSON of this schema; the answer is not checked here. */
  outputSchema: JsonObject | null
  /** Receives the answer's text as it arrives. */
  onText?: ((text: string) => void) | undefined
}

export interface ToolRequest {
  toolCallId: string
  toolName: string
  input: unknown
}

export interface ModelAnswer {
  text: string
  toolCalls: ToolRequest[]
  message: AssistantModelMessage
  usage: Usage
  /** Its tokens, by their prices. */
  tokens: Tokens
  end: AnswerEnd
}

interface CallLimits {
  signal: AbortSignal
  /** In `performance.now()` time. */
  deadline: number
  /** Whether another model answers after that failure, so that fewer attempts are enough. */
  mayPassOn?: (failure: ModelFailure) => boolean
}

/**
 * Gets one answer from the model. Retries transient failures (429, 5xx, no connection) with backoff, as long as the
 * deadline allows and no text was passed on.
 * @throws ModelFailure, or the signal's reason
 */
export function callModel(open: OpenModel, request: ModelRequest, limits: CallLimits): Promise<ModelAnswer> {
  return traced(
    () => ({
      name: `chat ${open.provider}`,
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': open.provider,
        'gen_ai.request.model': open.modelId,
      },
    }),
    async (note) => {
      const answer = await callUntilAnswered(open, request, limits)
      const { inputTokens, outputTokens } = answer.usage
      note({ 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens })
      return answer
    },
  )
}

async function callUntilAnswered(
  open: OpenModel,
  request: ModelRequest,
  { signal, deadline, mayPassOn = () => false }: CallLimits,
): Promise<ModelAnswer> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted()
    let spoke = false
    const heard = request.onText
    const onText = heard
      ? (text: string) => {
          spoke = true
          heard(text)
        }
      : undefined
    try {
      return await (onText ? stream(open, request, signal, onText) : generate(open, request, signal))
    } catch (err) {
      signal.throwIfAborted()
      const failure = toModelFailure(err, open.provider)
      const backOff = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (0.8 + Math.random() * 0.4)
      const waitMs = failure.retryAfterMs ?? backOff
      const others = mayPassOn(failure)
      const enough = attempt >= (others ? ATTEMPTS_BEFORE_NEXT : MAX_ATTEMPTS) || (others && waitMs > LONGEST_WAIT_MS)
      const pointless = !failure.transient || spoke || enough
      if (pointless || performance.now() + waitMs >= deadline) throw failure
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

async function generate(open: OpenModel, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
  const result = await generateText({ ...options(open, request), abortSignal: signal })
  const { text, toolCalls, finishReason, rawFinishReason, providerMetadata, totalUsage: usage, response } = result
  const { messages } = response
  return answer(open, { text, toolCalls, usage, messages, finishReason, rawFinishReason, providerMetadata })
}

async function stream(
  open: OpenModel,
  request: ModelRequest,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<ModelAnswer> {
  const result = streamText({ ...options(open, request), abortSignal: signal, onError: () => {} })
  const passOn = masked(open, onText)
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') passOn(part.text)
    else if (part.type === 'error') throw part.error
    else if (part.type === 'abort') throw signal.reason
  }
  passOn('', { last: true })
  const [text, toolCalls, usage, response, finishReason, rawFinishReason, providerMetadata] = await Promise.all([
    result.text,
    result.toolCalls,
    result.totalUsage,
    result.response,
    result.finishReason,
    result.rawFinishReason,
    result.providerMetadata,
  ])
  const { messages } = response
  return answer(open, { text, toolCalls, usage, messages, finishReason, rawFinishReason, providerMetadata })
}

function options(open: OpenModel, request: ModelRequest) {
  const wantsJson = request.outputSchema !== null && (open.jsonBesideTools || !request.mayCallTools)
  return {
    model: wrapLanguageModel({ model: open.model, middleware: distinctCalls }),
    system: request.system,
    messages: request.messages,
    // We loop over tool calls ourselves, to count, check and record them; so no tool has an `execute` here.
    ...(request.tools.length > 0
      ? { tools: toolSet(request.tools), toolChoice: request.mayCallTools ? ('auto' as const) : ('none' as const) }
      : {}),
    ...(wantsJson && request.outputSchema ? { output: rawJson(request.outputSchema) } : {}),
    ...(open.settings as CallSettings),
    ...(open.providerOptions ? { providerOptions: open.providerOptions } : {}),
    maxRetries: 0,
  }
}

function toolSet(tools: ModelTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [name, tool({ description, inputSchema: schemaFor(parameters) })]),
  )
}

/** A user's schema: the SDK's schema type is narrower than JSON Schema. */
function schemaFor(schema: JsonObject) {
  return jsonSchema(schema as never)
}

/** Asks for JSON but returns the raw text, because malformed answers are repaired rather than thrown. */
function rawJson(schema: JsonObject): Output.Output<string, string, never> {
  const { responseFormat } = Output.object({ schema: schemaFor(schema) })
  return { ...Output.text(), responseFormat }
}

type Answered = Pick<StepResult<ToolSet>, 'text' | 'toolCalls' | 'finishReason' | 'rawFinishReason'> & {
  usage: LanguageModelUsage
  messages: ModelMessage[]
  providerMetadata: ProviderMetadata | undefined
}

function answer(open: OpenModel, answered: Answered): ModelAnswer {
  const { text, toolCalls, messages } = answered
  const spoken = messages.find((message) => message.role === 'assistant')
  const said = {
    text,
    toolCalls: toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })),
    message: spoken ?? { role: 'assistant' as const, content: [] },
    end: endOf(answered),
  }
  // Masking changes only texts, so the type stays the same.
  const clean = open.mask ? (open.mask.masker.json(toStorableJson(said)) as unknown as typeof said) : said
  return { ...clean, usage: toUsage(answered.usage), tokens: toTokens(answered.usage) }
}

/**
 * Beyond this size, text without a safe place to cut is held until the end, because searching again and again would
 * take too long.
 */
const MAX_HELD = 65_536
const CUTS = 8

/**
 * Passes text on with the key masked. Buffers enough text to complete a key that arrives in pieces, and never cuts
 * where that would split a key.
 */
function masked({ mask }: OpenModel, onText: (text: string) => void) {
  let held = ''
  return (text: string, { last = false } = {}) => {
    held += text
    const cut = last || !mask ? held.length : held.length > MAX_HELD ? 0 : safeCut(held, mask)
    const ready = mask ? mask.masker.text(held.slice(0, cut)) : held
    held = held.slice(cut)
    if (ready !== '') onText(ready)
  }
}

/**
 * A place to cut where masking both parts equals masking the whole, with room after it for the longest form of the key;
 * 0 if none exists.
 */
function safeCut(text: string, { masker, longestForm }: NonNullable<OpenModel['mask']>): number {
  const whole = masker.text(text)
  for (let i = 0; i < CUTS; i++) {
    const cut = text.length - longestForm - i * Math.ceil(longestForm / CUTS)
    if (cut <= 0) return 0
    if (masker.text(text.slice(0, cut)) + masker.text(text.slice(cut)) === whole) return cut
  }
  return 0
}

function toUsage({ inputTokens = 0, outputTokens = 0, totalTokens }: LanguageModelUsage): Usage {
  return { inputTokens, outputTokens, totalTokens: totalTokens ?? inputTokens + outputTokens }
}

function toTokens({ inputTokens = 0, outputTokens = 0, inputTokenDetails }: LanguageModelUsage): Tokens {
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = inputTokenDetails ?? {}
  return { input: inputTokens, cached: cacheReadTokens, written: cacheWriteTokens, output: outputTokens }
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
  }
}
