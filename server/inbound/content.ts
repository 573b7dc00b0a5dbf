import type { Sent } from '../definition/inbound'
import { type JsonValue, unstorable } from '../definition/json'
import { looksSecret } from '../definition/secret-name'
import { AppError } from '../errors'
import { type ByName, byName } from '../http/by-name'
import { parseJson } from '../http/parse-json'
import { SIGNATURE_HEADERS } from './schemes/registry'

/** The stored parts of a request, from which a replay reads it again. */
export interface Content {
  contentType: string
  headers: Record<string, string>
  query: ByName
  body: string
}

const MAX_NAMES = 50
const MAX_FORM_FIELDS = 1_000
const MAX_HEADER = 1_000
/** Headers added by the network, the web process and Next; `x-millrace-local` is even a key of this process. */
const TRANSPORT =
  /^(host|accept.*|connection|content-length|transfer-encoding|te|trailer|upgrade|via|forwarded|x-(forwarded|millrace|vercel|invoke|middleware|matched)-.*|x-real-ip|x-nonce|x-address|cf-.*)$/i

/**
 * The headers and parameters that are stored and that expressions can use.
 * @param signature the header of the signature, which may have any name
 */
export function keptParts(headers: Iterable<[string, string]>, query: ByName, signature: string | null) {
  const kept = [...headers]
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(
      ([name, value]) =>
        name !== signature &&
        !SIGNATURE_HEADERS.includes(name) &&
        !(looksSecret(name, value) || TRANSPORT.test(name) || value.length > MAX_HEADER) &&
        isText(value),
    )
  return {
    headers: Object.fromEntries(kept.slice(0, MAX_NAMES)),
    query: Object.fromEntries(
      Object.entries(query)
        .filter(([name, value]) => name !== '__proto__' && !looksSecret(name, value))
        .slice(0, MAX_NAMES),
    ),
  }
}

const isText = (value: string) => unstorable(value) === null

/** The text of a body, without a byte order mark. @throws AppError INVALID_INPUT */
export function decodeBody(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!isText(text)) throw new TypeError('not storable')
    return text
  } catch {
    throw invalid('The body is not text in UTF-8.')
  }
}

/** The input of expressions: JSON and forms as values, anything else as text. @throws AppError INVALID_INPUT */
export function sentOf({ contentType, headers, query, body }: Content): Sent {
  return { body: parsedBody(contentType, body), headers, query }
}

function parsedBody(contentType: string, text: string): JsonValue {
  const type = mediaType(contentType)
  if (type === 'application/x-www-form-urlencoded') return formOf(text)
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) {
    return text.trim() === '' ? {} : parseJson(text, 'The body', undefined, { foreign: true })
  }
  return text
}

/** GitHub, and Slack for buttons, send JSON in the field `payload` of a form. */
function formOf(text: string): JsonValue {
  const fields = [...new URLSearchParams(text)]
  if (fields.length > MAX_FORM_FIELDS) throw invalid(`The form has more than ${MAX_FORM_FIELDS} fields.`)
  const [first] = fields
  if (fields.length === 1 && first?.[0] === 'payload')
    return parseJson(first[1], 'payload', undefined, { foreign: true })
  const bad = fields.find((field) => !field.every(isText))
  if (bad) throw invalid('The form has text that cannot be stored.')
  return byName(fields.filter(([name]) => name !== '__proto__'))
}

export function mediaType(contentType: string): string {
  return contentType.split(';')[0]?.trim().toLowerCase() ?? ''
}

function invalid(message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ message }] })
}
