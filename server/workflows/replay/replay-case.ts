import type { ServiceContext } from '../../context'
import { checkFields } from '../../definition/fields'
import { fieldsInStoredOrder, type JsonValue, own } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import type { Ended as CaseEnd, WorkflowCase } from '../../definition/test-case'
import type { Position } from '../../interpreter/flow/index'
import { MAIN_BRANCH } from '../../run-store/names'
import { computingIn } from './compute'
import { type Budget, drive } from './drive'
import { factsOfKept, sentenceOf } from './kept'
import { Recorded } from './recorded'
import { Undetermined } from './unknown'
import { Cut, type Ended, Walker } from './walk'

const BUDGET: Budget = { visits: 20_000, ms: 2_000 }

/**
 * Replays a definition with a kept run's input, effects' results and people's answers. Recomputes everything else, and
 * executes nothing.
 * @param definition without errors, in the form that runs read
 */
export async function replayCase(
  ctx: ServiceContext,
  definition: Definition,
  kept: WorkflowCase,
  signal: AbortSignal,
): Promise<CaseEnd | { notRun: string }> {
  const { data, details } = checkFields(definition.payload, kept.data)
  if (details.length > 0) {
    return { failed: { code: 'INVALID_INPUT', message: details.map(({ message }) => message).join(', ') } }
  }
  const source = new Recorded(factsOfKept(kept), computingIn(ctx, signal))
  // A form's file is no declared field.
  const fileId = own(kept.data, 'fileId')
  const state: Position = {
    run: { failing: null, cancelRequestedAt: null },
    ref: { tenantId: ctx.tenantId, runId: 'run_replayed', epoch: 1, segment: 1, branch: MAIN_BRANCH },
    definition,
    data: fieldsInStoredOrder(fileId === undefined ? data : { fileId, ...data }),
    refs: {},
    own: null,
  }
  try {
    const walk = new Walker(definition, source, ctx.now()).walk(state, definition.initialStep)
    const end = endOf(await drive(ctx.tenantId, walk, BUDGET))
    const unknown = source.unknowns.reasonIn(end as JsonValue)
    return unknown ? { notRun: sentenceOf(unknown, definition) } : end
  } catch (err) {
    if (err instanceof Undetermined) return { notRun: sentenceOf(err.reason, definition) }
    if (err instanceof Cut) return { notRun: 'The walk takes too long to follow.' }
    throw err
  }
}

function endOf({ state, arrival }: Ended): CaseEnd {
  if (state.run.failing) return { failed: state.run.failing }
  if (arrival && 'failed' in arrival) return { failed: arrival.failed }
  if (arrival && 'ends' in arrival) {
    return arrival.ends.status === 'failed' ? { failed: arrival.ends.error } : { data: arrival.ends.result }
  }
  return { data: state.data }
}
