import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { MultipartInput } from '../files/multipart-input'
import { claimFile, newFileId, withStagedFile } from '../files/stage'
import { insertRun } from '../interpreter/insert'
import { requireRunnable } from '../workflows/check/definition'
import { holdVersion } from '../workflows/find'
import { readStartInput, type StartBody } from './input'

export interface StartedRun {
  runId: string
  workflowVersion: number
}

interface StartInput {
  workflowId: string
  body: StartBody
  version?: string | undefined
}

/**
 * Makes a run: the row, its main walk and the event that sets it going, in one transaction. It runs on the
 * published version, or on the latest draft when none was ever published, and stays on that version. A form's
 * file is stored once the input is known to be good, and belongs to the run from that same transaction on.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VALIDATION_FAILED, INVALID_INPUT, FORBIDDEN, UNAVAILABLE
 */
export async function startRun(ctx: ServiceContext, input: StartInput): Promise<StartedRun> {
  authorize(ctx, 'run:start')
  const upload = input.body instanceof MultipartInput ? input.body.file : null
  if (!upload) return beginRun(ctx, input, null)
  const fileId = newFileId()
  await withTransaction(ctx, async (tx) => {
    await prepareStart(tx, input, fileId)
  })
  return withStagedFile(ctx, fileId, upload, () => beginRun(ctx, input, fileId))
}

/** The version a start runs on, held, and the first data of the run. */
async function prepareStart(tx: TransactionContext, input: StartInput, fileId: string | null) {
  const { row, version, definition } = await holdVersion(tx, input.workflowId, input.version)
  // A draft beside a published version is its editors' to try out.
  if (row.publishedVersion !== null && version > row.publishedVersion) authorize(tx, 'workflow:write')
  if (version !== row.publishedVersion) await requireRunnable(tx, definition)
  const initialStep = definition.initialStep
  if (initialStep === null)
    throw new AppError('VALIDATION_FAILED', {
      details: [{ path: 'initialStep', message: 'The workflow has no initial step.' }],
    })
  return { row, version, definition, initialStep, data: readStartInput(definition.payload, input.body, fileId) }
}

async function beginRun(ctx: ServiceContext, input: StartInput, fileId: string | null): Promise<StartedRun> {
  return withTransaction(ctx, async (tx) => {
    const { row, version, definition, initialStep, data } = await prepareStart(tx, input, fileId)
    const runId = await insertRun(tx, {
      workflowId: row.id,
      workflowVersion: version,
      workflowName: definition.name,
      input: data,
      firstStep: initialStep,
      context: tx.trusted,
      test: tx.actor.kind === 'user' && version !== row.publishedVersion,
    })
    if (fileId !== null) await claimFile(tx, fileId, runId)
    return { runId, workflowVersion: version }
  })
}
