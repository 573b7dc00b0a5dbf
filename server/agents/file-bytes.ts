import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelMessage } from 'ai'
import { seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { SentFile } from '../definition/agent'
import { AppError } from '../errors'
import { findFiles } from '../files/find'
import { findFile, readStart } from '../files/read'
import { ModelFailure } from '../models/failure'
import { reserveTenantSlot, type SlotKind } from '../tenant-slots'
import { hiddenFiles } from '../vault/hidden-files'
import { block } from './prompt'
import { MAX_SENT_BYTES, placeOf, type UserPart, unsupported } from './sent-files'

const MIB = 1024 * 1024
/** A file takes several times its size while it is sent. In mebibytes. */
const SENDING: SlotKind = {
  ...{ name: 'files to models', perTenant: 30, inAll: 60, longestMs: 5 * 60_000 },
  refusal: 'Other files are being sent to models; try again shortly.',
}
const ROOM_AGAIN_MS = 250

interface Limits {
  signal: AbortSignal
  /** In `performance.now()` time. */
  deadline: number
}

/**
 * Fills in the files of a conversation for one call of a model: those of the current message, and of the earlier ones
 * the newest for which there is room; the others are only named. Waits while other files are being sent.
 * @param current the files of the current message
 * @returns `release` says that the bytes are no longer used
 * @throws StepFailure FILE_NOT_SUPPORTED; AppError FILE_NOT_FOUND; UNAVAILABLE, also without room by the deadline; the
 * signal's reason
 */
export async function withFiles(
  ctx: ServiceContext,
  messages: ModelMessage[],
  { current = [], ...limits }: Limits & { current?: readonly SentFile[] | undefined },
): Promise<{ messages: ModelMessage[]; release: () => void }> {
  const places = messages.flatMap((message) => partsOf(message).flatMap((part) => placeOf(part) ?? []))
  if (places.length === 0) return { messages, release() {} }
  const required = new Set(current.map(({ fileId }) => fileId))
  const chosen = newestThatFit(places, await readable(ctx, places, required))
  const bytes = chosen.reduce((sum, { size }) => sum + size, 0)
  const release = await room(ctx.tenantId, Math.ceil(bytes / MIB), limits)
  try {
    const parts = new Map<string, UserPart>()
    for (const file of chosen) parts.set(file.fileId, await partOf(ctx, file, required.has(file.fileId)))
    return { messages: messages.map((message) => filled(message, parts)), release }
  } catch (err) {
    release()
    throw err
  }
}

const partsOf = ({ role, content }: ModelMessage) => (role === 'user' && typeof content !== 'string' ? content : [])

/** The ids of the files that exist, and that the caller may know. */
async function readable(
  ctx: ServiceContext,
  places: readonly SentFile[],
  required: ReadonlySet<string>,
): Promise<Set<string>> {
  const ids = places.map(({ fileId }) => fileId).filter((id) => !required.has(id))
  const found = await findFiles(ctx, ids)
  // For the current message, `filesToSend` has checked it.
  const hidden = seesHidden(ctx) ? await hiddenFiles(ctx, found) : new Set()
  return new Set([...required, ...found.map(({ id }) => id).filter((id) => !hidden.has(id))])
}

function newestThatFit(places: readonly SentFile[], readable: ReadonlySet<string>): SentFile[] {
  const chosen = new Map<string, SentFile>()
  let left = MAX_SENT_BYTES
  for (const place of places.toReversed()) {
    if (chosen.has(place.fileId) || place.size > left || !readable.has(place.fileId)) continue
    chosen.set(place.fileId, place)
    left -= place.size
  }
  return [...chosen.values()]
}

async function room(tenantId: string, mebibytes: number, { signal, deadline }: Limits): Promise<() => void> {
  for (;;) {
    try {
      return reserveTenantSlot(SENDING, tenantId, mebibytes)
    } catch (err) {
      if (!(err instanceof AppError) || performance.now() + ROOM_AGAIN_MS >= deadline) throw err
    }
    await sleep(ROOM_AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function partOf(ctx: ServiceContext, file: SentFile, isRequired: boolean): Promise<UserPart> {
  const { fileId, name, type } = file
  let bytes: Buffer
  try {
    const found = await findFile(ctx, { fileId })
    bytes = await readStart(ctx, found, found.size + 1)
  } catch (err) {
    if (isRequired || !(err instanceof AppError) || err.code !== 'FILE_NOT_FOUND') throw err
    return mention(file)
  }
  const isText = type !== 'application/pdf' && (!type.startsWith('image/') || type.startsWith('image/svg'))
  if (!isText) return { type: 'file', data: new Uint8Array(bytes), mediaType: type, filename: name }
  // As a text everywhere: some providers take no files of texts.
  const content = textOf(bytes)
  if (content !== null) return { type: 'text', text: block('file', { name, content }) }
  if (isRequired) throw unsupported(`A model cannot read ${name}: it is not text in UTF-8`)
  return mention(file)
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

const mention = ({ name }: SentFile): UserPart => ({
  type: 'text',
  text: block('file', { name, content: null, note: 'This earlier file is no longer available.' }),
})

function filled(message: ModelMessage, parts: ReadonlyMap<string, UserPart>): ModelMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message
  const content = message.content.map((part) => {
    const place = placeOf(part)
    return place ? (parts.get(place.fileId) ?? mention(place)) : part
  })
  return { ...message, content }
}

/** What providers answer if a file may be the reason. */
const REFUSALS = [400, 413, 415, 422]

/** The failure of a model, which names the files of the message if they may be the reason. */
export function namingFiles(err: unknown, files: readonly SentFile[] = []): unknown {
  if (!(err instanceof ModelFailure) || files.length === 0 || !REFUSALS.includes(err.status ?? 0)) return err
  const names = files.map(({ name }) => name).join(', ')
  const { provider, status, transient, retryAfterMs, code } = err
  const problem = `answered with status ${status} to a message with files: ${names}`
  return new ModelFailure(provider, problem, { transient, retryAfterMs, code, ...(status === null ? {} : { status }) })
}
