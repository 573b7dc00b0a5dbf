import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let outside: Outside
const keys: string[] = []
beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside((seen, response) => {
    keys.push(String(seen.headers['idempotency-key']))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"ok":true}')
  })
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(async () => {
  await runtime.stop()
  await outside.stop()
  await database.close()
})

const LONG = '注文'.repeat(100)
const IDS = ['7f3c2b1e-0d4a-4c55-9f6e-1a2b3c4d5e6f', '42', '-a', '.a', '..', 'größe', 'v1.2', LONG]

test.each(IDS)('a run goes through steps with the id %s: branches, a question, a call and references', async (id) => {
  const { resumeRun } = await import('@/server/runs/resume')
  const inner = `${id === LONG ? '' : id}.inner`
  const steps = [
    { id, type: 'set-data', values: { value: 7 } },
    { id: 'each', type: 'for-each', items: [1], result: '${item}' },
    { id: inner, type: 'set-data', values: { seen: '${item}' } },
    { id: `${inner}.ask`, type: 'collect-inputs', output: { answer: { type: 'string' } } },
    {
      id: `${inner}.call`,
      type: 'http-request',
      method: 'POST',
      url: outside.url,
      body: { of: `\${[${JSON.stringify(id)}].value}` },
      saveAs: 'called',
    },
    { id: 'end', type: 'end-flow', output: { of: `\${[${JSON.stringify(id)}].value}`, all: '${each.results}' } },
  ]
  const edges = [
    { from: id, to: 'each' },
    { from: 'each', to: inner, on: 'each' },
    { from: inner, to: `${inner}.ask` },
    { from: `${inner}.ask`, to: `${inner}.call` },
    { from: 'each', to: 'end', on: 'done' },
  ]
  const runId = await runtime.start({ initialStep: id, steps, edges })
  const paused = await runtime.wait(runId, ({ status }) => status === 'paused')
  expect(paused.pauseSignals?.[0]).toMatchObject({ stepId: `${inner}.ask`, id: `main/each#1/0:${inner}.ask#1` })
  await resumeRun(runtime.ctx, {
    runId,
    body: { type: 'collect_inputs', stepId: `${inner}.ask`, data: { answer: 'yes' } },
  })
  const ended = await runtime.wait(runId)
  expect(ended).toMatchObject({ outcome: 'succeeded', result: { of: 7, all: [1] } })
  expect(ended.stepExecutionHistory.map(({ stepId }) => stepId)).toContain(id)
})

test('an outgoing call has a key that every receiver accepts, with any ids', () => {
  expect(keys).toHaveLength(IDS.length)
  expect(new Set(keys).size).toBe(IDS.length)
  for (const key of keys) expect(key).toMatch(/^[\x21-\x7e]{1,255}$/)
})

test('ids that look the same are the same step, in connections, references and answers', async () => {
  const [composed, apart] = ['größe', 'gro\u0308ße']
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const twice = { name: 'x', steps: [composed, apart].map((id) => ({ id, type: 'set-data', values: { a: 1 } })) }
  const { id } = await createWorkflow(runtime.ctx, twice)
  const { publishWorkflow } = await import('@/server/workflows/lifecycle')
  await expect(publishWorkflow(runtime.ctx, { id })).rejects.toMatchObject({
    details: expect.arrayContaining([expect.objectContaining({ code: 'DUPLICATE_STEP_ID' })]),
  })
  const runId = await runtime.start({
    initialStep: apart,
    steps: [
      { id: composed, type: 'set-data', values: { value: 1 } },
      { id: 'end', type: 'end-flow', output: { value: `\${["${apart}"].value}` } },
    ],
    edges: [{ from: apart, to: 'end' }],
  })
  expect(await runtime.wait(runId)).toMatchObject({ result: { value: 1 } })
})

test('branches whose names would be too long for a key of the database are refused before any run', async () => {
  const { checkGraph } = await import('@/server/workflows/check/graph')
  const nested = (id: (level: number) => string) => {
    const ids = [0, 1, 2, 3].map(id)
    const steps = [
      ...ids.map((one) => ({ id: one, type: 'for-each', items: [1] })),
      { id: 'last', type: 'set-data', values: { a: 1 } },
    ]
    const edges = [...ids, 'last'].slice(1).map((to, at) => ({ from: ids[at] as string, to, on: 'each' }))
    return { name: 'x', description: '', initialStep: ids[0] as string, payload: {}, steps, edges }
  }
  const codes = (id: (level: number) => string) => checkGraph(nested(id) as never).map(({ code }) => code)
  expect(codes((level) => `${level}${'a'.repeat(199)}`)).not.toContain('NESTED_TOO_DEEP')
  expect(codes((level) => `${level}${'注'.repeat(199)}`)).toContain('NESTED_TOO_DEEP')
  const deepest = nested((level) => `${level}${'aB3x9'.repeat(39)}`)
  expect(await runtime.wait(await runtime.start(deepest))).toMatchObject({ outcome: 'succeeded' })
})
