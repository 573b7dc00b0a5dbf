import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { files } from '@/db/schema/files'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { MultipartInput } from '@/server/http/multipart-input'
import { startRun } from '@/server/runs/start'
import { loadTool } from '@/server/tools/find'
import { invokeTool } from '@/server/tools/invoke'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { pdfOf } from '../support/sample-files'
import { newTenant, withRole } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
let other: ServiceContext
let dataDir: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-read-'))
  vi.stubEnv('DATA_DIR', dataDir)
  database = await freshDatabase()
  ctx = await newTenant(database)
  other = await newTenant(database)
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function upload(content: string | Buffer, name = 'a.txt'): Promise<string> {
  const steps = [{ id: 'end', type: 'end-flow', name: 'End' }]
  const { id } = await createWorkflow(ctx, { name: 'W', initialStep: 'end', steps } as never)
  await database.db.delete(files)
  const file = { name, type: 'text/plain', bytes: Buffer.from(content as string) }
  await startRun(ctx, { workflowId: id, body: new MultipartInput(new Map(), file) })
  return (await database.db.select().from(files))[0]?.id ?? ''
}

async function read(args: JsonObject, who = ctx, version?: string | number) {
  const body = { args, ...(version === undefined ? {} : { version }) }
  const { debug, ...outcome } = await invokeTool(who, { toolId: 'tool_read_file', body }, new AbortController().signal)
  expect(debug.executionTime).toBeGreaterThanOrEqual(0)
  return outcome
}

describe('tool_read_file', () => {
  test('exists in every tenant, in version 1 only', async () => {
    for (const version of ['latest', 'published', 1, '1']) {
      expect(await loadTool(other, 'tool_read_file', version)).toMatchObject({ version: 1, kind: 'builtin' })
    }
    for (const version of [0, 2, 'draft', '']) {
      await expect(loadTool(ctx, 'tool_read_file', version)).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
    }
    await expect(loadTool(ctx, 'constructor', 'latest')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
  })

  test('returns text, base64 and JSON', async () => {
    const content = '{"a":["ï"]}'
    const fileId = await upload(content, '../x.json')
    const meta = { name: '../x.json', type: 'application/json', size: 12, truncated: false }
    expect(await read({ fileId })).toEqual({ success: true, data: { ...meta, content } })
    expect(await read({ fileId, as: 'json' })).toEqual({ success: true, data: { ...meta, content: { a: ['ï'] } } })
    const base64 = Buffer.from(content).toString('base64')
    expect(await read({ fileId, as: 'base64' })).toEqual({ success: true, data: { ...meta, content: base64 } })
  })

  test('returns the text of a PDF, cut like any text, or why it has none', async () => {
    const fileId = await upload(pdfOf(['Invoice 4711', 'Thank you']), 'a.pdf')
    const meta = { name: 'a.pdf', type: 'application/pdf' }
    const content = 'Invoice 4711\n\nThank you'
    expect(await read({ fileId })).toMatchObject({ data: { ...meta, content, truncated: false } })
    expect(await read({ fileId, maxBytes: 7 })).toMatchObject({
      data: { ...meta, content: 'Invoice', truncated: true },
    })
    const bytes = await read({ fileId, as: 'base64' })
    expect(bytes).toMatchObject({ data: { content: pdfOf(['Invoice 4711', 'Thank you']).toString('base64') } })
    const damaged = await upload(Buffer.from('%PDF-1.7\nnothing'), 'b.pdf')
    expect(await read({ fileId: damaged })).toMatchObject({
      success: false,
      error: { code: 'EXECUTION_ERROR', message: 'The PDF is damaged; read it as base64' },
    })
  })

  test('returns the start of a larger file, without splitting a character', async () => {
    const fileId = await upload('aïb')
    expect(await read({ fileId, maxBytes: 2 })).toMatchObject({ data: { content: 'a', truncated: true, size: 4 } })
    expect(await read({ fileId, maxBytes: 3 })).toMatchObject({ data: { content: 'aï', truncated: true } })
    expect(await read({ fileId, maxBytes: 4 })).toMatchObject({ data: { content: 'aïb', truncated: false } })
    expect(await read({ fileId, as: 'base64', maxBytes: 2 })).toMatchObject({
      data: { content: 'YcM=', truncated: true },
    })
    expect(await read({ fileId, as: 'json', maxBytes: 2 })).toMatchObject({ success: false })
  })

  test('reads no more of a file than it returns, and no PDF over the limit', async () => {
    const huge = 100 * 1024 * 1024
    const at = (id: string) => join(dataDir, 'files', ctx.tenantId, id)
    const grow = async (id: string) => {
      truncateSync(at(id), huge)
      await database.db.update(files).set({ size: huge })
    }
    const text = await upload('start')
    await grow(text)
    const before = process.memoryUsage().arrayBuffers
    expect(await read({ fileId: text, maxBytes: 5 })).toMatchObject({
      data: { content: 'start', truncated: true, size: huge },
    })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(huge / 4)
    expect(await read({ fileId: text, as: 'json' })).toMatchObject({ success: false })
    const pdf = await upload(pdfOf(['One']), 'a.pdf')
    await grow(pdf)
    expect(await read({ fileId: pdf })).toMatchObject({
      success: false,
      error: { message: `The PDF has ${huge} bytes; its text can be read up to 26214400 bytes` },
    })
  })

  test('an empty file has empty content', async () => {
    expect(await read({ fileId: await upload('') })).toMatchObject({ success: true, data: { content: '', size: 0 } })
  })

  test.each<[string, JsonObject]>([
    ['bytes that are not text', { as: 'text' }],
    ['text that is not JSON', { as: 'json' }],
  ])('%s: the tool fails, the call does not', async (_, args) => {
    const fileId = await upload(Buffer.from([0xff, 0xfe, 0x00]))
    expect(await read({ fileId, ...args })).toMatchObject({ success: false, error: { code: 'EXECUTION_ERROR' } })
  })

  test.each<[string, JsonObject]>([
    ['an unknown form', { as: 'xml' }],
    ['maxBytes of 0', { maxBytes: 0 }],
    ['maxBytes over the limit', { maxBytes: 3_932_161 }],
    ['no file', { fileId: 7 }],
  ])('%s: the request is rejected', async (_, args) => {
    await expect(read({ fileId: 'x', ...args })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('files of other tenants, paths and nonsense are not found', async () => {
    const fileId = await upload('secret')
    const missing = { success: false, error: { message: 'File not found', details: [], code: 'EXECUTION_ERROR' } }
    expect(await read({ fileId }, other)).toEqual(missing)
    for (const id of ['../../etc/passwd', '/etc/passwd', '', '00000000-0000-4000-8000-000000000000']) {
      expect(await read({ fileId: id })).toEqual(missing)
    }
    await expect(read({})).rejects.toMatchObject({ details: [{ path: 'args.fileId', message: 'is required' }] })
  })

  test('the caller’s limits apply', async () => {
    const fileId = await upload('x')
    await expect(read({ fileId }, withRole(ctx, 'viewer'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await read({ fileId }, withRole(ctx, 'operator'))).toMatchObject({ success: true })
  })
})
