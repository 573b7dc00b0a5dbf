const UNKNOWN = 'application/octet-stream'
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

/**
 * The type that the bytes show; the sender's claim does not count. Text that a browser might treat as a document with
 * scripts (HTML, SVG, any XML) counts as unknown.
 */
export function sniffType(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = buffer.toString('latin1', 0, HEAD_BYTES)
  for (const { type, bytes: magic, at = 0 } of MAGIC) if (head.startsWith(magic, at)) return type
  if (head.startsWith('PK\x03\x04')) return zippedType(buffer)
  return textType(buffer)
}

function zippedType(buffer: Buffer): string {
  if (!buffer.subarray(0, HEAD_BYTES).includes('[Content_Types].xml') && !buffer.includes('_rels/.rels')) {
    return 'application/zip'
  }
  return ZIPPED.find(([folder]) => buffer.includes(`PK\x01\x02`) && buffer.includes(folder))?.[1] ?? 'application/zip'
}

function textType(buffer: Buffer): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(buffer)
  } catch {
    return UNKNOWN
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 32 && code !== 9 && code !== 10 && code !== 12 && code !== 13) return UNKNOWN
  }
  if (text === '' || looksLikeMarkup(text)) return UNKNOWN
  return /^\s*[{[]/.test(text) && isJson(text) ? 'application/json' : 'text/plain; charset=utf-8'
}

/** Searches the whole text, because old browsers sniffed beyond the start. */
function looksLikeMarkup(text: string): boolean {
  return (
    text.trimStart().startsWith('<') || /<(?:!doctype|\?xml|html|head|body|script|svg|iframe|style|img)\b/i.test(text)
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
