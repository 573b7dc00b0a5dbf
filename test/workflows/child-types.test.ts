import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { Definition } from '@/server/definition/schema'
import { wordsFor } from '@/server/definition/types/type'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// The known type of the result of a workflow that another one runs.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

type Steps = Definition['steps']

function inARow(steps: Steps): Definition {
  const edges = steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id }))
  return { name: 'W', description: '', payload: {}, initialStep: steps[0]?.id ?? null, steps, edges }
}

async function published(steps: Steps): Promise<string> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(runtime.ctx, inARow(steps))
  await publishWorkflow(runtime.ctx, { id })
  return id
}

const runs = (workflowIds: string[], version?: number): Steps =>
  workflowIds.map((workflowId, at) => ({
    id: `r${at}`,
    type: 'run-workflow',
    workflowId,
    saveAs: `r${at}`,
    ...(version === undefined ? {} : { version: version + at }),
  }))

async function known(steps: Steps, ctx: ServiceContext = runtime.ctx, wanted?: ReadonlySet<string>) {
  const { knownOutputs } = await import('@/server/workflows/check/known-outputs')
  return knownOutputs(ctx, inARow(steps), wanted)
}

const totalOf = (outputs: Awaited<ReturnType<typeof known>>, id: string) => {
  const total = outputs.get(id)?.type?.props.get('total')
  return total ? wordsFor(total.type) : null
}

const schema = (type: string) => ({ properties: { total: { type } }, required: ['total'], additionalProperties: false })

test('it is the type of the tools that the workflow was published with, and unknown where it keeps to none', async () => {
  const { createTool, updateTool } = await import('@/server/tools/lifecycle')
  const config = { code: 'return { total: 2 }' }
  const tool = { name: 'T', kind: 'script' as const, config, outputSchema: { type: 'object', ...schema('number') } }
  const { id: toolId } = await createTool(runtime.ctx, tool)
  const end = { id: 'end', type: 'end-flow', output: { total: '${r.total}' } }
  const use = { id: 'use', type: 'call-tool', toolId, saveAs: 'r' }
  const child = await published([use, end])
  await updateTool(runtime.ctx, { id: toolId, body: { config, outputSchema: { type: 'object', ...schema('string') } } })
  expect(totalOf(await known(runs([child])), 'r0')).toBe('a number')
  // Like those published before versions were stored.
  await database.sql`update workflow_versions set pins = null where workflow_id = ${child}`
  expect(totalOf(await known(runs([child])), 'r0')).toBe('anything')
  const numbered = await published([{ ...use, version: 2 }, end])
  await database.sql`update workflow_versions set pins = null where workflow_id = ${numbered}`
  expect(totalOf(await known(runs([numbered])), 'r0')).toBe('a string')
})

test('each version is read once, whichever workflows run it, and only a limited number', async () => {
  const leaf: Steps = [{ id: 'end', type: 'end-flow', output: { total: 1 } }]
  const leaves = await Promise.all(Array.from({ length: 4 }, () => published(leaf)))
  const end = { id: 'end', type: 'end-flow', output: { total: '${r3.total}' } }
  const middles = await Promise.all(Array.from({ length: 4 }, () => published([...runs(leaves), end])))
  await runtime.ctx.db.transaction(async (tx) => {
    let reads = 0
    const db = new Proxy(tx, {
      get(target, name) {
        if (name === 'select') reads++
        return Reflect.get(target, name)
      },
    })
    const ctx = { ...runtime.ctx, db }
    const outputs = await known(runs([...middles, ...middles]), ctx)
    expect(totalOf(outputs, 'r7')).toBe('a number')
    expect(reads).toBe(8)
    reads = 0
    await known(runs(middles), ctx, new Set(['r1']))
    expect(reads).toBe(5)
  })
  // Missing versions are looked for too.
  const after = (count: number): Steps => {
    const [last] = runs(leaves)
    return [
      ...runs(
        Array.from({ length: count }, () => leaves[0] ?? ''),
        1000,
      ),
      { ...last, id: 'x' } as Steps[number],
    ]
  }
  expect(totalOf(await known(after(99)), 'x')).toBe('a number')
  expect((await known(after(100))).size).toBe(0)
})

test('only the steps that lead to a step are read for its references', async () => {
  const { stepsLeadingTo } = await import('@/server/workflows/check/leading-to')
  const steps = ['a', 'fork', 'b1', 'b2', 'c', 'd', 'clean'].map((id) => ({
    id,
    type: 'set-data',
    values: { [id]: 1 },
  }))
  const written: Definition = {
    ...inARow(steps),
    steps: steps.map((step) => (step.id === 'fork' ? { id: 'fork', type: 'parallel', branches: [{ id: 'b' }] } : step)),
    edges: [
      { from: 'a', to: 'fork' },
      { from: 'fork', to: 'b1', on: 'b' },
      { from: 'b1', to: 'b2' },
      { from: 'fork', to: 'c', on: 'done' },
      { from: 'c', to: 'd' },
    ],
    onCancel: 'clean',
  }
  expect([...stepsLeadingTo(written, 'c')].toSorted()).toEqual(['a', 'b1', 'b2', 'c', 'fork'])
  expect([...stepsLeadingTo(written, 'a')]).toEqual(['a'])
  expect(stepsLeadingTo(written, 'clean').size).toBe(steps.length)
})
