import { AppError } from './errors'
import { roomFor } from './outbox'

/** Long enough for the queue to move, short enough that the service does not run out of work. */
const RETRY_AFTER_S = 5

/**
 * Refuses a start while more runs wait than `QUEUE_LIMIT` allows. Call it before the request's body is read: a refusal must
 * cost far less than a start.
 * @throws AppError RATE_LIMITED if the tenant has its share waiting, UNAVAILABLE if the whole queue is full
 */
export function requireRoom(tenantId: string): void {
  const room = roomFor('workflow/walk.requested', { tenantId, runId: '', branch: '', epoch: 0, segment: 0 })
  if (room === 'free') return
  const headers = { 'retry-after': String(RETRY_AFTER_S) }
  if (room === 'full') {
    throw new AppError('UNAVAILABLE', { headers, details: [{ message: 'Too many runs are waiting.' }] })
  }
  throw new AppError('RATE_LIMITED', {
    headers,
    details: [{ message: 'Too many runs of this workspace are waiting.' }],
  })
}
