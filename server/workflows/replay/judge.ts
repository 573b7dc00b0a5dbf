import type { ServiceContext } from '../../context'
import { diffValues } from '../../definition/diff'
import type { JsonObject } from '../../definition/json'
import { own } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import {
  type Needs,
  type Reason,
  SAME,
  untold,
  type Verdict,
  verdictOf,
  type Way,
  type WayVisit,
} from '../../definition/verdict'
import { inSlices } from '../../give-way'
import type { Entry, Position } from '../../interpreter/flow/index'
import { MAIN_BRANCH } from '../../run-store/names'
import type { Masker } from '../../vault/mask'
import { checkKnown } from './answers'
import { type BothVersions, visitAsRecorded } from './as-recorded'
import { type Budget, drive } from './drive'
import { endOf, startOf } from './ends'
import type { RecordedRun } from './facts'
import { withoutHidden } from './hidden'
import { readValues } from './read-values'
import { Recorded, type Seen } from './recorded'
import type { Said } from './said'
import type { Computing } from './source'
import { Trace } from './trace'
import { Undetermined, Unknowns } from './unknown'
import { Cut, Walker } from './walk'

const BUDGET: Budget = { visits: 20_000, ms: 1_000, computeMs: 5_000 }

/** A version to try runs on, for one caller. */
export interface Trial {
  /** In the form that runs read. */
  definition: Definition
  computing: Computing
  /** The results of calls that a run did not make, by step. */
  assume: JsonObject
  vault: Masker
  /** Whether only runs that failed are tried, so that a call that would fail again decides nothing. */
  healing: boolean
  /** A person's changes of the facts, if any. */
  said?(unknowns: Unknowns): Said
}

/** A run that was walked anew. */
export interface JudgedWalk {
  verdict: Verdict
  was: readonly WayVisit[]
  now: readonly WayVisit[]
  /** What else is known of both; null if it was not walked. */
  walked: Walked | null
}

interface Walked {
  /** The run without what the caller may not see: that has unknown values in its place. */
  run: RecordedRun
  end: Way['end']
  unknowns: Unknowns
  /** By `placeKey`. */
  seen: ReadonlyMap<string, Seen>
}

/** The version that a run had, beside the one that it is tried on. */
export interface OwnVersion {
  definition: Definition
  both: BothVersions
  /** The fields of either that are hidden. */
  hides: ReadonlySet<string>
}

/**
 * How a run would differ on another version, with both ways. Executes nothing, and shows nothing that screens hide.
 * @param until when it must be known
 * @throws Late
 */
export async function judge(
  ctx: ServiceContext,
  found: RecordedRun,
  own: OwnVersion,
  trial: Trial,
  until?: number,
): Promise<JudgedWalk> {
  if (found.continued) return notWalked(found, { why: 'continued' })
  const unknowns = new Unknowns()
  const values = own.hides.size === 0 ? [] : await readValues(ctx, found.id)
  const hiding = withoutHidden(found, unknowns, { vault: trial.vault, hides: own.hides, values })
  const hidden = await inSlices(ctx.tenantId, hiding)
  if ('needs' in hidden) return notWalked(found, hidden.needs)
  const { run, mask } = hidden
  const trace = new Trace()
  const recorded = new AsRecorded(run.way, trace, own.both)
  const said = trial.said?.(unknowns)
  const seen = new Map<string, Seen>()
  const source = new Recorded(run.facts, trial.computing, {
    ...{ unknowns, assume: trial.assume, ...(said ? { said, seen } : {}) },
    pathDiffers: (stepId, exit) => own.both.pathDiffers(stepId, exit),
    asRecorded: (entry) => recorded.visit(entry),
  })
  const input = { ...run.facts.input, ...said?.input }
  const end = await endOfWalk(ctx, input, own, trial, { source, trace, until })
  if (!('needs' in end)) source.ended()
  const common = commonSteps(own.definition, trial.definition)
  const verdict = verdictOf(
    run.way,
    { visits: trace.visits, end },
    {
      ...{ common, assumed: source.assumed, calls: source.calls.all(!('needs' in end)) },
      unknownIn: (value, path) => recorded.reasonOfResult(unknowns.reasonIn(value), path),
    },
  )
  return {
    // What a person types would be masked if it were the hidden value of the run, which is not in the walk.
    verdict: shown(failingCall(verdict, run.way, source, trial), said ? (text) => trial.vault.text(text) : mask),
    ...{ was: run.way.visits, now: trace.visits, walked: { run, end, unknowns, seen } },
  }
}

function notWalked({ way }: RecordedRun, needs: Needs): JudgedWalk {
  return { verdict: untold(needs), was: way.visits, now: [], walked: null }
}

async function endOfWalk(
  ctx: ServiceContext,
  input: JsonObject,
  { definition: was }: OwnVersion,
  { definition }: Trial,
  { source, trace, until }: { source: Recorded; trace: Trace; until: number | undefined },
): Promise<Way['end']> {
  const start = { branch: MAIN_BRANCH, stepId: '', visit: 0 }
  try {
    const started = startOf(ctx, definition, input, (fields, given) =>
      checkKnown(fields, given, source.unknowns, (reason, name) => {
        if (diffValues(fieldOf(was, name), fieldOf(definition, name)).length > 0) throw new Undetermined(reason)
      }),
    )
    if ('failed' in started) return { failed: { ...started.failed, stepId: null } }
    const walk = new Walker(definition, source, ctx.now(), trace).walk(started.state, definition.initialStep)
    const end = endOf(await drive(ctx.tenantId, walk, BUDGET, until))
    return 'data' in end ? { result: end.data } : { failed: { stepId: null, ...end.failed } }
  } catch (err) {
    if (err instanceof Cut) return { needs: { why: 'too long' } }
    if (!(err instanceof Undetermined)) throw err
    // A hidden value matters where it would decide.
    const { branch, stepId, visit } = trace.visits.at(-1) ?? start
    return { needs: err.reason.why === 'hidden' ? { ...err.reason, place: { branch, stepId, visit } } : err.reason }
  }
}

const fieldOf = ({ payload }: Definition, name: string) => own(payload, name)
const ids = ({ steps }: Definition) => steps.map(({ id }) => id)

function commonSteps(a: Definition, b: Definition): ReadonlySet<string> {
  const both = new Set(ids(b))
  return new Set(ids(a).filter((id) => both.has(id)))
}

/** Finds the parts of a walk that are as the run recorded them. */
class AsRecorded {
  constructor(
    private readonly way: Way,
    private readonly trace: Trace,
    private readonly both: BothVersions,
  ) {}

  visit({ state, at }: Entry<Position>) {
    const steps = this.both.feeding(at.stepId)
    return steps && visitAsRecorded(this.way, this.trace.visits, { branch: state.ref.branch, ...at }, steps)
  }

  /** A part of the result that may not be seen is the same if the step that ended the run did as it did. */
  reasonOfResult(reason: Reason | null, path: string): Reason | null {
    if (reason?.why !== 'hidden') return reason
    const last = this.trace.visits.at(-1)
    if (!last) return reason
    const [name = ''] = /^[^.[]+/.exec(path) ?? []
    const { branch, stepId, visit } = last
    const steps = this.both.ends(stepId) ? this.both.feeding(stepId) : this.both.giving(name)
    const found = steps && visitAsRecorded(this.way, this.trace.visits, last, steps)
    return found ? SAME : { ...reason, place: { branch, stepId, visit } }
  }
}

/** A run that failed at a call, and would make it again, might fail or not. */
function failingCall(verdict: Verdict, { end }: Way, { calls: { failed } }: Recorded, { healing }: Trial): Verdict {
  if (verdict.is !== 'same' || !('failed' in end) || !failed || failed.stepId !== end.failed.stepId) return verdict
  if (failed.asksSame && !healing) return verdict
  const { asksSame, ...place } = failed
  const { calls, assumed } = verdict
  return { is: 'untold', needs: { why: asksSame ? 'same call' : 'new call', place }, calls, assumed }
}

/** The verdict as people may see it. */
function shown(verdict: Verdict, mask: (text: string) => string): Verdict {
  const text = (given: string) => mask(Unknowns.shown(given))
  if (verdict.is === 'fails') return { ...verdict, message: text(verdict.message) }
  if (verdict.is === 'result') return { ...verdict, fields: verdict.fields.map(text) }
  return verdict.is === 'untold' ? { ...verdict, needs: shownNeeds(verdict.needs, text) } : verdict
}

function shownNeeds(needs: Needs, text: (given: string) => string): Needs {
  if (needs.why !== 'answer' || typeof needs.misfit === 'string') return needs
  const parts = Object.entries(needs.misfit).map(([name, value]) => [name, text(value)] as const)
  return { ...needs, misfit: Object.fromEntries(parts) as typeof needs.misfit }
}
