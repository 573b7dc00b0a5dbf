import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Env } from '@/server/env'
import { reachDatabase } from './database'
import type { Flags } from './launcher'
import { CannotStart, print, printError } from './print'
import { aborted, keepRunning } from './supervise'
import { EXIT_MS, Killed, startWorker, type WebProcess } from './web-process'

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

/**
 * Supervises a process that executes runs and serves no requests, until it is asked to stop. Any number may run on one
 * database and one data folder.
 */
export async function launch(env: Env, flags: Flags, stop: AbortSignal): Promise<void> {
  if (flags.dev)
    throw new CannotStart('A worker has no development mode. Set ENGINE to inline or off, or use `npm run worker`.')
  const startedAt = Date.now()
  const log = (message: string) => (flags.json ? printError : print)(`  ${message}`)
  const ending = new AbortController()
  const signal = AbortSignal.any([stop, ending.signal])
  const { DATABASE_URL: databaseUrl = '' } = env
  let worker: WebProcess | undefined
  const start = async () => {
    worker = startWorker({
      root: ROOT,
      output: flags.json ? 'stderr' : 'inherit',
      env: { ENGINE: 'worker', DATA_DIR: env.dataDir },
    })
    await worker.ready
    return worker
  }
  try {
    requireKey(env)
    await reachDatabase(databaseUrl, log, signal)
    const mayPass = (error: unknown) => error instanceof Killed
    const { pid } = await keepRunning({ name: 'worker', start, mayPass, log, signal }).catch((error: unknown) => {
      throw new CannotStart(error instanceof Error ? error.message : String(error))
    })
    if (flags.json) print(JSON.stringify({ event: 'ready', pid: process.pid, workerPid: pid }))
    else
      print(
        `\n  Worker ready in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s. It executes the runs of DATABASE_URL.`,
      )
    await aborted(signal)
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    ending.abort()
    await worker?.stop(EXIT_MS)
  }
}

/** A worker must share the other processes' key, or it could not read their secrets. */
function requireKey({ ENCRYPTION_KEY, dataDir }: Env): void {
  mkdirSync(dataDir, { recursive: true })
  if (ENCRYPTION_KEY || existsSync(join(dataDir, 'encryption.key'))) return
  throw new CannotStart(
    `ENCRYPTION_KEY is missing, and ${dataDir} (DATA_DIR) holds no key. Give the worker the key or the folder of the processes that serve requests.`,
  )
}
