import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { QUIET_MS } from '@/cli/supervise'
import { expectSoundIn, guardIn, startLoad } from '../recovery/load'
import { HEALTHY_AGAIN_MS, STRIKES, strike } from '../recovery/strike'
import { TEST_ENV } from '../support/api'
import { startEffects } from '../support/effects'
import { startService, temporaryDir } from '../support/service'
import { scenario } from './rounds'

/** The number of strikes on one part after which the launcher's delay would exceed what callers accept. */
const STRIKES_IN_A_ROW = 3

for (const [name, parts] of Object.entries(STRIKES)) {
  scenario(`kill -9 of ${name}: healthy within 15 s, nothing acknowledged is lost`, 10, async (soak) => {
    const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id } }))
    soak.after(() => effects.stop())
    const home = temporaryDir()
    soak.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    const start = () => startService({ dataDir: `${home}/data`, env: TEST_ENV })
    let service = await start()
    soak.after(() => service.stop())
    await guardIn(service.dataDir)

    const load = await startLoad(() => service, effects)
    const times: number[] = []
    for (let round = 1; round <= soak.rounds; round++) {
      await load.more(5)
      await sleep(soak.random() * 2_000)
      // The launcher's delays grow with every end that quickly follows another, and this test is not about the delays.
      if (!parts.includes('launcher') && round % STRIKES_IN_A_ROW === 1 && round > 1) await sleep(QUIET_MS)
      const after = await strike(service, parts, start)
      service = after.service
      times.push(after.ms)
    }
    await load.more(5)
    const problems = await load.finish()
    soak.say(`healthy again after ${times.map((ms) => (ms / 1_000).toFixed(1)).join(', ')} s`)
    soak.say(`${load.acknowledged.length} promises, ${problems.length} broken`)
    expect(problems).toEqual([])
    expect(times.filter((ms) => ms > HEALTHY_AGAIN_MS)).toEqual([])
    await expectSoundIn(service.dataDir, effects)
  })
}
