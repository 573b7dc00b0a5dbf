/** How long a stream may bring nothing while somebody waits for it. */
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
