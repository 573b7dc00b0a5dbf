import { and, desc, eq, inArray, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { wholeData } from '@/db/run-data'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../../context'
import { branchesAround, originOf } from '../../definition/branches'
import { type JsonObject, type JsonValue, jsonSize, own } from '../../definition/json'
import { StepRef } from '../../definition/step-ref'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { getRunRow } from '../../run-store/find-run'
import { MAIN_BRANCH } from '../../run-store/names'
import { dataBefore } from '../../runs/progress'
import { runMaskerOf } from '../../runs/run-masker'
import { isLarge } from '../../runs/stored-run'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'

const ReadStepValues = z.object({
  workflowId: z.string(),
  stepId: StepRef,
  /** The names that the step refers to; `_` for all run data. */
  names: z.array(StepRef).max(200),
  /** The only run to read; the newest if absent. */
  runId: z.string().max(200).optional(),
  /** Whether a run that did not come to the step will do. */
  anyRun: z.boolean().default(false),
})
export type ReadStepValues = z.input<typeof ReadStepValues>

/** How many of the newest runs to search for the step, and how many of the newest visits of each. */
const RUNS = 20
const VISITS = 2_000
/** The capacity of the editor that shows them. */
const MAX_BYTES = 256 * 1024

export interface StepValues {
  /** The newest run that reached the step, or another that will do; null without one. */
  run: { id: string; startTime: string; reached: boolean } | null
  values: JsonObject
  /** Names whose values are too large. */
  leftOut: string[]
}

/** A position in a run: before this visit, in its branch. */
interface Place {
  seq: number
  branch: string
}
/** Behind all visits of the main path. */
const AT_THE_END: Place = { seq: Number.MAX_SAFE_INTEGER, branch: MAIN_BRANCH }

/**
 * The values of a step's names when the newest run reached it. Of a run that did not, those at its end, or now. Masked
 * values stay masked.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function readStepValues(ctx: ServiceContext, input: unknown): Promise<StepValues> {
  authorize(ctx, 'run:read')
  const { workflowId, stepId, names, runId, anyRun } = parseInput(ReadStepValues, input)
  const { id } = await findRow(ctx, WORKFLOW, workflowId)
  const candidates = candidatesOf(ctx, id, runId)
  const visit = await newestVisit(ctx, candidates, stepId)
  const found = visit ?? (anyRun ? await newestRun(ctx, candidates) : undefined)
  if (!found) return { run: null, values: {}, leftOut: [] }
  const read = (reading: ServiceContext) => withTransaction(reading, (tx) => valuesAt(tx, found, names))
  const values = (await isLarge(ctx, found.runId)) ? await largeRead(ctx, read) : await read(ctx)
  const run = { id: found.runId, startTime: found.startTime.toISOString(), reached: visit !== undefined }
  return { run, ...values }
}

/** The values of these names at a place, as far as they fit. */
async function valuesAt(
  tx: TransactionContext,
  at: Place & { runId: string },
  names: string[],
): Promise<Omit<StepValues, 'run'>> {
  const data = await dataAt(tx, at.runId, at)
  const ofSteps = names.filter((name) => name !== '_' && own(data, name) === undefined)
  const [outputs, masker] = await Promise.all([outputsOf(tx, at, ofSteps), runMaskerOf(tx, at.runId)])
  const wanted = names.includes('_') ? { ...data } : {}
  for (const name of names) {
    const value = own(data, name) ?? outputs.get(name)
    if (name !== '_' && value !== undefined) wanted[name] = value
  }
  const values: JsonObject = {}
  const leftOut: string[] = []
  let left = MAX_BYTES
  for (const [name, value] of Object.entries(wanted)) {
    // Before it is masked, which takes longer.
    const size = jsonSize({ [name]: value })
    if (size > left) leftOut.push(masker.text(name))
    else {
      left -= size
      Object.assign(values, masker.json({ [name]: value }))
    }
  }
  return { values, leftOut }
}

/** The runs to look through, the newest first. */
function candidatesOf(ctx: ServiceContext, workflowId: string, runId: string | undefined) {
  // A run of this step alone only repeats someone's sample input. Data of a token's subject must not be copied.
  return ctx.db
    .select({ runId: runs.id, startTime: runs.startTime })
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, ctx.tenantId),
        eq(runs.workflowId, workflowId),
        sql`(${runs.part} ? 'only') is not true`,
        ne(runs.startedVia, 'jwt'),
        runId === undefined ? undefined : eq(runs.id, runId),
      ),
    )
    .orderBy(desc(runs.startTime), desc(runs.id))
    .limit(RUNS)
    .as('newest')
}
type Candidates = ReturnType<typeof candidatesOf>

async function newestRun(ctx: ServiceContext, newest: Candidates) {
  const [found] = await ctx.db.select().from(newest).orderBy(desc(newest.startTime), desc(newest.runId)).limit(1)
  return found && { ...found, ...AT_THE_END }
}

async function newestVisit(ctx: ServiceContext, newest: Candidates, stepId: string) {
  const visit = sql`lateral (
    select v.seq, v.branch from (
      select s.seq, s.branch, s.step_id from ${stepRecords} s
      where s.tenant_id = ${ctx.tenantId} and s.run_id = ${newest.runId} order by s.seq desc limit ${VISITS}) v
    where v.step_id = ${stepId} order by v.seq desc limit 1) visit`
  const [found] = await ctx.db
    .select({
      runId: newest.runId,
      startTime: newest.startTime,
      seq: sql<number>`visit.seq::float8`,
      branch: sql<string>`visit.branch`,
    })
    .from(newest)
    .innerJoin(visit, sql`true`)
    .orderBy(desc(newest.startTime), desc(newest.runId))
    .limit(1)
  return found
}

/** The data that a visit could refer to. */
async function dataAt(tx: TransactionContext, runId: string, { seq, branch }: Place): Promise<JsonObject> {
  const origin = originOf(branch)
  if (!origin) return (await dataBefore(tx, await getRunRow(tx, runId), sql`${seq}`)).data
  const { stepId, visit, parent } = origin
  const [fork] = await tx.db
    .select({ seq: stepRecords.seq })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, tx.tenantId),
        eq(stepRecords.runId, runId),
        eq(stepRecords.branch, parent),
        eq(stepRecords.stepId, stepId),
        eq(stepRecords.visit, visit),
      ),
    )
  const around = await dataAt(tx, runId, { seq: fork?.seq ?? seq, branch: parent })
  return { ...around, ...(await writtenIn(tx, runId, { seq, branch })) }
}

/** A branch's initial data, and its writes before a visit. */
async function writtenIn(tx: TransactionContext, runId: string, { seq, branch }: Place): Promise<JsonObject> {
  const data = wholeData('walks', { tenant: 'walks.tenant_id', id: 'walks.run_id', input: null })
  const [[walk], deltas] = await Promise.all([
    tx.db
      .select({ data: sql<JsonObject | null>`${sql.raw(data)}` })
      .from(walks)
      .where(and(eq(walks.tenantId, tx.tenantId), eq(walks.runId, runId), eq(walks.branch, branch))),
    tx.db
      .select({ seq: stepRecords.seq, delta: stepRecords.delta })
      .from(stepRecords)
      .where(and(eq(stepRecords.tenantId, tx.tenantId), eq(stepRecords.runId, runId), eq(stepRecords.branch, branch)))
      .orderBy(stepRecords.seq),
  ])
  const later = new Set(deltas.flatMap(({ delta }) => Object.keys(delta ?? {})))
  const begun = Object.entries(walk?.data ?? {}).filter(([name]) => !later.has(name))
  const before = deltas.filter((row) => row.seq < seq).map(({ delta }) => delta ?? {})
  return Object.assign({}, Object.fromEntries(begun), ...before)
}

/** The outputs of these steps before a place: of the nearest branch around it that has one. */
async function outputsOf(
  tx: TransactionContext,
  { runId, seq, branch }: Place & { runId: string },
  stepIds: string[],
): Promise<ReadonlyMap<string, JsonValue | null>> {
  if (stepIds.length === 0) return new Map()
  const around = [MAIN_BRANCH, ...branchesAround(branch)]
  const depth = sql.join(
    around.map((walk, index) => sql`when ${walk} then ${index}::int`),
    sql` `,
  )
  const rows = await tx.db
    .selectDistinctOn([stepRecords.stepId], { stepId: stepRecords.stepId, output: stepRecords.outputData })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, tx.tenantId),
        eq(stepRecords.runId, runId),
        inArray(stepRecords.branch, around),
        inArray(stepRecords.stepId, stepIds),
        eq(stepRecords.status, 'completed'),
        sql`${stepRecords.seq} < ${seq}`,
      ),
    )
    .orderBy(stepRecords.stepId, sql`case ${stepRecords.branch} ${depth} end desc`, desc(stepRecords.visit))
  return new Map(rows.map(({ stepId, output }) => [stepId, output]))
}
