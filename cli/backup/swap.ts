import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { RESTORED } from './contents'

/** While this file exists, the folder is between its old contents and the restored ones. */
const JOURNAL = 'restore.json'
export const DRAFT = 'restore.new'

interface Journal {
  /** The folder inside the data folder that preserves the old contents; null without any. */
  kept: string | null
  /** True once all old contents have been moved there. */
  cleared: boolean
}

/**
 * Replaces the contents of the data folder with the draft's. A crash does not undo this: `finishRestore` completes it.
 */
export function swapIn(dataDir: string, kept: string | null): void {
  writeJournal(dataDir, { kept, cleared: false })
  finishRestore(dataDir)
}

/** Finishes an interrupted restore that had begun to replace things. Call under the folder's lock. */
export function finishRestore(dataDir: string): void {
  const path = join(dataDir, JOURNAL)
  if (!existsSync(path)) return
  const { kept, cleared } = JSON.parse(readFileSync(path, 'utf8')) as Journal
  if (!cleared) {
    if (kept !== null) move(dataDir, join(dataDir, kept))
    writeJournal(dataDir, { kept, cleared: true })
  }
  move(join(dataDir, DRAFT), dataDir)
  rmSync(path)
  rmSync(join(dataDir, DRAFT), { recursive: true, force: true })
  sync(dataDir)
}

/** Whether a restore has begun to replace things and is not done. */
export function isSwapping(dataDir: string): boolean {
  return existsSync(join(dataDir, JOURNAL))
}

/** The files a restore would replace. */
export function replaceable(dataDir: string): string[] {
  return RESTORED.filter((name) => existsSync(join(dataDir, name)))
}

function move(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of replaceable(from)) renameSync(join(from, name), join(to, name))
  for (const folder of [from, to]) if (existsSync(folder)) sync(folder)
}

function writeJournal(dataDir: string, journal: Journal): void {
  const path = join(dataDir, JOURNAL)
  writeFileSync(`${path}.new`, JSON.stringify(journal), { flush: true })
  renameSync(`${path}.new`, path)
  sync(dataDir)
}

function sync(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
