import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { addSamples } from '@/server/tenants/boot/add-samples'
import { readChecklist } from '@/server/views/home/checklist'
import { findAnything } from '@/server/views/home/find'
import { readPulse } from '@/server/views/home/pulse'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { outcome, RUNNABLE, withClock } from '../workflows/support'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const asUser = (ctx: ServiceContext): ServiceContext => ({
  ...ctx,
  actor: { kind: 'user', id: 'usr_ADA', name: 'Ada', sessionId: 's', role: 'owner' },
})

describe('the checklist', () => {
  test('ticks completed steps, not counting the original samples', async () => {
    const ctx = asUser(await newTenant(database))
    await addSamples(ctx)
    const nothing = { ran: false, called: false, keyed: false, published: false, decided: false, invited: false }
    expect(await readChecklist(ctx)).toEqual({
      ...nothing,
      sample: { id: 'wf_hello', name: 'Hello', publishedNumber: 1 },
    })
    await startRun(ctx, { workflowId: 'wf_hello', body: { name: 'Ada' } })
    expect(await readChecklist(ctx)).toMatchObject({ ...nothing, ran: true })
    const { id } = await createApiKey(ctx, { name: 'Backend', role: 'editor' })
    const caller: ServiceContext = { ...ctx, actor: { kind: 'apiKey', id, role: 'editor' } }
    await startRun(caller, { workflowId: 'wf_hello', body: { name: 'Ada' } })
    const mine = await createWorkflow(ctx, RUNNABLE)
    await publishWorkflow(ctx, { id: mine.id })
    expect(await readChecklist(ctx)).toMatchObject({ ran: true, called: true, keyed: true, published: true })
  })
})

describe('the pulse', () => {
  test('counts this workspace’s runs of the last day by state', async () => {
    const { ctx, pass } = withClock(await newTenant(database))
    const { id } = await createWorkflow(ctx, RUNNABLE)
    await startRun(ctx, { workflowId: id, body: {} })
    pass(2 * 86_400)
    await startRun(ctx, { workflowId: id, body: {} })
    const { runId } = await startRun(ctx, { workflowId: id, body: {} })
    await terminateRun(ctx, { runId })
    expect(await readPulse(ctx)).toMatchObject({ counts: { running: 1, terminated: 1 }, exact: true })
    expect((await readPulse(await newTenant(database))).counts).toEqual({})
  })
})

describe('findAnything', () => {
  test('finds by part of a name, by a whole id, and runs by the start of their id', async () => {
    const ctx = await newTenant(database)
    await addSamples(ctx)
    const { runId } = await startRun(ctx, { workflowId: 'wf_hello', body: { name: 'Ada' } })
    const found = async (q: string) => (await findAnything(ctx, { q })).map(({ kind, id }) => `${kind} ${id}`)
    expect(await found('tick')).toEqual(['agent agt_extract', 'tool tool_route'])
    expect(await found('wf_document')).toEqual(['workflow wf_document'])
    expect(await found(runId.slice(0, 20).toLowerCase())).toEqual([`run ${runId}`])
    expect(await found('%')).toEqual([])
    expect(await outcome(findAnything(ctx, { q: ' ' }))).toBe('INVALID_INPUT')
    const stranger = await newTenant(database)
    expect(await findAnything(stranger, { q: runId })).toEqual([])
    expect(await findAnything(stranger, { q: 'Hello' })).toEqual([])
  })
})
