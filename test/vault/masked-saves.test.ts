import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { AppError } from '@/server/errors'
import { getInbound } from '@/server/inbound/list'
import { createInbound, updateInbound } from '@/server/inbound/save'
import { tryInbound } from '@/server/inbound/try'
import { getSchedule } from '@/server/schedules/list'
import { createSchedule, updateSchedule } from '@/server/schedules/save'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// A value that a caller saw as *** and sends back.

const [ONE, TWO] = ['kept-in-the-vault', '4815162342108']

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.close())

async function workspace(): Promise<{ ctx: ServiceContext; workflowId: string }> {
  const ctx = await newTenant(database)
  for (const [name, value] of Object.entries({ ONE, TWO }))
    await setVaultSecret(ctx, { name, value, hosts: ['a.example.com'] })
  const steps = [{ id: 'end', type: 'end-flow', output: {} }]
  const payload = { auth: { type: 'any', required: false }, other: { type: 'any', required: false } }
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Started', payload, steps } as never)
  return { ctx, workflowId }
}

const refusal = async (work: Promise<unknown>) => {
  const err = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(err instanceof AppError)) throw err ?? new Error('It was not refused.')
  return { code: err.code, details: err.details }
}

test('a schedule keeps the value of the vault that its caller was shown as ***, and refuses a mask that stands for nothing', async () => {
  const { ctx, workflowId } = await workspace()
  const data = { auth: { token: ONE, list: [ONE, TWO, 'x'], plain: 1 }, other: 'a' }
  const { id: scheduleId } = await createSchedule(ctx, {
    workflowId,
    body: { name: `Nightly ${ONE}`, cron: '0 3 * * *', data },
  })
  const one = { workflowId, scheduleId }
  const shown = await getSchedule(ctx, one)
  expect(shown).toMatchObject({ name: 'Nightly ***', data: { auth: { token: '***', list: ['***', '***', 'x'] } } })
  const edited = { auth: { token: '***', list: ['***', '***', 'y'], plain: 2 }, other: 'b' }
  await updateSchedule(ctx, { ...one, body: { name: shown.name, data: edited } })
  const stored = () =>
    database.sql`select name, data from schedules where tenant_id = ${ctx.tenantId} and id = ${scheduleId}`
  const kept = [{ name: `Nightly ${ONE}`, data: { auth: { token: ONE, list: [ONE, TWO, 'y'], plain: 2 }, other: 'b' } }]
  expect(await stored()).toEqual(kept)
  const wrong = { name: '*** daily', data: { auth: { token: 'Bearer ***' }, other: ['***'] } }
  expect(await refusal(updateSchedule(ctx, { ...one, body: wrong }))).toMatchObject({
    code: 'INVALID_INPUT',
    details: [
      { path: 'name', message: expect.stringContaining('stands for no value') },
      { path: 'data.auth.token' },
      { path: 'data.other[0]' },
    ],
  })
  expect(await stored()).toEqual(kept)
})

test('an inbound webhook shows no value of the vault in its expressions, keeps them when it is saved so, and is tried with them', async () => {
  const { ctx, workflowId } = await workspace()
  const mapping = { auth: `\${body.key} == "${ONE}"`, other: '"x"' }
  // Without quotes, the mask in its place is not an expression.
  const when = `\${body.n} == ${TWO}`
  const made = await createInbound(ctx, {
    workflowId,
    body: { name: 'Issues', scheme: 'github', mapping, when },
  })
  const one = { workflowId, inboundId: made.id }
  const shown = await getInbound(ctx, one)
  expect(shown).toMatchObject({ mapping: { auth: '${body.key} == "***"' }, when: '${body.n} == ***' })
  expect(JSON.stringify([made, shown])).not.toMatch(new RegExp(`${ONE}|${TWO}`))
  const edited = { ...shown.mapping, other: '"y"' }
  const tried = await tryInbound(ctx, {
    ...one,
    body: { body: { n: Number(TWO), key: ONE, note: '***' }, mapping: edited, when: shown.when },
  })
  expect(tried).toMatchObject({ starts: true, data: { auth: true, other: 'y' } })
  await updateInbound(ctx, { ...one, body: { name: 'All issues', mapping: edited, when: shown.when } })
  const stored = () =>
    database.sql`select name, mapping, "when" from inbound_webhooks where tenant_id = ${ctx.tenantId} and id = ${made.id}`
  const kept = [{ name: 'All issues', mapping: { ...mapping, other: '"y"' }, when }]
  expect(await stored()).toEqual(kept)
  expect(await refusal(updateInbound(ctx, { ...one, body: { when: '${body.m} == "***"' } }))).toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ path: 'when' }],
  })
  expect(await stored()).toEqual(kept)
})

test('in a workspace without a vault, *** is a text like any other', async () => {
  const ctx = await newTenant(database)
  const steps = [{ id: 'end', type: 'end-flow', output: {} }]
  const payload = { note: { type: 'string', required: false } }
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Started', payload, steps } as never)
  const { id: scheduleId } = await createSchedule(ctx, { workflowId, body: { name: 'A', cron: '0 3 * * *' } })
  const body = { data: { note: '*** Report ***' } }
  expect(await updateSchedule(ctx, { workflowId, scheduleId, body })).toMatchObject(body)
})
