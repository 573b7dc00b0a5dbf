import type { ModelMessage } from 'ai'
import type { ServiceContext } from '../context'
import type { TurnMetadata, UserMessage } from '../definition/agent'
import type { JsonObject, JsonValue } from '../definition/json'
import type { LoggedLine } from '../definition/run'
import type { Budget } from './budget'
import type { LoadedAgent } from './find'
import type { Journal } from './journal/journal'
import type { ReplyMessage } from './messages'

export interface TurnRequest {
  agent: LoadedAgent
  history: ModelMessage[]
  userMessage: UserMessage
  /** Whether the answer must be data that matches the agent's output schema. */
  structured: boolean
}

export interface TurnOptions {
  signal: AbortSignal
  /** In `performance.now()` time. Without it, each answer of a model may take the time of a whole turn elsewhere. */
  deadline?: number
  /** Receives the answer's text and the tools' activity as they happen. */
  listener?: TurnListener | undefined
  /** Receives each console line of a tool's script. */
  log?: ((line: LoggedLine) => void) | undefined
  /** Shared with the agents this turn hands over to. */
  budget?: Budget
  depth?: number
  /** Where its calls are recorded; none by default. */
  journal?: Journal | undefined
}

export interface TurnResult {
  text: string
  /** Null for a text answer. */
  data: JsonObject | null
  replies: ReplyMessage[]
  metadata: TurnMetadata
}

/** The options of a turn in progress. An agent that receives a handoff takes its own turn through `runTurn`. */
export interface RunningTurn extends TurnOptions {
  budget: Budget
  depth: number
  journal: Journal
  runTurn: (ctx: ServiceContext, request: TurnRequest, options: TurnOptions) => Promise<TurnResult>
}

export interface ToolEvent {
  toolCallId: string
  agentId: string
  name: string
}

/** Receives the events of a turn. */
export interface TurnListener {
  /** A piece of the answer; of data, before anything has checked it. */
  onText: (text: string) => void
  /** The text since the last call no longer counts: another answer follows, or calls of tools in place of data. */
  onRestart: () => void
  onToolCall: (event: ToolEvent & { args: JsonValue }) => void
  onToolResult: (event: ToolEvent & ToolResult) => void
  onHandOff: (event: { from: string; to: string; message: string }) => void
}

export type ToolResult =
  | { success: true; data: JsonValue }
  | { success: false; error: { message: string; code: string } }

export function failure(code: string, message: string): ToolResult & { success: false } {
  return { success: false, error: { code, message } }
}
