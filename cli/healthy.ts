import { setTimeout as sleep } from 'node:timers/promises'
import { START_PATIENCE_MS } from '@/db/wait'
import { Killed, type WebProcess } from './web-process'

interface Wait {
  host: string | undefined
  port: number
  dev: boolean
  signal: AbortSignal
}

/** How long a web process may take to start, excluding the time it waits for its database. */
const LIMIT_MS = { production: 60_000, dev: 180_000 }
/** Limit for one answer. In dev, the first request compiles the route. */
const ANSWER_MS = { production: 5_000, dev: 60_000 }

/**
 * Waits until the process is ready and answers requests. Kills it if it takes too long.
 * @throws Error if the process ended or took too long
 */
export async function becomesHealthy(web: WebProcess, { host, port, dev, signal }: Wait): Promise<void> {
  const mode = dev ? 'dev' : 'production'
  const giveUp = AbortSignal.timeout(START_PATIENCE_MS + LIMIT_MS[mode])
  const url = `http://${address(host)}:${port}/api/health`
  let last = 'no answer'
  try {
    await Promise.race([web.ready, aborted(AbortSignal.any([giveUp, signal]))])
    while (!giveUp.aborted && !signal.aborted) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS[mode]) }).catch((error: Error) => error)
      if (answer instanceof Error) last = answer.message
      else {
        await answer.arrayBuffer().catch(() => {})
        if (answer.ok) return
        last = `status ${answer.status}`
      }
      if (await Promise.race([web.exited.then(() => true), sleep(50)])) {
        throw new Killed('it ended as soon as it was ready')
      }
    }
    const seconds = (START_PATIENCE_MS + LIMIT_MS[mode]) / 1_000
    throw new Error(`The service did not become healthy within ${seconds} s: GET ${url} gave ${last}.`)
  } catch (error) {
    if (!signal.aborted) web.kill()
    throw error
  }
}

/** The address at which this machine reaches a server bound to `host`. */
function address(host: string | undefined): string {
  if (!host || host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}
