import type { UserModelMessage } from 'ai'
import type { ServiceContext } from '../context'
import type { MessageFile, UserMessage } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import { AppError, StepFailure } from '../errors'
import { findUploads } from '../files/direct/find'
import { shownName } from '../files/download-headers'
import { type FileRow, findFiles } from '../files/find'
import { UNKNOWN } from '../files/sniff'
import { MAX_FILE_BYTES } from '../http/multipart-input'
import { olderSeen } from '../outbox'
import { requireShown } from '../vault/download-file'
import { toAppError } from './failed-turn'
import { MAX_FILES } from './schema'

/** The most bytes of files in one call of a model. */
export const MAX_SENT_BYTES = 15 * 1024 * 1024
const AS_THEY_ARE = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf']
/** Text that a browser might run has no type of its own, so its sender's claim decides whether to read it. */
const TEXTS = /^(text\/|application\/(json|xml|xhtml\+xml)\b|image\/svg\+xml)/

export type UserPart = Exclude<UserModelMessage['content'], string>[number]

/**
 * The files that go to a model with a message. Their bytes are read for each call of a model and kept nowhere else.
 * @throws StepFailure FILE_NOT_SUPPORTED; AppError INVALID_INPUT for too many; FILE_NOT_FOUND; FORBIDDEN for a hidden
 * file
 */
export async function filesToSend(ctx: ServiceContext, ids: readonly string[]): Promise<MessageFile[]> {
  const wanted = [...new Set(ids.map((id) => id.toLowerCase()))]
  if (wanted.length > MAX_FILES)
    throw new AppError('INVALID_INPUT', { message: `A message can have at most ${MAX_FILES} files` })
  const found = await findFiles(ctx, wanted)
  const rows: FileRow[] = []
  for (const id of wanted) {
    const row = found.find((one) => one.id === id)
    if (!row) throw new AppError('FILE_NOT_FOUND', { message: `There is no file ${id.slice(0, 100)}` })
    await requireShown(ctx, row)
    rows.push(row)
  }
  return sendable(rows)
}

/** A message as a request has it. */
export interface SentMessage {
  message: string
  dataContext: JsonObject
  files: readonly { fileId: string }[]
  threadId?: string | null | undefined
}

/**
 * A message with its files: uploads of the caller, which the thread takes with the answer, or files that the thread has.
 * @throws AppError FILE_NOT_FOUND, FILE_NOT_SUPPORTED; INVALID_INPUT for a file that something else has; UNAVAILABLE
 */
export async function messageWithFiles(ctx: ServiceContext, sent: SentMessage): Promise<UserMessage> {
  const { message, dataContext } = sent
  if (sent.files.length === 0) return { message, dataContext }
  // An older process would leave the files out of a turn that it continues.
  if (olderSeen()) throw new AppError('UNAVAILABLE', { headers: { 'retry-after': '30' } })
  const ids = sent.files.map(({ fileId }) => fileId.toLowerCase())
  const found = [...(await findUploads(ctx, ids)), ...(await findFiles(ctx, ids))]
  const rows = ids.map((id, index) => {
    const path = `files[${index}].fileId`
    const row = found.find((one) => one.id === id)
    if (!row) throw new AppError('FILE_NOT_FOUND', { details: [{ path, message: NO_UPLOAD }] })
    if (row.claimedAt === null || (row.threadId !== null && row.threadId === sent.threadId)) return row
    throw new AppError('INVALID_INPUT', { details: [{ path, message: TAKEN }] })
  })
  try {
    return { message, dataContext, files: sendable([...new Map(rows.map((row) => [row.id, row])).values()]) }
  } catch (err) {
    throw toAppError(err)
  }
}

const NO_UPLOAD = 'is not the id of a file that you have uploaded within the last hour'
const TAKEN = 'belongs to a run or another thread. Upload the file again to send it here'

/** @throws StepFailure FILE_NOT_SUPPORTED */
function sendable(rows: readonly FileRow[]): MessageFile[] {
  const files = rows.map((row) => ({ fileId: row.id, name: shownName(row), type: typeOf(row), size: row.size }))
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (bytes <= MAX_SENT_BYTES) return files
  throw unsupported(`The files are too large together: ${bytes} bytes, and a message can have ${MAX_SENT_BYTES}`)
}

/** @throws StepFailure FILE_NOT_SUPPORTED */
function typeOf(row: FileRow): string {
  const { sniffedType, declaredType, size } = row
  const name = shownName(row)
  if (size > MAX_FILE_BYTES)
    throw unsupported(`${name} is too large for a model: ${size} bytes, and a file can have ${MAX_FILE_BYTES}`)
  const type = sniffedType === UNKNOWN ? declaredType : sniffedType
  if (!goesAsText(sniffedType) || TEXTS.test(type)) return type
  throw unsupported(`A model cannot read ${name} (${type}). It reads images (PNG, JPEG, WebP, GIF), PDFs and texts`)
}

/** Whether a model gets a file of this type as text, rather than its bytes. */
export const goesAsText = (type: string) => !AS_THEY_ARE.includes(type)

export const unsupported = (message: string) => new StepFailure('FILE_NOT_SUPPORTED', message)

/** Places for files in a user's message, which `withFiles` fills with their bytes. */
export function placesFor(files: readonly MessageFile[] = []): UserPart[] {
  return files.map(({ fileId, name, type, size }) => ({
    ...{ type: 'file', data: '', mediaType: type, filename: name },
    providerOptions: { millrace: { fileId, size } },
  }))
}

/** The file whose place this part is; null for another part. */
export function placeOf(part: UserPart): MessageFile | null {
  const place = part.type === 'file' ? part.providerOptions?.millrace : undefined
  if (part.type !== 'file' || place === undefined) return null
  return { fileId: String(place.fileId), name: part.filename ?? '', type: part.mediaType, size: Number(place.size) }
}
