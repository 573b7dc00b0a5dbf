import { preferStartedWork } from '@/db/index'
import { AppError } from '../errors'
import { type Patience, type Room, roomFor, type Slot, slotFor } from '../outbox'

/** Long enough for the queue to move, short enough that the service does not run out of work. */
const RETRY_AFTER_S = 5
/** For this long after a refusal, accepted runs take priority over new arrivals. */
const STARTED_FIRST_MS = 1_000

export type NoRoom = Exclude<Room, 'free'>

/**
 * Refuses a start while more runs wait than `QUEUE_LIMIT` allows. Call it before reading the request's body: a refusal
 * must cost far less than a start.
 * @throws AppError RATE_LIMITED if the tenant has its share waiting, UNAVAILABLE if the whole queue is full
 */
export function requireRoom(tenantId: string): void {
  const room = roomOf(tenantId)
  if (room !== 'free') throw refusalOf(room)
}

/**
 * Whether a start of the tenant has room. If not, the caller must refuse it; accepted work takes priority for a while.
 */
export function roomOf(tenantId: string): Room {
  const room = roomFor('workflow/walk.requested', anyWalkOf(tenantId))
  if (room !== 'free') preferStartedWork(STARTED_FIRST_MS)
  return room
}

/** The error of a start without room. */
export function refusalOf(room: NoRoom): AppError {
  const headers = { 'retry-after': String(RETRY_AFTER_S) }
  return room === 'full'
    ? new AppError('UNAVAILABLE', { headers, details: [{ message: 'Too many runs are waiting.' }] })
    : new AppError('RATE_LIMITED', {
        headers,
        details: [{ message: 'Too many runs of this workspace are waiting.' }],
      })
}

/** A slot for a run that is about to be written, as soon as one is free; null if the run should be queued. */
export function slotForRun(tenantId: string, patience: Patience): Promise<Slot | null> {
  return slotFor('workflow/walk.requested', anyWalkOf(tenantId), patience)
}

/** For checks before a run exists: the engine considers only the tenant. */
function anyWalkOf(tenantId: string) {
  return { tenantId, runId: '', branch: '', epoch: 0, segment: 0 }
}
