import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { members } from '@/db/schema/members'
import type { Visitor } from '@/server/auth/visitor'
import type { Actor, ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { disableApiKey } from '@/server/credentials/api-keys/disable'
import { rotateApiKey } from '@/server/credentials/api-keys/rotate'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { AppError } from '@/server/errors'
import { answerTaskLink } from '@/server/links/answer'
import { createTaskLink } from '@/server/links/create'
import { openTaskLink } from '@/server/links/open'
import { revokeTaskLink } from '@/server/links/revoke'
import { signLink } from '@/server/links/token'
import { createMember } from '@/server/members/create'
import { cancelRun } from '@/server/runs/cancel'
import { sweepHeld } from '@/server/runs/held/give'
import { holdAnswer } from '@/server/runs/held/hold'
import { resumeRun } from '@/server/runs/resume'
import { deleteSubjectData } from '@/server/subjects/delete'
import { setVaultSecret } from '@/server/vault/set'
import { browseAudit } from '@/server/views/audit'
import { getRunOverview } from '@/server/views/runs/overview'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const DAY_MS = 24 * 3600_000
let database: FreshDatabase
let runtime: TestRuntime
let tess: ServiceContext
let key: ServiceContext

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    // Clocks go back and forth here.
    RATE_LIMIT_REQUESTS: '0',
  })
  tess = await member('Tess', 'operator')
  const { id } = await createApiKey(runtime.ctx, { name: 'Mailer', role: 'operator' })
  key = as({ kind: 'apiKey', id, role: 'operator' })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const as = (actor: Actor): ServiceContext => ({ ...runtime.ctx, actor })

async function member(name: string, role: 'operator' | 'admin'): Promise<ServiceContext> {
  const email = `${name.toLowerCase()}@example.com`
  const { userId } = await createMember(runtime.ctx, { email, name, role, password: 'a-long-password' })
  return as({ kind: 'user', id: userId, name, sessionId: 's', role })
}

const actions = [
  { id: 'approve', label: 'Approve it' },
  { id: 'reject', label: 'Reject it' },
]
const asking = (more: object = {}) => ({
  payload: { customer: { type: 'string' } },
  steps: [
    { id: 'ok', type: 'request-user-action', title: 'Order of ${customer}', actions, ...more },
    { id: 'then', type: 'set-data', values: { decided: '${ok.actionId}' } },
  ],
  edges: [{ from: 'ok', to: 'then' }],
})
const form = (output: object, more: object = {}) => ({
  steps: [{ id: 'fill', type: 'collect-inputs', output, ...more }],
})

async function paused(definition: object = asking(), data: object = { customer: 'Okafor' }): Promise<string> {
  const runId = await runtime.start(definition, data)
  await runtime.wait(runId, ({ status }) => status !== 'running')
  return runId
}

/** Makes a link. @returns its id and the code that opens it, or the error code */
async function link(by: ServiceContext, runId: string, body: object = {}) {
  const { id, url, ...made } = await createTaskLink(by, { runId, body, origin: 'https://millrace.example.com' })
  expect(url).toMatch(/^https:\/\/millrace\.example\.com\/task#[\w.-]+$/)
  return { ...made, id, token: url.slice(url.indexOf('#') + 1) }
}
const refused = (made: Promise<unknown>) =>
  made.then(
    () => 'made',
    (err: unknown) => (err instanceof AppError ? err.code : Promise.reject(err)),
  )

/** A person on the internet. */
const visitor = (inMs = 0): Visitor => ({
  db: runtime.db,
  headers: new Headers({ 'x-forwarded-for': '203.0.113.7' }),
  log: runtime.ctx.log,
  now: () => new Date(Date.now() + inMs),
  requestId: 'from-a-link',
})
const open = (token: string, inMs = 0) => openTaskLink(visitor(inMs), { token })
const answer = (token: string, given: object = { actionId: 'approve' }) =>
  answerTaskLink(visitor(), { token, ...given })
const decided = async (runId: string) => (await runtime.wait(runId)).data as { decided?: string }
const audit = (action: string, runId: string) =>
  database.sql`select * from audit_entries where action = ${action} and thing_id = ${runId}`

test('a link answers one task once, and opening it decides nothing', async () => {
  const runId = await paused(
    asking({ message: 'Please look.', show: [{ label: 'Customer', value: '${customer}' }], dueIn: 'P1D' }),
  )
  const { token, expiresAt, pauseId } = await link(tess, runId)
  expect(Math.abs(Date.parse(expiresAt) - Date.now() - 7 * DAY_MS)).toBeLessThan(60_000)
  for (let times = 0; times < 3; times++) {
    expect(await open(token)).toEqual({
      ...{ state: 'open', workspace: 'ten_test', from: 'Tess', title: 'Order of Okafor' },
      ...{ files: [], leftOut: [], votes: false },
      asked: {
        ...{ type: 'request_user_action', message: 'Please look.', dueAt: expect.any(String), actions },
        show: [{ label: 'Customer', value: 'Okafor' }],
      },
      expiresAt,
    })
  }
  expect((await runtime.status(runId)).status).toBe('paused')
  await expect(answer(token, { actionId: 'nonsense' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(answer(token, {})).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  const receipt = { state: 'used', title: 'Order of Okafor', given: { label: 'Approve it' }, vote: null }
  expect(await answer(token)).toMatchObject(receipt)
  expect(await answer(token, { actionId: 'reject' })).toMatchObject(receipt)
  expect(await open(token)).toMatchObject(receipt)
  expect(await decided(runId)).toMatchObject({ decided: 'approve' })
  expect(await open(token, 8 * DAY_MS)).toMatchObject({ state: 'expired', usedAt: expect.any(String) })

  const { answers } = await getRunOverview(runtime.ctx, { runId })
  expect(answers).toMatchObject([{ label: 'Approve it', answeredBy: { kind: 'link', name: 'a link made by Tess' } }])
  expect(await audit('run.linkMade', runId)).toMatchObject([{ actor_name: 'Tess', details: { step: 'ok' } }])
  expect(await audit('run.linkUsed', runId)).toMatchObject([
    { actor_kind: 'system', actor_name: 'a task link', address: '203.0.113.7', details: { answeredBy: 'Tess' } },
  ])
  const [row] =
    await database.sql`select answered_by, answered_via from pauses where run_id = ${runId} and id = ${pauseId}`
  expect(row).toEqual({ answered_by: tess.actor.id, answered_via: expect.stringMatching(/^lnk_/) })
})

test('the audit log has the step of a link by its name', async () => {
  const runId = await paused(asking({ name: 'The order' }))
  await link(tess, runId)
  const { entries } = await browseAudit(runtime.ctx, { thing: runId })
  expect(entries.map(({ details }) => details.step)).toEqual(['The order'])
})

test('of many answers at once, by one link or by two, exactly one counts', async () => {
  const runId = await paused()
  const [mine, theirs] = [await link(tess, runId), await link(key, runId, { answeredBy: 'bob@example.com' })]
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => answer(n % 2 ? mine.token : theirs.token)))
  const states = new Set(all.map(({ state }) => state))
  expect([...states].sort()).toEqual(['ended', 'used'])
  expect(await audit('run.linkUsed', runId)).toHaveLength(1)
  await decided(runId)
})

test('an answer by link comes before one that is still held, which is refused then', async () => {
  const runId = await paused()
  const { token } = await link(tess, runId)
  await holdAnswer(tess, { runId, body: { type: 'request_user_action', actionId: 'reject' } })
  expect(await answer(token)).toMatchObject({ state: 'used', given: { label: 'Approve it' } })
  expect(await decided(runId)).toMatchObject({ decided: 'approve' })
  await sweepHeld({ db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + 60_000) })
  const held = await database.sql`select refused->>'code' as code from held_answers where run_id = ${runId}`
  expect(held).toEqual([{ code: 'RUN_NOT_PAUSED' }])
})

describe('who answers:', () => {
  test('a key makes links for others, who are named', async () => {
    const runId = await paused(asking({ assignees: ['user:bob@example.com'] }))
    expect(await refused(link(tess, runId))).toBe('NOT_ASSIGNED')
    expect(await refused(link(key, runId))).toBe('NOT_ASSIGNED')
    expect(await refused(link(tess, runId, { answeredBy: 'bob@example.com' }))).toBe('INVALID_INPUT')
    const { token } = await link(key, runId, { answeredBy: 'Bob@example.com' })
    expect(await open(token)).toMatchObject({ state: 'open', from: null })
    expect(await answer(token)).toMatchObject({ state: 'used' })
    await decided(runId)
    const { answers } = await getRunOverview(runtime.ctx, { runId })
    expect(answers).toMatchObject([{ answeredBy: { name: 'bob@example.com (by link)' } }])
  })

  test('a person who started a run that another must approve cannot pass it on', async () => {
    const runId = await paused(asking({ noSelfApproval: true }))
    expect(await refused(link(runtime.ctx, runId))).toBe('SELF_APPROVAL')
    expect(await answer((await link(tess, runId)).token)).toMatchObject({ state: 'used' })
    await decided(runId)
  })

  test('where votes decide, a link has the one vote of its person', async () => {
    const runId = await paused(asking({ needs: { approve: 2 } }))
    const [first, second] = [await link(tess, runId), await link(tess, runId)]
    expect(await answer(first.token)).toMatchObject({ state: 'used', vote: 'open', given: { label: 'Approve it' } })
    expect(await open(second.token)).toEqual({ state: 'ended', why: 'voted' })
    expect(await answer(second.token)).toEqual({ state: 'ended', why: 'voted' })
    expect(await refused(link(tess, runId))).toBe('ALREADY_VOTED')
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({ votes: [{ name: 'Tess', via: first.id }] })
    expect(await answer((await link(key, runId)).token)).toMatchObject({ state: 'used', vote: 'decided' })
    expect(await decided(runId)).toMatchObject({ decided: 'approve' })
  })
})

test('a task has at most 100 links, besides those in mails', async () => {
  const runId = await paused()
  const { id, pauseId } = await link(key, runId)
  const more = (kind: string, count: number) => database.sql`
    insert into task_links (tenant_id, id, run_id, pause_id, maker_kind, maker_id, expires_at)
    select tenant_id, id || ${kind} || n, run_id, ${pauseId}, ${kind}, maker_id, expires_at
    from task_links, generate_series(1, ${count}::int) n where id = ${id}`
  await more('system', 100)
  await more('apiKey', 98)
  await link(key, runId)
  expect(await refused(link(key, runId))).toBe('CONFLICT')
})

describe('a link ends', () => {
  test('when its time is up, which is never later than the task’s own', async () => {
    const runId = await paused(asking({ expiresIn: 'PT2H' }))
    const { token, expiresAt } = await link(tess, runId)
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - 2 * 3600_000)).toBeLessThan(60_000)
    expect(await open(token, 3 * 3600_000)).toEqual({ state: 'expired', usedAt: null, vote: null })
    expect(await answerTaskLink(visitor(3 * 3600_000), { token, actionId: 'approve' })).toMatchObject({
      state: 'expired',
    })
    for (const expiresIn of ['P31D', 'PT1S', 'P1M', 'soon', 7])
      expect(await refused(link(tess, runId, { expiresIn }))).toBe('INVALID_INPUT')
    expect((await runtime.status(runId)).status).toBe('paused')
    await cancelRun(runtime.ctx, { runId })
    expect(await open(token)).toEqual({ state: 'ended', why: 'stopped' })
  })

  test('within a day if it was made with a token, and when the data of its subject is deleted', async () => {
    const runId = await paused()
    const { id: secretId } = await createSigningSecret(runtime.ctx, { name: 'App', role: 'operator' })
    const uma = as({ kind: 'jwt', id: 'uma', secretId, role: 'operator' })
    const { token, expiresAt } = await link(uma, runId, { expiresIn: 'P30D' })
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - DAY_MS)).toBeLessThan(60_000)
    const short = await link(uma, runId, { expiresIn: 'PT1H' })
    expect(Math.abs(Date.parse(short.expiresAt) - Date.now() - 3600_000)).toBeLessThan(60_000)
    expect(await open(token)).toMatchObject({ state: 'open' })
    const others = await link(tess, runId)
    const owner = as({ kind: 'apiKey', id: 'key_owner', role: 'owner' })
    expect(await deleteSubjectData(owner, { sub: 'uma' })).toMatchObject({ done: true })
    expect(await open(token)).toEqual({ state: 'revoked' })
    expect(await open(others.token)).toMatchObject({ state: 'open' })
  })

  test('when it is revoked, or its maker may not answer any more', async () => {
    const runId = await paused()
    const revoked = await link(tess, runId)
    for (let times = 0; times < 2; times++)
      expect(await revokeTaskLink(tess, { runId, linkId: revoked.id })).toMatchObject({ revokedAt: expect.any(String) })
    expect(await audit('run.linkRevoked', runId)).toHaveLength(1)
    const eve = await member('Eve', 'operator')
    const lowered = await link(eve, runId)
    await runtime.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, eve.actor.id))
    const { id } = await createApiKey(runtime.ctx, { name: 'Lost', role: 'operator' })
    const disabled = await link(as({ kind: 'apiKey', id, role: 'operator' }), runId)
    await disableApiKey(runtime.ctx, id)
    for (const { token } of [revoked, lowered, disabled]) {
      expect(await open(token)).toEqual({ state: 'revoked' })
      expect(await answer(token)).toEqual({ state: 'revoked' })
    }
    const other = await link(tess, runId)
    await resumeRun(tess, { runId, body: { type: 'request_user_action', actionId: 'reject' } })
    expect(await answer(other.token)).toEqual({ state: 'ended', why: 'answered' })
    expect(await decided(runId)).toMatchObject({ decided: 'reject' })
    expect(await refused(revokeTaskLink(tess, { runId, linkId: 'lnk_unknown' }))).toBe('NOT_FOUND')
    expect(await refused(link(tess, runId))).toBe('RUN_NOT_PAUSED')
  })

  test('when the key that replaced its maker is disabled, and not when a key is replaced', async () => {
    const runId = await paused()
    const { id } = await createApiKey(runtime.ctx, { name: 'Replaced', role: 'operator' })
    const { token } = await link(as({ kind: 'apiKey', id, role: 'operator' }), runId)
    const second = await rotateApiKey(runtime.ctx, id, 0)
    const third = await rotateApiKey(runtime.ctx, second.id, 0)
    expect(await open(token)).toMatchObject({ state: 'open' })
    await disableApiKey(runtime.ctx, third.id)
    expect(await answer(token)).toEqual({ state: 'revoked' })
  })

  test('when its run is being cancelled, while that waits for a running step', async () => {
    let stepMayEnd = () => {}
    const after = new Promise<void>((resolve) => {
      stepMayEnd = resolve
    })
    const effects = await startEffects(() => ({ after }))
    try {
      const runId = await paused({
        steps: [
          { id: 'both', type: 'parallel', branches: [{ id: 'left' }, { id: 'right' }] },
          { id: 'work', type: 'test-effect', url: effects.url },
          { id: 'ask', type: 'request-user-action', actions },
        ],
        edges: [
          { from: 'both', to: 'work', on: 'left' },
          { from: 'both', to: 'ask', on: 'right' },
        ],
      })
      await expect.poll(() => effects.seen.length).toBe(1)
      const { token } = await link(tess, runId)
      await cancelRun(runtime.ctx, { runId })
      expect(await answer(token)).toEqual({ state: 'ended', why: 'stopped' })
      stepMayEnd()
      await runtime.wait(runId)
    } finally {
      stepMayEnd()
      await effects.stop()
    }
  })

  test('with the run', async () => {
    const runId = await paused()
    const { token } = await link(tess, runId)
    await cancelRun(runtime.ctx, { runId })
    await database.sql`delete from runs where id = ${runId}`
    expect(await answer(token)).toEqual({ state: 'unknown' })
  })
})

test('nobody can make a link of their own, or turn one into another', async () => {
  const runId = await paused()
  const other = await paused()
  const { id, token } = await link(tess, runId)
  const [head, , signature] = token.split('.')
  const claims = { tenantId: 'ten_test', id, runId, pauseId: 'main:ok#1' }
  const forged = Buffer.from(JSON.stringify({ run: other, pause: 'main:ok#1', aud: 'ten_test', jti: id })).toString(
    'base64url',
  )
  const tokens = [
    ...['', 'x', `${token}x`, token.slice(0, -2), `${head}.${forged}.${signature}`, `${head}.${forged}.`],
    await signLink(claims, [Buffer.alloc(32, 1)]),
    // Signed here, for another task or workspace than the link was made for.
    await signLink({ ...claims, runId: other }),
    await signLink({ ...claims, pauseId: 'main:then#1' }),
    await signLink({ ...claims, tenantId: 'ten_other' }),
  ]
  for (const one of tokens) expect(await answer(one)).toEqual({ state: 'unknown' })
  expect((await runtime.status(other)).status).toBe('paused')
  expect(await open(await signLink(claims))).toMatchObject({ state: 'open' })
})

test('it shows the task’s own content, and nothing else of the run or the vault', async () => {
  await setVaultSecret(runtime.ctx, { name: 'PASS', value: 'swordfish_8472' })
  const output = {
    amount: { type: 'number', default: 4 },
    pin: { type: 'string', secret: true, default: 'kept-to-itself' },
    note: { type: 'string', required: false, default: 'was swordfish_8472' },
    paper: { type: 'file', required: false, label: 'The paper' },
  }
  const definition = form(output, { title: 'About swordfish_8472', assignees: ['role:operator'] })
  const runId = await paused(definition, { salary: 'nobodys-business' })
  const { token } = await link(tess, runId)
  const view = await open(token)
  expect(view).toMatchObject({ state: 'open', title: 'About ***', leftOut: ['The paper'] })
  const shown = JSON.stringify(view)
  for (const hidden of ['swordfish', 'kept-to-itself', 'nobodys-business', 'role:operator', '"paper"'])
    expect(shown).not.toContain(hidden)
  const paper = '00000000-0000-0000-0000-000000000000'
  await expect(answer(token, { data: { paper } })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(answer(token, { data: { amount: 'four' } })).rejects.toMatchObject({
    details: [{ path: 'data.amount' }],
  })
  expect(await answer(token, { data: { amount: 5, note: 'fine' } })).toMatchObject({
    state: 'used',
    given: { data: { amount: 5, note: 'fine' } },
  })
  expect(JSON.stringify(await open(token))).not.toContain('kept-to-itself')
  expect((await runtime.wait(runId)).data).toMatchObject({ amount: 5, pin: 'kept-to-itself', note: 'fine' })
  const needsFile = await paused(form({ paper: { type: 'file' } }))
  expect(await refused(link(tess, needsFile))).toBe('INVALID_INPUT')
  const kept = await database.sql`
    select (select string_agg(a::text, '') from audit_entries a) || (select string_agg(l::text, '') from task_links l) as text`
  expect(kept[0]?.text).not.toContain(token.split('.')[2])
})
