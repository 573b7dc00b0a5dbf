import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { etagOf, isKnown } from './etag'

/** Stands for the address of the service while a text is made, so that invented addresses cost nothing. */
export const PLACEHOLDER = 'http://origin.millrace.invalid'
/** How many compressed copies of a text are cached, by address and encoding; others are sent uncompressed. */
const MAX_COPIES = 12
/** A copy that was unused for this long makes room for another one. */
const UNUSED_MS = 10 * 60_000

const ENCODINGS = ['br', 'gzip'] as const
const encode = {
  br: (text: string) =>
    promisify(brotliCompress)(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
    }),
  gzip: (text: string) => promisify(gzip)(text, { level: 9 }),
}

interface Copy {
  body: Promise<Buffer>
  usedAt: number
}

/** A reader of a cached text: the address it used for the service, its accepted encodings, and its current copy. */
export interface Reader {
  origin: string
  acceptEncoding: string | null | undefined
  ifNoneMatch: string | null | undefined
}

/** A text for everyone that differs only in the address of the service: made once, and sent compressed from memory. */
export class CachedText {
  readonly #parts: string[]
  readonly #etag: string
  readonly #copies = new Map<string, Copy>()

  /** @param text with `PLACEHOLDER` for the address; without one, the address is that of `PUBLIC_URL` */
  constructor(text: string) {
    this.#parts = text.split(PLACEHOLDER)
    this.#etag = etagOf(text)
  }

  /** @returns a null body if the reader already has it */
  async answer(reader: Reader): Promise<{ headers: Record<string, string>; body: Buffer | null }> {
    const shown = this.#parts.length === 1 ? '' : reader.origin
    const text = () => this.#parts.join(shown)
    const encoding = ENCODINGS.find((name) => accepts(reader.acceptEncoding ?? '', name))
    const copy = encoding && this.#copyOf(`${encoding} ${shown}`, () => encode[encoding](text()))
    const etag = etagOf(`${this.#etag} ${shown} ${copy ? encoding : ''}`)
    const headers = { etag, 'cache-control': 'no-cache', vary: 'Host, Accept-Encoding' }
    if (isKnown(reader.ifNoneMatch, etag)) return { headers, body: null }
    const body = copy ? await copy : Buffer.from(text())
    return { headers: copy && encoding ? { ...headers, 'content-encoding': encoding } : headers, body }
  }

  /** The copy of this name, made if there is room for it. */
  #copyOf(name: string, make: () => Promise<Buffer>): Promise<Buffer> | undefined {
    const copies = this.#copies
    const now = performance.now()
    const known = copies.get(name)
    if (known) {
      known.usedAt = now
      return known.body
    }
    if (copies.size >= MAX_COPIES) {
      const unused = [...copies].find(([, { usedAt }]) => now - usedAt > UNUSED_MS)
      if (!unused) return undefined
      copies.delete(unused[0])
    }
    const body = make()
    copies.set(name, { body, usedAt: now })
    return body
  }
}

const accepts = (accepted: string, name: string) =>
  new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\b)`).test(accepted)
