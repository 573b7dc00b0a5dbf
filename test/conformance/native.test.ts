import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, type World } from '../engine/support'
import { conformanceFunctions, createJournal } from './functions'
import { conformanceSuite } from './suite'

describe('the embedded engine with the functions’ own handlers', () => {
  const journal = createJournal()
  let world: World
  beforeAll(async () => {
    world = await createWorld((client) => conformanceFunctions(client, journal), { handlers: new Map() })
  })
  afterAll(() => world?.end())

  conformanceSuite(() => ({ client: world.client, journal, patienceMs: 60_000, quietMs: 750 }))

  test('a run of steps alone never meets the SDK', async () => {
    const before = world.calls.length
    await world.client.send({ name: 'c/sequence', data: { tag: 'native' } })
    await expect.poll(() => journal.of('native')).toContain('sum 210')
    const calls = world.calls.slice(before).map(({ call }) => call.url)
    expect(calls.filter((url) => url.includes('app-sequence'))).toEqual([])
  })
})
