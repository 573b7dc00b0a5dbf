import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { invokeAgent } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'
import { refusal } from '../workflows/support'
import { newAgent } from './support'

// For the other providers, see `providers.test.ts`.

const LONG = '1234567890123456789'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer

beforeAll(async () => {
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'fatal' })
  database = await freshDatabase()
  model = await startModelServer()
  ctx = await newTenant(database)
})
afterAll(async () => {
  await model.close()
  await stopSandbox()
  await database.close()
})

const invoke = (agentId: string) => invokeAgent(ctx, { agentId, body: { message: 'x' } }, new AbortController().signal)

test('a number beyond 2^53 in an answer and in the arguments of a call keeps every digit, as text', async () => {
  const tool = await newScriptTool(ctx, 'return args')
  const { id } = await newAgent(ctx, { tools: [tool], outputSchema: { type: 'object', properties: { a: {} } } }, model)
  model.script({ calls: [{ name: tool, args: `{"id":${LONG}}` }] }, { text: `{"a":${LONG}}` })
  expect((await invoke(id)).data).toEqual({ a: LONG })
  expect(JSON.stringify(model.calls[1]?.body.messages)).toContain(`${LONG}\\"`)
})

test('such a number never counts as another number of a schema', async () => {
  const { id } = await newAgent(ctx, {}, model)
  model.answer(() => ({ text: `{"item":"x","amount":${LONG}}` }))
  expect(await refusal(invoke(id))).toMatchObject({ code: 'OUTPUT_SCHEMA_MISMATCH' })
})
