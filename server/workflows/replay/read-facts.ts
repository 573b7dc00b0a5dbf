import { sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { originOf } from '../../definition/branches'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import type { PauseAnswer } from '../../definition/run'
import { MAIN_BRANCH, pauseIdOf } from '../../run-store/names'
import { stepTypes } from '../../steps/registry'
import { askedWith, type Fact, type Facts, failedAs, type Place } from './facts'

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

interface RunRow extends Record<string, unknown> {
  input: JsonObject | null
  edits: JsonObject | null
  size: number
  records: RecordRow[] | null
  first: Place | null
  answers: Record<string, PauseAnswer> | null
  arrived: { scope: string; branch: string }[] | null
}

/**
 * What a run recorded: what its effects gave, what people answered, and in which order its branches ended.
 * @returns null if it has more than `most` records
 */
export async function readFacts(ctx: ServiceContext, runId: string, most: number): Promise<Facts | null> {
  const [row] = await ctx.db.execute<RunRow>(factsOf(ctx, runId, most))
  if (!row || row.size > most) return null
  const arrivals: Facts['arrivals'] = {}
  for (const { scope, branch } of row.arrived ?? []) {
    arrivals[scope] ??= []
    arrivals[scope].push(originOf(branch)?.key ?? '')
  }
  const { edits, first } = row
  return {
    input: row.input ?? {},
    edits: edits && first ? [{ before: first, data: edits }] : [],
    visits: (row.records ?? []).map((record) => factOf(record, row.answers ?? {})),
    arrivals,
  }
}

function factsOf({ tenantId }: ServiceContext, runId: string, most: number) {
  const ofRun = sql`tenant_id = ${tenantId} and run_id = ${runId}`
  // The others only compute.
  const reaching = stepTypes().filter(({ mode }) => mode === 'effect' || mode === 'pause')
  const types = sql`(select jsonb_array_elements_text(${JSON.stringify(reaching.map(({ type }) => type))}::jsonb))`
  return sql`
    select r.input, r.edits,
      (select count(*)::int from (select 1 from ${stepRecords} where ${ofRun} limit ${most + 1}) s) as size,
      (select json_agg(json_build_object('branch', s.branch, 'stepId', s.step_id, 'visit', s.visit, 'type', s.step_type,
          'status', s.status, 'start', s.start_time, 'config', s.config, 'output', s.output_data,
          'saved', case when s.delta ? (s.config ->> 'saveAs')
            then json_build_object('value', s.delta -> (s.config ->> 'saveAs')) end, 'code', s.error_code, 'error', s.error) order by s.seq)
        from (select * from ${stepRecords} where ${ofRun} and step_type in ${types} order by seq limit ${most}) s) as records,
      -- Copied records lie before the run.
      (select json_build_object('branch', branch, 'stepId', step_id, 'visit', visit) from ${stepRecords}
        where ${ofRun} and branch = ${MAIN_BRANCH} and start_time >= r.start_time order by seq limit 1) as first,
      (select json_object_agg(id, answer) from ${pauses} where ${ofRun} and answer is not null) as answers,
      -- Of two in the same millisecond, the one that was not stopped came first.
      (select json_agg(json_build_object('scope', w.scope, 'branch', w.branch)
          order by w.updated_at, w.epoch, w.ended, w.position)
        from (select *, (select max(end_time) from ${stepRecords} s
            where s.tenant_id = walks.tenant_id and s.run_id = walks.run_id and s.branch = walks.branch) as ended
          from ${walks} where ${ofRun} and scope is not null and arrival is not null) w) as arrived
    from ${runs} r where r.tenant_id = ${tenantId} and r.id = ${runId}`
}

function factOf(record: RecordRow, answers: Record<string, PauseAnswer>): Fact {
  const { branch, stepId, visit, type, config } = record
  const answer = own(answers, pauseIdOf(branch, { stepId, visit }))
  const asked = config && askedWith(config)
  return {
    branch,
    stepId,
    visit,
    type,
    asked,
    start: new Date(record.start).toISOString(),
    came: cameOf(record, answer),
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
