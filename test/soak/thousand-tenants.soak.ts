import { setTimeout as sleep } from 'node:timers/promises'
import type { Inngest, InngestFunction } from 'inngest'
import { expect } from 'vitest'
import { createWorld, until } from '../engine/support'
import { scenario } from './rounds'

const HOGS = 10
const QUEUED_EACH = 2_000
const STEP_MS = 20
/** Of a step that takes 20 ms on a process that is never idle. */
const LONGEST_WAIT_MS = 2_000

scenario(
  'a thousand tenants on one process: whoever sends one job is served at once, however much others have queued',
  990,
  async (soak) => {
    const begun = new Map<string, number>()
    const served = new Map<string, number>()
    let begin = () => {}
    const queued = new Promise<void>((done) => {
      begin = done
    })
    const functions = (client: Inngest): InngestFunction.Any[] => [
      client.createFunction(
        {
          id: 'work',
          retries: 0,
          triggers: [{ event: 't/work' }],
          concurrency: [{ key: 'event.data.key', limit: 32 }],
        },
        async ({ event, step }) => {
          await step.run('work', async () => {
            const { key } = event.data as { key: string }
            served.set(key, (served.get(key) ?? 0) + 1)
            if (!begun.has(key)) begun.set(key, performance.now())
            await queued
            await sleep(STEP_MS)
          })
        },
      ),
    ]
    const world = await createWorld(functions, { slots: 64 })
    soak.after(() => world.end())
    const send = (keys: string[]) => world.client.send(keys.map((key) => ({ name: 't/work', data: { key } })))
    const hogs = Array.from({ length: HOGS }, (_, n) => `hog-${n}`)
    for (const hog of hogs)
      for (let sent = 0; sent < QUEUED_EACH; sent += 500) await send(Array.from({ length: 500 }, () => hog))
    begin()

    const sentAt = new Map<string, number>()
    const from = performance.now()
    const before = new Map(served)
    for (let n = 0; n < soak.rounds; n++) {
      const key = `tenant-${n}`
      sentAt.set(key, performance.now())
      await send([key])
      await sleep(soak.random() * 20)
    }
    await until(() => [...sentAt.keys()].every((key) => begun.has(key)))
    const took = (performance.now() - from) / 1_000
    const waits = [...sentAt].map(([key, at]) => (begun.get(key) ?? Number.NaN) - at).sort((a, b) => a - b)
    const left = hogs.filter((hog) => (served.get(hog) ?? 0) < QUEUED_EACH).length
    const ofHogs = hogs.map((hog) => (served.get(hog) ?? 0) - (before.get(hog) ?? 0))
    soak.say(
      `${soak.rounds} tenants with one job each beside ${HOGS} with ${QUEUED_EACH}: waited p50 ${ms(waits, 0.5)}, p99 ${ms(waits, 0.99)}, ` +
        `at most ${ms(waits, 1)} ms; ${Math.round((total(served) - total(before)) / took)} jobs/s; each of the ${HOGS} got ${Math.min(...ofHogs)} to ${Math.max(...ofHogs)}`,
    )
    expect(left).toBeGreaterThan(0)
    expect(waits.at(-1)).toBeLessThan(LONGEST_WAIT_MS)
    // They take turns.
    expect(Math.max(...ofHogs)).toBeLessThan(1.5 * Math.min(...ofHogs))
  },
)

const total = (counts: Map<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0)

function ms(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
}
