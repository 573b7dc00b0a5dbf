import { afterAll, beforeAll, expect, it } from 'vitest'
import { viewOf } from '@/app/(dashboard)/[tenant]/runs/run-filter'
import { members, users } from '@/db/schema/members'
import type { ServiceContext } from '@/server/context'
import { deleteRunView, listRunViews, saveRunView } from '@/server/members/run-views'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let ada: ServiceContext
let tom: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  const ctx = await newTenant(database)
  ada = await person(ctx, 'usr_ada')
  tom = await person(ctx, 'usr_tom')
})
afterAll(() => database.close())

async function person(ctx: ServiceContext, id: string): Promise<ServiceContext> {
  await ctx.db.insert(users).values({ id, email: `${id}@example.com`, name: id })
  await ctx.db.insert(members).values({ tenantId: ctx.tenantId, userId: id, role: 'viewer' })
  return { ...ctx, actor: { kind: 'user', id, name: id, sessionId: 's', role: 'viewer' } }
}

it('each person has their own views, one of each name, in order', async () => {
  await saveRunView(ada, { name: 'Late', query: 'status=paused' })
  await saveRunView(ada, { name: ' Failed ', query: 'status=failed&q=caf%C3%A9' })
  await saveRunView(ada, { name: 'Late', query: 'status=timed_out' })
  const views = [
    { name: 'Failed', query: 'status=failed&q=caf%C3%A9' },
    { name: 'Late', query: 'status=timed_out' },
  ]
  expect(await listRunViews(ada)).toEqual(views)
  expect(await listRunViews(tom)).toEqual([])
  expect(await deleteRunView(ada, { name: 'Late' })).toEqual(views.slice(0, 1))
  expect(await deleteRunView(ada, { name: 'Late' })).toEqual(views.slice(0, 1))
})

it('two saves at once both count, and there is a limit', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, n) => saveRunView(tom, { name: `View ${n}`, query: 'q=a' })))
  expect(await listRunViews(tom)).toHaveLength(30)
  await expect(saveRunView(tom, { name: 'One more', query: 'q=a' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

it('only a query string is kept, and only of a person', async () => {
  const refused = (query: string) =>
    expect(saveRunView(ada, { name: 'Bad', query })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await refused('')
  await refused('q=<b>')
  await refused('#top')
  await expect(saveRunView(ada, { name: ' ', query: 'q=a' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  const key = { ...ada, actor: { kind: 'apiKey' as const, id: 'key_1', role: 'owner' as const } } as ServiceContext
  await expect(listRunViews(key)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

it('a view is the filters of the list without times and position, however they were chosen', () => {
  const url = new URLSearchParams('cursor=a.x&status=paused&from=2026-11-24T00%3A00%3A00Z&status=failed&q=caf%C3%A9')
  expect(viewOf(url, undefined)).toBe('q=caf%C3%A9&status=failed&status=paused')
  expect(viewOf(url, 'wf_1')).toBe('q=caf%C3%A9&status=failed&status=paused&workflow=wf_1')
  expect(viewOf(new URLSearchParams(''), undefined)).toBe('')
})
