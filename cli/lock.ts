import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { lives, type ProcessRef, refOf } from './processes'

/**
 * Takes a lock file for this process. Replaces a dead owner, never a living one.
 * @returns how to release it, or the living owner
 */
export function acquireLock(path: string): { release(): void } | { owner: ProcessRef } {
  mkdirSync(dirname(path), { recursive: true })
  const mine = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  writeFileSync(mine, JSON.stringify(refOf(process.pid)))
  try {
    for (;;) {
      // A link appears all at once, and only if the name is free.
      if (link(mine, path)) return { release: () => rmSync(path, { force: true }) }
      const owner = readOwner(path)
      if (owner && lives(owner)) return { owner }
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

function readOwner(path: string): ProcessRef | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessRef
  } catch {
    return undefined
  }
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
