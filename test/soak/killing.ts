import { setTimeout as sleep } from 'node:timers/promises'
import { TEST_ENV } from '../support/api'
import { startWeb, type Web } from '../support/service'
import type { Soak } from './rounds'

const EVERY_MS = 2_000

export interface Machines {
  /** The one that started last, which callers use. */
  newest(): Web
  /**
   * Kills one process after the other, each after it had some work, and starts it again, until enough was done.
   * @throws what `working` throws
   */
  killUntil(isDone: () => boolean, working: Promise<unknown>, said: () => string): Promise<Kills>
}

export interface Kills {
  kills: number
  /** The longest time in which no process was up. */
  downMs: number
}

/** Three machines on one database, whose processes are killed every 2 s. */
export async function startMachines(
  soak: Soak,
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<Machines> {
  const credentials = { tenantId: 'ten_often', apiKey: 'sk_often_0123456789' }
  const up: { name: string; web: Web; since: number }[] = []
  const add = async (name: string) => {
    const web = await startWeb({ databaseUrl, env: { ...TEST_ENV, ...env, MILLRACE_HOST_ID: name }, ...credentials })
    up.push({ name, web, since: performance.now() })
  }
  for (const name of ['one', 'two', 'three']) await add(name)
  soak.after(() => Promise.all(up.map(({ web }) => web.stop())))
  let newest = up.at(-1)?.web as Web

  async function killUntil(isDone: () => boolean, working: Promise<unknown>, said: () => string): Promise<Kills> {
    let kills = 0
    let [downMs, downFrom] = [0, 0]
    let failure: unknown
    const starting = new Set<Promise<void>>()
    while (!isDone() && failure === undefined) {
      await Promise.race([sleep(EVERY_MS * (0.75 + soak.random() / 2)), working])
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
      if (kills % 50 === 0) soak.say(`${kills} kills, ${said()}`)
    }
    await Promise.all(starting)
    if (failure) throw failure
    return { kills, downMs }
  }
  return { newest: () => newest, killUntil }
}
