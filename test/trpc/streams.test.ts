import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { handleTrpc } from '@/server/trpc/handler'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { newVisitor, ORIGIN, type Visitor } from './support'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
  process.env.STREAMS_PER_TENANT = '2'
})

let database: FreshDatabase
let ctx: ServiceContext
let visitor: Visitor
let runId: string
beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  visitor = await newVisitor(ctx, 'viewer')
  // No engine works here, so the run continues forever.
  const { id } = await createWorkflow(ctx, { name: 'Waits', steps: [{ id: 'end', type: 'end-flow' }] })
  runId = (await startRun(ctx, { workflowId: id, body: {} })).runId
})
afterAll(() => database.close())

/** Opens the stream of a run's changes as a page does. */
async function open(signal: AbortSignal, id = runId) {
  const query = new URLSearchParams({ tenant: visitor.tenant ?? '', input: JSON.stringify({ runId: id }) })
  const headers = { accept: 'text/event-stream', cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' }
  const response = await handleTrpc(new Request(`${ORIGIN}/api/trpc/runs.changes?${query}`, { headers, signal }))
  const reader = response.body?.getReader()
  let text = ''
  const readTo = async (mark: string) => {
    for (;;) {
      if (text.includes(mark)) return text
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) return text
      text += new TextDecoder().decode(value)
    }
  }
  return { readTo, cancel: () => reader?.cancel() }
}

test('a page that leaves gives its place back, before its first event and after it', async () => {
  for (let i = 0; i < 12; i++) {
    const caller = new AbortController()
    const stream = await open(caller.signal, i % 4 === 3 ? 'run_nobody' : runId)
    if (i % 4 === 3) expect(await stream.readTo('RUN_NOT_FOUND')).toContain('RUN_NOT_FOUND')
    else if (i % 4 === 1) expect(await stream.readTo('"run"')).toContain('"run"')
    if (i % 4 === 2) await stream.cancel()
    caller.abort()
    await stream.readTo('the end of the stream').catch(() => {})
  }
  const callers = [new AbortController(), new AbortController()]
  const both = await Promise.all(callers.map(({ signal }) => open(signal)))
  for (const stream of both) expect(await stream.readTo('"run"')).toContain('"run"')
  const third = await open(new AbortController().signal)
  expect(await third.readTo('TOO_MANY_STREAMS')).toContain('TOO_MANY_STREAMS')
  for (const caller of callers) caller.abort()
})
