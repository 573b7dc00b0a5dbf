import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { httpRequest } from '@/server/steps/http-request'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { invoke, make } from './support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
})

if (httpRequest.mode !== 'effect') throw new Error('http-request must do work')
const { run, config } = httpRequest

let database: FreshDatabase
let ctx: ServiceContext
let outside: Outside
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  outside = await startOutside((_seen, response) => {
    response.setHeader('content-type', 'application/json').end('{"id":1234567890123456789,"n":7}')
  })
})
afterAll(async () => {
  await Promise.all([stopSandbox(), outside.stop(), database.close()])
})

const KEPT = { id: '1234567890123456789', n: 7 }

test('an http tool keeps the digits of an id, and a part of the response does', async () => {
  const tool = (more: object) => make(ctx, { kind: 'http', config: { url: outside.url, ...more } })
  expect(await (await tool({})).call()).toEqual({ success: true, data: KEPT })
  expect(await (await tool({ path: 'id' })).call()).toEqual({ success: true, data: KEPT.id })
  expect(await (await tool({ result: 'full' })).call()).toMatchObject({ data: { body: KEPT } })
})

test('so does an http-request step', async () => {
  const parsed = config.parse({ method: 'GET', url: outside.url })
  const signal = new AbortController().signal
  expect(await run({ config: parsed, ctx, data: {}, signal, idempotencyKey: 'k' })).toMatchObject({ output: KEPT })
})

test('so does json() of a script’s fetch; text() is unchanged', async () => {
  const code = `
    const response = await fetch('${outside.url}')
    return [await response.json(), await response.text()]`
  const tool = await make(ctx, { kind: 'script', config: { code, allowedHosts: [`127.0.0.1:${outside.port}`] } })
  expect(await tool.call()).toEqual({ success: true, data: [KEPT, '{"id":1234567890123456789,"n":7}'] })
})

test('so does the tool that reads JSON', async () => {
  const args = { operation: 'parse', text: '{"id":1234567890123456789,"n":7}' }
  expect(await invoke(ctx, 'tool_json', { args })).toEqual({ success: true, data: KEPT })
})
