import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { processWide } from '@/db/process-wide'
import { rateBuckets } from '@/db/schema/rate-buckets'
import { type Env, env } from '../env'
import { AppError } from '../errors'

type TenantLimited = 'requests' | 'starts' | 'invokes'
/**
 * The kinds of limits. Every request counts towards `requests`; starts and invokes also count towards their own limit.
 */
type Limited = TenantLimited | 'failures'

/** A bucket has room for one minute's requests and refills evenly. */
const WINDOW_MS = 60_000
const MAX_BUCKETS = 50_000
const SWEEP_MS = 10 * 60_000

interface Take {
  allowed: boolean
  /** When the bucket is full again, in milliseconds since 1970. */
  fullAt: number
}

/**
 * Takes one request from a bucket. Its whole state is one number, the time when it will be full again (the generic cell
 * rate algorithm: a token bucket without a token count).
 */
export function take(fullAt: number | undefined, perMinute: number, now: number): Take {
  const from = Math.max(fullAt ?? 0, now)
  const next = from + WINDOW_MS / perMinute
  // Summing many fractions is inexact; a thousandth of a millisecond never adds up to a request.
  if (next - now > WINDOW_MS + 0.001) return { allowed: false, fullAt: from }
  return { allowed: true, fullAt: next }
}

const buckets = () => processWide('rate-limit', () => ({ fullAt: new Map<string, number>(), sweptAt: 0 }))

function takeInMemory(id: string, perMinute: number, now: number): Take {
  const { fullAt } = buckets()
  const result = take(fullAt.get(id), perMinute, now)
  // Delete first, so that the map stays in the order of last use.
  fullAt.delete(id)
  fullAt.set(id, result.fullAt)
  if (fullAt.size > MAX_BUCKETS) {
    for (const [other, until] of fullAt) {
      if (until > now && fullAt.size <= MAX_BUCKETS) break
      fullAt.delete(other)
    }
  }
  return result
}

/** Like `take`, but in one statement on the database's clock, because the processes' clocks may differ. */
async function takeInDatabase(db: Db, id: string, perMinute: number, now: number): Promise<Take> {
  const clock = sql`extract(epoch from clock_timestamp()) * 1000`
  const next = sql`greatest(${rateBuckets.fullAt}, ${clock}) + ${WINDOW_MS / perMinute}::float8`
  const [taken] = await db
    .insert(rateBuckets)
    .values({ id, fullAt: sql`${clock} + ${WINDOW_MS / perMinute}::float8` })
    .onConflictDoUpdate({
      target: rateBuckets.id,
      set: { fullAt: next },
      setWhere: sql`${next} - ${clock} <= ${WINDOW_MS}::float8`,
    })
    .returning({ left: sql<number>`(${rateBuckets.fullAt} - ${clock})::float8` })
  await sweep(db, now)
  if (taken) return { allowed: true, fullAt: now + taken.left }
  const [row] = await db
    .select({ left: sql<number>`(${rateBuckets.fullAt} - ${clock})::float8` })
    .from(rateBuckets)
    .where(sql`${rateBuckets.id} = ${id}`)
  return { allowed: false, fullAt: now + (row?.left ?? WINDOW_MS) }
}

async function sweep(db: Db, now: number): Promise<void> {
  const state = buckets()
  if (now - state.sweptAt < SWEEP_MS) return
  state.sweptAt = now
  await db
    .delete(rateBuckets)
    .where(sql`${rateBuckets.fullAt} < extract(epoch from clock_timestamp()) * 1000 - ${WINDOW_MS}::float8`)
}

type Settings = Pick<Env, 'limits' | 'limitsShared'>

/**
 * Counts a guess before it is checked: a limit on failures alone would let the right guess through. Other work that
 * needs no credential counts the same way.
 * @param what how the error calls what is counted
 * @throws AppError RATE_LIMITED
 */
export async function countAttempt(
  who: string,
  db: Db,
  now: Date,
  { settings = env(), what = NAMES.failures }: { settings?: Settings; what?: string } = {},
): Promise<void> {
  const { limits, limitsShared } = settings
  await takeFrom({ id: `failures:${who}`, perMinute: limits.failures, what }, db, now, limitsShared)
}

/**
 * Takes one request of this `kind` from the bucket of `who`.
 * @returns headers for the response; empty without a limit
 * @throws AppError RATE_LIMITED
 */
export function spend(
  kind: Limited,
  who: string,
  db: Db,
  now: Date,
  { limits, limitsShared }: Settings,
): Promise<Record<string, string>> {
  const bucket = { id: `${kind}:${who}`, perMinute: limits[kind], what: NAMES[kind] }
  return takeFrom(bucket, db, now, limitsShared)
}

/** Like `spend`, from the shared bucket of all credentials of a tenant. @throws AppError RATE_LIMITED */
export function spendOfTenant(
  kind: TenantLimited,
  tenantId: string,
  db: Db,
  now: Date,
  { tenantLimits, limitsShared }: Pick<Env, 'tenantLimits' | 'limitsShared'>,
): Promise<Record<string, string>> {
  const what = `${NAMES[kind]} from all credentials of the workspace together`
  const bucket = { id: `tenant-${kind}:${tenantId}`, perMinute: tenantLimits[kind], what }
  return takeFrom(bucket, db, now, limitsShared)
}

async function takeFrom(
  { id, perMinute, what }: { id: string; perMinute: number; what: string },
  db: Db,
  now: Date,
  limitsShared: boolean,
): Promise<Record<string, string>> {
  if (perMinute === 0) return {}
  const moment = now.getTime()
  const { allowed, fullAt } = limitsShared
    ? await takeInDatabase(db, id, perMinute, moment)
    : takeInMemory(id, perMinute, moment)
  const used = Math.ceil(((fullAt - moment) / WINDOW_MS) * perMinute - 0.001)
  const headers = {
    'ratelimit-limit': String(perMinute),
    'ratelimit-remaining': String(allowed ? Math.max(0, perMinute - used) : 0),
    'ratelimit-reset': String(Math.max(0, Math.ceil((fullAt - moment) / 1000))),
  }
  if (allowed) return headers
  const waitMs = fullAt + WINDOW_MS / perMinute - moment - WINDOW_MS
  throw new AppError('RATE_LIMITED', {
    headers: { ...headers, 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    details: [{ message: `At most ${perMinute} ${what} per minute are accepted.` }],
  })
}

const NAMES: Record<Limited, string> = {
  requests: 'requests',
  starts: 'run starts',
  invokes: 'agent and tool calls',
  failures: 'requests with a wrong credential',
}
