// Our own parser: busboy accepts parts without a name, repeated headers and texts that are not UTF-8; we refuse all
// three.

import { AppError } from '../errors'

const MAX_HEADER_BYTES = 8 * 1024

/** One part of a form as sent. `filename` is null if the part does not claim to be a file. */
export interface Part {
  name: string
  filename: string | null
  type: string
  /** A view of the body, not a copy. */
  bytes: Uint8Array
}

/**
 * The parts of a `multipart/form-data` body (RFC 7578, with the escapes browsers use in names).
 * @throws AppError INVALID_INPUT
 */
export function parseParts(body: Buffer, boundary: string, maxParts: number): Part[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const parts: Part[] = []
  // The first delimiter has no line break before it, unless there is a preamble.
  const opened = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
  let at = opened ? delimiter.length - 2 : after(body.indexOf(delimiter), delimiter)
  while (body[at] !== DASH || body[at + 1] !== DASH) {
    if (parts.length === maxParts) throw malformed(`has more than ${maxParts} parts`)
    at = endOfLine(body, at)
    const head = readHead(body, at)
    // In a part without content, the line break of the blank line may also be the delimiter's.
    const end = body.indexOf(delimiter, head.end - 2)
    at = after(end, delimiter)
    parts.push({ ...describePart(head.text), bytes: body.subarray(head.end, Math.max(end, head.end)) })
  }
  return parts
}

const CR = 13
const LF = 10
const DASH = 45
const SPACE = 32
const TAB = 9

function after(found: number, delimiter: Buffer): number {
  if (found === -1) throw malformed('ends early or does not have the boundary of the content-type')
  return found + delimiter.length
}

function endOfLine(body: Buffer, from: number): number {
  let at = from
  while (body[at] === SPACE || body[at] === TAB) at++
  if (body[at] !== CR || body[at + 1] !== LF) throw malformed('ends early or has text after a boundary')
  return at + 2
}

function readHead(body: Buffer, from: number): { text: string; end: number } {
  const head = body.subarray(from, from + MAX_HEADER_BYTES)
  const length = head.indexOf('\r\n\r\n')
  if (length === -1) throw malformed(`has a part whose headers do not end within ${MAX_HEADER_BYTES} bytes`)
  return { text: head.toString('utf8', 0, length), end: from + length + 4 }
}

const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/

function describePart(head: string): Omit<Part, 'bytes'> {
  const headers = new Map<string, string>()
  for (const line of head.split('\r\n')) {
    const [, name, value] = HEADER_LINE.exec(line) ?? []
    if (name === undefined || value === undefined || hasControl(value)) throw malformed('has a malformed part header')
    if (headers.has(name.toLowerCase())) throw malformed(`has a part with two ${name.slice(0, 40)} headers`)
    headers.set(name.toLowerCase(), value)
  }
  const encoding = headers.get('content-transfer-encoding')?.trim().toLowerCase() ?? 'binary'
  if (!['binary', '7bit', '8bit'].includes(encoding)) throw malformed('has an encoded part; parts are sent as they are')
  const params = dispositionParams(headers.get('content-disposition') ?? '')
  const name = params.get('name')
  if (name === undefined) throw malformed('has a part without a name')
  const extended = params.get('filename*')
  const plain = params.get('filename')
  return {
    name: unescapeName(name),
    filename: extended !== undefined ? decodeExtended(extended) : plain !== undefined ? unescapeName(plain) : null,
    type: headers.get('content-type')?.trim() ?? '',
  }
}

function dispositionParams(value: string): Map<string, string> {
  const params = new Map<string, string>()
  const type = /^form-data[ \t]*(?=;|$)/i.exec(value)
  if (!type) throw malformed('has a part whose content-disposition is not form-data')
  const param = /;[ \t]*([A-Za-z0-9_-]+\*?)=(?:"((?:\\.|[^"\\])*)"|([^;"\s]*))[ \t]*/y
  param.lastIndex = type[0].length
  while (param.lastIndex < value.length) {
    const match = param.exec(value)
    const key = match?.[1]?.toLowerCase()
    if (!match || key === undefined || params.has(key)) throw malformed('has a malformed content-disposition')
    params.set(key, match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3] ?? '')
  }
  return params
}

/** How browsers escape these three characters (HTML, "multipart form data"). */
function unescapeName(text: string): string {
  return text.replace(/%0D|%0A|%22/gi, decodeURIComponent)
}

/** RFC 8187: `UTF-8''na%C3%AFve.txt` */
function decodeExtended(text: string): string {
  const encoded = /^utf-8'[A-Za-z0-9-]*'(.*)$/i.exec(text)?.[1]
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded)
  } catch {
    // Not percent-encoded UTF-8.
  }
  throw malformed('has a malformed filename*')
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code < SPACE && code !== TAB) || code === 127) return true
  }
  return false
}

function malformed(problem: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ message: `The form ${problem}.` }] })
}
