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

/** Whether a visit has asked and does not work until it gets an answer. */
export function waitsForPeople({ attempt, attempts }: Attempts): boolean {
  const last = attempts.at(-1)
  return last?.part === 'asks' && last.attempt === attempt
}

/** The number of attempts that began, without the parts of a visit. */
export function attemptsBegun(attempt: SQLWrapper, attempts: SQLWrapper): SQL<number> {
  return sql<number>`greatest(1, ${attempt} - jsonb_array_length(jsonb_path_query_array(${attempts}, '$[*].part')))`
}
