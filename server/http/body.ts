import { AppError } from '../errors'
import { isJsonObject, type JsonObject, type JsonValue, unstorable } from '../json'

export const MAX_JSON_BYTES = 1024 * 1024
const MAX_DEPTH = 64
const MAX_KEYS = 10_000

/**
 * The request's JSON object; an empty body is `{}`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_INPUT
 */
export async function readJsonBody(request: Request): Promise<JsonObject> {
  const text = await readText(request, MAX_JSON_BYTES)
  if (text.trim() === '') return {}
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { details: [{ message: 'Send content-type: application/json.' }] })
  }
  return parseJsonObject(text)
}

/** @throws AppError INVALID_INPUT */
export function parseJsonObject(text: string): JsonObject {
  refuseDeepJson(text)
  let value: JsonValue
  try {
    value = JSON.parse(text, dropProto) as JsonValue
  } catch {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body is not valid JSON.' }] })
  }
  if (!isJsonObject(value)) {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body must be a JSON object.' }] })
  }
  const problem = unstorable(value)
  if (problem) throw new AppError('INVALID_INPUT', { details: [problem] })
  return value
}

async function readText(request: Request, limit: number): Promise<string> {
  const tooLarge = () =>
    new AppError('PAYLOAD_TOO_LARGE', { details: [{ message: `At most ${limit} bytes are accepted.` }] })
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  if (!request.body) return ''
  // The declared length may be missing or a lie, so the bytes are counted as they come.
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body is not valid UTF-8.' }] })
  }
}

/** Depth and size are counted before parsing: later passes over the value recurse. */
function refuseDeepJson(text: string): void {
  let depth = 0
  let keys = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 92) i++
      else if (char === 34) inString = false
      continue
    }
    if (char === 34) inString = true
    else if (char === 123 || char === 91) {
      if (++depth > MAX_DEPTH)
        throw new AppError('INVALID_INPUT', {
          details: [{ message: `The body is nested deeper than ${MAX_DEPTH} levels.` }],
        })
    } else if (char === 125 || char === 93) depth--
    else if (char === 58 && ++keys > MAX_KEYS) {
      throw new AppError('INVALID_INPUT', { details: [{ message: `The body has more than ${MAX_KEYS} keys.` }] })
    }
  }
}

function dropProto(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}
