import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { answerTaskLink } from '@/server/links/answer'
import { deliverMail, MAX_PER_HOUR, WAITS_MS } from '@/server/mail/deliver'
import { sweepMails } from '@/server/mail/sweep'
import { createMember } from '@/server/members/create'
import { createGroup } from '@/server/members/groups/create'
import { updateGroup } from '@/server/members/groups/update'
import { setOwnMails } from '@/server/members/own-mails'
import type { Role } from '@/server/roles'
import { claimTask } from '@/server/runs/claim'
import { sweepReminders } from '@/server/runs/remind'
import { resumeRun } from '@/server/runs/resume'
import { setVaultSecret } from '@/server/vault/set'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { type MailServer, startMailServer } from '../support/smtp'

let database: FreshDatabase
let server: MailServer
let runtime: TestRuntime
let people: Record<'tess' | 'tom' | 'vera', ServiceContext>

beforeAll(async () => {
  server = await startMailServer()
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    PUBLIC_URL: 'https://millrace.example.com/',
    SMTP_URL: server.url,
    MAIL_FROM: 'Tasks <tasks@example.com>',
  })
  people = {
    tess: await member('Tess', 'operator'),
    tom: await member('Tom', 'operator'),
    vera: await member('Vera', 'viewer'),
  }
})
afterAll(async () => {
  await runtime?.stop()
  await server?.close()
  await database?.close()
})
beforeEach(() => {
  server.taken.length = 0
  server.tried.length = 0
  server.refuse = null
  server.hold = null
})

async function member(name: string, role: Role): Promise<ServiceContext> {
  const email = `${name.toLowerCase()}@example.com`
  const { userId } = await createMember(runtime.ctx, { email, name, role, password: 'a-long-password' })
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name, sessionId: 's', role } }
}

/** Anyone who starts a run may have written it. */
const HOSTILE = 'Order\r\nBcc: eve@example.com\r\n\r\nof\u202e <Okafor> & Sons'
const SUBJECT = 'Order Bcc: eve@example.com of <Okafor> & Sons (ten_test)'

const ask = (more: object) => ({
  steps: [
    {
      ...{ id: 'ok', type: 'request-user-action', title: HOSTILE, message: 'Please look.' },
      actions: [{ id: 'yes', label: 'Yes' }],
      ...more,
    },
  ],
})
const mails = (runId: string) =>
  database.sql<{ id: string; kind: string; status: string; tries: number; reason: string | null; due_at: Date }[]>`
    select id, kind, status, tries, reason, due_at from task_mails where run_id = ${runId} order by kind, user_id`
const settled = (runId: string, count: number) =>
  expect
    .poll(async () => (await mails(runId)).filter(({ status }) => status !== 'pending').length, { timeout: 20_000 })
    .toBe(count)

async function paused(more: object): Promise<string> {
  const runId = await runtime.start(ask(more))
  await runtime.wait(runId, ({ status }) => status === 'paused')
  return runId
}

/**
 * The sweep comes later for the mails of these runs, and the engine sends what it finds. Those of other runs would
 * appear in a later test.
 */
async function sweepIn(ms: number, runIds: string[]): Promise<void> {
  const { sql } = database
  await sql`
    update task_mails set due_at = due_at - ${ms} * interval '1 millisecond'
    where status = 'pending' and run_id in ${sql(runIds)}`
  await sweepMails({ db: runtime.db, log: runtime.ctx.log, now: () => new Date() })
}

test('a task for a group is mailed to each of its members who may answer, once', async () => {
  const memberIds = Object.values(people).map(({ actor }) => actor.id)
  const { id } = await createGroup(runtime.ctx, { name: 'Buyers', memberIds })
  await updateGroup(runtime.ctx, { id, body: { name: 'Purchasing' } })
  const runId = await paused({ assignees: ['group:BUYERS', 'user:tess@example.com', 'group:nobody'] })
  await settled(runId, 3)
  expect(server.taken.map(({ to }) => to).sort()).toEqual(['tess@example.com', 'tom@example.com'])
})

test('a task for large groups is mailed to 200 people', async () => {
  const { tenantId } = runtime.ctx
  const { id } = await createGroup(runtime.ctx, { name: 'Crowd' })
  const runId = await paused({ assignees: ['role:operator'] })
  const rollback = new Error('nobody sends these')
  let named: string[] = []
  const written = database.sql.begin(async (sql) => {
    await sql`
      with made as (
        insert into users (id, email, name)
        select 'usr_c' || n, 'crowd' || n || '@example.com', 'Crowd' from generate_series(1001, 1210) n returning id)
      insert into members (tenant_id, user_id, role) select ${tenantId}, id, 'operator' from made`
    await sql`
      insert into group_members (tenant_id, group_id, user_id)
      select tenant_id, ${id}, user_id from members where tenant_id = ${tenantId} and user_id like 'usr_c1%'`
    await sql`
      select enqueue_mail_to(${tenantId}, ${runId}, 'main:ok#1', 'assigned', '["group:crowd"]'::json, null)`
    const rows = await sql<
      { user_id: string }[]
    >`select user_id from task_mails where run_id = ${runId} order by user_id`
    named = rows.map((row) => row.user_id)
    throw rollback
  })
  await expect(written).rejects.toBe(rollback)
  expect([named.length, named[0], named.at(-1)]).toEqual([200, 'usr_c1001', 'usr_c1200'])
})

test('a task is mailed to each member whom it names, once, with a link that answers it', async () => {
  const assignees = ['user:Tess@example.com', `user:${people.tom.actor.id}`, 'user:vera@example.com']
  const runId = await paused({
    ...{ assignees: [...assignees, 'user:stranger@example.com', 'role:owner'], dueIn: 'P1D' },
    message: 'Please look. **Now** ![plan](https://files.example.com/p.png)',
    show: [
      { label: 'Total <net>', value: 12.5 },
      { label: 'Notes', value: '- one\n- <b>two</b>', markdown: true },
    ],
  })
  await settled(runId, 3)
  expect(server.taken.map(({ to }) => to).sort()).toEqual(['tess@example.com', 'tom@example.com'])
  expect(
    (await mails(runId))
      .filter(({ kind }) => kind === 'assigned')
      .map(({ status }) => status)
      .sort(),
  ).toEqual([...['dropped', 'sent', 'sent']])
  const mail = server.taken.find(({ to }) => to === 'tess@example.com')
  expect(mail?.headers).toContain(`Subject: ${SUBJECT}`)
  expect(mail?.headers).not.toMatch(/^Bcc:/im)
  expect(mail?.headers).toMatch(/From: Tasks <tasks@example\.com>/)
  expect(mail?.headers).toMatch(/Message-ID: <mail_[0-9a-f]{32}@example\.com>/i)
  expect(mail?.text).toContain('Hello Tess,')
  expect(mail?.text).toContain('Please look.')
  expect(mail?.text).toContain(
    `https://millrace.example.com/ten_test/inbox?task=${encodeURIComponent(`${runId}:main:ok#1`)}`,
  )
  expect(mail?.html).toContain('&lt;Okafor&gt; &amp; Sons')
  expect(mail?.html).not.toContain('<Okafor>')
  expect(mail?.text).toMatch(/Total <net>: 12\.5\r?\nNotes: - one/)
  expect(mail?.html).toContain('Please look. <strong>Now</strong> <a href="https://files.example.com/p.png"')
  expect(mail?.html).toMatch(/Total &lt;net&gt;<\/th>\s*<td[^>]*>12\.5/)
  expect(mail?.html).toContain('<li>&lt;b&gt;two&lt;/b&gt;</li>')
  expect(mail?.html).not.toContain('<img')
  const token = /https:\/\/millrace\.example\.com\/task#([\w.-]+)/.exec(mail?.text ?? '')?.[1] ?? ''
  const visitor = {
    db: runtime.db,
    headers: new Headers(),
    log: runtime.ctx.log,
    now: () => new Date(),
    requestId: 'r',
  }
  expect(await answerTaskLink(visitor, { token, actionId: 'yes' })).toMatchObject({ state: 'used' })
  await runtime.wait(runId)
  const [pause] = await database.sql`select answered_by, answered_via from pauses where run_id = ${runId}`
  expect(pause).toMatchObject({ answered_by: people.tess.actor.id, answered_via: expect.stringMatching(/^lnk_/) })
})

test('a server that was down until the task was overdue gets one mail about it', async () => {
  server.refuse = [451, 'Try later']
  const runId = await paused({ assignees: ['user:tess@example.com'], dueIn: 'PT1S' })
  await expect.poll(async () => (await mails(runId)).map(({ tries }) => tries > 0), { timeout: 30_000 }).toContain(true)
  server.refuse = null
  await sweepIn(WAITS_MS[0] ?? 0, [runId])
  await settled(runId, 2)
  expect((await mails(runId)).map(({ kind, status }) => [kind, status])).toEqual([
    ['assigned', 'dropped'],
    ['overdue', 'sent'],
  ])
  expect(server.taken.map(({ headers }) => /^Subject: (.*)$/m.exec(headers)?.[1])).toEqual([`Overdue: ${SUBJECT}`])
})

test('a server that is down gets the same message again later, one that refuses it does not', async () => {
  server.refuse = [451, 'Try later']
  const runId = await paused({ assignees: ['user:tess@example.com'] })
  await expect.poll(async () => (await mails(runId))[0]?.tries, { timeout: 20_000 }).toBe(1)
  const [waiting] = await mails(runId)
  expect(waiting).toMatchObject({ status: 'pending', reason: expect.stringContaining('Try later') })
  expect(Math.abs(Number(waiting?.due_at) - Date.now() - (WAITS_MS[0] ?? 0))).toBeLessThan(20_000)
  await deliverMail(runtime.ctx, waiting?.id ?? '')
  expect(server.tried).toHaveLength(1)
  server.refuse = null
  await sweepIn(WAITS_MS[0] ?? 0, [runId])
  await settled(runId, 1)
  expect(server.taken).toHaveLength(1)
  expect(server.taken[0]?.headers).toContain(`<${waiting?.id}@example.com>`)
  server.refuse = [550, 'No such mailbox']
  const refused = await paused({ assignees: ['user:tess@example.com'] })
  await settled(refused, 1)
  expect(await mails(refused)).toMatchObject([{ status: 'failed', tries: 1 }])
})

test('an overdue task is mailed once more, an answered one is not, and members who want no mails get none', async () => {
  const of = { assignees: ['user:tess@example.com'], dueIn: 'PT1H' }
  const [late, done] = [await paused(of), await paused(of)]
  await settled(late, 1)
  await settled(done, 1)
  await resumeRun(people.tess, { runId: done, body: { type: 'request_user_action', actionId: 'yes' } })
  await runtime.wait(done)
  server.taken.length = 0
  await sweepIn(3_600_000, [late, done])
  await settled(late, 2)
  await settled(done, 2)
  expect(server.taken.map(({ headers }) => /Subject: (.*)/.exec(headers)?.[1])).toEqual([`Overdue: ${SUBJECT}`])
  expect((await mails(done)).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'assigned sent',
    'overdue dropped',
  ])
  server.taken.length = 0
  await setOwnMails(people.tess, { tasks: false })
  const quiet = await paused({ ...of, title: 'swordfish_8472' })
  await settled(quiet, 1)
  expect(server.taken).toEqual([])
  await setOwnMails(people.tess, { tasks: true })
  await setVaultSecret(runtime.ctx, { name: 'PASS', value: 'swordfish_8472' })
  const masked = await paused({ ...of, title: 'About swordfish_8472' })
  await settled(masked, 1)
  expect(server.taken[0]?.headers).toContain('Subject: About ***')
})

test('a person who is given a task gets a mail naming the giver, and when it is overdue as long as they have it', async () => {
  const runId = await paused({ assignees: ['role:operator'], dueIn: 'PT1H' })
  const at = { runId, pauseId: 'main:ok#1' }
  const { tess, tom } = people
  await claimTask(tess, { ...at, to: tess.actor.id, from: null })
  await claimTask(tess, { ...at, to: tom.actor.id, from: tess.actor.id })
  await settled(runId, 1)
  expect(server.taken).toMatchObject([
    { to: 'tom@example.com', text: expect.stringContaining('Tess asks you to take care of this task of ten_test:') },
  ])
  await claimTask(tom, { ...at, to: tess.actor.id, from: tom.actor.id })
  await settled(runId, 2)
  await sweepIn(3_600_000, [runId])
  await settled(runId, 4)
  const told = server.taken.filter(({ text }) => text.includes(runId))
  expect(told.slice(2)).toMatchObject([
    { to: 'tess@example.com', headers: expect.stringContaining('Subject: Overdue: ') },
  ])
})

test('each reminder is a mail, unless it comes too soon, and replaces one that could not be sent; a hand-over is mailed too', async () => {
  const reminders = { after: 'PT1H', every: 'PT1H', times: 4, handTo: ['user:tom@example.com'] }
  const runId = await paused({ assignees: ['user:tess@example.com'], reminders })
  await settled(runId, 1)
  const remindIn = (hours: number) =>
    sweepReminders({
      ...{ db: runtime.db, log: runtime.ctx.log },
      now: () => new Date(Date.now() + hours * 3_600_000 + 60_000),
    })
  const subjects = () => server.taken.map(({ to, headers }) => [to, /Subject: (.*)/.exec(headers)?.[1]])
  await remindIn(1)
  await settled(runId, 2)
  expect(subjects()).toEqual([
    ['tess@example.com', SUBJECT],
    ['tess@example.com', `Reminder: ${SUBJECT}`],
  ])
  expect(server.taken[1]?.text).toContain('This is a reminder. ten_test still waits for your answer:')
  const reminder = async () => (await mails(runId)).find(({ kind }) => kind === 'reminder')
  const first = await reminder()
  await remindIn(3)
  expect(await reminder()).toEqual(first)
  await database.sql`
    update task_mails set ended_at = ended_at - interval '1 hour' where run_id = ${runId} and kind = 'reminder'`
  server.refuse = [451, 'Try later']
  await remindIn(5)
  await expect.poll(reminder, { timeout: 20_000 }).toMatchObject({ status: 'pending', tries: 1 })
  server.refuse = null
  await remindIn(7)
  await settled(runId, 2)
  await expect.poll(() => server.taken.length, { timeout: 20_000 }).toBe(3)
  expect(server.taken[2]?.text).toContain('This is reminder 4.')
  await remindIn(9)
  await settled(runId, 3)
  expect(server.taken[3]).toMatchObject({
    ...{ to: 'tom@example.com', headers: expect.stringContaining(`Subject: ${SUBJECT}`) },
    text: expect.stringContaining('ten_test asks for your answer, because nobody gave one after 4 reminders:'),
  })
  await resumeRun(people.tom, { runId, body: { type: 'request_user_action', actionId: 'yes' } })
  await runtime.wait(runId)
})

test('a reminder and an escalation, as workflows write them, are mails of their own', async () => {
  const asks = (id: string, who: string) => ({
    ...{ id, type: 'request-user-action', title: id, actions: [{ id: 'yes', label: 'Yes' }], expiresIn: 'PT2H' },
    assignees: [`user:${who}@example.com`],
  })
  const runId = await runtime.start({
    steps: [asks('first', 'tess'), asks('reminder', 'tess'), asks('escalation', 'tom')],
    edges: [
      { from: 'first', to: 'reminder', on: 'timeout' },
      { from: 'reminder', to: 'escalation', on: 'timeout' },
    ],
  })
  for (const count of [1, 2, 3]) {
    await settled(runId, count)
    if (count === 3) break
    // Not with another clock for the sweep alone: the engine, which may take the answer, has its own.
    await database.sql`update pauses set due_at = clock_timestamp() - interval '1 s' where run_id = ${runId} and answered_at is null`
    await sweepRuns({ db: runtime.db, log: runtime.ctx.log, now: runtime.ctx.now })
  }
  expect(server.taken.map(({ to, headers }) => [to, /Subject: (\w+)/.exec(headers)?.[1]])).toEqual([
    ['tess@example.com', 'first'],
    ['tess@example.com', 'reminder'],
    ['tom@example.com', 'escalation'],
  ])
})

test('however many processes send a mail concurrently, it goes out once', async () => {
  server.refuse = [451, 'Try later']
  const runId = await paused({ assignees: ['user:tess@example.com'] })
  await expect.poll(async () => (await mails(runId))[0]?.tries, { timeout: 20_000 }).toBe(1)
  const [{ id } = { id: '' }] = await mails(runId)
  server.refuse = null
  server.tried.length = 0
  await database.sql`update task_mails set due_at = now() - interval '1 s' where id = ${id}`
  await Promise.all(Array.from({ length: 10 }, () => deliverMail(runtime.ctx, id)))
  expect(server.tried).toEqual(['tess@example.com'])
})

test('a mail server that takes its time holds up no run', async () => {
  let release = () => {}
  server.hold = new Promise((resolve) => {
    release = resolve
  })
  const runId = await paused({ assignees: ['user:tess@example.com'] })
  await expect.poll(() => server.tried, { timeout: 20_000 }).toEqual(['tess@example.com'])
  await resumeRun(people.tess, { runId, body: { type: 'request_user_action', actionId: 'yes' } })
  await runtime.wait(runId)
  release()
  await settled(runId, 1)
})

test('one person gets a limited number of mails an hour, and finds the other tasks in the inbox', async () => {
  const runId = await paused({ assignees: ['user:vera@example.com', 'user:tess@example.com'] })
  await settled(runId, 2)
  await database.sql`
    insert into task_mails (tenant_id, id, run_id, pause_id, user_id, kind, status, ended_at)
    select tenant_id, 'mail_' || n, run_id, pause_id, user_id, 'test' || n, 'sent', now()
    from task_mails, generate_series(1, ${MAX_PER_HOUR}::int) n where run_id = ${runId} and status = 'sent'`
  const next = await paused({ assignees: ['user:tess@example.com', 'user:tom@example.com'] })
  await settled(next, 2)
  expect((await mails(next)).map(({ status }) => status).sort()).toEqual(['dropped', 'sent'])
  expect(server.taken.at(-1)?.to).toBe('tom@example.com')
})
