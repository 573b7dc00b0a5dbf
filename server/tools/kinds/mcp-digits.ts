import { keepingDigits } from '../../definition/long-numbers'

/**
 * The body of an MCP server's response with integers beyond 2^53 as texts, before the client parses it: JSON as a whole, an
 * event stream line by line.
 * @param type its `Content-Type`
 */
export function digitsKept(body: ReadableStream<Uint8Array>, type: string): ReadableStream<Uint8Array> {
  const isEvents = /^\s*text\/event-stream\b/i.test(type)
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let held = ''
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const text = decoder.decode(chunk, { stream: true })
        const end = isEvents ? text.lastIndexOf('\n') + 1 : 0
        if (end > 0) controller.enqueue(encoder.encode((held + text.slice(0, end)).replace(DATA, inLine)))
        held = end > 0 ? text.slice(end) : held + text
      },
      flush(controller) {
        held += decoder.decode()
        controller.enqueue(encoder.encode(isEvents ? held.replace(DATA, inLine) : keepingDigits(held)))
      },
    }),
  )
}

const DATA = /^(data: ?)(.*)$/gm
const inLine = (_line: string, name: string, data: string) => name + keepingDigits(data)
