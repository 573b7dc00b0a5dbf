import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { beHere } from '@/server/live/be-here'
import { LIVE_CHANNEL, takePlace } from '@/server/live/channel'
import { openPage, pagesOf } from '@/server/live/pages'
import { GONE_AFTER_MS, notePlace, type Place, whoIsAt } from '@/server/live/places'
import { createWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
let workflow: string
beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  workflow = (await createWorkflow(ctx, { name: 'Shared', steps: [{ id: 'end', type: 'end-flow' }] })).id
})
afterAll(() => database.close())

const as = (name: string, role: 'viewer' | 'editor' = 'editor', of = ctx): ServiceContext => ({
  ...of,
  actor: { kind: 'user', id: `usr_${name}`, name, sessionId: 's', role },
})
const at = (stepId: string | null, more: object = {}) => ({ id: workflow, tab: 'first_tab_1', stepId, ...more })

test('people see who else has the workflow open and where, viewers too, and never themselves', async () => {
  expect(await beHere(as('Ada'), at('end'))).toEqual({ people: [], version: 1 })
  expect((await beHere(as('Vera', 'viewer'), at(null))).people).toEqual([{ id: 'usr_Ada', name: 'Ada', stepId: 'end' }])
  expect((await beHere(as('Ada'), at('#start', { tab: 'second_tab' }))).people).toEqual([
    { id: 'usr_Vera', name: 'Vera', stepId: null },
  ])
  // Once, at her last place.
  expect((await beHere(as('Vera', 'viewer'), at(null))).people).toEqual([
    { id: 'usr_Ada', name: 'Ada', stepId: '#start' },
  ])
  await beHere(as('Ada'), at(null, { gone: true }))
  await beHere(as('Ada'), at(null, { gone: true, tab: 'second_tab' }))
  expect(await beHere(as('Vera', 'viewer'), at(null))).toEqual({ people: [], version: 1 })
})

test('a page learns at once that another person has saved, and gets no event for a place that is only repeated', async () => {
  const { tenantId } = ctx
  const { id } = await createWorkflow(ctx, { name: 'Saved by Cleo', steps: [{ id: 'end', type: 'end-flow' }] })
  const there = { tenantId, workflowId: id, stepId: null, version: 1 }
  notePlace({ ...there, tab: 'page_of_bea', person: { id: 'usr_Bea', name: 'Bea' } })
  const told: string[] = []
  const left = new AbortController()
  openPage(tenantId, 'page_of_bea', left.signal)
  for (const page of pagesOf(tenantId)) page.notify = (what) => told.push(what)
  const cleo: Place = { ...there, tab: 'page_of_cleo', person: { id: 'usr_Cleo', name: 'Cleo' } }
  takePlace(cleo, false)
  takePlace(cleo, false)
  expect(told).toEqual(['people'])
  takePlace({ ...cleo, version: 2 }, false)
  expect(told).toEqual(['people', 'people'])
  await updateWorkflow(ctx, { id, body: { name: 'Saved' } })
  expect((await beHere(as('Bea'), { ...at(null), id, tab: 'page_of_bea', version: 1 })).version).toBe(2)
  left.abort()
})

test('people of another process are seen, and nobody of another workspace', async () => {
  const other = as('Mallory', 'editor', await newTenant(database))
  await expect(beHere(other, at(null))).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
  // They name the same id of a workflow, but it is another workspace's.
  const place = { tenantId: other.tenantId, workflowId: workflow, tab: 'their_tab_1', stepId: null }
  const tell = (told: object) => database.sql`select pg_notify(${LIVE_CHANNEL}, ${JSON.stringify(told)})`
  const people = await until(async () => {
    // A page repeats its place: this process may not listen yet the first time.
    await tell({ place: { ...place, person: { id: 'usr_Mallory', name: 'Mallory' } }, gone: false })
    await tell({ place: { ...place, tenantId: ctx.tenantId, person: { id: 'usr_Tom', name: 'Tom' } }, gone: false })
    const seen = (await beHere(as('Ada'), at('end'))).people.filter(({ name }) => name !== 'Vera')
    return seen.length > 0 ? seen : undefined
  })
  expect(people).toEqual([{ id: 'usr_Tom', name: 'Tom', stepId: null }])
})

test('a person who stops reporting a place is gone', () => {
  const place: Place = {
    ...{ tenantId: 'ten_quiet', workflowId: 'wf_quiet', tab: 'tab_quiet', stepId: null, version: 1 },
    person: { id: 'usr_1', name: 'One' },
  }
  // Whole, because a sum of fractions may be rounded down.
  const now = Math.floor(performance.now())
  notePlace(place, now)
  expect(whoIsAt('ten_quiet', 'wf_quiet', now + GONE_AFTER_MS - 1)).toHaveLength(1)
  expect(whoIsAt('ten_quiet', 'wf_quiet', now + GONE_AFTER_MS)).toEqual([])
  expect(whoIsAt('ten_other', 'wf_quiet', now)).toEqual([])
})
