import { z } from 'zod'
import { sqlState } from '@/db/index'
import { authorize } from '../auth/policy'
import { requireConfirmed } from '../auth/presumed'
import { beyondReach } from '../auth/reach'
import { isInTransaction, type ServiceContext, withTransaction } from '../context'
import { isJsonObject, jsonSize } from '../definition/json'
import { lastOf, type RunPart, stepsOfPart } from '../definition/part'
import { reachable } from '../definition/paths'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { MultipartInput } from '../files/multipart-input'
import { requireFiles } from '../files/named'
import { claimFile, newFileId, withStagedFile } from '../files/stage'
import { permanentFailure } from '../interpreter/flow/index'
import { insertRun } from '../interpreter/index'
import type { Slot } from '../outbox'
import { parseInput } from '../parse'
import { slotForRun } from '../queue-room'
import { partAsRun } from '../run-store/definition'
import { findStepType } from '../steps/registry'
import { requireRunnable } from '../workflows/check/definition'
import { firstStepOf } from '../workflows/first-step'
import { type VersionToRun, versionToRun } from '../workflows/version-to-run'
import { checkEdits, refuseTooMuchData } from './edits'
import { readStartInput, type StartBody } from './input'

/** How often a start reads a workflow again that is being changed. */
const MOST_TRIES = 5
/**
 * For how long a start is not written whose caller waits for nothing but that. A run that is queued costs about half
 * as much again as one that begins at once; beyond this time, the answer matters more.
 */
const SOON_MS = 100
/** The largest body of a start that waits to be written. */
const MOST_WAITING_BYTES = 64 * 1024
const stepId = z.string().min(1).max(200)
/** Not beside the type, which the browser's code is near. */
const Part = z.union([z.strictObject({ to: stepId }), z.strictObject({ only: stepId })])
/** Problems of the values that a step gets. */
const OF_DATA = ['EXPRESSION_UNRESOLVED', 'TYPE_MISMATCH']
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

/**
 * Creates a run: the row, its main walk and what starts it, all or nothing. It uses the published
 * version, or the latest draft when none was ever published, and stays on that version. A form's file is stored once
 * the input is known to be valid, and given to the run in its transaction.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VALIDATION_FAILED, INVALID_INPUT, FORBIDDEN, UNAVAILABLE
 */
export async function startRun(ctx: ServiceContext, input: StartInput): Promise<StartedRun> {
  authorize(ctx, 'run:start')
  const start = readStart(input)
  const upload = start.body instanceof MultipartInput ? start.body.file : null
  if (!upload) return beginSoon(ctx, start)
  const fileId = newFileId()
  await prepareStart(ctx, start, fileId, true)
  return withStagedFile(ctx, fileId, upload, () => beginRun(ctx, start, fileId, null))
}

/** Begins the run as soon as this process can execute it, if its caller waits anyway or that is soon. */
async function beginSoon(ctx: ServiceContext, input: Start): Promise<StartedRun> {
  // Whoever is in a transaction holds a connection, and maybe locks.
  if (!input.waits && isInTransaction(ctx)) return beginRun(ctx, input, null, null)
  const slot = await slotForRun(ctx.tenantId, {
    ...(input.waits ?? { ms: SOON_MS, signal: new AbortController().signal }),
    async mayWait() {
      // What is refused is refused at once.
      await prepareStart(ctx, input, null, true)
      return isSmall(input.body)
    },
  })
  try {
    return await beginRun(ctx, input, null, slot)
  } finally {
    slot?.release()
  }
}

/** A larger body is written at once: it would be in memory for as long as it waits. */
function isSmall(body: StartBody): boolean {
  return !(body instanceof MultipartInput) && jsonSize(body) <= MOST_WAITING_BYTES
}

interface Start extends StartInput {
  body: StartBody
}

/** @throws AppError INVALID_INPUT */
function readStart({ workflowId, body, version, waits, part, test }: StartInput): Start {
  const refuse = (path: string, message: string) => new AppError('INVALID_INPUT', { details: [{ path, message }] })
  if (!(body instanceof MultipartInput) && !isJsonObject(body)) throw refuse('data', 'must be a JSON object')
  if (version !== undefined && typeof version !== 'string') throw refuse('version', 'must be text')
  if (test !== undefined && typeof test !== 'boolean') throw refuse('test', 'must be true or false')
  return { workflowId, body, version, waits, part: readPart(part), test }
}

/** @throws AppError INVALID_INPUT */
function readPart(part: unknown): RunPart | undefined {
  return part === undefined ? undefined : parseInput(Part, part)
}

/** The version to run, and the run's initial data. */
async function prepareStart(ctx: ServiceContext, input: Start, fileId: string | null, guess: boolean) {
  const find = (guess: boolean) => versionToRun(ctx, input.workflowId, { wanted: input.version, guess })
  const found = await find(guess)
  try {
    return await checkStart(ctx, input, fileId, found)
  } catch (err) {
    if (!found.guessed) throw err
    // What an outdated version refuses, the present one may accept.
    return checkStart(ctx, input, fileId, await find(false))
  }
}

/** @throws AppError FORBIDDEN, VALIDATION_FAILED, INVALID_INPUT */
async function checkStart(
  ctx: ServiceContext,
  input: Start,
  fileId: string | null,
  { version, publishedVersion, wasPublished, definition }: VersionToRun,
) {
  // A draft newer than the published version is only for editors to try out.
  if (publishedVersion !== null && version > publishedVersion) authorize(ctx, 'workflow:write')
  if (input.part) return checkPart(ctx, input, input.part, fileId, { version, publishedVersion, definition })
  if (!wasPublished) await requireRunnable(beyondReach(ctx), definition)
  const asTest = input.test === true && ctx.actor.kind === 'user'
  // The inbox and the figures leave it out, so it is for those who try out drafts.
  if (asTest) authorize(ctx, 'workflow:write')
  const test = asTest || (ctx.actor.kind === 'user' && version !== publishedVersion)
  const data = readStartInput(definition.payload, input.body, fileId)
  await requireFiles(ctx, definition.payload, data, { staged: fileId })
  return {
    version,
    definition,
    part: null,
    publishedVersion,
    firstStep: firstStepOf(definition),
    test,
    data,
  }
}

/**
 * The same of a part. Whoever starts one may bypass what other steps ensure, such as an approval.
 * @throws AppError FORBIDDEN, VALIDATION_FAILED, INVALID_INPUT
 */
async function checkPart(
  ctx: ServiceContext,
  { body }: Start,
  part: RunPart,
  fileId: string | null,
  { version, publishedVersion, definition }: Pick<VersionToRun, 'version' | 'publishedVersion' | 'definition'>,
) {
  authorize(ctx, 'workflow:write')
  const last = lastOf(part)
  const refuse = (message: string) => new AppError('INVALID_INPUT', { details: [{ path: 'part', message }] })
  if (!definition.steps.some(({ id }) => id === last)) throw refuse(`There is no step ${last}`)
  const within = stepsOfPart(definition, part, ({ type }) => findStepType(type)?.exits)
  const tried = partAsRun(definition, part)
  if ('to' in part && !reaches(tried, last)) throw refuse(`No path from START leads to ${last}`)
  // What is left out may be unfinished. What a step alone refers to is given to it, whatever the steps before it give.
  const given = 'only' in part ? OF_DATA : []
  await requireRunnable(
    beyondReach(ctx),
    definition,
    ({ stepId, code }) => stepId !== undefined && within.has(stepId) && !given.includes(code),
  )
  const of = { version, publishedVersion, definition: tried, part, firstStep: firstStepOf(tried), test: true }
  if ('to' in part) {
    const data = readStartInput(definition.payload, body, fileId)
    await requireFiles(ctx, definition.payload, data, { staged: fileId })
    return { ...of, data }
  }
  if (body instanceof MultipartInput) throw refuse('A step on its own takes no file')
  checkEdits({}, body)
  refuseTooMuchData(body)
  await requireFiles(ctx, definition.payload, body)
  return { ...of, data: body }
}

function reaches(definition: Definition, stepId: string): boolean {
  return definition.initialStep !== null && reachable(definition, definition.initialStep).has(stepId)
}

async function beginRun(
  ctx: ServiceContext,
  input: Start,
  fileId: string | null,
  slot: Slot | null,
): Promise<StartedRun> {
  let plan = true
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    // A key and a file are written with the run. Without them its one statement is all there is, unless the workflow has
    // just been changed: then the version is held, so that steady saving does not win every time.
    const isAlone = fileId === null && !ctx.keyed && tries === 0
    const begin = (within: ServiceContext) => tryBegin(within, input, fileId, { guess: tries === 0, plan, slot })
    const started = await attempt(ctx, begin, isAlone).catch((err: unknown) => {
      // A draft's version may be folded into the next one before the run refers to it.
      if (sqlState(err) === VERSION_GONE) return null
      if (!plan || permanentFailure(err) === null) throw err
      // Postgres refuses a value of the first steps. Written without them, the run starts, and fails with the reason.
      plan = false
      return null
    })
    if (started) return started
  }
  throw new AppError('UNAVAILABLE', { details: [{ message: 'The workflow is being changed. Try again.' }] })
}

/** In its caller's transaction, a try has a savepoint: after what Postgres refuses, the next one could do nothing otherwise. */
function attempt<T>(ctx: ServiceContext, begin: (within: ServiceContext) => Promise<T>, isAlone: boolean): Promise<T> {
  if (isInTransaction(ctx)) return ctx.db.transaction((db) => begin({ ...ctx, db }))
  return isAlone ? begin(ctx) : withTransaction(ctx, begin)
}

/** Null if the workflow was changed meanwhile. */
async function tryBegin(
  ctx: ServiceContext,
  input: Start,
  fileId: string | null,
  { guess, plan, slot }: { guess: boolean; plan: boolean; slot: Slot | null },
): Promise<StartedRun | null> {
  const { version, definition, publishedVersion, firstStep, test, data, part } = await prepareStart(
    ctx,
    input,
    fileId,
    guess,
  )
  const { workflowId } = input
  input.waits?.begins()
  const run = { workflowId, workflowVersion: version, definition, input: data, firstStep, test, part }
  const runId = await insertRun(
    ctx,
    { ...run, context: ctx.trusted },
    { publishedVersion },
    { plan, remember: input.waits !== undefined, slot },
  )
  if (runId === null) {
    requireConfirmed(ctx)
    return null
  }
  if (fileId !== null) await withTransaction(ctx, (tx) => claimFile(tx, fileId, runId))
  return { runId, workflowVersion: version }
}
