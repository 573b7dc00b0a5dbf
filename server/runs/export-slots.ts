import { processWide } from '@/db/process-wide'
import { AppError } from '../errors'

/** How many exports a process sends concurrently, for one tenant and in all: each may hold the text of a large run. */
const PER_TENANT = 2
const IN_ALL = 8
/** A reader that takes this long has left, or might as well have. */
const LONGEST_MS = 10 * 60_000

const open = () => processWide('exports', () => new Set<{ tenantId: string }>())

/**
 * Counts a new export.
 * @returns a function that ends the count; further calls do nothing
 * @throws AppError UNAVAILABLE, with `retry-after`
 */
export function reserveExport(tenantId: string): () => void {
  const all = open()
  const own = [...all].filter((one) => one.tenantId === tenantId).length
  if (own >= PER_TENANT || all.size >= IN_ALL) {
    const message = 'Other exports are under way; try again shortly.'
    throw new AppError('UNAVAILABLE', { details: [{ message }], headers: { 'retry-after': '5' } })
  }
  const mine = { tenantId }
  all.add(mine)
  const release = () => {
    clearTimeout(timer)
    all.delete(mine)
  }
  const timer = setTimeout(release, LONGEST_MS)
  timer.unref()
  return release
}
