import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '@/db/postgres/postmaster'
import { machineId } from '@/server/host/machine'

/** Identifies a process even if its number is later reused, or used in another container as well. */
export interface ProcessRef {
  pid: number
  startedAt: string
  /** Absent in files of older releases. */
  machine?: string
}

/** A process of this machine. */
export function refOf(pid: number): ProcessRef {
  return { pid, startedAt: startOf(pid) ?? '', machine: machineId() }
}

/** Whether this exact process is alive on this machine. */
export function lives(ref: ProcessRef | undefined): ref is ProcessRef {
  return ref !== undefined && !isElsewhere(ref) && isAlive(ref.pid) && startOf(ref.pid) === ref.startedAt
}

/** Whether a process belongs to another machine or container, so that this machine cannot see if it is alive. */
export function isElsewhere({ machine }: ProcessRef): boolean {
  return machine !== undefined && machine !== machineId()
}

/** Asks a process to end, and kills it after the grace period. */
export async function end(ref: ProcessRef, graceMs: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!lives(ref)) return
    try {
      process.kill(ref.pid, signal)
    } catch {
      return
    }
    const wait = signal === 'SIGTERM' ? graceMs : 5_000
    for (const until = Date.now() + wait; lives(ref) && Date.now() < until; ) await sleep(20)
  }
}

/** When a process started, in the system's own format. Only useful for comparison. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${ticks}`
    }
    if (process.platform === 'win32') return 'unknown'
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as unknown as NodeJS.ProcessEnv
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim() || undefined
  } catch {
    return undefined
  }
}
