import { expect } from 'vitest'
import { startLoad } from '../recovery/load'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startMachines } from './killing'
import { scenario } from './rounds'

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
    const machines = await startMachines(soak, database.url)
    const load = await startLoad(machines.newest, effects, {
      clients: 8,
      stop: () =>
        soak.random() * 100 < STOPPED
          ? { how: soak.random() < 0.5 ? 'cancel' : 'terminate', afterMs: soak.random() * STOPPED_MS }
          : null,
    })

    const { kills, downMs } = await machines.killUntil(
      () => load.ended() >= soak.rounds,
      load.working,
      () => `${load.ended()} runs`,
    )
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
