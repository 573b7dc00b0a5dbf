import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Identifies the machine or container that the numbers of this process and of its neighbours belong to: processes with
 * the same id can see whether the others are alive. A folder cannot identify it, because containers may share it, but
 * not their processes.
 */
export function machineId(): string {
  let where = hostname()
  try {
    where += readFileSync('/proc/sys/kernel/random/boot_id', 'utf8') + readlinkSync('/proc/self/ns/pid')
  } catch {
    // Not Linux: there, processes that share a host name share its numbers.
  }
  return `host_${createHash('sha256').update(where).digest('hex').slice(0, 16)}`
}
