import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createTool, duplicateTool, getTool, updateTool } from '@/server/tools/lifecycle'
import { toolHistory } from '@/server/views/tools/history'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { outcome } from '../workflows/support'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(() => database.close())

const SCHEMA = { type: 'object', properties: { n: { type: 'number' } } }
const newTool = () =>
  createTool(ctx, { name: 'Double', kind: 'script', config: { code: 'return args.n * 2' }, inputSchema: SCHEMA })

test('a duplicate is a separate draft with the same behaviour; built-in tools cannot be duplicated', async () => {
  const original = await newTool()
  const copy = await duplicateTool(ctx, { id: original.id })
  expect(copy).toMatchObject({ name: 'Double (Copy)', version: 1, status: 'draft', inputSchema: SCHEMA })
  await updateTool(ctx, { id: copy.id, body: { config: { code: 'return 0' } } })
  expect((await getTool(ctx, { id: original.id })).config).toEqual({ code: 'return args.n * 2' })
  expect(await outcome(duplicateTool(ctx, { id: 'tool_text' }))).toBe('CONFLICT')
  expect(await outcome(duplicateTool(await newTenant(database), { id: original.id }))).toBe('TOOL_NOT_FOUND')
})

test('the history is newest first and shows who saved each version', async () => {
  const { id } = await newTool()
  await updateTool(ctx, { id, body: { name: 'Twice' } })
  const { items } = await toolHistory(ctx, { id, page: { limit: '10', offset: '0' } })
  expect(items.map(({ version, name, author }) => [version, name, author])).toEqual([
    [2, 'Twice', 'a deleted API key'],
    [1, 'Double', 'a deleted API key'],
  ])
})
