import { z } from 'zod'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { runsWith } from '../files/direct/find'
import { claimFiles, idOf, withStagedFiles } from '../files/stage'
import { findOpenPauses } from '../interpreter/index'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { asksForFile } from './asked-fields'
import { hasRules, requireMayAnswer } from './may-answer'
import { personOf } from './person'
import { signalOf } from './present'
import { TaskAt } from './task-at'
import { readSentFile } from './with-files'

const AddFile = TaskAt.extend({ file: z.unknown() })

/**
 * Stores a file that a person chose for an open task that asks for one. It belongs to the run, and is deleted with it
 * even if no answer uses it. Adding the same upload again changes nothing.
 * @returns its id, which is the answer's value of the field
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, NOT_ASSIGNED, INVALID_INPUT, FILE_TOO_LARGE, UNAVAILABLE
 */
export async function addFile(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'task:answer')
  const { runId, pauseId, file } = parseInput(AddFile, input)
  const upload = readSentFile(file)
  await getRunRow(ctx, runId)
  const found = (await findOpenPauses(ctx, runId)).find(({ pause }) => pause.id === pauseId && pause.signal !== null)
  if (!found) throw new AppError('RUN_NOT_PAUSED')
  const signal = signalOf(found.pause)
  if (!asksForFile(signal))
    throw new AppError('INVALID_INPUT', { details: [{ path: 'file', message: 'This task asks for no file.' }] })
  if (hasRules(signal)) await requireMayAnswer(ctx, runId, signal, await personOf(ctx))
  const fileId = idOf(upload)
  const added = withStagedFiles(ctx, [{ id: fileId, upload }], () =>
    withTransaction(ctx, (tx) => claimFiles(tx, [fileId], runId)),
  )
  await added.catch(async (refusal: unknown) => {
    // The response to an earlier call was lost: the run has the upload already.
    if (!(await runsWith(ctx, [fileId])).includes(runId)) throw refusal
  })
  return { fileId }
}
