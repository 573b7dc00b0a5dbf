import type { LanguageModelV3Middleware, LanguageModelV3StreamPart, LanguageModelV3ToolCall } from '@ai-sdk/provider'
import { keepingDigits } from '../definition/long-numbers'

/**
 * Gives each tool call of an answer an id of its own. Some servers number the calls of each answer in the same way, or not
 * at all, and the SDK takes calls with one id for one call. Of its arguments, it keeps the digits of long numbers.
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
