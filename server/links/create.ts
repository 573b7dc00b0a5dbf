import { and, asc, eq, isNotNull, isNull, ne } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { taskLinks } from '@/db/schema/task-links'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { PauseSignal } from '../definition/run'
import { AppError, ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { isVote, requireMayAnswer } from '../runs/may-answer'
import { personOf } from '../runs/person'
import { signalOf } from '../runs/present'
import { requireNoVote } from '../runs/vote'
import { needsFile } from './files'
import { endOf, makerOf } from './maker'
import { presentLink } from './present'
import { CreateTaskLink } from './schema'
import { signLink } from './token'

/**
 * More is a mistake, such as a new link for every reminder. Excludes links in mails: their number has a limit of its
 * own.
 */
const MAX_LINKS = 100

/**
 * Makes a link that answers one open task once, without signing in. It passes on only its maker's right to this task,
 * so anybody who may answer the task may make one.
 * @param input.origin the public address of the service
 */
export async function createTaskLink(ctx: ServiceContext, input: { runId: string; body: unknown; origin: string }) {
  authorize(ctx, 'run:resume')
  return withTransaction(ctx, async (tx) => {
    const run = await getRunRow(tx, input.runId)
    const { expiresIn, answeredBy, ...named } = parseInput(CreateTaskLink, input.body)
    const pause = await findTask(tx, run, named)
    const signal = signalOf(pause)
    const person = await personOf(tx, answeredBy)
    await requireMayAnswer(tx, run.id, signal, person)
    if (isVote(signal)) await requireNoVote(tx, { runId: run.id, pauseId: pause.id }, person)
    refuseFiles(signal)
    const ofTask = and(
      eq(taskLinks.tenantId, tx.tenantId),
      eq(taskLinks.runId, run.id),
      eq(taskLinks.pauseId, pause.id),
      ne(taskLinks.makerKind, 'system'),
    )
    if ((await tx.db.$count(taskLinks, ofTask)) >= MAX_LINKS)
      throw new AppError('CONFLICT', { message: `A task has at most ${MAX_LINKS} links` })
    const now = tx.now()
    const end = endOf(tx, expiresIn)
    const [link] = await tx.db
      .insert(taskLinks)
      .values({
        ...{ tenantId: tx.tenantId, id: newId('lnk'), runId: run.id, pauseId: pause.id },
        ...makerOf(tx),
        // Naming oneself adds nothing.
        answersFor: answeredBy === undefined || answeredBy === tx.actor.id ? null : person.id,
        createdAt: now,
        expiresAt: pause.dueAt && pause.dueAt < end ? pause.dueAt : end,
      })
      .returning()
    if (!link) throw new ImpossibleState('link-not-inserted', pause.id)
    const { expiresAt, answersFor } = link
    await record(
      tx,
      'run.linkMade',
      { id: run.id, name: run.workflowName },
      { link: link.id, step: pause.stepId, expiresAt: expiresAt.toISOString(), ...(answersFor ? { answersFor } : {}) },
    )
    return { ...presentLink(link), url: `${input.origin}/task#${await signLink(link)}` }
  })
}

/** @throws AppError RUN_NOT_PAUSED, INVALID_INPUT if several tasks are open and none is named */
async function findTask(
  { db, tenantId }: TransactionContext,
  { id: runId, status }: { id: string; status: string },
  { pauseId, stepId }: { pauseId?: string | undefined; stepId?: string | undefined },
) {
  const open = await db
    .select()
    .from(pauses)
    .where(
      and(
        eq(pauses.tenantId, tenantId),
        eq(pauses.runId, runId),
        isNull(pauses.answeredAt),
        isNotNull(pauses.signal),
        pauseId === undefined ? undefined : eq(pauses.id, pauseId),
        stepId === undefined ? undefined : eq(pauses.stepId, stepId),
      ),
    )
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
    .limit(2)
  const [first, second] = open
  if (!first || status !== 'paused') {
    const message = pauseId || stepId ? 'The run has no such open pause.' : `The run is ${status}.`
    throw new AppError('RUN_NOT_PAUSED', { details: [{ message, status }] })
  }
  if (!second) return first
  const message = 'The run waits for several answers: name the pause.'
  throw new AppError('INVALID_INPUT', { details: [{ path: 'pauseId', message }] })
}

/** @throws AppError INVALID_INPUT */
function refuseFiles(signal: PauseSignal): void {
  const file = needsFile(signal)
  if (file === null) return
  const message = `The task needs the file ${file}, which cannot be sent through a link.`
  throw new AppError('INVALID_INPUT', { details: [{ message }] })
}
