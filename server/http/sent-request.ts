interface Sent {
  method: string
  headers: [string, string][]
  /** Null without a body. */
  chunks: (() => AsyncGenerator<Uint8Array>) | null
  /** Calls back when the caller has hung up, even if that was earlier. */
  watch: (gone: () => void) => void
}

/**
 * A request whose stream and signal are created on first access. Most routes read the body whole and never look at the
 * signal, and creating both costs more than everything else about a request.
 */
export class SentRequest extends Request {
  private stream: ReadableStream<Uint8Array> | null | undefined
  private gone: AbortController | undefined

  constructor(
    url: string,
    private readonly sent: Sent,
  ) {
    super(url, { method: sent.method, headers: sent.headers })
  }

  /** The body for a reader that takes it whole. Null if it was already streamed. */
  chunks(): AsyncIterable<Uint8Array> | null {
    if (this.stream !== undefined) return null
    this.stream = null
    return this.sent.chunks?.() ?? empty()
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.stream === undefined) this.stream = this.sent.chunks && streamOf(this.sent.chunks())
    return this.stream as ReadableStream<Uint8Array<ArrayBuffer>> | null
  }

  override get signal(): AbortSignal {
    if (!this.gone) {
      const gone = new AbortController()
      this.sent.watch(() => gone.abort())
      this.gone = gone
    }
    return this.gone.signal
  }
}

async function* empty(): AsyncGenerator<Uint8Array> {}

/** A stream of chunks, which are produced no faster than they are read. */
export function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
