import { afterAll, beforeAll, expect, test } from 'vitest'
import { stepsAside } from '@/server/definition/paths'
import type { Definition } from '@/server/definition/schema'
import { conforms } from '@/server/definition/types/type'
import type { PresentedRun } from '@/server/runs/present'
import { flowOf } from '@/server/workflows/check/flow'
import { checkGraph } from '@/server/workflows/check/graph'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { expectSame, walkedBy } from './compare'
import { Dice, definitionOf, randomGraph } from './generate'
import type { Graph, Walked } from './reference'
import { runGraph } from './run-graph'

// Random graphs with branches, loops, failures, delays and pauses, walked by the product and by a reference that was
// written from the documentation: the same visits, the same exits, the same data.

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  effects = await startEffects(() => ({ status: 422 }))
  // So low that most fields are stored by reference, but not all.
  runtime = await startTestRuntime(database.url, { MILLRACE_TEST_LARGE_BYTES: '1' })
})
// The invariants of 20,000 runs take a while to check.
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
}, 900_000)

const INPUT = { a: 1, b: 1, c: 1 }
const SEED = Number(process.env.GRAPH_SEED ?? 1)

/** Null if the graph cannot run at all: it has an endless loop. */
async function walkedFor(graph: Graph): Promise<Walked | null> {
  const definition = definitionOf(graph, effects.url)
  const run = await runGraph(runtime, graph, definition)
  if (!run) return null
  expectForeseen(definition, run)
  return walkedBy(run)
}

/** They fail with the error of a step in them. */
const FORKS = ['parallel', 'for-each']

/** Publishing has warned about every missing value that a run finds. */
function expectForeseen(definition: ReturnType<typeof definitionOf>, run: PresentedRun): void {
  const known = checkGraph({ name: '', description: '', ...definition } as unknown as Definition)
  const flow = flowOf({ name: '', description: '', ...definition } as unknown as Definition)
  const warned = known.filter(({ code }) => code === 'W_REF_MAYBE').map(({ stepId }) => stepId)
  for (const { stepId, status, outputData } of run.stepExecutionHistory)
    if (status === 'completed' && outputData)
      expect(
        conforms(outputData, flow.readsAfter(stepId, 'done')(stepId).type),
        `${stepId} gives ${JSON.stringify(outputData)}`,
      ).toBe(true)
  // Nothing can be predicted where an earlier step may add fields of any name, or after a failure anywhere.
  const aside = stepsAside({ name: '', description: '', ...definition } as unknown as Definition)
  for (const { stepId, stepType, errorCode } of run.stepExecutionHistory)
    if (
      errorCode === 'EXPRESSION_UNRESOLVED' &&
      !FORKS.includes(stepType) &&
      !flow.at(stepId).open &&
      !aside.has(stepId)
    )
      expect(warned, `${stepId} of ${JSON.stringify({ definition, known })}`).toContain(stepId)
}

test('a run makes the visits of its graph, and ends with the predicted data', async () => {
  const total = rounds(Number(process.env.GRAPHS ?? 200), 20_000)
  let [at, walked, longest] = [0, 0, 0]
  const seen = new Set<string>()
  const worker = async () => {
    while (at < total) {
      const seed = SEED * 1_000_003 + at++
      const graph = randomGraph(new Dice(seed))
      const found = await walkedFor(graph)
      if (!found) continue
      expectSame(found, graph, INPUT, seed)
      walked++
      const visits = Object.values(found.visits).flat()
      longest = Math.max(longest, visits.length)
      for (const visit of visits) seen.add(visit.replace(/^\w+#/, ''))
      seen.add(found.error ?? found.outcome)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  // The graphs are worth walking: most of them run, some for long, and all kinds of exits are taken.
  expect(walked).toBeGreaterThan(total * 0.3)
  expect(longest).toBeGreaterThan(20)
  if (total < 100) return
  for (const kind of [
    '1 true',
    '1 false',
    '1 error',
    '1 default',
    '2',
    '1 yes',
    '1 done',
    'succeeded',
    'LOOP_LIMIT',
    'HTTP_ERROR',
    'EXPRESSION_FAILED',
  ])
    expect(seen, kind).toContain(kind)
}, 1_800_000)
