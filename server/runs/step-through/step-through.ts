import { authorize, seesHidden } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { type JsonObject, type JsonValue, jsonSize } from '../../definition/json'
import { readableSize } from '../../definition/limits'
import type { PauseSignal } from '../../definition/run'
import { sensitiveFields } from '../../definition/sensitive'
import type { Place, Reason, WayVisit } from '../../definition/verdict'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { reserveTenantSlot, type SlotKind } from '../../tenant-slots'
import { hidingMasker, hidingNothing } from '../../vault/hide'
import type { Masker } from '../../vault/mask'
import { tenantMasker } from '../../vault/masker'
import { checkKnown } from '../../workflows/replay/answers'
import { Arriving, Halt, type Stepping } from '../../workflows/replay/arriving'
import { computingIn, scriptToolsIn } from '../../workflows/replay/compute'
import { type Budget, drive } from '../../workflows/replay/drive'
import { endOf, startOf } from '../../workflows/replay/ends'
import { Origins } from '../../workflows/replay/origins'
import type { Came, Watcher } from '../../workflows/replay/source'
import { Trace } from '../../workflows/replay/trace'
import { hiddenAsUnknown, voterOf } from '../../workflows/replay/typed'
import { Undetermined, Unknowns } from '../../workflows/replay/unknown'
import { Cut, Walker } from '../../workflows/replay/walk'
import { findTarget, type Target } from '../backtest/trial'
import { checkEdits } from '../edits'
import { presentSignal } from '../present'
import { type Next, nextOf } from './next'
import { MAX_BYTES, MAX_VISITS, StepThrough } from './schema'

const BUDGET: Budget = { visits: MAX_VISITS, ms: 1_000, computeMs: 5_000 }
/** Each may compute scripts for seconds. */
const STEPS: SlotKind = {
  ...{ name: 'steps through', perTenant: 3, inAll: 24, longestMs: 30_000 },
  refusal: 'Others step through their drafts; try again shortly.',
}
/** How many of the newest visits are listed. */
const LISTED = 1_000

/** A visit on the way. `step` is its step as it is written. */
export type Passed = WayVisit & { step: string }

/** Where a draft stands that is stepped through. */
export interface Stood {
  version: number
  /** The newest visits, and how many came before them. */
  visits: Passed[]
  earlier: number
  /** The visit that has not begun; null at the end. */
  next: Next | null
  end: { result: JsonValue } | { failed: { code: string; message: string; step: string | null } } | null
  /** Computed results: pass them as facts, so that they stay the same. */
  computed: (Place & { came: { output: JsonValue } | { failed: { code: string; message: string } } })[]
}

/** What stands in the way of the next visit. */
type Ending = { next: Reason | null } | { ended: ReturnType<typeof endOf> }

interface Walked {
  source: Arriving
  origins: Origins
  trace: Trace
  ending: Ending
}

/**
 * Follows a saved version with facts that the caller says, as far as they lead: what was visited, and the next visit
 * before it begins. Executes only scripts that compute, and stores nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_FAILED if it could not run, INVALID_INPUT; UNAVAILABLE while the tenant
 * has others under way
 */
export async function stepThrough(
  ctx: ServiceContext,
  { id, body }: { id: string; body: unknown },
  signal: AbortSignal,
): Promise<Stood> {
  authorize(ctx, 'workflow:simulate')
  const { version, input, ...given } = parseInput(StepThrough, body)
  const { facts, changes, skips, passed, stop } = given
  refuseOdd({ input, facts: facts as unknown as JsonValue, changes: changes as unknown as JsonValue })
  const target = await findTarget(ctx, id, version)
  const release = reserveTenantSlot(STEPS, ctx.tenantId)
  try {
    const vault = await tenantMasker(ctx)
    const unknowns = new Unknowns()
    const known = hiddenAsUnknown(unknowns, { input, facts, changes })
    const stepping = { ...{ facts: known.facts, changes: known.changes, skips, passed }, stop: stopsAt(stop) }
    const walked = await walk(
      ctx,
      target,
      { ...stepping, voter: voterOf(ctx) },
      { input: known.input, unknowns },
      signal,
    )
    return shown(ctx, target, walked, vault, [input, ...stored(given)])
  } finally {
    release()
  }
}

/** @throws AppError INVALID_INPUT */
function refuseOdd(sent: JsonObject): void {
  checkEdits({}, sent)
  if (jsonSize(sent) <= MAX_BYTES) return
  const message = `All that was said is larger than ${readableSize(MAX_BYTES)}`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'facts', message }] })
}

const stopsAt = (stop: 'each' | string[]): Stepping['stop'] => (stop === 'each' ? stop : new Set(stop))

async function walk(
  ctx: ServiceContext,
  { definition }: Target,
  stepping: Stepping,
  { input, unknowns }: { input: JsonObject; unknowns: Unknowns },
  signal: AbortSignal,
): Promise<Walked> {
  const computing = computingIn(ctx, signal, await scriptToolsIn(ctx, definition))
  const [origins, trace] = [new Origins(), new Trace()]
  const source = new Arriving(stepping, computing, unknowns, origins)
  const walked = { source, origins, trace }
  const begun = startOf(ctx, definition, input, (fields, given) => checkKnown(fields, given, unknowns, () => {}))
  if ('failed' in begun)
    throw new AppError('INVALID_INPUT', { details: [{ path: 'input', message: begun.failed.message }] })
  try {
    const walk = new Walker(definition, source, ctx.now(), both(trace, origins)).walk(
      begun.state,
      definition.initialStep,
    )
    return { ...walked, ending: { ended: endOf(await drive(ctx.tenantId, walk, BUDGET)) } }
  } catch (err) {
    if (err instanceof Halt) return { ...walked, ending: { next: null } }
    if (err instanceof Undetermined) return { ...walked, ending: { next: err.reason } }
    if (!(err instanceof Cut)) throw err
    const message = `The draft came to none of them within ${MAX_VISITS.toLocaleString('en')} steps, or took too long.`
    throw new AppError('INVALID_INPUT', { details: [{ path: 'stop', message }] })
  }
}

function both(trace: Trace, origins: Origins): Watcher {
  return {
    visit(entry) {
      trace.visit(entry)
      origins.visit(entry)
    },
    leave: (stepId, exit) => trace.leave(stepId, exit),
    fail: () => {},
    gave: (entry, delta) => origins.gave(entry, delta),
  }
}

/** The objects in which values stand that were typed. */
function stored({
  facts,
  changes,
}: {
  facts: readonly { came: object }[]
  changes: readonly { fields: JsonObject }[]
}) {
  return [...facts.map(({ came }) => came as JsonObject), ...changes.map(({ fields }) => fields)]
}

function shown(
  ctx: ServiceContext,
  { version, definition, idOf }: Target,
  { source, origins, trace, ending }: Walked,
  vault: Masker,
  typed: JsonObject[],
): Stood {
  const hides = seesHidden(ctx) ? sensitiveFields(definition) : new Set<string>()
  const { standing } = source
  const values = standing ? [...typed, standing.entry.state.data] : typed
  const masker = hides.size === 0 ? hidingNothing(vault) : hidingMasker(vault, hides, values)
  const plain = <T>(value: T): T => JSON.parse(Unknowns.shown(JSON.stringify(value)))
  const json = <T>(value: T): T => masker.json(plain(value) as JsonValue) as T
  const question = (signal: PauseSignal) => presentSignal(plain(signal), masker)
  const stands = 'next' in ending && standing
  const visits = (stands ? trace.visits.slice(0, -1) : trace.visits).map((visit) => ({
    ...{ ...visit, step: idOf(visit.stepId) },
  }))
  const earlier = Math.max(0, visits.length - LISTED)
  return {
    ...{ version, visits: visits.slice(earlier), earlier },
    next: stands ? nextOf({ source, origins, idOf, json, question, standing, reason: ending.next }) : null,
    end: 'ended' in ending ? endShown(ending.ended, idOf, json) : null,
    computed: source.computed.flatMap(({ came, ...place }) => {
      const { kept } = keptOf(came)
      // A hidden value is computed again.
      return kept && JSON.stringify(json(kept)) === JSON.stringify(kept) ? [{ ...place, came: kept }] : []
    }),
  }
}

/** As a fact; null if the step sets other fields than it gives. */
function keptOf(came: Came) {
  if ('failed' in came) return { kept: { failed: came.failed } }
  return { kept: 'output' in came && came.delta === undefined ? { output: came.output } : null }
}

function endShown(ended: ReturnType<typeof endOf>, idOf: Target['idOf'], json: <T>(value: T) => T): Stood['end'] {
  if ('data' in ended) return { result: json(ended.data) }
  if ('notRun' in ended) return null
  const { code, message, ...at } = ended.failed
  const stepId = 'stepId' in at && typeof at.stepId === 'string' ? at.stepId : null
  return { failed: { code, message: json(message), step: stepId === null ? null : idOf(stepId) } }
}
