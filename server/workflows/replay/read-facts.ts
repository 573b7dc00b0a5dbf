import { type SQL, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import { storedSize } from '@/db/stored-size'
import type { ServiceContext } from '../../context'
import { branchesAround, originOf, scopeIdOf } from '../../definition/branches'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import type { PauseAnswer, RunError } from '../../definition/run'
import type { Place, WayVisit } from '../../definition/verdict'
import { MAIN_BRANCH, pauseIdOf } from '../../run-store/names'
import { stepTypes } from '../../steps/registry'
import { continuedElsewhere } from './continued'
import { askedWith, endOfRun, type Fact, type Facts, failedAs, type RecordedRun } from './facts'

interface RecordRow extends Place {
  type: string
  status: 'running' | 'completed' | 'failed'
  start: string
  config: JsonObject | null
  output: JsonObject | null
  /** What the step saved under `saveAs`. */
  saved: { value: JsonValue } | null
  code: string | null
  error: string | null
}

/** The rows of a run, as far as a walk needs them. */
interface Recording {
  input: JsonObject | null
  edits: JsonObject | null
  records: RecordRow[] | null
  first: Place | null
  answers: Record<string, PauseAnswer> | null
  /** The branches that have ended, in order; `ends` where the run ended with one. */
  arrived: { branch: string; ends: boolean }[] | null
}

/** A visit: branch, step, visit, exit, the code of its failure. */
type VisitRow = [string, string, number, string | null, string | null]

interface RunRow extends Record<string, unknown> {
  id: string
  version: number
  start: string
  isLarge: boolean
  continued: boolean
  /** Null if it is not read now. */
  recording: Recording | null
  visits: VisitRow[] | null
  end: { result: JsonValue; error: RunError | null; ended: boolean }
}

/** How much of the runs of one statement is read, with outputs as JSON and the rest as stored. */
const MAX_BYTES = 8 * 1024 * 1024
/** Of one run: with more, it is not read. */
const MAX_RUN_BYTES = 4 * 1024 * 1024
const MAX_RECORDS = 5_000

/** Runs of a workflow, in the order in which they were asked for. */
interface ReadRuns {
  runs: RecordedRun[]
  /** Those with too much data or too many records. */
  large: Pick<RecordedRun, 'id' | 'startTime'>[]
  /** Those for which there was no room in one read: ask again. */
  left: string[]
}

/**
 * What runs recorded, and the ways they went, in one statement. Omits runs of other workflows and of parts, and
 * those that are gone.
 * @param runIds at most 50
 */
export async function readRuns(ctx: ServiceContext, workflowId: string, runIds: readonly string[]): Promise<ReadRuns> {
  const rows = await ctx.db.execute<RunRow>(factsOf(ctx, workflowId, runIds))
  const read: ReadRuns = { runs: [], large: [], left: [] }
  for (const { id, version, start, isLarge, continued, recording, visits, end } of rows) {
    const startTime = new Date(start).toISOString()
    if (isLarge) read.large.push({ id, startTime })
    else if (!recording) read.left.push(id)
    else {
      const way = { visits: (visits ?? []).map(visitOf), end: endOfRun(end) }
      read.runs.push({ id, version, startTime, continued, facts: recordedIn(recording), way })
    }
  }
  return read
}

/**
 * What a run recorded: what its effects gave, what people answered, and in which order its branches ended.
 * @returns null if it has more than `most` records
 */
export async function readFacts(ctx: ServiceContext, runId: string, most: number): Promise<Facts | null> {
  const ofRun = sql`tenant_id = ${ctx.tenantId} and run_id = ${runId}`
  const [row] = await ctx.db.execute<{ size: number; recording: Recording }>(sql`
    select (select count(*)::int from (select 1 from ${stepRecords} where ${ofRun} limit ${most + 1}) s) as size,
      ${recordingOf(ofRun, most)} as recording
    from ${runs} r where r.tenant_id = ${ctx.tenantId} and r.id = ${runId}`)
  return !row || row.size > most ? null : recordedIn(row.recording)
}

function factsOf({ tenantId }: ServiceContext, workflowId: string, runIds: readonly string[]) {
  const ofRun = sql`tenant_id = ${tenantId} and run_id = r.id`
  // Sizes are read without the values.
  const sizeOf = (column: string) => sql`coalesce(pg_column_size(${sql.raw(column)}), 0)`
  // As JSON, a value may be a hundred times as large as it is stored. One that is saved is in the output too, and a
  // configuration that is filled in, in the input.
  const bytes = sql`greatest(${sizeOf('config')}, input_bytes) + ${storedSize(sql`output_bytes`, sql`output_data`)} + ${sizeOf('delta')}`
  return sql`
    with asked as (
      select id, nth from jsonb_array_elements_text(${JSON.stringify(runIds)}::jsonb) with ordinality as a (id, nth)),
    sized as (
      select r.id, asked.nth, s.records, s.bytes + ${sizeOf('r.input')} + ${sizeOf('r.edits')} + ${sizeOf('r.result')} as bytes
      from asked join ${runs} r on r.tenant_id = ${tenantId} and r.id = asked.id
      cross join lateral (select count(*)::int as records, coalesce(sum(bytes), 0) as bytes from (
        select ${bytes} as bytes from ${stepRecords} where ${ofRun} limit ${MAX_RECORDS + 1}) s) s
      where r.workflow_id = ${workflowId} and r.part is null),
    judged as (
      select *, records > ${MAX_RECORDS} or bytes > ${MAX_RUN_BYTES} as large from sized),
    fitting as (
      select *, not large and coalesce(sum(bytes) filter (where not large) over (order by nth), 0) <= ${MAX_BYTES} as fits
      from judged)
    select f.id, r.workflow_version as version, r.start_time as start, f.large as "isLarge", ${continuedElsewhere(tenantId)} as continued,
      case when f.fits then ${recordingOf(ofRun, MAX_RECORDS)} end as recording,
      case when f.fits then (select json_agg(json_build_array(branch, step_id, visit, exit, error_code) order by seq)
        from ${stepRecords} where ${ofRun}) end as visits,
      json_build_object('result', case when f.fits then r.result end, 'error', r.error, 'ended', r.end_time is not null) as end
    from fitting f join ${runs} r on r.tenant_id = ${tenantId} and r.id = f.id order by f.nth`
}

/** The types of steps that reach outside, or people; the others only compute. */
export function reachingTypes(): SQL {
  const reaching = stepTypes().filter(({ mode }) => mode === 'effect' || mode === 'pause')
  return sql`(select jsonb_array_elements_text(${JSON.stringify(reaching.map(({ type }) => type))}::jsonb))`
}

/** What `Recording` says, of the run `r`. */
function recordingOf(ofRun: SQL, most: number): SQL {
  // The others only compute.
  const types = reachingTypes()
  return sql`json_build_object('input', r.input, 'edits', r.edits,
    'records', (select json_agg(json_build_object('branch', s.branch, 'stepId', s.step_id, 'visit', s.visit, 'type', s.step_type,
          'status', s.status, 'start', s.start_time, 'config', s.config, 'output', s.output_data,
          'saved', case when s.delta ? (s.config ->> 'saveAs')
            then json_build_object('value', s.delta -> (s.config ->> 'saveAs')) end, 'code', s.error_code, 'error', s.error) order by s.seq)
        from (select * from ${stepRecords} where ${ofRun} and step_type in ${types} order by seq limit ${most}) s),
    -- Copied records lie before the run.
    'first', (select json_build_object('branch', branch, 'stepId', step_id, 'visit', visit) from ${stepRecords}
        where ${ofRun} and branch = ${MAIN_BRANCH} and start_time >= r.start_time order by seq limit 1),
    'answers', (select json_object_agg(id, answer) from ${pauses} where ${ofRun} and answer is not null),
    -- Of two in the same millisecond, the one that was not stopped came first.
    'arrived', (select json_agg(json_build_object('branch', w.branch, 'ends', w.arrival ? 'ends')
          order by w.updated_at, w.epoch, w.ended, w.position)
        from (select *, (select max(end_time) from ${stepRecords} s
            where s.tenant_id = walks.tenant_id and s.run_id = walks.run_id and s.branch = walks.branch) as ended
          from ${walks} where ${ofRun} and scope is not null and arrival is not null) w))`
}

function recordedIn({ input, edits, first, records, answers, arrived }: Recording): Facts {
  return {
    input: input ?? {},
    edits: edits && first ? [{ before: first, data: edits }] : [],
    visits: (records ?? []).map((record) => factOf(record, answers ?? {})),
    arrivals: arrivalsIn(arrived ?? []),
  }
}

function visitOf([branch, stepId, visit, exit, code]: VisitRow): WayVisit {
  const failed = code === null ? {} : code === 'STOPPED' ? { isStopped: true as const } : { isFailed: true as const }
  return { branch, stepId, visit, exit, ...failed }
}

/** By fork. A branch with which the run ended has also ended the branches around it. */
function arrivalsIn(arrived: readonly { branch: string; ends: boolean }[]): Facts['arrivals'] {
  const arrivals = new Map<string, Set<string>>()
  for (const { branch, ends } of arrived) {
    for (const name of ends ? branchesAround(branch) : [branch]) {
      const origin = originOf(name)
      if (!origin) continue
      const scope = scopeIdOf(origin.parent, origin)
      const keys = arrivals.get(scope) ?? new Set()
      arrivals.set(scope, keys.add(origin.key))
    }
  }
  return Object.fromEntries([...arrivals].map(([scope, keys]) => [scope, [...keys]]))
}

function factOf(record: RecordRow, answers: Record<string, PauseAnswer>): Fact {
  const { branch, stepId, visit, type, config } = record
  const answer = own(answers, pauseIdOf(branch, { stepId, visit }))
  const asked = config && askedWith(config)
  const name = record.saved && !isJsonObject(record.saved.value) ? config?.saveAs : undefined
  return {
    branch,
    stepId,
    visit,
    type,
    asked,
    start: new Date(record.start).toISOString(),
    came: cameOf(record, answer),
    ...(typeof name === 'string' ? { savedAs: name } : {}),
  }
}

function cameOf({ status, code, error, ...record }: RecordRow, answer: PauseAnswer | undefined): Fact['came'] {
  if (status === 'running') return 'open'
  if (status === 'failed') return failedAs({ code: code ?? 'STEP_FAILED', message: error ?? '' })
  return answer ? { answer } : { output: outputOf(record) }
}

/** The step's output: history shows a value that is not an object under the name it was saved as. */
function outputOf({ output, saved }: Pick<RecordRow, 'output' | 'saved'>): JsonValue {
  return saved && !isJsonObject(saved.value) ? saved.value : (output ?? {})
}
