import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { RunPart } from '../definition/part'
import { type StoredUpload, storeUpload } from '../files/direct/store'
import { idOf, withStagedFiles } from '../files/stage'
import { fileTooLarge } from '../http/file-too-large'
import {
  FILE_PART,
  MAX_FILE_BYTES,
  MultipartInput,
  type NamedUpload,
  type Upload,
  type Uploaded,
} from '../http/multipart-input'
import { parseInput } from '../parse'
import { idsByPart } from './input'
import { rerunRun } from './rerun'
import { type StartedRun, startRun } from './start'

export const EncodedFile = z.object({
  name: z.string().min(1).max(1_000),
  type: z.string().max(300),
  base64: z.base64(),
})

const UploadedFile = z.strictObject({ uploaded: z.uuid() })

/** A file chosen in the dashboard, whose calls are JSON: its bytes, or the id under which the page has uploaded it. */
export type SentFile = EncodedFile | z.input<typeof UploadedFile>
export type EncodedFile = z.input<typeof EncodedFile>

const SentParts = z
  .array(z.object({ part: z.string().min(1).max(100), file: z.unknown() }))
  .min(1)
  .max(20)

/** The files of a call, each with the name of the part that a form would send it as. */
export type SentParts = { part: string; file: SentFile }[]

/**
 * Starts a run with files, as a form does. The data has types already, unless it has a field `data`, which in a form is
 * that field's text.
 * @throws AppError INVALID_INPUT, FILE_TOO_LARGE, and the errors of `startRun`
 */
export async function startWithFiles(
  ctx: ServiceContext,
  input: {
    workflowId: string
    data: JsonObject
    version?: string | undefined
    part?: RunPart | undefined
    test?: boolean | undefined
    files: unknown
  },
): Promise<StartedRun> {
  const sent = readSentFiles(input.files)
  const { workflowId, data, version, part, test } = input
  const texts = new Map(formTexts(data).map(([field, text]) => [field, [text]]))
  const attachment = sent.find(({ part }) => part === FILE_PART)?.upload ?? null
  const named = sent.filter(({ part }) => part !== FILE_PART)
  return startRun(ctx, { workflowId, version, part, test, body: new MultipartInput(texts, attachment, named) })
}

/**
 * Reruns a run with other data and other files, which become the values of START fields that the data leaves out.
 * @throws AppError INVALID_INPUT, FILE_TOO_LARGE, UNAVAILABLE, and the errors of `rerunRun`
 */
export async function rerunWithFiles(
  ctx: ServiceContext,
  input: { runId: string; data: JsonObject; version?: string | number | undefined; files: unknown },
) {
  authorize(ctx, 'run:retry')
  const { runId, data, version } = input
  const staged = readSentFiles(input.files).map((one) => ({ ...one, id: idOf(one.upload) }))
  return withStagedFiles(ctx, staged, () =>
    rerunRun(ctx, { runId, body: { data, version } }, { sent: idsByPart(staged) }),
  )
}

/** @throws AppError INVALID_INPUT, FILE_TOO_LARGE */
function readSentFiles(files: unknown): NamedUpload<Upload | Uploaded>[] {
  const sent = parseInput(SentParts, files).map(({ part, file }) => ({ part, upload: readSentFile(file) }))
  const size = sent.reduce((sum, { upload }) => sum + ('bytes' in upload ? upload.bytes.byteLength : 0), 0)
  if (size > MAX_FILE_BYTES) throw fileTooLarge({ part: sent.at(-1)?.part, several: true })
  return sent
}

/**
 * Stores a file for a message, as a form to `POST /api/files` does.
 * @throws AppError INVALID_INPUT, FILE_TOO_LARGE, and as `storeUpload`
 */
export async function storeSentFile(ctx: ServiceContext, file: unknown): Promise<StoredUpload> {
  authorize(ctx, 'file:upload')
  return storeUpload(ctx, readEncodedFile(file))
}

/** @throws AppError INVALID_INPUT, FILE_TOO_LARGE */
export function readSentFile(file: unknown): Upload | Uploaded {
  const uploaded = UploadedFile.safeParse(file)
  return uploaded.success ? { uploaded: uploaded.data.uploaded.toLowerCase() } : readEncodedFile(file)
}

function readEncodedFile(file: unknown): Upload {
  const { name, type, base64 } = parseInput(EncodedFile, file)
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.byteLength > MAX_FILE_BYTES) throw fileTooLarge()
  return { name, type, bytes }
}

/** The text parts of a form that preserve the types of values: all in one, unless a field has that part's name. */
export function formTexts(data: JsonObject): [name: string, text: string][] {
  if (!Object.hasOwn(data, 'data')) return [['data', JSON.stringify(data)]]
  return Object.entries(data).map(([field, value]) => [
    field,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
}
