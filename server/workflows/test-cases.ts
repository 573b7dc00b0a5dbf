import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { authorize, seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { expand } from '../definition/expand'
import { withPins } from '../definition/pins'
import { sensitiveFields } from '../definition/sensitive'
import type { Expected, WorkflowCase } from '../definition/test-case'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { pinnedDefinition } from '../run-store/definition'
import { requireRun } from '../run-store/find-run'
import { hidingMasker } from '../vault/hide'
import type { One } from '../versioned/noun'
import { findWhole } from '../versioned/row-at'
import { findRow } from '../versioned/rows'
import { type CaseResult, RunCases, runCases } from '../versioned/run-cases'
import {
  type CaseMasks,
  CaseName,
  changeExpected,
  deleteCase,
  ExpectedOfResult,
  keepCase,
  listCases,
  MAX_CHARACTERS,
  type OneCase,
  onlyVault,
  type PresentedCase,
  renameCase,
} from '../versioned/test-cases'
import { requireRunnable } from './check/definition'
import { findPins } from './find-pins'
import { WORKFLOW } from './noun'
import { scriptToolsIn } from './replay/compute'
import type { Facts } from './replay/facts'
import { keptOf } from './replay/kept'
import { readFacts } from './replay/read-facts'
import { replayCase } from './replay/replay-case'

const KeepWorkflowCase = z.object({
  name: CaseName,
  runId: z.string().max(100),
  /** `same`: ends like the saved run. */
  expected: z.union([z.object({ kind: z.literal('same') }), ExpectedOfResult]),
})
export type ExpectedOfWorkflow = z.input<typeof ExpectedOfResult>
export type KeepWorkflowCase = z.input<typeof KeepWorkflowCase>

/** With more records, nobody could read the test. */
const MAX_RECORDS = 1_000
const AT_ONCE = 2
/** For all cases together. */
const LIMIT_MS = 30_000

/**
 * The workflow's test cases, oldest first.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function listWorkflowCases(ctx: ServiceContext, input: One): Promise<PresentedCase<WorkflowCase>[]> {
  authorize(ctx, 'workflow:read')
  return listCases<WorkflowCase>(ctx, WORKFLOW, input, await masksOf(ctx, input.id))
}

/** A case contains a run's input and outcome, so it hides what that run hides, and what the workflow hides now. */
async function masksOf(ctx: ServiceContext, id: string): Promise<CaseMasks> {
  if (!seesHidden(ctx)) return onlyVault
  const now = sensitiveFields((await findWhole(ctx, WORKFLOW, id)).content)
  return (vault, { given }) => {
    const hides = new Set([...now, ...('hidden' in given ? (given.hidden ?? []) : [])])
    return hides.size === 0 ? vault : hidingMasker(vault, hides, [given])
  }
}

/**
 * Saves an ended run as a test case: its input, its effects' results and people's answers.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, RUN_NOT_FOUND, INVALID_INPUT, CONFLICT
 */
export async function keepWorkflowCase(ctx: ServiceContext, input: One & { body: unknown }): Promise<{ id: string }> {
  authorize(ctx, 'workflow:write')
  authorize(ctx, 'run:read')
  const { name, runId, expected: wanted } = parseInput(KeepWorkflowCase, input.body)
  await findRow(ctx, WORKFLOW, input.id)
  const { given, same } = await readKept(ctx, input.id, runId)
  return keepCase(ctx, WORKFLOW, input, { name, given, expected: wanted.kind === 'same' ? same : wanted })
}

/** Whether a token started the run, or one that it repeats or that started it. */
async function goesBackToToken(ctx: ServiceContext, runId: string): Promise<boolean> {
  const found = await ctx.db.execute(sql`
    with recursive up(id, again, parent, via) as (
      select r.id, r.retry_of, r.parent_run_id, r.started_via from ${runs} r
      where r.tenant_id = ${ctx.tenantId} and r.id = ${runId}
      union
      select r.id, r.retry_of, r.parent_run_id, r.started_via
      from up cross join unnest(array[up.again, up.parent]) above(id)
      join ${runs} r on r.tenant_id = ${ctx.tenantId} and r.id = above.id)
    select 1 from up where via = 'jwt' limit 1`)
  return found.length > 0
}

async function readKept(
  ctx: ServiceContext,
  workflowId: string,
  runId: string,
): Promise<{ given: WorkflowCase; same: Expected }> {
  await requireRun(ctx, runId)
  const ofRun = and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId), eq(runs.workflowId, workflowId))
  const [run] = await ctx.db
    .select({
      endTime: runs.endTime,
      part: runs.part,
      version: runs.workflowVersion,
      result: runs.result,
      error: runs.error,
    })
    .from(runs)
    .where(ofRun)
  if (!run) throw new AppError('RUN_NOT_FOUND')
  if (run.endTime === null) throw new AppError('CONFLICT', { message: 'The run has not ended' })
  if (run.part !== null) throw new AppError('CONFLICT', { message: 'The run performed only a part of the workflow' })
  // Data that is deleted with a token's subject would survive in the copy.
  if (await goesBackToToken(ctx, runId))
    throw new AppError('CONFLICT', { message: 'The run was started with a token, so it holds the data of a person' })
  const facts = await readFacts(ctx, runId, MAX_RECORDS)
  if (!facts) throw new AppError('CONFLICT', { message: `A run of more than ${MAX_RECORDS} steps cannot be kept` })
  const hidden = [...sensitiveFields(await pinnedDefinition(ctx, workflowId, run.version))]
  return {
    given: { ...fitting(facts), ...(hidden.length > 0 ? { hidden } : {}) },
    same: run.error ? { kind: 'fails', code: run.error.code } : { kind: 'equals', value: run.result ?? {} },
  }
}

/** A large run is kept without what its steps asked: then its results count by place alone. */
function fitting(facts: Facts): WorkflowCase {
  const whole = keptOf(facts)
  if (JSON.stringify(whole).length <= MAX_CHARACTERS / 2) return whole
  return keptOf({ ...facts, visits: facts.visits.map((fact) => ({ ...fact, asked: null })) })
}

/** @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, NOT_FOUND, INVALID_INPUT */
export async function renameWorkflowCase(ctx: ServiceContext, input: OneCase & { name: unknown }) {
  authorize(ctx, 'workflow:write')
  return renameCase(ctx, WORKFLOW, input)
}

/** @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, NOT_FOUND, INVALID_INPUT */
export async function changeWorkflowExpected(ctx: ServiceContext, input: OneCase & { expected: unknown }) {
  authorize(ctx, 'workflow:write')
  const { expected } = parseInput(z.object({ expected: ExpectedOfResult }), { expected: input.expected })
  return changeExpected(ctx, WORKFLOW, { ...input, expected }, await masksOf(ctx, input.id))
}

/** @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, NOT_FOUND */
export async function deleteWorkflowCase(ctx: ServiceContext, input: OneCase) {
  authorize(ctx, 'workflow:write')
  return deleteCase(ctx, WORKFLOW, input)
}

/**
 * Runs test cases of a workflow against its saved draft. Executes nothing and asks nobody: effects return the saved
 * results, and pauses get the saved answers.
 * @param input.body `only` has the ids of the cases to run
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT, VALIDATION_FAILED if the draft could not run
 */
export async function runWorkflowCases(
  ctx: ServiceContext,
  { id, body }: One & { body: unknown },
  signal: AbortSignal,
): Promise<{ results: CaseResult[] }> {
  authorize(ctx, 'workflow:simulate')
  const { only } = parseInput(RunCases, body ?? {})
  const written = (await findWhole(ctx, WORKFLOW, id)).content
  await requireRunnable(ctx, written)
  // As a run would use them if the draft were published now.
  const definition = expand(withPins(written, await findPins(ctx, written)))
  const scripts = await scriptToolsIn(ctx, definition)
  const run = (kept: WorkflowCase, limit: AbortSignal) => replayCase(ctx, definition, { kept, scripts }, limit)
  const masks = await masksOf(ctx, id)
  return runCases<WorkflowCase>(ctx, WORKFLOW, id, { only, atOnce: AT_ONCE, limitMs: LIMIT_MS, run, masks }, signal)
}
