import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { processWide } from '@/db/process-wide'
import type { AppError } from '../errors'
import { requestIdFrom } from '../http/request-id'
import { errorResponse, type PlainAnswer } from '../http/respond'
import { type NoRoom, refusalOf, requireRoom, roomOf } from '../runs/queue-room'

/**
 * How long a refused credential is remembered. One that is disabled in the meantime gets its 401 after this time at the
 * latest.
 */
const KNOWN_MS = 1_000
const MAX_KNOWN = 10_000

interface Known {
  tenantId: string
  until: number
}

const refusals: Partial<Record<NoRoom, AppError>> = {}
const known = () => processWide('refused-starts', () => new Map<string, Known>())

/**
 * Refuses a start if too many runs wait, and remembers its caller.
 * @throws AppError RATE_LIMITED, UNAVAILABLE
 */
export function requireRoomFor(tenantId: string, headers: Headers): void {
  try {
    requireRoom(tenantId)
  } catch (err) {
    const key = callerOf((name) => headers.get(name) ?? undefined)
    if (key) {
      if (known().size >= MAX_KNOWN) known().clear()
      known().set(key, { tenantId, until: performance.now() + KNOWN_MS })
    }
    throw err
  }
}

/**
 * Refuses a caller who was just refused and would be refused again. It reads only the headers: callers who do not wait
 * send so many starts that even authenticating them would take time from the runs.
 */
export function refuseAgain(headers: IncomingHttpHeaders): PlainAnswer | null {
  if (known().size === 0) return null
  const key = callerOf((name) => headers[name] as string | undefined)
  const caller = key && known().get(key)
  if (!caller) return null
  if (caller.until < performance.now()) {
    known().delete(key)
    return null
  }
  const room = roomOf(caller.tenantId)
  if (room === 'free') return null
  // Made once: an error captures its stack, which takes as long as everything else here.
  refusals[room] ??= refusalOf(room)
  return errorResponse(refusals[room], requestIdFrom(headers['x-request-id'] as string | undefined))
}

/** Identifies a credential without storing it. Undefined for browsers, whose responses take more than this. */
function callerOf(header: (name: string) => string | undefined): string | undefined {
  const [key, token] = [header('x-api-key'), header('authorization')]
  if (header('origin') !== undefined || (key === undefined && token === undefined)) return undefined
  const parts = [key === undefined ? `token ${token}` : `key ${key}`, header('x-tenant-id') ?? '']
  return createHash('sha256').update(parts.join('\n')).digest('base64')
}
