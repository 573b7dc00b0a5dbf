import { inArray } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { pauses, runs } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { getRunStatus } from '@/server/runs/status'
import { expectSame, walkedBy } from '../graphs/compare'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { checkInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { installFinality } from '../support/invariants/finality'
import { newTenant } from '../support/tenant'
import { gatedDb } from './gated-db'
import type { Outcome } from './outcome'
import { INPUT } from './plot'
import { simulate } from './simulate'
import { now } from './virtual-clock'

/** The results of some seeds. */
export interface Found {
  /** Each with the seed that shows it, or with all seeds that were checked together. */
  violations: string[]
  effects: number
  compared: number
  /** The moves that were acknowledged, and why the others were refused. */
  moved: number
  refusals: Map<string, number>
  modes: Set<string>
}

interface How {
  /** Whether runs are moved to other versions. */
  moves?: boolean
}

export interface Simulation {
  /** Simulates seeds one after the other, then checks the whole database. */
  run(seeds: readonly number[], how?: How): Promise<Found>
  close(): Promise<void>
}

/** @param rewrite plants a fault in the product's statements */
export async function startSimulation(rewrite = (text: string) => text): Promise<Simulation> {
  const database = await freshDatabase({ max: 10 })
  Object.assign(process.env, {
    ...{ DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', MILLRACE_TEST_LARGE_BYTES: '1', LOG_LEVEL: 'fatal' },
    // Also runs the sweeps that only an Inngest server needs.
    ...{ INNGEST_EVENT_KEY: 'simulated', INNGEST_SIGNING_KEY: 'signkey-test-00', INNGEST_DEV: '' },
  })
  await installFinality(database.sql)
  const tenant = await newTenant(database)
  let written = true
  const wrote = () => {
    const before = written
    written = false
    return before
  }
  const gates = {
    rewrite,
    wrote: () => {
      written = true
    },
  }
  const ctx = { ...tenant, now, db: gatedDb(database.db, gates) }
  return {
    run: (seeds, how = {}) => runSeeds(database, ctx, seeds, { ...how, wrote }),
    close: () => database.close(),
  }
}

async function runSeeds(
  database: FreshDatabase,
  ctx: ServiceContext,
  seeds: readonly number[],
  { wrote, ...how }: How & { wrote: () => boolean },
): Promise<Found> {
  const found = nothing()
  const outcomes: Outcome[] = []
  for (const seed of seeds) {
    const outcome = await simulate(seed, ctx, wrote, how)
    outcomes.push(outcome)
    found.effects += outcome.seen.length
    countMoves(found, outcome)
    found.modes.add(outcome.mode)
    const { problems, compared } = await problemsOf({ ...ctx, db: database.db }, outcome)
    found.compared += compared ? 1 : 0
    found.violations.push(...problems.map((problem) => `seed ${seed} (${outcome.mode}): ${problem}`))
  }
  const seedOf = (where: string) => outcomes.find(({ runIds }) => runIds.some((id) => where.includes(id)))?.seed
  const broken = [
    ...(await checkInvariants(database.sql, { engine: false })),
    ...(await checkEffects(
      database.sql,
      outcomes.flatMap(({ seen }) => seen),
      { recorded: new Map(outcomes.flatMap(({ recorded }) => [...recorded])) },
    )),
  ]
  for (const { name, says, where } of broken) {
    const seed = seedOf(where) ?? `one of ${seeds[0]} to ${seeds.at(-1)}`
    found.violations.push(`seed ${seed}: ${name}: ${says}. Not so: ${where}`)
  }
  await database.sql`truncate workflows, runs, outbox, engine.jobs cascade`
  await database.sql.unsafe(RESET)
  return found
}

function nothing(): Found {
  return { violations: [], effects: 0, compared: 0, moved: 0, refusals: new Map(), modes: new Set() }
}

function countMoves(found: Found, { told }: Outcome): void {
  for (const { what, refused } of told) {
    if (what !== 'move') continue
    if (refused === null) found.moved++
    else found.refusals.set(refused, (found.refusals.get(refused) ?? 0) + 1)
  }
}

/** The counts of refusals concern these seeds alone. */
const RESET = `do $$ declare name text; begin
  for name in select sequencename from pg_sequences where sequencename like 'invariants\\_refused\\_%' loop
    execute format('alter sequence %I restart', name);
  end loop; end $$`

/** Too many attempts were lost or failed transiently: a legal end, which the reference does not predict. */
const TOO_MANY = ['WORKER_LOST', 'TRANSIENT']

/** Responses to callers must be true, and an undisturbed run must end as its graph predicts. */
async function problemsOf(ctx: ServiceContext, outcome: Outcome): Promise<{ problems: string[]; compared: boolean }> {
  const problems = [...outcome.problems]
  const { runIds, told, graph, seed, disturbed } = outcome
  const [rows, answers, moves] = await Promise.all([
    ctx.db.select().from(runs).where(inArray(runs.id, runIds)),
    ctx.db.select().from(pauses).where(inArray(pauses.runId, runIds)),
    ctx.db.select().from(runMoves).where(inArray(runMoves.runId, runIds)),
  ])
  for (const { what, runId, pauseId, to, refused, at } of told) {
    if (refused !== null) continue
    const run = rows.find(({ id }) => id === runId)
    const had = [run?.workflowVersion, ...moves.filter((row) => row.runId === runId).map((row) => row.fromVersion)]
    if (to && !had.includes(to.version))
      problems.push(`I53: ${runId} was moved to ${to.version}, and never had that version`)
    if (what === 'terminate' && !(run?.endTime && run.endTime <= at))
      problems.push(`I9: ${runId} was terminated, and did not end by then`)
    if (what === 'cancel' && run?.outcome === 'succeeded' && (run.endTime?.getTime() ?? 0) > at.getTime())
      problems.push(`I10: ${runId} was cancelled, and succeeded later`)
    if (what !== 'resume') continue
    const same = told.filter((other) => other.refused === null && other.runId === runId && other.pauseId === pauseId)
    if (same.length > 1) problems.push(`I5: ${pauseId} of ${runId} was answered ${same.length} times`)
    const pause = answers.find((row) => row.runId === runId && row.id === pauseId)
    if (pause?.answer == null || pause.answeredBy !== ctx.actor.id)
      problems.push(`I4: the answer to ${pauseId} of ${runId} was acknowledged, and is gone`)
  }
  const [first] = rows.filter(({ id }) => id === runIds[0])
  if (disturbed || !first?.endTime) return { problems, compared: false }
  const run = await getRunStatus(ctx, { runId: first.id })
  const lost = run.stepExecutionHistory.some(({ errorCode }) => errorCode && TOO_MANY.includes(errorCode))
  if (lost || run.error?.code === 'ENGINE_GAVE_UP') return { problems, compared: false }
  try {
    expectSame(walkedBy(run), graph, INPUT, seed)
  } catch (err) {
    const { message, actual, expected } = err as Error & { actual?: unknown; expected?: unknown }
    const sides = `${JSON.stringify(actual)} for ${JSON.stringify(expected)}`
    problems.push(`it did not walk as its graph says: ${sides}; ${message}`)
  }
  return { problems, compared: true }
}

const AT_ONCE = 25

/** Simulates seeds from `first` on, until there are enough of them or enough findings. */
export async function simulateFrom(
  simulation: Simulation,
  first: number,
  count: number,
  isEnough = (_: Found) => false,
): Promise<Found> {
  const all = nothing()
  for (let at = first; at < first + count && !isEnough(all); at += AT_ONCE) {
    const seeds = Array.from({ length: Math.min(AT_ONCE, first + count - at) }, (_, n) => at + n)
    const found = await simulation.run(seeds)
    all.violations.push(...found.violations)
    all.effects += found.effects
    all.compared += found.compared
    all.moved += found.moved
    for (const [why, count] of found.refusals) all.refusals.set(why, (all.refusals.get(why) ?? 0) + count)
    for (const mode of found.modes) all.modes.add(mode)
  }
  return all
}
