/** The type of bytes that show none. */
export const UNKNOWN = 'application/octet-stream'
const HEAD_BYTES = 4096

/** The first bytes of each format; `at` is their offset when not 0. */
const MAGIC: { type: string; bytes: string; at?: number }[] = [
  { type: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { type: 'image/gif', bytes: 'GIF87a' },
  { type: 'image/gif', bytes: 'GIF89a' },
  { type: 'image/webp', bytes: 'WEBPVP8', at: 8 },
  { type: 'image/tiff', bytes: 'II*\x00' },
  { type: 'image/tiff', bytes: 'MM\x00*' },
  { type: 'image/avif', bytes: 'ftypavif', at: 4 },
  { type: 'image/heic', bytes: 'ftypheic', at: 4 },
  { type: 'video/quicktime', bytes: 'ftypqt  ', at: 4 },
  { type: 'video/mp4', bytes: 'ftyp', at: 4 },
  { type: 'video/webm', bytes: '\x1a\x45\xdf\xa3' },
  { type: 'audio/wav', bytes: 'WAVEfmt ', at: 8 },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/ogg', bytes: 'OggS\x00' },
  { type: 'audio/flac', bytes: 'fLaC\x00' },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'application/gzip', bytes: '\x1f\x8b\x08' },
  { type: 'application/x-7z-compressed', bytes: "7z\xbc\xaf'\x1c" },
  { type: 'application/zip', bytes: 'PK\x05\x06' },
]

const OFFICE = 'application/vnd.openxmlformats-officedocument.'
/** Folders that identify a format based on zip. */
const ZIPPED: [folder: string, type: string][] = [
  ['word/', `${OFFICE}wordprocessingml.document`],
  ['xl/', `${OFFICE}spreadsheetml.sheet`],
  ['ppt/', `${OFFICE}presentationml.presentation`],
]

/** A longer text is not parsed, which would hold up everything else. */
const MAX_JSON_CHARS = 4 * 1024 * 1024
/** No mark that is searched for is longer. */
const OVERLAP = 24

/**
 * The type that the bytes show; the sender's claim does not count. Text that a browser might treat as a document with
 * scripts (HTML, SVG, any XML) counts as unknown.
 */
export function sniffType(bytes: Uint8Array): string {
  const sniffer = new Sniffer()
  sniffer.push(bytes)
  return sniffer.end()
}

/** Looks at the bytes of one format. */
interface Reader {
  push(bytes: Buffer): void
  end(): string
}

/** As `sniffType`, for bytes that come piece by piece. It holds no more of them than a JSON text may have. */
export class Sniffer {
  private start = Buffer.alloc(0)
  private reader: Reader | null = null

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (this.reader) this.reader.push(bytes)
    else {
      this.start = Buffer.concat([this.start, bytes])
      if (this.start.byteLength >= HEAD_BYTES) this.reader = begin(this.start)
    }
  }

  end(): string {
    return (this.reader ?? begin(this.start)).end()
  }
}

function begin(start: Buffer): Reader {
  const head = start.toString('latin1', 0, HEAD_BYTES)
  const known = MAGIC.find(({ bytes, at = 0 }) => head.startsWith(bytes, at))
  if (known) return { push() {}, end: () => known.type }
  const isZip = head.startsWith('PK\x03\x04')
  const reader = isZip ? new ZipReader(head.includes('[Content_Types].xml')) : new TextReader()
  reader.push(start)
  return reader
}

const RELATIONS = '_rels/.rels'
const DIRECTORY = 'PK\x01\x02'

class ZipReader implements Reader {
  private readonly missing = new Set([RELATIONS, DIRECTORY, ...ZIPPED.map(([folder]) => folder)])
  /** The end of the last piece, in which a mark may begin. */
  private before = Buffer.alloc(0)

  constructor(private readonly hasContentTypes: boolean) {}

  push(bytes: Buffer): void {
    const both = Buffer.concat([this.before, bytes])
    for (const mark of this.missing) if (both.includes(mark)) this.missing.delete(mark)
    this.before = Buffer.from(both.subarray(-OVERLAP))
  }

  end(): string {
    const has = (mark: string) => !this.missing.has(mark)
    const isPackage = this.hasContentTypes || has(RELATIONS)
    const found = isPackage && has(DIRECTORY) && ZIPPED.find(([folder]) => has(folder))
    return found ? found[1] : 'application/zip'
  }
}

class TextReader implements Reader {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true })
  private isText = true
  /** The first character that is not a space. */
  private first = ''
  private before = ''
  /** Null once it is too long to be parsed. */
  private whole: string | null = ''

  push(bytes: Buffer): void {
    this.take(() => this.decoder.decode(bytes, { stream: true }))
  }

  end(): string {
    this.take(() => this.decoder.decode(), ' ')
    if (!this.isText || this.whole === '') return UNKNOWN
    return this.whole !== null && '{['.includes(this.first) && isJson(this.whole)
      ? 'application/json'
      : 'text/plain; charset=utf-8'
  }

  /** @param then what follows the text, if that is known */
  private take(decode: () => string, then = ''): void {
    if (!this.isText) return
    try {
      const text = decode()
      this.first ||= text.trimStart().slice(0, 1)
      const both = this.before + text
      this.isText = this.first !== '<' && !hasControls(text) && !MARKUP.test(both + then)
      this.before = both.slice(-OVERLAP)
      if (this.whole !== null) this.whole = this.whole.length + text.length > MAX_JSON_CHARS ? null : this.whole + text
    } catch {
      this.isText = false
    }
  }
}

/**
 * Searched for in the whole text, because old browsers sniffed beyond the start. Where a piece of it ends, the next one
 * decides whether a name ends too.
 */
const MARKUP = /<(?:!doctype|\?xml|html|head|body|script|svg|iframe|style|img)(?=\W)/i

function hasControls(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 32 && code !== 9 && code !== 10 && code !== 12 && code !== 13) return true
  }
  return false
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
