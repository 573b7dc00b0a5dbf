import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { duplicateAgent, getAgent, updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { listProviders } from '@/server/models/list'
import { setVaultSecret } from '@/server/vault/set'
import { browseAgents } from '@/server/views/agents/browse'
import { agentHistory } from '@/server/views/agents/history'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome } from '../workflows/support'
import { newAgent, ORDER_SCHEMA } from './support'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(() => database.close())

test('a duplicate is a separate draft with the same content', async () => {
  const original = await newAgent(ctx, { name: 'n'.repeat(199) })
  const copy = await duplicateAgent(ctx, { id: original.id })
  expect(copy).toMatchObject({ version: 1, status: 'draft', outputSchema: ORDER_SCHEMA })
  expect(copy.name).toBe(`${'n'.repeat(193)} (Copy)`)
  expect(copy.id).not.toBe(original.id)
  await updateAgent(ctx, { id: copy.id, body: { instructions: 'Changed.' } })
  expect((await getAgent(ctx, { id: original.id })).instructions).toBe('Extract the order.')
  expect(await outcome(duplicateAgent(await newTenant(database), { id: original.id }))).toBe('AGENT_NOT_FOUND')
  expect(await outcome(duplicateAgent(withRole(ctx, 'operator'), { id: original.id }))).toBe('FORBIDDEN')
})

test('the list shows each agent as last saved', async () => {
  const { id } = await newAgent(ctx)
  await newAgent(ctx, { name: 'Boss', supervisor: true, outputSchema: null, tools: ['tool_text'] })
  await updateAgent(ctx, { id, body: { model: { provider: 'openai', modelId: 'gpt-x' } } })
  const { items, total } = await browseAgents(ctx, {})
  expect(total).toBe(2)
  expect(items).toMatchObject([
    { id, provider: 'openai', modelId: 'gpt-x', structured: true, supervisor: false, tools: 0 },
    { name: 'Boss', provider: 'scripted', structured: false, supervisor: true, tools: 1 },
  ])
  expect((await browseAgents(await newTenant(database), {})).items).toEqual([])
})

test('the history shows who saved each version', async () => {
  const { id } = await newAgent(ctx)
  const { items } = await agentHistory(ctx, { id, page: { limit: '10', offset: '0' } })
  expect(items).toMatchObject([{ version: 1, current: true, author: 'a deleted API key' }])
})

test('the provider list shows whether a key exists, but never the key', async () => {
  const key = async () => (await listProviders(ctx)).find(({ provider }) => provider === 'anthropic')?.key
  expect(await key()).toBe('missing')
  await setVaultSecret(ctx, { name: 'ANTHROPIC_API_KEY', value: 'sk-planted-value' })
  expect(await key()).toBe('vault')
  expect(JSON.stringify(await listProviders(ctx))).not.toContain('planted')
  ctx = await newTenant(database)
  expect(await key()).toBe('missing')
})
