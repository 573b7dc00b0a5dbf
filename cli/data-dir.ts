import { randomBytes } from 'node:crypto'
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from './lock'
import { CannotStart } from './print'
import type { ProcessRef } from './processes'

/** What runs on a data directory, for the next start and for whoever asks where the service is. */
export interface RunFile {
  url: string
  launcher: ProcessRef
  web: ProcessRef
}

/**
 * Makes this process the only launcher on the directory.
 * @throws CannotStart when another one lives, or when the directory cannot be used
 */
export function claimDataDir(dataDir: string): { release(): void; previous: RunFile | undefined } {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new CannotStart(`${dataDir} (DATA_DIR) cannot be written: ${(error as NodeJS.ErrnoException).code}.`)
  }
  const lock = takeLock(join(dataDir, 'run.lock'))
  const previous = readRunFile(dataDir)
  if ('owner' in lock) {
    const where = previous?.launcher.pid === lock.owner.pid ? ` at ${previous.url}` : ''
    throw new CannotStart(
      `Millrace already runs on ${dataDir}${where} (process ${lock.owner.pid}); stop it first or set another DATA_DIR.`,
    )
  }
  return {
    previous,
    release() {
      rmSync(join(dataDir, 'run.json'), { force: true })
      lock.release()
    },
  }
}

export function writeRunFile(dataDir: string, run: RunFile): void {
  const path = join(dataDir, 'run.json')
  writeFileSync(`${path}.new`, `${JSON.stringify(run)}\n`)
  renameSync(`${path}.new`, path)
}

/** A name for this installation that outlives its processes. */
export function hostId(dataDir: string): string {
  const path = join(dataDir, 'host-id')
  try {
    writeFileSync(path, `host_${randomBytes(8).toString('hex')}\n`, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(path, 'utf8').trim()
}

function readRunFile(dataDir: string): RunFile | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile
  } catch {
    return undefined
  }
}
