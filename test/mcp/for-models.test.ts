import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { callTool, connect, named, serveMcp } from './support'

// The list must suit every model, and results to a model may come from anyone.

let database: FreshDatabase
let runtime: TestRuntime
let server: Awaited<ReturnType<typeof serveMcp>>
let client: Awaited<ReturnType<typeof connect>>

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  server = await serveMcp()
  const { createApiKey } = await import('@/server/credentials/api-keys/create')
  const { key } = await createApiKey(runtime.ctx, { name: 'assistant', role: 'operator' })
  client = await connect(server.url, { 'x-api-key': key })
})
afterAll(async () => {
  await server?.close()
  await runtime?.stop()
  await database?.close()
})

async function workflow(ctx: ServiceContext, name: string, definition: object): Promise<void> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(ctx, { name, ...definition })
  await publishWorkflow(ctx, { id })
}

const listed = async (title: string) => {
  const tool = (await client.listTools()).tools.find((one) => one.title === title)
  if (!tool) throw new Error(`${title} is not listed`)
  return tool
}

test('a model answers as its credential, even if it names another person', async () => {
  const step = { id: 'ok', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] }
  await workflow(runtime.ctx, 'Assigned', { steps: [{ ...step, assignees: ['user:boss@example.com'] }] })
  const { runId, status } = await callTool(client, await named(client, 'Assigned'))
  expect(status).toBe('paused')
  const answer = { runId, type: 'request_user_action', actionId: 'ok' }
  expect(await callTool(client, 'answer_run', { ...answer, answeredBy: 'boss@example.com' })).toMatchObject({
    isError: true,
    error: { code: 'INVALID_INPUT', details: [{ path: 'answeredBy' }] },
  })
  expect(await callTool(client, 'answer_run', answer)).toMatchObject({ isError: true, error: { code: 'NOT_ASSIGNED' } })
  expect(await callTool(client, 'get_run', { runId })).toMatchObject({ status: 'paused' })
  expect((await listed('Answer a paused run')).inputSchema.properties).not.toHaveProperty('answeredBy')
})

test('a tool whose schema some providers refuse is listed without that, and still checks it', async () => {
  const { createTool, publishTool } = await import('@/server/tools/lifecycle')
  const { id } = await createTool(runtime.ctx, {
    name: 'Odd',
    kind: 'script',
    config: { code: 'return args["Größe in cm"] ?? args.a' },
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, 'Größe in cm': { type: 'number' }, 'x[]': { type: 'string' } },
      required: ['Größe in cm'],
      anyOf: [{ required: ['a'] }, { required: ['x[]'] }],
      additionalProperties: false,
    },
  })
  await publishTool(runtime.ctx, { id })
  const { name, inputSchema, description } = await listed('Odd')
  expect(inputSchema).toEqual({ type: 'object', properties: { a: { type: 'number' } }, required: [] })
  expect(description).toContain('It also takes the argument "Größe in cm".')
  expect(await callTool(client, name, { a: 1 })).toMatchObject({ isError: true })
  expect(await callTool(client, name, { a: 1, 'Größe in cm': 170 })).toMatchObject({ data: 170 })
  await (await import('@/server/tools/sandbox/run-script')).stopSandbox()
})

test('fields too large for a list are left out of it, and a file is described', async () => {
  const options = Array.from({ length: 900 }, (_, n) => `${n}${'x'.repeat(1_000)}`)
  const end = { id: 'end', type: 'end-flow', output: { pick: '${pick}' } }
  await workflow(runtime.ctx, 'Large', { payload: { pick: { type: 'string', options } }, steps: [end] })
  const large = await listed('Large')
  expect(JSON.stringify(large).length).toBeLessThan(1_000)
  expect(large.description).toContain('too large to be listed')
  expect(await callTool(client, large.name, { pick: options[3] })).toMatchObject({ status: 'completed' })
  expect(await callTool(client, large.name, { pick: 'nothing of these' })).toMatchObject({ isError: true })

  const payload = { paper: { type: 'file', required: false, description: 'The invoice.' } }
  await workflow(runtime.ctx, 'With a file', { payload, steps: [{ id: 'end', type: 'end-flow' }] })
  expect((await listed('With a file')).inputSchema.properties).toMatchObject({
    paper: { description: 'The invoice. The id of a file that is stored in this workspace.' },
  })
})
