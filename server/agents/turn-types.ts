import type { ModelMessage } from 'ai'
import type { ServiceContext } from '../context'
import type { Spoken, TurnMetadata } from '../definition/agent'
import type { JsonObject, JsonValue } from '../definition/json'
import type { Budget } from './budget'
import type { LoadedAgent } from './find'
import type { SaidMessage } from './messages'

export interface TurnRequest {
  agent: LoadedAgent
  history: ModelMessage[]
  spoken: Spoken
  /** Whether the answer must be data of the agent's output schema. */
  structured: boolean
}

export interface TurnOptions {
  signal: AbortSignal
  /** On the clock of `performance.now()`. */
  deadline: number
  /** Hears the text of the answer and what tools do, as it happens. */
  listener?: TurnListener | undefined
  /** Shared with the agents that are handed something within this turn. */
  budget?: Budget
  depth?: number
}

export interface TurnResult {
  text: string
  /** Null when the answer is in words. */
  data: JsonObject | null
  said: SaidMessage[]
  metadata: TurnMetadata
}

/** The options of a turn under way. `runTurn` is how an agent that is handed something answers in turn. */
export interface RunningTurn extends TurnOptions {
  budget: Budget
  depth: number
  runTurn: (ctx: ServiceContext, request: TurnRequest, options: TurnOptions) => Promise<TurnResult>
}

export interface ToolEvent {
  toolCallId: string
  agentId: string
  name: string
}

/** Hears of a turn while it goes on. */
export interface TurnListener {
  onText: (text: string) => void
  onToolCall: (event: ToolEvent & { args: JsonValue }) => void
  onToolResult: (event: ToolEvent & ToolResult) => void
  onHandOff: (event: { from: string; to: string; message: string }) => void
}

export type ToolResult =
  | { success: true; data: JsonValue }
  | { success: false; error: { message: string; code: string } }
