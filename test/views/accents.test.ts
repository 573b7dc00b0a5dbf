import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAgent, listAgents } from '@/server/agents/lifecycle'
import { checkFields } from '@/server/definition/fields'
import { postEvent } from '@/server/events/post'
import { listRuns } from '@/server/runs/list'
import { createTool } from '@/server/tools/lifecycle'
import { listTools } from '@/server/tools/list'
import { findAnything } from '@/server/views/home/find'
import { browseRuns } from '@/server/views/runs/browse'
import { runsContaining } from '@/server/views/runs/containing'
import { listTasks } from '@/server/views/tasks/list'
import { browseWorkflows } from '@/server/views/workflows/browse'
import { listWorkflows } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// An accent may be part of its letter (é) or a character of its own (e and U+0301). They look the same, and systems
// differ.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const lengths = (found: Record<string, unknown[]>) =>
  Object.fromEntries(Object.entries(found).map(([what, items]) => [what, items.length]))

describe.each([
  ['composed', 'NFC', 'NFD'],
  ['decomposed', 'NFD', 'NFC'],
] as const)('what is stored %s is found in the other form', (_, stored, searched) => {
  test('by its name, by its business key and by its contents', async () => {
    const { ctx } = runtime
    const name = `Café ${stored}`.normalize(stored)
    const q = `CAFÉ ${stored}`.normalize(searched)
    const key = `Müller-${stored}`.normalize(stored)
    await createAgent(ctx, { name, instructions: 'x' })
    await createTool(ctx, { name, kind: 'script', config: { code: 'return 1' } })
    const step = {
      id: 'ask',
      type: 'collect-inputs',
      title: `Größe ${stored}`.normalize(stored),
      output: { a: { type: 'string' } },
    }
    const definition = { name, businessKey: '${key}', payload: { key: { type: 'string' } }, steps: [step] }
    const runId = await runtime.start(definition, { key })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    const businessKey = key.normalize(searched)
    expect(
      lengths({
        workflows: (await listWorkflows(ctx, { search: q })).items,
        browsed: (await browseWorkflows(ctx, { q })).items,
        agents: (await listAgents(ctx, { search: q })).items,
        tools: (await listTools(ctx, { search: q })).items,
        found: await findAnything(ctx, { q }),
        'found by key': await findAnything(ctx, { q: businessKey }),
        runs: (await listRuns(ctx, { businessKey })).runs,
        'runs of that key': (await browseRuns(ctx, { businessKey })).runs,
        'runs with that text': (await browseRuns(ctx, { q: businessKey })).runs,
        'runs of that name': (await browseRuns(ctx, { q })).runs,
        tasks: (await listTasks(ctx, { q: `größe ${stored}`.normalize(searched) })).tasks,
        containing: await runsContaining(ctx, businessKey, undefined),
      }),
    ).toEqual({
      ...{ workflows: 1, browsed: 1, agents: 1, tools: 1, found: 3, 'found by key': 1, runs: 1 },
      ...{ 'runs of that key': 1, 'runs with that text': 1, 'runs of that name': 1, tasks: 1, containing: 1 },
    })
  })

  test('as an option, which is stored as the field has it', () => {
    const option = 'Café'.normalize(stored)
    const field = { type: 'string', options: [option, 'Tee'] } as const
    expect(checkFields({ a: field } as never, { a: option.normalize(searched) })).toEqual({
      data: { a: option },
      details: [],
    })
    expect(checkFields({ a: field } as never, { a: 'Cafe' }).details).toHaveLength(1)
  })

  test('as the key of an event, whether it comes before or after the wait for it', async () => {
    const { ctx } = runtime
    const key = `Müller-${stored}-event`.normalize(stored)
    const post = (data: object) => postEvent(ctx, { name: `paid.${stored}`, key: key.normalize(searched), data })
    const wait = (id: string) => ({ id, type: 'wait-for-event', event: `paid.${stored}`, key, since: 'run' })
    const runId = await runtime.start({
      steps: [wait('first'), wait('second')],
      edges: [{ from: 'first', to: 'second' }],
    })
    await post({ n: 1 })
    await runtime.wait(runId, ({ currentStepId }) => currentStepId === 'second')
    await post({ n: 2 })
    // An entry that existed before the wait is found too.
    const late = await runtime.start({ steps: [{ ...wait('late'), since: 'run' }] })
    await post({ n: 3 })
    expect((await runtime.wait(late)).status).toBe('completed')
    expect((await runtime.wait(runId)).status).toBe('completed')
  })
})
