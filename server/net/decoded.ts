import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { OutboundFailure } from './outbound-failure'

/** How much an encoding may add to data that cannot be compressed. */
const WIRE_SLACK = 64 * 1024

/** The encodings `decoded` can undo. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/**
 * Decodes a response's bytes and counts them as they arrive, both encoded and decoded, so a small response that decodes
 * to a huge one stops at the limit.
 * @throws OutboundFailure OUTPUT_INVALID when it is larger than `limit` bytes or has an unsupported encoding
 */
export async function* decoded(source: Readable, encoding: string, limit: number): AsyncGenerator<Uint8Array> {
  const decoder = decoderFor(encoding)
  if (!decoder) {
    yield* counted(source, limit, limit)
    return
  }
  // Destroys all streams when one fails or the reader leaves, and passes a failure on to the decoder's reader.
  pipeline(Readable.from(counted(source, limit + WIRE_SLACK, limit)), decoder, () => {})
  try {
    yield* counted(decoder, limit, limit)
  } catch (err) {
    if (!isDecodingError(err)) throw err
    throw new OutboundFailure('OUTPUT_INVALID', `The response is not valid ${encoding}.`, { cause: err })
  } finally {
    source.destroy()
  }
}

function decoderFor(encoding: string): Transform | null {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      throw new OutboundFailure('OUTPUT_INVALID', 'The response has an unsupported encoding.')
  }
}

async function* counted(source: AsyncIterable<Uint8Array>, max: number, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of source) {
    size += chunk.byteLength
    if (size > max) throw new OutboundFailure('OUTPUT_INVALID', `The response is larger than ${limit} bytes.`)
    yield chunk
  }
}

/** Error codes of zlib and of the brotli decoder. */
function isDecodingError(err: unknown): boolean {
  return err instanceof Error && 'code' in err && /^(Z_|ERR__|ERR_BROTLI)/.test(String(err.code))
}
