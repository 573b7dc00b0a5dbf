import type { Sql } from '@/db/index'
import type { Effect } from '../effects'
import type { Violation } from './rule'

interface Recorded {
  key: string
  attempt: number
  /** False for a record copied from the run that this one retries. */
  own: boolean
  completed: boolean
  ended: Date | null
  run_ended: Date | null
}

/** The product uses the database's clock; the effects' server uses this machine's. Maximum difference of the two. */
const CLOCKS_MS = 5

function isAfter(at: Date, then: Date, windowMs = 0): boolean {
  return at.getTime() > then.getTime() + windowMs + CLOCKS_MS
}

/**
 * Compares the effects of `test-effect` steps, as the outside world saw them, with their records.
 * @param windowMs how long after the end of its run an effect may still begin; see docs/operations.md
 * @param recorded when each result was written, by key. Without it, when the work ended, slightly earlier.
 */
export async function checkEffects(
  sql: Sql,
  seen: readonly Effect[],
  { windowMs = 0, recorded }: { windowMs?: number; recorded?: ReadonlyMap<string, Date> } = {},
): Promise<Violation[]> {
  const rows = await sql<Recorded[]>`
    select s.run_id || ':' || s.branch || ':' || s.step_id || ':' || s.visit as key, s.attempt,
      not exists (select from step_records o where o.tenant_id = r.tenant_id and o.run_id = r.retry_of
        and (o.branch, o.step_id, o.visit, o.start_time) = (s.branch, s.step_id, s.visit, s.start_time)) as own,
      s.status = 'completed' as completed, s.end_time as ended, r.end_time as run_ended
    from step_records s join runs r on r.tenant_id = s.tenant_id and r.id = s.run_id
    where s.step_type = 'test-effect' and s.config->>'url' is not null`
  const records = new Map(rows.map((row) => [row.key, row]))
  const times = new Map<string, number>()
  const broken: Violation[] = []
  const report = (name: string, says: string, where: string) => broken.push({ name, says, where })
  for (const { key, at } of seen) {
    const count = (times.get(key) ?? 0) + 1
    times.set(key, count)
    const record = records.get(key)
    if (!record) report('I13', 'every effect belongs to a recorded visit', key)
    else if (count > record.attempt)
      report('I14', 'a step runs once per counted attempt', `${key}: ${count} of ${record.attempt}`)
    const recordedAt = recorded ? recorded.get(key) : record?.ended
    if (record?.completed && recordedAt && isAfter(at, recordedAt))
      report(
        'I14',
        'a step whose result is recorded never runs again',
        `${key}: recorded at ${recordedAt.toISOString()}, began at ${at.toISOString()}`,
      )
    if (record?.run_ended && isAfter(at, record.run_ended, windowMs))
      report('I8', 'no effect begins after the end of its run', key)
  }
  for (const { key, own, completed } of rows)
    if (completed && own && !times.has(key)) report('I13', 'a completed step had its effect', key)
  return broken
}
