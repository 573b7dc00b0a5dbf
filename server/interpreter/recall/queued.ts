import { processWide } from '@/db/process-wide'
import { jsonSize } from '../../definition/json'
import type { RunData } from '../../definition/run'
import type { RunRow } from '../../run-store/walk-data'
import { recalls } from './switch'

/** A run as it was written, with its data. */
interface Queued {
  run: RunRow
  data: RunData
}

/** Runs that this process started, without records of an earlier run, whose walk waits for a free slot. */
const queued = () =>
  processWide('runs.queued', () => ({ runs: new Map<string, Queued & { bytes: number }>(), bytes: 0 }))

/**
 * Beyond this, the oldest are dropped. The oldest are also claimed first, so this must hold a long queue: one that
 * drops its head would never be of use.
 */
const MAX_QUEUED = 10_000
const MAX_QUEUED_BYTES = 16 * 1024 * 1024
/** Larger data is read again when its walk is claimed. */
const LARGEST_BYTES = 16 * 1024

/** Stores a run as it was written, for the claim of its walk in this process. */
export function keepQueued(engineRunId: string, started: Queued): void {
  const bytes = jsonSize(started.data)
  if (bytes > LARGEST_BYTES) return
  const all = queued()
  all.runs.set(engineRunId, { ...started, bytes })
  all.bytes += bytes
  while (all.runs.size > MAX_QUEUED || all.bytes > MAX_QUEUED_BYTES) {
    const [oldest] = all.runs.keys()
    if (oldest === undefined) return
    popQueued(oldest)
  }
}

/** Removes and returns a run as this process last saw it, so the claim must confirm it. */
export function popQueued(engineRunId: string): Queued | null {
  const all = queued()
  const started = all.runs.get(engineRunId)
  if (!started) return null
  all.runs.delete(engineRunId)
  all.bytes -= started.bytes
  return recalls() ? started : null
}
