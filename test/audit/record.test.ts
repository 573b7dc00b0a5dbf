import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { applyDefinitions } from '@/server/as-code/apply'
import { diffDefinitions } from '@/server/as-code/diff'
import { sweepAudit } from '@/server/audit/sweep'
import { type ServiceContext, withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { boundedDetails, differences } from '@/server/definition/audit'
import { createInbound, updateInbound } from '@/server/inbound/save'
import { createInvitation } from '@/server/members/invitations/create'
import { cancelRun } from '@/server/runs/cancel'
import { startRun } from '@/server/runs/start'
import { createSchedule, updateSchedule } from '@/server/schedules/save'
import { keepAudit } from '@/server/tenants/keep-audit'
import { keepRuns } from '@/server/tenants/keep-runs'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
})

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
})
afterAll(() => database.close())

const entriesOf = (thing: string) =>
  database.sql<{ action: string; actor: string; details: object }[]>`
    select action, actor_name as actor, details from audit_entries where thing_id = ${thing} order by seq`
const actionsOf = async (thing: string) => (await entriesOf(thing)).map(({ action }) => action)
const person = (name: string) =>
  ({ ...ctx, actor: { kind: 'user', id: `usr_${name}`, name, sessionId: 's', role: 'owner' } }) as const
const STEPS = [{ id: 'order', type: 'collect-inputs', output: { item: { type: 'string' } } }]

describe('an entry', () => {
  test('is not there without its change', async () => {
    const undone = withTransaction(ctx, async (tx) => {
      const { id } = await createWorkflow(tx, { name: 'Undone' })
      expect(await tx.db.execute(`select 1 from audit_entries where thing_id = '${id}'`)).toHaveLength(1)
      throw new Error(id)
    })
    const id = await undone.catch((err: Error) => err.message)
    expect(await entriesOf(String(id))).toEqual([])
  })

  test('names who did it as they were called then', async () => {
    const { id: key } = await createApiKey(ctx, { name: 'Deploy', role: 'owner' })
    const byKey = { ...ctx, actor: { kind: 'apiKey', id: key, role: 'owner' } } as const
    const { id } = await createWorkflow(byKey, { name: 'Order', steps: STEPS })
    await publishWorkflow(person('Ada'), { id })
    await database.sql`update api_keys set name = 'Renamed' where id = ${key}`
    expect(await entriesOf(id)).toEqual([
      { action: 'workflow.created', actor: 'Deploy', details: {} },
      { action: 'workflow.published', actor: 'Ada', details: { version: 1 } },
    ])
  })

  test('shows no value of the vault that a person gave as a reason', async () => {
    await setVaultSecret(ctx, { name: 'TOKEN', value: 'tok-4711-secret' })
    const { id: workflowId } = await createWorkflow(ctx, { name: 'Order', steps: STEPS })
    const { runId } = await startRun(ctx, { workflowId, body: {}, version: 'latest' })
    await cancelRun(ctx, { runId, reason: 'The token tok-4711-secret leaked' })
    await cancelRun(ctx, { runId, reason: 'Asked again' })
    const [entry, ...more] = await entriesOf(runId)
    expect(more).toEqual([])
    expect(JSON.stringify(entry)).toContain('leaked')
    expect(JSON.stringify(entry)).not.toContain('4711')
  })

  test('reports invitations that another one replaces, and those whose giver may no longer give them', async () => {
    const email = 'twice@example.com'
    const first = await createInvitation(ctx, { email, role: 'viewer' })
    const second = await createInvitation(ctx, { email, role: 'editor' })
    expect(await actionsOf(first.id)).toEqual(['invitation.created', 'invitation.revoked'])
    expect(await actionsOf(second.id)).toEqual(['invitation.created'])
  })

  test('omits unchanged fields, and the values that a condition compares with', async () => {
    const { id: workflowId } = await createWorkflow(ctx, { name: 'Hook', steps: STEPS })
    const schedule = await createSchedule(ctx, {
      workflowId,
      body: { name: 'Daily', cron: '0 9 * * *', timeZone: 'UTC' },
    })
    await updateSchedule(ctx, { workflowId, scheduleId: schedule.id, body: {} })
    expect(await actionsOf(schedule.id)).toEqual(['schedule.created'])
    const hook = await createInbound(ctx, { workflowId, body: { name: 'Hook', scheme: 'none' } })
    const one = { workflowId, inboundId: hook.id }
    await updateInbound(ctx, { ...one, body: { name: 'Hook' } })
    await updateInbound(ctx, { ...one, body: { when: '${body.token} == "s3cr3t"' } })
    const [, updated, ...more] = await entriesOf(hook.id)
    expect(more).toEqual([])
    expect(updated?.details).toEqual({ workflow: workflowId, when: 'changed' })
    await keepRuns(ctx, { days: null })
    expect(await actionsOf(ctx.tenantId)).toEqual([])
  })
})

describe('a draft that is saved all the time', () => {
  test('has one entry per person and ten minutes, and one more after each other change', async () => {
    const { id } = await createWorkflow(ctx, { name: 'Draft', steps: STEPS })
    const save = (by: ServiceContext, name: string) => updateWorkflow(by, { id, body: { name } })
    for (const name of ['A', 'B', 'C']) await save(person('Ada'), name)
    await save(person('Bob'), 'D')
    await save(person('Ada'), 'E')
    await publishWorkflow(person('Ada'), { id })
    await save(person('Ada'), 'F')
    await save(person('Ada'), 'G')
    const saved = ['workflow.saved', 'workflow.saved', 'workflow.saved', 'workflow.published', 'workflow.saved']
    expect(await actionsOf(id)).toEqual(['workflow.created', ...saved])
    await database.sql`update audit_entries set at = at - interval '10 minutes' where thing_id = ${id}`
    await save(person('Ada'), 'H')
    expect((await actionsOf(id)).at(-1)).toBe('workflow.saved')
    expect(await entriesOf(id)).toHaveLength(7)
  })

  test('has an entry for each apply that changes it, and none for a diff', async () => {
    const files = (name: string) => ({ workflows: [{ id: 'wf_file', name, steps: STEPS, initialStep: 'order' }] })
    await diffDefinitions(ctx, files('One'))
    expect(await actionsOf('wf_file')).toEqual([])
    for (const name of ['One', 'Two', 'Two', 'Three']) await applyDefinitions(ctx, files(name))
    expect(await actionsOf('wf_file')).toEqual(['workflow.created', 'workflow.saved', 'workflow.saved'])
  })
})

test('old entries are deleted when their workspace no longer keeps them', async () => {
  const [short, long] = [await newTenant(database), await newTenant(database)]
  await keepAudit(short, { days: 365 })
  for (const tenant of [short, long]) {
    await setVaultSecret(tenant, { name: 'A', value: 'a value of some length' })
    await database.sql`update audit_entries set at = at - interval '366 days'
      where tenant_id = ${tenant.tenantId} and action = 'vaultSecret.set'`
  }
  const sweep = { db: database.db, log: ctx.log, now: () => new Date() }
  expect(await sweepAudit(sweep)).toEqual({ deleted: 1 })
  const left = await database.sql`
    select action from audit_entries where tenant_id in (${short.tenantId}, ${long.tenantId}) order by action`
  expect(left.map(({ action }) => action)).toEqual(['vaultSecret.set', 'workspace.auditKept'])
  await expect(keepAudit(short, { days: 30 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('a summary is bounded, and says values only where they are plain', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, 'x'.repeat(10_000)]))
  expect(JSON.stringify(boundedDetails(many)).length).toBeLessThan(5_000)
  expect(boundedDetails({ list: Array(50).fill('a') }).list).toHaveLength(21)
  expect(boundedDetails({ emoji: '😀'.repeat(300) }).emoji).toBe(`${'😀'.repeat(199)}…`)
  const before = { name: 'A', data: { secret: 1 }, days: null, tags: ['a'], same: 1 }
  expect(
    differences(before, { name: 'B', data: { secret: 2 }, days: 3, tags: ['b'], same: 1, left: undefined }),
  ).toEqual({
    name: { from: 'A', to: 'B' },
    data: 'changed',
    days: { from: null, to: 3 },
    tags: { from: ['a'], to: ['b'] },
  })
})
