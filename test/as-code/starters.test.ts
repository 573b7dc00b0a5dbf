import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyDefinitions } from '@/server/as-code/apply'
import { diffDefinitions } from '@/server/as-code/diff'
import { exportDefinitions } from '@/server/as-code/export'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { listInbound } from '@/server/inbound/list'
import { rotateInbound } from '@/server/inbound/rotate'
import { createInbound, updateInbound } from '@/server/inbound/save'
import { listSchedules } from '@/server/schedules/list'
import { createSchedule, deleteSchedule, updateSchedule } from '@/server/schedules/save'
import { setVaultSecret } from '@/server/vault/set'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { fingerprint } from '../support/fingerprint'
import { newTenant, withRole } from '../support/tenant'
import { refusal } from '../workflows/support'

process.env.ENCRYPTION_KEY = 'ab'.repeat(32)

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const tenant = () => newTenant(database, 'editor')
const everything = (ctx: ServiceContext) => fingerprint(database.sql, ctx.tenantId)
const done = ({ changes }: { changes: { id: string; actions: string[] }[] }) =>
  Object.fromEntries(changes.map(({ id, actions }) => [id, actions.join(' ')]))

const workflow = (id: string, more: JsonObject = {}) => ({
  id,
  name: `Workflow ${id}`,
  payload: { region: { type: 'string' as const, required: false } },
  steps: [{ id: 'end', type: 'end-flow' }],
  ...more,
})
const nightly = (more: JsonObject = {}) => ({
  ...{ id: 'nightly', workflowId: 'wf_one', name: 'Nightly', cron: '0  3 * * *', data: { region: 'north' } },
  ...more,
})
const issues = (more: JsonObject = {}) => ({
  ...{ id: 'issues', workflowId: 'wf_one', name: 'Issues', scheme: 'github' as const },
  mapping: { region: '${body.region}' },
  ...more,
})
const body = (more: object = {}) => ({
  ...{ workflows: [workflow('wf_one')], schedules: [nightly()], inboundWebhooks: [issues()], publish: true },
  ...more,
})
const schedules = (ctx: ServiceContext) => listSchedules(ctx, { workflowId: 'wf_one' })
const webhooks = (ctx: ServiceContext) => listInbound(ctx, { workflowId: 'wf_one' })
const schedule = { workflowId: 'wf_one', scheduleId: 'nightly' }

async function rowsTouched(ctx: ServiceContext): Promise<string> {
  const tables = ['workflows', 'schedules', 'inbound_webhooks', 'applied_definitions', 'audit_entries']
  const all = await Promise.all(
    tables.map((table) =>
      database.sql.unsafe(`select ctid, xmin, xmax from ${table} where tenant_id = $1 order by ctid`, [ctx.tenantId]),
    ),
  )
  return JSON.stringify(all)
}

describe('schedules and inbound webhooks as code', () => {
  test('are created after their workflow, and applying the same again touches no row', async () => {
    const ctx = await tenant()
    const first = await applyDefinitions(ctx, body())
    expect(done(first)).toEqual({ wf_one: 'create publish', nightly: 'create', issues: 'create' })
    expect(first.changes.map(({ version }) => version)).toEqual([1, null, null])
    expect(await schedules(ctx)).toMatchObject([
      {
        id: 'nightly',
        cron: '0 3 * * *',
        timeZone: 'UTC',
        enabled: true,
        next: [{}, {}, {}, {}, {}].map(() => expect.any(String)),
      },
    ])
    const before = await rowsTouched(ctx)
    expect(await applyDefinitions(ctx, body())).toMatchObject({ changes: [], unchanged: 3 })
    expect(await rowsTouched(ctx)).toBe(before)
  })

  test('are exported without addresses and secrets, as apply takes them, to those who may change them', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, body({ schedules: [nightly({ timeZone: 'Europe/Berlin', enabled: false })] }))
    const { secret } = await rotateInbound(ctx, { workflowId: 'wf_one', inboundId: 'issues', body: {} })
    const written = await exportDefinitions(ctx, {})
    const text = JSON.stringify(written)
    const [{ path } = { path: '' }] = await webhooks(ctx)
    expect(text).not.toContain(secret)
    expect(text).not.toContain(path.split('/').at(-1))
    expect(written.schedules).toEqual([
      { ...nightly({ cron: '0 3 * * *', timeZone: 'Europe/Berlin', enabled: false }) },
    ])
    expect(Object.keys(written.schedules[0] ?? {})).toEqual([
      'id',
      'name',
      'workflowId',
      'cron',
      'timeZone',
      'data',
      'enabled',
    ])
    expect(written.inboundWebhooks).toEqual([issues()])
    expect((await applyDefinitions(ctx, written as never)).changes).toEqual([])
    const elsewhere = await tenant()
    await applyDefinitions(elsewhere, written as never)
    expect(JSON.stringify(await exportDefinitions(elsewhere, {}))).toBe(text)

    const viewed = await exportDefinitions(withRole(ctx, 'viewer'), {})
    expect([viewed.schedules.length, 'inboundWebhooks' in viewed]).toEqual([1, false])
    const page = await exportDefinitions(ctx, { after: 'schedules/nightly' })
    expect([page.workflows, page.schedules, page.inboundWebhooks?.length]).toEqual([[], [], 1])
  })

  test('never show a value of the vault, and keep it where a file repeats the mask', async () => {
    const ctx = await tenant()
    await setVaultSecret(withRole(ctx, 'owner'), {
      name: 'TOKEN',
      value: 'kept-in-the-vault',
      hosts: ['a.example.com'],
    })
    await applyDefinitions(ctx, body({ schedules: [nightly({ data: { region: 'kept-in-the-vault' } })] }))
    const { schedules: exported } = await exportDefinitions(ctx, {})
    expect(exported).toMatchObject([{ data: { region: '***' } }])
    expect((await applyDefinitions(ctx, body({ schedules: exported }))).changes).toEqual([])
    const renamed = body({ schedules: [{ ...exported[0], name: 'Renamed' }] })
    const { changes } = await diffDefinitions(ctx, renamed)
    expect(JSON.stringify(changes)).not.toContain('kept-in-the-vault')
    expect(done(await applyDefinitions(ctx, renamed))).toEqual({ nightly: 'update' })
    const [row] = await database.sql`select data from schedules where tenant_id = ${ctx.tenantId}`
    expect(row?.data).toEqual({ region: 'kept-in-the-vault' })
  })

  test('keep a value of the vault where something beside it changes, and refuse a mask that stands for nothing', async () => {
    const ctx = await tenant()
    const [one, two] = ['kept-in-the-vault', 'another-in-the-vault']
    for (const [name, value] of Object.entries({ ONE: one, TWO: two }))
      await setVaultSecret(withRole(ctx, 'owner'), { name, value, hosts: ['a.example.com'] })
    const payload = {
      region: { type: 'any' as const, required: false },
      other: { type: 'any' as const, required: false },
    }
    const workflows = [workflow('wf_one', { payload })]
    const data = { region: { token: one, [two]: 1, list: [one, two, 'x'], literal: 'a *** b' }, other: 1 }
    const mapping = { region: `\${body.region} == "${one}"`, other: '"x"' }
    // Masks that nobody can undo may have been stored before.
    const ready = body({
      workflows,
      schedules: [nightly({ data: { ...data, region: { ...data.region, literal: 'x' } } })],
    })
    await applyDefinitions(ctx, { ...ready, inboundWebhooks: [issues({ mapping, when: `\${body.a} == "${one}"` })] })
    await database.sql`update schedules set data = ${database.sql.json(data)} where tenant_id = ${ctx.tenantId}`
    const {
      schedules: [first],
      inboundWebhooks: [hook] = [],
    } = await exportDefinitions(ctx, {})
    const shown = { token: '***', '***': 1, list: ['***', '***', 'x'], literal: 'a *** b' }
    expect(first).toMatchObject({ data: { region: shown, other: 1 } })
    expect(hook).toMatchObject({ mapping: { other: '"x"' }, when: '${body.a} == "***"' })
    const edited = body({
      workflows,
      schedules: [
        { ...first, data: { region: { ...shown, list: ['***', '***', 'y'], literal: 'c *** d' }, other: 2 } },
      ],
      inboundWebhooks: [{ ...hook, mapping: { ...(hook?.mapping as JsonObject), other: '"y"' } }],
    })
    await applyDefinitions(ctx, { ...edited, force: true })
    const [row] = await database.sql`select data from schedules where tenant_id = ${ctx.tenantId}`
    expect(row?.data).toEqual({ region: { ...data.region, list: [one, two, 'y'], literal: 'c *** d' }, other: 2 })
    const [kept] = await database.sql`select mapping, "when" from inbound_webhooks where tenant_id = ${ctx.tenantId}`
    expect(kept).toEqual({ mapping: { ...mapping, other: '"y"' }, when: `\${body.a} == "${one}"` })

    const before = await everything(ctx)
    const wrong = body({
      workflows,
      schedules: [
        { ...first, data: { region: { token: 'Bearer ***' }, other: '***' } },
        nightly({ id: 'new', data: { region: ['***'] } }),
      ],
      inboundWebhooks: [{ ...hook, when: '${body.b} == "***"' }],
    })
    const refused = await refusal(applyDefinitions(ctx, { ...wrong, force: true }))
    expect(refused.code).toBe('VALIDATION_FAILED')
    expect(refused.details).toMatchObject([
      { kind: 'schedule', id: 'nightly', at: 'data.region.token', message: expect.stringContaining('***') },
      { kind: 'schedule', id: 'nightly', at: 'data.other' },
      { kind: 'schedule', id: 'new', at: 'data.region[0]' },
      { kind: 'inboundWebhook', id: 'issues', at: 'when' },
    ])
    expect((await diffDefinitions(ctx, wrong)).problems).toHaveLength(4)
    expect(await everything(ctx)).toBe(before)
  })

  test('are refused if another person changed, paused or deleted them, unless forced or already as defined', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, body())
    const person = { ...ctx, actor: { kind: 'apiKey', id: 'key_person', role: 'editor' } } as const
    await updateSchedule(person, { ...schedule, body: { enabled: false } })
    await updateInbound(person, { workflowId: 'wf_one', inboundId: 'issues', body: { when: '${body.a} == 1' } })
    const before = await everything(ctx)
    const refused = await refusal(applyDefinitions(ctx, body({ workflows: [workflow('wf_one', { name: 'New' })] })))
    expect(refused.code).toBe('DEFINITIONS_DRIFTED')
    expect(refused.details).toMatchObject([
      { kind: 'schedule', id: 'nightly', path: 'schedules[0]', message: expect.stringContaining('key_person') },
      { kind: 'inboundWebhook', id: 'issues' },
    ])
    expect(await everything(ctx)).toBe(before)
    // Once the files contain it, it is no longer drift, and neither are its consequences.
    const paused = body({
      schedules: [nightly({ enabled: false })],
      inboundWebhooks: [issues({ when: '${body.a} == 1' })],
    })
    expect((await applyDefinitions(ctx, paused)).changes).toEqual([])
    expect(done(await applyDefinitions(ctx, body()))).toEqual({ nightly: 'update', issues: 'update' })
    await deleteSchedule(person, schedule)
    expect((await refusal(applyDefinitions(ctx, body()))).details).toMatchObject([
      { id: 'nightly', message: expect.stringContaining('deleted') },
    ])
    expect(done(await applyDefinitions(ctx, { ...body(), force: true }))).toEqual({ nightly: 'create' })
    const made = await createSchedule(person, { workflowId: 'wf_one', body: { name: 'By hand', cron: '* * * * *' } })
    expect(
      (await refusal(applyDefinitions(ctx, body({ schedules: [nightly({ id: made.id })] })))).details,
    ).toMatchObject([{ id: made.id, message: expect.stringContaining('never applied') }])
  })

  test('are all or nothing with everything else, and each that is wrong is named', async () => {
    const ctx = await tenant()
    const before = await everything(ctx)
    const wrong = body({
      schedules: [nightly({ data: { region: 7 } }), nightly({ id: 'lost', workflowId: 'wf_nobody' })],
      inboundWebhooks: [issues({ mapping: { nothing: '${body.x}' } })],
    })
    const refused = await refusal(applyDefinitions(ctx, wrong))
    expect(refused.details).toMatchObject([
      { kind: 'schedule', id: 'nightly', at: 'data.region' },
      { kind: 'schedule', id: 'lost', at: 'workflowId' },
      { kind: 'inboundWebhook', id: 'issues', at: 'mapping.nothing' },
    ])
    expect((await diffDefinitions(ctx, wrong)).problems).toHaveLength(3)
    for (const odd of [{ secret: 'a-secret-in-a-file' }, { scheme: 'hmac' }, { id: 'a b' }, { when: '${env.X}' }])
      expect((await refusal(applyDefinitions(ctx, body({ inboundWebhooks: [issues(odd)] })))).code).toBe(
        'INVALID_INPUT',
      )
    expect(await everything(ctx)).toBe(before)
  })

  test('must fit the version that is published with them', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, body())
    const other = [workflow('wf_one', { payload: { other: { type: 'string', required: true } } })]
    const refused = await refusal(applyDefinitions(ctx, body({ workflows: other })))
    expect(refused.details.map(({ id }) => id)).toEqual(['nightly', 'issues'])
    const fits = { schedules: [nightly({ data: { other: 'x' } })], inboundWebhooks: [issues({ mapping: {} })] }
    expect(done(await applyDefinitions(ctx, body({ workflows: other, ...fits })))).toEqual({
      ...{ wf_one: 'update publish', nightly: 'update', issues: 'update' },
    })
  })

  test('an inbound webhook has no secret until a person gives it one, and keeps its address and secret from then on', async () => {
    const ctx = await tenant()
    const { warnings } = await applyDefinitions(ctx, body())
    expect(warnings).toMatchObject([{ code: 'W_NO_SECRET', kind: 'inboundWebhook', id: 'issues' }])
    await rotateInbound(ctx, { workflowId: 'wf_one', inboundId: 'issues', body: {} })
    const [before] = await webhooks(ctx)
    const changed = await applyDefinitions(ctx, body({ inboundWebhooks: [issues({ name: 'All issues' })] }))
    expect(changed.warnings).toEqual([])
    const [after] = await webhooks(ctx)
    expect(after).toMatchObject({ name: 'All issues', path: before?.path, secrets: before?.secrets })
  })

  test('prune deletes those that were applied and have no definition, and no others, with force neither', async () => {
    const ctx = await tenant()
    const second = nightly({ id: 'second' })
    await applyDefinitions(ctx, body({ schedules: [nightly(), second] }))
    const hook = { name: 'By hand', scheme: 'none' }
    const mine = await createInbound(ctx, { workflowId: 'wf_one', body: hook })
    expect((await applyDefinitions(ctx, body())).changes).toEqual([])
    const { changes } = await diffDefinitions(ctx, { ...body(), prune: true })
    expect(changes).toMatchObject([{ id: 'second', actions: ['delete'], after: null }])
    expect(done(await applyDefinitions(ctx, { ...body(), prune: true, force: true }))).toEqual({ second: 'delete' })
    expect((await applyDefinitions(ctx, { ...body(), prune: true })).changes).toEqual([])
    expect((await webhooks(ctx)).map(({ id }) => id).sort()).toEqual([mine.id, 'issues'].sort())
    // Without any, a folder is more likely missing.
    const none = { ...body({ schedules: [] }), prune: true }
    expect((await refusal(applyDefinitions(ctx, none))).details).toMatchObject([{ id: 'nightly' }])
    expect(done(await applyDefinitions(ctx, { ...none, force: true }))).toEqual({ nightly: 'delete' })
    // Objects deleted by prune may return.
    expect(done(await applyDefinitions(ctx, body()))).toEqual({ nightly: 'create' })
  })

  test('prune refuses to archive a workflow that a definition starts, and warns of starters without one', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, body({ workflows: [workflow('wf_one'), workflow('wf_two')] }))
    const without = { ...body({ workflows: [workflow('wf_two')] }), prune: true }
    expect((await refusal(applyDefinitions(ctx, without))).details.map(({ id }) => id)).toEqual(['nightly', 'issues'])
    const moved = {
      schedules: [nightly({ workflowId: 'wf_two' })],
      inboundWebhooks: [issues({ workflowId: 'wf_two' })],
    }
    const mine = await createSchedule(ctx, { workflowId: 'wf_one', body: { name: 'By hand', cron: '* * * * *' } })
    const { warnings, ...found } = await diffDefinitions(ctx, { ...without, ...moved })
    expect(done(found)).toEqual({ wf_one: 'archive', nightly: 'update', issues: 'update' })
    expect(warnings).toMatchObject([
      { code: 'W_USES_ARCHIVED', kind: 'schedule', id: mine.id },
      { code: 'W_NO_SECRET' },
    ])
  })

  test('two at once create each of them once', async () => {
    const ctx = await tenant()
    const both = await Promise.all([applyDefinitions(ctx, body()), applyDefinitions(ctx, body())])
    expect(both.map(({ changes }) => changes.length).sort()).toEqual([0, 3])
  })
})
