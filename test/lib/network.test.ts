import { describe, expect, test } from 'vitest'
import { createNetwork } from '@/lib/network'

/** A network that is switched by hand, with pauses that end by hand. */
function byHand() {
  const state = { up: true }
  const pauses: { ms: number; end: () => void }[] = []
  const network = createNetwork({
    reachable: async () => state.up,
    after: (ms, end) => {
      const pause = { ms, end }
      pauses.push(pause)
      return () => pauses.splice(pauses.indexOf(pause), 1)
    },
  })
  const work = () => (state.up ? Promise.resolve('code') : Promise.reject(new Error('No network')))
  return { network, state, pauses, work }
}

const settle = () => new Promise((done) => setImmediate(done))

describe('work that needs the network', () => {
  test('is done once, and nothing is away, while there is a network', async () => {
    const { network, work } = byHand()
    await expect(network.load(work)).resolves.toBe('code')
    expect(network.isAway()).toBe(false)
  })

  test('never fails for want of a network: it waits, ever longer, and is away until it is done', async () => {
    const { network, state, pauses, work } = byHand()
    state.up = false
    const seen: boolean[] = []
    network.subscribe(() => seen.push(network.isAway()))
    const loaded = network.load(work)
    const waits: number[] = []
    for (let round = 0; round < 7; round++) {
      await settle()
      expect(network.isAway()).toBe(true)
      waits.push(pauses[0]?.ms ?? 0)
      pauses.shift()?.end()
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
    await settle()
    state.up = true
    pauses.shift()?.end()
    await expect(loaded).resolves.toBe('code')
    expect(seen.slice(0, -1)).not.toContain(false)
    expect(seen.at(-1)).toBe(false)
  })

  test('all of it goes on as soon as somebody tries again, and leaves no pause behind', async () => {
    const { network, state, pauses, work } = byHand()
    state.up = false
    const loaded = [network.load(work), network.load(work)]
    await settle()
    state.up = true
    network.tryAgain()
    await expect(Promise.all(loaded)).resolves.toEqual(['code', 'code'])
    expect(pauses).toEqual([])
    expect(network.isAway()).toBe(false)
  })

  test('fails if the service answers and it fails twice, as code does that is gone', async () => {
    const { network } = byHand()
    let tries = 0
    const gone = () => {
      tries += 1
      return Promise.reject(new Error('Gone'))
    }
    await expect(network.load(gone)).rejects.toThrow('Gone')
    expect(tries).toBe(2)
    expect(network.isAway()).toBe(false)
  })
})
