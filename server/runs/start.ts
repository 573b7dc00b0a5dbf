import { sqlState } from '@/db/index'
import { requireVerifiedCaller } from '../auth/cached-caller'
import { authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import { isInTransaction, type ServiceContext, withTransaction } from '../context'
import { isJsonObject, type JsonObject, jsonSize } from '../definition/json'
import type { RunPart } from '../definition/part'
import type { Fields } from '../definition/schema'
import { AppError } from '../errors'
import { requireFiles } from '../files/named'
import { claimFiles, idOf, type Staged, withStagedFiles } from '../files/stage'
import { MultipartInput, type NamedUpload, type Upload, type Uploaded } from '../http/multipart-input'
import { permanentFailure } from '../interpreter/flow/index'
import { insertRun } from '../interpreter/index'
import type { Slot } from '../outbox'
import { requireRunnable } from '../workflows/check/definition'
import { firstStepOf } from '../workflows/first-step'
import { type VersionToRun, versionToRun } from '../workflows/version-to-run'
import { idsByPart, readStartInput, type StartBody } from './input'
import { slotForRun } from './queue-room'
import { checkPart, readDataOfStep, readPart } from './start-part'

/** How often a start rereads a workflow that is being changed. */
const MAX_TRIES = 5
/**
 * How long a start stays unwritten if its caller waits only for the write. A queued run costs about half as much again
 * as one that begins immediately; beyond this time, the response matters more.
 */
const SOON_MS = 100
/** The largest body of a start that waits to be written. */
const MAX_WAITING_BYTES = 64 * 1024
/** Violation of a foreign key: a run refers to its version. */
const VERSION_GONE = '23503'

export interface StartedRun {
  runId: string
  workflowVersion: number
}

interface Waits {
  ms: number
  signal: AbortSignal
  /** Called just before the run is written. */
  begins(): void
}

interface StartInput {
  workflowId: string
  /** An object with the START fields, or a form. */
  body: unknown
  /** `published`, `latest` or a number. */
  version?: string | undefined
  /** How long the caller waits for the run's end. Until the run can begin, it need not be written. */
  waits?: Waits | undefined
  /** Tries out only a part of the version. */
  part?: RunPart | undefined
  /** Tries out the version, even if it is the published one. Only people do. */
  test?: boolean | undefined
}

/** A start as read from the request. */
interface Start extends Omit<StartInput, 'body' | 'part'> {
  body: StartBody
  part: RunPart | null
  /** A form's files, with the names of their parts. */
  files: readonly (Staged & { part: string })[]
}

/**
 * Creates a run: the row, its main walk and the event that starts it, all or nothing. It uses the published version, or
 * the latest draft if none was ever published, and stays on that version. A form's files are stored once the input is
 * known to be valid, and assigned to the run in its transaction.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VALIDATION_FAILED, INVALID_INPUT, FORBIDDEN, UNAVAILABLE
 */
export async function startRun(ctx: ServiceContext, input: StartInput): Promise<StartedRun> {
  authorize(ctx, 'run:start')
  const start = readStart(input)
  if (start.files.length > 0) {
    await prepareStart(ctx, start, true)
    return withStagedFiles(ctx, start.files, () => writeUntilAccepted(ctx, start, null))
  }
  const slot = await reserveSlot(ctx, start)
  try {
    return await writeUntilAccepted(ctx, start, slot)
  } finally {
    slot?.release()
  }
}

/** @throws AppError INVALID_INPUT */
function readStart({ workflowId, body, version, waits, part, test }: StartInput): Start {
  const refuse = (path: string, message: string) => new AppError('INVALID_INPUT', { details: [{ path, message }] })
  if (!(body instanceof MultipartInput) && !isJsonObject(body)) throw refuse('data', 'must be a JSON object')
  if (version !== undefined && typeof version !== 'string') throw refuse('version', 'must be text')
  if (test !== undefined && typeof test !== 'boolean') throw refuse('test', 'must be true or false')
  const sent: readonly NamedUpload<Upload | Uploaded>[] = body instanceof MultipartInput ? body.files : []
  const files = sent.map((one) => ({ ...one, id: idOf(one.upload) }))
  return { workflowId, body, version, waits, part: readPart(part), test, files }
}

/**
 * A slot in this process to begin the run immediately, if its caller waits anyway or one becomes free soon. Null if the
 * run should be queued.
 */
async function reserveSlot(ctx: ServiceContext, start: Start): Promise<Slot | null> {
  // We hold a connection, maybe locks: do not wait.
  if (!start.waits && isInTransaction(ctx)) return null
  return slotForRun(ctx.tenantId, {
    ...(start.waits ?? { ms: SOON_MS, signal: new AbortController().signal }),
    async mayWait() {
      // Reject invalid starts before waiting.
      await prepareStart(ctx, start, true)
      return isSmall(start.body)
    },
  })
}

/** A larger body is written immediately: it would stay in memory for as long as it waits. */
function isSmall(body: StartBody): boolean {
  return !(body instanceof MultipartInput) && jsonSize(body) <= MAX_WAITING_BYTES
}

/** How a run is written. */
interface Try {
  /** Use the version that this process read last, which the statement checks. */
  fromCache: boolean
  /** Write the steps that follow together with the start. */
  plan: boolean
  slot: Slot | null
}

/** Writes the run, rereading the workflow whenever it was changed before that. */
async function writeUntilAccepted(ctx: ServiceContext, start: Start, slot: Slot | null): Promise<StartedRun> {
  let plan = true
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      const started = await tryToWrite(ctx, start, { fromCache: tries === 0, plan, slot })
      if (started) return started
    } catch (err) {
      // A draft's version may be folded into the next one before the run refers to it.
      if (sqlState(err) === VERSION_GONE) continue
      if (!plan || permanentFailure(err) === null) throw err
      // Postgres rejects a value of the first steps. Written without them, the run starts, and fails with the reason.
      plan = false
    }
  }
  throw new AppError('UNAVAILABLE', { details: [{ message: 'The workflow is being changed. Try again.' }] })
}

/**
 * One try. In its caller's transaction it has a savepoint: after a rejection by Postgres, the next try could do nothing
 * otherwise.
 */
function tryToWrite(ctx: ServiceContext, start: Start, how: Try): Promise<StartedRun | null> {
  const write = (within: ServiceContext) => writeRun(within, start, how)
  if (isInTransaction(ctx)) return ctx.db.transaction((db) => write({ ...ctx, db }))
  // A key and files are written with the run. Without them its one statement suffices, unless the workflow has just
  // been changed: then the version is locked, so that steady saving does not win every time.
  const isAlone = start.files.length === 0 && !ctx.keyed && how.fromCache
  return isAlone ? write(ctx) : withTransaction(ctx, write)
}

/** Null if the workflow was changed in the meantime. */
async function writeRun(ctx: ServiceContext, start: Start, { fromCache, plan, slot }: Try): Promise<StartedRun | null> {
  const { publishedVersion, uploads, ...prepared } = await prepareStart(ctx, start, fromCache)
  const { workflowId, waits, files } = start
  // What the caller has uploaded before is given to the run in the transaction that writes it.
  if (uploads.length > 0 && !isInTransaction(ctx))
    return withTransaction(ctx, (tx) => writeRun(tx, start, { fromCache, plan, slot }))
  waits?.begins()
  const runId = await insertRun(
    ctx,
    { workflowId, ...prepared, context: ctx.trusted },
    { publishedVersion },
    { plan, remember: waits !== undefined, slot },
  )
  if (runId === null) {
    requireVerifiedCaller(ctx)
    return null
  }
  const ids = [...files.map(({ id }) => id), ...uploads]
  if (ids.length > 0) await withTransaction(ctx, (tx) => claimFiles(tx, ids, runId))
  return { runId, workflowVersion: prepared.workflowVersion }
}

/** The version to run, and the run's initial data. */
async function prepareStart(ctx: ServiceContext, start: Start, fromCache: boolean) {
  const find = (fromCache: boolean) => versionToRun(ctx, start.workflowId, { wanted: start.version, fromCache })
  const found = await find(fromCache)
  try {
    return await checkStart(ctx, start, found)
  } catch (err) {
    if (!found.fromCache) throw err
    // The current version may accept input that an outdated version refuses.
    return checkStart(ctx, start, await find(false))
  }
}

/** @throws AppError FORBIDDEN, VALIDATION_FAILED, INVALID_INPUT */
async function checkStart(ctx: ServiceContext, start: Start, found: VersionToRun) {
  const { version, publishedVersion, wasPublished } = found
  // A draft newer than the published version is only for editors to try out.
  if (publishedVersion !== null && version > publishedVersion) authorize(ctx, 'workflow:write')
  const { part } = start
  const definition = part ? await checkPart(ctx, part, found.definition) : found.definition
  if (!part && !wasPublished) await requireRunnable(beyondReach(ctx), definition)
  const test = part !== null || isTest(ctx, start, version !== publishedVersion)
  const { input, uploads } = await readData(ctx, start, definition.payload)
  return {
    publishedVersion,
    workflowVersion: version,
    definition,
    part,
    firstStep: firstStepOf(definition),
    test,
    input,
    uploads,
  }
}

/** Whether a person tries the version out. */
function isTest(ctx: ServiceContext, { test = false }: Start, isDraft: boolean): boolean {
  if (ctx.actor.kind !== 'user') return false
  // The inbox and the insights omit it, so it is for users who may try out drafts.
  if (test) authorize(ctx, 'workflow:write')
  return test || isDraft
}

/**
 * The run's initial data, and the files in it that the caller has uploaded before.
 * @throws AppError INVALID_INPUT
 */
async function readData(
  ctx: ServiceContext,
  { part, body, files }: Start,
  payload: Fields,
): Promise<{ input: JsonObject; uploads: string[] }> {
  const input = part && 'only' in part ? readDataOfStep(body) : readStartInput(payload, body, idsByPart(files))
  const uploads: string[] = []
  await requireFiles(ctx, payload, input, { staged: files.map(({ id }) => id), uploads })
  return { input, uploads }
}
