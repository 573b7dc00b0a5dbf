import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelMessage } from 'ai'
import { authorize, seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { MessageFile } from '../definition/agent'
import { AppError } from '../errors'
import { findCheckedFiles, findFiles } from '../files/find'
import { type FileRow, readStart } from '../files/read'
import { ModelFailure } from '../models/failure'
import { reserveTenantSlot, type SlotKind } from '../tenant-slots'
import { hiddenFiles } from '../vault/hidden-files'
import { goesAsText, MAX_SENT_BYTES, placeOf, type UserPart, unsupported } from './message-files'
import { block } from './prompt'

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
  { current = [], ...limits }: Limits & { current?: readonly MessageFile[] | undefined },
): Promise<{ messages: ModelMessage[]; release: () => void }> {
  const places = messages.flatMap((message) => partsOf(message).flatMap((part) => placeOf(part) ?? []))
  if (places.length === 0) return { messages, release() {} }
  const required = new Set(current.map(({ fileId }) => fileId))
  const rows = await readable(ctx, places, required)
  if (current.some(({ fileId }) => !rows.has(fileId))) throw new AppError('FILE_NOT_FOUND')
  const chosen = newestThatFit(places, rows)
  const bytes = chosen.reduce((sum, { place }) => sum + place.size, 0)
  const release = await room(ctx.tenantId, Math.ceil(bytes / MIB), limits)
  try {
    const parts = new Map<string, UserPart>()
    for (const { place, row } of chosen) parts.set(row.id, await partOf(ctx, place, row, required.has(row.id)))
    return { messages: filledFrom(messages, parts), release }
  } catch (err) {
    release()
    throw err
  }
}

const partsOf = ({ role, content }: ModelMessage) => (role === 'user' && typeof content !== 'string' ? content : [])

/** The files that exist, and that the caller may know, by id. */
async function readable(
  ctx: ServiceContext,
  places: readonly MessageFile[],
  required: ReadonlySet<string>,
): Promise<Map<string, FileRow>> {
  authorize(ctx, 'file:read')
  const ids = places.map(({ fileId }) => fileId)
  const earlier = await findFiles(
    ctx,
    ids.filter((id) => !required.has(id)),
  )
  // Those of the current message were checked before the turn. A thread takes its uploads only with its answer.
  const found = [...earlier, ...(await findCheckedFiles(ctx, [...required]))]
  const hidden = seesHidden(ctx) ? await hiddenFiles(ctx, earlier) : new Set()
  return new Map(found.filter(({ id }) => !hidden.has(id)).map((row) => [row.id, row]))
}

interface Chosen {
  place: MessageFile
  row: FileRow
}

function newestThatFit(places: readonly MessageFile[], rows: ReadonlyMap<string, FileRow>): Chosen[] {
  const chosen = new Map<string, Chosen>()
  let left = MAX_SENT_BYTES
  for (const place of places.toReversed()) {
    const row = rows.get(place.fileId)
    if (!row || chosen.has(row.id) || place.size > left) continue
    chosen.set(row.id, { place, row })
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

async function partOf(ctx: ServiceContext, file: MessageFile, row: FileRow, isRequired: boolean): Promise<UserPart> {
  const { name, type } = file
  let bytes: Buffer
  try {
    bytes = await readStart(ctx, row, row.size + 1)
  } catch (err) {
    if (isRequired || !(err instanceof AppError) || err.code !== 'FILE_NOT_FOUND') throw err
    return mention(file)
  }
  if (!goesAsText(type)) return { type: 'file', data: new Uint8Array(bytes), mediaType: type, filename: name }
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

const GONE = 'This earlier file is no longer available.'
const AGAIN = 'A later message has this file again.'

const mention = ({ name }: MessageFile, note = GONE): UserPart => ({
  type: 'text',
  text: block('file', { name, content: null, note }),
})

/** With the parts in the last of their places. */
function filledFrom(messages: ModelMessage[], parts: ReadonlyMap<string, UserPart>): ModelMessage[] {
  const placed = new Set<string>()
  const fill = (part: UserPart) => {
    const place = placeOf(part)
    if (!place) return part
    const filling = parts.get(place.fileId)
    if (!filling || placed.has(place.fileId)) return mention(place, filling ? AGAIN : GONE)
    placed.add(place.fileId)
    return filling
  }
  // From the newest to the oldest.
  const filled = messages.toReversed().map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message
    return { ...message, content: message.content.toReversed().map(fill).toReversed() }
  })
  return filled.toReversed()
}

/** What providers answer if a file may be the reason. */
const REFUSALS = [400, 413, 415, 422]

/** The failure of a model, which names the files of the message if they may be the reason. */
export function namingFiles(err: unknown, files: readonly MessageFile[] = []): unknown {
  if (!(err instanceof ModelFailure) || files.length === 0 || !REFUSALS.includes(err.status ?? 0)) return err
  const names = files.map(({ name }) => name).join(', ')
  const { provider, status, transient, retryAfterMs, code, kind } = err
  const problem = `answered with status ${status} to a message with files: ${names}`
  return new ModelFailure(provider, problem, {
    transient,
    retryAfterMs,
    code,
    kind,
    ...(status === null ? {} : { status }),
  })
}
