import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time in these units, independent of the kernel's own clock. */
const MS_PER_TICK = 10

interface Usage {
  pid: number
  parent: number
  ownTicks: number
  /** Of children that have ended. */
  reapedTicks: number
}

/** Milliseconds of processor time that these processes and all their descendants have used so far. */
export function cpuMs(pids: readonly number[]): number {
  const all = everyProcess()
  const family = new Set(pids)
  // A child's number may be lower than its parent's, so search until no more are found.
  for (let before = 0; before < family.size; ) {
    before = family.size
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid)
  }
  return all
    .filter(({ pid }) => family.has(pid))
    .reduce((sum, { ownTicks, reapedTicks }) => sum + (ownTicks + reapedTicks) * MS_PER_TICK, 0)
}

/** The resident memory of these processes. */
export function rssBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024, 0)
}

function everyProcess(): Usage[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => parseStat(read(`/proc/${name}/stat`)))
    .filter((usage) => usage !== undefined)
}

/** A line of `/proc/<pid>/stat`. The program's name, in brackets, may contain spaces and brackets. */
export function parseStat(line: string): Usage | undefined {
  const end = line.lastIndexOf(')')
  if (end < 0) return undefined
  const fields = line.slice(end + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  return {
    pid: Number.parseInt(line, 10),
    parent: number(1),
    ownTicks: number(11) + number(12),
    reapedTicks: number(13) + number(14),
  }
}

/** Empty for a process that has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
