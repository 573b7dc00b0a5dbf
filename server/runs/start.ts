import { authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { isJsonObject } from '../definition/json'
import { AppError } from '../errors'
import { MultipartInput } from '../files/multipart-input'
import { claimFile, newFileId, withStagedFile } from '../files/stage'
import { insertRun } from '../interpreter/insert'
import { requireRunnable } from '../workflows/check/definition'
import { holdVersion } from '../workflows/hold-version'
import { readStartInput, type StartBody } from './input'

export interface StartedRun {
  runId: string
  workflowVersion: number
}

interface StartInput {
  workflowId: string
  /** An object with the START fields, or a form. */
  body: unknown
  /** `published`, `latest` or a number. */
  version?: string | undefined
}

/**
 * Creates a run: the row, its main walk and the event that starts it, in one transaction. It uses the published
 * version, or the latest draft when none was ever published, and stays on that version. A form's file is stored once
 * the input is known to be valid, and the same transaction gives it to the run.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VALIDATION_FAILED, INVALID_INPUT, FORBIDDEN, UNAVAILABLE
 */
export async function startRun(ctx: ServiceContext, input: StartInput): Promise<StartedRun> {
  authorize(ctx, 'run:start')
  const start = readStart(input)
  const upload = start.body instanceof MultipartInput ? start.body.file : null
  if (!upload) return beginRun(ctx, start, null)
  const fileId = newFileId()
  await withTransaction(ctx, async (tx) => {
    await prepareStart(tx, start, fileId)
  })
  return withStagedFile(ctx, fileId, upload, () => beginRun(ctx, start, fileId))
}

interface Start extends StartInput {
  body: StartBody
}

/** @throws AppError INVALID_INPUT */
function readStart({ workflowId, body, version }: StartInput): Start {
  const refuse = (path: string, message: string) => new AppError('INVALID_INPUT', { details: [{ path, message }] })
  if (!(body instanceof MultipartInput) && !isJsonObject(body)) throw refuse('data', 'must be a JSON object')
  if (version !== undefined && typeof version !== 'string') throw refuse('version', 'must be text')
  return { workflowId, body, version }
}

/** The version to run, locked, and the run's initial data. */
async function prepareStart(tx: TransactionContext, input: Start, fileId: string | null) {
  const { row, version, definition } = await holdVersion(tx, input.workflowId, input.version)
  // A draft newer than the published version is only for editors to try out.
  if (row.publishedVersion !== null && version > row.publishedVersion) authorize(tx, 'workflow:write')
  if (version !== row.publishedVersion) await requireRunnable(beyondReach(tx), definition)
  const initialStep = definition.initialStep
  if (initialStep === null)
    throw new AppError('VALIDATION_FAILED', {
      details: [{ path: 'initialStep', message: 'The workflow has no initial step.' }],
    })
  return { row, version, definition, initialStep, data: readStartInput(definition.payload, input.body, fileId) }
}

async function beginRun(ctx: ServiceContext, input: Start, fileId: string | null): Promise<StartedRun> {
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
