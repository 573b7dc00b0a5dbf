import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Budget } from '@/server/agents/budget'
import type { ServiceContext } from '@/server/context'
import { usageOf } from '@/server/interpreter/flow/usage'
import { priceOf } from '@/server/models/prices'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { invokeAgent } from '../support/talk'
import { newTenant } from '../support/tenant'
import { newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal

beforeAll(async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'prices-')), 'prices.json')
  writeFileSync(file, '{"openai-compatible/contract":{"input":3,"output":6},"openai/gpt-5.4":{"input":1,"output":1}}')
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'fatal', MODEL_PRICES_FILE: file })
  database = await freshDatabase()
  model = await startModelServer()
  ctx = await newTenant(database)
})
afterAll(async () => {
  delete process.env.MODEL_PRICES_FILE
  await model?.close()
  await database?.close()
})

const order = JSON.stringify({ item: 'chairs', amount: 12 })
const served = (modelId: string, prices?: object) => ({
  ...{ provider: 'openai-compatible', modelId, baseUrl: model.url },
  ...(prices ? { prices } : {}),
})
async function metadataOf(chosen: object) {
  model.answer(() => ({ text: order, promptTokens: 1_000 }))
  const { id } = await newAgent(ctx, { model: chosen })
  return (await invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never)).metadata
}

test('prices typed in an agent count before those of the file, which count before none', async () => {
  const typed = { input: 2, output: 4 }
  expect((await metadataOf(served('contract', typed))).cost).toBe(0.00202)
  expect((await metadataOf({ ...served('contract'), prices: 'list' })).cost).toBe(0.00303)
  // Without `prices`, an answer looks as ever.
  expect(await metadataOf(served('contract'))).not.toHaveProperty('cost')
})

test('a cost that cannot be computed, or that an older process could not compute, is none', async () => {
  const odd = { input: Number.NaN, cached: 0, written: 0, output: 10 }
  const priced = await priceOf({ ...served('m', { input: 1e6, output: 1e6 }), settings: {} } as never)
  expect(priced?.(odd, new Date())).toBe(10)
  // It took `list` for two numbers: its sums are not numbers, which JSON has as null.
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  const old = { usage, cost: null } as never
  expect(usageOf([{ usage: old } as never], { usage, cost: 0.5 } as never)?.cost).toBe(0.5)
  const budget = new Budget()
  budget.count({ usage, cost: 'NaN' as never }, old)
  expect(budget.own({ usage, cost: 0.5 })).toMatchObject({ usage: { totalTokens: 0 }, cost: 0.5 })
})

test('an unknown price says so, and costs nothing', async () => {
  const metadata = await metadataOf({ ...served('m'), prices: 'list' })
  expect(metadata).not.toHaveProperty('cost')
  expect(metadata.warnings).toEqual(['The price of openai-compatible/m is not known.'])
  const scripted = await metadataOf({ provider: 'scripted', modelId: 'scripted', prices: 'list' })
  expect(scripted).not.toHaveProperty('cost')
  expect(scripted).not.toHaveProperty('warnings')
})

test('a scripted answer in place of a model without a key costs nothing', async () => {
  const openai = { provider: 'openai', modelId: 'gpt-5.4', prices: { input: 2, output: 4 } }
  const metadata = await metadataOf(openai)
  expect(metadata.provider).toBe('scripted')
  expect(metadata).not.toHaveProperty('cost')
  const price = await priceOf({ provider: 'openai', modelId: 'gpt-5.4', settings: {}, prices: 'list' })
  expect(price?.({ input: 1e6, cached: 0, written: 0, output: 1e6 }, new Date())).toBe(2)
})

test('the list has prices of tiers and of tokens from a cache, and none of other services', async () => {
  const sonnet = await priceOf({ provider: 'anthropic', modelId: 'claude-sonnet-4-6', settings: {} })
  const million = { input: 1e6, cached: 5e5, written: 0, output: 0 }
  const dear = sonnet?.({ ...million, cached: 0 }, new Date()) ?? 0
  expect(sonnet?.(million, new Date())).toBeLessThan(dear * 0.6)
  expect(await priceOf({ provider: 'openai', modelId: 'no-such-model', settings: {} })).toBeNull()
  expect(await priceOf({ provider: 'openai-compatible', modelId: 'gpt-4o-mini', settings: {} })).toBeNull()
})
