import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import { pinnedDefinition } from '@/server/run-store/definition'
import { readFacts } from '@/server/workflows/replay/read-facts'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { Dice, definitionOf, randomGraph } from './generate'
import { expectNoGuess, expectSameWay, type Ran } from './replayed'
import { runGraph } from './run-graph'

// Random graphs are run, and then replayed with what they recorded.

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  effects = await startEffects(() => ({ status: 422 }))
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
}, 900_000)
afterEach(() => vi.unstubAllGlobals())

const SEED = Number(process.env.GRAPH_SEED ?? 1)
const BATCH = 200
const HIDDEN = 6

/** Some forks need only some of their branches, or continue after failures: then the order of ends decides. */
function withRaces(dice: Dice, definition: ReturnType<typeof definitionOf>) {
  const steps = definition.steps.map((step: JsonObject) => {
    // Otherwise the result of a call may set any field, so hiding it hides nearly everything.
    if (step.type === 'test-effect' && dice.chance(60)) return { ...step, saveAs: `got_${step.id}` }
    if (step.type !== 'parallel' || dice.chance(40)) return step
    const most = (step.branches as unknown[]).length
    const wait = dice.chance(50) ? 'any' : 1 + dice.below(most)
    return { ...step, wait, onBranchError: dice.pick(['stop', 'continue']) }
  })
  return { ...definition, steps }
}

async function ran(seed: number): Promise<Ran | null> {
  const dice = new Dice(seed)
  const graph = randomGraph(dice)
  const run = await runGraph(runtime, graph, withRaces(dice, definitionOf(graph, effects.url)))
  if (!run) return null
  const facts = await readFacts(runtime.ctx, run.runId, 5_000)
  if (!facts) return null
  return { run, facts, definition: await pinnedDefinition(runtime.ctx, run.workflowId, run.workflowVersion) }
}

async function manyRun(from: number, count: number): Promise<Ran[]> {
  const all: Ran[] = []
  let at = from
  const worker = async () => {
    while (at < from + count) {
      const one = await ran(SEED * 2_000_003 + at++)
      if (one) all.push(one)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return all
}

const rows = () => database.sql`
  select (select count(*)::int from runs) as runs, (select count(*)::int from step_records) as records,
    (select count(*)::int from pauses) as pauses, (select count(*)::int from walks) as walks,
    (select count(*)::int from outbox) as outbox`

test('a run replayed on its own version goes its way to its end, and with an outcome hidden nothing is guessed', async () => {
  const total = rounds(Number(process.env.GRAPHS ?? 160), 20_000)
  const counts = { runs: 0, raced: 0, hidden: 0, unknown: 0 }
  for (let from = 0; from < total; from += BATCH) {
    const all = await manyRun(from, Math.min(BATCH, total - from))
    const before = await rows()
    vi.stubGlobal('fetch', () => {
      throw new Error('a replay makes no request')
    })
    for (const one of all) {
      await expectSameWay(one)
      counts.runs++
      if (Object.keys(one.facts.arrivals).length > 0) counts.raced++
      const steps = [...new Set(one.facts.visits.map(({ stepId }) => stepId))].slice(0, HIDDEN)
      for (const stepId of steps) {
        counts.hidden++
        if (await expectNoGuess(one, stepId)) counts.unknown++
      }
    }
    vi.unstubAllGlobals()
    expect(await rows()).toEqual(before)
  }
  process.stdout.write(`replays: ${JSON.stringify(counts)}\n`)
  expect(counts.runs).toBeGreaterThan(total * 0.3)
  // Enough of them have branches, and depend on what is hidden.
  if (total < 100) return
  expect(counts.raced).toBeGreaterThan(counts.runs * 0.03)
  expect(counts.unknown).toBeGreaterThan(counts.hidden * 0.1)
  expect(counts.unknown).toBeLessThan(counts.hidden)
}, 3_600_000)
