import { expect } from 'vitest'
import { freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { startTestRuntime } from '../support/runtime'
import { scenario } from './rounds'

const CALLERS = 5
/** Concurrent races, and how many the checker examines together. */
const LANES = 8
const CHECKED = 500
/** Ends well before the soak's own limit, with the races it completed by then. */
const LONGEST_MS = 30 * 60_000

const FORM = {
  initialStep: 'ask',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
    { id: 'end', type: 'end-flow', output: { n: '${n}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}

scenario(
  'I5: of simultaneous resumes exactly one is accepted, and its answer is the one that counts',
  10_000,
  async (soak) => {
    const database = await freshDatabase({ max: 10 })
    soak.after(() => database.close())
    const runtime = await startTestRuntime(database.url)
    soak.after(() => runtime.stop())
    const { createWorkflow } = await import('@/server/workflows/lifecycle')
    const { startRun } = await import('@/server/runs/start')
    const { resumeRun } = await import('@/server/runs/resume')
    const { id: workflowId } = await createWorkflow(runtime.ctx, { name: 'Race', ...FORM })
    const from = performance.now()
    let [races, done] = [0, 0]
    const race = async () => {
      const { runId } = await startRun(runtime.ctx, { workflowId, body: {} })
      await runtime.wait(runId, ({ status }) => status === 'paused')
      const told = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) =>
          resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { n } } }).then(
            () => n,
            (err: { code?: string }) => err.code ?? String(err),
          ),
        ),
      )
      const accepted = told.filter((outcome) => typeof outcome === 'number')
      expect([accepted.length, told.filter((outcome) => outcome === 'RUN_NOT_PAUSED').length]).toEqual([1, CALLERS - 1])
      expect((await runtime.wait(runId)).result).toEqual({ n: accepted[0] })
      done++
    }
    while (done < soak.rounds && performance.now() - from < LONGEST_MS) {
      const until = Math.min(soak.rounds, races + CHECKED)
      const lane = async () => {
        while (races++ < until) await race()
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      races = until
      await expectInvariants(database.sql)
      await database.sql`truncate runs cascade`
      soak.say(
        `${done} races of ${CALLERS} callers in ${Math.round((performance.now() - from) / 1_000)} s: one accepted each`,
      )
    }
  },
)
