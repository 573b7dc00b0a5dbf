import type { JsonObject, JsonValue } from './json'

/** Whose interface a model is called through. */
export type ProviderName = 'scripted' | 'openai' | 'anthropic' | 'google' | 'openai-compatible'

/** Settings of a model call, in the words that all providers share. */
export type ModelSettings = {
  temperature?: number | undefined
  topP?: number | undefined
  topK?: number | undefined
  maxOutputTokens?: number | undefined
  presencePenalty?: number | undefined
  frequencyPenalty?: number | undefined
  seed?: number | undefined
  stopSequences?: string[] | undefined
}

/** Which model an agent uses. A key is never here, only the name of a secret that holds it. */
export type ModelConfig = {
  provider: ProviderName
  modelId: string
  /** Of an OpenAI-compatible service, such as `https://llm.example.com/v1`. */
  baseUrl?: string | undefined
  apiKey?: string | undefined
  settings: ModelSettings
  /** For a million tokens, in any one currency. */
  prices?: { input: number; output: number } | undefined
}

/** What a version of an agent says. */
export type AgentConfig = {
  name: string
  description: string
  instructions: string
  model: ModelConfig
  tools: { toolId: string; version: string | number }[]
  /** JSON Schema of an object; null for an agent that answers in words. */
  outputSchema: JsonObject | null
  supervisor: boolean
  handoffs: { agentId: string; version: string | number }[]
}

/** Tokens that calls of models took. */
export type Usage = {
  inputTokens: number
  outputTokens: number
  totalTokens: number
}

/** What a turn of a thread took, kept with its last message. */
export type TurnMetadata = {
  provider: string
  modelId: string
  version: number
  /** Of all model calls, including those of agents the turn was handed to. */
  usage: Usage
  /** In the currency of the model's prices. */
  cost?: number
  rounds: number
  toolCalls: number
  repaired?: boolean
  warnings?: string[]
}

/** What a `call-agent` step's answer took. */
export type StepUsage = TurnMetadata & { threadId: string }

/** A message of a user as it is kept. */
export type Spoken = {
  message: string
  /** What the caller sent along: data, never trusted. */
  dataContext: JsonObject
}

/** A user's words, or the message of a model or a tool: a text, or its parts with their calls and results. */
export type MessageContent = Spoken | string | JsonValue[]

/** What a stream of a chat tells. */
export type ChatEventName = 'message.delta' | 'tool.call' | 'tool.result' | 'handoff' | 'message.done' | 'error'
