import type { Approval } from './approval'
import type { JsonObject, JsonValue } from './json'

/** The provider whose API a model is called through. */
export type ProviderName = 'scripted' | 'openai' | 'anthropic' | 'google' | 'openai-compatible'

/** Settings of a model call, in terms all providers share. */
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

/** The model an agent uses. It never contains a key, only a reference to the secret that does. */
export type ModelConfig = {
  provider: ProviderName
  modelId: string
  /** The address of an OpenAI-compatible service, such as `https://llm.example.com/v1`. */
  baseUrl?: string | undefined
  apiKey?: string | undefined
  settings: ModelSettings
  /** US dollars per million tokens, typed by hand, or `list` for the list price. */
  prices?: { input: number; output: number } | 'list' | undefined
}

/** Why a model gave no answer, in terms that all providers share. */
export type FailureKind = 'unavailable' | 'rate-limited' | 'key' | 'too-long' | 'refused'

/** A model that was asked, or left out because it has no key, before the one that answered. */
export type Tried = {
  provider: string
  modelId: string
  why: FailureKind | 'no-key'
}

/** The contents of a version of an agent. */
export type AgentConfig = {
  name: string
  description: string
  instructions: string
  model: ModelConfig
  /** The models that answer instead if it gives no answer, in this order; absent without any. */
  fallbacks?: ModelConfig[] | undefined
  /** When they do; absent for the usual reasons. */
  fallbackOn?: FailureKind[] | undefined
  /** Absent without any. */
  limits?: AgentLimits | undefined
  tools: { toolId: string; version: string | number; approval?: Approval | undefined }[]
  /** JSON Schema of an object; null for an agent that answers in text. */
  outputSchema: JsonObject | null
  supervisor: boolean
  handoffs: { agentId: string; version: string | number; approval?: Approval | undefined }[]
}

/** What an agent may use. Costs are in US dollars, days are those of UTC. */
export type AgentLimits = {
  /** One call of its model, as estimated before it. */
  call?: { tokens: number } | undefined
  /** One message, with the agents that it is handed over to. */
  turn?:
    | {
        tokens?: number | undefined
        cost?: number | undefined
        rounds?: number | undefined
        calls?: number | undefined
      }
    | undefined
  day?: { cost?: number | undefined; tokens?: number | undefined } | undefined
  /** Each subject of tokens, with all agents. */
  subjectDay?: { tokens: number } | undefined
  /** Who is asked at a limit, in place of a failure. */
  at?: LimitAsk | undefined
}

/** Who is asked whether a turn continues at a limit. */
export type LimitAsk = {
  ask: string[]
  /** ISO 8601 durations. */
  dueIn?: string | undefined
  expiresIn?: string | undefined
}

/** A limit that a turn has reached: of its agent, of its workspace, or of all agents of its run. */
export type ReachedLimit = {
  of: 'agent' | 'workspace' | 'run'
  name:
    | 'call.tokens'
    | `run.${'tokens' | 'cost'}`
    | `turn.${'tokens' | 'cost'}`
    | `day.${'tokens' | 'cost'}`
    | 'subjectDay.tokens'
  /** Tokens or US dollars. */
  most: number
}

/** Tokens used by model calls. */
export type Usage = {
  inputTokens: number
  outputTokens: number
  totalTokens: number
}

/** The usage of a thread's turn, stored with its last message. */
export type TurnMetadata = {
  provider: string
  modelId: string
  /** Set if a fall-back model answered. */
  fallback?: true
  version: number
  /** Set for an answer of a draft, which was based on that version. */
  draft?: true
  /** All model calls, including those of agents the turn handed over to. */
  usage: Usage
  /** In US dollars; absent without prices. */
  cost?: number
  rounds: number
  toolCalls: number
  repaired?: boolean
  /** Why the answer ended, unless the model simply finished. */
  finishReason?: 'length' | 'content-filter' | 'error'
  warnings?: string[]
}

/** The usage and work of a failed turn. Its messages are not stored. */
export type FailedTurn = TurnMetadata & {
  /** Absent if the thread was created for this turn, and so was deleted. */
  threadId?: string
  /** Whether the same message may succeed later. */
  retryable: boolean
  /** The HTTP status that the provider returned, if that is the reason. */
  status?: number
  /** The model's own words, if it refused. */
  refusal?: string
  /** The calls of tools in the order they ended, including those of agents it handed over to; absent without any. */
  calls?: { toolId: string; success: boolean }[]
}

/** The usage of a `call-agent` step's turns, one for each attempt, answered or failed. */
export type StepUsage = (TurnMetadata & { threadId: string }) | FailedTurn

/** A file that goes to a model with a message, which never holds its bytes. */
export type MessageFile = {
  fileId: string
  name: string
  type: string
  /** In bytes. */
  size: number
}

/** A user's message as stored. */
export type UserMessage = {
  message: string
  /** Data the caller sent along; never trusted. */
  dataContext: JsonObject
  /** Absent without any. */
  files?: MessageFile[]
}

/** A user's message, or a message from a model or a tool: a text, or parts with tool calls and results. */
export type MessageContent = UserMessage | string | JsonValue[]

/** The events of a streamed turn: `message` of a chat, `answer` of an invocation. */
export type TurnEventName =
  | 'message.delta'
  | 'message.restart'
  | 'message.waiting'
  | 'message.done'
  | 'answer.partial'
  | 'answer.restart'
  | 'answer.waiting'
  | 'answer.done'
  | 'tool.call'
  | 'tool.result'
  | 'handoff'
  | 'approval.requested'
  | 'error'

/** What invoke or chat was asked, with all that a run needs to answer it in their place. */
export type TurnAsked = UserMessage & {
  /** Whether the answer is data. */
  structured: boolean
  /** The version of the agent that the caller asked for; absent in turns of earlier releases. */
  version?: string | number
  /** The agent as it was being edited, if that was asked in place of a version. */
  draft?: { name: string; config: JsonObject }
  /** The caller. */
  by: { kind: 'apiKey' | 'jwt' | 'user' | 'system'; id: string }
  /** The verified facts of the caller's token. */
  context: JsonObject | null
  /** Whether the caller follows it as a stream, which others continue if its process dies. */
  streams?: true
}

/** The answer of a turn that is outside of runs, or was when it began: data, or text. */
export type TurnAnswer = { data: JsonObject | null; text: string; metadata: TurnMetadata }
