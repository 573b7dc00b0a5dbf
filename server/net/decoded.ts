import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { OutboundFailure } from './outbound-failure'

/** What the encoding itself may add to what cannot be compressed. */
const WIRE_SLACK = 64 * 1024

/** The encodings that `decoded` undoes. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/**
 * A response's bytes with their encoding undone, counted while they come, on the wire and after: what is small there
 * and large here ends at the limit.
 * @throws OutboundFailure OUTPUT_INVALID when it is larger than `limit` bytes or encoded in another way
 */
export async function* decoded(source: Readable, encoding: string, limit: number): AsyncGenerator<Uint8Array> {
  const decoder = decoderFor(encoding)
  if (!decoder) {
    yield* counted(source, limit, limit)
    return
  }
  // Destroys all of them when one fails or is left, and hands a failure on to whoever reads the decoder.
  pipeline(Readable.from(counted(source, limit + WIRE_SLACK, limit)), decoder, () => {})
  try {
    yield* counted(decoder, limit, limit)
  } catch (err) {
    if (!isDecodingError(err)) throw err
    throw new OutboundFailure('OUTPUT_INVALID', `The response is not the ${encoding} it says it is.`, { cause: err })
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
      throw new OutboundFailure('OUTPUT_INVALID', 'The response has an encoding that is not supported.')
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

/** Codes of zlib, and of the brotli decoder. */
function isDecodingError(err: unknown): boolean {
  return err instanceof Error && 'code' in err && /^(Z_|ERR__|ERR_BROTLI)/.test(String(err.code))
}
