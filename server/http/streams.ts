import { chunksOf } from './body'

/** How long a stream may bring nothing while its reader waits. */
const STALLED_MS = 30_000

/** The same stream, which fails instead of keeping its reader waiting. Its source is then cancelled. */
export function unstalled(source: ReadableStream<Uint8Array>, ms = STALLED_MS): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let timer: NodeJS.Timeout | undefined
        const stalled = new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(new Error(`A stream brought nothing for ${ms} ms.`)), ms)
        })
        try {
          const { done, value } = await Promise.race([reader.read(), stalled])
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (err) {
          // Not awaited: what brings nothing may not end either.
          reader.cancel(err).catch(() => {})
          throw err
        } finally {
          clearTimeout(timer)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The same stream, which breaks off after another number of bytes. Cancelled, it cancels its source. */
export function exactly(source: ReadableStream<Uint8Array>, size: number): ReadableStream<Uint8Array> {
  let left = size
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength
      if (left < 0) throw new Error(`A stream has more than ${size} bytes.`)
      controller.enqueue(chunk)
    },
    flush() {
      if (left !== 0) throw new Error(`A stream has ${size - left} bytes instead of ${size}.`)
    },
  })
  return source.pipeThrough(count)
}

/** All bytes of a stream; null for none. */
export async function allOf(stream: ReadableStream<Uint8Array> | null): Promise<Buffer | null> {
  if (!stream) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(stream)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
