import type { LanguageModelV3Middleware, LanguageModelV3StreamPart, LanguageModelV3ToolCall } from '@ai-sdk/provider'
import { keepingDigits } from '../definition/long-numbers'

/**
 * Gives each tool call of an answer its own id. Some servers number the calls of every answer alike, or not at all, and
 * the SDK takes calls with equal ids for one call. Preserves the digits of long numbers in arguments.
 */
export const distinctCalls: LanguageModelV3Middleware = {
  specificationVersion: 'v3',
  async wrapGenerate({ doGenerate }) {
    const result = await doGenerate()
    const distinct = distinctIds()
    const content = result.content.map((part) => (part.type === 'tool-call' ? distinct(part) : part))
    return { ...result, content }
  },
  async wrapStream({ doStream }) {
    const { stream, ...rest } = await doStream()
    const distinct = distinctIds()
    const renamed = new TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart>({
      transform(part, controller) {
        controller.enqueue(part.type === 'tool-call' ? distinct(part) : part)
      },
    })
    return { stream: stream.pipeThrough(renamed), ...rest }
  },
}

function distinctIds(): (call: LanguageModelV3ToolCall) => LanguageModelV3ToolCall {
  const given = new Set<string>()
  return (call) => {
    const base = call.toolCallId.trim() === '' ? 'call' : call.toolCallId
    let own = base
    for (let n = 2; given.has(own); n++) own = `${base}_${n}`
    given.add(own)
    return { ...call, toolCallId: own, input: keepingDigits(call.input) }
  }
}
