import type { z } from 'zod'
import { countRequest } from '../../auth/limits'
import type { Visitor } from '../../auth/visitor'
import { isJsonObject, type JsonObject } from '../../definition/json'
import type { Fields } from '../../definition/schema'
import { AppError } from '../../errors'
import { FILE_PART } from '../../http/multipart-input'
import { parseInput } from '../../parse'
import { startRun } from '../../runs/start'
import { startWithFiles } from '../../runs/with-files'
import { countForm } from './admit'
import { type FoundStartLink, findStartLink } from './find'
import { startedAt, TakenForm } from './form'
import { openStartLink } from './open'
import { StartByLink, UnreadForm } from './schema'
import { takesFile } from './taken-files'
import { type StartLinkView, viewOfStart } from './view'

type Sent = z.output<typeof StartByLink>

/**
 * Starts the workflow of a link with the form that its holder sends, once, however often the form arrives.
 * @param countedLink the token of the link for which the form was counted before it was read
 * @returns the link's new view
 * @throws AppError INVALID_INPUT, FILE_TOO_LARGE, RATE_LIMITED, UNAVAILABLE; nothing is started, and the form may be
 *   sent again
 */
export async function startByLink(
  visitor: Visitor,
  input: unknown,
  countedLink: string | null = null,
): Promise<StartLinkView> {
  const unread = UnreadForm.safeParse(input)
  if (unread.success) return whyUnread(visitor, unread.data)
  const sent = parseInput(StartByLink, input)
  const found = await findStartLink(visitor, sent.token)
  if (!found) return { state: 'unknown' }
  const view = await viewOfStart(found)
  const earlier = await receipt(found, sent, view)
  if (earlier || view.state !== 'open') return earlier ?? view
  const data = declaredOnly(view.fields, sent.data)
  requireTaken(view.fields, sent.files)
  await limit(visitor, found, sent.token === countedLink)
  const refused = await start(found, { ...sent, data }).then(
    () => null,
    (err: unknown) => err,
  )
  const done = await receipt(found, sent, view)
  if (done) return done
  // The link or the workflow has changed between viewing and starting: the page then shows that.
  const now = refused instanceof AppError && OVERTAKEN.has(refused.code) ? await openStartLink(visitor, sent) : view
  if (now.state === 'open') throw refused
  return now
}

/**
 * Why a form was not read. Starts nothing, even if the link works again by now.
 * @throws AppError UNAVAILABLE if it does: the form may be sent again
 */
async function whyUnread(visitor: Visitor, { token }: { token: string }): Promise<StartLinkView> {
  const view = await openStartLink(visitor, { token })
  if (view.state === 'open') throw new AppError('UNAVAILABLE')
  return view
}

const OVERTAKEN = new Set(['CONFLICT', 'WORKFLOW_ARCHIVED', 'WORKFLOW_NOT_FOUND'])

/** The confirmation of a form that has started its run; null otherwise. */
async function receipt(found: FoundStartLink, { formId }: Sent, view: StartLinkView): Promise<StartLinkView | null> {
  const at = await startedAt(found, formId)
  return at && { state: 'started', title: 'title' in view ? view.title : '', at: at.toISOString() }
}

/** Of each link, all its holders together, and each address, unless that was counted before the form was read. */
async function limit(visitor: Visitor, found: FoundStartLink, counted: boolean): Promise<void> {
  const { db, now } = visitor
  const { tenantId, actor } = found.ctx
  if (!counted) await countForm(visitor, found)
  await countRequest({ tenantId, actor, trusted: null }, 'starts', db, now())
}

/**
 * The values of the form's fields. Files belong to the workspace: a person without an account sends their own, and
 * names none.
 * @throws AppError INVALID_INPUT
 */
function declaredOnly(fields: Fields, data: JsonObject): JsonObject {
  const given = Object.entries(fields).filter(([name]) => Object.hasOwn(data, name))
  const named = given.find(([name]) => takesFile(fields, name))
  if (named) {
    const message = 'A file of the workspace cannot be named through a link.'
    throw new AppError('INVALID_INPUT', { details: [{ path: named[0], message }] })
  }
  return Object.fromEntries(given.map(([name]) => [name, data[name] ?? null]))
}

/**
 * Refuses files that no field of the form takes; an attachment is for any of them. Their other rules are checked with
 * the start.
 * @throws AppError INVALID_INPUT
 */
function requireTaken(fields: Fields, files: unknown): void {
  const parts = (Array.isArray(files) ? files : []).map((file: unknown) => (isJsonObject(file) ? file.part : null))
  const taking = Object.keys(fields).filter((name) => takesFile(fields, name))
  const taken = (part: string) => (part === FILE_PART ? taking.length > 0 : taking.includes(part))
  const extra = parts.find((part) => typeof part === 'string' && !taken(part))
  if (typeof extra !== 'string') return
  const detail = { path: extra.slice(0, 100), message: 'No field of the form takes this file.' }
  throw new AppError('INVALID_INPUT', { details: [detail] })
}

async function start(found: FoundStartLink, { formId, data, files }: Sent): Promise<void> {
  const ctx = { ...found.ctx, keyed: new TakenForm(found, formId) }
  const { workflowId } = found.link
  if (files === undefined) await startRun(ctx, { workflowId, body: data, version: 'published' })
  else await startWithFiles(ctx, { workflowId, data, version: 'published', files })
}
