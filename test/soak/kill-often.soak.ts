import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startLoad } from '../recovery/load'
import { TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startWeb, type Web } from '../support/service'
import { scenario } from './rounds'

const EVERY_MS = 2_000
/** Slow, so that kills and stops come in the middle of steps. */
const EFFECT_MS = 100
const STUCK_MS = 30_000
/** How long after a stop another process may still begin the step that it had recorded; see docs/operations.md. */
const WINDOW_MS = 1_000
/** Of a hundred runs. */
const STOPPED = 30
/** The latest moment of a stop after the start. */
const STOPPED_MS = 800

scenario(
  'a kill -9 every 2 s through 1,000 runs with pauses, cancels and terminates: nothing is lost, repeated or stuck',
  1_000,
  async (soak) => {
    const effects = await startEffects(({ body }) => ({ delayMs: EFFECT_MS, body: { id: body.id } }))
    soak.after(() => effects.stop())
    const database = await freshDatabase()
    soak.after(() => database.close())
    const credentials = { tenantId: 'ten_often', apiKey: 'sk_often_0123456789' }
    const start = (name: string) =>
      startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, MILLRACE_HOST_ID: name }, ...credentials })

    // Three machines. Callers use the one that started last.
    const up: { name: string; web: Web; since: number }[] = []
    const add = async (name: string) => {
      const web = await start(name)
      up.push({ name, web, since: performance.now() })
    }
    for (const name of ['one', 'two', 'three']) await add(name)
    soak.after(() => Promise.all(up.map(({ web }) => web.stop())))
    let newest = up.at(-1)?.web as Web
    const load = await startLoad(() => newest, effects, {
      clients: 8,
      stop: () =>
        soak.random() * 100 < STOPPED
          ? { how: soak.random() < 0.5 ? 'cancel' : 'terminate', afterMs: soak.random() * STOPPED_MS }
          : null,
    })

    let kills = 0
    let [downMs, downFrom] = [0, 0]
    let failure: unknown
    const starting = new Set<Promise<void>>()
    while (load.ended() < soak.rounds && failure === undefined) {
      await Promise.race([sleep(EVERY_MS * (0.75 + soak.random() / 2)), load.working])
      // Each gets some work before it is killed.
      const [oldest] = up
      if (!oldest || performance.now() - oldest.since < EVERY_MS) continue
      up.shift()
      if (up.length === 0) downFrom = performance.now()
      kills += 1
      oldest.web.kill('SIGKILL')
      const again = oldest.web.exited
        .then(() => add(oldest.name))
        .then(() => {
          newest = up.at(-1)?.web ?? newest
          if (up.length === 1) downMs = Math.max(downMs, performance.now() - downFrom)
        })
        .catch((error: unknown) => {
          failure = error
        })
        .finally(() => starting.delete(again))
      starting.add(again)
      if (kills % 50 === 0) soak.say(`${kills} kills, ${load.ended()} runs`)
    }
    await Promise.all(starting)
    if (failure) throw failure
    const problems = await load.finish()
    const stops = load.acknowledged.filter((promise) => 'stopped' in promise).length
    const still = load.longestStill()
    soak.say(
      `${kills} kills, ${load.ended()} runs, ${stops} stopped, ${load.acknowledged.length} promises, ${problems.length} broken; no run stood still for more than ${(still.ms / 1_000).toFixed(1)} s (${still.runId}, until ${still.until.toISOString()}); no process was up for at most ${(downMs / 1_000).toFixed(1)} s`,
    )
    expect(problems).toEqual([])
    expect(still.ms).toBeLessThan(STUCK_MS)
    await expectInvariants(database.sql)
    expect(await checkEffects(database.sql, effects.seen, { windowMs: WINDOW_MS })).toEqual([])
    soak.say(`${(await checkEffects(database.sql, effects.seen)).length} effects began within the window after a stop`)
  },
)
