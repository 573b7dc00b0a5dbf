import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { ServiceContext } from './context'

const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** The delays after each failed attempt: first minutes, then these hours. */
export const waitsOf = (...hours: number[]): readonly number[] =>
  [1, 5, 30, ...hours.map((n) => n * 60)].map((n) => n * MINUTE_MS)

/** Whether the row has no lease, or an expired one because its process died. */
export const isFree = (leasedUntil: SQLWrapper, now: Date): SQL =>
  sql`(${leasedUntil} is null or ${leasedUntil} < ${now.toISOString()}::timestamptz)`

type Leased = PgTable & { leasedUntil: PgColumn }
interface Lease {
  leasedUntil: Date | null
}

/** Leases the row if it is free, or `mine` renews its lease. `ms` is longer than any attempt. */
export async function lease<T extends Leased>(
  { db, now }: ServiceContext,
  table: T,
  { where, ms, mine }: { where: SQL | undefined; ms: number; mine?: Lease | undefined },
): Promise<T['$inferSelect'] | null> {
  const at = now()
  const mayTake = mine?.leasedUntil ? eq(table.leasedUntil, mine.leasedUntil) : isFree(table.leasedUntil, at)
  const [row] = await db
    .update<Leased>(table)
    .set({ leasedUntil: new Date(at.getTime() + ms) })
    .where(and(where, mayTake))
    .returning()
  return row ?? null
}

/** Ends a lease, together with other changes of the row. A call that took too long changes nothing. */
export async function release<T extends Leased>(
  { db }: ServiceContext,
  table: T,
  { where, mine, change }: { where: SQL | undefined; mine: Lease; change?: Partial<T['$inferSelect']> },
): Promise<void> {
  if (!mine.leasedUntil) return
  await db
    .update<Leased>(table)
    .set({ ...change, leasedUntil: null })
    .where(and(where, eq(table.leasedUntil, mine.leasedUntil)))
}

/** The row's changes after an attempt: it ends with a status, or is retried (null) while delays are left. */
export function attempted<S extends string>(now: Date, tries: number, waits: readonly number[], ended: S | null) {
  const wait = waits[tries]
  return ended === null && wait !== undefined
    ? { tries: tries + 1, dueAt: new Date(now.getTime() + wait) }
    : { tries: tries + 1, status: ended ?? ('failed' as const), endedAt: now }
}
