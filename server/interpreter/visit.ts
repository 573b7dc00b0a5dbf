import { stepRecords } from '@/db/schema/runs'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { isBranch } from '../definition/branches'
import { graphOf } from '../definition/graph'
import type { JsonObject, JsonValue } from '../definition/json'
import type { Attempt, Receipt } from '../definition/run'
import { ImpossibleState, StepFailure } from '../errors'
import { recordIs } from '../run-store/conditions'
import type { Visit, WalkClaim } from '../run-store/names'
import type { StepOutput } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import { advance } from './advance'
import { keepArrival } from './arrive'
import { AttemptFailed, TakenOver } from './attempt-failed'
import { AttemptLog } from './attempt-log'
import { countWork } from './count-work'
import { afterCatch, catching, shownExit } from './exits'
import { moment } from './last-changes'
import { deltaOf, failed, objectOf, outputColumns } from './output'
import { type Begun, type Drive, planFrom } from './plan'
import { classify, type Failure, MAX_ATTEMPTS, nextDelay } from './retry'
import { RunStopped } from './running'
import { type Grown, storableOutput, withDelta } from './size'
import {
  cancellationOf,
  cleanupTimeLeft,
  endRun,
  heldBy,
  isCancelling,
  STOPPED,
  settleCancel,
  stopFailure,
} from './stop'
import { traceWork } from './trace-work'
import { usageOf } from './usage'
import { configOf, lockWalkState, receiptOf, type WalkState } from './walk-state'
import { work } from './work'

/**
 * One visit of an effect step, in three parts: claim (guard, count the attempt, freeze the input), work (outside any
 * transaction), record (output, data, receipt and what comes next, in one statement). A visit that is already
 * recorded returns its stored receipt. Whoever claimed the last attempt owns the step: earlier ones record nothing.
 * @throws AttemptFailed when another attempt is due, or was begun by another process
 */
export async function visitStep(ctx: ServiceContext, ref: WalkClaim, at: Visit, handoff: Handoff): Promise<Receipt> {
  const begun = handoff.take(at) ?? (await claim(ctx, ref, at))
  if ('receipt' in begun) return begun.receipt
  if ('lost' in begun) return recordFailure(ctx, begun.lost, new StepFailure('WORKER_LOST', begun.message), handoff)
  let output: StepOutput
  try {
    output = await countWork(begun, () => traceWork(begun, () => work(ctx, begun)))
  } catch (err) {
    if (err instanceof TakenOver) return settle(ctx, begun, () => Promise.reject(err))
    return recordFailure(ctx, begun, err, handoff)
  }
  return recordOutput(ctx, begun, output, handoff)
}

const NO_ENGINE = { leaving: () => false, promise: () => {}, rests: false }

/** Passes a step that was begun with the record of the previous step to the next visit in this process. */
export class Handoff implements Drive {
  private begun: Begun | null = null

  /** @param enabled false when each step may be called in another process, which would then count a second attempt */
  constructor(
    public enabled: boolean,
    private readonly engine: { leaving: () => boolean; promise: () => void; rests: boolean } = NO_ENGINE,
  ) {}

  /** Whether the walk rests at a pause. */
  get rests(): boolean {
    return this.engine.rests
  }

  get attempt(): 0 | 1 {
    return this.enabled && !this.engine.leaving() ? 1 : 0
  }
  give(begun: Begun | null): void {
    this.begun = begun
    if (begun) this.engine.promise()
  }
  take(at: Visit): Begun | null {
    const begun = this.begun
    this.begun = null
    return begun && begun.at.stepId === at.stepId && begun.at.visit === at.visit ? begun : null
  }
}

type Claimed = Begun | { receipt: Receipt } | { lost: Begun; message: string }

async function claim(ctx: ServiceContext, ref: WalkClaim, at: Visit): Promise<Claimed> {
  return withTransaction<Claimed>(ctx, async (tx) => {
    const locked = await lockWalkState(tx, ref, at)
    if ('stop' in locked) return { receipt: locked.stop }
    const { state, record } = locked
    if (!record)
      throw new ImpossibleState('visit-without-record', `${ref.runId} has no record of ${at.stepId}#${at.visit}`)
    if (record.endTime) return { receipt: receiptOf(record) }
    const type = findStepType(record.stepType)
    if (type?.mode !== 'effect') throw new ImpossibleState('visit-of-no-effect', `${record.stepType} does no work`)
    const now = tx.now()
    const begun: Begun = {
      state,
      at,
      type,
      config: configOf(record),
      attempt: record.attempt + 1,
      attempts: record.attempts,
      log: new AttemptLog(),
      startedAt: now,
      since: moment(),
    }
    if (isCancelling(state)) {
      // The process died while the step ran; a run that is being stopped starts no new attempt.
      return { receipt: await fail(tx, { ...begun, attempt: record.attempt }, stopFailure(cancellationOf(state.run))) }
    }
    const limit = begun.config.retry?.maxAttempts ?? MAX_ATTEMPTS
    if (begun.attempt > limit) {
      // Attempts are counted when claimed, so none of the earlier ones finished.
      const message = `The step did not finish in ${limit} attempts: the process stopped each time.`
      return { lost: { ...begun, attempt: record.attempt }, message }
    }
    await tx.db.update(stepRecords).set({ attempt: begun.attempt }).where(recordIs(begun))
    return begun
  })
}

async function recordOutput(ctx: ServiceContext, begun: Begun, result: StepOutput, handoff: Handoff): Promise<Receipt> {
  const { at } = begun
  const { saveAs } = begun.config
  let output: JsonValue
  let delta: JsonObject
  let grown: Grown
  try {
    output = storableOutput(result.output)
    delta = deltaOf(output, saveAs, at.stepId)
    // True whatever happens meanwhile: only this walk adds to the data.
    grown = withDelta(begun.state, delta, begun.state.ref, at)
  } catch (err) {
    return recordFailure(ctx, begun, err, handoff)
  }
  const outputData = objectOf(output, saveAs, at.stepId)
  const taken = result.exit ?? 'next'
  const next = graphOf(begun.state.definition).target(at.stepId, taken)
  const exit = shownExit(begun.type, taken)
  const endedAt = ctx.now()
  const attempts = [...begun.attempts, attemptRow(begun, endedAt, null)]
  const work = { attempt: begun.attempt, attempts, usage: usageOf(begun.attempts, result.usage ?? null) }
  const withOutput = (state: WalkState): WalkState => ({
    ...state,
    ...grown,
    outputs: { ...state.outputs, [at.stepId]: outputData },
  })
  const moved = await retryWhileUnavailable(ctx, () =>
    advance(
      ctx,
      begun.state,
      at,
      begun.attempt,
      async (state) => ({
        done: { claims: null, step: { at, endedAt, delta, work, exit, ...outputColumns(outputData) } },
        plan: await planFrom(ctx, withOutput(state), next, handoff),
      }),
      async (tx, state) => {
        await tx.db
          .update(stepRecords)
          .set({
            status: 'completed',
            endTime: endedAt,
            ...outputColumns(outputData),
            delta,
            exit,
            ...work,
            receipt: STOPPED.receipt,
          })
          .where(recordIs(begun))
        await settleCancel(tx, heldBy(withOutput(state)), { ref: state.ref, next })
        return STOPPED.receipt
      },
    ),
  )
  handoff.give(moved.begun)
  return moved.receipt
}

async function recordFailure(ctx: ServiceContext, begun: Begun, err: unknown, handoff: Handoff): Promise<Receipt> {
  const failure = classify(err)
  if (failure.internal || failure.code === 'VALUE_TOO_LARGE')
    ctx.log.error({ err, runId: begun.state.ref.runId, stepId: begun.at.stepId }, 'a step failed unexpectedly')
  const delayMs = nextDelay(failure, begun.attempt, begun.config.retry, Math.random())
  if (delayMs === null && !(err instanceof RunStopped) && catching(begun.state, begun.at, failure))
    return recordCaught(ctx, begun, failure, handoff)
  let again = false
  const receipt = await settle(ctx, begun, async (tx, state) => {
    const now = tx.now()
    const held = { ...begun, state }
    if (isCancelling(state) && (delayMs !== null || err instanceof RunStopped))
      return fail(tx, held, stopFailure(cancellationOf(state.run)), failure.message)
    const spent = now.getTime() - begun.startedAt.getTime()
    again = delayMs !== null && delayMs + spent <= (await cleanupTimeLeft(tx, state.ref))
    if (!again || delayMs === null) return fail(tx, held, failure)
    const used = failure.usage === null ? {} : { usage: failure.usage }
    const tried = { ...attemptRow(begun, now, failure.message), ...used, retryInMs: delayMs }
    await tx.db
      .update(stepRecords)
      .set(failure.busy ? { attempt: begun.attempt - 1 } : { attempts: [...begun.attempts, tried] })
      .where(recordIs(begun))
    return { next: begun.at }
  })
  if (again && delayMs !== null) throw new AttemptFailed(delayMs)
  return receipt
}

/** Records a step that failed for good, and continues at its `error` exit or the failure path. */
async function recordCaught(ctx: ServiceContext, begun: Begun, failure: Failure, handoff: Handoff): Promise<Receipt> {
  const { at, attempt } = begun
  const endedAt = ctx.now()
  const work = {
    attempt,
    attempts: [...begun.attempts, attemptRow(begun, endedAt, failure.message)],
    usage: usageOf(begun.attempts, failure.usage),
  }
  const moved = await retryWhileUnavailable(ctx, () =>
    advance(
      ctx,
      begun.state,
      at,
      attempt,
      async (state) => {
        const caught = catching(state, at, failure)
        if (!caught) throw new ImpossibleState('caught-by-nothing', `${at.stepId} has no error exit`)
        const { delta, exit, handled } = caught.columns
        const told = { ...failure, handled: handled === true }
        return {
          done: { claims: null, step: { at, endedAt, delta, exit, failure: told, work, ...outputColumns({}) } },
          plan: await planFrom(ctx, afterCatch(state, caught), caught.target, handoff),
        }
      },
      (tx, state) => fail(tx, { ...begun, state }, failure),
    ),
  )
  handoff.give(moved.begun)
  return moved.receipt
}

/**
 * Writes the end of a failed attempt, unless the run has ended by now or the visit is already recorded.
 * @throws TakenOver if another process has claimed a later attempt
 */
function settle(
  ctx: ServiceContext,
  begun: Begun,
  write: (tx: TransactionContext, state: WalkState) => Promise<Receipt>,
): Promise<Receipt> {
  return retryWhileUnavailable(ctx, () =>
    withTransaction<Receipt>(ctx, async (tx) => {
      const locked = await lockWalkState(tx, begun.state.ref, begun.at)
      if ('stop' in locked) return locked.stop
      if (locked.record?.endTime) return receiptOf(locked.record)
      if (locked.record?.attempt !== begun.attempt) throw new TakenOver()
      return write(tx, locked.state)
    }),
  )
}

/**
 * Fails a step for good, and its run with it.
 * @param cause the last attempt's own error, where it differs
 */
async function fail(
  tx: TransactionContext,
  begun: Begun,
  failure: Pick<Failure, 'code' | 'message'> & { usage?: Failure['usage'] },
  cause: string = failure.message,
): Promise<Receipt> {
  const now = tx.now()
  const { state, at } = begun
  // In a branch, the failure is passed to its fork.
  const arrives = isBranch(state.ref.branch) && !isCancelling(state)
  const receipt: Receipt = arrives ? { arrive: true } : { stop: 'ended' }
  await tx.db
    .update(stepRecords)
    .set({
      status: 'failed',
      endTime: now,
      outputData: {},
      ...failed(failure),
      usage: usageOf(begun.attempts, failure.usage ?? null),
      attempts: [...begun.attempts, attemptRow(begun, now, cause)],
      receipt,
    })
    .where(recordIs(begun))
  const error = { code: failure.code, message: failure.message, stepId: at.stepId }
  if (arrives) await keepArrival(tx, state.ref, { failed: error, outcome: 'failed' })
  else await endRun(tx, state, { status: 'failed', outcome: 'failed', written: state, error, stepId: at.stepId })
  return receipt
}

function attemptRow(begun: Begun, ended: Date, error: string | null): Attempt {
  return {
    attempt: begun.attempt,
    startTime: begun.startedAt.toISOString(),
    endTime: ended.toISOString(),
    ...(error === null ? {} : { error }),
    ...begun.log.columns,
  }
}

const PATIENCE_MS = 10_000

/** Retries while the database is unavailable: the work is done, and doing it twice is worse than waiting. */
async function retryWhileUnavailable<T>(ctx: ServiceContext, write: () => Promise<T>): Promise<T> {
  const started = performance.now()
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await write()
    } catch (err) {
      if (!classify(err).transient || performance.now() - started > PATIENCE_MS) throw err
      ctx.log.warn({ err }, 'the database is not available; trying to store the result again')
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
