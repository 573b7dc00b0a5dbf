import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { type ServiceContext, type Sweep, systemContext, type TransactionContext, withTransaction } from '../context'
import { checkFields } from '../definition/fields'
import { isJsonObject, type JsonObject } from '../definition/json'
import type { ChildEnd } from '../definition/run'
import { AppError } from '../errors'
import { requireFiles } from '../files/named'
import {
  answerChild,
  askToCancel,
  childSettled,
  childStarted,
  insertRun,
  newCancellation,
  terminateNow,
} from '../interpreter/index'
import { roomFor } from '../outbox'
import { fairOrder } from '../query/fair-order'
import { pauseIs, recordOfPause } from '../run-store/conditions'
import { hold, holdRun } from '../run-store/held'
import { MAIN_BRANCH } from '../run-store/names'
import { messageWithDetails } from '../tools/schema'
import { requireRunnable } from '../workflows/check/definition'
import { firstStepOf } from '../workflows/first-step'
import { versionToRun } from '../workflows/version-to-run'
import type { RunRow } from './present'

/** How deep runs may be nested, so that a workflow that runs itself ends. */
const MAX_DEEP = 10
const BATCH = 200
const AT_ONCE = 4
/** By then its event has been handled, or was lost. */
const OVERDUE_MS = 5_000
/** How often a start rereads a workflow that is being published. */
const MAX_TRIES = 5

const child = alias(runs, 'child')

/**
 * Does the due work for a child run: starts it, stops it, or passes its result to the parent's step. It reads both
 * runs, so it may be called at any time and any number of times. A transaction that needs both locks takes the parent's
 * first. A child's end is committed before its parent is locked.
 */
export async function settleChild(ctx: ServiceContext, childId: string): Promise<void> {
  const pair = await findPair(ctx, childId)
  if (!pair) return
  const { wait, parent, run } = pair
  const isOpen = wait.answeredAt === null
  if (run?.endTime) await (isOpen ? answerParent(ctx, wait, childId) : childSettled(ctx, wait))
  else if (isOpen && parent.endTime === null && parent.cancelRequestedAt === null) {
    if (!run) await startChild(ctx, wait, childId)
  } else if (run) await stopChild(ctx, parent, childId)
  else if (!isOpen) await childSettled(ctx, wait)
}

/** Settles the child runs whose event was lost: of each tenant in turn. */
export async function sweepChildren({ db, log, now }: Sweep): Promise<number> {
  const overdue = sql`${new Date(now().getTime() - OVERDUE_MS).toISOString()}::timestamptz`
  const left = await db
    .select({ tenantId: pauses.tenantId, childId: pauses.childRunId })
    .from(pauses)
    .leftJoin(child, and(eq(child.tenantId, pauses.tenantId), eq(child.id, pauses.childRunId)))
    .where(
      and(
        sql`${pauses.childState} in ('due', 'started') and ${pauses.createdAt} < ${overdue}`,
        sql`(${pauses.childState} = 'due' or ${pauses.answeredAt} < ${overdue} or ${child.endTime} < ${overdue})`,
      ),
    )
    .orderBy(fairOrder(pauses.tenantId, pauses.createdAt), asc(pauses.createdAt))
    .limit(BATCH)
  await forEachAtOnce(left, AT_ONCE, async ({ tenantId, childId }) => {
    if (childId === null) return
    log.warn({ tenantId, runId: childId }, 'a child run was overdue; settling it')
    await settleChild(systemContext({ tenantId, db, log, now }), childId).catch((err: unknown) => {
      log.error({ err, tenantId, runId: childId }, 'a child run could not be settled')
    })
  })
  return left.length
}

/** A step's wait for the end of a run. */
type Wait = Pick<typeof pauses.$inferSelect, 'tenantId' | 'id' | 'runId' | 'branch' | 'answeredAt'>
type Parent = Pick<RunRow, 'id' | 'workflowName' | 'endTime' | 'outcome' | 'cancelRequestedAt' | 'cancellation'>

interface Pair {
  wait: Wait
  parent: Parent
  /** Null before it has started. */
  run: Pick<RunRow, 'id' | 'endTime'> | null
}

async function findPair(ctx: ServiceContext, childId: string): Promise<Pair | null> {
  const { tenantId, id, runId, branch, answeredAt } = pauses
  const { workflowName, endTime, outcome, cancelRequestedAt, cancellation } = runs
  const [found] = await ctx.db
    .select({
      wait: { tenantId, id, runId, branch, answeredAt },
      parent: { id: runs.id, workflowName, endTime, outcome, cancelRequestedAt, cancellation },
      run: { id: child.id, endTime: child.endTime },
    })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .leftJoin(child, and(eq(child.tenantId, pauses.tenantId), eq(child.id, pauses.childRunId)))
    .where(and(eq(pauses.tenantId, ctx.tenantId), eq(pauses.childRunId, childId)))
  return found ?? null
}

/**
 * Starts the run, unless the step no longer waits. A refused start fails the step. While too many runs of the tenant
 * are queued, it is left to the sweep.
 */
async function startChild(ctx: ServiceContext, wait: Wait, childId: string): Promise<void> {
  const place = { tenantId: ctx.tenantId, runId: childId, branch: MAIN_BRANCH, epoch: 1, segment: 1 }
  if (roomFor('workflow/walk.requested', place) !== 'free') return
  await withTransaction(ctx, async (tx) => {
    const { held, run: parent } = await holdRun(tx, wait.runId)
    if (parent.endTime || parent.cancelRequestedAt) return
    const [step] = await tx.db
      .select({ config: stepRecords.config })
      .from(pauses)
      .innerJoin(stepRecords, recordOfPause)
      .where(and(pauseIs(wait, wait.id), isNull(pauses.answeredAt), eq(pauses.childState, 'due')))
    if (!step) return
    try {
      await insertChild(tx, parent, childId, step.config ?? {})
      await childStarted(held, wait)
    } catch (err) {
      if (!(err instanceof AppError)) throw err
      await answerChild(held, wait, { failed: { code: err.code, message: messageWithDetails(err) } })
    }
  })
}

/**
 * @throws AppError if the workflow cannot be run, or not with this input; another error if it may be later
 */
async function insertChild(tx: TransactionContext, parent: RunRow, id: string, config: JsonObject): Promise<void> {
  if (parent.depth >= MAX_DEEP)
    throw new AppError('VALIDATION_FAILED', {
      message: `Workflows may run each other at most ${MAX_DEEP} levels deep`,
    })
  const workflowId = String(config.workflowId)
  const wanted = config.version === undefined ? undefined : String(config.version)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await versionToRun(tx, workflowId, { wanted, fromCache: false })
    const { version, publishedVersion, wasPublished, definition } = found
    if (!wasPublished) await requireRunnable(tx, definition)
    const firstStep = firstStepOf(definition)
    const { data, details } = checkFields(definition.payload, isJsonObject(config.input) ? config.input : {})
    if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
    // On behalf of the run, which has no limits: the values its starter may refer to were checked when the run took
    // them, and the workflow decides which of them to pass on.
    await requireFiles(tx, definition.payload, data)
    const run = { workflowId, workflowVersion: version, definition, input: data, firstStep, part: null }
    // Not planned: that takes time, and the parent is locked.
    if (
      (await insertRun(tx, { ...run, context: parent.context, child: { id, parent } }, { publishedVersion })) !== null
    )
      return
  }
  throw new Error(`${workflowId} was published repeatedly while a step was starting it`)
}

async function answerParent(ctx: ServiceContext, wait: Wait, childId: string): Promise<void> {
  const { status, outcome, result, error, workflowName } = runs
  await withTransaction(ctx, async (tx) => {
    const held = await hold(tx, wait)
    const [ended] = await tx.db
      .select({ status, outcome, result, error, workflowName })
      .from(runs)
      .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, childId)))
    if (ended) await answerChild(held, wait, endOf(ended))
  })
}

type Ended = Pick<RunRow, 'status' | 'outcome' | 'result' | 'error' | 'workflowName'>

function endOf({ status, outcome, result, error, workflowName }: Ended): ChildEnd {
  if (status === 'completed') return { result }
  const how = outcome === 'cancelled' || outcome === 'terminated' ? `was ${outcome}` : 'failed'
  const why = error && how === 'failed' ? `: ${error.code}: ${error.message}` : ''
  return { failed: { code: 'CHILD_FAILED', message: `The run of ${workflowName} ${how}${why}` } }
}

/**
 * Stops a child run that its parent no longer waits for: immediately if the parent was terminated or timed out,
 * otherwise with its cleanup.
 */
async function stopChild(ctx: ServiceContext, parent: Parent, childId: string): Promise<void> {
  const atOnce = parent.cancellation?.kind === 'terminate' || parent.outcome === 'timed_out'
  await withTransaction(ctx, async (tx) => {
    const { held, run } = await holdRun(tx, childId)
    if (run.endTime) return
    const why = `${parent.workflowName} (${parent.id}) no longer waits`
    if (atOnce) await terminateNow(held, run, newCancellation(tx, 'terminate', why))
    else if (!run.cancelRequestedAt) await askToCancel(held, run, newCancellation(tx, 'cancel', why))
  })
}
