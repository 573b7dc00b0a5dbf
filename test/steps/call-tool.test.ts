import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import { StepFailure } from '@/server/errors'
import { callTool } from '@/server/steps/call-tool'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newScriptTool, newTenant } from '../support/tenant'

if (callTool.mode !== 'effect') throw new Error('call-tool must do work')
const { run, config, defines } = callTool

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await stopSandbox()
  await database.close()
})

async function call(code: string, raw: JsonObject = {}, data: JsonObject = {}, trusted: JsonObject | null = null) {
  const ctx = { ...(await newTenant(database)), trusted }
  const toolId = await newScriptTool(ctx, code)
  const parsed = config.parse({ toolId, ...raw })
  return run({ config: parsed, ctx, data, signal: new AbortController().signal, idempotencyKey: 'k' })
}

describe('call-tool', () => {
  test('passes args, run data and the verified context, each under its own name', async () => {
    const code = 'return { args, dataContext, context }'
    expect(await call(code, { args: { a: 1 } }, { b: 2 }, { user: 'u' })).toEqual({
      output: { args: { a: 1 }, dataContext: { b: 2 }, context: { user: 'u' } },
    })
  })

  test('fails permanently with the code and message of a failing tool', async () => {
    const failed = await call("throw new Error('no such order')").catch((err: unknown) => err)
    expect(failed).toBeInstanceOf(StepFailure)
    expect(failed).toMatchObject({ code: 'EXECUTION_ERROR', message: 'no such order' })
  })

  test('calls built-in tools too', async () => {
    const args = { operation: 'get', value: { items: [{ id: 7 }] }, path: 'items[0].id' }
    expect(await call('return 1', { toolId: 'tool_json', args })).toEqual({ output: 7 })
  })

  test('cannot call another tenant’s tool', async () => {
    const other = await newScriptTool(await newTenant(database), 'return 1')
    await expect(call('return 1', { toolId: other })).rejects.toThrow('Tool not found')
  })

  test('does not replace a version that does not exist with another', async () => {
    for (const version of [2, '2', '0', 'newest', -1, 1.5]) {
      await expect(call('return 1', { version }), String(version)).rejects.toThrow('Tool not found')
    }
    expect(await call('return 1', { version: '1' })).toEqual({ output: 1 })
    expect(await call('return 1', { version: 'published' })).toEqual({ output: 1 })
  })

  test('with saveAs defines only that name; without it, its result may define any', () => {
    const parsed = config.parse({ toolId: 't' })
    expect(defines?.({ ...parsed, saveAs: 'sum' }, 'add')).toEqual({ fields: { sum: { type: 'any' } }, open: false })
    expect(defines?.(parsed, 'add')).toEqual({ fields: { add: { type: 'any' } }, open: true })
  })
})
