interface Received {
  status: number
  headers: Headers
}

interface Source {
  chunks: AsyncGenerator<Uint8Array>
  /** @throws on a timeout or when the caller has given up */
  race: <T>(work: Promise<T>) => Promise<T>
  explain: (err: unknown) => unknown
  /** Called once, when reading is over. */
  end: () => void
}

/**
 * A response whose stream is created on first access. Most callers read the body whole, which takes a fraction of the
 * time without a stream.
 */
export class ReceivedResponse extends Response {
  private made: Response | undefined
  private wasRead = false

  constructor(
    private readonly received: Received,
    private readonly source: Source,
  ) {
    super(null, received)
  }

  private whole(): Response {
    if (this.wasRead) throw new TypeError('The body has already been read.')
    this.made ??= new Response(this.stream(), this.received)
    return this.made
  }

  private stream(): ReadableStream<Uint8Array> {
    const { chunks, race, explain, end } = this.source
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const { done, value } = await race(chunks.next())
            if (!done) return controller.enqueue(new Uint8Array(value))
            controller.close()
          } catch (err) {
            controller.error(explain(err))
          }
          end()
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    )
  }

  /** The whole body, if it was neither streamed nor read. */
  private async bytesNow(): Promise<Buffer | null> {
    if (this.made || this.wasRead) return null
    this.wasRead = true
    const { chunks, race, explain, end } = this.source
    try {
      return await race(collect(chunks))
    } catch (err) {
      throw explain(err)
    } finally {
      end()
    }
  }

  override get body() {
    return this.whole().body
  }

  override get bodyUsed(): boolean {
    return this.wasRead || (this.made?.bodyUsed ?? false)
  }

  override clone(): Response {
    return this.whole().clone()
  }

  override async text(): Promise<string> {
    const bytes = await this.bytesNow()
    return bytes ? new TextDecoder().decode(bytes) : this.whole().text()
  }

  override async json() {
    return JSON.parse(await this.text())
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.bytesNow()
    return bytes ? new Uint8Array(bytes).buffer : this.whole().arrayBuffer()
  }

  override blob(): Promise<Blob> {
    return this.whole().blob()
  }

  override bytes() {
    return this.whole().bytes()
  }

  override formData(): Promise<FormData> {
    return this.whole().formData()
  }
}

async function collect(chunks: AsyncGenerator<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
