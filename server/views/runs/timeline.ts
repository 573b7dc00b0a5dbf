import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runMoves } from '@/db/schema/moves'
import { pauses, runs, scopes, stepRecords, walks } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isBranch, MAX_PLACE } from '../../definition/branches'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { TIMED_OUT } from '../../interpreter/flow/index'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { CLEANUP_BRANCH, MAIN_BRANCH } from '../../run-store/names'
import { runMaskerOf } from '../../runs/run-masker'
import { isLarge } from '../../runs/stored-run'
import { findStepType, stepTypes } from '../../steps/registry'
import type { Masker } from '../../vault/mask'
import { type ForkCounts, namesOf } from './forks'
import { SEGMENT_KINDS, segmentsOf } from './segments'

export const ReadTimeline = z.object({
  runId: z.string(),
  /** The `change` of an earlier answer: get only open visits, and those that changed after it. */
  after: z.number().int().min(0).optional(),
  /** Get only the visits of this branch. */
  branch: z.string().max(MAX_PLACE).optional(),
})
export type ReadTimeline = z.input<typeof ReadTimeline>

/** A wait whose time was up is no failure on screens, although the step is recorded as failed. */
export const VISIT_STATUS = ['running', 'completed', 'failed', 'timed_out'] as const

/**
 * A visit in as few bytes as possible, because a run may have thousands. Times are milliseconds since the run's start.
 * `segments` is empty if the step was running all the time, otherwise a flat list of kind, from and to (-1 while open).
 */
export type TimelineRow = [
  seq: number,
  step: number,
  visit: number,
  status: number,
  start: number,
  end: number | null,
  attempts: number,
  segments: number[],
  /** The exit that the run took, of a step with several. */
  exit?: string,
]

export interface Timeline {
  /** To pass as `after`. */
  change: number
  startTime: string
  endTime: string | null
  /** Each step once: id, name, type and branch; rows refer to it by its index. */
  steps: [id: string, name: string, type: string, branch: string][]
  rows: TimelineRow[]
  /** The branches of each visit that forked, by its `seq`. */
  forks: Record<number, ForkCounts>
  /** The labels of these steps' exits, and of named branches. */
  labels: Record<string, Record<string, string>>
  names: Record<string, [key: string, label: string][]>
  /** Older visits are missing; in an answer to `after`, perhaps also some that changed. */
  cut: boolean
}

/** A visit with its run. A run without visits has a single row whose visit columns are null. */
type Row = {
  runChange: number
  runStart: number
  runEnd: number | null
  workflowId: string
  workflowVersion: number
  moves: { at: string; fromVersion: number }[] | null
} & (RecordRow | { seq: null })

type RecordRow = {
  seq: number
  change: number
  stepId: string
  stepName: string
  stepType: string
  branch: string
  visit: number
  status: (typeof VISIT_STATUS)[number]
  timedOut: boolean | null
  start: number
  end: number | null
  exit: string | null
  attempt: number
  attempts:
    | [start: string, end: string, retryInMs: number | null, part: 'time' | 'asks' | null, attempt: number][]
    | null
  waitStart: number | null
  waitEnd: number | null
  /** Of a visit that forked. */
  total: number | null
  succeeded: number | null
  failed: number | null
}

/**
 * How many of the newest visits to return; a row takes about fifty bytes. Visits outside branches come first: a hundred
 * thousand iterations must not displace the steps before them.
 */
const MAX_VISITS = 20_000
const MAX_IN_BRANCHES = 2_000
/** How many older visits in branches to add that are still open. */
const MAX_OPEN = 500
/** How many branches to examine for changes: of the running ones, and of those that ended last. */
const MAX_MOVED = 500
/** The walks that are no branches. */
const ROOTS = [MAIN_BRANCH, CLEANUP_BRANCH]

/**
 * The visits of a run, of one of its branches, or the changed ones, in order, without their data.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function readTimeline(ctx: ServiceContext, input: unknown): Promise<Timeline> {
  authorize(ctx, 'run:read')
  const { runId, after = 0, branch } = parseInput(ReadTimeline, input)
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  // Changes are small, however large the run is.
  const whole = after === 0 && branch === undefined && (await isLarge(ctx, runId))
  const [rows, masker] = await Promise.all([
    whole ? largeRead(ctx, (reading) => readRows(reading, runId, after)) : readRows(ctx, runId, after, branch),
    runMaskerOf(ctx, runId),
  ])
  const run = rows[0]
  if (!run) throw new AppError('RUN_NOT_FOUND')
  // Two of the queries may find the same visit.
  const records = rows.filter((row, at): row is Row & RecordRow => row.seq !== null && row.seq !== rows[at - 1]?.seq)
  const { steps, indexOf } = stepTable(masker)
  const { labels, names } = await namesOf(ctx, run, records, masker)
  const inside = records.filter((record) => isBranch(record.branch))
  const changed = inside.filter(({ change }) => change > after).length
  const most = after > 0 ? MAX_MOVED : MAX_IN_BRANCHES
  return {
    change: records.reduce((most, { change }) => Math.max(most, change), run.runChange),
    startTime: new Date(run.runStart).toISOString(),
    endTime: run.runEnd === null ? null : new Date(run.runEnd).toISOString(),
    steps,
    rows: records.map((record) => presentRow(record, run.runStart, indexOf(record))),
    forks: Object.fromEntries(
      records.flatMap(({ seq, total, succeeded, failed }) =>
        total === null ? [] : [[seq, { total, succeeded: succeeded ?? 0, failed: failed ?? 0 }]],
      ),
    ),
    labels,
    names,
    cut:
      (after > 0 ? changed >= most : inside.length > (branch === undefined ? most : MAX_VISITS)) ||
      records.length - inside.length > MAX_VISITS,
  }
}

/** The newest visits, if a screen cannot draw them all, and one more, which shows that there are others. Each part uses an index, however large the run is. */
async function readRows(ctx: ServiceContext, runId: string, after: number, branch?: string): Promise<Row[]> {
  const of = sql`n.tenant_id = ${ctx.tenantId} and n.run_id = ${runId}`
  const roots = sql`n.branch in (${sql.join(
    ROOTS.map((root) => sql`${root}`),
    sql`, `,
  )})`
  const forks = stepTypes().flatMap(({ mode, type }) => (mode === 'fork' ? [type] : []))
  const newest = (where: SQL, most: number) =>
    sql`(select * from ${stepRecords} n where ${of} and ${where} order by n.seq desc limit ${most + 1})`
  const parts =
    branch === undefined
      ? [
          newest(roots, MAX_VISITS),
          sql`(select * from ${newest(sql`true`, MAX_VISITS)} n where not ${roots}
            order by n.seq desc limit ${MAX_IN_BRANCHES + 1})`,
          ...olderInBranches(of, after),
        ]
      : [newest(sql`n.branch = ${branch}`, MAX_VISITS)]
  const chosen = sql.join(parts, sql` union all `)
  return ctx.db.execute<Row>(sql`
    select ${number('r.change')} "runChange", ${millis('r.start_time')} "runStart", ${millis('r.end_time')} "runEnd",
      r.workflow_id "workflowId", r.workflow_version "workflowVersion", (
        select json_agg(json_build_object('at', m.moved_at, 'fromVersion', m.from_version) order by m.n)
        from ${runMoves} m where m.tenant_id = ${ctx.tenantId} and m.run_id = ${runId}) moves,
      ${number('s.seq')} seq, ${number('s.change')} change, s.step_id "stepId", s.step_name "stepName",
      s.step_type "stepType", s.branch, s.visit, s.status, s.error_code = ${TIMED_OUT} "timedOut", s.exit, s.attempt, ${millis('s.start_time')} "start",
      ${millis('s.end_time')} "end", ${millis('p.created_at')} "waitStart", ${millis('p.answered_at')} "waitEnd",
      f.total, f.succeeded, f.failed,
      case when s.attempts <> '[]' then (
        select jsonb_agg(jsonb_build_array(a->'startTime', a->'endTime', a->'retryInMs', a->'part', a->'attempt'))
        from jsonb_array_elements(s.attempts) a) end attempts
    from ${runs} r
    left join (${chosen}) s on s.change > ${after} or s.end_time is null
    left join ${pauses} p on p.tenant_id = r.tenant_id and p.run_id = r.id
      and p.id = s.branch || ':' || s.step_id || '#' || s.visit
    left join ${scopes} f on s.step_type = any(${sql.param(forks)}::text[]) and f.tenant_id = r.tenant_id and f.run_id = r.id
      and f.id = s.branch || '/' || s.step_id || '#' || s.visit
    where r.tenant_id = ${ctx.tenantId} and r.id = ${runId}
    order by s.seq`)
}

/**
 * Visits in branches that may be older than the newest ones: open ones and, for a change, those that have ended since.
 * They are found through their walks, because an index that moves as a step ends would slow down every step.
 */
function olderInBranches(of: SQL, after: number): SQL[] {
  const moved = sql`select n.branch from ${walks} n where ${of} and n.scope is not null and n.status <> 'queued'`
  const underWay = sql`${moved} and n.status in ('requested', 'walking', 'resting', 'waiting')`
  const visits = (branches: SQL, where: SQL, most: number) =>
    sql`(select n.* from (${branches}) w join ${stepRecords} n on ${of} and n.branch = w.branch and ${where} limit ${most})`
  const open = visits(underWay, sql`n.end_time is null`, MAX_OPEN)
  if (after === 0) return [open]
  const last = sql`${moved} and n.status = 'ended' order by n.updated_at desc limit ${MAX_MOVED}`
  const changed = sql`n.change > ${after}`
  return [
    open,
    visits(sql`${underWay} limit ${MAX_MOVED}`, changed, MAX_IN_BRANCHES),
    visits(last, changed, MAX_IN_BRANCHES),
  ]
}

/** As numbers; the driver would otherwise return text. */
function number(column: string) {
  return sql.raw(`${column}::float8`)
}

function millis(column: string) {
  return sql.raw(`round(extract(epoch from ${column}) * 1000)::float8`)
}

function stepTable(masker: Masker) {
  const steps: Timeline['steps'] = []
  const places = new Map<string, number>()
  return {
    steps,
    indexOf({ stepId, stepName, stepType, branch }: RecordRow): number {
      const key = `${branch}:${stepId}`
      const known = places.get(key)
      if (known !== undefined) return known
      places.set(key, steps.length)
      return steps.push([stepId, masker.text(stepName), stepType, branch]) - 1
    },
  }
}

function presentRow(record: RecordRow, began: number, step: number): TimelineRow {
  const { seq, visit, start, end, attempt } = record
  const attempts = (record.attempts ?? []).map(([from, to, _retry, part]) => ({
    start: Date.parse(from),
    end: Date.parse(to),
    ...(part === null ? {} : { part }),
  }))
  const parts = (record.attempts ?? []).filter(([, , , part]) => part).length
  const last = record.attempts?.at(-1)
  const open = end === null
  const mode = findStepType(record.stepType)?.mode
  const status = mode === 'pause' && record.timedOut ? 'timed_out' : record.status
  const segments = segmentsOf({
    start,
    end,
    attempts,
    atWork: open && (mode === 'fork' || (mode === 'effect' && attempt > (last?.[4] ?? 0))),
    dueAt: last ? Date.parse(last[1]) + (last[2] ?? 0) : null,
    wait: record.waitStart === null ? null : { start: record.waitStart, end: record.waitEnd ?? (open ? null : end) },
  })
  const [only] = segments
  const plain = segments.length <= 1 && (!only || only.kind === 'running')
  const row: TimelineRow = [
    seq,
    step,
    visit,
    VISIT_STATUS.indexOf(status),
    start - began,
    end === null ? null : end - began,
    Math.max(1, attempt - parts),
    plain
      ? []
      : segments.flatMap(({ kind, from, to }) => [
          SEGMENT_KINDS.indexOf(kind),
          from - began,
          to === null ? -1 : to - began,
        ]),
  ]
  if (record.exit !== null) row.push(record.exit)
  return row
}
