import { OutboundFailure } from './outbound-failure'

const MARKS: [number[], string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
]
const LONGEST_MARK = 3

/**
 * Converts a body to UTF-8, so that readers need not know its charset. A byte order mark overrides the header, as in
 * browsers; without either it is UTF-8 already.
 * @param type its `Content-Type`
 * @throws OutboundFailure OUTPUT_INVALID for an unknown charset
 */
export async function* inUtf8(chunks: AsyncGenerator<Uint8Array>, type: string): AsyncGenerator<Uint8Array> {
  // Event streams are always UTF-8.
  if (/^\s*text\/event-stream\b/i.test(type)) return yield* chunks
  const begun = await beginning(chunks)
  const decoder = begun.length === 0 ? null : decoderOf(begun, type)
  const encoder = new TextEncoder()
  // Only when streaming does every version of Node decode all of windows-1252.
  const decoded = (bytes?: Uint8Array) => encoder.encode(decoder?.decode(bytes, { stream: bytes !== undefined }))
  if (begun.length > 0) yield decoder ? decoded(begun) : begun
  for await (const chunk of chunks) yield decoder ? decoded(chunk) : chunk
  if (decoder) yield decoded()
}

/** As many bytes as a mark may have, or all if there are fewer. */
async function beginning(chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  let begun: Uint8Array = new Uint8Array()
  while (begun.length < LONGEST_MARK) {
    const { done, value } = await chunks.next()
    if (done) break
    begun = begun.length === 0 ? value : Buffer.concat([begun, value])
  }
  return begun
}

/** Null for UTF-8. */
function decoderOf(begun: Uint8Array, type: string): TextDecoder | null {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, index) => begun[index] === byte))
  const label = mark?.[1] ?? statedCharset(type)
  if (label === null) return null
  try {
    const decoder = new TextDecoder(label)
    return decoder.encoding === 'utf-8' ? null : decoder
  } catch {
    const name = label.replace(/[^ -~]/g, '').slice(0, 40)
    throw new OutboundFailure('OUTPUT_INVALID', `The response is in an unknown charset: ${name}.`)
  }
}

function statedCharset(type: string): string | null {
  const stated = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))/i.exec(type)
  const label = (stated?.[1] ?? stated?.[2] ?? stated?.[3] ?? '').trim()
  // The values that `file` and others state for data that is no text.
  return label === '' || label.toLowerCase() === 'binary' ? null : label
}
