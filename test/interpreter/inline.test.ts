import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createTool, updateTool } from '@/server/tools/lifecycle'
import { sharedPool } from '@/server/tools/sandbox/shared-pool'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { throughTheSdk } from './gap'

// A built-in tool that only computes, and a quick script, are recorded with the step before them. Only the number of
// commits shows it.

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let restore: (() => void) | undefined
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects()
  runtime = await startTestRuntime(database.url)
})
afterEach(() => {
  restore?.()
  restore = undefined
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

const text = (id: string, args: object) => ({ id, type: 'call-tool', toolId: 'tool_text', args, saveAs: id })
const upper = (id: string, of: string) => text(id, { operation: 'case', text: of, to: 'upper' })
const chain = (...steps: { id: string }[]) => ({
  steps: [...steps, { id: 'end', type: 'end-flow' }],
  edges: steps.map(({ id }, at) => ({ from: id, to: steps[at + 1]?.id ?? 'end' })),
})

/** How many transactions wrote the records of a run: rows of one statement share the transaction that made them. */
async function commits(runId: string): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    select count(distinct xmin::text)::int as count from step_records where run_id = ${runId}`
  return row?.count ?? 0
}

/**
 * A run with this many commits. Steps run inline for a short time only, which a busy machine may exceed, and the first
 * run loads code; then the test tries another one, a few times.
 */
async function committed(definition: object, count: number): Promise<string> {
  const seen: number[] = []
  for (let tries = 1; tries <= 20; tries++) {
    const runId = await runtime.start(definition)
    await runtime.wait(runId)
    seen.push(await commits(runId))
    if (seen.at(-1) === count) return runId
  }
  throw new Error(`No run had ${count} commits: ${seen}`)
}

async function shown(runId: string) {
  const { stepExecutionHistory, data, result, status } = await runtime.wait(runId)
  const steps = stepExecutionHistory.map(({ stepId, status, attempt, inputData, outputData, error, attempts }) => ({
    ...{ stepId, status, attempt, inputData, outputData, error, attempts },
  }))
  return { steps, data, result, status }
}

test('a run of built-in tools is one commit, and shows the same as otherwise', async () => {
  const definition = chain(upper('a', 'x'), upper('b', '${a} y'), upper('c', '${b} z'))
  const ridden = await committed(definition, 1)
  const together = await shown(ridden)
  expect(together).toMatchObject({ status: 'completed', data: { a: 'X', b: 'X Y', c: 'X Y Z' } })

  restore = await throughTheSdk()
  const apart = await runtime.start(definition)
  expect(await shown(apart)).toEqual(together)
  expect(await commits(apart)).toBeGreaterThan(1)
})

test('one that fails is attempted like any other step', async () => {
  const definition = chain(upper('a', 'x'), text('b', { operation: 'case', text: 'y', to: 'sideways' }))
  const together = await shown(await runtime.start(definition))
  expect(together).toMatchObject({
    status: 'failed',
    steps: [
      { stepId: 'a', status: 'completed' },
      { stepId: 'b', status: 'failed' },
    ],
  })
  restore = await throughTheSdk()
  expect(await shown(await runtime.start(definition))).toEqual(together)
})

test('neither an effect nor a tool that reads a file runs inline', async () => {
  const effect = { id: 'work', type: 'test-effect', url: effects.url, saveAs: 'work' }
  // The start, which begins the effect, and the record of the effect.
  const runId = await committed(chain(upper('a', 'x'), effect, upper('b', '${a}')), 2)
  expect(await shown(runId)).toMatchObject({ status: 'completed' })
  const file = { id: 'file', type: 'call-tool', toolId: 'tool_read_file', args: { fileId: 'file_none' }, saveAs: 'f' }
  const reads = await committed(chain(upper('a', 'x'), file), 2)
  expect(await shown(reads)).toMatchObject({ status: 'failed', steps: [{}, { stepId: 'file', attempt: 1 }] })
})

const script = (id: string, code: string, args: object = {}) => ({ id, type: 'run-script', code, args, saveAs: id })
const tool = (id: string, toolId: string, args: object = {}) => ({ id, type: 'call-tool', toolId, args, saveAs: id })
const addOne = { code: 'return args.n + 1' }

test('a run of quick scripts is one commit once its process knows them, and shows the same as otherwise', async () => {
  const { id } = await createTool(runtime.ctx, { name: 'Add', kind: 'script', config: addOne })
  const definition = chain(
    tool('a', id, { n: 1 }),
    tool('b', id, { n: '${a}' }),
    script('c', 'return [args.n, dataContext.a]', { n: '${b}' }),
  )
  const together = await shown(await committed(definition, 1))
  expect(together).toMatchObject({ status: 'completed', data: { a: 2, b: 3, c: [3, 2] } })

  restore = await throughTheSdk()
  const apart = await runtime.start(definition)
  expect(await shown(apart)).toEqual(together)
  expect(await commits(apart)).toBeGreaterThan(1)
})

test('a script that fails is attempted like any other step', async () => {
  const definition = (n: number) =>
    chain(upper('a', 'x'), script('b', 'if (args.n > 0) throw new Error("no"); return 1', { n }))
  await committed(definition(0), 1)
  const together = await shown(await runtime.start(definition(1)))
  expect(together).toMatchObject({ status: 'failed', steps: [{}, { stepId: 'b', status: 'failed', attempt: 1 }] })
  restore = await throughTheSdk()
  expect(await shown(await runtime.start(definition(1)))).toEqual(together)
})

test('a script that is slow this time continues as a step of its own, and runs once', async () => {
  const code =
    'const start = Date.now(); while (Date.now() - start < args.ms); if (args.bad) throw new Error("bad"); return args.ms'
  const quick = chain(upper('a', 'x'), script('b', code, { ms: 0 }))
  await committed(quick, 1)
  const ran = async (ms: number) => {
    const run = await runtime.wait(await runtime.start(chain(upper('a', 'x'), script('b', code, { ms }))))
    expect(run).toMatchObject({ status: 'completed', data: { b: ms } })
    expect(run.stepExecutionHistory[1]).toMatchObject({ attempt: 1, status: 'completed' })
    return commits(run.runId)
  }
  const run = vi.spyOn(sharedPool(), 'run')
  expect(await ran(150)).toBe(2)
  expect(run).toHaveBeenCalledTimes(1)
  await committed(quick, 1)
  run.mockClear()
  const bad = await runtime.start(chain(upper('a', 'x'), script('b', code, { ms: 150, bad: true })))
  expect(await runtime.wait(bad)).toMatchObject({ status: 'failed' })
  expect(run).toHaveBeenCalledTimes(1)
  // The next one is not tried inline. That one is quick, so the one after it is.
  expect(await ran(0)).toBe(2)
  await committed(quick, 1)
})

test('a script that may call a host does not run inline, even if it was quick before it could', async () => {
  const { id } = await createTool(runtime.ctx, { name: 'Add one', kind: 'script', config: addOne })
  const definition = chain(upper('a', 'x'), tool('b', id, { n: 1 }))
  await committed(definition, 1)
  const config = { ...addOne, allowedHosts: ['api.example.com'] }
  await updateTool(runtime.ctx, { id, body: { config } })
  const runId = await runtime.start(definition)
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { b: 2 } })
  expect(await commits(runId)).toBe(2)
})
