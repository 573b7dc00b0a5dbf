import { randomBytes } from 'node:crypto'
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isElsewhere, lives, type ProcessRef, refOf } from './processes'

/** How often an owner writes its lock again, so that processes that cannot see it know that it lives. */
const WRITE_MS = 2_000
/** An owner on another machine counts as dead once its lock is this old. */
export const SILENT_MS = 10_000

/**
 * Takes a lock file for this process. Replaces a dead owner, never a living one: on this machine its process shows
 * which, on others that share the folder the age of the file.
 * @returns a function that releases it, or the living owner
 */
export function acquireLock(path: string): { release(): void } | { owner: ProcessRef } {
  mkdirSync(dirname(path), { recursive: true })
  const mine = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  const text = JSON.stringify(refOf(process.pid))
  writeFileSync(mine, text)
  try {
    for (;;) {
      // A link appears complete, and only if the name is free.
      if (link(mine, path)) return { release: keepWriting(path, text) }
      const owner = readOwner(path)
      if (owner && (lives(owner) || (isElsewhere(owner) && isRecent(path, mine)))) return { owner }
      // Move it instead of deleting it: another process may have replaced the dead owner's file since we read it.
      const old = `${mine}.old`
      if (!move(path, old)) continue
      const moved = readOwner(old)
      if (moved && lives(moved)) link(old, path)
      rmSync(old, { force: true })
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

/** @returns a function that releases the lock, unless it has another owner by now */
function keepWriting(path: string, text: string): () => void {
  const isMine = () => attempt(() => readFileSync(path, 'utf8')) === text
  const write = () => {
    if (!isMine()) return
    // Over the same bytes, so that nobody ever reads a part of them.
    const file = openSync(path, 'r+')
    writeSync(file, text, 0)
    closeSync(file)
  }
  const timer = setInterval(() => attempt(write), WRITE_MS).unref()
  return () => {
    clearInterval(timer)
    if (isMine()) rmSync(path, { force: true })
  }
}

/** By the clock of the disk, which has stamped both files. */
function isRecent(path: string, justWritten: string): boolean {
  return attempt(() => statSync(justWritten).mtimeMs - statSync(path).mtimeMs < SILENT_MS) ?? false
}

/** Undefined if the file has just gone. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function readOwner(path: string): ProcessRef | undefined {
  return attempt(() => JSON.parse(readFileSync(path, 'utf8')) as ProcessRef)
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function move(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}
