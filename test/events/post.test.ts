import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { postEvent } from '@/server/events/post'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
})
afterAll(() => database.close())

const post = async (event: object) => (await postEvent(ctx, event)).eventId

describe('an event', () => {
  test('with an id is stored once; other contents with the id are refused', async () => {
    const [name, id] = ['order.paid', 'pay-1']
    const event = { name, key: 'k', data: { a: [1, { b: null }] }, id }
    expect(await Promise.all([post(event), post(event), post(event)])).toEqual([id, id, id])
    expect(await database.sql`select id from events where id = ${id}`).toHaveLength(1)
    for (const other of [
      { ...event, data: {} },
      { ...event, key: undefined },
      { ...event, name: 'order.lost' },
    ])
      await expect(post(other)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await postEvent(await newTenant(database), { name, id })).toEqual({ success: true, eventId: id })
  })

  test('that is not valid is refused with its reason', async () => {
    for (const [event, path] of [
      [{}, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 'x', key: '' }, 'key'],
      [{ name: 'x', data: [] }, 'data'],
      [{ name: 'x', data: { big: 'x'.repeat(256 * 1024) } }, 'data'],
      [{ name: 'x\u0000' }, 'name'],
    ] as const)
      await expect(post(event)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: [{ path }] })
  })
})
