import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { readsDatabase } from '@/server/database'
import type { JsonObject } from '@/server/definition/json'
import type { Endpoint } from '@/server/openapi/endpoint'
import { ENDPOINTS } from '@/server/rest/endpoints'
import { serve } from '@/server/rest/serve'
import { unknownsOf, withWarnings } from '@/server/rest/unknown-fields'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
let key: string

beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { DATABASE_URL: database.url, ENCRYPTION_KEY: 'ab'.repeat(32) })
  ctx = await newTenant(database)
  key = (await createApiKey(withRole(ctx, 'owner'), { name: 'owner', role: 'owner' })).key
})
afterAll(async () => {
  await readsDatabase().close()
  await database?.close()
})

const endpoint = (id: string) => ENDPOINTS[id] as Endpoint
async function send(id: string, body: object, params: Record<string, string> = {}): Promise<JsonObject> {
  const { method } = endpoint(id)
  const request = new Request(`http://localhost${endpoint(id).path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await serve(endpoint(id))[method as 'POST'](request, { params: Promise.resolve(params) })
  return answer.json()
}
const told = (id: string, body: object) => unknownsOf(endpoint(id))?.(body).map((one) => [one.field, one.suggestion])

test('a misspelt field is named in the answer, with the one that was probably meant', async () => {
  const made = await send('createAgent', { name: 'A', instruction: 'Be kind.', prompt: 'x', note: 1 })
  expect(made.warnings).toEqual([
    {
      severity: 'warning',
      code: 'W_UNKNOWN_FIELD',
      field: 'instruction',
      message: 'instruction is unknown and has no effect. Did you mean instructions?',
      suggestion: 'instructions',
    },
    expect.objectContaining({ field: 'prompt', suggestion: 'instructions' }),
    {
      severity: 'warning',
      code: 'W_UNKNOWN_FIELD',
      field: 'note',
      message: 'note is unknown and has no effect: its name may be misspelt.',
    },
  ])
  const workflow = await send('createWorkflow', { name: 'W', intialStep: 's', limits: { timeout: 5_000 } })
  expect((workflow.warnings as JsonObject[]).map(({ field, suggestion }) => [field, suggestion])).toEqual([
    ['intialStep', 'initialStep'],
    ['limits.timeout', 'timeoutMs'],
  ])
})

test('an answer without unknown fields is as it was, also when somebody sends back what they were given', async () => {
  const made = await send('createTool', { name: 'T', kind: 'script', config: { code: 'return 1' } })
  expect(made).not.toHaveProperty('warnings')
  const saved = await send('updateTool', { ...made, name: 'T2' }, { toolId: String(made.id) })
  expect(saved).toMatchObject({ name: 'T2', version: 2 })
  expect(saved).not.toHaveProperty('warnings')
})

test('no documented example has an unknown field, and no answer is one when it is sent back', () => {
  const noisy = Object.entries(ENDPOINTS).flatMap(([id, one]) => {
    const unknowns = one.permission === null ? undefined : unknownsOf(one)
    if (!unknowns) return []
    const bodies = Object.values(one.body?.examples ?? {}).map(({ value }) => value)
    const answers = Object.values(one.answers).flatMap(({ examples = {} }) => Object.values(examples))
    const back = one.method === 'PUT' ? answers.map(({ value }) => value) : []
    return [...bodies, ...back].flatMap((body) => unknowns(body).map(({ field }) => `${id}: ${field}`))
  })
  expect(noisy).toEqual([])
})

test('bodies that may have any fields are not looked at: START fields, deliveries, and another protocol', () => {
  for (const id of ['startWorkflow', 'startWorkflowAsync', 'mcp']) {
    expect(endpoint(id), id).toBeDefined()
    expect(unknownsOf(endpoint(id)), id).toBeUndefined()
  }
  expect(told('cancelRun', { runId: 'run_1', resaon: 'x' })).toEqual([['resaon', 'reason']])
  expect(told('resumeRun', { type: 'request_user_action', actionId: 'ok', actionvalue: 'yes', fields: {} })).toEqual([
    ['actionvalue', 'actionValue'],
    ['fields', undefined],
  ])
})

test('only an object gets warnings, after its own', () => {
  const warnings = unknownsOf(endpoint('createAgent'))?.({ nam: 1 }) ?? []
  expect(warnings).toHaveLength(1)
  expect(withWarnings({ body: [1] }, warnings)).toEqual({ body: [1] })
  expect(withWarnings({ body: new Uint8Array(1) }, warnings).body).toBeInstanceOf(Uint8Array)
  expect(withWarnings({ body: { warnings: ['w'] } }, warnings)).toEqual({ body: { warnings: ['w', ...warnings] } })
})
