import type { schedules, scheduleTicks } from '@/db/schema/schedules'
import { nextTimes, parseCron } from '@/lib/cron'
import type { Masker } from '../vault/mask'

export type ScheduleRow = typeof schedules.$inferSelect
export type TickRow = typeof scheduleTicks.$inferSelect

const NEXT = 5

/** A schedule with its next times, and the outcome of its last one. */
export function presentSchedule(row: ScheduleRow, last: TickRow | null, masker: Masker) {
  const { id, workflowId, name, cron, timeZone, catchUp, enabled, nextAt, createdBy, updatedBy } = row
  const from = nextAt && new Date(nextAt.getTime() - 1)
  return {
    id,
    workflowId,
    name: masker.text(name),
    cron,
    timeZone,
    catchUp,
    data: masker.json(row.data),
    enabled,
    next: from ? nextTimes(parseCron(cron), timeZone, from, NEXT).map((at) => at.toISOString()) : [],
    last: last && presentTick(last, masker),
    createdBy,
    updatedBy,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export type Schedule = ReturnType<typeof presentSchedule>

export function presentTick({ at, status, runId, error }: TickRow, masker: Masker) {
  return { at: at.toISOString(), status, runId, error: error && masker.text(error) }
}
