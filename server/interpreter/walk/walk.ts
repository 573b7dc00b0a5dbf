import { type GetStepTools, type Inngest, RetryAfterError } from 'inngest'
import type { ServiceContext } from '../../context'
import { isBranch } from '../../definition/branches'
import type { Receipt } from '../../definition/run'
import type { WalkClaim, WalkRef } from '../../run-store/names'
import { AttemptFailed, permanentFailure } from '../flow/failure'
import { joinBranch } from '../fork/arrive'
import { forkWalk } from '../fork/fork'
import { NextStep } from '../plan/next-step'
import { failWalk } from '../stop/abandon'
import { openForEngine, takeAnswer } from '../wait/pause'
import { walkNameOf } from '../write/request'
import { claimWalk } from './claim'
import { requestSegment } from './segment'
import { visitStep } from './visit'

export type StepTools = GetStepTools<Inngest>

/** The engine's description of its call. */
interface EngineCall {
  engineRunId: string
  /** The attempt of this same step, from 0. */
  attempt: number
  step: StepTools
  /** Whether the steps of one call run in this process one after the other (the embedded engine). */
  sameProcess: boolean
  /** Whether this process is stopping, so that another one begins the next step. */
  stopping: () => boolean
  /** Informs the engine that the next step is begun, and runs even if this process stops. */
  guaranteeNextStep: () => void
  /** Whether the walk may wait at a pause without an engine run. */
  rests: boolean
}

const LONGEST_WAIT = '365d'
/**
 * After this many visits the walk continues in a new engine run, which makes replay short and stays below the engine's
 * limits.
 */
const SEGMENT_LENGTH = 200

/**
 * Drives one segment of a walk. Outside steps it only follows receipts: no clock, no randomness, no database reads.
 * Each visit is one `step.run`; a pause is `step.waitForEvent`, set up in parallel with the row that shows it.
 */
export async function walk(ctx: ServiceContext, ref: WalkRef, call: EngineCall): Promise<{ ended: string }> {
  // A call that repeats a failed step runs that step alone; another call runs what follows.
  const together = call.sameProcess && call.attempt === 0
  const handoff = new NextStep(together, call)
  const claim: WalkClaim = { ...ref, engineRunId: call.engineRunId }
  const run = (id: string, work: () => Promise<Receipt>) =>
    call.step.run(id, () => runOrRetry(ctx, claim, work, call.attempt))

  let receipt = await run('claim', () => claimWalk(ctx, ref, call.engineRunId, handoff))
  for (let visits = 0; ; visits++) {
    if ('stop' in receipt) return { ended: receipt.stop }
    if (visits >= SEGMENT_LENGTH) {
      receipt = await run('hand-over', () => requestSegment(ctx, claim))
      continue
    }
    // The step after a segment's last one starts in another engine run, which claims it.
    handoff.enabled = together && visits + 1 < SEGMENT_LENGTH
    if ('next' in receipt) {
      const { next: at, part } = receipt
      // The engine remembers the result of each part.
      const id = `${at.stepId}#${at.visit}${part ? `+${part}` : ''}`
      receipt = await run(id, () => visitStep(ctx, claim, at, handoff))
      continue
    }
    if ('go' in receipt) {
      const { stepId, visit } = receipt.go
      receipt = await run(`go:${stepId}#${visit}`, () => claimWalk(ctx, ref, call.engineRunId, handoff))
      continue
    }
    if ('fork' in receipt) {
      const at = receipt.fork
      receipt = await run(`fork:${at.stepId}#${at.visit}`, () => forkWalk(ctx, claim, at))
      continue
    }
    if ('arrive' in receipt) {
      receipt = await run('arrive', () => joinBranch(ctx, claim))
      continue
    }
    const { pauseId, arm, dueAt } = receipt.wait
    await Promise.all([
      call.step.waitForEvent(`wait:${pauseId}:${arm}`, {
        event: 'workflow/run.woken',
        if: isBranch(ref.branch)
          ? `async.data.walk == '${walkNameOf(ref.runId, ref.branch)}'`
          : `async.data.runId == '${ref.runId}'`,
        timeout: dueAt === null ? LONGEST_WAIT : new Date(dueAt),
      }),
      call.step.run(`arm:${pauseId}:${arm}`, () =>
        runOrRetry(ctx, claim, () => openForEngine(ctx, claim, pauseId), call.attempt),
      ),
    ])
    receipt = await run(`take:${pauseId}:${arm}`, () => takeAnswer(ctx, claim, pauseId, arm, handoff))
  }
}

/**
 * Passes only the time of the next call to the engine; the actual error is in our own records and log. A failure that
 * would repeat at every call ends the run.
 */
async function runOrRetry<T extends Receipt | null>(
  ctx: ServiceContext,
  ref: WalkClaim,
  work: () => Promise<T>,
  attempt: number,
): Promise<T | Receipt> {
  try {
    return await work().catch(async (err: unknown) => {
      const failure = permanentFailure(err)
      if (!failure) throw err
      await failWalk(ctx, ref, err as Error, failure)
      return { stop: 'ended' } satisfies Receipt
    })
  } catch (err) {
    if (err instanceof AttemptFailed) throw new RetryAfterError(err.message, Math.max(1_000, err.delayMs))
    ctx.log.error({ err, runId: ref.runId, attempt }, 'a step could not be recorded')
    throw new RetryAfterError(
      'The step could not be recorded; trying again.',
      Math.min(60_000, 1_000 + attempt * 2_000),
    )
  }
}
