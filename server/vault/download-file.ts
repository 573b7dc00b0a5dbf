import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { record } from '../audit/record'
import { authorize, seesHidden } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { type FileRow, openFile, readFile } from '../files/read'
import { hiddenFiles } from './hidden-files'

/**
 * A file with its bytes. A file of a sensitive field follows the rules of a revealed value: only signed-in people with
 * that right get it, and the audit log records it.
 * @throws AppError FORBIDDEN, and as `readFile`
 */
export async function downloadFile(
  ctx: ServiceContext,
  input: { fileId: string },
): Promise<{ file: FileRow; bytes: Buffer }> {
  const found = await readFile(ctx, input)
  await requireShown(ctx, found.file)
  return found
}

/** As `downloadFile`, for a caller who takes the bytes as they are read. */
export async function openDownload(
  ctx: ServiceContext,
  input: { fileId: string },
): Promise<{ file: FileRow; body: Buffer | ReadableStream<Uint8Array> }> {
  const found = await openFile(ctx, input)
  await requireShown(ctx, found.file)
  return found
}

/**
 * Reveals a file of a sensitive field to a person who may see it.
 * @throws AppError FORBIDDEN
 */
export async function requireShown(ctx: ServiceContext, file: FileRow): Promise<void> {
  const { id, runId } = file
  if (runId === null || !seesHidden(ctx) || !(await hiddenFiles(ctx, [file])).has(id)) return
  authorize(ctx, 'run:reveal')
  await withTransaction(ctx, async (tx) => {
    const [run] = await tx.db
      .select({ name: runs.workflowName })
      .from(runs)
      .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, runId)))
    await record(tx, 'run.revealed', { id: runId, name: run?.name ?? runId }, { of: 'file', file: id })
  })
}
