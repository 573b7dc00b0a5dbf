import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { applyDefinitions } from '@/server/as-code/apply'
import { exportDefinitions } from '@/server/as-code/export'
import type { ServiceContext } from '@/server/context'
import { getSchedule, listSchedules } from '@/server/schedules/list'
import { createSchedule, updateSchedule } from '@/server/schedules/save'
import { browseSchedules } from '@/server/views/schedules/browse'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// A schedule's value for a sensitive field of START is hidden from people, as in the runs it starts.

const DATA = { iban: 'nightjar-DE02-1203', pin: 123, region: 'north for nightjar-DE02-1203' }
const SHOWN = { iban: '***', pin: '***', region: 'north for ***' }

let database: FreshDatabase
let key: ServiceContext
let person: ServiceContext
let workflowId: string
let scheduleId: string

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.close())
beforeEach(async () => {
  key = await newTenant(database)
  person = { ...key, actor: { kind: 'user', id: 'usr_1', name: 'Viv', sessionId: 's', role: 'owner' } }
  const hidden = (type: string) => ({ type, sensitive: true })
  const payload = { iban: hidden('string'), pin: hidden('number'), region: { type: 'string' } }
  const steps = [{ id: 'end', type: 'end-flow' }]
  workflowId = (await createWorkflow(key, { name: 'Pay out', payload, steps } as never)).id
  scheduleId = (await createSchedule(key, { workflowId, body: { name: 'Daily', cron: '0 9 * * *', data: DATA } })).id
})

const stored = async () => (await getSchedule(key, { workflowId, scheduleId })).data

test('people are shown a schedule without it, and keys with it', async () => {
  const shown = async (as: ServiceContext) => [
    (await getSchedule(as, { workflowId, scheduleId })).data,
    (await listSchedules(as, { workflowId }))[0]?.data,
    (await browseSchedules(as))[0]?.data,
    (await exportDefinitions(as, { kind: 'schedules' })).schedules[0]?.data,
  ]
  expect(await shown(key)).toEqual([DATA, DATA, DATA, DATA])
  expect(await shown(person)).toEqual([SHOWN, SHOWN, SHOWN, SHOWN])
  const made = await createSchedule(person, { workflowId, body: { name: 'Own', cron: '0 9 * * *', data: DATA } })
  expect(made.data).toEqual(SHOWN)
})

test('values sent back as shown stay, and nothing else is saved as ***', async () => {
  const save = (data: object) => updateSchedule(person, { workflowId, scheduleId, body: { data } })
  expect((await save({ ...SHOWN, region: 'south' })).data).toEqual({ ...SHOWN, region: 'south' })
  expect(await stored()).toEqual({ ...DATA, region: 'south' })
  await expect(save({ ...SHOWN, region: '***' })).rejects.toMatchObject({ details: [{ path: 'data.region' }] })
  const { schedules } = await exportDefinitions(person, { kind: 'schedules' })
  const renamed = [{ ...schedules[0], name: 'Each day' }]
  await applyDefinitions(person, { schedules: renamed, force: true })
  expect(await stored()).toEqual({ ...DATA, region: 'south' })
})

test('short or not a text, a value sent back hidden stays', async () => {
  await updateSchedule(key, { workflowId, scheduleId, body: { data: { iban: 'x', pin: 5, region: 'n' } } })
  await updateSchedule(person, { workflowId, scheduleId, body: { data: { iban: '***', pin: '***', region: 'm' } } })
  expect(await stored()).toEqual({ iban: 'x', pin: 5, region: 'm' })
})
