import { setTimeout as sleep } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { idempotencyKeys } from '@/db/schema/idempotency'
import { runs } from '@/db/schema/runs'
import { withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { SentRequest } from '@/server/http/sent-request'
import { insertRun } from '@/server/interpreter/walk/start'
import { onceForKey, sweepIdempotencyKeys } from '@/server/rest/idempotency'
import type { RouteHandler } from '@/server/rest/route'
import { pinnedDefinition } from '@/server/run-store/definition'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let apiKey: string
let routes: Record<'start' | 'startAsync' | 'resume' | 'cancel' | 'create' | 'status', RouteHandler>
let workflowId: string
let pausing: string

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  apiKey = (await createApiKey(runtime.ctx, { name: 'test', role: 'owner' })).key
  routes = {
    start: (await import('@/app/api/workflow/start/[workflowId]/route')).POST,
    startAsync: (await import('@/app/api/workflow/start-async/[workflowId]/route')).POST,
    resume: (await import('@/app/api/workflow/resume/[runId]/route')).POST,
    cancel: (await import('@/app/api/workflow/management/cancel/route')).POST,
    status: (await import('@/app/api/workflow/status/[runId]/route')).GET,
    create: (await import('@/app/api/workflows/route')).POST,
  }
  const payload = { n: { type: 'number', required: false } }
  const end = { id: 'end', type: 'end-flow' }
  workflowId = (await createWorkflow(runtime.ctx, { name: 'W', steps: [end], payload })).id
  const ask = { id: 'ask', type: 'collect-inputs', output: { age: { type: 'number' } } }
  const edges = [{ from: 'ask', to: 'end' }]
  pausing = (await createWorkflow(runtime.ctx, { name: 'P', steps: [ask, end], edges })).id
})

afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function post(
  name: keyof typeof routes,
  path: string,
  params: Record<string, string>,
  key: string | null,
  body: unknown = {},
  options: { apiKey?: string; signal?: AbortSignal } = {},
) {
  const request = new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': options.apiKey ?? apiKey,
      ...(key === null ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
    ...(options.signal ? { signal: options.signal } : {}),
  })
  const response = await routes[name](request, { params: Promise.resolve(params) })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: JSON.parse(text),
    replayed: response.headers.get('idempotent-replayed'),
  }
}
const start = (key: string | null, body: unknown = {}, options: { apiKey?: string } = {}) =>
  post('startAsync', `/api/workflow/start-async/${workflowId}`, { workflowId }, key, body, options)
const runCount = async () => (await database.db.select({ id: runs.id }).from(runs)).length

describe('one Idempotency-Key', () => {
  it('50 simultaneous starts are one run and 50 equal answers', async () => {
    const before = await runCount()
    const answers = await Promise.all(Array.from({ length: 50 }, () => start('fifty', { n: 1 })))
    expect(await runCount()).toBe(before + 1)
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.map((answer) => answer.status)).toEqual(Array(50).fill(200))
    expect(answers.filter((answer) => answer.replayed === null)).toHaveLength(1)
    expect(new Set(answers.map((answer) => answer.headers.get('location'))).size).toBe(1)
    expect(Object.keys(answers[0]?.body)).toEqual(['runId'])
  })

  it('a repeated synchronous start gets the same result', async () => {
    const once = () => post('start', `/api/workflow/start/${workflowId}`, { workflowId }, 'sync', { n: 2 })
    const [first, second] = await Promise.all([once(), once()])
    expect(first.body).toMatchObject({ status: 'completed', data: { n: 2 } })
    expect(second.text).toBe(first.text)
    expect((await once()).replayed).toBe('true')
  })

  it('another body or query is a conflict; another order of names is not', async () => {
    await start('other', { n: 1, data: { n: 2 } })
    expect((await start('other', { data: { n: 2 }, n: 1 })).replayed).toBe('true')
    const reused = await start('other', { n: 3 })
    expect(reused).toMatchObject({ status: 409, body: { success: false, error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
    const path = `/api/workflow/start-async/${workflowId}?version=latest`
    const query = await post('startAsync', path, { workflowId }, 'other', { n: 1, data: { n: 2 } })
    expect(query.status).toBe(409)
  })

  it('is separate for each path and credential', async () => {
    const first = await start('shared')
    const other = await post('startAsync', `/api/workflow/start-async/${pausing}`, { workflowId: pausing }, 'shared')
    const key = (await createApiKey(runtime.ctx, { name: 'second' })).key
    const mine = await start('shared', {}, { apiKey: key })
    expect(new Set([first.body.runId, other.body.runId, mine.body.runId]).size).toBe(3)
  })

  it('a rejected request is not stored: it may be corrected and sent again', async () => {
    expect((await start('refused', { n: 'x' })).status).toBe(400)
    expect((await start('refused', { n: 1 })).status).toBe(200)
  })

  it('a repeated resume or cancel gets the first answer', async () => {
    const { body } = await post('startAsync', `/api/workflow/start-async/${pausing}`, { workflowId: pausing }, null)
    const { runId } = body
    await runtime.wait(runId, (run) => run.status === 'paused')
    const resume = (key: string | null) =>
      post('resume', `/api/workflow/resume/${runId}`, { runId }, key, { type: 'collect_inputs', data: { age: 3 } })
    const first = await resume('r')
    expect(first).toMatchObject({ status: 200, body: { success: true, status: 'running' } })
    await runtime.wait(runId)
    expect((await resume('r')).text).toBe(first.text)
    expect((await resume(null)).status).toBe(409)

    const other = await post('startAsync', `/api/workflow/start-async/${pausing}`, { workflowId: pausing }, null)
    const cancel = () => post('cancel', '/api/workflow/management/cancel', {}, 'c', { runId: other.body.runId })
    const cancelled = await cancel()
    expect((await cancel()).text).toBe(cancelled.text)
  })

  it('a repeated create makes one workflow and answers 201 again', async () => {
    const create = () => post('create', '/api/workflows', {}, 'create', { name: 'Once' })
    const [first, second] = [await create(), await create()]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.id).toBe(first.body.id)
  })

  it.each(['', 'x'.repeat(256), 'späß'])('refuses the key %j', async (key) => {
    const request = () => start(key)
    expect(await request()).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
  })

  it('may have up to 255 characters', async () => {
    expect((await start('k'.repeat(255))).status).toBe(200)
  })
})

describe('when the first request dies', () => {
  const request = () =>
    new Request('http://localhost/api/x', { method: 'POST', headers: { 'idempotency-key': 'dead' } })
  const begin = (ctx: TestRuntime['ctx']) =>
    withTransaction(ctx, async (tx) => ({
      at: new Date('2026-01-01T00:00:00Z'),
      runId: await insertRun(tx, {
        workflowId,
        workflowVersion: 1,
        definition: await pinnedDefinition(tx, workflowId, 1),
        input: {},
        firstStep: 'end',
        context: null,
        part: null,
      }),
    }))

  it('after its run was committed, its repeat finds that run', async () => {
    const before = await runCount()
    let first: string | null | undefined
    const dying = onceForKey(runtime.ctx, request(), {}, async (ctx) => {
      first = (await begin(ctx)).runId
      return new Promise(() => {})
    })
    dying.catch(() => {})
    while (!first) await sleep(5)
    await expireLease()
    const answer = await onceForKey(runtime.ctx, request(), {}, async (ctx) => {
      const { runId, at } = await begin(ctx)
      return { body: { runId, at: at.getTime() } }
    })
    expect(JSON.parse((answer.body as { text: string }).text)).toEqual({
      runId: first,
      at: Date.parse('2026-01-01T00:00:00Z'),
    })
    expect(await runCount()).toBe(before + 1)
    const [kept] = await database.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, 'dead'))
    expect(kept).toMatchObject({ state: 'done', effects: [] })
  })

  it('before its run was committed, its repeat creates it, and the late first request creates none', async () => {
    await database.db.delete(idempotencyKeys).where(eq(idempotencyKeys.key, 'dead'))
    const before = await runCount()
    let goOn: () => void = () => {}
    const stalled = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const zombie = onceForKey(runtime.ctx, request(), {}, async (ctx) => {
      await stalled
      return { body: await begin(ctx) }
    })
    const begun = eq(idempotencyKeys.key, 'dead')
    await expect.poll(() => database.db.select().from(idempotencyKeys).where(begun)).toHaveLength(1)
    await expireLease()
    const answer = await onceForKey(runtime.ctx, request(), {}, async (ctx) => ({ body: await begin(ctx) }))
    goOn()
    await expect(zombie).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await runCount()).toBe(before + 1)
    expect((await onceForKey(runtime.ctx, request(), {}, async () => ({ body: 'never' }))).body).toEqual(answer.body)
  })

  it('after the commit but before the answer, its repeat finds the result', async () => {
    await database.db.delete(idempotencyKeys).where(eq(idempotencyKeys.key, 'dead'))
    const before = await runCount()
    let first: string | null | undefined
    const failing = onceForKey(runtime.ctx, request(), {}, async (ctx) => {
      first = (await begin(ctx)).runId
      throw new Error('the database went away')
    })
    await expect(failing).rejects.toThrow('went away')
    const answer = await onceForKey(runtime.ctx, request(), {}, async (ctx) => ({ body: (await begin(ctx)).runId }))
    expect(answer.body).toMatchObject({ text: JSON.stringify(first) })
    expect(await runCount()).toBe(before + 1)
  })

  it('keys are deleted after 24 hours', async () => {
    const first = await start('old')
    const [{ count } = { count: 0 }] = await database.sql<{ count: number }[]>`
      update idempotency_keys set created_at = now() - interval '24 hours 1 second' where key = 'old' returning 1 as count`
    expect(count).toBe(1)
    const second = await start('old')
    expect(second.replayed).toBeNull()
    expect(second.body.runId).not.toBe(first.body.runId)
    await database.sql`update idempotency_keys set created_at = now() - interval '24 hours 1 second' where key = 'old'`
    expect(await sweepIdempotencyKeys(database.db, new Date())).toBe(1)
  })

  async function expireLease(): Promise<void> {
    await database.sql`update idempotency_keys set leased_until = now() - interval '1 second' where key = 'dead'`
  }
})

it('makes no signal for a handler that asks for none', async () => {
  let watched = 0
  const sent = new SentRequest('http://localhost/api/x', {
    method: 'POST',
    headers: [],
    chunks: null,
    watch: () => watched++,
  })
  const answer = await onceForKey(runtime.ctx, sent, {}, async () => ({ body: 'done' }))
  expect([answer.body, watched]).toEqual(['done', 0])
  await onceForKey(runtime.ctx, sent, {}, async (_ctx, signalOf) => ({ body: signalOf().aborted }))
  expect(watched).toBe(1)
})
