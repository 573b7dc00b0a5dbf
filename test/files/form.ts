/** A part exactly as sent. */
export interface RawPart {
  disposition: string
  type?: string
  headers?: string[]
  content: string | Uint8Array
}

export const BOUNDARY = 'xXboundaryXx'

/** A hand-written form, for parts that no proper client would send. */
export function rawForm(parts: RawPart[], boundary = BOUNDARY): Buffer {
  const chunks = parts.flatMap(({ disposition, type, headers = [], content }) => [
    Buffer.from(
      [
        `--${boundary}`,
        `Content-Disposition: ${disposition}`,
        ...(type === undefined ? [] : [`Content-Type: ${type}`]),
        ...headers,
        '',
        '',
      ].join('\r\n'),
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)])
}

export const text = (name: string, content: string): RawPart => ({ disposition: `form-data; name="${name}"`, content })

export const attachment = (content: string | Uint8Array, filename = 'a.txt', type = 'text/plain'): RawPart => ({
  disposition: `form-data; name="attachment"; filename="${filename}"`,
  type,
  content,
})

export function formRequest(
  body: Uint8Array | ReadableStream<Uint8Array>,
  options: { url?: string; boundary?: string; headers?: Record<string, string> } = {},
): Request {
  return new Request(options.url ?? 'http://test.invalid/', {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${options.boundary ?? BOUNDARY}`,
      // Real requests have it, but a Request made from bytes does not set it.
      ...(body instanceof Uint8Array ? { 'content-length': String(body.byteLength) } : {}),
      ...options.headers,
    },
    body: body as Uint8Array<ArrayBuffer>,
    duplex: 'half',
  } as RequestInit)
}

/** A chunked body without a length, which ends when its reader has read enough. */
export function chunked(
  bytes: Uint8Array,
  chunkSize = 64 * 1024,
): { body: ReadableStream<Uint8Array>; sent(): number } {
  let at = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= bytes.byteLength) return controller.close()
        controller.enqueue(bytes.subarray(at, at + chunkSize))
        at += chunkSize
      },
    },
    { highWaterMark: 0 },
  )
  return { body, sent: () => at }
}
