import { sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { branchesAround, originOf, scopeIdOf } from '../../definition/branches'
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
  /** The branches that have ended, in order; `ends` where the run ended with one. */
  arrived: { branch: string; ends: boolean }[] | null
}

/**
 * What a run recorded: what its effects gave, what people answered, and in which order its branches ended.
 * @returns null if it has more than `most` records
 */
export async function readFacts(ctx: ServiceContext, runId: string, most: number): Promise<Facts | null> {
  const [row] = await ctx.db.execute<RunRow>(factsOf(ctx, runId, most))
  if (!row || row.size > most) return null
  const { edits, first } = row
  return {
    input: row.input ?? {},
    edits: edits && first ? [{ before: first, data: edits }] : [],
    visits: (row.records ?? []).map((record) => factOf(record, row.answers ?? {})),
    arrivals: arrivalsIn(row.arrived ?? []),
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
      (select json_agg(json_build_object('branch', w.branch, 'ends', w.arrival ? 'ends')
          order by w.updated_at, w.epoch, w.ended, w.position)
        from (select *, (select max(end_time) from ${stepRecords} s
            where s.tenant_id = walks.tenant_id and s.run_id = walks.run_id and s.branch = walks.branch) as ended
          from ${walks} where ${ofRun} and scope is not null and arrival is not null) w) as arrived
    from ${runs} r where r.tenant_id = ${tenantId} and r.id = ${runId}`
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
