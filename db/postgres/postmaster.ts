import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A server's entry about itself in its data directory. */
export interface PidFile {
  pid: number
  port: number
  socketDir: string
}

/** The contents of `postmaster.pid`. Undefined while the file is absent or incomplete. */
export function readPidFile(dataDir: string): PidFile | undefined {
  const path = join(dataDir, 'postmaster.pid')
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, 'utf8').split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  if (!Number.isInteger(pid) || pid <= 0 || !lines[3]) return undefined
  // A server that got its directory as `/proc/self/cwd` (see cluster.ts) reports the same path for its socket.
  const socketDir = lines[4]?.startsWith('/proc/self/cwd') ? dataDir : (lines[4] ?? '')
  return { pid, port, socketDir }
}

/** Whether a process runs. A zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return processState(pid) !== 'Z'
}

/** Whether `pid` is a Postgres on `dataDir`, and not another process that reuses a dead server's number. */
export function isPostmaster(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false
  try {
    if (process.platform === 'linux') return worksIn(pid, dataDir)
    if (process.platform === 'win32') return true
    return basename(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).trim()) === 'postgres'
  } catch {
    return false // we may not inspect it, so it is not ours
  }
}

function worksIn(pid: number, dataDir: string): boolean {
  if (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes('(postgres)')) return false
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataDir)
  } catch {
    // Root in a container may not inspect other users' processes, but anyone may read their arguments.
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const directory = args[args.indexOf('-D') + 1]
    return directory === dataDir || directory === '/proc/self/cwd'
  }
}

/**
 * Postgres handles a dead server's pid file by itself unless the number is in use again, either by another process (a
 * new container reuses the same few numbers) or by a zombie. In that case this replaces the number with a free one. The
 * file stays, because Postgres also uses it to find backends that outlived their server.
 */
export function repairPidFile(dataDir: string): void {
  const found = readPidFile(dataDir)
  if (!found || !isTaken(found.pid) || isPostmaster(found.pid, dataDir)) return
  let free = 4_194_303
  while (isTaken(free)) free -= 1
  const path = join(dataDir, 'postmaster.pid')
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^\d+/, String(free)))
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function processState(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).charAt(0)
  } catch {
    return undefined
  }
}
