import type { ServiceContext } from '../../context'
import { shownBranch } from '../../definition/branches'
import type { EventValue } from '../../definition/event'
import { checkFields } from '../../definition/fields'
import { fieldsInStoredOrder, isJsonObject, type JsonValue, own } from '../../definition/json'
import type { PauseAnswer } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import type { Sliced } from '../../definition/sliced'
import type { StepConfig } from '../../definition/step-config'
import { nameOf } from '../../definition/step-name'
import type { Ended as CaseEnd, StepOutcome, WorkflowCase } from '../../definition/test-case'
import { inSlices } from '../../give-way'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import { enterResolved, failureAtEntry, fillIn, lookupWith, requireVisit, yielded } from '../../interpreter/flow/index'
import { MAIN_BRANCH } from '../../run-store/names'
import type { Asked } from '../../steps/define-step'
import { Coverage, Path } from './path'
import { Values } from './values'
import { Cut, type Done, type Ended, Walker } from './walk'
import { lookAt, type World } from './world'

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
    const world = await inSlices(tenantId, lookAt(definition, new Map(), {}))
    const walk = new Replayer(world, kept, now()).walk(state, definition.initialStep)
    return endOf(await inSlices(tenantId, followed(walk)))
  } catch (err) {
    if (err instanceof NotKept) return { notRun: err.message }
    if (err instanceof Cut) return { notRun: 'The walk takes too long to follow.' }
    throw err
  }
}

function* followed(walk: Generator<void, Ended>): Sliced<Ended> {
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

class Replayer extends Walker {
  protected override readonly mostVisits = MAX_VISITS

  constructor(
    world: World,
    private readonly kept: WorkflowCase,
    now: Date,
  ) {
    const nothing = new Values({ numbers: [], texts: [] }, new Map(), () => {
      throw new Error('A replay makes no values')
    })
    super(world, new Path(0, new Coverage(), null), nothing, now)
  }

  protected override take(entry: Entry<Position>, outputs: Parameters<Walker['take']>[1]): Entered {
    const { state, step, type } = entry
    try {
      requireVisit(entry)
      return enterResolved(entry, fillIn(step, type, lookupWith(state.data, outputs)))
    } catch (err) {
      return { failure: failureAtEntry(err) }
    }
  }

  protected override decided(_entry: Entry<Position>, taken: Entered): Entered {
    return taken
  }

  /** Unlimited. */
  protected override items(): number {
    return Number.POSITIVE_INFINITY
  }

  protected override *perform(
    entry: Entry<Position>,
    begun: Extract<Entered, { begins: StepConfig }>,
    outputs: Parameters<Walker['take']>[1],
  ): Generator<void, Done> {
    const { type } = entry
    const { begins: config, asked } = begun
    if (type.mode === 'fork') return yield* this.branches(entry, config, outputs)
    if (type.mode === 'pause' && type.elapses) return this.resumed(entry, config, { due: true }, 'next')
    const outcome = this.outcomeAt(entry)
    if ('failed' in outcome) return { failure: outcome.failed, meant: true }
    try {
      if (type.mode === 'pause') return this.again(entry, config, asked, outcome.output)
      return yielded(entry, config, { output: outcome.output }) as Done
    } catch (err) {
      if (err instanceof NotKept) throw err
      return { failure: failureAtEntry(err), meant: true }
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

  private again(entry: Entry<Position>, config: StepConfig, asked: Asked | null, output: JsonValue): Done {
    const { step, type } = entry
    const given = isJsonObject(output) ? output : {}
    if (type.mode === 'pause' && type.startsRun)
      return this.resumed(entry, config, { child: { result: output } }, 'next')
    if (asked?.event) return this.resumed(entry, config, { event: given as unknown as EventValue }, 'next')
    if (asked?.signal?.type === 'collect_inputs') {
      const { data, details } = checkFields(asked.signal.fields, given)
      if (details.length > 0) {
        const [{ message } = { message: '' }] = details
        throw new NotKept(`The answer that was kept does not fit the form of ${nameOf(step)}: ${message}.`)
      }
      return this.resumed(entry, config, { data }, 'next')
    }
    if (asked?.signal) {
      const { actionId, actionValue, remark, votes } = given
      const action = asked.signal.actions.find(({ id }) => id === actionId)
      if (!action) throw new NotKept(`${nameOf(step)} no longer has the action ${String(actionId)}, which was chosen.`)
      const { data, details } = checkFields(action.fields ?? {}, given)
      if (details[0])
        throw new NotKept(
          `The decision that was kept does not fit the fields of ${action.label}: ${details[0].message}.`,
        )
      const asks = asked.signal.remark !== undefined && typeof remark === 'string'
      const answer = {
        ...{ actionId: action.id, actionValue: String(actionValue ?? action.id), data },
        ...(asks ? { remark } : {}),
        ...(votes === undefined ? {} : { votes }),
      } as PauseAnswer
      return this.resumed(entry, config, answer, action.id)
    }
    return this.resumed(entry, config, { due: true }, 'next')
  }
}
