import { and, gt, isNull } from 'drizzle-orm'
import { taskLinks } from '@/db/schema/task-links'
import { record } from '../audit/record'
import type { Visitor } from '../auth/visitor'
import { withTransaction } from '../context'
import { isFileField } from '../definition/file-fields'
import { own } from '../definition/json'
import { AppError, type ErrorCode } from '../errors'
import { parseInput } from '../parse'
import { askedFields } from '../runs/asked-fields'
import type { Person } from '../runs/person'
import { signalOf } from '../runs/present'
import { resumeRun } from '../runs/resume'
import { type FoundLink, findByToken, linkIs } from './find'
import { personBehind } from './maker'
import { AnswerTaskLink } from './schema'
import { type TaskLinkView, viewOf } from './view'

/** The task was answered or changed hands between viewing and answering: the link then shows that. */
const OVERTAKEN: readonly ErrorCode[] = [
  'RUN_NOT_PAUSED',
  'RUN_NOT_FOUND',
  'NOT_ASSIGNED',
  'SELF_APPROVAL',
  'ALREADY_VOTED',
  'CONFLICT',
]

/**
 * Answers the task of a link, if it is still open, and uses up the link in the same transaction.
 * @returns the link's new view
 * @throws AppError INVALID_INPUT; the link stays open
 */
export async function answerTaskLink(visitor: Visitor, input: unknown): Promise<TaskLinkView> {
  const answer = parseInput(AnswerTaskLink, input)
  const found = await findByToken(visitor, answer.token)
  if (!found) return { state: 'unknown' }
  const view = await viewOf(found)
  if (view.state !== 'open') return view
  const person = await personBehind(found.ctx, found.link)
  if (!person) return { state: 'revoked' }
  const refused = await use(found, person, answer).then(
    () => null,
    (err: unknown) => err,
  )
  if (refused && !(refused instanceof AppError && OVERTAKEN.includes(refused.code))) throw refused
  const after = await findByToken(visitor, answer.token)
  const now: TaskLinkView = after ? await viewOf(after) : { state: 'unknown' }
  // The page would show no reason.
  if (refused && now.state === 'open') throw refused
  return now
}

async function use({ ctx, link, pause, run }: FoundLink, person: Person, answer: AnswerTaskLink): Promise<void> {
  const body = bodyOf(pause, answer)
  await withTransaction(ctx, async (tx) => {
    // Locks the run, like everything that may delete the link with it.
    await resumeRun(tx, { runId: run.id, body }, { person, via: link.id })
    const used = await tx.db
      .update(taskLinks)
      .set({ usedAt: tx.now() })
      .where(
        and(
          linkIs(tx, link.id),
          isNull(taskLinks.usedAt),
          isNull(taskLinks.revokedAt),
          gt(taskLinks.expiresAt, tx.now()),
        ),
      )
      .returning({ id: taskLinks.id })
    if (used.length === 0) throw new AppError('CONFLICT')
    await record(
      tx,
      'run.linkUsed',
      { id: run.id, name: run.workflowName },
      { link: link.id, step: pause.stepId, answeredBy: person.name, madeBy: link.makerId },
    )
  })
}

/** @throws AppError INVALID_INPUT */
function bodyOf(pause: FoundLink['pause'], { data = {}, actionId = '', remark }: AnswerTaskLink): unknown {
  const signal = signalOf(pause)
  const fields = askedFields(signal, { actionId, actionValue: actionId })
  const file = Object.keys(data).find((name) => {
    const field = own(fields, name)
    return field !== undefined && isFileField(field)
  })
  if (file !== undefined) {
    const message = 'A file cannot be sent through a link.'
    throw new AppError('INVALID_INPUT', { details: [{ path: `data.${file}`, message }] })
  }
  if (signal.type === 'collect_inputs') return { type: signal.type, pauseId: pause.id, data }
  // A visitor may write into the run only what its author asks for.
  return { type: signal.type, pauseId: pause.id, actionId, data, ...(signal.remark ? { remark } : {}) }
}
