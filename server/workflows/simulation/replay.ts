import type { ServiceContext } from '../../context'
import { shownBranch } from '../../definition/branches'
import type { EventValue } from '../../definition/event'
import { checkFields } from '../../definition/fields'
import { fieldsInStoredOrder, isJsonObject, type JsonValue, own } from '../../definition/json'
import type { Arrival, PauseAnswer } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import type { Sliced } from '../../definition/sliced'
import type { StepConfig } from '../../definition/step-config'
import { nameOf } from '../../definition/step-name'
import type { Ended as CaseEnd, StepOutcome, WorkflowCase } from '../../definition/test-case'
import { inSlices } from '../../give-way'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import {
  collected,
  enterResolved,
  failureAtEntry,
  fillIn,
  forkOf,
  lookupWith,
  notCollected,
  requireVisit,
} from '../../interpreter/flow/index'
import { MAIN_BRANCH } from '../../run-store/names'
import type { Asked, Forking } from '../../steps/define-step'
import type { Begun, Came, Outputs, Source } from '../replay/source'
import { Cut, type Ended, type Walk, Walker } from '../replay/walk'

const MAX_VISITS = 20_000
const MAX_MS = 2_000

/** The saved run does not determine what comes next. */
class NotKept extends Error {
  override name = 'NotKept'
}

/**
 * Replays a definition with a saved run's input, effects' results and people's answers. Recomputes everything else, and
 * executes nothing.
 * @param definition without errors, in the form that runs read
 */
export async function replay(
  { tenantId, now }: ServiceContext,
  definition: Definition,
  kept: WorkflowCase,
): Promise<CaseEnd | { notRun: string }> {
  const { data, details } = checkFields(definition.payload, kept.data)
  // A form's file is no declared field.
  const fileId = own(kept.data, 'fileId')
  if (details.length > 0) {
    return { failed: { code: 'INVALID_INPUT', message: details.map(({ message }) => message).join(', ') } }
  }
  const state: Position = {
    run: { failing: null, cancelRequestedAt: null },
    ref: { tenantId, runId: 'run_replayed', epoch: 1, segment: 1, branch: MAIN_BRANCH },
    definition,
    data: fieldsInStoredOrder(fileId === undefined ? data : { fileId, ...data }),
    refs: {},
    own: null,
  }
  try {
    const walk = new Walker(definition, new Kept(kept), now()).walk(state, definition.initialStep)
    return endOf(await inSlices(tenantId, followed(walk)))
  } catch (err) {
    if (err instanceof NotKept) return { notRun: err.message }
    if (err instanceof Cut) return { notRun: 'The walk takes too long to follow.' }
    throw err
  }
}

function* followed(walk: Walk): Sliced<Ended> {
  for (let visits = 0; ; visits++) {
    const { done, value } = walk.next()
    if (done) return value
    if (visits > MAX_VISITS || (yield) > MAX_MS) throw new Cut()
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

/** What a saved run's effects gave and its people answered. */
class Kept implements Source {
  readonly mostVisits = MAX_VISITS

  constructor(private readonly kept: WorkflowCase) {}

  enter(entry: Entry<Position>, outputs: Outputs): Entered {
    const { state, step, type } = entry
    try {
      requireVisit(entry)
      return enterResolved(entry, fillIn(step, type, lookupWith(state.data, outputs)))
    } catch (err) {
      return { failure: failureAtEntry(err) }
    }
  }

  outcome(entry: Entry<Position>, _config: StepConfig, asked: Asked | null): Came {
    const { type } = entry
    if (type.mode === 'pause' && type.elapses) return { answer: { due: true } }
    const outcome = this.outcomeAt(entry)
    if ('failed' in outcome || type.mode !== 'pause') return outcome
    return { answer: answerAgain(entry, asked, outcome.output) }
  }

  branches(_entry: Entry<Position>, { branches }: Forking): Begun[] {
    return branches.map((branch) => ({ ...branch, beyond: 'walked' }))
  }

  collect(state: Position, outputs: Outputs): Arrival {
    try {
      return collected(forkOf(state), lookupWith(state.data, outputs))
    } catch (err) {
      return notCollected(err, state)
    }
  }

  /**
   * The outcome of the same visit of the same branch; otherwise of the step's last saved visit, however often it is
   * visited now.
   */
  private outcomeAt({ state, step, at }: Entry<Position>): StepOutcome {
    const all = own(this.kept.steps, step.id) ?? []
    const branch = shownBranch(state.ref.branch)
    const found = all.find((one) => one.branch === branch && one.visit === at.visit) ?? all.at(-1)
    if (!found) throw new NotKept(`The run that was kept did not come to ${nameOf(step)}, so its result is unknown.`)
    return found
  }
}

function answerAgain({ step, type }: Entry<Position>, asked: Asked | null, output: JsonValue): PauseAnswer {
  const given = isJsonObject(output) ? output : {}
  if (type.mode === 'pause' && type.startsRun) return { child: { result: output } }
  if (asked?.event) return { event: given as unknown as EventValue }
  if (asked?.signal?.type === 'collect_inputs') {
    const { data, details } = checkFields(asked.signal.fields, given)
    if (details.length > 0) {
      const [{ message } = { message: '' }] = details
      throw new NotKept(`The answer that was kept does not fit the form of ${nameOf(step)}: ${message}.`)
    }
    return { data }
  }
  if (asked?.signal) {
    const { actionId, actionValue, remark, votes } = given
    const action = asked.signal.actions.find(({ id }) => id === actionId)
    if (!action) throw new NotKept(`${nameOf(step)} no longer has the action ${String(actionId)}, which was chosen.`)
    const { data, details } = checkFields(action.fields ?? {}, given)
    if (details[0])
      throw new NotKept(`The decision that was kept does not fit the fields of ${action.label}: ${details[0].message}.`)
    const asks = asked.signal.remark !== undefined && typeof remark === 'string'
    const answer = {
      ...{ actionId: action.id, actionValue: String(actionValue ?? action.id), data },
      ...(asks ? { remark } : {}),
      ...(votes === undefined ? {} : { votes }),
    } as PauseAnswer
    return answer
  }
  return { due: true }
}
