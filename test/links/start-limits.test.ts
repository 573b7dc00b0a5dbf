import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '@/db/schema/runs'
import { admitForm } from '@/server/links/start/admit'
import { createStartLink } from '@/server/links/start/create'
import { listStartLinks } from '@/server/links/start/list'
import { openStartLink } from '@/server/links/start/open'
import { MAX_STARTS } from '@/server/links/start/schema'
import { startByLink } from '@/server/links/start/submit'
import { sweepStartForms } from '@/server/links/start/sweep'
import { beginLinkUpload } from '@/server/links/start/upload'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'

let database: FreshDatabase
let runtime: TestRuntime
let dataDir: string
beforeAll(async () => {
  database = await freshDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-start-limits-'))
  runtime = await startTestRuntime(database.url, {
    DATA_DIR: dataDir,
    ...{ ENCRYPTION_KEY: 'ab'.repeat(32), RATE_LIMIT_FAILURES: '3', RATE_LIMIT_STARTS: '5', RATE_LIMIT_REQUESTS: '60' },
  })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('a start link starts a few runs a minute for each address, and for all of them, and guesses are limited', async () => {
  const { ctx, db } = runtime
  const { id } = await createWorkflow(ctx, { name: 'Form', steps: [{ id: 'end', type: 'end-flow' }] } as never)
  await publishWorkflow(ctx, { id })
  const maker = await newMember(database, ctx, 'operator')
  const { url } = await createStartLink(maker.ctx, { workflowId: id, body: {}, origin: 'https://m.example' })
  const token = url.split('#')[1] ?? ''
  const at = new Date()
  const from = (address: string) => ({
    ...{ db, log: ctx.log, now: () => at, requestId: 'x' },
    headers: new Headers({ 'x-forwarded-for': address }),
  })
  let forms = 0
  const send = (address: string) =>
    outcome(startByLink(from(address), { token, formId: `form-${++forms}-of-a-test`, data: {} }))
  for (let times = 0; times < 3; times++) expect(await send('203.0.113.1')).toMatchObject({ state: 'started' })
  expect(await send('203.0.113.1')).toBe('RATE_LIMITED')
  for (let times = 0; times < 2; times++) expect(await send('203.0.113.2')).toMatchObject({ state: 'started' })
  expect(await send('203.0.113.3')).toBe('RATE_LIMITED')
  expect(await db.$count(runs)).toBe(5)
  const ofLarge = (address: string) => outcome(admitForm(from(address), token))
  for (let times = 0; times < 3; times++) expect(await ofLarge('203.0.113.5')).toBe(true)
  expect(await ofLarge('203.0.113.5')).toBe('RATE_LIMITED')
  for (let times = 0; times < 3; times++) {
    expect(await outcome(openStartLink(from('203.0.113.4'), { token: 'a guess' }))).toEqual({ state: 'unknown' })
  }
  expect(await outcome(openStartLink(from('203.0.113.4'), { token: 'a guess' }))).toBe('RATE_LIMITED')
})

test('uploads for a form are limited for each address, apart from the forms', async () => {
  const { ctx, db } = runtime
  const payload = { paper: { type: 'file' } }
  const { id } = await createWorkflow(ctx, {
    name: 'Paper',
    payload,
    steps: [{ id: 'end', type: 'end-flow' }],
  } as never)
  await publishWorkflow(ctx, { id })
  const maker = await newMember(database, ctx, 'operator')
  const { url } = await createStartLink(maker.ctx, { workflowId: id, body: {}, origin: 'https://m.example' })
  const token = url.split('#')[1] ?? ''
  const at = new Date()
  const begin = (address: string) => {
    const headers = new Headers({ 'x-forwarded-for': address })
    const visitor = { db, log: ctx.log, now: () => at, requestId: 'x', headers }
    return outcome(beginLinkUpload(visitor, { token, body: { name: 'a.pdf', size: 5 } }))
  }
  for (let times = 0; times < 3; times++) expect(await begin('203.0.113.1')).toMatchObject({ blob: null })
  expect(await begin('203.0.113.1')).toBe('RATE_LIMITED')
  expect(await begin('203.0.113.2')).toMatchObject({ blob: null })
  const headers = new Headers({ 'x-forwarded-for': '203.0.113.1' })
  const visitor = { db, log: ctx.log, now: () => at, requestId: 'x', headers }
  const file = { name: 'a.txt', type: 'text/plain', base64: 'aGk=' }
  const form = { token, formId: 'form-after-uploads', data: {}, files: [{ part: 'paper', file }] }
  expect(await outcome(startByLink(visitor, form))).toMatchObject({ state: 'started' })
})

test('the runs of a link are counted up to a limit, apart from those of other links', async () => {
  const { ctx } = runtime
  const steps = [{ id: 'end', type: 'end-flow' }]
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Full', steps } as never)
  await publishWorkflow(ctx, { id: workflowId })
  const maker = await newMember(database, ctx, 'operator')
  const make = () => createStartLink(maker.ctx, { workflowId, body: {}, origin: 'https://m.example' })
  const [full, unused] = [await make(), await make()]
  await database.sql`
    insert into start_link_forms (tenant_id, link_id, form_id, run_id)
    select ${ctx.tenantId}, ${full.id}, 'form-' || n, 'run-' || n from generate_series(1, ${MAX_STARTS + 1}::int) n`
  const starts = new Map((await listStartLinks(ctx, { workflowId })).map((link) => [link.id, link.starts]))
  expect(starts.get(full.id)).toBe(MAX_STARTS)
  expect(starts.get(unused.id)).toBe(0)
})

test('the forms of a link are deleted a day after it has ended, and its runs still count', async () => {
  const { ctx, db } = runtime
  const { id: workflowId } = await createWorkflow(ctx, {
    name: 'Ended',
    steps: [{ id: 'end', type: 'end-flow' }],
  } as never)
  await publishWorkflow(ctx, { id: workflowId })
  const maker = await newMember(database, ctx, 'operator')
  const make = () => createStartLink(maker.ctx, { workflowId, body: {}, origin: 'https://m.example' })
  const [expired, revoked, recent, working] = [await make(), await make(), await make(), await make()]
  const FORMS = 5_001
  for (const { id } of [expired, revoked, recent, working])
    await database.sql`
      insert into start_link_forms (tenant_id, link_id, form_id, run_id)
      select ${ctx.tenantId}, ${id}, 'form-' || n, 'run-' || n from generate_series(1, ${id === expired.id ? FORMS : 3}::int) n`
  await database.sql`update start_links set expires_at = now() - interval '25 hours' where id = ${expired.id}`
  await database.sql`update start_links set revoked_at = now() - interval '25 hours' where id = ${revoked.id}`
  await database.sql`update start_links set expires_at = now() - interval '23 hours' where id = ${recent.id}`
  const sweep = () => sweepStartForms({ db, log: ctx.log, now: ctx.now })
  const swept = [...(await Promise.all([sweep(), sweep()])), await sweep()]
  expect(swept.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(FORMS + 3)
  expect(await sweep()).toEqual({ deleted: 0 })
  const left = await database.sql`select link_id, count(*)::int from start_link_forms
    where link_id in (${expired.id}, ${revoked.id}, ${recent.id}, ${working.id}) group by 1`
  expect(Object.fromEntries(left.map(({ link_id, count }) => [link_id, count]))).toEqual({
    [recent.id]: 3,
    [working.id]: 3,
  })
  const starts = new Map((await listStartLinks(ctx, { workflowId })).map((link) => [link.id, link.starts]))
  expect([expired, revoked, recent, working].map(({ id }) => starts.get(id))).toEqual([FORMS, 3, 3, 3])
})
