import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomFrom, simulatePlaces } from '@/bench/scale/places'
import { type FreshDatabase, freshDatabase } from '../support/db'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

/** How long each of this many workspaces waits for its turn if their runs take 100 ms and 64 run concurrently. */
const roundMs = (busy: number) => (busy * 100) / 64

test.each([20, 300])(
  'while %i workspaces have more waiting than can be done, they take turns, and another is served within two rounds',
  async (busy) => {
    const crowd = { busy, quiet: 100, queued: Math.ceil(4_000 / busy) + 10, everyS: 5, seconds: 2, runMs: 100 }
    const { starts, waits, inOneQueue, busiest } = await simulatePlaces(database.sql, crowd, randomFrom(7))
    expect(starts).toBeGreaterThan(20)
    expect(waits.most).toBeLessThan(Math.max(50, 2 * roundMs(busy)))
    expect(inOneQueue.p50).toBeGreaterThan(4 * waits.p50)
    expect(busiest.most - busiest.least).toBeLessThanOrEqual(0.1 * busiest.most + 2)
  },
)
