import type { UIMessageChunk } from 'ai'
import { isJsonObject, type JsonObject, type JsonValue } from '../definition/json'
import type { ServerSentEvent, UnnamedEvent } from '../http/sse'

/** The header that identifies the protocol to a client of the AI SDK. */
export const UI_STREAM_HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' }

/**
 * Converts the events of a turn to parts of the AI SDK's UI message stream. Tools are dynamic there, because a client
 * cannot know their types.
 * @param messageId of the answer
 */
export async function* uiStream(
  events: AsyncGenerator<ServerSentEvent>,
  start: { messageId: string; threadId: string | null },
): AsyncGenerator<UnnamedEvent> {
  const parts = new Parts()
  const { messageId, threadId } = start
  yield part({ type: 'start', messageId, ...(threadId === null ? {} : { messageMetadata: { threadId } }) })
  yield part({ type: 'start-step' })
  for await (const { event, data } of events)
    for (const chunk of parts.partsOf(event, isJsonObject(data) ? data : {})) yield part(chunk)
  yield { text: '[DONE]' }
}

const part = (data: UIMessageChunk): UnnamedEvent => ({ data })

/** Tracks the open parts, since each part refers to the one it continues. */
class Parts {
  private text: string | null = null
  private texts = 0
  /** Whether tools have returned since the step began. */
  private called = false
  /** The calls without a result, by agent and id, each with its id in the message. */
  private readonly open = new Map<string, string>()
  private readonly ids = new Set<string>()

  /** Servers number the calls of each round anew, but in a message each has its own id. */
  private begin(call: JsonObject): string {
    const id = String(call.toolCallId)
    let own = id
    for (let n = 2; this.ids.has(own); n++) own = `${id}_${n}`
    this.ids.add(own)
    this.open.set(callKey(call), own)
    return own
  }

  *partsOf(event: string, data: JsonObject): Generator<UIMessageChunk> {
    switch (event) {
      case 'message.delta':
        yield* this.beginText()
        yield { type: 'text-delta', id: this.text ?? '', delta: String(data.text) }
        return
      case 'message.restart':
        yield* this.endText()
        // This protocol cannot take a text back, so this names the one that no longer counts.
        yield { type: 'data-restart', data: { id: `text-${this.texts}` } }
        return
      case 'tool.call':
        yield* this.endText()
        yield {
          type: 'tool-input-available',
          toolCallId: this.begin(data),
          toolName: String(data.toolId),
          input: data.args,
          dynamic: true,
        }
        return
      case 'tool.result':
        this.called = true
        yield this.result(data)
        return
      case 'handoff':
        // Its tool call has already been sent.
        return
      case 'approval.requested':
        yield* this.endText()
        // In this protocol a client approves by itself; here the service asks.
        yield { type: 'data-approval', id: String(data.approvalId), data }
        return
      case 'message.waiting':
        yield* this.endText()
        yield { type: 'finish-step' }
        yield { type: 'finish', finishReason: 'tool-calls', messageMetadata: data }
        return
      case 'message.done':
        yield* this.endText()
        yield { type: 'finish-step' }
        yield { type: 'finish', finishReason: finishReasonOf(data), messageMetadata: metadataOf(data) }
        return
      case 'error':
        yield* this.endText()
        yield { type: 'error', errorText: errorText(data) }
    }
  }

  private *beginText(): Generator<UIMessageChunk> {
    if (this.text !== null) return
    if (this.called) {
      yield { type: 'finish-step' }
      yield { type: 'start-step' }
      this.called = false
    }
    this.texts += 1
    this.text = `text-${this.texts}`
    yield { type: 'text-start', id: this.text }
  }

  private *endText(): Generator<UIMessageChunk> {
    if (this.text === null) return
    yield { type: 'text-end', id: this.text }
    this.text = null
  }

  private result(data: JsonObject): UIMessageChunk {
    const toolCallId = this.open.get(callKey(data)) ?? String(data.toolCallId)
    if (data.success === true)
      return { type: 'tool-output-available', toolCallId, output: data.data ?? null, dynamic: true }
    return { type: 'tool-output-error', toolCallId, errorText: errorText(data.error), dynamic: true }
  }
}

const callKey = ({ agentId, toolCallId }: JsonObject) => `${String(agentId)} ${String(toolCallId)}`

function metadataOf({ threadId, metadata }: JsonObject): JsonObject {
  return { threadId: threadId ?? null, ...(isJsonObject(metadata) ? metadata : {}) }
}

function finishReasonOf({ metadata }: JsonObject) {
  const odd = isJsonObject(metadata) ? metadata.finishReason : undefined
  return ODD_ENDS.find((end) => end === odd) ?? 'stop'
}

const ODD_ENDS = ['length', 'content-filter', 'error'] as const

/** An error as one text, with its details. */
function errorText(error: JsonValue | undefined): string {
  const { code, message, details } = isJsonObject(error) ? error : {}
  const why = (Array.isArray(details) ? details : []).map((detail) => (isJsonObject(detail) ? detail.message : ''))
  return [`${String(code)}: ${String(message)}`, ...why].join('\n')
}
