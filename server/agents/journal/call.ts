import type { ToolResultPart } from 'ai'
import type { Tried, Usage } from '../../definition/agent'
import type { CallDecision, CallPolicy } from '../../definition/approval'
import { isJsonObject, type JsonValue, toStorableJson } from '../../definition/json'
import type { AnswerEnd } from '../../models/answer-end'
import { NO_USAGE, type ToolRequest } from '../../models/call'
import type { Author } from '../../models/fallback'
import type { ReplyMessage } from '../messages'

/** An answer of a model, as its turn uses it. */
export interface Said {
  text: string
  end: AnswerEnd
  /** The calls that get a result, with the ids of their tools and storable arguments. */
  calls: ToolRequest[]
  /** The message with exactly these calls; null without any. */
  message: ReplyMessage | null
  /** What becomes of each call; null if no call of the agent may need a decision. */
  policy: CallPolicy[] | null
  usage: Usage
  /** How many of its input tokens the provider had in its cache. */
  cached: number
  /** Null if it is not known. */
  cost: number | null
  by: Author
  /** The models that were tried before it; null if none was. */
  tried: Tried[] | null
}

export type ToolOutput = ToolResultPart['output']

/** A row of `agent_calls`. */
export interface Call {
  seq: number
  kind: 'model' | 'tool'
  name: string
  output: JsonValue
  /** Of an answer copied from another run: what the keys of its calls begin with. */
  keyBase: string | null
  /** Of an answer: what becomes of each of its calls. */
  policy: CallPolicy[] | null
  /** What people decided about it, if they were asked. */
  decision: CallDecision | null
  usage: Usage | null
  /** Tokens from the provider's cache; counted, not kept. */
  cached?: number
  cost: number | null
  /** Of an answer: the provider of its model, the model's place among the fall-backs, and what was tried before it. */
  provider: string | null
  fallback: number | null
  tried: Tried[] | null
  /** Why an answer does not count, or a tool failed. */
  errorCode: string | null
  startedAt: string
  endedAt: string
}

/** What a row keeps of an answer. The content of a message is storable wherever a thread can store it. */
export function storedAnswer({ text, end, calls, message }: Said): JsonValue {
  return {
    text: toStorableJson(text),
    end: toStorableJson(end),
    calls: calls.map(({ toolCallId, toolName, input }) => ({
      toolCallId: toStorableJson(toolCallId),
      toolName: toStorableJson(toolName),
      input: (input ?? null) as JsonValue,
    })),
    message: message && ({ ...message, content: toStorableJson(message.content) } as unknown as JsonValue),
  }
}

/** The answer in a row that `storedAnswer` wrote. */
export function answerIn({ output, policy, usage, cost, name, provider, fallback, tried }: Call): Said {
  return {
    ...(output as unknown as Pick<Said, 'text' | 'end' | 'calls' | 'message'>),
    policy,
    usage: usage ?? NO_USAGE,
    cached: 0,
    cost,
    // Rows of earlier releases have no provider.
    by: { provider: provider ?? '', modelId: name, fallback },
    tried,
  }
}

/** Whether a tool succeeded, by the result that the model gets. */
export function succeeded(output: ToolOutput): boolean {
  return !isJsonObject(output) || !String(output.type).startsWith('error')
}
