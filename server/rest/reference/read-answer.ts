import { wholeChars } from '@/lib/whole-chars'
import { bodyText } from '../../http/respond'

/** Nobody reads more than this on a page. */
const MAX_BYTES = 256 * 1024
/** How long a stream is followed. */
const MAX_MS = 15_000

export interface ReadAnswer {
  /** Null if it is no text. */
  text: string | null
  bytes: number
  /** Why the rest was not read; null if nothing is left. */
  cut: 'size' | 'time' | null
}

/** The body of a response as a page shows it: its beginning, or the first events of a stream. */
export async function readAnswer(response: Response): Promise<ReadAnswer> {
  const whole = bodyText(response)
  if (whole !== undefined) {
    const bytes = Buffer.byteLength(whole)
    const cut = bytes > MAX_BYTES ? 'size' : null
    return { text: cut ? wholeChars(whole, MAX_BYTES) : whole, bytes, cut }
  }
  if (!response.body) return { text: '', bytes: 0, cut: null }
  const { chunks, cut } = await readSome(response.body.getReader())
  const read = Buffer.concat(chunks)
  const isText = /^text\/|json/.test(response.headers.get('content-type') ?? '')
  // Decoded as a stream, so that half a character at the end is left out.
  const text = isText ? new TextDecoder().decode(read, { stream: cut !== null }) : null
  return { text, bytes: read.byteLength, cut }
}

async function readSome(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<'time'>((resolve) => {
    timer = setTimeout(() => resolve('time'), MAX_MS)
  })
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), over])
      if (next === 'time') return { chunks, cut: 'time' as const }
      if (next.done) return { chunks, cut: null }
      chunks.push(next.value)
      bytes += next.value.byteLength
      if (bytes >= MAX_BYTES) return { chunks, cut: 'size' as const }
    }
  } finally {
    clearTimeout(timer)
    // Nobody reads the rest.
    await reader.cancel().catch(() => {})
  }
}
