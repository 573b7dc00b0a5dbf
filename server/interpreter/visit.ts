import { and, eq } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { type ServiceContext, systemContext, type TransactionContext, withTransaction } from '../context'
import { ImpossibleState, TransientError } from '../errors'
import { type JsonObject, type JsonValue, toStorableJson } from '../json'
import type { CommonConfig, StepOutput } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import { closeRun } from './close'
import { type Begun, deltaOf, enter, objectOf } from './enter'
import { nextStep } from './next-step'
import { lockPlace, type Place, type StepRecordRow } from './place'
import { idempotencyKeyOf, type Receipt, type Visit, type WalkRef } from './receipt'
import { classify, type Failure, MAX_ATTEMPTS, nextDelay } from './retry'
import { abortWhenStopped } from './running'

const DEFAULT_TIMEOUT_MS = 5 * 60_000

/** The attempt failed and another one is due: the engine is asked to call again. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed'
  constructor(readonly delayMs: number) {
    super('The attempt failed; another one follows.')
  }
}

/**
 * One visit of one effect step, in three parts: claim (guard, count the attempt, freeze the input), work
 * (outside any transaction), record (output, data, receipt and what follows in one transaction).
 * A visit that is recorded already answers its stored receipt.
 * @throws AttemptFailed when another attempt is due
 */
export async function visitStep(ctx: ServiceContext, ref: WalkRef, at: Visit, handoff: Handoff): Promise<Receipt> {
  const begun = handoff.take(at) ?? (await claim(ctx, ref, at))
  if ('receipt' in begun) return begun.receipt
  let output: StepOutput
  try {
    output = await work(ctx, begun)
  } catch (err) {
    return recordFailure(ctx, begun, err, handoff)
  }
  return recordOutput(ctx, begun, output, handoff)
}

/** Passes the step that a record's transaction already began on to the visit that follows in this process. */
export class Handoff {
  private begun: Begun | null = null

  /** @param enabled false where each step may be called in another process, which would then count a second attempt */
  constructor(readonly enabled: boolean) {}

  get attempt(): 0 | 1 {
    return this.enabled ? 1 : 0
  }
  give(begun: Begun | null): void {
    this.begun = begun
  }
  take(at: Visit): Begun | null {
    const begun = this.begun
    this.begun = null
    return begun && begun.at.stepId === at.stepId && begun.at.visit === at.visit ? begun : null
  }
}

async function claim(ctx: ServiceContext, ref: WalkRef, at: Visit): Promise<Begun | { receipt: Receipt }> {
  return withTransaction(ctx, async (tx) => {
    const locked = await lockPlace(tx, ref, at)
    if ('stop' in locked) return { receipt: locked.stop }
    const { place, record } = locked
    if (!record)
      throw new ImpossibleState('visit-without-record', `${ref.runId} has no record of ${at.stepId}#${at.visit}`)
    if (record.endTime) return { receipt: receiptOf(record) }
    const type = findStepType(record.stepType)
    if (type?.mode !== 'effect') throw new ImpossibleState('visit-of-no-effect', `${record.stepType} does no work`)
    const now = tx.now()
    const begun: Begun = {
      place,
      at,
      type,
      config: record.config as JsonObject & CommonConfig,
      attempt: record.attempt + 1,
      attempts: record.attempts as JsonObject[],
      startedAt: now,
    }
    const limit = begun.config.retry?.maxAttempts ?? MAX_ATTEMPTS
    if (begun.attempt > limit) {
      // Counted at the claim: the attempts before this one never came to their end.
      const message = `The step did not come to an end in ${limit} attempts: the process stopped each time.`
      return { receipt: await fail(tx, { ...begun, attempt: record.attempt }, { code: 'WORKER_LOST', message }) }
    }
    await tx.db.update(stepRecords).set({ attempt: begun.attempt }).where(recordIs(begun))
    return begun
  })
}

async function work(ctx: ServiceContext, begun: Begun): Promise<StepOutput> {
  const { place, at, config } = begun
  const timeoutMs = config.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const stopped = abortWhenStopped(place.ref)
  const timer = new AbortController()
  const late = setTimeout(
    () => timer.abort(new TransientError(`The step did not finish within ${timeoutMs} ms.`)),
    timeoutMs,
  )
  const signal = AbortSignal.any([timer.signal, stopped.signal])
  const runContext = systemContext({ ...ctx, trusted: place.run.context as JsonObject | null }, place.run.startedBy)
  try {
    const output = begun.type.run({
      config: config as never,
      ctx: runContext,
      data: place.data,
      signal,
      idempotencyKey: idempotencyKeyOf(place.ref, at),
    })
    // A step that does not heed its signal is left behind; its result no longer counts.
    return await Promise.race([output, rejectWhenAborted(signal)])
  } catch (err) {
    // What a step throws when its signal fired is a consequence; the reason is what history should say.
    throw signal.aborted ? signal.reason : err
  } finally {
    clearTimeout(late)
    stopped.release()
  }
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function recordOutput(ctx: ServiceContext, begun: Begun, result: StepOutput, handoff: Handoff): Promise<Receipt> {
  const { saveAs } = begun.config
  const { stepId } = begun.at
  let output: JsonValue
  try {
    output = toStorableJson(result.output)
  } catch (err) {
    return recordFailure(ctx, begun, err, handoff)
  }
  const delta = deltaOf(output, saveAs, stepId)
  return settle(ctx, begun, handoff, async (tx, place) => {
    const now = tx.now()
    place.data = { ...place.data, ...delta }
    const entered = await enter(tx, place, nextStep(place.definition, stepId, result.exit ?? 'next'), handoff.attempt)
    await tx.db
      .update(stepRecords)
      .set({
        status: 'completed',
        endTime: now,
        outputData: objectOf(output, saveAs, stepId),
        delta,
        attempts: [...begun.attempts, attemptRow(begun, now, null)],
        receipt: entered.receipt,
      })
      .where(recordIs(begun))
    return entered
  })
}

async function recordFailure(ctx: ServiceContext, begun: Begun, err: unknown, handoff: Handoff): Promise<Receipt> {
  const failure = classify(err)
  if (failure.internal)
    ctx.log.error({ err, runId: begun.place.ref.runId, stepId: begun.at.stepId }, 'a step failed unexpectedly')
  const delayMs = nextDelay(failure, begun.attempt, begun.config.retry, Math.random())
  let again = false
  const receipt = await settle(ctx, begun, handoff, async (tx) => {
    again = delayMs !== null
    if (!again) return { receipt: await fail(tx, begun, failure), begun: null }
    await tx.db
      .update(stepRecords)
      .set({ attempts: [...begun.attempts, attemptRow(begun, tx.now(), failure.message)] })
      .where(recordIs(begun))
    return { receipt: { next: begun.at }, begun: null }
  })
  if (again && delayMs !== null) throw new AttemptFailed(delayMs)
  return receipt
}

type Settled = { receipt: Receipt; begun: Begun | null }

/** The last third of a visit: unless the run has ended meanwhile or the visit is recorded already. */
async function settle(
  ctx: ServiceContext,
  begun: Begun,
  handoff: Handoff,
  write: (tx: TransactionContext, place: Place) => Promise<Settled>,
): Promise<Receipt> {
  const settled = await whileAway(ctx, () =>
    withTransaction<Settled>(ctx, async (tx) => {
      const locked = await lockPlace(tx, begun.place.ref, begun.at)
      if ('stop' in locked) return { receipt: locked.stop, begun: null }
      if (locked.record?.endTime) return { receipt: receiptOf(locked.record), begun: null }
      return write(tx, locked.place)
    }),
  )
  handoff.give(settled.begun)
  return settled.receipt
}

/** Ends a step for good, and its run with it. */
async function fail(
  tx: TransactionContext,
  begun: Begun,
  failure: Pick<Failure, 'code' | 'message'>,
): Promise<Receipt> {
  const now = tx.now()
  const { place, at } = begun
  const receipt: Receipt = { stop: 'ended' }
  await tx.db
    .update(stepRecords)
    .set({
      status: 'failed',
      endTime: now,
      outputData: {},
      error: failure.message,
      errorCode: failure.code,
      attempts: [...begun.attempts, attemptRow(begun, now, failure.message)],
      receipt,
    })
    .where(recordIs(begun))
  const error = { code: failure.code, message: failure.message, stepId: at.stepId }
  await closeRun(tx, place.ref, { status: 'failed', outcome: 'failed', data: place.data, error, stepId: at.stepId })
  return receipt
}

function attemptRow(begun: Begun, ended: Date, error: string | null): JsonObject {
  return {
    attempt: begun.attempt,
    startTime: begun.startedAt.toISOString(),
    endTime: ended.toISOString(),
    ...(error === null ? {} : { error }),
  }
}

function recordIs({ place: { ref }, at }: Pick<Begun, 'place' | 'at'>) {
  return and(
    eq(stepRecords.tenantId, ref.tenantId),
    eq(stepRecords.runId, ref.runId),
    eq(stepRecords.branch, ref.branch),
    eq(stepRecords.stepId, at.stepId),
    eq(stepRecords.visit, at.visit),
  )
}

export function receiptOf(record: StepRecordRow): Receipt {
  return (record.receipt as Receipt | null) ?? { stop: 'ended' }
}

const PATIENCE_MS = 10_000

/** Tries again while the database is away: the work is done, and doing it twice is worse than waiting. */
async function whileAway<T>(ctx: ServiceContext, write: () => Promise<T>): Promise<T> {
  const started = Date.now()
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await write()
    } catch (err) {
      if (!classify(err).transient || Date.now() - started > PATIENCE_MS) throw err
      ctx.log.warn({ err }, 'a result waits for the database')
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
