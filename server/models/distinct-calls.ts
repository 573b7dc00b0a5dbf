import type { LanguageModelV3Middleware, LanguageModelV3StreamPart } from '@ai-sdk/provider'

/**
 * Gives each tool call of an answer an id of its own. Some servers number the calls of each answer in the same way, or not
 * at all, and the SDK takes calls with one id for one call.
 */
export const distinctCalls: LanguageModelV3Middleware = {
  specificationVersion: 'v3',
  async wrapGenerate({ doGenerate }) {
    const result = await doGenerate()
    const distinct = distinctIds()
    const content = result.content.map((part) =>
      part.type === 'tool-call' ? { ...part, toolCallId: distinct(part.toolCallId) } : part,
    )
    return { ...result, content }
  },
  async wrapStream({ doStream }) {
    const { stream, ...rest } = await doStream()
    const distinct = distinctIds()
    const renamed = new TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart>({
      transform(part, controller) {
        controller.enqueue(part.type === 'tool-call' ? { ...part, toolCallId: distinct(part.toolCallId) } : part)
      },
    })
    return { stream: stream.pipeThrough(renamed), ...rest }
  },
}

function distinctIds(): (id: string) => string {
  const given = new Set<string>()
  return (id) => {
    const base = id.trim() === '' ? 'call' : id
    let own = base
    for (let n = 2; given.has(own); n++) own = `${base}_${n}`
    given.add(own)
    return own
  }
}
