import { and, desc, eq, inArray, isNotNull, or, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { branchesAround, isBranch } from '../../definition/branches'
import { declaredFields } from '../../definition/declared'
import { unstorable } from '../../definition/json'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { recordOfPause, runIs } from '../../run-store/conditions'
import { pinnedDefinition } from '../../run-store/definition'
import { getRunRow } from '../../run-store/find-run'
import { MAIN_BRANCH } from '../../run-store/names'
import { ownsOf, walkData } from '../../run-store/walk-data'
import { askedFields, formsAsked } from '../../runs/asked-fields'
import { maskWords } from '../../runs/mask-words'
import { signalOf, withoutPreset } from '../../runs/present'
import { runMasker } from '../../runs/run-masker'
import { findStepType } from '../../steps/registry'
import { nameAnswerers } from '../actors'
import { answerAsDeclared, asDeclared, labelsOf } from '../as-declared'
import { stateOf } from '../runs/filter'
import { cutValue } from '../value'
import { readAskedAgain } from './asked-again'
import { readClaim } from './claims'
import { howEnded } from './ended'
import { readHeld } from './held'
import { readPeople } from './people'
import { readRemarks } from './remarks'
import { readReminders } from './reminders'
import { GetTask } from './schema'

/** How many of the latest steps before the task to show. */
const STEPS = 20

/**
 * A task with its question and the run's steps before it. Also works for a closed task, with its answerer and time, or
 * `expired` if its time was up first, or `withdrawn` if the run was stopped instead.
 * @throws AppError RUN_NOT_FOUND, also when the run has no such pause; INVALID_INPUT
 */
export async function getTask(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'task:read')
  const { runId, pauseId } = parseInput(GetTask, input)
  const run = await getRunRow(ctx, runId)
  if (unstorable(pauseId)) throw new AppError('RUN_NOT_FOUND')
  const [[found], hiding, definition] = await Promise.all([
    ctx.db
      .select({ pause: pauses, reminders: stepRecords.reminders })
      .from(pauses)
      .leftJoin(stepRecords, recordOfPause)
      .where(
        and(
          eq(pauses.tenantId, ctx.tenantId),
          eq(pauses.runId, runId),
          or(eq(pauses.id, pauseId), eq(pauses.stepId, pauseId)),
          isNotNull(pauses.signal),
        ),
      )
      .orderBy(desc(pauses.createdAt))
      .limit(1),
    runMasker(ctx, run),
    pinnedDefinition(ctx, run.workflowId, run.workflowVersion),
  ])
  if (!found)
    throw new AppError('RUN_NOT_FOUND', { details: [{ path: 'pauseId', message: 'The run has no such task.' }] })
  const { pause, reminders } = found
  const asked = signalOf(pause)
  // Only people who may answer see the author's values in a question.
  const masker = hiding.vault
  const [answererOf, peopleOf, remindersOf, remarksOf, heldAt, claim, askedAgain, steps, [stored]] = await Promise.all([
    nameAnswerers(ctx, [pause]),
    readPeople(ctx, runId, [{ id: pause.id, signal: asked }], hiding),
    readReminders(ctx, [{ id: pause.id, reminders }], masker),
    readRemarks(ctx, runId, [pause.id], hiding),
    readHeld(ctx, runId, masker),
    readClaim(ctx, runId, pause.id),
    readAskedAgain(ctx, pause),
    readSteps(ctx, pause),
    ctx.db
      .select({ small: runs.smallData, owns: ownsOf(pause) })
      .from(runs)
      .where(runIs(ctx, runId)),
  ])
  const words = maskWords(run, masker)
  const { data } = await walkData(ctx, pause, { run, small: stored?.small ?? {}, owns: stored?.owns ?? null })
  const own = steps.find((step) => step.stepId === pause.stepId && step.branch === pause.branch)
  const stepName = own?.stepName ?? pause.stepId
  const status = pause.answeredAt === null && !run.endTime ? ('open' as const) : howEnded(pause.answer)
  const { held, refused } = heldAt(pause.id, asked)
  const declared = declaredFields(definition)
  const form = pause.answer ? askedFields(asked, pause.answer) : {}
  return {
    runId,
    pauseId: pause.id,
    stepId: pause.stepId,
    ...maskWords({ stepName, title: asked.title ?? stepName, signal: withoutPreset(asked) }, masker),
    createdAt: pause.createdAt.toISOString(),
    status: status,
    people: peopleOf(pause.id),
    reminders: remindersOf(pause.id),
    remarks: remarksOf(pause.id),
    // Of a closed task only the viewer's own: they get a notice that it was not accepted.
    held: status === 'open' || held?.own ? held : null,
    refused,
    claim,
    askedAgain,
    answeredAt: pause.answeredAt?.toISOString() ?? null,
    answeredBy: status === 'answered' ? answererOf(pause) : null,
    answer: status === 'answered' ? answerAsDeclared(cutValue(pause.answer, hiding), form) : null,
    /** The labels of the fields of run data and of the answer. */
    labels: { ...labelsOf(declared, masker), ...labelsOf(Object.assign({}, ...formsAsked(asked)), masker) },
    run: {
      workflowId: run.workflowId,
      workflowName: words.workflowName,
      businessKey: words.businessKey,
      startedVia: run.startedVia,
      workflowVersion: run.workflowVersion,
      state: stateOf(run),
      startTime: run.startTime.toISOString(),
      data: asDeclared(cutValue(data, hiding), Object.keys(declared)),
    },
    steps: steps
      .filter((step) => step !== own)
      .map(({ branch: _branch, status, ...step }) => {
        // A question is not running: it waits as long as it is open. So does the fork around it, once no other branch
        // is running.
        const mode = findStepType(step.stepType)?.mode
        const waits = status === 'running' && (mode === 'pause' || (mode === 'fork' && run.status === 'paused'))
        return { ...maskWords(step, masker), status: waits ? ('paused' as const) : status }
      })
      .slice(0, STEPS)
      .reverse(),
  }
}

export type Task = Awaited<ReturnType<typeof getTask>>

/**
 * The latest visits before a task, newest first, including its own: those of its branch and of the branches around it.
 */
async function readSteps(ctx: ServiceContext, { runId, branch }: { runId: string; branch: string }) {
  const rows = await ctx.db
    .select({
      stepId: stepRecords.stepId,
      stepName: stepRecords.stepName,
      stepType: stepRecords.stepType,
      branch: stepRecords.branch,
      status: stepRecords.status,
      endTime: stepRecords.endTime,
    })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, ctx.tenantId),
        eq(stepRecords.runId, runId),
        isBranch(branch) ? inArray(stepRecords.branch, [MAIN_BRANCH, ...branchesAround(branch)]) : undefined,
      ),
    )
    .orderBy(sql`${stepRecords.seq} desc`)
    .limit(STEPS + 1)
  return rows.map(({ endTime, ...row }) => ({ ...row, endTime: endTime?.toISOString() ?? null }))
}
