import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { threads, threadTurns } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import { getThread } from '@/server/agents/get-thread'
import type { ServiceContext } from '@/server/context'
import { cancelUpload } from '@/server/files/direct/cancel'
import { OPEN_PER_CALLER } from '@/server/files/direct/limits'
import { storeUpload } from '@/server/files/direct/store'
import { sweepFiles } from '@/server/files/sweep'
import { MultipartInput } from '@/server/http/multipart-input'
import type { EventSource } from '@/server/http/sse'
import { onceForKey } from '@/server/rest/idempotency'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { countSubjectData } from '@/server/subjects/count'
import { deleteSubjectData } from '@/server/subjects/delete'
import { answerApprovals } from '@/server/talk/approve'
import { beginDraftChat, openChat } from '@/server/talk/chat'
import * as talk from '@/server/talk/invoke'
import { sweepTurns } from '@/server/talk/sweep'
import { fromUiChat } from '@/server/talk/ui-chat'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { newAgent } from '../agents/support'
import { readFile } from '../files/read'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { pdfOf, pngOf } from '../support/sample-files'
import { chat, invokeAgent } from '../support/talk'
import { outcome, refusal } from '../workflows/support'

const MINUTE = 60_000
const PNG = pngOf(4, 4)
const never = new AbortController().signal
const answer = { text: '{"item":"chairs","amount":12}' }

let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
let model: ModelServer
let dataDir: string
let agentId: string
let asks: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-said-'))
  database = await freshDatabase()
  model = await startModelServer()
  const limits = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_INVOKES: '0' }
  runtime = await startTestRuntime(database.url, { DATA_DIR: dataDir, ALLOW_PRIVATE_HOSTS: '127.0.0.1', ...limits })
  ctx = runtime.ctx
  agentId = (await newAgent(ctx, {}, model)).id
  const tool = { name: 'Refund', kind: 'script', config: { code: 'return 1' } }
  const { id: toolId } = await createTool(ctx, tool as never)
  asks = (await newAgent(ctx, { tools: [{ toolId, version: 'latest', approval: 'always' }] }, model)).id
})
beforeEach(async () => {
  await database.db.delete(files)
  model.answer(() => answer)
})
afterAll(async () => {
  await runtime?.stop()
  await model?.close()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function stored(name = 'scan.png', bytes: Buffer = PNG, by = ctx): Promise<string> {
  return (await storeUpload(by, { name, type: '', bytes })).fileId
}
const say = (fileIds: string[], more: object = {}, by = ctx) =>
  invokeAgent(
    by,
    { agentId, body: { message: 'Read it.', files: fileIds.map((fileId) => ({ fileId })), ...more } },
    never,
  )
const sub = (id: string, more: object = {}): ServiceContext => ({
  ...ctx,
  actor: { kind: 'jwt', id, secretId: 'sec_1', role: 'operator' },
  ...more,
})
const rowOf = async (id: string) => (await database.db.select().from(files).where(eq(files.id, id)))[0]
const bytesAt = (id: string) => existsSync(join(dataDir, 'files', ctx.tenantId, id))
const sweep = (later: number) =>
  sweepFiles({ db: database.db, log: ctx.log, now: () => new Date(Date.now() + later * MINUTE) })
const sent = (call = -1) => JSON.stringify(model.calls.at(call)?.body.messages)
const SENT = PNG.toString('base64')
const shown = (fileId: string) => ({ fileId, name: 'scan.png', type: 'image/png', size: PNG.byteLength })

async function events(source: EventSource | null): Promise<string[]> {
  const all: string[] = []
  for await (const { event } of source?.(never) ?? []) all.push(event)
  return all
}

describe('a message', () => {
  test('has files: the model sees them, the thread keeps and shows them, and later messages have them again', async () => {
    const fileId = await stored('../up/sc\u202ean\u0007.png')
    const { threadId } = await say([fileId])
    expect(model.calls[0]?.body.messages.at(-1).content).toEqual([
      { type: 'text', text: 'Read it.' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${SENT}` } },
    ])
    expect(await rowOf(fileId)).toMatchObject({ threadId, runId: null, claimedAt: expect.any(Date) })
    const { turns } = await getThread(ctx, { agentId, threadId }, {})
    expect(turns[0]?.files).toEqual([shown(fileId)])
    expect((await readFile(ctx, { fileId })).bytes.equals(PNG)).toBe(true)
    expect(await sweep(1000 * 60)).toEqual({ removed: 0 })
    const pdf = await stored('bill.pdf', pdfOf(['Invoice 7']))
    await say([pdf, fileId, fileId.toUpperCase()], { threadId })
    expect(sent().split(SENT)).toHaveLength(2)
    await say([], { threadId })
    expect(sent()).toContain(SENT)
    expect(sent()).toContain('bill.pdf')
    // An earlier release would remove what was claimed before and has no run.
    expect(await database.sql`select 1 from files where claimed_at < now() + interval '100 years'`).toHaveLength(0)
    await database.db.delete(threads).where(eq(threads.id, threadId))
    expect(await outcome(readFile(ctx, { fileId }))).toBe('FILE_NOT_FOUND')
    expect([await sweep(2000), bytesAt(fileId), bytesAt(pdf)]).toEqual([{ removed: 2 }, false, false])
  })

  test('of a chat has them, as JSON, as a stream and of a draft', async () => {
    const ids = [await stored(), await stored(), await stored()]
    model.answer(() => ({ ...answer, delayMs: 300 }))
    const asked = (n: number) => ({ agentId, message: 'x', files: [{ fileId: ids[n] ?? '' }] })
    await chat(ctx, asked(0), never)
    const stream = await openChat(ctx, { body: asked(1), lastEventId: null }, never)
    expect((await events(stream)).at(-1)).toBe('message.done')
    const { lastEventId } = await beginDraftChat(ctx, { ...asked(2), draft: { name: 'Changed' } } as never, never)
    expect((await events(await openChat(ctx, { body: { agentId }, lastEventId }, never))).at(-1)).toBe('message.done')
    expect(model.calls.map(({ body }) => JSON.stringify(body).includes(SENT))).toEqual([true, true, true])
    for (const id of ids) expect((await rowOf(id))?.threadId).toMatch(/^thr_/)
    const ui = { agentId, id: 'c1', messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }], files: [] }
    expect(fromUiChat(ctx, ui).body).toMatchObject({ message: 'x', files: [] })
  })

  test('without files is stored as ever', async () => {
    const { threadId } = await say([])
    const { threadId: bare } = await invokeAgent(ctx, { agentId, body: { message: 'Read it.' } }, never)
    for (const id of [threadId, bare]) {
      const { turns } = await getThread(ctx, { agentId, threadId: id }, {})
      expect(turns[0]).not.toHaveProperty('files')
    }
  })

  test('that fails leaves its files for another try, and one under way keeps them', async () => {
    const fileId = await stored()
    await database.db.update(files).set({ createdAt: new Date(Date.now() - 59 * MINUTE) })
    model.script({ status: 400 })
    const failed = await refusal(say([fileId]))
    expect([failed.code, JSON.stringify(failed.details)]).toEqual([
      'MODEL_ERROR',
      expect.stringContaining('to a message with files: scan.png'),
    ])
    expect(await rowOf(fileId)).toMatchObject({ threadId: null, claimedAt: null })
    expect(await sweep(30)).toEqual({ removed: 0 })
    model.answer(() => answer)
    const { threadId } = await say([fileId])
    expect((await rowOf(fileId))?.threadId).toBe(threadId)
  })
})

test('files of messages under way do not count as unused, and nobody keeps one for free', async () => {
  const ids: string[] = []
  const add = () => stored('scan.png', PNG, sub('finn'))
  while (ids.length < OPEN_PER_CALLER) ids.push(await add())
  expect(await outcome(add())).toBe('CONFLICT')
  await database.db.update(files).set({ createdAt: new Date(Date.now() - 59 * MINUTE) })
  const before = await rowOf(ids[0] ?? '')
  expect(await outcome(say(ids.slice(0, 1), { threadId: 'thr_unknown' }, sub('finn')))).toBe('THREAD_NOT_FOUND')
  expect(await rowOf(ids[0] ?? '')).toEqual(before)
  let added = false
  const until = expect.poll(() => added, { timeout: 20_000 }).toBe(true)
  model.answer(() => ({ text: 'No data.', until }))
  const both = [ids.slice(0, 10), ids.slice(10)].map((some) => outcome(say(some, {}, sub('finn'))))
  await expect.poll(() => model.calls.length, { timeout: 20_000 }).toBe(2)
  await add()
  added = true
  expect(await Promise.all(both)).toEqual(['OUTPUT_SCHEMA_MISMATCH', 'OUTPUT_SCHEMA_MISMATCH'])
  expect(await outcome(add())).toBe('CONFLICT')
})

describe('refused before a model is asked', () => {
  const codeOf = async (call: Promise<unknown>) => {
    const { code, details } = await refusal(call)
    return [code, details[0]?.path]
  }

  test('is a file that does not exist for the caller', async () => {
    const keys = await stored()
    const adas = await stored('scan.png', PNG, sub('ada'))
    const other = await runtime.as('owner', 'ten_other')
    const foreign = (await storeUpload(other, { name: 'scan.png', type: '', bytes: PNG })).fileId
    const unknown = '00000000-0000-4000-8000-000000000000'
    const cancelled = await stored()
    await cancelUpload(ctx, { fileId: cancelled })
    const first = await refusal(say([unknown]))
    expect([first.code, first.details[0]?.path]).toEqual(['FILE_NOT_FOUND', 'files[0].fileId'])
    for (const id of [adas, foreign, cancelled, 'x', '']) {
      const { code, message, details } = await refusal(say([id]))
      expect({ code, message, details }).toEqual({ code: first.code, message: first.message, details: first.details })
    }
    expect(await codeOf(say([adas, keys], {}, sub('ada')))).toEqual(['FILE_NOT_FOUND', 'files[1].fileId'])
    expect(await outcome(say([adas], {}, sub('bob')))).toBe('FILE_NOT_FOUND')
    const member = sub('', { actor: { kind: 'user', id: 'usr_a', name: 'A', sessionId: 's', role: 'owner' } })
    expect(await outcome(say([adas], {}, member))).toBe('FILE_NOT_FOUND')
    expect(model.calls).toHaveLength(0)
    await say([adas], {}, sub('ada'))
  })

  test('is a file of another thread, and one of a run; one of the same thread is not', async () => {
    const fileId = await stored()
    const { threadId } = await say([fileId])
    expect(await codeOf(say([fileId]))).toEqual(['INVALID_INPUT', 'files[0].fileId'])
    await say([fileId], { threadId })
    const steps = [{ id: 'end', type: 'end-flow' }]
    const { id } = await createWorkflow(ctx, { name: 'Files', payload: { paper: { type: 'file' } }, steps } as never)
    const file = { name: 'scan.png', type: 'image/png', bytes: PNG }
    const { runId } = await startRun(ctx, { workflowId: id, body: new MultipartInput(new Map(), file) })
    const [row] = await database.db.select().from(files).where(eq(files.runId, runId))
    expect(await codeOf(say([row?.id ?? '']))).toEqual(['INVALID_INPUT', 'files[0].fileId'])
    // And a file of a thread is none that a run may have.
    expect(await outcome(startRun(ctx, { workflowId: id, body: { paper: fileId } }))).toBe('INVALID_INPUT')
    // A thread of a token that another token names.
    const adas = await stored('scan.png', PNG, sub('ada'))
    const hers = await say([adas], {}, sub('ada'))
    expect(await outcome(say([adas], { threadId: hers.threadId }, sub('bob')))).toBe('FILE_NOT_FOUND')
  })

  test('are files that no model reads, that are too many or too large together, and odd fields', async () => {
    const zip = await stored('a.zip', Buffer.from('PK\u0003\u0004 nothing'))
    const refused = await refusal(say([zip]))
    expect([refused.code, refused.message]).toEqual(['FILE_NOT_SUPPORTED', 'A model cannot read the files'])
    expect(refused.details[0]?.message).toContain('A model cannot read a.zip')
    const large: string[] = []
    for (let n = 0; n < 5; n++) large.push(await stored(`${n}.txt`, Buffer.alloc(3_900_000, `${n}`)))
    expect(await codeOf(say(large))).toEqual(['FILE_NOT_SUPPORTED', 'files'])
    expect(await codeOf(say(Array(11).fill(zip)))).toEqual(['INVALID_INPUT', 'files'])
    expect(await codeOf(say([], { files: ['x'] }))).toEqual(['INVALID_INPUT', 'files[0]'])
    expect(await codeOf(say([], { files: [{ fileId: zip, as: 'text' }] }))).toEqual(['INVALID_INPUT', 'files[0]'])
    const viewer = { ...ctx, actor: { ...ctx.actor, role: 'viewer' } as never }
    expect(await outcome(say([zip], {}, viewer))).toBe('FORBIDDEN')
    const ui = { agentId, id: 'c1', messages: [{ role: 'user', parts: [{ type: 'file', url: 'data:,x' }] }] }
    await expect(async () => fromUiChat(ctx, ui)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(model.calls).toHaveLength(0)
  })

  test('is a text that turns out to be none; a stream says so as its last event', async () => {
    const fileId = (await storeUpload(ctx, { name: 'a.csv', type: 'text/csv', bytes: Buffer.from([0x61, 0xff, 0xfe]) }))
      .fileId
    expect(await codeOf(say([fileId]))).toEqual(['FILE_NOT_SUPPORTED', 'files'])
    const body = { agentId, message: 'x', files: [{ fileId }] }
    const stream = await openChat(ctx, { body, lastEventId: null }, never)
    const all = []
    for await (const event of stream?.(never) ?? []) all.push(event)
    expect(all).toMatchObject([{ event: 'error', data: { code: 'FILE_NOT_SUPPORTED' } }])
    expect(model.calls).toHaveLength(0)
  })
})

describe('a turn that is continued', () => {
  const wish = { name: 'refund', args: { approval_reason: 'Broken.' } }
  const wishes = () => ({ calls: [{ ...wish, name: model.calls.at(-1)?.body.tools[0].function.name }] })
  /** Asks for a call, and answers once that is decided. */
  const askFirst = () => model.answer(({ body }) => (body.messages.at(-1).role === 'tool' ? answer : wishes()))

  test('by a run, because people are asked, has its files for as long as it waits', async () => {
    const fileId = await stored('scan.png', PNG, sub('ada'))
    askFirst()
    const asking = { agentId: asks, body: { message: 'x', files: [{ fileId }] } }
    const waiting = await talk.invokeAgent(sub('ada'), asking, never)
    if (!('turnId' in waiting)) throw new Error('the turn does not wait')
    const { threadId, turnId } = waiting
    expect((await rowOf(fileId))?.threadId).toBe(threadId)
    expect(await sweep(1000 * 60)).toEqual({ removed: 0 })
    const approvals = [{ approvalId: `${turnId}.2`, approved: true }]
    await answerApprovals(ctx, { agentId: asks, threadId, body: { approvals } }, never)
    expect(sent()).toContain(SENT)
    const { turns } = await getThread(sub('ada'), { agentId: asks, threadId }, {})
    expect(turns).toMatchObject([{ files: [shown(fileId)], answer: answer.text }])
  })

  test('by a retry of its run has the files of the first one', async () => {
    const fileId = await stored()
    let broken = true
    model.answer(({ body }) => {
      if (body.messages.at(-1).role !== 'tool') return wishes()
      return broken ? { status: 400 } : answer
    })
    const waiting = await talk.invokeAgent(ctx, { agentId: asks, body: { message: 'x', files: [{ fileId }] } }, never)
    if (!('turnId' in waiting)) throw new Error('the turn does not wait')
    const { threadId, runId, turnId } = waiting
    const approve = (id = turnId) =>
      answerApprovals(
        ctx,
        { agentId: asks, threadId, body: { approvals: [{ approvalId: `${id}.2`, approved: true }] } },
        never,
      )
    expect(await outcome(approve())).toBe('MODEL_ERROR')
    await sweepTurns({ db: runtime.db as never, log: ctx.log, now: ctx.now })
    expect(await sweep(1000 * 60)).toEqual({ removed: 0 })
    broken = false
    const retried = await retryRun(ctx, { runId })
    const run = await runtime.wait(retried.runId, ({ status }) => status !== 'running')
    if (run.status === 'paused') await approve()
    await runtime.wait(retried.runId)
    expect(sent()).toContain(SENT)
    expect((await rowOf(fileId))?.threadId).toBe(threadId)
  })

  test('by a run, because the process of its stream died', async () => {
    const fileId = await stored()
    model.answer(() => ({ hang: true }))
    const body = { agentId, message: 'x', files: [{ fileId }] }
    await openChat(ctx, { body, lastEventId: null }, never)
    await expect.poll(() => model.calls.length).toBe(1)
    model.answer(() => answer)
    const past = new Date(Date.now() - 1_000)
    await database.db.update(agentTurns).set({ leasedUntil: past }).where(eq(agentTurns.state, 'working'))
    await database.db.update(threadTurns).set({ leasedUntil: past })
    await sweepTurns({ db: runtime.db as never, log: ctx.log, now: ctx.now })
    await expect.poll(async () => (await rowOf(fileId))?.threadId, { timeout: 10_000 }).toMatch(/^thr_/)
    await expect.poll(() => sent(), { timeout: 10_000 }).toContain(SENT)
  })

  test('by a retry of somebody else has the files of the message, and those of the thread', async () => {
    const earlier = await stored('notes.txt', Buffer.from('Earlier notes'), sub('ada'))
    const fileId = await stored('scan.png', PNG, sub('ada'))
    const body = (id: string) => ({ message: 'x', files: [{ fileId: id }] })
    const { threadId } = await invokeAgent(sub('ada'), { agentId: asks, body: body(earlier) }, never)
    askFirst()
    const asking = { agentId: asks, body: { ...body(fileId), threadId } }
    const waiting = await talk.invokeAgent(sub('ada'), asking, never)
    if (!('turnId' in waiting)) throw new Error('the turn does not wait')
    model.answer(() => ({ status: 400 }))
    const given = { approvals: [{ approvalId: `${waiting.turnId}.2`, approved: true }] }
    const approving = answerApprovals(ctx, { agentId: asks, threadId, body: given }, never)
    expect(await outcome(approving)).toBe('MODEL_ERROR')
    model.answer(() => answer)
    const { runId } = await retryRun(ctx, { runId: waiting.runId })
    expect((await runtime.wait(runId)).status).toBe('completed')
    expect([sent().includes(SENT), sent().includes('Earlier notes')]).toEqual([true, true])
  })

  test('by a repeat with the same key has the files of the first request', async () => {
    const { id: toolId } = await createTool(ctx, { name: 'Add', kind: 'script', config: { code: 'return 2' } } as never)
    const { id } = await newAgent(ctx, { tools: [toolId] }, model)
    const fileId = await stored()
    const body = { message: 'x', files: [{ fileId }] }
    const request = () => new Request('http://m.example/x', { method: 'POST', headers: { 'idempotency-key': 'k1' } })
    const send = () =>
      onceForKey(ctx, request(), body, async (keyed) => ({
        body: await invokeAgent(keyed, { agentId: id, body }, never),
      }))
    let broken = true
    model.answer(({ body }) => {
      if (body.messages.at(-1).role !== 'tool') return wishes()
      return broken ? { status: 400 } : answer
    })
    expect(await outcome(send())).toBe('MODEL_ERROR')
    // A repeat keeps them for another hour.
    await database.db.update(files).set({ createdAt: new Date(Date.now() - 59 * MINUTE) })
    expect([await outcome(send()), await sweep(30)]).toEqual(['MODEL_ERROR', { removed: 0 }])
    broken = false
    await send()
    expect(model.calls).toHaveLength(4)
    expect(sent()).toContain(SENT)
    const threadId = (await rowOf(fileId))?.threadId
    expect(threadId).toMatch(/^thr_/)
    const again = await send()
    expect(JSON.parse(String((again.body as { text: string }).text))).toMatchObject({ threadId })
  })
})

test('two messages that send one file at once both have it, and it belongs to one of their threads', async () => {
  const fileId = await stored()
  const bothAsked = expect.poll(() => model.calls.length, { timeout: 20_000 }).toBe(2)
  model.answer(() => ({ ...answer, until: bothAsked }))
  const both = await Promise.all([say([fileId]), say([fileId])])
  const { threadId } = (await rowOf(fileId)) ?? {}
  expect(both.map((one) => one.threadId)).toContain(threadId)
  expect(model.calls.every(({ body }) => JSON.stringify(body).includes(SENT))).toBe(true)
})

test('the files of a subject’s threads are counted and deleted with its data', async () => {
  const fileId = await stored('scan.png', PNG, sub('eve'))
  await say([fileId], {}, sub('eve'))
  const kept = await stored()
  const { threadId } = await say([kept])
  expect(await countSubjectData(ctx, { sub: 'eve' })).toMatchObject({ files: 1, threads: 1 })
  expect(await deleteSubjectData(ctx, { sub: 'eve' })).toMatchObject({ deleted: { files: 1, threads: 1 }, done: true })
  expect([await outcome(readFile(ctx, { fileId })), bytesAt(fileId)]).toEqual(['FILE_NOT_FOUND', false])
  expect([(await rowOf(kept))?.threadId, bytesAt(kept)]).toEqual([threadId, true])
})
