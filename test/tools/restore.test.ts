import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { archiveTool } from '@/server/tools/archive'
import { createTool } from '@/server/tools/create'
import { duplicateTool } from '@/server/tools/duplicate'
import { getTool } from '@/server/tools/get'
import { restoreToolVersion } from '@/server/tools/restore-version'
import { updateTool } from '@/server/tools/update'
import { toolHistory } from '@/server/views/tools/history'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
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

test('restoring saves an earlier kind, configuration and schemas as the next version, unless there is a newer save', async () => {
  const { id } = await newTool()
  const body = { name: 'Fetch', kind: 'http' as const, config: { url: 'https://example.com/' }, inputSchema: null }
  await updateTool(ctx, { id, body })
  const restore = (version: string, ifMatch: string | null = null, as = ctx) =>
    restoreToolVersion(as, { id, version, ifMatch })
  expect(await outcome(restore('1', '"1"'))).toBe('VERSION_CONFLICT')
  expect(await restore('1', '"2"')).toMatchObject({
    version: 3,
    name: 'Double',
    kind: 'script',
    config: { code: 'return args.n * 2' },
    inputSchema: SCHEMA,
  })
  expect((await restore('3')).version).toBe(3)
  expect(await outcome(restore('7'))).toBe('TOOL_NOT_FOUND')
  expect(await outcome(restore('1', null, withRole(ctx, 'operator')))).toBe('FORBIDDEN')
  expect(await outcome(restore('1', null, await newTenant(database)))).toBe('TOOL_NOT_FOUND')
  await archiveTool(ctx, { id })
  expect(await outcome(restore('1'))).toBe('TOOL_ARCHIVED')
})

test('a duplicate is a separate draft with the same behaviour; built-in tools cannot be duplicated', async () => {
  const original = await newTool()
  const copy = await duplicateTool(ctx, { id: original.id })
  expect(copy).toMatchObject({ name: 'Double (Copy)', version: 1, status: 'draft', inputSchema: SCHEMA })
  await updateTool(ctx, { id: copy.id, body: { config: { code: 'return 0' } } })
  expect((await getTool(ctx, { id: original.id })).config).toEqual({ code: 'return args.n * 2' })
  expect(await outcome(duplicateTool(ctx, { id: 'tool_text' }))).toBe('CONFLICT')
  expect(await outcome(restoreToolVersion(ctx, { id: 'tool_text', version: '1' }))).toBe('CONFLICT')
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
