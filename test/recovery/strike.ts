import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '@/db/postgres/postmaster'
import type { Service } from '../support/service'

type Part = 'web' | 'postgres' | 'launcher'

/** The parts that one `kill -9` may hit together. A service whose launcher dies is restarted by hand. */
export const STRIKES: Record<string, Part[]> = {
  'the web process': ['web'],
  Postgres: ['postgres'],
  'web and Postgres': ['postgres', 'web'],
  'the launcher': ['launcher'],
  'all three': ['launcher', 'postgres', 'web'],
}

/** The longest time a strike may make the service unavailable. */
export const HEALTHY_AGAIN_MS = 15_000

/** The limit when other tests run concurrently: three ordinary starts, if that is longer. */
export function allowedMs(ordinaryStartMs: number): number {
  return Math.max(HEALTHY_AGAIN_MS, 3 * ordinaryStartMs)
}

/**
 * Kills the parts at once and waits until requests work again, with new processes in place of the dead ones.
 * @param startAgain starts the launcher again on the same data
 * @returns the restarted service, and how long nobody could use it
 */
export async function strike(service: Service, parts: Part[], startAgain: () => Promise<Service>) {
  const web = service.webPid()
  const postgres = service.postgresPid()
  const from = performance.now()
  for (const part of parts) service.kill('SIGKILL', part)
  const after = parts.includes('launcher') ? await service.exited.then(startAgain) : service
  const replaced = () =>
    (!parts.includes('web') || after.webPid() !== web) &&
    (!parts.includes('postgres') || ![undefined, postgres].includes(after.postgresPid()))
  while (!(replaced() && (await isHealthy(after)))) {
    if (performance.now() - from > GIVE_UP_MS) throw new Error(`not healthy again:\n${after.logs()}`)
    await sleep(20)
  }
  const ms = Math.round(performance.now() - from)
  if (parts.includes('launcher') && isAlive(web)) throw new Error('the web process outlived its launcher')
  if (!parts.includes('postgres') && after.postgresPid() !== postgres) {
    throw new Error('a Postgres that was well has been replaced')
  }
  return { service: after, ms }
}

const GIVE_UP_MS = 120_000

async function isHealthy({ url }: Service): Promise<boolean> {
  const response = await fetch(`${url}/api/health`).catch(() => undefined)
  await response?.arrayBuffer().catch(() => {})
  return response?.ok === true
}
