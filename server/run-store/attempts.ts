import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Attempt } from '../definition/run'

interface Attempts {
  /** How many began. */
  attempt: number
  /** Those that ended. */
  attempts: readonly Attempt[]
}

/** The attempts of a visit as people count them: with its parts, each is one. It has the logs of its parts. */
export function wholeAttempts({ attempt, attempts }: Attempts): { attempt: number; attempts: Attempt[] } {
  const whole: Attempt[] = []
  let parts: Attempt[] = []
  let before = 0
  for (const one of attempts) {
    if (one.part) {
      parts.push(one)
      continue
    }
    before += parts.length
    const logs = [...parts, one].flatMap(({ logs = [] }) => logs)
    whole.push({ ...one, attempt: one.attempt - before, ...(logs.length > 0 ? { logs } : {}) })
    parts = []
  }
  return { attempt: Math.max(1, attempt - before - parts.length), attempts: whole }
}

/** The number of the latest attempt that has ended, of a record `s`; 0 without any. Those that died leave no row. */
export const LAST_ENDED = sql`coalesce((s.attempts->-1->>'attempt')::int, 0)`

/** Whether an attempt is at work, or has died. */
export function isAttempting({ attempt, attempts }: Attempts): boolean {
  return attempt > (attempts.at(-1)?.attempt ?? 0)
}

/** Whether a visit has asked and does not work until it gets an answer. */
export function waitsForPeople(visit: Attempts): boolean {
  return visit.attempts.at(-1)?.part === 'asks' && !isAttempting(visit)
}

/** The number of attempts that began, without the parts of a visit. */
export function attemptsBegun(attempt: SQLWrapper, attempts: SQLWrapper): SQL<number> {
  return sql<number>`greatest(1, ${attempt} - jsonb_array_length(jsonb_path_query_array(${attempts}, '$[*].part')))`
}
