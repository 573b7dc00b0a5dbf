import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AttemptLog, MAX_LINES, MAX_LOG_BYTES } from '@/server/interpreter/flow/attempt-log'
import { createTool } from '@/server/tools/lifecycle'
import { getRunOverview } from '@/server/views/runs/overview'
import { readStep } from '@/server/views/runs/step-detail'
import { readTimeline } from '@/server/views/runs/timeline'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { throughTheSdk } from './gap'

// The console output of a run's scripts is stored with the attempt that ran them.

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let restore: (() => void) | undefined
beforeAll(async () => {
  database = await freshDatabase()
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterEach(() => {
  restore?.()
  restore = undefined
})
afterAll(async () => {
  await runtime.stop()
  await model.close()
  await database.close()
})

const script = (id: string, code: string, more: object = {}) => ({ id, type: 'run-script', code, saveAs: id, ...more })
const chain = (...steps: { id: string }[]) => ({
  steps: [...steps, { id: 'end', type: 'end-flow' }],
  edges: steps.map(({ id }, at) => ({ from: id, to: steps[at + 1]?.id ?? 'end' })),
})

async function logsOf(runId: string, nth = 0) {
  const { rows } = await readTimeline(runtime.ctx, { runId })
  const { attempts } = await readStep(runtime.ctx, { runId, seq: rows[nth]?.[0] ?? -1 })
  return attempts.map(({ logs }) => logs)
}

async function ran(definition: object): Promise<string> {
  const runId = await runtime.start(definition)
  await runtime.wait(runId)
  return runId
}

async function commits(runId: string): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    select count(distinct xmin::text)::int as count from step_records where run_id = ${runId}`
  return row?.count ?? 0
}

const SAYS = "console.log('total', 3); console.warn('careful'); return 3"
const SAID = [
  { level: 'log', text: 'total 3' },
  { level: 'warn', text: 'careful' },
]

describe('a script’s log', () => {
  test('is kept whether it runs inline or as an attempt, and costs no commit', async () => {
    const definition = chain(script('a', SAYS), script('b', SAYS))
    // The first run shows the process that the script is quick. A busy machine may let the time for inline steps pass.
    let inline = ''
    for (let tries = 0; tries < 20 && (inline === '' || (await commits(inline)) > 1); tries++)
      inline = await ran(definition)
    expect(await commits(inline)).toBe(1)
    expect([await logsOf(inline, 0), await logsOf(inline, 1)]).toEqual([[SAID], [SAID]])

    restore = await throughTheSdk()
    const apart = await ran(definition)
    expect(await commits(apart)).toBeGreaterThan(1)
    expect([await logsOf(apart, 0), await logsOf(apart, 1)]).toEqual([[SAID], [SAID]])
  })

  test('is kept of a script that fails, that is caught, and that never ends', async () => {
    const failing = "console.error('before'); throw new Error('no')"
    const failed = await ran(chain(script('a', failing)))
    expect(await logsOf(failed)).toEqual([[{ level: 'error', text: 'before' }]])
    const { failureLog } = await getRunOverview(runtime.ctx, { runId: failed })
    expect(failureLog).toEqual({ lines: [{ level: 'error', text: 'before' }], count: 1 })
    const caught = await ran({
      ...chain(script('a', failing)),
      edges: [
        { from: 'a', to: 'end' },
        { from: 'a', to: 'end', on: 'error' },
      ],
    })
    expect(await logsOf(caught)).toEqual([[{ level: 'error', text: 'before' }]])
    const endless = script('a', "console.log('round'); for (;;) {}", { timeoutMs: 300, retry: { maxAttempts: 1 } })
    expect(await logsOf(await ran(chain(endless)))).toEqual([[{ level: 'log', text: 'round' }]])
  })

  test('is kept of each attempt by itself', async () => {
    const host = '127.0.0.1:9'
    const code = `console.log('asking'); await fetch('http://${host}/')`
    const retry = { maxAttempts: 2, initialDelayMs: 1 }
    const runId = await ran(chain(script('a', code, { allowedHosts: [host], retry })))
    expect(await logsOf(runId)).toEqual([[{ level: 'log', text: 'asking' }], [{ level: 'log', text: 'asking' }]])
    const { stepExecutionHistory } = await runtime.status(runId)
    expect(stepExecutionHistory[0]?.attempts).toHaveLength(2)
    expect(JSON.stringify(stepExecutionHistory)).not.toContain('asking')
  })

  test('names the tool where an agent called it', async () => {
    const { id } = await createTool(runtime.ctx, { name: 'Count', kind: 'script', config: { code: SAYS } })
    const agent = await newAgent(runtime.ctx, { tools: [{ toolId: id }] }, model)
    model.answer(({ body }, index) =>
      index === 0
        ? { calls: [{ name: body.tools[0].function.name, args: {} }] }
        : { text: '{"item":"chairs","amount":12}' },
    )
    const runId = await ran(chain({ id: 'ask', type: 'call-agent', agentId: agent.id, message: 'x' } as never))
    expect(await logsOf(runId)).toEqual([SAID.map((line) => ({ ...line, tool: 'Count' }))])
  })

  test('may be any text', async () => {
    const runId = await ran(chain(script('a', "console.log('\\u0000 \\ud800 ✓'); return 1")))
    expect(await logsOf(runId)).toEqual([[{ level: 'log', text: '\uFFFD \uFFFD ✓' }]])
  })
})

describe('the log of an attempt', () => {
  const logged = (...texts: string[]) => {
    const log = new AttemptLog()
    for (const text of texts) log.add({ level: 'log', text })
    return log.columns.logs ?? []
  }

  test('is nothing if nothing was written', () => {
    expect(new AttemptLog().columns).toEqual({})
  })

  test('keeps a limited number of lines, and says so on the last one', () => {
    const lines = logged(...Array.from({ length: 250 }, (_, at) => `line ${at}`))
    expect(lines).toHaveLength(MAX_LINES)
    expect(lines.at(-1)).toEqual({ level: 'log', text: 'line 99', truncated: true })
    expect(lines.filter(({ truncated }) => truncated)).toHaveLength(1)
  })

  test('keeps a limited number of bytes, and cuts no character', () => {
    for (const text of ['x'.repeat(1_000), '✓'.repeat(1_000), '😀'.repeat(999)]) {
      const lines = logged(...Array.from({ length: 40 }, () => text))
      const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line.text), 0)
      expect(bytes).toBeLessThanOrEqual(MAX_LOG_BYTES)
      expect(bytes).toBeGreaterThan(MAX_LOG_BYTES - 4)
      expect(lines.map((line) => line.text).join('')).not.toContain('\uFFFD')
      expect(lines.at(-1)?.truncated).toBe(true)
    }
  })
})
