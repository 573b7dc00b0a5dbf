import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Env } from '@/server/env'
import { finishRestore } from './backup/swap'
import { WEB_STOP_MS } from './common.mjs'
import { acquireLock, SILENT_MS } from './lock'
import { CannotStart } from './print'
import { isElsewhere, type ProcessRef } from './processes'

/** Describes the processes on a data directory, for the next start and for commands that look for the service. */
export interface RunFile {
  url: string
  /** Set once the launcher has begun to stop: how long the web process may take for that. Older releases wrote true. */
  stopping?: number | true
  launcher: ProcessRef
  web: ProcessRef
}

interface Claim {
  /** The description of the previous processes. */
  previous: RunFile | undefined
  /** Whether this launcher owns the directory, so that it describes its processes there. */
  owned: boolean
  release(): void
}

/** How long a launcher may take to notice that its `npm` has gone and that it must stop. */
const NOTICE_MS = 1_000
/** How long Postgres may take to stop, after the web process. */
const POSTGRES_STOP_MS = 20_000

/**
 * Makes this process the directory's only launcher, after waiting for one that is stopping. Finishes an interrupted
 * restore.
 * @param shared whether launchers of other machines and containers may run on it as well, because the database is
 * elsewhere: the directory then belongs to the first of them
 * @throws CannotStart if another launcher is running or the directory cannot be used
 */
export async function claimDataDir(dataDir: string, shared = false): Promise<Claim> {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new CannotStart(`${dataDir} (DATA_DIR) cannot be written: ${(error as NodeJS.ErrnoException).code}.`)
  }
  const startedAt = Date.now()
  for (;;) {
    const lock = acquireLock(join(dataDir, 'run.lock'))
    const previous = readRunFile(dataDir)
    if (!('owner' in lock)) {
      finishRestore(dataDir)
      const release = () => {
        rmSync(join(dataDir, 'run.json'), { force: true })
        lock.release()
      }
      return { release, previous, owned: true }
    }
    const elsewhere = isElsewhere(lock.owner)
    if (shared && elsewhere) return { release: () => {}, previous: undefined, owned: false }
    const theirs = previous?.launcher.pid === lock.owner.pid ? previous : undefined
    // The lock of a killed container goes stale.
    if (Date.now() - startedAt > (elsewhere ? SILENT_MS + NOTICE_MS : patienceMs(theirs))) {
      throw new CannotStart(
        `Millrace already runs on ${dataDir}${theirs ? ` at ${theirs.url}` : ''} (process ${lock.owner.pid}${elsewhere ? ', on another machine or in another container' : ''}). ` +
          `Stop it first, or set another DATA_DIR.${elsewhere ? ' To share a folder, set DATABASE_URL.' : ''}`,
      )
    }
    await sleep(50)
  }
}

/** How long a start waits for the launcher that owns the directory. */
export function patienceMs(run: Pick<RunFile, 'stopping'> | undefined): number {
  if (!run?.stopping) return NOTICE_MS
  return (run.stopping === true ? WEB_STOP_MS : run.stopping) + POSTGRES_STOP_MS
}

/** Makes a start that waits for the directory wait longer. @param webMs how long the web process may take to stop */
export function markStopping(dataDir: string, webMs: number): void {
  const run = readRunFile(dataDir)
  if (run) writeRunFile(dataDir, { ...run, stopping: webMs })
}

export function writeRunFile(dataDir: string, run: RunFile): void {
  const path = join(dataDir, 'run.json')
  writeFileSync(`${path}.new`, `${JSON.stringify(run)}\n`)
  renameSync(`${path}.new`, path)
}

/** The service's address: PUBLIC_URL, else its current address, else the one it would use. */
export function serviceUrl({ PUBLIC_URL, dataDir, port }: Pick<Env, 'PUBLIC_URL' | 'dataDir' | 'port'>): string {
  return PUBLIC_URL?.replace(/\/$/, '') ?? readRunFile(dataDir)?.url ?? `http://localhost:${port}`
}

function readRunFile(dataDir: string): RunFile | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile
  } catch {
    return undefined
  }
}
