import { randomBytes } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { messages } from '@/db/schema/threads'
import { getThread } from '@/server/agents/get-thread'
import { listThreads as getThreads } from '@/server/agents/list-threads'
import { readTurns } from '@/server/agents/turns'
import { type ServiceContext, withTransaction } from '@/server/context'
import { readsDatabase } from '@/server/database'
import { beginChat, openChat } from '@/server/talk/chat'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { setVaultSecret } from '@/server/vault/set'
import { listThreads } from '@/server/views/agents/list-threads'
import { readThread } from '@/server/views/agents/read-thread'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { invokeAgent } from '../support/talk'
import { newScriptTool, newTenant, withRole } from '../support/tenant'
import { outcome } from '../workflows/support'
import { newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
const never = new AbortController().signal
beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { DATABASE_URL: database.url, ENCRYPTION_KEY: 'ab'.repeat(32) })
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await stopSandbox()
  await readsDatabase().close()
  await database.close()
})

const jwt = (sub: string): ServiceContext => ({
  ...ctx,
  actor: { kind: 'jwt', id: sub, secretId: 'sec_1', role: 'operator' },
})
const say = (agentId: string, body: object, as = ctx) => invokeAgent(as, { agentId, body: body as never }, never)
const titles = async (agentId: string, as = ctx) => (await listThreads(as, { agentId })).items.map(({ title }) => title)

describe('threads', () => {
  test('are listed by last activity, with their first message', async () => {
    const { id } = await newAgent(ctx)
    const first = await say(id, { message: `2 apples ${'x'.repeat(200)}` })
    await say(id, { message: '3 pears' })
    await say(id, { message: 'and 4 more', threadId: first.threadId })
    expect(await titles(id)).toEqual([`2 apples ${'x'.repeat(111)}`, '3 pears'])
    expect(await titles((await newAgent(ctx)).id)).toEqual([])
  })

  test('are paged without repeats or gaps', async () => {
    const { id } = await newAgent(ctx)
    for (const n of [1, 2, 3, 4, 5]) await say(id, { message: `${n} of them` })
    const seen: string[] = []
    for (let cursor: string | null = null; ; ) {
      const page = await listThreads(ctx, { agentId: id, limit: '2', cursor })
      seen.push(...page.items.map(({ title }) => title ?? ''))
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(seen).toEqual([5, 4, 3, 2, 1].map((n) => `${n} of them`))
  })

  test('of a token are visible only to its subject; members and keys see all, other tenants none', async () => {
    const { id } = await newAgent(ctx)
    const ada = await say(id, { message: 'by Ada' }, jwt('ada'))
    await say(id, { message: 'by Tom' }, jwt('tom'))
    expect(await titles(id, jwt('ada'))).toEqual(['by Ada'])
    expect(await titles(id, withRole(ctx, 'viewer'))).toEqual(['by Tom', 'by Ada'])
    expect(await outcome(readThread(jwt('tom'), { agentId: id, threadId: ada.threadId }))).toBe('THREAD_NOT_FOUND')
    const other = await newTenant(database)
    expect(await outcome(listThreads(other, { agentId: id }))).toBe('AGENT_NOT_FOUND')
    expect(await outcome(readThread(other, { agentId: id, threadId: ada.threadId }))).toBe('THREAD_NOT_FOUND')
  })

  test('are read as turns: the message, tool calls with their results, and the answer', async () => {
    const good = await newScriptTool(ctx, 'return { total: args.n * 2 }')
    const bad = await newScriptTool(ctx, 'throw new Error("no stock")')
    const { id } = await newAgent(ctx, { tools: [good, bad] })
    const { threadId } = await say(id, { message: `use ${good} {"n":21}`, dataContext: { shop: 'A' } })
    await say(id, { message: `use ${bad}`, threadId })
    const { turns, earlier } = await readThread(ctx, { agentId: id, threadId })
    expect(earlier).toBe(false)
    expect(turns).toHaveLength(2)
    expect(turns[0]).toMatchObject({
      seq: 1,
      message: `use ${good} {"n":21}`,
      dataContext: { shop: 'A' },
      calls: [{ name: good, input: { text: '{\n  "n": 21\n}' }, result: { ok: true } }],
      metadata: { provider: 'scripted', version: 1, toolCalls: 1 },
    })
    expect(JSON.parse(turns[0]?.calls[0]?.result?.output.text ?? '')).toEqual({ total: 42 })
    expect(JSON.parse(turns[0]?.text ?? '')).toHaveProperty('amount')
    expect(turns[1]?.calls[0]?.result).toMatchObject({
      ok: false,
      output: { text: expect.stringContaining('no stock'), cutFrom: null },
    })
  })

  test('have long content cut, and say so', async () => {
    const tool = await newScriptTool(ctx, 'return "x".repeat(50000)')
    const { id } = await newAgent(ctx, { tools: [tool] })
    const { threadId } = await say(id, { message: `use ${tool}` })
    const { turns } = await readThread(ctx, { agentId: id, threadId })
    const shown = turns[0]?.calls[0]?.result?.output
    expect(shown?.text).toHaveLength(20_000)
    expect(shown?.cutFrom).toBe(50_000)
  })

  test('that are long are read from the end, in whole turns', async () => {
    const { id } = await newAgent(ctx)
    const { threadId } = await say(id, { message: 'turn 0' })
    for (let n = 1; n <= 60; n++) await say(id, { message: `turn ${n}`, threadId })
    const seen: string[] = []
    for (let before: number | null = null; ; ) {
      const page = await readThread(ctx, { agentId: id, threadId, before })
      seen.unshift(...page.turns.map(({ message }) => message))
      if (!page.earlier) break
      before = page.turns[0]?.seq ?? 0
    }
    expect(seen).toEqual(Array.from({ length: 61 }, (_, n) => `turn ${n}`))
  })
})

describe('threads over REST', () => {
  test('are listed by subject', async () => {
    const { id } = await newAgent(ctx)
    const ada = await say(id, { message: 'by Ada' }, jwt('ada'))
    await say(id, { message: 'by the workspace' })
    const ids = async (query: object, as = ctx) => (await getThreads(as, id, query)).threads.map((thread) => thread.id)
    expect(await ids({ subject: 'ada' })).toEqual([ada.threadId])
    expect(await ids({ subject: 'nobody' })).toEqual([])
    // A token cannot read those of others.
    expect(await ids({ subject: 'ada' }, jwt('tom'))).toEqual([])
  })

  test('are read in whole turns, newest first, regardless of their size', async () => {
    const { id } = await newAgent(ctx)
    const { threadId } = await say(id, { message: 'turn 0' })
    for (let n = 1; n <= 4; n++) await say(id, { message: `turn ${n}`, threadId })
    const ids = { agentId: id, threadId }
    const read = async (limit: string) => {
      const pages: string[][] = []
      for (let cursor: string | undefined; ; ) {
        const page = await getThread(ctx, ids, { limit, cursor })
        pages.push(page.turns.map(({ message }) => message.slice(0, 6)))
        if (page.nextCursor === null) return pages
        cursor = page.nextCursor
      }
    }
    expect(await read('2')).toEqual([['turn 4', 'turn 3'], ['turn 2', 'turn 1'], ['turn 0']])
    // Two of these do not fit on one page.
    const large = { message: `turn ${'x'.repeat(3_000_000)}`, dataContext: {} }
    await database.db
      .update(messages)
      .set({ content: large })
      .where(and(eq(messages.threadId, threadId), eq(messages.role, 'user')))
    expect(await read('100')).toEqual(Array.from({ length: 5 }, () => ['turn x']))
  })

  test('however large a thread is, a page reads hardly more of it than it shows', async () => {
    const { id } = await newAgent(ctx)
    const { threadId } = await say(id, { message: 'begin' })
    const text = randomBytes(48 * 1024).toString('hex')
    const rows = Array.from({ length: 300 }, (_, n) => ({
      ...{ tenantId: ctx.tenantId, threadId, seq: n + 3 },
      ...(n % 2 === 0
        ? { role: 'user' as const, content: { message: text, dataContext: {} } }
        : { role: 'assistant' as const, content: text }),
    }))
    await database.db.insert(messages).values(rows)
    await withTransaction(ctx, async (tx) => {
      const pagesRead = async () => {
        const [read] = await tx.db.execute<{ blocks: number }>(sql`
          select pg_stat_get_xact_blocks_fetched(reltoastrelid)::int as blocks from pg_class where relname = 'messages'`)
        return read?.blocks ?? 0
      }
      const before = await pagesRead()
      const turns = await readTurns(tx, threadId, { before: null, limit: 100 })
      const shown = turns.length * 2 * text.length
      expect([turns.length, turns.every(({ answer }) => answer === text)]).toEqual([21, true])
      // To measure and to show, each with its index.
      expect(((await pagesRead()) - before) * 8192).toBeLessThan(6 * shown)
    })
  })

  test('never show a value of the vault, not even one that a title cuts', async () => {
    const { id } = await newAgent(ctx)
    const { threadId } = await say(id, {
      message: `${'x'.repeat(110)} a-long-secret-value`,
      dataContext: { key: 'a-long-secret-value' },
    })
    await setVaultSecret(withRole(ctx, 'admin'), { name: 'LATER', value: 'a-long-secret-value' })
    const ids = { agentId: id, threadId }
    const shown = [
      await getThreads(ctx, id, {}),
      await getThread(ctx, ids, {}),
      await listThreads(ctx, ids),
      await readThread(ctx, ids),
    ]
    for (const read of shown) {
      expect(JSON.stringify(read)).not.toContain('a-long')
      expect(JSON.stringify(read)).toContain('***')
    }
  })
})

describe('a chat that is followed after it was started', () => {
  test('shows every event from the first, even if it ended before anyone read it', async () => {
    const { id } = await newAgent(ctx, { outputSchema: null })
    const { threadId, lastEventId } = await beginChat(ctx, { agentId: id, message: 'hello there' }, never)
    await expect.poll(async () => (await readThread(ctx, { agentId: id, threadId })).turns.length).toBe(1)
    const events = []
    for await (const event of (await openChat(ctx, { body: { agentId: id }, lastEventId }, never))?.(never) ?? [])
      events.push(event)
    const said = events
      .filter(({ event }) => event === 'message.delta')
      .map(({ data }) => (data as { text: string }).text)
    const message = said.join('')
    expect(message).toContain('hello there')
    expect(events.at(-1)).toMatchObject({ event: 'message.done', data: { message, threadId } })
    const last = events.at(-1)?.id ?? ''
    expect(await openChat(ctx, { body: { agentId: id }, lastEventId: last }, never)).toBeNull()
  })

  test('requires the permission to invoke, and does not exist for others', async () => {
    const { id } = await newAgent(ctx, { outputSchema: null })
    const body = { agentId: id, message: 'hello' }
    expect(await outcome(beginChat(withRole(ctx, 'viewer'), body, never))).toBe('FORBIDDEN')
    const { lastEventId } = await beginChat(ctx, body, never)
    const other = await newTenant(database)
    expect(await outcome(openChat(other, { body: { agentId: id }, lastEventId }, never))).toBe('THREAD_NOT_FOUND')
  })
})
