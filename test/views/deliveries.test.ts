import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { setVaultSecret } from '@/server/vault/set'
import { browseAudit } from '@/server/views/audit'
import { browseDeliveries } from '@/server/views/deliveries'
import { createWebhook } from '@/server/webhooks/create'
import { testWebhook } from '@/server/webhooks/deliveries'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.close())

const url = 'https://hooks.example.com/secret'
const ask = { id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }

async function orders(ctx: ServiceContext) {
  const { id } = await createWorkflow(ctx, {
    ...{ name: 'Orders', businessKey: '${orderId}', steps: [ask] },
    payload: { orderId: { type: 'string', required: false } },
  })
  await publishWorkflow(ctx, { id })
  return async (body: object) => (await startRun(ctx, { workflowId: id, body })).runId
}

test('deliveries name their run, without values of the vault, and are listed by status', async () => {
  const ctx = await newTenant(database)
  const { id } = await createWebhook(ctx, { url, events: ['run.started'] })
  const start = await orders(ctx)
  await start({ orderId: 'AX-210-of-2026' })
  await start({})
  await testWebhook(ctx, { id })
  const runs = async (status?: string) => (await browseDeliveries(ctx, { id, ...(status && { status }) })).items
  expect((await runs('pending')).map(({ run }) => run)).toEqual([
    null,
    { name: 'Orders', keyed: false },
    { name: 'AX-210-of-2026 · Orders', keyed: true },
  ])
  expect(await runs('failed')).toEqual([])
  await setVaultSecret(ctx, { name: 'ORDER', value: 'AX-210-of-2026' })
  expect(JSON.stringify(await runs())).not.toContain('AX-210-of-2026')
})

test('the audit log shows a run with its business key as long as the run is there, and keeps no copy of it', async () => {
  const ctx = await newTenant(database)
  const start = await orders(ctx)
  const runId = await start({ orderId: 'AX-210-of-2026' })
  await terminateRun(ctx, { runId })
  const thing = async () => (await browseAudit(ctx, { thing: runId })).entries[0]?.thing
  expect(await thing()).toEqual({ kind: 'run', id: runId, name: 'AX-210-of-2026 · Orders' })
  await database.sql`delete from runs where tenant_id = ${ctx.tenantId} and id = ${runId}`
  expect(await thing()).toEqual({ kind: 'run', id: runId, name: 'Orders' })
})

test('the audit log knows a webhook by its description, else by its host', async () => {
  const ctx = await newTenant(database)
  await createWebhook(ctx, { url, events: ['run.started'], description: 'Order service' })
  await createWebhook(ctx, { url, events: ['run.started'] })
  const { entries } = await browseAudit(ctx, { kind: 'webhook' })
  expect(entries.map(({ thing }) => thing.name)).toEqual(['hooks.example.com', 'Order service'])
})
