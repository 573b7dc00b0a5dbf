import { sendBatched } from '@/db/index'
import type { ServiceContext } from '../../context'
import { isBranch } from '../../definition/branches'
import type { Outgoing } from '../../outbox'
import type { WalkClaim } from '../../run-store/names'
import { dataColumns } from '../../run-store/run-data'
import type { Done, Plan } from '../plan/types'
import { endIsBeingWritten, endIsWritten, rememberCommit } from '../recall/run'
import { afterWriting } from './after'
import { childDue } from './child-due'
import { CLAIM, CLAIM_OF_VISIT, OWNER, OWNER_OF_VISIT } from './fences'
import { END_OTHER_WALKS, END_RUN, END_WALKS, FINISH_VISIT, MOVE_RUN, MOVE_WALK, TAKE_ANSWER } from './parts'
import {
  callerToCheck,
  closingParts,
  dataRow,
  endingRow,
  followingRow,
  outputsOf,
  type Returned,
  visitDoneRow,
  visitParts,
} from './rows'
import { statementOf } from './statement'

/**
 * Writes what is done and what follows it, in one statement and so in one commit, which it shares with the plans of
 * other runs (`sendBatched`). It applies only if the run is open and not being cancelled (a cleanup path continues), if
 * the engine run owns the walk or may claim it, and if nobody has recorded the step or claimed a later attempt of it;
 * see `fences.ts`.
 * @param event the event that drives the walk, if nothing drives it yet
 * @returns null if it wrote nothing; the locked rows explain why
 */
export async function commitPlan(
  ctx: ServiceContext,
  ref: WalkClaim,
  done: Done,
  plan: Plan,
  event?: Outgoing,
): Promise<Returned | null> {
  const { runId } = ref
  const due = childDue(ctx, ref, plan)
  const sent = due ?? event
  const recalls = endIsBeingWritten(ref, plan)
  const caller = callerToCheck(ctx)
  const following = { plan, sent, caller }
  try {
    const moves =
      done.claims !== null || plan.cursor !== null || statusAfter(plan) === 'resting' || isBranch(ref.branch)
    const { step } = done
    const { ending } = plan
    const statement = statementOf({
      checksKey: caller !== null,
      fence: done.claims ? (step ? CLAIM_OF_VISIT : CLAIM) : step ? OWNER_OF_VISIT : OWNER,
      parts: [
        ...(moves ? [MOVE_WALK] : []),
        ...(step ? [FINISH_VISIT] : []),
        ...(step?.pauseId === undefined ? [] : [TAKE_ANSWER]),
        ...visitParts(following),
        ...(ending ? [END_RUN, moves ? END_OTHER_WALKS : END_WALKS] : [MOVE_RUN]),
        ...closingParts(following),
      ],
      outputs: outputsOf(following, { recalls, notifies: ending !== null || plan.pause !== null }),
    })
    const at = ctx.now()
    const row = {
      at,
      failing: plan.failing,
      ...walkRow(ref, done),
      ...(moves ? moveRow(ref, done, plan) : {}),
      ...(done.step ? visitDoneRow(done.step, plan) : {}),
      ...(isBranch(ref.branch) ? branchRow(done, plan) : runRow(done, plan)),
      ...followingRow(following),
    }
    const written = await sendBatched<Returned>(ctx.db, statement, runId, row)
    if (!written) return null
    const remember = () => rememberCommit(ref, done, { plan, at, vault: written.vault })
    afterWriting(ctx, ref, written, { plan, caller, due, remember })
    return written
  } finally {
    // Releases the reserved slot, unless it was committed.
    due?.notWritten()
    if (recalls) endIsWritten(runId)
  }
}

/** The visit of a walk's cursor once a record locates the walk. */
export const CURSOR_USED = 0

/** The status of a walk once its plan is written. */
export function statusAfter({ ending, pause }: Plan): 'ended' | 'resting' | 'walking' {
  return ending ? 'ended' : pause ? 'resting' : 'walking'
}

/** Whether a plan ends the run or opens a pause, so that nothing has to drive the walk. Every process is notified. */
export function isSettled(plan: Plan): boolean {
  return statusAfter(plan) !== 'walking'
}

function walkRow({ tenantId, runId, branch, epoch, segment, engineRunId }: WalkClaim, { claims }: Done) {
  return {
    tenant_id: tenantId,
    run_id: runId,
    branch,
    epoch,
    from_segment: claims === 'resting' ? segment - 1 : segment,
    engine_run_id: engineRunId,
  }
}

function moveRow({ segment }: WalkClaim, { claims, cursor }: Done, plan: Plan) {
  // A cursor can be used once: a second process that planned from it finds it changed.
  const to = plan.cursor ?? (cursor && { stepId: cursor.stepId, visit: CURSOR_USED })
  return {
    segment,
    claims,
    walk_status: statusAfter(plan),
    from_step: cursor?.stepId,
    from_visit: cursor?.visit,
    to_step: to?.stepId,
    to_visit: to?.visit,
  }
}

/** A branch stores its data and its end on its own row. */
function branchRow(done: Done, plan: Plan) {
  const own = plan.written && dataColumns(plan.written)
  return {
    ...runRow(done, { ...plan, written: null }),
    own: own?.smallData,
    own_refs: own?.dataRefs,
    arrival: plan.arrival,
  }
}

function runRow({ claims }: Done, { written, stepId, ending, pause }: Plan) {
  const moved = dataRow({ written, stepId })
  if (pause?.signal) return { ...moved, run_status: 'paused' }
  if (!ending) return claims === 'resting' ? { ...moved, run_status: 'running' } : moved
  return endingRow({ ...ending, written, stepId })
}
