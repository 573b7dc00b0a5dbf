import { and, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { branchesAround, isBranch } from '../../definition/branches'
import { checkFields } from '../../definition/fields'
import type { JsonObject } from '../../definition/json'
import type { RunData } from '../../definition/run'
import type { Definition, Step } from '../../definition/schema'
import type { Lookup } from '../../definition/template'
import { walksOf } from '../../run-store/conditions'
import { putTogether } from '../../run-store/large-values'
import type { Written } from '../../run-store/run-data'
import { dataOf, type RunRow, type StepRecordRow, walkData } from '../../run-store/walk-data'
import type { Asked } from '../../steps/define-step'
import { findStepType, isCall } from '../../steps/registry'
import type { WalkState } from '../flow/types'
import { lookupFrom } from '../plan/outputs'
import { askedBy } from '../wait/pause'
import { type Question, questionOf } from './question'

/** More branches than this are not moved: the run stays locked meanwhile. */
const MOST_BRANCHES = 500

type WalkRow = Pick<typeof walks.$inferSelect, 'branch' | 'status' | 'stepId' | 'epoch' | 'segment' | 'engineRunId'>
type PauseRow = typeof pauses.$inferSelect

/** What keeps a walk from resting. */
export type Busy = 'attempt' | 'agent' | 'answer' | 'arrival' | 'between' | 'opening' | 'branches'

/** A walk that has not ended, but for queued branches, which have begun nothing. */
export type OpenWalk = { walk: WalkRow } & (
  | { is: 'busy'; why: Busy; stepId: string | null }
  /** It begins next at its cursor. */
  | ({ is: 'ahead'; stepId: string } & Standing)
  /** It waits for its branches. */
  | ({ is: 'forked'; stepId: string; stepType: string } & Standing)
  | ({ is: 'asking'; stepId: string; stepType: string; visit: number } & Standing & Waiting)
)

/** What a walk has, where it stands. */
export interface Standing {
  /** Its data and the outputs of its steps, of the names that were asked for. */
  lookup: Lookup
  /** How often it has visited the steps of loops. */
  visits: Readonly<Record<string, number>>
}

/** A pause that a walk waits at. */
export interface Waiting {
  record: StepRecordRow
  pause: PauseRow
  before: Asked
  /** What the other version asks; null if it has no such step of that type. */
  next: Question | null
  votes: number
  /** Whether a person's answer can still be undone. */
  isHeld: boolean
  /** The version of the run that it waits for; null before that has started. */
  child: { workflowId: string; version: number } | null
}

/** Everything that decides whether a run may be moved. */
export interface OpenRun {
  run: RunRow & { smallData: RunData }
  data: JsonObject
  /** What the other version adds to its input: the defaults of fields that it does not have, if it has begun nothing. */
  defaults: JsonObject
  walks: OpenWalk[]
  /** The `seq` of its newest record, which may be a copy from another run; 0 without any. */
  lastSeq: number
  /** The steps of the other version that reach something outside, and that the run has done. */
  called: ReadonlySet<string>
}

const child = alias(runs, 'child')

/**
 * Reads where an open run is, and what it would ask in another version.
 * @param to.reads the names that matter where a walk stands at a step
 */
export async function readOpenRun(
  ctx: ServiceContext,
  run: RunRow & { smallData: RunData },
  to: { definition: Definition; reads: (stepId: string) => Promise<ReadonlySet<string>> },
): Promise<OpenRun> {
  const [rows, lastSeq, called, [written]] = await Promise.all([
    readWalks(ctx, run),
    readLastSeq(ctx, run),
    readCalled(ctx, run, to.definition),
    putTogether(ctx, { tenantId: run.tenantId, runId: run.id }, [{ small: run.smallData, refs: run.dataRefs }]),
  ])
  const { data: had, refs } = written ?? { data: run.smallData, refs: {} }
  const defaults = lastSeq === 0 ? defaultsOf(to.definition, had) : {}
  const data = { data: { ...had, ...defaults }, refs }
  const open: OpenWalk[] = []
  if (rows.length > MOST_BRANCHES)
    open.push(...rows.map(({ walk }) => ({ walk, is: 'busy' as const, why: 'branches' as const, stepId: null })))
  else {
    const branches = rows.map(({ walk }) => walk.branch)
    const visits = await readVisits(ctx, run, branches, to.definition)
    // The walks around an open one are open.
    const stored = new Map(rows.map(({ walk, stored }) => [walk.branch, stored]))
    for (const row of rows)
      open.push(await openWalk(ctx, { run, written: data, isNew: lastSeq === 0, visits, stored }, row, to))
  }
  return { run, data: data.data, defaults, walks: open, lastSeq, called }
}

function defaultsOf({ payload }: Definition, data: JsonObject): JsonObject {
  const missing = Object.entries(payload).filter(([name]) => !Object.hasOwn(data, name))
  return checkFields(Object.fromEntries(missing), {}).data
}

async function readLastSeq({ db }: ServiceContext, { tenantId, id }: RunRow): Promise<number> {
  const [row] = await db
    .select({ seq: sql<number>`coalesce(max(${stepRecords.seq}), 0)::float8` })
    .from(stepRecords)
    .where(and(eq(stepRecords.tenantId, tenantId), eq(stepRecords.runId, id)))
  return row?.seq ?? 0
}

async function readCalled({ db }: ServiceContext, { tenantId, id }: RunRow, { steps }: Definition) {
  const calls = steps.filter(({ type }) => isCall(type)).map((step) => step.id)
  if (calls.length === 0) return new Set<string>()
  const rows = await db
    .selectDistinct({ stepId: stepRecords.stepId })
    .from(stepRecords)
    .where(
      and(
        ...[eq(stepRecords.tenantId, tenantId), eq(stepRecords.runId, id), inArray(stepRecords.stepId, calls)],
        or(eq(stepRecords.status, 'completed'), eq(stepRecords.handled, true)),
      ),
    )
  return new Set(rows.map(({ stepId }) => stepId))
}

/** How often walks have visited the steps whose visits the other version limits, by branch. */
async function readVisits(
  { db }: ServiceContext,
  { tenantId, id }: RunRow,
  branches: string[],
  { steps }: Definition,
): Promise<Map<string, Record<string, number>>> {
  const limited = steps.flatMap((step) => (step.maxVisits === undefined ? [] : [step.id]))
  const visits = new Map(branches.map((branch) => [branch, {} as Record<string, number>]))
  if (limited.length === 0 || branches.length === 0) return visits
  const { branch, stepId, visit } = stepRecords
  const rows = await db
    .select({ branch, stepId, visits: sql<number>`max(${visit})` })
    .from(stepRecords)
    .where(
      and(
        ...[eq(stepRecords.tenantId, tenantId), eq(stepRecords.runId, id)],
        ...[inArray(branch, branches), inArray(stepId, limited)],
      ),
    )
    .groupBy(branch, stepId)
  for (const row of rows) Object.assign(visits.get(row.branch) ?? {}, { [row.stepId]: row.visits })
  return visits
}

function readWalks({ db }: ServiceContext, run: RunRow) {
  const { branch, status, stepId, epoch, segment, engineRunId } = walks
  const ofVisit = sql`${pauses.id} = ${stepRecords.branch} || ':' || ${stepRecords.stepId} || '#' || ${stepRecords.visit}`
  const at = (table: string) => sql`${sql.raw(table)} x where x.tenant_id = ${pauses.tenantId}
    and x.run_id = ${pauses.runId} and x.pause_id = ${pauses.id}`
  return db
    .select({
      walk: { branch, status, stepId, epoch, segment, engineRunId },
      stored: { small: walks.smallData, refs: walks.dataRefs },
      hasArrived: sql<boolean>`${walks.arrival} is not null`,
      // Copied records began before the run.
      hasBegun: sql<boolean>`exists (select from step_records x where x.tenant_id = ${walks.tenantId}
        and x.run_id = ${walks.runId} and x.branch = ${walks.branch} and x.start_time >= ${run.startTime.toISOString()})`,
      record: stepRecords,
      pause: pauses,
      votes: sql<number>`(select count(*)::int from ${at('pause_votes')})`,
      isHeld: sql<boolean>`exists (select from ${at('held_answers')} and x.refused is null)`,
      child: { workflowId: child.workflowId, version: child.workflowVersion },
    })
    .from(walks)
    .leftJoin(
      stepRecords,
      and(
        eq(stepRecords.tenantId, walks.tenantId),
        eq(stepRecords.runId, walks.runId),
        eq(stepRecords.branch, walks.branch),
        isNull(stepRecords.endTime),
      ),
    )
    .leftJoin(pauses, and(eq(pauses.tenantId, walks.tenantId), eq(pauses.runId, walks.runId), ofVisit))
    .leftJoin(child, and(eq(child.tenantId, pauses.tenantId), eq(child.id, pauses.childRunId)))
    .where(and(walksOf(run), ne(walks.status, 'ended'), ne(walks.status, 'queued')))
    .orderBy(walks.branch)
    .limit(MOST_BRANCHES + 1)
}

type Row = Awaited<ReturnType<typeof readWalks>>[number]

/** What keeps a walk from resting; null if it rests. */
function whyBusy({ walk, hasArrived, hasBegun, record, pause }: Row): Busy | null {
  if (hasArrived) return 'arrival'
  if (!record) return walk.status === 'requested' && !hasBegun ? null : 'between'
  const mode = findStepType(record.stepType)?.mode
  if (mode === 'fork') return walk.status === 'waiting' ? null : 'between'
  if (mode !== 'pause') return walk.status === 'resting' ? 'agent' : 'attempt'
  if (!pause) return 'opening'
  return pause.answeredAt ? 'answer' : null
}

async function openWalk(
  ctx: ServiceContext,
  of: Of & { isNew: boolean; visits: ReadonlyMap<string, Record<string, number>> },
  row: Row,
  to: { definition: Definition; reads: (stepId: string) => Promise<ReadonlySet<string>> },
): Promise<OpenWalk> {
  const { walk, record, pause, votes, isHeld } = row
  const why = whyBusy(row)
  if (why) return { walk, is: 'busy', why, stepId: record?.stepId ?? (walk.stepId || null) }
  // A run that has begun nothing begins where the other version does.
  const stepId = record?.stepId ?? ((of.isNew && to.definition.initialStep) || walk.stepId)
  const state = await stateOf(ctx, of, walk, to.definition)
  const lookup = await lookupFrom(ctx, state, await to.reads(stepId))
  const standing = { lookup, visits: of.visits.get(walk.branch) ?? {} }
  if (!record) return { walk, is: 'ahead', stepId, ...standing }
  const { stepType, visit } = record
  if (!pause) return { walk, is: 'forked', stepId, stepType, ...standing }
  const [step, type] = [stepIn(to.definition, stepId), findStepType(stepType)]
  const next = step?.type === stepType && type ? await questionOf(ctx, state, record, step, type) : null
  const waiting = { record, pause, before: askedBy(record, {}), next, votes, isHeld, child: row.child }
  return { walk, is: 'asking', stepId, stepType, visit, ...standing, ...waiting }
}

function stepIn({ steps }: Definition, stepId: string): Step | undefined {
  return steps.find(({ id }) => id === stepId)
}

interface Of {
  run: RunRow & { smallData: RunData }
  written: Written
  /** What each open walk has written, by branch. */
  stored: ReadonlyMap<string, Row['stored']>
}

/** The walk as it would be in the other version. */
async function stateOf(
  ctx: ServiceContext,
  { run, written, stored }: Of,
  { branch, epoch, segment }: WalkRow,
  definition: Definition,
): Promise<WalkState> {
  const ref = { tenantId: run.tenantId, runId: run.id, branch, epoch, segment, engineRunId: '' }
  const state = { run, ref, definition, outputs: {}, visits: null }
  if (!isBranch(branch)) return { ...state, ...dataOf(written, null) }
  const owns = branchesAround(branch).flatMap((around) => {
    const { small, refs } = stored.get(around) ?? { small: null, refs: null }
    return small === null ? [] : [{ small, refs }]
  })
  return { ...state, ...(await walkData(ctx, ref, { run, small: run.smallData, owns })) }
}
