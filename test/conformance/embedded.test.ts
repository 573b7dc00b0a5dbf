import { afterAll, beforeAll, describe } from 'vitest'
import { createWorld, type World } from '../engine/support'
import { conformanceFunctions, createJournal } from './functions'
import { conformanceSuite } from './suite'

describe('the embedded engine', () => {
  const journal = createJournal()
  let world: World
  beforeAll(async () => {
    world = await createWorld((client) => conformanceFunctions(client, journal))
  })
  afterAll(() => world?.end())

  conformanceSuite(() => ({ client: world.client, journal, patienceMs: 60_000, quietMs: 750 }))
})
