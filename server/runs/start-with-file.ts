import { z } from 'zod'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { RunPart } from '../definition/part'
import { AppError } from '../errors'
import { FILE_PART, MAX_FILE_BYTES, MultipartInput, type Upload } from '../http/multipart-input'
import { parseInput } from '../parse'
import { type StartedRun, startRun } from './start'

export const SentFile = z.object({
  name: z.string().min(1).max(1_000),
  type: z.string().max(300),
  base64: z.base64(),
})

/** A file chosen in the dashboard, whose calls are JSON. */
export type SentFile = z.input<typeof SentFile>

/**
 * Starts a run with a file, as a form does. The data has types already, unless it has a field `data`, which in a form
 * is that field's text.
 * @throws AppError INVALID_INPUT, FILE_TOO_LARGE, and the errors of `startRun`
 */
export async function startWithFile(
  ctx: ServiceContext,
  input: {
    workflowId: string
    data: JsonObject
    version?: string | undefined
    part?: RunPart | undefined
    test?: boolean | undefined
    file: unknown
  },
): Promise<StartedRun> {
  const file = readSentFile(input.file)
  const { workflowId, data, version, part, test } = input
  const texts = new Map(formTexts(data).map(([field, text]) => [field, [text]]))
  return startRun(ctx, { workflowId, version, part, test, body: new MultipartInput(texts, file) })
}

/** @throws AppError INVALID_INPUT, FILE_TOO_LARGE */
export function readSentFile(file: unknown): Upload {
  const { name, type, base64 } = parseInput(SentFile, file)
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.byteLength <= MAX_FILE_BYTES) return { name, type, bytes }
  const message = `The file may have at most ${MAX_FILE_BYTES} bytes.`
  throw new AppError('FILE_TOO_LARGE', { details: [{ path: FILE_PART, message }] })
}

/** The text parts of a form that preserve the types of values: all in one, unless a field has that part's name. */
export function formTexts(data: JsonObject): [name: string, text: string][] {
  if (!Object.hasOwn(data, 'data')) return [['data', JSON.stringify(data)]]
  return Object.entries(data).map(([field, value]) => [
    field,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
}
