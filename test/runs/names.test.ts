import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pauseVotes } from '@/db/schema/runs'
import { countRequest } from '@/server/auth/limits'
import type { Actor, ServiceContext } from '@/server/context'
import { sameName } from '@/server/definition/people'
import { AppError } from '@/server/errors'
import { createMember } from '@/server/members/create'
import { BLANK, INVISIBLE } from '@/server/runs/named'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { listTasks } from '@/server/views/tasks/list'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let ada: string
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
  const member = { email: 'ada@example.com', name: 'Ada', role: 'admin', password: 'a-long-password' }
  ada = (await createMember(runtime.ctx, member)).userId
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

/** One name in all spellings: composed and decomposed, with blanks around and inside, and with invisible characters. */
const SPELLINGS = [
  'Zoë Roux',
  'Zoe\u0308 Roux',
  'Zoë Roux ',
  ' Zoë\u00a0Roux',
  'Z\u200boë Ro\u00adux',
  'Zoë  Roux\u2060',
  'Zoë Roux\ufeff',
]

const as = (actor: Actor): ServiceContext => ({ ...runtime.ctx, actor })
const key = (): ServiceContext => as({ kind: 'apiKey', id: 'key_1', role: 'operator' })
const token = (id: string): ServiceContext => as({ kind: 'jwt', id, secretId: 'sec_1', role: 'operator' })

async function paused(more: object, by = runtime.ctx): Promise<string> {
  const actions = [{ id: 'approve', label: 'Approve' }]
  const steps = [{ id: 'ok', type: 'request-user-action', actions, ...more }]
  const { id } = await createWorkflow(runtime.ctx, { name: 'Test', steps })
  const { runId } = await startRun(by, { workflowId: id, body: {} })
  await runtime.wait(runId, ({ status }) => status !== 'running')
  return runId
}
const answer = (ctx: ServiceContext, runId: string, more: object = {}) =>
  resumeRun(ctx, { runId, body: { type: 'request_user_action', actionId: 'approve', ...more } }).then(
    ({ status }) => status as string,
    (err: unknown) => (err instanceof AppError ? err.code : Promise.reject(err)),
  )

describe('one person has one name, however it is written', () => {
  test('so that they have one vote, with a token or named by a key', async () => {
    const runId = await paused({ needs: { approve: 2 } })
    expect(await answer(token(SPELLINGS[0] ?? ''), runId)).toBe('paused')
    for (const name of SPELLINGS) {
      expect([name, await answer(token(name), runId)]).toEqual([name, 'ALREADY_VOTED'])
      expect([name, await answer(key(), runId, { answeredBy: name })]).toEqual([name, 'ALREADY_VOTED'])
    }
    expect(await answer(token('Zoe Roux'), runId)).toBe('running')
  })

  test('a member too, by their id or address in any case', async () => {
    const runId = await paused({ needs: { approve: 2 } })
    expect(await answer(key(), runId, { answeredBy: ada })).toBe('paused')
    for (const name of [ada.toLowerCase(), ada.toUpperCase(), 'ADA@example.com ', 'a\u200bda@example.com'])
      expect([name, await answer(key(), runId, { answeredBy: name })]).toEqual([name, 'ALREADY_VOTED'])
  })

  test('and a vote counts as theirs that was stored as it was written, as votes once were', async () => {
    const runId = await paused({ needs: { approve: 2 } })
    const at = { tenantId: runtime.ctx.tenantId, runId, pauseId: 'main:ok#1', createdAt: new Date() }
    const vote = { person: 'Zoë Roux ', name: 'Zoë Roux ', actionId: 'approve', actionValue: 'approve' }
    await runtime.db.insert(pauseVotes).values({ ...at, ...vote })
    expect(await answer(token('Zoë Roux'), runId)).toBe('ALREADY_VOTED')
    expect(await answer(token('bob'), runId)).toBe('running')
  })

  test.each(SPELLINGS)('so %j may not approve what they started', async (name) => {
    const runId = await paused({ noSelfApproval: true }, token(SPELLINGS[0] ?? ''))
    expect(await answer(token(name), runId)).toBe('SELF_APPROVAL')
    const own = await paused({ noSelfApproval: true }, token(name))
    expect(await answer(token(SPELLINGS[1] ?? ''), own)).toBe('SELF_APPROVAL')
  })

  test('so an assignment means them, and cannot name them twice to get two votes', async () => {
    const runId = await paused({ assignees: [`user:${SPELLINGS[1]}`] })
    expect(await answer(token('Zoe Roux'), runId)).toBe('NOT_ASSIGNED')
    expect(await answer(token(SPELLINGS[4] ?? ''), runId)).toBe('running')
    await expect(
      paused({ needs: { approve: 2 }, assignees: SPELLINGS.slice(0, 2).map((name) => `user:${name}`) }),
    ).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  test.each([...SPELLINGS, '\u{e0041}Zoë Roux', '\u2003Zoë\u3000Roux'])(
    'so the inbox lists what was once assigned to %j as it was written, and not what they started so',
    async (name) => {
      const zoe = token('Zoë Roux')
      const assigned = await paused({ assignees: ['user:Zoë Roux'] })
      const started = await paused({ assignees: ['user:Zoë Roux'], noSelfApproval: true })
      const voted = await paused({ assignees: ['user:Zoë Roux', 'role:owner'], needs: { approve: 2 } })
      const other = await paused({ assignees: ['user:Zoe Roux', 'user:zoë roux', 'role:owner'] })
      const store = (runId: string, one: string) =>
        runtime.db.execute(sql`
      update pauses set signal = jsonb_set(signal::jsonb, '{assignees}', ${JSON.stringify([`user:${one}`])}::jsonb)::json
      where run_id = ${runId}`)
      await store(assigned, name)
      await runtime.db.execute(sql`update runs set started_by = ${name} where id = ${started}`)
      const vote = { name, person: name, actionId: 'approve', actionValue: 'approve', createdAt: new Date() }
      await runtime.db
        .insert(pauseVotes)
        .values({ tenantId: runtime.ctx.tenantId, runId: voted, pauseId: 'main:ok#1', ...vote })
      const { tasks } = await listTasks(zoe, { view: 'mine', sort: 'newest' })
      const mine = tasks.map(({ runId }) => runId)
      expect([assigned, started, voted, other].map((runId) => mine.includes(runId))).toEqual([
        true,
        false,
        false,
        false,
      ])
      for (const [one, is] of [
        ['ADA@Example.com', true],
        [ada.toLowerCase(), true],
        ['ada', false],
      ] as const) {
        await store(assigned, one)
        const person = as({ kind: 'user', id: ada, name: 'Ada', sessionId: 'ses_1', role: 'admin' })
        const { tasks } = await listTasks(person, { view: 'mine', sort: 'newest' })
        expect([one, tasks.some(({ runId }) => runId === assigned)]).toEqual([one, is])
      }
    },
  )

  test('by the same characters in queries as anywhere else', () => {
    const written = (set: string) =>
      new RegExp(
        set.replace(/\\[uU]([0-9a-f]+)/g, (_, code) => `\\u{${Number.parseInt(code, 16).toString(16)}}`),
        'u',
      )
    const [invisible, blank] = [written(INVISIBLE), written(BLANK)]
    const wrong: string[] = []
    for (let code = 0; code <= 0x10ffff; code++) {
      const one = code >= 0xd800 && code <= 0xdfff ? 'a' : String.fromCodePoint(code)
      if (invisible.test(one) !== (sameName(`a${one}b`) === 'ab')) wrong.push(code.toString(16))
      if (blank.test(one) !== /\s/.test(one)) wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })

  test('so their requests count together', async () => {
    const settings = {
      limits: { requests: 2, starts: 0, invokes: 0, failures: 0 },
      tenantLimits: { requests: 0, starts: 0, invokes: 0 },
      limitsShared: false,
      TRUST_PROXY: 0,
    }
    const now = new Date()
    const count = (name: string) =>
      countRequest({ ...token(name), trusted: null }, undefined, runtime.db, now, settings)
    await count(SPELLINGS[0] ?? '')
    await count(SPELLINGS[1] ?? '')
    await expect(count(SPELLINGS[2] ?? '')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })

  test('but names that look different stay different, and so does one that nobody sees', () => {
    expect(new Set(['Zoe', 'zoe', 'Zoë', 'Z oe', '\u200b', '\u200b\u200b'].map(sameName)).size).toBe(6)
  })
})
