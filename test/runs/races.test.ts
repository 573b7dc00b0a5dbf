import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '@/server/errors'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const steps = [
  { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
  { id: 'work', type: 'test-effect', body: { worked: true } },
  { id: 'undo', type: 'test-effect', body: { undone: true } },
  { id: 'end', type: 'end-flow' },
]
const edges = [
  { from: 'ask', to: 'work' },
  { from: 'work', to: 'end' },
]

type Verdict = 'ok' | string
const verdict = (call: Promise<unknown>): Promise<Verdict> =>
  call.then(
    () => 'ok',
    (err: unknown) => (err instanceof AppError ? err.code : `unexpected ${String(err)}`),
  )

/** Ten of each of the four kinds of race, with different delays, so that every legal outcome occurs several times. */
const ROUNDS = rounds(20, 400)
/** Simultaneous rounds: each waits most of its time. */
const LANES = 5

describe('resume, cancel and terminate at once', () => {
  it.each([
    ['without a cleanup path', {}],
    ['with one', { onCancel: 'undo' }],
  ])(`I12: come to one legal outcome, which the accepted ones explain (${ROUNDS} rounds, %s)`, async (_name, more) => {
    const workflow = await createWorkflow(runtime.ctx, { name: 'Race', steps, edges, ...more })
    const seen = new Set<string>()
    const race = async (round: number) => {
      const { runId } = await startRun(runtime.ctx, { workflowId: workflow.id, body: {} })
      await runtime.wait(runId, (run) => run.status === 'paused')
      const late = (ms: number) => sleep(Math.random() * ms)
      const [resumed, cancelled, terminated] = await Promise.all([
        verdict(resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { n: round } } })),
        round % 4 === 1 ? 'unsent' : verdict(late(40).then(() => cancelRun(runtime.ctx, { runId }))),
        round % 4 === 2 ? 'unsent' : verdict(late(40).then(() => terminateRun(runtime.ctx, { runId }))),
      ])
      const run = await runtime.wait(runId)
      const story = `${run.outcome}: resume ${resumed}, cancel ${cancelled}, terminate ${terminated}`
      seen.add(story)
      expect(['succeeded', 'cancelled', 'terminated'], story).toContain(run.outcome)
      expect(resumed, story).toMatch(/^(ok|RUN_NOT_PAUSED)$/)
      for (const stop of [cancelled, terminated]) expect(stop, story).toMatch(/^(ok|RUN_ALREADY_ENDED|unsent)$/)
      if (run.outcome === 'succeeded') {
        expect(resumed, story).toBe('ok')
        expect([cancelled, terminated], story).not.toContain('ok')
        expect(run.data, story).toMatchObject({ n: round })
      } else {
        expect(run.outcome === 'cancelled' ? cancelled : terminated, story).toBe('ok')
        expect([cancelled, terminated], story).not.toContain('RUN_ALREADY_ENDED')
      }
      expect(run.pauseSignal, story).toBeNull()
      expect(run.stepExecutionHistory.filter((step) => step.status === 'running')).toEqual([])
      expect(run.stepExecutionHistory.filter((step) => step.stepId === 'undo').length).toBeLessThanOrEqual(1)
      const resumedInHistory = run.stepExecutionHistory[0]?.status === 'completed'
      if (resumedInHistory) expect(resumed, story).toBe('ok')
    }
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        for (let round = lane; round < ROUNDS; round += LANES) await race(round)
      }),
    )
    expect(seen.size).toBeGreaterThan(2)
  })

  it('of many cancels and terminates exactly one decides', async () => {
    const workflow = await createWorkflow(runtime.ctx, { name: 'Race', steps, edges, onCancel: 'undo' })
    for (let round = 0; round < 10; round++) {
      const { runId } = await startRun(runtime.ctx, { workflowId: workflow.id, body: {} })
      await runtime.wait(runId, (run) => run.status === 'paused')
      const calls = Array.from({ length: 12 }, (_, i) =>
        (i % 2 ? cancelRun : terminateRun)(runtime.ctx, { runId, reason: `${i}` }),
      )
      const answers = await Promise.all(calls)
      const run = await runtime.wait(runId)
      const final = answers.filter((answer) => answer.outcome !== null)
      expect(new Set(final.map((answer) => `${answer.outcome} ${answer.reason}`)).size).toBeLessThanOrEqual(1)
      for (const answer of final) expect(answer.outcome).toBe(run.outcome)
    }
  })
})
