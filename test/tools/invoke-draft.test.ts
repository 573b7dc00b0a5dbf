import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { invokeDraftTool } from '@/server/tools/invoke-draft'
import { createTool, getTool } from '@/server/tools/lifecycle'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome } from '../workflows/support'
import { invoke } from './support'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await stopSandbox()
  await database.close()
})

const script = (code: string) => ({ kind: 'script' as const, config: { code } })
const tryOut = (toolId: string, draft: object, args = {}, as = ctx) =>
  invokeDraftTool(as, { toolId, body: { draft, args } }, new AbortController().signal)

test('a test runs the given draft and leaves the saved one unchanged', async () => {
  const { id } = await createTool(ctx, { name: 'Answer', ...script("return 'old'") })
  expect(await tryOut(id, script("return 'new'"))).toMatchObject({ success: true, data: 'new' })
  expect(await getTool(ctx, { id })).toMatchObject({ version: 1, ...script("return 'old'") })
  expect(await invoke(ctx, id, {})).toEqual({ success: true, data: 'old' })
})

test('a draft’s own schemas decide about arguments and result', async () => {
  const { id } = await createTool(ctx, { name: 'Answer', ...script('return args.n') })
  const draft = { inputSchema: { type: 'object', required: ['n'] }, outputSchema: { type: 'number' } }
  await expect(tryOut(id, draft)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: [{ path: 'args.n' }] })
  expect(await tryOut(id, draft, { n: 'x' })).toMatchObject({ success: false, error: { code: 'OUTPUT_INVALID' } })
})

test('a draft that could not be saved is not run, and only those who may change a tool run a draft', async () => {
  const { id } = await createTool(ctx, { name: 'Answer', ...script('return 1') })
  await expect(tryOut(id, { config: { timeoutMs: 5 } })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ path: 'config.code' }],
  })
  expect(await outcome(tryOut(id, { name: '' }))).toBe('INVALID_INPUT')
  expect(await outcome(tryOut(id, {}, {}, withRole(ctx, 'operator')))).toBe('FORBIDDEN')
  expect(await outcome(tryOut(id, {}, {}, await newTenant(database)))).toBe('TOOL_NOT_FOUND')
  expect(await outcome(tryOut('tool_text', {}))).toBe('CONFLICT')
})
