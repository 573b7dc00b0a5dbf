/**
 * Changes the JSON of a response, or of its events. `change` also gets any other text, and must return it unchanged.
 */
export async function withChangedJson(response: Response, change: (json: string) => string): Promise<Response> {
  const headers = new Headers(response.headers)
  // Both describe the original body.
  for (const name of ['content-length', 'content-encoding']) headers.delete(name)
  const init = { status: response.status, statusText: response.statusText, headers }
  if (!response.body) return response
  if (!response.headers.get('content-type')?.includes('text/event-stream'))
    return new Response(change(await response.text()), init)
  const line = (text: string) => (text.startsWith(DATA) ? DATA + change(text.slice(DATA.length)) : text)
  return new Response(response.body.pipeThrough(eachLine(line)), init)
}

const DATA = 'data:'

/** Changes each line of a stream as soon as it is complete. */
function eachLine(change: (line: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let held = ''
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true })
      const end = text.lastIndexOf('\n') + 1
      if (end === 0) {
        held += text
        return
      }
      const lines = `${held}${text.slice(0, end)}`.split('\n')
      held = text.slice(end)
      controller.enqueue(encoder.encode(lines.map((line) => change(line)).join('\n')))
    },
    flush(controller) {
      const rest = held + decoder.decode()
      if (rest !== '') controller.enqueue(encoder.encode(change(rest)))
    },
  })
}
