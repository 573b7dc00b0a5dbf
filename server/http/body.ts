import { isJsonObject, type JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { JSON_LIMITS, type JsonLimits, parseJson } from './parse-json'
import { SentRequest } from './sent-request'

export const MAX_JSON_BYTES = 1024 * 1024

export interface BodyLimits extends JsonLimits {
  bytes: number
}
export const LIMITS: BodyLimits = { bytes: MAX_JSON_BYTES, ...JSON_LIMITS }
/** For bodies that hold many of the objects that other bodies hold one of. */
export const LARGE_BODY: BodyLimits = { bytes: 8 * MAX_JSON_BYTES, keys: 200_000, values: 400_000 }

/**
 * The request's body as a JSON object; an empty body is `{}`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_INPUT
 */
export async function readJsonBody(request: Request, limits = LIMITS): Promise<JsonObject> {
  const text = await readText(request, limits.bytes)
  if (text.trim() === '') return {}
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { details: [{ message: 'Send content-type: application/json.' }] })
  }
  return parseJsonObject(text, limits)
}

/** @throws AppError INVALID_INPUT */
export function parseJsonObject(text: string, limits: JsonLimits = JSON_LIMITS): JsonObject {
  const value = parseJson(text, 'The body', limits)
  if (!isJsonObject(value)) {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body must be a JSON object.' }] })
  }
  return value
}

/** @throws AppError PAYLOAD_TOO_LARGE, INVALID_INPUT */
export async function readText(request: Request, limit: number): Promise<string> {
  const bytes = await readBytes(request, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body is not valid UTF-8.' }] })
  }
}

/**
 * The body as sent, which senders sign.
 * @throws AppError PAYLOAD_TOO_LARGE or the error of `tooLarge`, INVALID_INPUT
 */
export async function readBytes(
  request: Request,
  limit = MAX_JSON_BYTES,
  tooLarge = () =>
    new AppError('PAYLOAD_TOO_LARGE', { details: [{ message: `At most ${limit} bytes are accepted.` }] }),
): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  // Count the bytes as they arrive: the declared length may be missing or false.
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of bodyChunks(request)) {
      size += chunk.byteLength
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (err) {
    if (err instanceof AppError) throw err
    // The caller disconnected or sent a broken chunk, which is no fault of ours.
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body ended early.' }], cause: err })
  }
  return Buffer.concat(chunks)
}

/** The body as it arrives, no faster than it is read. */
export function bodyChunks(request: Request): AsyncIterable<Uint8Array> {
  return (request instanceof SentRequest ? request.chunks() : null) ?? chunksOf(request.body)
}

/** Iterates a stream. Node's streams support this, but the browser's type does not show it. */
export function chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncIterable<Uint8Array> {
  return (stream ?? []) as AsyncIterable<Uint8Array>
}
