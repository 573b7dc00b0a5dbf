import { afterAll, beforeAll, expect, test } from 'vitest'
import { moveRuns } from '@/server/runs/moves/move'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { ask, isPaused, path, say, waiting } from './moving'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
})
// Checks the invariants.
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const RUNS = rounds(40, 2_000)

test(`${RUNS} runs are answered and moved at the same moment: each acknowledged answer counts, and each ends as its version says`, async () => {
  const { ctx } = runtime
  const drawn = await waiting(
    runtime,
    path(ask(), say('one ${n}')),
    path(ask({ saveAs: 'form' }), say('two ${form.n}')),
  )
  const { workflowId, from, to } = drawn
  const seen = { one: 0, two: 0 }
  for (let n = 0; n < RUNS; n++) {
    const { runId } = await startRun(ctx, { workflowId, body: {}, version: String(from) })
    await runtime.wait(runId, isPaused, 10_000)
    const answer = () => resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { n } } })
    const move = () => moveRuns(ctx, { workflowId, toVersion: to, runIds: [runId] })
    const [made] = n % 2 ? await Promise.all([move(), answer()]) : (await Promise.all([answer(), move()])).toReversed()
    if (!made || !('moved' in made)) throw new Error('the move said nothing')
    const run = await runtime.wait(runId, undefined, 10_000)
    const said = made.moved.length === 1 ? 'two' : 'one'
    seen[said]++
    expect(run).toMatchObject({ outcome: 'succeeded', workflowVersion: said === 'two' ? to : from })
    expect(run.result).toMatchObject({ said: `${said} ${n}` })
  }
  expect(seen.one + seen.two).toBe(RUNS)
})
