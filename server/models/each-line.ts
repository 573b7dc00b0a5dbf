/** Changes each line of a stream of events, without waiting for more than the line. */
export function eachLine(change: (line: string) => string): TransformStream<Uint8Array, Uint8Array> {
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
